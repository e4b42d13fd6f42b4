//! Finds the context of hits: their session, node and conversation, and its status (R12).

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use ramus_core::agent::{AgentHint, SpawnIndex, inline_agents};
use ramus_core::branches::BranchStatus;
use ramus_core::digest::{SessionDigest, one_line};
use ramus_core::history::History;
use ramus_core::query::HitBranch;
use ramus_core::resume::ResumeRule;
use ramus_core::session::{NodeId, SessionNoteKind};
use ramus_core::title::{ProjectSummaries, session_title};
use rustc_hash::FxHashMap;

use super::{MatchLocation, SearchSource, SourceFormat, spilled_results};
use crate::agents::{find_spawning_calls, read_agent_meta, read_agents};
use crate::claude_dir::{FileRole, HistoryFile};
use crate::error::PathError;
use crate::read::from_jsonl;

/// The session of some hits, and their nodes in it.
#[derive(Debug)]
pub struct HitContext {
    /// The session's id. For an agent's file: the session that started the agent.
    pub session: String,
    /// The session's title (R15), if it has one.
    pub title: Option<String>,
    /// Its working directory.
    pub cwd: Option<String>,
    /// One for each location that was asked about.
    pub nodes: Vec<HitNode>,
    /// The history that the nodes of `spots` refer to. The file may have changed since.
    pub history: Arc<History>,
}

fn working_dir(history: &History) -> Option<String> {
    history.session.facts().cwd.as_deref().map(str::to_owned)
}

/// The node of one hit.
#[derive(Clone, Debug, Default)]
pub struct HitNode {
    /// The record itself, or the node that it names or belongs to.
    pub node: Option<NodeId>,
    /// The uuid as it is spelled in the file.
    pub uuid: Option<String>,
    /// The match is in the node's own record, not in one that names it.
    pub is_own: bool,
    /// Its uuid leads to another version of the record (R4).
    pub is_hidden: bool,
    pub branch: Option<HitBranch>,
}

/// Finds the context of hits. The last session stays in memory, because hits of one session come together.
#[derive(Debug)]
pub struct HitContextReader {
    rule: ResumeRule,
    last: Option<(PathBuf, Arc<LazySession>)>,
    /// By session: the calls that started its nested agents.
    nested_calls: FxHashMap<PathBuf, FxHashMap<String, NodeId>>,
}

/// A session with facts that are computed when first needed, once for all its hits.
#[derive(Debug)]
struct LazySession {
    history: Arc<History>,
    title: OnceLock<Option<String>>,
    spawns: OnceLock<SpawnIndex>,
    /// The calls that started the sidechains inside its file, by their first records.
    sidechains: OnceLock<FxHashMap<NodeId, Option<NodeId>>>,
    /// The first records of the sidechains that nodes belong to.
    roots: Mutex<FxHashMap<NodeId, NodeId>>,
}

impl HitContextReader {
    /// `rule` decides how resume points are chosen (R11).
    pub fn new(rule: ResumeRule) -> Self {
        Self { rule, last: None, nested_calls: FxHashMap::default() }
    }

    /// Reads a session file.
    fn read_session(&mut self, path: &Path) -> Result<Arc<LazySession>, PathError> {
        if let Some((last, known)) = &self.last
            && last == path
        {
            return Ok(known.clone());
        }
        let known = Arc::new(LazySession::new(from_jsonl(path, self.rule)?));
        self.last = Some((path.to_owned(), known.clone()));
        Ok(known)
    }

