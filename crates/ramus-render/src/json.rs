//! The machine-readable output: types that are only serialized.
//!
//! Field names are stable. Adding one is allowed; changing one needs a new schema number.

mod archive;
mod diff;
mod document;
mod escape;
mod files;
mod hit;
mod list;
mod merge;
mod outline;
mod pack;
mod sent;
mod stats;
mod turn;
mod usage;
mod watch;
mod written;

pub use archive::{
    ArchiveAdd, ArchiveDamage, ArchiveExport, ArchiveForget, ArchiveGeneration, ArchiveInit,
    ArchiveList, ArchiveSession, ArchiveSettings, ArchiveShare, ArchiveStatus, ArchiveVerify,
};
pub use diff::{Diff, from_comparison};
pub use document::{DemoWritten, Document, Pages};
pub use escape::write_json;
pub use files::{
    File, FileDiff, FileWritten, Files, FilesDiff, FilesPoint, FilesWritten, files_point,
    from_file_state,
};
pub use hit::{SNIPPET_ROOM, hit};
pub use list::{
    find_bookmarks, from_conversations, from_lost_agent, from_pull_request, from_relative,
    from_resume_point, from_session, from_tree, group_by_repository, project,
};
pub use merge::{MergeAnswer, MergeConflict, MergedExchange, from_conflict, from_exchange};
pub use outline::{Outline, OutlineRow, from_tree_row};
pub use pack::{Packed, PackedFileEntry, PackedSessionEntry, Unpacked, UnpackedSession};
pub use sent::{MessageJson, SentJson, UnwordedJson};
pub use stats::{from_most_complex, from_stats};
pub use turn::{ReplyUsage, Show, Turn, from_reply, from_turn};
pub use usage::{
    Amounts, BlockRow, ByBranch, ByConversation, ByLine, ByModel, ByProject, BySession, BySource,
    ByTime, Client, ClientModel, DailyRow, DailyUsage, OfBranch, PathUsage, Prices, RunningBlock,
    Unpriced, Usage, UsageProject, UsageSession, daily_usage, most_expensive_first, round_dollars,
    usage_report,
};
pub use watch::{
    Watched, change_event as watched_change, from_live_event as watched_news,
    note_event as watched_note,
};
pub use written::{FixAnswer, Log, LogEntry, Resumable, Written};

use std::collections::BTreeMap;

use ramus_core::annotation::{Annotation, AnnotationTarget};
use ramus_core::branches::BranchStatus;
use ramus_core::digest::one_line;
use ramus_core::time::Time;
use serde::{Serialize, Serializer};

/// Any answer, with the name of its schema first.
#[derive(Debug, Serialize)]
pub struct Answer<T> {
    schema: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<AnswerScope>,
    #[serde(flatten)]
    body: T,
}

/// What an answer is about.
#[derive(Clone, Debug, Serialize)]
pub struct AnswerScope {
    /// `everywhere`, `project`, `session` or `sessions`.
    pub kind: &'static str,
    /// The encoded name.
    pub project: Option<String>,
    pub session: Option<String>,
    /// The ids, if several sessions were named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sessions: Option<Vec<String>>,
    /// Nothing was named, and the current directory decided.
    pub from_directory: bool,
}

impl<T: Serialize> Answer<T> {
    /// Names the schema of a body, such as `ramus.sessions/1`.
    pub fn new(schema: &'static str, body: T) -> Self {
        Self { schema, scope: None, body }
    }

    /// Says what the answer is about.
    #[must_use]
    pub fn with_scope(self, scope: AnswerScope) -> Self {
        Self { scope: Some(scope), ..self }
    }
}

/// The settings and where each came from.
#[derive(Debug, Serialize)]
pub struct Configuration {
    pub file: String,
    pub exists: bool,
    pub settings: Vec<ConfiguredValue>,
    /// Unknown keys of the file.
    pub unknown: Vec<String>,
}

/// One setting.
#[derive(Debug, Serialize)]
pub struct ConfiguredValue {
    pub key: &'static str,
    pub value: String,
    /// `option`, `environment`, `file` or `default`.
    pub from: &'static str,
    /// The line of the file.
    pub line: Option<usize>,
    /// The option or the variable.
    pub name: Option<&'static str>,
}

