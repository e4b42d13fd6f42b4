//! The list drawn.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use ramus_app::name::plain_title;
use ramus_core::branches::BranchStatus;
use ramus_core::digest::one_line;
use ramus_core::time::Time;
use ramus_render::layout::truncate_line;
use ramus_render::snippet::Snippet;
use ramus_render::text::{count_noun, format_dollars};
use ramus_render::{Label, Line};
use ratatui::layout::Rect;

use super::{ListFilter, ListGrouping, ListPane, ListRow, SessionRow};
use crate::canvas::Canvas;
use crate::panes::annotation::{note_text, pin_and_tags};
use crate::state::ScreenClock;
use crate::view::shorten_left;

/// Below this width only titles and times are shown.
const NARROW: u16 = 60;
/// The columns from which on there is room for the text that matches beside a title.
const MIN_CONTEXT: usize = 32;
/// The columns that a project has at least beside a title.
const MIN_PROJECT: usize = 8;
/// What costs less is not written.
const MIN_COST: f64 = 0.005;
/// From this height on, sessions take two lines.
const TALL_HEIGHT: u16 = 14;

pub(crate) fn draw_list(
    list: &mut ListPane,
    canvas: &mut Canvas<'_>,
    area: Rect,
    focus: bool,
    open: Option<(&Path, u32)>,
    clock: &ScreenClock,
) {
    for (y, line) in (0..).zip(list_head(list, usize::from(area.width))) {
        canvas.draw_line(area, y, &line);
    }
    let rows = rows_area(area);
    let window = list.visible_window(rows.height);
    if list.rows.is_empty() && list.listed {
        canvas.draw_line_at(rows, 2, 1, &Line::new(&empty_text(list), Label::Dim));
    }
    let mut y = 0;
    for index in window.clone() {
        let row = list.rows[index];
        let selected = index == list.cursor.at;
        for (left, right) in list_row(list, row, rows.width, clock) {
            let room = usize::from(rows.width).saturating_sub(right.width() + 1);
            canvas.draw_line(rows, y, &truncate_line(&left, room));
            canvas.line_right(rows, y, &right);
            if is_open(list, row, open) {
                canvas.draw_line(rows, y, &Line::new("▌", Label::Active));
            }
            if selected {
                canvas.restyle_row(rows, y, canvas.theme.selected_style(focus));
            }
            y += 1;
        }
    }
    let len = list.rows.len().max(1) as f64;
    let bar = Rect { width: area.width, ..rows };
    canvas.draw_scrollbar(bar, window.start as f64 / len, window.end as f64 / len);
}

impl ListPane {
    /// Writes what a session cost; `None`: nothing, or not known yet.
    pub(crate) fn cost_text(&self, path: &Path) -> Option<String> {
        let cost = self.costs.get(path).filter(|cost| **cost >= MIN_COST)?;
        Some(format_dollars(*cost))
    }

    pub(crate) fn set_costs(&mut self, costs: HashMap<PathBuf, f64>) {
        self.has_costs = costs.values().any(|cost| *cost >= MIN_COST);
        self.costs = costs;
    }

    /// Decides whether sessions have room for two lines.
    pub(crate) fn fit_area(&mut self, area: Rect, beside_transcript: bool) {
        self.is_tall = area.height >= TALL_HEIGHT && !beside_transcript;
    }

    /// Returns the rows that are seen.
    pub(crate) fn visible_window(&mut self, height: u16) -> Range<usize> {
        let mut cursor = self.cursor;
        let window = cursor.visible_tall_rows(self.rows.len(), usize::from(height), |row| {
            self.row_height(self.rows[row])
        });
        self.cursor = cursor;
        window
    }

    /// Finds the row at a line of the rows' area.
    pub(crate) fn row_at_line(&self, line: usize) -> Option<usize> {
        let mut below = 0;
        (self.cursor.top..self.rows.len()).find(|row| {
            below += self.row_height(self.rows[*row]);
            line < below
        })
    }

