//! Keys: what they act on, and that only the key that was named does what it says.

use std::sync::mpsc::channel;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::{Desk, only};
use crate::event::{Deed, Effect, Event, NodeAddress, Page, Question};
use crate::panes::list::List;
use crate::state::{Overlay, State};
use ramus_app::NodeSelector;
use ramus_render::Line;

fn pressed(desk: &mut Desk, code: KeyCode, modifiers: KeyModifiers) -> Vec<Effect> {
    desk.take(Event::Key(KeyEvent::new(code, modifiers)))
}

fn last_message(desk: &Desk) -> NodeAddress {
    NodeAddress { file: desk.path.clone(), node: NodeSelector::Uuid("f".to_owned()) }
}

/// At the end of a session its last message is meant, not the first one.
#[test]
fn at_the_end_the_last_message_is_acted_on() {
    let mut desk = Desk::new();
    desk.press(KeyCode::End);
    let rows = desk.rows();
    assert!(rows.iter().any(|row| row.contains("◉ Claude Code resumes here")), "{rows:#?}");
    assert!(rows.iter().any(|row| row.contains("▌   418 I'm a teapot")), "{rows:#?}");
    let address = last_message(&desk);
    for (letter, deed) in [('g', Deed::Goto(address.clone())), ('F', Deed::Fork(address.clone()))] {
        let effect = only(desk.letter(letter));
        assert!(matches!(&effect, Effect::Do(other) if *other == deed), "{effect:?}");
    }
    let effect = only(desk.letter('o'));
    assert!(matches!(&effect, Effect::Ask(Question::Files(at), _) if *at == address), "{effect:?}");
    desk.letter('y');
    let effect = only(desk.letter('a'));
    assert!(matches!(&effect, Effect::Copy(at, _) if at == "0a1b2c3d:f"), "{effect:?}");
}

/// Also where the note itself is clicked, or an agent was opened between.
#[test]
fn the_note_about_resuming_stands_for_the_message_it_is_about() {
    let mut desk = Desk::new();
    desk.click("◉ Claude Code resumes");
    let effect = only(desk.letter('g'));
    let wanted = Deed::Goto(last_message(&desk));
    assert!(matches!(&effect, Effect::Do(deed) if *deed == wanted), "{effect:?}");
}

#[test]
fn a_plan_is_carried_out_by_the_very_key_it_names() {
    let mut desk = Desk::new();
    let plan = vec![Line::plain("a step")];
    desk.take(Event::Asked(plan, "Do it?".to_owned(), channel().0));
    for modifiers in [
        KeyModifiers::CONTROL,
        KeyModifiers::ALT,
        KeyModifiers::SUPER,
        KeyModifiers::CONTROL | KeyModifiers::SHIFT,
    ] {
        let effects = pressed(&mut desk, KeyCode::Char('y'), modifiers);
        assert!(effects.is_empty(), "{modifiers:?}: {effects:?}");
    }
    assert!(pressed(&mut desk, KeyCode::Char('Y'), KeyModifiers::SHIFT).is_empty());
    assert!(desk.press(KeyCode::Enter).is_empty());
    assert!(matches!(desk.state.overlay, Some(Overlay::Menu(_))), "the question is still there");
    let effect = only(desk.letter('y'));
    assert!(matches!(effect, Effect::Answer(_, true)), "{effect:?}");
}

#[test]
fn other_menus_are_no_looser() {
    let mut desk = Desk::new();
    desk.letter('e');
    assert!(desk.press(KeyCode::Enter).is_empty());
    assert!(pressed(&mut desk, KeyCode::Char('m'), KeyModifiers::ALT).is_empty());
    assert!(matches!(only(desk.letter('m')), Effect::Export(_, "md")));
    desk.letter('b');
    assert!(pressed(&mut desk, KeyCode::Char('d'), KeyModifiers::ALT).is_empty());
    assert!(desk.state.marked.is_none());
    desk.letter('d');
    assert!(desk.state.marked.is_some());
}

#[test]
fn a_sample_history_is_written_by_the_very_key_that_is_named() {
    let Desk { state: State { clock, theme, .. }, .. } = Desk::new();
    let mut desk = Desk::new();
    desk.state = State::new(clock, theme, List::new(false, ""));
    desk.take(Event::Nothing("no sessions here".to_owned()));
    for (code, modifiers) in [
        (KeyCode::Enter, KeyModifiers::NONE),
        (KeyCode::Char('d'), KeyModifiers::CONTROL),
        (KeyCode::Char('d'), KeyModifiers::ALT),
        (KeyCode::Char('c'), KeyModifiers::NONE),
    ] {
        let effects = pressed(&mut desk, code, modifiers);
        assert!(effects.is_empty(), "{code:?} {modifiers:?}: {effects:?}");
    }
    assert!(matches!(only(desk.letter('d')), Effect::WriteDemo));
    assert!(matches!(only(desk.letter('q')), Effect::Quit));
    assert!(matches!(
        only(pressed(&mut desk, KeyCode::Char('c'), KeyModifiers::CONTROL)),
        Effect::Quit
    ));
}

