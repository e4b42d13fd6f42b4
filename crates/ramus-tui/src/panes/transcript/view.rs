//! The transcript drawn.

use ramus_core::annotation::Annotations;
use ramus_core::query::Query;
use ramus_render::layout::truncate_line;
use ramus_render::{Label, Line};
use ratatui::layout::Rect;

use super::{StageRole, TranscriptItemKind, TranscriptPane};
use crate::canvas::Canvas;
use crate::panes::annotation::{note_text, pin_and_tags};

/// Columns left of the text, and right of it.
pub(crate) const MARGIN: u16 = 2;

/// The columns that a pin, tags and a note need beside a line.
const MIN_ANNOTATION: usize = 3;

pub(crate) fn draw_transcript(
    transcript: &TranscriptPane,
    canvas: &mut Canvas<'_>,
    area: Rect,
    focus: bool,
    annotations: &Annotations,
) {
    if transcript.items.is_empty() {
        let text = "this session has no messages";
        canvas.draw_line_at(area, 2, 1, &Line::new(text, Label::Dim));
        return;
    }
    for (item, row) in transcript.visible_items() {
        let place = &transcript.items[item];
        let selected = item == transcript.cursor;
        let own;
        let lines = match place.kind {
            TranscriptItemKind::Resume => {
                own = vec![Line::default(), Line::new("◉ Claude Code resumes here", Label::Active)];
                &*own
            }
            TranscriptItemKind::Agent => {
                own = vec![Line::default(), agent_heading(transcript, item)];
                &*own
            }
            _ => match transcript.rendered_lines(item) {
                Some(lines) => lines,
                None => {
                    own = vec![Line::default(), Line::new("…", Label::Dim)];
                    &*own
                }
            },
        };
        let mut beside = annotation_beside(transcript, item, annotations);
        for (y, line) in (row..).zip(lines) {
            let heading = if line.is_empty() { None } else { beside.take() };
            let Ok(y) = u16::try_from(y) else { continue };
            if y >= area.height {
                break;
            }
            let is_gap = line.is_empty() && y as isize == row;
            if selected && !is_gap {
                let label = if focus { Label::Active } else { Label::Dim };
                canvas.draw_line(area, y, &Line::new("▌", label));
            }
            let mut x = MARGIN;
            for _ in 0..place.depth {
                canvas.draw_line_at(area, x, y, &Line::new("┆ ", Label::ToolName));
                x += 2;
            }
            let text = Rect { width: area.width.saturating_sub(1), ..area };
            match &transcript.search {
                Some(search) => canvas.draw_line_at(text, x, y, &mark_matches(line, &search.query)),
                None => canvas.draw_line_at(text, x, y, line),
            }
            let used = usize::from(x) + line.width() + 3;
            let room = usize::from(text.width).saturating_sub(used);
            if let Some(annotation) = heading.filter(|_| room >= MIN_ANNOTATION) {
                let annotation = truncate_line(&annotation, room).with(" ", Label::Plain);
                canvas.line_right(text, y, &annotation);
            }
        }
    }
    let (start, end) = transcript.visible_share();
    canvas.draw_scrollbar(area, start, end);
}

/// Returns the pin, tags and note of a message, which are written beside its first line.
fn annotation_beside(
    transcript: &TranscriptPane,
    item: usize,
    annotations: &Annotations,
) -> Option<Line> {
    if annotations.is_empty()
        || !matches!(transcript.items[item].kind, TranscriptItemKind::Block(_))
    {
        return None;
    }
    let (stage, node) = transcript.node_of(item)?;
    let annotation = annotations.get(&stage.chapter.annotation_target(node))?;
    let note = note_text(annotation).unwrap_or_default();
    Some(pin_and_tags(annotation).with(&note, Label::Note))
}

fn agent_heading(transcript: &TranscriptPane, item: usize) -> Line {
    let stage = &transcript.stages[transcript.items[item].stage];
    let StageRole::Agent { label, .. } = &stage.part else { return Line::default() };
    Line::new("▸ agent ", Label::ToolName).with(label, Label::Strong)
}

/// Marks search matches.
fn mark_matches(line: &Line, query: &Query) -> Line {
    let text = line.to_text();
    let marks = query.match_ranges(&text);
    if marks.is_empty() {
        return line.clone();
    }
    let mut out = Line::default();
    let mut at = 0;
    for span in &line.0 {
        let (start, end) = (at, at + span.text().len());
        let mut done = start;
        for mark in marks.iter().filter(|mark| mark.start < end && mark.end > start) {
            let (from, to) = (mark.start.max(start), mark.end.min(end));
            out.push(&text[done..from], span.label);
            out.push(&text[from..to], Label::Match);
            done = to;
        }
        out.push(&text[done..end], span.label);
        at = end;
    }
    out
}
