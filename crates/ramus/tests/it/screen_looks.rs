//! How the screens look on a real terminal: marks, columns, symbols.

use testkit::Terminal;

use crate::screen_keys::over;
use crate::screens::{demo, teapot};
use crate::terminal::start;

/// Returns the screen with its escape codes.
fn looks(terminal: &Terminal) -> String {
    String::from_utf8_lossy(&terminal.tmux(&["capture-pane", "-p", "-e"]).stdout).into_owned()
}

#[track_caller]
fn row_of(screen: &str, text: &str) -> usize {
    let row = screen.lines().position(|line| line.contains(text));
    row.unwrap_or_else(|| panic!("no {text:?} on\n{screen}"))
}

#[test]
fn the_filter_matches_words_and_marks_them() {
    let Some(terminal) = demo() else { return };
    terminal.type_in("otteap");
    terminal.wait("0 found");
    terminal.keys(&["C-u"]);
    terminal.type_in("gpio");
    terminal.wait("1 found");
    let screen = looks(&terminal);
    let row = screen.lines().find(|line| line.contains("GPIO")).unwrap();
    assert!(row.contains("7m") && row.contains("GPIO\u{1b}["), "{row:?}");
}

#[test]
fn a_hit_is_marked_in_its_opened_call_and_back_leads_to_the_results() {
    let Some(terminal) = demo() else { return };
    terminal.keys(&["C-f"]);
    terminal.type_in("mpsc::Sender");
    terminal.keys(&["Enter"]);
    terminal.wait("tool-result");
    terminal.keys(&["Enter"]);
    terminal.wait("abandoned");
    terminal.wait("│");
    terminal.wait_for(|screen| screen.contains("Sender<Job>"));
    let screen = looks(&terminal);
    assert!(
        screen.lines().any(|line| line.contains("7m") && line.contains("mpsc::Sender\u{1b}[")),
        "{screen}"
    );
    terminal.keys(&["Escape"]);
    terminal.wait("Find “mpsc::Sender”");
    terminal.keys(&["Escape"]);
    terminal.wait("7 sessions");
}

#[test]
fn agents_have_their_own_headings_and_stand_below_their_parents() {
    let Some(terminal) = teapot() else { return };
    terminal.tmux(&["resize-window", "-x", "100", "-y", "60"]);
    terminal.type_in("/Review HTTP parsing");
    terminal.keys(&["Enter"]);
    terminal.wait("“Review HTTP parsing” 1 of ");
    terminal.keys(&["a"]);
    terminal.wait("┆ ▸ agent Review HTTP parsing");
    assert!(!terminal.screen().contains("agent Find reads without limit"));
    terminal.keys(&["A"]);
    terminal.wait("  ▸ Find reads without limit");
    let screen = terminal.screen();
    let parent = row_of(&screen, "│ ▸ Review HTTP parsing");
    assert_eq!(row_of(&screen, "▸ Find reads without limit"), parent + 1, "{screen}");
}

#[test]
fn the_open_session_is_marked_in_the_list_beside_it() {
    let Some(terminal) = teapot() else { return };
    terminal.tmux(&["resize-window", "-x", "140", "-y", "30"]);
    terminal.wait_for(|screen| screen.contains("filter: tiny") && screen.contains("You  14 Sep"));
    terminal.keys(&["Tab"]);
    terminal.wait("Esc clear");
    terminal.keys(&["Escape"]);
    terminal.wait("7 sessions");
    terminal.keys(&["End"]);
    terminal.wait("▌ ▸ Tiny HTTP");
    assert_eq!(terminal.screen().matches("▌ ▸").count(), 1);
}

#[test]
fn branches_have_different_names() {
    let short = "
        a        user          Which tea?
        b < a    assistant     Green it is
        c < a    assistant     Black it is
    ";
    let Some(terminal) = over(&testkit::jsonl(short)) else { return };
    terminal.wait("1 session");
    terminal.keys(&["Right"]);
    terminal.wait("(1) Which tea?");
    terminal.wait("(2) Which tea?");
    terminal.keys(&["Enter"]);
    terminal.wait("@2 of 2");
    terminal.keys(&["b"]);
    terminal.wait("Which tea? → Green it is");
    terminal.wait("Which tea? → Black it is");
}

