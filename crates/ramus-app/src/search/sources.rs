//! Which files a search reads: sessions, their sub-agents, and spilled tool results.

use std::collections::BTreeSet;
use std::path::PathBuf;

use ramus_core::pull_request::PullRequestName;
use ramus_core::query::Query;
use ramus_store::claude_dir::{FileRole, HistoryFile, Project};
use ramus_store::scan::{ScanFilter, ScanJob, SearchSource, SourceFormat, list_spilled_results};

use super::rank::source_session;
use super::request::commit_pattern;
use super::{AgentFilter, SearchRequest};
use crate::address::{ResolvedProject, Scope};
use crate::list::has_pull_request;
use crate::workspace::{SurveyDetail, Workspace};

/// Returns the files that a request is about.
pub(super) fn search_sources(
    workspace: &Workspace,
    listed: &[Project],
    request: &SearchRequest,
) -> Vec<SearchSource> {
    let in_project = |index, session| project_sources(listed, index, session, request.agents);
    let mut sources: Vec<SearchSource> = match &request.scope {
        Scope::All => (0..listed.len()).flat_map(|index| in_project(index, None)).collect(),
        Scope::Project(project) => in_project(project.listing_index(), None),
        Scope::Session(_) | Scope::Sessions(_) => {
            let sessions = request.scope.sessions().unwrap_or_default().iter();
            let index = |project: &ResolvedProject| {
                listed.iter().position(|listed| listed.dir == project.dir)
            };
            sessions
                .flat_map(|found| match found.project.as_ref().map(index) {
                    Some(Some(index)) => in_project(index, Some(&found.file)),
                    // A project that is no longer listed has nothing to search.
                    Some(None) => Vec::new(),
                    None => {
                        vec![SearchSource::new(found.file.clone(), SourceFormat::Records, None)]
                    }
                })
                .collect()
        }
    };
    if let Some(wanted) = &request.pull_request {
        let made = sessions_with(workspace, &request.scope, wanted);
        sources.retain(|source| {
            let path = &source.file.path;
            made.iter().any(|made| path == made || path.starts_with(made.with_extension("")))
        });
    }
    if let Some(commit) = &request.commit {
        keep_commit(&mut sources, commit);
    }
    sources
}

/// Returns the files of a project, or of one session in it.
fn project_sources(
    listed: &[Project],
    index: usize,
    session: Option<&HistoryFile>,
    agents: AgentFilter,
) -> Vec<SearchSource> {
    let project = &listed[index];
    let records = project.files.iter();
    let mut sources: Vec<SearchSource> =
        records.filter_map(|file| record_source(file, session, agents, index)).collect();
    if agents != AgentFilter::Only {
        let spilled = list_spilled_results(project, session.map(|session| session.id.as_str()));
        let source = |file| SearchSource::new(file, SourceFormat::Spilled, Some(index));
        sources.extend(spilled.into_iter().map(source));
    }
    sources
}

/// Keeps the sources of sessions that mention a commit.
fn keep_commit(sources: &mut Vec<SearchSource>, commit: &str) {
    // The digits were checked, so this is always a pattern.
    let Ok(query) = Query::from_regex(&commit_pattern(commit)) else { return };
    let job = ScanJob {
        sources,
        query: &query,
        tool: None,
        filter: &ScanFilter::default(),
        on_read: &|_| {},
        go_on: &|| true,
        in_background: false,
    };
    let found = job.find_all();
    let session = |index| source_session(sources, index, &found.notes);
    let sessions: BTreeSet<_> = found.locations.iter().map(|place| session(place.source)).collect();
    let kept: Vec<bool> =
        (0..sources.len()).map(|index| sessions.contains(&session(index as u32))).collect();
    let mut kept = kept.into_iter();
    sources.retain(|_| kept.next().unwrap_or(false));
}

/// Returns a file as a source. `None` if it is not part of the session or not requested.
fn record_source(
    file: &HistoryFile,
    session: Option<&HistoryFile>,
    agents: AgentFilter,
    project: usize,
) -> Option<SearchSource> {
    let mut only_session = None;
    let is_meant = match session {
        None => true,
        Some(session) if file.path == session.path => true,
        Some(session) => match &file.role {
            FileRole::NestedAgent { session: parent } | FileRole::Journal { session: parent } => {
                *parent == session.id
            }
            FileRole::FlatAgent if session.role == FileRole::Session => {
                only_session = Some(session.id.clone());
                true
            }
            _ => false,
        },
    };
    let is_agent = file.role.is_agent();
    // The oldest clients wrote the records of sub-agents into the session's own file.
    let (is_wanted, sidechain) = match agents {
        AgentFilter::Any => (true, None),
        AgentFilter::Only => (true, (!is_agent).then_some(true)),
        AgentFilter::None => (!is_agent, Some(false)),
    };
    let source = || SearchSource::new(file.clone(), SourceFormat::Records, Some(project));
    (is_meant && is_wanted).then(|| SearchSource { only_session, sidechain, ..source() })
}

/// Returns the files of the sessions in which a pull request was made.
fn sessions_with(workspace: &Workspace, scope: &Scope, wanted: &PullRequestName) -> Vec<PathBuf> {
    let survey = workspace.survey_scope(scope.clone(), SurveyDetail::Digests);
    let sessions = survey.projects.into_iter().flat_map(|project| project.sessions);
    sessions
        .filter(|session| has_pull_request(&session.digest, wanted))
        .map(|session| session.file.path)
        .collect()
}
