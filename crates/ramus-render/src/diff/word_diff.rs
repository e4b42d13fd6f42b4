//! Marks the words that differ between removed lines and their replacements.

use std::ops::Range;

use similar::{ChangeTag, DiffOp, DiffTag};

use super::line_diff::diff_pieces;
use super::{DiffLine, TaggedLine, tag_labels, whole_line};
use crate::span::{Label, Line};

/// The size limit for comparing word by word. Beyond it single words do not matter, and the
/// comparison is quadratic.
const WORDS_LIMIT: usize = 8 * 1024;

/// The similarity above which differences are marked.
const WORDS_RATIO: f32 = 0.5;

/// Returns removed lines and their replacements with the changed words marked, unless nearly all
/// words changed.
pub(super) fn mark_replaced(removed: &[TaggedLine<'_>], added: &[TaggedLine<'_>]) -> Vec<DiffLine> {
    let size: usize = removed.iter().chain(added).map(|line| line.1.len()).sum();
    if removed.is_empty() || added.is_empty() || size > WORDS_LIMIT {
        return removed.iter().chain(added).copied().map(whole_line).collect();
    }
    let (old, new) = (clean_text(removed), clean_text(added));
    let (old, new) = (split_words(&old), split_words(&new));
    let ops = diff_pieces(&old, &new);
    if similar::diff_ratio(&ops, old.len(), new.len()) < WORDS_RATIO {
        return removed.iter().chain(added).copied().map(whole_line).collect();
    }
    let changed = || ops.iter().filter(|op| op.tag() != DiffTag::Equal);
    let mut changes = marked_lines(ChangeTag::Delete, &old, changed().map(DiffOp::old_range));
    changes.extend(marked_lines(ChangeTag::Insert, &new, changed().map(DiffOp::new_range)));
    changes
}

/// Returns the text of lines without their tags. Whole lines are sanitized, so that tabs get the
/// right width.
fn clean_text(lines: &[TaggedLine<'_>]) -> String {
    lines.iter().map(|line| Line::plain(&line.1[1..]).to_text() + "\n").collect()
}

/// Cuts text into names and numbers, spaces, and single other characters.
fn split_words(text: &str) -> Vec<&str> {
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
fn marked_lines(
    tag: ChangeTag,
    words: &[&str],
    ranges: impl Iterator<Item = Range<usize>>,
) -> Vec<DiffLine> {
    let (label, strong) = tag_labels(tag);
    let mut labels = vec![label; words.len()];
    ranges.for_each(|range| labels[range].fill(strong));
    let marked: Vec<(&str, Label)> = words.iter().copied().zip(labels).collect();
    let mut lines: Vec<&[(&str, Label)]> = marked.split(|(word, _)| *word == "\n").collect();
    // The part after the last newline is not a line.
    lines.pop();
    let change = |words: &[(&str, Label)]| {
        let is_new = is_mostly_new(words, strong);
        let mut line = Line::new(&tag.to_string(), label);
        for (word, own) in words {
            line.push(word, if is_new { label } else { *own });
        }
        DiffLine { tag: Some(tag), line }
    };
    lines.into_iter().map(change).collect()
}

/// Whether most of a line changed. Then it is a new line, and marking words would not help.
fn is_mostly_new(words: &[(&str, Label)], strong: Label) -> bool {
    let letters = |words: &mut dyn Iterator<Item = &(&str, Label)>| -> usize {
        words.map(|(word, _)| word.trim().chars().count()).sum()
    };
    let changed = letters(&mut words.iter().filter(|(_, label)| *label == strong));
    let all = letters(&mut words.iter());
    changed as f32 > all as f32 * (1.0 - WORDS_RATIO)
}
