//! The terminal screens on a real terminal, driven by keys.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

use testkit::TestTerminal;

use crate::terminal::start_terminal;

/// Starts the screens over the demo, whose files nobody has written to for a while (R24).
pub(crate) fn start_demo() -> Option<TestTerminal> {
    let terminal = start_terminal(
        "ramus demo d >/dev/null; find d -type f -exec touch -d 2026-01-01 {} +; ramus --claude-dir d; echo left $?",
    )?;
    terminal.wait_for_text("7 sessions");
    Some(terminal)
}

/// Opens the session that has a bit of everything.
pub(crate) fn start_teapot() -> Option<TestTerminal> {
    let terminal = start_demo()?;
    terminal.type_text("tiny http");
    terminal.wait_for_text("search: tiny http");
    terminal.press_keys(&["Enter"]);
    // The preview beside the list has messages, too, but not this.
    terminal.wait_for_text("b branches");
    terminal.wait_for_text("You  14 Sep");
    Some(terminal)
}

#[test]
fn filter_open_and_quit() {
    let Some(terminal) = start_teapot() else { return };
    let screen = terminal.wait_for_text("@5 of 6 resumes");
    assert!(screen.contains("\u{1b}["), "colour: {screen}");
    terminal.press_keys(&["C-l"]);
    terminal.wait_for_text("@5 of 6 resumes");
    terminal.press_keys(&["q"]);
    terminal.wait_for_text("search: tiny http");
    terminal.press_keys(&["Escape"]);
    terminal.wait_for_text("7 sessions");
    terminal.press_keys(&["Escape"]);
    // The terminal is restored: the shell continues on its own screen.
    let screen = terminal.wait_for_text("left 0");
    assert!(!screen.contains("teapot"), "{screen}");
}

#[test]
fn control_c_gives_the_terminal_back() {
    let Some(terminal) = start_teapot() else { return };
    terminal.press_keys(&["C-c"]);
    terminal.wait_for_text("left 0");
}

/// Starts the screens so that their process is known, over a line that must be there again.
fn start_killable() -> Option<(TestTerminal, String)> {
    let terminal = start_terminal(
        "ramus demo d >/dev/null; echo before; stty -a > modes; sh -c \"echo \\$\\$ > pid; exec ramus --claude-dir d\"; echo left $?; stty -a | diff modes - && echo same modes",
    )?;
    terminal.wait_for_text("7 sessions");
    let pid = fs::read_to_string(terminal.dir.path().join("pid")).unwrap();
    Some((terminal, pid.trim().to_owned()))
}

#[test]
fn signals_give_the_terminal_back() {
    for (signal, code) in [("TERM", "143"), ("HUP", "129"), ("INT", "130")] {
        let Some((terminal, pid)) = start_killable() else { return };
        assert!(Command::new("kill").args(["-s", signal, &pid]).status().unwrap().success());
        terminal.wait_for_text("same modes");
        let screen = terminal.wait_for_text(&format!("left {code}"));
        assert!(screen.contains("before") && !screen.contains("sessions"), "{screen}");
        let state = "#{alternate_on} #{mouse_any_flag} #{cursor_flag}";
        assert_eq!(terminal.query_tmux(state), "0 0 1", "screen, mouse, cursor");
    }
}

#[test]
fn branches_are_switched_at_a_fork_and_in_the_tree() {
    let Some(terminal) = start_teapot() else { return };
    terminal.press_keys(&[")"]);
    terminal.wait_for_text("‹ 2 of 2 ›");
    terminal.press_keys(&["Right"]);
    terminal.wait_for_text("@1 of 6 abandoned");
    terminal.wait_for_text("/status now answers");
    terminal.press_keys(&["Left"]);
    terminal.wait_for_text("@5 of 6 resumes");
    terminal.press_keys(&["t"]);
    terminal.wait_for_text("← resumes here");
    terminal.press_keys(&["End", "Up"]);
    terminal.wait_for_text("@6 of 6 abandoned");
    terminal.press_keys(&["t", "b", "Home", "Enter"]);
    terminal.wait_for_text("@1 of 6 abandoned");
}

#[test]
fn search_agents_and_a_comparison() {
    let Some(terminal) = start_teapot() else { return };
    terminal.type_text("/content-length");
    terminal.press_keys(&["Enter"]);
    terminal.wait_for_text("“content-length” 1 of ");
    terminal.wait_for_text("Content-Length");
    terminal.press_keys(&["q", "A"]);
    terminal.wait_for_text("Review HTTP parsing");
    terminal.press_keys(&["Enter"]);
    terminal.wait_for_text("agent ");
    terminal.wait_for_text("❯ Task");
    terminal.press_keys(&["q", "d"]);
    terminal.wait_for_text("marked 7ea90418@5");
    terminal.press_keys(&["b", "Home", "d"]);
    terminal.wait_for_text("messages in common");
    terminal.press_keys(&["q", "o"]);
    terminal.wait_for_text("Files as of this message");
    terminal.press_keys(&["Enter"]);
    terminal.wait_for_text("[package]");
    terminal.press_keys(&["q", "q", "f"]);
    terminal.wait_for_text("search: tiny http");
    terminal.press_keys(&["C-u"]);
    terminal.type_text("hyper");
    terminal
        .wait_for_screen(|screen| screen.contains("search: hyper") && screen.contains("found, "));
    terminal.press_keys(&["Down", "Enter"]);
    terminal.wait_for_text("“hyper” ");
}