/// The cache.
#[derive(Debug, Serialize)]
pub struct Cache {
    /// `None`: nothing is.
    pub dir: Option<String>,
    pub files: u64,
    pub bytes: u64,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Projects {
    pub projects: Vec<Project>,
    /// Projects in groups; only if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub repositories: Option<Vec<Repository>>,
}

/// All projects of one git repository, or one project that is in none.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Repository {
    /// The address of its remote, else its directory; `None`: it is no repository, as far as is known.
    pub repository: Option<String>,
    /// The encoded names of its projects.
    pub projects: Vec<String>,
    pub sessions: usize,
    pub conversations: usize,
    pub bytes: u64,
    pub last_active: Option<String>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Project {
    /// The encoded directory name.
    pub name: String,
    /// The working directory of the project, as its records name it.
    pub path: Option<String>,
    /// The project's directory on disk.
    pub dir: String,
    pub sessions: usize,
    pub conversations: usize,
    pub agents: usize,
    pub bytes: u64,
    pub last_active: Option<String>,
    /// The git repository of the project; only if requested.
    pub repository: Option<String>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Sessions {
    pub sessions: Vec<Session>,
    /// Agents whose session no longer has a file.
    pub lost_agents: Vec<LostAgent>,
}

/// An agent whose session no longer has a file.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LostAgent {
    /// Its id; `agent-ID` is its address.
    pub agent: String,
    /// The session that started it.
    pub session: String,
    pub file: String,
    pub project: String,
    pub title: Option<String>,
    pub messages: u32,
    pub last_active: Option<String>,
}

/// Writes the stable word of a status.
fn status_word<S: Serializer>(status: &BranchStatus, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(status.as_str())
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Session {
    pub id: String,
    /// Its path from the Claude directory on.
    pub file: String,
    /// The encoded name of its project.
    pub project: String,
    pub class: &'static str,
    pub title: Option<String>,
    pub version: Option<String>,
    pub records: u64,
    pub lines: u64,
    pub messages: u32,
    pub conversations: usize,
    pub forks: u32,
    pub compactions: usize,
    pub agents: usize,
    pub defects: usize,
    pub bytes: u64,
    pub started: Option<String>,
    pub last_active: Option<String>,
    pub resume_leaf: Option<String>,
    pub cwd: Option<String>,
    pub git_branch: Option<String>,
    /// `linear`, or any of `branching`, `sidechain`, `forked`, `merged`.
    pub flow: Vec<&'static str>,
    pub complexity: u32,
    pub links: Vec<Link>,
    /// When Claude Code deletes its file, should it not be changed before.
    pub deleted_after: Option<String>,
    /// What it and its sub-agents cost in dollars, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(skip))]
    pub cost_usd: Option<f64>,
    /// Its file no longer exists; it is read from the archive.
    pub archived: bool,
    pub pull_requests: Vec<PullRequest>,
    /// The git repository of its project; only if requested.
    pub repository: Option<String>,
    /// Where it came from.
    pub origins: Vec<Relative>,
    /// What came out of it.
    pub offspring: Vec<Relative>,
    /// Pins, tags and notes are ramus's own data.
    pub pinned: bool,
    pub tags: Vec<String>,
    pub note: Option<String>,
    /// How many of its messages are pinned, tagged or have a note.
    pub annotated_messages: usize,
}

/// Pins, tags and notes.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Annotated {
    pub annotations: Vec<AnnotatedTarget>,
}

/// What a person put on a session or on one of its messages.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AnnotatedTarget {
    /// The session's id; that of an agent begins with `agent-`.
    pub session: String,
    /// The message's uuid. `None`: the session itself.
    pub message: Option<String>,
    pub pinned: bool,
    pub tags: Vec<String>,
    pub note: Option<String>,
    /// When it was changed last.
    pub changed: Option<String>,
}

/// Converts an annotation.
pub fn from_annotation(target: &AnnotationTarget, annotation: &Annotation) -> AnnotatedTarget {
    AnnotatedTarget {
        session: target.session.clone(),
        message: target.message.clone(),
        pinned: annotation.pinned,
        tags: annotation.tags.iter().cloned().collect(),
        note: Some(annotation.note.clone()).filter(|note| !note.is_empty()),
        changed: annotation.changed.clone(),
    }
}

