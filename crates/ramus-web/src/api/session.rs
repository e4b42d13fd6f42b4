//! One session: its details, conversations, tree and agents.

use std::sync::Arc;
use std::time::SystemTime;

use axum::extract::{Path, State as Extract};
use ramus_app::ResolvedFile;
use ramus_app::live::LiveSessions;
use ramus_app::survey::{ProjectSurvey, SurveyedFile, time_from_system};
use ramus_core::body::RecordBody;
use ramus_core::digest::SessionDigest;
use ramus_core::history::History;
use ramus_core::link::{LinkKind, RelatedSession};
use ramus_core::session::NodeId;
use ramus_core::title::{ProjectSummaries, session_title};
use ramus_render::json::{self, Answer, Conversation, Conversations, Outline, Resume, Tree};
use ramus_render::lineage::{offspring_phrase, origin_phrase};
use ramus_render::outline::{self, OutlineConfig, TreeRow, outline_rows as rows};
use ramus_store::RecordReader;
use ramus_store::claude_dir::FileRole;
use serde::Serialize;

use super::{ApiResult, answer_json};
use crate::ServerState;
use crate::error::ApiError;
use crate::work_queues::TaskKind;

/// A session, as read from its own file.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Detail {
    id: String,
    project: String,
    title: Option<String>,
    cwd: Option<String>,
    git_branch: Option<String>,
    version: Option<String>,
    bytes: u64,
    records: u64,
    messages: u32,
    forks: u32,
    compactions: usize,
    started: Option<String>,
    last_active: Option<String>,
    resume: Option<Resume>,
    conversations: Vec<Conversation>,
    /// The session that this agent works for.
    parent: Option<String>,
    forked_from: Option<[String; 2]>,
    /// It was written to a moment ago, or is open in Claude Code.
    live: bool,
    /// Changes when the file does.
    stamp: String,
}

pub(crate) async fn get_session(
    Extract(state): Extract<Arc<ServerState>>,
    Path(id): Path<String>,
) -> ApiResult<Answer<Detail>> {
    answer_json(state, TaskKind::Sessions, move |state| {
        let found = state.workspace.session_by_id(&id)?;
        let history = state.workspace.read_history(&found.file)?;
        let (digest, summaries) = state.workspace.digest_session(&found, &history);
        let facts = &digest.facts;
        let parent = match &found.file.role {
            FileRole::NestedAgent { session } => Some(session.clone()),
            FileRole::FlatAgent => facts.session_ids.first().map(ToString::to_string),
            _ => None,
        };
        let detail = Detail {
            project: found.project_name().to_owned(),
            title: session_title(&digest, &summaries).map(str::to_owned),
            cwd: facts.cwd.as_deref().map(str::to_owned),
            git_branch: facts.git_branch.as_deref().map(str::to_owned),
            version: facts.version.as_ref().map(|version| version.text.to_string()),
            bytes: found.file.bytes,
            records: digest.readable_records(),
            messages: digest.messages,
            forks: digest.forks.values().sum(),
            compactions: facts.compactions.len(),
            started: facts.started.map(|time| time.to_string()),
            last_active: facts.last_active.map(|time| time.to_string()),
            resume: json::from_resume_point(&history),
            conversations: conversation_list(
                &found.address_id(),
                &found.file.relative,
                &history,
                &digest,
                &summaries,
            ),
            parent,
            forked_from: facts
                .forked_from
                .as_ref()
                .map(|(session, message)| [session.to_string(), message.to_string()]),
            live: LiveSessions::at(SystemTime::now()).is_live(&found.file, facts.last_active),
            stamp: format!(
                "{}-{}",
                found.file.bytes,
                time_from_system(found.file.modified).as_millis()
            ),
            id: found.address_id(),
        };
        Ok(Answer::new("ramus.session/1", detail))
    })
    .await
}

/// Lists the conversations with leaves that lead to them.
fn conversation_list(
    id: &str,
    file: &str,
    history: &History,
    digest: &SessionDigest,
    summaries: &ProjectSummaries,
) -> Vec<Conversation> {
    let mut shown = json::from_conversations(id, file, digest, summaries);
    for (conversation, found) in shown.iter_mut().zip(&history.branches.conversations) {
        conversation.leaf = history.node_address(found.leaf);
    }
    shown
}

