mod keys;

mod screen;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::channel;

use ramus_core::edit::Policy;
use ramus_core::resume::Rule;
use ramus_render::Line;
use ramus_render::symbols::Symbols;
use ramus_store::from_jsonl;
use ramus_store::place::HistoryFile;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Rect;
use testkit::Home;

use super::update;
use crate::event::{
    Chapter, Deed, Effect, Event, NodeAddress, Opened, Opening, Question, Rendered, Target,
};
use crate::panes::list::List;
use crate::state::{Clock, Overlay, State};
use crate::theme::Theme;
use crate::view::view;
use crate::work::render::{Painter, Want};
use ramus_app::NodeSelector;

const FIXTURE: &str = r"
a        user          v=2.1.140 Which tea?
b < a    assistant     Oolong.
c < b    user          Brew it
d < c    assistant     Done.
e < b    user          Rather coffee
f < e    assistant     418 I'm a teapot
";

/// A session on the screen, without any thread: what is to be rendered is rendered in place.
struct Desk {
    state: State,
    painter: Painter,
    path: PathBuf,
    _home: Home,
}

impl Desk {
    fn new() -> Self {
        Self::over(FIXTURE)
    }

    fn over(fixture: &str) -> Self {
        let home = Home::new();
        let path = home.session("-tea/0a1b2c3d-0000-4000-8000-000000000000.jsonl", fixture);
        let clock = Clock {
            short: Arc::new(|time| time.to_string()[11..16].to_owned()),
            message: Arc::new(|time| time.to_string()[11..16].to_owned()),
        };
        let theme = Theme { color: true, symbols: Symbols::Unicode };
        let mut state = State::new(clock.clone(), theme, List::new(false, ""));
        state.size = (80, 24);
        let mut desk =
            Self { state, painter: Painter::new(clock, Arc::default()), path, _home: home };
        let opened = Opened {
            chapter: desk.read(),
            target: Target::Resume,
            opening: Opening::New,
            agents: Vec::new(),
        };
        desk.take(Event::Opened(Box::new(opened)));
        desk
    }

    fn read(&self) -> Arc<Chapter> {
        let mut file = HistoryFile::at(&self.path).unwrap();
        let root = self.path.ancestors().nth(3).unwrap();
        file.relative = self.path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
        let history = Arc::new(from_jsonl(&self.path, Rule::Client).unwrap());
        Arc::new(Chapter::new(file, Arc::from([]), String::new(), history))
    }

    /// Takes an event and returns what is to be done elsewhere, apart from rendering.
    fn take(&mut self, event: Event) -> Vec<Effect> {
        let effects = update(&mut self.state, event);
        self.render(effects)
    }

    fn render(&mut self, effects: Vec<Effect>) -> Vec<Effect> {
        let mut left = Vec::new();
        for effect in effects {
            let (Effect::Render(wants) | Effect::Prepare(wants)) = effect else {
                left.push(effect);
                continue;
            };
            for want in wants {
                let effects = self.painted(want);
                left.extend(self.render(effects));
            }
        }
        left
    }

    /// Renders a block and returns what its coming asks for.
    fn painted(&mut self, want: Want) -> Vec<Effect> {
        let lines = self.painter.lines(&want);
        let rendered = Rendered { key: want.key, look: want.look, chapter: want.chapter, lines };
        update(&mut self.state, Event::Rendered(Box::new(rendered)))
    }

    fn press(&mut self, code: KeyCode) -> Vec<Effect> {
        self.take(Event::Key(code.into()))
    }

    fn letter(&mut self, letter: char) -> Vec<Effect> {
        self.press(KeyCode::Char(letter))
    }

    fn mouse(&mut self, kind: MouseEventKind, column: u16, row: u16) -> Vec<Effect> {
        let modifiers = KeyModifiers::NONE;
        self.take(Event::Mouse(MouseEvent { kind, column, row, modifiers }))
    }

    /// Clicks at the first place where a text stands.
    #[track_caller]
    fn click(&mut self, text: &str) -> Vec<Effect> {
        let rows = self.rows();
        let place = rows.iter().enumerate().find_map(|(y, row)| {
            row.find(text).map(|at| (row[..at].chars().count() as u16, y as u16))
        });
        let (x, y) = place.unwrap_or_else(|| panic!("no {text:?} on\n{}", rows.join("\n")));
        self.mouse(MouseEventKind::Down(MouseButton::Left), x, y)
    }

    fn rows(&mut self) -> Vec<String> {
        let (width, height) = self.state.size;
        let mut buffer = Buffer::empty(Rect { x: 0, y: 0, width, height });
        view(&mut self.state, &mut buffer);
        let row = |y| (0..width).map(|x| buffer[(x, y)].symbol()).collect();
        (0..height).map(row).collect()
    }

    fn said(&self) -> String {
        self.state.said.as_ref().map(Line::text).unwrap_or_default()
    }

