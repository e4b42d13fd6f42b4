//! The loop: events in, draw, effects out.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
#[cfg(unix)]
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use ramus_app::{Address, ExportError, ResumeDecision, Workspace};
use ramus_core::session::NodeId;
use ramus_render::highlight::Highlight;
use ramus_render::symbols::SymbolSet;
use ramus_render::{Label, Line};
use ramus_store::PathError;
use ratatui::crossterm::event as terminal_event;

use crate::background;
use crate::event::{
    ChangeCommand, Chapter, DocumentRequest, Effect, JumpTarget, NodeAddress, OpenRequest,
    ScreenEvent,
};
use crate::keys::{KeyAction, KeyMap};
use crate::outside::InputGate;
use crate::panes::list::{FindRequest, ListPane};
use crate::panes::transcript::TranscriptPane;
use crate::panes::tree::TreeRequest;
#[cfg(unix)]
use crate::signals;
use crate::state::{ScreenClock, ScreenState};
use crate::terminal::TerminalScreen;
use crate::theme::{ScreenColors, ScreenTheme};
use crate::update::update_state;
use crate::view::draw_screen;
use crate::work::changes::PlanStyle;
use crate::work::documents::{self, DocumentStyle};
use crate::work::exports::{export_conversation, pack_session, save_files};
use crate::work::images::open_images;
use crate::work::live::LiveRequest;
use crate::work::render::RenderRequest;
use crate::work::{
    self, LatestWorker, agents, annotating, archiving, changes, draw, find, follow, live, open,
    preview, render, reply_names, survey,
};

/// What the screens are about.
#[derive(Debug)]
pub struct ScreenOptions {
    /// The Claude directories, whether they exist or not, and how they are read.
    pub workspace: Arc<Workspace>,
    /// The directories that commands and Claude Code use by default.
    pub usual_roots: Vec<PathBuf>,
    /// Show empty and metadata-only files too (R18).
    pub all: bool,
    pub color: bool,
    /// Which colours; `None`: the terminal is asked for its background.
    pub colors: Option<ScreenColors>,
    pub symbols: SymbolSet,
    /// The home directory, which is written as `~`. Empty: nothing is.
    pub home: String,
    pub clock: ScreenClock,
    /// The keys with what the user changed.
    pub keys: KeyMap,
    /// The directory for what is exported, packed or saved.
    pub output_dir: PathBuf,
    /// Writes the sample history into a new directory.
    pub write_demo: fn(&Path) -> Result<(), PathError>,
    /// Returns what a session used, for a page of some columns; an error is a sentence.
    pub usage_lines: fn(&Workspace, &Path, usize) -> Result<Vec<Line>, String>,
    /// Returns how files changed between two addresses: all of them or the one with a path.
    pub file_changes: FileChanges,
    /// Opens a file in the program that the system has for it; `false`: there is none.
    pub open_file: fn(&Path) -> bool,
    /// Starts Claude Code at an address of a Claude directory, in the plain terminal, and waits for its end.
    pub resume: Resume,
}

/// Compares the files at two addresses: all of them, or the one with a path. An error is a sentence.
pub type FileChanges = fn(&Workspace, [&Address; 2], Option<&str>) -> Result<Vec<Line>, String>;

type Resume = fn(Option<&Path>, &str, Option<ResumeDecision>) -> io::Result<()>;

/// How long drawing waits for blocks that are about to be visible, so that the screen does not flicker.
const DRAW_DELAY: Duration = Duration::from_millis(8);

