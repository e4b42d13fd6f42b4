//! The Claude directories and a cache of their contents: files are listed and read on demand
//! and kept while they do not change.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ramus_archive::{Archive, ArchiveError, ArchiveTree, LazyArchive, Source};
use ramus_core::agent::AgentEntry;
use ramus_core::digest::SessionDigest;
use ramus_core::files::RevertOutcomes;
use ramus_core::history::History;
use ramus_core::ids::ShortIds;
use ramus_core::link::SessionRelations;
use ramus_core::resume::ResumeRule;
use ramus_core::retention::DueDeletions;
use ramus_core::session::NodeId;
use ramus_core::time::Time;
use ramus_core::title::ProjectSummaries;
use ramus_store::agents::{SubAgent, attach_calls, read_agents};
use ramus_store::cache::HistoryCache;
use ramus_store::claude_dir::{
    ClaudeDirError, ClaudeDirs, FileRole, HistoryFile, Project, ProjectListing,
};
use ramus_store::cleanup::CleanupSchedule;
use ramus_store::file_reverts::find_reverts;
use ramus_store::journal::Journal;
use ramus_store::overlay::Overlay;
use ramus_store::prompt_history::LostPrompts;
use ramus_store::real_path::{real_path, real_path_or_given};
use ramus_store::scan::read_summaries;
use ramus_store::survey::{
    Survey, read_project_path, survey_activity, survey_changed_files, survey_family, survey_files,
    survey_inspection, survey_keeping_histories, survey_usage, survey_with_events,
    time_from_system,
};
use ramus_store::undo::find_trash_operation;
use ramus_store::{PathError, StateDir};

use crate::address::{CurrentDir, ResolvedFile, Scope};
use crate::archive::SendPolicy;
use crate::name::agent_name;
use crate::prices::ActivePrices;
use crate::resume::ClientProgram;
use crate::search::LikeModels;

/// How long a listing of the directories is good for, where several questions are asked over time.
const LISTING_LIFETIME: Duration = Duration::from_secs(2);
/// How many sessions are kept in memory in any case, and how many if their files are small together:
/// many pages may follow as many sessions.
const MAX_KEPT_HISTORIES: usize = 4;
const MAX_KEPT_SMALL: usize = 64;
const MAX_KEPT_BYTES: u64 = 64 * 1024 * 1024;

/// Hears how far long work has come, and what could not be read.
pub trait ProgressSink: Send + Sync {
    /// So many bytes are going to be read.
    fn begin_reading(&self, _bytes: u64) {}
    fn advance_bytes(&self, _bytes: u64) {}
    fn end_reading(&self) {}
    /// Something could not be read; the answer covers the rest.
    fn report_problem(&self, _problem: &PathError) {}
    /// Whether a problem was reported, for sinks that remember it.
    fn has_problems(&self) -> bool {
        false
    }
    /// Whether the answer is no longer needed.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Hears nothing.
impl ProgressSink for () {}

/// What a survey reads of each file in addition to its digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SurveyDetail {
    Digests,
    /// The parsed histories too, for callers that read bodies next.
    Histories,
    /// What its messages used, at the prices of the workspace.
    Usage,
    /// What pictures of it need.
    Activity,
    /// What only a thorough look finds.
    Inspection,
}

/// The Claude directories, how to read them, and cached contents.
pub struct Workspace {
    claude_dirs: ClaudeDirs,
    rule: ResumeRule,
    state: StateDir,
    prices: ActivePrices,
    archive: Option<Arc<LazyArchive>>,
    /// What may be sent to a server, or why that is not known.
    send_policy: Result<SendPolicy, String>,
    /// The directories of other people and machines, which exist only in the archive.
    others_sources: Vec<(PathBuf, Source)>,
    client: ClientProgram,
    /// The caller's current directory; `None`: there is none.
    current_dir: Option<CurrentDir>,
    /// The directory of the embedding model for searches by meaning, and the model.
    like_model: Option<PathBuf>,
    pub(crate) like_models: LikeModels,
    /// Only files below the Claude directories are read.
    confined: bool,
    fresh: Duration,
    progress: Arc<dyn ProgressSink>,
    listed: Mutex<Option<(CacheStamp, Arc<Vec<Project>>)>>,
    /// Whether something could not be listed the last time.
    lacks_files: AtomicBool,
    /// The last survey and its time; locked while a new one is made.
    surveyed: Mutex<Option<(CacheStamp, Arc<Survey>)>>,
    /// Like the above, for callers that don't wait.
    known: Mutex<Option<Arc<Survey>>>,
    /// Counts reported changes on disk.
    changes: AtomicU64,
    open: Mutex<Vec<(HistoryFile, Arc<History>)>>,
    /// Held while a session is read: a page asks for several things of it at once.
    reading: Mutex<()>,
    /// What the sessions of a project's directory are called by others.
    summaries: Mutex<HashMap<PathBuf, (CacheStamp, Arc<ProjectSummaries>)>>,
}

