//! Which key does what: one table that binds the keys, writes the help and names every action.

mod config;

use std::borrow::Cow;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyAction {
    Down,
    Up,
    PageDown,
    PageUp,
    HalfDown,
    HalfUp,
    First,
    Last,
    Right,
    Left,
    Enter,
    Back,
    NextPane,
    NextPrompt,
    PreviousPrompt,
    NextFork,
    PreviousFork,
    Tools,
    Thinking,
    Usage,
    AgentHere,
    AgentPane,
    Branches,
    Tree,
    Search,
    NextHit,
    PreviousHit,
    Find,
    Diff,
    Files,
    FileChanges,
    SaveFile,
    RestoreFile,
    AllFileChanges,
    SaveAllFiles,
    RestoreAllFiles,
    Goto,
    Fork,
    Merge,
    Undo,
    Resume,
    Copy,
    CopyResume,
    ForkResume,
    Export,
    SessionUsage,
    Pack,
    Restore,
    Images,
    Live,
    Help,
    #[cfg_attr(windows, allow(dead_code, reason = "Windows has no signals"))]
    Suspend,
    Redraw,
    ByRepository,
    Everywhere,
    Archive,
    Palette,
    Rename,
    Trash,
    Log,
    Pin,
    Tag,
    Note,
    Quit,
}

impl KeyAction {
    /// Returns its name in the settings, such as `next-prompt`.
    pub(crate) fn name(self) -> String {
        let mut name = String::new();
        for char in format!("{self:?}").chars() {
            if char.is_uppercase() && !name.is_empty() {
                name.push('-');
            }
            name.extend(char.to_lowercase());
        }
        name
    }
}

/// Where a key is pressed. In each of these places the keys of those above it work, too, unless it has its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum KeyContext {
    /// Everywhere, also where letters are typed.
    Anywhere,
    /// Wherever there are rows to move in.
    Moving,
    /// In a transcript, a tree or what is opened over them.
    Reading,
    /// In the files as of a message.
    Files,
}

/// A key as it is pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeyChord(KeyCode, KeyModifiers);

/// Some keys and what they do.
#[derive(Clone, Debug)]
pub(crate) struct KeyBinding {
    pub(crate) scope: KeyContext,
    keys: Cow<'static, [KeyChord]>,
    pub(crate) action: KeyAction,
    pub(crate) help: &'static str,
}

const fn plain_key(code: KeyCode) -> KeyChord {
    KeyChord(code, KeyModifiers::NONE)
}

const fn letter_key(char: char) -> KeyChord {
    KeyChord(KeyCode::Char(char), KeyModifiers::NONE)
}

const fn control_key(char: char) -> KeyChord {
    KeyChord(KeyCode::Char(char), KeyModifiers::CONTROL)
}

const fn bind_keys(
    scope: KeyContext,
    keys: &'static [KeyChord],
    action: KeyAction,
    help: &'static str,
) -> KeyBinding {
    KeyBinding { scope, keys: Cow::Borrowed(keys), action, help }
}

use KeyContext::{Anywhere, Files, Moving, Reading};

