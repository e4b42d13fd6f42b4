//! The terminal screens, and what they leave to the command line: the demo, exports, changes.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

use ramus_app::Workspace;
use ramus_render::highlight::Highlight;
use ramus_render::{Label, Line, highlight};
use ramus_store::place::Place;
use ramus_tui::{Actions, Ask, Deed, Options, Page, Question};

use crate::args::Global;
use crate::commands::demo::{self, DemoArgs};
use crate::commands::diff;
use crate::commands::export;
use crate::commands::files;
use crate::commands::fork::{self, ForkArgs};
use crate::commands::goto::{self, GotoArgs};
use crate::commands::merge::{self, MergeArgs};
use crate::commands::undo::{self, UndoArgs};
use crate::env::{self, Clock};
use crate::error::{CommandError, ErrorKind};
use crate::memory;
use crate::prices;
use crate::ui::{self, Ui};

pub(crate) fn screens(ui: &Ui, global: &Global) -> Result<(), CommandError> {
    memory::give_back_at_once();
    let (clock, message_clock) = (Clock::new(), Clock::new());
    let home = std::env::home_dir().unwrap_or_default();
    let roots = env::candidates(global).into_iter().map(absolute).collect();
    let place = Place { roots, index: env::index(global) };
    let workspace = Workspace::for_serving(place, global.active.rule(), env::state())
        .with_prices(prices::load(None)?)
        .with_client(env::client());
    let options = Options {
        workspace: Arc::new(workspace),
        usual_roots: env::candidates(&Global { claude_dir: None, ..global.clone() }),
        all: global.all,
        color: ui.has_color(),
        symbols: ui.symbols(),
        home: home.to_string_lossy().into_owned(),
        clock: ramus_tui::Clock {
            short: Arc::new(move |time| clock.short(time)),
            message: Arc::new(move |time| message_clock.message(time)),
        },
    };
    ramus_tui::run(options, actions(global, ui.highlight()))?;
    Ok(())
}

/// Returns a directory by a name that holds wherever a command is typed that names it.
fn absolute(dir: PathBuf) -> PathBuf {
    std::path::absolute(&dir).unwrap_or(dir)
}

fn actions(global: &Global, highlight: Highlight) -> Actions {
    // With the demo everything moves to its directory.
    let shared = Arc::new(Mutex::new(global.clone()));
    let current = {
        let shared = shared.clone();
        move || shared.lock().unwrap_or_else(PoisonError::into_inner).clone()
    };
    let (for_export, for_read, for_write) = (current.clone(), current.clone(), current);
    Actions {
        demo: Box::new(move || {
            let mut global = shared.lock().unwrap_or_else(PoisonError::into_inner);
            let dir = absolute(PathBuf::from("ramus-demo"));
            let mut ui = Ui::behind(&global, Box::new(|_, _| false));
            if let Err(error) = demo::demo(&mut ui, &DemoArgs { dir: dir.clone() })
                && !dir.join("projects").is_dir()
            {
                return Err(format!("{:#}", error.error));
            }
            global.claude_dir = Some(dir.clone());
            Ok(dir)
        }),
        export: Box::new(move |address, format| {
            export::export_one(&for_export(), address, format)
                .map_err(|error| format!("{:#}", error.error))
        }),
        resume: Box::new(resume),
        read: Box::new(move |question, width| read(&for_read(), question, width, highlight)),
        write: Box::new(move |deed, ask| write(&for_write(), deed, ask)),
    }
}

/// Runs `ramus resume` as a program of its own, which asks on the plain terminal and becomes Claude Code.
fn resume(root: Option<&Path>, address: &str) -> io::Result<()> {
    let mut ramus = Command::new(std::env::current_exe()?);
    memory::leave_out_setting(&mut ramus);
    if let Some(root) = root {
        ramus.arg("--claude-dir").arg(root);
    }
    let status = ramus.args(["resume", address]).status()?;
    if !status.success() {
        // What went wrong stands on the plain terminal, which is about to be covered.
        ui::wait_for_enter("Press Enter to return to ramus");
    }
    Ok(())
}

/// Plans are wrapped where they are shown, so that paths can be read to their end.
const ROOMY: usize = 400;

/// Does what the command of the same name does; its question is asked on the screen.
fn write(global: &Global, deed: Deed, ask: Ask) -> Result<Vec<Line>, Vec<Line>> {
    let mut ui = Ui::behind(global, ask);
    ui.width = ROOMY;
    let done = match deed {
        Deed::Goto(address) => goto::goto(&mut ui, global, &GotoArgs::of(address)),
        Deed::Fork(address) => fork::fork(&mut ui, global, &ForkArgs::of(address)),
        Deed::Merge(a, b, policy) => {
            merge::merge(&mut ui, global, &MergeArgs::of(vec![a, b], policy))
        }
        Deed::Undo => undo::undo(&mut ui, global, &UndoArgs::default()),
    };
    match done {
        Ok(()) => Ok(ui.told()),
        Err(error) if error.kind == ErrorKind::Nothing => {
            Ok(vec![Line::plain(&error.error.to_string())])
        }
        Err(error) => Err(reasons(ui.told(), &error)),
    }
}

/// Answers a question with a page of some columns.
fn read(
    global: &Global,
    question: Question,
    width: u16,
    highlight: Highlight,
) -> Result<Page, Vec<Line>> {
    let width = usize::from(width).max(30);
    let page = match question {
        Question::Compare(a, b) => compared(global, [&a, &b], width, highlight),
        Question::Files(address) => files_page(global, &address, width),
        Question::File(address, path) => file_page(global, &address, &path),
    };
    page.map_err(|error| reasons(Vec::new(), &error))
}

fn compared(
    global: &Global,
    addresses: [&str; 2],
    width: usize,
    highlight: Highlight,
) -> Result<Page, CommandError> {
    let workspace = env::open(global, Arc::new(()))?.with_prices(prices::load(None)?);
    let side_by_side = width >= diff::WIDE;
    let layout = diff::Layout { stat: false, side_by_side, full: false, width, highlight };
    let lines = diff::drawn(&workspace, addresses, &layout)?;
    let title = Line::new("Two conversations", Label::Heading);
    Ok(Page { title, lines, links: Vec::new() })
}

fn files_page(global: &Global, address: &str, width: usize) -> Result<Page, CommandError> {
    let workspace = env::open_for(global, address, Arc::new(()))?;
    let (lines, paths) = files::listed(&workspace, address, global.all, width)?;
    let first = lines.len() - paths.len();
    let link = |(at, path)| (first + at, Question::File(address.to_owned(), path));
    let links = paths.into_iter().enumerate().map(link).collect();
    let title = Line::new("Files as of this message", Label::Heading);
    Ok(Page { title: title.with("  Enter shows one", Label::Dim), lines, links })
}

fn file_page(global: &Global, address: &str, path: &str) -> Result<Page, CommandError> {
    let workspace = env::open_for(global, address, Arc::new(()))?;
    let bytes = files::held(&workspace, address, path)?;
    Ok(Page {
        title: Line::new(path, Label::Heading),
        lines: highlight::code(path, &String::from_utf8_lossy(&bytes)),
        links: Vec::new(),
    })
}

/// Says what went wrong, and what to do next.
fn reasons(said: Vec<Line>, error: &CommandError) -> Vec<Line> {
    let mut lines = said;
    let message = format!("{:#}", error.error);
    lines.extend(message.lines().map(|line| Line::new(line, Label::Error)));
    lines.extend(error.hints.iter().map(|hint| Line::new(hint, Label::Note)));
    lines
}
