//! Everything on screen as plain data.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use ramus_core::time::Time;
use ramus_render::Line;
use ratatui::layout::Rect;

use crate::event::Side;
use crate::input::Input;
use crate::panes::agents::Agents;
use crate::panes::branches::Branches;
use crate::panes::list::List;
use crate::panes::menu::Menu;
use crate::panes::page::Pane;
use crate::panes::results::Results;
use crate::panes::transcript::Transcript;
use crate::panes::tree::Tree;
use crate::theme::Theme;

/// Writes times; the zone and the present are the caller's.
#[derive(Clone)]
pub struct Clock {
    /// As short as a list wants it.
    pub short: WriteTime,
    /// When something was said, always with the time of day.
    pub message: WriteTime,
}

type WriteTime = Arc<dyn Fn(Time) -> String + Send + Sync>;

impl Clock {
    pub(crate) fn short(&self, time: Time) -> String {
        (self.short)(time)
    }

    pub(crate) fn message(&self, time: Time) -> String {
        (self.message)(time)
    }

    /// Writes a time for a column: all as wide as each other.
    pub(crate) fn column(&self, time: Time, wide: bool) -> String {
        let text = self.short(time);
        if wide {
            return format!("{text:>12}");
        }
        let words: Vec<&str> = text.split(' ').collect();
        match words[..] {
            [day, month, hour] if hour.contains(':') => format!("{:>8}", format!("{day} {month}")),
            [_, month, year] => format!("{:>8}", format!("{month} {year}")),
            _ => format!("{text:>8}"),
        }
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}

/// Where keys go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Focus {
    #[default]
    List,
    Transcript,
    Tree,
}

/// What lies over the panes.
#[derive(Debug)]
pub(crate) enum Overlay {
    Page(Pane),
    Branches(Branches),
    Agents(Agents),
    Results(Results),
    Menu(Menu),
}

impl Overlay {
    /// Returns the part of the panes' area that it takes.
    pub(crate) fn area(&self, body: Rect) -> Rect {
        match self {
            Self::Page(_) | Self::Results(_) => body,
            Self::Branches(pane) => {
                centred(body, 120, pane.chapter.history.branches.conversations.len() + 2)
            }
            Self::Agents(pane) => centred(body, 110, pane.agents.len() + 2),
            Self::Menu(pane) => centred(body, 100, pane.height()),
        }
    }
}

/// A line that is typed at the lower edge.
#[derive(Clone, Debug)]
pub(crate) struct Prompt {
    pub(crate) kind: PromptKind,
    pub(crate) input: Input,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PromptKind {
    /// Search in what is read.
    Here,
    /// Find in all sessions.
    All,
}

/// Where a message that was found was opened from.
#[derive(Debug)]
pub(crate) struct SearchedFrom {
    pub(crate) results: Results,
    pub(crate) stack: Vec<Transcript>,
    pub(crate) focus: Focus,
}

/// The screens.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) size: (u16, u16),
    pub(crate) theme: Theme,
    pub(crate) clock: Clock,
    /// The Claude directories that commands look into unless they are told otherwise. None: any.
    pub(crate) usual_roots: Vec<PathBuf>,
    pub(crate) focus: Focus,
    pub(crate) list: List,
    /// What is read; agents opened as panes lie on top of their sessions.
    pub(crate) stack: Vec<Transcript>,
    /// Going back from the bottom of the stack leads to the last of these.
    pub(crate) searched_from: Vec<SearchedFrom>,
    pub(crate) tree: Option<Tree>,
    pub(crate) overlay: Option<Overlay>,
    pub(crate) prompt: Option<Prompt>,
    /// Something told at the lower edge, until the next key.
    pub(crate) said: Option<Line>,
    pub(crate) live: bool,
    /// The branch that was marked to be compared.
    pub(crate) marked: Option<Side>,
    /// There is no history; why.
    pub(crate) nothing: Option<String>,
    /// What was looked for last.
    pub(crate) last_find: String,
    /// Something happened that can be seen.
    pub(crate) changed: bool,
    /// A part of the program broke.
    pub(crate) broken: Option<String>,
    /// A signal asks the program to end.
    pub(crate) killed_by: Option<i32>,
}

/// Where things are on the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Areas {
    pub(crate) head: Rect,
    pub(crate) body: Rect,
    pub(crate) foot: Rect,
    pub(crate) list: Option<Rect>,
    pub(crate) transcript: Option<Rect>,
    pub(crate) tree: Option<Rect>,
}

/// From this width on, the list stands beside the transcript.
const WIDE: u16 = 110;
/// From this width on, the tree stands beside the transcript, not below it.
const BESIDE: u16 = 100;

impl State {
    pub(crate) fn new(clock: Clock, theme: Theme, list: List) -> Self {
        Self {
            size: (80, 24),
            theme,
            clock,
            usual_roots: Vec::new(),
            focus: Focus::List,
            list,
            stack: Vec::new(),
            searched_from: Vec::new(),
            tree: None,
            overlay: None,
            prompt: None,
            said: None,
            live: false,
            marked: None,
            nothing: None,
            last_find: String::new(),
            changed: true,
            broken: None,
            killed_by: None,
        }
    }

    /// Returns what is read.
    pub(crate) fn reading(&self) -> Option<&Transcript> {
        self.stack.last()
    }

    pub(crate) fn areas(&self) -> Areas {
        let (width, height) = self.size;
        let whole = Rect { x: 0, y: 0, width, height };
        let body = Rect { y: 1.min(height), height: height.saturating_sub(2), ..whole };
        let mut areas = Areas {
            head: Rect { height: 1.min(height), ..whole },
            foot: Rect { y: height.saturating_sub(1), height: 1.min(height), ..whole },
            body,
            ..Areas::default()
        };
        if self.stack.is_empty() {
            areas.list = Some(body);
            return areas;
        }
        let mut reading = body;
        if width >= WIDE {
            let list = (width / 4).clamp(34, 52);
            areas.list = Some(Rect { width: list, ..body });
            // One column for a line between.
            reading = Rect { x: list + 1, width: width - list - 1, ..body };
        } else if self.focus == Focus::List {
            areas.list = Some(body);
            return areas;
        }
        if self.tree.is_some() {
            let (transcript, tree) = split(reading);
            areas.tree = Some(tree);
            reading = transcript;
        }
        areas.transcript = Some(reading);
        areas
    }
}

/// Cuts an area for transcript and tree, with a line between.
fn split(area: Rect) -> (Rect, Rect) {
    if area.width >= BESIDE {
        let left = area.width * 11 / 20;
        let right = Rect { x: area.x + left + 1, width: area.width - left - 1, ..area };
        return (Rect { width: left, ..area }, right);
    }
    let upper = area.height / 2;
    let lower =
        Rect { y: area.y + upper + 1, height: (area.height - upper).saturating_sub(1), ..area };
    (Rect { height: upper, ..area }, lower)
}

/// Returns the middle of an area, not larger than needed.
fn centred(area: Rect, width: u16, rows: usize) -> Rect {
    let width = width.min(area.width.saturating_sub(2));
    let height =
        u16::try_from(rows).unwrap_or(u16::MAX).clamp(3, area.height.max(3)).min(area.height);
    Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + (area.height - height) / 3,
        width,
        height,
    }
}
