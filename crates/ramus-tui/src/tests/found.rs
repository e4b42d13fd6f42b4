//! Filtering the list, and searching all sessions.

use ramus_render::Label;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use testkit::TestHome;

use super::TestScreens;
use crate::event::ScreenEvent;
use crate::panes::list::ListRow;
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
    let mut screens = TestScreens::with_home(titled_home(), 90, 12);
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
    screens.type_in("needle");
    screens.wait_until(|text| text.contains("2 messages") && text.contains("needle here"));
    let selected = |screens: &TestScreens| screens.state.list.rows[screens.state.list.cursor.at];
    let message = |screens: &TestScreens| match selected(screens) {
        ListRow::Passage(.., found) => Some(screens.state.list.search.messages[found].kind),
        _ => None,
    };
    while message(&screens) != Some("tool-result") {
        screens.press_key(KeyCode::Down);
    }
    let results = screens.drawn_text();
    screens.press_key(KeyCode::Enter);
    screens.wait_until(|text| text.contains("│ needle here") && text.contains("“needle”"));
    assert_eq!(marked_words(&mut screens), ["needle"]);
    screens.press_key(KeyCode::Esc);
    let back = screens.drawn_text().replace('▌', " ");
    let rows = |text: &str| text.lines().take(10).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(rows(&back), rows(&results), "back leads to the same results");
    // The other one, and back again.
    while message(&screens) != Some("prompt") {
        let is_below = screens.state.list.rows.iter().position(
            |row| matches!(row, ListRow::Passage(.., found) if screens.state.list.search.messages[*found].kind == "prompt"),
        );
        let is_below = is_below > Some(screens.state.list.cursor.at);
        screens.press_key(if is_below { KeyCode::Down } else { KeyCode::Up });
    }
    screens.press_key(KeyCode::Enter);
    screens.wait_for_text("▎ A needle, too");
    screens.type_in("q");
    screens.wait_for_text("search: needle");
    screens.press_key(KeyCode::Esc);
    screens.wait_for_text("2 sessions");
    assert!(!screens.left);
}

#[test]
fn branches_of_one_prompt_are_distinguished_by_their_replies() {
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
    let mut screens = TestScreens::with_home(cleaned_home(), 90, 12);
    let text = screens.wait_for_text("deleted sessions, prompts only");
    assert!(!text.contains("osprey"), "{text}");
    screens.press_key(KeyCode::Down);
    screens.press_key(KeyCode::Right);
    screens.wait_for_text("prompt only  what does an osprey eat");
    screens.press_key(KeyCode::Down);
    screens.press_key(KeyCode::Enter);
    screens.wait_for_text("Only its prompts are left");
    screens.press_key(KeyCode::Esc);
    screens.type_in("osprey");
    screens.wait_for_text("1 found");
    assert_eq!(marked_words(&mut screens), ["osprey"]);
    screens.press_key(KeyCode::Enter);
    screens.wait_for_text("Only its prompts are left");
    screens.press_key(KeyCode::Esc);
    screens.wait_for_text("1 found");
}

#[test]
fn the_list_announces_what_will_be_deleted() {
    let mut screens = TestScreens::with_home(cleaned_home(), 90, 12);
    screens.wait_for_text("Claude Code will delete 1 session within 7 days");
    // On a narrow screen the key that keeps it is whole, and one row says what it is about.
    screens.state.list.unarchived = 3;
    screens.state.size = (40, 12);
    let text = screens.drawn_text();
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("3 of these files are not archived: press Ctrl-K to archive them"),
        "{text}"
    );
    assert!(words.contains("Claude Code will delete"), "{text}");
}

/// Names are there in the frame of the key; contents follow, below the sessions they belong to.
#[test]
fn typing_searches_names_first_and_then_contents() {
    let mut screens = TestScreens::new(90, 20);
    screens.type_in("whistle");
    assert!(screens.drawn_text().contains("0 found …"), "{}", screens.drawn_text());
    let text = screens.wait_for_text("1 found, 1 message");
    let title = text.lines().position(|line| line.contains("about kettles")).unwrap();
    let passage = text.lines().nth(title + 1).unwrap();
    assert!(passage.contains("● They whistle."), "{text}");
    assert_eq!(marked_words(&mut screens), ["whistle"]);
    // Another key searches for something else, whatever comes of the first search.
    screens.type_in("x");
    screens.wait_for_text("search: whistlex");
    screens.press_key(KeyCode::Esc);
    screens.wait_for_text("2 sessions");
}

