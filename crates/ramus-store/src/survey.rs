//! Reads all files of a listing in parallel and keeps a digest of each.
//!
//! Files that have not changed come from an earlier survey or from the cache.

mod cached_project;
mod count;
mod family;
mod stored;
mod unrelated;

pub use count::{MostComplex, SurveyCounts, count_survey};

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use ramus_core::activity::Activity;
use ramus_core::defect::Defect;
use ramus_core::digest::{SessionDigest, SessionListing};
use ramus_core::history::{AgentClass, History};
use ramus_core::ids::RecordUuid;
use ramus_core::inspect::Inspection;
use ramus_core::lineage::SessionEntry;
use ramus_core::link::{LinkKind, RelatedSession, SessionRelations};
use ramus_core::price::PriceList;
use ramus_core::resume::ResumeRule;
use ramus_core::session::{Session, SessionFacts};
use ramus_core::time::Time;
use ramus_core::title::ProjectSummaries;
use ramus_core::usage::FileUsage;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::cache::HistoryCache;
use crate::claude_dir::{FileRole, HistoryFile, Project, ProjectListing};
use crate::error::PathError;
use crate::project_name::is_encoded_path;
use crate::read::read_session_as;
use crate::read::read_working_dir;
use crate::repository::{Repository, find_repositories};
use cached_project::{
    CachedProject, FreshFile, SurveyExtra, SurveyRequest, UnreadFile, save_projects,
};
use family::ProjectFamilies;
use stored::take_stored;
use unrelated::RelatedFileSearch;

/// The digests of all files that were read.
#[derive(Debug, Default)]
pub struct Survey {
    pub projects: Vec<ProjectSurvey>,
    /// What could not be read. Everything else is included.
    pub problems: Vec<PathError>,
}

/// One project with its sessions and agents.
#[derive(Debug)]
pub struct ProjectSurvey {
    pub name: String,
    pub dir: PathBuf,
    /// The working directory of the project according to its records (R19). `None`: no record names one.
    pub path: Option<String>,
    pub sessions: Vec<SurveyedFile>,
    pub agents: Vec<SurveyedFile>,
    /// Other files below the sessions' directories, such as workflow journals.
    pub journals: Vec<SurveyedFile>,
    pub summaries: ProjectSummaries,
}

/// One file with its digest.
#[derive(Debug)]
pub struct SurveyedFile {
    pub file: HistoryFile,
    pub digest: Arc<SessionDigest>,
    /// Nodes whose parent is in no session of the project (R5).
    pub orphans: Vec<Defect>,
    /// The parsed history; only set by [`survey_keeping_histories`].
    pub history: Option<Arc<History>>,
    /// The tokens and cost of its messages (R20); only set by [`survey_usage`].
    pub account: Option<Arc<FileUsage>>,
    /// Its activity; only set by [`survey_activity`].
    pub activity: Option<Arc<Activity>>,
    /// The result of a thorough inspection; only set by [`survey_inspection`].
    pub inspection: Option<Arc<Inspection>>,
}

/// The number of records that are kept in memory, about 80 MB.
const MAX_KEPT_RECORDS: usize = 250_000;

impl SurveyedFile {
    pub(crate) fn new(file: HistoryFile, digest: impl Into<Arc<SessionDigest>>) -> Self {
        Self {
            file,
            digest: digest.into(),
            orphans: Vec::new(),
            history: None,
            account: None,
            activity: None,
            inspection: None,
        }
    }

    /// Returns the session that an agent's file belongs to.
    pub fn parent_session(&self) -> Option<&str> {
        parent_session(&self.file, &self.digest.facts)
    }

    /// Returns the facts that distinguish an original from a copy.
    pub fn lineage_entry(&self) -> SessionEntry<'_> {
        let created = self.file.created.map(time_from_system);
        SessionEntry { id: &self.file.id, digest: &self.digest, created }
    }

    /// Whether an agent did more than a warm-up.
    fn did_real_work(&self) -> bool {
        self.digest.agent_class != AgentClass::Warmup
    }

    /// Returns everything wrong with the file.
    pub fn all_defects(&self) -> impl Iterator<Item = &Defect> {
        self.digest.defects.iter().chain(&self.orphans)
    }
}

