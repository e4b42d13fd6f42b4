mod keys;

mod screen;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::channel;

use ramus_core::edit::ConflictPolicy;
use ramus_core::resume::ResumeRule;
use ramus_render::Line;
use ramus_render::symbols::SymbolSet;
use ramus_store::claude_dir::HistoryFile;
use ramus_store::from_jsonl;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Rect;
use testkit::TestHome;

use super::update_state;
use crate::event::{
    ChangeCommand, Chapter, DocumentRequest, Effect, JumpTarget, NodeAddress, OpenMode,
    OpenedChapter, RenderedBlock, ScreenEvent,
};
use crate::panes::list::ListPane;
use crate::state::{Overlay, ScreenClock, ScreenState};
use crate::theme::{ScreenColors, ScreenTheme};
use crate::view::draw_screen;
use crate::work::render::{BlockPainter, RenderRequest};
use ramus_app::{ExportFormat, NodeSelector};

const FIXTURE: &str = r"
a        user          v=2.1.140 Which tea?
b < a    assistant     Oolong.
c < b    user          Brew it
d < c    assistant     Done.
e < b    user          Rather coffee
f < e    assistant     418 I'm a teapot
";

/// A session on the screen, without any thread: what is to be rendered is rendered in place.
struct StateTester {
    state: ScreenState,
    painter: BlockPainter,
    path: PathBuf,
    _home: TestHome,
}

impl StateTester {
    fn new() -> Self {
        Self::with_fixture(FIXTURE)
    }

    fn with_fixture(fixture: &str) -> Self {
        let home = TestHome::new();
        let path = home.write_session("-tea/0a1b2c3d-0000-4000-8000-000000000000.jsonl", fixture);
        let clock = ScreenClock {
            short: Arc::new(|time| time.to_string()[11..16].to_owned()),
            message: Arc::new(|time| time.to_string()[11..16].to_owned()),
            age: Arc::new(|time| time.to_string()[11..16].to_owned()),
        };
        let theme = ScreenTheme {
            color: true,
            colors: ScreenColors::Terminal,
            symbols: SymbolSet::Unicode,
        };
        let mut state = ScreenState::new(clock.clone(), theme, ListPane::new(false, ""));
        state.size = (80, 24);
        let mut tester =
            Self { state, painter: BlockPainter::new(clock, Arc::default()), path, _home: home };
        let opened = OpenedChapter {
            chapter: tester.read_chapter(),
            target: JumpTarget::Resume,
            opening: OpenMode::New,
            agents: Vec::new(),
        };
        tester.handle_event(ScreenEvent::Opened(Box::new(opened)));
        tester
    }

    fn read_chapter(&self) -> Arc<Chapter> {
        let mut file = HistoryFile::from_path(&self.path).unwrap();
        let root = self.path.ancestors().nth(3).unwrap();
        file.relative = self.path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
        let history = Arc::new(from_jsonl(&self.path, ResumeRule::Client).unwrap());
        Arc::new(Chapter::new(file, Arc::from([]), String::new(), history))
    }

    /// Takes an event and returns what is to be done elsewhere, apart from rendering.
    fn handle_event(&mut self, event: ScreenEvent) -> Vec<Effect> {
        let effects = update_state(&mut self.state, event);
        self.render_effects(effects)
    }

    fn render_effects(&mut self, effects: Vec<Effect>) -> Vec<Effect> {
        let mut left = Vec::new();
        for effect in effects {
            let (Effect::Render(wants) | Effect::Prepare(wants)) = effect else {
                left.push(effect);
                continue;
            };
            for want in wants {
                let effects = self.paint_block(want);
                left.extend(self.render_effects(effects));
            }
        }
        left
    }

    /// Renders a block and returns what its coming asks for.
    fn paint_block(&mut self, want: RenderRequest) -> Vec<Effect> {
        let lines = self.painter.paint_lines(&want);
        let rendered = RenderedBlock {
            key: want.key,
            look: want.look,
            chapter: want.chapter,
            running: want.running,
            lines,
        };
        update_state(&mut self.state, ScreenEvent::Rendered(Box::new(rendered)))
    }

