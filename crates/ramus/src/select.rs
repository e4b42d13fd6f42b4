//! What was typed for a project, a session or a node, into the thing meant.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ramus_core::history::History;
use ramus_core::link::Family;
use ramus_core::price::PriceList;
use ramus_core::resume::Rule;
use ramus_core::session::NodeId;
use ramus_core::title::{Summaries, session_title};
use ramus_store::cleanup::Cleanup;
use ramus_store::index::Index;
use ramus_store::last_active;
use ramus_store::place::{FileRole, HistoryFile, Listing, Place, Project, encode, is_encoded};
use ramus_store::prompts::LostPrompts;
use ramus_store::scan::summaries;
use ramus_store::survey::{
    Survey, survey, survey_activity, survey_inspection, survey_keeping, survey_usage,
};

use crate::args::Global;
use crate::env;
use crate::error::CommandError;
use crate::ui::Ui;

/// How many letters of an id are enough.
const PREFIX: usize = 4;
/// How many candidates of an ambiguous address are listed.
const CANDIDATES: usize = 12;

/// All files of the Claude directories, by name; nothing is read yet.
#[derive(Clone)]
pub(crate) struct Library {
    place: Place,
    pub(crate) projects: Vec<Project>,
    pub(crate) rule: Rule,
    /// Files elsewhere are not read.
    confined: bool,
    /// What sessions of a project are called by others, read when it is asked for.
    summaries: Arc<Mutex<HashMap<usize, Arc<Summaries>>>>,
}

/// What a command is about.
#[derive(Clone, Debug)]
pub(crate) enum Scope {
    All,
    Project(usize),
    Session(Box<Found>),
}

/// A session's or an agent's file.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// `None`: a file outside of the Claude directories.
    pub(crate) project: Option<usize>,
    pub(crate) file: HistoryFile,
}

/// A place in a session, as it was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Spot {
    Resume,
    Uuid(String),
    Nth(usize),
}

impl Library {
    /// Lists the files of the Claude directories; a file named by its path needs none.
    pub(crate) fn open_for(
        ui: &mut Ui,
        global: &Global,
        address: &str,
    ) -> Result<Self, CommandError> {
        let session = address
            .rsplit_once(".jsonl")
            .map_or(address, |(stem, _)| &address[..stem.len() + ".jsonl".len()]);
        match Self::open(ui, global) {
            Err(_) if !global.confined && Path::new(session).is_file() => Ok(Self {
                place: Place { roots: Vec::new(), index: env::index(global) },
                projects: Vec::new(),
                rule: global.active.rule(),
                confined: false,
                summaries: Arc::default(),
            }),
            library => library,
        }
    }

    pub(crate) fn open(ui: &mut Ui, global: &Global) -> Result<Self, CommandError> {
        let place = env::place(global)?;
        let Listing { mut projects, problems } = place.projects();
        for problem in &problems {
            ui.warn(problem);
        }
        if global.confined {
            leave_links_out(&place, &mut projects);
        }
        let (rule, confined) = (global.active.rule(), global.confined);
        Ok(Self { place, projects, rule, confined, summaries: Arc::default() })
    }

    /// Reads every file of a scope in short, with a progress bar.
    pub(crate) fn survey(self, ui: &mut Ui, scope: &Scope) -> Survey {
        self.look(ui, scope, |place, listing, rule, on_read| {
            survey(&place.index, listing, rule, on_read)
        })
    }

    /// The same, keeping more of what was read for who reads bodies next.
    pub(crate) fn survey_keeping(self, ui: &mut Ui, scope: &Scope) -> Survey {
        self.look(ui, scope, |place, listing, rule, on_read| {
            survey_keeping(&place.index, listing, rule, on_read)
        })
    }

    /// Reads every file of a scope in short, and what its messages used.
    pub(crate) fn survey_usage(self, ui: &mut Ui, scope: &Scope, prices: &PriceList) -> Survey {
        self.look(ui, scope, |place, listing, rule, on_read| {
            survey_usage(&place.index, &Survey::default(), listing, rule, prices, on_read)
        })
    }

