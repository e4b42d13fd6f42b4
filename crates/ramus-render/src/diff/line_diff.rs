//! Compares two texts line by line, or any two sequences of pieces of text.

use std::collections::HashMap;

use similar::algorithms::{Capture, Compact, Replace, myers};
use similar::{ChangeTag, DiffOp, DiffableStr};

/// Two texts as lines, and how the second comes from the first.
pub(super) struct LineDiff<'a> {
    old: Vec<&'a str>,
    new: Vec<&'a str>,
    pub(super) ops: Vec<DiffOp>,
}

impl<'a> LineDiff<'a> {
    pub(super) fn new(old: &'a str, new: &'a str) -> Self {
        let (old, new) = (old.tokenize_lines(), new.tokenize_lines());
        let ops = diff_pieces(&old, &new);
        Self { old, new, ops }
    }

    /// Returns the changes with so many equal lines around them, in groups that do not touch.
    pub(super) fn hunks(&self, context: usize) -> Vec<Vec<DiffOp>> {
        similar::group_diff_ops(self.ops.clone(), context)
    }

    /// Returns the lines that `op` is about, with their line ends.
    pub(super) fn lines(&self, op: &DiffOp) -> impl Iterator<Item = (ChangeTag, &'a str)> {
        op.iter_changes(&self.old, &self.new).map(|change| (change.tag(), change.value()))
    }
}

/// Returns how the new sequence comes from the old one.
///
/// `similar` chooses among six algorithms at run time, and all of them are compiled once for every type that is compared: two
/// megabytes of code. So it is called with one algorithm and one type, the numbers of equal pieces.
pub(super) fn diff_pieces<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<DiffOp> {
    let mut known = HashMap::new();
    let mut numbers = |pieces: &[&'a str]| -> Vec<usize> {
        let number = |piece| {
            let next = known.len();
            *known.entry(piece).or_insert(next)
        };
        pieces.iter().copied().map(number).collect()
    };
    let (old, new) = (numbers(old), numbers(new));
    let mut changes = Compact::new(Replace::new(Capture::new()), &old[..], &new[..]);
    let Ok(()) = myers::diff(&mut changes, &old[..], 0..old.len(), &new[..], 0..new.len());
    changes.into_inner().into_inner().into_ops()
}
