//! The three levels, and what there is to see first.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::extract::{Query, State as Extract};
use ramus_app::Scope;
use ramus_app::list::ListRequest;
use ramus_app::survey::{Surveyed, to_time};
use ramus_core::time::Time;
use ramus_core::title::session_title;
use ramus_render::json::{self, Answer, Projects, Session, Sessions};
use ramus_store::prompts::GoneSession;
use serde::{Deserialize, Serialize};

use super::{Answered, answer};
use crate::State;
use crate::error::ApiError;
use crate::work::Task;

/// How many sessions the overview shows.
const RECENT: usize = 40;
/// A session is live when it was written to this lately.
const LIVE: Duration = Duration::from_secs(120);

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Overview {
    projects: usize,
    sessions: usize,
    conversations: usize,
    bytes: u64,
    recent: Vec<Session>,
    /// Ids of the sessions that are being written.
    live: Vec<String>,
    /// How many days the client keeps a session, and whether its settings say so.
    retention_days: u32,
    retention_set: bool,
    /// Announces what is due for deletion; `None`: nothing is.
    due: Option<String>,
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

pub(crate) async fn overview(Extract(state): Extract<Arc<State>>) -> Answered<Answer<Overview>> {
    answer(state, Task::Lists, |state| {
        let survey = state.workspace.survey();
        let now = SystemTime::now();
        let due = state.workspace.due_files(&Scope::All, to_time(now));
        let cleanup = state.workspace.cleanup();
        let shown = ListRequest::default();
        let recent = ListRequest { limit: Some(RECENT), ..ListRequest::default() };
        let mut overview = Overview {
            projects: shown.projects(&survey).len(),
            sessions: 0,
            conversations: 0,
            bytes: 0,
            recent: recent.sessions(&survey, &Scope::All, &cleanup, json::session),
            live: Vec::new(),
            retention_days: due.retention.days,
            retention_set: due.retention.from_settings,
            due: due.sentence(),
            leaving: Vec::new(),
            activity: BTreeMap::new(),
        };
        let mut days_of: BTreeMap<i32, u32> = BTreeMap::new();
        for project in &survey.projects {
            overview.bytes += project.files().map(|file| file.file.bytes).sum::<u64>();
            for session in shown.sessions_of(project) {
                overview.sessions += 1;
                overview.conversations += session.digest.conversations.len();
                for (day, messages) in &session.digest.days {
                    *days_of.entry(*day).or_default() += messages;
                }
                if is_live(session, now) {
                    overview.live.push(session.file.id.clone());
                }
                let end = cleanup.end(&session.file);
                if due.has(end, to_time(now)) {
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
        overview.activity = days_of.into_iter().map(|(day, n)| (date(day), n)).collect();
        Ok(Answer::new("ramus.overview/1", overview))
    })
    .await
}

/// Whether a session is being written.
fn is_live(session: &Surveyed, now: SystemTime) -> bool {
    let age = now.duration_since(session.file.modified).unwrap_or_default();
    // A file that was copied is new, what is said in it is not.
    let said = session.digest.facts.last_active.map_or(0, Time::millis);
    let silent = to_time(now).millis().saturating_sub(said);
    age < LIVE && u128::from(silent.unsigned_abs()) < 5 * LIVE.as_millis()
}

pub(crate) async fn projects(Extract(state): Extract<Arc<State>>) -> Answered<Answer<Projects>> {
    answer(state, Task::Lists, |state| {
        let survey = state.workspace.survey();
        let request = ListRequest { by_repository: true, ..ListRequest::default() };
        let projects = request.projects(&survey).into_iter().map(json::project).collect();
        Ok(Answer::new("ramus.projects/1", Projects { projects, repositories: None }))
    })
    .await
}

#[derive(Debug, Deserialize)]
pub(crate) struct Only {
    project: Option<String>,
}

/// Finds the project that is asked for.
fn scope(state: &State, only: &Only) -> Result<Scope, ApiError> {
    let Some(name) = &only.project else { return Ok(Scope::All) };
    let found = state.workspace.project(name).ok().filter(|project| project.name == *name);
    found.map(Scope::Project).ok_or_else(|| ApiError::not_found("project"))
}

pub(crate) async fn sessions(
    Extract(state): Extract<Arc<State>>,
    Query(only): Query<Only>,
) -> Answered<Answer<Sessions>> {
    answer(state, Task::Lists, move |state| {
        let scope = scope(state, &only)?;
        let survey = state.workspace.survey();
        let cleanup = state.workspace.cleanup();
        let request = ListRequest::default();
        let sessions = request.sessions(&survey, &scope, &cleanup, json::session);
        let lost_agents = request.lost_agents(&survey, &scope, json::lost_agent);
        Ok(Answer::new("ramus.sessions/1", Sessions { sessions, lost_agents }))
    })
    .await
}

/// Lists the sessions of which nothing but prompts is left.
pub(crate) async fn gone(
    Extract(state): Extract<Arc<State>>,
    Query(only): Query<Only>,
) -> Answered<Answer<Sessions>> {
    answer(state, Task::Lists, move |state| {
        let mut lost = state.workspace.lost_prompts(&Scope::All);
        // Of a project only these prompts may be left.
        if let Some(project) = &only.project {
            lost.prompts.retain(|prompt| prompt.is_of(project));
        }
        let row = |gone: &GoneSession| {
            let first = gone.prompts.first().map_or("", |prompt| &*prompt.text);
            let count = gone.prompts.len();
            json::gone_session(&gone.id, gone.project.as_deref(), count, first, gone.times())
        };
        let sessions = ListRequest::default().gone_sessions(lost).iter().map(row).collect();
        Ok(Answer::new("ramus.sessions/1", Sessions { sessions, lost_agents: Vec::new() }))
    })
    .await
}

/// Writes a day since 1970 as a date.
fn date(day: i32) -> String {
    Time::from_millis(i64::from(day) * 86_400_000).to_string().chars().take(10).collect()
}