    fn row_height(&self, row: ListRow) -> usize {
        let is_two = matches!(row, ListRow::Session(..)) && self.is_tall && !self.is_searching();
        if is_two { 2 } else { 1 }
    }

    fn is_searching(&self) -> bool {
        !self.filter.text.is_empty()
    }
}

/// Returns the part of the list's area that has the rows.
fn rows_area(area: Rect) -> Rect {
    Rect {
        y: area.y + 1,
        height: area.height.saturating_sub(1),
        width: area.width.saturating_sub(2),
        ..area
    }
}

fn empty_text(list: &ListPane) -> String {
    let is_scoped = list.current.is_some() && !list.everywhere;
    let key = &list.keys.everywhere;
    match () {
        () if !list.is_searching() && is_scoped => {
            format!("no sessions in this project; press {key} to list all projects")
        }
        () if !list.is_searching() => "no sessions".to_owned(),
        () if list.search.is_waiting() => "searching …".to_owned(),
        () if list.search.problem.is_some() => String::new(),
        () if is_scoped => {
            format!("no matches in this project; press {key} to search all projects")
        }
        () => "no matches; press Esc to show all".to_owned(),
    }
}

/// Whether a row is the one that is open next to the list.
fn is_open(list: &ListPane, row: ListRow, open: Option<(&Path, u32)>) -> bool {
    let Some((path, conversation)) = open else { return false };
    match row {
        ListRow::Project(_) | ListRow::Deleted | ListRow::Gone(_) | ListRow::Passage(..) => false,
        ListRow::Session(p, s) => list.session_at(p, s).file.path == path,
        ListRow::Conversation(p, s, c) => {
            let session = list.session_at(p, s);
            session.file.path == path && session.conversations[c].n == conversation
        }
    }
}

fn list_head(list: &ListPane, width: usize) -> Option<Line> {
    if let Some(progress) = list.progress.filter(|_| !list.is_searching()) {
        let part = progress.bytes_read * 10 / progress.total_bytes.max(1);
        let bar: String = (0..10).map(|n| if n < part { '━' } else { '─' }).collect();
        let megabytes = |bytes: u64| bytes / 1_000_000;
        return Some(Line::new(" reading ", Label::Dim).with(&bar, Label::Active).with(
            &format!(" {}/{} MB", megabytes(progress.bytes_read), megabytes(progress.total_bytes)),
            Label::Dim,
        ));
    }
    if list.is_searching() {
        return Some(search_head(list, width));
    }
    if !list.listed {
        return Some(Line::new(" looking …", Label::Dim));
    }
    let count = count_noun(list.visible_count(), "session");
    let key = &list.keys.everywhere;
    let scope = match (&list.current, list.everywhere) {
        (None, _) => String::new(),
        (Some(_), false) => format!(" of this project · {key} for all"),
        (Some(_), true) => format!(" of all projects · {key} for this one"),
    };
    let mut line = Line::new(&format!(" {count}{scope}"), Label::Dim);
    line.push(" · type to search", Label::Dim);
    let grouping = format!(" · {}", list.grouping.description());
    if line.width() + grouping.len() <= width {
        line.push(&grouping, Label::Dim);
    }
    Some(line)
}

fn search_head(list: &ListPane, width: usize) -> Line {
    let sessions = list.rows.iter().filter(|row| matches!(row, ListRow::Session(..))).count();
    let gone = list.rows.iter().filter(|row| matches!(row, ListRow::Gone(_))).count();
    let mut count = match &list.search.problem {
        Some(problem) => Line::new(&format!("  {problem}"), Label::Warning),
        None if list.search.is_waiting() => {
            Line::new(&format!(" {} found …", sessions + gone), Label::Dim)
        }
        None => Line::new(&format!(" {} found", sessions + gone), Label::Dim),
    };
    if list.search.done && !list.search.messages.is_empty() {
        count.push(&format!(", {}", count_noun(list.search.all, "message")), Label::Dim);
    }
    for note in list.search.notes.iter().filter(|_| list.search.problem.is_none()) {
        count.push(&format!(" · {note}"), Label::Note);
    }
    let typed = ramus_render::layout::display_width(&list.filter.text) + 10;
    let count = truncate_line(&count, width.saturating_sub(typed));
    let mut line = list.filter.input_line(" search: ", width.saturating_sub(count.width()));
    line.append(&count);
    line
}

