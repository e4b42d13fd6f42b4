//! The preview beside the list: facts about the session at the cursor, and its messages.

use std::path::Path;
use std::sync::Arc;

use ramus_render::layout::{display_width, truncate_line};
use ramus_render::text::count_noun;
use ramus_render::{Label, Line};
use ratatui::layout::Rect;

use crate::canvas::Canvas;
use crate::event::{Chapter, JumpTarget};
use crate::panes::annotation::note_text;
use crate::panes::list::{ListPane, duration_text};
use crate::panes::transcript::{TranscriptPane, TranscriptSearch, draw_transcript};
use crate::state::ScreenClock;
use crate::view::shorten_left;

/// A session that is previewed without being opened.
#[derive(Debug)]
pub(crate) struct PreviewPane {
    pub(crate) reading: TranscriptPane,
    pub(crate) target: JumpTarget,
    facts: Option<PreviewFacts>,
}

/// What takes longer to find out about a session than reading it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PreviewFacts {
    /// The files that tools changed, shortest names that can be read.
    pub(crate) files: Vec<String>,
}

/// The rows above the messages, and the line below them.
const HEAD_ROWS: u16 = 4;
/// The columns that the end of a project's path has at least.
const MIN_PROJECT: usize = 12;
/// Below this height they are not shown.
const HEAD_HEIGHT: u16 = 12;

impl PreviewPane {
    /// Shows the end of a conversation, or the message that was found.
    pub(crate) fn new(
        chapter: Arc<Chapter>,
        target: JumpTarget,
        search: Option<TranscriptSearch>,
    ) -> Self {
        let mut reading = TranscriptPane::new(chapter, &target);
        match (search, &target) {
            (Some(search), JumpTarget::Node(_)) => reading.show_hit(search, &target),
            (search, _) => {
                reading.search = search;
                reading.go_to_end();
            }
        }
        Self { reading, target, facts: None }
    }

    /// Whether it shows this place of a file.
    pub(crate) fn shows(&self, path: &Path, target: &JumpTarget) -> bool {
        self.reading.chapter.file.path == path && self.target == *target
    }

    pub(crate) fn set_facts(&mut self, facts: PreviewFacts) {
        self.facts = Some(facts);
    }

    /// Returns the part of the preview's area that has the messages.
    pub(crate) fn transcript_area(area: Rect) -> Rect {
        let head = if area.height >= HEAD_HEIGHT { HEAD_ROWS } else { 0 };
        Rect { y: area.y + head, height: area.height - head, ..area }
    }

    /// Returns the lines above the messages.
    fn head_lines(&self, list: &ListPane, clock: &ScreenClock, width: usize) -> Vec<Line> {
        let chapter = &self.reading.chapter;
        let listed = list.session_of(&chapter.file.path);
        let title = listed.and_then(|session| session.title.clone());
        let title = title.or_else(|| chapter.own_title().map(str::to_owned));
        let title = title.unwrap_or_else(|| chapter.file.id.clone());
        // The list may have learned the project's directory after the session was opened.
        let project = list.project_label(&chapter.file.path);
        let project = project.unwrap_or_else(|| chapter.project.clone());
        let mut facts = Vec::new();
        if let Some(session) = listed {
            let took = session.started.and_then(|start| duration_text(start, session.last_active));
            let time = clock.short_time(session.last_active);
            facts.push(took.map_or_else(|| time.clone(), |took| format!("{time}, {took}")));
            facts.push(count_noun(session.messages as usize, "message"));
        }
        facts.extend(list.cost_text(&chapter.file.path));
        let branches = &chapter.history.branches;
        let annotation = list.annotations.session_annotation(&chapter.file.id);
        let mut more: Vec<String> = annotation.and_then(note_text).into_iter().collect();
        if !branches.forks.is_empty() {
            let forks = count_noun(branches.forks.len(), "fork point");
            more.push(format!("{forks}, {} branches", branches.conversations.len()));
        }
        if let Some(agents) = listed.map(|session| session.agents).filter(|agents| *agents > 0) {
            more.push(count_noun(agents as usize, "sub-agent"));
        }
        more.extend(self.facts.as_ref().and_then(PreviewFacts::files_text));
        // The end of a path tells which project it is; the numbers must not be cut off for the rest of it.
        let room = width.saturating_sub(facts.iter().map(|fact| display_width(fact) + 3).sum());
        facts.insert(0, shorten_left(&project, room.max(MIN_PROJECT)));
        facts.retain(|fact| !fact.is_empty());
        vec![
            Line::new(&title, Label::Strong),
            Line::new(&facts.join(" · "), Label::Dim),
            Line::new(&more.join(" · "), Label::Dim),
        ]
    }
}

impl PreviewFacts {
    fn files_text(&self) -> Option<String> {
        let count = count_noun(self.files.len(), "file");
        let names: Vec<&str> = self.files.iter().take(4).map(String::as_str).collect();
        let more = if self.files.len() > names.len() { ", …" } else { "" };
        (!names.is_empty()).then(|| format!("{count} changed: {}{more}", names.join(", ")))
    }
}

pub(crate) fn draw_preview(
    pane: &PreviewPane,
    canvas: &mut Canvas<'_>,
    area: Rect,
    list: &ListPane,
    clock: &ScreenClock,
) {
    let inner = PreviewPane::transcript_area(area);
    if inner.y > area.y {
        let room = usize::from(area.width).saturating_sub(3);
        for (y, line) in (0..).zip(pane.head_lines(list, clock, room)) {
            canvas.draw_line_at(area, 2, y, &truncate_line(&line, room));
        }
        let dashes = "─".repeat(usize::from(area.width));
        canvas.draw_line(area, HEAD_ROWS - 1, &Line::new(&dashes, Label::Dim));
    }
    draw_transcript(&pane.reading, canvas, inner, false, &list.annotations);
}