    /// Reads every file of a scope in short, and what pictures of it need.
    pub(crate) fn survey_activity(self, ui: &mut Ui, scope: &Scope) -> Survey {
        self.look(ui, scope, |place, listing, rule, on_read| {
            survey_activity(&place.index, listing, rule, on_read)
        })
    }

    /// Reads every file of a scope in short, and what only a thorough look finds.
    pub(crate) fn survey_inspection(self, ui: &mut Ui, scope: &Scope) -> Survey {
        self.look(ui, scope, |place, listing, rule, on_read| {
            survey_inspection(&place.index, listing, rule, on_read)
        })
    }

    fn look(
        mut self,
        ui: &mut Ui,
        scope: &Scope,
        look: impl Fn(&Place, Listing, Rule, &(dyn Fn(u64) + Sync)) -> Survey,
    ) -> Survey {
        let projects = match scope {
            Scope::All => self.projects,
            Scope::Project(index) => vec![self.projects.swap_remove(*index)],
            Scope::Session(found) => match found.project {
                Some(index) => vec![self.projects.swap_remove(index)],
                None => vec![Project {
                    root: self.place.roots.first().cloned().unwrap_or_default(),
                    dir: found.file.path.parent().map(Path::to_owned).unwrap_or_default(),
                    name: String::new(),
                    files: vec![found.file.clone()],
                }],
            },
        };
        let bytes = projects.iter().flat_map(|project| &project.files).map(|file| file.bytes).sum();
        let bar = ui.progress(bytes);
        let listing = Listing { projects, problems: Vec::new() };
        let surveyed = look(&self.place, listing, self.rule, &|bytes| bar.inc(bytes));
        bar.finish_and_clear();
        for problem in &surveyed.problems {
            ui.warn(problem);
        }
        surveyed
    }

    /// Finds what a scope means: a project or a session.
    pub(crate) fn scope(&self, ui: &mut Ui, text: Option<&str>) -> Result<Scope, CommandError> {
        let Some(text) = text else { return Ok(Scope::All) };
        if let [index] = self.named_projects(text)[..] {
            return Ok(Scope::Project(index));
        }
        if let Some(found) = self.sure_session(text)? {
            return Ok(Scope::Session(Box::new(found)));
        }
        match self.part_projects(text)[..] {
            [index] => return Ok(Scope::Project(index)),
            [] => {}
            ref several => return Err(self.ambiguous_project(text, several)),
        }
        if text.starts_with("--") || Path::new(text).is_dir() {
            return Err(no_project(text));
        }
        let found = self.titled_session(ui, text)?;
        Ok(Scope::Session(Box::new(found)))
    }

    /// Finds a project.
    pub(crate) fn project(&self, text: &str) -> Result<usize, CommandError> {
        let mut found = self.named_projects(text);
        if found.is_empty() {
            found = self.part_projects(text);
        }
        match found[..] {
            [index] => Ok(index),
            [] => Err(no_project(text)),
            ref several => Err(self.ambiguous_project(text, several)),
        }
    }

    /// Finds a session and the place in it.
    pub(crate) fn address(&self, ui: &mut Ui, text: &str) -> Result<(Found, Spot), CommandError> {
        if let Some(found) = self.sure_session(text)? {
            return Ok((found, Spot::Resume));
        }
        if let Some((session, spot)) = split(text)
            && let Some(found) = self.sure_session(session)?
        {
            return Ok((found, spot));
        }
        match split(text) {
            Some((session, spot)) => match self.titled_session(ui, text) {
                Ok(found) => Ok((found, Spot::Resume)),
                Err(_) => Ok((self.titled_session(ui, session)?, spot)),
            },
            None => Ok((self.titled_session(ui, text)?, Spot::Resume)),
        }
    }