/// A pull request that was made in a session.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PullRequest {
    pub number: Option<u64>,
    pub url: String,
    pub repository: Option<String>,
}

/// A session that another one came from, or that came out of it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Relative {
    /// `fork`, `merge`, `copy`, `continuation`, `clear`; of an agent `agent`.
    pub kind: &'static str,
    /// `None`: nothing records which one it was.
    pub session: Option<String>,
    /// Its file is there.
    pub found: bool,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Link {
    /// `fork`, `merge`, `copy`, `continuation` or `summary`.
    pub kind: &'static str,
    pub session: String,
}

#[derive(Debug, Serialize)]
pub struct Conversations {
    pub conversations: Vec<Conversation>,
    /// Nodes that a summary names and no conversation ends with.
    pub bookmarks: Vec<Bookmark>,
}

#[derive(Debug, Serialize)]
pub struct Bookmark {
    pub session: String,
    pub node: String,
    pub title: String,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Conversation {
    pub session: String,
    /// Its session's path from the Claude directory on.
    pub file: String,
    pub n: usize,
    pub leaf: String,
    #[cfg_attr(feature = "typescript", ts(type = "\"active\" | \"abandoned\""))]
    pub status: BranchStatus,
    pub resumes: bool,
    pub draft: bool,
    pub why: String,
    pub title: Option<String>,
    /// What distinguishes it from the other conversations of its session.
    pub branch_title: Option<String>,
    /// The first prompt since its fork.
    pub prompt: Option<String>,
    pub fork_point: Option<String>,
    /// The start of its uuid that means no other message; for people.
    #[serde(skip)]
    #[cfg_attr(feature = "typescript", ts(skip))]
    pub short_fork_point: Option<String>,
    pub fork_kind: Option<&'static str>,
    pub messages: u32,
    pub records: u32,
    pub compactions: u32,
    pub last_active: Option<String>,
}

#[derive(Debug, Serialize)]
pub struct Tree {
    pub session: String,
    /// Where it came from.
    pub origins: Vec<Relative>,
    /// What came out of it.
    pub offspring: Vec<Relative>,
    pub resume: Option<Resume>,
    pub roots: Vec<String>,
    pub forks: Vec<Fork>,
    pub artefacts: BTreeMap<&'static str, u32>,
    pub leaves: Vec<String>,
    /// Records that are read after another one than the file links them to.
    pub placed: Vec<Placed>,
}

#[derive(Debug, Serialize)]
pub struct Placed {
    pub node: String,
    /// The first record of the message that it is read after.
    pub after: String,
    /// `compaction`, `missing-parent`, `no-parent`, `late-records`, `after-guess`, `reused-caveat`,
    /// `agent-record`, `kept-message`.
    pub why: &'static str,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Resume {
    pub point: String,
    pub leaf: String,
    pub rule: String,
    pub why: String,
    /// The line of the record that decided.
    pub line: u32,
    /// Where clients of other versions would continue instead.
    pub otherwise: Vec<Otherwise>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Otherwise {
    pub rule: String,
    pub leaf: String,
}

#[derive(Debug, Serialize)]
pub struct Fork {
    pub node: String,
    pub kind: &'static str,
    pub children: Vec<String>,
    /// The child that leads to the resume point, or was written last.
    pub current: Option<String>,
    /// The children on which no real answer was given.
    pub drafts: Vec<String>,
    /// `restored` or `kept`: what became of the files when a person went back, where it is known.
    pub files: Option<&'static str>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Stats {
    pub projects: usize,
    pub sessions: u64,
    pub files: u64,
    pub bytes: u64,
    pub by_class: BTreeMap<&'static str, u64>,
    pub lines: u64,
    pub blank: u64,
    pub records: u64,
    pub unknown: u64,
    pub damaged: u64,
    pub by_type: BTreeMap<String, u64>,
    pub system_by_subtype: BTreeMap<String, u64>,
    pub messages: u64,
    pub forks: u64,
    pub forks_by_kind: BTreeMap<&'static str, u64>,
    pub drafts: u64,
    pub artefacts: BTreeMap<&'static str, u64>,
    pub conversations: u64,
    pub active: u64,
    pub abandoned: u64,
    pub unique_paths: u64,
    pub compactions: u64,
    pub compaction_records: u64,
    pub sidechain_records: u64,
    pub agents: BTreeMap<&'static str, u64>,
    pub duplicate_uuids: u64,
    pub orphans: u64,
    pub defects: u64,
    pub sessions_with_forks: u64,
    pub sessions_with_sidechains: u64,
    pub forked_sessions: u64,
    pub merged_sessions: u64,
    pub linear_sessions: u64,
    pub complex_sessions: u64,
    pub largest_branching: u32,
    pub mean_branching: f64,
    pub flow: BTreeMap<&'static str, u64>,
    pub most_complex: Option<MostComplex>,
    pub raw: RawStats,
}

/// The same counted by parent links only.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RawStats {
    pub forks: u64,
    pub leaves: u64,
    pub roots: u64,
    pub sessions_with_forks: u64,
    pub linear_sessions: u64,
    pub complex_sessions: u64,
    pub largest_branching: u32,
    pub mean_branching: f64,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct MostComplex {
    pub session: String,
    pub title: Option<String>,
    pub score: u32,
    pub parts: BTreeMap<&'static str, u32>,
}

#[derive(Debug, Serialize)]
pub struct Exported {
    pub transcripts: Vec<ExportedPath>,
    /// Transcripts of agents.
    pub agents: Vec<ExportedPath>,
    /// What was taken out, by rule; null where nothing was to be.
    pub redactions: Option<BTreeMap<&'static str, u64>>,
}

#[derive(Debug, Serialize)]
pub struct ExportedPath {
    /// Its path in the directory of the export.
    pub file: String,
    pub session: String,
    pub leaf: String,
    pub path: usize,
    pub paths: usize,
    pub status: &'static str,
    pub resumes: bool,
    pub messages: usize,
    pub records: usize,
    pub bytes: u64,
}

#[derive(Debug, Serialize)]
pub struct Check {
    pub files: usize,
    /// Lines that are not blank: `known + unknown + damaged`.
    pub lines: u64,
    pub blank: u64,
    pub known: u64,
    pub unknown: u64,
    pub damaged: u64,
    pub unknown_types: BTreeMap<String, u64>,
    pub thinking: u64,
    pub withheld_thinking: u64,
    pub defects: Vec<Defect>,
    pub retention: Retention,
}

/// Where secrets are, session by session.
#[derive(Debug, Default, Serialize)]
pub struct Secrets {
    pub files: usize,
    /// All places, listed or not.
    pub count: u64,
    pub by_rule: BTreeMap<&'static str, u64>,
    pub sessions: Vec<SessionSecrets>,
    /// Places that are counted but not listed, because there are too many.
    pub unlisted: u64,
}

/// The secrets of one session, its agents and its spilled outputs included.
#[derive(Debug, Serialize)]
pub struct SessionSecrets {
    pub session: String,
    pub title: Option<String>,
    pub count: u64,
    pub places: Vec<SecretPlace>,
}

/// Secrets of one kind and length on one line.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct SecretPlace {
    pub file: String,
    pub line: u64,
    pub rule: &'static str,
    /// The part that all secrets of the kind begin with, and the length.
    pub masked: String,
    pub times: u64,
}

/// What the client's clean-up will delete soon.
#[derive(Debug, Serialize)]
pub struct Retention {
    /// `cleanupPeriodDays` of the settings, or the client's default.
    pub days: u32,
    pub from_settings: bool,
    /// Sessions and files of sub-agents that go within the next week, overdue ones included.
    pub soon: usize,
    pub soon_bytes: u64,
    /// When the first of them goes.
    pub first: Option<String>,
    pub soon_sessions: usize,
    pub soon_agents: usize,
    /// Those that are overdue: the client deletes them at its next start.
    pub overdue: usize,
    /// Files that go within the next week and are not archived as they are now.
    pub unarchived: usize,
}

#[derive(Debug, Serialize)]
pub struct Defect {
    pub file: String,
    pub line: u32,
    pub offset: u64,
    pub kind: &'static str,
    pub detail: String,
    /// `check --fix` makes a copy without it, where it is on the conversation that is resumed.
    pub fixable: bool,
}

/// One message that was found; a stream of them is written, one a line.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Hit {
    /// The session; of an agent's record, the one that started the agent.
    pub session: String,
    pub title: Option<String>,
    /// The encoded name of the project.
    pub project: Option<String>,
    /// The agent whose record it is.
    pub agent: Option<String>,
    /// What to give to the next command.
    pub address: String,
    /// Its path from the Claude directory on.
    pub file: String,
    pub line: u32,
    /// `None`: the record has no name, such as a title or a summary.
    pub uuid: Option<String>,
    pub role: &'static str,
    pub kind: &'static str,
    /// `prompt-only`: its session was deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub class: Option<&'static str>,
    /// The number of its conversation.
    pub conversation: Option<u32>,
    pub status: Option<&'static str>,
    /// The client would continue this conversation.
    pub resumes: bool,
    pub timestamp: Option<String>,
    /// The text around the first match, on one line.
    pub snippet: String,
    /// From and to which character of the snippet it matches.
    #[serde(rename = "match")]
    pub matched: [usize; 2],
    /// Every copy of the message, the eldest first.
    pub places: Vec<HitPlace>,
    /// The messages before and after it; only if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub context: Option<HitContext>,
    /// How close the words are to each other: `phrase`, `message`, `conversation` or `partial`. This and what
    /// follows: only if the best matches come first.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub level: Option<&'static str>,
    /// The score of the match; only comparisons within one answer are meaningful.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub score: Option<f32>,
    /// How many more messages of the session match.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub more: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub why: Option<HitReasons>,
}

