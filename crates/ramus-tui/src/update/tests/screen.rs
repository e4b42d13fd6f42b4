//! The screen: rows that stay, marks, titles and hints.

use ramus_core::resume::ResumeRule;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyCode;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

use super::{FIXTURE, StateTester};
use crate::event::{Effect, ScreenEvent};
use crate::keys::KeyMap;
use crate::state::Focus;
use crate::view::draw_screen;
use crate::work::draw;

/// A fork low on the screen, with a long branch and a short one below it.
const UNEVEN: &str = r"
a        user          Which tea?
b < a    assistant     Oolong.\n\nIt is\n\nneither\n\ngreen\n\nnor\n\nblack.
c < b    user          Brew it
d < c    assistant     One\n\ntwo\n\nthree\n\nfour\n\nfive\n\nsix\n\nseven\n\neight.
e < b    user          Rather coffee
f < e    assistant     No.
-        last-prompt:d:explicit
";

#[track_caller]
fn row_with(tester: &mut StateTester, text: &str) -> usize {
    let rows = tester.screen_rows();
    let found = rows.iter().position(|row| row.contains(text));
    found.unwrap_or_else(|| panic!("no {text:?} on\n{}", rows.join("\n")))
}

#[test]
fn a_fork_stays_in_its_row_when_it_is_switched() {
    for height in [12, 16, 24] {
        let mut tester = StateTester::with_fixture(UNEVEN);
        tester.handle_event(ScreenEvent::Resize(80, height));
        tester.press_letter(')');
        let row = row_with(&mut tester, "┬ edit");
        for key in [KeyCode::Right, KeyCode::Right, KeyCode::Left, KeyCode::Left] {
            tester.press_key(key);
            assert_eq!(row_with(&mut tester, "┬ edit"), row, "{height} rows, {key:?}");
        }
        // Also where it was scrolled to the lower edge.
        tester.press_key(KeyCode::Home);
        tester.handle_event(ScreenEvent::Resize(80, height - 3));
        if tester.screen_rows().iter().any(|row| row.contains("┬ edit")) {
            let row = row_with(&mut tester, "┬ edit");
            tester.press_key(KeyCode::Right);
            assert_eq!(row_with(&mut tester, "┬ edit"), row, "{height} rows, from the beginning");
        }
    }
}

/// Returns the modifiers of the cell where a text begins.
fn look_of(tester: &mut StateTester, text: &str) -> Modifier {
    let (width, height) = tester.state.size;
    let mut buffer = Buffer::empty(Rect { x: 0, y: 0, width, height });
    draw_screen(&mut tester.state, &mut buffer);
    let place = (0..height).find_map(|y| {
        let row: String = (0..width).map(|x| buffer[(x, y)].symbol()).collect();
        row.find(text).map(|at| (row[..at].chars().count() as u16, y))
    });
    let (x, y) = place.unwrap_or_else(|| panic!("no {text:?}"));
    buffer[(x, y)].modifier
}

#[test]
fn the_title_of_a_dialog_is_not_as_dim_as_its_frame() {
    let mut tester = StateTester::new();
    for (key, title) in [('b', "Branches"), ('e', "Export"), ('?', "Keys")] {
        tester.press_letter(key);
        assert!(look_of(&mut tester, "╭─").contains(Modifier::DIM));
        assert!(!look_of(&mut tester, title).contains(Modifier::DIM), "{title}");
        assert!(look_of(&mut tester, title).contains(Modifier::BOLD), "{title}");
        tester.press_key(KeyCode::Esc);
    }
}

