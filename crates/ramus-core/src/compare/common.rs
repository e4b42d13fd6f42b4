//! Finds the records that two paths share.

use std::cell::LazyCell;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::fold::{FoldId, Folds};
use crate::history::{History, Path};
use crate::name::Name;
use crate::record::{Kind, Voice};
use crate::session::NodeId;
use crate::time::Time;

/// A piece of a path that lies in one file.
#[derive(Clone, Copy, Debug)]
pub struct Stretch<'a> {
    pub history: &'a History,
    pub path: &'a Path,
}

/// What two paths have in common, and what belongs to one of them alone.
#[derive(Clone, Debug, Default)]
pub struct Common {
    /// Displayable messages that both begin with (R16).
    pub messages: u32,
    /// The uuid of the last of them.
    pub node: Option<String>,
    /// The start of its uuid that means no other record of its session.
    pub short_node: Option<String>,
    /// When it was written.
    pub time: Option<Time>,
    /// The records that only one side has, by part of the path.
    pub own: [Vec<FxHashSet<NodeId>>; 2],
    /// The displayable messages among them.
    pub own_messages: [u32; 2],
    /// When the first and the last of them were written.
    pub own_time: [Option<(Time, Time)>; 2],
}

impl Common {
    /// Whether neither side has records of its own.
    pub fn is_all(&self) -> bool {
        self.own.iter().flatten().all(FxHashSet::is_empty)
    }
}

/// Compares two paths, each given from its beginning on.
pub fn common(a: &[Stretch<'_>], b: &[Stretch<'_>]) -> Common {
    let sides = [Steps::new(a), Steps::new(b)];
    let shared = [shared(&sides[0], &sides[1]), shared(&sides[1], &sides[0])];
    let ends = shared.each_ref().map(|shared| shared.last().map_or(0, |at| at + 1));
    let mut common = Common::default();
    for &at in &shared[0] {
        let step = sides[0].step(at);
        let head = step.stretch.history.folds.fold(step.fold);
        if head.voice.is_displayable() {
            let record = step.stretch.history.session.record(head.head);
            common.messages += 1;
            let history = step.stretch.history;
            common.node = record.name.map(|name| history.session.spell(name));
            common.short_node =
                common.node.as_deref().map(|node| history.short_uuid(node).to_owned());
            common.time = record.time;
        }
    }
    let [mine, theirs] = &sides;
    let ends = [mine.quiet_end(ends[0], theirs), theirs.quiet_end(ends[1], mine)];
    common.own = [mine.own(ends[0]), theirs.own(ends[1])];
    common.own_time = [times(a, &common.own[0]), times(b, &common.own[1])];
    common.own_messages = [sides[0].messages(ends[0]), sides[1].messages(ends[1])];
    common
}

/// One message of a path that may run through several files.
struct Step<'a> {
    stretch: Stretch<'a>,
    part: usize,
    fold: FoldId,
    name: Option<Name>,
}

/// Identifies a message in another path: by its uuid, else by content and time.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Identity {
    Named(Name),
    Unnamed(Kind, Option<Time>, u64),
}

impl Step<'_> {
    fn identity(&self) -> Identity {
        let history = self.stretch.history;
        let head = history.session.record(history.folds.fold(self.fold).head);
        self.name.map_or(Identity::Unnamed(head.kind, head.time, head.content), Identity::Named)
    }
}

/// A path as a list of messages.
struct Steps<'a> {
    stretches: &'a [Stretch<'a>],
    /// The stretch and the fold of each step. A path may have a million of them.
    folds: Vec<(u32, FoldId)>,
    /// Uuids that several versions of a record share (R4), by file.
    versions: Vec<FxHashSet<Name>>,
}

impl<'a> Steps<'a> {
    fn new(stretches: &'a [Stretch<'a>]) -> Self {
        let mut folds = Vec::with_capacity(stretches.iter().map(|one| one.path.folds.len()).sum());
        for (part, stretch) in (0..).zip(stretches) {
            folds.extend(stretch.path.folds.iter().map(|&fold| (part, fold)));
        }
        let versions = stretches.iter().map(|stretch| versions(stretch.history)).collect();
        Self { stretches, folds, versions }
    }

    fn step(&self, at: usize) -> Step<'a> {
        let (part, fold) = self.folds[at];
        let part = part as usize;
        let stretch = self.stretches[part];
        let name = stretch.history.session.record(stretch.history.folds.fold(fold).head).name;
        Step { stretch, part, fold, name }
    }

    fn voice(&self, at: usize) -> Voice {
        let (part, fold) = self.folds[at];
        self.stretches[part as usize].history.folds.fold(fold).voice
    }

    /// Returns the indices of the dialogue messages.
    fn speaking(&self) -> impl Iterator<Item = usize> {
        (0..self.folds.len()).filter(|at| self.voice(*at).speaks())
    }

    fn names(&self) -> FxHashSet<Name> {
        (0..self.folds.len()).filter_map(|at| self.step(at).name).collect()
    }

    /// Skips commands and notes that the other path has too.
    fn quiet_end(&self, mut end: usize, other: &Self) -> usize {
        // Made when a command or note is met: most paths end with a message.
        let names = LazyCell::new(|| other.names());
        while end < self.folds.len()
            && !self.voice(end).speaks()
            && self.step(end).name.is_some_and(|name| names.contains(&name))
        {
            end += 1;
        }
        end
    }

    fn messages(&self, end: usize) -> u32 {
        let rest = end..self.folds.len();
        rest.filter(|at| self.voice(*at).is_displayable()).count() as u32
    }

    /// Returns the records from a step on, with what decorates them.
    fn own(&self, end: usize) -> Vec<FxHashSet<NodeId>> {
        let stretches = self.stretches;
        if end >= self.folds.len() {
            return vec![FxHashSet::default(); stretches.len()];
        }
        let mut places: Vec<FxHashMap<FoldId, usize>> = vec![FxHashMap::default(); stretches.len()];
        for (at, (part, fold)) in self.folds.iter().enumerate() {
            places[*part as usize].insert(*fold, at);
        }
        let of = |(stretch, places): (&Stretch<'_>, &mut FxHashMap<FoldId, usize>)| {
            let folds = &stretch.history.folds;
            let mut is_own = |node: &&NodeId| {
                let fold = folds.of(**node);
                fold.and_then(|fold| place_above(folds, fold, places)).is_some_and(|at| at >= end)
            };
            stretch.path.nodes.iter().filter(|node| is_own(node)).copied().collect()
        };
        stretches.iter().zip(&mut places).map(of).collect()
    }
}

