//! Quotes other branches as a user message.

use std::fmt::Write;

use serde_json::{Value, json};

use super::conflict::each_turn;
use super::element::ElementCompaction;
use super::strategy::TakenRecords;
use super::{BodyReader, MergeSources};
use crate::body::{RecordBody, plain_text};
use crate::time::Time;
use crate::turn::{ReplyPart, ToolAction, ToolCall, Turn, TurnKind};

/// A quoted summary.
pub(super) struct QuotedSummary {
    pub(super) text: String,
    pub(super) provenance: Value,
    pub(super) time: Option<Time>,
    /// The preserved messages come before the summary, not after it.
    pub(super) keeps_head: bool,
}

/// Quotes the summary of a compaction.
pub(super) fn quote_summary(
    sources: &MergeSources<'_>,
    compaction: &ElementCompaction,
    bodies: &mut BodyReader<'_>,
) -> QuotedSummary {
    let ElementCompaction { source, boundary, summary, .. } = *compaction;
    let origin = &sources.origins[source];
    let session = &origin.history.session;
    let node = summary.unwrap_or(boundary);
    let record = session.record(node);
    let text =
        summary.and_then(|node| bodies(source, node)).map(|body| plain_text(body.content_blocks()));
    let text = match text.filter(|text| !text.trim().is_empty()) {
        Some(text) => {
            format!("[Summary of the earlier messages in this part of the conversation:]\n\n{text}")
        }
        None => "[The earlier messages in this part of the conversation were compacted without a \
                 summary.]"
            .to_owned(),
    };
    let anchor = bodies(source, boundary).and_then(|body| match body {
        RecordBody::System(body) => body.compact_metadata()?.preserved_segment.clone()?.anchor_uuid,
        _ => None,
    });
    let name = session.record(boundary).uuid.map(|name| session.uuid_text(name));
    QuotedSummary {
        text,
        provenance: record.uuid.map_or_else(
            || json!({"sessionId": origin.session_id}),
            |name| origin.provenance(name),
        ),
        time: record.time,
        keeps_head: anchor.is_some() && anchor == name,
    }
}

/// How long a digest may get, in bytes.
const MAX_DIGEST_BYTES: usize = 60_000;
/// How much of each text stays, tried from the first on until all fits.
const TEXT_LIMITS: &[usize] = &[4_000, 1_500, 600, 240, 100];

/// Summarizes what only these conversations did, as one text.
pub(super) fn merge_digest(
    sources: &MergeSources<'_>,
    branches: &[(usize, TakenRecords)],
    bodies: &mut BodyReader<'_>,
) -> String {
    let text = quote_briefly(sources, branches, MAX_DIGEST_BYTES, bodies);
    let head = "[The following messages are from other branches of this conversation. They are quoted for \
                information; you do not need to act on them now.]\n";
    format!("{head}{text}")
}

/// Introduces a digest that was written for this merge.
pub(super) fn introduce_digest(text: &str) -> String {
    let head = "[The following is a summary of other branches that were merged into this conversation. It is for \
                information; you do not need to act on it now.]";
    format!("{head}\n\n{text}")
}

/// Returns the provenance of a merge digest: the ends of the conversations that it covers.
pub(super) fn digest_provenance(
    sources: &MergeSources<'_>,
    branches: &[(usize, TakenRecords)],
) -> Value {
    let end = |(branch, _): &(usize, _)| {
        let origin = &sources.origins[sources.branches[*branch].end - 1];
        let session = &origin.history.session;
        let named = origin.nodes.iter().rev().find_map(|node| session.record(*node).uuid)?;
        Some(origin.provenance(named))
    };
    Value::Array(branches.iter().filter_map(end).collect())
}

/// Quotes what only these conversations did in at most `longest` bytes, by shortening every text as far
/// as necessary.
pub(super) fn quote_briefly(
    sources: &MergeSources<'_>,
    branches: &[(usize, TakenRecords)],
    longest: usize,
    bodies: &mut BodyReader<'_>,
) -> String {
    let mut quotes: Vec<BranchQuote> = Vec::new();
    for (branch, own) in branches {
        let mut one = BranchQuote { branch: branch + 1, ..BranchQuote::default() };
        each_turn(sources, *branch, own, bodies, &mut |turn, is_own| {
            if is_own {
                one.add_turn(&turn);
            }
        });
        one.session = sources.origins[sources.branches[*branch].end - 1].session_id.to_owned();
        quotes.push(one);
    }
    let all = |limit: usize| quotes.iter().map(|one| one.to_text(limit)).collect::<String>();
    let fitting = TEXT_LIMITS.iter().map(|limit| all(*limit)).find(|text| text.len() <= longest);
    fitting.unwrap_or_else(|| {
        // One branch must not push out the others.
        let share = longest / quotes.len().max(1);
        let shortest = TEXT_LIMITS[TEXT_LIMITS.len() - 1];
        quotes.iter().map(|one| truncate_text(&one.to_text(shortest), share) + "\n").collect()
    })
}

