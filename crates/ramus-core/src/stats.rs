//! Statistics over many sessions (R21).

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use crate::branches::{Artefact, BranchStatus, ForkKind};
use crate::digest::SessionDigest;
use crate::history::{AgentClass, SessionClass};
use crate::ids::RecordUuid;
use crate::lineage::{Lineage, SessionEntry};
use crate::link::LinkKind;
use crate::time::Time;
use crate::unique::unique_paths;

/// Counts over all files of a scope.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    pub files: u64,
    pub bytes: u64,
    pub lines: u64,
    pub blank: u64,
    pub records: u64,
    pub unknown: u64,
    pub damaged: u64,
    pub by_type: BTreeMap<Box<str>, u64>,
    pub system: BTreeMap<Box<str>, u64>,
    pub by_class: BTreeMap<SessionClass, u64>,
    pub agents: BTreeMap<AgentClass, u64>,
    pub inline_agents: u64,
    pub messages: u64,
    pub forks: BTreeMap<ForkKind, u64>,
    pub artefacts: BTreeMap<Artefact, u64>,
    pub drafts: u64,
    pub active: u64,
    pub abandoned: u64,
    pub unique_paths: u64,
    /// Compactions, one that was copied along with its session once.
    pub compactions: u64,
    pub compaction_records: u64,
    pub sidechain_records: u64,
    pub repeated_uuids: u64,
    pub orphans: u64,
    pub defects: u64,
    pub sessions_with_sidechains: u64,
    /// Sessions that began as a copy of another, with and without saying so.
    pub forked_sessions: u64,
    /// Sessions that were merged from others.
    pub merged_sessions: u64,
    pub rules: Branching,
    pub raw: Branching,
    pub raw_leaves: u64,
    pub raw_roots: u64,
    pub shapes: BTreeMap<SessionShape, u64>,
    pub most_complex: Option<(usize, Complexity)>,
}

/// How sessions branch, by one method of counting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Branching {
    pub sessions: u64,
    pub forks: u64,
    pub branches: u64,
    pub most_branches: u32,
}

impl Branching {
    /// Returns the mean number of branches at a fork point.
    pub fn mean_branches(&self) -> f64 {
        if self.forks == 0 { 0.0 } else { self.branches as f64 / self.forks as f64 }
    }

    fn add_session(&mut self, forks: u32, branches: u32, most_ways: u32) {
        self.sessions += u64::from(forks > 0);
        self.forks += u64::from(forks);
        self.branches += u64::from(branches);
        self.most_branches = self.most_branches.max(most_ways);
    }
}

/// The shape of a session; one that is not linear can have several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SessionShape {
    Linear,
    Branching,
    Sidechain,
    Forked,
    Merged,
}

impl SessionShape {
    /// Returns the stable word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Branching => "branching",
            Self::Sidechain => "sidechain",
            Self::Forked => "forked",
            Self::Merged => "merged",
        }
    }
}

/// How complex a session is, as the parts of a sum.
///
/// `3·forks + 2·(conversations − 1) + 2·compactions + agents + (most branches − 2)`
/// plus 3 for a session that was forked or merged from others. A linear session without
/// sub-agents or compactions scores 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Complexity {
    pub forks: u32,
    pub conversations: u32,
    pub compactions: u32,
    pub agents: u32,
    pub branches: u32,
    pub forked: u32,
    pub merged: u32,
}

/// Whether a session began with the records of others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Descent {
    pub forked: bool,
    pub merged: bool,
}

impl Descent {
    /// Judges by what a session itself records, and by its links to others.
    pub fn new(digest: &SessionDigest, links: impl IntoIterator<Item = LinkKind>) -> Self {
        let facts = &digest.facts;
        let merged = facts.forked_from.is_none() && !facts.merged_from.is_empty();
        let is_copy = |kind| matches!(kind, LinkKind::Fork | LinkKind::Copy);
        Self { forked: facts.forked_from.is_some() || links.into_iter().any(is_copy), merged }
    }
}

impl Complexity {
    /// Returns what the score is made of, by name.
    pub fn named_parts(&self) -> [(&'static str, u32); 7] {
        [
            ("forks", self.forks),
            ("conversations", self.conversations),
            ("compactions", self.compactions),
            ("agents", self.agents),
            ("ways", self.branches),
            ("forked", self.forked),
            ("merged", self.merged),
        ]
    }

    /// Measures a session that started this many sub-agents in separate files.
    pub fn new(digest: &SessionDigest, agents: u32, descent: Descent) -> Self {
        Self {
            forks: 3 * digest.forks.values().sum::<u32>(),
            conversations: 2 * (digest.conversations.len() as u32).saturating_sub(1),
            compactions: 2 * digest.facts.compactions.len() as u32,
            agents: agents + digest.inline_agents,
            branches: digest.most_branches.saturating_sub(2),
            forked: if descent.forked { 3 } else { 0 },
            merged: if descent.merged { 3 } else { 0 },
        }
    }

    /// Returns the sum of the parts.
    pub fn score(&self) -> u32 {
        let Self { forks, conversations, compactions, agents, branches, forked, merged } = self;
        forks + conversations + compactions + agents + branches + forked + merged
    }
}

/// One session of a scope.
#[derive(Clone, Copy, Debug)]
pub struct SessionInput<'a> {
    pub id: &'a str,
    pub digest: &'a SessionDigest,
    /// When its file was created, where the file system knows.
    pub created: Option<Time>,
    /// Sub-agents in separate files, without warm-ups.
    pub agents: u32,
    pub orphans: u32,
}