/// Every key there is.
pub(crate) const KEY_BINDINGS: &[KeyBinding] = &[
    bind_keys(Anywhere, &[control_key('c'), control_key('q')], KeyAction::Quit, "quit"),
    bind_keys(Anywhere, &[control_key('f')], KeyAction::Find, "search all sessions and branches"),
    bind_keys(
        Anywhere,
        &[control_key('r')],
        KeyAction::ByRepository,
        "order of the list: recent first, by project, by git repository",
    ),
    bind_keys(
        Anywhere,
        &[control_key('e')],
        KeyAction::Everywhere,
        "list this project or all projects",
    ),
    bind_keys(
        Anywhere,
        &[control_key('k')],
        KeyAction::Archive,
        "keep: archive everything that is new",
    ),
    bind_keys(Anywhere, &[control_key('o')], KeyAction::Resume, "resume this in Claude Code"),
    bind_keys(
        Anywhere,
        &[plain_key(KeyCode::F(8))],
        KeyAction::ForkResume,
        "fork and resume: a new session up to here",
    ),
    bind_keys(
        Anywhere,
        &[control_key('y')],
        KeyAction::CopyResume,
        "copy the command that resumes this",
    ),
    bind_keys(
        Anywhere,
        &[control_key('p')],
        KeyAction::Palette,
        "find an action by its name (`:` does the same)",
    ),
    bind_keys(Anywhere, &[plain_key(KeyCode::F(2))], KeyAction::Rename, "rename this session"),
    bind_keys(
        Anywhere,
        &[plain_key(KeyCode::Delete)],
        KeyAction::Trash,
        "move this session to the trash",
    ),
    bind_keys(
        Anywhere,
        &[plain_key(KeyCode::F(3))],
        KeyAction::SessionUsage,
        "tokens and cost of this session",
    ),
    bind_keys(Anywhere, &[plain_key(KeyCode::F(4))], KeyAction::Export, "export this conversation"),
    bind_keys(
        Anywhere,
        &[plain_key(KeyCode::F(6))],
        KeyAction::Pack,
        "pack this session into a file for another machine",
    ),
    bind_keys(
        Anywhere,
        &[plain_key(KeyCode::F(7))],
        KeyAction::Restore,
        "restore a session from the trash",
    ),
    bind_keys(Anywhere, &[control_key('g')], KeyAction::Log, "list operations to undo one"),
    bind_keys(
        Anywhere,
        &[control_key('b')],
        KeyAction::Pin,
        "bookmark: pin or unpin this session or message",
    ),
    bind_keys(Anywhere, &[control_key('t')], KeyAction::Tag, "tag this session or message"),
    bind_keys(
        Anywhere,
        &[control_key('n')],
        KeyAction::Note,
        "write a note on this session or message",
    ),
    bind_keys(Anywhere, &[control_key('l')], KeyAction::Redraw, "redraw the screen"),
    #[cfg(unix)]
    bind_keys(Anywhere, &[control_key('z')], KeyAction::Suspend, "suspend (resume with `fg`)"),
    bind_keys(Anywhere, &[plain_key(KeyCode::F(1))], KeyAction::Help, "show all keys"),
    bind_keys(Anywhere, &[plain_key(KeyCode::Tab)], KeyAction::NextPane, "next pane"),
    bind_keys(Anywhere, &[plain_key(KeyCode::Down)], KeyAction::Down, "down"),
    bind_keys(Anywhere, &[plain_key(KeyCode::Up)], KeyAction::Up, "up"),
    bind_keys(Anywhere, &[plain_key(KeyCode::PageDown)], KeyAction::PageDown, "page down"),
    bind_keys(Anywhere, &[plain_key(KeyCode::PageUp)], KeyAction::PageUp, "page up"),
    bind_keys(Anywhere, &[plain_key(KeyCode::Home)], KeyAction::First, "to the beginning"),
    bind_keys(Anywhere, &[plain_key(KeyCode::End)], KeyAction::Last, "to the end"),
    bind_keys(
        Anywhere,
        &[plain_key(KeyCode::Right)],
        KeyAction::Right,
        "at a fork point: next branch; in a list: expand",
    ),
    bind_keys(
        Anywhere,
        &[plain_key(KeyCode::Left)],
        KeyAction::Left,
        "at a fork point: previous branch; in a list: collapse",
    ),
    bind_keys(Anywhere, &[plain_key(KeyCode::Enter)], KeyAction::Enter, "open; expand or collapse"),
    bind_keys(Anywhere, &[plain_key(KeyCode::Esc)], KeyAction::Back, "back; from the list: quit"),
    bind_keys(Moving, &[letter_key('j')], KeyAction::Down, "down"),
    bind_keys(Moving, &[letter_key('k')], KeyAction::Up, "up"),
    bind_keys(Moving, &[control_key('d')], KeyAction::HalfDown, "half a page down"),
    bind_keys(Moving, &[control_key('u')], KeyAction::HalfUp, "half a page up"),
    bind_keys(Moving, &[letter_key(' ')], KeyAction::PageDown, "page down"),
    bind_keys(Moving, &[letter_key('G')], KeyAction::Last, "to the end"),
    bind_keys(Moving, &[letter_key('q')], KeyAction::Back, "back"),
    bind_keys(Moving, &[letter_key('?')], KeyAction::Help, "show all keys"),
    bind_keys(Moving, &[letter_key(':')], KeyAction::Palette, "find an action by its name"),
    bind_keys(Moving, &[letter_key('r')], KeyAction::Resume, "resume this in Claude Code"),
    bind_keys(Moving, &[letter_key('f')], KeyAction::Find, "search all sessions and branches"),
    bind_keys(Reading, &[letter_key(']')], KeyAction::NextPrompt, "next prompt"),
    bind_keys(Reading, &[letter_key('[')], KeyAction::PreviousPrompt, "previous prompt"),
    bind_keys(Reading, &[letter_key(')')], KeyAction::NextFork, "next fork point"),
    bind_keys(Reading, &[letter_key('(')], KeyAction::PreviousFork, "previous fork point"),
    bind_keys(Reading, &[letter_key('s')], KeyAction::Tools, "expand or collapse all tool calls"),
    bind_keys(Reading, &[letter_key('h')], KeyAction::Thinking, "show or hide thinking"),
    bind_keys(
        Reading,
        &[letter_key('c')],
        KeyAction::Usage,
        "show or hide tokens, context size and cost of each reply",
    ),
    bind_keys(
        Reading,
        &[letter_key('a')],
        KeyAction::AgentHere,
        "expand or collapse the agents of this message",
    ),
    bind_keys(Reading, &[letter_key('A')], KeyAction::AgentPane, "list all agents"),
    bind_keys(
        Reading,
        &[letter_key('b')],
        KeyAction::Branches,
        "list all branches of this session",
    ),
    bind_keys(Reading, &[letter_key('t')], KeyAction::Tree, "show the tree"),
    bind_keys(Reading, &[letter_key('/')], KeyAction::Search, "search this session"),
    bind_keys(Reading, &[letter_key('n')], KeyAction::NextHit, "next match"),
    bind_keys(Reading, &[letter_key('N')], KeyAction::PreviousHit, "previous match"),
    bind_keys(
        Reading,
        &[letter_key('d')],
        KeyAction::Diff,
        "mark this branch to compare it; press it on another branch",
    ),
    bind_keys(Reading, &[letter_key('o')], KeyAction::Files, "show files as of this message"),
    bind_keys(Reading, &[letter_key('g')], KeyAction::Goto, "go to: make Claude Code resume here"),
    bind_keys(
        Reading,
        &[letter_key('F')],
        KeyAction::Fork,
        "fork: copy up to here into a new session",
    ),
    bind_keys(
        Reading,
        &[letter_key('M')],
        KeyAction::Merge,
        "merge the marked branch with this one into a new session",
    ),
    bind_keys(Reading, &[letter_key('u')], KeyAction::Undo, "undo the last operation"),
    bind_keys(
        Reading,
        &[letter_key('y')],
        KeyAction::Copy,
        "copy the address, the message or the resume command",
    ),
    bind_keys(Reading, &[letter_key('e')], KeyAction::Export, "export this conversation"),
    bind_keys(
        Reading,
        &[letter_key('i')],
        KeyAction::Images,
        "open the images of this message in a viewer",
    ),
    bind_keys(Reading, &[letter_key('w')], KeyAction::Live, "follow live"),
    bind_keys(Files, &[letter_key('d')], KeyAction::FileChanges, "how this file changed since"),
    bind_keys(Files, &[letter_key('s')], KeyAction::SaveFile, "save this file"),
    bind_keys(Files, &[letter_key('r')], KeyAction::RestoreFile, "restore this file"),
    bind_keys(Files, &[letter_key('D')], KeyAction::AllFileChanges, "how all files changed since"),
    bind_keys(Files, &[letter_key('S')], KeyAction::SaveAllFiles, "save all files"),
    bind_keys(Files, &[letter_key('R')], KeyAction::RestoreAllFiles, "restore all files"),
];

