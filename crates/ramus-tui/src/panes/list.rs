//! Projects, their sessions, and the conversations of a session; type to search.

mod deleted_sessions;
mod filter;
mod notices;
mod opening;
mod rows;
mod search;
mod view;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ramus_core::annotation::Annotations;
use ramus_core::branches::BranchStatus;
use ramus_core::ids::ShortIds;
use ramus_core::link::SessionRelations;
use ramus_core::time::Time;
use ramus_store::claude_dir::HistoryFile;
use ramus_store::prompt_history::GoneSession;

use crate::cursor::RowCursor;
use crate::event::Effect;
use crate::input::TextInput;
use crate::keys::{KeyAction, KeyMap};

pub(crate) use deleted_sessions::prompts_document;
pub(crate) use filter::ListFilter;
pub(crate) use notices::cleanup_lines;
pub(crate) use search::{FindRequest, FoundMessage, ListSearch, SearchUpdate};
pub(crate) use view::{draw_list, duration_text};

/// A project, with the facts about its sessions so far.
#[derive(Clone, Debug)]
pub(crate) struct ProjectRow {
    /// The directory of its files.
    pub(crate) dir: PathBuf,
    /// Its working directory if the records name it, else the encoded name.
    pub(crate) label: String,
    /// The git repository it belongs to; known when all sessions were read.
    pub(crate) repository: Option<String>,
    pub(crate) files: Arc<[HistoryFile]>,
    pub(crate) sessions: Vec<SessionRow>,
}

/// A session, with the facts about it so far.
#[derive(Clone, Debug)]
pub(crate) struct SessionRow {
    pub(crate) file: HistoryFile,
    /// Nothing of it has been read yet.
    pub(crate) unread: bool,
    /// As plain text.
    pub(crate) title: Option<String>,
    /// The first prompts of its conversations, where no title repeats them.
    pub(crate) prompts: Vec<String>,
    /// The last prompt, where it is not the title.
    pub(crate) last_prompt: Option<String>,
    /// The directory it was in.
    pub(crate) cwd: Option<String>,
    /// The title comes from another session, which only a survey of all sessions finds (R15).
    pub(crate) summed_up: bool,
    /// The title that a person or the client gave it, as it was given.
    pub(crate) given_title: Option<String>,
    pub(crate) messages: u32,
    pub(crate) agents: u32,
    /// When it began; `None`: no record has a time.
    pub(crate) started: Option<Time>,
    pub(crate) last_active: Time,
    /// Empty, or nothing but metadata (R18).
    pub(crate) hidden: bool,
    pub(crate) conversations: Vec<ConversationRow>,
    /// Its origins and offspring; known once all sessions are read.
    pub(crate) family: SessionRelations,
}

/// One conversation of a session.
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

/// What a row of the list shows, by indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListRow {
    Project(usize),
    Session(usize, usize),
    Conversation(usize, usize, usize),
    /// A passage that was found, by its index.
    Passage(usize, usize, usize),
    /// All sessions that are gone, and one of them.
    Deleted,
    Gone(usize),
}

/// How sessions are grouped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ListGrouping {
    /// Not at all: the most recent come first.
    #[default]
    Recent,
    Project,
    Repository,
}

impl ListGrouping {
    fn next(self) -> Self {
        match self {
            Self::Recent => Self::Project,
            Self::Project => Self::Repository,
            Self::Repository => Self::Recent,
        }
    }

    /// Returns the heading of the list.
    pub(crate) fn description(self) -> &'static str {
        match self {
            Self::Recent => "recent first",
            Self::Project => "by project",
            Self::Repository => "by repository",
        }
    }
}

/// The keys that texts of the list name.
#[derive(Clone, Debug, Default)]
pub(crate) struct ListKeys {
    everywhere: String,
    archive: String,
}

