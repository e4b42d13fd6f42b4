//! Keys: what they act on, and that only the shown keys confirm.

use std::sync::mpsc::channel;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::{StateTester, single_effect};
use crate::event::{
    ChangeCommand, DocumentRequest, Effect, JumpTarget, NodeAddress, ScreenEvent, TextDocument,
};
use crate::panes::list::ListPane;
use crate::state::{Overlay, ScreenState};
use ramus_app::{ExportFormat, NodeSelector};
use ramus_core::ids::RecordUuid;
use ramus_render::Line;

fn press_with(tester: &mut StateTester, code: KeyCode, modifiers: KeyModifiers) -> Vec<Effect> {
    tester.handle_event(ScreenEvent::Key(KeyEvent::new(code, modifiers)))
}

fn last_message(tester: &StateTester) -> NodeAddress {
    NodeAddress { file: tester.path.clone(), node: NodeSelector::Uuid("f".to_owned()) }
}

/// At the end of a session its last message is meant, not the first one.
#[test]
fn at_the_end_the_last_message_is_acted_on() {
    let mut tester = StateTester::new();
    tester.press_key(KeyCode::End);
    let rows = tester.screen_rows();
    assert!(rows.iter().any(|row| row.contains("◉ Claude Code resumes here")), "{rows:#?}");
    assert!(rows.iter().any(|row| row.contains("▌   418 I'm a teapot")), "{rows:#?}");
    let address = last_message(&tester);
    for (letter, change) in
        [('g', ChangeCommand::Goto(address.clone())), ('F', ChangeCommand::Fork(address.clone()))]
    {
        let effect = single_effect(tester.press_letter(letter));
        assert!(matches!(&effect, Effect::ApplyChange(other) if *other == change), "{effect:?}");
    }
    let effect = single_effect(tester.press_letter('o'));
    assert!(
        matches!(&effect, Effect::OpenDocument(DocumentRequest::Files(at), _) if *at == address),
        "{effect:?}"
    );
    tester.press_letter('y');
    let effect = single_effect(tester.press_letter('a'));
    assert!(matches!(&effect, Effect::Copy(at, _) if at == "0a1b2c3d:f"), "{effect:?}");
}

/// Also where the note itself is clicked, or an agent was opened between.
#[test]
fn the_note_about_resuming_stands_for_the_message_it_is_about() {
    let mut tester = StateTester::new();
    tester.click_text("◉ Claude Code resumes");
    let effect = single_effect(tester.press_letter('g'));
    let wanted = ChangeCommand::Goto(last_message(&tester));
    assert!(matches!(&effect, Effect::ApplyChange(change) if *change == wanted), "{effect:?}");
}

#[test]
fn a_plan_is_carried_out_by_the_very_key_it_names() {
    let mut tester = StateTester::new();
    let plan = vec![Line::plain("a step")];
    tester.handle_event(ScreenEvent::Asked(plan, "Do it?".to_owned(), channel().0));
    for modifiers in [
        KeyModifiers::CONTROL,
        KeyModifiers::ALT,
        KeyModifiers::SUPER,
        KeyModifiers::CONTROL | KeyModifiers::SHIFT,
    ] {
        let effects = press_with(&mut tester, KeyCode::Char('y'), modifiers);
        assert!(effects.is_empty(), "{modifiers:?}: {effects:?}");
    }
    assert!(press_with(&mut tester, KeyCode::Char('Y'), KeyModifiers::SHIFT).is_empty());
    assert!(tester.press_key(KeyCode::Enter).is_empty());
    assert!(matches!(tester.state.overlay, Some(Overlay::Menu(_))), "the question is still there");
    let effect = single_effect(tester.press_letter('y'));
    assert!(matches!(effect, Effect::Answer(_, true)), "{effect:?}");
}

#[test]
fn other_menus_are_no_looser() {
    let mut tester = StateTester::new();
    tester.press_letter('e');
    assert!(tester.press_key(KeyCode::Enter).is_empty());
    assert!(press_with(&mut tester, KeyCode::Char('m'), KeyModifiers::ALT).is_empty());
    assert!(matches!(
        single_effect(tester.press_letter('m')),
        Effect::Export(_, ExportFormat::Markdown)
    ));
    tester.press_letter('b');
    assert!(press_with(&mut tester, KeyCode::Char('d'), KeyModifiers::ALT).is_empty());
    assert!(tester.state.marked.is_none());
    tester.press_letter('d');
    assert!(tester.state.marked.is_some());
}

#[test]
fn a_sample_history_is_written_by_the_very_key_that_is_named() {
    let StateTester { state: ScreenState { clock, theme, .. }, .. } = StateTester::new();
    let mut tester = StateTester::new();
    tester.state = ScreenState::new(clock, theme, ListPane::new(false, ""));
    tester.handle_event(ScreenEvent::NoHistory("no sessions".to_owned()));
    for (code, modifiers) in [
        (KeyCode::Enter, KeyModifiers::NONE),
        (KeyCode::Char('d'), KeyModifiers::CONTROL),
        (KeyCode::Char('d'), KeyModifiers::ALT),
        (KeyCode::Char('c'), KeyModifiers::NONE),
    ] {
        let effects = press_with(&mut tester, code, modifiers);
        assert!(effects.is_empty(), "{code:?} {modifiers:?}: {effects:?}");
    }
    assert!(matches!(single_effect(tester.press_letter('d')), Effect::WriteDemo));
    assert!(matches!(single_effect(tester.press_letter('q')), Effect::Quit));
    assert!(matches!(
        single_effect(press_with(&mut tester, KeyCode::Char('c'), KeyModifiers::CONTROL)),
        Effect::Quit
    ));
}

