//! What the screens do to a whole session, on a real terminal: count, pack, compare files, save, follow, restore.

use std::fs;
use std::io::Write;

use testkit::TestTerminal;

use crate::screens::{start_demo, start_teapot};
use crate::terminal::start_terminal;

const TEAPOT: &str = "d/projects/-home-dev-teapot/7ea90418-c0de-4b1e-9f3a-51e6a0d2c418.jsonl";

#[test]
fn a_session_is_counted_by_model_and_branch() {
    let Some(terminal) = start_demo() else { return };
    terminal.type_text("tiny http");
    terminal.wait_for_text("2 found, ");
    terminal.press_keys(&["F3"]);
    terminal.wait_for_text("Tokens and cost");
    terminal.wait_for_text("claude-opus-5");
    terminal.wait_for_text("BRANCH");
    terminal.press_keys(&["Escape"]);
    terminal.wait_for_text("search: tiny http");
}

#[test]
fn a_pack_can_be_read_and_is_not_replaced() {
    let Some(terminal) = start_teapot() else { return };
    terminal.press_keys(&["F6"]);
    let path = terminal.dir.path().join("ramus-pack-7ea90418.tar.zst");
    terminal.wait_for_text(&format!("into {}", path.display()));
    let before = fs::read(&path).unwrap();
    terminal.press_keys(&["j", "F6"]);
    terminal.wait_for_text("already exists");
    assert_eq!(fs::read(&path).unwrap(), before);
    terminal.run_tmux(&["resize-window", "-x", "140", "-y", "30"]);
    terminal.press_keys(&["C-c"]);
    terminal.wait_for_text("left 0");
    let ramus = std::path::Path::new(env!("CARGO_BIN_EXE_ramus"));
    let shown = std::process::Command::new(ramus).arg("tree").arg(&path).env_clear().output();
    let shown = String::from_utf8(shown.unwrap().stdout).unwrap();
    assert!(shown.contains("/status"), "{shown}");
}

#[test]
fn files_are_compared_and_saved() {
    let Some(terminal) = start_teapot() else { return };
    terminal.press_keys(&["o"]);
    terminal.wait_for_text("Files as of this message");
    terminal.press_keys(&["D"]);
    terminal.wait_for_text("Changed since this message");
    terminal.wait_for_text("Cargo.toml  new");
    terminal.press_keys(&["n"]);
    terminal.press_keys(&["q"]);
    terminal.wait_for_text("Files as of this message");
    terminal.press_keys(&["q", "End", "o"]);
    terminal.wait_for_text("After 1f6f329f");
    terminal.press_keys(&["s"]);
    terminal.wait_for_text("save as: Cargo.toml");
    terminal.press_keys(&["Enter"]);
    let saved = terminal.dir.path().join("Cargo.toml");
    terminal.wait_for_text(&format!("saved {}", saved.display()));
    let saved = fs::read_to_string(terminal.dir.path().join("Cargo.toml")).unwrap();
    assert!(saved.contains("[package]"), "{saved}");
}

#[test]
fn a_comparison_begins_with_numbers_and_a_key_goes_on() {
    let Some(terminal) = start_teapot() else { return };
    terminal.run_tmux(&["resize-window", "-x", "120", "-y", "30"]);
    terminal.press_keys(&["d"]);
    terminal.wait_for_text("marked 7ea90418@5");
    terminal.press_keys(&["b", "Home", "d"]);
    terminal.wait_for_text("── Totals");
    terminal.press_keys(&["n", "n"]);
    // Side by side, prompts in the same row.
    terminal.wait_for_screen(|screen| {
        screen.lines().any(|line| line.matches("❯ You  14 Sep").count() == 2)
    });
    terminal.press_keys(&["N", "N", "N"]);
    terminal.wait_for_text("messages in common");
}

fn append(terminal: &TestTerminal, lines: &str) {
    let path = terminal.dir.path().join(TEAPOT);
    let text = fs::read_to_string(&path).unwrap();
    let leaf = text.split('"').find(|word| word.starts_with("1f6f329f")).unwrap().to_owned();
    let lines = testkit::jsonl(&lines.replace("LEAF", &leaf));
    fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(lines.as_bytes()).unwrap();
}

#[test]
fn what_runs_is_shown_and_the_list_marks_who_writes() {
    let Some(terminal) = start_teapot() else { return };
    terminal.press_keys(&["w"]);
    terminal.wait_for_text("● live");
    append(&terminal, "z < LEAF call:t9:Bash #m9 @now sleep 1000");
    terminal.wait_for_text("► Bash sleep 1000");
    terminal.wait_for_text("• Bash sleep 1000  running ");
    terminal.press_keys(&["w", "Home"]);
    terminal.wait_for_text("Let's build a teapot");
    append(&terminal, "y < z result:t9 @now done\nx < y user @now And now?");
    terminal.wait_for_text(" new End");
    terminal.press_keys(&["q", "Escape"]);
    terminal.wait_for_screen(|screen| screen.contains("7 sessions") && screen.contains("● "));
}

#[test]
fn the_terminal_is_asked_for_its_background() {
    for (background, active) in [("#ffffff", "38;2;43;112;32"), ("#101010", "38;2;165;214;111")] {
        let command = "ramus demo d >/dev/null; while [ ! -e go ]; do sleep 0.1; done; COLORTERM=truecolor ramus --claude-dir d; echo left $?";
        let Some(terminal) = start_terminal(command) else { return };
        terminal.run_tmux(&["set", "-g", "window-style", &format!("bg={background},fg=#808080")]);
        terminal.run_tmux(&["set", "-g", "default-terminal", "tmux-256color"]);
        fs::write(terminal.dir.path().join("go"), "").unwrap();
        let screen = terminal.wait_for_text("7 sessions");
        assert!(screen.contains(active), "{background}: {screen}");
        terminal.press_keys(&["C-c"]);
        terminal.wait_for_text("left 0");
    }
}

/// A window that changes while a menu is open, and files that vanish while they are listed.
#[test]
fn menus_survive_a_resize_and_lists_survive_a_lost_file() {
    let Some(terminal) = start_teapot() else { return };
    terminal.press_keys(&["e"]);
    terminal.wait_for_text("Export this conversation as");
    for (width, height) in [("30", "8"), ("12", "3"), ("200", "60"), ("100", "30")] {
        terminal.run_tmux(&["resize-window", "-x", width, "-y", height]);
    }
    terminal.wait_for_text("Export this conversation as");
    terminal.press_keys(&["Escape"]);
    // A key that comes later clears the message.
    terminal.wait_for_screen(|screen| !screen.contains("Export this conversation as"));
    fs::remove_file(terminal.dir.path().join(TEAPOT)).unwrap();
    terminal.wait_for_text("no longer exists");
    terminal.press_keys(&["F3"]);
    terminal.wait_for_screen(|screen| !screen.contains("adding up"));
    // A letter right behind Escape would be taken for Alt and that letter.
    terminal.press_keys(&["q", "q", "Escape"]);
    terminal.wait_for_text("6 sessions");
    terminal.press_keys(&["C-c"]);
    terminal.wait_for_text("left 0");
}
