//! Finds the sub-agents of a session and the calls that started them (R6).

use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::path::Path;

use ramus_core::agent::{AgentHint, SpawnIndex};
use ramus_core::history::History;
use ramus_core::ids::IdHash;
use ramus_core::session::{AgentSpawn, NodeId, Session};
use rustc_hash::FxHashMap;

use crate::claude_dir::{FileRole, HistoryFile};
use crate::error::PathError;
use crate::overlay;
use crate::read::read_session;
use crate::regular_file;

/// A sub-agent with what its files say about it.
#[derive(Debug)]
pub struct SubAgent {
    pub file: HistoryFile,
    pub hint: AgentHint,
    pub meta: AgentMeta,
    pub records: u32,
    /// The first words of its prompt.
    pub words: Option<String>,
    /// The id of the agent that started it. `None`: the session did, or it is unknown.
    pub parent: Option<String>,
    /// How many agents are between it and the session.
    pub depth: u8,
    /// Its calls that started agents, and the agents that their results name.
    spawns: Vec<AgentSpawn>,
    named: Vec<Box<str>>,
}

/// The content of `agent-<id>.meta.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentMeta {
    pub kind: Option<String>,
    pub description: Option<String>,
    pub call: Option<String>,
    /// The agent that started this one.
    pub parent: Option<String>,
}

/// How much of a flat agent's file is read to find its session.
const HEAD_BYTES: u64 = 64 * 1024;

/// Reads the agents of a session from the files of its project. Also returns what could not be read.
pub fn read_agents(files: &[HistoryFile], session: &str) -> (Vec<SubAgent>, Vec<PathError>) {
    let mut agents = Vec::new();
    let mut problems = Vec::new();
    for file in files {
        let is_ours = match &file.role {
            FileRole::NestedAgent { session: parent } => Ok(parent == session),
            FileRole::FlatAgent => belongs_to_session(&file.path, session),
            FileRole::Session | FileRole::Journal { .. } => Ok(false),
        };
        match is_ours.and_then(|is_ours| is_ours.then(|| read_agent(file)).transpose()) {
            Ok(found) => agents.extend(found),
            Err(problem) => problems.push(problem),
        }
    }
    (agents, problems)
}

/// The limit for agents that start agents. Longer chains do not occur.
const MAX_DEPTH: usize = 64;

/// Finds for each agent the record in the session whose call started it (R6). For an agent started by
/// another agent, that is the call that started the other agent.
pub fn find_spawning_calls(agents: &[SubAgent], history: &History) -> Vec<Option<NodeId>> {
    let spawns = SpawnIndex::new(&history.session);
    let starters = AgentStarters::new(agents);
    let call = |agent: &SubAgent| {
        let mut agent = agent;
        for _ in 0..MAX_DEPTH {
            // The agent's own file is more reliable than a prompt that several calls may share.
            let by_meta = agent.meta.parent.as_ref().and_then(|id| starters.by_id.get(id.as_str()));
            if let Some(starter) = by_meta {
                agent = &agents[*starter];
            } else if let Some(call) = spawns.call_of(&agent.hint) {
                return Some(call);
            } else {
                agent = &agents[starters.find_starter(agents, agent)?];
            }
        }
        None
    };
    agents.iter().map(call).collect()
}

/// Finds the agent that started another one, by id, call or prompt.
struct AgentStarters<'a> {
    by_id: FxHashMap<&'a str, usize>,
    by_named: FxHashMap<&'a str, Vec<usize>>,
    by_call: FxHashMap<IdHash, Vec<usize>>,
    by_prompt: FxHashMap<IdHash, Vec<usize>>,
}

impl<'a> AgentStarters<'a> {
    fn new(agents: &'a [SubAgent]) -> Self {
        let mut starters = Self {
            by_id: FxHashMap::default(),
            by_named: FxHashMap::default(),
            by_call: FxHashMap::default(),
            by_prompt: FxHashMap::default(),
        };
        for (index, agent) in agents.iter().enumerate() {
            starters.by_id.entry(&agent.file.id).or_insert(index);
            for named in &agent.named {
                add_first_two(starters.by_named.entry(named).or_default(), index);
            }
            for spawn in &agent.spawns {
                add_first_two(starters.by_call.entry(spawn.call).or_default(), index);
                if let Some(prompt) = spawn.prompt {
                    add_first_two(starters.by_prompt.entry(prompt).or_default(), index);
                }
            }
        }
        starters
    }

    /// Returns the first agent that started another one.
    fn find_starter(&self, agents: &[SubAgent], agent: &SubAgent) -> Option<usize> {
        let AgentHint { id, call, opening } = &agent.hint;
        let named = self.by_named.get(id.as_str());
        let called = call.and_then(|call| self.by_call.get(&call));
        let prompted = opening.and_then(|opening| self.by_prompt.get(&opening));
        let found = [named, called, prompted].into_iter().flatten().flatten();
        found.copied().filter(|index| agents[*index].file.id != *id).min()
    }
}

