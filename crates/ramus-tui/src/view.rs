//! State → buffer; calls the panes.

use ramus_app::name::plain_title;
use ramus_core::digest::one_line;
use ramus_render::layout::{self, truncate_line};
use ramus_render::lineage::lineage_lines;
use ramus_render::text::live::duration_text;
use ramus_render::text::{format_dollars, format_tokens};
use ramus_render::{Label, Line};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::canvas::Canvas;
use crate::hints::{HINT_GAP, hints_line};
use crate::panes::{
    agents, branches, document, list, menu, palette, preview, transcript, tree, welcome,
};
use crate::state::{Focus, InputPromptKind, Overlay, ScreenAreas, ScreenState};
use crate::work::live::LiveStatus;

/// Below this width the head has the title alone.
const NARROW_HEAD: u16 = 60;
/// The minimum size of the screen.
const MIN_SIZE: (u16, u16) = (20, 5);

pub(crate) fn draw_screen(state: &mut ScreenState, buffer: &mut Buffer) {
    // The window may have changed since its last event; the size of the canvas decides.
    if state.size != (buffer.area.width, buffer.area.height) {
        state.size = (buffer.area.width, buffer.area.height);
        state.resize_transcript();
    }
    let mut canvas = Canvas { buffer, theme: state.theme };
    if state.size.0 < MIN_SIZE.0 || state.size.1 < MIN_SIZE.1 {
        let (width, height) = state.size;
        let all = Rect { x: 0, y: 0, width, height };
        return canvas.draw_line(all, 0, &Line::new("terminal too small", Label::Warning));
    }
    let areas = state.screen_areas();
    canvas.draw_line(areas.head, 0, &head_line(state));
    if let Some(why) = state.no_history_reason.as_ref().filter(|_| state.overlay.is_none()) {
        welcome::draw_welcome(why, &mut canvas, areas.body);
    } else {
        draw_panes(state, &mut canvas, areas);
        draw_overlay(state, &mut canvas, areas.body);
    }
    draw_foot(state, &mut canvas, areas.foot);
}

fn draw_panes(state: &mut ScreenState, canvas: &mut Canvas<'_>, areas: ScreenAreas) {
    let free = state.overlay.is_none() && state.prompt.is_none();
    if let Some(area) = areas.list {
        let focus = free && state.focus == Focus::List;
        // Agents belong to the session at the bottom.
        let open = state.stack.first();
        let open = open.map(|reading| (&*reading.chapter.file.path, reading.conversation));
        list::draw_list(&mut state.list, canvas, area, focus, open, &state.clock);
        if areas.transcript.is_some() || areas.preview.is_some() {
            draw_separator(canvas, Rect { x: area.x + area.width, width: 1, ..area });
        }
    }
    if let Some(area) = areas.notices {
        let (width, rows) = (usize::from(area.width), usize::from(areas.body.height / 3));
        for (y, line) in (0..area.height).zip(list::cleanup_lines(&state.list, width, rows)) {
            canvas.draw_line(area, y, &line);
        }
    }
    if let (Some(area), Some(pane)) = (areas.preview, &state.preview) {
        preview::draw_preview(pane, canvas, area, &state.list, &state.clock);
    }
    if let (Some(area), Some(reading)) = (areas.transcript, state.stack.last()) {
        transcript::draw_transcript(
            reading,
            canvas,
            area,
            free && state.focus == Focus::Transcript,
            &state.list.annotations,
        );
    }
    if let Some(area) = areas.live {
        draw_live_line(state, canvas, area);
    }
    if let (Some(area), Some(pane)) = (areas.tree, &mut state.tree) {
        let beside = areas.transcript.is_some_and(|transcript| transcript.y == area.y);
        if beside {
            draw_separator(canvas, Rect { x: area.x - 1, width: 1, ..area });
        } else {
            let dashes = "─".repeat(usize::from(area.width));
            let line = Rect { y: area.y - 1, height: 1, ..area };
            canvas.draw_line(line, 0, &Line::new(&dashes, Label::Dim));
        }
        tree::draw_tree(pane, canvas, area, free && state.focus == Focus::Tree);
    }
}

