//! Links between sessions: forks, resumed copies, continuations, summaries.

use rustc_hash::FxHashSet;

use crate::digest::SessionDigest;
use crate::ids::RecordUuid;
use crate::lineage::{Lineage, SessionEntry, UuidHolders};

/// How one session relates to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LinkKind {
    /// Its records have `forkedFrom`.
    Fork,
    /// Its records have `mergedFrom`.
    Merge,
    /// It begins with records of an older session, without naming it.
    Copy,
    /// The parent of one of its records is in another session.
    Continuation,
    /// A summary in it names a node of another session.
    Summary,
    /// It began with `/clear` in another session.
    Clear,
    /// It is a sub-agent of that session.
    Agent,
}

impl LinkKind {
    /// Returns the stable word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fork => "fork",
            Self::Merge => "merge",
            Self::Copy => "copy",
            Self::Continuation => "continuation",
            Self::Summary => "summary",
            Self::Clear => "clear",
            Self::Agent => "agent",
        }
    }
}

/// A session that another one came from, or that was made from it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RelatedSession {
    pub kind: LinkKind,
    /// `None`: not recorded.
    pub session: Option<Box<str>>,
    /// Its file was found.
    pub is_found: bool,
}

/// The origins and the offspring of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionRelations {
    pub origins: Vec<RelatedSession>,
    pub offspring: Vec<RelatedSession>,
}

impl SessionRelations {
    /// Whether no origin and no offspring is known.
    pub fn is_empty(&self) -> bool {
        self.origins.is_empty() && self.offspring.is_empty()
    }
}

/// A link from one session to another, by their index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionLink {
    pub from: usize,
    pub to: usize,
    pub kind: LinkKind,
}

/// Collects the origins and offspring of sessions.
pub fn session_relations(
    sessions: &[SessionEntry<'_>],
    links: &[SessionLink],
) -> Vec<SessionRelations> {
    let mut families = vec![SessionRelations::default(); sessions.len()];
    let relative = |kind, index: usize| RelatedSession {
        kind,
        session: Some(sessions[index].id.into()),
        is_found: true,
    };
    for &SessionLink { from, to, kind } in links {
        let Some(kind) = descent_kind(kind, sessions[from].digest) else { continue };
        families[from].origins.push(relative(kind, to));
        families[to].offspring.push(relative(kind, from));
    }
    for family in &mut families {
        for relatives in [&mut family.origins, &mut family.offspring] {
            relatives.sort_unstable();
            relatives.dedup();
        }
    }
    families
}

/// Returns how a session descends from one that it is linked to; a summary is not descent.
fn descent_kind(kind: LinkKind, digest: &SessionDigest) -> Option<LinkKind> {
    let version = digest.facts.version.as_ref();
    match kind {
        LinkKind::Summary => None,
        // Clients before 2.0 copied a session whenever they continued it, and could not fork.
        LinkKind::Copy if version.is_some_and(|version| version.numbers.0 < 2) => {
            Some(LinkKind::Continuation)
        }
        kind => Some(kind),
    }
}

/// Finds the links between sessions; each pair and kind once.
pub fn find_links(sessions: &[SessionEntry<'_>]) -> Vec<SessionLink> {
    let lineage = Lineage::new(sessions);
    let named = sessions.iter().flat_map(|session| {
        let missing = session.digest.missing_parents.iter().map(|missing| missing.parent);
        missing.chain(session.digest.summaries.iter().filter_map(|(_, leaf)| *leaf))
    });
    let holders = UuidHolders::new(sessions, named);
    let original = |name: RecordUuid| {
        holders.sessions_with(name).iter().copied().min_by_key(|index| {
            let SessionEntry { id, digest, .. } = sessions[*index];
            (lineage.generation_of(*index), digest.facts.last_active, id)
        })
    };
    let mut links = FxHashSet::default();
    for (from, session) in sessions.iter().enumerate() {
        for &(to, kind) in lineage.origins_of(from) {
            links.insert(SessionLink { from, to, kind });
        }
        let mut add = |to: Option<usize>, kind| {
            if let Some(to) = to.filter(|to| *to != from) {
                links.insert(SessionLink { from, to, kind });
            }
        };
        for missing in &session.digest.missing_parents {
            add(original(missing.parent), LinkKind::Continuation);
        }
        for leaf in session.digest.summaries.iter().filter_map(|(_, leaf)| *leaf) {
            if !holders.is_held_by(leaf, from) {
                add(original(leaf), LinkKind::Summary);
            }
        }
    }
    let mut links: Vec<SessionLink> = links.into_iter().collect();
    links.sort_unstable();
    links
}
