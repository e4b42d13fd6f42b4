//! Resolves addresses: what a user types for a project, a session or a node.
//!
//! Of several that could be meant, one in the project of the current directory is.

mod current_project;
mod title_words;

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use ramus_core::history::History;
use ramus_core::session::NodeId;
use ramus_store::claude_dir::{FileRole, HistoryFile, Project};
use ramus_store::project_name::{is_encoded_path, is_windows_path, project_dir_name};
use ramus_store::real_path::{real_path, real_path_or_given};
use ramus_store::survey::{ProjectSurvey, SurveyedFile};
use ramus_store::{PathError, read_last_active};

use crate::workspace::Workspace;

pub use current_project::{CurrentDir, CurrentProject};

/// How many letters of an id come before what else they could mean: part of a project's name.
const CERTAIN_PREFIX: usize = 4;
/// How many candidates of an ambiguous address are listed.
const MAX_CANDIDATES: usize = 12;
/// How much of a candidate's title is shown.
const MAX_TITLE_CHARS: usize = 70;

/// What a question is about.
#[derive(Clone, Debug)]
pub enum Scope {
    All,
    Project(ResolvedProject),
    Session(Box<ResolvedFile>),
    /// Sessions of any projects.
    Sessions(Vec<ResolvedFile>),
}

impl Scope {
    /// Returns the named sessions. `None`: all sessions of a project or of everything.
    pub fn sessions(&self) -> Option<&[ResolvedFile]> {
        match self {
            Self::All | Self::Project(_) => None,
            Self::Session(found) => Some(std::slice::from_ref(found)),
            Self::Sessions(found) => Some(found),
        }
    }

    /// Whether a file is in scope as a session; without named sessions, every file is.
    pub fn names_file(&self, file: &HistoryFile) -> bool {
        self.sessions().is_none_or(|found| found.iter().any(|found| found.file.path == file.path))
    }

    /// Whether a project is the scope, or has it.
    pub fn has_project(&self, project: &ProjectSurvey) -> bool {
        match self {
            Self::All => true,
            Self::Project(found) => found.dir == project.dir,
            Self::Session(found) => found.project_dir() == project.dir,
            Self::Sessions(found) => found.iter().any(|found| found.project_dir() == project.dir),
        }
    }

    /// Whether a file of the scope's projects belongs to it.
    pub fn includes_file(&self, file: &SurveyedFile) -> bool {
        let belongs = |found: &ResolvedFile| {
            file.file.path == found.file.path || file.parent_session() == Some(&found.file.id)
        };
        self.sessions().is_none_or(|found| found.iter().any(belongs))
    }
}

/// A session's or an agent's file, and a node in it.
#[derive(Clone, Debug)]
pub struct Address {
    pub file: ResolvedFile,
    pub node: NodeSelector,
}

/// A project of a listing.
#[derive(Clone, Debug)]
pub struct ResolvedProject {
    pub(crate) listing: Arc<Vec<Project>>,
    pub(crate) index: usize,
}

impl ResolvedProject {
    /// Returns its place in the listing it was found in.
    pub fn listing_index(&self) -> usize {
        self.index
    }
}

impl Deref for ResolvedProject {
    type Target = Project;

    fn deref(&self) -> &Project {
        &self.listing[self.index]
    }
}

/// A session's or an agent's file.
#[derive(Clone, Debug)]
pub struct ResolvedFile {
    /// `None`: a file outside of the Claude directories.
    pub project: Option<ResolvedProject>,
    pub file: HistoryFile,
}

impl ResolvedFile {
    /// Returns the files of the project that it belongs to.
    pub fn files_beside(&self) -> &[HistoryFile] {
        self.project.as_ref().map(|project| &*project.files).unwrap_or_default()
    }

    /// Returns the directory that contains it and the other files of its project.
    pub fn project_dir(&self) -> &Path {
        let lone = || self.file.path.parent().unwrap_or(Path::new(""));
        self.project.as_ref().map_or_else(lone, |project| &project.dir)
    }

    /// Returns the encoded name of its project; empty if it belongs to none.
    pub fn project_name(&self) -> &str {
        self.project.as_ref().map_or("", |project| &project.name)
    }

    /// Stats the file again, because a listing may be slightly out of date.
    fn stat_again(self) -> Result<Self, AddressError> {
        let now = HistoryFile::from_path(&self.file.path)?;
        let HistoryFile { role, relative, .. } = self.file;
        Ok(Self { file: HistoryFile { role, relative, ..now }, ..self })
    }

