//! What is kept of a session after reading.
//!
//! Lists, statistics and links between sessions need only one digest per file, so gigabytes of
//! history can be listed in little memory.

use std::borrow::Cow;
use std::collections::BTreeMap;

use bitcode::{Decode, Encode};
use rustc_hash::FxHashMap;

use crate::agent::inline_agents;
use crate::annotation::Annotation;
use crate::body::{UserText, classify_user_text, label_text};
use crate::branches::{Artefact, BranchStatus, ForkKind};
use crate::characters::is_visible;
use crate::defect::{Defect, DefectKind};
use crate::history::{AgentClass, History, SessionClass};
use crate::ids::{IdHash, RecordUuid, ShortUuids};
use crate::link::{LinkKind, SessionRelations};
use crate::pull_request::PullRequest;
use crate::record::{Record, RecordKind, RecordRole};
use crate::resume::{ClientEra, ResumeReason, ResumeRule, resume_point_in_era};
use crate::session::{LineCounts, NodeId, Session, SessionFacts};
use crate::time::Time;
use crate::title::ProjectSummaries;

/// One session in short.
#[derive(Clone, Debug, Encode, Decode)]
pub struct SessionDigest {
    pub class: SessionClass,
    pub agent_class: AgentClass,
    pub facts: SessionFacts,
    pub counts: LineCounts,
    /// Records by type; unknown types appear under their own name.
    pub by_type: BTreeMap<Box<str>, u32>,
    /// Those of them that are not known.
    pub unknown_types: BTreeMap<Box<str>, u32>,
    /// Displayable messages, a split one once (R16).
    pub messages: u32,
    /// The same by the day (UTC) since 1970; messages without a time are on none.
    pub days: BTreeMap<i32, u32>,
    pub forks: BTreeMap<ForkKind, u32>,
    /// The number of branches at all fork points together, and the most at one.
    pub branches: u32,
    pub most_branches: u32,
    pub artefacts: BTreeMap<Artefact, u32>,
    pub drafts: u32,
    pub raw: RawBranching,
    pub conversations: Vec<ConversationDigest>,
    pub resume: Option<ResumeDigest>,
    /// A title given by a person or the client.
    pub given_title: Option<Box<str>>,
    pub last_prompt: Option<Box<str>>,
    /// The first real prompt of the conversation that resumes.
    pub first_prompt: Option<Box<str>>,
    /// Summaries in this file: their text and the node they name, which may be in another file.
    pub summaries: Vec<(Box<str>, Option<RecordUuid>)>,
    /// Sub-agents whose results are in this file.
    pub agents: Vec<Box<str>>,
    /// Sidechains inside this file.
    pub inline_agents: u32,
    pub repeated_uuids: u32,
    /// Damaged lines and bad links, orphans not yet among them.
    pub defects: Vec<Defect>,
    /// Tool calls without a result, and results without a call.
    pub unpaired_tools: Vec<Defect>,
    /// Messages without a date that decide where the session is resumed.
    pub undated_messages: Vec<Defect>,
    /// Nodes whose parent is not in this file.
    pub missing_parents: Vec<MissingParent>,
    /// When `/clear` was typed, if that is what the session begins with.
    pub cleared_at: Option<Time>,
    /// The pull requests made in it, each once.
    pub pull_requests: Vec<PullRequest>,
    pub chain: UuidChain,
}

/// The digest of a session file, with what other sessions contribute to it.
#[derive(Debug)]
pub struct SessionListing<'a> {
    pub id: &'a str,
    /// Its path from the Claude directory on.
    pub file: &'a str,
    /// The encoded directory name of its project.
    pub project: &'a str,
    pub bytes: u64,
    pub digest: &'a SessionDigest,
    pub summaries: &'a ProjectSummaries,
    /// The number of its sub-agents in separate files, without warm-ups.
    pub agents: usize,
    pub defects: usize,
    /// The sessions it is linked to.
    pub links: Vec<(LinkKind, &'a str)>,
    /// Its origins and offspring.
    pub relations: SessionRelations,
    /// The stable word for the class (R18).
    pub class: &'static str,
    /// The git repository of its project, if it was searched for.
    pub repository: Option<&'a str>,
    /// When the client deletes it, should it not be changed before.
    pub deleted_after: Option<Time>,
    /// What it and its sub-agents cost, if that was asked for.
    pub cost: Option<f64>,
    /// Its file no longer exists, and only a copy is left.
    pub archived: bool,
    /// What a person put on it.
    pub annotation: Option<&'a Annotation>,
    /// How many of its messages are annotated.
    pub annotated_messages: usize,
}

