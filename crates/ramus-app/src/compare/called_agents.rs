//! Adds the work of agents to the side that started them (R6).

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use ramus_core::agent::{SpawnIndex, inline_agent_path, inline_agents};
use ramus_core::body::RecordBody;
use ramus_core::compare::ComparedSide;
use ramus_core::history::History;
use ramus_core::ids::IdHash;
use ramus_core::record::RecordKind;
use ramus_core::resume::ResumeRule;
use ramus_core::session::{NodeId, Session};
use ramus_core::turn::Turn;
use ramus_store::agents::{SubAgent, read_agents};
use ramus_store::claude_dir::HistoryFile;
use ramus_store::trace::LinkedPathPart;
use ramus_store::{PathError, RecordReader, from_jsonl};

use crate::conversation::each_turn;

/// The agents of one session, those not yet met.
pub(super) struct CalledAgents {
    rule: ResumeRule,
    left: Vec<Option<SubAgent>>,
    /// Which of them a result may name, a call or a prompt may have started.
    by_id: HashMap<String, Vec<usize>>,
    by_call: HashMap<IdHash, Vec<usize>>,
    by_opening: HashMap<IdHash, Vec<usize>>,
}

/// The agents that the calls of one file started, by the records of these calls.
pub(super) type StartedAgents = HashMap<NodeId, Vec<LinkedPathPart>>;

impl CalledAgents {
    pub(super) fn new(files: &[HistoryFile], session: &str, rule: ResumeRule) -> Self {
        // What cannot be read has no part in the comparison.
        let (agents, _) = read_agents(files, session);
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
    ) -> Result<StartedAgents, PathError> {
        let mut started = inline_agent_parts(file, history);
        let own_id = file.role.is_agent().then_some(file.id.as_str());
        let spawns = SpawnIndex::new(&history.session);
        for at in self.candidate_agents(&history.session) {
            let Some(agent) = &self.left[at] else { continue };
            let is_ours = match agent.meta.parent.as_deref() {
                Some(parent) => own_id == Some(parent),
                None => own_id != Some(agent.file.id.as_str()),
            };
            let Some(call) = spawns.call_of(&agent.hint).filter(|_| is_ours) else { continue };
            let Some(agent) = self.left[at].take() else { continue };
            let history = from_jsonl(&agent.file.path, self.rule)?;
            if let Some(end) = history.branches.main_conversation().cloned() {
                let path = history.conversation_path(&end);
                let part = LinkedPathPart { file: agent.file, history: history.into(), path };
                started.entry(call).or_default().push(part);
            }
        }
        Ok(started)
    }

    /// Returns the agents that a session may have started, in their order: not each is asked about each file.
    fn candidate_agents(&self, session: &Session) -> BTreeSet<usize> {
        let ids: HashSet<&str> = session.agent_results().iter().map(|(_, id)| &**id).collect();
        let calls: HashSet<IdHash> = session.spawns().iter().map(|spawn| spawn.call).collect();
        let prompts: HashSet<IdHash> =
            session.spawns().iter().filter_map(|spawn| spawn.prompt).collect();
        let named = ids.into_iter().filter_map(|id| self.by_id.get(id));
        let called = calls.iter().filter_map(|call| self.by_call.get(call));
        let prompted = prompts.iter().filter_map(|prompt| self.by_opening.get(prompt));
        named.chain(called).chain(prompted).flatten().copied().collect()
    }

    /// Adds to a side all that the agents called by a turn did, and of those that they called.
    pub(super) fn count_agents(
        &mut self,
        started: &mut StartedAgents,
        turn: &Turn,
        is_own: bool,
        side: &mut ComparedSide,
    ) -> Result<(), PathError> {
        // Agents start agents, however deep: this must not take a stack as deep.
        let mut open = take_called_agents(started, turn);
        open.reverse();
        while let Some(part) = open.pop() {
            // Sidechains in the session's own file have not started other agents.
            let is_inline = !part.file.role.is_agent();
            let mut below = match is_inline {
                true => StartedAgents::default(),
                false => self.started_by(&part.file, &part.history)?,
            };
            side.agents += u32::from(is_own);
            let mut next = Vec::new();
            each_turn(&part, |turn| -> Result<(), PathError> {
                match is_own {
                    true => side.add_agent_turn(&turn),
                    false => side.add_shared_turn(&turn),
                }
                next.append(&mut take_called_agents(&mut below, &turn));
                Ok(())
            })?;
            if is_own {
                add_usage(&part, &part.path.nodes, side)?;
            }
            open.extend(next.into_iter().rev());
        }
        Ok(())
    }
}

/// Takes out the agents that a turn called.
fn take_called_agents(started: &mut StartedAgents, turn: &Turn) -> Vec<LinkedPathPart> {
    if started.is_empty() {
        return Vec::new();
    }
    turn.nodes.iter().filter_map(|node| started.remove(node)).flatten().collect()
}

/// Adds the tokens of some records.
pub(super) fn add_usage<'n>(
    part: &LinkedPathPart,
    nodes: impl IntoIterator<Item = &'n NodeId>,
    side: &mut ComparedSide,
) -> Result<(), PathError> {
    let mut bodies = RecordReader::open(&part.file.path)?;
    let records = nodes.into_iter().map(|node| part.history.session.record(*node));
    for record in records.filter(|record| record.kind == RecordKind::Assistant) {
        if let Ok(RecordBody::Assistant(body)) =
            RecordBody::parse(&bodies.read_record(record.span)?)
        {
            side.usage.add_reply(&body);
        }
    }
    Ok(())
}

/// Finds the sidechains inside the file of a session.
fn inline_agent_parts(file: &HistoryFile, history: &Arc<History>) -> StartedAgents {
    let mut started = StartedAgents::default();
    if file.role.is_agent() {
        return started;
    }
    for agent in inline_agents(history) {
        if let (Some(call), Some(path)) = (agent.call, inline_agent_path(history, agent.root)) {
            let part = LinkedPathPart { file: file.clone(), history: Arc::clone(history), path };
            started.entry(call).or_default().push(part);
        }
    }
    started
}
