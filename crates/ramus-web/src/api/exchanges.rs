//! The exchanges of a path, and the agents and background tasks that ran meanwhile.

use std::sync::Arc;

use axum::extract::{Path, Query, State as Extract};
use ramus_app::name::agent_name;
use ramus_core::session::NodeId;
use ramus_core::time::Time;
use ramus_core::turn::{BackgroundTask, Exchange, ExchangeCollector};
use ramus_render::json::{Answer, round_dollars};
use serde::{Deserialize, Serialize};

use super::{ApiResult, answer_json};
use crate::ServerState;
use crate::path_transcript::PathTranscript;
use crate::work_queues::TaskKind;

/// How many messages are read for one answer.
const MAX_READ: usize = 4_000;

#[derive(Debug, Deserialize)]
pub(crate) struct ExchangesQuery {
    #[serde(default)]
    leaf: String,
    /// The position to continue from.
    #[serde(default)]
    from: usize,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Exchanges {
    exchanges: Vec<ExchangeView>,
    tasks: Vec<TaskView>,
    /// Where the next answer begins; `None`: that is all.
    next: Option<usize>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct ExchangeView {
    /// `prompt`, `task`, `compaction`, or `start` for what comes before the first prompt.
    kind: &'static str,
    /// The positions of its first and last message.
    at: usize,
    end: usize,
    uuid: Option<String>,
    words: String,
    started: Option<String>,
    ended: Option<String>,
    replies: u32,
    calls: u32,
    failed: u32,
    agents: u32,
    files: Vec<String>,
    tokens: u64,
    context: u64,
    cost_usd: Option<f64>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct TaskView {
    id: String,
    words: String,
    at: usize,
    started: Option<String>,
    ended: Option<String>,
}

/// Sums up the exchanges of a path, as many as can be read at once.
pub(crate) async fn get_exchanges(
    Extract(state): Extract<Arc<ServerState>>,
    Path(id): Path<String>,
    Query(asked): Query<ExchangesQuery>,
) -> ApiResult<Answer<Exchanges>> {
    answer_json(state, TaskKind::Sessions, move |state| {
        let path = state.open_transcript(&state.workspace.session_by_id(&id)?, &asked.leaf)?;
        let from = path.block_range(asked.from).start;
        let to = from.saturating_add(MAX_READ).min(path.message_count());
        let to = if to == path.message_count() { to } else { path.block_range(to).start };
        let mut collector = ExchangeCollector::new(&state.workspace.active_prices().list);
        // In steps, so that the bodies of a long path are not in memory together.
        let mut here = path.block_range(from);
        while !here.is_empty() && here.start < to {
            for placed in path.read_turns(here.clone())? {
                let ended = last_time(&path, placed.part, &placed.turn.nodes);
                collector.add_turn(placed.at, &placed.turn, ended);
            }
            here = path.block_range(here.end);
        }
        let exchanges = Exchanges {
            exchanges: collector.exchanges.into_iter().map(exchange_view).collect(),
            tasks: collector.tasks.into_iter().map(task_view).collect(),
            next: (to < path.message_count()).then_some(to),
        };
        Ok(Answer::new("ramus.exchanges/1", exchanges))
    })
    .await
}

fn last_time(path: &PathTranscript, part: usize, nodes: &[NodeId]) -> Option<Time> {
    let session = &path.open.parts[part].history.session;
    nodes.iter().filter_map(|node| session.record(*node).time).max()
}

fn exchange_view(exchange: Exchange) -> ExchangeView {
    ExchangeView {
        kind: exchange.start.as_str(),
        at: exchange.at,
        end: exchange.end,
        uuid: exchange.uuid,
        words: exchange.words,
        started: exchange.started.map(|time| time.to_string()),
        ended: exchange.ended.map(|time| time.to_string()),
        replies: exchange.replies,
        calls: exchange.calls,
        failed: exchange.failed_calls,
        agents: exchange.agents,
        files: exchange.changed_files,
        tokens: exchange.tokens.total(),
        context: exchange.context,
        cost_usd: exchange.cost.map(round_dollars),
    }
}

fn task_view(task: BackgroundTask) -> TaskView {
    TaskView {
        id: task.id,
        words: task.words,
        at: task.at,
        started: task.started.map(|time| time.to_string()),
        ended: task.ended.map(|time| time.to_string()),
    }
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct AgentSpans {
    agents: Vec<AgentSpan>,
}

/// When an agent worked.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct AgentSpan {
    /// What opens it, without `agent-`.
    id: String,
    words: String,
    /// How many agents are between it and the session.
    depth: u8,
    records: u32,
    started: Option<String>,
    ended: Option<String>,
    /// The position of the call that started it, if that is on the path.
    at: Option<usize>,
}

/// Tells when each agent of a session worked.
pub(crate) async fn get_agent_spans(
    Extract(state): Extract<Arc<ServerState>>,
    Path(id): Path<String>,
    Query(asked): Query<ExchangesQuery>,
) -> ApiResult<Answer<AgentSpans>> {
    answer_json(state, TaskKind::Sessions, move |state| {
        let found = state.workspace.session_by_id(&id)?;
        let history = state.workspace.read_history(&found.file)?;
        let path = state.open_transcript(&found, &asked.leaf)?;
        let survey = state.workspace.survey_all();
        let files = survey.projects.iter().flat_map(|project| &project.agents);
        let known: std::collections::HashMap<&std::path::Path, _> =
            files.map(|agent| (&*agent.file.path, &agent.digest.facts)).collect();
        let span = |(node, agent): (Option<NodeId>, ramus_store::agents::SubAgent)| {
            let facts = known.get(&*agent.file.path);
            let time = |time: Option<Time>| time.map(|time| time.to_string());
            AgentSpan {
                words: agent_name(&agent),
                depth: agent.depth,
                records: agent.records,
                started: time(facts.and_then(|facts| facts.started)),
                ended: time(facts.and_then(|facts| facts.last_active)),
                at: node.and_then(|node| path.position_of(&history.node_address(node))),
                id: agent.file.id,
            }
        };
        let agents = state.workspace.session_agents(&found, &history).into_iter().map(span);
        Ok(Answer::new("ramus.agent-spans/1", AgentSpans { agents: agents.collect() }))
    })
    .await
}