impl<'a> SessionListing<'a> {
    /// Lists a file by itself, without what other files say about it.
    pub fn new(
        id: &'a str,
        file: &'a str,
        digest: &'a SessionDigest,
        summaries: &'a ProjectSummaries,
    ) -> Self {
        Self {
            id,
            file,
            project: "",
            bytes: 0,
            digest,
            summaries,
            agents: 0,
            defects: 0,
            links: Vec::new(),
            relations: SessionRelations::default(),
            class: digest.class.as_str(),
            repository: None,
            deleted_after: None,
            cost: None,
            archived: false,
            annotation: None,
            annotated_messages: 0,
        }
    }

    /// Returns the number of its sub-agents, those inside its file too.
    pub fn agent_count(&self) -> usize {
        self.agents + self.digest.inline_agents as usize
    }
}

/// A project in short.
#[derive(Clone, Debug)]
pub struct ListedProject {
    /// Its encoded name.
    pub name: String,
    /// The working directory, if records contain it.
    pub path: Option<String>,
    pub dir: String,
    pub sessions: usize,
    pub conversations: usize,
    pub agents: usize,
    pub bytes: u64,
    pub last_active: Option<Time>,
    /// The git repository it belongs to.
    pub repository: Option<String>,
}

/// The resume point in short (R11).
#[derive(Clone, Debug, Encode, Decode)]
pub struct ResumeDigest {
    pub point: Box<str>,
    /// The point, climbed to the nearest user or assistant record.
    pub leaf: Box<str>,
    pub reason: ResumeReason,
    /// When the point was written; `None`: the record has no time.
    pub time: Option<Time>,
    /// The line of the record that decided.
    pub line: u32,
    /// The rule that was requested, and the era of the client.
    pub rule: ResumeRule,
    pub era: ClientEra,
    /// Where clients of other eras (by another rule: of any era) would continue instead.
    pub otherwise: Vec<(ClientEra, Box<str>)>,
}

/// A node whose parent is in another file, or nowhere.
#[derive(Clone, Debug, Encode, Decode)]
pub struct MissingParent {
    pub parent: RecordUuid,
    /// The defect if no session has the parent; a compaction whose past was deleted is none.
    pub defect: Option<Defect>,
    /// Its position in the chain.
    pub position: u32,
}

/// Forks and leaves by parent links only, without sidechains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct RawBranching {
    pub roots: u32,
    pub forks: u32,
    pub leaves: u32,
    /// Children of all raw forks together, and of the one with most.
    pub branches: u32,
    pub most_branches: u32,
}

/// One conversation in short.
#[derive(Clone, Debug, Encode, Decode)]
pub struct ConversationDigest {
    pub leaf: Box<str>,
    /// The position in the chain of the very last record, which may come after the leaf.
    pub position: u32,
    pub status: BranchStatus,
    pub resumes: bool,
    pub draft: bool,
    pub fork_point: Option<Box<str>>,
    pub fork_kind: Option<ForkKind>,
    pub messages: u32,
    pub records: u32,
    pub compactions: u32,
    pub last_active: Option<Time>,
    /// The first prompt since the fork it was left at.
    pub first_prompt: Option<Box<str>>,
    /// The prompt that a branch without its own prompt replies to: a retry or an interrupted reply.
    pub answered_prompt: Option<Box<str>>,
}

