mod agents;

mod files;

mod found;

mod live;

mod session;

mod sizes;

use std::fs::File;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use insta::assert_snapshot;
use ramus_app::Workspace;
use ramus_core::ids::RecordUuid;
use ramus_core::resume::ResumeRule;
use ramus_render::Line;
use ramus_render::symbols::SymbolSet;
use ramus_store::cache::HistoryCache;
use ramus_store::claude_dir::ClaudeDirs;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use testkit::TestHome;

use crate::app::{ScreenOptions, Workers};
use crate::event::{Effect, ScreenEvent};
use crate::panes::list::ListPane;
use crate::panes::transcript::TranscriptPane;
use crate::state::{ScreenClock, ScreenState};
use crate::theme::{ScreenColors, ScreenTheme};
use crate::update::update_state;
use crate::view::draw_screen;

const FIXTURE: &str = r"
a        user          Which tea?
b < a    thinking      #m1 Oolong, hm
c < b    assistant     #m1 **Oolong**.
d < c    user          Brew it
e < d    call:t1:Bash  #m2 boil water
f < e    result:t1     one\ntwo
g < f    assistant     Done, 96 degrees.
h < d    assistant     Boil it yourself. 漢字 👩‍👩‍👧
i < c    user          Rather coffee
j < i    assistant     418 I'm a teapot ESC]0;boomBEL end
k < g    call:t2:Task  #m3 steep
l < k    result:t2     steeped
n < l    assistant     Steeped.
-        last-prompt:n:explicit
";

const AGENT: &str = r"
x        user          steep it
y < x    assistant     Three minutes are enough.
";

fn test_workspace(home: &TestHome) -> Arc<Workspace> {
    let place = ClaudeDirs::at(vec![home.claude_dir()], HistoryCache::disabled());
    let state = ramus_store::StateDir::new(home.path().join("state"));
    Arc::new(Workspace::for_serving(place, ResumeRule::Client, state))
}

/// Makes all files below a directory as old as their records.
fn make_old(dir: &std::path::Path) {
    let old = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_767_225_600);
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        match entry.path() {
            below if below.is_dir() => make_old(&below),
            file => File::options().append(true).open(file).unwrap().set_modified(old).unwrap(),
        }
    }
}

/// The screens without a terminal, with real work behind them.
struct TestScreens {
    state: ScreenState,
    desks: Workers,
    events: Receiver<ScreenEvent>,
    home: TestHome,
    left: bool,
}

impl TestScreens {
    fn new(width: u16, height: u16) -> Self {
        let home = TestHome::new();
        let id = "0a1b2c3d-0000-4000-8000-000000000000";
        home.write_session(
            &format!("-home-dev-app/{id}.jsonl"),
            &FIXTURE.replace("ESC", "\u{1b}").replace("BEL", "\u{7}"),
        );
        let other = "a user about kettles\nb < a assistant They whistle.";
        home.write_session("-home-dev-kettle/1b2c3d4e-0000-4000-8000-000000000000.jsonl", other);
        let dir = format!("-home-dev-app/{id}/subagents/agent-a9.jsonl");
        home.write_session(&dir, AGENT);
        let meta = r#"{"agentType":"steeper","description":"Steep it well","toolUseId":"t2"}"#;
        home.write_file(&format!("-home-dev-app/{id}/subagents/agent-a9.meta.json"), meta);
        Self::with_home(home, width, height)
    }

