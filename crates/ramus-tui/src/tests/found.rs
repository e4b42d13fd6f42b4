//! What is found: by the filter of the list, and by a search in all sessions.

use ramus_render::Label;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use testkit::TestHome;

use super::TestScreens;
use crate::event::ScreenEvent;
use crate::view::draw_screen;

/// Returns the texts on the screen that are marked as what was looked for.
fn marked_words(screens: &mut TestScreens) -> Vec<String> {
    let (width, height) = screens.state.size;
    let mut buffer = Buffer::empty(Rect { x: 0, y: 0, width, height });
    draw_screen(&mut screens.state, &mut buffer);
    let look = screens.state.theme.label_style(Label::Match);
    let mut found = Vec::new();
    for y in 0..height {
        let is_reversed = |x: u16| buffer[(x, y)].modifier.contains(Modifier::REVERSED);
        // In the row that the cursor is on, what was found is not reversed and all else is.
        let is_selected = (0..width).filter(|x| is_reversed(*x)).count() > usize::from(width / 2);
        let mut text = String::new();
        for x in 0..=width {
            let is_marked = x < width
                && buffer[(x, y)].modifier.contains(Modifier::BOLD)
                && is_reversed(x) != is_selected
                && (is_selected || Some(buffer[(x, y)].fg) == look.fg);
            if is_marked {
                text.push_str(buffer[(x, y)].symbol());
            } else if !text.is_empty() {
                found.push(std::mem::take(&mut text));
            }
        }
    }
    found
}

fn titled_home() -> TestHome {
    let home = TestHome::new();
    let session = |n: u32, text: &str| {
        home.write_session(
            &format!("-home-dev-web/0000000{n}-0000-4000-8000-000000000000.jsonl"),
            text,
        );
    };
    session(
        1,
        "a user Run the playwright suite against staging\nb < a assistant Done.\n- title Nightly",
    );
    session(2, "a user Display a fizzbuzz and a jazz puzzle\nb < a assistant Done.");
    session(3, "a user Something else\nb < a assistant Done.");
    home
}

#[test]
fn the_filter_finds_words_by_their_beginning_and_marks_them() {
    let mut screens = TestScreens::with_home(titled_home(), 100, 12);
    screens.type_in("zzz");
    screens.wait_for_text("0 found");
    screens.press_key(KeyCode::Esc);
    // A word of the first prompt, which the title hides.
    screens.type_in("playw");
    let text = screens.wait_for_text("1 found");
    assert!(text.contains("Nightly") && text.contains("playwright suite"), "{text}");
    assert_eq!(marked_words(&mut screens), ["playwright"]);
    screens.press_key(KeyCode::Esc);
    // The middle of a word is no beginning of one.
    screens.type_in("play");
    screens.wait_for_text("1 found");
    screens.press_key(KeyCode::Esc);
    screens.type_in("/APP fizz");
    screens.wait_for_text("1 found");
    assert_eq!(marked_words(&mut screens), ["fizz", "/app"]);
    screens.press_key(KeyCode::Esc);
    screens.type_in("00000003");
    let text = screens.wait_for_text("1 found");
    assert!(text.contains("Something else"), "{text}");
    assert_eq!(marked_words(&mut screens), ["00000003"]);
}

fn with_a_long_output() -> TestHome {
    let home = TestHome::new();
    let lines: String = (0..200)
        .map(|n| if n == 100 { "needle here\\n".to_owned() } else { format!("line {n}\\n") })
        .collect();
    let text = format!(
        "a user Look into it\nb < a call:t1:Bash #m1 cat log\nc < b result:t1 {lines}\nd < c assistant Seen."
    );
    home.write_session("-home-dev-log/0a1b2c3d-0000-4000-8000-000000000000.jsonl", &text);
    home.write_session(
        "-home-dev-log/1b2c3d4e-0000-4000-8000-000000000000.jsonl",
        "a user A needle, too\nb < a assistant Yes.",
    );
    home
}