/// The uuids of a session's nodes and their links, and nothing else.
#[derive(Clone, Debug, Default, Encode, Decode)]
pub struct UuidChain {
    pub uuids: Vec<RecordUuid>,
    /// The position of each node's parent; `u32::MAX` for none in this file.
    pub parents: Vec<u32>,
    /// When each was written, in seconds since 1970; 0: the record has no time.
    pub times: Vec<u32>,
    /// The original uuids of merged nodes, by position.
    pub merged: Vec<(u32, RecordUuid)>,
}

impl UuidChain {
    /// Returns the uuids that identify the content of a path: for merged nodes the original ones.
    pub fn original_uuids(&self) -> Cow<'_, [RecordUuid]> {
        let mut names = Cow::Borrowed(&self.uuids[..]);
        for (place, origin) in &self.merged {
            names.to_mut()[*place as usize] = *origin;
        }
        names
    }

    /// Walks from a position up to its root.
    pub fn positions_up(&self, place: u32) -> impl Iterator<Item = u32> {
        std::iter::successors(Some(place), |place| {
            self.parents.get(*place as usize).copied().filter(|parent| *parent != u32::MAX)
        })
    }
}

impl SessionDigest {
    /// Returns what shortens the uuids of the session's nodes.
    pub fn short_uuids(&self) -> ShortUuids {
        ShortUuids::new(self.chain.uuids.iter().copied())
    }

    /// Sums up a session.
    pub fn new(history: &History) -> Self {
        let (base, places) = digest_conversations(history);
        let spell = |id: NodeId| uuid_or_number(history, id);
        Self {
            by_type: count_by_type(history, |_| true),
            unknown_types: count_by_type(history, |kind| !kind.is_known()),
            artefacts: history.branches.artefacts.iter().map(|(kind, n)| (*kind, *n)).collect(),
            raw: count_raw_branching(history),
            resume: resume_digest(history, &spell),
            inline_agents: match history.main_chain().includes(true) {
                true => 0,
                false => inline_agents(history).len() as u32,
            },
            defects: collect_defects(history),
            unpaired_tools: find_unpaired_tools(history),
            undated_messages: find_undated_messages(history),
            missing_parents: find_missing_parents(history, &places),
            ..base
        }
    }

    /// Returns the number of records that could be read from whole lines.
    pub fn readable_records(&self) -> u64 {
        self.counts.known + self.counts.unknown
    }
}

/// Returns the facts of a session; a compaction without a boundary is known by its summary (R7).
fn facts_with_compactions(history: &History) -> SessionFacts {
    let mut facts = history.session.facts().clone();
    let messages = history.message_tree.iter();
    let summaries = messages.filter(|(id, message)| {
        message.role == RecordRole::CompactSummary && history.message_tree.begins_compaction(*id)
    });
    facts
        .compactions
        .extend(summaries.filter_map(|(_, message)| history.session.record(message.head).uuid));
    facts
}

