//! Which key does what: one table that binds the keys and writes the help.

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
    Goto,
    Fork,
    Merge,
    Undo,
    Resume,
    Copy,
    Export,
    Live,
    Help,
    Suspend,
    Redraw,
    ByRepository,
    Quit,
}

/// Where a key is pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyContext {
    /// Everywhere, also where letters are typed.
    Anywhere,
    /// Wherever there are rows to move in.
    Moving,
    /// In a transcript or a tree.
    Reading,
}

/// A key as it is pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeyChord(KeyCode, KeyModifiers);

/// Some keys and what they do.
#[derive(Debug)]
pub(crate) struct KeyBinding {
    pub(crate) scope: KeyContext,
    keys: &'static [KeyChord],
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
    KeyBinding { scope, keys, action, help }
}

use KeyContext::{Anywhere, Moving, Reading};

/// Every key there is.
pub(crate) const KEY_BINDINGS: &[KeyBinding] = &[
    bind_keys(Anywhere, &[control_key('c'), control_key('q')], KeyAction::Quit, "quit"),
    bind_keys(
        Anywhere,
        &[control_key('f')],
        KeyAction::Find,
        "find in all sessions, on every branch",
    ),
    bind_keys(
        Anywhere,
        &[control_key('r')],
        KeyAction::ByRepository,
        "in the list: put projects of one git repository together",
    ),
    #[cfg(unix)]
    bind_keys(Anywhere, &[control_key('o')], KeyAction::Resume, "resume this in Claude Code"),
    bind_keys(Anywhere, &[control_key('l')], KeyAction::Redraw, "draw the screen again"),
    #[cfg(unix)]
    bind_keys(
        Anywhere,
        &[control_key('z')],
        KeyAction::Suspend,
        "suspend; `fg` in the shell comes back",
    ),
    bind_keys(Anywhere, &[plain_key(KeyCode::F(1))], KeyAction::Help, "this list of keys"),
    bind_keys(Anywhere, &[plain_key(KeyCode::Tab)], KeyAction::NextPane, "go to the next pane"),
    bind_keys(Anywhere, &[plain_key(KeyCode::Down)], KeyAction::Down, "down"),
    bind_keys(Anywhere, &[plain_key(KeyCode::Up)], KeyAction::Up, "up"),
    bind_keys(Anywhere, &[plain_key(KeyCode::PageDown)], KeyAction::PageDown, "a page down"),
    bind_keys(Anywhere, &[plain_key(KeyCode::PageUp)], KeyAction::PageUp, "a page up"),
    bind_keys(Anywhere, &[plain_key(KeyCode::Home)], KeyAction::First, "to the beginning"),
    bind_keys(Anywhere, &[plain_key(KeyCode::End)], KeyAction::Last, "to the end"),
    bind_keys(
        Anywhere,
        &[plain_key(KeyCode::Right)],
        KeyAction::Right,
        "at a fork: the next way; in a list: open a row",
    ),
    bind_keys(
        Anywhere,
        &[plain_key(KeyCode::Left)],
        KeyAction::Left,
        "at a fork: the way before; in a list: close a row",
    ),
    bind_keys(Anywhere, &[plain_key(KeyCode::Enter)], KeyAction::Enter, "open, or close again"),
    bind_keys(Anywhere, &[plain_key(KeyCode::Esc)], KeyAction::Back, "back; from the list: quit"),
    bind_keys(Moving, &[letter_key('j')], KeyAction::Down, "down"),
    bind_keys(Moving, &[letter_key('k')], KeyAction::Up, "up"),
    bind_keys(Moving, &[control_key('d')], KeyAction::HalfDown, "half a page down"),
    bind_keys(Moving, &[control_key('u')], KeyAction::HalfUp, "half a page up"),
    bind_keys(Moving, &[letter_key(' ')], KeyAction::PageDown, "a page down"),
    bind_keys(Moving, &[letter_key('G')], KeyAction::Last, "to the end"),
    bind_keys(Moving, &[letter_key('q')], KeyAction::Back, "back"),
    bind_keys(Moving, &[letter_key('?')], KeyAction::Help, "this list of keys"),
    #[cfg(unix)]
    bind_keys(Moving, &[letter_key('r')], KeyAction::Resume, "resume this in Claude Code"),
    bind_keys(Moving, &[letter_key('f')], KeyAction::Find, "find in all sessions, on every branch"),
    bind_keys(Reading, &[letter_key(']')], KeyAction::NextPrompt, "to the next prompt"),
    bind_keys(Reading, &[letter_key('[')], KeyAction::PreviousPrompt, "to the prompt before"),
    bind_keys(Reading, &[letter_key(')')], KeyAction::NextFork, "to the next fork"),
    bind_keys(Reading, &[letter_key('(')], KeyAction::PreviousFork, "to the fork before"),
    bind_keys(Reading, &[letter_key('s')], KeyAction::Tools, "show or fold all tool calls"),
    bind_keys(Reading, &[letter_key('h')], KeyAction::Thinking, "show or fold thinking"),
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
        "open or close the agents of this message, in place",
    ),
    bind_keys(
        Reading,
        &[letter_key('A')],
        KeyAction::AgentPane,
        "list all agents; open one as a pane",
    ),
    bind_keys(Reading, &[letter_key('b')], KeyAction::Branches, "all branches of this session"),
    bind_keys(
        Reading,
        &[letter_key('t')],
        KeyAction::Tree,
        "the tree; its cursor moves the transcript too",
    ),
    bind_keys(Reading, &[letter_key('/')], KeyAction::Search, "search in this session"),
    bind_keys(Reading, &[letter_key('n')], KeyAction::NextHit, "to the next hit"),
    bind_keys(Reading, &[letter_key('N')], KeyAction::PreviousHit, "to the hit before"),
    bind_keys(
        Reading,
        &[letter_key('d')],
        KeyAction::Diff,
        "mark this branch; on a second one, compare the two",
    ),
    bind_keys(Reading, &[letter_key('o')], KeyAction::Files, "files as of this message"),
    bind_keys(Reading, &[letter_key('g')], KeyAction::Goto, "go to: resume here from now on"),
    bind_keys(Reading, &[letter_key('F')], KeyAction::Fork, "fork: a new session up to here"),
    bind_keys(
        Reading,
        &[letter_key('M')],
        KeyAction::Merge,
        "merge the marked branch and this one into a new session",
    ),
    bind_keys(Reading, &[letter_key('u')], KeyAction::Undo, "undo what was done last"),
    bind_keys(
        Reading,
        &[letter_key('y')],
        KeyAction::Copy,
        "copy the address, the message or the resume command",
    ),
    bind_keys(Reading, &[letter_key('e')], KeyAction::Export, "export this conversation"),
    bind_keys(
        Reading,
        &[letter_key('w')],
        KeyAction::Live,
        "live: follow the end as it is written",
    ),
];