    fn with_home(home: TestHome, width: u16, height: u16) -> Self {
        // What was written just now would be marked as being written.
        make_old(&home.claude_dir().join("projects"));
        let clock = ScreenClock {
            short: Arc::new(|time| time.to_string()[11..16].to_owned()),
            message: Arc::new(|time| time.to_string()[11..16].to_owned()),
            age: Arc::new(|time| time.to_string()[11..16].to_owned()),
        };
        let options = ScreenOptions {
            workspace: test_workspace(&home),
            usual_roots: Vec::new(),
            all: false,
            color: true,
            colors: Some(ScreenColors::Terminal),
            symbols: SymbolSet::Unicode,
            home: "/home/dev".to_owned(),
            clock: clock.clone(),
            keys: crate::keys::KeyMap::default(),
            output_dir: home.path().to_owned(),
            write_demo: |_| Ok(()),
            usage_lines: |_, _, _| Ok(vec![Line::plain("Total $1.23")]),
            file_changes: |_, [then, end], only| {
                Ok(vec![Line::plain(&format!("{:?} to {:?}: {only:?}", then.node, end.node))])
            },
            open_file: |path| path.extension().is_some_and(|end| end == "png"),
            resume: |_, _, _| Ok(()),
        };
        let theme = ScreenTheme {
            color: true,
            colors: ScreenColors::Terminal,
            symbols: SymbolSet::Unicode,
        };
        let (sender, events) = channel();
        let desks = Workers::new(&sender, options);
        let mut state = ScreenState::new(clock, theme, ListPane::new(false, "/home/dev"));
        state.size = (width, height);
        desks.start_survey();
        let mut screens = Self { state, desks, events, home, left: false };
        screens.wait_until(|text| !text.contains("looking …") && !text.contains("reading"));
        screens
    }

    fn handle_event(&mut self, event: ScreenEvent) {
        for effect in update_state(&mut self.state, event) {
            match effect {
                Effect::Quit => self.left = true,
                Effect::Copy(text, what) => {
                    self.state.status_line = Some(Line::plain(&format!("copied {what}: {text}")));
                }
                effect => self.desks.run_effect(effect),
            }
        }
    }

    fn drawn_text(&mut self) -> String {
        let (width, height) = self.state.size;
        let area = Rect { x: 0, y: 0, width, height };
        let mut buffer = Buffer::empty(area);
        draw_screen(&mut self.state, &mut buffer);
        let mut text = String::new();
        for y in 0..area.height {
            let mut row = String::new();
            let mut x = 0;
            while x < area.width {
                let symbol = buffer[(x, y)].symbol();
                row.push_str(symbol);
                // A wide character stands in two cells, and only the first one counts.
                x += ramus_render::layout::display_width(symbol).max(1) as u16;
            }
            text.push_str(row.trim_end());
            text.push('\n');
        }
        text
    }

    /// Takes what happens until the screen is as it should be.
    #[track_caller]
    fn wait_until(&mut self, is_right: impl Fn(&str) -> bool) -> String {
        loop {
            let text = self.drawn_text();
            let is_previewed = self.state.screen_areas().preview.is_some();
            let preview = self.state.preview.as_ref().filter(|_| is_previewed);
            let ready = self.state.visible_transcript().is_none_or(TranscriptPane::is_ready)
                && preview.is_none_or(|preview| preview.reading.is_ready());
            if ready && is_right(&text) {
                return text;
            }
            match self.events.recv_timeout(Duration::from_secs(20)) {
                Ok(event) => self.handle_event(event),
                Err(_) => panic!("nothing happens any more on\n{text}"),
            }
        }
    }

    #[track_caller]
    fn wait_for_text(&mut self, what: &str) -> String {
        self.wait_until(|text| text.contains(what))
    }

    /// A tree that is drawn before the agents are known is drawn again with them.
    fn wait_for_agents(&mut self) {
        while !self.state.open_transcript().expect("because a session is open").agents_known {
            let event = self.events.recv_timeout(Duration::from_secs(20));
            self.handle_event(event.expect("because agents are looked for"));
        }
    }

    fn press_key(&mut self, code: KeyCode) {
        self.handle_event(ScreenEvent::Key(KeyEvent::new(code, KeyModifiers::NONE)));
    }

    fn type_in(&mut self, text: &str) {
        text.chars().for_each(|char| self.press_key(KeyCode::Char(char)));
    }

    /// Opens the session with the forks.
    fn open_demo(width: u16, height: u16) -> Self {
        let mut screens = Self::new(width, height);
        screens.type_in("which tea");
        screens.press_key(KeyCode::Enter);
        // The preview shows the same text before the session is open.
        while screens.state.visible_transcript().is_none() {
            let event = screens.events.recv_timeout(Duration::from_secs(20));
            screens.handle_event(event.expect("because the session opens"));
        }
        while !screens.state.list.search.done {
            let event = screens.events.recv_timeout(Duration::from_secs(20));
            screens.handle_event(event.expect("because a search ends"));
        }
        screens.wait_for_text("You  00:00  a");
        screens
    }
}

