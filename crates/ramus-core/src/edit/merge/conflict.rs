//! Finds files that conversations changed differently, and writes the note about them.

use std::collections::BTreeMap;
use std::fmt::Write;

use rustc_hash::FxHashSet;
use serde_json::Value;

use super::{Bodies, Sources};
use crate::compare::{Content, FileChange, Side, files};
use crate::session::NodeId;
use crate::turn::{Turn, turns};

/// A file that several conversations changed, with different results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    pub path: String,
    /// What each of those that changed it left, in their order.
    pub ends: Vec<End>,
}

/// What one conversation left of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// The conversation, from 1.
    pub branch: usize,
    pub content: Content,
    pub added: usize,
    pub removed: usize,
}

/// Which content the merged conversation declares to be valid.
///
/// Nothing in the working directory is touched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// None: the merge is refused.
    #[default]
    Stop,
    /// What the first conversation that changed the file left.
    Ours,
    /// What the last one left.
    Theirs,
    /// All of them, to be put together later.
    KeepBoth,
}

/// The largest content that the note quotes.
pub(super) const QUOTED: usize = 8_000;

/// Finds files that were changed differently.
pub(super) fn conflicts(
    sources: &Sources<'_>,
    taken: &[(usize, FxHashSet<(usize, NodeId)>)],
    bodies: &mut Bodies<'_>,
) -> Vec<Conflict> {
    let mut sides = Vec::new();
    for (branch, own) in taken {
        let mut side = Side::default();
        each_turn(sources, *branch, own, bodies, &mut |turn, is_own| {
            if is_own {
                side.own(0, turn);
                // Only the changes to files matter here.
                side.turns.clear();
            } else {
                side.shared(&turn);
            }
        });
        sides.push(side);
    }
    let mut found: BTreeMap<String, BTreeMap<usize, FileChange>> = BTreeMap::new();
    for (a, ours) in sides.iter().enumerate() {
        for (b, theirs) in sides.iter().enumerate().skip(a + 1) {
            for pair in files(ours, theirs) {
                if pair.a.changed && pair.b.changed && pair.differs() != Some(false) {
                    let ends = found.entry(pair.path).or_default();
                    ends.insert(a, pair.a);
                    ends.insert(b, pair.b);
                }
            }
        }
    }
    let end = |(branch, change): (usize, FileChange)| End {
        branch: branch + 1,
        content: change.after,
        added: change.added,
        removed: change.removed,
    };
    let conflict = |(path, ends): (String, BTreeMap<usize, FileChange>)| Conflict {
        path,
        ends: ends.into_iter().map(end).collect(),
    };
    found.into_iter().map(conflict).collect()
}

/// Reads the turns of a conversation, and whether they are of those records.
pub(super) fn each_turn(
    sources: &Sources<'_>,
    branch: usize,
    own: &FxHashSet<(usize, NodeId)>,
    bodies: &mut Bodies<'_>,
    each: &mut dyn FnMut(Turn, bool),
) {
    for part in sources.branches[branch].clone() {
        let mut body = |node: NodeId| bodies(part, node);
        for turn in turns(sources.origins[part].history, sources.paths[part], &mut body) {
            let is_own = turn.nodes.first().is_some_and(|node| own.contains(&(part, *node)));
            each(turn, is_own);
        }
    }
}

/// Returns the note about the valid contents; `None`: there is nothing to note.
pub(super) fn note(conflicts: &[Conflict], policy: Policy) -> Option<String> {
    if conflicts.is_empty() || policy == Policy::Stop {
        return None;
    }
    let mut note = format!(
        "[This conversation was merged from several. {} in more than one of them, with different results. \
         The files on disk were not touched by the merge: look at them before you go on.]\n",
        match conflicts.len() {
            1 => "One file was changed".to_owned(),
            more => format!("{more} files were changed"),
        }
    );
    for conflict in conflicts {
        let Conflict { path, ends } = conflict;
        match policy {
            Policy::Stop => {}
            Policy::Ours => holds(&mut note, path, ends.first()),
            Policy::Theirs => holds(&mut note, path, ends.last()),
            Policy::KeepBoth => {
                let _ = write!(note, "\n`{path}`: all versions are wanted; put them together.\n");
                for end in ends {
                    let _ = writeln!(note, "As conversation {} left it:", end.branch);
                    quote(&mut note, &end.content);
                }
            }
        }
    }
    Some(note)
}

fn holds(note: &mut String, path: &str, end: Option<&End>) {
    let Some(end) = end else { return };
    let _ = write!(note, "\n`{path}`: what conversation {} left holds:\n", end.branch);
    quote(note, &end.content);
}

pub(super) fn quote(note: &mut String, content: &Content) {
    let _ = match content {
        Content::Absent => writeln!(note, "(there is no such file)"),
        Content::Unknown => writeln!(note, "(not known; read the file)"),
        Content::Text(text) if text.len() > QUOTED => {
            writeln!(note, "({} lines; see the calls above)", text.lines().count())
        }
        Content::Text(text) => {
            let fence = fence(text);
            writeln!(note, "{fence}\n{}\n{fence}", text.trim_end_matches('\n'))
        }
    };
}

/// Returns a code fence that the text does not contain.
fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

/// Returns the provenance of the note: the ends of all conversations.
pub(super) fn origin(sources: &Sources<'_>) -> Value {
    let last = |parts: &std::ops::Range<usize>| {
        let origin = &sources.origins[parts.clone().next_back()?];
        let session = &origin.history.session;
        let name = origin.nodes.iter().rev().find_map(|node| session.record(*node).name)?;
        Some(origin.from(name))
    };
    sources.branches.iter().filter_map(last).collect()
}