    /// Returns its id as addresses spell it: agents have the prefix `agent-`.
    pub fn address_id(&self) -> String {
        self.file.address_id()
    }
}

/// Selects a node of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeSelector {
    /// None was named: the conversation that is read when only the session is named.
    Resume,
    /// The first letters of a node's uuid.
    Uuid(String),
    /// The number of a conversation.
    Nth(usize),
    /// A node as [`History::node_address`] spells it; it means the conversation that contains it.
    Place(String),
}

/// Why an address leads nowhere.
#[derive(Debug, thiserror::Error)]
pub enum AddressError {
    /// No file exists at a path. A confined caller learns nothing about files outside of the history.
    #[error("no file {}at {path}", if *.confined { "of the history is " } else { "" })]
    NoFile { path: String, confined: bool },
    #[error("no session has the id or title {0:?}")]
    NoSession(String),
    #[error("the session {0:?} was deleted; only its prompts are left")]
    DeletedSession(String),
    #[error("{0:?} is part of a session; only whole sessions can be listed here")]
    NotASession(String),
    #[error("no sessions yet")]
    NoHistory,
    #[error("no project matches {0:?}")]
    NoProject(String),
    #[error("no history for the directory {0:?}")]
    NoHistoryOfDirectory(String),
    #[error("unexpected argument `{0}`")]
    UnexpectedOption(String),
    #[error("no conversation {n}; the session has {count}")]
    NoConversation { n: usize, count: usize },
    #[error("no message in the session has a uuid starting with {0:?}")]
    NoNode(String),
    #[error("this session has no conversations")]
    EmptySession,
    #[error("{0}")]
    Ambiguous(AmbiguousAddress),
    #[error(transparent)]
    Unreadable(#[from] PathError),
}

/// An address that could mean several things.
#[derive(Debug)]
pub struct AmbiguousAddress {
    pub text: String,
    pub among: CandidateKind,
    /// What could be meant, each as an address.
    pub candidates: Vec<String>,
    /// The titles of those that have one; empty where none is known.
    pub titles: Vec<Option<String>>,
}

/// What kind of thing an ambiguous address could mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CandidateKind {
    Projects,
    /// Files whose ids have the same beginning.
    Files,
    /// Sessions whose titles fit equally well.
    Titles,
    Nodes,
    /// Projects that have a session of one id.
    Copies,
}

impl fmt::Display for AmbiguousAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.among {
            CandidateKind::Projects => "projects",
            CandidateKind::Files => "files",
            CandidateKind::Titles | CandidateKind::Copies => "sessions",
            CandidateKind::Nodes => "messages",
        };
        write!(f, "{:?} matches {} {kind}:", self.text, self.candidates.len())?;
        let widest = self.candidates.iter().map(|candidate| candidate.chars().count()).max();
        for (index, candidate) in self.candidates.iter().enumerate().take(MAX_CANDIDATES) {
            match self.titles.get(index).and_then(Option::as_deref) {
                Some(title) => {
                    let (width, title) = (widest.unwrap_or(0), first_line(title));
                    write!(f, "\n  {candidate:<width$}  {title}")?;
                }
                None => write!(f, "\n  {candidate}")?,
            }
        }
        if self.candidates.len() > MAX_CANDIDATES {
            write!(f, "\n  …")?;
        }
        Ok(())
    }
}

/// Shortens a title to fit next to an address.
fn first_line(title: &str) -> String {
    let line = title.lines().next().unwrap_or_default();
    match line.char_indices().nth(MAX_TITLE_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

impl AddressError {
    /// Returns what to do next, in the words of the command line.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NoSession(_) => {
                Some("`ramus sessions -A` lists ids and titles; `ramus find` searches messages")
            }
            Self::DeletedSession(_) => Some("`ramus sessions --gone -A` lists them"),
            Self::NoHistory => Some("run `ramus demo` to create a sample history"),
            Self::NoProject(_) | Self::NoHistoryOfDirectory(_) => {
                Some("`ramus projects` lists all projects")
            }
            Self::UnexpectedOption(_) => Some("`--help` lists the options"),
            Self::NoConversation { .. } => Some("`ramus conversations SESSION` lists them"),
            Self::NoNode(_) => Some("`ramus tree SESSION` shows them"),
            Self::Ambiguous(ambiguous) => match ambiguous.among {
                CandidateKind::Files => Some("use more characters, or choose one of them"),
                CandidateKind::Titles => Some("use more words, or an id from this list"),
                CandidateKind::Copies => Some("choose one of them"),
                CandidateKind::Projects => Some("use more of the path, or a name from this list"),
                CandidateKind::Nodes => Some("use more characters of the uuid"),
            },
            Self::NotASession(_)
            | Self::NoFile { .. }
            | Self::EmptySession
            | Self::Unreadable(_) => None,
        }
    }
}

