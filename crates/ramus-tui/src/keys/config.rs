//! Keys that the user bound in the settings: the name of an action, and the keys for it.

use std::borrow::Cow;

use ratatui::crossterm::event::{KeyCode, KeyModifiers};

use super::{KEY_BINDINGS, KeyAction, KeyBinding, KeyChord, KeyContext, KeyMap};

impl KeyMap {
    /// Binds an action to other keys, which lose what they did before.
    ///
    /// # Errors
    ///
    /// A sentence for the user: there is no such action or no such key.
    pub fn bind_action(&mut self, name: &str, keys: &[String]) -> Result<(), String> {
        let named = KEY_BINDINGS.iter().find(|binding| binding.action.name() == name);
        let Some(KeyBinding { action, help, .. }) = named else {
            return Err(format!(
                "there is no action `{name}`; the actions are {}",
                action_names().join(", ")
            ));
        };
        let chords: Vec<KeyChord> =
            keys.iter().map(|key| parse_chord(key)).collect::<Result<_, _>>()?;
        for binding in self.bindings.iter_mut().filter(|binding| binding.action == *action) {
            binding.keys.to_mut().clear();
        }
        for chord in chords {
            let scope = self.scope_for(*action, chord);
            for binding in self.bindings.iter_mut().filter(|other| !is_apart(other.scope, scope)) {
                binding.keys.to_mut().retain(|other| *other != chord);
            }
            let mut own = self.bindings.iter_mut().filter(|binding| binding.action == *action);
            match own.find(|binding| binding.scope == scope) {
                Some(binding) => binding.keys.to_mut().push(chord),
                None => self.bindings.push(KeyBinding {
                    scope,
                    keys: Cow::Owned(vec![chord]),
                    action: *action,
                    help,
                }),
            }
        }
        self.bindings.retain(|binding| !binding.keys.is_empty() || binding.action == *action);
        Ok(())
    }

    /// Returns where a key works that is bound to an action.
    fn scope_for(&self, action: KeyAction, chord: KeyChord) -> KeyContext {
        // A letter is text wherever something is typed.
        let is_letter = matches!(chord.0, KeyCode::Char(_)) && chord.1.is_empty();
        let scopes = self.bindings.iter().filter(|own| own.action == action).map(|own| own.scope);
        let fits = |scope: &KeyContext| {
            *scope == KeyContext::Files || is_letter != (*scope == KeyContext::Anywhere)
        };
        let other = if is_letter { KeyContext::Moving } else { KeyContext::Anywhere };
        { scopes }.find(fits).unwrap_or(other)
    }
}

/// Whether a key may do one thing in a place and another in a second one.
fn is_apart(scope: KeyContext, other: KeyContext) -> bool {
    match (scope, other) {
        (KeyContext::Files, KeyContext::Reading) => true,
        (scope, other) => scope != other && other == KeyContext::Files,
    }
}

