//! Quotes other branches as a user message.

use std::fmt::Write;

use rustc_hash::FxHashSet;
use serde_json::{Value, json};

use super::conflict::each_turn;
use super::element::Compaction;
use super::{Bodies, Sources};
use crate::body::{Body, plain_text};
use crate::session::NodeId;
use crate::time::Time;
use crate::turn::{Action, Call, Part, Turn, TurnKind};

/// A quoted summary.
pub(super) struct Quoted {
    pub(super) text: String,
    pub(super) from: Value,
    pub(super) time: Option<Time>,
    /// The preserved messages come before the summary, not after it.
    pub(super) keeps_head: bool,
}

/// Quotes the summary of a compaction.
pub(super) fn summary(
    sources: &Sources<'_>,
    compaction: &Compaction,
    bodies: &mut Bodies<'_>,
) -> Quoted {
    let Compaction { source, boundary, summary, .. } = *compaction;
    let origin = &sources.origins[source];
    let session = &origin.history.session;
    let node = summary.unwrap_or(boundary);
    let record = session.record(node);
    let text = summary.and_then(|node| bodies(source, node)).map(|body| plain_text(body.blocks()));
    let text = match text.filter(|text| !text.trim().is_empty()) {
        Some(text) => {
            format!(
                "[What was said before in this part of the conversation, in summary:]\n\n{text}"
            )
        }
        None => "[What was said before in this part of the conversation was compacted without a \
                 summary.]"
            .to_owned(),
    };
    let anchor = bodies(source, boundary).and_then(|body| match body {
        Body::System(body) => body.compact()?.preserved_segment.clone()?.anchor_uuid,
        _ => None,
    });
    let name = session.record(boundary).name.map(|name| session.spell(name));
    Quoted {
        text,
        from: record
            .name
            .map_or_else(|| json!({"sessionId": origin.session}), |name| origin.from(name)),
        time: record.time,
        keeps_head: anchor.is_some() && anchor == name,
    }
}

/// How long a digest may get, in bytes.
const LONGEST: usize = 60_000;
/// How much of each text stays, tried from the first on until all fits.
const LIMITS: &[usize] = &[4_000, 1_500, 600, 240, 100];

/// Summarizes what only these conversations did, as one text.
pub(super) fn digest(
    sources: &Sources<'_>,
    branches: &[(usize, FxHashSet<(usize, NodeId)>)],
    bodies: &mut Bodies<'_>,
) -> String {
    let text = in_short(sources, branches, LONGEST, bodies);
    let head = "[What follows was said in other branches of this conversation. It is quoted here so that \
                you know of it; nothing needs to be done for it now.]\n";
    format!("{head}{text}")
}

/// Introduces a digest that was written for this merge.
pub(super) fn assisted(text: &str) -> String {
    let head = "[What follows sums up other branches that were merged into this conversation. It is here so \
                that you know of them; nothing needs to be done for it now.]";
    format!("{head}\n\n{text}")
}

/// Returns the provenance of a merge digest: the ends of the conversations that it covers.
pub(super) fn digest_origin(
    sources: &Sources<'_>,
    branches: &[(usize, FxHashSet<(usize, NodeId)>)],
) -> Value {
    let end = |(branch, _): &(usize, _)| {
        let origin = &sources.origins[sources.branches[*branch].end - 1];
        let session = &origin.history.session;
        let named = origin.nodes.iter().rev().find_map(|node| session.record(*node).name)?;
        Some(origin.from(named))
    };
    Value::Array(branches.iter().filter_map(end).collect())
}

