//! Lists of projects, sessions and conversations, and the overview.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use axum::extract::{Query, State as Extract};
use ramus_app::Scope;
use ramus_app::list::ListRequest;
use ramus_app::live::LiveSessions;
use ramus_app::survey::time_from_system;
use ramus_core::time::Time;
use ramus_core::title::session_title;
use ramus_render::json::{self, Answer, Projects, Session, Sessions};
use serde::{Deserialize, Serialize};

use super::{ApiResult, answer_json};
use crate::ServerState;
use crate::error::ApiError;
use crate::work_queues::TaskKind;

/// How many sessions the overview shows.
const RECENT_SESSIONS: usize = 40;

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Overview {
    projects: usize,
    sessions: usize,
    conversations: usize,
    bytes: u64,
    recent: Vec<Session>,
    /// Ids of the sessions that are live.
    live: Vec<String>,
    /// How many days the client keeps a session, and whether its settings say so.
    retention_days: u32,
    retention_set: bool,
    /// Announces files due for deletion; `None`: there are none.
    due: Option<String>,
    /// How many of these files are not archived; they can be.
    unarchived: usize,
    leaving: Vec<Leaving>,
    /// Messages of each day (UTC), agents' own left out.
    activity: BTreeMap<String, u32>,
}

/// A file that the client's clean-up deletes soon.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Leaving {
    /// What opens it: a session, or an agent.
    id: String,
    project: String,
    title: Option<String>,
    at: String,
}

pub(crate) async fn get_overview(
    Extract(state): Extract<Arc<ServerState>>,
) -> ApiResult<Answer<Overview>> {
    answer_json(state, TaskKind::Lists, |state| {
        let survey = state.workspace.survey_all();
        let now = SystemTime::now();
        let mut live = LiveSessions::at(now);
        let due = state.workspace.due_files(&Scope::All, time_from_system(now));
        let cleanup = state.workspace.cleanup_schedule();
        let shown = ListRequest::default();
        let annotations = state.workspace.annotations();
        let recent =
            ListRequest { limit: Some(RECENT_SESSIONS), annotations, ..ListRequest::default() };
        let mut overview = Overview {
            projects: shown.list_projects(&survey).len(),
            sessions: 0,
            conversations: 0,
            bytes: 0,
            recent: recent.list_sessions(&survey, &Scope::All, &cleanup, json::from_session),
            live: Vec::new(),
            retention_days: due.retention.days,
            retention_set: due.retention.from_settings,
            due: due.warning_text(),
            // An archive that cannot be used offers nothing.
            unarchived: state
                .workspace
                .count_unarchived_files(time_from_system(now))
                .unwrap_or_default(),
            leaving: Vec::new(),
            activity: BTreeMap::new(),
        };
        let mut days_of: BTreeMap<i32, u32> = BTreeMap::new();
        for project in &survey.projects {
            overview.bytes += project.all_files().map(|file| file.file.bytes).sum::<u64>();
            for session in shown.sessions_of(project) {
                overview.sessions += 1;
                overview.conversations += session.digest.conversations.len();
                for (day, messages) in &session.digest.days {
                    *days_of.entry(*day).or_default() += messages;
                }
                if live.is_live(&session.file, session.digest.facts.last_active) {
                    overview.live.push(session.file.id.clone());
                }
                let end = cleanup.deletion_time(&session.file);
                if due.is_due(end, time_from_system(now)) {
                    overview.leaving.push(Leaving {
                        id: session.file.id.clone(),
                        project: project.name.clone(),
                        title: session_title(&session.digest, &project.summaries)
                            .map(str::to_owned),
                        at: end.to_string(),
                    });
                }
            }
        }
        overview.activity = days_of.into_iter().map(|(day, n)| (format_day(day), n)).collect();
        Ok(Answer::new("ramus.overview/1", overview))
    })
    .await
}

pub(crate) async fn get_projects(
    Extract(state): Extract<Arc<ServerState>>,
) -> ApiResult<Answer<Projects>> {
    answer_json(state, TaskKind::Lists, |state| {
        let survey = state.workspace.survey_all();
        let request = ListRequest { by_repository: true, ..ListRequest::default() };
        let projects = request.list_projects(&survey).into_iter().map(json::project).collect();
        Ok(Answer::new("ramus.projects/1", Projects { projects, repositories: None }))
    })
    .await
}

#[derive(Debug, Deserialize)]
pub(crate) struct ListQuery {
    project: Option<String>,
}

/// Finds the requested project.
fn project_scope(state: &ServerState, only: &ListQuery) -> Result<Scope, ApiError> {
    let Some(name) = &only.project else { return Ok(Scope::All) };
    let found = state.workspace.resolve_project(name).ok().filter(|project| project.name == *name);
    found.map(Scope::Project).ok_or_else(|| ApiError::not_found("project"))
}

pub(crate) async fn get_sessions(
    Extract(state): Extract<Arc<ServerState>>,
    Query(only): Query<ListQuery>,
) -> ApiResult<Answer<Sessions>> {
    answer_json(state, TaskKind::Lists, move |state| {
        let scope = project_scope(state, &only)?;
        let survey = state.workspace.survey_all();
        let cleanup = state.workspace.cleanup_schedule();
        let annotations = state.workspace.annotations();
        let request = ListRequest { annotations, ..ListRequest::default() };
        let sessions = request.list_sessions(&survey, &scope, &cleanup, json::from_session);
        let lost_agents = request.lost_agents(&survey, &scope, json::from_lost_agent);
        Ok(Answer::new("ramus.sessions/1", Sessions { sessions, lost_agents }))
    })
    .await
}

/// Lists the sessions of which nothing but prompts is left.
pub(crate) async fn get_deleted_sessions(
    Extract(state): Extract<Arc<ServerState>>,
    Query(only): Query<ListQuery>,
) -> ApiResult<Answer<Sessions>> {
    answer_json(state, TaskKind::Lists, move |state| {
        let mut lost = state.workspace.lost_prompts(&Scope::All);
        // Of a project only these prompts may be left.
        if let Some(project) = &only.project {
            lost.prompts.retain(|prompt| prompt.belongs_to(project));
        }
        let sessions = ListRequest::default().list_deleted(lost);
        Ok(Answer::new("ramus.sessions/1", Sessions { sessions, lost_agents: Vec::new() }))
    })
    .await
}

/// Writes a day since 1970 as a date.
fn format_day(day: i32) -> String {
    Time::from_millis(i64::from(day) * 86_400_000).to_string().chars().take(10).collect()
}