#[test]
fn goto_shows_its_plan_and_undo_takes_it_back() {
    let Some(terminal) = start_teapot() else { return };
    let path = "d/projects/-home-dev-teapot/7ea90418-c0de-4b1e-9f3a-51e6a0d2c418.jsonl";
    let path = terminal.dir.path().join(path);
    let before = fs::read(&path).unwrap();
    terminal.press_keys(&[")", "Right"]);
    terminal.wait_for_text("@1 of 6 abandoned");
    terminal.press_keys(&["j", "g"]);
    terminal.wait_for_text("will resume");
    terminal.press_keys(&["n"]);
    terminal.wait_for_text("nothing changed");
    assert_eq!(fs::read(&path).unwrap(), before);
    terminal.press_keys(&["g"]);
    terminal.wait_for_text("will resume");
    terminal.press_keys(&["y"]);
    terminal.wait_for_text("Done as operation 1");
    terminal.wait_for_text("@1 of 6 resumes");
    assert!(fs::read(&path).unwrap().len() > before.len());
    terminal.press_keys(&["u"]);
    terminal.wait_for_text("Undo it?");
    terminal.press_keys(&["y"]);
    terminal.wait_for_text("@1 of 6 abandoned");
    assert_eq!(fs::read(&path).unwrap(), before);
}

/// Returns the sessions of the demo's project with the teapot.
fn session_files(terminal: &TestTerminal) -> BTreeSet<PathBuf> {
    let dir = terminal.dir.path().join("d/projects/-home-dev-teapot");
    let files = fs::read_dir(dir).unwrap().map(|file| file.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|end| end == "jsonl")).collect()
}

/// Returns the new lines of the session.
#[track_caller]
fn only_new(terminal: &TestTerminal, before: &BTreeSet<PathBuf>) -> String {
    let after = session_files(terminal);
    let new: Vec<_> = after.difference(before).collect();
    assert_eq!(new.len(), 1, "{new:?}");
    fs::read_to_string(new[0]).unwrap()
}

#[test]
fn a_fork_shows_its_plan_and_makes_a_session() {
    let Some(terminal) = start_teapot() else { return };
    let before = session_files(&terminal);
    terminal.press_keys(&["]", "F"]);
    terminal.wait_for_text("Create it?");
    terminal.press_keys(&["n"]);
    terminal.wait_for_text("nothing changed");
    assert_eq!(session_files(&terminal), before);
    terminal.press_keys(&["F"]);
    terminal.wait_for_text("Create it?");
    terminal.press_keys(&["y"]);
    terminal.wait_for_text("Done as operation 1");
    assert!(only_new(&terminal, &before).contains("forkedFrom"));
    // It appears in the list by itself.
    terminal.press_keys(&["q", "Escape"]);
    terminal.wait_for_text("8 sessions");
}

#[test]
fn a_merge_takes_two_branches_shows_its_plan_and_makes_a_session() {
    let Some(terminal) = start_teapot() else { return };
    let before = session_files(&terminal);
    terminal.press_keys(&["M"]);
    terminal.wait_for_text("mark another branch first");
    terminal.press_keys(&["d"]);
    terminal.wait_for_text("marked 7ea90418@5");
    terminal.press_keys(&[")", "Right"]);
    terminal.wait_for_text("@1 of 6 abandoned");
    terminal.press_keys(&["M"]);
    terminal.wait_for_text("If both changed a file");
    terminal.press_keys(&["s"]);
    terminal.wait_for_text("the conversations changed 1 file differently");
    terminal.press_keys(&["q", "d"]);
    terminal.wait_for_text("marked 7ea90418@1");
    terminal.press_keys(&["Left"]);
    terminal.wait_for_text("@5 of 6 resumes");
    terminal.press_keys(&["M", "b"]);
    terminal.wait_for_text("Create it?");
    terminal.press_keys(&["Escape"]);
    terminal.wait_for_text("nothing changed");
    assert_eq!(session_files(&terminal), before);
    terminal.press_keys(&["d"]);
    terminal.wait_for_text("marked 7ea90418@5");
    terminal.press_keys(&["Right"]);
    terminal.wait_for_text("@1 of 6 abandoned");
    terminal.press_keys(&["M", "t"]);
    terminal.wait_for_text("Create it?");
    terminal.press_keys(&["y"]);
    terminal.wait_for_text("Done as operation 1");
    terminal.wait_for_text("claude --resume ");
    assert!(only_new(&terminal, &before).contains("mergedFrom"));
}

