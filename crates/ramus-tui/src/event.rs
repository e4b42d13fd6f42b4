//! Events that the screens receive, and effects that they request. Both lists are closed.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::sync::{Arc, OnceLock};

use ramus_app::annotations::message_target;
use ramus_app::name::plain_title;
use ramus_app::survey::time_from_system;
use ramus_app::{ExportFormat, NodeSelector, ResumeDecision};
use ramus_core::annotation::{AnnotationTarget, Annotations};
use ramus_core::digest::SessionDigest;
use ramus_core::edit::ConflictPolicy;
use ramus_core::history::History;
use ramus_core::session::NodeId;
use ramus_core::title::{ProjectSummaries, session_title};
use ramus_render::Line;
use ramus_render::text::RunningCall;
use ramus_store::claude_dir::HistoryFile;
use ramus_store::prompt_history::GoneSession;
use ratatui::crossterm::event::{KeyEvent, MouseEvent};

use crate::panes::list::{self, FindRequest, ListPane, ProjectRow, SearchUpdate};
use crate::panes::preview::PreviewFacts;
use crate::panes::transcript::{BlockKey, TranscriptStage};
use crate::panes::tree::TreeDrawing;
use crate::work::live::{LiveRequest, LiveStatus};
use crate::work::render::RenderRequest;