/// Says what the session that is followed does, and how much of it is below the screen.
fn draw_live_line(state: &ScreenState, canvas: &mut Canvas<'_>, area: Rect) {
    let unseen = state.open_transcript().map_or(0, |reading| reading.unseen);
    let mut news = Line::default();
    if unseen > 0 {
        news.push(&format!(" ↓ {unseen} new "), Label::Active);
        news.push("End ", Label::Dim);
    }
    let room = usize::from(area.width).saturating_sub(news.width() + 2);
    let status = state.live_status.as_ref().map(live_line).unwrap_or_default();
    canvas.draw_line_at(area, 2, 0, &truncate_line(&status, room));
    canvas.line_right(area, 0, &news);
}

fn live_line(status: &LiveStatus) -> Line {
    let mut parts: Vec<Line> = Vec::new();
    if let Some(call) = status.calls.first() {
        let mut line = Line::new("► ", Label::ToolName).with(&call.text, Label::Plain);
        if let Some(millis) = call.running.millis {
            line.push(&format!(" {}", duration_text(millis)), Label::Time);
        }
        if status.calls.len() > 1 {
            line.push(&format!(" +{}", status.calls.len() - 1), Label::Dim);
        }
        parts.push(line);
    }
    if let Some(context) = status.context {
        parts.push(Line::new(&format!("context {}", format_tokens(context)), Label::Dim));
    }
    if let Some(cost) = status.cost.filter(|cost| *cost > 0.0) {
        parts.push(Line::new(&format_dollars(cost), Label::Dim));
    }
    let mut line = Line::default();
    for part in parts {
        line.push(if line.is_empty() { "" } else { " · " }, Label::Dim);
        line.append(&part);
    }
    line
}

fn draw_separator(canvas: &mut Canvas<'_>, area: Rect) {
    for y in 0..area.height {
        canvas.draw_line(area, y, &Line::new("│", Label::Dim));
    }
}

fn draw_overlay(state: &mut ScreenState, canvas: &mut Canvas<'_>, body: Rect) {
    let Some(overlay) = &mut state.overlay else { return };
    let area = overlay.overlay_area(body);
    match overlay {
        Overlay::Document(page) => document::draw_document(page, canvas, area),
        Overlay::Branches(pane) => {
            let (clock, marked) = (&state.clock, state.marked.as_ref());
            branches::draw_branches(pane, canvas, area, clock, &state.keys, marked);
        }
        Overlay::Agents(pane) => agents::draw_agents(pane, canvas, area, &state.list.short_ids),
        Overlay::Menu(pane) => menu::draw_menu(pane, canvas, area),
        Overlay::Palette(pane) => palette::draw_palette(pane, canvas, area),
    }
}

fn head_line(state: &ScreenState) -> Line {
    let mut line = Line::new(" ramus", Label::Active);
    let reading = state.open_transcript().filter(|_| state.focus != Focus::List);
    let Some(reading) = reading else { return line };
    let standing = branch_line(state, reading);
    let room = usize::from(state.size.0).saturating_sub(line.width() + standing.width() + 1);
    // The list may have learned the directory after the session was opened.
    let project = state.list.project_label(&reading.chapter.file.path);
    let project = project.as_ref().unwrap_or(&reading.chapter.project);
    let is_narrow = state.size.0 < NARROW_HEAD;
    if is_narrow {
        // What is read matters more than where it is.
        line = Line::default();
    } else if !project.is_empty() {
        line.push(" › ", Label::Dim);
        line.push(&shorten_left(project, room / 2), Label::Dim);
    }
    for outer in &state.stack[..state.stack.len() - 1] {
        line.push(if line.is_empty() { " " } else { " › " }, Label::Dim);
        line.append(&truncate_line(&Line::plain(&transcript_title(state, outer)), room / 4));
    }
    line.push(if line.is_empty() { " " } else { " › " }, Label::Dim);
    if reading.chapter.file.role.is_agent() || reading.aside.is_some() {
        line.push("agent ", Label::ToolName);
    }
    let room = usize::from(state.size.0).saturating_sub(line.width() + standing.width() + 1);
    line.append(&truncate_line(&Line::new(&transcript_title(state, reading), Label::Strong), room));
    let room = usize::from(state.size.0).saturating_sub(line.width() + standing.width() + 1);
    line.append(&lineage_line(state, reading, room));
    line.append(&standing);
    line
}

