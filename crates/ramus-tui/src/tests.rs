mod agents;

mod found;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use insta::assert_snapshot;
use ramus_app::Workspace;
use ramus_core::name::Name;
use ramus_core::resume::Rule;
use ramus_render::Line;
use ramus_render::symbols::Symbols;
use ramus_store::index::Index;
use ramus_store::place::Place;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use testkit::Home;

use crate::app::{Desks, Options};
use crate::event::{Effect, Event};
use crate::panes::list::List;
use crate::panes::transcript::Transcript;
use crate::state::{Clock, State};
use crate::theme::Theme;
use crate::update::update;
use crate::view::view;

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

fn workspace(home: &Home) -> Arc<Workspace> {
    let place = Place::at(vec![home.claude()], Index::none());
    let state = ramus_store::State::new(home.path().join("state"));
    Arc::new(Workspace::for_serving(place, Rule::Client, state))
}

/// The screens without a terminal, with real work behind them.
struct Screens {
    state: State,
    desks: Desks,
    events: Receiver<Event>,
    home: Home,
    left: bool,
}

impl Screens {
    fn new(width: u16, height: u16) -> Self {
        let home = Home::new();
        let id = "0a1b2c3d-0000-4000-8000-000000000000";
        home.session(
            &format!("-home-dev-app/{id}.jsonl"),
            &FIXTURE.replace("ESC", "\u{1b}").replace("BEL", "\u{7}"),
        );
        let other = "a user about kettles\nb < a assistant They whistle.";
        home.session("-home-dev-kettle/1b2c3d4e-0000-4000-8000-000000000000.jsonl", other);
        let dir = format!("-home-dev-app/{id}/subagents/agent-a9.jsonl");
        home.session(&dir, AGENT);
        let meta = r#"{"agentType":"steeper","description":"Steep it well","toolUseId":"t2"}"#;
        home.write(&format!("-home-dev-app/{id}/subagents/agent-a9.meta.json"), meta);
        Self::over(home, width, height)
    }

    fn over(home: Home, width: u16, height: u16) -> Self {
        let clock = Clock {
            short: Arc::new(|time| time.to_string()[11..16].to_owned()),
            message: Arc::new(|time| time.to_string()[11..16].to_owned()),
        };
        let options = Options {
            workspace: workspace(&home),
            usual_roots: Vec::new(),
            all: false,
            color: true,
            symbols: Symbols::Unicode,
            home: "/home/dev".to_owned(),
            clock: clock.clone(),
            write_demo: |_| Ok(()),
            export: |_, _, format| Ok(format!("exported as {format}")),
            resume: |_, _| Ok(()),
        };
        let theme = Theme { color: true, symbols: Symbols::Unicode };
        let (sender, events) = channel();
        let desks = Desks::new(&sender, options);
        let mut state = State::new(clock, theme, List::new(false, "/home/dev"));
        state.size = (width, height);
        desks.survey();
        let mut screens = Self { state, desks, events, home, left: false };
        screens.until(|text| !text.contains("looking …") && !text.contains("reading"));
        screens
    }

    fn take(&mut self, event: Event) {
        for effect in update(&mut self.state, event) {
            match effect {
                Effect::Quit => self.left = true,
                Effect::Copy(text, what) => {
                    self.state.said = Some(Line::plain(&format!("copied {what}: {text}")));
                }
                effect => self.desks.take(effect),
            }
        }
    }

    fn text(&mut self) -> String {
        let (width, height) = self.state.size;
        let area = Rect { x: 0, y: 0, width, height };
        let mut buffer = Buffer::empty(area);
        view(&mut self.state, &mut buffer);
        let mut text = String::new();
        for y in 0..area.height {
            let mut row = String::new();
            let mut x = 0;
            while x < area.width {
                let symbol = buffer[(x, y)].symbol();
                row.push_str(symbol);
                // A wide character stands in two cells, and only the first one counts.
                x += ramus_render::layout::width(symbol).max(1) as u16;
            }
            text.push_str(row.trim_end());
            text.push('\n');
        }
        text
    }