    /// Finds a session by path, id or beginning of an id; `None` when it can only be a title.
    fn sure_session(&self, text: &str) -> Result<Option<Found>, CommandError> {
        if text == "latest" {
            return self.latest().map(Some);
        }
        let path = Path::new(text);
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            let below = self.place.roots.iter().map(|root| root.join(text));
            if let Some(path) =
                std::iter::once(path.to_owned()).chain(below).find(|path| path.exists())
            {
                return Ok(Some(self.at_path(&path)?));
            }
            // Whether there is a file elsewhere is nothing to tell, either.
            let whose = if self.confined { "of the history is " } else { "" };
            return Err(CommandError::user(format!("no file {whose}at {text}")));
        }
        let id = text.strip_prefix("agent-").unwrap_or(text);
        let wants_agent = id != text;
        let fits = |file: &HistoryFile, exact: bool| {
            let right_kind = if wants_agent {
                file.role.is_agent()
            } else {
                !matches!(file.role, FileRole::Journal { .. })
            };
            right_kind && if exact { file.id == id } else { file.id.starts_with(id) }
        };
        let mut found = self.files(|file| fits(file, true));
        if found.is_empty() && id.len() >= PREFIX {
            found = self.files(|file| fits(file, false));
            // A session's id outweighs an agent's that begins alike.
            if found.iter().any(|found| found.file.role == FileRole::Session) {
                found.retain(|found| found.file.role == FileRole::Session);
            }
        }
        match found.len() {
            0 => Ok(None),
            1 => Ok(found.pop()),
            _ => {
                Err(ambiguous(text, "files", found.iter().map(|found| found.file.relative.clone()))
                    .hinted("give more letters, or the file itself as it is listed here"))
            }
        }
    }

    fn files(&self, fits: impl Fn(&HistoryFile) -> bool) -> Vec<Found> {
        let with_project = self
            .projects
            .iter()
            .enumerate()
            .flat_map(|(index, project)| project.files.iter().map(move |file| (index, file)));
        with_project
            .filter(|(_, file)| fits(file))
            .map(|(index, file)| Found { project: Some(index), file: file.clone() })
            .collect()
    }

    fn at_path(&self, path: &Path) -> Result<Found, CommandError> {
        let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let mut known = self.files(|file| file.path == path || file.path == real);
        if known.is_empty() {
            known = self.files(|file| file.path.canonicalize().is_ok_and(|file| file == real));
        }
        match known.into_iter().next() {
            Some(found) => Ok(found),
            None if self.confined => {
                Err(CommandError::user(format!("no file of the history is at {}", path.display())))
            }
            None => Ok(Found { project: None, file: HistoryFile::at(path)? }),
        }
    }

    /// Finds the session that was active last, by what its records say: file times lie.
    fn latest(&self) -> Result<Found, CommandError> {
        let sessions = self.files(|file| file.role == FileRole::Session && file.bytes > 0);
        let active =
            sessions.into_iter().filter_map(|found| Some((last_active(&found.file.path)?, found)));
        let found = active.max_by(|(a, _), (b, _)| a.cmp(b)).map(|(_, found)| found);
        found.ok_or_else(|| {
            CommandError::user("there is no session yet")
                .hinted("`ramus demo` writes a sample to look at")
        })
    }

    /// Finds a session by its exact title, which takes reading them all.
    fn titled_session(&self, ui: &mut Ui, text: &str) -> Result<Found, CommandError> {
        let survey = self.clone().survey(ui, &Scope::All);
        let titled = survey.projects.iter().enumerate().flat_map(|(index, project)| {
            project
                .sessions
                .iter()
                .filter(|session| session_title(&session.digest, &project.summaries) == Some(text))
                .map(move |session| Found { project: Some(index), file: session.file.clone() })
        });
        let mut found: Vec<Found> = titled.collect();
        match found.len() {
            1 => Ok(found.remove(0)),
            0 => Err(CommandError::user(format!("no session has the id or title {text:?}"))
                .hinted("`ramus sessions` lists ids and titles; the first 4 letters of an id are enough")),
            _ => Err(ambiguous(text, "sessions", found.iter().map(|found| found.file.relative.clone()))
                .hinted("give the id instead of the title")),
        }
    }

    /// Finds projects by their whole name or path.
    fn named_projects(&self, text: &str) -> Vec<usize> {
        let path = Path::new(text);
        let real = if path.is_dir() { path.canonicalize().ok() } else { None };
        let real = real.map(|real| real.to_string_lossy().into_owned());
        self.matching(|name| {
            name == text
                || real.as_deref().is_some_and(|real| is_encoded(name, real))
                || text.starts_with('/') && is_encoded(name, text)
        })
    }

    /// Finds projects by a part of their name or path; a path that was meant whole is no part.
    fn part_projects(&self, text: &str) -> Vec<usize> {
        let whole = text.starts_with('/') || matches!(text, "." | "..") || text.starts_with("./");
        if whole || !text.contains(|c: char| c.is_ascii_alphanumeric()) {
            return Vec::new();
        }
        let encoded = encode(text);
        self.matching(|name| name.contains(text) || name.contains(&encoded))
    }

    fn matching(&self, fits: impl Fn(&str) -> bool) -> Vec<usize> {
        let named = self.projects.iter().enumerate();
        named.filter(|(_, project)| fits(&project.name)).map(|(index, _)| index).collect()
    }

    fn ambiguous_project(&self, text: &str, found: &[usize]) -> CommandError {
        ambiguous(text, "projects", found.iter().map(|index| self.projects[*index].name.clone()))
    }

    /// Returns how long the client keeps files.
    pub(crate) fn cleanup(&self) -> Cleanup {
        Cleanup::of(&self.place)
    }

    /// Announces which files of a scope the client deletes soon; `None`: none.
    pub(crate) fn due_soon(&self, scope: &Scope) -> Option<String> {
        let files = self.projects.iter().enumerate().filter(|(index, _)| match scope {
            Scope::All => true,
            Scope::Project(only) => only == index,
            Scope::Session(_) => false,
        });
        let files = files.flat_map(|(_, project)| &project.files);
        self.cleanup().due(files, env::now()).sentence()
    }

    /// Returns the prompts of a scope whose sessions are gone.
    pub(crate) fn lost_prompts(&self, ui: &mut Ui, scope: &Scope) -> LostPrompts {
        if matches!(scope, Scope::Session(_)) {
            return LostPrompts::default();
        }
        let mut lost = LostPrompts::read(&self.place.roots, &self.projects);
        for problem in &lost.problems {
            ui.warn(problem);
        }
        if let Scope::Project(index) = scope {
            let name = &self.projects[*index].name;
            lost.prompts.retain(|prompt| prompt.is_of(name));
        }
        lost
    }

    /// Returns where is remembered what was read.
    pub(crate) fn index(&self) -> &Index {
        &self.place.index
    }

    /// Returns the Claude directories.
    pub(crate) fn roots(&self) -> &[PathBuf] {
        &self.place.roots
    }

    /// Returns the Claude directory that a file lies in.
    pub(crate) fn root_of(&self, path: &Path) -> Option<PathBuf> {
        self.place.roots.iter().find(|root| path.starts_with(root)).cloned()
    }

    /// Returns what sessions beside a file are called by others (R15).
    pub(crate) fn summaries(&self, found: &Found) -> Arc<Summaries> {
        let Some(project) = found.project else {
            return summaries(std::slice::from_ref(&found.file)).into();
        };
        let mut known = self.summaries.lock().unwrap_or_else(PoisonError::into_inner);
        let read = || summaries(&self.projects[project].files).into();
        known.entry(project).or_insert_with(read).clone()
    }

    /// Returns where a session came from and what came out of it; its whole project is read for that.
    pub(crate) fn family(&self, ui: &mut Ui, found: &Found) -> Family {
        let survey = self.clone().survey(ui, &Scope::Session(Box::new(found.clone())));
        let family = survey.family_of(&found.file.path);
        ui.let_go(survey);
        family
    }

    /// Returns the files of the project that a file belongs to.
    pub(crate) fn files_beside(&self, found: &Found) -> &[HistoryFile] {
        found.project.map(|project| &*self.projects[project].files).unwrap_or_default()
    }

    /// Reads the session of an address.
    pub(crate) fn read(&self, found: &Found) -> Result<History, CommandError> {
        Ok(History::new(self.index().read(&found.file.path)?, self.rule))
    }
}