/// Keeps the first two candidates: one of them may be the agent itself.
fn add_first_two(found: &mut Vec<usize>, index: usize) {
    if found.len() < 2 && found.last() != Some(&index) {
        found.push(index);
    }
}

/// Finds for each agent the record whose call started it (R6), without warm-ups. An agent that another
/// one started comes right after that one.
pub fn attach_calls(
    mut agents: Vec<SubAgent>,
    history: &History,
) -> Vec<(Option<NodeId>, SubAgent)> {
    let calls = find_spawning_calls(&agents, history);
    let parents = find_parent_ids(&agents, history);
    for (agent, parent) in agents.iter_mut().zip(parents) {
        agent.parent = parent;
    }
    let tasks = calls.into_iter().zip(agents);
    nest_agents(tasks.filter(|(_, agent)| agent.words.as_deref() != Some("Warmup")).collect())
}

/// Finds for each agent the id of the agent that started it, by the same rules as `calls`.
fn find_parent_ids(agents: &[SubAgent], history: &History) -> Vec<Option<String>> {
    let spawns = SpawnIndex::new(&history.session);
    let starters = AgentStarters::new(agents);
    let parent = |agent: &SubAgent| {
        let by_meta = agent.meta.parent.as_ref().and_then(|id| starters.by_id.get(id.as_str()));
        let starter = match by_meta {
            Some(starter) => Some(*starter),
            None if spawns.call_of(&agent.hint).is_some() => None,
            None => starters.find_starter(agents, agent),
        };
        starter.map(|starter| agents[starter].file.id.clone())
    };
    agents.iter().map(parent).collect()
}

/// Sorts agents below those that started them, and sets their depth.
fn nest_agents(agents: Vec<(Option<NodeId>, SubAgent)>) -> Vec<(Option<NodeId>, SubAgent)> {
    let mut children: HashMap<Option<String>, Vec<usize>> = HashMap::new();
    let ids: HashSet<&str> = agents.iter().map(|(_, agent)| &*agent.file.id).collect();
    for (index, (_, agent)) in agents.iter().enumerate() {
        let parent = agent.parent.clone().filter(|parent| ids.contains(&**parent));
        children.entry(parent).or_default().push(index);
    }
    let mut agents: Vec<Option<_>> = agents.into_iter().map(Some).collect();
    let mut open: Vec<(usize, u8)> =
        children.remove(&None).into_iter().flatten().rev().map(|index| (index, 0)).collect();
    let mut placed = Vec::with_capacity(agents.len());
    while let Some((index, depth)) = open.pop() {
        let Some((call, mut agent)) = agents[index].take() else { continue };
        agent.depth = depth;
        let below = children.remove(&Some(agent.file.id.clone())).unwrap_or_default();
        open.extend(below.into_iter().rev().map(|index| (index, depth.saturating_add(1))));
        placed.push((call, agent));
    }
    // Agents in a cycle, which claim to have started each other, come last.
    placed.extend(agents.into_iter().flatten());
    placed
}

fn read_agent(file: &HistoryFile) -> Result<SubAgent, PathError> {
    let records = read_session(&file.path)?;
    let meta = read_agent_meta(&file.path);
    let words =
        records.user_records().find_map(|(id, _)| records.preview_text(id)).map(str::to_owned);
    Ok(SubAgent {
        hint: AgentHint::new(&file.id, &records, meta.call.as_deref()),
        records: records.records().len() as u32,
        file: file.clone(),
        meta,
        words,
        parent: None,
        depth: 0,
        spawns: records.spawns().to_vec(),
        named: records.agent_results().iter().map(|(_, agent)| agent.clone()).collect(),
    })
}

fn belongs_to_session(path: &Path, session: &str) -> Result<bool, PathError> {
    let mut head = Vec::new();
    overlay::open(path)
        .and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head))
        .map_err(|source| PathError::new(path, source))?;
    let mut records = Session::default();
    records.push(&head);
    records.finish_last_line();
    Ok(records.facts().session_ids.first().is_some_and(|id| **id == *session))
}

/// Reads the meta file next to an agent's file. A missing or broken one gives an empty result.
pub fn read_agent_meta(path: &Path) -> AgentMeta {
    let Ok(text) = overlay::read(&path.with_extension("meta.json"), regular_file::SMALL_FILE_BYTES)
    else {
        return AgentMeta::default();
    };
    let Ok(meta) = serde_json::from_slice::<serde_json::Value>(&text) else {
        return AgentMeta::default();
    };
    let text = |key: &str| meta.get(key)?.as_str().map(str::to_owned);
    AgentMeta {
        kind: text("agentType"),
        description: text("description"),
        call: text("toolUseId"),
        parent: text("parentAgentId"),
    }
}
