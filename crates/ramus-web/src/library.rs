//! The histories that are served: listed and read when asked for, kept while they do not change.

use std::collections::BTreeSet;
use std::path::{Path as FilePath, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use jiff::tz::TimeZone;
use ramus_core::digest::Digest;
use ramus_core::history::History;
use ramus_core::price::{DATE, PriceList};
use ramus_core::resume::Rule;
use ramus_core::title::{Summaries, session_title};
use ramus_render::json;
use ramus_store::ledger::Ledger;
use ramus_store::place::{FileRole, HistoryFile, Place, Project};
use ramus_store::survey::{ProjectSurvey, Survey, resurvey, survey_usage, to_time};
use xxhash_rust::xxh3::Xxh3;

use crate::error::ApiError;
use crate::transcript::Transcript;

/// How long a listing of the directories is good for.
const FRESH: Duration = Duration::from_secs(2);
/// How many sessions and how many of their paths are kept in memory in any case, and how many if their
/// files are small together: many pages may follow as many sessions.
const KEPT: usize = 4;
const KEPT_SMALL: usize = 64;
const KEPT_BYTES: u64 = 64 * 1024 * 1024;

/// The Claude directories and what was read of them.
#[derive(Debug)]
pub struct Library {
    pub place: Place,
    pub rule: Rule,
    listed: Mutex<Option<(Made, Arc<Vec<Project>>)>>,
    surveyed: Arc<Surveyed>,
    open: Mutex<Vec<Opened>>,
    /// Held while a session is read: a page asks for several things of it at once.
    reading: Mutex<()>,
    paths: Mutex<Vec<Kept>>,
    prices: (PriceList, json::Prices),
    /// What was used, as it is told, and which files told so.
    used: Mutex<Option<(u64, Bytes)>>,
}

/// All files in short.
#[derive(Debug, Default)]
struct Surveyed {
    /// The last survey and when it was made; held while a new one is made.
    last: Mutex<Option<(Made, Arc<Survey>)>>,
    /// The same, for those who do not wait.
    known: Mutex<Option<Arc<Survey>>>,
    /// How often something was heard of that changed on disk.
    changes: AtomicU64,
}

/// When something was read, and how many changes were known by then.
#[derive(Clone, Copy, Debug)]
struct Made {
    at: Instant,
    changes: u64,
}

impl Surveyed {
    fn now(&self) -> Made {
        Made { at: Instant::now(), changes: self.changes.load(Ordering::Relaxed) }
    }

    fn is_fresh(&self, made: Made) -> bool {
        made.at.elapsed() < FRESH && made.changes == self.changes.load(Ordering::Relaxed)
    }
}

#[derive(Debug)]
struct Opened {
    file: HistoryFile,
    history: Arc<History>,
}

#[derive(Debug)]
struct Kept {
    file: PathBuf,
    bytes: u64,
    leaf: String,
    history: Arc<History>,
    transcript: Arc<Transcript>,
}

/// A session's or an agent's file, found by its id.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) projects: Arc<Vec<Project>>,
    pub(crate) project: usize,
    pub(crate) file: HistoryFile,
    /// The id it was found by, without the project: `agent-` stands before that of an agent.
    pub(crate) id: String,
}

impl Found {
    pub(crate) fn project(&self) -> &Project {
        &self.projects[self.project]
    }
}