/// The keys as they are bound: the table, with what the user changed.
#[derive(Clone, Debug)]
pub struct KeyMap {
    pub(crate) bindings: Vec<KeyBinding>,
}

impl Default for KeyMap {
    fn default() -> Self {
        Self { bindings: KEY_BINDINGS.to_vec() }
    }
}

impl KeyMap {
    /// Finds what a key does in a place.
    pub(crate) fn action_for(&self, key: KeyEvent, place: KeyContext) -> Option<KeyAction> {
        // Shift is part of a letter, and terminals differ in whether they report it.
        let chord = KeyChord(key.code, key.modifiers.difference(KeyModifiers::SHIFT));
        let fits = |binding: &&KeyBinding| binding.scope <= place && binding.keys.contains(&chord);
        let fitting = self.bindings.iter().filter(fits);
        fitting.max_by_key(|binding| binding.scope).map(|binding| binding.action)
    }

    /// Returns the keys of an action in their shortest form, such as `^O` and `PgDn`; `typing`: only those
    /// that work where letters are text.
    pub(crate) fn short_names(&self, action: KeyAction, typing: bool) -> Vec<String> {
        let works = |binding: &&KeyBinding| !typing || binding.scope == KeyContext::Anywhere;
        let bound = self.bindings.iter().filter(|binding| binding.action == action).filter(works);
        let short = |chord: &KeyChord| match (chord.0, chord.key_name()) {
            (KeyCode::PageDown, _) => "PgDn".to_owned(),
            (KeyCode::PageUp, _) => "PgUp".to_owned(),
            (KeyCode::Delete, _) => "Del".to_owned(),
            (_, name) => name.replace("Ctrl-", "^"),
        };
        bound.flat_map(|binding| binding.keys.iter().map(short)).collect()
    }

