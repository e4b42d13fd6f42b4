//! How sessions belong together: forks, resumed copies, continuations, summaries.

use rustc_hash::FxHashSet;

use crate::lineage::{Holders, Lineage, SessionEntry};
use crate::name::Name;

/// How one session stands to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LinkKind {
    /// Its records say `forkedFrom`.
    Fork,
    /// Its records say `mergedFrom`.
    Merge,
    /// It begins with records of an older session, without saying so.
    Copy,
    /// A record of it hangs below one of another session.
    Continuation,
    /// A summary in it names a node of another session.
    Summary,
}

impl LinkKind {
    /// Returns the stable word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Fork => "fork",
            Self::Merge => "merge",
            Self::Copy => "copy",
            Self::Continuation => "continuation",
            Self::Summary => "summary",
        }
    }
}

/// A link from one session to another, by their index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Link {
    pub from: usize,
    pub to: usize,
    pub kind: LinkKind,
}

impl LinkKind {
    /// Whether the one session began with records of the other.
    pub fn is_origin(self) -> bool {
        matches!(self, Self::Fork | Self::Merge | Self::Copy)
    }
}

/// Finds the links between sessions; each pair and kind once.
pub fn links(sessions: &[SessionEntry<'_>]) -> Vec<Link> {
    let lineage = Lineage::new(sessions);
    let named = sessions.iter().flat_map(|session| {
        let missing = session.digest.missing.iter().map(|missing| missing.parent);
        missing.chain(session.digest.summaries.iter().filter_map(|(_, leaf)| *leaf))
    });
    let holders = Holders::new(sessions, named);
    let original = |name: Name| {
        holders.sessions(name).iter().copied().min_by_key(|index| {
            let SessionEntry { id, digest, .. } = sessions[*index];
            (lineage.generation(*index), digest.facts.last_active, id)
        })
    };
    let mut links = FxHashSet::default();
    for (from, session) in sessions.iter().enumerate() {
        for &(to, kind) in lineage.origins(from) {
            links.insert(Link { from, to, kind });
        }
        let mut add = |to: Option<usize>, kind| {
            if let Some(to) = to.filter(|to| *to != from) {
                links.insert(Link { from, to, kind });
            }
        };
        for missing in &session.digest.missing {
            add(original(missing.parent), LinkKind::Continuation);
        }
        for leaf in session.digest.summaries.iter().filter_map(|(_, leaf)| *leaf) {
            if !holders.has(leaf, from) {
                add(original(leaf), LinkKind::Summary);
            }
        }
    }
    let mut links: Vec<Link> = links.into_iter().collect();
    links.sort_unstable();
    links
}