/// Returns the lines of a row, each with its text at the right edge.
fn list_row(list: &ListPane, row: ListRow, width: u16, clock: &ScreenClock) -> Vec<(Line, Line)> {
    let wide = width >= NARROW;
    vec![match row {
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
        ListRow::Gone(n) => gone_row(list, n, wide, clock),
        ListRow::Session(p, s) if list.is_searching() => {
            let session = list.session_at(p, s);
            let right = session_numbers(list, session, width, clock);
            let room = usize::from(width).saturating_sub(right.width() + 1);
            let has_passage = list.search.has_passage(&session.file.id);
            (matching_row(list, p, session, room, has_passage), right)
        }
        ListRow::Session(p, s) if list.is_tall => return tall_row(list, p, s, width, clock),
        ListRow::Session(p, s) => {
            let session = list.session_at(p, s);
            let mut left = title_line(list, session);
            if wide && list.grouping == ListGrouping::Recent {
                let project = list.shorten_path(&list.projects[p].label);
                left.push(&format!("  {project}"), Label::Dim);
            }
            (left, session_numbers(list, session, width, clock))
        }
        ListRow::Passage(p, s, found) => {
            passage_row(list, list.session_at(p, s), found, width, clock)
        }
        ListRow::Conversation(p, s, c) => conversation_row(list, p, s, c, wide, clock),
    }]
}

fn gone_row(list: &ListPane, n: usize, wide: bool, clock: &ScreenClock) -> (Line, Line) {
    let gone = &list.gone[n];
    let has_match = |text: &str| !list.words.match_ranges(text).is_empty();
    let fitting = gone.prompts.iter().find(|prompt| has_match(&prompt.text));
    let text = fitting.or(gone.prompts.first()).map_or("", |prompt| &*prompt.text);
    let text = plain_title(&one_line(text));
    let mut left = Line::plain("    ");
    left.push("prompt only  ", Label::Dim);
    left.push_marked(&text, Label::Dim, &list.words.match_ranges(&text));
    let time = gone.first_and_last_time().1.map(|time| clock.column_age(time, wide));
    (left, Line::new(&time.unwrap_or_default(), Label::Time))
}

fn conversation_row(
    list: &ListPane,
    p: usize,
    s: usize,
    c: usize,
    wide: bool,
    clock: &ScreenClock,
) -> (Line, Line) {
    let conversation = &list.session_at(p, s).conversations[c];
    let (sign, label) = match (conversation.resumes, conversation.status) {
        (true, _) => ("◉", Label::Active),
        (_, BranchStatus::Active) => ("●", Label::Active),
        _ if conversation.draft => ("◌", Label::Abandoned),
        _ => ("○", Label::Abandoned),
    };
    let words = conversation.title.as_deref().unwrap_or("…");
    let text = if label == Label::Active { Label::Plain } else { Label::Abandoned };
    let mut left =
        Line::plain("      ").with(sign, label).with(&format!(" @{} ", conversation.n), Label::Id);
    left.push_marked(words, text, &list.words.match_ranges(words));
    let mut right = Line::default();
    if wide {
        right.push(&format!("{:>5} ", conversation.messages), Label::Dim);
    }
    if let Some(time) = conversation.last_active {
        right.push(&clock.column_age(time, wide), Label::Time);
    }
    (left, right)
}

fn title_line(list: &ListPane, session: &SessionRow) -> Line {
    let sign = match (session.conversations.len(), list.is_open(session)) {
        (0 | 1, _) => "  ",
        (_, true) => "▾ ",
        (_, false) => "▸ ",
    };
    let indent = if list.grouping == ListGrouping::Recent { " " } else { "  " };
    let mut left = Line::plain(indent).with(sign, Label::Dim);
    match &session.title {
        Some(title) => left.push(title, Label::Plain),
        None => left.push(&session.file.id, Label::Dim),
    }
    left
}