#[test]
fn filters_and_misspelt_words_are_understood() {
    let mut screens = TestScreens::new(90, 20);
    screens.type_in("tool:Bash boil");
    let text = screens.wait_for_text("1 found, 1 message");
    assert!(text.contains("• boil water"), "{text}");
    screens.press_key(KeyCode::Esc);
    screens.type_in("project:kettle they");
    let text = screens.wait_for_text("found, 1 message");
    assert!(text.contains("They whistle."), "{text}");
    screens.press_key(KeyCode::Esc);
    screens.type_in("branch:nonsense x2");
    screens.wait_for_text("`branch:` cannot be");
    screens.press_key(KeyCode::Esc);
    screens.type_in("teapto");
    let text = screens.wait_for_text("searched for \"teapot\"");
    assert!(text.contains("418 I'm a teapot"), "{text}");
}

/// Wide enough, the session at the cursor is shown beside the list: its end, or what was found in it.
#[test]
fn the_preview_follows_the_cursor_and_shows_the_hit() {
    let mut screens = TestScreens::new(120, 40);
    let text = screens.wait_for_text("Steeped.");
    assert!(text.contains("2 fork points, 3 branches · 1 sub-agent"), "{text}");
    screens.press_key(KeyCode::Down);
    screens.wait_for_text("They whistle.");
    screens.type_in("teapot");
    screens.wait_for_text("418 I'm a teapot ␛]0;boom␇ end");
    // What the preview has read opens at once.
    screens.wait_until(|text| text.matches("418 I'm a teapot").count() == 2);
    screens.press_key(KeyCode::Enter);
    assert!(screens.drawn_text().contains("@2 of 3 abandoned"), "{}", screens.drawn_text());
    screens.press_key(KeyCode::Esc);
    screens.wait_until(|text| text.matches("418 I'm a teapot").count() == 2);
}

/// The list at the sizes that people have.
#[test]
fn the_list_at_several_sizes() {
    for (width, height) in [(40, 12), (80, 24), (120, 40), (200, 60)] {
        let mut screens = TestScreens::new(width, height);
        if width >= 100 {
            screens.wait_for_text("Steeped.");
        }
        screens.wait_for_text("Claude Code will delete");
        let name = format!("list_{width}x{height}");
        insta::assert_snapshot!(name, screens.drawn_text());
        screens.type_in("teapot");
        let seen = if width >= 100 { 2 } else { 1 };
        screens.wait_until(|text| {
            text.contains("1 found, ") && text.matches("I'm a teapot").count() == seen
        });
        insta::assert_snapshot!(format!("search_{width}x{height}"), screens.drawn_text());
    }
}

/// The palette names every action; what is chosen there is done.
#[test]
fn actions_are_found_by_their_names_and_a_session_is_renamed_and_trashed() {
    let mut screens = TestScreens::new(90, 24);
    let path = screens.home.claude_dir().join("projects/-home-dev-kettle");
    let path = path.join("1b2c3d4e-0000-4000-8000-000000000000.jsonl");
    let before = std::fs::read(&path).unwrap();
    screens.press_key(KeyCode::Down);
    screens.type_in(":rename");
    let text = screens.wait_for_text("rename this session");
    assert!(text.contains("F2"), "{text}");
    screens.press_key(KeyCode::Enter);
    screens.wait_for_text("new title: ");
    screens.type_in("All about kettles");
    screens.press_key(KeyCode::Enter);
    screens.wait_for_text("Rename it?");
    screens.type_in("y");
    screens.wait_for_text("Done as operation 1.");
    let renamed = std::fs::read(&path).unwrap();
    assert!(renamed.starts_with(&before) && renamed.len() > before.len());
    screens.wait_for_text("All about kettles");
    screens.press_key(KeyCode::Delete);
    screens.wait_for_text("Move it to the trash?");
    screens.type_in("n");
    screens.wait_for_text("nothing changed");
    screens.press_key(KeyCode::Delete);
    screens.wait_for_text("Move it to the trash?");
    screens.type_in("y");
    screens.wait_for_text("Done as operation 2.");
    assert!(!path.exists());
    // What a transcript has to do says so, and the last operation is undone from anywhere.
    screens.type_in(":next-fork");
    screens.press_key(KeyCode::Enter);
    screens.wait_for_text("open a session first");
    screens.type_in(":undo");
    screens.press_key(KeyCode::Enter);
    screens.wait_for_text("Undo it?");
    screens.type_in("y");
    screens.wait_for_text("Done as operation 3.");
    assert_eq!(std::fs::read(&path).unwrap(), renamed);
}

