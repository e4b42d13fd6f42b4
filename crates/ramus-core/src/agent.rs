//! Finds the call that started each sub-agent (R6).

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::history::{ConversationPath, History};
use crate::ids::IdHash;
use crate::session::{AgentSpawn, NodeId, Session};

/// What is known about a sub-agent whose records are in a separate file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentHint {
    pub id: String,
    /// `toolUseId` in the metadata file next to it.
    pub call: Option<IdHash>,
    /// Key of its first prompt, see [`Session::sidechain_opening`].
    pub opening: Option<IdHash>,
}

impl AgentHint {
    /// Collects what the session file of a sub-agent shows.
    pub fn new(id: &str, session: &Session, call: Option<&str>) -> Self {
        Self {
            id: id.to_owned(),
            call: call.map(|call| IdHash::new(call.as_bytes())),
            opening: session.sidechain_opening(),
        }
    }
}

/// An agent with its own file, as an entry in the outline of its session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentEntry {
    /// The call that started it, or its result. `None`: not known.
    pub node: Option<NodeId>,
    pub id: String,
    /// The start of the id that means no other agent or session.
    pub short_id: String,
    pub label: String,
    pub records: u32,
    /// How many agents are between it and the session. It follows the agent that started it.
    pub depth: u8,
}

/// The calls of a session that start sub-agents, indexed for many lookups.
#[derive(Clone, Debug)]
pub struct SpawnIndex {
    by_call: FxHashMap<IdHash, AgentSpawn>,
    by_prompt: FxHashMap<IdHash, AgentSpawn>,
    /// The record whose call started a sub-agent, by the id that a result gives the sub-agent.
    by_result: FxHashMap<Box<str>, NodeId>,
}

impl SpawnIndex {
    /// Collects the calls of a session; of equal ones the first counts.
    pub fn new(session: &Session) -> Self {
        let mut by_call: FxHashMap<IdHash, AgentSpawn> = FxHashMap::default();
        let mut by_prompt: FxHashMap<IdHash, AgentSpawn> = FxHashMap::default();
        for spawn in session.spawns() {
            by_call.entry(spawn.call).or_insert_with(|| spawn.clone());
            if let Some(prompt) = spawn.prompt {
                by_prompt.entry(prompt).or_insert_with(|| spawn.clone());
            }
        }
        let mut by_result = FxHashMap::default();
        for (result, agent) in session.agent_results() {
            by_result.entry(agent.clone()).or_insert_with(|| {
                let mut calls = session.tool_ids(session.record(*result)).iter();
                let spawn = calls.find_map(|call| by_call.get(call));
                spawn.map_or(*result, |spawn| spawn.record)
            });
        }
        Self { by_call, by_prompt, by_result }
    }

    /// Returns the call that started a sub-agent that no result names; `None`: unknown.
    pub fn spawn_of(&self, hint: &AgentHint) -> Option<&AgentSpawn> {
        let by_call = hint.call.and_then(|call| self.by_call.get(&call));
        by_call.or_else(|| self.by_prompt.get(&hint.opening?))
    }

    /// Returns the record whose call started a sub-agent; `None`: unknown.
    pub fn call_of(&self, hint: &AgentHint) -> Option<NodeId> {
        let named = self.by_result.get(&*hint.id).copied();
        named.or_else(|| self.spawn_of(hint).map(|spawn| spawn.record))
    }

    /// Whether a result of the session names this sub-agent.
    pub fn names_agent(&self, agent: &str) -> bool {
        self.by_result.contains_key(agent)
    }
}

/// A sidechain inside the session's file, as clients up to 2.0 wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InlineAgent {
    pub root: NodeId,
    /// The record whose call started it, or its parent.
    pub call: Option<NodeId>,
    /// The call itself; `None`: unknown.
    pub spawn: Option<IdHash>,
    pub records: u32,
}

