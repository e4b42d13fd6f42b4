//! The terminal screens on a real terminal, driven by keys.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

use testkit::Terminal;

use crate::terminal::start;

/// Starts the screens over the demo, whose files nobody has written to for a while (R24).
pub(crate) fn demo() -> Option<Terminal> {
    let terminal = start(
        "ramus demo d >/dev/null; find d -type f -exec touch -d 2026-01-01 {} +; ramus --claude-dir d; echo left $?",
    )?;
    terminal.wait("7 sessions");
    Some(terminal)
}

/// Opens the session that has a bit of everything.
pub(crate) fn teapot() -> Option<Terminal> {
    let terminal = demo()?;
    terminal.type_in("tiny http");
    terminal.wait("filter: tiny http");
    terminal.keys(&["Enter"]);
    terminal.wait("You  14 Sep");
    Some(terminal)
}

#[test]
fn filter_open_and_quit() {
    let Some(terminal) = teapot() else { return };
    let screen = terminal.wait("@5 of 6 resumes");
    assert!(screen.contains("\u{1b}["), "colour: {screen}");
    terminal.keys(&["C-l"]);
    terminal.wait("@5 of 6 resumes");
    terminal.keys(&["q"]);
    terminal.wait("filter: tiny http");
    terminal.keys(&["Escape"]);
    terminal.wait("7 sessions");
    terminal.keys(&["Escape"]);
    // The terminal is given back as it was: the shell goes on on its own screen.
    let screen = terminal.wait("left 0");
    assert!(!screen.contains("teapot"), "{screen}");
}

#[test]
fn control_c_gives_the_terminal_back() {
    let Some(terminal) = teapot() else { return };
    terminal.keys(&["C-c"]);
    terminal.wait("left 0");
}

/// Starts the screens so that their process is known, over a line that must be there again.
fn killable() -> Option<(Terminal, String)> {
    let terminal = start(
        "ramus demo d >/dev/null; echo before; stty -a > modes; sh -c \"echo \\$\\$ > pid; exec ramus --claude-dir d\"; echo left $?; stty -a | diff modes - && echo same modes",
    )?;
    terminal.wait("7 sessions");
    let pid = fs::read_to_string(terminal.dir.path().join("pid")).unwrap();
    Some((terminal, pid.trim().to_owned()))
}

#[test]
fn signals_give_the_terminal_back() {
    for (signal, code) in [("TERM", "143"), ("HUP", "129"), ("INT", "130")] {
        let Some((terminal, pid)) = killable() else { return };
        assert!(Command::new("kill").args(["-s", signal, &pid]).status().unwrap().success());
        terminal.wait("same modes");
        let screen = terminal.wait(&format!("left {code}"));
        assert!(screen.contains("before") && !screen.contains("sessions"), "{screen}");
        let state = "#{alternate_on} #{mouse_any_flag} #{cursor_flag}";
        assert_eq!(terminal.ask(state), "0 0 1", "screen, mouse, cursor");
    }
}

#[test]
fn branches_are_switched_at_a_fork_and_in_the_tree() {
    let Some(terminal) = teapot() else { return };
    terminal.keys(&[")"]);
    terminal.wait("‹ 2 of 2 ›");
    terminal.keys(&["Right"]);
    terminal.wait("@1 of 6 abandoned");
    terminal.wait("/status now answers");
    terminal.keys(&["Left"]);
    terminal.wait("@5 of 6 resumes");
    terminal.keys(&["t"]);
    terminal.wait("← resumes here");
    terminal.keys(&["End", "Up"]);
    terminal.wait("@6 of 6 abandoned");
    terminal.keys(&["t", "b", "Home", "Enter"]);
    terminal.wait("@1 of 6 abandoned");
}

