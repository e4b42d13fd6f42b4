//! Which key does what: one table that binds the keys and writes the help.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
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
pub(crate) enum Scope {
    /// Everywhere, also where letters are typed.
    Anywhere,
    /// Wherever there are rows to move in.
    Moving,
    /// In a transcript or a tree.
    Reading,
}

/// A key as it is pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chord(KeyCode, KeyModifiers);

/// Some keys and what they do.
#[derive(Debug)]
pub(crate) struct Binding {
    pub(crate) scope: Scope,
    keys: &'static [Chord],
    pub(crate) action: Action,
    pub(crate) help: &'static str,
}

const fn key(code: KeyCode) -> Chord {
    Chord(code, KeyModifiers::NONE)
}

const fn letter(char: char) -> Chord {
    Chord(KeyCode::Char(char), KeyModifiers::NONE)
}

const fn control(char: char) -> Chord {
    Chord(KeyCode::Char(char), KeyModifiers::CONTROL)
}

const fn bind(scope: Scope, keys: &'static [Chord], action: Action, help: &'static str) -> Binding {
    Binding { scope, keys, action, help }
}

use Scope::{Anywhere, Moving, Reading};

/// Every key there is.
pub(crate) const TABLE: &[Binding] = &[
    bind(Anywhere, &[control('c'), control('q')], Action::Quit, "quit"),
    bind(Anywhere, &[control('f')], Action::Find, "find in all sessions, on every branch"),
    bind(
        Anywhere,
        &[control('r')],
        Action::ByRepository,
        "in the list: put projects of one git repository together",
    ),
    #[cfg(unix)]
    bind(Anywhere, &[control('o')], Action::Resume, "resume this in Claude Code"),
    bind(Anywhere, &[control('l')], Action::Redraw, "draw the screen again"),
    #[cfg(unix)]
    bind(Anywhere, &[control('z')], Action::Suspend, "suspend; `fg` in the shell comes back"),
    bind(Anywhere, &[key(KeyCode::F(1))], Action::Help, "this list of keys"),
    bind(Anywhere, &[key(KeyCode::Tab)], Action::NextPane, "go to the next pane"),
    bind(Anywhere, &[key(KeyCode::Down)], Action::Down, "down"),
    bind(Anywhere, &[key(KeyCode::Up)], Action::Up, "up"),
    bind(Anywhere, &[key(KeyCode::PageDown)], Action::PageDown, "a page down"),
    bind(Anywhere, &[key(KeyCode::PageUp)], Action::PageUp, "a page up"),
    bind(Anywhere, &[key(KeyCode::Home)], Action::First, "to the beginning"),
    bind(Anywhere, &[key(KeyCode::End)], Action::Last, "to the end"),
    bind(
        Anywhere,
        &[key(KeyCode::Right)],
        Action::Right,
        "at a fork: the next way; in a list: open a row",
    ),
    bind(
        Anywhere,
        &[key(KeyCode::Left)],
        Action::Left,
        "at a fork: the way before; in a list: close a row",
    ),
    bind(Anywhere, &[key(KeyCode::Enter)], Action::Enter, "open, or close again"),
    bind(Anywhere, &[key(KeyCode::Esc)], Action::Back, "back; from the list: quit"),
    bind(Moving, &[letter('j')], Action::Down, "down"),
    bind(Moving, &[letter('k')], Action::Up, "up"),
    bind(Moving, &[control('d')], Action::HalfDown, "half a page down"),
    bind(Moving, &[control('u')], Action::HalfUp, "half a page up"),
    bind(Moving, &[letter(' ')], Action::PageDown, "a page down"),
    bind(Moving, &[letter('G')], Action::Last, "to the end"),
    bind(Moving, &[letter('q')], Action::Back, "back"),
    bind(Moving, &[letter('?')], Action::Help, "this list of keys"),
    #[cfg(unix)]
    bind(Moving, &[letter('r')], Action::Resume, "resume this in Claude Code"),
    bind(Moving, &[letter('f')], Action::Find, "find in all sessions, on every branch"),
    bind(Reading, &[letter(']')], Action::NextPrompt, "to the next prompt"),
    bind(Reading, &[letter('[')], Action::PreviousPrompt, "to the prompt before"),
    bind(Reading, &[letter(')')], Action::NextFork, "to the next fork"),
    bind(Reading, &[letter('(')], Action::PreviousFork, "to the fork before"),
    bind(Reading, &[letter('s')], Action::Tools, "show or fold all tool calls"),
    bind(Reading, &[letter('h')], Action::Thinking, "show or fold thinking"),
    bind(
        Reading,
        &[letter('c')],
        Action::Usage,
        "show or hide tokens, context size and cost of each reply",
    ),
    bind(
        Reading,
        &[letter('a')],
        Action::AgentHere,
        "open or close the agents of this message, in place",
    ),
    bind(Reading, &[letter('A')], Action::AgentPane, "list all agents; open one as a pane"),
    bind(Reading, &[letter('b')], Action::Branches, "all branches of this session"),
    bind(Reading, &[letter('t')], Action::Tree, "the tree; its cursor moves the transcript too"),
    bind(Reading, &[letter('/')], Action::Search, "search in this session"),
    bind(Reading, &[letter('n')], Action::NextHit, "to the next hit"),
    bind(Reading, &[letter('N')], Action::PreviousHit, "to the hit before"),
    bind(
        Reading,
        &[letter('d')],
        Action::Diff,
        "mark this branch; on a second one, compare the two",
    ),
    bind(Reading, &[letter('o')], Action::Files, "files as of this message"),
    bind(Reading, &[letter('g')], Action::Goto, "go to: resume here from now on"),
    bind(Reading, &[letter('F')], Action::Fork, "fork: a new session up to here"),
    bind(
        Reading,
        &[letter('M')],
        Action::Merge,
        "merge the marked branch and this one into a new session",
    ),
    bind(Reading, &[letter('u')], Action::Undo, "undo what was done last"),
    bind(
        Reading,
        &[letter('y')],
        Action::Copy,
        "copy the address, the message or the resume command",
    ),
    bind(Reading, &[letter('e')], Action::Export, "export this conversation"),
    bind(Reading, &[letter('w')], Action::Live, "live: follow the end as it is written"),
];

