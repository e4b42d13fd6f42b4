//! What there is, counted.

use std::sync::Arc;

use axum::extract::{Query, State as Extract};
use ramus_app::survey::{Counted, ProjectSurvey, count};
use ramus_render::json::{self, Answer};
use serde::Deserialize;

use super::{Answered, answer};
use crate::State;
use crate::work::Task;

#[derive(Debug, Deserialize)]
pub(crate) struct Only {
    project: Option<String>,
}

pub(crate) async fn stats(
    Extract(state): Extract<Arc<State>>,
    Query(only): Query<Only>,
) -> Answered<Answer<json::Stats>> {
    answer(state, Task::Lists, move |state| {
        let survey = state.workspace.survey();
        let is_wanted = |project: &&ProjectSurvey| {
            only.project.as_ref().is_none_or(|name| project.name == *name)
        };
        let wanted: Vec<&ProjectSurvey> = survey.projects.iter().filter(is_wanted).collect();
        let projects = wanted.len();
        let Counted { stats, most_complex } = count(wanted, |_| true);
        let most =
            most_complex.map(|most| json::most_complex(most.id, most.title, &most.complexity));
        Ok(Answer::new("ramus.stats/1", json::stats(&stats, projects, most)))
    })
    .await
}
