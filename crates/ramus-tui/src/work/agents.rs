//! The agents of a session and the calls that started them (R6).

use std::sync::Arc;
use std::sync::mpsc::Sender;

use ramus_app::name::{agent_name, prompt_name};
use ramus_core::agent::{SpawnIndex, inline_agents};
use ramus_core::session::NodeId;
use ramus_store::agents::{SubAgent, attach_calls, read_agents};
use ramus_store::claude_dir::FileRole;

use crate::event::{AgentInfo, Chapter, ScreenEvent};
use crate::work::LatestWorker;

pub(crate) fn start_agents_worker(events: Sender<ScreenEvent>) -> LatestWorker<Arc<Chapter>> {
    LatestWorker::start_worker(events, |chapter: Arc<Chapter>, _, events| {
        let agents = list_agents(&chapter);
        let _ = events.send(ScreenEvent::Agents { file: chapter.file.path.clone(), agents });
    })
}

pub(crate) fn list_agents(chapter: &Chapter) -> Vec<AgentInfo> {
    let history = &chapter.history;
    let (session, is_agent) = match &chapter.file.role {
        FileRole::Session => (&chapter.file.id, false),
        FileRole::NestedAgent { session } => (session, true),
        FileRole::FlatAgent | FileRole::Journal { .. } => return Vec::new(),
    };
    let (agents, _) = read_agents(&chapter.files, session);
    let info = |(call, agent): (Option<NodeId>, SubAgent)| AgentInfo {
        label: agent_name(&agent),
        id: agent.file.id.clone(),
        call,
        depth: agent.depth,
        records: agent.records,
        file: Some(agent.file),
        last: NodeId::default(),
    };
    if is_agent {
        // Only those that it started itself.
        let spawns = SpawnIndex::new(&history.session);
        let others = agents.into_iter().filter(|agent| agent.file.id != chapter.file.id);
        let mut own: Vec<AgentInfo> = others
            .filter_map(|agent| Some((Some(spawns.call_of(&agent.hint)?), agent)))
            .map(info)
            .collect();
        own.sort_by_key(|agent| agent.call);
        return own;
    }
    let mut found: Vec<AgentInfo> = attach_calls(agents, history).into_iter().map(info).collect();
    found.extend(inline_agents(history).into_iter().map(|agent| AgentInfo {
        id: String::new(),
        label: history.session.preview_text(agent.root).map(prompt_name).unwrap_or_default(),
        call: agent.call,
        depth: 0,
        records: agent.records,
        file: None,
        last: history.last_below(agent.root),
    }));
    // An agent that another one started has the call of that one, and so stays behind it.
    found.sort_by_key(|agent| agent.call);
    found
}