    /// Takes what happens until the screen is as it should be.
    #[track_caller]
    fn until(&mut self, is_right: impl Fn(&str) -> bool) -> String {
        loop {
            let text = self.text();
            let ready = self.state.reading().is_none_or(Transcript::is_ready);
            if ready && is_right(&text) {
                return text;
            }
            match self.events.recv_timeout(Duration::from_secs(20)) {
                Ok(event) => self.take(event),
                Err(_) => panic!("nothing happens any more on\n{text}"),
            }
        }
    }

    #[track_caller]
    fn shows(&mut self, what: &str) -> String {
        self.until(|text| text.contains(what))
    }

    fn press(&mut self, code: KeyCode) {
        self.take(Event::Key(KeyEvent::new(code, KeyModifiers::NONE)));
    }

    fn type_in(&mut self, text: &str) {
        text.chars().for_each(|char| self.press(KeyCode::Char(char)));
    }

    /// Opens the session with the forks.
    fn open(width: u16, height: u16) -> Self {
        let mut screens = Self::new(width, height);
        screens.type_in("which tea");
        screens.press(KeyCode::Enter);
        screens.shows("You  00:00  a");
        screens
    }
}

#[test]
fn the_list_shows_projects_and_sessions_and_filters() {
    let mut screens = Screens::new(60, 10);
    assert_snapshot!(screens.text());
    screens.type_in("kettle");
    let text = screens.text();
    assert!(text.contains("about kettles") && !text.contains("Which tea"), "{text}");
    screens.press(KeyCode::Esc);
    assert!(screens.text().contains("Which tea"));
    assert!(!screens.left);
    screens.press(KeyCode::Esc);
    assert!(screens.left);
}

#[test]
fn conversations_stand_under_their_session() {
    let mut screens = Screens::new(76, 12);
    screens.type_in("which tea");
    screens.press(KeyCode::Right);
    assert!(screens.text().contains("Rather coffee"), "{}", screens.text());
    screens.press(KeyCode::Esc);
    assert_snapshot!(screens.text());
}

#[test]
fn a_transcript_folds_tools_and_shows_forks() {
    let mut screens = Screens::open(80, 40);
    assert_snapshot!(screens.text());
    screens.type_in("s");
    let text = screens.shows("│ two");
    assert!(text.contains("│ one"), "{text}");
    screens.type_in("h");
    screens.shows("Oolong, hm");
}

#[test]
fn left_and_right_switch_at_a_fork() {
    let mut screens = Screens::open(80, 40);
    screens.type_in(")");
    screens.press(KeyCode::Right);
    // The escape sequence of the transcript is shown, and is none.
    let text = screens.shows("418 I'm a teapot ␛]0;boom␇ end");
    assert!(text.contains("@2 of 3 abandoned") && !text.contains('\u{1b}'), "{text}");
    screens.press(KeyCode::Left);
    screens.shows("@3 of 3 resumes");
}

#[test]
fn wide_characters_keep_their_columns() {
    let mut screens = Screens::open(80, 40);
    screens.type_in("))");
    screens.press(KeyCode::Left);
    let text = screens.shows("Boil it yourself. 漢字 👩‍👩‍👧");
    assert!(text.contains("@1 of 3"), "{text}");
}

#[test]
fn the_tree_moves_the_transcript() {
    let mut screens = Screens::open(120, 24);
    screens.type_in("t");
    screens.shows("edited prompt: 2 branches");
    screens.shows("Steep it well");
    assert_snapshot!(screens.text());
    screens.press(KeyCode::Down);
    screens.press(KeyCode::Down);
    screens.shows("Rather coffee");
    screens.shows("418 I'm a teapot");
    screens.type_in("t");
    assert!(!screens.text().contains("edited prompt: 2 branches"));
}

