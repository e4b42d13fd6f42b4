//! The loop: events in, draw, effects out.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
#[cfg(unix)]
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use ramus_app::{Address, Workspace};
use ramus_core::session::NodeId;
use ramus_render::highlight::Highlight;
use ramus_render::symbols::Symbols;
use ramus_render::{Label, Line};
use ramus_store::PathError;
use ratatui::crossterm::event as terminal_event;

use crate::event::{Chapter, Deed, Effect, Event, NodeAddress, OpenRequest, Question, Target};
use crate::outside::InputGate;
use crate::panes::list::List;
use crate::panes::transcript::Transcript;
use crate::panes::tree::Wanted;
#[cfg(unix)]
use crate::signals;
use crate::state::{Clock, State};
use crate::terminal::Screen;
use crate::theme::Theme;
use crate::update::update;
use crate::view::view;
use crate::work::pages::{self, PageStyle};
use crate::work::render::Want;
use crate::work::{self, Desk, agents, answers, changes, draw, find, follow, open, render, survey};

/// What the screens are about.
#[derive(Debug)]
pub struct Options {
    /// The Claude directories, whether they exist or not, and how they are read.
    pub workspace: Arc<Workspace>,
    /// Those that commands and Claude Code look into unless they are told otherwise.
    pub usual_roots: Vec<PathBuf>,
    /// Show empty and metadata-only files too (R18).
    pub all: bool,
    pub color: bool,
    pub symbols: Symbols,
    /// The home directory, which is written as `~`. Empty: nothing is.
    pub home: String,
    pub clock: Clock,
    /// Writes the sample history into a new directory.
    pub write_demo: fn(&Path) -> Result<(), PathError>,
    /// Exports a conversation to a directory in a format; returns what to tell.
    pub export: Export,
    /// Starts Claude Code at an address of a Claude directory, in the plain terminal, and waits for its end.
    pub resume: Resume,
}

