//! Which files a search reads: sessions, their sub-agents, and tool results in files of their own.

use std::path::PathBuf;

use ramus_core::pull_request::PullRequestName;
use ramus_store::claude_dir::{FileRole, HistoryFile, Project};
use ramus_store::scan::{SearchSource, SourceFormat, list_spilled_results};

use super::{AgentFilter, SearchRequest};
use crate::address::Scope;
use crate::list::has_pull_request;
use crate::workspace::{SurveyDetail, Workspace};

/// Returns the files that a request is about.
pub(super) fn search_sources(
    workspace: &Workspace,
    listed: &[Project],
    request: &SearchRequest,
) -> Vec<SearchSource> {
    let (projects, session) = match &request.scope {
        Scope::All => ((0..listed.len()).collect(), None),
        Scope::Project(project) => (vec![project.listing_index()], None),
        Scope::Session(found) => match &found.project {
            Some(project) => (vec![project.listing_index()], Some(&found.file)),
            None => {
                return vec![SearchSource::new(found.file.clone(), SourceFormat::Records, None)];
            }
        },
    };
    let mut sources = Vec::new();
    for index in projects {
        let project = &listed[index];
        let records = project.files.iter();
        sources
            .extend(records.filter_map(|file| record_source(file, session, request.agents, index)));
        if request.agents != AgentFilter::Only {
            let spilled = list_spilled_results(project, session.map(|session| session.id.as_str()));
            let spilled = spilled.into_iter();
            sources.extend(
                spilled.map(|file| SearchSource::new(file, SourceFormat::Spilled, Some(index))),
            );
        }
    }
    if let Some(wanted) = &request.pull_request {
        let made = sessions_with(workspace, &request.scope, wanted);
        sources.retain(|source| {
            let path = &source.file.path;
            made.iter().any(|made| path == made || path.starts_with(made.with_extension("")))
        });
    }
    sources
}

/// Returns a file as a source; `None`: it does not belong to the session, or is not wanted.
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
