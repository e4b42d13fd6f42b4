//! The records of one session as a tree: parents, children, roots.
//!
//! Links are resolved here once: repeated uuids, parents that come later, cycles, compactions. What counts
//! as a fork is decided in [`fold`](crate::fold).

use std::collections::hash_map::Entry;
use std::sync::OnceLock;

use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::defect::{Defect, DefectKind};
use crate::name::Name;
use crate::record::{Record, Voice};
use crate::session::{NodeId, Session};
use crate::steps::step;

/// The forest of one session's nodes, by parent links alone.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// Each node's parent, [`NO_PARENT`] for none.
    parent: Vec<NodeId>,
    /// For a record written twice, the first one.
    first: Vec<NodeId>,
    children: Lists<NodeId>,
    roots: Vec<NodeId>,
    /// Nodes whose parent is not in this file, with the parent's uuid.
    missing: Vec<(NodeId, Name)>,
    names: Names,
    /// The first four bytes of all uuids, sorted; computed on first use.
    starts: OnceLock<Vec<u32>>,
    repeated: u32,
    defects: Vec<Defect>,
}

const NO_PARENT: NodeId = NodeId(u32::MAX);

impl Tree {
    /// Resolves the links of a session.
    pub fn new(session: &Session) -> Self {
        let records = session.records();
        let names = Names::new(session);
        let mut tree = Self {
            parent: vec![NO_PARENT; records.len()],
            first: (0..records.len() as u32).map(NodeId).collect(),
            ..Self::default()
        };
        tree.settle_copies(session, &names);
        let mut groups = Groups::new(records.len());
        for (id, record) in session.nodes() {
            if tree.first[id.index()] != id {
                continue;
            }
            // The client's own copies put preserved messages after the compaction, whose boundary still names them:
            // what it continues is not in this file.
            if let Some(name) = record.parent.filter(|name| {
                record.voice == Voice::Boundary && is_kept_behind(session, &names, id, *name)
            }) {
                tree.missing.push((id, name));
                continue;
            }
            let parent = tree.settle_parent(id, record, &names, &mut groups);
            tree.parent[id.index()] = parent.unwrap_or(NO_PARENT);
        }
        tree.names = names;
        for (id, _) in session.nodes() {
            if tree.is_first(id) && tree.parent(id).is_none() {
                tree.roots.push(id);
            }
        }
        tree.children = Lists::new(records.len(), || {
            session.nodes().filter_map(|(id, _)| Some((tree.parent(id)?.index(), id)))
        });
        tree
    }

    /// Whether no other uuid begins with the same eight digits.
    pub fn is_told_by_start(&self, name: Name) -> bool {
        let start = |name: &Name| (name.bits() >> 96) as u32;
        let starts = self.starts.get_or_init(|| {
            let mut starts: Vec<u32> = self.names.first.keys().map(start).collect();
            starts.sort_unstable();
            starts
        });
        let at = starts.partition_point(|other| *other < start(&name));
        starts[at..].iter().take_while(|other| **other == start(&name)).count() == 1
    }

    /// Returns the parent, through a compaction too (R7).
    pub fn parent(&self, id: NodeId) -> Option<NodeId> {
        step();
        Some(self.parent[id.index()]).filter(|parent| *parent != NO_PARENT)
    }

    /// Returns the children in file order.
    pub fn children(&self, id: NodeId) -> &[NodeId] {
        step();
        self.children.of(id.index())
    }

    /// Returns the nodes without a parent, in file order.
    pub fn roots(&self) -> &[NodeId] {
        &self.roots
    }

    /// Returns the nodes whose parent is not in this file, with the parent's uuid.
    pub fn missing(&self) -> &[(NodeId, Name)] {
        &self.missing
    }

    /// Returns the node itself, or for a record written twice the first of them.
    pub fn first(&self, id: NodeId) -> NodeId {
        self.first[id.index()]
    }

    /// Whether this is not merely a second copy of an earlier record.
    pub fn is_first(&self, id: NodeId) -> bool {
        self.first[id.index()] == id
    }

    /// Whether the node has the uuid of an earlier one with different content (R4).
    pub fn is_version(&self, id: NodeId, name: Name) -> bool {
        self.is_first(id) && self.names.first.get(&name).is_some_and(|first| *first != id)
    }

    /// Returns the last node with that uuid, as the client's loader would.
    pub fn find(&self, name: Name) -> Option<NodeId> {
        self.names.bearers(name).last().map(|id| self.first(*id))
    }

    /// Returns all nodes of that name, in file order.
    pub(crate) fn bearers(&self, name: Name) -> &[NodeId] {
        self.names.bearers(name)
    }

    /// Returns the number of records whose uuid was used before.
    pub fn repeated_names(&self) -> u32 {
        self.repeated
    }

    /// Returns what is wrong with the links.
    pub fn defects(&self) -> &[Defect] {
        &self.defects
    }

    /// Walks from a node up to its root.
    pub fn ancestors(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        std::iter::successors(Some(id), |id| self.parent(*id))
    }

    /// Finds records that repeat a uuid: copies are one node, others are versions (R4).
    fn settle_copies(&mut self, session: &Session, names: &Names) {
        let mut seen = FxHashMap::default();
        for bearers in names.repeated.values() {
            self.repeated += bearers.len() as u32 - 1;
            seen.clear();
            for &id in bearers {
                let record = session.record(id);
                let first = *seen.entry((record.parent, record.content, record.kind)).or_insert(id);
                self.first[id.index()] = first;
                if first == id && id != bearers[0] {
                    self.defect(record, DefectKind::Version);
                }
            }
        }
        self.defects.sort_by_key(|defect| defect.line);
    }