/// Summarizes the conversations and their titles; also returns the position of each record in the
/// chain.
fn digest_conversations(history: &History) -> (SessionDigest, Vec<u32>) {
    let History { session, record_tree: tree, message_tree, branches, .. } = history;
    let main_chain = history.main_chain();
    let (chain, places) = build_chain(history);
    let place = |id: NodeId| places[tree.first_copy(id).0 as usize];
    let spell = |id: NodeId| uuid_or_number(history, id);
    let words = |id: NodeId| {
        let words = session.preview_text(id).map(|words| one_line(&label_text(words)))?;
        (!words.is_empty()).then_some(words)
    };
    let conversations = branches
        .conversations
        .iter()
        .map(|conversation| {
            let fork = conversation.fork_index.map(|fork| &branches.forks[fork]);
            ConversationDigest {
                leaf: spell(conversation.leaf),
                position: place(history.last_record(conversation)),
                status: conversation.status,
                resumes: conversation.resumes,
                draft: conversation.draft,
                fork_point: fork.map(|fork| spell(fork.node)),
                fork_kind: fork.map(|fork| fork.kind),
                messages: conversation.messages,
                records: conversation.records,
                compactions: conversation.compactions,
                last_active: session.record(conversation.leaf).time,
                first_prompt: history
                    .first_prompt(conversation)
                    .or(conversation.opening)
                    .and_then(words),
                answered_prompt: history.answered_prompt(conversation).and_then(words),
            }
        })
        .collect();
    let mut forks = BTreeMap::new();
    for fork in &branches.forks {
        *forks.entry(fork.kind).or_default() += 1;
    }
    let resuming = branches.main_conversation();
    let (mut messages, mut days) = (0, BTreeMap::new());
    for (_, message) in message_tree.iter() {
        if main_chain.includes(message.sidechain)
            && message.role.is_displayable()
            && !message.continues_earlier
        {
            messages += 1;
            if let Some(time) = session.record(message.head).time {
                *days.entry(time.day_number()).or_default() += 1;
            }
        }
    }
    let base = SessionDigest {
        class: history.session_class(),
        agent_class: AgentClass::of_session(session),
        facts: facts_with_compactions(history),
        counts: session.line_counts(),
        by_type: BTreeMap::new(),
        unknown_types: BTreeMap::new(),
        messages,
        days,
        forks,
        branches: branches.forks.iter().map(|fork| fork.branches.len() as u32).sum(),
        most_branches: branches
            .forks
            .iter()
            .map(|fork| fork.branches.len() as u32)
            .max()
            .unwrap_or(0),
        artefacts: BTreeMap::new(),
        drafts: branches
            .forks
            .iter()
            .flat_map(|fork| &fork.branches)
            .filter(|branch| branch.draft)
            .count() as u32,
        raw: RawBranching::default(),
        conversations,
        resume: None,
        given_title: history.given_title().map(one_line),
        last_prompt: history
            .last_prompt()
            .map(|prompt| one_line(&label_text(prompt)))
            .filter(|prompt| is_visible(prompt)),
        first_prompt: resuming.and_then(|conversation| conversation.opening).and_then(words),
        summaries: session.summaries().map(|(text, leaf)| (one_line(text), leaf)).collect(),
        agents: session.agent_results().iter().map(|(_, agent)| agent.clone()).collect(),
        inline_agents: 0,
        repeated_uuids: tree.repeated_uuids(),
        defects: Vec::new(),
        unpaired_tools: Vec::new(),
        undated_messages: Vec::new(),
        missing_parents: Vec::new(),
        cleared_at: cleared_at(session),
        pull_requests: distinct_pull_requests(session),
        chain,
    };
    (base, places)
}

fn distinct_pull_requests(session: &Session) -> Vec<PullRequest> {
    let mut requests: Vec<PullRequest> = Vec::new();
    for (_, request) in session.pull_requests() {
        if !requests.contains(request) {
            requests.push(request.clone());
        }
    }
    requests
}

/// Returns when `/clear` was typed, if the session begins with it.
pub fn cleared_at(session: &Session) -> Option<Time> {
    let is_dialogue =
        |record: &Record| !matches!(record.role, RecordRole::Meta | RecordRole::Decoration);
    let (id, first) = session.nodes().find(|(_, record)| is_dialogue(record))?;
    match session.preview_text(id).map(classify_user_text) {
        Some(UserText::Command { name: "/clear", .. }) if first.role == RecordRole::Command => {
            first.time
        }
        _ => None,
    }
}

fn uuid_or_number(history: &History, id: NodeId) -> Box<str> {
    let name = history.session.record(id).uuid;
    name.map_or_else(|| id.0.to_string(), |name| history.session.uuid_text(name)).into()
}

fn collect_defects(history: &History) -> Vec<Defect> {
    let session = &history.session;
    let damaged = session.defects().iter().cloned().chain(session.torn_line_defect());
    damaged.chain(history.record_tree.defects().iter().cloned()).collect()
}

impl ResumeDigest {
    /// Describes the rule that chose the point.
    pub fn rule_text(&self) -> String {
        match self.rule {
            ResumeRule::Client => self.era.to_string(),
            ResumeRule::Summary => "readers that follow the last summary".to_owned(),
            ResumeRule::Newest => "readers that follow the newest timestamp".to_owned(),
            ResumeRule::FileOrder => "readers that follow the last record".to_owned(),
        }
    }
}

