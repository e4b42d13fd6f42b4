//! Splits a conversation into complete exchanges.

use std::ops::Range;

use rustc_hash::FxHashSet;

use super::MergeSources;
use crate::history::History;
use crate::record::RecordRole;
use crate::session::NodeId;
use crate::time::Time;

/// A record of one of the sources.
pub(super) type SourceNode = (u32, NodeId);

/// A conversation, cut into its exchanges. There may be half a million of them, so they hold no lists.
#[derive(Debug, Default)]
pub(super) struct MergeBranch {
    pub(super) elements: Vec<MergeElement>,
    /// The records of all elements, one after the other; without the boundaries and summaries of compactions.
    records: Vec<SourceNode>,
}

/// A prompt and everything up to the next prompt, or what follows a compaction.
#[derive(Debug)]
pub(super) struct MergeElement {
    branch: u32,
    number: u32,
    /// Its records among those of the conversation.
    records: Range<u32>,
    /// The record it begins with.
    pub(super) head: SourceNode,
    /// The compaction it begins with, if it does not begin with a prompt.
    pub(super) compaction: Option<Box<ElementCompaction>>,
    pub(super) time: Option<Time>,
    pub(super) messages: u32,
}

/// A compaction, and the messages it preserves.
#[derive(Debug)]
pub(super) struct ElementCompaction {
    pub(super) source: usize,
    pub(super) boundary: NodeId,
    pub(super) summary: Option<NodeId>,
    /// The preserved messages that only this conversation has.
    pub(super) preserved: Vec<SourceNode>,
}

/// Cuts a conversation into its exchanges; `own` are the records that are its alone, part by part.
pub(super) fn split_elements(
    sources: &MergeSources<'_>,
    branch: usize,
    own: &[FxHashSet<NodeId>],
) -> MergeBranch {
    let MergeBranch { mut elements, mut records } = MergeBranch::default();
    let mut is_own: Vec<bool> = Vec::new();
    for (part, own) in sources.branches[branch].clone().zip(own) {
        let history = sources.origins[part].history;
        for &node in &sources.origins[part].nodes {
            let record = history.session.record(node);
            let role = head_role(history, node).filter(|_| !record.sidechain);
            let compaction = (role == Some(RecordRole::CompactBoundary))
                .then(|| Box::new(read_compaction(history, part, node, own)));
            if compaction.is_some() || role == Some(RecordRole::Prompt) || elements.is_empty() {
                let end = records.len() as u32;
                elements.push(MergeElement {
                    branch: branch as u32,
                    number: 0,
                    records: end..end,
                    head: (part as u32, node),
                    compaction,
                    time: record.time,
                    messages: 0,
                });
                is_own.push(false);
            }
            let (Some(element), Some(is_own)) = (elements.last_mut(), is_own.last_mut()) else {
                continue;
            };
            // A message that the client wrote itself adds nothing to an exchange that others have.
            let says = role.is_some_and(|role| role.is_dialogue() && role != RecordRole::Synthetic);
            *is_own |= own.contains(&node) && says;
            element.messages += u32::from(role.is_some_and(RecordRole::is_displayable));
            if !element.is_part_of_compaction(history, part, node) {
                records.push((part as u32, node));
                element.records.end += 1;
            }
        }
    }
    let owned = elements.iter_mut().zip(is_own).filter(|(_, is_own)| *is_own);
    for (n, (element, _)) in owned.enumerate() {
        element.number = n as u32 + 1;
    }
    MergeBranch { elements, records }
}

impl MergeBranch {
    /// Returns the records of one of its elements; without the boundary and the summary of a compaction.
    pub(super) fn records_of(&self, element: &MergeElement) -> &[SourceNode] {
        &self.records[element.records.start as usize..element.records.end as usize]
    }

    /// Returns all records of one of its elements, those of a compaction too.
    pub(super) fn all_records_of(&self, element: &MergeElement) -> Vec<SourceNode> {
        let own = element.compaction.as_ref().map_or([None; 2], |compaction| {
            let source = compaction.source as u32;
            [Some(compaction.boundary), compaction.summary].map(|node| Some((source, node?)))
        });
        let own = own.into_iter().flatten();
        own.chain(self.records_of(element).iter().copied()).collect()
    }
}

impl MergeElement {
    /// Returns the number of its conversation, from 0.
    pub(super) fn branch(&self) -> usize {
        self.branch as usize
    }

    /// Returns its number among the exchanges that only its conversation has, from 1; 0: others have it too.
    pub(super) fn number(&self) -> usize {
        self.number as usize
    }

    /// Whether only its conversation has it.
    pub(super) fn is_own(&self) -> bool {
        self.number > 0
    }

    /// Whether a record is the boundary or the summary of the compaction that it begins with.
    fn is_part_of_compaction(&mut self, history: &History, part: usize, node: NodeId) -> bool {
        let Some(compaction) = self.compaction.as_mut().filter(|made| made.source == part) else {
            return false;
        };
        if compaction.boundary == node {
            return true;
        }
        let is_summary = compaction.summary.is_none()
            && history.session.record(node).role == RecordRole::CompactSummary;
        if is_summary {
            compaction.summary = Some(node);
        }
        is_summary
    }
}

/// Returns the role of the message that a node begins; `None`: it is a later record of a message.
fn head_role(history: &History, node: NodeId) -> Option<RecordRole> {
    let message = history.message_tree.message(history.message_tree.message_of(node)?);
    (message.head == node && !message.continues_earlier).then_some(message.role)
}

fn read_compaction(
    history: &History,
    source: usize,
    boundary: NodeId,
    own: &FxHashSet<NodeId>,
) -> ElementCompaction {
    let History { session, record_tree: tree, message_tree, .. } = history;
    let preserved = session.preserved_uuids().iter().filter(|(node, _)| *node == boundary);
    let names = preserved.flat_map(|(_, names)| names);
    let mut taken = FxHashSet::default();
    let mut kept = Vec::new();
    // The preserved messages are listed together with the record they follow.
    let is_anchor = |node: &NodeId| {
        matches!(
            session.record(*node).role,
            RecordRole::CompactSummary | RecordRole::CompactBoundary
        )
    };
    for node in
        names.filter_map(|name| tree.node_by_uuid(session, *name)).filter(|node| !is_anchor(node))
    {
        let Some(message) = message_tree.message_of(node).filter(|message| taken.insert(*message))
        else {
            continue;
        };
        let members = message_tree.records_of(message).iter().filter(|node| own.contains(node));
        kept.extend(members.map(|node| (source as u32, *node)));
    }
    ElementCompaction { source, boundary, summary: None, preserved: kept }
}
