//! Plans a new session out of several conversations (R27).
//!
//! What they have in common is copied once. The first conversation, or the common part, is the trunk: its
//! records keep their uuids, as in a fork. What is added to it gets new ones. Exchanges are never split:
//! if two conversations diverge within an exchange, the later one includes the prompt again.
//!
//! A compaction hides earlier messages from the model. On the trunk it stays, because that is what the
//! client did. Elsewhere it would hide the other conversations, so its summary is quoted as a user message
//! in place of the exchanges that it summarizes.

mod brief;
mod conflict;
mod element;
mod pick;
mod quote;
mod strategy;

#[cfg(test)]
mod tests;

use std::ops::Range;

use rustc_hash::FxHashSet;

pub use self::brief::{
    DigestTextError, MAX_DIGEST_BYTES, MergeBrief, merge_brief, parse_digest_text,
};
pub use self::conflict::{ConflictPolicy, FileConflict, FileOutcome};
use self::element::{ElementShape, MergeElement};
pub use self::pick::{ExchangePick, PickError};
use super::fork::CopySource;
use super::linearize::{
    BodyReader, ChainFixes, FinishedChain, LinearizeConfig, Linearizer, ThinkingPolicy, UuidPolicy,
};
use super::splice::ProvenanceField;
use super::{EditContext, EditRefusal, NewSession};
use crate::compare::{PathOverlap, PathPart, compare_paths};
use crate::history::ConversationPath;
use crate::ids::RecordUuid;
use crate::session::NodeId;
use crate::time::Time;

/// What is merged: the files that the conversations run through.
#[derive(Debug)]
pub struct MergeSources<'a> {
    pub origins: Vec<CopySource<'a>>,
    /// The path in each of them.
    pub paths: Vec<&'a ConversationPath>,
    /// Which of them a conversation runs through, the oldest first.
    pub branches: Vec<Range<usize>>,
}

/// What a merge is to be like.
#[derive(Clone, Debug)]
pub struct MergeOptions<'a> {
    pub strategy: MergeStrategy,
    /// They may have nothing in common, and what they have is not looked for.
    pub no_base: bool,
    pub policy: ConflictPolicy,
    pub title: &'a str,
    /// The working directory of the project it goes to; `None`: it stays where it was.
    pub cwd: Option<&'a str>,
}

/// How conversations are put together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MergeStrategy {
    /// One after the other.
    Append,
    /// Exchange by exchange, as they were written.
    Interleave,
    /// These exchanges, in this order.
    Pick(Vec<ExchangePick>),
    /// The first one, then the others in short as one message.
    Digest,
    /// The first one, then this text as one message: a merge digest that somebody wrote after reading a
    /// [`MergeBrief`].
    Assisted(String),
}

/// A merge that was planned.
#[derive(Clone, Debug)]
pub struct PlannedMerge {
    pub new: NewSession,
    /// Displayable messages that all have.
    pub common: u32,
    /// The exchanges that only one conversation has: first those taken, in order, then the rest.
    pub exchanges: Vec<MergeExchange>,
    /// Files that were changed differently.
    pub conflicts: Vec<FileConflict>,
    pub chain_fixes: ChainFixes,
}

/// An exchange that only one conversation has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeExchange {
    /// The conversation, from 1.
    pub branch: usize,
    /// Its number within the conversation, from 1.
    pub number: usize,
    /// The uuid of its first record.
    pub uuid: String,
    /// The beginning of the prompt.
    pub prompt_text: Option<String>,
    pub time: Option<Time>,
    pub messages: u32,
    pub inclusion: Inclusion,
}

/// What becomes of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inclusion {
    Copied,
    /// A compaction; its summary is quoted, with what follows it.
    Quoted,
    /// Covered by a quoted summary or a merge digest.
    Summarized,
    LeftOut,
}

impl Inclusion {
    /// Returns the stable word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Copied => "copied",
            Self::Quoted => "quoted",
            Self::Summarized => "summarized",
            Self::LeftOut => "left-out",
        }
    }
}

/// Plans a new session out of several conversations.
///
/// Conflicts are part of the result; the caller decides by `request.policy` whether they stop the
/// merge.
pub fn plan_merge(
    sources: &MergeSources<'_>,
    request: &MergeOptions<'_>,
    writer: &mut EditContext<'_>,
    bodies: &mut BodyReader<'_>,
) -> Result<PlannedMerge, EditRefusal> {
    let branches = split_branches(sources, request.no_base)?;
    let order = strategy::merge_order(sources, &branches, &request.strategy)?;
    let taken = order.taken_records(sources, &branches);
    let conflicts = conflict::find_conflicts(sources, &taken, bodies);
    let config = LinearizeConfig {
        provenance: ProvenanceField::MergedFrom,
        cwd: request.cwd,
        thinking: ThinkingPolicy::Unsigned,
    };
    let mut weave = Linearizer::new(&sources.origins, config, writer);
    for element in &order.trunk {
        copy_records(&mut weave, &element.all_records(), UuidPolicy::Keep, bodies);
    }
    for element in &order.added {
        add_element(sources, &mut weave, element, bodies);
    }
    match &request.strategy {
        MergeStrategy::Digest => {
            let text = quote::merge_digest(sources, &taken[1..], bodies);
            weave.add_user_message(text, quote::digest_provenance(sources, &taken[1..]), None);
        }
        MergeStrategy::Assisted(text) => {
            let text = quote::introduce_digest(text);
            weave.add_user_message(text, quote::digest_provenance(sources, &taken[1..]), None);
        }
        MergeStrategy::Append | MergeStrategy::Interleave | MergeStrategy::Pick(_) => {}
    }
    if let Some(note) = conflict::conflict_note(&conflicts, request.policy) {
        weave.add_user_message(note, conflict::note_provenance(sources), None);
    }
    let mut finished = weave.into_finished().ok_or(EditRefusal::Empty)?;
    finished.add_title_and_pointer(request.title, &order.last_prompt_text(sources), writer.session);
    let FinishedChain { lines, resume, messages, fixes: mended } = finished;
    Ok(PlannedMerge {
        new: NewSession {
            id: writer.session.to_owned(),
            title: request.title.to_owned(),
            lines,
            resume: RecordUuid::new(resume.as_bytes()),
            leaf: resume,
            messages,
            left_out: order.hidden_messages(),
            set_back: mended.set_back,
        },
        common: order.common_messages(),
        exchanges: order.list_exchanges(sources),
        conflicts,
        chain_fixes: mended,
    })
}