    fn press_key(&mut self, code: KeyCode) -> Vec<Effect> {
        self.handle_event(ScreenEvent::Key(code.into()))
    }

    fn press_letter(&mut self, letter: char) -> Vec<Effect> {
        self.press_key(KeyCode::Char(letter))
    }

    fn send_mouse(&mut self, kind: MouseEventKind, column: u16, row: u16) -> Vec<Effect> {
        let modifiers = KeyModifiers::NONE;
        self.handle_event(ScreenEvent::Mouse(MouseEvent { kind, column, row, modifiers }))
    }

    /// Clicks at the first place where a text stands.
    #[track_caller]
    fn click_text(&mut self, text: &str) -> Vec<Effect> {
        let rows = self.screen_rows();
        let place = rows.iter().enumerate().find_map(|(y, row)| {
            row.find(text).map(|at| (row[..at].chars().count() as u16, y as u16))
        });
        let (x, y) = place.unwrap_or_else(|| panic!("no {text:?} on\n{}", rows.join("\n")));
        self.send_mouse(MouseEventKind::Down(MouseButton::Left), x, y)
    }

    fn screen_rows(&mut self) -> Vec<String> {
        let (width, height) = self.state.size;
        let mut buffer = Buffer::empty(Rect { x: 0, y: 0, width, height });
        draw_screen(&mut self.state, &mut buffer);
        let row = |y| (0..width).map(|x| buffer[(x, y)].symbol()).collect();
        (0..height).map(row).collect()
    }

    fn status_text(&self) -> String {
        self.state.status_line.as_ref().map(Line::to_text).unwrap_or_default()
    }

    fn conversation_number(&self) -> u32 {
        self.state.open_transcript().unwrap().conversation
    }
}

/// Returns the only thing that is to be done.
#[track_caller]
fn single_effect(mut effects: Vec<Effect>) -> Effect {
    assert_eq!(effects.len(), 1, "{effects:?}");
    effects.remove(0)
}

#[test]
fn changes_are_planned_at_the_message_under_the_cursor() {
    let mut tester = StateTester::new();
    let address =
        NodeAddress { file: tester.path.clone(), node: NodeSelector::Uuid("a".to_owned()) };
    for (letter, command) in [
        ('g', ChangeCommand::Goto(address.clone())),
        ('F', ChangeCommand::Fork(address)),
        ('u', ChangeCommand::Undo(None)),
    ] {
        let effect = single_effect(tester.press_letter(letter));
        assert!(matches!(&effect, Effect::ApplyChange(other) if *other == command), "{effect:?}");
    }
}

#[test]
fn a_merge_takes_the_marked_branch_and_this_one() {
    let mut tester = StateTester::new();
    assert!(tester.press_letter('M').is_empty());
    assert_eq!(tester.status_text(), "mark another branch first with d");
    assert_eq!(tester.conversation_number(), 2);
    tester.press_letter('d');
    tester.press_letter(')');
    tester.press_key(KeyCode::Right);
    assert_eq!(tester.conversation_number(), 1);
    assert!(tester.press_letter('M').is_empty());
    // Thinking again costs nothing.
    tester.press_key(KeyCode::Esc);
    assert!(tester.press_letter('M').is_empty());
    let effect = single_effect(tester.press_letter('b'));
    let side = |n| NodeAddress { file: tester.path.clone(), node: NodeSelector::Nth(n) };
    let wanted = ChangeCommand::Merge(side(1), side(2), ConflictPolicy::KeepBoth);
    assert!(matches!(&effect, Effect::ApplyChange(command) if *command == wanted), "{effect:?}");
}

#[test]
fn a_mark_is_removed_or_compared() {
    let mut tester = StateTester::new();
    tester.press_letter('d');
    tester.press_letter('d');
    assert_eq!(tester.status_text(), "unmarked");
    tester.press_letter('d');
    tester.press_letter(')');
    tester.press_key(KeyCode::Right);
    let effect = single_effect(tester.press_letter('d'));
    let side = |n| NodeAddress { file: tester.path.clone(), node: NodeSelector::Nth(n) };
    let wanted = DocumentRequest::Compare(side(2), side(1));
    assert!(
        matches!(&effect, Effect::OpenDocument(question, _) if *question == wanted),
        "{effect:?}"
    );
}

