//! Draws rows as lines: a graph, words, and columns on the right.
//!
//! ```text
//! ● How do I parse this?                    8 messages  09:14  1f0c2a77
//! ┬ edited prompt: 2 branches                           09:20  1f0c2a77
//! ├─○ Use a regular expression             14 messages  09:20  77aa01c3
//! ◉ Use a parser  ← resumes here           31 messages  09:41  c0ffee12
//! ```
//!
//! There is one line for each row.

use ramus_core::branches::Status;
use ramus_core::record::Voice;

use super::{OutlineConfig, Row, RowKind};
use crate::layout::truncate;
use crate::span::{Label, Line};
use crate::text::fork_summary;

mod graph;

mod page;

use page::{Page, columns, count};

/// Draws the rows of an outline.
pub fn draw(rows: &[Row], config: &OutlineConfig<'_>) -> Vec<Line> {
    let graphs = graph::graphs(rows);
    let bodies: Vec<Body> = rows.iter().map(Body::new).collect();
    let columns: Vec<[Line; 3]> = rows.iter().map(|row| columns(row, config)).collect();
    let natural = graphs.iter().zip(&bodies).map(|(graph, body)| graph.width() + body.width());
    let page = Page::new(natural.max().unwrap_or(0), &columns, config.width);
    let parts = graphs.into_iter().zip(bodies).zip(columns);
    parts.map(|((graph, body), columns)| page.line(graph, &body, columns)).collect()
}

/// Returns a legend of the symbols that appear in a drawing.
pub fn legend(drawing: &[Line]) -> Line {
    let signs = [
        ("●", Label::Active, "active"),
        ("○", Label::Abandoned, "abandoned"),
        ("◌", Label::Abandoned, "draft"),
        ("◉", Label::Active, "resumes here"),
        ("┬", Label::Branch, "fork"),
        ("◇", Label::Note, "compacted"),
        ("▸", Label::ToolName, "agent"),
        ("⊘", Label::Warning, "interrupted"),
        ("×", Label::Error, "API error"),
    ];
    // Our symbols have their label. The same character in a message does not.
    let is_there = |sign: &str, label: Label| {
        let mut spans = drawing.iter().flat_map(|line| &line.0);
        spans.any(|span| span.label == label && span.text().contains(sign))
    };
    let mut line = Line::default();
    for (sign, label, meaning) in signs.into_iter().filter(|sign| is_there(sign.0, sign.1)) {
        line.push(if line.is_empty() { "" } else { "  " }, Label::Dim);
        line.push(sign, label);
        line.push(&format!(" {meaning}"), Label::Dim);
    }
    line
}

/// The text of a row, between its graph and its columns.
struct Body {
    /// Truncated first when space is limited.
    words: Line,
    /// Kept as long as some words fit beside them.
    marks: Line,
}

impl Body {
    fn new(row: &Row) -> Self {
        Self { words: spoken(row), marks: marks(row) }
    }

    fn width(&self) -> usize {
        self.words.width() + self.marks.width()
    }

    fn fit(&self, room: usize) -> Line {
        let beside_marks = room.saturating_sub(self.marks.width());
        if beside_marks < self.words.width().min(8) {
            return truncate(&self.words, room);
        }
        let mut line = truncate(&self.words, beside_marks);
        line.append(&self.marks);
        line
    }
}

fn spoken(row: &Row) -> Line {
    let text = match row.status {
        Status::Active => Label::Plain,
        Status::Abandoned => Label::Abandoned,
    };
    let words = row.words.as_ref();
    match &row.kind {
        RowKind::Run { opening } => match (opener(*opening), words) {
            (Some(opener), None) => Line::new(opener, Label::Note),
            (Some(opener), Some(words)) if words.opens => {
                Line::new(&format!("{opener}: "), Label::Note).with(&words.text, text)
            }
            (_, Some(words)) => Line::new(&words.text, text),
            (None, None) => Line::new(silent(*opening), Label::Note),
        },
        RowKind::Fork { kind, ways, files } => {
            let files = files.map(|files| format!(", files {}", files.word())).unwrap_or_default();
            Line::new(&format!("{}{files}", fork_summary(*kind, *ways)), Label::Branch)
        }
        RowKind::Record { kind, voice, .. } => {
            let mut line = Line::new(kind.word(), Label::Dim);
            if let Some(voice) = voice_word(*voice) {
                line.push(&format!(" {voice}"), Label::Dim);
            }
            if let Some(words) = words {
                line.push("  ", Label::Plain);
                line.push(&words.text, text);
            }
            line
        }
        RowKind::Compaction => Line::new("compacted", Label::Note),
        RowKind::Sidechain { .. } => {
            let agent = Line::new("agent", Label::ToolName);
            match words {
                Some(words) => agent.with("  ", Label::Plain).with(&words.text, Label::Dim),
                None => agent,
            }
        }
        RowKind::Tree { n, of } => Line::new(&format!("tree {n} of {of}"), Label::Dim),
        RowKind::Loose => Line::new("outside any conversation", Label::Dim),
        RowKind::Elided { rows } => {
            Line::new(&format!("{} hidden", count(*rows as u32, "row")), Label::Dim)
        }
    }
}

/// Names the author of a run's first message, unless it is the person whose words are shown.
fn opener(voice: Voice) -> Option<&'static str> {
    match voice {
        Voice::Answer => Some("reply"),
        Voice::Synthetic => Some("Claude Code"),
        _ => None,
    }
}

/// Returns the text for a run without known words.
fn silent(voice: Voice) -> &'static str {
    match voice {
        Voice::CompactSummary => "continues after compaction",
        Voice::Prompt => "empty prompt",
        voice => voice_word(voice).unwrap_or("client records"),
    }
}

fn voice_word(voice: Voice) -> Option<&'static str> {
    match voice {
        Voice::Prompt => Some("prompt"),
        Voice::Synthetic => Some("by the client"),
        Voice::CompactSummary => Some("summary"),
        Voice::Boundary => Some("compacted"),
        Voice::ToolResult => Some("tool result"),
        Voice::Command => Some("command"),
        Voice::CommandOutput => Some("command output"),
        Voice::Meta => Some("meta"),
        Voice::Interrupt => Some("interrupt"),
        Voice::Notification => Some("notification"),
        Voice::Queued => Some("queued prompt"),
        Voice::Answer | Voice::Decoration => None,
    }
}

fn marks(row: &Row) -> Line {
    let mut line = Line::default();
    let many = |sign: &str, n: u32| if n > 1 { format!("{sign}{n}") } else { sign.to_owned() };
    if row.marks.interrupts > 0 {
        line.push("  ", Label::Plain);
        line.push(&many("⊘", row.marks.interrupts), Label::Warning);
    }
    if row.marks.errors > 0 {
        line.push("  ", Label::Plain);
        line.push(&many("×", row.marks.errors), Label::Error);
    }
    if let Some((command, more)) = row.marks.commands.split_first() {
        line.push("  ", Label::Plain);
        line.push(command, Label::Dim);
        if !more.is_empty() {
            line.push(&format!(" +{}", more.len()), Label::Dim);
        }
    }
    if row.resumes {
        line.push("  ", Label::Plain);
        line.push("← resumes here", Label::Active);
    }
    line
}
