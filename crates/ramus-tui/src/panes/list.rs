//! Projects, their sessions, and the conversations of a session; type to filter.

mod deleted_sessions;
mod filter;
mod view;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ramus_core::branches::BranchStatus;
use ramus_core::ids::ShortIds;
use ramus_core::link::SessionRelations;
use ramus_core::time::Time;
use ramus_store::claude_dir::HistoryFile;
use ramus_store::prompt_history::GoneSession;

use crate::cursor::RowCursor;
use crate::event::{Effect, JumpTarget, OpenMode, OpenRequest};
use crate::input::TextInput;
use crate::keys::KeyAction;

pub(crate) use deleted_sessions::prompts_document;
pub(crate) use filter::ListFilter;
pub(crate) use view::draw_list;

/// A project and what is known of its sessions so far.
#[derive(Clone, Debug)]
pub(crate) struct ProjectRow {
    /// Where its files lie.
    pub(crate) dir: PathBuf,
    /// The directory it stands for if the records name it, else the encoded name.
    pub(crate) label: String,
    /// The git repository it belongs to; known when all sessions were read.
    pub(crate) repository: Option<String>,
    pub(crate) files: Arc<[HistoryFile]>,
    pub(crate) sessions: Vec<SessionRow>,
}

/// A session and what is known of it so far.
#[derive(Clone, Debug)]
pub(crate) struct SessionRow {
    pub(crate) file: HistoryFile,
    /// Nothing of it has been read yet.
    pub(crate) unread: bool,
    pub(crate) title: Option<String>,
    /// The first prompts of its conversations, where no title repeats them.
    pub(crate) prompts: Vec<String>,
    /// The directory it was in.
    pub(crate) cwd: Option<String>,
    /// The title is one that another session gave it, which only a look at all of them tells (R15).
    pub(crate) summed_up: bool,
    /// It has a title of its own.
    pub(crate) named: bool,
    pub(crate) messages: u32,
    pub(crate) agents: u32,
    pub(crate) last_active: Time,
    /// Empty, or nothing but metadata (R18).
    pub(crate) hidden: bool,
    pub(crate) conversations: Vec<ConversationRow>,
    /// Where it came from and what came out of it; known when all sessions were read.
    pub(crate) family: SessionRelations,
}

/// One way through a session.
#[derive(Clone, Debug)]
pub(crate) struct ConversationRow {
    pub(crate) n: u32,
    pub(crate) title: Option<String>,
    pub(crate) status: BranchStatus,
    pub(crate) resumes: bool,
    pub(crate) draft: bool,
    pub(crate) messages: u32,
    pub(crate) last_active: Option<Time>,
}

/// What a row of the list stands for, by indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListRow {
    Project(usize),
    Session(usize, usize),
    Conversation(usize, usize, usize),
    /// All sessions that are gone, and one of them.
    Deleted,
    Gone(usize),
}

/// How far reading everything has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SurveyProgress {
    pub(crate) bytes_read: u64,
    pub(crate) total_bytes: u64,
}

/// The list on the left.
#[derive(Debug, Default)]
pub(crate) struct ListPane {
    pub(crate) projects: Vec<ProjectRow>,
    pub(crate) filter: TextInput,
    /// The words of it.
    pub(crate) words: ListFilter,
    pub(crate) rows: Vec<ListRow>,
    pub(crate) cursor: RowCursor,
    /// Shown while sessions are being read.
    pub(crate) progress: Option<SurveyProgress>,
    /// Show what R18 hides.
    pub(crate) all: bool,
    /// Projects of one git repository are put together.
    pub(crate) by_repository: bool,
    /// The home directory, which is written as `~`.
    pub(crate) home: String,
    /// The Claude directories have been listed.
    pub(crate) listed: bool,
    /// What the client deletes soon, in a sentence.
    pub(crate) due: Option<String>,
    /// The sessions of which only prompts are left, and whether they are shown.
    pub(crate) gone: Vec<GoneSession>,
    pub(crate) shows_gone: bool,
    /// The projects whose sessions are listed under each project's row.
    members: Vec<Vec<usize>>,
    opened: HashSet<PathBuf>,
    closed: HashSet<PathBuf>,
}

impl ListPane {
    pub(crate) fn new(all: bool, home: &str) -> Self {
        Self { all, home: home.to_owned(), ..Self::default() }
    }

    /// Takes a new list of everything; the cursor stays on what it was on.
    pub(crate) fn replace_projects(&mut self, projects: Vec<ProjectRow>) {
        let kept = self.selected_file().map(Path::to_owned);
        self.projects = projects;
        self.listed = true;
        self.sort_newest_first();
        self.rebuild_rows();
        if let Some(path) = kept {
            self.select_session(&path);
        }
    }