/// Something that happens: a key, or work that is done.
#[derive(Debug)]
pub(crate) enum ScreenEvent {
    Key(KeyEvent),
    Mouse(MouseEvent),
    Paste(String),
    Resize(u16, u16),
    /// The directory of the current project; `None`: all projects.
    CurrentProject(Option<PathBuf>),
    /// The files there are; nothing of them is read. How many bytes there are.
    Listed(Vec<ProjectRow>, u64),
    /// Files were read; the contents of those that are sessions.
    Read {
        bytes: u64,
        sessions: Vec<list::SessionRow>,
    },
    /// Everything was read; what could not be.
    Surveyed(Vec<ProjectRow>, Vec<String>),
    /// What the client deletes soon, in a sentence, how many of these files are not archived, and what is
    /// left of sessions it deleted.
    Cleanup {
        due: Option<String>,
        unarchived: usize,
        gone: Vec<GoneSession>,
    },
    /// How many files the client deletes soon that are not archived.
    Unarchived(usize),
    /// There is no history; why.
    NoHistory(String),
    Opened(Box<OpenedChapter>),
    /// What is at the list's cursor, read.
    Previewed(Box<OpenedChapter>),
    /// What takes longer to find out about it.
    PreviewFacts(PathBuf, PreviewFacts),
    /// All pins, tags and notes.
    Annotations(Arc<Annotations>),
    /// What sessions cost, by their files.
    Costs(HashMap<PathBuf, f64>),
    /// Where a conversation began in other sessions, for a root of this file.
    Earlier {
        file: PathBuf,
        root: NodeId,
        stages: Vec<TranscriptStage>,
    },
    Agents {
        file: PathBuf,
        agents: Vec<AgentInfo>,
    },
    /// What was answered on branches that would have the same name otherwise.
    Answers {
        file: PathBuf,
        answers: Vec<(u32, String)>,
    },
    Rendered(Box<RenderedBlock>),
    /// A text to copy, and its name.
    Text(String, &'static str),
    Drawn(Box<TreeDrawing>),
    /// Messages of one session that match the search.
    Hits {
        file: PathBuf,
        hits: Vec<NodeId>,
    },
    /// Messages of all sessions, as far as they are known.
    Found(Box<SearchUpdate>),
    /// A page to read.
    Document(TextDocument),
    /// A message for the status line.
    Status(Line),
    /// A change was planned: its summary, a question, and the channel for the answer.
    Asked(Vec<Line>, String, Sender<bool>),
    /// What has to be done before something can be resumed.
    ResumePlanned(Box<OpenRequest>, ResumeChoice),
    /// A session that is read has grown or was rewritten.
    Grew(Arc<Chapter>),
    /// A session changed or came to be; the directory it belongs to.
    Changed(String, Box<list::SessionRow>),
    /// An open session was moved; the value is its old path.
    Moved(PathBuf, Arc<Chapter>),
    /// A file is not there any more.
    Removed(PathBuf),
    /// The sessions that were written to a moment ago.
    Writing(HashSet<PathBuf>),
    /// What the session that is followed live is doing.
    LiveStatus(PathBuf, LiveStatus),
    /// A part of the program broke.
    Broken(String),
    /// The program is asked to end.
    #[cfg_attr(windows, allow(dead_code, reason = "Windows has no signals"))]
    Signal(i32),
    /// The program was suspended and continues; other programs may have used the terminal.
    #[cfg_attr(windows, allow(dead_code, reason = "Windows has no signals"))]
    Continued,
}

/// Something to be done outside of the screens.
#[derive(Debug)]
pub(crate) enum Effect {
    Quit,
    Redraw,
    /// Suspend until the shell continues the program.
    Suspend,
    /// Take the terminal again.
    Reopen,
    Open(Box<OpenRequest>),
    /// Give the terminal to Claude Code, and take it again when that ends.
    Resume(Box<OpenRequest>, Option<ResumeDecision>),
    /// Find out what must be done first.
    PlanResume(Box<OpenRequest>),
    /// Open several agents in place.
    OpenHere(Vec<OpenRequest>),
    /// Find the agents of a session.
    Agents(Arc<Chapter>),
    /// Find what distinguishes branches with the same title.
    Answers(Arc<Chapter>),
    /// Find where the conversation with this root began.
    Earlier(Arc<Chapter>, NodeId),
    /// Render the visible blocks and those nearby.
    Render(Vec<RenderRequest>),
    /// Also render what the next key may show. `None` while the visible part needs the time.
    Prepare(Vec<RenderRequest>),
    /// Copy the words of a message.
    CopyMessage(Box<RenderRequest>),
    Copy(String, &'static str),
    /// Copy the command that resumes there.
    CopyResume(Box<OpenRequest>),
    Draw(Box<crate::panes::tree::TreeRequest>),
    SearchHere(Arc<Chapter>, String),
    FindAll(FindRequest),
    /// Read the session at the list's cursor.
    Preview(Box<OpenRequest>),
    /// Look something up and show it as a page of this width.
    OpenDocument(DocumentRequest, u16),
    /// Show a page that is there.
    Show(TextDocument),
    Export(NodeAddress, ExportFormat),
    /// Write a session with everything that belongs to it into one file.
    Pack(PathBuf),
    /// Write files as they were at a message to a new file, or all of them to a new directory.
    SaveFiles(SavedFiles, PathBuf),
    /// Write the images of a message to private files and open them.
    OpenImages(Box<RenderRequest>),
    WriteDemo,
    /// Look at what is followed live; `None`: nothing is.
    FollowLive(Option<LiveRequest>),
    /// Keep an eye on these sessions.
    Watch(Vec<Arc<Chapter>>),
    /// Plan a change, show it, and apply it if the user confirms.
    ApplyChange(ChangeCommand),
    Answer(Sender<bool>, bool),
    /// Pin, tag or note a session or a message.
    Annotate(NodeAddress, AnnotationEdit),
    /// Report which files are not archived, and archive them if the user agrees.
    ArchiveAll,
}

/// A message or a conversation of a session's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NodeAddress {
    pub(crate) file: PathBuf,
    pub(crate) node: NodeSelector,
}

/// Something to read that takes a while to find out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DocumentRequest {
    /// How two conversations differ.
    Compare(NodeAddress, NodeAddress),
    /// Which files there were at a message.
    Files(NodeAddress),
    /// The content of one of them.
    File(NodeAddress, String),
    /// How they changed from there to the end of the branch.
    FileChanges(SavedFiles),
    /// What a session used.
    Usage(PathBuf),
    /// The sessions in the trash, newest first.
    Trash,
    /// One of them, to be restored.
    Trashed(String),
    /// The operations, newest first.
    Log,
    /// One of them, to be undone.
    Operation(u64),
}

