//! The screen: rows that stay, marks, titles and hints.

use ramus_core::resume::ResumeRule;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyCode;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

use super::{FIXTURE, StateTester};
use crate::event::{Effect, ScreenEvent};
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
fn row_with(desk: &mut StateTester, text: &str) -> usize {
    let rows = desk.screen_rows();
    let found = rows.iter().position(|row| row.contains(text));
    found.unwrap_or_else(|| panic!("no {text:?} on\n{}", rows.join("\n")))
}

#[test]
fn a_fork_stays_in_its_row_when_it_is_switched() {
    for height in [12, 16, 24] {
        let mut desk = StateTester::with_fixture(UNEVEN);
        desk.handle_event(ScreenEvent::Resize(80, height));
        desk.press_letter(')');
        let row = row_with(&mut desk, "┬ edit");
        for key in [KeyCode::Right, KeyCode::Right, KeyCode::Left, KeyCode::Left] {
            desk.press_key(key);
            assert_eq!(row_with(&mut desk, "┬ edit"), row, "{height} rows, {key:?}");
        }
        // Also where it was scrolled to the lower edge.
        desk.press_key(KeyCode::Home);
        desk.handle_event(ScreenEvent::Resize(80, height - 3));
        if desk.screen_rows().iter().any(|row| row.contains("┬ edit")) {
            let row = row_with(&mut desk, "┬ edit");
            desk.press_key(KeyCode::Right);
            assert_eq!(row_with(&mut desk, "┬ edit"), row, "{height} rows, from the beginning");
        }
    }
}

/// Returns the modifiers of the cell where a text begins.
fn look_of(desk: &mut StateTester, text: &str) -> Modifier {
    let (width, height) = desk.state.size;
    let mut buffer = Buffer::empty(Rect { x: 0, y: 0, width, height });
    draw_screen(&mut desk.state, &mut buffer);
    let place = (0..height).find_map(|y| {
        let row: String = (0..width).map(|x| buffer[(x, y)].symbol()).collect();
        row.find(text).map(|at| (row[..at].chars().count() as u16, y))
    });
    let (x, y) = place.unwrap_or_else(|| panic!("no {text:?}"));
    buffer[(x, y)].modifier
}

#[test]
fn the_title_of_a_dialog_is_not_as_dim_as_its_frame() {
    let mut desk = StateTester::new();
    for (key, title) in [('b', "Branches"), ('e', "Export"), ('?', "Keys")] {
        desk.press_letter(key);
        assert!(look_of(&mut desk, "╭─").contains(Modifier::DIM));
        assert!(!look_of(&mut desk, title).contains(Modifier::DIM), "{title}");
        assert!(look_of(&mut desk, title).contains(Modifier::BOLD), "{title}");
        desk.press_key(KeyCode::Esc);
    }
}

#[test]
fn help_and_quit_are_shown_on_any_width() {
    let mut desk = StateTester::new();
    for width in [30, 40, 60, 80, 140] {
        desk.handle_event(ScreenEvent::Resize(width, 24));
        let foot = desk.screen_rows().pop().unwrap();
        assert!(foot.contains("? keys") && foot.contains("q back"), "{width}: {foot}");
        desk.state.focus = Focus::List;
        let foot = desk.screen_rows().pop().unwrap();
        assert!(foot.contains("? keys") && foot.contains("Esc quit"), "{width}: {foot}");
        // What would be typed into the filter is not offered.
        desk.press_letter('x');
        let foot = desk.screen_rows().pop().unwrap();
        assert!(foot.contains("F1 keys") && foot.contains("Esc clear"), "{width}: {foot}");
        assert!(!foot.contains('?') && !foot.contains("type"), "{width}: {foot}");
        // The keys are those of the pane one is in.
        desk.press_key(KeyCode::F(1));
        assert!(desk.screen_rows().iter().any(|row| row.contains("In the list")));
        desk.press_key(KeyCode::Esc);
        desk.press_key(KeyCode::Esc);
        desk.state.focus = Focus::Transcript;
        desk.press_letter('?');
        assert!(desk.screen_rows().iter().any(|row| row.contains("In a transcript or a tree")));
        desk.press_key(KeyCode::Esc);
    }
}

/// The session grows, and its branches change places: the tree stays on what the transcript shows.
#[test]
fn the_tree_stays_on_the_branch_that_is_read() {
    let mut desk = StateTester::with_fixture(&format!("{FIXTURE}- last-prompt:f:explicit"));
    let drawn = |desk: &mut StateTester, effects: Vec<Effect>| {
        for effect in effects {
            if let Effect::Draw(wanted) = effect {
                let drawing =
                    draw::draw_tree(*wanted, &desk.state.clock.clone(), ResumeRule::Client);
                desk.handle_event(ScreenEvent::Drawn(Box::new(drawing)));
            }
        }
    };
    let effects = desk.press_letter('t');
    drawn(&mut desk, effects);
    while !desk.state.tree.as_ref().is_some_and(|tree| {
        let drawing = tree.drawing.as_ref().unwrap();
        drawing.lines[tree.cursor.at].to_text().contains("Brew it")
    }) {
        desk.press_key(KeyCode::Down);
    }
    assert_eq!(desk.conversation_number(), 1);
    // What goto adds: the branch becomes the straight line, and the other one hangs beside it.
    let more = testkit::jsonl("- last-prompt:d:explicit");
    let text = std::fs::read_to_string(&desk.path).unwrap();
    std::fs::write(&desk.path, text + &more).unwrap();
    let now = desk.read_chapter();
    let effects = desk.handle_event(ScreenEvent::Grew(now));
    drawn(&mut desk, effects);
    let tree = desk.state.tree.as_ref().unwrap();
    let line = tree.drawing.as_ref().unwrap().lines[tree.cursor.at].to_text();
    assert!(line.contains("Brew it"), "{line}");
    let reading = desk.state.open_transcript().unwrap();
    assert!(reading.current_conversation().is_some_and(|current| current.resumes));
}
