//! Keys that the user bound in the settings: the name of an action, and the keys for it.

use std::borrow::Cow;

use ratatui::crossterm::event::{KeyCode, KeyModifiers};

use super::{KEY_BINDINGS, KeyBinding, KeyChord, KeyContext, KeyMap};

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
        for binding in &mut self.bindings {
            let is_own = binding.action == *action;
            binding.keys.to_mut().retain(|chord| !is_own && !chords.contains(chord));
        }
        for chord in chords {
            // A letter is text wherever something is typed.
            let is_letter = matches!(chord.0, KeyCode::Char(_)) && chord.1.is_empty();
            let mut own = self.bindings.iter_mut().filter(|binding| binding.action == *action);
            let fits =
                |binding: &&mut KeyBinding| is_letter != (binding.scope == KeyContext::Anywhere);
            match own.find(fits) {
                Some(binding) => binding.keys.to_mut().push(chord),
                None => self.bindings.push(KeyBinding {
                    scope: if is_letter { KeyContext::Moving } else { KeyContext::Anywhere },
                    keys: Cow::Owned(vec![chord]),
                    action: *action,
                    help,
                }),
            }
        }
        self.bindings.retain(|binding| !binding.keys.is_empty() || binding.action == *action);
        Ok(())
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

    use super::*;
    use crate::keys::KeyAction;

    fn pressed(keys: &KeyMap, chord: &str, typing: bool) -> Option<KeyAction> {
        let KeyChord(code, modifiers) = parse_chord(chord).unwrap();
        keys.action_for(KeyEvent::new(code, modifiers), typing, true)
    }

    #[test]
    fn a_key_of_the_user_replaces_those_of_the_table() {
        let mut keys = KeyMap::default();
        keys.bind_action("resume", &["ctrl-y".to_owned(), "x".to_owned()]).unwrap();
        assert_eq!(pressed(&keys, "ctrl-y", true), Some(KeyAction::Resume));
        assert_eq!(pressed(&keys, "x", false), Some(KeyAction::Resume));
        assert_eq!(pressed(&keys, "x", true), None, "it is text");
        assert_eq!(pressed(&keys, "ctrl-o", true), None);
        assert_eq!(pressed(&keys, "r", false), None);
        // A key that was taken does what the user wants.
        keys.bind_action("quit", &["t".to_owned()]).unwrap();
        assert_eq!(pressed(&keys, "t", false), Some(KeyAction::Quit));
        assert_eq!(keys.keys_of(KeyAction::Tree), "");
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