#[test]
fn an_export_writes_files() {
    let Some(terminal) = start_teapot() else { return };
    terminal.press_keys(&["e"]);
    terminal.wait_for_text("Export this conversation as");
    terminal.press_keys(&["m"]);
    let dir = terminal.dir.path().join("ramus-export-7ea90418-5");
    terminal.wait_for_text(&format!("exported 7ea90418@5 to {}", dir.display()));
    let mut written = Vec::new();
    let mut dirs = vec![dir];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { &mut dirs } else { &mut written }.push(path);
        }
    }
    let markdown = written.iter().filter(|path| path.extension().is_some_and(|end| end == "md"));
    let texts: Vec<String> = markdown.map(|path| fs::read_to_string(path).unwrap()).collect();
    assert!(texts.iter().any(|text| text.contains("teapot")), "{written:?}");
}

#[test]
fn the_mouse_opens_scrolls_and_switches() {
    let Some(terminal) = start_demo() else { return };
    // Its preview has the same title.
    terminal.click_text("▸ Tiny HTTP teapot");
    terminal.click_text("▸ Tiny HTTP teapot");
    terminal.wait_for_text("b branches");
    terminal.wheel_down();
    terminal.wait_for_screen(|screen| !screen.contains("You  14 Sep"));
    terminal.press_keys(&[")"]);
    terminal.wait_for_text("‹ 2 of 2 ›");
    terminal.click_text("›  ←");
    terminal.wait_for_text("@1 of 6 abandoned");
    terminal.click_text("‹");
    terminal.wait_for_text("@5 of 6 resumes");
    terminal.press_keys(&["b"]);
    terminal.wait_for_text("Enter opens, d marks to compare");
    terminal.click_text("@1");
    terminal.click_text("@1");
    terminal.wait_for_text("@1 of 6 abandoned");
}

#[test]
fn an_appended_message_appears_and_a_resize_is_survived() {
    let Some(terminal) = start_teapot() else { return };
    terminal.press_keys(&["w"]);
    terminal.wait_for_text("● live");
    let path = "d/projects/-home-dev-teapot/7ea90418-c0de-4b1e-9f3a-51e6a0d2c418.jsonl";
    let path = terminal.dir.path().join(path);
    let leaf = "1f6f329f";
    let text = fs::read_to_string(&path).unwrap();
    let uuid = text.split('"').find(|word| word.starts_with(leaf)).unwrap().to_owned();
    let line = format!(
        r#"{{"parentUuid":"{uuid}","isSidechain":false,"type":"user","message":{{"role":"user","content":"And milk? \u001b[2J\u001b]0;boom\u0007"}},"uuid":"ffffffff-0000-4000-8000-000000000000","timestamp":"2030-01-01T00:00:00.000Z","version":"2.1.0","sessionId":"7ea90418-c0de-4b1e-9f3a-51e6a0d2c418"}}"#
    );
    let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    writeln!(file, "{line}").unwrap();
    let screen = terminal.wait_for_text("▎ And milk?");
    assert!(screen.contains("ramus"), "nothing was erased:\n{screen}");
    let title = terminal.run_tmux(&["display-message", "-p", "#{pane_title}"]).stdout;
    assert!(!String::from_utf8_lossy(&title).contains("boom"));
    for (width, height) in [("40", "10"), ("200", "50"), ("80", "24")] {
        terminal.run_tmux(&["resize-window", "-x", width, "-y", height]);
        terminal.wait_for_text("And milk?");
    }
    assert_eq!(terminal.screen_text().lines().count(), 24);
}

#[test]
fn users_without_history_are_offered_the_demo() {
    let Some(terminal) = start_terminal("ramus; echo left $?") else { return };
    terminal.wait_for_text("write a sample history");
    terminal.press_keys(&["d"]);
    terminal.wait_for_text("7 sessions");
    assert!(terminal.dir.path().join("ramus-demo/projects").is_dir());
    terminal.press_keys(&["Enter"]);
    terminal.wait_for_text("resumes");
}

/// A window that is made smaller changes before the program is notified.
#[test]
fn a_shrinking_window_is_drawn() {
    let Some(terminal) = start_teapot() else { return };
    terminal.press_keys(&["t"]);
    for round in 0..4 {
        for size in (1..=30).rev().step_by(2) {
            let (width, height) = ((20 + size * 3).to_string(), (size + 2).to_string());
            terminal.run_tmux(&["resize-window", "-x", &width, "-y", &height]);
            terminal.press_keys(&["j"]);
        }
        terminal.run_tmux(&["resize-window", "-x", "100", "-y", "30"]);
        terminal.wait_for_text("ramus ›");
        assert!(!terminal.screen_text().contains("left"), "round {round}");
    }
    terminal.press_keys(&["C-c"]);
    terminal.wait_for_text("left 0");
}
