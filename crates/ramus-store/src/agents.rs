//! The agents of a session: their files, and the small files beside them.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use ramus_core::agent::{AgentHint, call_of};
use ramus_core::history::History;
use ramus_core::session::{NodeId, Session, Spawn};

use crate::error::PathError;
use crate::place::{FileRole, HistoryFile};
use crate::read::read;

/// An agent with what its files say of it.
#[derive(Debug)]
pub struct Agent {
    pub file: HistoryFile,
    pub hint: AgentHint,
    pub meta: AgentMeta,
    pub records: u32,
    /// The first words of what it was asked.
    pub words: Option<String>,
    /// The id of the agent that started it. `None`: the session did, or nothing tells.
    pub parent: Option<String>,
    /// How many agents lie between it and the session.
    pub depth: u8,
    /// Its own calls that started agents, and the agents that their results name.
    spawns: Vec<Spawn>,
    named: Vec<Box<str>>,
}

/// What `agent-<id>.meta.json` says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentMeta {
    pub kind: Option<String>,
    pub description: Option<String>,
    pub call: Option<String>,
    /// The agent that started this one.
    pub parent: Option<String>,
}

/// How much of a flat agent's file is read to see whose it is.
const HEAD: u64 = 64 * 1024;

/// Reads the agents of a session among the files of its project, and tells which could not be read.
pub fn agents_of(files: &[HistoryFile], session: &str) -> (Vec<Agent>, Vec<PathError>) {
    let mut agents = Vec::new();
    let mut problems = Vec::new();
    for file in files {
        let is_ours = match &file.role {
            FileRole::NestedAgent { session: parent } => Ok(parent == session),
            FileRole::FlatAgent => belongs(&file.path, session),
            FileRole::Session | FileRole::Journal { .. } => Ok(false),
        };
        match is_ours.and_then(|is_ours| is_ours.then(|| agent(file)).transpose()) {
            Ok(found) => agents.extend(found),
            Err(problem) => problems.push(problem),
        }
    }
    (agents, problems)
}

/// How deep agents start agents; longer chains are not real.
const DEEPEST: usize = 64;

/// Finds for each agent the record whose call started it (R6); one that another agent started hangs where
/// that one does.
pub fn calls(agents: &[Agent], history: &History) -> Vec<Option<NodeId>> {
    let by_id = |id: &String| agents.iter().find(|other| other.file.id == *id);
    let call = |agent: &Agent| {
        let mut agent = agent;
        for _ in 0..DEEPEST {
            // What its own file says comes before a prompt that somebody else gave, too.
            if let Some(starter) = agent.meta.parent.as_ref().and_then(by_id) {
                agent = starter;
            } else if let Some(call) = call_of(history, &agent.hint) {
                return Some(call);
            } else {
                agent = agents.iter().find(|other| other.started(agent))?;
            }
        }
        None
    };
    agents.iter().map(call).collect()
}

/// Finds for each agent the record whose call started it; warm-ups are left out (R6). An agent that
/// another one started comes right after that one.
pub fn with_calls(mut agents: Vec<Agent>, history: &History) -> Vec<(Option<NodeId>, Agent)> {
    let calls = calls(&agents, history);
    let parents: Vec<Option<String>> =
        agents.iter().map(|agent| parent(agent, &agents, history)).collect();
    for (agent, parent) in agents.iter_mut().zip(parents) {
        agent.parent = parent;
    }
    let tasks = calls.into_iter().zip(agents);
    nested(tasks.filter(|(_, agent)| agent.words.as_deref() != Some("Warmup")).collect())
}

/// Finds the agent that started another one, as `calls` does.
fn parent(agent: &Agent, agents: &[Agent], history: &History) -> Option<String> {
    let named = agent.meta.parent.as_ref();
    let named = named.and_then(|id| agents.iter().find(|other| other.file.id == *id));
    let starter = match named {
        Some(named) => Some(named),
        None if call_of(history, &agent.hint).is_some() => None,
        None => agents.iter().find(|other| other.started(agent)),
    };
    starter.map(|starter| starter.file.id.clone())
}

/// Puts agents below those that started them, and notes how deep they are.
fn nested(agents: Vec<(Option<NodeId>, Agent)>) -> Vec<(Option<NodeId>, Agent)> {
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
    // Agents that claim to have started each other have no beginning.
    placed.extend(agents.into_iter().flatten());
    placed
}

impl Agent {
    /// Whether another agent was started by this one.
    fn started(&self, other: &Self) -> bool {
        let AgentHint { id, call, opening } = &other.hint;
        let is_its = |spawn: &Spawn| {
            Some(spawn.call) == *call || (opening.is_some() && spawn.prompt == *opening)
        };
        *id != self.file.id
            && (self.named.iter().any(|named| **named == **id) || self.spawns.iter().any(is_its))
    }
}

fn agent(file: &HistoryFile) -> Result<Agent, PathError> {
    let records = read(&file.path)?;
    let meta = meta(&file.path);
    let words = records.user_records().find_map(|(id, _)| records.words(id)).map(str::to_owned);
    Ok(Agent {
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

fn belongs(path: &Path, session: &str) -> Result<bool, PathError> {
    let mut head = Vec::new();
    File::open(path)
        .and_then(|file| file.take(HEAD).read_to_end(&mut head))
        .map_err(|source| PathError::new(path, source))?;
    let mut records = Session::default();
    records.push(&head);
    records.end();
    Ok(records.facts().session_ids.first().is_some_and(|id| **id == *session))
}

/// Reads the meta file beside an agent's; older clients wrote none, and a broken one says nothing.
pub fn meta(path: &Path) -> AgentMeta {
    let Ok(text) = fs::read(path.with_extension("meta.json")) else { return AgentMeta::default() };
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