/// A panic elsewhere leaves nothing half done in here: what is kept is replaced whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Library {
    pub fn new(place: Place, rule: Rule) -> Self {
        Self {
            place,
            rule,
            listed: Mutex::default(),
            surveyed: Arc::default(),
            open: Mutex::default(),
            reading: Mutex::default(),
            paths: Mutex::default(),
            prices: (
                PriceList::default(),
                json::Prices { date: DATE, file: None, file_date: None },
            ),
            used: Mutex::default(),
        }
    }

    /// Takes other prices than those that are built in.
    pub fn priced(self, list: PriceList, told: json::Prices) -> Self {
        Self { prices: (list, told), ..self }
    }

    /// Returns what tokens cost.
    pub(crate) fn prices(&self) -> &PriceList {
        &self.prices.0
    }

    /// Begins to read everything in short, so that the first page need not wait for it.
    pub(crate) fn warm_up(&self) {
        let (place, rule, surveyed) = (self.place.clone(), self.rule, self.surveyed.clone());
        tokio::task::spawn_blocking(move || {
            survey(&place, rule, &surveyed);
            place.index.sketch_aside(&place.projects().projects);
        });
    }

    /// Looks at the directories again when the next one asks.
    pub(crate) fn forget(&self) {
        // Waits for nobody: whoever tells of changes must not stand behind a survey that runs.
        self.surveyed.changes.fetch_add(1, Ordering::Relaxed);
    }

    /// Lists the projects and their files.
    pub(crate) fn projects(&self) -> Arc<Vec<Project>> {
        let mut listed = lock(&self.listed);
        match &*listed {
            Some((made, projects)) if self.surveyed.is_fresh(*made) => projects.clone(),
            _ => {
                let made = self.surveyed.now();
                let projects = Arc::new(self.place.projects().projects);
                *listed = Some((made, projects.clone()));
                projects
            }
        }
    }

    /// Returns every file in short; what did not change is not read again.
    pub(crate) fn survey(&self) -> Arc<Survey> {
        survey(&self.place, self.rule, &self.surveyed)
    }

    /// Returns the last survey, if there is one already; it may be a little old.
    pub(crate) fn surveyed(&self) -> Option<Arc<Survey>> {
        lock(&self.surveyed.known).clone()
    }

    /// Adds up what was used and returns it as JSON; all files are read for it, unless they are as
    /// they were.
    pub(crate) fn usage(&self) -> Result<Bytes, ApiError> {
        let mut used = lock(&self.used);
        let listing = self.place.projects();
        let files = listing.projects.iter().flat_map(|project| &project.files);
        let mut hash = Xxh3::new();
        for file in files {
            hash.update(file.path.as_os_str().as_encoded_bytes());
            hash.update(&file.bytes.to_le_bytes());
            hash.update(&to_time(file.modified).millis().to_le_bytes());
        }
        let now = hash.digest();
        if let Some((then, usage)) = &*used
            && *then == now
        {
            return Ok(usage.clone());
        }
        let (prices, told) = &self.prices;
        let survey =
            survey_usage(&self.place.index, &self.survey(), listing, self.rule, prices, &|_| {});
        let ledger = Ledger::new(&survey, |_| true, false);
        let zone = TimeZone::system();
        let usage = json::usage(&ledger.books, &ledger.owners(), told.clone(), &zone);
        let answer = serde_json::to_vec(&json::Answer::new("ramus.usage/1", usage));
        let answer = Bytes::from(answer.map_err(|error| ApiError::bad(error.to_string()))?);
        *used = Some((now, answer.clone()));
        Ok(answer)
    }

    /// Finds a session or an agent by its whole id, or by `ID~PROJECT` where several projects have one
    /// of that id.
    pub(crate) fn find(&self, address: &str) -> Result<Found, ApiError> {
        let projects = self.projects();
        let mut id = address;
        let mut found = of_id(&projects, id);
        if let Some((before, name)) = address.split_once('~').filter(|_| found.is_empty()) {
            id = before;
            found = of_id(&projects, id);
            found.retain(|(project, _)| projects[*project].name == name);
        }
        if found.len() > 1 {
            self.leave_hidden(&mut found);
        }
        let names: BTreeSet<&str> =
            found.iter().map(|(project, _)| &*projects[*project].name).collect();
        // Agents come along with a fork as they are: any copy of one tells the same.
        if names.len() > 1 && !id.starts_with("agent-") {
            return Err(ApiError::ambiguous(id, &names));
        }
        // Of copies in one project the one that was written last is meant.
        let newest = found.into_iter().max_by_key(|(_, file)| file.modified);
        let (project, listed) = newest.ok_or_else(|| ApiError::not_found("session"))?;
        let file = HistoryFile {
            role: listed.role.clone(),
            relative: listed.relative.clone(),
            ..HistoryFile::at(&listed.path)?
        };
        let id = id.to_owned();
        Ok(Found { projects, project, file, id })
    }

    /// Leaves out what no list shows (R18), unless there is nothing else.
    fn leave_hidden(&self, found: &mut Vec<(usize, &HistoryFile)>) {
        let survey = self.surveyed().unwrap_or_else(|| self.survey());
        let sessions = survey.projects.iter().flat_map(|project| &project.sessions);
        let hidden: Vec<&FilePath> = sessions
            .filter(|session| session.digest.class.is_hidden())
            .map(|session| &*session.file.path)
            .collect();
        let is_shown = |file: &HistoryFile| !hidden.contains(&&*file.path);
        if found.iter().any(|(_, file)| is_shown(file)) {
            found.retain(|(_, file)| is_shown(file));
        }
    }

    /// Reads a session, unless it is known as it is now.
    pub(crate) fn read(&self, file: &HistoryFile) -> Result<Arc<History>, ApiError> {
        let known = || {
            let open = lock(&self.open);
            open.iter().find(|known| known.file == *file).map(|known| known.history.clone())
        };
        if let Some(history) = known() {
            return Ok(history);
        }
        let _one_at_a_time = lock(&self.reading);
        if let Some(history) = known() {
            return Ok(history);
        }
        let history = Arc::new(History::new(self.place.index.read(&file.path)?, self.rule));
        let mut open = lock(&self.open);
        open.retain(|known| known.file.path != file.path);
        open.insert(0, Opened { file: file.clone(), history: history.clone() });
        let kept = kept(open.iter().map(|opened| opened.file.bytes));
        open.truncate(kept);
        Ok(history)
    }

    /// Sums a session up, with the titles that other sessions gave it (R15), if they are known yet.
    pub(crate) fn told(&self, found: &Found, history: &History) -> (Digest, Summaries) {
        let digest = Digest::new(history);
        let mut summaries = Summaries::default();
        // A title of its own comes first.
        if digest.given_title.is_none()
            && !found.file.role.is_agent()
            && let Some(survey) = self.surveyed()
        {
            let home = |project: &&ProjectSurvey| project.dir == found.project().dir;
            let known = survey.projects.iter().find(home);
            summaries = known.map(|project| project.summaries.clone()).unwrap_or_default();
        }
        summaries.add(&digest, to_time(found.file.modified));
        (digest, summaries)
    }

    /// Returns what a session is called, or one of its conversations.
    pub(crate) fn title(
        &self,
        found: &Found,
        history: &History,
        conversation: Option<u32>,
    ) -> Option<String> {
        if self.surveyed().is_none() {
            self.survey();
        }
        let (digest, summaries) = self.told(found, history);
        let index = conversation.and_then(|n| (n as usize).checked_sub(1));
        match index.and_then(|index| digest.conversations.get(index)) {
            // The session's title says little about one of its branches.
            Some(own) if !own.resumes && own.first_prompt.is_some() => own.first_prompt.as_deref(),
            _ => session_title(&digest, &summaries),
        }
        .map(str::to_owned)
    }

    /// Returns the path to a leaf of a session, cut into blocks.
    pub(crate) fn transcript(
        &self,
        found: &Found,
        leaf: &str,
    ) -> Result<Arc<Transcript>, ApiError> {
        let history = self.read(&found.file)?;
        {
            let paths = lock(&self.paths);
            let known = paths.iter().find(|kept| {
                kept.file == found.file.path
                    && kept.leaf == leaf
                    && Arc::ptr_eq(&kept.history, &history)
            });
            if let Some(kept) = known {
                return Ok(kept.transcript.clone());
            }
        }
        let transcript = Arc::new(Transcript::new(self, found, history.clone(), leaf)?);
        let mut paths = lock(&self.paths);
        paths.retain(|kept| kept.file != found.file.path || kept.leaf != leaf);
        let newest = Kept {
            file: found.file.path.clone(),
            bytes: found.file.bytes,
            leaf: leaf.to_owned(),
            history,
            transcript: transcript.clone(),
        };
        paths.insert(0, newest);
        let kept = kept(paths.iter().map(|kept| kept.bytes));
        paths.truncate(kept);
        Ok(transcript)
    }
}