impl Workspace {
    /// Finds what a scope means: a project or a session. Without a text it is the current project, else
    /// everything.
    pub fn resolve_scope(&self, text: Option<&str>) -> Result<Scope, AddressError> {
        let Some(text) = text else { return Ok(self.default_scope()) };
        let resolver = AddressResolver::new(self);
        if let [index] = resolver.projects_at(text)[..] {
            return Ok(Scope::Project(resolver.project_at(index)));
        }
        let is_certain = text.len() >= CERTAIN_PREFIX;
        if let Some(found) = resolver.sure_session(text, is_certain)? {
            return Ok(Scope::Session(Box::new(found)));
        }
        match resolver.part_projects(text)[..] {
            [index] => return Ok(Scope::Project(resolver.project_at(index))),
            [] => {}
            ref several => return Err(resolver.ambiguous_project(text, several)),
        }
        if let Some(found) = resolver.sure_session(text, true)? {
            return Ok(Scope::Session(Box::new(found)));
        }
        if text.starts_with("--") || Path::new(text).is_dir() {
            return Err(no_project(text));
        }
        resolver.titled_session(text).map(|found| Scope::Session(Box::new(found)))
    }

    /// Finds the sessions or agents that addresses name, each once.
    pub fn resolve_sessions(&self, addresses: &[String]) -> Result<Scope, AddressError> {
        let mut found: Vec<ResolvedFile> = Vec::new();
        for text in addresses {
            let Address { file, node } = self.resolve_address(text)?;
            if node != NodeSelector::Resume {
                return Err(AddressError::NotASession(text.clone()));
            }
            if found.iter().all(|known| known.file.path != file.file.path) {
                found.push(file);
            }
        }
        Ok(match <[ResolvedFile; 1]>::try_from(found) {
            Ok([single]) => Scope::Session(Box::new(single)),
            Err(several) => Scope::Sessions(several),
        })
    }

    /// Finds a project; `.` means the current one in its subdirectories, too.
    pub fn resolve_project(&self, text: &str) -> Result<ResolvedProject, AddressError> {
        let resolver = AddressResolver::new(self);
        resolver.single_project(text, resolver.projects_at(text))
    }

    /// Finds a project for a new session: a directory means itself, not a project around it.
    pub fn resolve_own_project(&self, text: &str) -> Result<ResolvedProject, AddressError> {
        let resolver = AddressResolver::new(self);
        resolver.single_project(text, resolver.named_projects(text))
    }

    /// Finds a session and the node in it.
    pub fn resolve_address(&self, text: &str) -> Result<Address, AddressError> {
        let resolver = AddressResolver::new(self);
        if let Some(file) = resolver.sure_session(text, true)? {
            return Ok(Address { file, node: NodeSelector::Resume });
        }
        let Some((session, node)) = split_selector(text) else {
            let file = resolver.titled_session(text)?;
            return Ok(Address { file, node: NodeSelector::Resume });
        };
        if let Some(file) = resolver.sure_session(session, true)? {
            return Ok(Address { file, node });
        }
        match resolver.titled_session(text) {
            Ok(file) => Ok(Address { file, node: NodeSelector::Resume }),
            Err(_) => Ok(Address { file: resolver.titled_session(session)?, node }),
        }
    }

    /// Finds a session or an agent by its whole id, or by `ID~PROJECT` where several projects have one
    /// of that id; the file is looked at again, so that it is known as it is now.
    pub fn session_by_id(&self, address: &str) -> Result<ResolvedFile, AddressError> {
        let resolver = AddressResolver::new(self);
        let (id, mut found) = resolver.files_by_id(address);
        if found.len() > 1 {
            resolver.leave_hidden(&mut found);
        }
        let names: BTreeSet<&str> = found.iter().map(ResolvedFile::project_name).collect();
        // A fork copies agents unchanged, so any copy will do.
        if names.len() > 1 && !id.starts_with("agent-") {
            return Err(AddressError::Ambiguous(AmbiguousAddress {
                text: id.to_owned(),
                among: CandidateKind::Copies,
                candidates: names.iter().map(|name| format!("{id}~{name}")).collect(),
                titles: Vec::new(),
            }));
        }
        // Of copies in one project, the one written last counts.
        let newest = found.into_iter().max_by_key(|found| found.file.modified);
        newest.ok_or_else(|| AddressError::NoSession(address.to_owned()))?.stat_again()
    }

