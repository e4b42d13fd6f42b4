//! What the agents of a conversation did: it counts for the side that called them (R6).

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use ramus_core::agent::{SpawnIndex, inline_agents, inline_path};
use ramus_core::body::Body;
use ramus_core::compare::Side;
use ramus_core::history::History;
use ramus_core::name::Key;
use ramus_core::record::Kind;
use ramus_core::resume::Rule;
use ramus_core::session::{NodeId, Session};
use ramus_core::turn::Turn;
use ramus_store::agents::{Agent, agents_of};
use ramus_store::place::HistoryFile;
use ramus_store::trace::Part;
use ramus_store::{Bodies, PathError, from_jsonl};

use crate::conversation::each_turn;

/// The agents of one session, those not yet met.
pub(super) struct Team {
    rule: Rule,
    left: Vec<Option<Agent>>,
    /// Which of them a result may name, a call or a prompt may have started.
    by_id: HashMap<String, Vec<usize>>,
    by_call: HashMap<Key, Vec<usize>>,
    by_opening: HashMap<Key, Vec<usize>>,
}

/// The agents that the calls of one file started, by the records of these calls.
pub(super) type Started = HashMap<NodeId, Vec<Part>>;

impl Team {
    pub(super) fn new(files: &[HistoryFile], session: &str, rule: Rule) -> Self {
        // What cannot be read has no part in the comparison.
        let (agents, _) = agents_of(files, session);
        let mut team = Self {
            rule,
            left: Vec::new(),
            by_id: HashMap::default(),
            by_call: HashMap::default(),
            by_opening: HashMap::default(),
        };
        for (at, agent) in agents.into_iter().enumerate() {
            team.by_id.entry(agent.hint.id.clone()).or_default().push(at);
            if let Some(call) = agent.hint.call {
                team.by_call.entry(call).or_default().push(at);
            }
            if let Some(opening) = agent.hint.opening {
                team.by_opening.entry(opening).or_default().push(at);
            }
            team.left.push(Some(agent));
        }
        team
    }

    /// Takes out the agents that the calls of a file started.
    pub(super) fn started_by(
        &mut self,
        file: &HistoryFile,
        history: &Arc<History>,
    ) -> Result<Started, PathError> {
        let mut started = inline(file, history);
        let own_id = file.role.is_agent().then_some(file.id.as_str());
        let spawns = SpawnIndex::new(&history.session);
        for at in self.candidates(&history.session) {
            let Some(agent) = &self.left[at] else { continue };
            let is_ours = match agent.meta.parent.as_deref() {
                Some(parent) => own_id == Some(parent),
                None => own_id != Some(agent.file.id.as_str()),
            };
            let Some(call) = spawns.call_of(&agent.hint).filter(|_| is_ours) else { continue };
            let Some(agent) = self.left[at].take() else { continue };
            let history = from_jsonl(&agent.file.path, self.rule)?;
            if let Some(end) = history.branches.main().cloned() {
                let path = history.path(&end);
                let part = Part { file: agent.file, history: history.into(), path };
                started.entry(call).or_default().push(part);
            }
        }
        Ok(started)
    }

    /// Returns the agents that a session may have started, in their order: not each is asked about each file.
    fn candidates(&self, session: &Session) -> BTreeSet<usize> {
        let ids: HashSet<&str> = session.agent_results().iter().map(|(_, id)| &**id).collect();
        let calls: HashSet<Key> = session.spawns().iter().map(|spawn| spawn.call).collect();
        let prompts: HashSet<Key> =
            session.spawns().iter().filter_map(|spawn| spawn.prompt).collect();
        let named = ids.into_iter().filter_map(|id| self.by_id.get(id));
        let called = calls.iter().filter_map(|call| self.by_call.get(call));
        let prompted = prompts.iter().filter_map(|prompt| self.by_opening.get(prompt));
        named.chain(called).chain(prompted).flatten().copied().collect()
    }

    /// Adds to a side all that the agents called by a turn did, and of those that they called.
    pub(super) fn count_agents(
        &mut self,
        started: &mut Started,
        turn: &Turn,
        is_own: bool,
        side: &mut Side,
    ) -> Result<(), PathError> {
        // Agents start agents, however deep: this must not take a stack as deep.
        let mut open = called(started, turn);
        open.reverse();
        while let Some(part) = open.pop() {
            // Sidechains in the session's own file have called nobody.
            let is_inline = !part.file.role.is_agent();
            let mut below = match is_inline {
                true => Started::default(),
                false => self.started_by(&part.file, &part.history)?,
            };
            side.agents += u32::from(is_own);
            let mut next = Vec::new();
            each_turn(&part, |turn| -> Result<(), PathError> {
                match is_own {
                    true => side.agent(&turn),
                    false => side.shared(&turn),
                }
                next.append(&mut called(&mut below, &turn));
                Ok(())
            })?;
            if is_own {
                spend(&part, &part.path.nodes, side)?;
            }
            open.extend(next.into_iter().rev());
        }
        Ok(())
    }
}

/// Takes out the agents that a turn called.
fn called(started: &mut Started, turn: &Turn) -> Vec<Part> {
    if started.is_empty() {
        return Vec::new();
    }
    turn.nodes.iter().filter_map(|node| started.remove(node)).flatten().collect()
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
fn inline(file: &HistoryFile, history: &Arc<History>) -> Started {
    let mut started = Started::default();
    if file.role.is_agent() {
        return started;
    }
    for agent in inline_agents(history) {
        if let (Some(call), Some(path)) = (agent.call, inline_path(history, agent.root)) {
            let part = Part { file: file.clone(), history: Arc::clone(history), path };
            started.entry(call).or_default().push(part);
        }
    }
    started
}
