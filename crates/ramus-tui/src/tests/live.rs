//! What is seen of a session while it is being written.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::*;

fn append(path: &Path, lines: &str) {
    let mut file = std::fs::OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(testkit::jsonl(lines).as_bytes()).unwrap();
}

fn open_path(screens: &TestScreens) -> PathBuf {
    screens.state.open_transcript().unwrap().chapter.file.path.clone()
}

/// While it is followed, its running call is shown with its time; a result ends that.
#[test]
fn a_running_call_is_shown_until_its_result_comes() {
    let mut screens = TestScreens::open_demo(100, 30);
    let path = open_path(&screens);
    screens.type_in("w");
    screens.wait_for_text("● live");
    append(&path, "z < n call:t9:Bash #m9 sleep 1000");
    screens.wait_for_text("► Bash sleep 1000");
    append(&path, "y < z result:t9 done");
    screens.wait_until(|text| !text.contains("► Bash"));
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
    // Until following has begun, a change is not seen as one.
    screens.wait_for_text("1 session");
    for n in 0.. {
        append(&path, &format!("z{n} < b user More"));
        if let Ok(event) = screens.events.recv_timeout(Duration::from_millis(500)) {
            screens.handle_event(event);
        }
        if screens.drawn_text().contains("● live") {
            return;
        }
        assert!(n < 60, "{}", screens.drawn_text());
    }
}
