//! Keys on a real terminal: what they act on, modifiers, and being suspended.

use std::fs;

use testkit::Terminal;

use crate::screens::teapot;
use crate::terminal::start;

/// Starts the screens over a session with these lines.
pub(crate) fn over(jsonl: &str) -> Option<Terminal> {
    let command = "while [ ! -e go ]; do sleep 0.1; done; ramus --claude-dir h; echo left $?";
    let terminal = start(command)?;
    let dir = terminal.dir.path().join("h/projects/-home-dev-app");
    fs::create_dir_all(&dir).unwrap();
    let file = dir.join("0a1b2c3d-0000-4000-8000-000000000000.jsonl");
    fs::write(file, jsonl).unwrap();
    fs::write(terminal.dir.path().join("go"), "").unwrap();
    Some(terminal)
}

#[test]
fn at_the_end_the_last_message_is_meant() {
    let Some(terminal) = teapot() else { return };
    terminal.keys(&["End"]);
    terminal.wait("◉ Claude Code resumes here");
    terminal.keys(&["y"]);
    terminal.wait("a  address  7ea90418:1f6f329f");
    terminal.keys(&["Escape"]);
    terminal.wait_for(|screen| !screen.contains("address"));
    terminal.keys(&["F"]);
    let screen = terminal.wait("Make it?");
    assert!(screen.contains("39 messages"), "all of the conversation:\n{screen}");
}

#[test]
fn control_y_confirms_nothing() {
    let Some(terminal) = teapot() else { return };
    let path = "d/projects/-home-dev-teapot/7ea90418-c0de-4b1e-9f3a-51e6a0d2c418.jsonl";
    let path = terminal.dir.path().join(path);
    let before = fs::read(&path).unwrap();
    terminal.keys(&["g"]);
    terminal.wait("Go there?");
    terminal.keys(&["C-y", "M-y", "Enter", "?"]);
    terminal.wait("In a transcript or a tree");
    terminal.keys(&["q"]);
    terminal.wait("Go there?");
    assert_eq!(fs::read(&path).unwrap(), before);
    terminal.keys(&["n"]);
    terminal.wait("nothing was written");
}

#[test]
fn nothing_is_written_by_keys_that_nobody_named() {
    let Some(terminal) = start("ramus; echo left $?") else { return };
    terminal.wait("write a sample history");
    terminal.keys(&["C-d", "Enter", "M-d", "?"]);
    terminal.wait("In a transcript or a tree");
    terminal.keys(&["q"]);
    terminal.wait("write a sample history");
    assert!(!terminal.dir.path().join("ramus-demo").exists());
    terminal.keys(&["q"]);
    terminal.wait("left 0");
}

/// In a shell that has job control, Ctrl-Z leads back to it and `fg` to where one was.
#[test]
fn control_z_suspends_and_fg_comes_back() {
    let Some(terminal) = start("ramus demo d >/dev/null; PS1=\\$\\ ready\\  exec sh -i") else {
        return;
    };
    terminal.wait("ready");
    terminal.type_in("stty -a > modes; ramus --claude-dir d\n");
    terminal.wait("7 sessions");
    terminal.type_in("tiny");
    terminal.wait("filter: tiny");
    for again in 1..3 {
        terminal.keys(&["C-z"]);
        terminal.wait("Stopped");
        assert_eq!(terminal.ask("#{alternate_on} #{mouse_any_flag} #{cursor_flag}"), "0 0 1");
        terminal.type_in(&format!("stty -a | diff modes - && echo same modes {again}\n"));
        terminal.wait(&format!("same modes {again}"));
        terminal.type_in("printf \"\\033[2J\\033[H\"; fg\n");
        terminal.wait("filter: tiny");
        assert_eq!(terminal.ask("#{alternate_on} #{mouse_any_flag}"), "1 1");
    }
    // Keys are heard again, and the size that it has by now is used.
    terminal.keys(&["C-z"]);
    terminal.wait("Stopped");
    terminal.tmux(&["resize-window", "-x", "60", "-y", "20"]);
    terminal.type_in("printf \"\\033[2J\\033[H\"; fg\n");
    terminal.wait("filter: tiny");
    terminal.keys(&["Enter"]);
    terminal.wait("You  14 Sep");
    assert_eq!(terminal.screen().lines().count(), 20);
    terminal.keys(&["C-c"]);
    terminal.wait_for(|screen| !screen.contains("You  14 Sep"));
}

#[test]
fn a_command_that_is_copied_resumes_the_branch_that_is_read() {
    let Some(terminal) = teapot() else { return };
    terminal.tmux(&["set-option", "-g", "set-clipboard", "on"]);
    terminal.keys(&[")", "Right"]);
    terminal.wait("@1 of 6 abandoned");
    terminal.keys(&["y"]);
    terminal.wait("goto 7ea90418:cdc4e2d3");
    terminal.wait("fork 7ea90418:cdc4e2d3");
    terminal.keys(&["r"]);
    terminal.wait("copied the command");
    let copied = String::from_utf8(terminal.tmux(&["show-buffer"]).stdout).unwrap();
    let dir = terminal.dir.path().join("d");
    let start = format!("ramus --claude-dir {} goto 7ea90418:cdc4e2d3 && ", dir.display());
    assert!(copied.starts_with(&start), "{copied}");
    assert!(copied.trim().ends_with("--resume 7ea90418-c0de-4b1e-9f3a-51e6a0d2c418"), "{copied}");
}

#[test]
fn help_over_a_comparison_leads_back_to_it() {
    let Some(terminal) = teapot() else { return };
    terminal.keys(&["d"]);
    terminal.wait("marked 7ea90418@5");
    terminal.keys(&["b", "Home", "d"]);
    terminal.wait("messages in common");
    terminal.keys(&["?"]);
    terminal.wait("In a transcript or a tree");
    terminal.keys(&["q"]);
    terminal.wait("messages in common");
}

#[test]
fn after_goto_the_tree_is_where_the_transcript_is() {
    let Some(terminal) = teapot() else { return };
    terminal.tmux(&["resize-window", "-x", "100", "-y", "50"]);
    terminal.keys(&["t"]);
    terminal.wait("← resumes here");
    terminal.keys(&["Home", "Down", "Down"]);
    terminal.wait("@1 of 6 abandoned");
    terminal.keys(&["g"]);
    terminal.wait("Go there?");
    terminal.keys(&["y"]);
    terminal.wait("@1 of 6 resumes");
    // The row that the cursor is on is drawn reversed; the transcript shows the same prompt.
    let is_there = |terminal: &Terminal| {
        let screen =
            String::from_utf8(terminal.tmux(&["capture-pane", "-p", "-e"]).stdout).unwrap();
        screen
            .lines()
            .any(|line| line.split_once("7m").is_some_and(|(_, row)| row.contains("f4c4f550")))
    };
    terminal.wait_for(|screen| screen.contains("← resumes here") && is_there(&terminal));
}
