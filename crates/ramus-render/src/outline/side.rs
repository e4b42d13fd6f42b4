//! Finds the agents of a session and the messages that started them (R6).

use std::collections::HashMap;

use ramus_core::fold::FoldId;
use ramus_core::history::History;
use ramus_core::name::Key;
use ramus_core::session::NodeId;

use super::AgentLane;

/// The work of one agent.
#[derive(Debug)]
pub(super) enum Side<'a> {
    /// In this file.
    Inline(Vec<NodeId>),
    /// In its own file.
    Agent(&'a AgentLane),
}

/// All agents of a session, by the message that started them.
#[derive(Debug, Default)]
pub(super) struct Sides<'a> {
    sides: Vec<Side<'a>>,
    at: HashMap<FoldId, Vec<usize>>,
    nowhere: Vec<usize>,
}

impl<'a> Sides<'a> {
    /// Finds the message that started each agent. In an agent's own file the sidechain is the main line.
    pub(super) fn new(history: &History, agents: &'a [AgentLane]) -> Self {
        let mut sides = Self::default();
        // By the first record of a sidechain's message: the index of the sidechain.
        let mut side_of = vec![None; history.session.records().len()];
        let mut anchors: Vec<Option<FoldId>> = Vec::new();
        let own_file = is_agent_file(history);
        for (id, fold) in history.folds.iter().filter(|(_, fold)| fold.sidechain && !own_file) {
            let parent = fold.parent.map(|parent| (parent, history.folds.fold(parent)));
            let side = match parent {
                Some((_, parent)) if parent.sidechain => side_of[parent.head.0 as usize],
                _ => None,
            };
            let side = side.unwrap_or_else(|| {
                let anchor = match parent {
                    Some((parent, _)) => Some(parent),
                    None => {
                        let call = starting_call(history, fold.head);
                        call.and_then(|call| main_fold(history, call, &side_of, &anchors))
                    }
                };
                anchors.push(anchor);
                sides.sides.push(Side::Inline(Vec::new()));
                sides.sides.len() - 1
            });
            side_of[fold.head.0 as usize] = Some(side);
            if let Side::Inline(nodes) = &mut sides.sides[side] {
                nodes.extend_from_slice(history.folds.members(id));
            }
        }
        for side in &mut sides.sides {
            if let Side::Inline(nodes) = side {
                nodes.sort_unstable();
            }
        }
        for agent in agents {
            let fold = agent.node.and_then(|node| main_fold(history, node, &side_of, &anchors));
            anchors.push(fold);
            sides.sides.push(Side::Agent(agent));
        }
        for (side, anchor) in anchors.into_iter().enumerate() {
            match anchor {
                Some(fold) => sides.at.entry(fold).or_default().push(side),
                None => sides.nowhere.push(side),
            }
        }
        sides
    }

    /// Returns the agents that a message started.
    pub(super) fn at(&self, fold: FoldId) -> impl Iterator<Item = &Side<'a>> {
        self.at.get(&fold).into_iter().flatten().map(|side| &self.sides[*side])
    }

    /// Returns the agents whose call is unknown.
    pub(super) fn nowhere(&self) -> impl Iterator<Item = &Side<'a>> {
        self.nowhere.iter().map(|side| &self.sides[*side])
    }
}

/// Whether all records belong to an agent.
pub(super) fn is_agent_file(history: &History) -> bool {
    history.session.nodes().all(|(_, record)| record.sidechain)
}

/// Returns the message of the main line that a node belongs to; for a node of a sidechain, the
/// message that started it.
fn main_fold(
    history: &History,
    node: NodeId,
    side_of: &[Option<usize>],
    anchors: &[Option<FoldId>],
) -> Option<FoldId> {
    let fold = history.folds.of(node)?;
    match side_of[history.folds.fold(fold).head.0 as usize] {
        Some(side) => anchors[side],
        None => Some(fold),
    }
}

/// Returns the call that started a sidechain: the one with the same prompt, else the nearest before it.
fn starting_call(history: &History, head: NodeId) -> Option<NodeId> {
    let spawns = history.session.spawns();
    let before = &spawns[..spawns.partition_point(|spawn| spawn.record < head)];
    let prompt = history.session.words(head).map(|words| Key::new(words.as_bytes()));
    let same = before.iter().rev().take(RECENT).find(|spawn| spawn.prompt == prompt);
    same.or(before.last()).map(|spawn| spawn.record)
}

/// How many calls are compared. Agents start soon after their calls, in small groups.
const RECENT: usize = 64;