    /// Finds a node of the session or agent at a path, for callers that already have the file.
    pub fn address_in(&self, path: &Path, node: NodeSelector) -> Result<Address, AddressError> {
        let file = AddressResolver::new(self).at_path(path)?.stat_again()?;
        Ok(Address { file, node })
    }
}

/// One snapshot of the listing, so that everything in an answer is consistent.
struct AddressResolver<'a> {
    workspace: &'a Workspace,
    listing: Arc<Vec<Project>>,
}

impl<'a> AddressResolver<'a> {
    fn new(workspace: &'a Workspace) -> Self {
        Self { workspace, listing: workspace.list_projects() }
    }

    fn project_at(&self, index: usize) -> ResolvedProject {
        ResolvedProject { listing: self.listing.clone(), index }
    }

    /// Finds a session by path, id or, if `prefix`, by the beginning of an id; `None` when it can only be a
    /// title.
    fn sure_session(&self, text: &str, prefix: bool) -> Result<Option<ResolvedFile>, AddressError> {
        if text == "latest" {
            return self.latest_session().map(Some);
        }
        let path = Path::new(text);
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            let below = self.workspace.claude_roots().iter().map(|root| root.join(text));
            let mut paths = std::iter::once(path.to_owned()).chain(below);
            return match paths.find(|path| path.exists() || HistoryFile::from_path(path).is_ok()) {
                Some(path) => self.at_path(&path).map(Some),
                // Don't reveal whether a file exists elsewhere, either.
                None => Err(self.no_file(path)),
            };
        }
        let id = text.strip_prefix("agent-").unwrap_or(text);
        let (_, mut found) = self.files_by_id(text);
        if found.is_empty() {
            // An agent's id may be given without `agent-`.
            found = self.files_where(|file| matches_id(file, text) && file.id == id);
        }
        if found.is_empty() && prefix && !id.is_empty() {
            found = self.files_where(|file| matches_id(file, text) && file.id.starts_with(id));
            // A session's id outweighs an agent's that begins alike.
            if found.iter().any(|found| found.file.role == FileRole::Session) {
                found.retain(|found| found.file.role == FileRole::Session);
            }
        }
        if found.len() > 1 {
            self.keep_current(&mut found);
        }
        match found.len() {
            0 => Ok(None),
            1 => Ok(found.pop()),
            _ => {
                let titles = self.titles_of(&found);
                Err(self.several_files(text, CandidateKind::Files, &found, titles))
            }
        }
    }

    /// Leaves those of the current project, unless there are none.
    fn keep_current(&self, found: &mut Vec<ResolvedFile>) {
        let Some(current) = self.workspace.current_project() else { return };
        let is_current = |found: &ResolvedFile| found.project_dir() == current.project.dir;
        if found.iter().any(is_current) {
            found.retain(is_current);
        }
    }

    /// Returns the files with a complete id, or with `ID~PROJECT`, and the id itself.
    fn files_by_id<'b>(&self, address: &'b str) -> (&'b str, Vec<ResolvedFile>) {
        let of_id = |id: &str| {
            let agent = id.strip_prefix("agent-");
            self.files_where(|file| match agent {
                Some(agent) => file.role.is_agent() && file.id == agent,
                None => file.role == FileRole::Session && file.id == id,
            })
        };
        let found = of_id(address);
        match address.split_once('~').filter(|_| found.is_empty()) {
            Some((id, name)) => {
                let mut found = of_id(id);
                found.retain(|file| file.project_name() == name);
                (id, found)
            }
            None => (address, found),
        }
    }

    /// Leaves out what no list shows (R18), unless there is nothing else.
    fn leave_hidden(&self, found: &mut Vec<ResolvedFile>) {
        let survey = self.workspace.last_survey().unwrap_or_else(|| self.workspace.survey_all());
        let sessions = survey.projects.iter().flat_map(|project| &project.sessions);
        let hidden: Vec<&Path> = sessions
            .filter(|session| session.digest.class.is_hidden())
            .map(|session| &*session.file.path)
            .collect();
        let is_shown = |found: &ResolvedFile| !hidden.contains(&&*found.file.path);
        if found.iter().any(is_shown) {
            found.retain(is_shown);
        }
    }

    fn files_where(&self, fits: impl Fn(&HistoryFile) -> bool) -> Vec<ResolvedFile> {
        let mut found = Vec::new();
        for (index, project) in self.listing.iter().enumerate() {
            for file in project.files.iter().filter(|file| fits(file)) {
                found.push(ResolvedFile {
                    project: Some(self.project_at(index)),
                    file: file.clone(),
                });
            }
        }
        found
    }

    fn at_path(&self, path: &Path) -> Result<ResolvedFile, AddressError> {
        let real = real_path_or_given(path);
        let mut known = self.files_where(|file| file.path == path || file.path == real);
        if known.is_empty() {
            known = self.files_where(|file| real_path(&file.path).is_ok_and(|file| file == real));
        }
        match known.into_iter().next() {
            Some(found) => Ok(found),
            None if self.workspace.is_confined() => Err(self.no_file(path)),
            None => Ok(ResolvedFile { project: None, file: HistoryFile::from_path(path)? }),
        }
    }

    fn no_file(&self, path: &Path) -> AddressError {
        let confined = self.workspace.is_confined();
        AddressError::NoFile { path: path.display().to_string(), confined }
    }

    /// Finds the session that was active last by its records, because file times are unreliable.
    fn latest_session(&self) -> Result<ResolvedFile, AddressError> {
        let is_session = |file: &HistoryFile| file.role == FileRole::Session && file.bytes > 0;
        // Sessions that are only in the archive are older than those on disk and slower to read.
        let mut sessions = self.files_where(|file| is_session(file) && !file.archived);
        if sessions.is_empty() {
            sessions = self.files_where(is_session);
        }
        self.keep_current(&mut sessions);
        let active = sessions
            .into_iter()
            .filter_map(|found| Some((read_last_active(&found.file.path)?, found)));
        let found = active.max_by(|(a, _), (b, _)| a.cmp(b)).map(|(_, found)| found);
        found.ok_or(AddressError::NoHistory)
    }

    /// Finds projects by their whole name or path, or by `.` in one of their subdirectories.
    fn projects_at(&self, text: &str) -> Vec<usize> {
        let named = self.named_projects(text);
        if named.is_empty() { self.project_of_dot(text) } else { named }
    }

    /// Returns the only project that was found, or the only one that a part of its name fits.
    fn single_project(
        &self,
        text: &str,
        mut found: Vec<usize>,
    ) -> Result<ResolvedProject, AddressError> {
        if found.is_empty() {
            found = self.part_projects(text);
        }
        match found[..] {
            [index] => Ok(self.project_at(index)),
            [] => Err(no_project(text)),
            ref several => Err(self.ambiguous_project(text, several)),
        }
    }

    /// Finds projects by their whole name or path.
    fn named_projects(&self, text: &str) -> Vec<usize> {
        let path = Path::new(text);
        let real = if path.is_dir() { real_path(path).ok() } else { None };
        let real = real.map(|real| real.to_string_lossy().into_owned());
        let is_whole = text.starts_with('/') || is_windows_path(text);
        let paths = || real.as_deref().into_iter().chain(is_whole.then_some(text));
        // Several long paths may share the beginning of their names; then only an exact match counts.
        let exact = self.projects_named(|name| {
            name == text || paths().any(|path| name == project_dir_name(path))
        });
        match exact.is_empty() {
            true => self.projects_named(|name| paths().any(|path| is_encoded_path(name, path))),
            false => exact,
        }
    }

    /// Finds projects by a part of their name or path; a path that was meant whole is no part.
    fn part_projects(&self, text: &str) -> Vec<usize> {
        let whole = matches!(text, "." | "..")
            || text.starts_with(['/', '\\'])
            || text.starts_with("./")
            || text.starts_with(".\\")
            || is_windows_path(text);
        if whole || !text.contains(|c: char| c.is_ascii_alphanumeric()) {
            return Vec::new();
        }
        let encoded = project_dir_name(text);
        self.projects_named(|name| name.contains(text) || name.contains(&encoded))
    }

    fn projects_named(&self, fits: impl Fn(&str) -> bool) -> Vec<usize> {
        let named = self.listing.iter().enumerate();
        named.filter(|(_, project)| fits(&project.name)).map(|(index, _)| index).collect()
    }

    fn ambiguous_project(&self, text: &str, found: &[usize]) -> AddressError {
        let names = found.iter().map(|index| self.listing[*index].name.clone());
        ambiguous_error(text, CandidateKind::Projects, names)
    }
}