/// Whose archived sessions are read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TeamFilter {
    pub owner: Option<String>,
    pub machine: Option<String>,
}

impl TeamFilter {
    fn accepts(&self, owner: &str, machine: &str) -> bool {
        self.owner.as_deref().is_none_or(|wanted| wanted == owner)
            && self.machine.as_deref().is_none_or(|wanted| wanted == machine)
    }
}

/// When something was read, and how many changes were known by then.
#[derive(Clone, Copy, Debug)]
struct CacheStamp {
    at: Instant,
    changes: u64,
}

impl fmt::Debug for Workspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workspace").field("place", &self.claude_dirs).finish_non_exhaustive()
    }
}

/// A panic elsewhere leaves nothing incomplete here, because values are replaced as a whole.
fn lock_mutex<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Workspace {
    /// Takes Claude directories for one question: they are listed once. `state` is ramus's own directory.
    pub fn new(claude_dirs: ClaudeDirs, rule: ResumeRule, state: StateDir) -> Self {
        Self {
            claude_dirs,
            rule,
            state,
            prices: ActivePrices::default(),
            archive: None,
            send_policy: Ok(SendPolicy::default()),
            others_sources: Vec::new(),
            client: ClientProgram::default(),
            current_dir: None,
            like_model: None,
            like_models: LikeModels::default(),
            confined: false,
            fresh: Duration::MAX,
            progress: Arc::new(()),
            listed: Mutex::default(),
            lacks_files: AtomicBool::new(false),
            surveyed: Mutex::default(),
            known: Mutex::default(),
            changes: AtomicU64::new(0),
            open: Mutex::default(),
            reading: Mutex::default(),
            summaries: Mutex::default(),
        }
    }

    /// Opens Claude directories for many questions: a listing that is out of date is read again.
    pub fn for_serving(place: ClaudeDirs, rule: ResumeRule, state: StateDir) -> Self {
        Self { fresh: LISTING_LIFETIME, ..Self::new(place, rule, state) }
    }

    /// Returns the same for other Claude directories.
    pub fn with_roots(&self, roots: Vec<PathBuf>) -> Self {
        let place = ClaudeDirs::at(roots, self.claude_dirs.cache.clone());
        Self {
            prices: self.prices.clone(),
            client: self.client.clone(),
            current_dir: self.current_dir.clone(),
            like_model: self.like_model.clone(),
            confined: self.confined,
            fresh: self.fresh,
            progress: self.progress.clone(),
            send_policy: self.send_policy.clone(),
            ..Self::new(place, self.rule, self.state.clone())
        }
        .with_archive(self.archive.clone())
    }

    /// Takes other prices than those that are built in.
    pub fn with_prices(self, prices: ActivePrices) -> Self {
        Self { prices, ..self }
    }

    /// Uses an archive, which may be created later.
    pub fn with_archive(self, archive: Option<Arc<LazyArchive>>) -> Self {
        let overlays = match &archive {
            Some(archive) => {
                self.claude_dirs.roots.iter().map(|root| overlay(archive, root)).collect()
            }
            None => Vec::new(),
        };
        let place = ClaudeDirs { overlays, ..self.claude_dirs };
        Self { archive, claude_dirs: place, ..self }
    }

    /// Takes what the user allows to be sent to a server, or why that is not known.
    pub fn with_send_policy(self, send_policy: Result<SendPolicy, String>) -> Self {
        Self { send_policy, ..self }
    }

    pub(crate) fn send_policy(&self) -> &Result<SendPolicy, String> {
        &self.send_policy
    }

    /// Adds the sessions that other people and machines archived, and leaves out those of this machine if they are
    /// not wanted.
    pub fn with_team(self, filter: &TeamFilter) -> Result<Self, ArchiveError> {
        let Some(archive) = self.archive.clone() else { return Ok(self) };
        let Some(opened) = archive.open_existing()? else { return Ok(self) };
        let ClaudeDirs { mut roots, cache, mut overlays } = self.claude_dirs.clone();
        let mut others_sources = Vec::new();
        if opened.own_source().is_some_and(|(owner, machine)| !filter.accepts(owner, machine)) {
            roots.clear();
            overlays.clear();
        }
        for (root, source) in opened.other_sources()? {
            if filter.accepts(&source.owner, &source.machine) {
                let tree = ArchiveTree::of_others(archive.clone(), root.clone());
                overlays.push(Arc::new(Overlay::new(root.clone(), Arc::new(tree))));
                others_sources.push((root.clone(), source));
                roots.push(root);
            }
        }
        Ok(Self { claude_dirs: ClaudeDirs { roots, cache, overlays }, others_sources, ..self })
    }

    /// Returns who archived a file, from which machine. `None`: the archive is not shared.
    pub fn source_of(&self, file: &Path) -> Option<Source> {
        let archive = self.archive()?;
        let (owner, machine) = archive.own_source()?;
        let others = self.others_sources.iter().find(|(root, _)| file.starts_with(root));
        Some(others.map_or_else(
            || Source {
                owner: owner.to_owned(),
                machine: machine.to_owned(),
                root: self.root_of(file).unwrap_or_default(),
            },
            |(_, source)| source.clone(),
        ))
    }

    /// Whether a file was archived by another person or machine, so that it cannot be restored here.
    pub fn is_of_others(&self, file: &Path) -> bool {
        self.others_sources.iter().any(|(root, _)| file.starts_with(root))
    }

    /// Sets the Claude Code program that sessions are resumed with.
    pub fn with_client(self, client: ClientProgram) -> Self {
        Self { client, ..self }
    }

    /// Sets the caller's current directory, whose project comes first.
    pub fn with_current_dir(self, current_dir: Option<CurrentDir>) -> Self {
        Self { current_dir, ..self }
    }

    /// Sets the directory of the embedding model for searches by meaning.
    pub fn with_like_model(self, like_model: Option<PathBuf>) -> Self {
        Self { like_model, ..self }
    }

    /// Reads nothing outside of the Claude directories, because the caller is not the owner of the files.
    pub fn with_confinement(self, confined: bool) -> Self {
        Self { confined, ..self }
    }

    /// Reports long work, and what could not be read.
    pub fn reporting_to(self, progress: Arc<dyn ProgressSink>) -> Self {
        Self { progress, ..self }
    }

    /// Returns where long work is reported.
    pub fn progress_sink(&self) -> &dyn ProgressSink {
        &*self.progress
    }

    /// Returns the Claude directories.
    pub fn claude_roots(&self) -> &[PathBuf] {
        &self.claude_dirs.roots
    }

    /// Returns those that exist, if there is a history in them.
    pub fn existing_roots(&self) -> Result<Vec<PathBuf>, ClaudeDirError> {
        ClaudeDirs::open(self.claude_dirs.roots.clone()).map(|place| place.roots)
    }

    /// Returns the Claude directory that contains a file.
    pub fn root_of(&self, path: &Path) -> Option<PathBuf> {
        self.claude_dirs.roots.iter().find(|root| path.starts_with(root)).cloned()
    }

    /// Returns the cache.
    pub fn session_cache(&self) -> &HistoryCache {
        &self.claude_dirs.cache
    }

    pub fn resume_rule(&self) -> ResumeRule {
        self.rule
    }

    /// Returns ramus's own directory, with the journal.
    pub fn state_dir(&self) -> &StateDir {
        &self.state
    }

    /// Returns the archive. `None` if there is none or it is turned off.
    pub fn archive(&self) -> Option<&Archive> {
        // One that cannot be opened is reported when the directories are listed.
        self.archive.as_ref()?.open_existing().ok().flatten()
    }

    /// Returns where the archive is, or would be. `None`: it is not wanted.
    pub(crate) fn archive_place(&self) -> Option<&LazyArchive> {
        self.archive.as_deref()
    }

    /// Returns what tokens cost.
    pub fn active_prices(&self) -> &ActivePrices {
        &self.prices
    }

    /// Returns the Claude Code program that sessions are resumed with.
    pub fn client_program(&self) -> &ClientProgram {
        &self.client
    }

    pub(crate) fn current_dir(&self) -> Option<&CurrentDir> {
        self.current_dir.as_ref()
    }

    pub(crate) fn like_model_dir(&self) -> Option<&Path> {
        self.like_model.as_deref()
    }

    pub(crate) fn is_confined(&self) -> bool {
        self.confined
    }

    /// Returns how long the client keeps files.
    pub fn cleanup_schedule(&self) -> CleanupSchedule {
        CleanupSchedule::read_settings(&self.claude_dirs)
    }

    /// Counts the files of a scope that the client deletes soon; a single session has no answer.
    pub fn due_files(&self, scope: &Scope, now: Time) -> DueDeletions {
        let projects = self.list_projects();
        let wanted = projects.iter().filter(|project| match scope {
            Scope::All => true,
            Scope::Project(only) => only.dir == project.dir,
            Scope::Session(_) | Scope::Sessions(_) => false,
        });
        self.cleanup_schedule().count_due(wanted.flat_map(|project| &project.files), now)
    }

    /// Returns prompts of deleted sessions in a scope.
    pub fn lost_prompts(&self, scope: &Scope) -> LostPrompts {
        if scope.sessions().is_some() {
            return LostPrompts::default();
        }
        let mut lost = LostPrompts::read(self.claude_roots(), &self.list_projects());
        lost.problems.iter().for_each(|problem| self.progress.report_problem(problem));
        if let Scope::Project(project) = scope {
            lost.prompts.retain(|prompt| prompt.belongs_to(&project.name));
        }
        lost
    }

    /// Returns the origins and offspring of a session; the other sessions of its project are
    /// read for that.
    pub fn session_family(&self, found: &ResolvedFile, history: &History) -> SessionRelations {
        let file = &found.file;
        let project = match &found.project {
            Some(project) => Project::clone(project),
            None => self.lone_project(file.clone()),
        };
        let others = project.session_files().filter(|other| other.path != file.path);
        self.progress.begin_reading(others.map(|other| other.bytes).sum());
        let on_read = |bytes| self.progress.advance_bytes(bytes);
        let own = (file, history);
        let (family, problems) =
            survey_family(self.session_cache(), project, own, self.rule, &on_read);
        self.progress.end_reading();
        problems.iter().for_each(|problem| self.progress.report_problem(problem));
        family
    }

    /// For each prompt that begins a new branch, returns whether files were restored first (R22).
    pub fn revert_outcomes(&self, found: &ResolvedFile, history: &Arc<History>) -> RevertOutcomes {
        find_reverts(self.claude_roots(), found.files_beside(), &found.file, history, self.rule)
    }

    /// Invalidates the listing, so that the next question reads the directories again.
    pub fn request_refresh(&self) {
        // Must not block: the thread that reports changes must not wait for a running survey.
        self.changes.fetch_add(1, Ordering::Relaxed);
    }

    fn made_now(&self) -> CacheStamp {
        CacheStamp { at: Instant::now(), changes: self.changes.load(Ordering::Relaxed) }
    }

    fn is_fresh(&self, made: CacheStamp) -> bool {
        made.at.elapsed() < self.fresh && made.changes == self.changes.load(Ordering::Relaxed)
    }

    /// Reports something that could not be read.
    pub(crate) fn warn(&self, problem: &PathError) {
        self.progress.report_problem(problem);
    }

    /// Lists the projects and their files; nothing is read yet.
    pub fn list_projects(&self) -> Arc<Vec<Project>> {
        let mut listed = lock_mutex(&self.listed);
        match &*listed {
            Some((made, projects)) if self.is_fresh(*made) => projects.clone(),
            _ => {
                let made = self.made_now();
                let projects = Arc::new(self.read_listing());
                *listed = Some((made, projects.clone()));
                projects
            }
        }
    }

    /// Whether everything could be read, including the last listing.
    pub(crate) fn could_read_everything(&self) -> bool {
        !self.lacks_files.load(Ordering::Relaxed) && !self.progress.has_problems()
    }

    /// Lists them as they are now.
    pub fn list_again(&self) -> Arc<Vec<Project>> {
        let mut listed = lock_mutex(&self.listed);
        let made = self.made_now();
        let projects = Arc::new(self.read_listing());
        *listed = Some((made, projects.clone()));
        projects
    }

    /// Returns the ids of sessions and sub-agents, so that their short forms mean no other one.
    pub fn short_ids(&self) -> ShortIds {
        let projects = self.list_projects();
        let files = projects.iter().flat_map(|project| &project.files);
        let named = files.filter(|file| !matches!(file.role, FileRole::Journal { .. }));
        named.map(|file| &*file.id).collect()
    }

    /// Returns the start of an id that means no other session or sub-agent.
    pub fn short_id(&self, id: &str) -> String {
        self.short_ids().shorten_id(id).to_owned()
    }

    /// Reads everything in short, so that the first question need not wait for it.
    pub fn warm_up(&self) {
        self.survey_all();
        self.session_cache().build_filters_slowly(&self.list_projects());
    }

    fn read_listing(&self) -> Vec<Project> {
        let ProjectListing { mut projects, problems } = self.claude_dirs.list_projects();
        problems.iter().for_each(|problem| self.progress.report_problem(problem));
        self.lacks_files.store(!problems.is_empty(), Ordering::Relaxed);
        if self.confined {
            leave_links_out(self.claude_roots(), &mut projects);
        }
        self.leave_trashed_out(&mut projects);
        projects
    }

    /// Leaves out archived copies of sessions in the trash.
    fn leave_trashed_out(&self, projects: &mut Vec<Project>) {
        let files = || projects.iter().flat_map(|project| &project.files);
        if !files().any(|file| file.archived) {
            return;
        }
        let Ok(journal) = Journal::read(&self.state) else { return };
        let ids = files().filter(|file| file.archived && file.role == FileRole::Session);
        let trashed: HashSet<String> = ids
            .filter(|file| find_trash_operation(&journal, &file.id, self.claude_roots()).is_some())
            .map(|file| file.id.clone())
            .collect();
        if trashed.is_empty() {
            return;
        }
        for project in projects.iter_mut() {
            project.files.retain(|file| {
                let session = file.role.session().unwrap_or(&file.id);
                !(file.archived && trashed.contains(session))
            });
        }
        projects.retain(|project| !project.files.is_empty() || project.dir.is_dir());
    }

    /// Returns every file in short; what did not change since the last survey is not read again.
    pub fn survey_all(&self) -> Arc<Survey> {
        // Locked while reading, because concurrent callers want the same answer.
        let mut held = lock_mutex(&self.surveyed);
        let earlier = match held.take() {
            Some((made, survey)) if self.is_fresh(made) => {
                *held = Some((made, survey.clone()));
                return survey;
            }
            Some((_, survey)) => survey,
            None => Arc::default(),
        };
        let made = self.made_now();
        let projects = match self.fresh {
            Duration::MAX => Vec::clone(&self.list_projects()),
            _ => self.read_listing(),
        };
        let survey = Arc::new(self.survey_with(projects, |listing, on_read| {
            survey_changed_files(self.session_cache(), &earlier, listing, self.rule, on_read)
        }));
        *held = Some((made, survey.clone()));
        *lock_mutex(&self.known) = Some(survey.clone());
        survey
    }

    /// Reads every file in short; `each` hears of each file when it has been read, with what is known
    /// of it alone, and of those that need not be read nothing but that. It is called from several threads.
    pub fn survey_each(
        &self,
        each: &(dyn Fn(&HistoryFile, Option<&SessionDigest>) + Sync),
    ) -> Survey {
        let listing = ProjectListing { projects: self.take_listing(), problems: Vec::new() };
        survey_with_events(self.session_cache(), listing, self.rule, each)
    }

    /// Returns the last survey, if there is one already; it may be a little old.
    pub fn last_survey(&self) -> Option<Arc<Survey>> {
        lock_mutex(&self.known).clone()
    }

    /// Reads the files of a scope in short. A session is read with its whole project, which gives it
    /// its titles and links.
    pub fn survey_scope(&self, scope: Scope, detail: SurveyDetail) -> Survey {
        let sessions = match scope {
            Scope::All => return self.survey_projects(self.take_listing(), detail),
            Scope::Project(project) => {
                return self.survey_projects(vec![Project::clone(&project)], detail);
            }
            Scope::Session(found) => vec![*found],
            Scope::Sessions(found) => found,
        };
        let mut projects: Vec<Project> = Vec::new();
        for found in sessions {
            match &found.project {
                Some(project) if projects.iter().any(|known| known.dir == project.dir) => {}
                Some(project) => projects.push(Project::clone(project)),
                None => projects.push(self.lone_project(found.file)),
            }
        }
        self.survey_projects(projects, detail)
    }

    /// Returns the listing as an owned value; other holders keep the same one.
    fn take_listing(&self) -> Vec<Project> {
        self.list_projects();
        let mut listed = lock_mutex(&self.listed);
        match listed.take().map(|(made, projects)| (made, Arc::try_unwrap(projects))) {
            Some((_, Ok(projects))) => projects,
            Some((made, Err(shared))) => {
                let projects = Vec::clone(&shared);
                *listed = Some((made, shared));
                projects
            }
            None => self.read_listing(),
        }
    }

    /// Returns a project for a file outside of all projects.
    fn lone_project(&self, file: HistoryFile) -> Project {
        Project {
            root: self.claude_roots().first().cloned().unwrap_or_default(),
            dir: file.path.parent().map(Path::to_owned).unwrap_or_default(),
            name: String::new(),
            files: vec![file],
        }
    }

    pub(crate) fn survey_projects(&self, projects: Vec<Project>, detail: SurveyDetail) -> Survey {
        let (index, rule, prices) = (self.session_cache(), self.rule, &self.prices.list);
        self.survey_with(projects, |listing, on_read| match detail {
            SurveyDetail::Digests => survey_files(index, listing, rule, on_read),
            SurveyDetail::Histories => survey_keeping_histories(index, listing, rule, on_read),
            SurveyDetail::Activity => survey_activity(index, listing, rule, on_read),
            SurveyDetail::Inspection => survey_inspection(index, listing, rule, on_read),
            SurveyDetail::Usage => {
                let earlier = self.last_survey().unwrap_or_default();
                survey_usage(index, &earlier, listing, rule, prices, on_read)
            }
        })
    }

    fn survey_with(
        &self,
        projects: Vec<Project>,
        look: impl FnOnce(ProjectListing, &(dyn Fn(u64) + Sync)) -> Survey,
    ) -> Survey {
        let files = projects.iter().flat_map(|project| &project.files);
        self.progress.begin_reading(files.map(|file| file.bytes).sum());
        let listing = ProjectListing { projects, problems: Vec::new() };
        let surveyed = look(listing, &|bytes| self.progress.advance_bytes(bytes));
        self.progress.end_reading();
        surveyed.problems.iter().for_each(|problem| self.progress.report_problem(problem));
        surveyed
    }

    /// Reads a session, unless it is known as it is now.
    pub fn read_history(&self, file: &HistoryFile) -> Result<Arc<History>, PathError> {
        let known = || {
            let open = lock_mutex(&self.open);
            open.iter().find(|(known, _)| known == file).map(|(_, history)| history.clone())
        };
        if let Some(history) = known() {
            return Ok(history);
        }
        let _one_at_a_time = lock_mutex(&self.reading);
        if let Some(history) = known() {
            return Ok(history);
        }
        let history =
            Arc::new(History::new(self.session_cache().read_session(&file.path)?, self.rule));
        let mut open = lock_mutex(&self.open);
        open.retain(|(known, _)| known.path != file.path);
        open.insert(0, (file.clone(), history.clone()));
        let kept = histories_to_keep(open.iter().map(|(file, _)| file.bytes));
        open.truncate(kept);
        Ok(history)
    }

    /// Finds the agents of a session and the calls that started them; an agent has no agents.
    pub fn session_agents(
        &self,
        found: &ResolvedFile,
        history: &History,
    ) -> Vec<(Option<NodeId>, SubAgent)> {
        if found.file.role != FileRole::Session {
            return Vec::new();
        }
        let (agents, problems) = read_agents(found.files_beside(), &found.file.id);
        problems.iter().for_each(|problem| self.progress.report_problem(problem));
        attach_calls(agents, history)
    }

    /// Returns the agents of a session as entries of its outline.
    pub fn agent_entries(&self, found: &ResolvedFile, history: &History) -> Vec<AgentEntry> {
        let short_ids = self.short_ids();
        let entry = |(node, agent): (Option<NodeId>, SubAgent)| AgentEntry {
            node,
            label: agent_name(&agent),
            short_id: short_ids.shorten_id(&agent.file.id).to_owned(),
            id: agent.file.id,
            records: agent.records,
            depth: agent.depth,
        };
        self.session_agents(found, history).into_iter().map(entry).collect()
    }

    /// Returns what sessions beside a file are called by others (R15): as the last survey knows it,
    /// else read from the files of its project.
    pub fn project_summaries(&self, found: &ResolvedFile) -> Arc<ProjectSummaries> {
        let Some(project) = &found.project else {
            return read_summaries(std::slice::from_ref(&found.file)).into();
        };
        if let Some(known) = self.surveyed_summaries(project) {
            return known;
        }
        let mut known = lock_mutex(&self.summaries);
        if let Some((_, summaries)) =
            known.get(&project.dir).filter(|(made, _)| self.is_fresh(*made))
        {
            return summaries.clone();
        }
        let (made, read) = (self.made_now(), Arc::new(read_summaries(&project.files)));
        known.insert(project.dir.clone(), (made, read.clone()));
        read
    }

    /// Returns the summaries of a project as of the last survey, if there is one.
    pub(crate) fn surveyed_summaries(&self, project: &Project) -> Option<Arc<ProjectSummaries>> {
        let survey = self.last_survey()?;
        let known = survey.projects.iter().find(|known| known.dir == project.dir);
        Some(Arc::new(known.map(|project| project.summaries.clone()).unwrap_or_default()))
    }

    /// Returns the working directory of a project, as a survey has it.
    pub fn project_path(&self, project: &Project) -> Option<String> {
        let survey = self.last_survey();
        let mut surveyed = survey.iter().flat_map(|survey| &survey.projects);
        match surveyed.find(|known| known.dir == project.dir) {
            Some(known) => known.path.clone(),
            None => read_project_path(project),
        }
    }

    /// Sums a session up, with the titles that other sessions gave it (R15) where they decide.
    pub fn digest_session(
        &self,
        found: &ResolvedFile,
        history: &History,
    ) -> (SessionDigest, ProjectSummaries) {
        let digest = SessionDigest::new(history);
        let summaries = self.summaries_for(found, &digest);
        (digest, summaries)
    }

    pub(crate) fn summaries_for(
        &self,
        found: &ResolvedFile,
        digest: &SessionDigest,
    ) -> ProjectSummaries {
        // Its own title takes precedence.
        let needs_others = digest.given_title.is_none() && !found.file.role.is_agent();
        let mut summaries = match needs_others {
            true => Arc::unwrap_or_clone(self.project_summaries(found)),
            false => ProjectSummaries::default(),
        };
        summaries.add_digest(digest, time_from_system(found.file.modified));
        summaries
    }
}