/// Returns the session that an agent's file belongs to.
fn parent_session<'a>(file: &'a HistoryFile, facts: &'a SessionFacts) -> Option<&'a str> {
    match &file.role {
        FileRole::NestedAgent { session } | FileRole::Journal { session } => Some(session),
        FileRole::FlatAgent => facts.session_ids.first().map(|id| &**id),
        FileRole::Session => None,
    }
}

fn family_of_agent<'a>(
    session: Option<&str>,
    mut sessions: impl Iterator<Item = &'a HistoryFile>,
) -> SessionRelations {
    let origin = |id: &str| RelatedSession {
        kind: LinkKind::Agent,
        session: Some(id.into()),
        is_found: sessions.any(|session| session.id == *id),
    };
    SessionRelations { origins: session.map(origin).into_iter().collect(), offspring: Vec::new() }
}

impl ProjectSurvey {
    /// Returns all files: sessions, agents and the rest.
    pub fn all_files(&self) -> impl Iterator<Item = &SurveyedFile> {
        self.sessions.iter().chain(&self.agents).chain(&self.journals)
    }

    /// Returns the agents that a session started, warm-ups among them.
    pub fn agents_of<'a>(&'a self, session: &'a str) -> impl Iterator<Item = &'a SurveyedFile> {
        self.agents.iter().filter(move |agent| agent.parent_session() == Some(session))
    }

    /// Returns how many agents each session started, without warm-ups. Sessions without agents are not included.
    pub fn agent_counts(&self) -> FxHashMap<&str, usize> {
        let mut counts = FxHashMap::default();
        for agent in self.agents.iter().filter(|agent| agent.did_real_work()) {
            if let Some(session) = agent.parent_session() {
                *counts.entry(session).or_default() += 1;
            }
        }
        counts
    }

    /// Returns list entries for all sessions, with the sessions each is linked to.
    fn list_entries_with_links(
        &self,
        project_families: ProjectFamilies,
    ) -> impl Iterator<Item = SessionListing<'_>> {
        let mut links = project_families.links.into_iter().peekable();
        let agents = self.agent_counts();
        let sessions = self.sessions.iter().zip(project_families.families).enumerate();
        sessions.map(move |(index, (session, family))| {
            let own = std::iter::from_fn(|| links.next_if(|link| link.from == index));
            let links = own.map(|link| (link.kind, &*self.sessions[link.to].file.id)).collect();
            let agents = agents.get(&*session.file.id).copied().unwrap_or_default();
            SessionListing { links, relations: family, agents, ..self.bare_list_entry(session) }
        })
    }

    /// Returns the agents whose session no longer has a file, each with that session's id, without
    /// warm-ups.
    pub fn lost_agents(&self) -> impl Iterator<Item = (&str, &SurveyedFile)> {
        let ids: FxHashSet<&str> = self.sessions.iter().map(|session| &*session.file.id).collect();
        let agents = self.agents.iter().filter(|agent| agent.did_real_work());
        let started = agents.filter_map(|agent| Some((agent.parent_session()?, agent)));
        started.filter(move |(session, _)| !ids.contains(session))
    }

    /// Returns where an agent came from.
    pub fn agent_family(&self, agent: &SurveyedFile) -> SessionRelations {
        let sessions = self.sessions.iter().map(|session| &session.file);
        family_of_agent(agent.parent_session(), sessions)
    }

    /// Returns the list entry of a session, without its links.
    pub fn list_entry<'a>(&'a self, session: &'a SurveyedFile) -> SessionListing<'a> {
        let agents = self.agents_of(&session.file.id).filter(|agent| agent.did_real_work()).count();
        SessionListing { agents, ..self.bare_list_entry(session) }
    }

    fn bare_list_entry<'a>(&'a self, session: &'a SurveyedFile) -> SessionListing<'a> {
        let HistoryFile { id, relative, bytes, archived, .. } = &session.file;
        SessionListing {
            project: &self.name,
            bytes: *bytes,
            defects: session.all_defects().count(),
            archived: *archived,
            ..SessionListing::new(id, relative, &session.digest, &self.summaries)
        }
    }
}

