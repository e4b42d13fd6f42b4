//! Keys on a real terminal: what they act on, modifiers, and being suspended.

use std::fs;

use testkit::TestTerminal;

use crate::screens::start_teapot;
use crate::terminal::start_terminal;

/// Starts the screens over a session with these lines.
pub(crate) fn start_over(jsonl: &str) -> Option<TestTerminal> {
    let command = "while [ ! -e go ]; do sleep 0.1; done; ramus --claude-dir h; echo left $?";
    let terminal = start_terminal(command)?;
    let dir = terminal.dir.path().join("h/projects/-home-dev-app");
    fs::create_dir_all(&dir).unwrap();
    let file = dir.join("0a1b2c3d-0000-4000-8000-000000000000.jsonl");
    fs::write(file, jsonl).unwrap();
    fs::write(terminal.dir.path().join("go"), "").unwrap();
    Some(terminal)
}

#[test]
fn at_the_end_the_last_message_is_meant() {
    let Some(terminal) = start_teapot() else { return };
    terminal.press_keys(&["End"]);
    terminal.wait_for_text("◉ Claude Code resumes here");
    terminal.press_keys(&["y"]);
    terminal.wait_for_text("a  address  7ea90418:1f6f329f");
    terminal.press_keys(&["Escape"]);
    terminal.wait_for_screen(|screen| !screen.contains("address"));
    terminal.press_keys(&["F"]);
    let screen = terminal.wait_for_text("Create it?");
    assert!(screen.contains("39 messages"), "all of the conversation:\n{screen}");
}

#[test]
fn control_y_confirms_nothing() {
    let Some(terminal) = start_teapot() else { return };
    let path = "d/projects/-home-dev-teapot/7ea90418-c0de-4b1e-9f3a-51e6a0d2c418.jsonl";
    let path = terminal.dir.path().join(path);
    let before = fs::read(&path).unwrap();
    terminal.press_keys(&["g"]);
    terminal.wait_for_text("Resume from there?");
    terminal.press_keys(&["C-y", "M-y", "Enter", "?"]);
    terminal.wait_for_text("In a transcript or a tree");
    terminal.press_keys(&["q"]);
    terminal.wait_for_text("Resume from there?");
    assert_eq!(fs::read(&path).unwrap(), before);
    terminal.press_keys(&["n"]);
    terminal.wait_for_text("nothing changed");
}

#[test]
fn only_the_named_keys_confirm_a_change() {
    let Some(terminal) = start_terminal("ramus; echo left $?") else { return };
    terminal.wait_for_text("write a sample history");
    terminal.press_keys(&["C-d", "Enter", "M-d", "?"]);
    terminal.wait_for_text("In the list");
    terminal.press_keys(&["q"]);
    terminal.wait_for_text("write a sample history");
    assert!(!terminal.dir.path().join("ramus-demo").exists());
    terminal.press_keys(&["q"]);
    terminal.wait_for_text("left 0");
}

/// In a shell that has job control, Ctrl-Z leads back to it and `fg` to where one was.
#[test]
fn control_z_suspends_and_fg_comes_back() {
    let Some(terminal) = start_terminal("ramus demo d >/dev/null; PS1=\\$\\ ready\\  exec sh -i")
    else {
        return;
    };
    terminal.wait_for_text("ready");
    terminal.type_text("stty -a > modes; ramus --claude-dir d\n");
    terminal.wait_for_text("7 sessions");
    terminal.type_text("tiny");
    terminal.wait_for_text("search: tiny");
    for again in 1..3 {
        terminal.press_keys(&["C-z"]);
        terminal.wait_for_text("Stopped");
        assert_eq!(
            terminal.query_tmux("#{alternate_on} #{mouse_any_flag} #{cursor_flag}"),
            "0 0 1"
        );
        terminal.type_text(&format!("stty -a | diff modes - && echo same modes {again}\n"));
        terminal.wait_for_text(&format!("same modes {again}"));
        terminal.type_text("printf \"\\033[2J\\033[H\"; fg\n");
        terminal.wait_for_text("search: tiny");
        assert_eq!(terminal.query_tmux("#{alternate_on} #{mouse_any_flag}"), "1 1");
    }
    // Keys are read again, and the current size is used.
    terminal.press_keys(&["C-z"]);
    terminal.wait_for_text("Stopped");
    terminal.run_tmux(&["resize-window", "-x", "60", "-y", "20"]);
    terminal.type_text("printf \"\\033[2J\\033[H\"; fg\n");
    terminal.wait_for_text("search: tiny");
    terminal.press_keys(&["Enter"]);
    terminal.wait_for_text("You  14 Sep");
    assert_eq!(terminal.screen_text().lines().count(), 20);
    terminal.press_keys(&["C-c"]);
    terminal.wait_for_screen(|screen| !screen.contains("You  14 Sep"));
}

