//! Reads all files of a listing in parallel and keeps a digest of each.
//!
//! Files that have not changed come from an earlier survey or from the cache.

mod count;
mod family;
mod remembered;

pub use count::{Counted, MostComplex, count};

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use ramus_core::activity::Activity;
use ramus_core::defect::Defect;
use ramus_core::digest::{Digest, Listed};
use ramus_core::history::{AgentClass, History};
use ramus_core::inspect::Inspection;
use ramus_core::lineage::SessionEntry;
use ramus_core::link::{Family, LinkKind, Relative};
use ramus_core::name::Name;
use ramus_core::price::PriceList;
use ramus_core::resume::Rule;
use ramus_core::session::{Facts, Session};
use ramus_core::time::Time;
use ramus_core::title::Summaries;
use ramus_core::usage::Account;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::PathError;
use crate::index::Index;
use crate::place::{FileRole, HistoryFile, Listing, Project, is_encoded};
use crate::read::read_as;
use crate::repository::{Repository, repositories};
use family::Kin;
use remembered::{Fresh, More, Remembered, Unread, Wants, remember};

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
    pub sessions: Vec<Surveyed>,
    pub agents: Vec<Surveyed>,
    /// Other files below the sessions' directories, such as workflow journals.
    pub journals: Vec<Surveyed>,
    pub summaries: Summaries,
}

/// One file with its digest.
#[derive(Debug)]
pub struct Surveyed {
    pub file: HistoryFile,
    pub digest: Arc<Digest>,
    /// Nodes whose parent is in no session of the project (R5).
    pub orphans: Vec<Defect>,
    /// The parsed history; only set by [`survey_keeping`].
    pub history: Option<Arc<History>>,
    /// The tokens and cost of its messages (R20); only set by [`survey_usage`].
    pub account: Option<Arc<Account>>,
    /// Its activity; only set by [`survey_activity`].
    pub activity: Option<Arc<Activity>>,
    /// The result of a thorough inspection; only set by [`survey_inspection`].
    pub inspection: Option<Arc<Inspection>>,
}

/// The number of records that are kept in memory, about 80 MB.
const KEPT: usize = 250_000;

impl Surveyed {
    pub(crate) fn new(file: HistoryFile, digest: impl Into<Arc<Digest>>) -> Self {
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

    /// Returns the facts that tell an original from a copy.
    pub fn entry(&self) -> SessionEntry<'_> {
        let created = self.file.created.map(to_time);
        SessionEntry { id: &self.file.id, digest: &self.digest, created }
    }

    /// Whether an agent did more than a warm-up.
    fn is_at_work(&self) -> bool {
        self.digest.agent_class != AgentClass::Warmup
    }

    /// Returns everything wrong with the file.
    pub fn defects(&self) -> impl Iterator<Item = &Defect> {
        self.digest.defects.iter().chain(&self.orphans)
    }
}

/// Returns the session that an agent's file belongs to.
fn parent_session<'a>(file: &'a HistoryFile, facts: &'a Facts) -> Option<&'a str> {
    match &file.role {
        FileRole::NestedAgent { session } | FileRole::Journal { session } => Some(session),
        FileRole::FlatAgent => facts.session_ids.first().map(|id| &**id),
        FileRole::Session => None,
    }
}

fn family_of_agent<'a>(
    session: Option<&str>,
    mut sessions: impl Iterator<Item = &'a HistoryFile>,
) -> Family {
    let origin = |id: &str| Relative {
        kind: LinkKind::Agent,
        session: Some(id.into()),
        is_found: sessions.any(|session| session.id == *id),
    };
    Family { origins: session.map(origin).into_iter().collect(), offspring: Vec::new() }
}

impl ProjectSurvey {
    /// Returns all files: sessions, agents and the rest.
    pub fn files(&self) -> impl Iterator<Item = &Surveyed> {
        self.sessions.iter().chain(&self.agents).chain(&self.journals)
    }