#[test]
fn help_and_quit_are_shown_on_any_width() {
    let mut tester = StateTester::new();
    for width in [30, 40, 60, 80, 140] {
        tester.handle_event(ScreenEvent::Resize(width, 24));
        let foot = tester.screen_rows().pop().unwrap();
        assert!(foot.contains("? keys") && foot.contains("q back"), "{width}: {foot}");
        tester.state.focus = Focus::List;
        let foot = tester.screen_rows().pop().unwrap();
        assert!(foot.contains("? keys") && foot.contains("Esc quit"), "{width}: {foot}");
        // What would be typed into the filter is not offered.
        tester.press_letter('x');
        let foot = tester.screen_rows().pop().unwrap();
        assert!(foot.contains("F1 keys") && foot.contains("Esc clear"), "{width}: {foot}");
        assert!(!foot.contains('?') && !foot.contains("type"), "{width}: {foot}");
        // The keys are those of the pane one is in.
        tester.press_key(KeyCode::F(1));
        assert!(tester.screen_rows().iter().any(|row| row.contains("In the list")));
        tester.press_key(KeyCode::Esc);
        tester.press_key(KeyCode::Esc);
        tester.state.focus = Focus::Transcript;
        tester.press_letter('?');
        assert!(tester.screen_rows().iter().any(|row| row.contains("In a transcript or a tree")));
        tester.press_key(KeyCode::Esc);
    }
}

/// The keys at the lower edge are those that are bound, the most useful ones first.
#[test]
fn the_lower_edge_names_the_keys_of_the_settings() {
    let mut tester = StateTester::new();
    tester.handle_event(ScreenEvent::Resize(80, 24));
    let foot = tester.screen_rows().pop().unwrap();
    assert!(foot.contains("r resume") && foot.contains("b branches"), "{foot}");
    let mut keys = KeyMap::default();
    keys.bind_action("resume", &["f5".to_owned()]).unwrap();
    keys.bind_action("everywhere", &["f9".to_owned()]).unwrap();
    tester.state.bind_keys(keys);
    let foot = tester.screen_rows().pop().unwrap();
    assert!(foot.contains("F5 resume"), "{foot}");
    tester.state.focus = Focus::List;
    tester.state.list.listed = true;
    tester.state.list.current = Some("/nowhere".into());
    tester.handle_event(ScreenEvent::Resize(60, 24));
    let rows = tester.screen_rows();
    assert!(rows.last().unwrap().contains("F5 resume"), "{rows:?}");
    assert!(rows[1].contains("F9 for all"), "{rows:?}");
}

/// On a narrow screen the title is what is left of the head.
#[test]
fn forty_columns_have_room_for_a_title() {
    let mut tester = StateTester::new();
    tester.handle_event(ScreenEvent::Resize(40, 12));
    let head = tester.screen_rows().remove(0);
    assert!(head.starts_with(" Which tea?"), "{head}");
}

/// The session grows, and its branches change places: the tree stays on what the transcript shows.
#[test]
fn the_tree_stays_on_the_branch_that_is_read() {
    let mut tester = StateTester::with_fixture(&format!("{FIXTURE}- last-prompt:f:explicit"));
    let drawn = |tester: &mut StateTester, effects: Vec<Effect>| {
        for effect in effects {
            if let Effect::Draw(wanted) = effect {
                let drawing =
                    draw::draw_tree(*wanted, &tester.state.clock.clone(), ResumeRule::Client);
                tester.handle_event(ScreenEvent::Drawn(Box::new(drawing)));
            }
        }
    };
    let effects = tester.press_letter('t');
    drawn(&mut tester, effects);
    while !tester.state.tree.as_ref().is_some_and(|tree| {
        let drawing = tree.drawing.as_ref().unwrap();
        drawing.lines[tree.cursor.at].to_text().contains("Brew it")
    }) {
        tester.press_key(KeyCode::Down);
    }
    assert_eq!(tester.conversation_number(), 1);
    // What goto adds: the branch becomes the straight line, and the other one hangs beside it.
    let more = testkit::jsonl("- last-prompt:d:explicit");
    let text = std::fs::read_to_string(&tester.path).unwrap();
    std::fs::write(&tester.path, text + &more).unwrap();
    let now = tester.read_chapter();
    let effects = tester.handle_event(ScreenEvent::Grew(now));
    drawn(&mut tester, effects);
    let tree = tester.state.tree.as_ref().unwrap();
    let line = tree.drawing.as_ref().unwrap().lines[tree.cursor.at].to_text();
    assert!(line.contains("Brew it"), "{line}");
    let reading = tester.state.open_transcript().unwrap();
    assert!(reading.current_conversation().is_some_and(|current| current.resumes));
}
