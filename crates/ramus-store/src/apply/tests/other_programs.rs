//! What other programs are in the middle of: half a line, a line at a bad moment, a file that stays open.

use super::faults::{app, put_files};
use super::*;

const HALF: &str = "{\"type\":\"mode\",\"by\":";
const REST: &str = "\"somebody else\"}\n";

fn open_to_append(path: &Path) -> fs::File {
    OpenOptions::new().append(true).open(path).unwrap()
}

#[test]
fn a_line_that_is_written_in_two_parts_around_a_goto_stays_whole() {
    for call in 0.. {
        let scene = Scene::new(TWO);
        let before = fs::read_to_string(scene.path()).unwrap();
        let plan = scene.goto("e");
        let mut open = open_to_append(&scene.path());
        let mut first = open.try_clone().unwrap();
        fault::write_at(call, Box::new(move || first.write_all(HALF.as_bytes()).unwrap()));
        let result = apply_plan(&scene.state, &plan, true, now());
        if fault::clear_faults() <= call {
            break;
        }
        open.write_all(REST.as_bytes()).unwrap();
        recover_operations(&scene.state).unwrap();
        let text = fs::read_to_string(scene.path()).unwrap();
        let line = format!("{HALF}{REST}");
        assert_eq!(text.matches(&line).count(), 1, "call {call}: {result:?}\n{text}");
        let is_untouched = text.replace(&line, "") == before;
        assert_eq!(is_untouched, result.is_err(), "call {call}: {result:?}\n{text}");
    }
}

#[test]
fn a_line_of_a_client_is_there_once_after_a_goto_that_was_taken_back() {
    for call in 0.. {
        let scene = Scene::new(TWO);
        let before = fs::read_to_string(scene.path()).unwrap();
        let plan = WritePlan { resume: Some(RecordUuid::new(b"nobody")), ..scene.goto("e") };
        let line = format!("{HALF}{REST}");
        let (path, text) = (scene.path(), line.clone());
        let write = move || open_to_append(&path).write_all(text.as_bytes()).unwrap();
        fault::write_at(call, Box::new(write));
        let result = apply_plan(&scene.state, &plan, true, now());
        if fault::clear_faults() <= call {
            break;
        }
        assert!(result.is_err());
        recover_operations(&scene.state).unwrap();
        let text = fs::read_to_string(scene.path()).unwrap();
        assert_eq!(text, format!("{before}{line}"), "call {call}: {result:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_replaced_file_that_is_open_can_be_brought_back_and_goes_to_the_trash_later() {
    use std::process::{Command, Stdio};
    for is_closed_first in [false, true] {
        let scene = Scene::new(TWO);
        fault::other_file_system(Some(scene.state.path()));
        let plan = put_files(&scene);
        let main = app(&scene).join("main.rs");
        let before = files_below(&app(&scene));
        let mut user = Command::new("cat")
            .stdin(Stdio::piped())
            .stderr(fs::File::open(&main).unwrap())
            .spawn()
            .unwrap();
        let notes = scene.apply(&plan).unwrap().notes.join("\n");
        assert!(notes.contains("main.rs open. It stays at"), "{notes}");
        let mut close = || {
            drop(user.stdin.take());
            user.wait().unwrap();
        };
        if is_closed_first {
            close();
            let notes = recover_operations(&scene.state).unwrap().notes.join("\n");
            assert!(notes.contains("no longer open and now at"), "{notes}");
            assert!(files_below(&app(&scene)).keys().all(|path| !is_temporary(path)));
        }
        scene.apply(&scene.undo(None).unwrap()).unwrap();
        if !is_closed_first {
            close();
            recover_operations(&scene.state).unwrap();
        }
        assert_eq!(files_below(&app(&scene)), before);
        fault::other_file_system(None);
    }
}

pub(super) fn is_temporary(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".ramus"))
}
