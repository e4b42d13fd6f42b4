//! Splits a conversation into complete exchanges.

use rustc_hash::FxHashSet;

use super::MergeSources;
use crate::history::History;
use crate::record::RecordRole;
use crate::session::NodeId;
use crate::time::Time;

/// A prompt and everything up to the next prompt, or what follows a compaction.
#[derive(Clone, Debug)]
pub(super) struct MergeElement {
    pub(super) branch: usize,
    /// Its number among the exchanges that only its conversation has, from 1; 0: others have it too.
    pub(super) number: usize,
    /// Its records; without the boundary and the summary of a compaction, which are in the shape.
    pub(super) nodes: Vec<(usize, NodeId)>,
    /// The record it begins with.
    pub(super) head: (usize, NodeId),
    pub(super) shape: ElementShape,
    pub(super) time: Option<Time>,
    pub(super) messages: u32,
}

#[derive(Clone, Debug)]
pub(super) enum ElementShape {
    /// Begins with a prompt.
    Exchange,
    /// What comes before the first prompt.
    Opening,
    Compaction(ElementCompaction),
}

/// A compaction, and the messages it preserves.
#[derive(Clone, Debug)]
pub(super) struct ElementCompaction {
    pub(super) source: usize,
    pub(super) boundary: NodeId,
    pub(super) summary: Option<NodeId>,
    /// The preserved messages that only this conversation has.
    pub(super) preserved: Vec<(usize, NodeId)>,
}

/// Cuts a conversation into its exchanges; `own` are the records that are its alone, part by part.
pub(super) fn split_elements(
    sources: &MergeSources<'_>,
    branch: usize,
    own: &[FxHashSet<NodeId>],
) -> Vec<MergeElement> {
    let mut elements: Vec<MergeElement> = Vec::new();
    let mut is_own: Vec<bool> = Vec::new();
    for (part, own) in sources.branches[branch].clone().zip(own) {
        let history = sources.origins[part].history;
        for &node in &sources.origins[part].nodes {
            let record = history.session.record(node);
            let role = head_role(history, node).filter(|_| !record.sidechain);
            let shape = match role {
                Some(RecordRole::Prompt) => Some(ElementShape::Exchange),
                Some(RecordRole::CompactBoundary) => {
                    Some(ElementShape::Compaction(read_compaction(history, part, node, own)))
                }
                _ if elements.is_empty() => Some(ElementShape::Opening),
                _ => None,
            };
            if let Some(shape) = shape {
                let (head, time) = ((part, node), record.time);
                let nodes = Vec::new();
                elements.push(MergeElement {
                    branch,
                    number: 0,
                    nodes,
                    head,
                    shape,
                    time,
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
            element.add_record(history, part, node, role);
        }
    }
    let owned = elements.iter_mut().zip(is_own).filter(|(_, is_own)| *is_own);
    for (n, (element, _)) in owned.enumerate() {
        element.number = n + 1;
    }
    elements
}

impl MergeElement {
    fn add_record(
        &mut self,
        history: &History,
        part: usize,
        node: NodeId,
        role: Option<RecordRole>,
    ) {
        self.messages += u32::from(role.is_some_and(RecordRole::is_displayable));
        if let ElementShape::Compaction(compaction) = &mut self.shape
            && compaction.source == part
        {
            if compaction.boundary == node {
                return;
            }
            if compaction.summary.is_none()
                && history.session.record(node).role == RecordRole::CompactSummary
            {
                compaction.summary = Some(node);
                return;
            }
        }
        self.nodes.push((part, node));
    }

    /// Returns all its records, those of a compaction too.
    pub(super) fn all_records(&self) -> Vec<(usize, NodeId)> {
        let mut all = Vec::with_capacity(self.nodes.len() + 2);
        if let ElementShape::Compaction(compaction) = &self.shape {
            let own = [Some(compaction.boundary), compaction.summary];
            all.extend(own.into_iter().flatten().map(|node| (compaction.source, node)));
        }
        all.extend(&self.nodes);
        all
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
    for node in names.filter_map(|name| tree.node_by_uuid(*name)).filter(|node| !is_anchor(node)) {
        let Some(message) = message_tree.message_of(node).filter(|message| taken.insert(*message))
        else {
            continue;
        };
        let members = message_tree.records_of(message).iter().filter(|node| own.contains(node));
        kept.extend(members.map(|node| (source, *node)));
    }
    ElementCompaction { source, boundary, summary: None, preserved: kept }
}