impl Survey {
    /// Returns the git repository of each project, if it can be found on disk.
    pub fn project_repositories(&self) -> Vec<Option<Repository>> {
        let dirs: Vec<Option<&str>> = self.projects.iter().map(|one| one.path.as_deref()).collect();
        find_repositories(&dirs)
    }

    /// Returns the origins and offspring of all sessions, by project.
    pub fn session_families(&self) -> Vec<Vec<SessionRelations>> {
        family::find_families(self)
            .into_iter()
            .map(|project_families| project_families.families)
            .collect()
    }

    /// Returns the origins and offspring of one session or agent.
    pub fn family_of(&self, file: &Path) -> SessionRelations {
        let is_it = |one: &SurveyedFile| one.file.path == file;
        for (p, project) in self.projects.iter().enumerate() {
            if let Some(s) = project.sessions.iter().position(is_it) {
                return self.session_families().swap_remove(p).swap_remove(s);
            }
            if let Some(agent) = project.agents.iter().find(|one| is_it(one)) {
                return project.agent_family(agent);
            }
        }
        SessionRelations::default()
    }

    /// Maps all sessions in project order, in parallel.
    pub fn map_sessions<T: Send>(
        &self,
        each: impl Fn(&ProjectSurvey, &SurveyedFile, SessionListing<'_>) -> Option<T> + Sync,
    ) -> Vec<T> {
        let projects = self.projects.par_iter().zip(family::find_families(self)).with_max_len(1);
        let rows = projects.flat_map_iter(|(project, project_families)| {
            let sessions =
                project.sessions.iter().zip(project.list_entries_with_links(project_families));
            sessions.filter_map(|(session, listed)| each(project, session, listed))
        });
        rows.collect()
    }
}

/// Reads every file of a listing.
///
/// `on_read` gets the size of each file when it has been read. It is called from several
/// threads.
pub fn survey_files(
    index: &HistoryCache,
    listing: ProjectListing,
    rule: ResumeRule,
    on_read: &(dyn Fn(u64) + Sync),
) -> Survey {
    survey_changed_files(index, &Survey::default(), listing, rule, on_read)
}

/// Reads every file of a listing. `each` is called for each file, from several threads: with its
/// digest if the file was read, with `None` if that was not necessary.
pub fn survey_with_events(
    index: &HistoryCache,
    listing: ProjectListing,
    rule: ResumeRule,
    each: &(dyn Fn(&HistoryFile, Option<&SessionDigest>) + Sync),
) -> Survey {
    let on_file = |file: &HistoryFile, surveyed: Option<&SurveyedFile>| {
        each(file, surveyed.map(|surveyed| &*surveyed.digest));
    };
    survey_listing(
        index,
        SurveyRequest::digests_only(rule),
        &Survey::default(),
        listing,
        &on_file,
        &keeping_reader(index, rule, 0),
    )
}

/// Like [`survey_files`], but reads only files that changed since an earlier survey by the same rule.
pub fn survey_changed_files(
    index: &HistoryCache,
    earlier: &Survey,
    listing: ProjectListing,
    rule: ResumeRule,
    on_read: &(dyn Fn(u64) + Sync),
) -> Survey {
    survey_listing(
        index,
        SurveyRequest::digests_only(rule),
        earlier,
        listing,
        &report_sizes(on_read),
        &keeping_reader(index, rule, 0),
    )
}

/// Returns the origins and offspring of a session or agent, and read errors.
///
/// The session itself is open already; of its project only the other sessions are read, for an agent nothing.
pub fn survey_family(
    index: &HistoryCache,
    project: Project,
    (file, history): (&HistoryFile, &History),
    rule: ResumeRule,
    on_read: &(dyn Fn(u64) + Sync),
) -> (SessionRelations, Vec<PathError>) {
    if file.role != FileRole::Session {
        let session = parent_session(file, history.session.facts());
        let session = session.filter(|_| file.role.is_agent());
        return (family_of_agent(session, project.session_files()), Vec::new());
    }
    // Cached data of files has more, and costs less, than a search through them.
    if index.dir().is_none() && is_unrelated(&project, file, history) {
        project.session_files().for_each(|other| on_read(other.bytes));
        return (family::lone_family(&project.dir, &file.id, &history.session), Vec::new());
    }
    let own = SurveyedFile::new(file.clone(), SessionDigest::new(history));
    let known = Survey {
        projects: vec![assemble_project(
            Project { files: Vec::new(), ..project.clone() },
            vec![own],
        )],
        problems: Vec::new(),
    };
    let listing = ProjectListing { projects: vec![project], problems: Vec::new() };
    let wants = SurveyRequest { agents: false, ..SurveyRequest::digests_only(rule) };
    let look = keeping_reader(index, rule, 0);
    let survey = survey_listing(index, wants, &known, listing, &report_sizes(on_read), &look);
    (survey.family_of(&file.path), survey.problems)
}

/// Whether no other session of a project has to do with one. What cannot be read may have.
fn is_unrelated(project: &Project, file: &HistoryFile, history: &History) -> bool {
    let search = RelatedFileSearch::new(file, history);
    let mut others = project.session_files().filter(|other| other.path != file.path);
    !others.any(|other| search.may_be_related(other).unwrap_or(true))
}

/// Reads every file of a listing, and keeps parsed histories for callers that read bodies next, within a limit.
pub fn survey_keeping_histories(
    index: &HistoryCache,
    listing: ProjectListing,
    rule: ResumeRule,
    on_read: &(dyn Fn(u64) + Sync),
) -> Survey {
    let look = keeping_reader(index, rule, MAX_KEPT_RECORDS);
    survey_listing(
        index,
        SurveyRequest::digests_only(rule),
        &Survey::default(),
        listing,
        &report_sizes(on_read),
        &look,
    )
}

/// Like [`survey_files`], and adds up what messages used. Digests of an earlier survey by the same rule are
/// shared, not duplicated.
pub fn survey_usage(
    index: &HistoryCache,
    earlier: &Survey,
    listing: ProjectListing,
    rule: ResumeRule,
    prices: &PriceList,
    on_read: &(dyn Fn(u64) + Sync),
) -> Survey {
    let wants = SurveyRequest::and(rule, SurveyExtra::Accounts(prices.fingerprint()));
    survey_listing(index, wants, earlier, listing, &report_sizes(on_read), &|file, digest| {
        let history = History::new(index.read_session_with_usage(&file.path)?, rule);
        let account = Some(Arc::new(FileUsage::new(&history, prices)));
        Ok(SurveyedFile {
            account,
            ..SurveyedFile::new(file.clone(), digest_or_new(digest, &history))
        })
    })
}

/// Like [`survey_files`], and collects the activity that charts show.
pub fn survey_activity(
    index: &HistoryCache,
    listing: ProjectListing,
    rule: ResumeRule,
    on_read: &(dyn Fn(u64) + Sync),
) -> Survey {
    let wants = SurveyRequest::and(rule, SurveyExtra::Activities);
    survey_extra(index, wants, listing, on_read, Session::with_activity, &|history, surveyed| {
        surveyed.activity = Some(Arc::new(Activity::new(history)));
    })
}

/// Like [`survey_files`], and inspects each file thoroughly.
pub fn survey_inspection(
    index: &HistoryCache,
    listing: ProjectListing,
    rule: ResumeRule,
    on_read: &(dyn Fn(u64) + Sync),
) -> Survey {
    let wants = SurveyRequest::and(rule, SurveyExtra::Inspections);
    survey_extra(index, wants, listing, on_read, Session::with_inspection, &|history, surveyed| {
        let file = &surveyed.file;
        let own = (file.role == FileRole::Session).then_some(&*file.id);
        surveyed.inspection = Some(Arc::new(Inspection::new(history, own)));
    })
}

/// Surveys files and adds something to each that only some commands need.
fn survey_extra(
    index: &HistoryCache,
    wants: SurveyRequest,
    listing: ProjectListing,
    on_read: &(dyn Fn(u64) + Sync),
    new_session: fn() -> Session,
    add_extra: &(dyn Fn(&History, &mut SurveyedFile) + Sync),
) -> Survey {
    let rule = wants.rule;
    let report = report_sizes(on_read);
    survey_listing(index, wants, &Survey::default(), listing, &report, &|file, digest| {
        let history = History::new(read_session_as(new_session(), &file.path)?, rule);
        let mut surveyed = SurveyedFile::new(file.clone(), digest_or_new(digest, &history));
        add_extra(&history, &mut surveyed);
        Ok(surveyed)
    })
}

fn digest_or_new(digest: Option<&Arc<SessionDigest>>, history: &History) -> Arc<SessionDigest> {
    digest.cloned().unwrap_or_else(|| Arc::new(SessionDigest::new(history)))
}

/// Reads a file whose digest may already be available.
type ReadFile<'a> = dyn Fn(&HistoryFile, Option<&Arc<SessionDigest>>) -> Result<SurveyedFile, PathError>
    + Sync
    + 'a;

/// Reports the size of each file.
fn report_sizes(
    on_read: &(dyn Fn(u64) + Sync),
) -> impl Fn(&HistoryFile, Option<&SurveyedFile>) + Sync {
    |file, _| on_read(file.bytes)
}

/// Returns a reader that keeps parsed histories until they have `room` records together.
fn keeping_reader(
    index: &HistoryCache,
    rule: ResumeRule,
    room: usize,
) -> impl Fn(&HistoryFile, Option<&Arc<SessionDigest>>) -> Result<SurveyedFile, PathError> + Sync {
    let kept = AtomicUsize::new(0);
    move |file, _| {
        let history = History::new(index.read_session(&file.path)?, rule);
        let records = history.session.records().len();
        let digest = SessionDigest::new(&history);
        let keeps = file.role == FileRole::Session
            && kept.fetch_add(records, Ordering::Relaxed) + records <= room;
        let history = keeps.then(|| Arc::new(history));
        Ok(SurveyedFile { history, ..SurveyedFile::new(file.clone(), digest) })
    }
}

fn survey_listing(
    index: &HistoryCache,
    wants: SurveyRequest,
    earlier: &Survey,
    listing: ProjectListing,
    on_file: &(dyn Fn(&HistoryFile, Option<&SurveyedFile>) + Sync),
    look: &ReadFile<'_>,
) -> Survey {
    let ProjectListing { projects, mut problems } = listing;
    let known = earlier_files(earlier);
    let mut remembered: Vec<CachedProject> = projects
        .into_par_iter()
        .with_max_len(1)
        .map(|project| CachedProject::load(index, wants, project, &known, on_file))
        .collect();
    // Without a cache, everything is read.
    let mut fresh: Vec<Vec<FreshFile>> = match index.dir() {
        Some(_) => take_stored(wants, &mut remembered, on_file),
        None => remembered.iter().map(|_| Vec::new()).collect(),
    };
    let mut unread: Vec<(usize, &UnreadFile)> = remembered
        .iter()
        .enumerate()
        .flat_map(|(at, project)| project.unread.iter().map(move |file| (at, file)))
        .collect();
    // Largest first, so that no thread is still busy with a large file at the end.
    unread.sort_by_key(|(_, unread)| std::cmp::Reverse(unread.file.bytes));
    let read: Vec<(usize, Result<FreshFile, PathError>)> = unread
        .par_iter()
        .with_max_len(1)
        .map(|(at, unread)| {
            let surveyed = look(&unread.file, unread.digest.as_ref());
            on_file(&unread.file, surveyed.as_ref().ok());
            let fresh = |surveyed| FreshFile { surveyed, had_digest: unread.digest.is_some() };
            (*at, surveyed.map(fresh))
        })
        .collect();
    for (at, surveyed) in read {
        match surveyed {
            Ok(surveyed) => fresh[at].push(surveyed),
            Err(problem) => problems.push(problem),
        }
    }
    let together: Vec<(CachedProject, Vec<FreshFile>)> =
        remembered.into_iter().zip(fresh).collect();
    save_projects(index, &together);
    let projects = together
        .into_par_iter()
        .map(|(remembered, fresh)| {
            let mut files = remembered.files;
            files.extend(fresh.into_iter().map(|fresh| fresh.surveyed));
            assemble_project(remembered.project, files)
        })
        .collect();
    problems.sort_by(|a, b| a.path.cmp(&b.path));
    Survey { projects, problems }
}

/// Returns the files of an earlier survey by path.
fn earlier_files(earlier: &Survey) -> FxHashMap<&Path, &SurveyedFile> {
    let lists = earlier.projects.iter().flat_map(ProjectSurvey::all_files);
    lists.map(|one| (&*one.file.path, one)).collect()
}

fn assemble_project(project: Project, mut files: Vec<SurveyedFile>) -> ProjectSurvey {
    // Names that are not UTF-8 may have the same lossy form, so compare paths too.
    files.sort_by(|a, b| (&a.file.relative, &a.file.path).cmp(&(&b.file.relative, &b.file.path)));
    let mut summaries = ProjectSummaries::default();
    for SurveyedFile { file, digest, .. } in &files {
        summaries.add_digest(digest, time_from_system(file.modified));
    }
    let elsewhere = names_elsewhere(&files);
    let digests = files.iter().map(|found| (&found.file, &found.digest)).collect();
    let path = find_project_path(&project.name, digests, |_, digest| {
        digest.facts.cwd.as_deref().map(str::to_owned)
    });
    let mut survey = ProjectSurvey {
        path,
        name: project.name,
        dir: project.dir,
        sessions: Vec::new(),
        agents: Vec::new(),
        journals: Vec::new(),
        summaries,
    };
    for mut found in files {
        let missing = found.digest.missing_parents.iter();
        let missing = missing.filter(|missing| !elsewhere.contains(&missing.parent));
        found.orphans = missing.filter_map(|missing| missing.defect.clone()).collect();
        let list = match found.file.role {
            FileRole::Session => &mut survey.sessions,
            FileRole::Journal { .. } => &mut survey.journals,
            FileRole::FlatAgent | FileRole::NestedAgent { .. } => &mut survey.agents,
        };
        list.push(found);
    }
    survey
}

/// Returns the uuids of missing parents that exist in another file of the project (R5).
fn names_elsewhere(files: &[SurveyedFile]) -> FxHashSet<RecordUuid> {
    let wanted: FxHashSet<RecordUuid> = files
        .iter()
        .flat_map(|found| found.digest.missing_parents.iter().map(|missing| missing.parent))
        .collect();
    if wanted.is_empty() {
        return FxHashSet::default();
    }
    let names = files.iter().flat_map(|found| &found.digest.chain.uuids);
    names.filter(|name| wanted.contains(name)).copied().collect()
}

/// Returns the working directory of a project without a survey, from the beginnings of as few files as possible.
pub fn read_project_path(project: &Project) -> Option<String> {
    let files: Vec<(&HistoryFile, ())> = project.files.iter().map(|file| (file, ())).collect();
    find_project_path(&project.name, files, |file, ()| read_working_dir(&file.path).ok().flatten())
}

/// Finds the working directory of a project: the `cwd` of the file written last whose `cwd` encodes to the project's
/// name, or else of the file written last. Sessions come before other files.
fn find_project_path<T>(
    name: &str,
    mut files: Vec<(&HistoryFile, T)>,
    working_dir: impl Fn(&HistoryFile, T) -> Option<String>,
) -> Option<String> {
    files.sort_by_key(|(file, _)| {
        let is_other = file.role != FileRole::Session;
        (is_other, std::cmp::Reverse(file.modified), &file.relative)
    });
    let mut newest = None;
    for (file, known) in files {
        match working_dir(file, known) {
            Some(path) if is_encoded_path(name, &path) => return Some(path),
            path => newest = newest.or(path),
        }
    }
    newest
}

/// Converts a file time to a record time.
pub fn time_from_system(time: SystemTime) -> Time {
    let millis = match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_millis()).unwrap_or(i64::MAX),
        Err(before) => -i64::try_from(before.duration().as_millis()).unwrap_or(i64::MAX),
    };
    Time::from_millis(millis)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use testkit::TestHome;

    use super::*;
    use crate::claude_dir::ClaudeDirs;

    fn surveyed(home: &TestHome, index: &HistoryCache) -> (Survey, u64) {
        let read = AtomicU64::new(0);
        let listing = ClaudeDirs::open(vec![home.claude_dir()]).unwrap().list_projects();
        let survey = survey_files(index, listing, ResumeRule::Client, &|bytes| {
            read.fetch_add(bytes, Ordering::Relaxed);
        });
        (survey, read.into_inner())
    }

    #[test]
    fn sessions_agents_and_journals_are_distinguished() {
        let home = TestHome::new();
        home.write_session(
            "-p/s1.jsonl",
            "a user hello\nb < a assistant hi\nc < a assistant hi again",
        );
        home.write_session("-p/s1/subagents/agent-a1.jsonl", "x side-user look");
        home.write_file("-p/s1/subagents/workflows/wf_1/journal.jsonl", "{\"type\":\"started\"}\n");
        let (survey, _) = surveyed(&home, &HistoryCache::disabled());
        let [project] = &survey.projects[..] else { panic!("{survey:?}") };
        let ids = |files: &[SurveyedFile]| {
            files.iter().map(|one| one.file.id.clone()).collect::<Vec<_>>()
        };
        assert_eq!(ids(&project.sessions), ["s1"]);
        assert_eq!(ids(&project.agents), ["a1"]);
        assert_eq!(ids(&project.journals), ["journal"]);
        assert_eq!(project.agents[0].parent_session(), Some("s1"));
        assert_eq!(project.sessions[0].digest.conversations.len(), 2);
    }

    #[test]
    fn a_parent_in_another_session_is_no_orphan() {
        let home = TestHome::new();
        home.write_session("-p/s1.jsonl", "a user hello\nb < a assistant hi");
        home.write_session("-p/s2.jsonl", "c < b user on\nd < c assistant yes");
        home.write_session("-p/s3.jsonl", "e < nowhere user lost\nf < e assistant yes");
        home.write_session("-q/s4.jsonl", "g < b user another project\nh < g assistant yes");
        let (survey, _) = surveyed(&home, &HistoryCache::disabled());
        let sessions = survey.projects.iter().flat_map(|project| &project.sessions);
        let orphans: Vec<(&str, usize)> =
            sessions.map(|session| (&*session.file.id, session.orphans.len())).collect();
        assert_eq!(orphans, [("s1", 0), ("s2", 0), ("s3", 1), ("s4", 1)]);
    }

    /// Asks for the family of each file alone, and of all at once; returns how many relatives there are.
    #[track_caller]
    fn check_families(home: &TestHome) -> usize {
        let index = HistoryCache::disabled();
        let mut relatives = 0;
        for project in ClaudeDirs::open(vec![home.claude_dir()]).unwrap().list_projects().projects {
            let listing = ProjectListing { projects: vec![project.clone()], problems: Vec::new() };
            let whole = survey_files(&index, listing, ResumeRule::Client, &|_| {});
            for file in &project.files {
                let history =
                    History::new(index.read_session(&file.path).unwrap(), ResumeRule::Client);
                let own = (file, &history);
                let (family, problems) =
                    survey_family(&index, project.clone(), own, ResumeRule::Client, &|_| {});
                assert_eq!(family, whole.family_of(&file.path), "{}", file.relative);
                assert!(problems.is_empty());
                relatives += family.origins.len() + family.offspring.len();
            }
        }
        relatives
    }

    #[test]
    fn the_family_of_an_open_session_is_that_of_a_survey_of_its_project() {
        let home = TestHome::new();
        testkit::write_corpus(&home, 5, 12);
        assert!(check_families(&home) > 0, "the corpus has related sessions");
    }

    #[test]
    fn a_session_that_names_only_a_record_of_another_is_its_relative() {
        let home = TestHome::new();
        home.write_session("-p/s1.jsonl", "a user hello\nb < a assistant hi");
        home.write_session("-p/s2.jsonl", "c user something else\nd < c assistant yes");
        assert_eq!(check_families(&home), 0);
        // The one that is named is an origin, the other an offspring.
        home.write_session("-p/s3.jsonl", "e < b user on\nf < e assistant yes");
        assert_eq!(check_families(&home), 2);
        home.write_session("-p/s4.jsonl", "g < nowhere user lost\nh < g assistant yes");
        home.write_session("-q/s5.jsonl", "i < b user another project\nj < i assistant yes");
        assert_eq!(check_families(&home), 2);
    }

    #[test]
    fn the_path_of_a_project_is_the_same_with_and_without_a_survey() {
        let home = TestHome::new();
        let record = |cwd: &str| {
            format!(
                r#"{{"type":"user","uuid":"{cwd}","cwd":"{cwd}","message":{{"role":"user","content":"x"}}}}"#
            ) + "\n"
        };
        let summary = r#"{"type":"summary","summary":"s","leafUuid":"x"}"#;
        let write = |name: &str, text: &str, age: u64| {
            let path = home.write_file(name, text);
            let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000 - age);
            std::fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
        };
        write("-srv-app/new.jsonl", &record("/elsewhere"), 1);
        write("-srv-app/old.jsonl", &format!("{summary}\n{}", record("/srv/app")), 2);
        write("-gone/old.jsonl", &record("/first"), 2);
        write("-gone/new.jsonl", &(record("/second") + &record("/third")), 1);
        write("-gone/new/subagents/agent-a1.jsonl", &record("/agent"), 0);
        write("-empty/s.jsonl", summary, 0);
        let (survey, _) = surveyed(&home, &HistoryCache::disabled());
        let paths: Vec<Option<&str>> =
            survey.projects.iter().map(|project| project.path.as_deref()).collect();
        assert_eq!(paths, [None, Some("/second"), Some("/srv/app")]);
        let listing = ClaudeDirs::open(vec![home.claude_dir()]).unwrap().list_projects();
        let read: Vec<Option<String>> = listing.projects.iter().map(read_project_path).collect();
        assert!(read.iter().map(Option::as_deref).eq(paths), "{read:?}");
    }

    #[test]
    fn every_file_is_reported_once_whether_it_is_read_or_not() {
        let home = TestHome::new();
        testkit::write_corpus(&home, 3, 6);
        let listing = ClaudeDirs::open(vec![home.claude_dir()]).unwrap().list_projects();
        let files = listing.projects.iter().flat_map(|project| &project.files);
        let all: u64 = files.map(|file| file.bytes).sum();
        assert_eq!(surveyed(&home, &HistoryCache::disabled()).1, all);
    }
}
