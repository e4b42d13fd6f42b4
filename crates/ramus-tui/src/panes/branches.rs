//! All conversations of a session, to choose one.

use std::collections::HashMap;
use std::sync::Arc;

use ramus_app::name::plain_title;
use ramus_core::body::label_text;
use ramus_core::branches::{BranchStatus, Conversation};
use ramus_core::digest::one_line;
use ramus_core::history::History;
use ramus_render::layout::truncate_line;
use ramus_render::text::count_noun;
use ramus_render::{Label, Line};
use ratatui::layout::Rect;

use crate::canvas::Canvas;
use crate::cursor::RowCursor;
use crate::event::{Chapter, MarkedBranch};
use crate::keys::{KeyAction, KeyMap};
use crate::state::ScreenClock;

/// The list of conversations.
#[derive(Debug)]
pub(crate) struct BranchesPane {
    pub(crate) chapter: Arc<Chapter>,
    pub(crate) cursor: RowCursor,
    /// The one that is read.
    current: u32,
    /// What each is called; no two have the same name.
    names: Vec<String>,
}

impl BranchesPane {
    pub(crate) fn new(chapter: Arc<Chapter>, current: u32, title: Option<&str>) -> Self {
        let all = &chapter.history.branches.conversations;
        let at = all.iter().position(|conversation| conversation.number == current).unwrap_or(0);
        let history = &chapter.history;
        let name = |conversation: &Conversation| {
            // What the session is called is what the branch is called that is resumed.
            let title = title.filter(|_| conversation.resumes).map(str::to_owned);
            let words = title.or_else(|| first_prompt(history, conversation));
            words.unwrap_or_else(|| history.node_address(conversation.leaf))
        };
        let names = number_duplicates(all.iter().map(name).collect());
        Self { cursor: RowCursor::at_row(at), chapter, current, names }
    }

    /// Adds the replies of branches with the same prompt, which distinguish them.
    pub(crate) fn set_answers(&mut self, answers: &[(u32, String)]) {
        let all = &self.chapter.history.branches.conversations;
        for (n, answer) in answers {
            let at = all.iter().position(|conversation| conversation.number == *n);
            let words = at.and_then(|at| first_prompt(&self.chapter.history, &all[at]));
            if let (Some(at), Some(words)) = (at, words) {
                self.names[at] = format!("{words} → {answer}");
            }
        }
        self.names = number_duplicates(std::mem::take(&mut self.names));
    }

    /// Moves; `false`: the key asks for something else.
    pub(crate) fn apply_action(&mut self, action: KeyAction, height: usize) -> bool {
        let len = self.chapter.history.branches.conversations.len();
        move_in(&mut self.cursor, action, len, height)
    }

    /// Returns the conversation at the cursor.
    pub(crate) fn selected_conversation(&self) -> Option<&Conversation> {
        self.chapter.history.branches.conversations.get(self.cursor.at)
    }
}

/// Moves a cursor as keys ask for; `false`: this one asks for something else.
pub(crate) fn move_in(
    cursor: &mut RowCursor,
    action: KeyAction,
    len: usize,
    height: usize,
) -> bool {
    let page = height.saturating_sub(1).max(1) as isize;
    match action {
        KeyAction::Down => cursor.move_by(1, len),
        KeyAction::Up => cursor.move_by(-1, len),
        KeyAction::PageDown => cursor.move_by(page, len),
        KeyAction::PageUp => cursor.move_by(-page, len),
        KeyAction::HalfDown => cursor.move_by(page / 2, len),
        KeyAction::HalfUp => cursor.move_by(-page / 2, len),
        KeyAction::First => cursor.at = 0,
        KeyAction::Last => cursor.at = len.saturating_sub(1),
        _ => return false,
    }
    true
}

/// Below this width only names and times are shown.
const NARROW: u16 = 60;

