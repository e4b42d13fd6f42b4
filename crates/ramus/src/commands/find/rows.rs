//! Hits for a person: sessions as headings, a row for each message.

use std::ops::Range;
use std::path::Path;

use ramus_app::SearchBatch;
use ramus_core::branches::BranchStatus;
use ramus_core::edit::MessageSummary;
use ramus_core::query::{HitCopy, HitRank, MatchLevel, SearchHit};
use ramus_core::time::Time;
use ramus_render::layout::{pad_line, truncate_line};
use ramus_render::snippet::Snippet;
use ramus_render::{Label, Line};

use crate::env::LocalClock;
use crate::error::CommandError;
use crate::project::{project_end, project_name};
use crate::ui::Ui;

/// Writes batches of hits one below the other.
pub(super) struct FindWriter {
    clock: LocalClock,
    /// Whether rows say why they have their place.
    with_reasons: bool,
    /// Whether rows were written before.
    has_begun: bool,
    /// The session and project of the last heading.
    last_heading: Option<(String, Option<String>)>,
}

impl FindWriter {
    pub(super) fn new(with_reasons: bool) -> Self {
        Self { clock: LocalClock::new(), with_reasons, has_begun: false, last_heading: None }
    }

    /// Writes sessions in the order of their first hits, each with all of its hits.
    pub(super) fn write_batch(
        &mut self,
        ui: &mut Ui,
        batch: &mut SearchBatch<'_>,
    ) -> Result<(), CommandError> {
        let mut shown = 0_usize;
        for group in batch.by_session() {
            let mut is_first = true;
            let mut more = 0;
            for index in group {
                let Some(hit) = batch.read_hit(index) else { continue };
                if std::mem::take(&mut is_first) {
                    self.write_heading(ui, batch, index, &hit)?;
                }
                // An empty line separates the context of a hit from that of the next.
                else if hit.context.is_some() {
                    ui.print_line(&Line::default())?;
                }
                for line in self.hit_rows(batch, &hit, ui.width) {
                    ui.print_line(&line)?;
                }
                more = hit.rank.as_ref().map_or(0, |rank| rank.more);
                // The first hit is printed at once, later ones in growing batches.
                shown += 1;
                if shown.is_power_of_two() {
                    ui.output_writer().flush()?;
                }
            }
            if more > 0 {
                let more = format!("  … {more} more in this session");
                ui.print_line(&Line::new(&more, Label::Dim))?;
            }
        }
        Ok(())
    }

    fn write_heading(
        &mut self,
        ui: &mut Ui,
        batch: &SearchBatch<'_>,
        index: usize,
        hit: &SearchHit,
    ) -> Result<(), CommandError> {
        let heading = match hit.is_prompt_only {
            true => (String::new(), None),
            false => (hit.session.clone(), hit.project.clone()),
        };
        // The hits of a session can come in several batches.
        if self.last_heading.replace(heading.clone()) == Some(heading) {
            return Ok(());
        }
        if hit.is_prompt_only {
            return Ok(ui.print_line(&Line::new("Deleted sessions", Label::Heading))?);
        }
        match std::mem::replace(&mut self.has_begun, true) {
            true => ui.print_line(&Line::default())?,
            false => ui.start_pager(),
        }
        let path = batch.project_path(index);
        let project = project_name(path.as_deref(), hit.project.as_deref().unwrap_or_default());
        Ok(ui.print_line(&session_heading(hit, &project, ui.width, &self.clock))?)
    }

