//! The records of one session as a tree: parents, children, roots.
//!
//! The links of the file are resolved here once: duplicate records (the same record written twice), several
//! versions of a record under one uuid, parents that come later in the file, parents that are missing, and cycles.
//! A compaction is linked to its logical parent like any record (the compaction rule, R7). Gaps are not closed
//! here but in reading order, and fork points are found in [`branches`](crate::branches).

use std::hash::BuildHasher;
use std::sync::OnceLock;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::defect::{Defect, DefectKind};
use crate::ids::RecordUuid;
use crate::record::{Record, RecordRole};
use crate::session::{NodeId, Session};
use crate::steps::count_step;

/// The forest of one session's nodes, by parent links only.
#[derive(Clone, Debug, Default)]
pub struct RecordTree {
    /// Each node's parent, [`NO_PARENT`] for none.
    parents: Vec<NodeId>,
    /// For a duplicate (a record written twice), the first one.
    first_copies: Vec<NodeId>,
    children: IndexedLists<NodeId>,
    roots: Vec<NodeId>,
    /// Nodes whose parent is not in this file, with the parent's uuid.
    missing_parents: Vec<(NodeId, RecordUuid)>,
    uuids: UuidIndex,
    /// The first four bytes of all uuids, sorted; computed on first use.
    prefixes: OnceLock<Vec<u32>>,
    repeated_uuids: u32,
    defects: Vec<Defect>,
}

const NO_PARENT: NodeId = NodeId(u32::MAX);

impl RecordTree {
    /// Resolves the links of a session.
    pub fn new(session: &Session) -> Self {
        let records = session.records();
        let names = UuidIndex::new(session);
        let mut tree = Self {
            parents: vec![NO_PARENT; records.len()],
            first_copies: (0..records.len() as u32).map(NodeId).collect(),
            ..Self::default()
        };
        tree.resolve_copies(session, &names);
        let mut groups = LinkGroups::new(records.len());
        for (id, record) in session.nodes() {
            if tree.first_copies[id.index()] != id {
                continue;
            }
            // The client's own copies put preserved messages after the compaction, whose boundary still names them:
            // what it continues is not in this file.
            if let Some(name) = record.parent_uuid.filter(|name| {
                record.role == RecordRole::CompactBoundary
                    && is_preserved_after(session, &names, id, *name)
            }) {
                tree.missing_parents.push((id, name));
                continue;
            }
            let parent = tree.resolve_parent(session, (id, record), &names, &mut groups);
            tree.parents[id.index()] = parent.unwrap_or(NO_PARENT);
        }
        tree.uuids = names;
        for (id, _) in session.nodes() {
            if tree.is_first_copy(id) && tree.parent(id).is_none() {
                tree.roots.push(id);
            }
        }
        tree.children = IndexedLists::new(records.len(), || {
            session.nodes().filter_map(|(id, _)| Some((tree.parent(id)?.index(), id)))
        });
        tree
    }

    /// Whether no other uuid begins with the same eight digits.
    pub fn has_unique_prefix(&self, session: &Session, name: RecordUuid) -> bool {
        let start = |name: &RecordUuid| (name.to_bits() >> 96) as u32;
        let starts = self.prefixes.get_or_init(|| {
            let names = self.uuids.first.iter().filter_map(|id| session.record(*id).uuid);
            let mut starts: Vec<u32> = names.map(|name| start(&name)).collect();
            starts.sort_unstable();
            starts
        });
        let at = starts.partition_point(|other| *other < start(&name));
        starts[at..].iter().take_while(|other| **other == start(&name)).count() == 1
    }

    /// Returns the parent; that of a compaction is its logical parent (the compaction rule, R7).
    pub fn parent(&self, id: NodeId) -> Option<NodeId> {
        count_step();
        Some(self.parents[id.index()]).filter(|parent| *parent != NO_PARENT)
    }

