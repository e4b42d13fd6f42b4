//! What is done to a session as a whole: counted, packed, exported, resumed elsewhere, trashed and restored.

use super::*;
use crate::event::OpenRequest;
use ramus_app::ResumeDecision;

impl TestScreens {
    /// Presses a key and returns what it asks for, without doing it.
    fn effects_of(&mut self, code: KeyCode, modifiers: KeyModifiers) -> Vec<Effect> {
        let key = KeyEvent::new(code, modifiers);
        update_state(&mut self.state, ScreenEvent::Key(key))
    }
}

#[test]
fn the_session_at_the_cursor_is_counted_from_the_list_and_from_its_transcript() {
    let mut screens = TestScreens::new(80, 24);
    screens.press_key(KeyCode::F(3));
    screens.wait_for_text("Total $1.23");
    screens.press_key(KeyCode::Esc);
    screens.type_in("which tea");
    screens.press_key(KeyCode::Enter);
    screens.wait_for_text("b branches");
    screens.press_key(KeyCode::F(3));
    screens.wait_for_text("Total $1.23");
}

/// Keys of the list: the conversation that resumes is exported, and the session is packed.
#[test]
fn a_session_is_exported_and_packed_from_the_list() {
    let mut screens = TestScreens::new(80, 24);
    screens.press_key(KeyCode::F(4));
    screens.wait_for_text("Export this conversation as");
    let effects = screens.effects_of(KeyCode::Char('m'), KeyModifiers::NONE);
    let [Effect::Export(address, _), ..] = &effects[..] else { panic!("{effects:?}") };
    let session = screens.state.list.session_of(&address.file).unwrap();
    let resuming = session.conversations.iter().find(|one| one.resumes).unwrap();
    assert_eq!(address.node, ramus_app::NodeSelector::Nth(resuming.n as usize));
    let effects = screens.effects_of(KeyCode::F(6), KeyModifiers::NONE);
    assert!(matches!(&effects[..], [Effect::Pack(file), ..] if *file == address.file));
}

#[test]
fn one_key_forks_and_resumes_and_one_copies_the_command() {
    let mut screens = TestScreens::new(80, 24);
    let effects = screens.effects_of(KeyCode::F(8), KeyModifiers::NONE);
    let [Effect::Resume(request, Some(ResumeDecision::Fork)), ..] = &effects[..] else {
        panic!("{effects:?}")
    };
    let OpenRequest { file, .. } = &**request;
    assert!(file.relative.contains("0a1b2c3d"), "{file:?}");
    screens
        .handle_event(ScreenEvent::Key(KeyEvent::new(KeyCode::Char('y'), KeyModifiers::CONTROL)));
    screens.wait_for_text("copied the command: ");
}

#[test]
fn a_session_comes_back_from_the_trash() {
    let mut screens = TestScreens::new(80, 24);
    let path = screens.state.list.selected_session_file().unwrap().to_owned();
    let before = std::fs::read(&path).unwrap();
    screens.press_key(KeyCode::F(7));
    screens.wait_for_text("the trash is empty");
    screens.press_key(KeyCode::Esc);
    screens.press_key(KeyCode::Delete);
    screens.wait_for_text("y  yes");
    screens.type_in("y");
    screens.wait_for_text("Done as operation 1.");
    assert!(!path.exists());
    screens.press_key(KeyCode::F(7));
    screens.wait_for_text("Enter restores one");
    screens.press_key(KeyCode::Enter);
    screens.wait_for_text("y  yes");
    screens.type_in("y");
    screens.wait_for_text("Done as operation 2.");
    assert_eq!(std::fs::read(&path).unwrap(), before);
}