    fn hit_rows(&self, batch: &SearchBatch<'_>, hit: &SearchHit, width: usize) -> Vec<Line> {
        let (text, range) = (&hit.passage.text, &hit.passage.range);
        if hit.is_prompt_only {
            let snippet = Snippet::new(text, range, width);
            return vec![self.prompt_row(batch, hit, &snippet, width)];
        }
        let statuses: Vec<Option<BranchStatus>> =
            hit.copies.iter().map(|copy| copy.branch.map(|branch| branch.status)).collect();
        let row = FindRow {
            time: hit.time,
            kind: hit.kind.as_str(),
            status: hit.branch.map(|branch| branch.status),
            conversation: hit.branch.map(|branch| branch.n),
            is_agent: hit.is_sidechain,
            address: &hit.short_address,
            copies: statuses.get(1..).unwrap_or_default(),
        };
        let snippet = Snippet::new(text, range, row.snippet_width(width, &self.clock));
        let mut lines =
            row.row_lines(width, &self.clock, &snippet, |text| batch.match_ranges(text));
        if let Some(also) = also_in(hit, |id| batch.shorten_id(id)).filter(|_| hit.rank.is_some()) {
            lines.push(truncate_line(&Line::new(&also, Label::Dim), width));
        }
        if let Some(rank) = hit.rank.as_ref().filter(|_| self.with_reasons) {
            lines.push(truncate_line(&reason_row(hit, rank), width));
        }
        if let Some(context) = &hit.context {
            let near = |sign, message| neighbour_row(sign, message, width);
            let before: Vec<Line> = context.before.iter().map(|one| near("↑", one)).collect();
            lines.splice(0..0, before);
            lines.extend(context.after.iter().map(|one| near("↓", one)));
        }
        lines
    }

    /// Returns the row of a prompt of a deleted session, which has no context.
    fn prompt_row(
        &self,
        batch: &SearchBatch<'_>,
        hit: &SearchHit,
        snippet: &Snippet,
        width: usize,
    ) -> Line {
        let time = hit.time.map(|time| self.clock.short_time(time)).unwrap_or_default();
        let mut line = Line::plain("  ").with(&format!("{time:<12} "), Label::Time);
        line.push("prompt only  ", Label::Dim);
        line.append(&snippet.to_line(Label::Plain, |text| batch.match_ranges(text)));
        truncate_line(&line, width)
    }
}

/// How many other files that have a message are named.
const NAMED_COPIES: usize = 3;