    /// Returns the children in file order.
    pub fn children(&self, id: NodeId) -> &[NodeId] {
        count_step();
        self.children.list_at(id.index())
    }

    /// Returns the nodes without a parent, in file order.
    pub fn roots(&self) -> &[NodeId] {
        &self.roots
    }

    /// Returns the nodes whose parent is not in this file, with the parent's uuid.
    pub fn missing_parents(&self) -> &[(NodeId, RecordUuid)] {
        &self.missing_parents
    }

    /// Returns the node itself, or for a record written twice the first of them.
    pub fn first_copy(&self, id: NodeId) -> NodeId {
        self.first_copies[id.index()]
    }

    /// Whether this is not merely a second copy of an earlier record.
    pub fn is_first_copy(&self, id: NodeId) -> bool {
        self.first_copies[id.index()] == id
    }

    /// Whether the node has the uuid of an earlier one with different content (R4).
    pub fn is_version(&self, session: &Session, id: NodeId, name: RecordUuid) -> bool {
        self.is_first_copy(id)
            && self.nodes_with(session, name).first().is_some_and(|first| *first != id)
    }

    /// Returns the last node with that uuid, as the client's loader would.
    pub fn node_by_uuid(&self, session: &Session, name: RecordUuid) -> Option<NodeId> {
        self.nodes_with(session, name).last().map(|id| self.first_copy(*id))
    }

    /// Returns all nodes of that name, in file order.
    pub(crate) fn nodes_with(&self, session: &Session, name: RecordUuid) -> &[NodeId] {
        self.uuids.nodes_with(session, name)
    }

    /// Returns the number of records whose uuid was used before.
    pub fn repeated_uuids(&self) -> u32 {
        self.repeated_uuids
    }

    /// Returns the defects of the links.
    pub fn defects(&self) -> &[Defect] {
        &self.defects
    }

    /// Walks from a node up to its root.
    pub fn ancestors(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        std::iter::successors(Some(id), |id| self.parent(*id))
    }

    /// Finds duplicate records, which repeat a uuid: equal ones are one node, others are versions (R4).
    fn resolve_copies(&mut self, session: &Session, names: &UuidIndex) {
        let mut seen = FxHashMap::default();
        for bearers in names.repeated.values() {
            self.repeated_uuids += bearers.len() as u32 - 1;
            seen.clear();
            for &id in bearers {
                let record = session.record(id);
                let first = *seen
                    .entry((record.parent_uuid, record.content_hash, record.kind))
                    .or_insert(id);
                self.first_copies[id.index()] = first;
                if first == id && id != bearers[0] {
                    self.add_defect(record, DefectKind::Version);
                }
            }
        }
        self.defects.sort_by_key(|defect| defect.line);
    }

    fn resolve_parent(
        &mut self,
        session: &Session,
        (id, record): (NodeId, &Record),
        names: &UuidIndex,
        groups: &mut LinkGroups,
    ) -> Option<NodeId> {
        let name = record.parent_uuid?;
        let Some(found) = names.nearest_node(session, name, id) else {
            if record.uuid == Some(name) {
                self.add_defect(record, DefectKind::SelfParent);
            } else {
                self.missing_parents.push((id, name));
            }
            return None;
        };
        let parent = self.first_copies[found.index()];
        if !groups.join_groups(id, parent) {
            let kind = if parent == id { DefectKind::SelfParent } else { DefectKind::Cycle };
            self.add_defect(record, kind);
            return None;
        }
        Some(parent)
    }

    fn add_defect(&mut self, record: &Record, kind: DefectKind) {
        self.defects.push(Defect { offset: record.span.offset, line: record.line, kind });
    }