/// Shows the origins and offspring of the session, as far as they fit.
fn lineage_line(state: &ScreenState, reading: &transcript::TranscriptPane, room: usize) -> Line {
    let listed =
        state.list.session_of(&reading.chapter.file.path).filter(|_| reading.aside.is_none());
    let mut line = Line::default();
    let short_ids = Some(&state.list.short_ids);
    for part in listed.map(|session| lineage_lines(&session.family, short_ids)).unwrap_or_default()
    {
        if line.width() + 3 + part.width() <= room {
            line.push(if line.is_empty() { "  " } else { " · " }, Label::Dim);
            line.append(&part);
        }
    }
    line
}

/// Returns the end of a path, whole names if one fits.
pub(crate) fn shorten_left(path: &str, width: usize) -> String {
    if layout::display_width(path) <= width {
        return path.to_owned();
    }
    let end = layout::fitting_end(path, width.saturating_sub(1));
    format!("…{}", &end[end.find(['/', '\\']).unwrap_or(0)..])
}

/// Shows which branch is open and its status.
fn branch_line(state: &ScreenState, reading: &transcript::TranscriptPane) -> Line {
    let mut line = Line::plain("  ");
    let all = reading.chapter.history.branches.conversations.len();
    if let Some(current) = reading.current_conversation() {
        if all > 1 {
            line.push(&format!("@{} of {all} ", current.number), Label::Branch);
        }
        if current.resumes {
            line.push("resumes", Label::Active);
        } else {
            line.push(current.status.as_str(), Label::Abandoned);
        }
    }
    if state.live {
        line.push("  ● live", Label::Error);
    }
    line
}

/// Returns the title of the open session as in the list, which knows titles from other files (R15).
fn transcript_title(state: &ScreenState, reading: &transcript::TranscriptPane) -> String {
    if reading.aside.is_some() {
        let history = &reading.chapter.history;
        let first = reading
            .main()
            .path
            .messages
            .first()
            .map(|fold| history.message_tree.message(*fold).head);
        let words = first.and_then(|first| history.session.preview_text(first)).unwrap_or_default();
        return plain_title(&one_line(words));
    }
    let listed = state.list.session_of(&reading.chapter.file.path);
    if let Some(title) = listed.and_then(|session| session.title.clone()) {
        return title;
    }
    reading.chapter.own_title().unwrap_or(&reading.chapter.file.id).to_owned()
}

fn draw_foot(state: &ScreenState, canvas: &mut Canvas<'_>, area: Rect) {
    if let Some(prompt) = &state.prompt {
        let sign = match &prompt.kind {
            InputPromptKind::Here => " / ",
            InputPromptKind::Rename => " new title: ",
            InputPromptKind::Tag => " tags (-tag removes one): ",
            InputPromptKind::Note => " note (empty removes it): ",
            InputPromptKind::SaveFiles(files) if files.only.is_some() => " save as: ",
            InputPromptKind::SaveFiles(_) => " save all into the new directory: ",
        };
        return canvas.draw_line(area, 0, &prompt.input.input_line(sign, usize::from(area.width)));
    }
    if let Some(note) = &state.status_line {
        let mut line = Line::plain(" ");
        line.append(note);
        return canvas.draw_line(area, 0, &line);
    }
    let is_read = state.overlay.is_none() && state.focus != Focus::List;
    let searched = state.open_transcript().filter(|_| is_read);
    let search_words = searched.and_then(transcript::TranscriptPane::search_state);
    let search_words = search_words
        .map(|search_words| Line::new(&format!("{search_words} "), Label::Branch))
        .unwrap_or_default();
    let room = usize::from(area.width).saturating_sub(1);
    let gap = if search_words.is_empty() { 0 } else { HINT_GAP };
    let line = hints_line(state, room.saturating_sub(search_words.width() + gap));
    let room = usize::from(area.width).saturating_sub(line.width() + 2);
    canvas.draw_line(area, 0, &line);
    canvas.line_right(area, 0, &truncate_line(&search_words, room));
}