/// Returns whether a session is being written, its pin and its tags, which leave room for the title.
fn annotation_line(list: &ListPane, session: &SessionRow, width: u16) -> Line {
    let wide = width >= NARROW;
    let mut line = Line::default();
    if list.writing.contains(&session.file.path) {
        line.push(if wide { "● live " } else { "● " }, Label::Active);
    }
    if let Some(annotation) = list.annotations.session_annotation(&session.file.id) {
        let tags = pin_and_tags(annotation);
        let cut = truncate_line(&tags, usize::from(width) / 4);
        line.append(&cut);
        line.push(if cut == tags { "" } else { " " }, Label::Plain);
    }
    line
}

/// Returns the text at the right edge of a session that has one line.
fn session_numbers(list: &ListPane, session: &SessionRow, width: u16, clock: &ScreenClock) -> Line {
    let branch_count = session.conversations.len();
    let mut right = annotation_line(list, session, width);
    let wide = width >= NARROW;
    if session.file.archived {
        right.push("archived ", Label::Note);
    }
    if branch_count > 1 {
        right.push(&format!("┬{branch_count} "), Label::Branch);
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
    right.push(&clock.column_age(session.last_active, wide), Label::Time);
    right
}

/// Returns the two lines of a session: its title and age, then its project, its last prompt and numbers.
fn tall_row(
    list: &ListPane,
    p: usize,
    s: usize,
    width: u16,
    clock: &ScreenClock,
) -> Vec<(Line, Line)> {
    let session = list.session_at(p, s);
    let mut age = annotation_line(list, session, width);
    if session.file.archived {
        age.push("archived ", Label::Note);
    }
    if let Some(origin) = session.family.origins.first() {
        age.push(&format!("↳{} ", origin.kind.as_str()), Label::Branch);
    }
    age.push(&clock.age(session.last_active), Label::Time);
    let first = (title_line(list, session).with_default_label(Label::Strong), age);
    let facts = session_facts(list, session, width >= NARROW);
    let indent = if list.grouping == ListGrouping::Recent { "   " } else { "    " };
    let mut below = Line::plain(indent);
    if list.grouping != ListGrouping::Project {
        let project = list.shorten_path(&list.projects[p].label);
        // The end of a path is more useful than its beginning.
        let project = if width >= NARROW { &project } else { last_name(&project) };
        below.push(project, Label::Note);
        below.push("  ", Label::Plain);
    }
    let annotation = list.annotations.session_annotation(&session.file.id);
    if let Some(note) = annotation.and_then(note_text) {
        below.push(&format!("{note}  "), Label::Note);
    }
    if let Some(prompt) = &session.last_prompt {
        below.push(&one_line(prompt), Label::Dim);
    }
    vec![first, (below, facts)]
}

fn last_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().filter(|name| !name.is_empty()).unwrap_or(path)
}

/// Returns the numbers of a session: duration, messages, cost, branches and agents.
fn session_facts(list: &ListPane, session: &SessionRow, wide: bool) -> Line {
    let mut facts: Vec<(String, Label)> = Vec::new();
    // What not every session has comes first, so that the numbers all have are below each other.
    if session.conversations.len() > 1 {
        facts.push((format!("┬{}", session.conversations.len()), Label::Branch));
    }
    if session.agents > 0 {
        facts.push((format!("▸{}", session.agents), Label::ToolName));
    }
    if let Some(started) = session.started.filter(|_| wide) {
        facts.extend(duration_text(started, session.last_active).map(|text| (text, Label::Dim)));
    }
    if !session.unread {
        let unit = if wide { " msgs" } else { "" };
        facts.push((format!("{:>3}{unit}", session.messages), Label::Dim));
    }
    if list.has_costs {
        let cost = list.cost_text(&session.file.path).unwrap_or_default();
        facts.push((format!("{cost:>6}"), Label::Dim));
    }
    let mut line = Line::default();
    for (text, label) in facts {
        line.push(if line.is_empty() { "" } else { "  " }, Label::Plain);
        line.push(&text, label);
    }
    line
}

