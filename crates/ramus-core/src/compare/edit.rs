//! Applies a recorded edit to a text again.

use std::borrow::Cow;

use crate::body::{HunkLine, Replacement, StructuredPatch};

/// Returns the text after an edit. `None`: the recorded edit does not fit the text.
///
/// The replaced strings are exact, while hunks may show tabs as spaces; so hunks
/// decide only where a person changed the proposal `by_hand`, or where the
/// strings are not found.
pub(super) fn apply_edit(
    text: &str,
    edits: &[Replacement],
    patch: &StructuredPatch,
    by_hand: bool,
) -> Option<String> {
    if by_hand {
        return apply_hunks(text, patch);
    }
    apply_replacements(text, edits, patch).or_else(|| apply_hunks(text, patch))
}

fn apply_replacements(
    text: &str,
    edits: &[Replacement],
    patch: &StructuredPatch,
) -> Option<String> {
    let run = |with_newline: bool| {
        let each = |text: Cow<'_, str>, edit: &Replacement| {
            replace_text(&text, edit, with_newline).map(Cow::Owned)
        };
        edits.iter().try_fold(Cow::Borrowed(text), each).map(Cow::into_owned)
    };
    let fits = |new: &String| {
        let lines = |text: &str| text.matches('\n').count() as i64;
        let delta = patch.added_lines() as i64 - patch.removed_lines() as i64;
        patch.hunks.is_empty() || lines(new) - lines(text) == delta
    };
    // In most client versions, deleting a text also deletes its newline. The number of lines in the
    // hunks shows which one it was; nothing else does.
    let plain = run(false)?;
    if fits(&plain) {
        return Some(plain);
    }
    Some(run(true).filter(fits).unwrap_or(plain))
}

fn replace_text(text: &str, edit: &Replacement, with_newline: bool) -> Option<String> {
    let Replacement { old, new, all } = edit;
    if old.is_empty() {
        return text.is_empty().then(|| new.clone());
    }
    let line = format!("{old}\n");
    let old = if with_newline && new.is_empty() && text.contains(&line) { &line } else { old };
    if !text.contains(old.as_str()) {
        return None;
    }
    Some(if *all { text.replace(old.as_str(), new) } else { text.replacen(old.as_str(), new, 1) })
}

/// Applies hunks; every line must be at the position that the hunk gives.
fn apply_hunks(text: &str, patch: &StructuredPatch) -> Option<String> {
    if patch.hunks.is_empty() {
        return None;
    }
    let lines: Vec<&str> = text.split('\n').collect();
    let mut new: Vec<&str> = Vec::with_capacity(lines.len());
    let mut at = 0;
    let mut ends_bare = None;
    for hunk in &patch.hunks {
        let start = (hunk.old_start as usize).saturating_sub(1);
        new.extend(lines.get(at..start)?);
        at = start;
        let mut last = None;
        for line in hunk.tagged_lines() {
            match line {
                HunkLine::Context(text) | HunkLine::Removed(text) => {
                    if *lines.get(at)? != text {
                        return None;
                    }
                    at += 1;
                    if matches!(line, HunkLine::Context(_)) {
                        new.push(text);
                    }
                }
                HunkLine::Added(text) => new.push(text),
                HunkLine::Note(_) => ends_bare = Some(matches!(last, Some(HunkLine::Added(_)))),
            }
            last = Some(line);
        }
    }
    new.extend(lines.get(at..)?);
    match ends_bare {
        Some(true) if new.last() == Some(&"") => drop(new.pop()),
        Some(false) if new.last() != Some(&"") => new.push(""),
        _ => {}
    }
    Some(new.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::PatchHunk;

    fn edit(old: &str, new: &str) -> Replacement {
        Replacement { old: old.into(), new: new.into(), all: false }
    }

    fn patch(start: u64, lines: &[&str]) -> StructuredPatch {
        let lines = lines.iter().map(ToString::to_string).collect();
        StructuredPatch {
            hunks: vec![PatchHunk { old_start: start, lines, ..PatchHunk::default() }],
        }
    }

    #[track_caller]
    fn check(text: &str, edits: &[Replacement], patch: &StructuredPatch, expected: Option<&str>) {
        assert_eq!(apply_edit(text, edits, patch, false).as_deref(), expected);
    }

    #[test]
    fn strings_are_replaced_once_or_everywhere() {
        let none = StructuredPatch::default();
        check("a b a", &[edit("a", "c")], &none, Some("c b a"));
        check("a b a", &[Replacement { all: true, ..edit("a", "c") }], &none, Some("c b c"));
        check("a b", &[edit("a", "c"), edit("c b", "d")], &none, Some("d"));
        check("", &[edit("", "new")], &none, Some("new"));
        check("a", &[edit("x", "y")], &none, None);
    }

    #[test]
    fn a_hunk_removes_whole_lines() {
        check("a\nb\nc\n", &[edit("b", "")], &patch(1, &[" a", "-b", " c"]), Some("a\nc\n"));
        check("a\nb\nc\n", &[edit("b", "")], &patch(1, &[" a", "-b", "+", " c"]), Some("a\n\nc\n"));
    }

    #[test]
    fn hunks_help_where_strings_do_not() {
        let curly = patch(2, &[" b", "-“c”", "+d", " e"]);
        check("a\nb\n“c”\ne\n", &[edit("\"c\"", "d")], &curly, Some("a\nb\nd\ne\n"));
        check("a\nb\nc\ne\n", &[edit("\"c\"", "d")], &curly, None);
        check("a\n", &[edit("\"c\"", "d")], &curly, None);
        let by_hand = patch(1, &["-a", "+mine"]);
        assert_eq!(apply_edit("a\n", &[edit("a", "b")], &by_hand, true).as_deref(), Some("mine\n"));
    }

    #[test]
    fn the_last_newline_comes_and_goes() {
        let note = "\\ No newline at end of file";
        check("a\n", &[], &patch(1, &["-a", "+b", note]), Some("a\n"));
        let gone = patch(1, &["-a", "+b", note]);
        assert_eq!(apply_edit("a\n", &[], &gone, true).as_deref(), Some("b"));
        let come = patch(1, &["-a", note, "+b"]);
        assert_eq!(apply_edit("a", &[], &come, true).as_deref(), Some("b\n"));
        assert_eq!(apply_edit("", &[], &patch(0, &["+a"]), true).as_deref(), Some("a\n"));
    }
}
