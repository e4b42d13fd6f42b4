//! The Claude directories and what was read of them: listed and read when asked for, kept while they
//! do not change.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ramus_core::digest::Digest;
use ramus_core::files::Reverts;
use ramus_core::history::History;
use ramus_core::link::Family;
use ramus_core::name::ShortIds;
use ramus_core::resume::Rule;
use ramus_core::retention::Due;
use ramus_core::session::NodeId;
use ramus_core::time::Time;
use ramus_core::title::Summaries;
use ramus_store::agents::{Agent, agents_of, with_calls};
use ramus_store::cleanup::Cleanup;
use ramus_store::index::Index;
use ramus_store::place::{FileRole, HistoryFile, Listing, Place, PlaceError, Project};
use ramus_store::prompts::LostPrompts;
use ramus_store::reverts::reverts;
use ramus_store::scan::summaries;
use ramus_store::survey::{
    ProjectSurvey, Survey, resurvey, survey, survey_activity, survey_each, survey_family,
    survey_inspection, survey_keeping, survey_usage, to_time,
};
use ramus_store::{PathError, State};

use crate::address::{ResolvedFile, Scope};
use crate::prices::Prices;
use crate::resume::ClientProgram;

/// How long a listing of the directories is good for, where several questions are asked over time.
const FRESH: Duration = Duration::from_secs(2);
/// How many sessions are kept in memory in any case, and how many if their files are small together:
/// many pages may follow as many sessions.
const KEPT: usize = 4;
const KEPT_SMALL: usize = 64;
const KEPT_BYTES: u64 = 64 * 1024 * 1024;

/// Hears how far long work has come, and what could not be read.
pub trait ProgressSink: Send + Sync {
    /// So many bytes are going to be read.
    fn begin(&self, _bytes: u64) {}
    fn advance(&self, _bytes: u64) {}
    fn end(&self) {}
    /// Something could not be read; the rest is answered all the same.
    fn warn(&self, _problem: &PathError) {}
    /// Whether nobody waits for the answer any more.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Hears nothing.
impl ProgressSink for () {}

/// What a survey of a scope tells of each file beside its digest.
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

/// The Claude directories, how to read them, and what was read.
pub struct Workspace {
    place: Place,
    rule: Rule,
    state: State,
    prices: Prices,
    client: ClientProgram,
    /// Only files below the Claude directories are read.
    confined: bool,
    fresh: Duration,
    progress: Arc<dyn ProgressSink>,
    listed: Mutex<Option<(Made, Arc<Vec<Project>>)>>,
    /// The last survey and when it was made; held while a new one is made.
    surveyed: Mutex<Option<(Made, Arc<Survey>)>>,
    /// The same, for those who do not wait.
    known: Mutex<Option<Arc<Survey>>>,
    /// How often something was heard of that changed on disk.
    changes: AtomicU64,
    open: Mutex<Vec<(HistoryFile, Arc<History>)>>,
    /// Held while a session is read: a page asks for several things of it at once.
    reading: Mutex<()>,
    /// What the sessions of a project's directory are called by others.
    summaries: Mutex<HashMap<PathBuf, (Made, Arc<Summaries>)>>,
}

/// When something was read, and how many changes were known by then.
#[derive(Clone, Copy, Debug)]
struct Made {
    at: Instant,
    changes: u64,
}

impl fmt::Debug for Workspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workspace").field("place", &self.place).finish_non_exhaustive()
    }
}