/// Leaves out the files that links lead to from outside of the Claude directories.
fn leave_links_out(place: &Place, projects: &mut Vec<Project>) {
    let real = |path: &Path| path.canonicalize().ok();
    // The directory itself, or its projects, may well be somewhere else: that was decided by the user.
    let roots = place.roots.iter().flat_map(|root| [root.clone(), root.join("projects")]);
    let roots: Vec<PathBuf> = roots.filter_map(|root| real(&root)).collect();
    for project in projects.iter_mut() {
        project.files.retain(|file| {
            real(&file.path).is_some_and(|file| roots.iter().any(|root| file.starts_with(root)))
        });
    }
    projects.retain(|project| !project.files.is_empty());
}

fn no_project(text: &str) -> CommandError {
    let error = if text.starts_with("--") {
        return CommandError::user(format!("unexpected argument `{text}`"))
            .hinted("`--help` lists the options");
    } else if Path::new(text).is_dir() {
        CommandError::user(format!("there is no history of the directory {text:?}"))
    } else {
        CommandError::user(format!("no project is or contains {text:?}"))
    };
    error.hinted("`ramus projects` lists them all")
}

/// Finds the node a spot means.
pub(crate) fn node(history: &History, spot: &Spot) -> Result<Option<NodeId>, CommandError> {
    match spot {
        Spot::Resume => Ok(None),
        Spot::Nth(n) => {
            let count = history.branches.conversations.len();
            let conversation =
                n.checked_sub(1).and_then(|index| history.branches.conversations.get(index));
            match conversation {
                Some(conversation) => Ok(Some(conversation.leaf)),
                None => Err(CommandError::user(format!(
                    "there is no conversation {n}; the session has {count}"
                ))
                .hinted("`ramus conversations SESSION` lists them")),
            }
        }
        Spot::Uuid(prefix) => {
            let named =
                history.session.nodes().filter(|(id, _)| history.tree.is_first(*id)).filter_map(
                    |(id, record)| {
                        let spelling = history.session.spell(record.name?);
                        spelling.starts_with(prefix.as_str()).then_some((id, spelling))
                    },
                );
            let mut found: Vec<(NodeId, String)> = named.collect();
            // Of several records with one name the client knows the last.
            found.sort_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(&a.0)));
            found.dedup_by(|later, first| later.1 == first.1);
            match found.iter().find(|(_, spelling)| spelling == prefix).or(found.first()) {
                None => Err(CommandError::user(format!(
                    "no node of the session begins with {prefix:?}"
                ))
                .hinted("`ramus tree SESSION` shows them")),
                Some((id, spelling)) if found.len() == 1 || spelling == prefix => Ok(Some(*id)),
                Some(_) => Err(ambiguous(
                    prefix,
                    "nodes",
                    found.iter().map(|(_, spelling)| spelling.clone()),
                )),
            }
        }
    }
}