/// Summarizes the resume point of a session.
pub fn digest_resume_point(history: &History) -> Option<ResumeDigest> {
    resume_digest(history, &|id| uuid_or_number(history, id))
}

fn resume_digest(history: &History, spell: &dyn Fn(NodeId) -> Box<str>) -> Option<ResumeDigest> {
    let History { session, record_tree: tree, branches, .. } = history;
    let resume = branches.resume?;
    let era = ClientEra::of_session(session);
    let asked = branches.rule != ResumeRule::Client;
    Some(ResumeDigest {
        point: spell(resume.point),
        leaf: spell(resume.leaf),
        reason: resume.reason,
        time: session.record(resume.point).time,
        line: session.record(resume.decided_by).line,
        rule: branches.rule,
        era,
        otherwise: ClientEra::ALL
            .into_iter()
            .filter(|other| asked || *other != era)
            .filter_map(|other| Some((other, resume_point_in_era(session, tree, other)?.leaf)))
            .filter(|(_, leaf)| *leaf != resume.leaf)
            .map(|(other, leaf)| (other, spell(leaf)))
            .collect(),
    })
}

/// Collapses white space, so that a text fits on one line.
pub fn one_line(text: &str) -> Box<str> {
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line.into()
}

fn build_chain(history: &History) -> (UuidChain, Vec<u32>) {
    let History { session, record_tree: tree, .. } = history;
    let main_chain = history.main_chain();
    let mut chain = UuidChain::default();
    let mut places = vec![u32::MAX; session.records().len()];
    for (id, record) in session.nodes() {
        if tree.is_first_copy(id)
            && main_chain.includes(record.sidechain)
            && let Some(name) = record.uuid
        {
            places[id.0 as usize] = chain.uuids.len() as u32;
            // A version is not the record that its uuid first named, so it gets another uuid here.
            let own =
                if tree.is_version(session, id, name) { name.version_uuid(record) } else { name };
            chain.uuids.push(own);
            let seconds = record.time.map_or(0, |time| time.as_millis() / 1000);
            chain.times.push(u32::try_from(seconds).unwrap_or_default());
        }
    }
    for (id, _) in session.nodes() {
        if places[id.0 as usize] != u32::MAX {
            let parent = tree.parent(id).map_or(u32::MAX, |parent| places[parent.0 as usize]);
            chain.parents.push(parent);
        }
    }
    let merged = session.merged_records().iter().map(|(id, origin)| (places[id.index()], *origin));
    chain.merged = merged.filter(|(place, _)| *place != u32::MAX).collect();
    (chain, places)
}

fn find_missing_parents(history: &History, places: &[u32]) -> Vec<MissingParent> {
    let History { session, record_tree: tree, .. } = history;
    let orphans: BTreeMap<u64, Defect> =
        tree.orphan_defects(session, |_| false).map(|defect| (defect.offset, defect)).collect();
    tree.missing_parents()
        .iter()
        .map(|(id, parent)| MissingParent {
            parent: *parent,
            defect: orphans.get(&session.record(*id).span.offset).cloned(),
            position: places[id.0 as usize],
        })
        .collect()
}

/// Finds tool calls and results without a counterpart. The last message of the conversation that
/// resumes and the last message of a sub-agent are skipped, because they may still be in progress.
fn find_unpaired_tools(history: &History) -> Vec<Defect> {
    let History { session, record_tree: tree, message_tree, branches, .. } = history;
    let mut calls: FxHashMap<IdHash, NodeId> = FxHashMap::default();
    let mut results: FxHashMap<IdHash, NodeId> = FxHashMap::default();
    for (id, record) in session.nodes().filter(|(id, _)| tree.is_first_copy(*id)) {
        let ids = if record.role == RecordRole::ToolResult { &mut results } else { &mut calls };
        ids.extend(session.tool_ids(record).iter().map(|tool| (*tool, id)));
    }
    let at_work = branches.resume.and_then(|resume| message_tree.message_of(resume.leaf));
    let is_at_work = |id: NodeId| {
        let message = message_tree.message_of(id);
        let ends = |message| message_tree.dialogue_children(message).next().is_none();
        message == at_work
            || message.is_some_and(|id| message_tree.message(id).sidechain && ends(id))
    };
    let open = calls.iter().filter(|(tool, id)| !results.contains_key(tool) && !is_at_work(**id));
    let stray = results.iter().filter(|(tool, _)| !calls.contains_key(tool));
    let defect = |id: &NodeId, kind| {
        let record = session.record(*id);
        Defect { offset: record.span.offset, line: record.line, kind }
    };
    let mut unpaired: Vec<Defect> = open
        .map(|(_, id)| defect(id, DefectKind::UnansweredTool))
        .chain(stray.map(|(_, id)| defect(id, DefectKind::StrayResult)))
        .collect();
    unpaired.sort_by_key(|defect| (defect.line, defect.kind.as_str()));
    unpaired
}

