//! Plans changes to a history: which lines are added, and where the client would continue then.
//!
//! Planning does no I/O and may refuse. A plan never changes existing bytes (R23): it appends lines to a
//! session, or makes a new session out of copied lines. `ramus-store` carries plans out.

mod fork;
mod goto;
mod id_replacements;
mod linearize;
mod merge;
mod new_line;
mod refusal;
mod relocate;
mod repair;
mod splice;
mod summary;

pub use fork::{CopySource, ForkOptions, copy_source, plan_fork};
pub use goto::{plan_goto, plan_rename};
pub use linearize::{BodyReader, ChainFixes, ThinkingPolicy};
pub use merge::{
    ConflictPolicy, DigestTextError, ExchangePick, FileConflict, FileOutcome, Inclusion,
    MAX_DIGEST_BYTES, MergeBrief, MergeExchange, MergeExchanges, MergeOptions, MergeSources,
    MergeStrategy, PickError, PlannedMerge, merge_brief, parse_digest_text, plan_merge,
};
pub use refusal::EditRefusal;
pub use relocate::Relocation;
pub use repair::{
    RepairedSession, Repairs, WrongIds, node_to_repair, plan_repair, reattached_nodes,
};
pub use splice::Splice;
pub use summary::{
    ChangeDetail, ChangeSummary, FileRestoration, MessageSummary, RestoredFile, UndoneOperation,
    UnpackedSummary,
};

use crate::history::History;
use crate::ids::RecordUuid;
use crate::record::ByteSpan;
use crate::session::NodeId;
use crate::time::Time;

/// What a plan needs from outside, because nothing here knows the time or makes ids.
pub struct EditContext<'a> {
    /// The id of the session that is written.
    pub session: &'a str,
    pub now: Time,
    /// Makes a new, unique uuid.
    pub new_id: &'a mut dyn FnMut() -> String,
}

/// Whole lines for the end of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppendedLines {
    pub bytes: Vec<u8>,
    /// Where the client will continue; `None`: where it did before.
    pub resume: Option<RecordUuid>,
}

/// A session that is not there yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSession {
    pub id: String,
    pub title: String,
    pub lines: Vec<NewLine>,
    /// Where the client will continue.
    pub resume: RecordUuid,
    /// The last message that was copied.
    pub leaf: String,
    /// Displayable messages, a split one counted once.
    pub messages: u32,
    /// How many of them the client will not load.
    pub left_out: u32,
    /// Records dated in the future, whose time was changed.
    pub set_back: u32,
}

/// A line of a new session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewLine {
    /// With its newline.
    Made(Vec<u8>),
    /// A record of one of the sources, with some of its fields replaced.
    Copied(CopiedLine),
}

/// A copied record. A session has a million of them, so this takes little memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopiedLine {
    offset: u64,
    len: u32,
    source: u32,
    pub splice: Splice,
}

impl CopiedLine {
    /// Returns the number of its source.
    pub fn source(&self) -> usize {
        self.source as usize
    }

    /// Returns where the record is in its source.
    pub fn span(&self) -> ByteSpan {
        ByteSpan { offset: self.offset, len: self.len }
    }
}

impl NewLine {
    /// Copies a record of a source.
    pub fn copied(source: usize, span: ByteSpan, splice: Splice) -> Self {
        let ByteSpan { offset, len } = span;
        Self::Copied(CopiedLine { offset, len, source: source as u32, splice })
    }
}

/// Returns the last record of the message that a node belongs to (R25).
///
/// After it every tool call has its result. A result attached elsewhere is not the end: a client that
/// continued there would miss the message. `None`: metadata.
pub fn end_of_message(history: &History, node: NodeId) -> Option<NodeId> {
    let message = history.message_tree.message_of(node)?;
    let head = history.message_tree.message(message).head;
    let members = history.message_tree.records_of(message).iter().copied();
    let is_seen = |id: &NodeId| {
        let record = history.session.record(*id);
        record.uuid.is_some()
            && !record.recovered
            && history.record_tree.ancestors(*id).any(|above| above == head)
    };
    members.rev().find(is_seen).or(Some(head))
}