#[test]
fn the_list_shows_projects_and_sessions_and_filters() {
    let mut screens = TestScreens::new(60, 10);
    assert_snapshot!(screens.drawn_text());
    screens.type_in("kettle");
    let text = screens.drawn_text();
    assert!(text.contains("about kettles") && !text.contains("Which tea"), "{text}");
    screens.press_key(KeyCode::Esc);
    assert!(screens.drawn_text().contains("Which tea"));
    assert!(!screens.left);
    screens.press_key(KeyCode::Esc);
    assert!(screens.left);
}

#[test]
fn conversations_stand_under_their_session() {
    let mut screens = TestScreens::new(76, 12);
    screens.type_in("which tea");
    screens.press_key(KeyCode::Right);
    assert!(screens.drawn_text().contains("Rather coffee"), "{}", screens.drawn_text());
    screens.press_key(KeyCode::Esc);
    assert_snapshot!(screens.drawn_text());
}

#[test]
fn a_transcript_folds_tools_and_shows_forks() {
    let mut screens = TestScreens::open_demo(80, 40);
    assert_snapshot!(screens.drawn_text());
    screens.type_in("s");
    let text = screens.wait_for_text("│ two");
    assert!(text.contains("│ one"), "{text}");
    screens.type_in("h");
    screens.wait_for_text("Oolong, hm");
}

#[test]
fn left_and_right_switch_at_a_fork() {
    let mut screens = TestScreens::open_demo(80, 40);
    screens.type_in(")");
    screens.press_key(KeyCode::Right);
    // The escape sequence of the transcript is shown, and is none.
    let text = screens.wait_for_text("418 I'm a teapot ␛]0;boom␇ end");
    assert!(text.contains("@2 of 3 abandoned") && !text.contains('\u{1b}'), "{text}");
    screens.press_key(KeyCode::Left);
    screens.wait_for_text("@3 of 3 resumes");
}

#[test]
fn wide_characters_keep_their_columns() {
    let mut screens = TestScreens::open_demo(80, 40);
    screens.type_in("))");
    screens.press_key(KeyCode::Left);
    let text = screens.wait_for_text("Boil it yourself. 漢字 👩‍👩‍👧");
    assert!(text.contains("@1 of 3"), "{text}");
}

#[test]
fn the_tree_moves_the_transcript() {
    let mut screens = TestScreens::open_demo(120, 24);
    screens.type_in("t");
    screens.wait_for_text("edited prompt: 2 branches");
    screens.wait_for_text("Steep it well");
    assert_snapshot!(screens.drawn_text());
    screens.press_key(KeyCode::Down);
    screens.press_key(KeyCode::Down);
    screens.wait_for_text("Rather coffee");
    screens.wait_for_text("418 I'm a teapot");
    screens.type_in("t");
    assert!(!screens.drawn_text().contains("edited prompt: 2 branches"));
}

#[test]
fn all_branches_are_listed_and_one_is_read() {
    let mut screens = TestScreens::open_demo(90, 16);
    screens.type_in("b");
    assert_snapshot!(screens.drawn_text());
    screens.press_key(KeyCode::Up);
    screens.press_key(KeyCode::Enter);
    screens.wait_for_text("@2 of 3 abandoned");
}

#[test]
fn two_marked_branches_are_compared() {
    let mut screens = TestScreens::open_demo(90, 30);
    screens.type_in("d");
    screens.wait_for_text("marked 0a1b2c3d@3");
    screens.type_in(")");
    screens.press_key(KeyCode::Right);
    screens.type_in("d");
    screens.wait_for_text("2 messages in common");
    assert_snapshot!(screens.drawn_text());
}

#[test]
fn agents_that_are_not_known_yet_are_waited_for() {
    let mut screens = TestScreens::open_demo(80, 40);
    screens.wait_for_agents();
    // As if the answer were still to come.
    let reading = screens.state.stack.last_mut().unwrap();
    reading.agents_known = false;
    let file = reading.chapter.file.path.clone();
    let agents = std::mem::take(&mut reading.agents);
    screens.type_in("A");
    assert!(screens.drawn_text().contains("loading agents"));
    screens.handle_event(ScreenEvent::Agents { file, agents });
    assert!(screens.drawn_text().contains("Steep it well"));
}

