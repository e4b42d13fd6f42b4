//! State → buffer; calls the panes.

use ramus_core::digest::one_line;
use ramus_render::layout::{self, truncate};
use ramus_render::lineage::lineage;
use ramus_render::{Label, Line};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::canvas::Canvas;
use crate::panes::{agents, branches, list, menu, page, results, transcript, tree, welcome};
use crate::state::{Areas, Focus, Overlay, PromptKind, State};

/// Below this there is no room for anything.
const SMALLEST: (u16, u16) = (20, 5);

pub(crate) fn view(state: &mut State, buffer: &mut Buffer) {
    // The window may have changed since its last event: what is drawn on decides.
    if state.size != (buffer.area.width, buffer.area.height) {
        state.size = (buffer.area.width, buffer.area.height);
        state.measure();
    }
    let mut canvas = Canvas { buffer, theme: state.theme };
    if state.size.0 < SMALLEST.0 || state.size.1 < SMALLEST.1 {
        let (width, height) = state.size;
        let all = Rect { x: 0, y: 0, width, height };
        return canvas.line(all, 0, &Line::new("too small", Label::Warning));
    }
    let areas = state.areas();
    canvas.line(areas.head, 0, &head(state));
    if let Some(why) = state.nothing.as_ref().filter(|_| state.overlay.is_none()) {
        welcome::view(why, &mut canvas, areas.body);
    } else {
        panes(state, &mut canvas, areas);
        overlay(state, &mut canvas, areas.body);
    }
    foot(state, &mut canvas, areas.foot);
}

fn panes(state: &mut State, canvas: &mut Canvas<'_>, areas: Areas) {
    let free = state.overlay.is_none() && state.prompt.is_none();
    if let Some(area) = areas.list {
        let focus = free && state.focus == Focus::List;
        // Agents belong to the session at the bottom.
        let open = state.stack.first().filter(|_| areas.transcript.is_some());
        let open = open.map(|reading| (&*reading.chapter.file.path, reading.conversation));
        list::view(&mut state.list, canvas, area, focus, open, &state.clock);
        if areas.transcript.is_some() {
            separator(canvas, Rect { x: area.x + area.width, width: 1, ..area });
        }
    }
    if let (Some(area), Some(reading)) = (areas.transcript, state.stack.last()) {
        transcript::view(reading, canvas, area, free && state.focus == Focus::Transcript);
    }
    if let (Some(area), Some(pane)) = (areas.tree, &mut state.tree) {
        let beside = areas.transcript.is_some_and(|transcript| transcript.y == area.y);
        if beside {
            separator(canvas, Rect { x: area.x - 1, width: 1, ..area });
        } else {
            let dashes = "─".repeat(usize::from(area.width));
            let line = Rect { y: area.y - 1, height: 1, ..area };
            canvas.line(line, 0, &Line::new(&dashes, Label::Dim));
        }
        tree::view(pane, canvas, area, free && state.focus == Focus::Tree);
    }
}

fn separator(canvas: &mut Canvas<'_>, area: Rect) {
    for y in 0..area.height {
        canvas.line(area, y, &Line::new("│", Label::Dim));
    }
}

fn overlay(state: &mut State, canvas: &mut Canvas<'_>, body: Rect) {
    let Some(overlay) = &mut state.overlay else { return };
    let area = overlay.area(body);
    match overlay {
        Overlay::Page(page) => page::view(page, canvas, area),
        Overlay::Branches(pane) => branches::view(pane, canvas, area, &state.clock),
        Overlay::Agents(pane) => agents::view(pane, canvas, area),
        Overlay::Results(pane) => results::view(pane, canvas, area, &state.clock),
        Overlay::Menu(pane) => menu::view(pane, canvas, area),
    }
}