    /// Finds the context of locations in one source. `files` and `summaries` are those of its project; the summaries
    /// are asked for if the session has no title of its own.
    pub fn find_context(
        &mut self,
        source: &SearchSource,
        places: &[MatchLocation],
        files: &[HistoryFile],
        summaries: impl FnOnce() -> Arc<ProjectSummaries>,
    ) -> Result<HitContext, PathError> {
        match source.content {
            SourceFormat::Records if source.file.role.is_agent() => {
                self.find_agent_context(source, places, files, summaries)
            }
            SourceFormat::Records => {
                let known = self.read_session(&source.file.path)?;
                let locations =
                    places.iter().map(|place| known.locate_node(place.span.offset)).collect();
                let session = match &source.file.role {
                    FileRole::Journal { session } => session.clone(),
                    _ => source.file.id.clone(),
                };
                let (title, cwd) = (known.summary_title(summaries), working_dir(&known.history));
                Ok(HitContext {
                    session,
                    title,
                    cwd,
                    nodes: locations,
                    history: known.history.clone(),
                })
            }
            SourceFormat::Spilled => {
                let known =
                    self.read_session(&spilled_results::session_file_of(&source.file.path))?;
                let owner = spilled_results::owner_offset(source)
                    .map_err(|error| PathError::new(&source.file.path, error))?;
                let location = owner.map(|at| known.locate_node(at)).unwrap_or_default();
                let session = role_session(&source.file.role).unwrap_or_default().to_owned();
                let locations = places.iter().map(|_| location.clone()).collect();
                let (title, cwd) = (known.summary_title(summaries), working_dir(&known.history));
                Ok(HitContext {
                    session,
                    title,
                    cwd,
                    nodes: locations,
                    history: known.history.clone(),
                })
            }
        }
    }

    /// Finds the context in an agent's file. It has the status of the conversation that called the agent (R6).
    fn find_agent_context(
        &mut self,
        source: &SearchSource,
        places: &[MatchLocation],
        files: &[HistoryFile],
        summaries: impl FnOnce() -> Arc<ProjectSummaries>,
    ) -> Result<HitContext, PathError> {
        let file = &source.file;
        // Not through `read`, which would evict the session that started the agent.
        let own = LazySession::new(from_jsonl(&file.path, self.rule)?);
        let session = match role_session(&file.role) {
            Some(session) => session.to_owned(),
            None => own
                .history
                .session
                .facts()
                .session_ids
                .first()
                .map(ToString::to_string)
                .unwrap_or_default(),
        };
        let mut locations: Vec<HitNode> =
            places.iter().map(|place| own.locate_node(place.span.offset)).collect();
        let is_parent =
            |other: &&HistoryFile| other.role == FileRole::Session && other.id == session;
        let Some(at) = files.iter().find(is_parent) else {
            let (title, cwd) = (own.summary_title(summaries), working_dir(&own.history));
            return Ok(HitContext { session, title, cwd, nodes: locations, history: own.history });
        };
        let parent = self.read_session(&at.path)?;
        let meta = read_agent_meta(&file.path);
        let hint = AgentHint::new(&file.id, &own.history.session, meta.call.as_deref());
        let named = if meta.parent.is_none() { parent.spawn_index().call_of(&hint) } else { None };
        let call = named.or_else(|| self.find_nested_call(at, &parent.history, files, &file.id));
        let branch = call.and_then(|call| parent.hit_branch(call));
        for location in &mut locations {
            // From here on the conversation is one of the parent session.
            location.is_hidden = false;
            if location.branch.is_none_or(|own| own.status == BranchStatus::Active) {
                location.branch = branch.or(location.branch);
            }
        }
        let (title, cwd) = (parent.summary_title(summaries), working_dir(&parent.history));
        Ok(HitContext { session, title, cwd, nodes: locations, history: own.history })
    }

    /// Finds the call in the session that led to an agent started by another agent.
    fn find_nested_call(
        &mut self,
        session: &HistoryFile,
        history: &History,
        files: &[HistoryFile],
        agent: &str,
    ) -> Option<NodeId> {
        let below = self.nested_calls.entry(session.path.clone()).or_insert_with(|| {
            // Agents that cannot be read are ignored.
            let (agents, _) = read_agents(files, &session.id);
            let calls = find_spawning_calls(&agents, history).into_iter().zip(agents);
            calls.filter_map(|(call, agent)| Some((agent.file.id, call?))).collect()
        });
        below.get(agent).copied()
    }
}