#[test]
fn all_branches_are_listed_and_one_is_read() {
    let mut screens = Screens::open(90, 16);
    screens.type_in("b");
    assert_snapshot!(screens.text());
    screens.press(KeyCode::Up);
    screens.press(KeyCode::Enter);
    screens.shows("@2 of 3 abandoned");
}

#[test]
fn two_marked_branches_are_compared() {
    let mut screens = Screens::open(90, 30);
    screens.type_in("d");
    screens.shows("marked 0a1b2c3d@3");
    screens.type_in(")");
    screens.press(KeyCode::Right);
    screens.type_in("d");
    screens.shows("2 messages in common");
    assert_snapshot!(screens.text());
}

#[test]
fn agents_that_are_not_known_yet_are_waited_for() {
    let mut screens = Screens::open(80, 40);
    while !screens.state.reading().unwrap().agents_known {
        let event = screens.events.recv_timeout(Duration::from_secs(20)).unwrap();
        screens.take(event);
    }
    // As if the answer were still to come.
    let reading = screens.state.stack.last_mut().unwrap();
    reading.agents_known = false;
    let file = reading.chapter.file.path.clone();
    let agents = std::mem::take(&mut reading.agents);
    screens.type_in("A");
    assert!(screens.text().contains("looking for the agents"));
    screens.take(Event::Agents { file, agents });
    assert!(screens.text().contains("Steep it well"));
}

#[test]
fn an_agent_that_begins_while_one_reads_appears() {
    let mut screens = Screens::open(80, 40);
    screens.type_in("A");
    screens.shows("Steep it well");
    screens.press(KeyCode::Esc);
    let dir = "-home-dev-app/0a1b2c3d-0000-4000-8000-000000000000/subagents";
    screens.home.session(&format!("{dir}/agent-b7.jsonl"), "x user Warm the pot");
    while screens.state.reading().unwrap().agents.len() < 2 {
        let event = screens.events.recv_timeout(Duration::from_secs(20)).unwrap();
        screens.take(event);
    }
    screens.type_in("A");
    assert!(screens.text().contains("Warm the pot"));
    let counted = |screens: &Screens| {
        let sessions = screens.state.list.projects.iter().flat_map(|project| &project.sessions);
        sessions.map(|session| session.agents).max()
    };
    while counted(&screens) != Some(2) {
        let event = screens.events.recv_timeout(Duration::from_secs(20)).unwrap();
        screens.take(event);
    }
}

#[test]
fn an_agent_opens_in_place_and_as_a_pane() {
    let mut screens = Screens::open(80, 40);
    screens.type_in("A");
    screens.shows("Steep it well");
    assert_snapshot!(screens.text());
    screens.press(KeyCode::Esc);
    while !screens.text().contains("▌   • Task") {
        screens.type_in("j");
    }
    screens.type_in("a");
    screens.shows("┆   Three minutes are enough.");
    screens.type_in("a");
    screens.until(|text| !text.contains("Three minutes"));
    screens.type_in("A");
    screens.press(KeyCode::Enter);
    let text = screens.shows("Three minutes are enough.");
    assert!(text.contains("agent steep it"), "{text}");
    screens.type_in("q");
    screens.shows("Brew it");
}