fn head(state: &State) -> Line {
    let mut line = Line::new(" ramus", Label::Active);
    let Some(reading) = state.reading() else { return line };
    let standing = standing(state, reading);
    let room = usize::from(state.size.0).saturating_sub(line.width() + standing.width() + 1);
    let project = &reading.chapter.project;
    if !project.is_empty() {
        line.push(" › ", Label::Dim);
        line.push(&end_of(project, room / 2), Label::Dim);
    }
    for outer in &state.stack[..state.stack.len() - 1] {
        line.push(" › ", Label::Dim);
        line.append(&truncate(&Line::plain(&title(state, outer)), room / 4));
    }
    line.push(" › ", Label::Dim);
    if reading.chapter.file.role.is_agent() || reading.aside.is_some() {
        line.push("agent ", Label::ToolName);
    }
    let room = usize::from(state.size.0).saturating_sub(line.width() + standing.width() + 1);
    line.append(&truncate(&Line::new(&title(state, reading), Label::Strong), room));
    let room = usize::from(state.size.0).saturating_sub(line.width() + standing.width() + 1);
    line.append(&lineage_line(state, reading, room));
    line.append(&standing);
    line
}

/// Says where what is read came from and what came out of it, as far as there is room.
fn lineage_line(state: &State, reading: &transcript::Transcript, room: usize) -> Line {
    let listed = state.list.of(&reading.chapter.file.path).filter(|_| reading.aside.is_none());
    let mut line = Line::default();
    for part in listed.map(|session| lineage(&session.family, true)).unwrap_or_default() {
        if line.width() + 3 + part.width() <= room {
            line.push(if line.is_empty() { "  " } else { " · " }, Label::Dim);
            line.append(&part);
        }
    }
    line
}

/// Returns the end of a path, whole names if one fits.
fn end_of(path: &str, width: usize) -> String {
    if layout::width(path) <= width {
        return path.to_owned();
    }
    let fits = |start: &usize| layout::width(&path[*start..]) < width;
    let names = path.match_indices('/').map(|(at, _)| at);
    let letters = path.char_indices().map(|(at, _)| at);
    let start = { names }.find(fits).or_else(|| { letters }.find(fits)).unwrap_or(path.len());
    format!("…{}", &path[start..])
}

/// Says which branch is read and what it is to the client.
fn standing(state: &State, reading: &transcript::Transcript) -> Line {
    let mut line = Line::plain("  ");
    let all = reading.chapter.history.branches.conversations.len();
    if let Some(current) = reading.current() {
        if all > 1 {
            line.push(&format!("@{} of {all} ", current.n), Label::Branch);
        }
        if current.resumes {
            line.push("resumes", Label::Active);
        } else {
            line.push(current.status.word(), Label::Abandoned);
        }
    }
    if state.live {
        line.push("  ● live", Label::Error);
    }
    line
}

/// Returns what is read is called: as the list has it, which knows what other files call it (R15).
fn title(state: &State, reading: &transcript::Transcript) -> String {
    if reading.aside.is_some() {
        let history = &reading.chapter.history;
        let first = reading.main().path.folds.first().map(|fold| history.folds.fold(*fold).head);
        let words = first.and_then(|first| history.session.words(first)).unwrap_or_default();
        return one_line(words).into();
    }
    let listed = state.list.of(&reading.chapter.file.path);
    if let Some(title) = listed.and_then(|session| session.title.clone()) {
        return title;
    }
    reading.chapter.title().unwrap_or(&reading.chapter.file.id).to_owned()
}

fn foot(state: &State, canvas: &mut Canvas<'_>, area: Rect) {
    if let Some(prompt) = &state.prompt {
        let sign = match prompt.kind {
            PromptKind::Here => " / ",
            PromptKind::All => " find in all sessions: ",
        };
        return canvas.line(area, 0, &prompt.input.line(sign, usize::from(area.width)));
    }
    if let Some(said) = &state.said {
        let mut line = Line::plain(" ");
        line.append(said);
        return canvas.line(area, 0, &line);
    }
    let searched = state.reading().filter(|_| state.overlay.is_none());
    let told = searched.and_then(transcript::Transcript::search_state);
    let told = told.map(|told| Line::new(&format!("{told} "), Label::Branch)).unwrap_or_default();
    let hints = hints(state);
    let room = usize::from(area.width).saturating_sub(1);
    let gap = if told.is_empty() { 0 } else { GAP };
    let shown = fitting(&hints, room.saturating_sub(told.width() + gap));
    let mut line = Line::default();
    for (hint, _) in hints.iter().zip(shown).filter(|(_, is_shown)| *is_shown) {
        line.push(if line.is_empty() { " " } else { "  " }, Label::Plain);
        line.append(&hint.line());
    }
    let room = usize::from(area.width).saturating_sub(line.width() + 2);
    canvas.line(area, 0, &line);
    canvas.line_right(area, 0, &truncate(&told, room));
}

