//! Everything on screen as plain data.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use ramus_core::time::Time;
use ramus_render::Line;
use ratatui::layout::Rect;

use crate::event::{JumpTarget, MarkedBranch, SavedFiles};
use crate::input::TextInput;
use crate::keys::KeyMap;
use crate::panes::agents::AgentsPane;
use crate::panes::branches::BranchesPane;
use crate::panes::document::DocumentPane;
use crate::panes::list::{ListKeys, ListPane, cleanup_lines};
use crate::panes::menu::MenuPane;
use crate::panes::palette::PalettePane;
use crate::panes::preview::PreviewPane;
use crate::panes::transcript::TranscriptPane;
use crate::panes::tree::TreePane;
use crate::theme::ScreenTheme;
use crate::work::live::LiveStatus;

/// Writes times; the zone and the present are the caller's.
#[derive(Clone)]
pub struct ScreenClock {
    /// As short as a list wants it.
    pub short: TimeFormatter,
    /// The time of a message, always with the time of day.
    pub message: TimeFormatter,
    /// How long ago something was, unless the user prefers dates.
    pub age: TimeFormatter,
}

type TimeFormatter = Arc<dyn Fn(Time) -> String + Send + Sync>;

impl ScreenClock {
    pub(crate) fn short_time(&self, time: Time) -> String {
        (self.short)(time)
    }

    pub(crate) fn message_time(&self, time: Time) -> String {
        (self.message)(time)
    }

    pub(crate) fn age(&self, time: Time) -> String {
        (self.age)(time)
    }

    /// Writes how long ago something was for a column: all as wide as each other.
    pub(crate) fn column_age(&self, time: Time, wide: bool) -> String {
        let text = self.age(time);
        match wide {
            true => format!("{text:>13}"),
            false => format!("{:>9}", text.strip_suffix(" ago").unwrap_or(&text)),
        }
    }

