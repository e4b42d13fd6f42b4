//! How the screens look on a real terminal: marks, columns, symbols.

use testkit::TestTerminal;

use crate::screen_keys::start_over;
use crate::screens::{start_demo, start_teapot};
use crate::terminal::start_terminal;

/// Returns the screen with its escape codes.
fn screen_looks(terminal: &TestTerminal) -> String {
    String::from_utf8_lossy(&terminal.run_tmux(&["capture-pane", "-p", "-e"]).stdout).into_owned()
}

#[track_caller]
fn row_of(screen: &str, text: &str) -> usize {
    let row = screen.lines().position(|line| line.contains(text));
    row.unwrap_or_else(|| panic!("no {text:?} on\n{screen}"))
}

#[test]
fn the_filter_matches_words_and_marks_them() {
    let Some(terminal) = start_demo() else { return };
    terminal.run_tmux(&["resize-window", "-x", "90", "-y", "30"]);
    terminal.type_text("xyzzyplugh");
    terminal.wait_for_text("no matches");
    terminal.press_keys(&["C-u"]);
    terminal.type_text("gpio");
    terminal.wait_for_text("❯ Which GPIO pin");
    let screen = screen_looks(&terminal);
    let row = screen.lines().find(|line| line.contains("❯")).unwrap();
    assert!(row.contains("7m") && row.contains("GPIO\u{1b}["), "{row:?}");
}

#[test]
fn a_hit_is_marked_in_its_opened_call_and_back_leads_to_the_results() {
    let Some(terminal) = start_demo() else { return };
    terminal.press_keys(&["C-f"]);
    terminal.type_text("mpsc::Sender");
    terminal.wait_for_screen(|screen| screen.contains("found, ") && screen.contains("○@"));
    terminal.press_keys(&["Enter"]);
    terminal.wait_for_text("abandoned");
    terminal.wait_for_text("│");
    terminal.wait_for_screen(|screen| screen.contains("Sender<Job>"));
    let screen = screen_looks(&terminal);
    assert!(
        screen.lines().any(|line| line.contains("7m") && line.contains("mpsc::Sender\u{1b}[")),
        "{screen}"
    );
    terminal.press_keys(&["Escape"]);
    terminal.wait_for_text("search: mpsc::Sender");
    terminal.press_keys(&["Escape"]);
    terminal.wait_for_text("7 sessions");
}

#[test]
fn agents_have_their_own_headings_and_stand_below_their_parents() {
    let Some(terminal) = start_teapot() else { return };
    terminal.run_tmux(&["resize-window", "-x", "100", "-y", "60"]);
    terminal.type_text("/Review HTTP parsing");
    terminal.press_keys(&["Enter"]);
    terminal.wait_for_text("“Review HTTP parsing” 1 of ");
    terminal.press_keys(&["a"]);
    terminal.wait_for_text("┆ ▸ agent Review HTTP parsing");
    assert!(!terminal.screen_text().contains("agent Find reads without limit"));
    terminal.press_keys(&["A"]);
    terminal.wait_for_text("  ▸ Find reads without limit");
    let screen = terminal.screen_text();
    let parent = row_of(&screen, "│ ▸ Review HTTP parsing");
    assert_eq!(row_of(&screen, "▸ Find reads without limit"), parent + 1, "{screen}");
}

#[test]
fn the_open_session_is_marked_in_the_list_beside_it() {
    let Some(terminal) = start_teapot() else { return };
    terminal.run_tmux(&["resize-window", "-x", "140", "-y", "30"]);
    terminal.wait_for_screen(|screen| {
        screen.contains("search: tiny") && screen.contains("You  14 Sep")
    });
    terminal.press_keys(&["Tab"]);
    terminal.wait_for_text("Esc clear");
    terminal.press_keys(&["Escape"]);
    terminal.wait_for_text("7 sessions");
    terminal.press_keys(&["End"]);
    terminal.wait_for_text("▌▸ Tiny HTTP");
    assert_eq!(terminal.screen_text().matches("▌▸").count(), 1);
}

#[test]
fn branches_have_different_names() {
    let short = "
        a        user          Which tea?
        b < a    assistant     Green it is
        c < a    assistant     Black it is
    ";
    let Some(terminal) = start_over(&testkit::jsonl(short)) else { return };
    terminal.wait_for_text("1 session");
    terminal.press_keys(&["Right"]);
    terminal.wait_for_text("(1) Which tea?");
    terminal.wait_for_text("(2) Which tea?");
    terminal.press_keys(&["Enter"]);
    terminal.wait_for_text("@2 of 2");
    terminal.press_keys(&["b"]);
    terminal.wait_for_text("Which tea? → Green it is");
    terminal.wait_for_text("Which tea? → Black it is");
}