/// A key and what it does right now.
struct Hint {
    key: &'static str,
    does: &'static str,
    /// Shown however narrow the screen is: help, and the way out.
    is_vital: bool,
}

impl Hint {
    fn line(&self) -> Line {
        Line::new(self.key, Label::Strong).with(&format!(" {}", self.does), Label::Dim)
    }
}

/// Columns between two hints.
const GAP: usize = 2;

/// Says for each hint whether there is room for it; the vital ones come first.
fn fitting(hints: &[Hint], room: usize) -> Vec<bool> {
    let mut shown: Vec<bool> = hints.iter().map(|hint| hint.is_vital).collect();
    let width = |hint: &Hint| hint.line().width() + GAP;
    let mut used: usize = hints.iter().filter(|hint| hint.is_vital).map(width).sum();
    for (hint, shown) in hints.iter().zip(&mut shown).filter(|(hint, _)| !hint.is_vital) {
        // The last one needs no gap behind it.
        if used + width(hint) <= room + GAP {
            used += width(hint);
            *shown = true;
        }
    }
    shown
}

fn usual(key: &'static str, does: &'static str) -> Hint {
    Hint { key, does, is_vital: false }
}

fn vital(key: &'static str, does: &'static str) -> Hint {
    Hint { key, does, is_vital: true }
}

/// Returns the keys that matter most right now.
fn hints(state: &State) -> Vec<Hint> {
    if state.nothing.is_some() && state.overlay.is_none() {
        return vec![vital("d", "sample history"), vital("q", "quit")];
    }
    match &state.overlay {
        Some(Overlay::Menu(menu)) if !menu.question.is_empty() => {
            return vec![vital("y", "yes"), vital("n", "no"), usual("↑↓", "scroll")];
        }
        Some(Overlay::Menu(_)) => return vec![vital("letter", "choose"), vital("Esc", "close")],
        Some(Overlay::Page(page)) if !page.page.links.is_empty() => {
            return vec![usual("↑↓", "move"), usual("Enter", "open"), vital("q", "close")];
        }
        Some(Overlay::Page(_)) => return vec![usual("↑↓", "scroll"), vital("q", "close")],
        Some(Overlay::Branches(_)) => {
            return vec![
                usual("↑↓", "move"),
                usual("Enter", "read"),
                usual("d", "mark to compare"),
                vital("Esc", "close"),
            ];
        }
        Some(_) => return vec![usual("↑↓", "move"), usual("Enter", "open"), vital("Esc", "close")],
        None => {}
    }
    match state.focus {
        Focus::List => list_hints(state),
        Focus::Tree => vec![
            usual("↑↓", "move both"),
            usual("Enter", "read"),
            vital("?", "keys"),
            vital("q", "close"),
        ],
        Focus::Transcript => {
            let mut hints = vec![usual("↑↓", "move"), usual("Enter", "open")];
            if state.reading().is_some_and(transcript::Transcript::at_fork) {
                hints.push(usual("←→", "switch branch"));
            }
            hints.extend([
                vital("?", "keys"),
                usual("b", "branches"),
                usual("t", "tree"),
                usual("/", "search"),
                usual("f", "find"),
                vital("q", "back"),
            ]);
            hints
        }
    }
}

/// Letters, and `?` behind the first of them, are typed into the filter: only keys that do something
/// else are offered.
fn list_hints(state: &State) -> Vec<Hint> {
    let is_filtered = !state.list.filter.text.is_empty();
    let mut hints = vec![usual("Enter", "read"), usual("→", "branches")];
    if !is_filtered {
        hints.push(usual("type", "filter"));
    }
    hints.push(usual("^F", "find"));
    if !state.stack.is_empty() {
        hints.push(usual("Tab", "transcript"));
    }
    hints.push(vital(if is_filtered { "F1" } else { "?" }, "keys"));
    hints.push(vital("Esc", if is_filtered { "clear" } else { "quit" }));
    hints
}
