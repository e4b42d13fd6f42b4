//! What there is, counted.

use std::sync::Arc;

use axum::extract::{Query, State as Extract};
use ramus_core::stats::{OtherInput, SessionInput, Stats};
use ramus_core::title::session_title;
use ramus_render::json::{self, Answer};
use ramus_store::survey::{ProjectSurvey, Surveyed};
use serde::Deserialize;

use super::{Answered, answer};
use crate::State;

#[derive(Debug, Deserialize)]
pub(crate) struct Only {
    project: Option<String>,
}

pub(crate) async fn stats(
    Extract(state): Extract<Arc<State>>,
    Query(only): Query<Only>,
) -> Answered<Answer<json::Stats>> {
    answer(state, move |state| {
        let survey = state.library.survey();
        let wanted: Vec<&ProjectSurvey> = survey
            .projects
            .iter()
            .filter(|project| only.project.as_ref().is_none_or(|name| project.name == *name))
            .collect();
        Ok(Answer::new("ramus.stats/1", count(&wanted)))
    })
    .await
}

fn count(projects: &[&ProjectSurvey]) -> json::Stats {
    let mut sessions: Vec<(&ProjectSurvey, &Surveyed)> = Vec::new();
    let mut inputs = Vec::new();
    let mut others = Vec::new();
    for project in projects {
        let agents = project.agent_counts();
        for session in &project.sessions {
            sessions.push((project, session));
            inputs.push(SessionInput {
                id: &session.file.id,
                digest: &session.digest,
                agents: agents.get(&*session.file.id).map_or(0, |count| *count as u32),
                orphans: session.orphans.len() as u32,
            });
        }
        others.extend(project.agents.iter().chain(&project.journals).map(|other| OtherInput {
            digest: &other.digest,
            class: other.file.role.is_agent().then_some(other.digest.agent_class),
            orphans: other.orphans.len() as u32,
        }));
    }
    let stats = Stats::new(&inputs, &others);
    let most = stats.most_complex.map(|(index, complexity)| {
        let (project, session) = sessions[index];
        let title = session_title(&session.digest, &project.summaries);
        json::most_complex(&session.file.id, title, &complexity)
    });
    json::stats(&stats, projects.len(), most)
}