#[test]
fn a_command_that_is_copied_resumes_the_branch_that_is_read() {
    let Some(terminal) = start_teapot() else { return };
    terminal.run_tmux(&["set-option", "-g", "set-clipboard", "on"]);
    terminal.press_keys(&[")", "Right"]);
    terminal.wait_for_text("@1 of 6 abandoned");
    terminal.press_keys(&["y"]);
    terminal.wait_for_text("fork 7ea90418:cdc4e2d3");
    terminal.press_keys(&["r"]);
    terminal.wait_for_text("copied the command");
    let copied = String::from_utf8(terminal.run_tmux(&["show-buffer"]).stdout).unwrap();
    let dir = terminal.dir.path().join("d");
    let start = format!("ramus --claude-dir {} resume 7ea90418-", dir.display());
    assert!(copied.starts_with(&start) && copied.contains(":cdc4e2d3-"), "{copied}");
}

#[test]
fn help_over_a_comparison_leads_back_to_it() {
    let Some(terminal) = start_teapot() else { return };
    terminal.press_keys(&["d"]);
    terminal.wait_for_text("marked 7ea90418@5");
    terminal.press_keys(&["b", "Home", "d"]);
    terminal.wait_for_text("messages in common");
    terminal.press_keys(&["?"]);
    terminal.wait_for_text("In a transcript or a tree");
    terminal.press_keys(&["q"]);
    terminal.wait_for_text("messages in common");
}

#[test]
fn after_goto_the_tree_is_where_the_transcript_is() {
    let Some(terminal) = start_teapot() else { return };
    terminal.run_tmux(&["resize-window", "-x", "100", "-y", "50"]);
    terminal.press_keys(&["t"]);
    terminal.wait_for_text("← resumes here");
    terminal.press_keys(&["Home", "Down", "Down"]);
    terminal.wait_for_text("@1 of 6 abandoned");
    terminal.press_keys(&["g"]);
    terminal.wait_for_text("Resume from there?");
    terminal.press_keys(&["y"]);
    terminal.wait_for_text("@1 of 6 resumes");
    // The row that the cursor is on is drawn reversed; the transcript shows the same prompt.
    let is_there = |terminal: &TestTerminal| {
        let screen =
            String::from_utf8(terminal.run_tmux(&["capture-pane", "-p", "-e"]).stdout).unwrap();
        screen
            .lines()
            .any(|line| line.split_once("7m").is_some_and(|(_, row)| row.contains("f4c4f550")))
    };
    terminal.wait_for_screen(|screen| screen.contains("← resumes here") && is_there(&terminal));
}

/// What is due for deletion is offered for archiving: the plan is shown, and only a yes writes.
#[test]
fn what_is_due_and_not_archived_is_archived_by_a_key() {
    let command = "export RAMUS_ARCHIVE=$PWD/a.db RAMUS_CACHE_SETTLE_MS=50; ramus demo d >/dev/null; echo {} > d/settings.json; \
        touch -t 202001010000 d/projects/-home-dev-teapot/7ea9*.jsonl; sleep 0.2; \
        ramus --claude-dir d; echo left $?; ramus --claude-dir d archive verify; sleep 60";
    let Some(terminal) = start_terminal(command) else { return };
    let archive = terminal.dir.path().join("a.db");
    terminal.wait_for_text("1 of these files is not archived: press Ctrl-K to archive it");
    terminal.press_keys(&["C-k"]);
    let screen = terminal.wait_for_text("Archive them?");
    assert!(screen.contains("1 of them is due for deletion."), "{screen}");
    assert!(screen.contains("Nothing in the Claude directory changes."), "{screen}");
    terminal.press_keys(&["n"]);
    terminal.wait_for_text("nothing archived");
    assert!(!archive.exists(), "a plan writes nothing");
    terminal.press_keys(&["C-k"]);
    terminal.wait_for_text("Archive them?");
    terminal.press_keys(&["y"]);
    terminal.wait_for_text("Archived: ");
    terminal.wait_for_screen(|screen| !screen.contains("press Ctrl-K"));
    terminal.press_keys(&["C-k"]);
    terminal.wait_for_text("Every file is archived already.");
    terminal.press_keys(&["C-q"]);
    terminal.wait_for_text("left 0");
    terminal.wait_for_text("All bytes are intact.");
    assert!(archive.exists());
}

/// The settings bind actions to other keys; the lower edge and the palette name them.
#[test]
fn keys_are_bound_in_the_settings() {
    let Some(terminal) = start_terminal(
        "ramus demo d >/dev/null; printf \"[keys]\\ntree = [\\\"x\\\", \\\"f5\\\"]\\nfly = \\\"z\\\"\\n\" > c.toml; RAMUS_CONFIG=c.toml ramus --claude-dir d config; RAMUS_CONFIG=c.toml ramus --claude-dir d",
    ) else {
        return;
    };
    terminal.wait_for_text("7 sessions");
    terminal.press_keys(&["Enter"]);
    terminal.wait_for_text("b branches");
    terminal.wait_for_text("F5 tree");
    terminal.press_keys(&["x"]);
    terminal.wait_for_text("resumes here");
    terminal.press_keys(&["q", ":"]);
    terminal.type_text("tree");
    let screen = terminal.wait_for_text("show the tree");
    assert!(screen.contains("x F5") || screen.contains("F5 x"), "{screen}");
}