/// Finds what a key does; `typing`: letters are text here.
pub(crate) fn action(key: KeyEvent, typing: bool, reading: bool) -> Option<Action> {
    // Shift is part of a letter, and terminals differ in whether they say so.
    let chord = Chord(key.code, key.modifiers.difference(KeyModifiers::SHIFT));
    let fits = |binding: &&Binding| match binding.scope {
        Scope::Anywhere => true,
        Scope::Moving => !typing,
        Scope::Reading => !typing && reading,
    };
    TABLE.iter().filter(fits).find(|binding| binding.keys.contains(&chord)).map(|b| b.action)
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

impl Binding {
    /// Returns the names of the keys.
    pub(crate) fn names(&self) -> String {
        self.keys.iter().map(Chord::name).collect::<Vec<_>>().join(" ")
    }
}

impl Chord {
    fn name(&self) -> String {
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

    fn press(code: KeyCode, modifiers: KeyModifiers) -> KeyEvent {
        KeyEvent::new(code, modifiers)
    }

    #[test]
    fn letters_are_text_where_something_is_typed() {
        let g = press(KeyCode::Char('g'), KeyModifiers::NONE);
        assert_eq!(action(g, false, true), Some(Action::Goto));
        assert_eq!(action(g, true, true), None);
        let shifted = press(KeyCode::Char('F'), KeyModifiers::SHIFT);
        assert_eq!(action(shifted, false, true), Some(Action::Fork));
        assert_eq!(action(shifted, false, false), None);
        let quit = press(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(action(quit, true, false), Some(Action::Quit));
    }

    #[test]
    fn no_key_means_two_things() {
        for (index, binding) in TABLE.iter().enumerate() {
            for other in &TABLE[..index] {
                let both = binding.keys.iter().any(|chord| other.keys.contains(chord));
                assert!(!both, "{} and {}", binding.help, other.help);
            }
        }
    }
}
