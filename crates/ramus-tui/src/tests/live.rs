//! What is seen of a session while it is being written.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::*;
use crate::work::follow::{WatchedSessions, start_following};
use crate::work::survey::survey_histories;

fn append(path: &Path, lines: &str) {
    let mut file = std::fs::OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(testkit::jsonl(lines).as_bytes()).unwrap();
}

fn open_path(screens: &TestScreens) -> PathBuf {
    screens.state.open_transcript().unwrap().chapter.file.path.clone()
}

/// A running call is shown, with its time while it is followed; a result ends that.
#[test]
fn a_running_call_is_shown_until_its_result_comes() {
    let mut screens = TestScreens::open_demo(100, 30);
    let path = open_path(&screens);
    screens.type_in("w");
    screens.wait_for_text("● live");
    append(&path, "z < n call:t9:Bash #m9 @now sleep 1000");
    screens.wait_for_text("► Bash sleep 1000");
    screens.wait_until(|text| {
        let after = text.split_once("• Bash sleep 1000  running ").map(|(_, after)| after);
        after.is_some_and(|after| after.starts_with(|char: char| char.is_ascii_digit()))
    });
    screens.type_in("w");
    screens.wait_until(|text| !text.contains("► Bash") && text.contains("sleep 1000  running  "));
    screens.type_in("w");
    screens.wait_for_text("► Bash");
    append(&path, "y < z result:t9 done");
    screens.wait_until(|text| !text.contains("► Bash") && text.contains("sleep 1000  → done"));
}

/// What comes below the screen is counted, and seen at the end.
#[test]
fn what_is_new_below_the_screen_is_counted() {
    let mut screens = TestScreens::open_demo(100, 14);
    let path = open_path(&screens);
    screens.press_key(KeyCode::Home);
    append(&path, "z < n user And milk?\ny < z assistant Some.\nx < y user Thanks");
    screens.wait_for_text("↓ 3 new");
    screens.press_key(KeyCode::End);
    screens.wait_until(|text| text.contains("Thanks") && !text.contains(" new "));
}

/// The list marks the sessions that are written to at this moment.
#[test]
fn sessions_that_are_being_written_are_marked_in_the_list() {
    let home = TestHome::new();
    let path = "-home-dev-app/0a1b2c3d-0000-4000-8000-000000000000.jsonl";
    home.write_session(path, "a user Which tea?\nb < a assistant Oolong.");
    let path = home.claude_dir().join("projects").join(path);
    let mut screens = TestScreens::with_home(home, 80, 24);
    assert!(!screens.drawn_text().contains("● live"));
    screens.wait_for_text("1 session");
    append(&path, "z < b user @now More");
    screens.wait_for_text("● live");
}

/// A title that is given to a session is no message of it.
#[test]
fn a_session_that_is_renamed_is_not_being_written() {
    let home = TestHome::new();
    for id in ["0a1b2c3d", "1b2c3d4e"] {
        let path = format!("-home-dev-app/{id}-0000-4000-8000-000000000000.jsonl");
        home.write_session(&path, "a user Which tea?\nb < a assistant Oolong.");
    }
    let dir = home.claude_dir().join("projects/-home-dev-app");
    let path = |id: &str| dir.join(format!("{id}-0000-4000-8000-000000000000.jsonl"));
    let mut screens = TestScreens::with_home(home, 80, 24);
    screens.wait_for_text("2 sessions");
    let title = "- title Tea for two";
    append(&path("0a1b2c3d"), title);
    screens.wait_for_text("Tea for two");
    append(&path("1b2c3d4e"), "z < b user @now More");
    let text = screens.wait_for_text("● live");
    assert_eq!(text.matches("● live").count(), 1, "{text}");
}

/// Between the listing and the moment when following begins, files may be deleted.
#[test]
fn a_session_that_was_deleted_before_following_begins_leaves_the_list() {
    let home = TestHome::new();
    for (id, words) in [("0a1b2c3d", "Which tea?"), ("1b2c3d4e", "Which cup?")] {
        let path = format!("-home-dev-app/{id}-0000-4000-8000-000000000000.jsonl");
        home.write_session(&path, &format!("a user {words}\nb < a assistant Oolong."));
    }
    let dir = home.claude_dir().join("projects/-home-dev-app");
    let workspace = test_workspace(&home);
    let (sender, events) = channel();
    let listed = survey_histories(&workspace, &sender);
    let lost = dir.join("0a1b2c3d-0000-4000-8000-000000000000.jsonl");
    std::fs::remove_file(&lost).unwrap();
    let roots = workspace.claude_roots().to_vec();
    start_following(sender, roots, workspace.resume_rule(), WatchedSessions::default(), listed);
    let removed = std::iter::from_fn(|| events.recv_timeout(Duration::from_secs(20)).ok())
        .find_map(|event| match event {
            ScreenEvent::Removed(path) => Some(path),
            _ => None,
        });
    assert_eq!(removed, Some(lost));
}