/// Shows the screens until they are left.
///
/// # Errors
///
/// When the terminal cannot be used.
///
/// # Panics
///
/// A worker thread panicked; the payload is its message.
pub fn run(options: ScreenOptions) -> io::Result<()> {
    let (sender, events) = channel();
    let mut screen = TerminalScreen::open_terminal()?;
    let list = ListPane::new(options.all, &options.home);
    let (colors, typed) = match options.colors {
        Some(colors) => (colors, String::new()),
        None => background::find_colors(),
    };
    let theme = ScreenTheme { color: options.color, colors, symbols: options.symbols };
    let mut state = ScreenState::new(options.clock.clone(), theme, list);
    state.usual_roots.clone_from(&options.usual_roots);
    state.bind_keys(options.keys.clone());
    state.size = screen.terminal_size()?;
    if !typed.is_empty() {
        // Who types fast should not have to type again.
        let _ = sender.send(ScreenEvent::Paste(typed));
    }
    let gate = Arc::new(InputGate::default());
    listen_for_input(&sender, gate.clone());
    #[cfg(unix)]
    signals::listen_for_signals(&sender)?;
    let mut desks = Workers::new(&sender, options);
    desks.start_survey();
    loop {
        if std::mem::take(&mut state.changed) {
            screen.draw_frame(|buffer| draw_screen(&mut state, buffer))?;
        }
        let Ok(event) = events.recv() else { return Ok(()) };
        if !handle_pending(&mut state, event, &events, &mut desks, &mut screen, &gate)? {
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
            return signals::end_with_signal(signal);
        }
    }
    Ok(())
}

/// Takes an event and all that wait behind it; `false`: that was the end.
fn handle_pending(
    state: &mut ScreenState,
    first: ScreenEvent,
    events: &Receiver<ScreenEvent>,
    desks: &mut Workers,
    screen: &mut TerminalScreen,
    gate: &InputGate,
) -> io::Result<bool> {
    let start = Instant::now();
    let mut next = Some(first);
    while let Some(event) = next.take() {
        for effect in update_state(state, event) {
            match effect {
                Effect::Quit => return Ok(false),
                Effect::Redraw => screen.clear_terminal()?,
                #[cfg(unix)]
                Effect::Suspend => suspend_program(state, screen)?,
                Effect::Reopen => reopen_screen(state, screen)?,
                Effect::Resume(request, decision) => {
                    resume(state, screen, desks, gate, (&request, decision))?;
                }
                Effect::Copy(text, what) => {
                    TerminalScreen::copy_to_clipboard(&text)?;
                    let message = format!("copied {what} ({} characters)", text.chars().count());
                    state.show_status(&message, Label::Note);
                }
                effect => desks.run_effect(effect),
            }
        }
        let left = DRAW_DELAY.saturating_sub(start.elapsed());
        // What is about to be seen waits a moment to be complete; the rest is drawn at once.
        let is_urgent = state.visible_transcript().is_none_or(TranscriptPane::is_ready);
        let wait = if is_urgent { Duration::ZERO } else { left };
        if !left.is_zero() {
            next = events.recv_timeout(wait).ok();
        }
    }
    Ok(true)
}

/// Gives the terminal to the shell and suspends. Returns when the shell continues the program.
#[cfg(unix)]
fn suspend_program(state: &mut ScreenState, screen: &mut TerminalScreen) -> io::Result<()> {
    crate::terminal::restore_terminal();
    signals::stop_job()?;
    reopen_screen(state, screen)
}

/// Takes the terminal again, which may have another size by now.
fn reopen_screen(state: &mut ScreenState, screen: &mut TerminalScreen) -> io::Result<()> {
    screen.reopen_terminal()?;
    let (width, height) = screen.terminal_size()?;
    if state.size != (width, height) {
        update_state(state, ScreenEvent::Resize(width, height));
    }
    state.changed = true;
    Ok(())
}