    /// Returns the agents that a session started, warm-ups among them.
    pub fn agents_of<'a>(&'a self, session: &'a str) -> impl Iterator<Item = &'a Surveyed> {
        self.agents.iter().filter(move |agent| agent.parent_session() == Some(session))
    }

    /// Returns how many agents each session started, without warm-ups. Sessions without agents are not included.
    pub fn agent_counts(&self) -> FxHashMap<&str, usize> {
        let mut counts = FxHashMap::default();
        for agent in self.agents.iter().filter(|agent| agent.is_at_work()) {
            if let Some(session) = agent.parent_session() {
                *counts.entry(session).or_default() += 1;
            }
        }
        counts
    }

    /// Returns list entries for all sessions, with the sessions each is linked to.
    fn linked(&self, kin: Kin) -> impl Iterator<Item = Listed<'_>> {
        let mut links = kin.links.into_iter().peekable();
        let agents = self.agent_counts();
        let sessions = self.sessions.iter().zip(kin.families).enumerate();
        sessions.map(move |(index, (session, family))| {
            let own = std::iter::from_fn(|| links.next_if(|link| link.from == index));
            let links = own.map(|link| (link.kind, &*self.sessions[link.to].file.id)).collect();
            let agents = agents.get(&*session.file.id).copied().unwrap_or_default();
            Listed { links, family, agents, ..self.row(session) }
        })
    }

    /// Returns the agents whose session no longer has a file, each with that session's id, without
    /// warm-ups.
    pub fn lost_agents(&self) -> impl Iterator<Item = (&str, &Surveyed)> {
        let ids: FxHashSet<&str> = self.sessions.iter().map(|session| &*session.file.id).collect();
        let agents = self.agents.iter().filter(|agent| agent.is_at_work());
        let started = agents.filter_map(|agent| Some((agent.parent_session()?, agent)));
        started.filter(move |(session, _)| !ids.contains(session))
    }

    /// Returns where an agent came from.
    pub fn family_of_agent(&self, agent: &Surveyed) -> Family {
        let sessions = self.sessions.iter().map(|session| &session.file);
        family_of_agent(agent.parent_session(), sessions)
    }

    /// Returns the list entry of a session, without its links.
    pub fn listed<'a>(&'a self, session: &'a Surveyed) -> Listed<'a> {
        let agents = self.agents_of(&session.file.id).filter(|agent| agent.is_at_work()).count();
        Listed { agents, ..self.row(session) }
    }

    fn row<'a>(&'a self, session: &'a Surveyed) -> Listed<'a> {
        Listed {
            id: &session.file.id,
            file: &session.file.relative,
            project: &self.name,
            bytes: session.file.bytes,
            digest: &session.digest,
            summaries: &self.summaries,
            agents: 0,
            defects: session.defects().count(),
            links: Vec::new(),
            family: Family::default(),
            class: session.digest.class.word(),
            repository: None,
            deleted_after: None,
        }
    }
}

impl Survey {
    /// Returns the git repository of each project, if it can be found on disk.
    pub fn repositories(&self) -> Vec<Option<Repository>> {
        let dirs: Vec<Option<&str>> = self.projects.iter().map(|one| one.path.as_deref()).collect();
        repositories(&dirs)
    }

    /// Returns the origins and offspring of all sessions, by project.
    pub fn families(&self) -> Vec<Vec<Family>> {
        family::kin(self).into_iter().map(|kin| kin.families).collect()
    }

    /// Returns the origins and offspring of one session or agent.
    pub fn family_of(&self, file: &Path) -> Family {
        let is_it = |one: &Surveyed| one.file.path == file;
        for (p, project) in self.projects.iter().enumerate() {
            if let Some(s) = project.sessions.iter().position(is_it) {
                return self.families().swap_remove(p).swap_remove(s);
            }
            if let Some(agent) = project.agents.iter().find(|one| is_it(one)) {
                return project.family_of_agent(agent);
            }
        }
        Family::default()
    }