    /// Writes a time for a column: all as wide as each other.
    pub(crate) fn column_time(&self, time: Time, wide: bool) -> String {
        let text = self.short_time(time);
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

impl fmt::Debug for ScreenClock {
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

/// A pane over the others.
#[derive(Debug)]
pub(crate) enum Overlay {
    Document(DocumentPane),
    Branches(BranchesPane),
    Agents(AgentsPane),
    Menu(MenuPane),
    Palette(PalettePane),
}

/// The widest a menu becomes, with its frame.
const MENU_WIDTH: u16 = 100;

impl Overlay {
    /// Returns the part of the panes' area that it takes.
    pub(crate) fn overlay_area(&self, body: Rect) -> Rect {
        match self {
            Self::Document(_) => body,
            Self::Branches(pane) => {
                centred_area(body, 120, pane.chapter.history.branches.conversations.len() + 2)
            }
            Self::Agents(pane) => centred_area(body, 110, pane.agents.len() + 2),
            Self::Menu(pane) => {
                let inner = centred_area(body, MENU_WIDTH, 0).width.saturating_sub(4);
                centred_area(body, MENU_WIDTH, pane.needed_rows(usize::from(inner)))
            }
            Self::Palette(_) => centred_area(body, 90, 20),
        }
    }
}

/// A line that is typed at the lower edge.
#[derive(Clone, Debug)]
pub(crate) struct InputPrompt {
    pub(crate) kind: InputPromptKind,
    pub(crate) input: TextInput,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum InputPromptKind {
    /// Search in the open session.
    Here,
    /// A title for a session.
    Rename,
    Tag,
    Note,
    /// Where to save files as of a message.
    SaveFiles(SavedFiles),
}

/// The screens.
#[derive(Debug)]
pub(crate) struct ScreenState {
    pub(crate) size: (u16, u16),
    pub(crate) theme: ScreenTheme,
    pub(crate) keys: KeyMap,
    pub(crate) clock: ScreenClock,
    /// The Claude directories that commands use by default. `None` means any.
    pub(crate) usual_roots: Vec<PathBuf>,
    pub(crate) focus: Focus,
    pub(crate) list: ListPane,
    /// The open transcripts; agents opened as panes are above their sessions.
    pub(crate) stack: Vec<TranscriptPane>,
    /// The preview beside the list.
    pub(crate) preview: Option<PreviewPane>,
    /// What was asked for last to be shown there.
    pub(crate) preview_wanted: Option<(PathBuf, JumpTarget)>,
    pub(crate) tree: Option<TreePane>,
    pub(crate) overlay: Option<Overlay>,
    pub(crate) prompt: Option<InputPrompt>,
    /// A message in the status line, until the next key.
    pub(crate) status_line: Option<Line>,
    pub(crate) live: bool,
    /// What is followed is doing this.
    pub(crate) live_status: Option<LiveStatus>,
    /// The branch that was marked to be compared.
    pub(crate) marked: Option<MarkedBranch>,
    /// There is no history; why.
    pub(crate) no_history_reason: Option<String>,
    /// Something happened that can be seen.
    pub(crate) changed: bool,
    /// A part of the program broke.
    pub(crate) broken: Option<String>,
    /// A signal asks the program to end.
    pub(crate) killed_by: Option<i32>,
}

/// Where things are on the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ScreenAreas {
    pub(crate) head: Rect,
    pub(crate) body: Rect,
    pub(crate) foot: Rect,
    pub(crate) list: Option<Rect>,
    pub(crate) preview: Option<Rect>,
    /// Below the list: what the client deletes soon.
    pub(crate) notices: Option<Rect>,
    pub(crate) transcript: Option<Rect>,
    /// Below the transcript: what the session is doing, and how much of it is new.
    pub(crate) live: Option<Rect>,
    pub(crate) tree: Option<Rect>,
}

/// From this width on, a preview is shown beside the list.
const PREVIEW_WIDTH: u16 = 100;
/// From this width on, the list is next to the transcript.
const LIST_BESIDE_WIDTH: u16 = 110;
/// From this width on, the tree is next to the transcript, not below it.
const TREE_BESIDE_WIDTH: u16 = 100;

impl ScreenState {
    pub(crate) fn new(clock: ScreenClock, theme: ScreenTheme, list: ListPane) -> Self {
        let mut state = Self {
            size: (80, 24),
            theme,
            keys: KeyMap::default(),
            clock,
            usual_roots: Vec::new(),
            focus: Focus::List,
            list,
            stack: Vec::new(),
            preview: None,
            preview_wanted: None,
            tree: None,
            overlay: None,
            prompt: None,
            status_line: None,
            live: false,
            live_status: None,
            marked: None,
            no_history_reason: None,
            changed: true,
            broken: None,
            killed_by: None,
        };
        state.bind_keys(KeyMap::default());
        state
    }

    /// Takes the keys as they are bound.
    pub(crate) fn bind_keys(&mut self, keys: KeyMap) {
        self.list.keys = ListKeys::new(&keys);
        self.keys = keys;
    }

    /// Returns the open session.
    pub(crate) fn open_transcript(&self) -> Option<&TranscriptPane> {
        self.stack.last()
    }

    /// Returns the open session, if it is visible.
    pub(crate) fn visible_transcript(&self) -> Option<&TranscriptPane> {
        self.open_transcript().filter(|_| self.focus != Focus::List)
    }

    pub(crate) fn screen_areas(&self) -> ScreenAreas {
        let (width, height) = self.size;
        let whole = Rect { x: 0, y: 0, width, height };
        let body = Rect { y: 1.min(height), height: height.saturating_sub(2), ..whole };
        let mut areas = ScreenAreas {
            head: Rect { height: 1.min(height), ..whole },
            foot: Rect { y: height.saturating_sub(1), height: 1.min(height), ..whole },
            body,
            ..ScreenAreas::default()
        };
        if self.stack.is_empty() || self.focus == Focus::List {
            let rows = usize::from(body.height / 3);
            let notices = cleanup_lines(&self.list, usize::from(width), rows).len() as u16;
            let body = Rect { height: body.height - notices, ..body };
            areas.notices = Some(Rect { y: body.y + body.height, height: notices, ..body });
            areas.list = Some(body);
            if width >= PREVIEW_WIDTH && self.no_history_reason.is_none() {
                let list = (width * 9 / 20).clamp(46, 90);
                areas.list = Some(Rect { width: list, ..body });
                areas.preview = Some(Rect { x: list + 1, width: width - list - 1, ..body });
            }
            return areas;
        }
        let mut reading = body;
        if width >= LIST_BESIDE_WIDTH {
            let list = (width / 4).clamp(34, 52);
            areas.list = Some(Rect { width: list, ..body });
            // One column for a line between.
            reading = Rect { x: list + 1, width: width - list - 1, ..body };
        }
        if let Some(tree) = &self.tree {
            let (transcript, tree) = split_area(reading, tree.needed_rows());
            areas.tree = Some(tree);
            reading = transcript;
        }
        let is_news = self.live || self.open_transcript().is_some_and(|open| open.unseen > 0);
        if is_news && reading.height > 3 {
            reading.height -= 1;
            areas.live = Some(Rect { y: reading.y + reading.height, height: 1, ..reading });
        }
        areas.transcript = Some(reading);
        areas
    }
}

/// Cuts an area for a transcript and a tree of some rows, with a line between.
fn split_area(area: Rect, tree_rows: Option<usize>) -> (Rect, Rect) {
    if area.width >= TREE_BESIDE_WIDTH {
        let left = area.width * 11 / 20;
        let right = Rect { x: area.x + left + 1, width: area.width - left - 1, ..area };
        return (Rect { width: left, ..area }, right);
    }
    let half = (area.height - area.height / 2).saturating_sub(1);
    let needed = tree_rows.and_then(|rows| u16::try_from(rows).ok()).unwrap_or(u16::MAX);
    let height = half.min(needed);
    let upper = area.height.saturating_sub(height + 1);
    let lower = Rect { y: area.y + area.height - height, height, ..area };
    (Rect { height: upper, ..area }, lower)
}

/// Returns the middle of an area, not larger than needed.
fn centred_area(area: Rect, width: u16, rows: usize) -> Rect {
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