#[test]
fn an_agent_that_begins_while_one_reads_appears() {
    let mut screens = TestScreens::open_demo(80, 40);
    screens.type_in("A");
    screens.wait_for_text("Steep it well");
    screens.press_key(KeyCode::Esc);
    let dir = "-home-dev-app/0a1b2c3d-0000-4000-8000-000000000000/subagents";
    screens.home.write_session(&format!("{dir}/agent-b7.jsonl"), "x user Warm the pot");
    while screens.state.open_transcript().unwrap().agents.len() < 2 {
        let event = screens.events.recv_timeout(Duration::from_secs(20)).unwrap();
        screens.handle_event(event);
    }
    screens.type_in("A");
    assert!(screens.drawn_text().contains("Warm the pot"));
    let counted = |screens: &TestScreens| {
        let sessions = screens.state.list.projects.iter().flat_map(|project| &project.sessions);
        sessions.map(|session| session.agents).max()
    };
    while counted(&screens) != Some(2) {
        let event = screens.events.recv_timeout(Duration::from_secs(20)).unwrap();
        screens.handle_event(event);
    }
}

#[test]
fn an_agent_opens_in_place_and_as_a_pane() {
    let mut screens = TestScreens::open_demo(80, 40);
    screens.type_in("A");
    screens.wait_for_text("Steep it well");
    assert_snapshot!(screens.drawn_text());
    screens.press_key(KeyCode::Esc);
    while !screens.drawn_text().contains("▌   • Task") {
        screens.type_in("j");
    }
    screens.type_in("a");
    screens.wait_for_text("┆   Three minutes are enough.");
    screens.type_in("a");
    screens.wait_until(|text| !text.contains("Three minutes"));
    screens.type_in("A");
    screens.press_key(KeyCode::Enter);
    let text = screens.wait_for_text("Three minutes are enough.");
    assert!(text.contains("agent steep it"), "{text}");
    screens.type_in("q");
    screens.wait_for_text("Brew it");
}

#[test]
fn an_agent_in_the_file_itself_opens_as_a_pane_wherever_it_hangs() {
    let home = TestHome::new();
    home.write_session(
        "-home-dev-app/0a1b2c3d-0000-4000-8000-000000000000.jsonl",
        "
        a       user       Which tea?
        x       side-user  Look for leaves
        y < x   side-assistant  There are leaves.
        p       user       And another beginning
        q < p   assistant  Of its own.
        ",
    );
    let mut screens = TestScreens::with_home(home, 80, 24);
    screens.wait_for_text("beginning");
    screens.press_key(KeyCode::Enter);
    screens.wait_for_text("Of its own.");
    screens.type_in("A");
    screens.wait_for_text("Look for leaves");
    screens.press_key(KeyCode::Enter);
    screens.wait_for_text("There are leaves.");
    // It is a part of the session: what is for conversations says so.
    for letter in ["d", "e"] {
        screens.type_in(letter);
        screens.wait_for_text("an agent is not a conversation");
    }
    // It grows with the session, and moves with it.
    let path = screens.state.open_transcript().unwrap().chapter.file.path.clone();
    let line = testkit::jsonl("z < y side-assistant And more leaves.");
    let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    std::io::Write::write_all(&mut file, line.as_bytes()).unwrap();
    screens.wait_for_text("And more leaves.");
    let elsewhere = path.with_file_name("0a1b2c3d-0000-4000-8000-000000000009.jsonl");
    std::fs::rename(&path, &elsewhere).unwrap();
    while screens.state.stack.iter().any(|reading| reading.chapter.file.path == path) {
        let event = screens.events.recv_timeout(Duration::from_secs(20)).unwrap();
        screens.handle_event(event);
    }
    screens.type_in("q");
    screens.wait_for_text("Of its own.");
    // A hit in it opens all of it.
    screens.type_in("f");
    screens.type_in("leaves");
    screens.wait_for_text("Look for leaves");
    screens.press_key(KeyCode::Enter);
    screens
        .wait_until(|text| text.contains("Look for leaves") && text.contains("And more leaves."));
}