    /// Returns the key that sentences name for an action: its letter, or where letters are text (`typing`)
    /// another key. An action without a key is run from the palette.
    pub(crate) fn main_key(&self, action: KeyAction, typing: bool) -> String {
        let works = |binding: &&KeyBinding| !typing || binding.scope == KeyContext::Anywhere;
        let bound = self.bindings.iter().filter(|binding| binding.action == action).filter(works);
        let mut names = bound.flat_map(|binding| binding.keys.iter().map(KeyChord::key_name));
        let name = if typing { names.next() } else { names.next_back() };
        name.unwrap_or_else(|| format!(":{}", action.name()))
    }

    /// Returns the keys of an action, those that work everywhere first.
    pub(crate) fn keys_of(&self, action: KeyAction) -> String {
        let bound = self.bindings.iter().filter(|binding| binding.action == action);
        let names: Vec<String> = bound.map(KeyBinding::key_names).collect();
        names.join(" ").trim().to_owned()
    }
}

/// Returns the letter of a key that is pressed without Ctrl, Alt or another modifier. Shift is part
/// of the letter.
pub(crate) fn plain_letter(key: KeyEvent) -> Option<char> {
    match key.code {
        KeyCode::Char(letter) if key.modifiers.difference(KeyModifiers::SHIFT).is_empty() => {
            Some(letter)
        }
        _ => None,
    }
}

impl KeyBinding {
    /// Returns the names of the keys.
    pub(crate) fn key_names(&self) -> String {
        self.keys.iter().map(KeyChord::key_name).collect::<Vec<_>>().join(" ")
    }
}

impl KeyChord {
    fn key_name(&self) -> String {
        let name = match self.0 {
            KeyCode::Char(' ') => "Space".to_owned(),
            KeyCode::Char(char) => char.to_string(),
            KeyCode::Down => "↓".to_owned(),
            KeyCode::Up => "↑".to_owned(),
            KeyCode::Left => "←".to_owned(),
            KeyCode::Right => "→".to_owned(),
            other => other.to_string(),
        };
        if self.1.contains(KeyModifiers::CONTROL) {
            format!("Ctrl-{}", name.to_uppercase())
        } else {
            name
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key_event(code: KeyCode, modifiers: KeyModifiers) -> KeyEvent {
        KeyEvent::new(code, modifiers)
    }

    #[test]
    fn letters_are_text_where_something_is_typed() {
        let keys = KeyMap::default();
        let g = key_event(KeyCode::Char('g'), KeyModifiers::NONE);
        assert_eq!(keys.action_for(g, Reading), Some(KeyAction::Goto));
        assert_eq!(keys.action_for(g, Anywhere), None);
        let shifted = key_event(KeyCode::Char('F'), KeyModifiers::SHIFT);
        assert_eq!(keys.action_for(shifted, Reading), Some(KeyAction::Fork));
        assert_eq!(keys.action_for(shifted, Moving), None);
        let quit = key_event(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(keys.action_for(quit, Anywhere), Some(KeyAction::Quit));
    }

    #[test]
    fn sentences_name_the_key_that_works_where_they_are_read() {
        let mut keys = KeyMap::default();
        assert_eq!(keys.main_key(KeyAction::Resume, false), "r");
        assert_eq!(keys.main_key(KeyAction::Resume, true), "Ctrl-O");
        keys.bind_action("resume", &["ctrl-x".to_owned()]).unwrap();
        assert_eq!(keys.main_key(KeyAction::Resume, false), "Ctrl-X");
        keys.bind_action("resume", &["x".to_owned()]).unwrap();
        assert_eq!(keys.main_key(KeyAction::Resume, true), ":resume");
    }

    #[test]
    fn no_key_means_two_things() {
        for (index, binding) in KEY_BINDINGS.iter().enumerate() {
            for other in &KEY_BINDINGS[..index] {
                // In a page with files its own keys come first.
                let is_apart = (binding.scope == Files) != (other.scope == Files);
                let both = binding.keys.iter().any(|chord| other.keys.contains(chord));
                assert!(is_apart || !both, "{} and {}", binding.help, other.help);
            }
        }
    }
}