    /// Takes what was read of one session.
    pub(crate) fn update_session(&mut self, session: SessionRow) {
        let dir = session.file.path.parent();
        let mut home = self.projects.iter_mut().filter(|project| Some(&*project.dir) == dir);
        if let Some(held) = home.find_map(|project| project.session_mut(&session.file)) {
            *held = session;
        }
    }

    /// Takes a session that changed or came to be while one watches.
    pub(crate) fn insert_changed(&mut self, label: &str, mut session: SessionRow) {
        let kept = self.selected_file().map(Path::to_owned);
        let dir = session.file.path.parent().map(Path::to_owned).unwrap_or_default();
        let home = self.projects.iter_mut().find(|project| project.dir == dir);
        let project = match home {
            Some(project) => project,
            None => {
                let files = Arc::from([session.file.clone()]);
                let label = label.to_owned();
                let sessions = Vec::new();
                self.projects.push(ProjectRow { dir, label, repository: None, files, sessions });
                self.projects.last_mut().expect("because it was just pushed")
            }
        };
        if !project.files.iter().any(|file| file.path == session.file.path) {
            let files = project.files.iter().cloned().chain([session.file.clone()]);
            project.files = files.collect();
        }
        match project.session_mut(&session.file) {
            Some(held) => {
                // Agents beside the session, as older clients had them, are not counted again.
                session.agents = session.agents.max(held.agents);
                session.family = std::mem::take(&mut held.family);
                if held.summed_up && !session.named {
                    (session.title, session.summed_up) = (held.title.take(), true);
                }
                *held = session;
            }
            None => project.sessions.push(session),
        }
        self.sort_newest_first();
        self.rebuild_rows();
        if let Some(path) = kept {
            self.select_session(&path);
        }
    }

    /// Returns what is listed of a file.
    pub(crate) fn session_of(&self, path: &Path) -> Option<&SessionRow> {
        let sessions = self.projects.iter().flat_map(|project| &project.sessions);
        sessions.into_iter().find(|session| session.file.path == path)
    }

