//! Where agents hang: which call started which sidechain (R6).

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::history::History;
use crate::name::Key;
use crate::session::{NodeId, Session, Spawn};

/// What is known of an agent whose records stand in a file of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentHint {
    pub id: String,
    /// `toolUseId` of the meta file beside it.
    pub call: Option<Key>,
    /// Key of its first prompt, see [`Session::opening`].
    pub opening: Option<Key>,
}

impl AgentHint {
    /// Makes the hint of an agent's session.
    pub fn new(id: &str, session: &Session, call: Option<&str>) -> Self {
        Self {
            id: id.to_owned(),
            call: call.map(|call| Key::new(call.as_bytes())),
            opening: session.opening(),
        }
    }
}

/// Returns the call that started an agent whose result does not name it; `None` when nothing tells.
pub fn spawn_of<'a>(session: &'a Session, hint: &AgentHint) -> Option<&'a Spawn> {
    let by_call = |call: Key| session.spawns().iter().find(|spawn| spawn.call == call);
    hint.call.and_then(by_call).or_else(|| spawned_with(session.spawns(), hint.opening?))
}

/// Returns the record whose call started an agent; `None` when nothing tells.
pub fn call_of(history: &History, hint: &AgentHint) -> Option<NodeId> {
    let session = &history.session;
    let named =
        session.agent_results().iter().find(|(_, agent)| **agent == *hint.id).map(|(result, _)| {
            let calls = session.tool_ids(session.record(*result)).iter();
            let by_call = |call: Key| session.spawns().iter().find(|spawn| spawn.call == call);
            calls
                .filter_map(|call| by_call(*call))
                .map(|spawn| spawn.record)
                .next()
                .unwrap_or(*result)
        });
    named.or_else(|| spawn_of(session, hint).map(|spawn| spawn.record))
}

fn spawned_with(spawns: &[Spawn], opening: Key) -> Option<&Spawn> {
    spawns.iter().find(|spawn| spawn.prompt == Some(opening))
}

/// A sidechain inside a session's own file, as clients up to 2.0 wrote them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InlineAgent {
    pub root: NodeId,
    /// The record whose call started it, or the one it hangs at.
    pub call: Option<NodeId>,
    pub records: u32,
}

/// Finds the sidechains inside a session's file.
pub fn inline_agents(history: &History) -> Vec<InlineAgent> {
    let History { session, tree, .. } = history;
    let mut agents: Vec<InlineAgent> = Vec::new();
    // Two calls with one prompt started two agents: each takes the next call.
    let mut calls: FxHashMap<Key, VecDeque<NodeId>> = FxHashMap::default();
    for spawn in session.spawns() {
        if let Some(prompt) = spawn.prompt {
            calls.entry(prompt).or_default().push_back(spawn.record);
        }
    }
    for (root, record) in session.nodes() {
        let parent = tree.parent(root).map(|parent| (parent, session.record(parent).sidechain));
        if !record.sidechain
            || !tree.is_first(root)
            || parent.is_some_and(|(_, sidechain)| sidechain)
        {
            continue;
        }
        let by_prompt =
            session.opening_of(root).and_then(|opening| calls.get_mut(&opening)?.pop_front());
        let mut records = 0;
        let mut open = vec![root];
        while let Some(node) = open.pop() {
            records += 1;
            open.extend(
                tree.children(node).iter().filter(|child| session.record(**child).sidechain),
            );
        }
        agents.push(InlineAgent {
            root,
            call: by_prompt.or(parent.map(|(parent, _)| parent)),
            records,
        });
    }
    agents
}
