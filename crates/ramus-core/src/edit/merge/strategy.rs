//! Determines the order of exchanges in a merge.

use rustc_hash::FxHashSet;

use super::element::{MergeBranch, MergeElement, SourceNode};
use super::exchanges::{ExchangeRow, MergeExchanges};
use super::{Inclusion, MergeSources, MergeStrategy, pick};
use crate::edit::EditRefusal;
use crate::edit::goto::last_prompt_text;

/// The records of a conversation whose changes count.
pub(super) type TakenRecords = FxHashSet<SourceNode>;

/// The order of a merge.
pub(super) struct MergeOrder<'e> {
    branches: &'e [MergeBranch],
    /// Its records keep their uuids.
    pub(super) trunk: Vec<&'e MergeElement>,
    /// Its records get new ones.
    pub(super) added: Vec<&'e MergeElement>,
    /// Own exchanges that are not copied, and why.
    not_copied: Vec<(&'e MergeElement, Inclusion)>,
}

/// Puts exchanges in order.
pub(super) fn merge_order<'e>(
    sources: &MergeSources<'_>,
    branches: &'e [MergeBranch],
    strategy: &MergeStrategy,
) -> Result<MergeOrder<'e>, EditRefusal> {
    let whole = matches!(
        strategy,
        MergeStrategy::Append | MergeStrategy::Digest | MergeStrategy::Assisted(_)
    );
    let first = branches[0].elements.iter();
    let trunk = first.filter(|element| whole || !element.is_own()).collect();
    let mut order = MergeOrder { branches, trunk, added: Vec::new(), not_copied: Vec::new() };
    let grafted = &branches[usize::from(whole)..];
    let own = || grafted.iter().flat_map(|branch| &branch.elements).filter(|one| one.is_own());
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
            for pick in picks {
                order.added.extend(pick::find_picked(sources, grafted, pick)?);
            }
            let taken: FxHashSet<(usize, usize)> =
                order.added.iter().map(|element| (element.branch(), element.number())).collect();
            let left = own().filter(|one| !taken.contains(&(one.branch(), one.number())));
            order.not_copied.extend(left.map(|element| (element, Inclusion::LeftOut)));
        }
        MergeStrategy::Digest | MergeStrategy::Assisted(_) => {
            order.not_copied.extend(own().map(|element| (element, Inclusion::Summarized)));
        }
    }
    Ok(order)
}

impl<'e> MergeOrder<'e> {
    /// Returns the own exchanges of a conversation that its model still saw at the end.
    fn visible_elements(&mut self, branch: &'e MergeBranch) -> Vec<&'e MergeElement> {
        let mut own: Vec<&MergeElement> =
            branch.elements.iter().filter(|element| element.is_own()).collect();
        let compacted = own.iter().rposition(|element| element.compaction.is_some());
        let before = own.drain(..compacted.unwrap_or(0));
        self.not_copied.extend(before.map(|element| (element, Inclusion::Summarized)));
        own
    }

    /// Returns the records of each conversation whose changes count.
    pub(super) fn taken_records(&self) -> Vec<(usize, TakenRecords)> {
        let left: FxHashSet<(usize, usize)> = self
            .not_copied
            .iter()
            .filter(|(_, fate)| *fate == Inclusion::LeftOut)
            .map(|(element, _)| (element.branch(), element.number()))
            .collect();
        let counts = |element: &&MergeElement| {
            element.is_own() && !left.contains(&(element.branch(), element.number()))
        };
        let taken = |branch: &MergeBranch| {
            let own = branch.elements.iter().filter(counts);
            own.flat_map(|element| branch.all_records_of(element)).collect()
        };
        self.branches.iter().map(taken).enumerate().collect()
    }

    /// Returns how many displayable messages all have.
    pub(super) fn common_messages(&self) -> u32 {
        let shared = self.trunk.iter().filter(|element| !element.is_own());
        shared.map(|element| element.messages).sum()
    }

    /// Returns the number of displayable messages before the last compaction of the trunk, which hides them.
    pub(super) fn hidden_messages(&self) -> u32 {
        let last = self.trunk.iter().rposition(|element| element.compaction.is_some());
        self.trunk[..last.unwrap_or(0)].iter().map(|element| element.messages).sum()
    }

    /// Returns how many records are copied.
    pub(super) fn copied_records(&self) -> usize {
        let copied = self.trunk.iter().chain(&self.added);
        let own = |element: &&MergeElement| 2 * usize::from(element.compaction.is_some());
        copied.map(|element| self.records_of(element).len() + own(element)).sum()
    }

    /// Returns the records of an element; without the boundary and the summary of a compaction.
    pub(super) fn records_of(&self, element: &MergeElement) -> &'e [SourceNode] {
        self.branches[element.branch()].records_of(element)
    }

    /// Returns all records of an element, those of a compaction too.
    pub(super) fn all_records_of(&self, element: &MergeElement) -> Vec<SourceNode> {
        self.branches[element.branch()].all_records_of(element)
    }

    /// Returns the exchanges that only one conversation has.
    pub(super) fn list_exchanges(&self, sources: &MergeSources<'_>) -> MergeExchanges {
        let trunk = self.trunk.iter().filter(|element| element.is_own());
        let trunk = trunk.map(|element| exchange_row(element, Inclusion::Copied));
        let grafts = self.added.iter().map(|element| {
            let is_quoted = element.compaction.is_some();
            exchange_row(element, if is_quoted { Inclusion::Quoted } else { Inclusion::Copied })
        });
        let mut rest: Vec<ExchangeRow> =
            self.not_copied.iter().map(|(element, fate)| exchange_row(element, *fate)).collect();
        rest.sort_by_key(|row| (row.branch, row.number));
        let mut rows = Vec::with_capacity(self.trunk.len() + self.added.len() + rest.len());
        rows.extend(trunk.chain(grafts).chain(rest));
        MergeExchanges { rows, histories: sources.histories.clone() }
    }

    /// Returns the beginning of the last prompt.
    pub(super) fn last_prompt_text(&self, sources: &MergeSources<'_>) -> String {
        let last = self.added.last().or(self.trunk.last());
        let node = last.and_then(|element| self.all_records_of(element).last().copied());
        let prompt = node.and_then(|(source, node)| {
            last_prompt_text(sources.origins[source as usize].history, node)
        });
        prompt.unwrap_or_default().to_owned()
    }
}

fn exchange_row(element: &MergeElement, inclusion: Inclusion) -> ExchangeRow {
    let (source, head) = element.head;
    let summary = element.compaction.as_ref().map(|compaction| compaction.summary);
    ExchangeRow {
        branch: element.branch() as u32 + 1,
        number: element.number() as u32,
        source,
        head,
        prompt: summary.unwrap_or(Some(head)),
        messages: element.messages,
        inclusion,
    }
}

/// Merges rows by time, each of which stays in its order.
fn interleave_by_time(rows: Vec<Vec<&MergeElement>>) -> Vec<&MergeElement> {
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
