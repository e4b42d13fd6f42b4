//! Splits a conversation into complete exchanges.

use rustc_hash::FxHashSet;

use super::Sources;
use crate::history::History;
use crate::record::Voice;
use crate::session::NodeId;
use crate::time::Time;

/// A prompt and everything up to the next prompt, or what follows a compaction.
#[derive(Clone, Debug)]
pub(super) struct Element {
    pub(super) branch: usize,
    /// Its number among the exchanges that only its conversation has, from 1; 0: others have it too.
    pub(super) n: usize,
    /// Its records; without the boundary and the summary of a compaction, which are in the shape.
    pub(super) nodes: Vec<(usize, NodeId)>,
    /// The record it begins with.
    pub(super) head: (usize, NodeId),
    pub(super) shape: Shape,
    pub(super) time: Option<Time>,
    pub(super) messages: u32,
}

#[derive(Clone, Debug)]
pub(super) enum Shape {
    /// Begins with a prompt.
    Exchange,
    /// What comes before the first prompt.
    Opening,
    Compaction(Compaction),
}

/// A compaction, and the messages it preserves.
#[derive(Clone, Debug)]
pub(super) struct Compaction {
    pub(super) source: usize,
    pub(super) boundary: NodeId,
    pub(super) summary: Option<NodeId>,
    /// The preserved messages that only this conversation has.
    pub(super) kept: Vec<(usize, NodeId)>,
}

/// Cuts a conversation into its exchanges; `own` are the records that are its alone, part by part.
pub(super) fn elements(
    sources: &Sources<'_>,
    branch: usize,
    own: &[FxHashSet<NodeId>],
) -> Vec<Element> {
    let mut elements: Vec<Element> = Vec::new();
    let mut is_own: Vec<bool> = Vec::new();
    for (part, own) in sources.branches[branch].clone().zip(own) {
        let history = sources.origins[part].history;
        for &node in &sources.origins[part].nodes {
            let record = history.session.record(node);
            let voice = head_voice(history, node).filter(|_| !record.sidechain);
            let shape = match voice {
                Some(Voice::Prompt) => Some(Shape::Exchange),
                Some(Voice::Boundary) => {
                    Some(Shape::Compaction(compaction(history, part, node, own)))
                }
                _ if elements.is_empty() => Some(Shape::Opening),
                _ => None,
            };
            if let Some(shape) = shape {
                let (head, time) = ((part, node), record.time);
                let nodes = Vec::new();
                elements.push(Element { branch, n: 0, nodes, head, shape, time, messages: 0 });
                is_own.push(false);
            }
            let (Some(element), Some(is_own)) = (elements.last_mut(), is_own.last_mut()) else {
                continue;
            };
            // A message that the client wrote itself adds nothing to an exchange that others have.
            let says = voice.is_some_and(|voice| voice.speaks() && voice != Voice::Synthetic);
            *is_own |= own.contains(&node) && says;
            element.take(history, part, node, voice);
        }
    }
    let owned = elements.iter_mut().zip(is_own).filter(|(_, is_own)| *is_own);
    for (n, (element, _)) in owned.enumerate() {
        element.n = n + 1;
    }
    elements
}

impl Element {
    fn take(&mut self, history: &History, part: usize, node: NodeId, voice: Option<Voice>) {
        self.messages += u32::from(voice.is_some_and(Voice::is_displayable));
        if let Shape::Compaction(compaction) = &mut self.shape
            && compaction.source == part
        {
            if compaction.boundary == node {
                return;
            }
            if compaction.summary.is_none()
                && history.session.record(node).voice == Voice::CompactSummary
            {
                compaction.summary = Some(node);
                return;
            }
        }
        self.nodes.push((part, node));
    }

    /// Returns all its records, those of a compaction too.
    pub(super) fn all(&self) -> Vec<(usize, NodeId)> {
        let mut all = Vec::with_capacity(self.nodes.len() + 2);
        if let Shape::Compaction(compaction) = &self.shape {
            let own = [Some(compaction.boundary), compaction.summary];
            all.extend(own.into_iter().flatten().map(|node| (compaction.source, node)));
        }
        all.extend(&self.nodes);
        all
    }
}

/// Returns the role of the message that a node begins; `None`: it is a later record of a message.
fn head_voice(history: &History, node: NodeId) -> Option<Voice> {
    let fold = history.folds.fold(history.folds.of(node)?);
    (fold.head == node && !fold.again).then_some(fold.voice)
}

fn compaction(
    history: &History,
    source: usize,
    boundary: NodeId,
    own: &FxHashSet<NodeId>,
) -> Compaction {
    let History { session, tree, folds, .. } = history;
    let preserved = session.preserved().iter().filter(|(node, _)| *node == boundary);
    let names = preserved.flat_map(|(_, names)| names);
    let mut taken = FxHashSet::default();
    let mut kept = Vec::new();
    // The preserved messages are listed together with the record they follow.
    let is_anchor = |node: &NodeId| {
        matches!(session.record(*node).voice, Voice::CompactSummary | Voice::Boundary)
    };
    for node in names.filter_map(|name| tree.find(*name)).filter(|node| !is_anchor(node)) {
        let Some(fold) = folds.of(node).filter(|fold| taken.insert(*fold)) else { continue };
        let members = folds.members(fold).iter().filter(|node| own.contains(node));
        kept.extend(members.map(|node| (source, *node)));
    }
    Compaction { source, boundary, summary: None, kept }
}