#[test]
fn an_agent_in_the_file_itself_opens_as_a_pane_wherever_it_hangs() {
    let home = Home::new();
    home.session(
        "-home-dev-app/0a1b2c3d-0000-4000-8000-000000000000.jsonl",
        "
        a       user       Which tea?
        x       side-user  Look for leaves
        y < x   side-assistant  There are leaves.
        p       user       And another beginning
        q < p   assistant  Of its own.
        ",
    );
    let mut screens = Screens::over(home, 80, 24);
    screens.shows("beginning");
    screens.press(KeyCode::Enter);
    screens.shows("Of its own.");
    screens.type_in("A");
    screens.shows("Look for leaves");
    screens.press(KeyCode::Enter);
    screens.shows("There are leaves.");
    // It is a part of the session: what is for conversations says so.
    for letter in ["d", "e"] {
        screens.type_in(letter);
        screens.shows("an agent is no conversation of its own");
    }
    // It grows with the session, and moves with it.
    let path = screens.state.reading().unwrap().chapter.file.path.clone();
    let line = testkit::jsonl("z < y side-assistant And more leaves.");
    let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    std::io::Write::write_all(&mut file, line.as_bytes()).unwrap();
    screens.shows("And more leaves.");
    let elsewhere = path.with_file_name("0a1b2c3d-0000-4000-8000-000000000009.jsonl");
    std::fs::rename(&path, &elsewhere).unwrap();
    while screens.state.stack.iter().any(|reading| reading.chapter.file.path == path) {
        let event = screens.events.recv_timeout(Duration::from_secs(20)).unwrap();
        screens.take(event);
    }
    screens.type_in("q");
    screens.shows("Of its own.");
    // A hit in it opens all of it.
    screens.type_in("f");
    screens.type_in("leaves");
    screens.press(KeyCode::Enter);
    screens.shows("Look for leaves");
    screens.press(KeyCode::Enter);
    screens.until(|text| text.contains("Look for leaves") && text.contains("And more leaves."));
}

#[test]
fn a_search_finds_here_and_everywhere() {
    let mut screens = Screens::open(80, 24);
    screens.type_in("/boil");
    screens.press(KeyCode::Enter);
    let text = screens.shows("“boil” 1 of 1, 1 elsewhere in the session");
    assert!(text.contains("▌   • Bash boil water"), "{text}");
    screens.type_in("f");
    screens.type_in("teapot");
    screens.press(KeyCode::Enter);
    screens.shows("1 message");
    assert_snapshot!(screens.text());
    screens.press(KeyCode::Enter);
    screens.shows("@2 of 3 abandoned");
}

#[test]
fn a_change_shows_its_plan_and_asks() {
    let mut screens = Screens::open(80, 16);
    let file = screens.home.claude().join("projects/-home-dev-app");
    let file = file.join("0a1b2c3d-0000-4000-8000-000000000000.jsonl");
    let before = std::fs::read(&file).unwrap();
    for refusal in [KeyCode::Char('n'), KeyCode::Esc] {
        screens.type_in("g");
        let text = screens.shows("will resume");
        assert!(text.contains("Which tea?") && text.contains("Go there?"), "{text}");
        screens.press(refusal);
        screens.shows("nothing was written");
        assert_eq!(std::fs::read(&file).unwrap(), before);
    }
    screens.type_in("g");
    screens.shows("will resume");
    screens.type_in("y");
    screens.shows("claude --resume 0a1b2c3d-0000-4000-8000-000000000000  Done as operation 1.");
    let after = std::fs::read(&file).unwrap();
    assert!(after.len() > before.len() && after.starts_with(&before));
    screens.type_in("u");
    screens.shows("Undoes 1 goto");
    screens.type_in("y");
    screens.shows("Done as operation 2.");
    assert_eq!(std::fs::read(&file).unwrap(), before);
}

#[test]
fn there_is_nothing_to_do_where_the_session_resumes_already() {
    let mut screens = Screens::open(120, 40);
    screens.press(KeyCode::End);
    screens.type_in("g");
    screens.shows("The session resumes there already; nothing was written.");
}

#[test]
fn a_fork_is_offered_where_the_session_cannot_go() {
    let home = Home::new();
    let ahead = testkit::jsonl(
        "a user v=2.0.74 one\nb < a assistant v=2.0.74 two\nc < b user v=2.0.74 three",
    );
    let ahead = ahead.replace("2026-01-01T00:00:02", "2999-01-01T00:00:02");
    home.write("-home-dev-app/0a1b2c3d-0000-4000-8000-000000000000.jsonl", ahead);
    let mut screens = Screens::over(home, 100, 30);
    screens.press(KeyCode::Enter);
    screens.shows("You  00:00  a");
    screens.type_in("g");
    let text = screens.shows("Cannot go there in this session:");
    assert!(text.contains("New session") && text.contains("Make it?"), "{text}");
}

