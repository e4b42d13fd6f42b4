//! The list drawn.

use std::ops::Range;
use std::path::Path;

use ramus_core::branches::Status;
use ramus_core::digest::one_line;
use ramus_render::layout::truncate;
use ramus_render::snippet::Snippet;
use ramus_render::{Label, Line};
use ratatui::layout::Rect;

use super::{Filter, List, Row, Session};
use crate::canvas::Canvas;
use crate::state::Clock;
use crate::theme::Theme;

/// Below this width only titles and times are shown.
const NARROW: u16 = 60;

pub(crate) fn view(
    list: &mut List,
    canvas: &mut Canvas<'_>,
    area: Rect,
    focus: bool,
    open: Option<(&Path, u32)>,
    clock: &Clock,
) {
    let head = head(list, usize::from(area.width));
    canvas.line(area, 0, &head);
    let rows = Rect {
        y: area.y + 1,
        height: area.height.saturating_sub(1 + u16::from(list.due.is_some())),
        width: area.width.saturating_sub(2),
        ..area
    };
    let window = list.cursor.window(list.rows.len(), usize::from(rows.height));
    if list.rows.is_empty() && list.listed {
        let text = if list.filter.text.is_empty() {
            "no sessions here"
        } else {
            "nothing fits; Esc shows all again"
        };
        canvas.line_at(rows, 2, 1, &Line::new(text, Label::Dim));
    }
    for (y, index) in (0..).zip(window.clone()) {
        let (left, right) = row(list, list.rows[index], rows.width, clock);
        let room = usize::from(rows.width).saturating_sub(right.width() + 1);
        canvas.line(rows, y, &truncate(&left, room));
        canvas.line_right(rows, y, &right);
        if is_open(list, list.rows[index], open) {
            canvas.line(rows, y, &Line::new("▌", Label::Active));
        }
        if index == list.cursor.at {
            canvas.look(rows, y, Theme::selected(focus));
        }
    }
    if let Some(due) = &list.due {
        let line =
            truncate(&Line::new(&format!(" {due}"), Label::Warning), usize::from(area.width));
        canvas.line(area, area.height.saturating_sub(1), &line);
    }
    let len = list.rows.len().max(1) as f64;
    let bar = Rect { width: area.width, ..rows };
    canvas.scrollbar(bar, window.start as f64 / len, window.end as f64 / len);
}

/// Whether a row stands for what is read beside the list.
fn is_open(list: &List, row: Row, open: Option<(&Path, u32)>) -> bool {
    let Some((path, conversation)) = open else { return false };
    match row {
        Row::Project(_) | Row::Deleted | Row::Gone(_) => false,
        Row::Session(p, s) => list.session(p, s).file.path == path,
        Row::Conversation(p, s, c) => {
            let session = list.session(p, s);
            session.file.path == path && session.conversations[c].n == conversation
        }
    }
}

fn head(list: &List, width: usize) -> Line {
    if let Some(progress) = list.progress.filter(|_| list.filter.text.is_empty()) {
        let part = progress.read * 10 / progress.of.max(1);
        let bar: String = (0..10).map(|n| if n < part { '━' } else { '─' }).collect();
        let megabytes = |bytes: u64| bytes / 1_000_000;
        return Line::new(" reading ", Label::Dim).with(&bar, Label::Active).with(
            &format!(" {}/{} MB", megabytes(progress.read), megabytes(progress.of)),
            Label::Dim,
        );
    }
    if list.filter.text.is_empty() {
        let (count, s) = (list.count(), if list.count() == 1 { "" } else { "s" });
        let text = format!(" {count} session{s} · type to filter");
        return Line::new(if list.listed { &text } else { " looking …" }, Label::Dim);
    }
    let count = format!(" {} found", list.rows.len());
    let mut line = list.filter.line(" filter: ", width.saturating_sub(count.len()));
    line.push(&count, Label::Dim);
    line
}