    fn conversation(&self) -> u32 {
        self.state.reading().unwrap().conversation
    }
}

/// Returns the only thing that is to be done.
#[track_caller]
fn only(mut effects: Vec<Effect>) -> Effect {
    assert_eq!(effects.len(), 1, "{effects:?}");
    effects.remove(0)
}

#[test]
fn changes_are_planned_at_the_message_under_the_cursor() {
    let mut desk = Desk::new();
    let address = NodeAddress { file: desk.path.clone(), node: NodeSelector::Uuid("a".to_owned()) };
    for (letter, deed) in
        [('g', Deed::Goto(address.clone())), ('F', Deed::Fork(address)), ('u', Deed::Undo)]
    {
        let effect = only(desk.letter(letter));
        assert!(matches!(&effect, Effect::Do(other) if *other == deed), "{effect:?}");
    }
}

#[test]
fn a_merge_takes_the_marked_branch_and_this_one() {
    let mut desk = Desk::new();
    assert!(desk.letter('M').is_empty());
    assert_eq!(desk.said(), "mark the other branch first: d");
    assert_eq!(desk.conversation(), 2);
    desk.letter('d');
    desk.letter(')');
    desk.press(KeyCode::Right);
    assert_eq!(desk.conversation(), 1);
    assert!(desk.letter('M').is_empty());
    // Thinking again costs nothing.
    desk.press(KeyCode::Esc);
    assert!(desk.letter('M').is_empty());
    let effect = only(desk.letter('b'));
    let side = |n| NodeAddress { file: desk.path.clone(), node: NodeSelector::Nth(n) };
    let wanted = Deed::Merge(side(1), side(2), Policy::KeepBoth);
    assert!(matches!(&effect, Effect::Do(deed) if *deed == wanted), "{effect:?}");
}

#[test]
fn a_mark_is_taken_back_or_compared() {
    let mut desk = Desk::new();
    desk.letter('d');
    desk.letter('d');
    assert_eq!(desk.said(), "unmarked");
    desk.letter('d');
    desk.letter(')');
    desk.press(KeyCode::Right);
    let effect = only(desk.letter('d'));
    let side = |n| NodeAddress { file: desk.path.clone(), node: NodeSelector::Nth(n) };
    let wanted = Question::Compare(side(2), side(1));
    assert!(matches!(&effect, Effect::Ask(question, _) if *question == wanted), "{effect:?}");
}

#[test]
fn an_export_asks_for_its_format() {
    let mut desk = Desk::new();
    assert!(desk.letter('e').is_empty());
    assert!(matches!(desk.state.overlay, Some(Overlay::Menu(_))));
    let effect = only(desk.letter('h'));
    assert!(
        matches!(&effect, Effect::Export(side, "html") if side.conversation == 2),
        "{effect:?}"
    );
    assert!(desk.state.overlay.is_none());
    desk.letter('e');
    assert!(desk.press(KeyCode::Esc).is_empty());
    assert!(desk.state.overlay.is_none());
    desk.letter('e');
    let effect = only(desk.click("Markdown"));
    assert!(matches!(&effect, Effect::Export(_, "md")), "{effect:?}");
}

#[test]
fn only_a_clear_yes_carries_a_plan_out() {
    type Answer = fn(&mut Desk) -> Vec<Effect>;
    let answers: [(Answer, bool); 6] = [
        (|desk| desk.letter('y'), true),
        (|desk| desk.click("yes"), true),
        (|desk| desk.letter('n'), false),
        (|desk| desk.click("no, leave"), false),
        (|desk| desk.press(KeyCode::Esc), false),
        (|desk| desk.mouse(MouseEventKind::Down(MouseButton::Left), 0, 1), false),
    ];
    for (index, (answer, yes)) in answers.into_iter().enumerate() {
        let mut desk = Desk::new();
        let plan = (1..40).map(|n| Line::plain(&format!("step {n}"))).collect();
        desk.take(Event::Asked(plan, "Do it?".to_owned(), channel().0));
        desk.rows();
        assert!(desk.press(KeyCode::Enter).is_empty(), "Enter is no answer");
        let effect = only(answer(&mut desk));
        assert!(matches!(effect, Effect::Answer(_, said) if said == yes), "{index}: {effect:?}");
        assert!(desk.state.overlay.is_none());
    }
}

#[test]
fn a_fork_is_switched_by_clicks_on_its_arrows_and_ways() {
    let mut desk = Desk::new();
    desk.click("›  ←");
    assert_eq!(desk.conversation(), 1);
    desk.click("‹");
    assert_eq!(desk.conversation(), 2);
    desk.click("○ Brew it");
    assert_eq!(desk.conversation(), 1);
    desk.click("● Rather coffee");
    assert_eq!(desk.conversation(), 2);
    // Beside the arrows a click goes to the fork and no further.
    desk.click("┬");
    assert_eq!(desk.conversation(), 2);
}