/// A hit in the middle of a long output that is folded: it is opened, whole, and marked.
#[test]
fn a_hit_is_opened_and_marked_and_back_leads_to_the_results() {
    let mut screens = TestScreens::with_home(with_a_long_output(), 80, 24);
    screens.type_in("look");
    screens.press_key(KeyCode::Enter);
    screens.wait_for_text("Seen.");
    screens.type_in("f");
    screens.type_in("needle");
    screens.press_key(KeyCode::Enter);
    screens.wait_until(|text| text.contains("2 messages") && text.contains("needle here"));
    while !screens.drawn_text().lines().any(|line| line.contains("tool-result")) {
        screens.press_key(KeyCode::Down);
    }
    let results = screens.drawn_text();
    let at = results.find("tool-result").unwrap() > results.find("prompt").unwrap_or(usize::MAX);
    if at {
        screens.press_key(KeyCode::Down);
    }
    screens.press_key(KeyCode::Enter);
    screens.wait_until(|text| text.contains("│ needle here") && text.contains("“needle”"));
    assert_eq!(marked_words(&mut screens), ["needle"]);
    screens.press_key(KeyCode::Esc);
    let text = screens.wait_for_text("Find “needle” 2 messages");
    assert!(text.contains("tool-result"), "{text}");
    // The other one, and back again; then to what was read before.
    screens.press_key(if at { KeyCode::Up } else { KeyCode::Down });
    screens.press_key(KeyCode::Enter);
    screens.wait_for_text("▎ A needle, too");
    screens.type_in("q");
    screens.wait_for_text("Find “needle” 2 messages");
    screens.press_key(KeyCode::Esc);
    screens.wait_for_text("Seen.");
    assert!(!screens.left);
}

#[test]
fn branches_of_one_prompt_are_told_apart_by_their_answers() {
    let home = TestHome::new();
    home.write_session(
        "-tea/0a1b2c3d-0000-4000-8000-000000000000.jsonl",
        r"
a        user          Which tea?
b < a    assistant     Green it is
c < a    assistant     Black it is
d < a    assistant     Oolong it is
",
    );
    let mut screens = TestScreens::with_home(home, 90, 20);
    screens.press_key(KeyCode::Right);
    let text = screens.drawn_text();
    for name in ["(1) Which tea?", "(2) Which tea?", "(3) Which tea?"] {
        assert!(text.contains(name), "{text}");
    }
    screens.press_key(KeyCode::Enter);
    screens.wait_for_text("it is");
    screens.type_in("b");
    let text = screens.wait_for_text("Which tea? → Green it is");
    for answer in ["→ Black it is", "→ Oolong it is"] {
        assert!(text.contains(answer), "{text}");
    }
}

/// A history whose client deleted a session, and will delete another one.
fn cleaned_home() -> TestHome {
    let home = TestHome::new();
    let path =
        home.write_session("-w/00000001-0000-4000-8000-000000000000.jsonl", "a user about kettles");
    let day = std::time::Duration::from_secs(86_400);
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.set_modified(std::time::SystemTime::now() - day * 28).unwrap();
    let note = "{\"display\":\"what does an osprey eat\",\"timestamp\":1767225600000,\"project\":\"/w\",\"sessionId\":\"gone\"}\n";
    std::fs::write(home.claude_dir().join("history.jsonl"), note).unwrap();
    home
}

#[test]
fn prompts_of_deleted_sessions_are_listed_found_and_read() {
    let mut screens = TestScreens::with_home(cleaned_home(), 100, 12);
    let text = screens.wait_for_text("deleted sessions, prompts only");
    assert!(!text.contains("osprey"), "{text}");
    screens.press_key(KeyCode::Down);
    screens.press_key(KeyCode::Right);
    screens.wait_for_text("prompt only  what does an osprey eat");
    screens.press_key(KeyCode::Down);
    screens.press_key(KeyCode::Enter);
    screens.wait_for_text("only these prompts are left");
    screens.press_key(KeyCode::Esc);
    screens.type_in("osprey");
    screens.wait_for_text("1 found");
    assert_eq!(marked_words(&mut screens), ["osprey"]);
    screens.press_key(KeyCode::Esc);
    screens
        .handle_event(ScreenEvent::Key(KeyEvent::new(KeyCode::Char('f'), KeyModifiers::CONTROL)));
    screens.type_in("osprey eat");
    screens.press_key(KeyCode::Enter);
    let text = screens.wait_for_text("1 message");
    assert!(text.contains("prompt only") && text.contains("deleted session gone"), "{text}");
    screens.press_key(KeyCode::Enter);
    screens.wait_for_text("only these prompts are left");
    screens.press_key(KeyCode::Esc);
    screens.wait_for_text("1 message");
}

#[test]
fn the_list_announces_what_will_be_deleted() {
    let mut screens = TestScreens::with_home(cleaned_home(), 100, 12);
    screens.wait_for_text("1 session will be deleted by Claude Code within 7 days");
}