#[test]
fn search_agents_and_a_comparison() {
    let Some(terminal) = teapot() else { return };
    terminal.type_in("/content-length");
    terminal.keys(&["Enter"]);
    terminal.wait("“content-length” 1 of ");
    terminal.wait("Content-Length");
    terminal.keys(&["q", "A"]);
    terminal.wait("Review HTTP parsing");
    terminal.keys(&["Enter"]);
    terminal.wait("agent ");
    terminal.wait("❯ Task");
    terminal.keys(&["q", "d"]);
    terminal.wait("marked 7ea90418@5");
    terminal.keys(&["b", "Home", "d"]);
    terminal.wait("messages in common");
    terminal.keys(&["q", "o"]);
    terminal.wait("Files as of this message");
    terminal.keys(&["Enter"]);
    terminal.wait("[package]");
    terminal.keys(&["q", "f"]);
    terminal.type_in("hyper");
    terminal.keys(&["Enter"]);
    terminal.wait("“hyper”");
    terminal.wait("●@1");
}

#[test]
fn goto_shows_its_plan_and_undo_takes_it_back() {
    let Some(terminal) = teapot() else { return };
    let path = "d/projects/-home-dev-teapot/7ea90418-c0de-4b1e-9f3a-51e6a0d2c418.jsonl";
    let path = terminal.dir.path().join(path);
    let before = fs::read(&path).unwrap();
    terminal.keys(&[")", "Right"]);
    terminal.wait("@1 of 6 abandoned");
    terminal.keys(&["j", "g"]);
    terminal.wait("will resume");
    terminal.keys(&["n"]);
    terminal.wait("nothing was written");
    assert_eq!(fs::read(&path).unwrap(), before);
    terminal.keys(&["g"]);
    terminal.wait("will resume");
    terminal.keys(&["y"]);
    terminal.wait("Done as operation 1");
    terminal.wait("@1 of 6 resumes");
    assert!(fs::read(&path).unwrap().len() > before.len());
    terminal.keys(&["u"]);
    terminal.wait("Undo it?");
    terminal.keys(&["y"]);
    terminal.wait("@1 of 6 abandoned");
    assert_eq!(fs::read(&path).unwrap(), before);
}

/// Returns the sessions of the demo's project with the teapot.
fn sessions(terminal: &Terminal) -> BTreeSet<PathBuf> {
    let dir = terminal.dir.path().join("d/projects/-home-dev-teapot");
    let files = fs::read_dir(dir).unwrap().map(|file| file.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|end| end == "jsonl")).collect()
}

/// Returns what the one session holds that was not there before.
#[track_caller]
fn only_new(terminal: &Terminal, before: &BTreeSet<PathBuf>) -> String {
    let after = sessions(terminal);
    let new: Vec<_> = after.difference(before).collect();
    assert_eq!(new.len(), 1, "{new:?}");
    fs::read_to_string(new[0]).unwrap()
}

#[test]
fn a_fork_shows_its_plan_and_makes_a_session() {
    let Some(terminal) = teapot() else { return };
    let before = sessions(&terminal);
    terminal.keys(&["]", "F"]);
    terminal.wait("Make it?");
    terminal.keys(&["n"]);
    terminal.wait("nothing was written");
    assert_eq!(sessions(&terminal), before);
    terminal.keys(&["F"]);
    terminal.wait("Make it?");
    terminal.keys(&["y"]);
    terminal.wait("Done as operation 1");
    assert!(only_new(&terminal, &before).contains("forkedFrom"));
    // It appears in the list by itself.
    terminal.keys(&["q", "Escape"]);
    terminal.wait("8 sessions");
}

