//! Hits for a person: sessions as headings, a row for each message.

use std::ops::Range;

use ramus_core::branches::Status;
use ramus_core::name::short_id;
use ramus_core::time::Time;
use ramus_render::layout::{pad, truncate};
use ramus_render::snippet::Snippet;
use ramus_render::{Label, Line};

use crate::env::Clock;
use crate::project::project_end;

/// A session and how it is called.
pub(super) struct Heading<'a> {
    pub(super) project: String,
    pub(super) title: Option<&'a str>,
    pub(super) session: &'a str,
    pub(super) time: Option<Time>,
}

/// One message.
pub(super) struct Row<'a> {
    pub(super) time: Option<Time>,
    pub(super) kind: &'a str,
    pub(super) status: Option<Status>,
    pub(super) conversation: Option<u32>,
    pub(super) is_agent: bool,
    pub(super) address: &'a str,
    /// The status of each copy.
    pub(super) copies: &'a [Option<Status>],
}

/// Below this width a row takes two lines.
const WIDE: usize = 96;
const TIME: usize = 12;
const KIND: usize = 12;
const ADDRESS: usize = 18;

impl Heading<'_> {
    pub(super) fn line(&self, width: usize, clock: &Clock) -> Line {
        let id = short_id(self.session);
        let time = self.time.map(|time| clock.short(time)).unwrap_or_default();
        let end = Line::new(" · ", Label::Dim)
            .with(id, Label::Id)
            .with(if time.is_empty() { "" } else { " · " }, Label::Dim)
            .with(&time, Label::Time);
        let mut line = Line::default();
        if !self.project.is_empty() {
            let project = project_end(&self.project, (width / 4).max(8));
            line = line.with(&project, Label::Dim).with(" · ", Label::Dim);
        }
        line.push(self.title.unwrap_or("(no title)"), Label::Heading);
        let mut line = truncate(&line, width.saturating_sub(end.width()).max(16));
        line.append(&end);
        line
    }
}

impl Row<'_> {
    /// Returns how many characters of a snippet fit.
    pub(super) fn room(&self, width: usize, clock: &Clock) -> usize {
        let used =
            if width < WIDE { 4 } else { self.head(clock).width() + self.tail().width() + 2 };
        width.saturating_sub(used).max(12)
    }

    pub(super) fn lines(
        &self,
        width: usize,
        clock: &Clock,
        snippet: &Snippet,
        marks: impl Fn(&str) -> Vec<Range<usize>>,
    ) -> Vec<Line> {
        let around =
            if self.status == Some(Status::Abandoned) { Label::Abandoned } else { Label::Plain };
        let room = self.room(width, clock);
        let text = truncate(&snippet.line(around, marks), room);
        let mut head = self.head(clock);
        if width < WIDE {
            head.append(&self.tail());
            let mut below = Line::plain("    ");
            below.append(&text);
            return vec![head, below];
        }
        head.append(&pad(text, room + 2));
        head.append(&self.tail());
        vec![head]
    }

    fn head(&self, clock: &Clock) -> Line {
        let (mark, label) = mark(self.status);
        let time = self.time.map(|time| clock.short(time)).unwrap_or_default();
        let branch = self.conversation.map(|n| format!("@{n}")).unwrap_or_default();
        let mut line = Line::plain("  ");
        line.append(&pad(Line::new(&time, Label::Time), TIME));
        line.push(" ", Label::Plain);
        line.push(mark, label);
        line.append(&pad(Line::new(&branch, Label::Branch), 3));
        line.push(if self.is_agent { "▸" } else { " " }, Label::ToolName);
        line.append(&pad(truncate(&Line::new(self.kind, kind_label(self.kind)), KIND), KIND + 1));
        line
    }

    fn tail(&self) -> Line {
        let mut line = Line::new(self.address, Label::Dim);
        if !self.copies.is_empty() {
            line.push(&format!(" ×{}", self.copies.len() + 1), Label::Dim);
        }
        // What became of the copies is told only where it is something else.
        let mut others: Vec<Option<Status>> = Vec::new();
        for status in self.copies.iter().filter(|status| **status != self.status) {
            if !others.contains(status) {
                others.push(*status);
                let (mark, label) = mark(*status);
                line.push(mark, label);
            }
        }
        pad(line, ADDRESS)
    }
}

fn mark(status: Option<Status>) -> (&'static str, Label) {
    match status {
        Some(Status::Active) => ("●", Label::Active),
        Some(Status::Abandoned) => ("○", Label::Abandoned),
        None => ("·", Label::Dim),
    }
}

fn kind_label(kind: &str) -> Label {
    match kind {
        "prompt" | "queued" | "command" => Label::Prompt,
        "thinking" => Label::Thinking,
        "tool-input" | "tool-result" => Label::ToolName,
        "summary" | "title" => Label::Heading,
        "error" => Label::Error,
        "answer" => Label::Plain,
        _ => Label::Dim,
    }
}

/// Returns the row of a message before or after a hit.
pub(super) fn neighbour(sign: &str, role: &str, text: &str, id: &str, width: usize) -> Line {
    let id = short_id(id);
    let head = format!("      {sign} {role:<10}");
    let room = width.saturating_sub(head.chars().count() + 11).max(12);
    let mut line = Line::new(&head, Label::Dim);
    line.append(&pad(truncate(&Line::new(text, Label::Dim), room), room + 2));
    line.with(id, Label::Dim)
}