/// Returns how many of these are kept, the newest first.
fn kept(sizes: impl Iterator<Item = u64>) -> usize {
    let mut sum = 0;
    let small = sizes.take(KEPT_SMALL).take_while(|size| {
        sum += size;
        sum <= KEPT_BYTES
    });
    small.count().max(KEPT)
}

/// Returns the files of an id, each with the place of its project.
fn of_id<'a>(projects: &'a [Project], id: &str) -> Vec<(usize, &'a HistoryFile)> {
    let agent = id.strip_prefix("agent-");
    let fits = |file: &HistoryFile| match agent {
        Some(agent) => file.role.is_agent() && file.id == agent,
        None => file.role == FileRole::Session && file.id == id,
    };
    let files = projects
        .iter()
        .enumerate()
        .flat_map(|(index, project)| project.files.iter().map(move |file| (index, file)));
    files.filter(|(_, file)| fits(file)).collect()
}

fn survey(place: &Place, rule: Rule, surveyed: &Surveyed) -> Arc<Survey> {
    // Held while reading: whoever asks meanwhile wants the same answer.
    let mut held = lock(&surveyed.last);
    let earlier = match held.take() {
        Some((made, survey)) if surveyed.is_fresh(made) => {
            *held = Some((made, survey.clone()));
            return survey;
        }
        Some((_, survey)) => survey,
        None => Arc::default(),
    };
    let made = surveyed.now();
    let survey = Arc::new(resurvey(&place.index, &earlier, place.projects(), rule, &|_| {}));
    *held = Some((made, survey.clone()));
    *lock(&surveyed.known) = Some(survey.clone());
    survey
}