#[test]
fn a_search_finds_here_and_everywhere() {
    let mut screens = TestScreens::open_demo(80, 24);
    screens.type_in("/boil");
    screens.press_key(KeyCode::Enter);
    let text = screens.wait_for_text("“boil” 1 of 1, 1 elsewhere in the session");
    assert!(text.contains("▌   • Bash boil water"), "{text}");
    screens.type_in("f");
    screens.press_key(KeyCode::Esc);
    screens.type_in("teapot");
    screens.wait_for_text("1 message");
    assert_snapshot!(screens.drawn_text());
    screens.press_key(KeyCode::Enter);
    screens.wait_for_text("@2 of 3 abandoned");
}

#[test]
fn a_change_shows_its_plan_and_asks() {
    let mut screens = TestScreens::open_demo(80, 16);
    let file = screens.home.claude_dir().join("projects/-home-dev-app");
    let file = file.join("0a1b2c3d-0000-4000-8000-000000000000.jsonl");
    let before = std::fs::read(&file).unwrap();
    for refusal in [KeyCode::Char('n'), KeyCode::Esc] {
        screens.type_in("g");
        let text = screens.wait_for_text("will resume");
        assert!(text.contains("Which tea?") && text.contains("Resume from there?"), "{text}");
        screens.press_key(refusal);
        screens.wait_for_text("nothing changed");
        assert_eq!(std::fs::read(&file).unwrap(), before);
    }
    screens.type_in("g");
    screens.wait_for_text("will resume");
    screens.type_in("y");
    screens.wait_for_text(
        "claude --resume 0a1b2c3d-0000-4000-8000-000000000000  Done as operation 1.",
    );
    let after = std::fs::read(&file).unwrap();
    assert!(after.len() > before.len() && after.starts_with(&before));
    screens.type_in("u");
    screens.wait_for_text("Undoes operation 1: goto");
    screens.type_in("y");
    screens.wait_for_text("Done as operation 2.");
    assert_eq!(std::fs::read(&file).unwrap(), before);
}

#[test]
fn there_is_nothing_to_do_where_the_session_resumes_already() {
    let mut screens = TestScreens::open_demo(120, 40);
    screens.press_key(KeyCode::End);
    screens.type_in("g");
    screens.wait_for_text("Nothing to do: the session already resumes there.");
}

#[test]
fn a_fork_is_offered_where_the_session_cannot_go() {
    let home = TestHome::new();
    let ahead = testkit::jsonl(
        "a user v=2.0.74 one\nb < a assistant v=2.0.74 two\nc < b user v=2.0.74 three",
    );
    let ahead = ahead.replace("2026-01-01T00:00:02", "2999-01-01T00:00:02");
    home.write_file("-home-dev-app/0a1b2c3d-0000-4000-8000-000000000000.jsonl", ahead);
    let mut screens = TestScreens::with_home(home, 100, 30);
    screens.press_key(KeyCode::Enter);
    screens.wait_for_text("You  00:00  a");
    screens.type_in("g");
    let text = screens.wait_for_text("Cannot resume there in this session:");
    assert!(text.contains("New session") && text.contains("Create it?"), "{text}");
}

#[test]
fn a_refused_plan_shows_the_reason() {
    let mut screens = TestScreens::open_demo(80, 16);
    screens.type_in("u");
    let text = screens.wait_for_text("This failed");
    assert!(text.contains("nothing to undo"), "{text}");
}

#[test]
fn files_as_of_a_message_are_listed_and_opened() {
    let home = TestHome::new();
    let id = "0a1b2c3d-0000-4000-8000-000000000000";
    let backups = home.claude_dir().join("file-history").join(id);
    std::fs::create_dir_all(&backups).unwrap();
    for (letter, text) in [("a", "fn first() {}"), ("b", "fn second() {}")] {
        std::fs::write(backups.join(format!("{}@v1", letter.repeat(16))), text).unwrap();
    }
    let session = "a user Which files?\n- snapshot:a a.rs=aaaaaaaaaaaaaaaa@v1 b.rs=bbbbbbbbbbbbbbbb@v1\n\
                   b < a assistant These.";
    home.write_session(&format!("-home-dev-app/{id}.jsonl"), session);
    let mut screens = TestScreens::with_home(home, 90, 12);
    screens.press_key(KeyCode::Enter);
    screens.wait_for_text("You  00:00  a");
    screens.type_in("o");
    let text = screens.wait_for_text("Files as of this message");
    assert!(text.contains("Before a") && text.contains("a.rs") && text.contains("b.rs"), "{text}");
    screens.press_key(KeyCode::Down);
    screens.press_key(KeyCode::Enter);
    screens.wait_for_text("fn second() {}");
    screens.type_in("q");
    assert!(screens.drawn_text().contains("Files as of this message"));
    screens.type_in("q");
    assert!(screens.drawn_text().contains("Which files?"));
}

