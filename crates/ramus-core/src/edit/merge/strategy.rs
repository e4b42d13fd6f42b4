//! Determines the order of exchanges in a merge.

use rustc_hash::FxHashSet;

use super::element::{ElementShape, MergeElement};
use super::{ExchangePick, Inclusion, MergeExchange, MergeSources, MergeStrategy, pick};
use crate::edit::EditRefusal;
use crate::edit::goto::last_prompt_text;
use crate::session::NodeId;

/// The order of a merge.
pub(super) struct MergeOrder {
    /// Its records keep their uuids.
    pub(super) trunk: Vec<MergeElement>,
    /// Its records get new ones.
    pub(super) added: Vec<MergeElement>,
    /// Own exchanges that are not copied, and why.
    not_copied: Vec<(MergeElement, Inclusion)>,
}

/// Puts exchanges in order.
pub(super) fn merge_order(
    sources: &MergeSources<'_>,
    branches: &[Vec<MergeElement>],
    strategy: &MergeStrategy,
) -> Result<MergeOrder, EditRefusal> {
    let whole = matches!(
        strategy,
        MergeStrategy::Append | MergeStrategy::Digest | MergeStrategy::Assisted(_)
    );
    let first = branches[0].iter();
    let trunk = first.filter(|element| whole || element.number == 0).cloned().collect();
    let mut order = MergeOrder { trunk, added: Vec::new(), not_copied: Vec::new() };
    let grafted = &branches[usize::from(whole)..];
    match strategy {
        MergeStrategy::Append => {
            for branch in grafted {
                let seen = order.visible_elements(branch);
                order.added.extend(seen);
            }
        }
        MergeStrategy::Interleave => {
            let rows = grafted.iter().map(|branch| order.visible_elements(branch)).collect();
            order.added = interleave_by_time(rows);
        }
        MergeStrategy::Pick(picks) => {
            order.added = pick_elements(sources, grafted, picks)?;
            let taken: FxHashSet<(usize, usize)> =
                order.added.iter().map(|element| (element.branch, element.number)).collect();
            let left = grafted.iter().flatten().filter(|element| {
                element.number > 0 && !taken.contains(&(element.branch, element.number))
            });
            order.not_copied.extend(left.map(|element| (element.clone(), Inclusion::LeftOut)));
        }
        MergeStrategy::Digest | MergeStrategy::Assisted(_) => {
            let quoted = grafted.iter().flatten().filter(|element| element.number > 0);
            order.not_copied.extend(quoted.map(|element| (element.clone(), Inclusion::Summarized)));
        }
    }
    Ok(order)
}

impl MergeOrder {
    /// Returns the own exchanges of a conversation that its model still saw at the end.
    fn visible_elements(&mut self, branch: &[MergeElement]) -> Vec<MergeElement> {
        let own: Vec<&MergeElement> = branch.iter().filter(|element| element.number > 0).collect();
        let compacted = own.iter().rposition(|e| matches!(e.shape, ElementShape::Compaction(_)));
        let (before, seen) = own.split_at(compacted.unwrap_or(0));
        self.not_copied
            .extend(before.iter().map(|element| ((*element).clone(), Inclusion::Summarized)));
        seen.iter().map(|element| (*element).clone()).collect()
    }

    /// Returns the records of each conversation whose changes count.
    pub(super) fn taken_records(
        &self,
        sources: &MergeSources<'_>,
        branches: &[Vec<MergeElement>],
    ) -> Vec<(usize, FxHashSet<(usize, NodeId)>)> {
        let left: FxHashSet<(usize, usize)> = self
            .not_copied
            .iter()
            .filter(|(_, fate)| *fate == Inclusion::LeftOut)
            .map(|(element, _)| (element.branch, element.number))
            .collect();
        let counts = |element: &&MergeElement| {
            element.number > 0 && !left.contains(&(element.branch, element.number))
        };
        (0..sources.branches.len())
            .map(|branch| {
                let own = branches[branch].iter().filter(counts);
                (branch, own.flat_map(MergeElement::all_records).collect())
            })
            .collect()
    }