/// Returns which other files have a message; `None`: no other.
fn also_in(hit: &SearchHit, shorten_id: impl Fn(&str) -> String) -> Option<String> {
    let mut names: Vec<String> = Vec::new();
    // A tool result in a separate file belongs to the same session.
    let is_other = |copy: &&HitCopy| copy.file != hit.file && copy.file.ends_with(".jsonl");
    for copy in hit.copies.iter().filter(is_other) {
        let stem = Path::new(&copy.file).file_stem().unwrap_or_default().to_string_lossy();
        let name = match stem.strip_prefix("agent-") {
            Some(agent) => format!("agent-{}", shorten_id(agent)),
            None => shorten_id(&stem),
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let more = names.len().saturating_sub(NAMED_COPIES);
    names.truncate(NAMED_COPIES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!names.is_empty()).then(|| format!("      also in {}{more}", names.join(", ")))
}

/// Returns the row that explains the rank of a hit.
fn reason_row(hit: &SearchHit, rank: &HitRank) -> Line {
    let words = rank
        .terms
        .iter()
        .map(|term| format!("{} {} {:.1}", term.word, term.form.as_str(), term.weight));
    let words = words.collect::<Vec<_>>().join(", ");
    if rank.level == MatchLevel::Meaning {
        let text = format!(
            "      why: {} of the {}, {:.2} alike; session {:.3}",
            rank.level.as_str(),
            hit.kind.as_str(),
            rank.score,
            rank.session_score
        );
        return Line::new(&text, Label::Dim);
    }
    let text = format!(
        "      why: {} in {}, {:.1}; session {:.1} with {:.0} % for its time; {words}",
        rank.level.as_str(),
        hit.kind.as_str(),
        rank.score,
        rank.session_score,
        rank.recency * 100.0
    );
    Line::new(&text, Label::Dim)
}

/// One message.
struct FindRow<'a> {
    time: Option<Time>,
    kind: &'a str,
    status: Option<BranchStatus>,
    conversation: Option<u32>,
    is_agent: bool,
    address: &'a str,
    /// The status of each copy.
    copies: &'a [Option<BranchStatus>],
}

/// Below this width a row takes two lines.
const SINGLE_LINE_WIDTH: usize = 96;
const TIME_WIDTH: usize = 12;
const KIND_WIDTH: usize = 12;
const ADDRESS_WIDTH: usize = 18;

/// Returns the line above the hits of a session.
fn session_heading(hit: &SearchHit, project: &str, width: usize, clock: &LocalClock) -> Line {
    let time = hit.sort_time.map(|time| clock.short_time(time)).unwrap_or_default();
    let end = Line::new(" · ", Label::Dim)
        .with(&hit.short_session, Label::Id)
        .with(if time.is_empty() { "" } else { " · " }, Label::Dim)
        .with(&time, Label::Time);
    let mut line = Line::default();
    if !project.is_empty() {
        let project = project_end(project, (width / 4).max(8));
        line = line.with(&project, Label::Dim).with(" · ", Label::Dim);
    }
    line.push(hit.title.as_deref().unwrap_or("(no title)"), Label::Heading);
    let mut line = truncate_line(&line, width.saturating_sub(end.width()).max(8));
    line.append(&end);
    line
}

impl FindRow<'_> {
    /// Returns how many characters of a snippet fit.
    fn snippet_width(&self, width: usize, clock: &LocalClock) -> usize {
        let used = if width < SINGLE_LINE_WIDTH {
            4
        } else {
            self.row_head(clock).width() + self.padded_tail().width() + 2
        };
        width.saturating_sub(used).max(12)
    }

    fn row_lines(
        &self,
        width: usize,
        clock: &LocalClock,
        snippet: &Snippet,
        marks: impl Fn(&str) -> Vec<Range<usize>>,
    ) -> Vec<Line> {
        let around = if self.status == Some(BranchStatus::Abandoned) {
            Label::Abandoned
        } else {
            Label::Plain
        };
        let room = self.snippet_width(width, clock);
        let text = truncate_line(&snippet.to_line(around, marks), room);
        let mut head = self.row_head(clock);
        if width < SINGLE_LINE_WIDTH {
            let mut below = Line::plain("    ");
            below.append(&text);
            let tail = self.row_tail();
            // The address must stay whole.
            if head.width() + tail.width() <= width {
                head.append(&tail);
                return vec![head, below];
            }
            let mut address = Line::plain("    ");
            address.append(&tail);
            return vec![truncate_line(&head, width), below, address];
        }
        head.append(&pad_line(text, room + 2));
        head.append(&self.padded_tail());
        vec![head]
    }

    fn row_head(&self, clock: &LocalClock) -> Line {
        let (mark, label) = status_mark(self.status);
        let time = self.time.map(|time| clock.short_time(time)).unwrap_or_default();
        let branch = self.conversation.map(|n| format!("@{n}")).unwrap_or_default();
        let mut line = Line::plain("  ");
        line.append(&pad_line(Line::new(&time, Label::Time), TIME_WIDTH));
        line.push(" ", Label::Plain);
        line.push(mark, label);
        line.append(&pad_line(Line::new(&branch, Label::Branch), 3));
        line.push(if self.is_agent { "▸" } else { " " }, Label::ToolName);
        line.append(&pad_line(
            truncate_line(&Line::new(self.kind, kind_label(self.kind)), KIND_WIDTH),
            KIND_WIDTH + 1,
        ));
        line
    }

    fn row_tail(&self) -> Line {
        let mut line = Line::new(self.address, Label::Dim);
        if !self.copies.is_empty() {
            line.push(&format!(" ×{}", self.copies.len() + 1), Label::Dim);
        }
        // The status of copies is shown only if it differs.
        let mut others: Vec<Option<BranchStatus>> = Vec::new();
        for status in self.copies.iter().filter(|status| **status != self.status) {
            if !others.contains(status) {
                others.push(*status);
                let (mark, label) = status_mark(*status);
                line.push(mark, label);
            }
        }
        line
    }

    fn padded_tail(&self) -> Line {
        pad_line(self.row_tail(), ADDRESS_WIDTH)
    }
}

fn status_mark(status: Option<BranchStatus>) -> (&'static str, Label) {
    match status {
        Some(BranchStatus::Active) => ("●", Label::Active),
        Some(BranchStatus::Abandoned) => ("○", Label::Abandoned),
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
fn neighbour_row(sign: &str, message: &MessageSummary, width: usize) -> Line {
    let head = format!("      {sign} {:<10}", message.role.as_str());
    let room = width.saturating_sub(head.chars().count() + 11).max(12);
    let mut line = Line::new(&head, Label::Dim);
    line.append(&pad_line(truncate_line(&Line::new(&message.text, Label::Dim), room), room + 2));
    line.with(&message.short_uuid, Label::Dim)
}
