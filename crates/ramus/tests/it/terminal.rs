//! On a real terminal: colour, the pager, and lists to choose from.

use std::path::Path;
use std::process::Command;

use testkit::TestTerminal;

/// Starts a shell command in a terminal where `ramus` is the one under test.
pub(crate) fn start_terminal(command: &str) -> Option<TestTerminal> {
    let ramus = Path::new(env!("CARGO_BIN_EXE_ramus"));
    TestTerminal::start_command(command, ramus.parent().unwrap())
}

#[test]
fn a_tree_is_drawn_in_colour() {
    let Some(terminal) =
        start_terminal("ramus demo d >/dev/null; ramus --claude-dir d --no-pager tree 7ea9")
    else {
        return;
    };
    let screen = terminal.wait_for_text("⊘ interrupted");
    assert!(screen.contains("resumes here") && screen.contains("\u{1b}["), "{screen}");
}

#[test]
fn a_long_transcript_goes_through_the_pager() {
    let Some(terminal) = start_terminal(
        "ramus demo d >/dev/null; PAGER=less ramus --claude-dir d show 7ea9; echo done",
    ) else {
        return;
    };
    let screen = terminal.wait_for_text("build a teapot");
    assert!(!screen.contains("Dockerfile"), "the end is not on the first page:\n{screen}");
    terminal.run_tmux(&["send-keys", "q"]);
    terminal.wait_for_text("done");
}

#[test]
fn what_to_watch_is_chosen_from_lists() {
    let Some(terminal) =
        start_terminal("ramus demo d >/dev/null; echo $$ > pid; exec ramus --claude-dir d watch")
    else {
        return;
    };
    terminal.wait_for_text("Watch which project?");
    terminal.run_tmux(&["send-keys", "teapot", "Enter"]);
    terminal.run_tmux(&["send-keys", "Enter"]);
    terminal.wait_for_text("Which session?");
    terminal.run_tmux(&["send-keys", "1", "Enter"]);
    terminal.wait_for_text("watching 1 session file; press Ctrl-C to stop");
    let dir = terminal.dir.path().join("d/projects/-home-dev-teapot");
    let newest = std::fs::read_dir(&dir).unwrap().map(|file| file.unwrap().path());
    for path in newest.filter(|path| path.extension().is_some_and(|end| end == "jsonl")) {
        let line = testkit::jsonl("new-node call:t9:Bash @10 sleep 1000");
        let mut file = std::fs::OpenOptions::new().append(true).open(path).unwrap();
        std::io::Write::write_all(&mut file, line.as_bytes()).unwrap();
    }
    terminal.wait_for_text("► Bash sleep 1000");
    // A real Ctrl-C would also end the shell around it.
    let pid = std::fs::read_to_string(terminal.dir.path().join("pid")).unwrap();
    assert!(Command::new("kill").args(["-INT", pid.trim()]).status().unwrap().success());
    terminal.wait_for_text("watched 15 tokens");
}

#[test]
fn the_running_block_is_drawn_in_its_place() {
    let Some(terminal) = start_terminal(
        "mkdir -p d/projects/p; \
         sh -c \"echo \\$\\$ > pid; exec ramus --claude-dir d usage --watch\"; echo ended",
    ) else {
        return;
    };
    terminal.wait_for_text("No five-hour block is active");
    let file = terminal.dir.path().join("d/projects/p/11111111-0000-4000-8000-000000000001.jsonl");
    let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S").to_string();
    let mut lines = String::new();
    for (n, width) in [("1", "60"), ("2", "40"), ("3", "90")] {
        terminal.run_tmux(&["resize-window", "-x", width, "-y", "20"]);
        let line = testkit::jsonl(&format!("a{n} assistant @0 hi"));
        lines += &line.replace("2026-01-01T00:00:00", &now);
        std::fs::write(&file, &lines).unwrap();
        let screen = terminal.wait_for_text(&format!("messages  {n}"));
        assert_eq!(screen.matches("Block").count(), 1, "{screen}");
    }
    let pid = std::fs::read_to_string(terminal.dir.path().join("pid")).unwrap();
    assert!(Command::new("kill").args(["-INT", pid.trim()]).status().unwrap().success());
    let screen = terminal.wait_for_text("ended");
    assert_eq!(screen.matches("messages  3").count(), 1, "what was seen last stays:\n{screen}");
    assert!(!screen.contains("No block"), "{screen}");
}

/// A terminal that shows escape codes instead of following them gets none: no colour, no screens.
#[test]
fn a_dumb_terminal_gets_no_escape_codes() {
    let Some(terminal) = start_terminal(
        "ramus demo d >/dev/null; export TERM=dumb; ramus --claude-dir d tree 7ea9 | tail -3; \
         ramus --claude-dir d sessions; ramus --claude-dir d; echo the end",
    ) else {
        return;
    };
    let screen = terminal.wait_for_text("the end");
    assert!(screen.contains("That was the newest session"), "no screens: {screen}");
    assert!(!screen.contains('\u{1b}'), "{screen:?}");
}