#[test]
fn messages_of_earlier_years_have_a_time_of_day() {
    let lines = testkit::jsonl("a user Long ago\nb < a assistant Indeed.");
    let Some(terminal) = over(&lines.replace("2026-01-01T00:00", "2024-09-24T07:05")) else {
        return;
    };
    terminal.wait("24 Sep 2024");
    terminal.keys(&["Enter"]);
    terminal.wait("You  24 Sep 2024 07:05");
}

#[test]
fn the_title_of_a_dialog_is_not_dim() {
    let Some(terminal) = teapot() else { return };
    terminal.keys(&["e"]);
    terminal.wait("Export this conversation as");
    let screen = looks(&terminal);
    let row = screen.lines().find(|line| line.contains("Export this")).unwrap();
    let before = row.split("Export this").next().unwrap();
    let codes = before.rsplit("\u{1b}[0m").next().unwrap();
    assert!(codes.contains("\u{1b}[1m") && !codes.contains("\u{1b}[2m"), "{row:?}");
}

#[test]
fn forty_columns_are_enough_for_the_keys_that_matter() {
    let Some(terminal) = demo() else { return };
    terminal.tmux(&["resize-window", "-x", "40", "-y", "20"]);
    terminal.wait_for(|screen| screen.contains("? keys") && screen.contains("Esc quit"));
    terminal.type_in("tiny");
    terminal.wait_for(|screen| screen.contains("F1 keys") && screen.contains("Esc clear"));
    terminal.keys(&["Enter"]);
    terminal.wait_for(|screen| screen.contains("? keys") && screen.contains("q back"));
    terminal.keys(&["b"]);
    terminal.wait_for(|screen| screen.contains("@1") && screen.contains("edit Add a"));
}

#[test]
fn a_fork_stays_in_its_row() {
    let Some(terminal) = teapot() else { return };
    terminal.keys(&["End"]);
    terminal.wait("◉ Claude Code resumes here");
    terminal.keys(&["("]);
    terminal.wait("▌ ┬ rewind");
    let row = row_of(&terminal.screen(), "▌ ┬ rewind");
    for (key, of) in [("Right", "@6 of 6"), ("Left", "@5 of 6"), ("Right", "@6 of 6")] {
        terminal.keys(&[key]);
        terminal.wait(of);
        let rows = terminal.screen();
        assert_eq!(row_of(&rows, "▌ ┬ rewind"), row, "{rows}");
    }
}

/// Everything that is drawn, in letters that every font has.
#[test]
fn screens_and_tree_are_drawn_in_ascii_on_request() {
    let is_ascii = |terminal: &Terminal| {
        let screen = terminal.screen();
        let odd: Vec<char> = screen.chars().filter(|char| !char.is_ascii()).collect();
        assert!(odd.is_empty(), "{odd:?} on\n{screen}");
    };
    let Some(terminal) = start(
        "ramus demo d >/dev/null; ramus --claude-dir d --ascii; RAMUS_ASCII=1 ramus --claude-dir d tree 7ea9 | head -4; echo left",
    ) else {
        return;
    };
    terminal.wait("7 sessions");
    is_ascii(&terminal);
    terminal.type_in("tiny");
    terminal.wait("filter: tiny");
    terminal.keys(&["Enter"]);
    terminal.wait("> You");
    is_ascii(&terminal);
    terminal.keys(&[")"]);
    terminal.wait("+ edit  < 2 of 2 >");
    is_ascii(&terminal);
    terminal.keys(&["t"]);
    terminal.wait("< resumes here");
    is_ascii(&terminal);
    terminal.keys(&["t", "b"]);
    terminal.wait(".- Branches");
    is_ascii(&terminal);
    terminal.keys(&["C-c"]);
    terminal.wait("left");
    terminal.wait("|-o Add a `/status`");
    is_ascii(&terminal);
}

#[test]
fn plans_are_rendered() {
    let short = r"
        a      user       Implement the following plan:\n\n# Tea\n\nBoil **only** `water`.\n\n* one\n* two
        b < a  assistant  Done.
    ";
    let Some(terminal) = over(&testkit::jsonl(short)) else { return };
    terminal.wait("1 session");
    terminal.keys(&["Enter"]);
    terminal.wait("▎ Implement the following plan:");
    terminal.wait("▎ Boil only water.");
    terminal.wait("▎ • two");
}