/// The files as of a message, or one of them by its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SavedFiles {
    pub(crate) at: NodeAddress,
    pub(crate) only: Option<String>,
}

/// What there is to read: a title, lines, and which of them lead on to other pages.
#[derive(Clone, Debug, Default)]
pub(crate) struct TextDocument {
    pub(crate) title: Line,
    pub(crate) lines: Vec<Line>,
    pub(crate) links: Vec<(usize, DocumentRequest)>,
    /// It is about these files, which can be compared, saved and restored.
    pub(crate) files: Option<SavedFiles>,
    /// Its paragraphs are differences, which a key jumps between.
    pub(crate) has_stops: bool,
}

impl TextDocument {
    pub(crate) fn new(title: Line, lines: Vec<Line>) -> Self {
        Self { title, lines, ..Self::default() }
    }
}

/// What is to be changed about pins, tags and notes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AnnotationEdit {
    /// Pin it, or take the pin away.
    TogglePin,
    /// Tags to add; those after `-` are removed.
    Tags(String),
    /// An empty note removes it.
    Note(String),
}

/// How something can be resumed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ResumeChoice {
    /// Claude Code resumes there already.
    AsItIs,
    /// It resumes elsewhere: the resume point can be moved, or a new session made.
    GotoOrFork,
    /// Only a new session can be resumed there; why.
    Fork(String),
}

/// A change of the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ChangeCommand {
    /// Resume from this message.
    Goto(NodeAddress),
    /// A new session up to this message.
    Fork(NodeAddress),
    /// Merge two conversations into a new session; which version is valid if both changed a file.
    Merge(NodeAddress, NodeAddress, ConflictPolicy),
    /// Give a session a title.
    Rename(NodeAddress, String),
    /// Put a session into the trash.
    Trash(NodeAddress),
    /// Bring a session back from the trash.
    Restore(String),
    /// Put files on disk back as they were at a message.
    RestoreFiles(SavedFiles),
    /// Undo an operation; without a number the last one.
    Undo(Option<u64>),
}

/// A session file, read.
#[derive(Debug)]
pub(crate) struct Chapter {
    pub(crate) file: HistoryFile,
    /// The files of its project.
    pub(crate) files: Arc<[HistoryFile]>,
    pub(crate) project: String,
    pub(crate) history: Arc<History>,
    title: OnceLock<Option<String>>,
}

/// What to open, and where.
#[derive(Clone, Debug)]
pub(crate) struct OpenRequest {
    pub(crate) file: HistoryFile,
    pub(crate) files: Arc<[HistoryFile]>,
    pub(crate) project: String,
    pub(crate) target: JumpTarget,
    pub(crate) opening: OpenMode,
}

/// Where in a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum JumpTarget {
    Resume,
    Conversation(u32),
    Node(NodeId),
}

/// Where on the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OpenMode {
    /// Instead of the open session.
    New,
    /// As one of the messages that were found, with the words marked.
    Hit,
    /// A session that was found by its title; what matches in it is marked.
    Titled,
    /// On top of it, to come back.
    Pane,
    /// Inside of it, below the call of a stage that started an agent; what the agent is called.
    Here { stage: u32, call: NodeId, label: String },
}

#[derive(Debug)]
pub(crate) struct OpenedChapter {
    pub(crate) chapter: Arc<Chapter>,
    pub(crate) target: JumpTarget,
    pub(crate) opening: OpenMode,
    /// The agents that an agent opened in place has started itself.
    pub(crate) agents: Vec<AgentInfo>,
}

/// An agent of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AgentInfo {
    pub(crate) id: String,
    pub(crate) label: String,
    /// The call that started it. `None`: not known.
    pub(crate) call: Option<NodeId>,
    /// How many agents are between it and the open session; it follows the one that started it.
    pub(crate) depth: u8,
    pub(crate) records: u32,
    /// `None`: its records are in the session's own file.
    pub(crate) file: Option<HistoryFile>,
    /// The last record of it, where it is in the session's own file.
    pub(crate) last: NodeId,
}