/// The list of keys lies over whatever is there, which is there again when it is closed.
#[test]
fn help_discards_nothing() {
    let mut tester = StateTester::new();
    let title = Line::plain("Two conversations");
    tester.handle_event(ScreenEvent::Document(TextDocument {
        title,
        lines: vec![Line::plain("differ")],
        ..TextDocument::default()
    }));
    for help in ['?', '?'] {
        tester.press_letter(help);
        assert!(tester.screen_rows().iter().any(|row| row.contains("In a transcript or a tree")));
    }
    tester.press_key(KeyCode::Esc);
    assert!(
        tester.screen_rows().iter().any(|row| row.contains("differ")),
        "{:#?}",
        tester.screen_rows()
    );
    tester.press_key(KeyCode::Esc);
    assert!(tester.state.overlay.is_none());
    // A question that somebody waits for, too.
    tester.handle_event(ScreenEvent::Asked(
        vec![Line::plain("a step")],
        "Do it?".to_owned(),
        channel().0,
    ));
    tester.press_key(KeyCode::F(1));
    assert!(tester.press_letter('y').is_empty(), "the question is not seen");
    tester.press_key(KeyCode::Esc);
    assert!(matches!(single_effect(tester.press_letter('y')), Effect::Answer(_, true)));
}

#[cfg(unix)]
#[test]
fn control_z_suspends_wherever_it_is_pressed() {
    let mut tester = StateTester::new();
    for keys in ["", "?", "e"] {
        keys.chars().for_each(|key| drop(tester.press_letter(key)));
        let effects = press_with(&mut tester, KeyCode::Char('z'), KeyModifiers::CONTROL);
        assert!(matches!(single_effect(effects), Effect::Suspend), "{keys}");
        tester.press_key(KeyCode::Esc);
    }
    assert!(matches!(single_effect(tester.handle_event(ScreenEvent::Continued)), Effect::Reopen));
}

/// Claude Code resumes one branch of a session only: for another one, that is not the command.
#[test]
fn the_command_that_is_copied_resumes_what_is_read() {
    let mut tester = StateTester::new();
    tester.press_letter('y');
    let effect = single_effect(tester.press_letter('r'));
    let history = tester.state.open_transcript().unwrap().chapter.history.clone();
    let resumes = |effect: &Effect, uuid: &str| {
        let Effect::CopyResume(request) = effect else { return false };
        let JumpTarget::Node(node) = request.target else { return false };
        Some(node) == history.node_by_uuid(RecordUuid::new(uuid.as_bytes()))
    };
    assert!(resumes(&effect, "f"), "{effect:?}");
    tester.press_letter(')');
    tester.press_key(KeyCode::Right);
    assert_eq!(tester.conversation_number(), 1);
    tester.press_letter('y');
    let effect = single_effect(tester.press_letter('r'));
    assert!(resumes(&effect, "d"), "{effect:?}");
    tester.press_letter('y');
    let effect = single_effect(tester.press_letter('f'));
    assert!(
        matches!(&effect, Effect::Copy(text, _) if text == "ramus fork 0a1b2c3d:d"),
        "{effect:?}"
    );
}

/// In another Claude directory than the usual one, commands are told of it.
#[test]
fn copied_commands_name_an_unusual_directory() {
    let mut tester = StateTester::new();
    tester.state.usual_roots = vec!["/nowhere".into()];
    let root = tester.path.ancestors().nth(3).unwrap().display().to_string();
    tester.press_letter(')');
    tester.press_key(KeyCode::Right);
    tester.press_letter('y');
    let Effect::Copy(command, _) = single_effect(tester.press_letter('f')) else {
        panic!("something else")
    };
    assert!(command.contains(&format!("--claude-dir {root} fork")), "{command}");
}

#[test]
fn c_shows_what_each_reply_used() {
    let mut tester = StateTester::new();
    let shown = |tester: &mut StateTester| {
        tester.screen_rows().iter().any(|row| row.contains("context    10"))
    };
    assert!(!shown(&mut tester));
    tester.press_letter('c');
    assert!(shown(&mut tester), "{}", tester.screen_rows().join("\n"));
    tester.press_letter('c');
    assert!(!shown(&mut tester));
}

#[test]
fn ids_that_are_no_uuids_are_not_cut() {
    let mut tester = StateTester::with_fixture(
        "message-10 user v=2.1.325 one
         message-11 < message-10 assistant two",
    );
    tester.press_key(KeyCode::End);
    let reading = tester.state.open_transcript().unwrap();
    let (stage, _) = reading.node_of(reading.cursor).unwrap();
    let chapter = stage.chapter.clone();
    for name in ["message-10", "message-11"] {
        let node = chapter.history.node_by_uuid(RecordUuid::new(name.as_bytes())).unwrap();
        assert_eq!(chapter.address_of("0a1b2c3d", node), format!("0a1b2c3d:{name}"));
        assert!(chapter.is_only(node));
    }
}