#[test]
fn what_cannot_be_planned_says_why() {
    let mut screens = Screens::open(80, 16);
    screens.type_in("u");
    let text = screens.shows("This could not be done");
    assert!(text.contains("there is nothing to undo"), "{text}");
}

#[test]
fn files_as_of_a_message_are_listed_and_opened() {
    let home = Home::new();
    let id = "0a1b2c3d-0000-4000-8000-000000000000";
    let backups = home.claude().join("file-history").join(id);
    std::fs::create_dir_all(&backups).unwrap();
    for (letter, text) in [("a", "fn first() {}"), ("b", "fn second() {}")] {
        std::fs::write(backups.join(format!("{}@v1", letter.repeat(16))), text).unwrap();
    }
    let session = "a user Which files?\n- snapshot:a a.rs=aaaaaaaaaaaaaaaa@v1 b.rs=bbbbbbbbbbbbbbbb@v1\n\
                   b < a assistant These.";
    home.session(&format!("-home-dev-app/{id}.jsonl"), session);
    let mut screens = Screens::over(home, 90, 12);
    screens.press(KeyCode::Enter);
    screens.shows("You  00:00  a");
    screens.type_in("o");
    let text = screens.shows("Files as of this message");
    assert!(text.contains("Before a") && text.contains("a.rs") && text.contains("b.rs"), "{text}");
    screens.press(KeyCode::Down);
    screens.press(KeyCode::Enter);
    screens.shows("fn second() {}");
    screens.type_in("q");
    assert!(screens.text().contains("Files as of this message"));
    screens.type_in("q");
    assert!(screens.text().contains("Which files?"));
}

#[test]
fn addresses_and_messages_are_copied() {
    let mut screens = Screens::open(80, 16);
    screens.type_in("y");
    assert_snapshot!(screens.text());
    screens.type_in("a");
    screens.shows("copied the address: 0a1b2c3d:a");
    screens.type_in("ym");
    screens.shows("copied the message: Which tea?");
    screens.type_in("yr");
    let command = "cd /home/dev/app && claude --resume 0a1b2c3d-0000-4000-8000-000000000000";
    assert!(screens.state.said.as_ref().unwrap().text().ends_with(command));
    screens.type_in("em");
    screens.shows("as md");
}

#[test]
fn somebody_without_history_is_offered_the_demo() {
    let mut screens = Screens::over(Home::new(), 70, 16);
    screens.shows("write a sample history");
    let text = screens.text();
    let why = text.lines().find(|line| line.contains("no sessions in"));
    assert!(why.is_some(), "{text}");
    screens.type_in("q");
    assert!(screens.left);
}

#[test]
fn every_size_is_drawn() {
    let mut screens = Screens::open(80, 24);
    screens.type_in("t");
    for (width, height) in [(1, 1), (20, 5), (30, 8), (79, 24), (110, 20), (300, 90), (400, 2)] {
        screens.take(Event::Resize(width, height));
        screens.text();
        for key in ['j', 'b', 'k', 'q', '?', 'G', 'q'] {
            screens.type_in(&key.to_string());
            screens.text();
        }
    }
}

/// The terminal tells of a new size by an event, and that can come after the next drawing.
#[test]
fn a_window_that_shrank_before_its_event_is_drawn() {
    for keys in ["", "\n", "\nt", "\nb", "\n?", "\na"] {
        let mut screens = Screens::open(120, 40);
        for key in keys.chars() {
            let key = key.to_string();
            if key == "\n" {
                screens.press(KeyCode::Enter);
                screens.until(|text| text.contains("You "));
            } else {
                screens.type_in(&key);
            }
        }
        for (width, height) in [(119, 40), (80, 10), (120, 6), (21, 40), (20, 5), (3, 2), (0, 0)] {
            let area = Rect { x: 0, y: 0, width, height };
            view(&mut screens.state, &mut Buffer::empty(area));
            // An event of a size that is past by now.
            screens.take(Event::Resize(120, 40));
            view(&mut screens.state, &mut Buffer::empty(area));
        }
    }
}