/// Quotes what only these conversations did in at most `longest` bytes, by shortening every text as far
/// as necessary.
pub(super) fn in_short(
    sources: &Sources<'_>,
    branches: &[(usize, FxHashSet<(usize, NodeId)>)],
    longest: usize,
    bodies: &mut Bodies<'_>,
) -> String {
    let mut told: Vec<Told> = Vec::new();
    for (branch, own) in branches {
        let mut one = Told { branch: branch + 1, ..Told::default() };
        each_turn(sources, *branch, own, bodies, &mut |turn, is_own| {
            if is_own {
                one.take(&turn);
            }
        });
        one.session = sources.origins[sources.branches[*branch].end - 1].session.to_owned();
        told.push(one);
    }
    let all = |limit: usize| told.iter().map(|one| one.text(limit)).collect::<String>();
    let fitting = LIMITS.iter().map(|limit| all(*limit)).find(|text| text.len() <= longest);
    fitting.unwrap_or_else(|| {
        // One branch must not push out the others.
        let share = longest / told.len().max(1);
        let shortest = LIMITS[LIMITS.len() - 1];
        told.iter().map(|one| shortened(&one.text(shortest), share) + "\n").collect()
    })
}

/// What one conversation did.
#[derive(Default)]
struct Told {
    branch: usize,
    session: String,
    rows: Vec<Row>,
    files: Vec<String>,
}

enum Row {
    Prompt(String),
    Answer(String),
    Tool(String),
    Note(String),
}

impl Told {
    fn take(&mut self, turn: &Turn) {
        match &turn.kind {
            TurnKind::Prompt(prompt) => self.rows.push(Row::Prompt(cut(&prompt.text))),
            TurnKind::Answer(answer) => {
                for part in &answer.parts {
                    match part {
                        Part::Text(text) => self.rows.push(Row::Answer(cut(text))),
                        Part::Call(call) => self.call(call),
                        _ => {}
                    }
                }
            }
            TurnKind::Result(call) => self.call(call),
            TurnKind::Command(command) => {
                self.rows.push(Row::Note(format!("{} {}", command.name, command.args)));
            }
            TurnKind::Interrupt { .. } => self.rows.push(Row::Note("(interrupted)".to_owned())),
            TurnKind::Compaction(compaction) => {
                let summary = compaction.summary.as_deref().unwrap_or("(compacted)");
                self.rows.push(Row::Answer(cut(summary)));
            }
            TurnKind::Synthetic(said) => self.rows.push(Row::Note(cut(&said.text))),
            _ => {}
        }
    }

    fn call(&mut self, call: &Call) {
        let failed = call.result.as_ref().is_some_and(|result| result.is_error);
        let subject = match call.action() {
            Action::Run { command, .. } => command,
            Action::Read { path } => path,
            Action::Edit { path, .. } | Action::Write { path, .. } => {
                if !failed && !self.files.iter().any(|known| known == path) {
                    self.files.push(path.to_owned());
                }
                path
            }
            Action::Grep { pattern, .. } | Action::Glob { pattern, .. } => pattern,
            Action::Delegate { description, .. } => description,
            Action::Fetch { url, .. } => url,
            Action::Search { query } => query,
            Action::Skill { name, .. } => name,
            Action::NewTask { subject, .. } => subject,
            Action::Other(inputs) => {
                inputs.iter().find_map(|(_, value)| value.as_str()).unwrap_or_default()
            }
            _ => "",
        };
        let subject = subject.lines().next().unwrap_or_default();
        let end = if failed { " (failed)" } else { "" };
        self.rows.push(Row::Tool(format!("{} {}{end}", call.name, shortened(subject, 160))));
    }

    fn text(&self, limit: usize) -> String {
        let mut text = format!("\nConversation {} (session {}):\n", self.branch, self.session);
        for row in &self.rows {
            let said = match row {
                Row::Prompt(said) => format!("\nUser: {}", shortened(said.trim(), limit)),
                Row::Answer(said) => format!("Assistant: {}", shortened(said.trim(), limit)),
                Row::Tool(said) => format!("- {}", said.trim()),
                Row::Note(said) => format!("- {}", shortened(said.trim(), limit)),
            };
            for line in said.split('\n') {
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
fn cut(text: &str) -> String {
    shortened(text, LIMITS[0])
}

/// Cuts a text at a character boundary and marks the cut.
fn shortened(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let mut end = limit;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &text[..end])
}