/// Whether an id can mean a file of this kind: the prefix `agent-` means only agents.
fn matches_id(file: &HistoryFile, id: &str) -> bool {
    match id.starts_with("agent-") {
        true => file.role.is_agent(),
        false => !matches!(file.role, FileRole::Journal { .. }),
    }
}

fn no_project(text: &str) -> AddressError {
    let text = text.to_owned();
    if text.starts_with("--") {
        AddressError::UnexpectedOption(text)
    } else if Path::new(&text).is_dir() {
        // A person who typed nothing but `.` wants to know where that is.
        let here = (text == ".").then(|| std::path::absolute(&text).ok()).flatten();
        AddressError::NoHistoryOfDirectory(here.map_or(text, |dir| dir.display().to_string()))
    } else {
        AddressError::NoProject(text)
    }
}

fn ambiguous_error(
    text: &str,
    among: CandidateKind,
    candidates: impl Iterator<Item = String>,
) -> AddressError {
    let (candidates, titles) = (candidates.collect(), Vec::new());
    AddressError::Ambiguous(AmbiguousAddress { text: text.to_owned(), among, candidates, titles })
}

impl NodeSelector {
    /// Finds the selected node; `None`: no node was named.
    pub fn find_node(&self, history: &History) -> Result<Option<NodeId>, AddressError> {
        match self {
            Self::Resume => Ok(None),
            Self::Nth(n) => {
                let conversations = &history.branches.conversations;
                let wanted = n.checked_sub(1).and_then(|index| conversations.get(index));
                let count = conversations.len();
                let wanted = wanted.ok_or(AddressError::NoConversation { n: *n, count })?;
                Ok(Some(wanted.leaf))
            }
            Self::Uuid(prefix) => node_by_prefix(history, prefix).map(Some),
            Self::Place(place) => match history.node_at(place) {
                Some(node) => Ok(Some(node)),
                None => Err(AddressError::NoNode(place.clone())),
            },
        }
    }
}