/// Returns how many of these are kept, the newest first.
pub fn histories_to_keep(sizes: impl Iterator<Item = u64>) -> usize {
    let mut sum = 0;
    let small = sizes.take(MAX_KEPT_SMALL).take_while(|size| {
        sum += size;
        sum <= MAX_KEPT_BYTES
    });
    small.count().max(MAX_KEPT_HISTORIES)
}

/// Puts the archived files of a Claude directory in the place of those that are gone.
fn overlay(archive: &Arc<LazyArchive>, root: &Path) -> Arc<Overlay> {
    let real = real_path_or_given(root);
    Arc::new(Overlay::new(root.to_owned(), Arc::new(ArchiveTree::new(archive.clone(), real))))
}

/// Leaves out the files that links lead to from outside of the Claude directories.
fn leave_links_out(roots: &[PathBuf], projects: &mut Vec<Project>) {
    let real = |path: &Path| real_path(path).ok();
    // The directory itself, or its projects, may well be somewhere else: that was decided by the user.
    let roots = roots.iter().flat_map(|root| [root.clone(), root.join("projects")]);
    let roots: Vec<PathBuf> = roots.filter_map(|root| real(&root)).collect();
    for project in projects.iter_mut() {
        project.files.retain(|file| {
            file.archived
                || real(&file.path)
                    .is_some_and(|file| roots.iter().any(|root| file.starts_with(root)))
        });
    }
    projects.retain(|project| !project.files.is_empty());
}