/// Where Claude Code would resume elsewhere, it is asked how to resume.
#[test]
fn an_abandoned_branch_is_resumed_there_or_in_a_fork() {
    let mut screens = TestScreens::open_demo(90, 30);
    screens.type_in("b");
    screens.press_key(KeyCode::Up);
    screens.type_in("r");
    let text = screens.wait_for_text("Claude Code resumes this session at another message");
    for choice in ["r  resume the session where it ended", "g  go there and resume", "f  fork and"]
    {
        assert!(text.contains(choice), "{text}");
    }
    screens.type_in("n");
    assert!(!screens.drawn_text().contains("elsewhere"));
    // The end of the branch that is resumed needs no question.
    screens.press_key(KeyCode::End);
    screens.type_in("r");
    screens.wait_until(|text| !text.contains("checking where"));
    assert!(screens.state.overlay.is_none(), "{}", screens.drawn_text());
}

/// Operations are listed and one of them is undone; tags and pins are shown in the list.
#[test]
fn operations_are_undone_from_their_list_and_sessions_are_tagged() {
    let mut screens = TestScreens::new(90, 24);
    let control = |letter| KeyEvent::new(KeyCode::Char(letter), KeyModifiers::CONTROL);
    screens.handle_event(ScreenEvent::Key(control('t')));
    screens.wait_for_text("tags (-tag removes one)");
    screens.type_in("brewing #hot");
    screens.press_key(KeyCode::Enter);
    screens.wait_for_text("#brewing #hot");
    screens.handle_event(ScreenEvent::Key(control('b')));
    screens.wait_for_text("this session: pinned #brewing #hot");
    screens.wait_for_text("★ #brewing #hot");
    screens.handle_event(ScreenEvent::Key(control('g')));
    // That there are none is no failure, so no page has to be closed.
    let text = screens.wait_for_text("no operations yet");
    assert!(screens.state.overlay.is_none(), "{text}");
    for title in ["First", "Second"] {
        screens.press_key(KeyCode::F(2));
        screens.handle_event(ScreenEvent::Key(control('u')));
        screens.type_in(title);
        screens.press_key(KeyCode::Enter);
        screens.wait_for_text("Rename it?");
        screens.type_in("y");
        screens.wait_for_text("Done as operation");
        screens.press_key(KeyCode::Home);
        screens.wait_until(|text| text.contains(title) && !text.contains("Done as"));
    }
    screens.handle_event(ScreenEvent::Key(control('g')));
    screens.wait_for_text("Enter undoes one");
    screens.press_key(KeyCode::Enter);
    screens.wait_for_text("Undo it?");
    screens.type_in("y");
    screens.wait_for_text("Done as operation 3.");
    screens.press_key(KeyCode::Home);
    screens.wait_until(|text| text.contains("First") && !text.contains("Second"));
}

/// Who types a title opens the session at its beginning; a key goes to what matches in it.
#[test]
fn a_session_found_by_its_title_has_its_matches_a_key_away() {
    let mut screens = TestScreens::open_demo(90, 24);
    let text = screens.drawn_text();
    assert!(text.contains("You  00:00  a") && !text.contains("“which tea”"), "{text}");
    screens.type_in("n");
    screens.wait_for_text("“which tea” 1 of");
    // Without a search the key says what to do.
    screens.press_key(KeyCode::Esc);
    screens.press_key(KeyCode::Esc);
    screens.press_key(KeyCode::Tab);
    screens.type_in("n");
    screens.wait_for_text("no search here; / searches this session");
}

/// Where the branch that is read has no match, the key for the next one goes to the branch that has.
#[test]
fn matches_on_another_branch_are_gone_to() {
    let mut screens = TestScreens::open_demo(80, 24);
    screens.type_in("/teapot");
    screens.press_key(KeyCode::Enter);
    screens.wait_for_text("no match for “teapot” on this branch, 1 elsewhere");
    screens.type_in("n");
    screens.wait_for_text("@2 of 3 abandoned");
    screens.wait_for_text("“teapot” 1 of 1");
}