    /// Returns the start of a session's or an agent's id that means no other one; `None`: another file has
    /// the same id.
    pub(crate) fn short_id<'a>(&self, file: &'a HistoryFile) -> Option<&'a str> {
        let files = || self.projects.iter().flat_map(|project| project.files.iter());
        let is_twin = |other: &HistoryFile| other.path != file.path && other.id == file.id;
        if files().any(is_twin) {
            return None;
        }
        let short_ids: ShortIds = files().map(|other| &*other.id).collect();
        Some(short_ids.shorten_id(&file.id))
    }

    /// Forgets a file that is gone.
    pub(crate) fn remove_file(&mut self, path: &Path) {
        for project in &mut self.projects {
            project.sessions.retain(|session| session.file.path != path);
        }
        self.rebuild_rows();
    }

    /// Puts the newest first.
    fn sort_newest_first(&mut self) {
        for project in &mut self.projects {
            project.sessions.sort_by_key(|session| std::cmp::Reverse(session.last_active));
        }
        self.projects.sort_by_key(|project| std::cmp::Reverse(project.last_active(self.all)));
    }

    /// Makes the rows anew.
    pub(crate) fn rebuild_rows(&mut self) {
        self.group_projects();
        self.words = ListFilter::new(&self.filter.text);
        self.rows = if self.words.is_empty() {
            self.all_rows()
        } else {
            let fitting = self.words.matching_sessions(&self.projects, self.all);
            let sessions = fitting.into_iter().flat_map(|(p, s)| self.session_rows(p, s));
            sessions.chain(self.matching_deleted()).collect()
        };
        self.cursor.move_by(0, self.rows.len());
    }

    fn all_rows(&self) -> Vec<ListRow> {
        let mut rows = Vec::new();
        for p in 0..self.projects.len() {
            let mut sessions: Vec<(usize, usize)> = self.shown_under(p).collect();
            if sessions.is_empty() {
                continue;
            }
            rows.push(ListRow::Project(p));
            if self.is_closed(&self.projects[p]) {
                continue;
            }
            sessions.sort_by_key(|(p, s)| std::cmp::Reverse(self.session_at(*p, *s).last_active));
            rows.extend(sessions.into_iter().flat_map(|(p, s)| self.session_rows(p, s)));
        }
        rows.extend(self.deleted_rows());
        rows
    }

    /// Puts projects of one repository under the newest of them, each other one under itself.
    fn group_projects(&mut self) {
        self.members = vec![Vec::new(); self.projects.len()];
        let mut leaders: HashMap<&str, usize> = HashMap::new();
        for (p, project) in self.projects.iter().enumerate() {
            let repository = project.repository.as_deref().filter(|_| self.by_repository);
            let leader = repository.map_or(p, |name| *leaders.entry(name).or_insert(p));
            self.members[leader].push(p);
        }
    }

    /// Returns the sessions that are listed under the row of a project.
    pub(crate) fn shown_under(&self, p: usize) -> impl Iterator<Item = (usize, usize)> {
        let projects = self.members.get(p).into_iter().flatten().copied();
        let sessions =
            projects.flat_map(|p| (0..self.projects[p].sessions.len()).map(move |s| (p, s)));
        sessions.filter(|(p, s)| self.all || !self.session_at(*p, *s).hidden)
    }

    /// Returns what the row of a project says.
    pub(crate) fn project_heading(&self, p: usize) -> String {
        let project = &self.projects[p];
        let repository = project.repository.as_ref().filter(|_| self.by_repository);
        self.shorten_path(repository.unwrap_or(&project.label))
    }

    /// Returns the row of a session, and those of its conversations if they are shown.
    fn session_rows(&self, p: usize, s: usize) -> impl Iterator<Item = ListRow> {
        let session = self.session_at(p, s);
        let shown = if self.is_open(session) { session.conversations.len() } else { 0 };
        let conversations = (0..shown).map(move |c| ListRow::Conversation(p, s, c));
        std::iter::once(ListRow::Session(p, s)).chain(conversations)
    }

    pub(crate) fn session_at(&self, p: usize, s: usize) -> &SessionRow {
        &self.projects[p].sessions[s]
    }

    /// Whether the conversations of a session are shown.
    pub(crate) fn is_open(&self, session: &SessionRow) -> bool {
        self.opened.contains(&session.file.path)
    }

    /// Whether the sessions of a project are hidden.
    pub(crate) fn is_closed(&self, project: &ProjectRow) -> bool {
        self.closed.contains(&project.dir)
    }

    fn selected_file(&self) -> Option<&Path> {
        match *self.rows.get(self.cursor.at)? {
            ListRow::Project(_) | ListRow::Deleted | ListRow::Gone(_) => None,
            ListRow::Session(p, s) | ListRow::Conversation(p, s, _) => {
                Some(&self.session_at(p, s).file.path)
            }
        }
    }

    /// Puts the cursor on a session.
    pub(crate) fn select_session(&mut self, path: &Path) {
        let is_it = |row: &ListRow| match *row {
            ListRow::Session(p, s) => self.session_at(p, s).file.path == path,
            _ => false,
        };
        if let Some(at) = self.rows.iter().position(is_it) {
            self.cursor.at = at;
        }
    }

    /// Puts the cursor on the first session, which is the newest.
    pub(crate) fn select_newest(&mut self) {
        let session = self.rows.iter().position(|row| matches!(row, ListRow::Session(..)));
        self.cursor = RowCursor { at: session.unwrap_or(0), top: 0 };
    }

    /// Does what a key asks for; `None`: it asks for nothing here.
    pub(crate) fn apply_action(&mut self, action: KeyAction, height: usize) -> Option<Vec<Effect>> {
        let page = height.saturating_sub(1).max(1) as isize;
        let len = self.rows.len();
        match action {
            KeyAction::Down => self.cursor.move_by(1, len),
            KeyAction::Up => self.cursor.move_by(-1, len),
            KeyAction::PageDown => self.cursor.move_by(page, len),
            KeyAction::PageUp => self.cursor.move_by(-page, len),
            KeyAction::First => self.cursor.at = 0,
            KeyAction::Last => self.cursor.at = len.saturating_sub(1),
            KeyAction::Right => self.toggle_row(true),
            KeyAction::Left => self.toggle_row(false),
            KeyAction::Enter => return Some(self.open_selected()),
            KeyAction::ByRepository => {
                self.by_repository = !self.by_repository;
                let kept = self.selected_file().map(Path::to_owned);
                self.rebuild_rows();
                match kept {
                    Some(path) => self.select_session(&path),
                    None => self.select_newest(),
                }
            }
            KeyAction::Back if !self.filter.text.is_empty() => {
                self.filter.text.clear();
                self.apply_filter();
            }
            _ => return None,
        }
        Some(Vec::new())
    }

    /// Makes the rows anew after typing; the best one is selected.
    pub(crate) fn apply_filter(&mut self) {
        let kept = self.selected_file().map(Path::to_owned);
        self.rebuild_rows();
        self.cursor = RowCursor::default();
        if self.filter.text.is_empty() {
            match kept {
                Some(path) => self.select_session(&path),
                None => self.select_newest(),
            }
        }
    }

    /// Opens or closes the row at the cursor; closing a row inside goes to what holds it.
    fn toggle_row(&mut self, open: bool) {
        match self.rows.get(self.cursor.at).copied() {
            Some(ListRow::Project(p)) => {
                let dir = self.projects[p].dir.clone();
                if open {
                    self.closed.remove(&dir);
                } else {
                    self.closed.insert(dir);
                }
            }
            Some(ListRow::Session(p, s)) => {
                let path = self.session_at(p, s).file.path.clone();
                if open && self.session_at(p, s).conversations.len() > 1 {
                    self.opened.insert(path);
                } else if !self.opened.remove(&path) && !open {
                    let leader = self.members.iter().position(|members| members.contains(&p));
                    self.go_to(ListRow::Project(leader.unwrap_or(p)));
                }
            }
            Some(ListRow::Conversation(p, s, _)) if !open => self.go_to(ListRow::Session(p, s)),
            Some(ListRow::Deleted) => self.shows_gone = open,
            Some(ListRow::Gone(_)) if !open => self.go_to(ListRow::Deleted),
            _ => {}
        }
        self.rebuild_rows();
    }

    fn go_to(&mut self, row: ListRow) {
        if let Some(at) = self.rows.iter().position(|other| *other == row) {
            self.cursor.at = at;
        }
    }

    fn open_selected(&mut self) -> Vec<Effect> {
        let Some(row) = self.rows.get(self.cursor.at).copied() else { return Vec::new() };
        match row {
            ListRow::Project(p) => self.toggle_row(self.is_closed(&self.projects[p])),
            ListRow::Deleted => self.toggle_row(!self.shows_gone),
            ListRow::Gone(n) => {
                let gone = &self.gone[n];
                return vec![Effect::Show(prompts_document(&gone.id, &gone.prompts))];
            }
            ListRow::Session(..) | ListRow::Conversation(..) => {
                let request = self.chosen_request();
                return request
                    .map(|request| Effect::Open(Box::new(request)))
                    .into_iter()
                    .collect();
            }
        }
        Vec::new()
    }

    /// Returns the session or conversation at the cursor; `None`: there is none.
    pub(crate) fn chosen_request(&self) -> Option<OpenRequest> {
        match *self.rows.get(self.cursor.at)? {
            ListRow::Session(p, s) => Some(self.open_request(p, s, JumpTarget::Resume)),
            ListRow::Conversation(p, s, c) => {
                let conversation = self.session_at(p, s).conversations[c].n;
                Some(self.open_request(p, s, JumpTarget::Conversation(conversation)))
            }
            ListRow::Project(_) | ListRow::Deleted | ListRow::Gone(_) => None,
        }
    }

    fn open_request(&self, p: usize, s: usize, target: JumpTarget) -> OpenRequest {
        let project = &self.projects[p];
        OpenRequest {
            file: project.sessions[s].file.clone(),
            files: project.files.clone(),
            project: self.shorten_path(&project.label),
            target,
            opening: OpenMode::New,
        }
    }

    /// Finds the project of a file and returns how to open it.
    pub(crate) fn request_for(&self, file: &HistoryFile, target: JumpTarget) -> OpenRequest {
        let holds = |project: &&ProjectRow| project.files.iter().any(|held| held.path == file.path);
        let project = self.projects.iter().find(holds);
        OpenRequest {
            file: file.clone(),
            files: project.map_or_else(|| Arc::from([]), |project| project.files.clone()),
            project: project.map_or_else(String::new, |project| self.shorten_path(&project.label)),
            target,
            opening: OpenMode::New,
        }
    }

    /// Writes the home directory as `~`.
    pub(crate) fn shorten_path(&self, path: &str) -> String {
        match path.strip_prefix(&self.home) {
            Some(rest) if !self.home.is_empty() && (rest.is_empty() || rest.starts_with('/')) => {
                format!("~{rest}")
            }
            _ => path.to_owned(),
        }
    }

    /// How many sessions there are to see.
    pub(crate) fn visible_count(&self) -> usize {
        let sessions = self.projects.iter().flat_map(|project| &project.sessions);
        sessions.filter(|session| self.all || !session.hidden).count()
    }
}

impl ProjectRow {
    /// Finds a session of it. Ids differ sooner than paths do.
    fn session_mut(&mut self, file: &HistoryFile) -> Option<&mut SessionRow> {
        let is_it = |held: &HistoryFile| held.id == file.id && held.path == file.path;
        self.sessions.iter_mut().find(|held| is_it(&held.file))
    }

    /// Returns when somebody last spoke in it; what is hidden has no say.
    fn last_active(&self, all: bool) -> Option<Time> {
        let shown = self.sessions.iter().filter(|session| all || !session.hidden);
        shown.map(|session| session.last_active).max()
    }
}
