//! The words that differ between removed lines and those that replace them.

use std::ops::Range;

use similar::{Algorithm, ChangeTag, DiffOp, DiffTag};

use super::{Change, Tagged, labels, whole};
use crate::span::{Label, Line};

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
    let marked: Vec<(&str, Label)> = words.iter().copied().zip(labels).collect();
    let mut lines: Vec<&[(&str, Label)]> = marked.split(|(word, _)| *word == "\n").collect();
    // What is left behind the last line end is no line.
    lines.pop();
    let change = |words: &[(&str, Label)]| {
        let is_new = is_new(words, strong);
        let mut line = Line::new(&tag.to_string(), label);
        for (word, own) in words {
            line.push(word, if is_new { label } else { *own });
        }
        Change { tag: Some(tag), line }
    };
    lines.into_iter().map(change).collect()
}

/// Whether most of a line differs: then it took the place of nothing, and there is nothing in it to
/// point at.
fn is_new(words: &[(&str, Label)], strong: Label) -> bool {
    let letters = |words: &mut dyn Iterator<Item = &(&str, Label)>| -> usize {
        words.map(|(word, _)| word.trim().chars().count()).sum()
    };
    let changed = letters(&mut words.iter().filter(|(_, label)| *label == strong));
    let all = letters(&mut words.iter());
    changed as f32 > all as f32 * (1.0 - WORDS_RATIO)
}
