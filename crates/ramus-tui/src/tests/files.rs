//! Files as of a message: compared, saved and restored. Images of a message.

use std::path::PathBuf;

use super::*;
use crate::event::{ChangeCommand, SavedFiles};

const ID: &str = "0a1b2c3d-0000-4000-8000-000000000000";

/// A session with backups of two files, its list of files open.
fn open_files() -> TestScreens {
    let home = TestHome::new();
    let backups = home.claude_dir().join("file-history").join(ID);
    std::fs::create_dir_all(&backups).unwrap();
    for (letter, text) in [("a", "fn first() {}"), ("b", "fn second() {}")] {
        std::fs::write(backups.join(format!("{}@v1", letter.repeat(16))), text).unwrap();
    }
    let session = "a user Which files?\n- snapshot:a a.rs=aaaaaaaaaaaaaaaa@v1 b.rs=bbbbbbbbbbbbbbbb@v1\n\
                   b < a assistant These.";
    home.write_session(&format!("-home-dev-app/{ID}.jsonl"), session);
    let mut screens = TestScreens::with_home(home, 110, 14);
    screens.press_key(KeyCode::Enter);
    screens.wait_for_text("b branches");
    screens.type_in("o");
    screens.wait_for_text("Files as of this message");
    screens
}

#[test]
fn a_file_is_compared_with_the_end_of_the_branch() {
    let mut screens = open_files();
    screens.press_key(KeyCode::Down);
    screens.type_in("d");
    let text = screens.wait_for_text("Changed since this message");
    assert!(text.contains("Uuid(\"a\") to Nth(1)") && text.contains("b.rs"), "{text}");
    screens.type_in("q");
    screens.wait_for_text("Files as of this message");
    screens.type_in("D");
    let text = screens.wait_for_text("Changed since this message");
    assert!(text.contains("all files") && text.contains(": None"), "{text}");
}

#[test]
fn files_are_saved_where_nothing_is_yet() {
    let mut screens = open_files();
    let to = screens.home.path().join("saved.rs");
    for (expected, said) in [("fn first() {}", "saved "), ("fn first() {}", "cannot write ")] {
        screens.type_in("s");
        screens.wait_for_text("save as: a.rs");
        screens.handle_event(ScreenEvent::Key(KeyEvent::new(
            KeyCode::Char('u'),
            KeyModifiers::CONTROL,
        )));
        screens.type_in(&to.display().to_string());
        screens.press_key(KeyCode::Enter);
        screens.wait_for_text(said);
        assert_eq!(std::fs::read_to_string(&to).unwrap(), expected);
    }
    screens.state.list.home = screens.home.path().display().to_string();
    screens.type_in("S");
    screens
        .handle_event(ScreenEvent::Key(KeyEvent::new(KeyCode::Char('u'), KeyModifiers::CONTROL)));
    screens.type_in("~/all");
    screens.press_key(KeyCode::Enter);
    screens.wait_for_text("saved 2 files");
    let second = screens.home.path().join("all/b.rs");
    assert_eq!(std::fs::read_to_string(second).unwrap(), "fn second() {}");
}

/// What is written is where the program was started, and the message names it from the root.
#[test]
fn messages_name_the_whole_path_of_what_is_written() {
    let mut screens = open_files();
    screens.state.size.0 = 200;
    let dir = screens.home.path().to_owned();
    screens.type_in("s");
    screens.press_key(KeyCode::Enter);
    screens.wait_for_text(&format!("saved {}", dir.join("a.rs").display()));
    screens.type_in("q");
    screens.press_key(KeyCode::F(4));
    screens.type_in("m");
    let export = dir.join("ramus-export-0a1b2c3d-1");
    screens.wait_for_text(&format!("exported 0a1b2c3d@1 to {}", export.display()));
    screens.press_key(KeyCode::F(6));
    let pack = dir.join("ramus-pack-0a1b2c3d.tar.zst");
    let text = screens.wait_for_text("packed ");
    assert!(text.contains(&pack.display().to_string()) && pack.is_file(), "{text}");
    assert!(export.is_dir() && dir.join("a.rs").is_file());
}

#[test]
fn restoring_means_the_file_at_the_cursor_or_all_of_them() {
    let mut screens = open_files();
    for (letter, path) in [('r', Some("a.rs")), ('R', None)] {
        let key = KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE);
        let effects = update_state(&mut screens.state, ScreenEvent::Key(key));
        let [Effect::ApplyChange(ChangeCommand::RestoreFiles(SavedFiles { only, .. })), ..] =
            &effects[..]
        else {
            panic!("{effects:?}")
        };
        let found = only.as_deref().and_then(|path| path.rsplit('/').next());
        assert_eq!(found, path);
    }
}

/// Images are written to private files, which the program for them opens.
#[test]
fn images_of_a_message_are_opened() {
    let home = TestHome::new();
    let image =
        r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJDRA=="}}"#;
    let line = testkit::jsonl("a user Look at this");
    let line =
        line.replace(r#""Look at this""#, &format!(r#"[{{"type":"text","text":"Look"}},{image}]"#));
    assert!(line.contains("QUJDRA"), "{line}");
    let path = format!("-home-dev-app/{ID}.jsonl");
    home.write_file(&path, line + &testkit::jsonl("b < a assistant Nice."));
    let mut screens = TestScreens::with_home(home, 110, 14);
    screens.press_key(KeyCode::Enter);
    screens.wait_for_text("b branches");
    screens.wait_for_text("[image png 6 B]");
    screens.press_key(KeyCode::Home);
    screens.wait_for_text("i images");
    screens.type_in("i");
    let text = screens.wait_for_text("opened 1 image, in ");
    let dir = text.lines().last().unwrap().split(", in ").nth(1).unwrap().trim();
    let dir = PathBuf::from(dir);
    assert_eq!(std::fs::read(dir.join("1.png")).unwrap(), b"ABCD");
    std::fs::remove_dir_all(dir).unwrap();
    screens.press_key(KeyCode::End);
    screens.wait_until(|text| !text.contains("i images"));
    screens.type_in("i");
    screens.wait_for_text("no image here");
}