#[test]
fn addresses_and_messages_are_copied() {
    let mut screens = TestScreens::open_demo(80, 16);
    screens.type_in("y");
    assert_snapshot!(screens.drawn_text());
    screens.type_in("a");
    screens.wait_for_text("copied the address: 0a1b2c3d:a");
    screens.type_in("ym");
    screens.wait_for_text("copied the message: Which tea?");
    screens.type_in("yr");
    let command = "claude --resume 0a1b2c3d-0000-4000-8000-000000000000";
    screens.wait_for_text("copied the command: ");
    assert!(screens.state.status_line.as_ref().unwrap().to_text().ends_with(command));
}

#[test]
fn users_without_history_are_offered_the_demo() {
    let mut screens = TestScreens::with_home(TestHome::new(), 70, 16);
    screens.wait_for_text("write a sample history");
    let text = screens.drawn_text();
    let why = text.lines().find(|line| line.contains("no sessions in"));
    assert!(why.is_some(), "{text}");
    screens.type_in("q");
    assert!(screens.left);
}

#[test]
fn every_size_is_drawn() {
    let mut screens = TestScreens::open_demo(80, 24);
    screens.type_in("t");
    for (width, height) in [(1, 1), (20, 5), (30, 8), (79, 24), (110, 20), (300, 90), (400, 2)] {
        screens.handle_event(ScreenEvent::Resize(width, height));
        screens.drawn_text();
        for key in ['j', 'b', 'k', 'q', '?', 'G', 'q'] {
            screens.type_in(&key.to_string());
            screens.drawn_text();
        }
    }
}

/// The terminal tells of a new size by an event, and that can come after the next drawing.
#[test]
fn a_window_that_shrank_before_its_event_is_drawn() {
    for keys in ["", "\n", "\nt", "\nb", "\n?", "\na"] {
        let mut screens = TestScreens::open_demo(120, 40);
        for key in keys.chars() {
            let key = key.to_string();
            if key == "\n" {
                screens.press_key(KeyCode::Enter);
                screens.wait_until(|text| text.contains("You "));
            } else {
                screens.type_in(&key);
            }
        }
        for (width, height) in [(119, 40), (80, 10), (120, 6), (21, 40), (20, 5), (3, 2), (0, 0)] {
            let area = Rect { x: 0, y: 0, width, height };
            draw_screen(&mut screens.state, &mut Buffer::empty(area));
            // An event of a size that is past by now.
            screens.handle_event(ScreenEvent::Resize(120, 40));
            draw_screen(&mut screens.state, &mut Buffer::empty(area));
        }
    }
}

#[test]
fn a_title_that_another_session_gave_stays() {
    let home = TestHome::new();
    let id = "0a1b2c3d-0000-4000-8000-000000000000";
    let path =
        home.write_session(&format!("-home-dev-app/{id}.jsonl"), "a user one\nb < a assistant x");
    let summary = r#"{"type":"summary","summary":"Given elsewhere","leafUuid":"b"}"#;
    home.write_file(
        "-home-dev-app/0a1b2c3d-0000-4000-8000-000000000001.jsonl",
        format!("{summary}\n{}", testkit::jsonl("p user other")),
    );
    let mut screens = TestScreens::with_home(home, 80, 24);
    screens.wait_for_text("Given elsewhere");
    let line = testkit::jsonl("c < b user two");
    let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    std::io::Write::write_all(&mut file, line.as_bytes()).unwrap();
    while screens.state.list.session_of(&path).is_none_or(|session| session.messages < 3) {
        let event = screens.events.recv_timeout(Duration::from_secs(20)).unwrap();
        screens.handle_event(event);
    }
    screens.wait_for_text("Given elsewhere");
}

