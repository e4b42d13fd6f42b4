//! Finds the agents of a session and the messages that started them (R6).

use std::collections::HashMap;

use ramus_core::agent::AgentEntry;
use ramus_core::history::History;
use ramus_core::ids::IdHash;
use ramus_core::message_tree::MessageNodeId;
use ramus_core::session::NodeId;

/// The work of one agent.
#[derive(Debug)]
pub(super) enum AgentWork<'a> {
    /// In this file.
    Inline(Vec<NodeId>),
    /// In its own file.
    Agent(&'a AgentEntry),
}

/// All agents of a session, by the message that started them.
#[derive(Debug, Default)]
pub(super) struct AgentsByMessage<'a> {
    agents: Vec<AgentWork<'a>>,
    at: HashMap<MessageNodeId, Vec<usize>>,
    unattached: Vec<usize>,
}

impl<'a> AgentsByMessage<'a> {
    /// Finds the message that started each agent. In an agent's own file the sidechain is the main line.
    pub(super) fn new(history: &History, agents: &'a [AgentEntry]) -> Self {
        let mut sides = Self::default();
        // By the first record of a sidechain's message: the index of the sidechain.
        let mut side_of = vec![None; history.session.records().len()];
        let mut anchors: Vec<Option<MessageNodeId>> = Vec::new();
        let own_file = is_agent_file(history);
        for (id, message) in
            history.message_tree.iter().filter(|(_, message)| message.sidechain && !own_file)
        {
            let parent =
                message.parent.map(|parent| (parent, history.message_tree.message(parent)));
            let side = match parent {
                Some((_, parent)) if parent.sidechain => side_of[parent.head.0 as usize],
                _ => None,
            };
            let side = side.unwrap_or_else(|| {
                let anchor = match parent {
                    Some((parent, _)) => Some(parent),
                    None => {
                        let call = find_starting_call(history, message.head);
                        call.and_then(|call| main_message(history, call, &side_of, &anchors))
                    }
                };
                anchors.push(anchor);
                sides.agents.push(AgentWork::Inline(Vec::new()));
                sides.agents.len() - 1
            });
            side_of[message.head.0 as usize] = Some(side);
            if let AgentWork::Inline(nodes) = &mut sides.agents[side] {
                nodes.extend_from_slice(history.message_tree.records_of(id));
            }
        }
        for side in &mut sides.agents {
            if let AgentWork::Inline(nodes) = side {
                nodes.sort_unstable();
            }
        }
        for agent in agents {
            let message =
                agent.node.and_then(|node| main_message(history, node, &side_of, &anchors));
            anchors.push(message);
            sides.agents.push(AgentWork::Agent(agent));
        }
        for (side, anchor) in anchors.into_iter().enumerate() {
            match anchor {
                Some(message) => sides.at.entry(message).or_default().push(side),
                None => sides.unattached.push(side),
            }
        }
        sides
    }

    /// Returns the agents that a message started.
    pub(super) fn agents_at(&self, message: MessageNodeId) -> impl Iterator<Item = &AgentWork<'a>> {
        self.at.get(&message).into_iter().flatten().map(|side| &self.agents[*side])
    }

    /// Returns the agents whose call is unknown.
    pub(super) fn unattached_agents(&self) -> impl Iterator<Item = &AgentWork<'a>> {
        self.unattached.iter().map(|side| &self.agents[*side])
    }
}

/// Whether all records belong to an agent.
pub(super) fn is_agent_file(history: &History) -> bool {
    history.session.nodes().all(|(_, record)| record.sidechain)
}

/// Returns the message of the main line that a node belongs to; for a node of a sidechain, the
/// message that started it.
fn main_message(
    history: &History,
    node: NodeId,
    side_of: &[Option<usize>],
    anchors: &[Option<MessageNodeId>],
) -> Option<MessageNodeId> {
    let message = history.message_tree.message_of(node)?;
    match side_of[history.message_tree.message(message).head.0 as usize] {
        Some(side) => anchors[side],
        None => Some(message),
    }
}

/// Returns the call that started a sidechain: the one with the same prompt, else the nearest before it.
fn find_starting_call(history: &History, head: NodeId) -> Option<NodeId> {
    let spawns = history.session.spawns();
    let before = &spawns[..spawns.partition_point(|spawn| spawn.record < head)];
    let prompt = history.session.preview_text(head).map(|words| IdHash::new(words.as_bytes()));
    let same = before.iter().rev().take(MAX_RECENT_CALLS).find(|spawn| spawn.prompt == prompt);
    same.or(before.last()).map(|spawn| spawn.record)
}

/// How many calls are compared. Agents start soon after their calls, in small groups.
const MAX_RECENT_CALLS: usize = 64;
