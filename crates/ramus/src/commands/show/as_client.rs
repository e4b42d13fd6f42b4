//! What Claude Code would send, message by message.

use ramus_app::{NodeSelector, ResolvedFile};
use ramus_core::body::json;
use ramus_core::client_path::{SentMessage, SentRequest, sent_messages};
use ramus_core::edit::end_of_message;
use ramus_core::history::History;
use ramus_core::session::NodeId;
use ramus_render::json::{Answer, SentJson};
use ramus_render::text::count_noun;
use ramus_render::{Label, Line};
use ramus_store::RecordReader;
use serde_json::Value;

use crate::error::CommandError;
use crate::ui::Ui;

pub(super) fn show_as_client(
    ui: &mut Ui,
    found: &ResolvedFile,
    history: &History,
    spot: &NodeSelector,
) -> Result<(), CommandError> {
    let point = resume_point(history, spot)?;
    let mut bodies = RecordReader::open(&found.file.path)?;
    let mut problem = None;
    let sent = sent_messages(history, point, &mut |id| match bodies
        .read_record(history.session.record(id).span)
    {
        Ok(bytes) => json::parse_line(&bytes).ok(),
        Err(error) => {
            problem = Some(error);
            None
        }
    });
    if let Some(problem) = problem {
        return Err(problem.into());
    }
    if ui.json {
        let answer = SentJson::new(&found.file.id, history, point, sent);
        return ui.print_json(&Answer::new("ramus.show.client/1", answer));
    }
    print_request(ui, &sent)
}

/// Finds where Claude Code would go on: at the resume point, or at the end of what was named.
fn resume_point(history: &History, spot: &NodeSelector) -> Result<NodeId, CommandError> {
    let branches = &history.branches;
    if let Some(node) = spot.find_node(history)? {
        let named = branches.conversations.iter().find(|found| found.leaf == node);
        return Ok(match (spot, named) {
            (NodeSelector::Nth(_), Some(conversation)) => history.last_record(conversation),
            _ => end_of_message(history, node).unwrap_or(node),
        });
    }
    branches.resume.map(|resume| resume.point).ok_or_else(|| {
        CommandError::nothing_found("Claude Code finds nothing to resume in this session")
            .with_hint("`ramus show SESSION` reads what is there, `--explain` says why")
    })
}

fn print_request(ui: &mut Ui, sent: &SentRequest) -> Result<(), CommandError> {
    ui.start_pager();
    for message in &sent.messages {
        for line in message_lines(message) {
            ui.print_line(&line)?;
        }
        ui.print_line(&Line::default())?;
    }
    if !sent.unworded.is_empty() {
        let words = format!(
            "{} more, in words that the session does not hold; `--json` names them.",
            count_noun(sent.unworded.len(), "attachment"),
        );
        ui.print_message(&Line::new(&words, Label::Dim));
    }
    if !sent.unreported.is_empty() {
        let agents = count_noun(sent.unreported.len(), "background agent");
        let words = format!("Claude Code adds a note: no report of {agents} is part of this.");
        ui.print_message(&Line::new(&words, Label::Dim));
    }
    Ok(())
}

fn message_lines(message: &SentMessage) -> Vec<Line> {
    let mut lines = vec![Line::new(message.role.as_str(), Label::Strong)];
    push_content(&mut lines, &message.content);
    lines
}

fn push_content(lines: &mut Vec<Line>, content: &Value) {
    match content {
        Value::Array(blocks) => blocks.iter().for_each(|block| push_block(lines, block)),
        _ => push_text(lines, content.as_str().unwrap_or_default()),
    }
}

fn push_block(lines: &mut Vec<Line>, block: &Value) {
    let text = |field: &str| block[field].as_str().unwrap_or_default();
    let head = |words: &str| Line::plain("  ").with(words, Label::Dim);
    match text("type") {
        "text" => push_text(lines, text("text")),
        "thinking" => {
            lines.push(head("thinking"));
            push_text(lines, text("thinking"));
        }
        "tool_use" => {
            lines.push(head(&format!("tool_use {} {}", text("name"), text("id"))));
            push_text(lines, &block["input"].to_string());
        }
        "tool_result" => {
            let failed = if block["is_error"] == true { " (error)" } else { "" };
            lines.push(head(&format!("tool_result {}{failed}", text("tool_use_id"))));
            push_content(lines, &block["content"]);
        }
        kind => lines.push(head(kind)),
    }
}

fn push_text(lines: &mut Vec<Line>, text: &str) {
    lines.extend(text.lines().map(|line| Line::plain(&format!("  {line}"))));
}