/// A sub-agent's file, or another file that is not a session.
#[derive(Clone, Copy, Debug)]
pub struct OtherInput<'a> {
    pub digest: &'a SessionDigest,
    /// `None`: a journal, which belongs to no sub-agent.
    pub class: Option<AgentClass>,
    pub orphans: u32,
}

impl Stats {
    /// Counts over sessions and the files that go with them.
    pub fn new(sessions: &[SessionInput<'_>], others: &[OtherInput<'_>]) -> Self {
        let mut stats = Self::default();
        for session in sessions {
            stats.add_file(session.digest, session.orphans);
            stats.add_session(session.digest);
        }
        for other in others {
            stats.add_file(other.digest, other.orphans);
            if let Some(class) = other.class {
                *stats.agents.entry(class).or_default() += 1;
            }
        }
        stats.add_relations(sessions);
        stats
    }

    /// Returns the number of real forks.
    pub fn fork_count(&self) -> u64 {
        self.forks.values().sum()
    }

    /// Returns the number of conversations.
    pub fn conversation_count(&self) -> u64 {
        self.active + self.abandoned
    }

    fn add_file(&mut self, digest: &SessionDigest, orphans: u32) {
        self.files += 1;
        self.bytes += digest.facts.bytes;
        self.lines += digest.counts.total_lines();
        self.blank += digest.counts.blank;
        self.records += digest.readable_records();
        self.unknown += digest.counts.unknown;
        self.damaged += digest.counts.damaged;
        self.sidechain_records += u64::from(digest.facts.sidechain_records);
        self.repeated_uuids += u64::from(digest.repeated_uuids);
        self.orphans += u64::from(orphans);
        self.defects += digest.defects.len() as u64 + u64::from(orphans);
        for (name, count) in &digest.by_type {
            *self.by_type.entry(name.clone()).or_default() += u64::from(*count);
        }
        for (name, count) in &digest.facts.system {
            *self.system.entry(name.clone()).or_default() += u64::from(*count);
        }
    }

    fn add_session(&mut self, digest: &SessionDigest) {
        *self.by_class.entry(digest.class).or_default() += 1;
        self.messages += u64::from(digest.messages);
        self.inline_agents += u64::from(digest.inline_agents);
        for (kind, count) in &digest.forks {
            *self.forks.entry(*kind).or_default() += u64::from(*count);
        }
        for (kind, count) in &digest.artefacts {
            *self.artefacts.entry(*kind).or_default() += u64::from(*count);
        }
        self.drafts += u64::from(digest.drafts);
        for end in &digest.conversations {
            match end.status {
                BranchStatus::Active => self.active += 1,
                BranchStatus::Abandoned => self.abandoned += 1,
            }
        }
        self.compaction_records += digest.facts.compactions.len() as u64;
        self.rules.add_session(digest.forks.values().sum(), digest.branches, digest.most_branches);
        self.raw.add_session(digest.raw.forks, digest.raw.branches, digest.raw.most_branches);
        self.raw_leaves += u64::from(digest.raw.leaves);
        self.raw_roots += u64::from(digest.raw.roots);
    }

    fn add_relations(&mut self, sessions: &[SessionInput<'_>]) {
        let entries: Vec<SessionEntry<'_>> = sessions
            .iter()
            .map(|&SessionInput { id, digest, created, .. }| SessionEntry { id, digest, created })
            .collect();
        let lineage = Lineage::new(&entries);
        let mut order: Vec<usize> = (0..sessions.len()).collect();
        order.sort_by_key(|index| {
            let facts = &sessions[*index].digest.facts;
            (facts.started, lineage.generation_of(*index), facts.last_active)
        });
        let by_age: Vec<&SessionDigest> =
            order.iter().map(|index| sessions[*index].digest).collect();
        self.unique_paths = unique_paths(&by_age).len() as u64;
        let boundaries: FxHashSet<RecordUuid> = sessions
            .iter()
            .flat_map(|session| session.digest.facts.compactions.iter().copied())
            .collect();
        self.compactions = boundaries.len() as u64;
        for (index, session) in sessions.iter().enumerate() {
            if session.digest.class == SessionClass::Conversation {
                let kinds = lineage.origins_of(index).iter().map(|(_, kind)| *kind);
                self.add_shape(index, session, Descent::new(session.digest, kinds));
            }
        }
        self.forked_sessions = self.shapes.get(&SessionShape::Forked).copied().unwrap_or(0);
        self.merged_sessions = self.shapes.get(&SessionShape::Merged).copied().unwrap_or(0);
        self.sessions_with_sidechains =
            self.shapes.get(&SessionShape::Sidechain).copied().unwrap_or(0);
    }

    fn add_shape(&mut self, index: usize, session: &SessionInput<'_>, descent: Descent) {
        for flow in session_shapes(session.digest, session.agents, descent) {
            *self.shapes.entry(flow).or_default() += 1;
        }
        let complexity = Complexity::new(session.digest, session.agents, descent);
        let held = self.most_complex.map_or(0, |(_, most)| most.score());
        if complexity.score() > held {
            self.most_complex = Some((index, complexity));
        }
    }
}

/// Returns the shapes of a session.
pub fn session_shapes(digest: &SessionDigest, agents: u32, descent: Descent) -> Vec<SessionShape> {
    let mut flows = Vec::new();
    if !digest.forks.is_empty() {
        flows.push(SessionShape::Branching);
    }
    if agents > 0 || digest.inline_agents > 0 {
        flows.push(SessionShape::Sidechain);
    }
    if descent.forked {
        flows.push(SessionShape::Forked);
    }
    if descent.merged {
        flows.push(SessionShape::Merged);
    }
    if flows.is_empty() {
        flows.push(SessionShape::Linear);
    }
    flows
}
