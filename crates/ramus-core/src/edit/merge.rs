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
mod exchanges;
mod pick;
mod quote;
mod strategy;

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashSet;

pub use self::brief::{
    DigestTextError, MAX_DIGEST_BYTES, MergeBrief, merge_brief, parse_digest_text,
};
pub use self::conflict::{ConflictPolicy, FileConflict, FileOutcome};
use self::element::{MergeBranch, MergeElement, SourceNode};
pub use self::exchanges::{MergeExchange, MergeExchanges};
pub use self::pick::{ExchangePick, PickError};
use self::strategy::TakenRecords;
use super::fork::CopySource;
use super::linearize::{
    BodyReader, ChainFixes, FinishedChain, LinearizeConfig, Linearizer, ThinkingPolicy, UuidPolicy,
};
use super::splice::ProvenanceField;
use super::{EditContext, EditRefusal, NewSession};
use crate::compare::{PathOverlap, PathPart, compare_paths};
use crate::history::{ConversationPath, History};
use crate::ids::RecordUuid;
use crate::session::NodeId;

/// What is merged: the files that the conversations run through.
#[derive(Debug)]
pub struct MergeSources<'a> {
    pub origins: Vec<CopySource<'a>>,
    /// The history of each of them.
    pub histories: Vec<Arc<History>>,
    /// The path in each of them.
    pub paths: Vec<&'a ConversationPath>,
    /// Which of them a conversation runs through, the oldest first.
    pub branches: Vec<Range<usize>>,
}

/// The options of a merge.
#[derive(Clone, Debug)]
pub struct MergeOptions<'a> {
    pub strategy: MergeStrategy,
    /// They may have nothing in common; common messages are not searched for.
    pub no_base: bool,
    pub policy: ConflictPolicy,
    pub title: &'a str,
    /// The working directory of the target project; `None`: it is not moved.
    pub cwd: Option<&'a str>,
}

/// How conversations are combined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MergeStrategy {
    /// One after the other.
    Append,
    /// Exchange by exchange, by time.
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
    pub exchanges: MergeExchanges,
    /// Files that were changed differently.
    pub conflicts: Vec<FileConflict>,
    pub chain_fixes: ChainFixes,
}

/// What happens to an exchange.
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
    let mut taken = order.taken_records();
    let conflicts = conflict::find_conflicts(sources, &taken, bodies);
    let config = LinearizeConfig {
        provenance: ProvenanceField::MergedFrom,
        cwd: request.cwd,
        thinking: ThinkingPolicy::Unsigned,
    };
    if !matches!(request.strategy, MergeStrategy::Digest) {
        // Only a digest reads these records again; the lines need the memory.
        taken.iter_mut().for_each(|(_, records)| *records = TakenRecords::default());
    }
    let mut linearizer = Linearizer::new(&sources.origins, config, writer);
    linearizer.reserve_lines(order.copied_records());
    for element in &order.trunk {
        copy_records(&mut linearizer, &order.all_records_of(element), UuidPolicy::Keep, bodies);
    }
    for element in &order.added {
        add_element(sources, &mut linearizer, element, order.records_of(element), bodies);
    }
    match &request.strategy {
        MergeStrategy::Digest => {
            let text = quote::merge_digest(sources, &taken[1..], bodies);
            linearizer.add_user_message(text, quote::digest_provenance(sources, &taken[1..]), None);
        }
        MergeStrategy::Assisted(text) => {
            let text = quote::introduce_digest(text);
            linearizer.add_user_message(text, quote::digest_provenance(sources, &taken[1..]), None);
        }
        MergeStrategy::Append | MergeStrategy::Interleave | MergeStrategy::Pick(_) => {}
    }
    if let Some(note) = conflict::conflict_note(&conflicts, request.policy) {
        linearizer.add_user_message(note, conflict::note_provenance(sources), None);
    }
    let mut finished = linearizer.into_finished().ok_or(EditRefusal::Empty)?;
    finished.add_title_and_pointer(request.title, &order.last_prompt_text(sources), writer.session);
    let FinishedChain { lines, resume, messages, fixes: repaired } = finished;
    Ok(PlannedMerge {
        new: NewSession {
            id: writer.session.to_owned(),
            title: request.title.to_owned(),
            lines,
            resume: RecordUuid::new(resume.as_bytes()),
            leaf: resume,
            messages,
            left_out: order.hidden_messages(),
            set_back: repaired.set_back,
        },
        common: order.common_messages(),
        exchanges: order.list_exchanges(sources),
        conflicts,
        chain_fixes: repaired,
    })
}