    /// Maps all projects with their index, in parallel.
    pub fn map<T: Send>(self, each: impl Fn(usize, ProjectSurvey) -> T + Sync) -> Vec<T> {
        let projects = self.projects.into_par_iter().with_max_len(1).enumerate();
        projects.map(|(at, project)| each(at, project)).collect()
    }

    /// Maps all sessions in project order, in parallel.
    pub fn list<T: Send>(
        &self,
        each: impl Fn(&ProjectSurvey, &Surveyed, Listed<'_>) -> Option<T> + Sync,
    ) -> Vec<T> {
        let projects = self.projects.par_iter().zip(family::kin(self)).with_max_len(1);
        let rows = projects.flat_map_iter(|(project, kin)| {
            let sessions = project.sessions.iter().zip(project.linked(kin));
            sessions.filter_map(|(session, listed)| each(project, session, listed))
        });
        rows.collect()
    }
}

/// Reads every file of a listing.
///
/// `on_read` gets the size of each file when it has been read. It is called from several
/// threads.
pub fn survey(
    index: &Index,
    listing: Listing,
    rule: Rule,
    on_read: &(dyn Fn(u64) + Sync),
) -> Survey {
    resurvey(index, &Survey::default(), listing, rule, on_read)
}

/// Reads every file of a listing. `each` is called for each file, from several threads: with its
/// digest if the file was read, with `None` if that was not necessary.
pub fn survey_each(
    index: &Index,
    listing: Listing,
    rule: Rule,
    each: &(dyn Fn(&HistoryFile, Option<&Digest>) + Sync),
) -> Survey {
    let told = |file: &HistoryFile, surveyed: Option<&Surveyed>| {
        each(file, surveyed.map(|surveyed| &*surveyed.digest));
    };
    read_all(
        index,
        Wants::digests(rule),
        &Survey::default(),
        listing,
        &told,
        &keeping(index, rule, 0),
    )
}

/// Like [`survey`], but reads only files that changed since an earlier survey by the same rule.
pub fn resurvey(
    index: &Index,
    earlier: &Survey,
    listing: Listing,
    rule: Rule,
    on_read: &(dyn Fn(u64) + Sync),
) -> Survey {
    read_all(
        index,
        Wants::digests(rule),
        earlier,
        listing,
        &sizes(on_read),
        &keeping(index, rule, 0),
    )
}

/// Returns where a session or agent came from and what came out of it, and what could not be read.
///
/// The session itself is open already; of its project only the other sessions are read, for an agent nothing.
pub fn survey_family(
    index: &Index,
    project: Project,
    (file, history): (&HistoryFile, &History),
    rule: Rule,
    on_read: &(dyn Fn(u64) + Sync),
) -> (Family, Vec<PathError>) {
    if file.role != FileRole::Session {
        let session = parent_session(file, history.session.facts());
        let session = session.filter(|_| file.role.is_agent());
        return (family_of_agent(session, project.sessions()), Vec::new());
    }
    let own = Surveyed::new(file.clone(), Digest::new(history));
    let known = Survey {
        projects: vec![project_survey(Project { files: Vec::new(), ..project.clone() }, vec![own])],
        problems: Vec::new(),
    };
    let listing = Listing { projects: vec![project], problems: Vec::new() };
    let wants = Wants { agents: false, ..Wants::digests(rule) };
    let look = keeping(index, rule, 0);
    let survey = read_all(index, wants, &known, listing, &sizes(on_read), &look);
    (survey.family_of(&file.path), survey.problems)
}

/// Reads every file of a listing, keeping the histories of sessions for who reads their bodies next, as long as there is room.
pub fn survey_keeping(
    index: &Index,
    listing: Listing,
    rule: Rule,
    on_read: &(dyn Fn(u64) + Sync),
) -> Survey {
    let look = keeping(index, rule, KEPT);
    read_all(index, Wants::digests(rule), &Survey::default(), listing, &sizes(on_read), &look)
}

/// Like [`survey`], and adds up what messages used. Digests of an earlier survey by the same rule are
/// shared, not duplicated.
pub fn survey_usage(
    index: &Index,
    earlier: &Survey,
    listing: Listing,
    rule: Rule,
    prices: &PriceList,
    on_read: &(dyn Fn(u64) + Sync),
) -> Survey {
    let wants = Wants::and(rule, More::Accounts(prices.fingerprint()));
    read_all(index, wants, earlier, listing, &sizes(on_read), &|file, digest| {
        let history = History::new(index.read_with_uses(&file.path)?, rule);
        let account = Some(Arc::new(Account::new(&history, prices)));
        Ok(Surveyed { account, ..Surveyed::new(file.clone(), known_or_new(digest, &history)) })
    })
}

/// Like [`survey`], and collects the activity that charts show.
pub fn survey_activity(
    index: &Index,
    listing: Listing,
    rule: Rule,
    on_read: &(dyn Fn(u64) + Sync),
) -> Survey {
    let wants = Wants::and(rule, More::Activities);
    read_all(index, wants, &Survey::default(), listing, &sizes(on_read), &|file, digest| {
        let history = History::new(read_as(Session::with_activity(), &file.path)?, rule);
        let activity = Some(Arc::new(Activity::new(&history)));
        Ok(Surveyed { activity, ..Surveyed::new(file.clone(), known_or_new(digest, &history)) })
    })
}

/// Like [`survey`], and inspects each file thoroughly.
pub fn survey_inspection(
    index: &Index,
    listing: Listing,
    rule: Rule,
    on_read: &(dyn Fn(u64) + Sync),
) -> Survey {
    let wants = Wants::and(rule, More::Inspections);
    read_all(index, wants, &Survey::default(), listing, &sizes(on_read), &|file, digest| {
        let history = History::new(read_as(Session::with_inspection(), &file.path)?, rule);
        let own = (file.role == FileRole::Session).then_some(&*file.id);
        let inspection = Some(Arc::new(Inspection::new(&history, own)));
        Ok(Surveyed { inspection, ..Surveyed::new(file.clone(), known_or_new(digest, &history)) })
    })
}

fn known_or_new(digest: Option<&Arc<Digest>>, history: &History) -> Arc<Digest> {
    digest.cloned().unwrap_or_else(|| Arc::new(Digest::new(history)))
}

/// Reads a file whose digest may already be available.
type Look<'a> =
    dyn Fn(&HistoryFile, Option<&Arc<Digest>>) -> Result<Surveyed, PathError> + Sync + 'a;

/// Reports the size of each file.
fn sizes(on_read: &(dyn Fn(u64) + Sync)) -> impl Fn(&HistoryFile, Option<&Surveyed>) + Sync {
    |file, _| on_read(file.bytes)
}

/// Returns a reader that keeps parsed histories until they have `room` records together.
fn keeping(
    index: &Index,
    rule: Rule,
    room: usize,
) -> impl Fn(&HistoryFile, Option<&Arc<Digest>>) -> Result<Surveyed, PathError> + Sync {
    let kept = AtomicUsize::new(0);
    move |file, _| {
        let history = History::new(index.read(&file.path)?, rule);
        let records = history.session.records().len();
        let digest = Digest::new(&history);
        let keeps = file.role == FileRole::Session
            && kept.fetch_add(records, Ordering::Relaxed) + records <= room;
        let history = keeps.then(|| Arc::new(history));
        Ok(Surveyed { history, ..Surveyed::new(file.clone(), digest) })
    }
}

fn read_all(
    index: &Index,
    wants: Wants,
    earlier: &Survey,
    listing: Listing,
    told: &(dyn Fn(&HistoryFile, Option<&Surveyed>) + Sync),
    look: &Look<'_>,
) -> Survey {
    let Listing { projects, mut problems } = listing;
    let known = known(earlier);
    let remembered: Vec<Remembered> = projects
        .into_par_iter()
        .with_max_len(1)
        .map(|project| Remembered::new(index, wants, project, &known, told))
        .collect();
    let mut unread: Vec<(usize, &Unread)> = remembered
        .iter()
        .enumerate()
        .flat_map(|(at, project)| project.unread.iter().map(move |file| (at, file)))
        .collect();
    // Largest first, so that no thread is still busy with a large file at the end.
    unread.sort_by_key(|(_, unread)| std::cmp::Reverse(unread.file.bytes));
    let read: Vec<(usize, Result<Fresh, PathError>)> = unread
        .par_iter()
        .with_max_len(1)
        .map(|(at, unread)| {
            let surveyed = look(&unread.file, unread.digest.as_ref());
            told(&unread.file, surveyed.as_ref().ok());
            let fresh = |surveyed| Fresh { surveyed, again: unread.digest.is_some() };
            (*at, surveyed.map(fresh))
        })
        .collect();
    let mut fresh: Vec<Vec<Fresh>> = remembered.iter().map(|_| Vec::new()).collect();
    for (at, surveyed) in read {
        match surveyed {
            Ok(surveyed) => fresh[at].push(surveyed),
            Err(problem) => problems.push(problem),
        }
    }
    let together: Vec<(Remembered, Vec<Fresh>)> = remembered.into_iter().zip(fresh).collect();
    remember(index, &together);
    let projects = together
        .into_par_iter()
        .map(|(remembered, fresh)| {
            let mut files = remembered.files;
            files.extend(fresh.into_iter().map(|fresh| fresh.surveyed));
            project_survey(remembered.project, files)
        })
        .collect();
    problems.sort_by(|a, b| a.path.cmp(&b.path));
    Survey { projects, problems }
}

/// Returns the files of an earlier survey by path.
fn known(earlier: &Survey) -> FxHashMap<&Path, &Surveyed> {
    let lists = earlier.projects.iter().flat_map(ProjectSurvey::files);
    lists.map(|one| (&*one.file.path, one)).collect()
}

fn project_survey(project: Project, mut files: Vec<Surveyed>) -> ProjectSurvey {
    // Names that are not UTF-8 may have the same lossy form, so compare paths too.
    files.sort_by(|a, b| (&a.file.relative, &a.file.path).cmp(&(&b.file.relative, &b.file.path)));
    let mut summaries = Summaries::default();
    for Surveyed { file, digest, .. } in &files {
        summaries.add(digest, to_time(file.modified));
    }
    let elsewhere = names_elsewhere(&files);
    let mut survey = ProjectSurvey {
        path: project_path(&project.name, &files),
        name: project.name,
        dir: project.dir,
        sessions: Vec::new(),
        agents: Vec::new(),
        journals: Vec::new(),
        summaries,
    };
    for mut found in files {
        let missing = found.digest.missing.iter();
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
fn names_elsewhere(files: &[Surveyed]) -> FxHashSet<Name> {
    let wanted: FxHashSet<Name> = files
        .iter()
        .flat_map(|found| found.digest.missing.iter().map(|missing| missing.parent))
        .collect();
    if wanted.is_empty() {
        return FxHashSet::default();
    }
    let names = files.iter().flat_map(|found| &found.digest.chain.names);
    names.filter(|name| wanted.contains(name)).copied().collect()
}

/// Finds the working directory of a project: the newest `cwd` that encodes to the project's name.
fn project_path(name: &str, files: &[Surveyed]) -> Option<String> {
    let mut sessions: Vec<&Surveyed> =
        files.iter().filter(|found| found.digest.facts.cwd.is_some()).collect();
    sessions.sort_by_key(|found| {
        std::cmp::Reverse((found.digest.facts.last_active, found.file.modified))
    });
    let cwds: Vec<&str> =
        sessions.iter().filter_map(|found| found.digest.facts.cwd.as_deref()).collect();
    cwds.iter().find(|cwd| is_encoded(name, cwd)).or(cwds.first()).map(|cwd| (*cwd).to_owned())
}

/// Converts a file time to a record time.
pub fn to_time(time: SystemTime) -> Time {
    let millis = match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_millis()).unwrap_or(i64::MAX),
        Err(before) => -i64::try_from(before.duration().as_millis()).unwrap_or(i64::MAX),
    };
    Time::from_millis(millis)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use testkit::Home;

    use super::*;
    use crate::place::Place;

    fn surveyed(home: &Home, index: &Index) -> (Survey, u64) {
        let read = AtomicU64::new(0);
        let listing = Place::open(vec![home.claude()]).unwrap().projects();
        let survey = survey(index, listing, Rule::Client, &|bytes| {
            read.fetch_add(bytes, Ordering::Relaxed);
        });
        (survey, read.into_inner())
    }

    #[test]
    fn sessions_agents_and_journals_are_told_apart() {
        let home = Home::new();
        home.session("-p/s1.jsonl", "a user hello\nb < a assistant hi\nc < a assistant hi again");
        home.session("-p/s1/subagents/agent-a1.jsonl", "x side-user look");
        home.write("-p/s1/subagents/workflows/wf_1/journal.jsonl", "{\"type\":\"started\"}\n");
        let (survey, _) = surveyed(&home, &Index::none());
        let [project] = &survey.projects[..] else { panic!("{survey:?}") };
        let ids =
            |files: &[Surveyed]| files.iter().map(|one| one.file.id.clone()).collect::<Vec<_>>();
        assert_eq!(ids(&project.sessions), ["s1"]);
        assert_eq!(ids(&project.agents), ["a1"]);
        assert_eq!(ids(&project.journals), ["journal"]);
        assert_eq!(project.agents[0].parent_session(), Some("s1"));
        assert_eq!(project.sessions[0].digest.conversations.len(), 2);
    }

    #[test]
    fn a_parent_in_another_session_is_no_orphan() {
        let home = Home::new();
        home.session("-p/s1.jsonl", "a user hello\nb < a assistant hi");
        home.session("-p/s2.jsonl", "c < b user on\nd < c assistant yes");
        home.session("-p/s3.jsonl", "e < nowhere user lost\nf < e assistant yes");
        home.session("-q/s4.jsonl", "g < b user another project\nh < g assistant yes");
        let (survey, _) = surveyed(&home, &Index::none());
        let sessions = survey.projects.iter().flat_map(|project| &project.sessions);
        let orphans: Vec<(&str, usize)> =
            sessions.map(|session| (&*session.file.id, session.orphans.len())).collect();
        assert_eq!(orphans, [("s1", 0), ("s2", 0), ("s3", 1), ("s4", 1)]);
    }

    #[test]
    fn the_family_of_an_open_session_is_that_of_a_survey_of_its_project() {
        let home = Home::new();
        testkit::corpus(&home, 5, 12);
        let index = Index::none();
        let mut relatives = 0;
        for project in Place::open(vec![home.claude()]).unwrap().projects().projects {
            let listing = Listing { projects: vec![project.clone()], problems: Vec::new() };
            let whole = survey(&index, listing, Rule::Client, &|_| {});
            for file in &project.files {
                let history = History::new(index.read(&file.path).unwrap(), Rule::Client);
                let own = (file, &history);
                let (family, problems) =
                    survey_family(&index, project.clone(), own, Rule::Client, &|_| {});
                assert_eq!(family, whole.family_of(&file.path), "{}", file.relative);
                assert!(problems.is_empty());
                relatives += family.origins.len() + family.offspring.len();
            }
        }
        assert!(relatives > 0, "the corpus has related sessions");
    }

    #[test]
    fn every_file_is_reported_once_whether_it_is_read_or_not() {
        let home = Home::new();
        testkit::corpus(&home, 3, 6);
        let listing = Place::open(vec![home.claude()]).unwrap().projects();
        let files = listing.projects.iter().flat_map(|project| &project.files);
        let all: u64 = files.map(|file| file.bytes).sum();
        assert_eq!(surveyed(&home, &Index::none()).1, all);
    }
}
