//! The three levels, and what there is to see first.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::extract::{Query, State as Extract};
use ramus_app::Scope;
use ramus_app::survey::{ProjectSurvey, Surveyed, to_time};
use ramus_core::time::Time;
use ramus_render::json::{self, Answer, LostAgent, Project, Projects, Session, Sessions};
use ramus_store::cleanup::Cleanup;
use ramus_store::place::HistoryFile;
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
        let cleanup = state.workspace.cleanup();
        let files = survey.projects.iter().flat_map(ProjectSurvey::files);
        let due = cleanup.due(files.map(|file| &file.file), to_time(now));
        let mut overview = Overview {
            projects: survey
                .projects
                .iter()
                .filter(|project| shown(project).next().is_some())
                .count(),
            sessions: 0,
            conversations: 0,
            bytes: 0,
            recent: Vec::new(),
            live: Vec::new(),
            retention_days: due.retention.days,
            retention_set: due.retention.from_settings,
            due: due.sentence(),
            leaving: Vec::new(),
            activity: BTreeMap::new(),
        };
        let mut newest: Vec<(&ProjectSurvey, &Surveyed)> = Vec::new();
        let mut days_of: BTreeMap<i32, u32> = BTreeMap::new();
        for project in &survey.projects {
            overview.bytes += project.files().map(|file| file.file.bytes).sum::<u64>();
            for session in shown(project) {
                overview.sessions += 1;
                overview.conversations += session.digest.conversations.len();
                newest.push((project, session));
                let facts = &session.digest.facts;
                for (day, messages) in &session.digest.days {
                    *days_of.entry(*day).or_default() += messages;
                }
                let age = now.duration_since(session.file.modified).unwrap_or_default();
                // A file that was copied is new, what is said in it is not.
                let said = facts.last_active.map_or(0, Time::millis);
                let silent = to_time(now).millis().saturating_sub(said);
                if age < LIVE && u128::from(silent.unsigned_abs()) < 5 * LIVE.as_millis() {
                    overview.live.push(session.file.id.clone());
                }
                let end = cleanup.end(&session.file);
                if due.has(end, to_time(now)) {
                    overview.leaving.push(Leaving {
                        id: session.file.id.clone(),
                        project: project.name.clone(),
                        title: title(project, session),
                        at: end.to_string(),
                    });
                }
            }
        }
        overview.activity = days_of.into_iter().map(|(day, n)| (date(day), n)).collect();
        newest.sort_by_key(|(_, session)| std::cmp::Reverse(session.digest.facts.last_active));
        newest.truncate(RECENT);
        let recent = newest.into_iter().map(|(project, session)| {
            row(json::session(project.listed(session)), &session.file, &cleanup)
        });
        overview.recent = recent.collect();
        Ok(Answer::new("ramus.overview/1", overview))
    })
    .await
}

pub(crate) async fn projects(Extract(state): Extract<Arc<State>>) -> Answered<Answer<Projects>> {
    answer(state, Task::Lists, |state| {
        let survey = state.workspace.survey();
        let repositories = survey.repositories().into_iter();
        let listed = survey.projects.iter().zip(repositories).map(|(one, repository)| Project {
            repository: repository.map(|found| found.name),
            ..project(one)
        });
        let mut projects: Vec<Project> = listed.collect();
        projects.retain(|project| project.sessions > 0);
        projects
            .sort_by(|a, b| b.last_active.cmp(&a.last_active).then_with(|| a.name.cmp(&b.name)));
        Ok(Answer::new("ramus.projects/1", Projects { projects, repositories: None }))
    })
    .await
}

#[derive(Debug, Deserialize)]
pub(crate) struct Only {
    project: Option<String>,
}

pub(crate) async fn sessions(
    Extract(state): Extract<Arc<State>>,
    Query(only): Query<Only>,
) -> Answered<Answer<Sessions>> {
    answer(state, Task::Lists, move |state| {
        let survey = state.workspace.survey();
        let wanted = |project: &&ProjectSurvey| {
            only.project.as_ref().is_none_or(|name| project.name == *name)
        };
        if only.project.is_some() && !survey.projects.iter().any(|project| wanted(&project)) {
            return Err(ApiError::not_found("project"));
        }
        let cleanup = state.workspace.cleanup();
        let mut sessions: Vec<Session> = survey.list(|project, session, listed| {
            let is_shown = wanted(&project) && !session.digest.class.is_hidden();
            is_shown.then(|| row(json::session(listed), &session.file, &cleanup))
        });
        sessions
            .sort_by(|a, b| b.last_active.cmp(&a.last_active).then_with(|| a.file.cmp(&b.file)));
        let lost = survey.projects.iter().filter(wanted).flat_map(|project| {
            let agents = project.lost_agents();
            agents.map(|(session, agent)| json::lost_agent(session, &project.listed(agent)))
        });
        let mut lost_agents: Vec<LostAgent> = lost.collect();
        lost_agents
            .sort_by(|a, b| b.last_active.cmp(&a.last_active).then_with(|| a.file.cmp(&b.file)));
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
        if let Some(project) = &only.project {
            lost.prompts.retain(|prompt| prompt.is_of(project));
        }
        let row = |gone: &GoneSession| {
            let first = gone.prompts.first().map_or("", |prompt| &*prompt.text);
            let count = gone.prompts.len();
            json::gone_session(&gone.id, gone.project.as_deref(), count, first, gone.times())
        };
        let sessions = lost.sessions().iter().map(row).collect();
        Ok(Answer::new("ramus.sessions/1", Sessions { sessions, lost_agents: Vec::new() }))
    })
    .await
}

/// Adds to a row when its file is deleted.
fn row(session: Session, file: &HistoryFile, cleanup: &Cleanup) -> Session {
    Session { deleted_after: Some(cleanup.end(file).to_string()), ..session }
}

/// Writes a day since 1970 as a date.
fn date(day: i32) -> String {
    Time::from_millis(i64::from(day) * 86_400_000).to_string().chars().take(10).collect()
}

fn shown(project: &ProjectSurvey) -> impl Iterator<Item = &Surveyed> {
    project.sessions.iter().filter(|session| !session.digest.class.is_hidden())
}

fn title(project: &ProjectSurvey, session: &Surveyed) -> Option<String> {
    ramus_core::title::session_title(&session.digest, &project.summaries).map(str::to_owned)
}

fn project(survey: &ProjectSurvey) -> Project {
    let files = survey.files();
    let last_active = shown(survey).filter_map(|session| session.digest.facts.last_active).max();
    Project {
        name: survey.name.clone(),
        path: survey.path.clone(),
        dir: survey.dir.display().to_string(),
        sessions: shown(survey).count(),
        conversations: shown(survey).map(|session| session.digest.conversations.len()).sum(),
        agents: survey.agents.len(),
        bytes: files.map(|file| file.file.bytes).sum(),
        last_active: last_active.map(|time| time.to_string()),
        repository: None,
    }
}