/// Finds what a key does; `typing`: letters are text here.
pub(crate) fn action_for(key: KeyEvent, typing: bool, reading: bool) -> Option<KeyAction> {
    // Shift is part of a letter, and terminals differ in whether they say so.
    let chord = KeyChord(key.code, key.modifiers.difference(KeyModifiers::SHIFT));
    let fits = |binding: &&KeyBinding| match binding.scope {
        KeyContext::Anywhere => true,
        KeyContext::Moving => !typing,
        KeyContext::Reading => !typing && reading,
    };
    KEY_BINDINGS.iter().filter(fits).find(|binding| binding.keys.contains(&chord)).map(|b| b.action)
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
        let g = key_event(KeyCode::Char('g'), KeyModifiers::NONE);
        assert_eq!(action_for(g, false, true), Some(KeyAction::Goto));
        assert_eq!(action_for(g, true, true), None);
        let shifted = key_event(KeyCode::Char('F'), KeyModifiers::SHIFT);
        assert_eq!(action_for(shifted, false, true), Some(KeyAction::Fork));
        assert_eq!(action_for(shifted, false, false), None);
        let quit = key_event(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(action_for(quit, true, false), Some(KeyAction::Quit));
    }

    #[test]
    fn no_key_means_two_things() {
        for (index, binding) in KEY_BINDINGS.iter().enumerate() {
            for other in &KEY_BINDINGS[..index] {
                let both = binding.keys.iter().any(|chord| other.keys.contains(chord));
                assert!(!both, "{} and {}", binding.help, other.help);
            }
        }
    }
}
