//! Messages of all sessions that hold what was looked for, the newest first.

use ramus_core::branches::BranchStatus;
use ramus_core::query::{HitBranch, Query};
use ramus_core::session::NodeId;
use ramus_core::time::Time;
use ramus_render::layout::{pad_line, truncate_line};
use ramus_render::snippet::Snippet;
use ramus_render::text::count_noun;
use ramus_render::{Label, Line};
use ramus_store::claude_dir::HistoryFile;
use ramus_store::prompt_history::NotedPrompt;
use ratatui::layout::Rect;

use crate::canvas::Canvas;
use crate::cursor::RowCursor;
use crate::keys::KeyAction;
use crate::panes::branches::move_in;
use crate::state::ScreenClock;
use crate::theme::ScreenTheme;

/// A message that was found.
#[derive(Clone, Debug)]
pub(crate) struct FoundMessage {
    /// `None`: its session is gone.
    pub(crate) file: Option<HistoryFile>,
    /// It is kept beside the session, not in it.
    pub(crate) spilled: bool,
    pub(crate) session: String,
    pub(crate) title: Option<String>,
    pub(crate) node: Option<NodeId>,
    pub(crate) branch: Option<HitBranch>,
    pub(crate) is_agent: bool,
    pub(crate) kind: &'static str,
    pub(crate) time: Option<Time>,
    pub(crate) snippet: Snippet,
    /// A prompt whose session is gone.
    pub(crate) lost: Option<NotedPrompt>,
    /// In how many other files it stands.
    pub(crate) copies: usize,
}

/// Some more messages that were found.
#[derive(Debug)]
pub(crate) struct SearchUpdate {
    pub(crate) text: String,
    pub(crate) messages: Vec<FoundMessage>,
    /// How many there are in all.
    pub(crate) all: usize,
    pub(crate) done: bool,
}

/// The list of what was found.
#[derive(Debug)]
pub(crate) struct ResultsPane {
    pub(crate) text: String,
    pub(crate) query: Query,
    pub(crate) messages: Vec<FoundMessage>,
    pub(crate) all: usize,
    pub(crate) done: bool,
    pub(crate) cursor: RowCursor,
}

impl ResultsPane {
    pub(crate) fn new(text: String, query: Query) -> Self {
        Self {
            text,
            query,
            messages: Vec::new(),
            all: 0,
            done: false,
            cursor: RowCursor::default(),
        }
    }

    /// Returns the text around what matches in a message, for so many columns.
    fn match_line(&self, message: &FoundMessage, width: usize) -> Line {
        let Snippet { before, matched, .. } = &message.snippet;
        let range = before.len()..before.len() + matched.len();
        let cut = Snippet::new(&message.snippet.to_text(), &range, width);
        cut.to_line(Label::Plain, |text| self.query.match_ranges(text))
    }

    /// Takes what else was found for the same words.
    pub(crate) fn add_results(&mut self, found: SearchUpdate) {
        if found.text == self.text {
            self.messages.extend(found.messages);
            (self.all, self.done) = (found.all, found.done);
        }
    }

    /// Moves; `false`: the key asks for something else. A message takes two rows.
    pub(crate) fn apply_action(&mut self, action: KeyAction, height: usize) -> bool {
        move_in(&mut self.cursor, action, self.messages.len(), height / 2)
    }
}

/// Below this width only titles and times are shown.
const NARROW: u16 = 60;

pub(crate) fn draw_results(
    results: &mut ResultsPane,
    canvas: &mut Canvas<'_>,
    area: Rect,
    clock: &ScreenClock,
) {
    let state = match (results.done, results.all) {
        (false, 0) => "looking …".to_owned(),
        (false, found) => format!("looking … {found}"),
        (true, 0) => "nothing found".to_owned(),
        (_, all) if all > results.messages.len() => {
            format!("{} of {all} messages", results.messages.len())
        }
        (_, all) => count_noun(all, "message"),
    };
    let title = Line::new("Find ", Label::Heading)
        .with(&format!("“{}” ", results.text), Label::Strong)
        .with(&state, Label::Dim);
    let inner = canvas.draw_frame(area, &title);
    let shown = usize::from(inner.height) / 2;
    let window = results.cursor.visible_rows(results.messages.len(), shown);
    for (y, index) in (0..).step_by(2).zip(window) {
        let message = &results.messages[index];
        let (head, right) = result_head(message, inner.width < NARROW, clock);
        let room = usize::from(inner.width).saturating_sub(right.width() + 1);
        canvas.draw_line(inner, y, &truncate_line(&head, room));
        canvas.line_right(inner, y, &right);
        let below = results.match_line(message, usize::from(inner.width).saturating_sub(4));
        canvas.draw_line_at(inner, 4, y + 1, &below);
        if index == results.cursor.at {
            canvas.restyle_row(inner, y, ScreenTheme::selected_style(true));
        }
    }
    if results.done && results.all == 0 {
        let text = "all words must occur in one message; fewer find more";
        canvas.draw_line_at(inner, 1, 1, &Line::new(text, Label::Dim));
    }
}

fn result_head(message: &FoundMessage, narrow: bool, clock: &ScreenClock) -> (Line, Line) {
    let (sign, label) = match message.branch.map(|branch| branch.status) {
        Some(BranchStatus::Active) => ("●", Label::Active),
        Some(BranchStatus::Abandoned) => ("○", Label::Abandoned),
        None => ("·", Label::Dim),
    };
    let branch = message.branch.map(|branch| format!("@{}", branch.n)).unwrap_or_default();
    let status = message.branch.map_or("", |branch| branch.status.as_str());
    let mut left = Line::new(sign, label);
    left.append(&pad_line(Line::new(&branch, Label::Branch), 4));
    left.push(if message.is_agent { "▸" } else { " " }, Label::ToolName);
    if !narrow {
        left.append(&pad_line(Line::new(message.kind, Label::Note), 12));
    }
    left.push(message.title.as_deref().unwrap_or(&message.session), Label::Strong);
    if narrow {
        let time = message.time.map(|time| clock.column_time(time, false)).unwrap_or_default();
        return (left, Line::new(&time, Label::Time));
    }
    let mut right = Line::new(status, label).with(" ", Label::Plain);
    if message.copies > 0 {
        right.push(&format!("×{} ", message.copies + 1), Label::Dim);
    }
    let time = message.time.map(|time| clock.message_time(time)).unwrap_or_default();
    right.push(&format!("{time:>12}"), Label::Time);
    (left, right)
}
