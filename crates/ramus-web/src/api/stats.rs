//! Statistics.

use std::sync::Arc;

use axum::extract::{Query, State as Extract};
use ramus_app::survey::{ProjectSurvey, SurveyCounts, count_survey};
use ramus_render::json::{self, Answer};
use serde::Deserialize;

use super::{ApiResult, answer_json};
use crate::ServerState;
use crate::work_queues::TaskKind;

#[derive(Debug, Deserialize)]
pub(crate) struct StatsQuery {
    project: Option<String>,
}

pub(crate) async fn get_stats(
    Extract(state): Extract<Arc<ServerState>>,
    Query(only): Query<StatsQuery>,
) -> ApiResult<Answer<json::Stats>> {
    answer_json(state, TaskKind::Lists, move |state| {
        let survey = state.workspace.survey_all();
        let is_wanted = |project: &&ProjectSurvey| {
            only.project.as_ref().is_none_or(|name| project.name == *name)
        };
        let wanted: Vec<&ProjectSurvey> = survey.projects.iter().filter(is_wanted).collect();
        let projects = wanted.len();
        let SurveyCounts { stats, most_complex } = count_survey(wanted, |_| true);
        let most =
            most_complex.map(|most| json::from_most_complex(most.id, most.title, &most.complexity));
        Ok(Answer::new("ramus.stats/1", json::from_stats(&stats, projects, most)))
    })
    .await
}