impl ListKeys {
    pub(crate) fn new(keys: &KeyMap) -> Self {
        let name = |action| keys.main_key(action, true);
        Self { everywhere: name(KeyAction::Everywhere), archive: name(KeyAction::Archive) }
    }
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
    /// What contents have of it.
    pub(crate) search: ListSearch,
    pub(crate) rows: Vec<ListRow>,
    pub(crate) cursor: RowCursor,
    /// Shown while sessions are being read.
    pub(crate) progress: Option<SurveyProgress>,
    /// Show what R18 hides.
    pub(crate) all: bool,
    /// Where the files of the current project lie; its sessions alone are listed, unless all are wanted.
    pub(crate) current: Option<PathBuf>,
    pub(crate) everywhere: bool,
    pub(crate) grouping: ListGrouping,
    /// Sessions take two lines.
    pub(crate) is_tall: bool,
    /// Pins, tags and notes.
    pub(crate) annotations: Arc<Annotations>,
    /// What sessions cost, by their files; known a while after everything was read.
    pub(crate) costs: HashMap<PathBuf, f64>,
    /// The sessions that were written to a moment ago.
    pub(crate) writing: HashSet<PathBuf>,
    /// One of them is large enough to be written.
    pub(crate) has_costs: bool,
    /// The home directory, which is written as `~`.
    pub(crate) home: String,
    pub(crate) keys: ListKeys,
    /// The Claude directories have been listed.
    pub(crate) listed: bool,
    /// What the client deletes soon, in a sentence.
    pub(crate) due: Option<String>,
    /// How many of these files are not archived.
    pub(crate) unarchived: usize,
    /// The ids of all files, so that their short forms mean no other one.
    pub(crate) short_ids: ShortIds,
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
        self.update_short_ids();
        self.sort_newest_first();
        self.rebuild_rows();
        if let Some(path) = kept {
            self.select_session(&path);
        }
    }

    /// Stores the facts about one session.
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
        let mut is_new = home.is_none();
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
            is_new = true;
        }
        match project.session_mut(&session.file) {
            Some(held) => {
                // Agents next to the session, as older clients stored them, are not counted again.
                session.agents = session.agents.max(held.agents);
                session.family = std::mem::take(&mut held.family);
                if held.summed_up && session.given_title.is_none() {
                    (session.title, session.summed_up) = (held.title.take(), true);
                }
                *held = session;
            }
            None => project.sessions.push(session),
        }
        if is_new {
            self.update_short_ids();
        }
        self.sort_newest_first();
        self.rebuild_rows();
        if let Some(path) = kept {
            self.select_session(&path);
        }
    }

    /// Returns the list entry of a file.
    pub(crate) fn session_of(&self, path: &Path) -> Option<&SessionRow> {
        let sessions = self.projects.iter().flat_map(|project| &project.sessions);
        sessions.into_iter().find(|session| session.file.path == path)
    }

    /// Returns the directory of the project that a file belongs to, as it is shown.
    pub(crate) fn project_label(&self, path: &Path) -> Option<String> {
        // Agents lie deeper; an archived file lies elsewhere.
        let is_below = |project: &&ProjectRow| path.starts_with(&project.dir);
        let holds = |project: &&ProjectRow| project.files.iter().any(|file| file.path == path);
        let found =
            self.projects.iter().find(is_below).or_else(|| self.projects.iter().find(holds));
        found.map(|project| self.shorten_path(&project.label))
    }

    /// Returns the start of a session's or an agent's id that means no other one; `None`: another file has
    /// the same id.
    pub(crate) fn short_id<'a>(&self, file: &'a HistoryFile) -> Option<&'a str> {
        let mut files = self.projects.iter().flat_map(|project| project.files.iter());
        let is_twin = |other: &HistoryFile| other.path != file.path && other.id == file.id;
        (!files.any(is_twin)).then(|| self.short_ids.shorten_id(&file.id))
    }

    fn update_short_ids(&mut self) {
        let files = self.projects.iter().flat_map(|project| project.files.iter());
        self.short_ids = files.map(|file| &*file.id).collect();
    }

    /// Removes a deleted file.
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

    /// Returns the file of the session at the cursor.
    pub(crate) fn selected_session_file(&self) -> Option<&Path> {
        self.selected_file()
    }

    fn selected_file(&self) -> Option<&Path> {
        match *self.rows.get(self.cursor.at)? {
            ListRow::Project(_) | ListRow::Deleted | ListRow::Gone(_) => None,
            ListRow::Session(p, s) | ListRow::Conversation(p, s, _) | ListRow::Passage(p, s, _) => {
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
        self.cursor = RowCursor::at_row(session.unwrap_or(0));
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
            KeyAction::Everywhere | KeyAction::ByRepository => {
                match action {
                    KeyAction::Everywhere => self.everywhere = !self.everywhere,
                    _ => self.grouping = self.grouping.next(),
                }
                let kept = self.selected_file().map(Path::to_owned);
                if action == KeyAction::Everywhere && !self.filter.text.is_empty() {
                    return Some(self.apply_filter());
                }
                self.rebuild_rows();
                match kept {
                    Some(path) => self.select_session(&path),
                    None => self.select_newest(),
                }
            }
            KeyAction::Back if !self.filter.text.is_empty() => {
                self.filter.text.clear();
                return Some(self.apply_filter());
            }
            _ => return None,
        }
        Some(Vec::new())
    }

    /// Rebuilds the rows after typing, selects the best match, and asks for what contents have.
    pub(crate) fn apply_filter(&mut self) -> Vec<Effect> {
        let kept = self.selected_file().map(Path::to_owned);
        let wanted = self.search.begin_search(&self.filter.text, self.everywhere);
        self.rebuild_rows();
        self.cursor = RowCursor::default();
        if self.filter.text.is_empty() {
            match kept {
                Some(path) => self.select_session(&path),
                None => self.select_newest(),
            }
        }
        wanted.map(Effect::FindAll).into_iter().collect()
    }

    /// Takes what else was found. The cursor stays on the session it was moved to; on the first row it stays
    /// there.
    pub(crate) fn add_results(&mut self, found: SearchUpdate) {
        let kept = (self.cursor.at > 0).then(|| self.rows.get(self.cursor.at).copied()).flatten();
        if !self.search.add_results(found) {
            return;
        }
        self.rebuild_rows();
        match kept {
            Some(row) => self.go_to(row),
            None => self.cursor = RowCursor::default(),
        }
    }

    /// Opens or closes the row at the cursor. Closing a nested row goes to its parent.
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
            Some(ListRow::Conversation(p, s, _) | ListRow::Passage(p, s, _)) if !open => {
                self.go_to(ListRow::Session(p, s));
            }
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

    /// Writes the home directory as `~`.
    pub(crate) fn shorten_path(&self, path: &str) -> String {
        match path.strip_prefix(&self.home) {
            Some(rest)
                if !self.home.is_empty() && (rest.is_empty() || rest.starts_with(['/', '\\'])) =>
            {
                format!("~{rest}")
            }
            _ => path.to_owned(),
        }
    }

    /// How many sessions there are to see.
    pub(crate) fn visible_count(&self) -> usize {
        let projects = self.projects.iter().enumerate().filter(|(p, _)| self.is_in_scope(*p));
        let sessions = projects.flat_map(|(_, project)| &project.sessions);
        sessions.filter(|session| self.all || !session.hidden).count()
    }
}

impl ProjectRow {
    /// Finds a session of it. Ids differ sooner than paths do.
    fn session_mut(&mut self, file: &HistoryFile) -> Option<&mut SessionRow> {
        let is_it = |held: &HistoryFile| held.id == file.id && held.path == file.path;
        self.sessions.iter_mut().find(|held| is_it(&held.file))
    }

    /// Returns when it was last active, ignoring hidden conversations.
    fn last_active(&self, all: bool) -> Option<Time> {
        let shown = self.sessions.iter().filter(|session| all || !session.hidden);
        shown.map(|session| session.last_active).max()
    }
}