fn row(list: &List, row: Row, width: u16, clock: &Clock) -> (Line, Line) {
    let wide = width >= NARROW;
    match row {
        Row::Project(p) => {
            let project = &list.projects[p];
            let sign = if list.is_closed(project) { "▸ " } else { "▾ " };
            let name = list.heading(p);
            let count = format!("{} ", list.shown_under(p).count());
            (Line::new(sign, Label::Dim).with(&name, Label::Heading), Line::new(&count, Label::Dim))
        }
        Row::Deleted => {
            let sign = if list.shows_gone { "▾ " } else { "▸ " };
            let left =
                Line::new(sign, Label::Dim).with("deleted sessions, prompts only", Label::Dim);
            (left, Line::new(&format!("{} ", list.gone.len()), Label::Dim))
        }
        Row::Gone(n) => {
            let gone = &list.gone[n];
            let fitting =
                gone.prompts.iter().find(|prompt| !list.words.marks(&prompt.text).is_empty());
            let text = fitting.or(gone.prompts.first()).map_or("", |prompt| &*prompt.text);
            let text = one_line(text);
            let mut left = Line::plain("    ");
            left.push("prompt only  ", Label::Dim);
            left.push_marked(&text, Label::Dim, &list.words.marks(&text));
            let time = gone.times().1.map(|time| clock.column(time, wide)).unwrap_or_default();
            (left, Line::new(&time, Label::Time))
        }
        Row::Session(p, s) => {
            let session = list.session(p, s);
            let ways = session.conversations.len();
            let sign = match (ways, list.is_open(session)) {
                (0 | 1, _) => "  ",
                (_, true) => "▾ ",
                (_, false) => "▸ ",
            };
            let mut right = Line::default();
            if session.file.archived {
                right.push("archived ", Label::Note);
            }
            if ways > 1 {
                right.push(&format!("┬{ways} "), Label::Branch);
            }
            if wide && let Some(origin) = session.family.origins.first() {
                right.push(&format!("↳{} ", origin.kind.word()), Label::Branch);
            }
            if wide && session.agents > 0 {
                right.push(&format!("▸{} ", session.agents), Label::ToolName);
            }
            if wide && !session.unread {
                right.push(&format!("{:>5} ", session.messages), Label::Dim);
            }
            right.push(&clock.column(session.last_active, wide), Label::Time);
            if !list.words.is_empty() {
                let room = usize::from(width).saturating_sub(right.width() + 1);
                return (found(list, p, session, room), right);
            }
            let mut left = Line::plain("  ").with(sign, Label::Dim);
            match &session.title {
                Some(title) => left.push(title, Label::Plain),
                None => left.push(&session.file.id, Label::Dim),
            }
            (left, right)
        }
        Row::Conversation(p, s, c) => {
            let conversation = &list.session(p, s).conversations[c];
            let (sign, label) = match (conversation.resumes, conversation.status) {
                (true, _) => ("◉", Label::Active),
                (_, Status::Active) => ("●", Label::Active),
                _ if conversation.draft => ("◌", Label::Abandoned),
                _ => ("○", Label::Abandoned),
            };
            let words = conversation.title.as_deref().unwrap_or("…");
            let text = if label == Label::Active { Label::Plain } else { Label::Abandoned };
            let mut left = Line::plain("      ")
                .with(sign, label)
                .with(&format!(" @{} ", conversation.n), Label::Id);
            left.push_marked(words, text, &list.words.marks(words));
            let mut right = Line::default();
            if wide {
                right.push(&format!("{:>5} ", conversation.messages), Label::Dim);
            }
            if let Some(time) = conversation.last_active {
                right.push(&clock.column(time, wide), Label::Time);
            }
            (left, right)
        }
    }
}

/// Returns the row of a session that matches the filter: its title and its project, and where both do
/// not tell why it matches, the text that does.
fn found(list: &List, p: usize, session: &Session, room: usize) -> Line {
    let title = session.title.as_deref().unwrap_or(&session.file.id);
    let project = &list.projects[p].label;
    let short = list.short(project);
    // The home directory is what was looked for.
    let missing = list.words.without(&[title, &short]);
    let hides = missing.without(&[project]) != missing;
    let project = if hides { project.clone() } else { short };
    let mut head = Line::plain(" ");
    head.push_marked(title, Label::Plain, &list.words.marks(title));
    let missing = list.words.without(&[title, &project]);
    let mut tail = Line::plain("  ");
    tail.push_marked(&project, Label::Dim, &list.words.marks(&project));
    let Some((text, mark)) = reason(session, &missing) else { return head.join(&tail) };
    let head = truncate(&head, (room / 2).max(8));
    let left = room.saturating_sub(head.width() + 2);
    let around = Snippet::new(text, &mark, left).line(Label::Dim, |text| list.words.marks(text));
    head.with("  ", Label::Plain).join(&around).join(&tail)
}

/// Returns a text of a session that has one of these words, and where.
fn reason<'a>(session: &'a Session, missing: &Filter) -> Option<(&'a str, Range<usize>)> {
    let titles = session.conversations.iter().filter_map(|one| one.title.as_ref());
    let texts = session.prompts.iter().chain(titles).chain(&session.cwd);
    let mut texts = texts.chain([&session.file.id]).map(String::as_str);
    texts.find_map(|text| Some((text, missing.marks(text).into_iter().next()?)))
}
