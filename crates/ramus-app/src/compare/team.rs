//! What the agents of a conversation did: it counts for the side that called them (R6).

use std::sync::Arc;

use ramus_core::agent::{SpawnIndex, inline_agents, inline_path};
use ramus_core::body::Body;
use ramus_core::compare::Side;
use ramus_core::history::History;
use ramus_core::record::Kind;
use ramus_core::resume::Rule;
use ramus_core::session::NodeId;
use ramus_core::turn::Turn;
use ramus_store::agents::{Agent, agents_of};
use ramus_store::place::HistoryFile;
use ramus_store::trace::Part;
use ramus_store::{Bodies, PathError, from_jsonl};

use crate::conversation::each_turn;

/// The agents of one session, those not yet met.
pub(super) struct Team {
    rule: Rule,
    left: Vec<Agent>,
}

/// An agent with the call that started it.
pub(super) struct Started {
    call: NodeId,
    part: Part,
}

impl Team {
    pub(super) fn new(files: &[HistoryFile], session: &str, rule: Rule) -> Self {
        // What cannot be read has no part in the comparison.
        let (left, _) = agents_of(files, session);
        Self { rule, left }
    }

    /// Takes out the agents that the calls of a file started.
    pub(super) fn started_by(
        &mut self,
        file: &HistoryFile,
        history: &Arc<History>,
    ) -> Result<Vec<Started>, PathError> {
        let mut started = inline(file, history);
        let own_id = file.role.is_agent().then_some(file.id.as_str());
        let spawns = SpawnIndex::new(&history.session);
        for agent in std::mem::take(&mut self.left) {
            let is_ours = match agent.meta.parent.as_deref() {
                Some(parent) => own_id == Some(parent),
                None => own_id != Some(agent.file.id.as_str()),
            };
            let call = spawns.call_of(&agent.hint).filter(|_| is_ours);
            let Some(call) = call else {
                self.left.push(agent);
                continue;
            };
            let history = from_jsonl(&agent.file.path, self.rule)?;
            let branches = &history.branches;
            let end = branches.main().cloned();
            if let Some(end) = end {
                let path = history.path(&end);
                started.push(Started {
                    call,
                    part: Part { file: agent.file, history: history.into(), path },
                });
            }
        }
        Ok(started)
    }

    /// Adds to a side all that the agents called by a turn did, and of those that they called.
    pub(super) fn count_agents(
        &mut self,
        started: &mut Vec<Started>,
        turn: &Turn,
        is_own: bool,
        side: &mut Side,
    ) -> Result<(), PathError> {
        let (called, rest): (Vec<Started>, _) =
            std::mem::take(started).into_iter().partition(|agent| turn.nodes.contains(&agent.call));
        *started = rest;
        for Started { part, .. } in called {
            // Sidechains in the session's own file have called nobody.
            let is_inline = !part.file.role.is_agent();
            let mut below = match is_inline {
                true => Vec::new(),
                false => self.started_by(&part.file, &part.history)?,
            };
            side.agents += u32::from(is_own);
            each_turn(&part, |turn| -> Result<(), PathError> {
                match is_own {
                    true => side.agent(&turn),
                    false => side.shared(&turn),
                }
                self.count_agents(&mut below, &turn, is_own, side)
            })?;
            if is_own {
                spend(&part, &part.path.nodes, side)?;
            }
        }
        Ok(())
    }
}

/// Adds the tokens of some records.
pub(super) fn spend(part: &Part, nodes: &[NodeId], side: &mut Side) -> Result<(), PathError> {
    let mut bodies = Bodies::open(&part.file.path)?;
    let records = nodes.iter().map(|node| part.history.session.record(*node));
    for record in records.filter(|record| record.kind == Kind::Assistant) {
        if let Ok(Body::Assistant(body)) = Body::parse(&bodies.bytes(record.span)?) {
            side.usage.take(&body);
        }
    }
    Ok(())
}

/// Finds the sidechains inside the file of a session.
fn inline(file: &HistoryFile, history: &Arc<History>) -> Vec<Started> {
    if file.role.is_agent() {
        return Vec::new();
    }
    let agents = inline_agents(history).into_iter();
    agents
        .filter_map(|agent| {
            let path = inline_path(history, agent.root)?;
            let part = Part { file: file.clone(), history: Arc::clone(history), path };
            Some(Started { call: agent.call?, part })
        })
        .collect()
}