/// Writes how long something took; `None`: no time at all.
pub(crate) fn duration_text(start: Time, end: Time) -> Option<String> {
    let minutes = (end.as_millis() - start.as_millis()) / 60_000;
    Some(match minutes {
        ..1 => return None,
        1..60 => format!("{minutes}m"),
        60..1_440 if minutes % 60 == 0 => format!("{}h", minutes / 60),
        60..1_440 => format!("{}h{:02}m", minutes / 60, minutes % 60),
        _ => format!("{}d", minutes / 1_440),
    })
}

/// Returns a passage that was found: a sign for its speaker, the text, and the branch if it was abandoned.
fn passage_row(
    list: &ListPane,
    session: &SessionRow,
    found: usize,
    width: u16,
    clock: &ScreenClock,
) -> (Line, Line) {
    let message = &list.search.messages[found];
    let (sign, label) = match message.kind {
        _ if message.is_agent => ("▸", Label::ToolName),
        "prompt" => ("❯", Label::Prompt),
        "answer" => ("●", Label::Reply),
        "thinking" => ("∴", Label::Thinking),
        kind if kind.starts_with("tool") => ("•", Label::ToolName),
        _ => ("·", Label::Dim),
    };
    let abandoned = message.branch.filter(|branch| branch.status == BranchStatus::Abandoned);
    let mut right = Line::default();
    if width >= NARROW && message.kind != "prompt" && message.kind != "answer" {
        right.push(&format!("{} ", message.kind), Label::Dim);
    }
    if message.copies > 0 {
        right.push(&format!("×{} ", message.copies + 1), Label::Dim);
    }
    match (message.branch, abandoned) {
        (_, Some(branch)) => right.push(&format!("○@{} ", branch.n), Label::Abandoned),
        (Some(branch), _) if width >= NARROW => {
            right.push(&format!("●@{} ", branch.n), Label::Active);
        }
        _ => {}
    }
    // Sessions last for weeks; messages of the last day need no date.
    let day = 86_400_000;
    let time = message.time.filter(|time| session.last_active.as_millis() - time.as_millis() > day);
    if let Some(time) = time.filter(|_| width >= NARROW) {
        right.push(&clock.age(time), Label::Time);
    }
    let text = if abandoned.is_some() { Label::Abandoned } else { Label::Plain };
    let left = Line::plain("     ").with(sign, label).with(" ", Label::Plain);
    let room = usize::from(width).saturating_sub(left.width() + right.width() + 1);
    let passage = list.search.passage_line(message, text, room);
    (left.with_line(&passage), right)
}

/// Returns the row of a session that matches: its title and its project, and where neither they nor a
/// passage tell why it matches, the text that does.
fn matching_row(
    list: &ListPane,
    p: usize,
    session: &SessionRow,
    room: usize,
    has_passage: bool,
) -> Line {
    let title = session.title.as_deref().unwrap_or(&session.file.id);
    let project = &list.projects[p].label;
    let short = list.shorten_path(project);
    // The search was for the home directory.
    let missing = list.words.words_missing_from(&[title, &short]);
    let hides = missing.words_missing_from(&[project]) != missing;
    let project = if hides { project.clone() } else { short };
    let mut head = Line::plain(" ");
    head.push_marked(title, Label::Strong, &list.words.match_ranges(title));
    let missing = list.words.words_missing_from(&[title, &project]);
    // The end of a path is more useful than its beginning.
    let project = shorten_left(&project, room.saturating_sub(head.width() + 2).max(MIN_PROJECT));
    let mut tail = Line::plain("  ");
    tail.push_marked(&project, Label::Dim, &list.words.match_ranges(&project));
    let has_room = !has_passage && room >= MIN_CONTEXT;
    let context = match_context(session, &missing).filter(|_| has_room);
    let Some((text, mark)) = context else { return head.with_line(&tail) };
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
