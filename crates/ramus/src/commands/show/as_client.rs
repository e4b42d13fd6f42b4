//! Prints the messages that Claude Code would send.

use std::cell::RefCell;
use std::io;

use ramus_app::{NodeSelector, ResolvedFile};
use ramus_core::body::json;
use ramus_core::client_path::{SentMessage, SentRequest};
use ramus_core::edit::end_of_message;
use ramus_core::history::History;
use ramus_core::session::NodeId;
use ramus_render::json::{Answer, MessageJson, SentJson};
use ramus_render::text::count_noun;
use ramus_render::{Label, Line};
use ramus_store::{PathError, RecordReader};
use serde::ser::{Error, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::error::CommandError;
use crate::ui::Ui;

pub(super) fn show_as_client(
    ui: &mut Ui,
    found: &ResolvedFile,
    history: &History,
    selector: &NodeSelector,
) -> Result<(), CommandError> {
    let point = resume_point(history, selector)?;
    let mut lines =
        LineSource { history, bodies: RecordReader::open(&found.file.path)?, problem: None };
    let sent = SentRequest::new(history, point, &mut |id| lines.read_line(id));
    lines.take_problem()?;
    if ui.json {
        let messages = JsonMessages { sent: &sent, lines: RefCell::new(lines) };
        let answer = SentJson::new(&found.file.id, history, point, &sent, messages);
        return ui.print_json(&Answer::new("ramus.show.client/1", answer));
    }
    print_request(ui, &sent, &mut lines)
}

/// Reads the lines of a session and remembers why one could not be read.
struct LineSource<'a> {
    history: &'a History,
    bodies: RecordReader,
    problem: Option<PathError>,
}

impl LineSource<'_> {
    fn read_line(&mut self, id: NodeId) -> Option<Value> {
        match self.bodies.read_record(self.history.session.record(id).span) {
            Ok(bytes) => json::parse_line(&bytes).ok(),
            Err(error) => {
                self.problem = Some(error);
                None
            }
        }
    }

    fn take_problem(&mut self) -> Result<(), PathError> {
        self.problem.take().map_or(Ok(()), Err)
    }
}

/// The messages of a request, read one by one while they are written.
struct JsonMessages<'a> {
    sent: &'a SentRequest<'a>,
    lines: RefCell<LineSource<'a>>,
}

impl Serialize for JsonMessages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        let mut lines = self.lines.borrow_mut();
        self.sent.each_message(&mut |id| lines.read_line(id), &mut |message| {
            list.serialize_element(&MessageJson::from(message))
        })?;
        lines.take_problem().map_err(S::Error::custom)?;
        list.end()
    }
}

/// Finds where Claude Code would continue: at the resume point, or at the end of the given path.
fn resume_point(history: &History, selector: &NodeSelector) -> Result<NodeId, CommandError> {
    let branches = &history.branches;
    if let Some(node) = selector.find_node(history)? {
        let named = branches.conversations.iter().find(|found| found.leaf == node);
        return Ok(match (selector, named) {
            (NodeSelector::Nth(_), Some(conversation)) => history.last_record(conversation),
            _ => end_of_message(history, node).unwrap_or(node),
        });
    }
    branches.resume.map(|resume| resume.point).ok_or_else(|| {
        CommandError::nothing_found("this session has nothing that Claude Code could resume")
            .with_hint("`ramus show SESSION` shows its records, --explain shows why")
    })
}

fn print_request(
    ui: &mut Ui,
    sent: &SentRequest<'_>,
    lines: &mut LineSource<'_>,
) -> Result<(), CommandError> {
    ui.start_pager();
    sent.each_message(&mut |id| lines.read_line(id), &mut |message| {
        print_message(ui, &message)?;
        ui.print_line(&Line::default())
    })?;
    lines.take_problem()?;
    if !sent.unworded.is_empty() {
        let words = format!(
            "{} more with text that the session does not contain. Use --json to list them.",
            count_noun(sent.unworded.len(), "attachment"),
        );
        ui.print_message(&Line::new(&words, Label::Dim));
    }
    if !sent.unreported.is_empty() {
        let agents = count_noun(sent.unreported.len(), "background agent");
        let words = format!("Claude Code adds a note: {agents} has not reported yet.");
        ui.print_message(&Line::new(&words, Label::Dim));
    }
    Ok(())
}

fn print_message(ui: &mut Ui, message: &SentMessage) -> io::Result<()> {
    ui.print_line(&Line::new(message.role.as_str(), Label::Strong))?;
    print_content(ui, &message.content)
}

fn print_content(ui: &mut Ui, content: &Value) -> io::Result<()> {
    match content {
        Value::Array(blocks) => blocks.iter().try_for_each(|block| print_block(ui, block)),
        _ => print_text(ui, content.as_str().unwrap_or_default()),
    }
}

fn print_block(ui: &mut Ui, block: &Value) -> io::Result<()> {
    let text = |field: &str| block[field].as_str().unwrap_or_default();
    let head = |words: &str| Line::plain("  ").with(words, Label::Dim);
    match text("type") {
        "text" => print_text(ui, text("text")),
        "thinking" => {
            ui.print_line(&head("thinking"))?;
            print_text(ui, text("thinking"))
        }
        "tool_use" => {
            ui.print_line(&head(&format!("tool_use {} {}", text("name"), text("id"))))?;
            print_text(ui, &block["input"].to_string())
        }
        "tool_result" => {
            let failed = if block["is_error"] == true { " (error)" } else { "" };
            ui.print_line(&head(&format!("tool_result {}{failed}", text("tool_use_id"))))?;
            print_content(ui, &block["content"])
        }
        kind => ui.print_line(&head(kind)),
    }
}

fn print_text(ui: &mut Ui, text: &str) -> io::Result<()> {
    text.lines().try_for_each(|line| ui.print_line(&Line::plain(&format!("  {line}"))))
}