#[test]
fn an_export_asks_for_its_format() {
    let mut tester = StateTester::new();
    assert!(tester.press_letter('e').is_empty());
    assert!(matches!(tester.state.overlay, Some(Overlay::Menu(_))));
    let effect = single_effect(tester.press_letter('h'));
    assert!(
        matches!(
            &effect,
            Effect::Export(NodeAddress { node: NodeSelector::Nth(2), .. }, ExportFormat::Html)
        ),
        "{effect:?}"
    );
    assert!(tester.state.overlay.is_none());
    tester.press_letter('e');
    assert!(tester.press_key(KeyCode::Esc).is_empty());
    assert!(tester.state.overlay.is_none());
    tester.press_letter('e');
    let effect = single_effect(tester.click_text("Markdown"));
    assert!(matches!(&effect, Effect::Export(_, ExportFormat::Markdown)), "{effect:?}");
}

#[test]
fn only_a_clear_yes_carries_a_plan_out() {
    type Answer = fn(&mut StateTester) -> Vec<Effect>;
    let answers: [(Answer, bool); 6] = [
        (|tester| tester.press_letter('y'), true),
        (|tester| tester.click_text("yes"), true),
        (|tester| tester.press_letter('n'), false),
        (|tester| tester.click_text("no, cancel"), false),
        (|tester| tester.press_key(KeyCode::Esc), false),
        (|tester| tester.send_mouse(MouseEventKind::Down(MouseButton::Left), 0, 1), false),
    ];
    for (index, (answer, yes)) in answers.into_iter().enumerate() {
        let mut tester = StateTester::new();
        let plan = (1..40).map(|n| Line::plain(&format!("step {n}"))).collect();
        tester.handle_event(ScreenEvent::Asked(plan, "Do it?".to_owned(), channel().0));
        tester.screen_rows();
        assert!(tester.press_key(KeyCode::Enter).is_empty(), "Enter is no answer");
        let effect = single_effect(answer(&mut tester));
        assert!(matches!(effect, Effect::Answer(_, said) if said == yes), "{index}: {effect:?}");
        assert!(tester.state.overlay.is_none());
    }
}

#[test]
fn clicks_on_arrows_and_branches_switch_at_a_fork_point() {
    let mut tester = StateTester::new();
    tester.click_text("›  ←");
    assert_eq!(tester.conversation_number(), 1);
    tester.click_text("‹");
    assert_eq!(tester.conversation_number(), 2);
    tester.click_text("○ Brew it");
    assert_eq!(tester.conversation_number(), 1);
    tester.click_text("● Rather coffee");
    assert_eq!(tester.conversation_number(), 2);
    // Beside the arrows a click goes to the fork and no further.
    tester.click_text("┬");
    assert_eq!(tester.conversation_number(), 2);
}

#[test]
fn the_wheel_scrolls_what_is_under_it() {
    let mut tester = StateTester::new();
    tester.handle_event(ScreenEvent::Resize(80, 8));
    tester.send_mouse(MouseEventKind::ScrollDown, 40, 4);
    assert_ne!(tester.state.open_transcript().unwrap().top, Default::default());
    for _ in 0..9 {
        tester.send_mouse(MouseEventKind::ScrollUp, 40, 4);
    }
    assert_eq!(tester.state.open_transcript().unwrap().top, Default::default());
}

#[test]
fn a_row_of_branches_is_chosen_by_clicking_twice() {
    let mut tester = StateTester::new();
    tester.press_letter('b');
    tester.screen_rows();
    tester.click_text("@1");
    assert_eq!(tester.conversation_number(), 2);
    tester.click_text("@1");
    assert_eq!(tester.conversation_number(), 1);
    assert!(tester.state.overlay.is_none());
}