#[test]
fn a_merge_takes_two_branches_shows_its_plan_and_makes_a_session() {
    let Some(terminal) = teapot() else { return };
    let before = sessions(&terminal);
    terminal.keys(&["M"]);
    terminal.wait("mark the other branch first");
    terminal.keys(&["d"]);
    terminal.wait("marked 7ea90418@5");
    terminal.keys(&[")", "Right"]);
    terminal.wait("@1 of 6 abandoned");
    terminal.keys(&["M"]);
    terminal.wait("where both changed a file");
    terminal.keys(&["s"]);
    terminal.wait("changed with different results");
    terminal.keys(&["q", "d"]);
    terminal.wait("marked 7ea90418@1");
    terminal.keys(&["Left"]);
    terminal.wait("@5 of 6 resumes");
    terminal.keys(&["M", "b"]);
    terminal.wait("Make it?");
    terminal.keys(&["Escape"]);
    terminal.wait("nothing was written");
    assert_eq!(sessions(&terminal), before);
    terminal.keys(&["d"]);
    terminal.wait("marked 7ea90418@5");
    terminal.keys(&["Right"]);
    terminal.wait("@1 of 6 abandoned");
    terminal.keys(&["M", "t"]);
    terminal.wait("Make it?");
    terminal.keys(&["y"]);
    terminal.wait("Done as operation 1");
    terminal.wait("claude --resume ");
    assert!(only_new(&terminal, &before).contains("mergedFrom"));
}

#[test]
fn an_export_writes_files() {
    let Some(terminal) = teapot() else { return };
    terminal.keys(&["e"]);
    terminal.wait("Export this conversation as");
    terminal.keys(&["m"]);
    terminal.wait("exported 7ea90418@5 to ramus-export-7ea90418-5");
    let mut written = Vec::new();
    let mut dirs = vec![terminal.dir.path().join("ramus-export-7ea90418-5")];
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
    let Some(terminal) = demo() else { return };
    terminal.click("Tiny HTTP teapot");
    terminal.click("Tiny HTTP teapot");
    terminal.wait("You  14 Sep");
    terminal.wheel_down();
    terminal.wait_for(|screen| !screen.contains("You  14 Sep"));
    terminal.keys(&[")"]);
    terminal.wait("‹ 2 of 2 ›");
    terminal.click("›  ←");
    terminal.wait("@1 of 6 abandoned");
    terminal.click("‹");
    terminal.wait("@5 of 6 resumes");
    terminal.keys(&["b"]);
    terminal.wait("Enter reads, d marks to compare");
    terminal.click("@1");
    terminal.click("@1");
    terminal.wait("@1 of 6 abandoned");
}

#[test]
fn an_appended_message_appears_and_a_resize_is_survived() {
    let Some(terminal) = teapot() else { return };
    terminal.keys(&["w"]);
    terminal.wait("● live");
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
    let screen = terminal.wait("▎ And milk?");
    assert!(screen.contains("ramus"), "nothing was erased:\n{screen}");
    let title = terminal.tmux(&["display-message", "-p", "#{pane_title}"]).stdout;
    assert!(!String::from_utf8_lossy(&title).contains("boom"));
    for (width, height) in [("40", "10"), ("200", "50"), ("80", "24")] {
        terminal.tmux(&["resize-window", "-x", width, "-y", height]);
        terminal.wait("And milk?");
    }
    assert_eq!(terminal.screen().lines().count(), 24);
}

#[test]
fn somebody_without_history_is_offered_the_demo() {
    let Some(terminal) = start("ramus; echo left $?") else { return };
    terminal.wait("write a sample history");
    terminal.keys(&["d"]);
    terminal.wait("7 sessions");
    assert!(terminal.dir.path().join("ramus-demo/projects").is_dir());
    terminal.keys(&["Enter"]);
    terminal.wait("resumes");
}

/// A window that is dragged smaller changes before the program hears of it.
#[test]
fn a_shrinking_window_is_drawn() {
    let Some(terminal) = teapot() else { return };
    terminal.keys(&["t"]);
    for round in 0..4 {
        for size in (1..=30).rev().step_by(2) {
            let (width, height) = ((20 + size * 3).to_string(), (size + 2).to_string());
            terminal.tmux(&["resize-window", "-x", &width, "-y", &height]);
            terminal.keys(&["j"]);
        }
        terminal.tmux(&["resize-window", "-x", "100", "-y", "30"]);
        terminal.wait("ramus ›");
        assert!(!terminal.screen().contains("left"), "round {round}");
    }
    terminal.keys(&["C-c"]);
    terminal.wait("left 0");
}