/// Gives the terminal to Claude Code; returns when it ends, with the terminal taken again.
fn resume(
    state: &mut ScreenState,
    screen: &mut TerminalScreen,
    desks: &Workers,
    gate: &InputGate,
    (request, decision): (&OpenRequest, Option<ResumeDecision>),
) -> io::Result<()> {
    let ended = gate.close_during(|| {
        crate::terminal::restore_terminal();
        #[cfg(unix)]
        signals::IS_OUTSIDE.store(true, Ordering::SeqCst);
        let ended = desks.resume(request, decision);
        #[cfg(unix)]
        signals::IS_OUTSIDE.store(false, Ordering::SeqCst);
        ended
    })?;
    reopen_screen(state, screen)?;
    match ended {
        Ok(()) => state.show_status("back from Claude Code", Label::Dim),
        Err(why) => state.show_status(&why, Label::Error),
    }
    Ok(())
}

/// Starts the thread that reads keys, mouse events and changes of size.
fn listen_for_input(sender: &Sender<ScreenEvent>, gate: Arc<InputGate>) {
    work::spawn_guarded(sender.clone(), move |events| {
        while let Ok(event) = gate.read_event() {
            let event = match event {
                terminal_event::Event::Key(key) => ScreenEvent::Key(key),
                terminal_event::Event::Mouse(mouse) => ScreenEvent::Mouse(mouse),
                terminal_event::Event::Paste(text) => ScreenEvent::Paste(text),
                terminal_event::Event::Resize(width, height) => ScreenEvent::Resize(width, height),
                _ => continue,
            };
            if events.send(event).is_err() {
                return;
            }
        }
    });
}

/// Where work is done.
pub(crate) struct Workers {
    sender: Sender<ScreenEvent>,
    workspace: Arc<Workspace>,
    style: DocumentStyle,
    output_dir: PathBuf,
    write_demo: fn(&Path) -> Result<(), PathError>,
    open_file: fn(&Path) -> bool,
    resume: Resume,
    /// The key that lists all operations.
    log_key: String,
    watched: follow::WatchedSessions,
    open: LatestWorker<OpenRequest>,
    earlier: LatestWorker<(Arc<Chapter>, NodeId)>,
    agents: LatestWorker<Arc<Chapter>>,
    render: LatestWorker<Vec<RenderRequest>>,
    prepare: LatestWorker<Vec<RenderRequest>>,
    draw: LatestWorker<TreeRequest>,
    here: LatestWorker<(Arc<Chapter>, String)>,
    all: LatestWorker<FindRequest>,
    preview: LatestWorker<OpenRequest>,
    live: LatestWorker<Option<LiveRequest>>,
}

impl Workers {
    pub(crate) fn new(sender: &Sender<ScreenEvent>, options: ScreenOptions) -> Self {
        let ScreenOptions { workspace, clock, all, color, write_demo, open_file, .. } = options;
        let ScreenOptions { usage_lines, file_changes, resume, keys, output_dir, .. } = options;
        let highlight = if color { Highlight::On } else { Highlight::Off };
        let style =
            DocumentStyle { clock: clock.clone(), highlight, all, usage_lines, file_changes };
        let prices = Arc::new(workspace.active_prices().list.clone());
        Self {
            open: open::start_open_worker(sender.clone(), workspace.clone()),
            earlier: open::start_earlier_worker(sender.clone(), workspace.resume_rule()),
            agents: agents::start_agents_worker(sender.clone()),
            render: render::start_render_worker(sender.clone(), clock.clone(), prices.clone()),
            prepare: render::start_prepare_worker(sender.clone(), clock.clone(), prices),
            draw: draw::start_tree_worker(sender.clone(), clock, workspace.resume_rule()),
            here: find::start_search_worker(sender.clone()),
            all: find::start_find_worker(sender.clone(), workspace.clone()),
            preview: preview::start_preview_worker(sender.clone(), workspace.clone()),
            live: live::start_live_worker(sender.clone(), workspace.clone()),
            sender: sender.clone(),
            workspace,
            style,
            output_dir,
            write_demo,
            open_file,
            resume,
            log_key: keys.main_key(KeyAction::Log, true),
            watched: follow::WatchedSessions::default(),
        }
    }

