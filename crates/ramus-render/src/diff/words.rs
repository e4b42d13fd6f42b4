//! The words that differ between removed lines and those that replace them.

use std::ops::Range;

use similar::{Algorithm, ChangeTag, DiffOp, DiffTag};

use super::{Change, Tagged, labels, whole};
use crate::span::Line;

/// Bytes of changed lines in a row that are still compared word by word.
/// Beyond it nobody looks for single words, and the comparison is quadratic.
const WORDS_LIMIT: usize = 8 * 1024;

/// How much of two runs must be equal for their differences to be marked.
const WORDS_RATIO: f32 = 0.5;

/// Returns removed lines and the added ones that take their place, with the
/// words that differ marked, unless nearly all of them do.
pub(super) fn replaced(removed: &[Tagged<'_>], added: &[Tagged<'_>]) -> Vec<Change> {
    let size: usize = removed.iter().chain(added).map(|line| line.1.len()).sum();
    if removed.is_empty() || added.is_empty() || size > WORDS_LIMIT {
        return removed.iter().chain(added).copied().map(whole).collect();
    }
    let (old, new) = (clean(removed), clean(added));
    let (old, new) = (words(&old), words(&new));
    let ops = similar::capture_diff_slices(Algorithm::Myers, &old, &new);
    if similar::diff_ratio(&ops, old.len(), new.len()) < WORDS_RATIO {
        return removed.iter().chain(added).copied().map(whole).collect();
    }
    let changed = || ops.iter().filter(|op| op.tag() != DiffTag::Equal);
    let mut changes = marked(ChangeTag::Delete, &old, changed().map(DiffOp::old_range));
    changes.extend(marked(ChangeTag::Insert, &new, changed().map(DiffOp::new_range)));
    changes
}

/// Returns the text of lines without their tags. Cleaned as whole lines, so that
/// a tab is as wide in a word as in its line.
fn clean(lines: &[Tagged<'_>]) -> String {
    lines.iter().map(|line| Line::plain(&line.1[1..]).text() + "\n").collect()
}

/// Cuts text into names and numbers, spaces, and single other characters.
fn words(text: &str) -> Vec<&str> {
    let kind = |char: char| match char {
        '_' => 1,
        char if char.is_alphanumeric() => 1,
        ' ' => 2,
        _ => 0,
    };
    let mut words = Vec::new();
    let mut start = 0;
    let mut last = 0;
    for (at, char) in text.char_indices() {
        if at > start && (kind(char) == 0 || kind(char) != last) {
            words.push(&text[start..at]);
            start = at;
        }
        last = kind(char);
    }
    words.push(&text[start..]);
    words
}

/// Returns the lines that `words` form, with the words in `ranges` marked.
fn marked(
    tag: ChangeTag,
    words: &[&str],
    ranges: impl Iterator<Item = Range<usize>>,
) -> Vec<Change> {
    let (label, strong) = labels(tag);
    let mut labels = vec![label; words.len()];
    ranges.for_each(|range| labels[range].fill(strong));
    let start = || Line::new(&tag.to_string(), label);
    let mut changes = Vec::new();
    let mut line = start();
    for (word, label) in words.iter().zip(labels) {
        if *word == "\n" {
            changes.push(Change { tag: Some(tag), line: std::mem::replace(&mut line, start()) });
        } else {
            line.push(word, label);
        }
    }
    changes
}