type Export = fn(&Workspace, Address, &'static str) -> Result<String, String>;
type Resume = fn(Option<&Path>, &str) -> io::Result<()>;

/// How long drawing waits for what is about to be seen, so that it does not flicker.
const PATIENCE: Duration = Duration::from_millis(8);

/// Shows the screens until they are left.
///
/// # Errors
///
/// When the terminal cannot be used.
///
/// # Panics
///
/// When work on another thread did; the payload is what that one said.
pub fn run(options: Options) -> io::Result<()> {
    let (sender, events) = channel();
    let mut screen = Screen::open()?;
    let list = List::new(options.all, &options.home);
    let theme = Theme { color: options.color, symbols: options.symbols };
    let mut state = State::new(options.clock.clone(), theme, list);
    state.usual_roots.clone_from(&options.usual_roots);
    state.size = screen.size()?;
    let gate = Arc::new(InputGate::default());
    listen(&sender, gate.clone());
    #[cfg(unix)]
    signals::listen(&sender)?;
    let mut desks = Desks::new(&sender, options);
    desks.survey();
    loop {
        if std::mem::take(&mut state.changed) {
            screen.draw(|buffer| view(&mut state, buffer))?;
        }
        let Ok(event) = events.recv() else { return Ok(()) };
        if !take_all(&mut state, event, &events, &mut desks, &mut screen, &gate)? {
            break;
        }
        if let Some(why) = state.broken.take() {
            drop(screen);
            // It panicked on another thread; here, too, that is no error but a bug.
            std::panic::resume_unwind(Box::new(why));
        }
        #[cfg(unix)]
        if let Some(signal) = state.killed_by {
            drop(screen);
            return signals::die_of(signal);
        }
    }
    Ok(())
}

/// Takes an event and all that wait behind it; `false`: that was the end.
fn take_all(
    state: &mut State,
    first: Event,
    events: &Receiver<Event>,
    desks: &mut Desks,
    screen: &mut Screen,
    gate: &InputGate,
) -> io::Result<bool> {
    let start = Instant::now();
    let mut next = Some(first);
    while let Some(event) = next.take() {
        for effect in update(state, event) {
            match effect {
                Effect::Quit => return Ok(false),
                Effect::Redraw => screen.clear()?,
                #[cfg(unix)]
                Effect::Suspend => suspend(state, screen)?,
                #[cfg(unix)]
                Effect::Reopen => reopen(state, screen)?,
                #[cfg(unix)]
                Effect::Resume(request) => resume(state, screen, desks, gate, &request)?,
                Effect::Copy(text, what) => {
                    Screen::copy(&text)?;
                    let told = format!("copied {what} ({} characters)", text.chars().count());
                    state.say(&told, Label::Note);
                }
                effect => desks.take(effect),
            }
        }
        let left = PATIENCE.saturating_sub(start.elapsed());
        // What is about to be seen waits a moment to be complete; the rest is drawn at once.
        let is_urgent = state.reading().is_none_or(Transcript::is_ready);
        let wait = if is_urgent { Duration::ZERO } else { left };
        if !left.is_zero() {
            next = events.recv_timeout(wait).ok();
        }
    }
    Ok(true)
}

/// Gives the terminal to the shell and stops; returns when the shell lets the program go on.
#[cfg(unix)]
fn suspend(state: &mut State, screen: &mut Screen) -> io::Result<()> {
    crate::terminal::restore();
    signals::stop()?;
    reopen(state, screen)
}

/// Takes the terminal again, which may have another size by now.
#[cfg(unix)]
fn reopen(state: &mut State, screen: &mut Screen) -> io::Result<()> {
    screen.reopen()?;
    let (width, height) = screen.size()?;
    if state.size != (width, height) {
        update(state, Event::Resize(width, height));
    }
    state.changed = true;
    Ok(())
}

/// Gives the terminal to Claude Code; returns when it ends, with the terminal taken again.
#[cfg(unix)]
fn resume(
    state: &mut State,
    screen: &mut Screen,
    desks: &Desks,
    gate: &InputGate,
    request: &OpenRequest,
) -> io::Result<()> {
    let ended = gate.close_during(|| {
        crate::terminal::restore();
        signals::IS_OUTSIDE.store(true, Ordering::SeqCst);
        let ended = desks.resume(request);
        signals::IS_OUTSIDE.store(false, Ordering::SeqCst);
        ended
    })?;
    reopen(state, screen)?;
    match ended {
        Ok(()) => state.say("back from Claude Code", Label::Dim),
        Err(why) => state.say(&why, Label::Error),
    }
    Ok(())
}

/// Starts the thread that hears keys, the mouse and changes of size.
fn listen(sender: &Sender<Event>, gate: Arc<InputGate>) {
    work::spawn(sender.clone(), move |events| {
        while let Ok(event) = gate.read(terminal_event::read) {
            let event = match event {
                terminal_event::Event::Key(key) => Event::Key(key),
                terminal_event::Event::Mouse(mouse) => Event::Mouse(mouse),
                terminal_event::Event::Paste(text) => Event::Paste(text),
                terminal_event::Event::Resize(width, height) => Event::Resize(width, height),
                _ => continue,
            };
            if events.send(event).is_err() {
                return;
            }
        }
    });
}

/// Where work is done.
pub(crate) struct Desks {
    sender: Sender<Event>,
    workspace: Arc<Workspace>,
    style: PageStyle,
    write_demo: fn(&Path) -> Result<(), PathError>,
    export: Export,
    resume: Resume,
    watched: follow::Watched,
    open: Desk<OpenRequest>,
    earlier: Desk<(Arc<Chapter>, NodeId)>,
    agents: Desk<Arc<Chapter>>,
    render: Desk<Vec<Want>>,
    prepare: Desk<Vec<Want>>,
    draw: Desk<Wanted>,
    here: Desk<(Arc<Chapter>, String)>,
    all: Desk<String>,
}

impl Desks {
    pub(crate) fn new(sender: &Sender<Event>, options: Options) -> Self {
        let Options { workspace, clock, all, color, write_demo, export, resume, .. } = options;
        let highlight = if color { Highlight::On } else { Highlight::Off };
        let style = PageStyle { clock: clock.clone(), highlight, all };
        let prices = Arc::new(workspace.prices().list.clone());
        Self {
            open: open::desk(sender.clone(), workspace.clone()),
            earlier: open::earlier_desk(sender.clone(), workspace.rule()),
            agents: agents::desk(sender.clone()),
            render: render::desk(sender.clone(), clock.clone(), prices.clone()),
            prepare: render::preparing_desk(sender.clone(), clock.clone(), prices),
            draw: draw::desk(sender.clone(), clock, workspace.rule()),
            here: find::here_desk(sender.clone()),
            all: find::all_desk(sender.clone(), workspace.clone()),
            sender: sender.clone(),
            workspace,
            style,
            write_demo,
            export,
            resume,
            watched: follow::Watched::default(),
        }
    }

    pub(crate) fn survey(&self) {
        let (workspace, watched) = (self.workspace.clone(), self.watched.clone());
        work::spawn(self.sender.clone(), move |events| {
            let sizes = survey::survey(&workspace, events);
            // Only now: both would read every directory at the same time.
            let roots = workspace.roots().to_vec();
            follow::start(events.clone(), roots, workspace.rule(), watched, sizes);
            workspace.index().sketch_aside(&workspace.projects());
        });
    }

    fn write(&self, deed: Deed) {
        let (workspace, clock) = (self.workspace.clone(), self.style.clock.clone());
        work::spawn(self.sender.clone(), move |events| {
            let _ = events.send(changes::change(&deed, &workspace, &clock, events));
        });
    }

    /// Resumes what was asked for, and says why that was not possible.
    #[cfg(unix)]
    fn resume(&self, request: &OpenRequest) -> Result<(), String> {
        let path = request.file.path.display();
        let address = match request.target {
            Target::Resume => path.to_string(),
            Target::Conversation(n) => format!("{path}@{n}"),
            Target::Node(node) => {
                let history = self.workspace.read(&request.file);
                match history.map_err(|error| error.to_string())?.place_of(node) {
                    place if place.is_empty() || place.starts_with('@') => format!("{path}{place}"),
                    name => format!("{path}:{name}"),
                }
            }
        };
        let root = self.workspace.root_of(&request.file.path);
        (self.resume)(root.as_deref(), &address).map_err(|error| error.to_string())
    }

    fn ask(&self, question: Question, width: u16) {
        let (workspace, style) = (self.workspace.clone(), self.style.clone());
        work::spawn(self.sender.clone(), move |events| {
            let _ = events.send(pages::page(&question, &workspace, width, &style));
        });
    }

    pub(crate) fn take(&mut self, effect: Effect) {
        match effect {
            Effect::Open(request) => self.open.put(*request),
            Effect::OpenHere(requests) => {
                let workspace = self.workspace.clone();
                work::spawn(self.sender.clone(), move |events| {
                    for request in requests {
                        let _ = events.send(open::open(request, &workspace));
                    }
                });
            }
            Effect::Agents(chapter) => self.agents.put(chapter),
            Effect::Answers(chapter) => work::spawn(self.sender.clone(), move |events| {
                let answers = answers::answers(&chapter);
                let file = chapter.file.path.clone();
                let _ = events.send(Event::Answers { file, answers });
            }),
            Effect::Earlier(chapter, root) => self.earlier.put((chapter, root)),
            Effect::Render(wants) => self.render.put(wants),
            Effect::Prepare(wants) => self.prepare.put(wants),
            Effect::Draw(wanted) => self.draw.put(*wanted),
            Effect::SearchHere(chapter, text) => self.here.put((chapter, text)),
            Effect::FindAll(text) => self.all.put(text),
            Effect::Ask(question, width) => self.ask(question, width),
            Effect::Show(page) => drop(self.sender.send(Event::Page(page))),
            Effect::CopyMessage(want) => work::spawn(self.sender.clone(), move |events| {
                let _ = events.send(Event::Text(render::words(&want), "the message"));
            }),
            Effect::Export(side, format) => {
                let (workspace, export) = (self.workspace.clone(), self.export);
                self.tell(move || {
                    let NodeAddress { file, node } = side.node_address();
                    let address = workspace.address_in(&file, node);
                    export(&workspace, address.map_err(|error| error.to_string())?, format)
                });
            }
            Effect::WriteDemo => self.write_demo(),
            Effect::Watch(chapters) => self.watched.set(chapters),
            Effect::Do(deed) => self.write(deed),
            Effect::Answer(answer, yes) => {
                // Who asked may have gone.
                let _ = answer.send(yes);
            }
            Effect::Quit
            | Effect::Redraw
            | Effect::Suspend
            | Effect::Reopen
            | Effect::Resume(_)
            | Effect::Copy(..) => {}
        }
    }

    /// Does something and tells how it went.
    fn tell(&self, work: impl FnOnce() -> Result<String, String> + Send + 'static) {
        work::spawn(self.sender.clone(), move |events| {
            let line = match work() {
                Ok(told) => Line::new(&told, Label::Note),
                Err(why) => Line::new(&why, Label::Error),
            };
            let _ = events.send(Event::Said(line));
        });
    }

    fn write_demo(&mut self) {
        let dir = PathBuf::from("ramus-demo");
        // Commands that name it are typed elsewhere.
        let dir = std::path::absolute(&dir).unwrap_or(dir);
        let written = (self.write_demo)(&dir);
        let event = match written {
            Err(error) if !dir.join("projects").is_dir() => {
                Event::Said(Line::new(&format!("{error}: {}", error.source), Label::Error))
            }
            // One that was written before is as good.
            _ => {
                self.workspace = Arc::new(self.workspace.at(vec![dir.clone()]));
                self.all = find::all_desk(self.sender.clone(), self.workspace.clone());
                self.survey();
                let told = format!("a sample history in {}", dir.display());
                Event::Said(Line::new(&told, Label::Dim))
            }
        };
        let _ = self.sender.send(event);
    }
}