#[test]
fn a_title_that_another_session_gave_stays() {
    let home = Home::new();
    let id = "0a1b2c3d-0000-4000-8000-000000000000";
    let path = home.session(&format!("-home-dev-app/{id}.jsonl"), "a user one\nb < a assistant x");
    let summary = r#"{"type":"summary","summary":"Given elsewhere","leafUuid":"b"}"#;
    home.write(
        "-home-dev-app/0a1b2c3d-0000-4000-8000-000000000001.jsonl",
        format!("{summary}\n{}", testkit::jsonl("p user other")),
    );
    let mut screens = Screens::over(home, 80, 24);
    screens.shows("Given elsewhere");
    let line = testkit::jsonl("c < b user two");
    let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    std::io::Write::write_all(&mut file, line.as_bytes()).unwrap();
    while screens.state.list.of(&path).is_none_or(|session| session.messages < 3) {
        let event = screens.events.recv_timeout(Duration::from_secs(20)).unwrap();
        screens.take(event);
    }
    screens.shows("Given elsewhere");
}

#[test]
fn what_is_appended_appears() {
    let mut screens = Screens::open(80, 50);
    let path = screens.state.reading().unwrap().chapter.file.path.clone();
    screens.type_in("w");
    screens.shows("● live");
    let line = testkit::jsonl("z < n user And milk?");
    let mut file = std::fs::OpenOptions::new().append(true).open(path).unwrap();
    // Half a line is not shown, and not lost.
    let (half, rest) = line.split_at(line.len() / 2);
    std::io::Write::write_all(&mut file, half.as_bytes()).unwrap();
    std::io::Write::write_all(&mut file, rest.as_bytes()).unwrap();
    let text = screens.shows("▎ And milk?");
    assert!(text.contains("▌ ❯ You"), "{text}");
}

#[test]
fn nothing_stays_empty_below_the_end_when_the_screen_grows() {
    let mut screens = Screens::open(80, 12);
    screens.type_in("G");
    screens.shows("Steeped.");
    screens.press(KeyCode::Up);
    screens.press(KeyCode::Down);
    screens.take(Event::Resize(80, 60));
    screens.until(|text| text.contains("You  00:00  a") && text.contains("Steeped."));
}

#[test]
fn a_session_that_moves_is_read_on() {
    let mut screens = Screens::open(80, 50);
    let path = screens.state.reading().unwrap().chapter.file.path.clone();
    let append = |path: &std::path::Path, line: &str| {
        let mut file = std::fs::OpenOptions::new().append(true).open(path).unwrap();
        std::io::Write::write_all(&mut file, testkit::jsonl(line).as_bytes()).unwrap();
    };
    screens.type_in("w");
    append(&path, "z < n user And milk?");
    screens.shows("▎ And milk?");
    let to =
        screens.home.claude().join("projects/-home-dev-kettle").join(path.file_name().unwrap());
    std::fs::rename(&path, &to).unwrap();
    screens.shows("lies at projects/-home-dev-kettle/0a1b2c3d");
    append(&to, "za < z user And sugar?");
    screens.shows("▎ And sugar?");
    std::fs::write(&to, testkit::jsonl("a user Which tea?\nq < a user Only water")).unwrap();
    screens.shows("rewritten");
    screens.shows("▎ Only water");
    let beside = to.with_extension("new");
    std::fs::write(&beside, testkit::jsonl("r user Milk, and nothing else\ns < r user Please"))
        .unwrap();
    std::fs::rename(&beside, &to).unwrap();
    screens.until(|text| text.contains("▎ Milk, and nothing else") && text.contains("▎ Please"));
}

