//! Detects file backups that were made too late.
//!
//! The first backup of a file should have its content before the first edit. Some clients (2.0.74 in
//! nearly every run) copy the file while the tool is already writing, so that the backup has the
//! content after the edit. The result of that edit records both, so the error can be detected and
//! corrected.

use std::collections::BTreeMap;

use super::place::absolute;
use super::text::{Dress, agree, dress, undress};
use super::told::{Told, told};
use super::tracked::{First, Tracked};
use super::{Backup, Backups, Held};
use crate::body::Body;
use crate::compare::{Content, Stretch, change};
use crate::history::Path;
use crate::session::NodeId;
use crate::turn::turns;

/// Returns the real content of files before their first change, if the first backup is wrong, and that backup.
pub(super) fn corrections(
    part: usize,
    stretch: &Stretch<'_>,
    tracked: &Tracked,
    bodies: &mut dyn FnMut(NodeId) -> Option<Body>,
    backups: &mut dyn Backups,
) -> BTreeMap<String, (Held, Backup)> {
    let mut corrected = BTreeMap::new();
    for (path, first) in &tracked.first {
        let Some((before, after)) = first_change(stretch, path, first, bodies) else { continue };
        let Some(name) = &first.entry.name else { continue };
        let backup = Backup { part, name: name.clone(), version: first.entry.version };
        let Some((copy, how)) = backups.read(&backup).and_then(|bytes| undress(&bytes)) else {
            continue;
        };
        let holds = |content: &Content| match content {
            Content::Text(text) => agree(text, &copy),
            Content::Absent | Content::Unknown => false,
        };
        if holds(&after) && !holds(&before) {
            corrected.insert(path.clone(), (held(before, how), backup));
        }
    }
    corrected
}

fn held(before: Content, how: Dress) -> Held {
    match before {
        Content::Text(text) => Held::Bytes(dress(&text, how)),
        Content::Absent => Held::Absent,
        Content::Unknown => Held::Unknown,
    }
}

/// Returns what the change for which a file was first backed up found and left.
fn first_change(
    stretch: &Stretch<'_>,
    path: &str,
    first: &First,
    bodies: &mut dyn FnMut(NodeId) -> Option<Body>,
) -> Option<(Content, Content)> {
    let history = stretch.history;
    let fold = history.folds.of(history.tree.find(first.by)?)?;
    let message = Path { folds: vec![fold], nodes: history.folds.members(fold).to_vec() };
    let cwd = history.session.facts().cwd.as_deref().unwrap_or_default();
    for turn in turns(history, &message, bodies) {
        for told in told(&turn) {
            if let Told::Changed { path: changed, call, output } = told
                && absolute(cwd, changed) == path
            {
                let change = change(output, call, &Content::Unknown)?;
                let known = change.before != Content::Unknown;
                return known.then_some((change.before, change.after));
            }
        }
    }
    None
}