    pub(crate) fn start_survey(&self) {
        let (workspace, watched) = (self.workspace.clone(), self.watched.clone());
        work::spawn_guarded(self.sender.clone(), move |events| {
            let sizes = survey::survey_histories(&workspace, events);
            // Only now: both would read every directory at the same time.
            let roots = workspace.claude_roots().to_vec();
            follow::start_following(events.clone(), roots, workspace.resume_rule(), watched, sizes);
            let _ = events.send(ScreenEvent::Annotations(workspace.annotations()));
            let _ = events.send(ScreenEvent::Costs(workspace.session_costs()));
            workspace.session_cache().build_filters_slowly(&workspace.list_projects());
        });
    }

    fn run_change(&self, command: ChangeCommand) {
        let (workspace, clock) = (self.workspace.clone(), self.style.clock.clone());
        let log_key = self.log_key.clone();
        work::spawn_guarded(self.sender.clone(), move |events| {
            let style = PlanStyle { clock: &clock, log_key: &log_key };
            let _ = events.send(changes::run_change(&command, &workspace, &style, events));
        });
    }

    /// Resumes the selection in Claude Code, or shows why that is not possible.
    fn resume(
        &self,
        request: &OpenRequest,
        decision: Option<ResumeDecision>,
    ) -> Result<(), String> {
        let path = request.file.path.display();
        let address = match request.target {
            JumpTarget::Resume => path.to_string(),
            JumpTarget::Conversation(n) => format!("{path}@{n}"),
            JumpTarget::Node(node) => {
                let history = self.workspace.read_history(&request.file);
                match history.map_err(|error| error.to_string())?.node_address(node) {
                    place if place.is_empty() || place.starts_with('@') => format!("{path}{place}"),
                    name => format!("{path}:{name}"),
                }
            }
        };
        let root = self.workspace.root_of(&request.file.path);
        (self.resume)(root.as_deref(), &address, decision).map_err(|error| error.to_string())
    }

    fn answer_question(&self, question: DocumentRequest, width: u16) {
        let (workspace, style) = (self.workspace.clone(), self.style.clone());
        work::spawn_guarded(self.sender.clone(), move |events| {
            let _ = events.send(documents::answer_request(&question, &workspace, width, &style));
        });
    }