#[test]
fn a_file_may_become_anything_while_it_is_read() {
    let mut screens = Screens::open(160, 40);
    let path = screens.state.reading().unwrap().chapter.file.path.clone();
    screens.type_in("t");
    let whole = std::fs::read(&path).unwrap();
    let third: Vec<u8> = whole.iter().copied().take(whole.len() / 3).collect();
    let other = testkit::jsonl("p user Something else\nq < p assistant Indeed.");
    let forms = [&third[..], b"", b"{\"no\"\n\xff\n", other.as_bytes(), &whole];
    for (n, now) in forms.into_iter().enumerate() {
        let mark = testkit::jsonl(&format!("last{n} user Mark"));
        std::fs::write(&path, [now, b"\n", mark.as_bytes()].concat()).unwrap();
        let name = Name::new(format!("last{n}").as_bytes());
        while screens.state.reading().unwrap().chapter.history.tree.find(name).is_none() {
            let event = screens.events.recv_timeout(Duration::from_secs(20)).unwrap();
            screens.take(event);
        }
        for key in ["G", "g", "b", "q", "j", "k", "A", "q", "n", "N", ")", "(", "d", "t", "j", "t"]
        {
            screens.type_in(key);
            screens.text();
        }
    }
}

#[test]
fn a_session_shows_where_it_came_from_and_what_came_out_of_it() {
    let home = Home::new();
    let record = |session: &str, more: &str| {
        format!(
            r#"{{"parentUuid":null,"isSidechain":false,"sessionId":"{session}","version":"2.1.240","type":"user","message":{{"role":"user","content":"brew {session}"}},"uuid":"u1","timestamp":"2026-01-01T10:00:00.000Z"{more}}}
"#
        )
    };
    home.write("-w/orig.jsonl", record("orig", ""));
    let from = r#","forkedFrom":{"sessionId":"orig","messageUuid":"u1"}"#;
    home.write("-w/fork.jsonl", record("fork", from));
    home.session("-w/gone/subagents/agent-lost.jsonl", "a user steep alone\nb < a assistant done");
    let mut screens = Screens::over(home, 100, 12);
    screens.shows("↳fork");
    screens.shows("↳agent");
    screens.type_in("brew fork");
    screens.press(KeyCode::Enter);
    screens.shows("forked from orig");
    screens.press(KeyCode::Char('q'));
    screens.press(KeyCode::Esc);
    screens.type_in("brew orig");
    screens.press(KeyCode::Enter);
    screens.shows("forked into fork");
}

#[test]
fn projects_of_one_repository_are_put_together() {
    let home = Home::new();
    let git = home.path().join("kettle/.git");
    std::fs::create_dir_all(git.join("objects")).unwrap();
    std::fs::create_dir_all(home.path().join("kettle/lid")).unwrap();
    std::fs::write(git.join("HEAD"), "ref: refs/heads/main").unwrap();
    for (name, dir) in [("one", "kettle"), ("two", "kettle/lid")] {
        let cwd = home.path().join(dir);
        let cwd = cwd.display();
        home.write(
            &format!("-{name}/{name}.jsonl"),
            format!(
                r#"{{"parentUuid":null,"isSidechain":false,"sessionId":"{name}","cwd":"{cwd}","version":"2.1.240","type":"user","message":{{"role":"user","content":"brew {name}"}},"uuid":"u1","timestamp":"2026-01-01T10:00:00.000Z"}}
"#
            ),
        );
    }
    let mut screens = Screens::over(home, 160, 12);
    let text = screens.shows("kettle/lid");
    assert_eq!(text.matches('▾').count(), 2, "{text}");
    screens.take(Event::Key(KeyEvent::new(KeyCode::Char('r'), KeyModifiers::CONTROL)));
    let text = screens.until(|text| !text.contains("kettle/lid"));
    assert_eq!(text.matches('▾').count(), 1, "{text}");
    assert!(text.contains("brew one") && text.contains("brew two"), "{text}");
}