    fn settle_parent(
        &mut self,
        id: NodeId,
        record: &Record,
        names: &Names,
        groups: &mut Groups,
    ) -> Option<NodeId> {
        let name = record.parent?;
        let Some(found) = names.nearest(name, id) else {
            if record.name == Some(name) {
                self.defect(record, DefectKind::SelfParent);
            } else {
                self.missing.push((id, name));
            }
            return None;
        };
        let parent = self.first[found.index()];
        if !groups.join(id, parent) {
            let kind = if parent == id { DefectKind::SelfParent } else { DefectKind::Cycle };
            self.defect(record, kind);
            return None;
        }
        Some(parent)
    }

    fn defect(&mut self, record: &Record, kind: DefectKind) {
        self.defects.push(Defect { at: record.span.at, line: record.line, kind });
    }

    /// Returns the defects of parents that no session of the project has (R5).
    ///
    /// A compaction that continues a lost session is not a defect: its boundary often points outside of the
    /// file.
    pub fn orphans<'a>(
        &'a self,
        session: &'a Session,
        is_elsewhere: impl Fn(Name) -> bool + 'a,
    ) -> impl Iterator<Item = Defect> + 'a {
        self.missing
            .iter()
            .filter(move |(id, name)| {
                session.record(*id).voice != Voice::Boundary && !is_elsewhere(*name)
            })
            .map(|(id, name)| {
                let record = session.record(*id);
                Defect {
                    at: record.span.at,
                    line: record.line,
                    kind: DefectKind::Orphan { parent: session.spell(*name).into() },
                }
            })
    }
}

/// Whether a compaction preserves a record that exists only after it.
fn is_kept_behind(session: &Session, names: &Names, boundary: NodeId, name: Name) -> bool {
    let preserved = session.preserved();
    let kept = preserved.binary_search_by_key(&boundary, |(node, _)| *node);
    kept.is_ok_and(|at| preserved[at].1.contains(&name))
        && names.nearest(name, boundary).is_some_and(|found| found > boundary)
}

/// The nodes of each uuid, in file order.
#[derive(Clone, Debug, Default)]
struct Names {
    first: FxHashMap<Name, NodeId>,
    /// All nodes of the uuids that have more than one.
    repeated: FxHashMap<Name, Vec<NodeId>>,
}

impl Names {
    fn new(session: &Session) -> Self {
        let mut first = FxHashMap::with_capacity_and_hasher(session.records().len(), FxBuildHasher);
        let mut repeated: FxHashMap<Name, Vec<NodeId>> = FxHashMap::default();
        for (id, record) in session.nodes() {
            let Some(name) = record.name else { continue };
            match first.entry(name) {
                Entry::Vacant(entry) => {
                    entry.insert(id);
                }
                Entry::Occupied(entry) => {
                    repeated.entry(name).or_insert_with(|| vec![*entry.get()]).push(id);
                }
            }
        }
        Self { first, repeated }
    }

    fn bearers(&self, name: Name) -> &[NodeId] {
        let repeated = self.repeated.get(&name).map(Vec::as_slice);
        repeated.or_else(|| self.first.get(&name).map(std::slice::from_ref)).unwrap_or_default()
    }

    /// Returns the nearest node before a node, else the nearest after it (R4).
    fn nearest(&self, name: Name, id: NodeId) -> Option<NodeId> {
        let bearers = self.bearers(name);
        let before = bearers.partition_point(|bearer| *bearer < id);
        match before.checked_sub(1) {
            Some(nearest) => Some(bearers[nearest]),
            None => bearers.iter().find(|bearer| **bearer != id).copied(),
        }
    }
}

/// Groups of linked nodes; a link within one group would close a cycle.
struct Groups(Vec<u32>);

impl Groups {
    fn new(len: usize) -> Self {
        Self((0..len as u32).collect())
    }

    fn join(&mut self, a: NodeId, b: NodeId) -> bool {
        let (a, b) = (self.root(a.0), self.root(b.0));
        self.0[a as usize] = b;
        a != b
    }

    fn root(&mut self, mut at: u32) -> u32 {
        while self.0[at as usize] != at {
            let up = self.0[at as usize];
            self.0[at as usize] = self.0[up as usize];
            at = up;
        }
        at
    }
}

/// Lists of items for every index of a range, in one piece of memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lists<T> {
    ends: Vec<u32>,
    items: Vec<T>,
}

impl<T: Copy + Default> Lists<T> {
    /// Collects `(index, item)` pairs in two passes; items keep their order.
    pub(crate) fn new<I: Iterator<Item = (usize, T)>>(len: usize, pairs: impl Fn() -> I) -> Self {
        let mut ends = vec![0u32; len];
        for (index, _) in pairs() {
            ends[index] += 1;
        }
        let mut total = 0;
        for end in &mut ends {
            let start = total;
            total += *end;
            *end = start;
        }
        let mut items = vec![T::default(); total as usize];
        for (index, item) in pairs() {
            items[ends[index] as usize] = item;
            ends[index] += 1;
        }
        Self { ends, items }
    }

    pub(crate) fn of(&self, index: usize) -> &[T] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.items[start as usize..self.ends[index] as usize]
    }
}