#[test]
fn what_is_appended_appears() {
    let mut screens = TestScreens::open_demo(80, 50);
    let path = screens.state.open_transcript().unwrap().chapter.file.path.clone();
    screens.type_in("w");
    screens.wait_for_text("● live");
    let line = testkit::jsonl("z < n user And milk?");
    let mut file = std::fs::OpenOptions::new().append(true).open(path).unwrap();
    // Half a line is not shown, and not lost.
    let (half, rest) = line.split_at(line.len() / 2);
    std::io::Write::write_all(&mut file, half.as_bytes()).unwrap();
    std::io::Write::write_all(&mut file, rest.as_bytes()).unwrap();
    let text = screens.wait_for_text("▎ And milk?");
    assert!(text.contains("▌ ❯ You"), "{text}");
}

#[test]
fn nothing_stays_empty_below_the_end_when_the_screen_grows() {
    let mut screens = TestScreens::open_demo(80, 12);
    screens.type_in("G");
    screens.wait_for_text("Steeped.");
    screens.press_key(KeyCode::Up);
    screens.press_key(KeyCode::Down);
    screens.handle_event(ScreenEvent::Resize(80, 60));
    screens.wait_until(|text| text.contains("You  00:00  a") && text.contains("Steeped."));
}

#[test]
fn a_session_that_moves_is_read_on() {
    let mut screens = TestScreens::open_demo(80, 50);
    let path = screens.state.open_transcript().unwrap().chapter.file.path.clone();
    let append = |path: &std::path::Path, line: &str| {
        let mut file = std::fs::OpenOptions::new().append(true).open(path).unwrap();
        std::io::Write::write_all(&mut file, testkit::jsonl(line).as_bytes()).unwrap();
    };
    screens.type_in("w");
    append(&path, "z < n user And milk?");
    screens.wait_for_text("▎ And milk?");
    let to =
        screens.home.claude_dir().join("projects/-home-dev-kettle").join(path.file_name().unwrap());
    std::fs::rename(&path, &to).unwrap();
    screens.wait_for_text("moved to projects/-home-dev-kettle/0a1b2c3d");
    append(&to, "za < z user And sugar?");
    screens.wait_for_text("▎ And sugar?");
    std::fs::write(&to, testkit::jsonl("a user Which tea?\nq < a user Only water")).unwrap();
    screens.wait_for_text("rewritten");
    screens.wait_for_text("▎ Only water");
    let beside = to.with_extension("new");
    std::fs::write(&beside, testkit::jsonl("r user Milk, and nothing else\ns < r user Please"))
        .unwrap();
    std::fs::rename(&beside, &to).unwrap();
    screens
        .wait_until(|text| text.contains("▎ Milk, and nothing else") && text.contains("▎ Please"));
}

#[test]
fn a_file_may_become_anything_while_it_is_read() {
    let mut screens = TestScreens::open_demo(160, 40);
    let path = screens.state.open_transcript().unwrap().chapter.file.path.clone();
    screens.type_in("t");
    let whole = std::fs::read(&path).unwrap();
    let third: Vec<u8> = whole.iter().copied().take(whole.len() / 3).collect();
    let other = testkit::jsonl("p user Something else\nq < p assistant Indeed.");
    let forms = [&third[..], b"", b"{\"no\"\n\xff\n", other.as_bytes(), &whole];
    for (n, now) in forms.into_iter().enumerate() {
        let mark = testkit::jsonl(&format!("last{n} user Mark"));
        std::fs::write(&path, [now, b"\n", mark.as_bytes()].concat()).unwrap();
        let name = RecordUuid::new(format!("last{n}").as_bytes());
        while screens.state.open_transcript().unwrap().chapter.history.node_by_uuid(name).is_none()
        {
            let event = screens.events.recv_timeout(Duration::from_secs(20)).unwrap();
            screens.handle_event(event);
        }
        for key in ["G", "g", "b", "q", "j", "k", "A", "q", "n", "N", ")", "(", "d", "t", "j", "t"]
        {
            screens.type_in(key);
            screens.drawn_text();
        }
    }
}

