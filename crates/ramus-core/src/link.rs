//! How sessions belong together: forks, resumed copies, continuations, summaries.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::digest::Digest;
use crate::name::Name;

/// How one session stands to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LinkKind {
    /// Its records say `forkedFrom`.
    Fork,
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

/// Finds the links between sessions, given with their ids; each pair and kind once.
pub fn links(sessions: &[(&str, &Digest)]) -> Vec<Link> {
    let ids: FxHashMap<&str, usize> =
        sessions.iter().enumerate().map(|(index, (id, _))| (*id, index)).collect();
    let homes = Homes::new(sessions);
    let mut links = FxHashSet::default();
    for (from, (_, digest)) in sessions.iter().enumerate() {
        let mut add = |to: Option<usize>, kind| {
            if let Some(to) = to.filter(|to| *to != from) {
                links.insert(Link { from, to, kind });
            }
        };
        let origin = digest.facts.forked_from.as_ref().and_then(|(session, _)| ids.get(&**session));
        match (origin, digest.chain.names.first()) {
            (Some(origin), _) => add(Some(*origin), LinkKind::Fork),
            (None, Some(first)) => add(homes.eldest(*first), LinkKind::Copy),
            (None, None) => {}
        }
        for missing in &digest.missing {
            add(homes.eldest(missing.parent), LinkKind::Continuation);
        }
        for (_, leaf) in &digest.summaries {
            if let Some(leaf) = leaf
                && !homes.has(*leaf, from)
            {
                add(homes.eldest(*leaf), LinkKind::Summary);
            }
        }
    }
    let mut links: Vec<Link> = links.into_iter().collect();
    links.sort_unstable();
    links
}

/// The sessions that hold the nodes somebody names, oldest first.
struct Homes(FxHashMap<Name, Vec<usize>>);

impl Homes {
    fn new(sessions: &[(&str, &Digest)]) -> Self {
        let mut homes: FxHashMap<Name, Vec<usize>> = FxHashMap::default();
        for (_, digest) in sessions {
            let named = digest.missing.iter().map(|missing| missing.parent);
            let summarised = digest.summaries.iter().filter_map(|(_, leaf)| *leaf);
            for name in named.chain(summarised).chain(digest.chain.names.first().copied()) {
                homes.entry(name).or_default();
            }
        }
        let mut order: Vec<usize> = (0..sessions.len()).collect();
        order.sort_by_key(|index| {
            let (id, digest) = sessions[*index];
            // A copy begins as early as its original but ends with an id of its own;
            // what was last active first is the original.
            (digest.facts.forked_from.is_some(), digest.facts.last_active, id)
        });
        for index in order {
            for name in &sessions[index].1.chain.names {
                if let Some(home) = homes.get_mut(name) {
                    home.push(index);
                }
            }
        }
        Self(homes)
    }

    fn eldest(&self, name: Name) -> Option<usize> {
        self.0.get(&name)?.first().copied()
    }

    fn has(&self, name: Name, session: usize) -> bool {
        self.0.get(&name).is_some_and(|homes| homes.contains(&session))
    }
}