fn role_session(role: &FileRole) -> Option<&str> {
    match role {
        FileRole::NestedAgent { session } | FileRole::Journal { session } => Some(session),
        FileRole::Session | FileRole::FlatAgent => None,
    }
}

impl LazySession {
    fn new(history: History) -> Self {
        Self {
            history: Arc::new(history),
            title: OnceLock::new(),
            spawns: OnceLock::new(),
            sidechains: OnceLock::new(),
            roots: Mutex::default(),
        }
    }

    fn summary_title(&self, summaries: impl FnOnce() -> Arc<ProjectSummaries>) -> Option<String> {
        // The digest itself would be among the largest structures of a large session.
        let title = self.title.get_or_init(|| {
            let digest = SessionDigest::new(&self.history);
            let summaries = match digest.given_title {
                Some(_) => Arc::default(),
                None => summaries(),
            };
            session_title(&digest, &summaries).map(|title| one_line(title).into())
        });
        title.clone()
    }

    fn spawn_index(&self) -> &SpawnIndex {
        self.spawns.get_or_init(|| SpawnIndex::new(&self.history.session))
    }

    fn locate_node(&self, at: u64) -> HitNode {
        let history = &self.history;
        let session = &history.session;
        let records = session.records();
        let Ok(index) = records.binary_search_by_key(&at, |record| record.span.offset) else {
            return HitNode::default();
        };
        let written = NodeId(index as u32);
        let own = history.record_tree.first_copy(written);
        let notes = session.notes();
        let note = notes.binary_search_by_key(&written, |note| note.record).ok();
        let named = note.and_then(|at| match notes[at].kind {
            SessionNoteKind::Summary { leaf, .. } => leaf,
            _ => None,
        });
        let is_own = records[index].is_node();
        let node =
            if is_own { Some(own) } else { named.and_then(|name| history.node_by_uuid(name)) };
        let branch = match node {
            Some(node) => self.hit_branch(node),
            // A record about the whole session belongs to the conversation that resumes.
            None if named.is_none() => {
                history.branches.resuming_conversation().map(HitBranch::from)
            }
            None => None,
        };
        let name = node.and_then(|node| session.record(node).uuid);
        let is_hidden = node.is_some_and(|node| history.is_hidden(node));
        HitNode { node, uuid: name.map(|name| session.uuid_text(name)), is_own, is_hidden, branch }
    }

    fn hit_branch(&self, node: NodeId) -> Option<HitBranch> {
        let history = &self.history;
        if let Some(conversation) = history.conversation_of(node) {
            return Some(HitBranch::from(conversation));
        }
        if !history.session.record(node).sidechain {
            return None;
        }
        // A sidechain in the session's own file belongs to the call that started it (R6).
        let sidechains = self.sidechains.get_or_init(|| {
            inline_agents(history).into_iter().map(|agent| (agent.root, agent.call)).collect()
        });
        let call = sidechains.get(&self.sidechain_root(node)).copied().flatten()?;
        history.conversation_of(call).map(HitBranch::from)
    }

    /// Returns the first record of a node's sidechain, and caches the result for every node on the way.
    fn sidechain_root(&self, node: NodeId) -> NodeId {
        let History { session, record_tree: tree, .. } = &*self.history;
        let mut roots = self.roots.lock().unwrap_or_else(PoisonError::into_inner);
        let mut passed = Vec::new();
        let mut at = node;
        let root = loop {
            if let Some(root) = roots.get(&at) {
                break *root;
            }
            passed.push(at);
            match tree.parent(at).filter(|parent| session.record(*parent).sidechain) {
                Some(parent) => at = parent,
                None => break at,
            }
        };
        roots.extend(passed.into_iter().map(|node| (node, root)));
        root
    }
}
