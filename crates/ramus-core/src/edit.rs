//! Plans changes to a history: which lines are added, and where the client would continue then.
//!
//! Planning does no I/O and may refuse. A plan never changes existing bytes (R23): it appends lines to a
//! session, or makes a new session out of copied lines. `ramus-store` carries plans out.

mod fix;
mod fork;
mod goto;
mod line;
mod merge;
mod refusal;
mod relocate;
mod rename;
mod splice;
mod summary;
mod weave;

pub use fix::{Fixed, Misnamed, Repairs, fix, reattached, to_fix};
pub use fork::{Fork, Origin, fork, origin};
pub use goto::{goto, rename};
pub use merge::{
    Conflict, DigestTextError, End, Exchange, Fate, LONGEST_DIGEST_TEXT, Merge, MergeBrief, Merged,
    Pick, PickError, Policy, Sources, Strategy, digest_text, merge, merge_brief,
};
pub use refusal::Refusal;
pub use relocate::Relocation;
pub use splice::Splice;
pub use summary::{
    ChangeDetail, ChangeSummary, FileRestoration, MessageSummary, RestoredFile, UndoneOperation,
    UnpackedSummary,
};
pub use weave::{Bodies, Mended, Thinking};

use crate::history::History;
use crate::name::Name;
use crate::record::ByteSpan;
use crate::session::NodeId;
use crate::time::Time;

/// What a plan needs from outside, because nothing here knows the time or makes ids.
pub struct Writer<'a> {
    /// The id of the session that is written.
    pub session: &'a str,
    pub now: Time,
    /// Makes a new, unique uuid.
    pub new_id: &'a mut dyn FnMut() -> String,
}

/// Whole lines for the end of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Addition {
    pub bytes: Vec<u8>,
    /// Where the client will continue; `None`: where it did before.
    pub resume: Option<Name>,
}

/// A session that is not there yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSession {
    pub id: String,
    pub title: String,
    pub lines: Vec<NewLine>,
    /// Where the client will continue.
    pub resume: Name,
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
    Copied { source: usize, span: ByteSpan, splice: Splice },
}

/// Returns the last record of the message that a node belongs to (R25).
///
/// After it every tool call has its result. A result attached elsewhere is not the end: a client that
/// continued there would miss the message. `None`: metadata.
pub fn end_of_message(history: &History, node: NodeId) -> Option<NodeId> {
    let fold = history.folds.of(node)?;
    let head = history.folds.fold(fold).head;
    let members = history.folds.members(fold).iter().copied();
    let is_seen = |id: &NodeId| {
        let record = history.session.record(*id);
        record.name.is_some()
            && !record.recovered
            && history.tree.ancestors(*id).any(|above| above == head)
    };
    members.rev().find(is_seen).or(Some(head))
}