/// Returns the position of the nearest message at or above one that has a position.
///
/// It caches the result for every message it passes, because decoration can be nested to any depth.
fn place_above(
    folds: &Folds,
    fold: FoldId,
    places: &mut FxHashMap<FoldId, usize>,
) -> Option<usize> {
    let mut passed = Vec::new();
    let place = folds.ancestors(fold).find_map(|above| {
        let place = places.get(&above).copied();
        if place.is_none() {
            passed.push(above);
        }
        place
    })?;
    places.extend(passed.into_iter().map(|fold| (fold, place)));
    Some(place)
}

fn times(stretches: &[Stretch<'_>], own: &[FxHashSet<NodeId>]) -> Option<(Time, Time)> {
    let mut span: Option<(Time, Time)> = None;
    for (stretch, nodes) in stretches.iter().zip(own) {
        let times = nodes.iter().filter_map(|node| stretch.history.session.record(*node).time);
        for time in times {
            span = Some(span.map_or((time, time), |(from, to)| (from.min(time), to.max(time))));
        }
    }
    span
}

/// Returns the positions of the messages at the beginning of one path that the other path has too.
///
/// The order may differ: the client's own `/branch` puts preserved messages after the summary of a
/// compaction.
fn shared(side: &Steps<'_>, other: &Steps<'_>) -> Vec<usize> {
    // Made when the order differs for the first time, which it mostly never does.
    let there: LazyCell<FxHashMap<Identity, usize>, _> =
        LazyCell::new(|| other.speaking().map(|at| (other.step(at).identity(), at)).collect());
    let is_shared = |(at, beside): &(usize, Option<usize>)| {
        let is_same = |found: usize| same([side, other], *at, found);
        beside.is_some_and(is_same)
            || there.get(&side.step(*at).identity()).is_some_and(|found| is_same(*found))
    };
    let beside = other.speaking().map(Some).chain(std::iter::repeat(None));
    side.speaking().zip(beside).take_while(is_shared).map(|(at, _)| at).collect()
}

/// Whether two steps are one message, whole on both sides.
fn same(sides: [&Steps<'_>; 2], at: usize, bt: usize) -> bool {
    let (a, b) = (sides[0].step(at), sides[1].step(bt));
    let [head_a, head_b] = [&a, &b].map(|step| {
        let history = step.stretch.history;
        history.session.record(history.folds.fold(step.fold).head)
    });
    match (a.name, b.name) {
        (Some(name), Some(other)) => {
            let versions = sides[0].versions[a.part].contains(&name)
                || sides[1].versions[b.part].contains(&name);
            name == other
                && (!versions || head_a.content == head_b.content)
                && members(&a) == members(&b)
        }
        (None, None) => {
            (head_a.kind, head_a.time, head_a.content) == (head_b.kind, head_b.time, head_b.content)
        }
        _ => false,
    }
}

/// Returns the uuids of the user and assistant records of a message.
fn members(step: &Step<'_>) -> Vec<Option<Name>> {
    let Stretch { history, .. } = step.stretch;
    let records = history.folds.members(step.fold).iter().map(|id| history.session.record(*id));
    let said = records.filter(|record| matches!(record.kind, Kind::User | Kind::Assistant));
    let mut names: Vec<Option<Name>> = said.map(|record| record.name).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn versions(history: &History) -> FxHashSet<Name> {
    let History { session, tree, .. } = history;
    let content = |node: NodeId| session.record(node).content;
    let is_version = |node: NodeId, name: Name| {
        let first = tree.bearers(name).first();
        first.is_some_and(|first| content(*first) != content(node))
    };
    let named = session.nodes().filter_map(|(node, record)| Some((node, record.name?)));
    named.filter(|(node, name)| is_version(*node, *name)).map(|(_, name)| name).collect()
}