/// Finds the messages that the rule by dates passes over because they have none.
///
/// Only in files of clients that resume by dates, and only records written after the resume point.
fn find_undated_messages(history: &History) -> Vec<Defect> {
    let History { session, record_tree: tree, branches, .. } = history;
    let Some(resume) =
        branches.resume.filter(|_| ClientEra::of_session(session) == ClientEra::Timestamp)
    else {
        return Vec::new();
    };
    let main_chain = history.main_chain();
    let is_passed_over = |(id, record): &(NodeId, &Record)| {
        *id > resume.point
            && record.time.is_none()
            && record.role.is_displayable()
            && main_chain.includes(record.sidechain)
            && tree.is_first_copy(*id)
    };
    let undated = session.nodes().filter(is_passed_over);
    let defect = |record: &Record| Defect {
        offset: record.span.offset,
        line: record.line,
        kind: DefectKind::MissingDate,
    };
    undated.map(|(_, record)| defect(record)).collect()
}

/// Finds the records that are dated later than `now`.
pub fn future_dates(session: &Session, now: Time) -> Vec<Defect> {
    let dated = session.nodes().filter_map(|(_, record)| Some((record, record.time?)));
    dated
        .filter(|(_, time)| *time > now)
        .map(|(record, time)| Defect {
            offset: record.span.offset,
            line: record.line,
            kind: DefectKind::FutureDate { time },
        })
        .collect()
}

fn count_by_type(
    history: &History,
    wanted: impl Fn(RecordKind) -> bool,
) -> BTreeMap<Box<str>, u32> {
    let session = &history.session;
    let mut counts: BTreeMap<RecordKind, u32> = BTreeMap::new();
    let mut by_type = BTreeMap::new();
    for (id, record) in (0..).map(NodeId).zip(session.records()) {
        if record.recovered || !wanted(record.kind) {
            continue;
        }
        match session.raw_type(id) {
            Some(name) => *by_type.entry(name.into()).or_default() += 1,
            None => *counts.entry(record.kind).or_default() += 1,
        }
    }
    by_type.extend(counts.into_iter().map(|(kind, count)| (kind.as_str().into(), count)));
    by_type
}

/// Counts forks and leaves by parent links only (R21).
fn count_raw_branching(history: &History) -> RawBranching {
    let History { session, record_tree: tree, .. } = history;
    let main_chain = history.main_chain();
    let counts = |id: NodeId, record: &Record| {
        main_chain.includes(record.sidechain)
            && tree.is_first_copy(id)
            && !(record.recovered && tree.children(id).is_empty())
    };
    let mut raw = RawBranching::default();
    for (id, _) in session.nodes().filter(|(id, record)| counts(*id, record)) {
        let children = tree
            .children(id)
            .iter()
            .filter(|child| counts(**child, session.record(**child)))
            .count() as u32;
        let in_lane = tree
            .parent(id)
            .is_some_and(|parent| main_chain.includes(session.record(parent).sidechain));
        raw.roots += u32::from(!in_lane);
        raw.leaves += u32::from(children == 0);
        if children > 1 {
            raw.forks += 1;
            raw.branches += children;
            raw.most_branches = raw.most_branches.max(children);
        }
    }
    raw
}
