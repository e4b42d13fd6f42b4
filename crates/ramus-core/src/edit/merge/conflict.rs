//! Finds files that conversations changed differently, and writes the note about them.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value;

use super::strategy::TakenRecords;
use super::{BodyReader, MergeSources};
use crate::compare::{ComparedSide, SideFileChange, TextContent, changed_files};
use crate::session::NodeId;
use crate::turn::{Turn, path_turns};

/// A file that several conversations changed, with different results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileConflict {
    pub path: String,
    /// What each of those that changed it left, in their order.
    pub outcomes: Vec<FileOutcome>,
}

/// What one conversation left of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileOutcome {
    /// The conversation, from 1.
    pub branch: usize,
    pub content: TextContent,
    pub added: usize,
    pub removed: usize,
}

/// Which content the merged conversation declares to be valid.
///
/// Nothing in the working directory is touched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConflictPolicy {
    /// None: the merge is refused.
    #[default]
    Stop,
    /// What the first conversation that changed the file left.
    Ours,
    /// What the last one left.
    Theirs,
    /// All of them, to be combined later.
    KeepBoth,
}

/// The largest content that the note quotes.
pub(super) const MAX_QUOTED_BYTES: usize = 8_000;

/// Finds files that were changed differently.
pub(super) fn find_conflicts(
    sources: &MergeSources<'_>,
    taken: &[(usize, TakenRecords)],
    bodies: &mut BodyReader<'_>,
) -> Vec<FileConflict> {
    let mut sides = Vec::new();
    for (branch, own) in taken {
        let mut side = ComparedSide::default();
        each_turn(sources, *branch, own, bodies, &mut |turn, is_own| {
            if is_own {
                side.add_own_files(&turn);
            } else {
                side.add_shared_turn(&turn);
            }
        });
        sides.push(side);
    }
    let mut found: BTreeMap<String, BTreeMap<usize, SideFileChange>> = BTreeMap::new();
    for (a, ours) in sides.iter().enumerate() {
        for (b, theirs) in sides.iter().enumerate().skip(a + 1) {
            for pair in changed_files(ours, theirs) {
                if pair.a.changed && pair.b.changed && pair.contents_differ() != Some(false) {
                    let ends = found.entry(pair.path).or_default();
                    ends.insert(a, pair.a);
                    ends.insert(b, pair.b);
                }
            }
        }
    }
    let end = |(branch, change): (usize, SideFileChange)| FileOutcome {
        branch: branch + 1,
        content: change.after,
        added: change.added,
        removed: change.removed,
    };
    let conflict = |(path, ends): (String, BTreeMap<usize, SideFileChange>)| FileConflict {
        path,
        outcomes: ends.into_iter().map(end).collect(),
    };
    found.into_iter().map(conflict).collect()
}

/// Reads the turns of a conversation, and whether they are of those records.
pub(super) fn each_turn(
    sources: &MergeSources<'_>,
    branch: usize,
    own: &TakenRecords,
    bodies: &mut BodyReader<'_>,
    each: &mut dyn FnMut(Turn, bool),
) {
    for part in sources.branches[branch].clone() {
        let mut body = |node: NodeId| bodies(part, node);
        for turn in path_turns(sources.origins[part].history, sources.paths[part], &mut body) {
            let is_own = turn.nodes.first().is_some_and(|node| own.contains(&(part as u32, *node)));
            each(turn, is_own);
        }
    }
}

/// Returns the note about the valid contents; `None`: there is nothing to note.
pub(super) fn conflict_note(conflicts: &[FileConflict], policy: ConflictPolicy) -> Option<String> {
    if conflicts.is_empty() || policy == ConflictPolicy::Stop {
        return None;
    }
    let mut note = format!(
        "[This conversation was merged from several. {} in more than one of them, with different results. \
         The merge did not change any file on disk: check these files before you continue.]\n",
        match conflicts.len() {
            1 => "One file was changed".to_owned(),
            more => format!("{more} files were changed"),
        }
    );
    for conflict in conflicts {
        let FileConflict { path, outcomes: ends } = conflict;
        match policy {
            ConflictPolicy::Stop => {}
            ConflictPolicy::Ours => write_winner(&mut note, path, ends.first()),
            ConflictPolicy::Theirs => write_winner(&mut note, path, ends.last()),
            ConflictPolicy::KeepBoth => {
                let _ = write!(note, "\n`{path}`: combine all versions.\n");
                for end in ends {
                    let _ = writeln!(note, "Version of conversation {}:", end.branch);
                    quote_content(&mut note, &end.content);
                }
            }
        }
    }
    Some(note)
}

fn write_winner(note: &mut String, path: &str, end: Option<&FileOutcome>) {
    let Some(end) = end else { return };
    let _ = write!(note, "\n`{path}`: use the version of conversation {}:\n", end.branch);
    quote_content(note, &end.content);
}

pub(super) fn quote_content(note: &mut String, content: &TextContent) {
    let _ = match content {
        TextContent::Absent => writeln!(note, "(the file does not exist)"),
        TextContent::Unknown => writeln!(note, "(unknown; read the file)"),
        TextContent::Text(text) if text.len() > MAX_QUOTED_BYTES => {
            writeln!(note, "({} lines; see the tool calls above)", text.lines().count())
        }
        TextContent::Text(text) => {
            let fence = code_fence(text);
            writeln!(note, "{fence}\n{}\n{fence}", text.trim_end_matches('\n'))
        }
    };
}

/// Returns a code fence that the text does not contain.
fn code_fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

/// Returns the provenance of the note: the ends of all conversations.
pub(super) fn note_provenance(sources: &MergeSources<'_>) -> Value {
    let last = |parts: &std::ops::Range<usize>| {
        let origin = &sources.origins[parts.clone().next_back()?];
        let session = &origin.history.session;
        let name = origin.nodes.iter().rev().find_map(|node| session.record(*node).uuid)?;
        Some(origin.provenance(name))
    };
    sources.branches.iter().filter_map(last).collect()
}