    pub(crate) fn run_effect(&mut self, effect: Effect) {
        match effect {
            Effect::Open(request) => self.open.submit_request(*request),
            Effect::OpenHere(requests) => {
                let workspace = self.workspace.clone();
                work::spawn_guarded(self.sender.clone(), move |events| {
                    for request in requests {
                        let _ = events.send(open::open_session(request, &workspace));
                    }
                });
            }
            Effect::Agents(chapter) => self.agents.submit_request(chapter),
            Effect::Answers(chapter) => work::spawn_guarded(self.sender.clone(), move |events| {
                let answers = reply_names::distinguishing_replies(&chapter);
                let file = chapter.file.path.clone();
                let _ = events.send(ScreenEvent::Answers { file, answers });
            }),
            Effect::Earlier(chapter, root) => self.earlier.submit_request((chapter, root)),
            Effect::Render(wants) => self.render.submit_request(wants),
            Effect::Prepare(wants) => self.prepare.submit_request(wants),
            Effect::Draw(wanted) => self.draw.submit_request(*wanted),
            Effect::SearchHere(chapter, text) => self.here.submit_request((chapter, text)),
            Effect::FindAll(request) => self.all.submit_request(request),
            Effect::Preview(request) => self.preview.submit_request(*request),
            Effect::OpenDocument(question, width) => self.answer_question(question, width),
            Effect::Show(page) => drop(self.sender.send(ScreenEvent::Document(page))),
            Effect::CopyMessage(want) => work::spawn_guarded(self.sender.clone(), move |events| {
                let _ = events.send(ScreenEvent::Text(render::block_text(&want), "the message"));
            }),
            Effect::CopyResume(request) => {
                let workspace = self.workspace.clone();
                work::spawn_guarded(self.sender.clone(), move |events| {
                    let _ = events.send(changes::resume_line(&workspace, &request));
                });
            }
            Effect::Export(NodeAddress { file, node }, format) => {
                let (workspace, dir) = (self.workspace.clone(), self.output_dir.clone());
                self.run_and_report(move || {
                    let address = workspace.address_in(&file, node).map_err(ExportError::from);
                    address
                        .and_then(|address| export_conversation(&workspace, address, format, &dir))
                        .map_err(|error| documents::error_text(&error))
                });
            }
            Effect::Pack(file) => {
                let (workspace, dir) = (self.workspace.clone(), self.output_dir.clone());
                self.run_and_report(move || pack_session(&workspace, &file, &dir));
            }
            Effect::SaveFiles(files, to) => {
                let (workspace, to) = (self.workspace.clone(), self.output_dir.join(to));
                self.run_and_report(move || save_files(&workspace, &files, &to));
            }
            Effect::OpenImages(want) => {
                let open_file = self.open_file;
                self.run_and_report(move || open_images(&render::block_media(&want), open_file));
            }
            Effect::WriteDemo => self.write_demo(),
            Effect::FollowLive(request) => self.live.submit_request(request),
            Effect::Watch(chapters) => self.watched.watch_chapters(chapters),
            Effect::ApplyChange(command) => self.run_change(command),
            Effect::ArchiveAll => {
                let workspace = self.workspace.clone();
                work::spawn_guarded(self.sender.clone(), move |events| {
                    let _ = events.send(archiving::run_archiving(&workspace, events));
                });
            }
            Effect::Annotate(at, edit) => {
                let workspace = self.workspace.clone();
                work::spawn_guarded(self.sender.clone(), move |events| {
                    let _ = events.send(annotating::annotate(&workspace, &at, &edit, events));
                });
            }
            Effect::PlanResume(request) => {
                let workspace = self.workspace.clone();
                work::spawn_guarded(self.sender.clone(), move |events| {
                    let _ = events.send(changes::plan_resume(&workspace, *request));
                });
            }
            Effect::Answer(answer, yes) => {
                // The requester may no longer exist.
                let _ = answer.send(yes);
            }
            Effect::Quit
            | Effect::Redraw
            | Effect::Suspend
            | Effect::Reopen
            | Effect::Resume(..)
            | Effect::Copy(..) => {}
        }
    }

    /// Does something and shows the result.
    fn run_and_report(&self, work: impl FnOnce() -> Result<String, String> + Send + 'static) {
        work::spawn_guarded(self.sender.clone(), move |events| {
            let line = match work() {
                Ok(message) => Line::new(&message, Label::Note),
                Err(why) => Line::new(&why, Label::Error),
            };
            let _ = events.send(ScreenEvent::Status(line));
        });
    }

    fn write_demo(&mut self) {
        let dir = self.output_dir.join("ramus-demo");
        let written = (self.write_demo)(&dir);
        let event = match written {
            Err(error) if !dir.join("projects").is_dir() => {
                ScreenEvent::Status(Line::new(&format!("{error}: {}", error.source), Label::Error))
            }
            // One that was written before is as good.
            _ => {
                self.workspace = Arc::new(self.workspace.with_roots(vec![dir.clone()]));
                let (sender, workspace) = (&self.sender, &self.workspace);
                self.all = find::start_find_worker(sender.clone(), workspace.clone());
                self.preview = preview::start_preview_worker(sender.clone(), workspace.clone());
                self.live = live::start_live_worker(sender.clone(), workspace.clone());
                self.start_survey();
                let message = format!("a sample history in {}", dir.display());
                ScreenEvent::Status(Line::new(&message, Label::Dim))
            }
        };
        let _ = self.sender.send(event);
    }
}