#[test]
fn the_wheel_scrolls_what_is_under_it() {
    let mut desk = Desk::new();
    desk.take(Event::Resize(80, 8));
    desk.mouse(MouseEventKind::ScrollDown, 40, 4);
    assert_ne!(desk.state.reading().unwrap().top, Default::default());
    for _ in 0..9 {
        desk.mouse(MouseEventKind::ScrollUp, 40, 4);
    }
    assert_eq!(desk.state.reading().unwrap().top, Default::default());
}

#[test]
fn a_row_of_branches_is_chosen_by_clicking_twice() {
    let mut desk = Desk::new();
    desk.letter('b');
    desk.rows();
    desk.click("@1");
    assert_eq!(desk.conversation(), 2);
    desk.click("@1");
    assert_eq!(desk.conversation(), 1);
    assert!(desk.state.overlay.is_none());
}

/// A block that was being rendered while its file grew must be rendered again.
#[test]
fn what_was_rendered_before_the_file_grew_is_out_of_date() {
    let mut desk = Desk::new();
    let before = desk.read();
    let more = testkit::jsonl("g < d thinking #md And warm the pot");
    let text = std::fs::read_to_string(&desk.path).unwrap();
    std::fs::write(&desk.path, text + &more).unwrap();
    let reading = desk.state.reading().unwrap();
    let last = reading.items.len() - 2;
    let want = reading.want_anyway(last).unwrap();
    let now = desk.read();
    let effects = update(&mut desk.state, Event::Grew(now));
    assert!(effects.iter().any(|effect| matches!(effect, Effect::Render(_))), "{effects:?}");
    let lines = vec![Line::plain("late")];
    let late = Rendered { key: want.key, look: want.look, chapter: before, lines };
    update(&mut desk.state, Event::Rendered(Box::new(late)));
    assert!(!desk.state.reading().unwrap().is_ready());
    desk.render(effects);
    assert!(desk.state.reading().unwrap().is_ready());
}

/// Blocks arrive one by one; the rest of the request must not be begun again with each of them.
#[test]
fn a_block_is_asked_for_once() {
    let mut desk = Desk::new();
    let mut effects = update(&mut desk.state, Event::Resize(60, 24));
    let Some(Effect::Render(wants)) = effects.pop() else { panic!("{effects:?}") };
    assert!(wants.len() > 3, "{wants:?}");
    let mut next = Vec::new();
    for want in wants {
        next.extend(desk.painted(want));
    }
    assert!(desk.state.reading().unwrap().is_ready());
    let Effect::Prepare(wants) = only(next) else { panic!("something else") };
    for want in wants {
        let effects = desk.painted(want);
        assert!(effects.is_empty(), "{effects:?}");
    }
}

/// One key opens all tool calls: what it shows was rendered while nobody waited for it.
#[test]
fn tool_calls_are_opened_and_folded_at_once() {
    let mut desk = Desk::over(
        r"
a        user          Boil water
b < a    call:t1:Bash  #m1 boil
c < b    result:t1     one\ntwo
d < c    assistant     #m2 Done.
",
    );
    let folded = desk.rows();
    for _ in 0..2 {
        assert!(update(&mut desk.state, Event::Key(KeyCode::Char('s').into())).is_empty());
        let opened = desk.rows();
        assert!(desk.state.reading().unwrap().is_ready());
        assert!(opened.iter().any(|row| row.contains("│ two")), "{}", opened.join("\n"));
        assert!(update(&mut desk.state, Event::Key(KeyCode::Char('s').into())).is_empty());
        assert_eq!(desk.rows(), folded);
    }
}

/// What the next key may ask for waits for what is seen.
#[test]
fn nothing_is_prepared_while_something_is_missing() {
    let mut desk = Desk::new();
    let mut effects = update(&mut desk.state, Event::Resize(60, 24));
    let Some(Effect::Render(mut wants)) = effects.pop() else { panic!("{effects:?}") };
    assert!(effects.is_empty(), "{effects:?}");
    let first = wants.remove(0);
    assert!(desk.painted(first).is_empty());
    let last: Vec<Effect> = wants.into_iter().flat_map(|want| desk.painted(want)).collect();
    let Effect::Prepare(wants) = only(last) else { panic!("something else") };
    assert!(wants.iter().all(|want| want.look.tools), "{wants:?}");
    // The size changes again before any of it has come: that must not take any time now.
    let effects = update(&mut desk.state, Event::Resize(50, 24));
    assert!(matches!(&effects[..], [Effect::Render(_), Effect::Prepare(none)] if none.is_empty()));
}

#[test]
fn a_signal_ends_the_screens_whatever_lies_over_them() {
    let mut desk = Desk::new();
    desk.letter('?');
    assert!(desk.take(Event::Signal(15)).is_empty());
    assert_eq!(desk.state.killed_by, Some(15));
    let key = ratatui::crossterm::event::KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    assert!(matches!(only(desk.take(Event::Key(key))), Effect::Quit));
}