fn action_names() -> Vec<String> {
    let mut names: Vec<String> = KEY_BINDINGS.iter().map(|binding| binding.action.name()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Reads the name of a key, such as `ctrl-o`, `f2`, `enter` or `R`.
fn parse_chord(text: &str) -> Result<KeyChord, String> {
    let unknown = || {
        format!(
            "there is no key `{text}`; write it like `r`, `R`, `ctrl-o`, `f2`, `enter`, `space`"
        )
    };
    let lower = text.to_lowercase();
    let (name, modifiers) = match lower.strip_prefix("ctrl-") {
        Some(name) => (name, KeyModifiers::CONTROL),
        None => (&*lower, KeyModifiers::NONE),
    };
    let mut letters = if modifiers.is_empty() { text.chars() } else { name.chars() };
    if let (Some(letter), None) = (letters.next(), letters.next()) {
        return Ok(KeyChord(KeyCode::Char(letter), modifiers));
    }
    let code = match name {
        "enter" => KeyCode::Enter,
        "esc" => KeyCode::Esc,
        "tab" => KeyCode::Tab,
        "space" => KeyCode::Char(' '),
        "backspace" => KeyCode::Backspace,
        "delete" => KeyCode::Delete,
        "up" => KeyCode::Up,
        "down" => KeyCode::Down,
        "left" => KeyCode::Left,
        "right" => KeyCode::Right,
        "home" => KeyCode::Home,
        "end" => KeyCode::End,
        "pageup" => KeyCode::PageUp,
        "pagedown" => KeyCode::PageDown,
        _ => {
            let number = name.strip_prefix('f').and_then(|number| number.parse::<u8>().ok());
            KeyCode::F(number.filter(|number| (1..=12).contains(number)).ok_or_else(unknown)?)
        }
    };
    Ok(KeyChord(code, modifiers))
}

#[cfg(test)]
mod tests {
    use ratatui::crossterm::event::KeyEvent;

    use super::KeyContext::{Anywhere, Files, Reading};
    use super::*;

    fn pressed(keys: &KeyMap, chord: &str, place: KeyContext) -> Option<KeyAction> {
        let KeyChord(code, modifiers) = parse_chord(chord).unwrap();
        keys.action_for(KeyEvent::new(code, modifiers), place)
    }

    #[test]
    fn a_key_of_the_user_replaces_those_of_the_table() {
        let mut keys = KeyMap::default();
        keys.bind_action("resume", &["ctrl-y".to_owned(), "x".to_owned()]).unwrap();
        assert_eq!(pressed(&keys, "ctrl-y", Anywhere), Some(KeyAction::Resume));
        assert_eq!(pressed(&keys, "x", Reading), Some(KeyAction::Resume));
        assert_eq!(pressed(&keys, "x", Anywhere), None, "it is text");
        assert_eq!(pressed(&keys, "ctrl-o", Anywhere), None);
        assert_eq!(pressed(&keys, "r", Reading), None);
        // A key that was taken does what the user wants.
        keys.bind_action("quit", &["t".to_owned()]).unwrap();
        assert_eq!(pressed(&keys, "t", Reading), Some(KeyAction::Quit));
        assert_eq!(keys.keys_of(KeyAction::Tree), "");
    }

    #[test]
    fn the_keys_of_a_page_with_files_are_bound_apart() {
        let mut keys = KeyMap::default();
        assert_eq!(pressed(&keys, "d", Files), Some(KeyAction::FileChanges));
        assert_eq!(pressed(&keys, "r", Files), Some(KeyAction::RestoreFile));
        keys.bind_action("save-file", &["j".to_owned(), "f5".to_owned()]).unwrap();
        assert_eq!(pressed(&keys, "j", Files), Some(KeyAction::SaveFile));
        assert_eq!(pressed(&keys, "f5", Files), Some(KeyAction::SaveFile));
        assert_eq!(pressed(&keys, "f5", Reading), None);
        assert_eq!(pressed(&keys, "j", Reading), Some(KeyAction::Down));
        // A key that is bound for reading does not take one of theirs, a key for everywhere does.
        keys.bind_action("tree", &["d".to_owned()]).unwrap();
        assert_eq!(pressed(&keys, "d", Reading), Some(KeyAction::Tree));
        assert_eq!(pressed(&keys, "d", Files), Some(KeyAction::FileChanges));
        keys.bind_action("half-down", &["d".to_owned()]).unwrap();
        assert_eq!(pressed(&keys, "d", Files), Some(KeyAction::HalfDown));
    }

    #[test]
    fn unknown_actions_and_keys_are_named() {
        let mut keys = KeyMap::default();
        let error = keys.bind_action("fly", &["x".to_owned()]).unwrap_err();
        assert!(error.contains("no action `fly`") && error.contains("next-prompt"), "{error}");
        let error = keys.bind_action("quit", &["meta-x".to_owned()]).unwrap_err();
        assert!(error.contains("no key `meta-x`"), "{error}");
    }
}