/// Splits each conversation into common and own exchanges.
fn split_branches(
    sources: &MergeSources<'_>,
    no_base: bool,
) -> Result<Vec<MergeBranch>, EditRefusal> {
    let own_paths: Vec<Vec<PathPart<'_>>> =
        sources.branches.iter().map(|parts| path_parts(sources, parts)).collect();
    let mut branches = Vec::new();
    for (branch, parts) in sources.branches.iter().enumerate() {
        if is_sidechain(sources, parts) {
            return Err(EditRefusal::Sidechain);
        }
        let own = if no_base {
            parts.clone().map(|part| sources.paths[part].nodes.iter().copied().collect()).collect()
        } else {
            own_records(&own_paths, branch)?
        };
        let split = element::split_elements(sources, branch, &own);
        if !split.elements.iter().any(MergeElement::is_own) {
            return Err(EditRefusal::NothingOwn { n: branch + 1 });
        }
        branches.push(split);
    }
    Ok(branches)
}

/// Returns the records of a conversation that the ones before it have not; of the first, those that some other has not.
fn own_records(
    own_paths: &[Vec<PathPart<'_>>],
    branch: usize,
) -> Result<Vec<FxHashSet<NodeId>>, EditRefusal> {
    let count = |own: &[FxHashSet<NodeId>]| own.iter().map(FxHashSet::len).sum::<usize>();
    if branch == 0 {
        let others = own_paths[1..].iter().map(|other| compare_paths(&own_paths[0], other));
        let owns = others.map(|PathOverlap { own: [own, _], .. }| own);
        return owns.max_by_key(|own| count(own)).ok_or(EditRefusal::Empty);
    }
    let before = own_paths[..branch].iter().map(|other| compare_paths(other, &own_paths[branch]));
    let shared = before.filter(|common| common.messages > 0);
    let owns = shared.map(|PathOverlap { own: [_, own], .. }| own);
    owns.min_by_key(|own| count(own)).ok_or(EditRefusal::NoCommonPart { n: branch + 1 })
}

fn path_parts<'a>(sources: &'a MergeSources<'_>, parts: &Range<usize>) -> Vec<PathPart<'a>> {
    let path_part = |part: usize| PathPart {
        history: sources.origins[part].history,
        path: sources.paths[part],
    };
    parts.clone().map(path_part).collect()
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

/// Copies records from possibly several files.
fn copy_records(
    linearizer: &mut Linearizer<'_, '_>,
    nodes: &[SourceNode],
    names: UuidPolicy,
    bodies: &mut BodyReader<'_>,
) {
    for run in nodes.chunk_by(|a, b| a.0 == b.0) {
        let nodes: Vec<NodeId> = run.iter().map(|(_, node)| *node).collect();
        linearizer.copy_records(run[0].0 as usize, &nodes, names, bodies);
    }
}

/// Puts an exchange of another conversation on the line.
fn add_element(
    sources: &MergeSources<'_>,
    linearizer: &mut Linearizer<'_, '_>,
    element: &MergeElement,
    records: &[SourceNode],
    bodies: &mut BodyReader<'_>,
) {
    let Some(compaction) = &element.compaction else {
        return copy_records(linearizer, records, UuidPolicy::Fresh, bodies);
    };
    let quoted = quote::quote_summary(sources, compaction, bodies);
    let (before, after) = if quoted.keeps_head {
        (&compaction.preserved[..], &[][..])
    } else {
        (&[][..], &compaction.preserved[..])
    };
    copy_records(linearizer, before, UuidPolicy::Fresh, bodies);
    linearizer.add_user_message(quoted.text, quoted.provenance, quoted.time);
    copy_records(linearizer, after, UuidPolicy::Fresh, bodies);
    copy_records(linearizer, records, UuidPolicy::Fresh, bodies);
}