/// Splits each conversation into common and own exchanges.
fn split_branches(
    sources: &MergeSources<'_>,
    no_base: bool,
) -> Result<Vec<Vec<MergeElement>>, EditRefusal> {
    let stretches: Vec<Vec<PathPart<'_>>> =
        sources.branches.iter().map(|parts| path_parts(sources, parts)).collect();
    let mut branches = Vec::new();
    for (branch, parts) in sources.branches.iter().enumerate() {
        if is_sidechain(sources, parts) {
            return Err(EditRefusal::Sidechain);
        }
        let own = if no_base {
            parts.clone().map(|part| sources.paths[part].nodes.iter().copied().collect()).collect()
        } else {
            own_records(&stretches, branch)?
        };
        let elements = element::split_elements(sources, branch, &own);
        if !elements.iter().any(|element| element.number > 0) {
            return Err(EditRefusal::NothingOwn { n: branch + 1 });
        }
        branches.push(elements);
    }
    Ok(branches)
}

/// Returns the records of a conversation that the ones before it have not; of the first, those that some other has not.
fn own_records(
    stretches: &[Vec<PathPart<'_>>],
    branch: usize,
) -> Result<Vec<FxHashSet<NodeId>>, EditRefusal> {
    let count = |own: &[FxHashSet<NodeId>]| own.iter().map(FxHashSet::len).sum::<usize>();
    if branch == 0 {
        let others = stretches[1..].iter().map(|other| compare_paths(&stretches[0], other));
        let owns = others.map(|PathOverlap { own: [own, _], .. }| own);
        return owns.max_by_key(|own| count(own)).ok_or(EditRefusal::Empty);
    }
    let before = stretches[..branch].iter().map(|other| compare_paths(other, &stretches[branch]));
    let shared = before.filter(|common| common.messages > 0);
    let owns = shared.map(|PathOverlap { own: [_, own], .. }| own);
    owns.min_by_key(|own| count(own)).ok_or(EditRefusal::NoCommonPart { n: branch + 1 })
}

fn path_parts<'a>(sources: &'a MergeSources<'_>, parts: &Range<usize>) -> Vec<PathPart<'a>> {
    let stretch = |part: usize| PathPart {
        history: sources.origins[part].history,
        path: sources.paths[part],
    };
    parts.clone().map(stretch).collect()
}

fn is_sidechain(sources: &MergeSources<'_>, parts: &Range<usize>) -> bool {
    parts.clone().any(|part| {
        let message_tree = &sources.origins[part].history.message_tree;
        sources.paths[part]
            .messages
            .first()
            .is_some_and(|message| message_tree.message(*message).sidechain)
    })
}

/// Copies records that may lie in several files.
fn copy_records(
    weave: &mut Linearizer<'_, '_>,
    nodes: &[(usize, NodeId)],
    names: UuidPolicy,
    bodies: &mut BodyReader<'_>,
) {
    for run in nodes.chunk_by(|a, b| a.0 == b.0) {
        let nodes: Vec<NodeId> = run.iter().map(|(_, node)| *node).collect();
        weave.copy_records(run[0].0, &nodes, names, bodies);
    }
}

/// Puts an exchange of another conversation on the line.
fn add_element(
    sources: &MergeSources<'_>,
    weave: &mut Linearizer<'_, '_>,
    element: &MergeElement,
    bodies: &mut BodyReader<'_>,
) {
    let ElementShape::Compaction(compaction) = &element.shape else {
        return copy_records(weave, &element.nodes, UuidPolicy::Fresh, bodies);
    };
    let quoted = quote::quote_summary(sources, compaction, bodies);
    let (before, after) = if quoted.keeps_head {
        (&compaction.preserved[..], &[][..])
    } else {
        (&[][..], &compaction.preserved[..])
    };
    copy_records(weave, before, UuidPolicy::Fresh, bodies);
    weave.add_user_message(quoted.text, quoted.provenance, quoted.time);
    copy_records(weave, after, UuidPolicy::Fresh, bodies);
    copy_records(weave, &element.nodes, UuidPolicy::Fresh, bodies);
}