/// The list of keys lies over whatever is there, which is there again when it is closed.
#[test]
fn help_discards_nothing() {
    let mut desk = Desk::new();
    let title = Line::plain("Two conversations");
    desk.take(Event::Page(Page { title, lines: vec![Line::plain("differ")], links: Vec::new() }));
    for help in ['?', '?'] {
        desk.letter(help);
        assert!(desk.rows().iter().any(|row| row.contains("In a transcript or a tree")));
    }
    desk.press(KeyCode::Esc);
    assert!(desk.rows().iter().any(|row| row.contains("differ")), "{:#?}", desk.rows());
    desk.press(KeyCode::Esc);
    assert!(desk.state.overlay.is_none());
    // A question that somebody waits for, too.
    desk.take(Event::Asked(vec![Line::plain("a step")], "Do it?".to_owned(), channel().0));
    desk.press(KeyCode::F(1));
    assert!(desk.letter('y').is_empty(), "the question is not seen");
    desk.press(KeyCode::Esc);
    assert!(matches!(only(desk.letter('y')), Effect::Answer(_, true)));
}

#[cfg(unix)]
#[test]
fn control_z_suspends_wherever_it_is_pressed() {
    let mut desk = Desk::new();
    for keys in ["", "?", "e"] {
        keys.chars().for_each(|key| drop(desk.letter(key)));
        let effects = pressed(&mut desk, KeyCode::Char('z'), KeyModifiers::CONTROL);
        assert!(matches!(only(effects), Effect::Suspend), "{keys}");
        desk.press(KeyCode::Esc);
    }
    assert!(matches!(only(desk.take(Event::Continued)), Effect::Reopen));
}

/// Claude Code resumes one branch of a session only: for another one, that is not the command.
#[test]
fn the_command_that_is_copied_resumes_what_is_read() {
    let mut desk = Desk::new();
    desk.letter('y');
    let effect = only(desk.letter('r'));
    let id = "0a1b2c3d-0000-4000-8000-000000000000";
    let resume = format!("cd /home/dev/app && claude --resume {id}");
    assert!(matches!(&effect, Effect::Copy(text, _) if *text == resume), "{effect:?}");
    desk.letter(')');
    desk.press(KeyCode::Right);
    assert_eq!(desk.conversation(), 1);
    desk.letter('y');
    let effect = only(desk.letter('r'));
    let wanted = format!("ramus goto 0a1b2c3d:d && {resume}");
    assert!(matches!(&effect, Effect::Copy(text, _) if *text == wanted), "{effect:?}");
    desk.letter('y');
    let effect = only(desk.letter('f'));
    assert!(
        matches!(&effect, Effect::Copy(text, _) if text == "ramus fork 0a1b2c3d:d"),
        "{effect:?}"
    );
}

/// In another Claude directory than the usual one, commands are told of it.
#[test]
fn copied_commands_name_an_unusual_directory() {
    let mut desk = Desk::new();
    desk.state.usual_roots = vec!["/nowhere".into()];
    let root = desk.path.ancestors().nth(3).unwrap().display().to_string();
    desk.letter(')');
    desk.press(KeyCode::Right);
    desk.letter('y');
    let Effect::Copy(command, _) = only(desk.letter('r')) else { panic!("something else") };
    assert!(command.contains(&format!("--claude-dir {root} goto")), "{command}");
    assert!(command.contains(&format!("CLAUDE_CONFIG_DIR={root} claude --resume")), "{command}");
}

#[test]
fn c_shows_what_each_reply_used() {
    let mut desk = Desk::new();
    let shown = |desk: &mut Desk| desk.rows().iter().any(|row| row.contains("context    10"));
    assert!(!shown(&mut desk));
    desk.letter('c');
    assert!(shown(&mut desk), "{}", desk.rows().join("\n"));
    desk.letter('c');
    assert!(!shown(&mut desk));
}

#[test]
fn ids_that_are_no_uuids_are_not_cut() {
    let mut desk = Desk::over(
        "message-10 user v=2.1.325 one
         message-11 < message-10 assistant two",
    );
    desk.press(KeyCode::End);
    let reading = desk.state.reading().unwrap();
    let (stage, _) = reading.node(reading.cursor).unwrap();
    let chapter = stage.chapter.clone();
    for name in ["message-10", "message-11"] {
        let node = chapter.history.tree.find(ramus_core::name::Name::new(name.as_bytes())).unwrap();
        assert_eq!(chapter.address("0a1b2c3d", node), format!("0a1b2c3d:{name}"));
        assert!(chapter.is_only(node));
    }
}
