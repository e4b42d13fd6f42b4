//! The terminal is given back when the screens break: this very program, run in a real terminal.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ramus_app::Workspace;
use ramus_core::resume::ResumeRule;
use ramus_store::StateDir;
use ramus_store::cache::HistoryCache;
use ramus_store::claude_dir::ClaudeDirs;
use ramus_tui::{ScreenClock, ScreenOptions};
use testkit::{TestHome, TestTerminal};

/// What breaks, as the terminal's shell hears it.
const BREAKS: &str = "BREAKS";

/// Shows the screens over a history in `.claude`, with something in them that breaks.
#[test]
#[ignore = "takes the terminal; the other tests run it in one"]
fn screens_that_break() {
    let breaks = std::env::var(BREAKS).unwrap();
    let (in_view, in_work) = (breaks == "view", breaks == "work");
    let place = ClaudeDirs {
        roots: vec![PathBuf::from(".claude")],
        cache: HistoryCache::disabled(),
        overlays: Vec::new(),
    };
    let options = ScreenOptions {
        workspace: Arc::new(Workspace::for_serving(
            place,
            ResumeRule::Client,
            StateDir::new("state"),
        )),
        usual_roots: Vec::new(),
        all: false,
        color: true,
        colors: Some(ramus_tui::ScreenColors::Terminal),
        symbols: ramus_render::symbols::SymbolSet::Unicode,
        home: String::new(),
        clock: ScreenClock {
            short: Arc::new(|time| time.to_string()),
            // Transcripts are drawn on a thread of their own.
            age: Arc::new(move |time| {
                assert!(!in_view, "the view broke");
                time.to_string()
            }),
            message: Arc::new(move |time| {
                assert!(!in_work, "the work broke");
                time.to_string()
            }),
        },
        keys: ramus_tui::KeyMap::default(),
        output_dir: PathBuf::new(),
        write_demo: |_| Ok(()),
        usage_lines: |_, _, _| Ok(Vec::new()),
        file_changes: |_, _, _| Ok(Vec::new()),
        open_file: |_| false,
        resume: |_, _, _| Ok(()),
    };
    let run = AssertUnwindSafe(|| ramus_tui::run(options));
    match panic::catch_unwind(run) {
        Ok(ended) => ended.unwrap(),
        // What broke beside the screens is told by who started them.
        Err(why) if why.is::<String>() => panic!("{}", why.downcast_ref::<String>().unwrap()),
        Err(why) => panic::resume_unwind(why),
    }
}

/// Runs the screens that break in a terminal, after a line that must still be there then.
fn start_screens(breaks: &str) -> Option<TestTerminal> {
    let home = TestHome::new();
    home.write_session("-tea/0a1b2c3d-0000-4000-8000-000000000000.jsonl", "a user Which tea?");
    let program = std::env::current_exe().unwrap();
    let command = format!(
        "cp -r {} .; echo before; stty -a > modes; {BREAKS}={breaks} {} --ignored --exact --nocapture screens_that_break; echo left $?; stty -a | diff modes - && echo same modes",
        home.claude_dir().display(),
        program.display(),
    );
    let terminal = TestTerminal::start_command(&command, Path::new("/nowhere"))?;
    // The terminal has its own copy by the time it shows anything of it. What is at the list's cursor is
    // drawn beside the list, so nothing has to be opened.
    terminal.wait_for_text("left");
    Some(terminal)
}

#[track_caller]
fn is_given_back(terminal: &TestTerminal, why: &str) {
    terminal.wait_for_text("same modes");
    let screen = terminal.wait_for_text("left 101");
    assert!(screen.contains("before") && screen.contains(why), "{screen}");
    let state = terminal.query_tmux("#{alternate_on} #{mouse_any_flag} #{cursor_flag}");
    assert_eq!(state, "0 0 1", "screen, mouse, cursor");
}

#[test]
fn a_panic_of_the_view_gives_the_terminal_back() {
    let Some(terminal) = start_screens("view") else { return };
    is_given_back(&terminal, "the view broke");
}

#[test]
fn a_panic_beside_the_screens_gives_the_terminal_back() {
    let Some(terminal) = start_screens("work") else { return };
    is_given_back(&terminal, "the work broke");
}