/// A block that was being rendered while its file grew must be rendered again.
#[test]
fn what_was_rendered_before_the_file_grew_is_out_of_date() {
    let mut tester = StateTester::new();
    let before = tester.read_chapter();
    let more = testkit::jsonl("g < d thinking #md And warm the pot");
    let text = std::fs::read_to_string(&tester.path).unwrap();
    std::fs::write(&tester.path, text + &more).unwrap();
    let reading = tester.state.open_transcript().unwrap();
    let last = reading.items.len() - 2;
    let want = reading.new_render_request(last).unwrap();
    let now = tester.read_chapter();
    let effects = update_state(&mut tester.state, ScreenEvent::Grew(now));
    assert!(effects.iter().any(|effect| matches!(effect, Effect::Render(_))), "{effects:?}");
    let lines = vec![Line::plain("late")];
    let late = RenderedBlock {
        key: want.key,
        look: want.look,
        chapter: before,
        running: want.running,
        lines,
    };
    update_state(&mut tester.state, ScreenEvent::Rendered(Box::new(late)));
    assert!(!tester.state.open_transcript().unwrap().is_ready());
    tester.render_effects(effects);
    assert!(tester.state.open_transcript().unwrap().is_ready());
}

/// Blocks arrive one by one; the rest of the request must not be begun again with each of them.
#[test]
fn a_block_is_asked_for_once() {
    let mut tester = StateTester::new();
    let mut effects = update_state(&mut tester.state, ScreenEvent::Resize(60, 24));
    let Some(Effect::Render(wants)) = effects.pop() else { panic!("{effects:?}") };
    assert!(wants.len() > 3, "{wants:?}");
    let mut next = Vec::new();
    for want in wants {
        next.extend(tester.paint_block(want));
    }
    assert!(tester.state.open_transcript().unwrap().is_ready());
    let Effect::Prepare(wants) = single_effect(next) else { panic!("something else") };
    for want in wants {
        let effects = tester.paint_block(want);
        assert!(effects.is_empty(), "{effects:?}");
    }
}

/// One key opens all tool calls: what it shows was rendered while nobody waited for it.
#[test]
fn tool_calls_are_opened_and_folded_at_once() {
    let mut tester = StateTester::with_fixture(
        r"
a        user          Boil water
b < a    call:t1:Bash  #m1 boil
c < b    result:t1     one\ntwo
d < c    assistant     #m2 Done.
",
    );
    let folded = tester.screen_rows();
    for _ in 0..2 {
        assert!(
            update_state(&mut tester.state, ScreenEvent::Key(KeyCode::Char('s').into())).is_empty()
        );
        let opened = tester.screen_rows();
        assert!(tester.state.open_transcript().unwrap().is_ready());
        assert!(opened.iter().any(|row| row.contains("│ two")), "{}", opened.join("\n"));
        assert!(
            update_state(&mut tester.state, ScreenEvent::Key(KeyCode::Char('s').into())).is_empty()
        );
        assert_eq!(tester.screen_rows(), folded);
    }
}

/// What the next key may ask for waits for what is seen.
#[test]
fn nothing_is_prepared_while_something_is_missing() {
    let mut tester = StateTester::new();
    let mut effects = update_state(&mut tester.state, ScreenEvent::Resize(60, 24));
    let Some(Effect::Render(mut wants)) = effects.pop() else { panic!("{effects:?}") };
    assert!(matches!(effects[..], [Effect::Redraw]), "{effects:?}");
    let first = wants.remove(0);
    assert!(tester.paint_block(first).is_empty());
    let last: Vec<Effect> = wants.into_iter().flat_map(|want| tester.paint_block(want)).collect();
    let Effect::Prepare(wants) = single_effect(last) else { panic!("something else") };
    assert!(wants.iter().all(|want| want.look.tools), "{wants:?}");
    // The size changes again before any of it has come: that must not take any time now.
    let effects = update_state(&mut tester.state, ScreenEvent::Resize(50, 24));
    assert!(matches!(
        &effects[..],
        [Effect::Redraw, Effect::Render(_), Effect::Prepare(none)] if none.is_empty()
    ));
}

#[test]
fn a_signal_ends_the_screens_whatever_lies_over_them() {
    let mut tester = StateTester::new();
    tester.press_letter('?');
    assert!(tester.handle_event(ScreenEvent::Signal(15)).is_empty());
    assert_eq!(tester.state.killed_by, Some(15));
    let key = ratatui::crossterm::event::KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    assert!(matches!(single_effect(tester.handle_event(ScreenEvent::Key(key))), Effect::Quit));
}
