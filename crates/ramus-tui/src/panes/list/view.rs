//! The list drawn.

use std::ops::Range;
use std::path::Path;

use ramus_core::branches::BranchStatus;
use ramus_core::digest::one_line;
use ramus_render::layout::truncate_line;
use ramus_render::snippet::Snippet;
use ramus_render::{Label, Line};
use ratatui::layout::Rect;

use super::{ListFilter, ListPane, ListRow, SessionRow};
use crate::canvas::Canvas;
use crate::state::ScreenClock;
use crate::theme::ScreenTheme;

/// Below this width only titles and times are shown.
const NARROW: u16 = 60;

pub(crate) fn draw_list(
    list: &mut ListPane,
    canvas: &mut Canvas<'_>,
    area: Rect,
    focus: bool,
    open: Option<(&Path, u32)>,
    clock: &ScreenClock,
) {
    let head = list_head(list, usize::from(area.width));
    canvas.draw_line(area, 0, &head);
    let rows = Rect {
        y: area.y + 1,
        height: area.height.saturating_sub(1 + u16::from(list.due.is_some())),
        width: area.width.saturating_sub(2),
        ..area
    };
    let window = list.cursor.visible_rows(list.rows.len(), usize::from(rows.height));
    if list.rows.is_empty() && list.listed {
        let text = if list.filter.text.is_empty() {
            "no sessions here"
        } else {
            "nothing fits; Esc shows all again"
        };
        canvas.draw_line_at(rows, 2, 1, &Line::new(text, Label::Dim));
    }
    for (y, index) in (0..).zip(window.clone()) {
        let (left, right) = list_row(list, list.rows[index], rows.width, clock);
        let room = usize::from(rows.width).saturating_sub(right.width() + 1);
        canvas.draw_line(rows, y, &truncate_line(&left, room));
        canvas.line_right(rows, y, &right);
        if is_open(list, list.rows[index], open) {
            canvas.draw_line(rows, y, &Line::new("▌", Label::Active));
        }
        if index == list.cursor.at {
            canvas.restyle_row(rows, y, ScreenTheme::selected_style(focus));
        }
    }
    if let Some(due) = &list.due {
        let line =
            truncate_line(&Line::new(&format!(" {due}"), Label::Warning), usize::from(area.width));
        canvas.draw_line(area, area.height.saturating_sub(1), &line);
    }
    let len = list.rows.len().max(1) as f64;
    let bar = Rect { width: area.width, ..rows };
    canvas.draw_scrollbar(bar, window.start as f64 / len, window.end as f64 / len);
}

/// Whether a row stands for what is read beside the list.
fn is_open(list: &ListPane, row: ListRow, open: Option<(&Path, u32)>) -> bool {
    let Some((path, conversation)) = open else { return false };
    match row {
        ListRow::Project(_) | ListRow::Deleted | ListRow::Gone(_) => false,
        ListRow::Session(p, s) => list.session_at(p, s).file.path == path,
        ListRow::Conversation(p, s, c) => {
            let session = list.session_at(p, s);
            session.file.path == path && session.conversations[c].n == conversation
        }
    }
}

fn list_head(list: &ListPane, width: usize) -> Line {
    if let Some(progress) = list.progress.filter(|_| list.filter.text.is_empty()) {
        let part = progress.bytes_read * 10 / progress.total_bytes.max(1);
        let bar: String = (0..10).map(|n| if n < part { '━' } else { '─' }).collect();
        let megabytes = |bytes: u64| bytes / 1_000_000;
        return Line::new(" reading ", Label::Dim).with(&bar, Label::Active).with(
            &format!(" {}/{} MB", megabytes(progress.bytes_read), megabytes(progress.total_bytes)),
            Label::Dim,
        );
    }
    if list.filter.text.is_empty() {
        let (count, s) = (list.visible_count(), if list.visible_count() == 1 { "" } else { "s" });
        let text = format!(" {count} session{s} · type to filter");
        return Line::new(if list.listed { &text } else { " looking …" }, Label::Dim);
    }
    let count = format!(" {} found", list.rows.len());
    let mut line = list.filter.input_line(" filter: ", width.saturating_sub(count.len()));
    line.push(&count, Label::Dim);
    line
}