    /// Returns the defects of parents that no session of the project has (R5).
    ///
    /// A compaction that continues a lost session is not a defect: its boundary often points outside of the
    /// file.
    pub fn orphan_defects<'a>(
        &'a self,
        session: &'a Session,
        is_elsewhere: impl Fn(RecordUuid) -> bool + 'a,
    ) -> impl Iterator<Item = Defect> + 'a {
        self.missing_parents
            .iter()
            .filter(move |(id, name)| {
                session.record(*id).role != RecordRole::CompactBoundary && !is_elsewhere(*name)
            })
            .map(|(id, name)| {
                let record = session.record(*id);
                Defect {
                    offset: record.span.offset,
                    line: record.line,
                    kind: DefectKind::Orphan { parent: session.uuid_text(*name).into() },
                }
            })
    }
}

/// Whether a compaction preserves a record that exists only after it.
fn is_preserved_after(
    session: &Session,
    names: &UuidIndex,
    boundary: NodeId,
    name: RecordUuid,
) -> bool {
    let preserved = session.preserved_uuids();
    let kept = preserved.binary_search_by_key(&boundary, |(node, _)| *node);
    kept.is_ok_and(|at| preserved[at].1.contains(&name))
        && names.nearest_node(session, name, boundary).is_some_and(|found| found > boundary)
}

/// The nodes of each uuid, in file order.
///
/// It stores no uuids, which the records have: for a session of a million records they would take 24 MB.
#[derive(Clone, Debug, Default)]
struct UuidIndex {
    /// The first node of each uuid.
    first: HashTable<NodeId>,
    /// All nodes of the uuids that have more than one.
    repeated: FxHashMap<RecordUuid, Vec<NodeId>>,
}

impl UuidIndex {
    fn new(session: &Session) -> Self {
        let mut first: HashTable<NodeId> = HashTable::with_capacity(session.records().len());
        let mut repeated: FxHashMap<RecordUuid, Vec<NodeId>> = FxHashMap::default();
        let records = session.records();
        let uuid_of = |id: &NodeId| records[id.index()].uuid;
        let hash_node = |id: &NodeId| uuid_of(id).map_or(0, hash_uuid);
        for (id, record) in session.nodes() {
            let Some(name) = record.uuid else { continue };
            match first.entry(hash_uuid(name), |other| uuid_of(other) == Some(name), hash_node) {
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

    fn nodes_with(&self, session: &Session, name: RecordUuid) -> &[NodeId] {
        if let Some(repeated) = self.repeated.get(&name) {
            return repeated;
        }
        let is_named = |id: &NodeId| session.records()[id.index()].uuid == Some(name);
        self.first.find(hash_uuid(name), is_named).map(std::slice::from_ref).unwrap_or_default()
    }

    /// Returns the nearest node before a node, else the nearest after it (R4).
    fn nearest_node(&self, session: &Session, name: RecordUuid, id: NodeId) -> Option<NodeId> {
        let bearers = self.nodes_with(session, name);
        let before = bearers.partition_point(|bearer| *bearer < id);
        match before.checked_sub(1) {
            Some(nearest) => Some(bearers[nearest]),
            None => bearers.iter().find(|bearer| **bearer != id).copied(),
        }
    }
}

fn hash_uuid(name: RecordUuid) -> u64 {
    FxBuildHasher.hash_one(name)
}

/// Groups of linked nodes; a link within one group would close a cycle.
struct LinkGroups(Vec<u32>);

impl LinkGroups {
    fn new(len: usize) -> Self {
        Self((0..len as u32).collect())
    }

    fn join_groups(&mut self, a: NodeId, b: NodeId) -> bool {
        let (a, b) = (self.group_root(a.0), self.group_root(b.0));
        self.0[a as usize] = b;
        a != b
    }

    fn group_root(&mut self, mut at: u32) -> u32 {
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
pub(crate) struct IndexedLists<T> {
    ends: Vec<u32>,
    items: Vec<T>,
}

impl<T: Copy + Default> IndexedLists<T> {
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

    pub(crate) fn list_at(&self, index: usize) -> &[T] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.items[start as usize..self.ends[index] as usize]
    }
}