fn node_by_prefix(history: &History, prefix: &str) -> Result<NodeId, AddressError> {
    let firsts = history.session.nodes().filter(|(id, _)| history.record_tree.is_first_copy(*id));
    let named = firsts.filter_map(|(id, record)| {
        let spelling = history.session.uuid_text(record.uuid?);
        spelling.starts_with(prefix).then_some((id, spelling))
    });
    let mut found: Vec<(NodeId, String)> = named.collect();
    // Of several records with one name the client knows the last.
    found.sort_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(&a.0)));
    found.dedup_by(|later, first| later.1 == first.1);
    match found.iter().find(|(_, spelling)| spelling == prefix).or(found.first()) {
        None => Err(AddressError::NoNode(prefix.to_owned())),
        Some((id, spelling)) if found.len() == 1 || spelling == prefix => Ok(*id),
        Some(_) => Err(ambiguous_error(
            prefix,
            CandidateKind::Nodes,
            found.into_iter().map(|(_, spelling)| spelling),
        )),
    }
}

/// Cuts `SESSION:UUID` or `SESSION@N`.
fn split_selector(text: &str) -> Option<(&str, NodeSelector)> {
    if let Some((session, n)) = text.rsplit_once('@')
        && let Ok(n) = n.parse()
    {
        return Some((session, NodeSelector::Nth(n)));
    }
    let (session, uuid) = text.rsplit_once(':')?;
    (!session.is_empty() && !uuid.is_empty())
        .then(|| (session, NodeSelector::Uuid(uuid.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::{NodeSelector, split_selector};

    #[test]
    fn addresses_are_cut_at_their_last_sign() {
        assert_eq!(split_selector("abcd:1234"), Some(("abcd", NodeSelector::Uuid("1234".into()))));
        assert_eq!(split_selector("latest@2"), Some(("latest", NodeSelector::Nth(2))));
        assert_eq!(
            split_selector("x/y.jsonl:12"),
            Some(("x/y.jsonl", NodeSelector::Uuid("12".into())))
        );
        assert_eq!(split_selector("abcd"), None);
        assert_eq!(split_selector("me@home"), None);
        assert_eq!(split_selector(":x"), None);
    }
}