fn ambiguous(text: &str, what: &str, candidates: impl Iterator<Item = String>) -> CommandError {
    let all: Vec<String> = candidates.collect();
    let mut message = format!("{text:?} could be {} {what}:", all.len());
    for candidate in all.iter().take(CANDIDATES) {
        message.push_str("\n  ");
        message.push_str(candidate);
    }
    if all.len() > CANDIDATES {
        message.push_str("\n  …");
    }
    CommandError::user(message)
}

/// Cuts `SESSION:UUID` or `SESSION@N`.
fn split(text: &str) -> Option<(&str, Spot)> {
    if let Some((session, n)) = text.rsplit_once('@')
        && let Ok(n) = n.parse()
    {
        return Some((session, Spot::Nth(n)));
    }
    let (session, uuid) = text.rsplit_once(':')?;
    (!session.is_empty() && !uuid.is_empty()).then(|| (session, Spot::Uuid(uuid.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::{Spot, split};

    #[test]
    fn addresses_are_cut_at_their_last_sign() {
        assert_eq!(split("abcd:1234"), Some(("abcd", Spot::Uuid("1234".into()))));
        assert_eq!(split("latest@2"), Some(("latest", Spot::Nth(2))));
        assert_eq!(split("x/y.jsonl:12"), Some(("x/y.jsonl", Spot::Uuid("12".into()))));
        assert_eq!(split("abcd"), None);
        assert_eq!(split("me@home"), None);
        assert_eq!(split(":x"), None);
    }
}