/// What one conversation did.
#[derive(Default)]
struct BranchQuote {
    branch: usize,
    session: String,
    lines: Vec<QuotedLine>,
    files: Vec<String>,
}

enum QuotedLine {
    Prompt(String),
    Reply(String),
    Tool(String),
    Note(String),
}

impl BranchQuote {
    fn add_turn(&mut self, turn: &Turn) {
        match &turn.kind {
            TurnKind::Prompt(prompt) => self.lines.push(QuotedLine::Prompt(cut_text(&prompt.text))),
            TurnKind::Reply(answer) => {
                for part in &answer.parts {
                    match part {
                        ReplyPart::Text(text) => self.lines.push(QuotedLine::Reply(cut_text(text))),
                        ReplyPart::Call(call) => self.add_call(call),
                        _ => {}
                    }
                }
            }
            TurnKind::Result(call) => self.add_call(call),
            TurnKind::Command(command) => {
                self.lines.push(QuotedLine::Note(format!("{} {}", command.name, command.args)));
            }
            TurnKind::Interrupt { .. } => {
                self.lines.push(QuotedLine::Note("(interrupted)".to_owned()));
            }
            TurnKind::Compaction(compaction) => {
                let summary = compaction.summary.as_deref().unwrap_or("(compacted)");
                self.lines.push(QuotedLine::Reply(cut_text(summary)));
            }
            TurnKind::Synthetic(words) => self.lines.push(QuotedLine::Note(cut_text(&words.text))),
            _ => {}
        }
    }

    fn add_call(&mut self, call: &ToolCall) {
        let failed = call.result.as_ref().is_some_and(|result| result.is_error);
        let subject = match call.action() {
            ToolAction::Run { command, .. } => command,
            ToolAction::Read { path } => path,
            ToolAction::Edit { path, .. } | ToolAction::Write { path, .. } => {
                if !failed && !self.files.iter().any(|known| known == path) {
                    self.files.push(path.to_owned());
                }
                path
            }
            ToolAction::Grep { pattern, .. } | ToolAction::Glob { pattern, .. } => pattern,
            ToolAction::Delegate { description, .. } => description,
            ToolAction::Fetch { url, .. } => url,
            ToolAction::Search { query } => query,
            ToolAction::Skill { name, .. } => name,
            ToolAction::NewTask { subject, .. } => subject,
            ToolAction::Other(inputs) => {
                inputs.iter().find_map(|(_, value)| value.as_str()).unwrap_or_default()
            }
            _ => "",
        };
        let subject = subject.lines().next().unwrap_or_default();
        let end = if failed { " (failed)" } else { "" };
        self.lines.push(QuotedLine::Tool(format!(
            "{} {}{end}",
            call.name,
            truncate_text(subject, 160)
        )));
    }

    fn to_text(&self, limit: usize) -> String {
        let mut text = format!("\nConversation {} (session {}):\n", self.branch, self.session);
        for row in &self.lines {
            let words = match row {
                QuotedLine::Prompt(words) => {
                    format!("\nUser: {}", truncate_text(words.trim(), limit))
                }
                QuotedLine::Reply(words) => {
                    format!("Assistant: {}", truncate_text(words.trim(), limit))
                }
                QuotedLine::Tool(words) => format!("- {}", words.trim()),
                QuotedLine::Note(words) => format!("- {}", truncate_text(words.trim(), limit)),
            };
            for line in words.split('\n') {
                text.push_str(if line.trim().is_empty() { ">" } else { "> " });
                text.push_str(line.trim_end());
                text.push('\n');
            }
        }
        if !self.files.is_empty() {
            let _ = writeln!(text, "Files changed there: {}", self.files.join(", "));
        }
        text
    }
}

/// The most that is kept of a text before it is known how much fits.
fn cut_text(text: &str) -> String {
    truncate_text(text, TEXT_LIMITS[0])
}

/// Cuts a text at a character boundary and marks the cut.
fn truncate_text(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let mut end = limit;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &text[..end])
}