pub(crate) fn draw_branches(
    branches: &mut BranchesPane,
    canvas: &mut Canvas<'_>,
    area: Rect,
    clock: &ScreenClock,
    keys: &KeyMap,
    marked: Option<&MarkedBranch>,
) {
    let history = &branches.chapter.history;
    let all = &history.branches.conversations;
    let own = |marked: &&MarkedBranch| marked.chapter.file.path == branches.chapter.file.path;
    let marked = marked.filter(own).map(|marked| marked.conversation);
    let key = keys.main_key(KeyAction::Diff, false);
    let what = if marked.is_some() { "compares with ◆" } else { "marks to compare" };
    let title = Line::new("Branches ", Label::Heading)
        .with(&format!("{} · Enter opens, {key} {what}", all.len()), Label::Dim);
    let inner = canvas.draw_frame(area, &title);
    let window = branches.cursor.visible_rows(all.len(), usize::from(inner.height));
    for (y, index) in (0..).zip(window.clone()) {
        let (left, right) = branch_row(branches, index, inner.width < NARROW, clock);
        let is_marked = marked == Some(all[index].number);
        let room = usize::from(inner.width).saturating_sub(right.width() + 1);
        canvas.draw_line(inner, y, &truncate_line(&left, room));
        canvas.line_right(inner, y, &right);
        if is_marked {
            canvas.draw_line(inner, y, &Line::new("◆", Label::Note));
        }
        if index == branches.cursor.at {
            canvas.restyle_row(inner, y, canvas.theme.selected_style(true));
        }
    }
    let len = all.len().max(1) as f64;
    let bar = Rect { width: inner.width + 2, ..inner };
    canvas.draw_scrollbar(bar, window.start as f64 / len, window.end as f64 / len);
}

/// Adds numbers to names that occur more than once.
pub(crate) fn number_duplicates(mut names: Vec<String>) -> Vec<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    for name in &names {
        *seen.entry(name.clone()).or_default() += 1;
    }
    seen.retain(|name, count| *count > 1 && !name.is_empty());
    for name in names.iter_mut().rev() {
        if let Some(left) = seen.get_mut(name) {
            let number = *left;
            *left -= 1;
            *name = format!("({number}) {name}");
        }
    }
    names
}

/// Returns the first prompt of a branch; what was only answered anew has none, and goes by the
/// prompt that was.
pub(crate) fn first_prompt(history: &History, conversation: &Conversation) -> Option<String> {
    let own = history.first_prompt(conversation).or_else(|| history.answered_prompt(conversation));
    let words = history.session.preview_text(own.or(conversation.opening)?)?;
    Some(plain_title(&one_line(&label_text(words)))).filter(|words: &String| !words.is_empty())
}

fn branch_row(
    branches: &BranchesPane,
    index: usize,
    narrow: bool,
    clock: &ScreenClock,
) -> (Line, Line) {
    let history = &branches.chapter.history;
    let conversation = &history.branches.conversations[index];
    let (sign, label) = match (conversation.resumes, conversation.status) {
        (true, _) => ("◉", Label::Active),
        (_, BranchStatus::Active) => ("●", Label::Active),
        _ if conversation.draft => ("◌", Label::Abandoned),
        _ => ("○", Label::Abandoned),
    };
    let current = if conversation.number == branches.current { "❯ " } else { "  " };
    let mut left = Line::new(current, Label::Prompt)
        .with(sign, label)
        .with(&format!(" @{:<3} ", conversation.number), Label::Id);
    if let Some(fork) = conversation.fork_index {
        left.push(&format!("{} ", history.branches.forks[fork].kind), Label::Branch);
    }
    left.push(
        &branches.names[index],
        if label == Label::Active { Label::Plain } else { Label::Abandoned },
    );
    if narrow {
        let time = history.session.record(conversation.leaf).time;
        let time = time.map(|time| clock.column_time(time, false)).unwrap_or_default();
        return (left, Line::new(&time, Label::Time));
    }
    let messages = count_noun(conversation.messages as usize, "message");
    let mut right = Line::new(&format!("{messages} "), Label::Dim);
    if conversation.resumes {
        right = Line::new("resumes here  ", Label::Active).with(&right.to_text(), Label::Dim);
    }
    if let Some(time) = history.session.record(conversation.leaf).time {
        right.push(&clock.column_time(time, true), Label::Time);
    }
    (left, right)
}
