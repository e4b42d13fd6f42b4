//! Determines the order of exchanges in a merge.

use rustc_hash::FxHashSet;

use super::element::{Element, Shape};
use super::{Exchange, Fate, Pick, Sources, Strategy, pick};
use crate::edit::Refusal;
use crate::edit::goto::last_prompt;
use crate::session::NodeId;

/// The order of a merge.
pub(super) struct Order {
    /// Its records keep their uuids.
    pub(super) trunk: Vec<Element>,
    /// Its records get new ones.
    pub(super) grafts: Vec<Element>,
    /// Own exchanges that are not copied, and why.
    rest: Vec<(Element, Fate)>,
}

/// Puts exchanges in order.
pub(super) fn order(
    sources: &Sources<'_>,
    branches: &[Vec<Element>],
    strategy: &Strategy,
) -> Result<Order, Refusal> {
    let whole = matches!(strategy, Strategy::Append | Strategy::Digest | Strategy::Assisted(_));
    let first = branches[0].iter();
    let trunk = first.filter(|element| whole || element.n == 0).cloned().collect();
    let mut order = Order { trunk, grafts: Vec::new(), rest: Vec::new() };
    let grafted = &branches[usize::from(whole)..];
    match strategy {
        Strategy::Append => {
            for branch in grafted {
                let seen = order.seen(branch);
                order.grafts.extend(seen);
            }
        }
        Strategy::Interleave => {
            let rows = grafted.iter().map(|branch| order.seen(branch)).collect();
            order.grafts = by_time(rows);
        }
        Strategy::Pick(picks) => {
            order.grafts = picked(sources, grafted, picks)?;
            let taken: FxHashSet<(usize, usize)> =
                order.grafts.iter().map(|element| (element.branch, element.n)).collect();
            let left = grafted
                .iter()
                .flatten()
                .filter(|element| element.n > 0 && !taken.contains(&(element.branch, element.n)));
            order.rest.extend(left.map(|element| (element.clone(), Fate::LeftOut)));
        }
        Strategy::Digest | Strategy::Assisted(_) => {
            let quoted = grafted.iter().flatten().filter(|element| element.n > 0);
            order.rest.extend(quoted.map(|element| (element.clone(), Fate::Summarized)));
        }
    }
    Ok(order)
}

impl Order {
    /// Returns the own exchanges of a conversation that its model still saw at the end.
    fn seen(&mut self, branch: &[Element]) -> Vec<Element> {
        let own: Vec<&Element> = branch.iter().filter(|element| element.n > 0).collect();
        let compacted = own.iter().rposition(|e| matches!(e.shape, Shape::Compaction(_)));
        let (before, seen) = own.split_at(compacted.unwrap_or(0));
        self.rest.extend(before.iter().map(|element| ((*element).clone(), Fate::Summarized)));
        seen.iter().map(|element| (*element).clone()).collect()
    }

    /// Returns the records of each conversation whose changes count.
    pub(super) fn taken(
        &self,
        sources: &Sources<'_>,
        branches: &[Vec<Element>],
    ) -> Vec<(usize, FxHashSet<(usize, NodeId)>)> {
        let left: FxHashSet<(usize, usize)> = self
            .rest
            .iter()
            .filter(|(_, fate)| *fate == Fate::LeftOut)
            .map(|(element, _)| (element.branch, element.n))
            .collect();
        let counts =
            |element: &&Element| element.n > 0 && !left.contains(&(element.branch, element.n));
        (0..sources.branches.len())
            .map(|branch| {
                let own = branches[branch].iter().filter(counts);
                (branch, own.flat_map(Element::all).collect())
            })
            .collect()
    }

    /// Returns how many displayable messages all have.
    pub(super) fn common(&self) -> u32 {
        let shared = self.trunk.iter().filter(|element| element.n == 0);
        shared.map(|element| element.messages).sum()
    }

    /// Returns the number of displayable messages before the last compaction of the trunk, which hides them.
    pub(super) fn left_out(&self) -> u32 {
        let is_compaction = |element: &Element| matches!(element.shape, Shape::Compaction(_));
        let last = self.trunk.iter().rposition(is_compaction).unwrap_or(0);
        self.trunk[..last].iter().map(|element| element.messages).sum()
    }

    /// Returns the exchanges that only one conversation has.
    pub(super) fn exchanges(&self, sources: &Sources<'_>) -> Vec<Exchange> {
        let trunk = self.trunk.iter().filter(|element| element.n > 0);
        let trunk = trunk.map(|element| exchange(sources, element, Fate::Copied));
        let grafts = self.grafts.iter().map(|element| {
            let is_quoted = matches!(element.shape, Shape::Compaction(_));
            exchange(sources, element, if is_quoted { Fate::Quoted } else { Fate::Copied })
        });
        let mut rest: Vec<Exchange> =
            self.rest.iter().map(|(element, fate)| exchange(sources, element, *fate)).collect();
        rest.sort_by_key(|exchange| (exchange.branch, exchange.n));
        trunk.chain(grafts).chain(rest).collect()
    }

    /// Returns the beginning of the last prompt.
    pub(super) fn last_prompt(&self, sources: &Sources<'_>) -> String {
        let last = self.grafts.last().or(self.trunk.last());
        let node = last.and_then(|element| element.all().last().copied());
        let prompt =
            node.and_then(|(source, node)| last_prompt(sources.origins[source].history, node));
        prompt.unwrap_or_default().to_owned()
    }
}

fn exchange(sources: &Sources<'_>, element: &Element, fate: Fate) -> Exchange {
    let (source, node) = element.head;
    let session = &sources.origins[source].history.session;
    let words = match &element.shape {
        Shape::Compaction(compaction) => compaction.summary.and_then(|node| session.words(node)),
        _ => session.words(node),
    };
    Exchange {
        branch: element.branch + 1,
        n: element.n,
        uuid: session.record(node).name.map(|name| session.spell(name)).unwrap_or_default(),
        words: words.map(str::to_owned),
        time: element.time,
        messages: element.messages,
        fate,
    }
}

/// Merges rows by time, each of which stays in its order.
fn by_time(rows: Vec<Vec<Element>>) -> Vec<Element> {
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

fn picked(
    sources: &Sources<'_>,
    branches: &[Vec<Element>],
    picks: &[Pick],
) -> Result<Vec<Element>, Refusal> {
    let mut elements = Vec::new();
    for pick in picks {
        elements.extend(pick::find(sources, branches, pick)?.into_iter().cloned());
    }
    Ok(elements)
}
