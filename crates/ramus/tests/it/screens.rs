//! The terminal screens on a real terminal, driven by keys.

use std::fs;
use std::io::Write;

use crate::terminal::Terminal;

/// Starts the screens over the demo, whose files nobody has written to for a while (R24).
fn demo() -> Option<Terminal> {
    let terminal = Terminal::start(
        "ramus demo d >/dev/null; find d -type f -exec touch -d 2026-01-01 {} +; ramus --claude-dir d; echo left $?",
    )?;
    terminal.wait("7 sessions");
    Some(terminal)
}

/// Opens the session that has a bit of everything.
fn teapot() -> Option<Terminal> {
    let terminal = demo()?;
    terminal.type_in("tiny http");
    terminal.wait("⌕ tiny http");
    terminal.keys(&["Enter"]);
    terminal.wait("You  14 Sep");
    Some(terminal)
}

#[test]
fn filter_open_and_quit() {
    let Some(terminal) = teapot() else { return };
    let screen = terminal.wait("@5 of 6 resumes");
    assert!(screen.contains("\u{1b}["), "colour: {screen}");
    terminal.keys(&["q"]);
    terminal.wait("⌕ tiny http");
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
    terminal.wait("src/main.rs");
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
    let Some(terminal) = Terminal::start("ramus; echo left $?") else { return };
    terminal.wait("write a sample history");
    terminal.keys(&["d"]);
    terminal.wait("7 sessions");
    assert!(terminal.dir.path().join("ramus-demo/projects").is_dir());
    terminal.keys(&["Enter"]);
    terminal.wait("resumes");
}