/// A block of a transcript as lines.
#[derive(Debug)]
pub(crate) struct RenderedBlock {
    pub(crate) key: BlockKey,
    pub(crate) look: crate::panes::transcript::BlockStyle,
    /// What it was rendered from, which may have grown since.
    pub(crate) chapter: Arc<Chapter>,
    /// The calls that were running then.
    pub(crate) running: Arc<[RunningCall]>,
    pub(crate) lines: Vec<Line>,
}

/// One conversation for a comparison or an export.
#[derive(Clone, Debug)]
pub(crate) struct MarkedBranch {
    pub(crate) chapter: Arc<Chapter>,
    pub(crate) conversation: u32,
}

impl MarkedBranch {
    /// Returns the address as a person types it.
    pub(crate) fn branch_address(&self, list: &ListPane) -> String {
        let file = &self.chapter.file;
        let agent = if file.role.is_agent() { "agent-" } else { "" };
        format!("{agent}{}@{}", list.short_ids.shorten_id(&file.id), self.conversation)
    }

    /// Returns the address that nothing else can be meant by.
    pub(crate) fn node_address(&self) -> NodeAddress {
        let node = NodeSelector::Nth(self.conversation as usize);
        NodeAddress { file: self.chapter.file.path.clone(), node }
    }
}

impl Chapter {
    pub(crate) fn new(
        file: HistoryFile,
        files: Arc<[HistoryFile]>,
        project: String,
        history: Arc<History>,
    ) -> Self {
        Self { file, files, project, history, title: OnceLock::new() }
    }

    /// Returns the title from its own file (R15).
    pub(crate) fn own_title(&self) -> Option<&str> {
        let title = self.title.get_or_init(|| {
            let digest = SessionDigest::new(&self.history);
            let mut summaries = ProjectSummaries::default();
            summaries.add_digest(&digest, time_from_system(self.file.modified));
            session_title(&digest, &summaries).map(plain_title)
        });
        title.as_deref()
    }

    /// Returns what a pin, a tag or a note of a message is about.
    pub(crate) fn annotation_target(&self, node: NodeId) -> AnnotationTarget {
        message_target(&self.file, &self.history, node)
    }

    /// Returns the address of a node, which stays valid while the file grows.
    pub(crate) fn node_address(&self, node: NodeId) -> NodeAddress {
        let place = self.history.node_address(node);
        let node = match place.strip_prefix('@').and_then(|n| n.parse().ok()) {
            Some(n) => NodeSelector::Nth(n),
            None if place.is_empty() => NodeSelector::Resume,
            None => NodeSelector::Uuid(place),
        };
        NodeAddress { file: self.file.path.clone(), node }
    }

    /// Returns the address of a node, as it is typed, that nothing else can be meant by.
    pub(crate) fn full_address(&self, node: NodeId) -> String {
        let path = self.file.path.display();
        match self.history.node_address(node) {
            place if place.is_empty() || place.starts_with('@') => format!("{path}{place}"),
            name => format!("{path}:{name}"),
        }
    }

    /// Whether the beginning of a node's name means no other one.
    pub(crate) fn is_only(&self, node: NodeId) -> bool {
        let own = self.history.node_address(node);
        if own.is_empty() {
            return true;
        }
        let start = self.history.short_uuid(&own);
        // A whole name means its node, even where others begin with it.
        if start == own {
            return true;
        }
        let session = &self.history.session;
        let names = session.nodes().filter_map(|(_, record)| Some(session.uuid_text(record.uuid?)));
        names.filter(|name| *name != own).all(|name| !name.starts_with(start))
    }

    /// Returns the address of a node, with the id of the session that is given.
    pub(crate) fn address_of(&self, id: &str, node: NodeId) -> String {
        let agent = if self.file.role.is_agent() { "agent-" } else { "" };
        let id = format!("{agent}{id}");
        match self.history.node_address(node) {
            place if place.is_empty() || place.starts_with('@') => format!("{id}{place}"),
            name => format!("{id}:{}", self.history.short_uuid(&name)),
        }
    }
}