/// Returns the path of a sidechain inside a session's file, from its first record to its last.
pub fn inline_agent_path(history: &History, root: NodeId) -> Option<ConversationPath> {
    history.path_to(sidechain_nodes(history, root).max()?)
}

/// Walks the records of a sidechain.
fn sidechain_nodes(history: &History, root: NodeId) -> impl Iterator<Item = NodeId> {
    let mut open = vec![root];
    std::iter::from_fn(move || {
        let node = open.pop()?;
        let children = history.record_tree.children(node).iter().copied();
        open.extend(children.filter(|child| history.session.record(*child).sidechain));
        Some(node)
    })
}

/// Finds the sidechains inside a session's file.
pub fn inline_agents(history: &History) -> Vec<InlineAgent> {
    let History { session, record_tree: tree, .. } = history;
    let mut agents: Vec<InlineAgent> = Vec::new();
    // Two calls with the same prompt started two sub-agents: each gets the next call.
    let mut calls: FxHashMap<IdHash, VecDeque<&AgentSpawn>> = FxHashMap::default();
    for spawn in session.spawns() {
        if let Some(prompt) = spawn.prompt {
            calls.entry(prompt).or_default().push_back(spawn);
        }
    }
    for (root, record) in session.nodes() {
        let parent = tree.parent(root).map(|parent| (parent, session.record(parent).sidechain));
        if !record.sidechain
            || !tree.is_first_copy(root)
            || parent.is_some_and(|(_, sidechain)| sidechain)
        {
            continue;
        }
        let by_prompt =
            session.opening_at(root).and_then(|opening| calls.get_mut(&opening)?.pop_front());
        let at = parent.map(|(parent, _)| parent);
        let hangs = || {
            let spawns = session.spawns();
            let first = spawns.partition_point(|spawn| Some(spawn.record) < at);
            spawns.get(first).filter(|spawn| Some(spawn.record) == at)
        };
        agents.push(InlineAgent {
            root,
            call: by_prompt.map(|spawn| spawn.record).or(at),
            spawn: by_prompt.or_else(hangs).map(|spawn| spawn.call),
            records: sidechain_nodes(history, root).count() as u32,
        });
    }
    agents
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resume::ResumeRule;

    /// Lists for each sidechain inside a file the call that started it, and its path.
    #[track_caller]
    fn check(short: &str, expected: &[(Option<&str>, &str)]) {
        let mut session = Session::default();
        session.push(testkit::jsonl(short).as_bytes());
        let history = History::new(session, ResumeRule::Client);
        let spell = |id: &NodeId| {
            let name = history.session.record(*id).uuid;
            name.map(|name| history.session.uuid_text(name)).unwrap_or_default()
        };
        let found: Vec<(Option<IdHash>, String)> = inline_agents(&history)
            .iter()
            .map(|agent| {
                let path = inline_agent_path(&history, agent.root).unwrap();
                assert_eq!(agent.records as usize, path.nodes.len());
                (agent.spawn, path.nodes.iter().map(spell).collect::<Vec<_>>().join(" "))
            })
            .collect();
        let key = |call: &Option<&str>| call.map(|call| IdHash::new(call.as_bytes()));
        let expected: Vec<_> =
            expected.iter().map(|(call, path)| (key(call), (*path).to_owned())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_sidechain_belongs_to_the_call_with_its_prompt() {
        check(
            "a user go
             b < a call:t1:Task look
             c < b call:t2:Task look
             x side-user look
             z side-user look
             y < x side-assistant seen
             w < z side-assistant seen too",
            &[(Some("t1"), "x y"), (Some("t2"), "z w")],
        );
    }

    #[test]
    fn else_to_the_call_that_it_hangs_at() {
        check(
            "a user go
             b < a call:t1:Task look
             x < b side-user other words
             y < x side-assistant seen
             z side-user nobody asked",
            &[(Some("t1"), "x y"), (None, "z")],
        );
    }
}