#[test]
fn a_session_shows_where_it_came_from_and_what_came_out_of_it() {
    let home = TestHome::new();
    let record = |session: &str, more: &str| {
        format!(
            r#"{{"parentUuid":null,"isSidechain":false,"sessionId":"{session}","version":"2.1.240","type":"user","message":{{"role":"user","content":"brew {session}"}},"uuid":"u1","timestamp":"2026-01-01T10:00:00.000Z"{more}}}
"#
        )
    };
    home.write_file("-w/orig.jsonl", record("orig", ""));
    let from = r#","forkedFrom":{"sessionId":"orig","messageUuid":"u1"}"#;
    home.write_file("-w/fork.jsonl", record("fork", from));
    home.write_session(
        "-w/gone/subagents/agent-lost.jsonl",
        "a user steep alone\nb < a assistant done",
    );
    let mut screens = TestScreens::with_home(home, 100, 24);
    screens.wait_for_text("↳fork");
    screens.wait_for_text("↳agent");
    screens.type_in("brew fork");
    screens.press_key(KeyCode::Enter);
    screens.wait_for_text("forked from orig");
    screens.press_key(KeyCode::Char('q'));
    screens.press_key(KeyCode::Esc);
    screens.type_in("brew orig");
    screens.press_key(KeyCode::Enter);
    screens.wait_for_text("forked into fork");
}

#[test]
fn the_current_project_comes_alone_until_all_are_wanted() {
    let mut screens = TestScreens::new(80, 12);
    let dir = screens.home.claude_dir().join("projects/-home-dev-kettle");
    screens.handle_event(ScreenEvent::CurrentProject(Some(dir)));
    screens.state.list.rebuild_rows();
    let text = screens.drawn_text();
    assert!(text.contains("1 session of this project · Ctrl-E for all"), "{text}");
    assert!(text.contains("kettle") && !text.contains("Which tea"), "{text}");
    screens.type_in("tea");
    assert!(screens.drawn_text().contains("0 found"), "{}", screens.drawn_text());
    screens.press_key(KeyCode::Backspace);
    screens.press_key(KeyCode::Esc);
    let all = KeyEvent::new(KeyCode::Char('e'), KeyModifiers::CONTROL);
    screens.handle_event(ScreenEvent::Key(all));
    let text = screens.drawn_text();
    assert!(text.contains("2 sessions of all projects · Ctrl-E for this one"), "{text}");
    assert!(text.contains("about kettles") && text.contains("Which tea?"), "{text}");
}

#[test]
fn projects_of_one_repository_are_put_together() {
    let home = TestHome::new();
    let git = home.path().join("kettle/.git");
    std::fs::create_dir_all(git.join("objects")).unwrap();
    std::fs::create_dir_all(home.path().join("kettle/lid")).unwrap();
    std::fs::write(git.join("HEAD"), "ref: refs/heads/main").unwrap();
    for (name, dir) in [("one", "kettle"), ("two", "kettle/lid")] {
        let cwd = home.path().join(dir);
        let cwd = cwd.display();
        home.write_file(
            &format!("-{name}/{name}.jsonl"),
            format!(
                r#"{{"parentUuid":null,"isSidechain":false,"sessionId":"{name}","cwd":"{cwd}","version":"2.1.240","type":"user","message":{{"role":"user","content":"brew {name}"}},"uuid":"u1","timestamp":"2026-01-01T10:00:00.000Z"}}
"#
            ),
        );
    }
    let mut screens = TestScreens::with_home(home, 160, 12);
    let text = screens.wait_for_text("kettle/lid");
    assert_eq!(text.matches('▾').count(), 0, "the most recent first: {text}");
    let regroup = KeyEvent::new(KeyCode::Char('r'), KeyModifiers::CONTROL);
    screens.handle_event(ScreenEvent::Key(regroup));
    let text = screens.drawn_text();
    assert_eq!(text.matches('▾').count(), 2, "{text}");
    screens.handle_event(ScreenEvent::Key(regroup));
    let text = screens.wait_until(|text| !text.contains("kettle/lid"));
    assert_eq!(text.matches('▾').count(), 1, "{text}");
    assert!(text.contains("brew one") && text.contains("brew two"), "{text}");
}
