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
    let text = screens.wait_for_text("the trash is empty");
    assert!(screens.state.overlay.is_none(), "that is no failure: {text}");
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

/// A title that was given and a note are edited; a note is shown where the session is.
#[test]
fn titles_and_notes_begin_as_they_were() {
    let mut screens = TestScreens::new(120, 30);
    let note = || ScreenEvent::Key(KeyEvent::new(KeyCode::Char('n'), KeyModifiers::CONTROL));
    screens.press_key(KeyCode::F(2));
    screens.wait_for_text("new title: ▏");
    screens.type_in("First");
    screens.press_key(KeyCode::Enter);
    screens.wait_for_text("Rename it?");
    screens.type_in("y");
    screens.wait_for_text("Done as operation 1. Ctrl-G lists what can be undone.");
    screens.wait_until(|text| text.contains(" First"));
    screens.press_key(KeyCode::F(2));
    screens.wait_for_text("new title: First▏");
    screens.press_key(KeyCode::Home);
    screens.type_in("The ");
    screens.wait_for_text("new title: The ▏First");
    screens.press_key(KeyCode::Esc);
    screens.handle_event(note());
    screens.type_in("ask about milk");
    screens.press_key(KeyCode::Enter);
    screens.wait_for_text("this session: “ask about milk”");
    // The list, the preview and the status line have it.
    screens.wait_until(|text| text.matches("“ask about milk”").count() == 3);
    screens.handle_event(note());
    screens.wait_for_text("note (empty removes it): ask about milk▏");
}

/// A pin, tags and a note of a message are beside its first line.
#[test]
fn a_marked_message_is_seen_in_the_transcript() {
    let mut screens = TestScreens::open_demo(80, 24);
    let control =
        |letter| ScreenEvent::Key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::CONTROL));
    screens.handle_event(control('b'));
    screens.wait_for_text("this message: pinned");
    screens.handle_event(control('n'));
    screens.type_in("the first question of all, with more words than there is room for beside it");
    screens.press_key(KeyCode::Enter);
    screens.wait_for_text("this message: pinned “the first");
    let text = screens.drawn_text();
    let heading = text.lines().find(|line| line.contains("You  00:00  a")).unwrap();
    assert!(heading.contains("★ “the first question") && heading.contains('…'), "{text}");
}

#[test]
fn a_menu_is_used_with_arrows_and_shows_all_its_words() {
    let mut screens = TestScreens::open_demo(40, 24);
    screens.type_in("b");
    screens.press_key(KeyCode::Up);
    screens.type_in("r");
    let text = screens.wait_for_text("fork and resume");
    let letters: String = text.chars().filter(|char| char.is_alphanumeric()).collect();
    for words in ["atanothermessage", "whereitended", "thisoneisnotchanged"] {
        assert!(letters.contains(words), "{text}");
    }
    // An arrow has to go to a choice first: Enter alone, pressed twice by accident, chooses nothing.
    let effects = screens.effects_of(KeyCode::Enter, KeyModifiers::NONE);
    assert!(!effects.iter().any(|effect| matches!(effect, Effect::Resume(..))), "{effects:?}");
    assert!(screens.state.overlay.is_some());
    for _ in 0..3 {
        screens.press_key(KeyCode::Down);
    }
    let effects = screens.effects_of(KeyCode::Enter, KeyModifiers::NONE);
    assert!(
        matches!(&effects[..], [Effect::Resume(_, Some(ResumeDecision::Fork)), ..]),
        "{effects:?}"
    );
}

#[test]
fn the_marked_branch_is_seen_in_the_list_of_branches() {
    let mut screens = TestScreens::open_demo(90, 30);
    screens.type_in("d");
    screens.press_key(KeyCode::Home);
    screens.wait_for_text("d compare");
    screens.type_in("b");
    let text = screens.wait_for_text("d compares with ◆");
    assert_eq!(text.lines().filter(|line| line.contains("◆ ◉ @3")).count(), 1, "{text}");
}

/// Of a long path its end is shown beside the list, so that the numbers are not pushed out.
#[test]
fn the_preview_has_its_numbers_whatever_the_path() {
    let home = TestHome::new();
    let lines = testkit::jsonl("a user about kettles\nb < a assistant They whistle.");
    let long = "/srv/with/many/parts/that/go/on/and/on/until/nothing/else/fits/kettle";
    let lines = lines.replace("/home/dev/app", long);
    home.write_file("-srv-kettle/1b2c3d4e-0000-4000-8000-000000000000.jsonl", lines);
    let mut screens = TestScreens::with_home(home, 100, 24);
    screens.wait_for_text("They whistle");
    let text = screens.drawn_text();
    assert!(text.lines().any(|line| line.contains('…') && line.ends_with("2 messages")), "{text}");
}

#[test]
fn lines_that_are_pasted_stay_apart() {
    let mut screens = TestScreens::new(80, 24);
    screens.handle_event(ScreenEvent::Paste("about\nkettles\n".to_owned()));
    screens.wait_for_text("search: about kettles▏");
    screens.press_key(KeyCode::Esc);
    screens.type_in(":");
    screens.handle_event(ScreenEvent::Paste("rename".to_owned()));
    screens.wait_for_text("❯ rename▏");
}