/// Why a hit has its place.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct HitReasons {
    /// The score of the session, and the share of it that comes from its time.
    pub session_score: f32,
    pub recency: f32,
    pub words: Vec<WordReason>,
}

/// What one word adds to the place of a hit.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct WordReason {
    pub word: String,
    /// How it matches: `word`, `start`, `part` or `elsewhere`.
    pub form: &'static str,
    /// The rarer the word, the more.
    pub weight: f32,
}

/// The class of sessions of which nothing but prompts is left.
pub const PROMPT_ONLY: &str = "prompt-only";

/// A deleted session of which only prompts are left: their number, and the first one.
pub fn gone_session(
    id: &str,
    project: Option<&str>,
    prompts: usize,
    first: &str,
    times: (Option<Time>, Option<Time>),
) -> Session {
    Session {
        id: id.to_owned(),
        file: "history.jsonl".to_owned(),
        project: project.unwrap_or_default().to_owned(),
        class: PROMPT_ONLY,
        title: Some(one_line(first).into()).filter(|title: &String| !title.is_empty()),
        version: None,
        records: 0,
        lines: prompts as u64,
        messages: prompts.try_into().unwrap_or(u32::MAX),
        conversations: 0,
        forks: 0,
        compactions: 0,
        agents: 0,
        defects: 0,
        bytes: 0,
        started: times.0.map(|time| time.to_string()),
        last_active: times.1.map(|time| time.to_string()),
        resume_leaf: None,
        cwd: project.map(str::to_owned),
        git_branch: None,
        flow: Vec::new(),
        complexity: 0,
        links: Vec::new(),
        deleted_after: None,
        cost_usd: None,
        archived: false,
        pull_requests: Vec::new(),
        repository: None,
        origins: Vec::new(),
        offspring: Vec::new(),
        pinned: false,
        tags: Vec::new(),
        note: None,
        annotated_messages: 0,
    }
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct HitPlace {
    pub file: String,
    pub line: u32,
    /// `null` if it is not on a conversation.
    pub status: Option<&'static str>,
    pub conversation: Option<u32>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct HitContext {
    /// From the eldest on.
    pub before: Vec<HitNeighbour>,
    /// All messages that follow, on every branch.
    pub after: Vec<HitNeighbour>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct HitNeighbour {
    pub uuid: Option<String>,
    pub role: &'static str,
    /// Its first words.
    pub text: String,
}

/// How many messages were found.
#[derive(Debug, Serialize)]
pub struct HitCount {
    pub messages: usize,
    /// Copies counted too.
    pub places: usize,
    pub files: usize,
}

/// A file that matches.
#[derive(Debug, Serialize)]
pub struct HitFile {
    pub file: String,
    pub messages: usize,
}