fn list_row(list: &ListPane, row: ListRow, width: u16, clock: &ScreenClock) -> (Line, Line) {
    let wide = width >= NARROW;
    match row {
        ListRow::Project(p) => {
            let project = &list.projects[p];
            let sign = if list.is_closed(project) { "▸ " } else { "▾ " };
            let name = list.project_heading(p);
            let count = format!("{} ", list.shown_under(p).count());
            (Line::new(sign, Label::Dim).with(&name, Label::Heading), Line::new(&count, Label::Dim))
        }
        ListRow::Deleted => {
            let sign = if list.shows_gone { "▾ " } else { "▸ " };
            let left =
                Line::new(sign, Label::Dim).with("deleted sessions, prompts only", Label::Dim);
            (left, Line::new(&format!("{} ", list.gone.len()), Label::Dim))
        }
        ListRow::Gone(n) => {
            let gone = &list.gone[n];
            let fitting = gone
                .prompts
                .iter()
                .find(|prompt| !list.words.match_ranges(&prompt.text).is_empty());
            let text = fitting.or(gone.prompts.first()).map_or("", |prompt| &*prompt.text);
            let text = one_line(text);
            let mut left = Line::plain("    ");
            left.push("prompt only  ", Label::Dim);
            left.push_marked(&text, Label::Dim, &list.words.match_ranges(&text));
            let time = gone
                .first_and_last_time()
                .1
                .map(|time| clock.column_time(time, wide))
                .unwrap_or_default();
            (left, Line::new(&time, Label::Time))
        }
        ListRow::Session(p, s) => {
            let session = list.session_at(p, s);
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
                right.push(&format!("↳{} ", origin.kind.as_str()), Label::Branch);
            }
            if wide && session.agents > 0 {
                right.push(&format!("▸{} ", session.agents), Label::ToolName);
            }
            if wide && !session.unread {
                right.push(&format!("{:>5} ", session.messages), Label::Dim);
            }
            right.push(&clock.column_time(session.last_active, wide), Label::Time);
            if !list.words.is_empty() {
                let room = usize::from(width).saturating_sub(right.width() + 1);
                return (matching_row(list, p, session, room), right);
            }
            let mut left = Line::plain("  ").with(sign, Label::Dim);
            match &session.title {
                Some(title) => left.push(title, Label::Plain),
                None => left.push(&session.file.id, Label::Dim),
            }
            (left, right)
        }
        ListRow::Conversation(p, s, c) => {
            let conversation = &list.session_at(p, s).conversations[c];
            let (sign, label) = match (conversation.resumes, conversation.status) {
                (true, _) => ("◉", Label::Active),
                (_, BranchStatus::Active) => ("●", Label::Active),
                _ if conversation.draft => ("◌", Label::Abandoned),
                _ => ("○", Label::Abandoned),
            };
            let words = conversation.title.as_deref().unwrap_or("…");
            let text = if label == Label::Active { Label::Plain } else { Label::Abandoned };
            let mut left = Line::plain("      ")
                .with(sign, label)
                .with(&format!(" @{} ", conversation.n), Label::Id);
            left.push_marked(words, text, &list.words.match_ranges(words));
            let mut right = Line::default();
            if wide {
                right.push(&format!("{:>5} ", conversation.messages), Label::Dim);
            }
            if let Some(time) = conversation.last_active {
                right.push(&clock.column_time(time, wide), Label::Time);
            }
            (left, right)
        }
    }
}

/// Returns the row of a session that matches the filter: its title and its project, and where both do
/// not tell why it matches, the text that does.
fn matching_row(list: &ListPane, p: usize, session: &SessionRow, room: usize) -> Line {
    let title = session.title.as_deref().unwrap_or(&session.file.id);
    let project = &list.projects[p].label;
    let short = list.shorten_path(project);
    // The home directory is what was looked for.
    let missing = list.words.words_missing_from(&[title, &short]);
    let hides = missing.words_missing_from(&[project]) != missing;
    let project = if hides { project.clone() } else { short };
    let mut head = Line::plain(" ");
    head.push_marked(title, Label::Plain, &list.words.match_ranges(title));
    let missing = list.words.words_missing_from(&[title, &project]);
    let mut tail = Line::plain("  ");
    tail.push_marked(&project, Label::Dim, &list.words.match_ranges(&project));
    let Some((text, mark)) = match_context(session, &missing) else { return head.with_line(&tail) };
    let head = truncate_line(&head, (room / 2).max(8));
    let left = room.saturating_sub(head.width() + 2);
    let around =
        Snippet::new(text, &mark, left).to_line(Label::Dim, |text| list.words.match_ranges(text));
    head.with("  ", Label::Plain).with_line(&around).with_line(&tail)
}

/// Returns a text of a session that has one of these words, and where.
fn match_context<'a>(
    session: &'a SessionRow,
    missing: &ListFilter,
) -> Option<(&'a str, Range<usize>)> {
    let titles = session.conversations.iter().filter_map(|one| one.title.as_ref());
    let texts = session.prompts.iter().chain(titles).chain(&session.cwd);
    let mut texts = texts.chain([&session.file.id]).map(String::as_str);
    texts.find_map(|text| Some((text, missing.match_ranges(text).into_iter().next()?)))
}