#[test]
fn messages_of_earlier_years_have_a_time_of_day() {
    let lines = testkit::jsonl("a user Long ago\nb < a assistant Indeed.");
    let Some(terminal) = start_over(&lines.replace("2026-01-01T00:00", "2024-09-24T07:05")) else {
        return;
    };
    terminal.wait_for_text("24 Sep 2024");
    terminal.press_keys(&["Enter"]);
    terminal.wait_for_text("You  24 Sep 2024 07:05");
}

#[test]
fn the_title_of_a_dialog_is_not_dim() {
    let Some(terminal) = start_teapot() else { return };
    terminal.press_keys(&["e"]);
    terminal.wait_for_text("Export this conversation as");
    let screen = screen_looks(&terminal);
    let row = screen.lines().find(|line| line.contains("Export this")).unwrap();
    let before = row.split("Export this").next().unwrap();
    let codes = before.rsplit("\u{1b}[0m").next().unwrap();
    assert!(codes.contains("\u{1b}[1m") && !codes.contains("\u{1b}[2m"), "{row:?}");
}

#[test]
fn forty_columns_are_enough_for_the_keys_that_matter() {
    let Some(terminal) = start_demo() else { return };
    terminal.run_tmux(&["resize-window", "-x", "40", "-y", "20"]);
    terminal.wait_for_screen(|screen| screen.contains("? keys") && screen.contains("Esc quit"));
    terminal.type_text("tiny");
    terminal.wait_for_screen(|screen| screen.contains("F1 keys") && screen.contains("Esc clear"));
    terminal.press_keys(&["Enter"]);
    terminal.wait_for_screen(|screen| screen.contains("? keys") && screen.contains("q back"));
    terminal.press_keys(&["b"]);
    terminal.wait_for_screen(|screen| screen.contains("@1") && screen.contains("edit Add a"));
}

#[test]
fn a_fork_stays_in_its_row() {
    let Some(terminal) = start_teapot() else { return };
    terminal.press_keys(&["End"]);
    terminal.wait_for_text("◉ Claude Code resumes here");
    terminal.press_keys(&["("]);
    terminal.wait_for_text("▌ ┬ rewind");
    let row = row_of(&terminal.screen_text(), "▌ ┬ rewind");
    for (key, of) in [("Right", "@6 of 6"), ("Left", "@5 of 6"), ("Right", "@6 of 6")] {
        terminal.press_keys(&[key]);
        terminal.wait_for_text(of);
        let rows = terminal.screen_text();
        assert_eq!(row_of(&rows, "▌ ┬ rewind"), row, "{rows}");
    }
}

/// Everything that is drawn, in letters that every font has.
#[test]
fn screens_and_tree_are_drawn_in_ascii_on_request() {
    let is_ascii = |terminal: &TestTerminal| {
        let screen = terminal.screen_text();
        let odd: Vec<char> = screen.chars().filter(|char| !char.is_ascii()).collect();
        assert!(odd.is_empty(), "{odd:?} on\n{screen}");
    };
    let Some(terminal) = start_terminal(
        "ramus demo d >/dev/null; ramus --claude-dir d --ascii; RAMUS_ASCII=1 ramus --claude-dir d tree 7ea9 | head -4; echo left",
    ) else {
        return;
    };
    terminal.wait_for_text("7 sessions");
    is_ascii(&terminal);
    terminal.type_text("tiny");
    terminal.wait_for_text("search: tiny");
    terminal.press_keys(&["Enter"]);
    terminal.wait_for_text("> You");
    is_ascii(&terminal);
    terminal.press_keys(&[")"]);
    terminal.wait_for_text("+ edited prompt  < 2 of 2 >");
    is_ascii(&terminal);
    terminal.press_keys(&["t"]);
    terminal.wait_for_text("< resumes here");
    is_ascii(&terminal);
    terminal.press_keys(&["t", "b"]);
    terminal.wait_for_text(".- Branches");
    is_ascii(&terminal);
    terminal.press_keys(&["C-c"]);
    terminal.wait_for_text("left");
    terminal.wait_for_text("|-o Add a `/status`");
    is_ascii(&terminal);
}

#[test]
fn plans_are_rendered() {
    let short = r"
        a      user       Implement the following plan:\n\n# Tea\n\nBoil **only** `water`.\n\n* one\n* two
        b < a  assistant  Done.
    ";
    let Some(terminal) = start_over(&testkit::jsonl(short)) else { return };
    terminal.wait_for_text("1 session");
    terminal.press_keys(&["Enter"]);
    terminal.wait_for_text("▎ Implement the following plan:");
    terminal.wait_for_text("▎ Boil only water.");
    terminal.wait_for_text("▎ • two");
}
