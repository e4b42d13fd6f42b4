//! All sessions of a place in short, read in parallel.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use ramus_core::defect::Defect;
use ramus_core::digest::Digest;
use ramus_core::history::History;
use ramus_core::name::Name;
use ramus_core::resume::Rule;
use ramus_core::time::Time;
use ramus_core::title::Summaries;
use rayon::prelude::*;
use rustc_hash::FxHashSet;

use crate::error::PathError;
use crate::place::{FileRole, HistoryFile, Listing, Project, is_encoded};
use crate::read::read;

/// Everything found, in short.
#[derive(Debug, Default)]
pub struct Survey {
    pub projects: Vec<ProjectSurvey>,
    /// What could not be read; the rest is here all the same.
    pub problems: Vec<PathError>,
}

/// One project with its sessions and agents.
#[derive(Debug)]
pub struct ProjectSurvey {
    pub name: String,
    pub dir: PathBuf,
    /// The project's directory as its records name it (R19); `None` when no record does.
    pub path: Option<String>,
    pub sessions: Vec<Surveyed>,
    pub agents: Vec<Surveyed>,
    /// Other files below the sessions' directories.
    pub journals: Vec<Surveyed>,
    pub summaries: Summaries,
}

/// One file in short.
#[derive(Debug)]
pub struct Surveyed {
    pub file: HistoryFile,
    pub digest: Digest,
    /// Nodes whose parent is in no session of the project (R5).
    pub orphans: Vec<Defect>,
}

impl Surveyed {
    /// Returns the session an agent's file belongs to.
    pub fn parent_session(&self) -> Option<&str> {
        match &self.file.role {
            FileRole::NestedAgent { session } | FileRole::Journal { session } => Some(session),
            FileRole::FlatAgent => self.digest.facts.session_ids.first().map(|id| &**id),
            FileRole::Session => None,
        }
    }

    /// Returns everything wrong with the file.
    pub fn defects(&self) -> impl Iterator<Item = &Defect> {
        self.digest.defects.iter().chain(&self.orphans)
    }
}

impl ProjectSurvey {
    /// Returns the agents that a session started, warm-ups among them.
    pub fn agents_of<'a>(&'a self, session: &'a str) -> impl Iterator<Item = &'a Surveyed> {
        self.agents.iter().filter(move |agent| agent.parent_session() == Some(session))
    }
}

/// Reads every file of a listing.
///
/// `on_read` hears the size of each file when it has been read; it is called
/// from several threads.
pub fn survey(listing: Listing, rule: Rule, on_read: &(dyn Fn(u64) + Sync)) -> Survey {
    survey_each(listing, rule, &|file, _| on_read(file.bytes))
}

/// Reads every file of a listing; `each` hears of each file when it has been
/// read, with what is known of it alone. It is called from several threads.
pub fn survey_each(
    listing: Listing,
    rule: Rule,
    each: &(dyn Fn(&HistoryFile, Option<&Digest>) + Sync),
) -> Survey {
    let Listing { projects, mut problems } = listing;
    let mut files: Vec<(usize, &HistoryFile)> = projects
        .iter()
        .enumerate()
        .flat_map(|(index, project)| project.files.iter().map(move |file| (index, file)))
        .collect();
    // The largest first, so that no thread is left with one at the end.
    files.sort_by_key(|(_, file)| std::cmp::Reverse(file.bytes));
    let read: Vec<(usize, HistoryFile, Result<Digest, PathError>)> = files
        .par_iter()
        .with_max_len(1)
        .map(|(index, file)| {
            let digest = read(&file.path).map(|session| Digest::new(&History::new(session, rule)));
            each(file, digest.as_ref().ok());
            (*index, (*file).clone(), digest)
        })
        .collect();
    let mut by_project: Vec<Vec<(HistoryFile, Digest)>> =
        projects.iter().map(|_| Vec::new()).collect();
    for (index, file, digest) in read {
        match digest {
            Ok(digest) => by_project[index].push((file, digest)),
            Err(problem) => problems.push(problem),
        }
    }
    let projects = projects
        .into_iter()
        .zip(by_project)
        .map(|(project, files)| project_survey(project, files))
        .collect();
    problems.sort_by(|a, b| a.path.cmp(&b.path));
    Survey { projects, problems }
}

fn project_survey(project: Project, mut files: Vec<(HistoryFile, Digest)>) -> ProjectSurvey {
    files.sort_by(|a, b| a.0.relative.cmp(&b.0.relative));
    let mut summaries = Summaries::default();
    for (file, digest) in &files {
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
    for (file, digest) in files {
        let missing = digest.missing.iter().filter(|missing| !elsewhere.contains(&missing.parent));
        let orphans = missing.filter_map(|missing| missing.defect.clone()).collect();
        let list = match file.role {
            FileRole::Session => &mut survey.sessions,
            FileRole::Journal { .. } => &mut survey.journals,
            FileRole::FlatAgent | FileRole::NestedAgent { .. } => &mut survey.agents,
        };
        list.push(Surveyed { file, digest, orphans });
    }
    survey
}

/// Returns the names of missing parents that another file of the project has (R5).
fn names_elsewhere(files: &[(HistoryFile, Digest)]) -> FxHashSet<Name> {
    let wanted: FxHashSet<Name> = files
        .iter()
        .flat_map(|(_, digest)| digest.missing.iter().map(|missing| missing.parent))
        .collect();
    if wanted.is_empty() {
        return FxHashSet::default();
    }
    let names = files.iter().flat_map(|(_, digest)| &digest.chain.names);
    names.filter(|name| wanted.contains(name)).copied().collect()
}

/// Finds the directory a project stands for: a `cwd` of its newest sessions that encodes to its name.
fn project_path(name: &str, files: &[(HistoryFile, Digest)]) -> Option<String> {
    let mut sessions: Vec<&(HistoryFile, Digest)> =
        files.iter().filter(|(_, d)| d.facts.cwd.is_some()).collect();
    sessions
        .sort_by_key(|(file, digest)| std::cmp::Reverse((digest.facts.last_active, file.modified)));
    let cwds: Vec<&str> =
        sessions.iter().filter_map(|(_, digest)| digest.facts.cwd.as_deref()).collect();
    cwds.iter().find(|cwd| is_encoded(name, cwd)).or(cwds.first()).map(|cwd| (*cwd).to_owned())
}

/// Turns a file's time into a record's.
pub fn to_time(time: SystemTime) -> Time {
    let millis = match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_millis()).unwrap_or(i64::MAX),
        Err(before) => -i64::try_from(before.duration().as_millis()).unwrap_or(i64::MAX),
    };
    Time::from_millis(millis)
}