    /// Returns how many displayable messages all have.
    pub(super) fn common_messages(&self) -> u32 {
        let shared = self.trunk.iter().filter(|element| element.number == 0);
        shared.map(|element| element.messages).sum()
    }

    /// Returns the number of displayable messages before the last compaction of the trunk, which hides them.
    pub(super) fn hidden_messages(&self) -> u32 {
        let is_compaction =
            |element: &MergeElement| matches!(element.shape, ElementShape::Compaction(_));
        let last = self.trunk.iter().rposition(is_compaction).unwrap_or(0);
        self.trunk[..last].iter().map(|element| element.messages).sum()
    }

    /// Returns the exchanges that only one conversation has.
    pub(super) fn list_exchanges(&self, sources: &MergeSources<'_>) -> Vec<MergeExchange> {
        let trunk = self.trunk.iter().filter(|element| element.number > 0);
        let trunk = trunk.map(|element| describe_exchange(sources, element, Inclusion::Copied));
        let grafts = self.added.iter().map(|element| {
            let is_quoted = matches!(element.shape, ElementShape::Compaction(_));
            describe_exchange(
                sources,
                element,
                if is_quoted { Inclusion::Quoted } else { Inclusion::Copied },
            )
        });
        let mut rest: Vec<MergeExchange> = self
            .not_copied
            .iter()
            .map(|(element, fate)| describe_exchange(sources, element, *fate))
            .collect();
        rest.sort_by_key(|exchange| (exchange.branch, exchange.number));
        trunk.chain(grafts).chain(rest).collect()
    }

    /// Returns the beginning of the last prompt.
    pub(super) fn last_prompt_text(&self, sources: &MergeSources<'_>) -> String {
        let last = self.added.last().or(self.trunk.last());
        let node = last.and_then(|element| element.all_records().last().copied());
        let prompt =
            node.and_then(|(source, node)| last_prompt_text(sources.origins[source].history, node));
        prompt.unwrap_or_default().to_owned()
    }
}

fn describe_exchange(
    sources: &MergeSources<'_>,
    element: &MergeElement,
    fate: Inclusion,
) -> MergeExchange {
    let (source, node) = element.head;
    let session = &sources.origins[source].history.session;
    let words = match &element.shape {
        ElementShape::Compaction(compaction) => {
            compaction.summary.and_then(|node| session.preview_text(node))
        }
        _ => session.preview_text(node),
    };
    MergeExchange {
        branch: element.branch + 1,
        number: element.number,
        uuid: session.record(node).uuid.map(|name| session.uuid_text(name)).unwrap_or_default(),
        prompt_text: words.map(str::to_owned),
        time: element.time,
        messages: element.messages,
        inclusion: fate,
    }
}

/// Merges rows by time, each of which stays in its order.
fn interleave_by_time(rows: Vec<Vec<MergeElement>>) -> Vec<MergeElement> {
    let mut rows: Vec<_> = rows.into_iter().map(|row| row.into_iter().peekable()).collect();
    let mut merged = Vec::new();
    loop {
        let next = rows
            .iter_mut()
            .enumerate()
            .filter_map(|(index, row)| Some((row.peek()?.time, index)))
            .min();
        let Some((_, index)) = next else { return merged };
        merged.extend(rows[index].next());
    }
}

fn pick_elements(
    sources: &MergeSources<'_>,
    branches: &[Vec<MergeElement>],
    picks: &[ExchangePick],
) -> Result<Vec<MergeElement>, EditRefusal> {
    let mut elements = Vec::new();
    for pick in picks {
        elements.extend(pick::find_picked(sources, branches, pick)?.into_iter().cloned());
    }
    Ok(elements)
}