/// A panic elsewhere leaves nothing half done in here: what is kept is replaced whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Workspace {
    /// Takes Claude directories for one question: they are listed once. `state` is ramus's own directory.
    pub fn new(place: Place, rule: Rule, state: State) -> Self {
        Self {
            place,
            rule,
            state,
            prices: Prices::default(),
            client: ClientProgram::default(),
            confined: false,
            fresh: Duration::MAX,
            progress: Arc::new(()),
            listed: Mutex::default(),
            surveyed: Mutex::default(),
            known: Mutex::default(),
            changes: AtomicU64::new(0),
            open: Mutex::default(),
            reading: Mutex::default(),
            summaries: Mutex::default(),
        }
    }

    /// Takes Claude directories for many questions: what is older than a moment is looked at again.
    pub fn for_serving(place: Place, rule: Rule, state: State) -> Self {
        Self { fresh: FRESH, ..Self::new(place, rule, state) }
    }

    /// Returns the same for other Claude directories.
    pub fn at(&self, roots: Vec<PathBuf>) -> Self {
        let place = Place { roots, index: self.place.index.clone() };
        Self {
            prices: self.prices.clone(),
            client: self.client.clone(),
            confined: self.confined,
            fresh: self.fresh,
            progress: self.progress.clone(),
            ..Self::new(place, self.rule, self.state.clone())
        }
    }

    /// Takes other prices than those that are built in.
    pub fn with_prices(self, prices: Prices) -> Self {
        Self { prices, ..self }
    }

    /// Sets the Claude Code program that sessions are resumed with.
    pub fn with_client(self, client: ClientProgram) -> Self {
        Self { client, ..self }
    }

    /// Reads nothing outside of the Claude directories: whoever asks is not the person whose files they are.
    pub fn confined(self, confined: bool) -> Self {
        Self { confined, ..self }
    }

    /// Reports long work, and what could not be read.
    pub fn reporting_to(self, progress: Arc<dyn ProgressSink>) -> Self {
        Self { progress, ..self }
    }

    /// Returns where long work is reported.
    pub fn progress(&self) -> &dyn ProgressSink {
        &*self.progress
    }

    /// Returns the Claude directories.
    pub fn roots(&self) -> &[PathBuf] {
        &self.place.roots
    }

    /// Returns those that exist, if there is a history in them.
    pub fn existing_roots(&self) -> Result<Vec<PathBuf>, PlaceError> {
        Place::open(self.place.roots.clone()).map(|place| place.roots)
    }

    /// Returns the Claude directory that a file lies in.
    pub fn root_of(&self, path: &Path) -> Option<PathBuf> {
        self.place.roots.iter().find(|root| path.starts_with(root)).cloned()
    }

    /// Returns where is remembered what was read.
    pub fn index(&self) -> &Index {
        &self.place.index
    }

    pub fn rule(&self) -> Rule {
        self.rule
    }

    /// Returns ramus's own directory, with the journal.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Returns what tokens cost.
    pub fn prices(&self) -> &Prices {
        &self.prices
    }

    /// Returns the Claude Code program that sessions are resumed with.
    pub fn client(&self) -> &ClientProgram {
        &self.client
    }

    pub(crate) fn is_confined(&self) -> bool {
        self.confined
    }

    /// Returns how long the client keeps files.
    pub fn cleanup(&self) -> Cleanup {
        Cleanup::of(&self.place)
    }

    /// Counts the files of a scope that the client deletes soon; a single session has no answer.
    pub fn due_files(&self, scope: &Scope, now: Time) -> Due {
        let projects = self.projects();
        let wanted = projects.iter().filter(|project| match scope {
            Scope::All => true,
            Scope::Project(only) => only.dir == project.dir,
            Scope::Session(_) => false,
        });
        self.cleanup().due(wanted.flat_map(|project| &project.files), now)
    }

    /// Returns the prompts of a scope whose sessions are gone.
    pub fn lost_prompts(&self, scope: &Scope) -> LostPrompts {
        if matches!(scope, Scope::Session(_)) {
            return LostPrompts::default();
        }
        let mut lost = LostPrompts::read(self.roots(), &self.projects());
        lost.problems.iter().for_each(|problem| self.progress.warn(problem));
        if let Scope::Project(project) = scope {
            lost.prompts.retain(|prompt| prompt.is_of(&project.name));
        }
        lost
    }

    /// Returns where a session came from and what came out of it; the other sessions of its project are
    /// read for that.
    pub fn family(&self, found: &ResolvedFile, history: &History) -> Family {
        let file = &found.file;
        let project = match &found.project {
            Some(project) => Project::clone(project),
            None => self.lone_project(file.clone()),
        };
        let others = project.sessions().filter(|other| other.path != file.path);
        self.progress.begin(others.map(|other| other.bytes).sum());
        let on_read = |bytes| self.progress.advance(bytes);
        let own = (file, history);
        let (family, problems) = survey_family(self.index(), project, own, self.rule, &on_read);
        self.progress.end();
        problems.iter().for_each(|problem| self.progress.warn(problem));
        family
    }

    /// Returns for the prompts that begin a new branch whether the files were put back first (R22).
    pub fn reverts(&self, found: &ResolvedFile, history: &Arc<History>) -> Reverts {
        reverts(self.roots(), found.files_beside(), &found.file, history, self.rule)
    }

    /// Looks at the directories again when the next one asks.
    pub fn refresh(&self) {
        // Waits for nobody: whoever tells of changes must not stand behind a survey that runs.
        self.changes.fetch_add(1, Ordering::Relaxed);
    }

    fn made_now(&self) -> Made {
        Made { at: Instant::now(), changes: self.changes.load(Ordering::Relaxed) }
    }

    fn is_fresh(&self, made: Made) -> bool {
        made.at.elapsed() < self.fresh && made.changes == self.changes.load(Ordering::Relaxed)
    }

    /// Lists the projects and their files; nothing is read yet.
    pub fn projects(&self) -> Arc<Vec<Project>> {
        let mut listed = lock(&self.listed);
        match &*listed {
            Some((made, projects)) if self.is_fresh(*made) => projects.clone(),
            _ => {
                let made = self.made_now();
                let projects = Arc::new(self.list());
                *listed = Some((made, projects.clone()));
                projects
            }
        }
    }

    /// Lists them as they are now.
    pub fn list_again(&self) -> Arc<Vec<Project>> {
        let mut listed = lock(&self.listed);
        let made = self.made_now();
        let projects = Arc::new(self.list());
        *listed = Some((made, projects.clone()));
        projects
    }

    /// Returns the ids of sessions and sub-agents, so that their short forms mean no other one.
    pub fn short_ids(&self) -> ShortIds {
        let projects = self.projects();
        let files = projects.iter().flat_map(|project| &project.files);
        let named = files.filter(|file| !matches!(file.role, FileRole::Journal { .. }));
        named.map(|file| &*file.id).collect()
    }

    /// Returns the start of an id that means no other session or sub-agent.
    pub fn short_id(&self, id: &str) -> String {
        self.short_ids().short(id).to_owned()
    }

    /// Reads everything in short, so that the first question need not wait for it.
    pub fn warm_up(&self) {
        self.survey();
        self.index().sketch_aside(&self.projects());
    }

    fn list(&self) -> Vec<Project> {
        let Listing { mut projects, problems } = self.place.projects();
        problems.iter().for_each(|problem| self.progress.warn(problem));
        if self.confined {
            leave_links_out(self.roots(), &mut projects);
        }
        projects
    }

    /// Returns every file in short; what did not change since the last survey is not read again.
    pub fn survey(&self) -> Arc<Survey> {
        // Held while reading: whoever asks meanwhile wants the same answer.
        let mut held = lock(&self.surveyed);
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
            Duration::MAX => Vec::clone(&self.projects()),
            _ => self.list(),
        };
        let survey = Arc::new(self.look(projects, |listing, on_read| {
            resurvey(self.index(), &earlier, listing, self.rule, on_read)
        }));
        *held = Some((made, survey.clone()));
        *lock(&self.known) = Some(survey.clone());
        survey
    }

    /// Reads every file in short; `each` hears of each file when it has been read, with what is known
    /// of it alone, and of those that need not be read nothing but that. It is called from several threads.
    pub fn survey_each(&self, each: &(dyn Fn(&HistoryFile, Option<&Digest>) + Sync)) -> Survey {
        let listing = Listing { projects: self.take_projects(), problems: Vec::new() };
        survey_each(self.index(), listing, self.rule, each)
    }

    /// Returns the last survey, if there is one already; it may be a little old.
    pub fn known_survey(&self) -> Option<Arc<Survey>> {
        lock(&self.known).clone()
    }

    /// Reads the files of a scope in short. A session is read with its whole project, which gives it
    /// its titles and links.
    pub fn survey_scope(&self, scope: Scope, detail: SurveyDetail) -> Survey {
        let project = match scope {
            Scope::All => return self.survey_projects(self.take_projects(), detail),
            Scope::Project(project) => project,
            Scope::Session(found) => match found.project {
                Some(project) => project,
                None => return self.survey_projects(vec![self.lone_project(found.file)], detail),
            },
        };
        let project = Project::clone(&project);
        self.survey_projects(vec![project], detail)
    }

    /// Returns the listing to be used up; whoever holds it goes on with the same one.
    fn take_projects(&self) -> Vec<Project> {
        self.projects();
        let mut listed = lock(&self.listed);
        match listed.take().map(|(made, projects)| (made, Arc::try_unwrap(projects))) {
            Some((_, Ok(projects))) => projects,
            Some((made, Err(shared))) => {
                let projects = Vec::clone(&shared);
                *listed = Some((made, shared));
                projects
            }
            None => self.list(),
        }
    }

    /// Returns a project for a file that lies in none.
    fn lone_project(&self, file: HistoryFile) -> Project {
        Project {
            root: self.roots().first().cloned().unwrap_or_default(),
            dir: file.path.parent().map(Path::to_owned).unwrap_or_default(),
            name: String::new(),
            files: vec![file],
        }
    }

    fn survey_projects(&self, projects: Vec<Project>, detail: SurveyDetail) -> Survey {
        let (index, rule, prices) = (self.index(), self.rule, &self.prices.list);
        self.look(projects, |listing, on_read| match detail {
            SurveyDetail::Digests => survey(index, listing, rule, on_read),
            SurveyDetail::Histories => survey_keeping(index, listing, rule, on_read),
            SurveyDetail::Activity => survey_activity(index, listing, rule, on_read),
            SurveyDetail::Inspection => survey_inspection(index, listing, rule, on_read),
            SurveyDetail::Usage => {
                let earlier = self.known_survey().unwrap_or_default();
                survey_usage(index, &earlier, listing, rule, prices, on_read)
            }
        })
    }

    fn look(
        &self,
        projects: Vec<Project>,
        look: impl FnOnce(Listing, &(dyn Fn(u64) + Sync)) -> Survey,
    ) -> Survey {
        let files = projects.iter().flat_map(|project| &project.files);
        self.progress.begin(files.map(|file| file.bytes).sum());
        let listing = Listing { projects, problems: Vec::new() };
        let surveyed = look(listing, &|bytes| self.progress.advance(bytes));
        self.progress.end();
        surveyed.problems.iter().for_each(|problem| self.progress.warn(problem));
        surveyed
    }

    /// Reads a session, unless it is known as it is now.
    pub fn read(&self, file: &HistoryFile) -> Result<Arc<History>, PathError> {
        let known = || {
            let open = lock(&self.open);
            open.iter().find(|(known, _)| known == file).map(|(_, history)| history.clone())
        };
        if let Some(history) = known() {
            return Ok(history);
        }
        let _one_at_a_time = lock(&self.reading);
        if let Some(history) = known() {
            return Ok(history);
        }
        let history = Arc::new(History::new(self.index().read(&file.path)?, self.rule));
        let mut open = lock(&self.open);
        open.retain(|(known, _)| known.path != file.path);
        open.insert(0, (file.clone(), history.clone()));
        let kept = kept_count(open.iter().map(|(file, _)| file.bytes));
        open.truncate(kept);
        Ok(history)
    }

    /// Finds the agents of a session and the calls they hang at; an agent has none of its own.
    pub fn agents(&self, found: &ResolvedFile, history: &History) -> Vec<(Option<NodeId>, Agent)> {
        if found.file.role != FileRole::Session {
            return Vec::new();
        }
        let (agents, problems) = agents_of(found.files_beside(), &found.file.id);
        problems.iter().for_each(|problem| self.progress.warn(problem));
        with_calls(agents, history)
    }

    /// Returns what sessions beside a file are called by others (R15): as the last survey knows it,
    /// else read from the files of its project.
    pub fn summaries(&self, found: &ResolvedFile) -> Arc<Summaries> {
        let Some(project) = &found.project else {
            return summaries(std::slice::from_ref(&found.file)).into();
        };
        if let Some(survey) = self.known_survey() {
            let home = |known: &&ProjectSurvey| known.dir == project.dir;
            let known = survey.projects.iter().find(home);
            return Arc::new(known.map(|project| project.summaries.clone()).unwrap_or_default());
        }
        let mut known = lock(&self.summaries);
        if let Some((_, summaries)) =
            known.get(&project.dir).filter(|(made, _)| self.is_fresh(*made))
        {
            return summaries.clone();
        }
        let (made, read) = (self.made_now(), Arc::new(summaries(&project.files)));
        known.insert(project.dir.clone(), (made, read.clone()));
        read
    }

    /// Sums a session up, with the titles that other sessions gave it (R15) where they decide.
    pub fn digest(&self, found: &ResolvedFile, history: &History) -> (Digest, Summaries) {
        let digest = Digest::new(history);
        let summaries = self.summaries_for(found, &digest);
        (digest, summaries)
    }

    pub(crate) fn summaries_for(&self, found: &ResolvedFile, digest: &Digest) -> Summaries {
        // A title of its own comes first.
        let needs_others = digest.given_title.is_none() && !found.file.role.is_agent();
        let mut summaries = match needs_others {
            true => Arc::unwrap_or_clone(self.summaries(found)),
            false => Summaries::default(),
        };
        summaries.add(digest, to_time(found.file.modified));
        summaries
    }
}

/// Returns how many of these are kept, the newest first.
pub fn kept_count(sizes: impl Iterator<Item = u64>) -> usize {
    let mut sum = 0;
    let small = sizes.take(KEPT_SMALL).take_while(|size| {
        sum += size;
        sum <= KEPT_BYTES
    });
    small.count().max(KEPT)
}

/// Leaves out the files that links lead to from outside of the Claude directories.
fn leave_links_out(roots: &[PathBuf], projects: &mut Vec<Project>) {
    let real = |path: &Path| path.canonicalize().ok();
    // The directory itself, or its projects, may well be somewhere else: that was decided by the user.
    let roots = roots.iter().flat_map(|root| [root.clone(), root.join("projects")]);
    let roots: Vec<PathBuf> = roots.filter_map(|root| real(&root)).collect();
    for project in projects.iter_mut() {
        project.files.retain(|file| {
            real(&file.path).is_some_and(|file| roots.iter().any(|root| file.starts_with(root)))
        });
    }
    projects.retain(|project| !project.files.is_empty());
}
