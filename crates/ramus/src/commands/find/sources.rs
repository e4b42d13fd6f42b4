//! Which files a scope means, agents and spilled results among them.

use std::path::PathBuf;

use ramus_app::{Scope, SurveyDetail, Workspace};
use ramus_core::pull_request::PullRequestName;
use ramus_store::place::FileRole;
use ramus_store::scan::{Content, Source, spills};

use super::AgentFilter;
use crate::filter::has_pull_request;
use crate::ui::Ui;

/// Leaves only the sessions in which a pull request was made, with what lies below them.
pub(super) fn keep_pull_request(
    ui: &mut Ui,
    workspace: &Workspace,
    scope: &Scope,
    wanted: &PullRequestName,
    sources: &mut Vec<Source>,
) {
    let survey = workspace.survey_scope(scope.clone(), SurveyDetail::Digests);
    let sessions = survey.projects.iter().flat_map(|project| &project.sessions);
    let made: Vec<PathBuf> = sessions
        .filter(|session| has_pull_request(&session.digest, wanted))
        .map(|session| session.file.path.clone())
        .collect();
    ui.let_go(survey);
    sources.retain(|source| {
        let path = &source.file.path;
        made.iter().any(|made| path == made || path.starts_with(made.with_extension("")))
    });
}

pub(super) fn sources(workspace: &Workspace, scope: &Scope, agents: AgentFilter) -> Vec<Source> {
    let listed = workspace.projects();
    let (projects, session) = match scope {
        Scope::All => ((0..listed.len()).collect(), None),
        Scope::Project(project) => (vec![project.index()], None),
        Scope::Session(found) => match &found.project {
            Some(project) => (vec![project.index()], Some(&found.file)),
            None => {
                let file = found.file.clone();
                let content = Content::Records;
                return vec![Source {
                    file,
                    content,
                    project: None,
                    only_session: None,
                    sidechain: None,
                }];
            }
        },
    };
    let mut sources = Vec::new();
    for index in projects {
        let project = &listed[index];
        for file in &project.files {
            let is_agent = file.role.is_agent();
            let mut only_session = None;
            let is_meant = match session {
                None => true,
                Some(session) if file.path == session.path => true,
                Some(session) => match &file.role {
                    FileRole::NestedAgent { session: parent }
                    | FileRole::Journal { session: parent } => *parent == session.id,
                    FileRole::FlatAgent if session.role == FileRole::Session => {
                        only_session = Some(session.id.clone());
                        true
                    }
                    _ => false,
                },
            };
            // The oldest clients wrote what agents did into the session's own file.
            let (is_wanted, sidechain) = match agents {
                AgentFilter::Any => (true, None),
                AgentFilter::Only => (true, (!is_agent).then_some(true)),
                AgentFilter::None => (!is_agent, Some(false)),
            };
            if is_meant && is_wanted {
                let content = Content::Records;
                let file = file.clone();
                sources.push(Source {
                    file,
                    content,
                    project: Some(index),
                    only_session,
                    sidechain,
                });
            }
        }
        if agents != AgentFilter::Only {
            let spilled = spills(project, session.map(|session| session.id.as_str()));
            sources.extend(spilled.into_iter().map(|file| Source {
                file,
                content: Content::Spilled,
                project: Some(index),
                only_session: None,
                sidechain: None,
            }));
        }
    }
    sources
}