pub(crate) async fn get_conversations(
    Extract(state): Extract<Arc<ServerState>>,
    Path(id): Path<String>,
) -> ApiResult<Answer<Conversations>> {
    answer_json(state, TaskKind::Sessions, move |state| {
        let found = state.workspace.session_by_id(&id)?;
        let history = state.workspace.read_history(&found.file)?;
        let (digest, summaries) = state.workspace.digest_session(&found, &history);
        let (id, file) = (&found.file.id, &found.file.relative);
        let conversations = json::from_conversations(id, file, &digest, &summaries);
        let bookmarks = json::find_bookmarks(&found.file.id, &digest, &summaries);
        Ok(Answer::new("ramus.conversations/1", Conversations { conversations, bookmarks }))
    })
    .await
}

pub(crate) async fn get_tree(
    Extract(state): Extract<Arc<ServerState>>,
    Path(id): Path<String>,
) -> ApiResult<Answer<Tree>> {
    answer_json(state, TaskKind::Sessions, move |state| {
        let found = state.workspace.session_by_id(&id)?;
        let history = state.workspace.read_history(&found.file)?;
        let reverts = state.workspace.revert_outcomes(&found, &history);
        let family = state.workspace.survey_all().family_of(&found.file.path);
        let is_agent = found.file.role.is_agent();
        let tree = json::from_tree(&found.file.id, &history, is_agent, &family, &reverts);
        Ok(Answer::new("ramus.tree/1", tree))
    })
    .await
}

/// An origin or offspring of a session.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct RelativeView {
    #[serde(flatten)]
    relative: json::Relative,
    /// The relation, such as `forked from`.
    words: &'static str,
    title: Option<String>,
    /// Its address, if it is there.
    address: Option<String>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct LineageView {
    origins: Vec<RelativeView>,
    offspring: Vec<RelativeView>,
}

pub(crate) async fn get_lineage(
    Extract(state): Extract<Arc<ServerState>>,
    Path(id): Path<String>,
) -> ApiResult<Answer<LineageView>> {
    answer_json(state, TaskKind::Lists, move |state| {
        let found = state.workspace.session_by_id(&id)?;
        let survey = state.workspace.survey_all();
        let family = survey.family_of(&found.file.path);
        let views = |relatives: &[RelatedSession], words: fn(LinkKind) -> &'static str| {
            let view = |relative: &RelatedSession| {
                let id = relative.session.as_deref();
                let mut places = survey.projects.iter().filter_map(|project| {
                    let one = project.sessions.iter().find(|one| Some(&*one.file.id) == id)?;
                    Some((project, one))
                });
                let here = places.next();
                let is_only = places.next().is_none();
                let address = |(project, one): (&ProjectSurvey, &SurveyedFile)| match is_only {
                    true => one.file.id.clone(),
                    false => format!("{}~{}", one.file.id, project.name),
                };
                let title = |(project, one): (&ProjectSurvey, &SurveyedFile)| {
                    session_title(&one.digest, &project.summaries).map(str::to_owned)
                };
                RelativeView {
                    words: words(relative.kind),
                    title: here.and_then(title),
                    address: here.map(address),
                    relative: json::from_relative(relative),
                }
            };
            relatives.iter().map(view).collect()
        };
        let lineage = LineageView {
            origins: views(&family.origins, origin_phrase),
            offspring: views(&family.offspring, offspring_phrase),
        };
        Ok(Answer::new("ramus.lineage/1", lineage))
    })
    .await
}

pub(crate) async fn get_outline(
    Extract(state): Extract<Arc<ServerState>>,
    Path(id): Path<String>,
) -> ApiResult<Answer<Outline>> {
    answer_json(state, TaskKind::Sessions, move |state| {
        let found = state.workspace.session_by_id(&id)?;
        let history = state.workspace.read_history(&found.file)?;
        let config = OutlineConfig {
            records: false,
            around: None,
            depth: 0,
            width: 0,
            agents: state.workspace.agent_entries(&found, &history),
            reverts: state.workspace.revert_outcomes(&found, &history),
            time: &|_| String::new(),
        };
        let mut rows = rows(&history, &config);
        put_answers(&found, &history, &mut rows)?;
        let rows = rows.iter().map(|row| json::from_tree_row(&history, row)).collect();
        Ok(Answer::new("ramus.outline/1", Outline { session: found.address_id(), rows }))
    })
    .await
}

/// Gives the rows that an answer opens its first words, which only the file has.
fn put_answers(
    found: &ResolvedFile,
    history: &History,
    rows: &mut [TreeRow],
) -> Result<(), ApiError> {
    let mut bodies = RecordReader::open(&found.file.path)?;
    let mut body = |node: NodeId| {
        let bytes = bodies.read_record(history.session.record(node).span).ok()?;
        RecordBody::parse(&bytes).ok()
    };
    outline::fill_reply_words(history, rows, &mut body);
    Ok(())
}
