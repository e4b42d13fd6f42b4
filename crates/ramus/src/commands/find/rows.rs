//! Hits for a person: sessions as headings, a row for each message.

use std::ops::Range;

use ramus_app::SearchBatch;
use ramus_core::branches::Status;
use ramus_core::edit::MessageSummary;
use ramus_core::query::{Query, SearchHit};
use ramus_core::time::Time;
use ramus_render::layout::{pad, truncate};
use ramus_render::snippet::Snippet;
use ramus_render::{Label, Line};
use ramus_store::place::is_encoded;

use crate::env::Clock;
use crate::error::CommandError;
use crate::project::{project_end, project_name};
use crate::ui::Ui;

/// Writes batches of hits one below the other.
pub(super) struct RowWriter<'a> {
    query: &'a Query,
    clock: Clock,
    /// Whether rows were written before.
    has_begun: bool,
}

impl<'a> RowWriter<'a> {
    pub(super) fn new(query: &'a Query) -> Self {
        Self { query, clock: Clock::new(), has_begun: false }
    }

    /// Writes sessions in the order of their first hits, each with all of its hits.
    pub(super) fn write(
        &mut self,
        ui: &mut Ui,
        batch: &mut SearchBatch<'_>,
    ) -> Result<(), CommandError> {
        let mut shown = 0_usize;
        for group in batch.by_session() {
            let mut is_first = true;
            for index in group {
                let Some(hit) = batch.hit(index) else { continue };
                if std::mem::take(&mut is_first) {
                    self.write_heading(ui, &hit)?;
                }
                for line in self.rows(&hit, ui.width) {
                    ui.line(&line)?;
                }
                // The first of them at once, the others when there are enough.
                shown += 1;
                if shown.is_power_of_two() {
                    ui.out().flush()?;
                }
            }
        }
        Ok(())
    }

    fn write_heading(&mut self, ui: &mut Ui, hit: &SearchHit) -> Result<(), CommandError> {
        if hit.is_prompt_only {
            return Ok(ui.line(&Line::new("Sessions that are gone", Label::Heading))?);
        }
        match std::mem::replace(&mut self.has_begun, true) {
            true => ui.line(&Line::default())?,
            false => ui.page(),
        }
        Ok(ui.line(&heading(hit, ui.width, &self.clock))?)
    }

    fn rows(&self, hit: &SearchHit, width: usize) -> Vec<Line> {
        let (text, range) = (&hit.passage.text, &hit.passage.range);
        if hit.is_prompt_only {
            let snippet = Snippet::new(text, range, width);
            return vec![self.prompt_row(hit, &snippet, width)];
        }
        let statuses: Vec<Option<Status>> =
            hit.copies.iter().map(|copy| copy.branch.map(|branch| branch.status)).collect();
        let row = Row {
            time: hit.time,
            kind: hit.kind.word(),
            status: hit.branch.map(|branch| branch.status),
            conversation: hit.branch.map(|branch| branch.n),
            is_agent: hit.is_sidechain,
            address: &hit.short_address,
            copies: statuses.get(1..).unwrap_or_default(),
        };
        let snippet = Snippet::new(text, range, row.room(width, &self.clock));
        let mut lines = row.lines(width, &self.clock, &snippet, |text| self.query.marks(text));
        if let Some(context) = &hit.context {
            let near = |sign, message| near_row(sign, message, width);
            let before: Vec<Line> = context.before.iter().map(|one| near("↑", one)).collect();
            lines.splice(0..0, before);
            lines.extend(context.after.iter().map(|one| near("↓", one)));
        }
        lines
    }

    /// Returns the row of a prompt whose session was deleted: there is nothing to show beside it.
    fn prompt_row(&self, hit: &SearchHit, snippet: &Snippet, width: usize) -> Line {
        let time = hit.time.map(|time| self.clock.short(time)).unwrap_or_default();
        let mut line = Line::plain("  ").with(&format!("{time:<12} "), Label::Time);
        line.push("prompt only  ", Label::Dim);
        line.append(&snippet.line(Label::Plain, |text| self.query.marks(text)));
        truncate(&line, width)
    }
}

/// One message.
struct Row<'a> {
    time: Option<Time>,
    kind: &'a str,
    status: Option<Status>,
    conversation: Option<u32>,
    is_agent: bool,
    address: &'a str,
    /// The status of each copy.
    copies: &'a [Option<Status>],
}

/// Below this width a row takes two lines.
const WIDE: usize = 96;
const TIME: usize = 12;
const KIND: usize = 12;
const ADDRESS: usize = 18;

/// Returns the line above the hits of a session.
fn heading(hit: &SearchHit, width: usize, clock: &Clock) -> Line {
    let time = hit.sort_time.map(|time| clock.short(time)).unwrap_or_default();
    let end = Line::new(" · ", Label::Dim)
        .with(&hit.short_session, Label::Id)
        .with(if time.is_empty() { "" } else { " · " }, Label::Dim)
        .with(&time, Label::Time);
    let encoded = hit.project.as_deref().unwrap_or_default();
    let cwd = hit.cwd.as_deref().filter(|cwd| is_encoded(encoded, cwd));
    let project = project_name(cwd, encoded);
    let mut line = Line::default();
    if !project.is_empty() {
        let project = project_end(&project, (width / 4).max(8));
        line = line.with(&project, Label::Dim).with(" · ", Label::Dim);
    }
    line.push(hit.title.as_deref().unwrap_or("(no title)"), Label::Heading);
    let mut line = truncate(&line, width.saturating_sub(end.width()).max(16));
    line.append(&end);
    line
}

impl Row<'_> {
    /// Returns how many characters of a snippet fit.
    fn room(&self, width: usize, clock: &Clock) -> usize {
        let used =
            if width < WIDE { 4 } else { self.head(clock).width() + self.tail().width() + 2 };
        width.saturating_sub(used).max(12)
    }

    fn lines(
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
fn near_row(sign: &str, message: &MessageSummary, width: usize) -> Line {
    let head = format!("      {sign} {:<10}", message.role.word());
    let room = width.saturating_sub(head.chars().count() + 11).max(12);
    let mut line = Line::new(&head, Label::Dim);
    line.append(&pad(truncate(&Line::new(&message.text, Label::Dim), room), room + 2));
    line.with(&message.short_uuid, Label::Dim)
}
