//! Draws two texts or the hunks of a patch as a unified diff with changed words marked.

mod line_diff;
mod word_diff;

use std::fmt::Write;

use similar::udiff::UnifiedHunkHeader;
use similar::{ChangeTag, DiffOp, DiffTag};

use self::line_diff::LineDiff;
use crate::span::{Label, Line};

const NO_NEWLINE: &str = "\\ No newline at end of file";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiffConfig {
    /// The number of unchanged lines around a change.
    pub context: usize,
    /// Whether each line starts with its old and new line number.
    pub numbers: bool,
}

impl Default for DiffConfig {
    fn default() -> Self {
        Self { context: 3, numbers: false }
    }
}

/// Changed lines with their context.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiffHunk {
    pub old_start: usize,
    pub old_lines: usize,
    pub new_start: usize,
    pub new_lines: usize,
    /// Lines without their newline, after a `' '`, `'+'` or `'-'`. A line that begins with
    /// `\` is a remark.
    pub lines: Vec<String>,
}

/// Returns the changes between two texts. Empty: they are equal.
pub fn diff_lines(old: &str, new: &str, config: &DiffConfig) -> Vec<Line> {
    patch_lines(&diff_hunks(old, new, config.context), config)
}

/// Returns the changes as a patch for programs: no words marked, not sanitized for a terminal. Empty: the
/// texts are equal.
pub fn unified_diff(old: &str, new: &str, names: (&str, &str)) -> String {
    let diff = LineDiff::new(old, new);
    let mut patch = String::new();
    for ops in diff.hunks(DiffConfig::default().context) {
        if patch.is_empty() {
            let _ = writeln!(patch, "--- {}\n+++ {}", names.0, names.1);
        }
        let _ = writeln!(patch, "{}", UnifiedHunkHeader::new(&ops));
        for (tag, line) in ops.iter().flat_map(|op| diff.lines(op)) {
            let _ = write!(patch, "{tag}{line}");
            if !line.ends_with(['\n', '\r']) {
                let _ = writeln!(patch, "\n{NO_NEWLINE}");
            }
        }
    }
    patch
}

/// Draws a patch.
pub fn patch_lines(hunks: &[DiffHunk], config: &DiffConfig) -> Vec<Line> {
    let digits = hunks.iter().map(last_number).max().unwrap_or(0).to_string().len();
    let mut page = DiffWriter { lines: Vec::new(), digits: config.numbers.then_some(digits) };
    for hunk in hunks {
        page.write_hunk(hunk);
    }
    page.lines
}

/// Returns the numbers of added and removed lines.
pub fn count_changes(old: &str, new: &str) -> (usize, usize) {
    let count = |(added, removed), op: &DiffOp| match op.tag() {
        DiffTag::Equal => (added, removed),
        _ => (added + op.new_range().len(), removed + op.old_range().len()),
    };
    LineDiff::new(old, new).ops.iter().fold((0, 0), count)
}

/// Returns the differences of two texts as hunks.
pub fn diff_hunks(old: &str, new: &str, context: usize) -> Vec<DiffHunk> {
    let diff = LineDiff::new(old, new);
    // Snippets often lack a last newline. Mention it only if it changed.
    let remark = old.ends_with('\n') != new.ends_with('\n') && !old.is_empty() && !new.is_empty();
    diff.hunks(context).iter().map(|ops| build_hunk(&diff, ops, remark)).collect()
}

fn build_hunk(diff: &LineDiff<'_>, ops: &[DiffOp], remark: bool) -> DiffHunk {
    let mut lines = Vec::new();
    for (tag, text) in ops.iter().flat_map(|op| diff.lines(op)) {
        let line = text.strip_suffix('\n').unwrap_or(text);
        lines.push(format!("{tag}{line}"));
        if remark && !text.ends_with(['\n', '\r']) {
            lines.push(NO_NEWLINE.to_owned());
        }
    }
    let first = |index: usize, count: usize| if count == 0 { index } else { index + 1 };
    let old_lines = ops.iter().map(|op| op.old_range().len()).sum();
    let new_lines = ops.iter().map(|op| op.new_range().len()).sum();
    let (old_start, new_start) = ops.first().map_or((0, 0), |op| {
        (first(op.old_range().start, old_lines), first(op.new_range().start, new_lines))
    });
    DiffHunk { old_start, old_lines, new_start, new_lines, lines }
}

fn last_number(hunk: &DiffHunk) -> usize {
    let last = |start: usize, lines: usize| start.saturating_add(lines).saturating_sub(1);
    last(hunk.old_start, hunk.old_lines).max(last(hunk.new_start, hunk.new_lines))
}

/// Collects lines. `digits` is the width of line numbers, if they are shown.
struct DiffWriter {
    lines: Vec<Line>,
    digits: Option<usize>,
}

impl DiffWriter {
    fn write_hunk(&mut self, hunk: &DiffHunk) {
        let DiffHunk { old_start, old_lines, new_start, new_lines, lines } = hunk;
        let header = format!("@@ -{old_start},{old_lines} +{new_start},{new_lines} @@");
        self.lines.push(Line::new(&header, Label::Hunk));
        let (mut old, mut new) = (*old_start, *new_start);
        for change in mark_changes(lines) {
            let numbers = match change.tag {
                Some(ChangeTag::Equal) => (Some(old), Some(new)),
                Some(ChangeTag::Delete) => (Some(old), None),
                Some(ChangeTag::Insert) => (None, Some(new)),
                None => (None, None),
            };
            old += usize::from(numbers.0.is_some());
            new += usize::from(numbers.1.is_some());
            let mut line = self.number_columns(numbers);
            line.append(&change.line);
            self.lines.push(line);
        }
    }

    fn number_columns(&self, (old, new): (Option<usize>, Option<usize>)) -> Line {
        let Some(digits) = self.digits else { return Line::default() };
        let column = |number: Option<usize>| number.map(|n| n.to_string()).unwrap_or_default();
        let text = format!("{:>digits$} {:>digits$} ", column(old), column(new));
        Line::new(&text, Label::LineNumber)
    }
}

/// One line of a hunk. Without a tag it is a remark.
pub(crate) struct DiffLine {
    pub(crate) tag: Option<ChangeTag>,
    pub(crate) line: Line,
}

pub(crate) fn mark_changes(lines: &[String]) -> Vec<DiffLine> {
    // If all lines have Windows line ends, do not show them.
    let windows = lines.iter().filter(|line| !line.starts_with('\\')).all(|l| l.ends_with('\r'));
    let lines: Vec<_> = lines
        .iter()
        .map(|line| if windows { line.trim_end_matches('\r') } else { line })
        .map(|line| (line_tag(line), line))
        .collect();
    let mut changes = Vec::new();
    let mut rest = lines.as_slice();
    while !rest.is_empty() {
        let (removed, after) = split_run(rest, ChangeTag::Delete);
        let (added, after) = split_run(after, ChangeTag::Insert);
        if removed.is_empty() && added.is_empty() {
            changes.push(whole_line(rest[0]));
            rest = &rest[1..];
        } else {
            changes.extend(word_diff::mark_replaced(removed, added));
            rest = after;
        }
    }
    changes
}

type TaggedLine<'a> = (Option<ChangeTag>, &'a str);

fn line_tag(line: &str) -> Option<ChangeTag> {
    match line.as_bytes().first() {
        Some(b'+') => Some(ChangeTag::Insert),
        Some(b'-') => Some(ChangeTag::Delete),
        Some(b'\\') => None,
        _ => Some(ChangeTag::Equal),
    }
}

fn split_run<'l, 'a>(
    lines: &'l [TaggedLine<'a>],
    tag: ChangeTag,
) -> (&'l [TaggedLine<'a>], &'l [TaggedLine<'a>]) {
    let end = lines.iter().position(|line| line.0 != Some(tag)).unwrap_or(lines.len());
    lines.split_at(end)
}

fn whole_line((tag, line): TaggedLine<'_>) -> DiffLine {
    let label = tag.map_or(Label::Note, |tag| tag_labels(tag).0);
    DiffLine { tag, line: Line::new(line, label) }
}

/// Returns the labels of a line and of its changed words.
fn tag_labels(tag: ChangeTag) -> (Label, Label) {
    match tag {
        ChangeTag::Equal => (Label::Plain, Label::Plain),
        ChangeTag::Delete => (Label::Removed, Label::RemovedStrong),
        ChangeTag::Insert => (Label::Added, Label::AddedStrong),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws changed words in brackets.
    fn draw(lines: &[Line]) -> String {
        let mut drawing = String::new();
        for line in lines {
            for span in &line.0 {
                match span.label {
                    Label::AddedStrong | Label::RemovedStrong => {
                        drawing.extend(["[", span.text(), "]"]);
                    }
                    _ => drawing += span.text(),
                }
            }
            drawing += "\n";
        }
        drawing
    }

    #[track_caller]
    fn check(old: &str, new: &str, expected: &str) {
        let lines = diff_lines(old, new, &DiffConfig { context: 1, numbers: false });
        assert_eq!(draw(&lines), expected);
    }

    #[test]
    fn equal_texts_have_no_lines() {
        check("a\n", "a\n", "");
        check("", "", "");
    }

    #[test]
    fn changed_words_are_marked() {
        check(
            "a\nlet total = 1;\nb\nc\n",
            "a\nlet total = 2;\nb\nc\n",
            "@@ -1,3 +1,3 @@\n a\n-let total = [1];\n+let total = [2];\n b\n",
        );
    }

    /// A line that took the place of nothing has no changed words: all of it is new.
    #[test]
    fn new_lines_among_changed_ones_are_not_emphasised() {
        check(
            "fn pour(cup: Cup) {\n    fill(cup);\n}\n",
            "fn pour(cup: Mug) {\n    warm_up();\n    fill(cup);\n}\n",
            "@@ -1,2 +1,3 @@\n-fn pour(cup: [Cup]) {\n+fn pour(cup: [Mug]) {\n+    warm_up();\n     fill(cup);\n",
        );
        check(
            "old one\nlast\n",
            "quite another thing here\nold two\nlast\n",
            "@@ -1,2 +1,3 @@\n-old one\n+quite another thing here\n+old two\n last\n",
        );
    }

    #[test]
    fn far_changes_are_two_hunks() {
        check(
            "1\n2\n3\n4\n5\n6\n",
            "0\n1\n2\n3\n4\n5\n",
            "@@ -1,1 +1,2 @@\n+0\n 1\n@@ -5,2 +6,1 @@\n 5\n-6\n",
        );
    }

    #[test]
    fn a_new_file_starts_at_zero() {
        check("", "a\nb", "@@ -0,0 +1,2 @@\n+a\n+b\n");
    }

    #[test]
    fn a_missing_final_newline_is_reported() {
        check("a\n", "a", "@@ -1,1 +1,1 @@\n-a\n+a\n\\ No newline at end of file\n");
        check("ab cd", "ab ce", "@@ -1,1 +1,1 @@\n-ab [cd]\n+ab [ce]\n");
    }

    #[test]
    fn invisible_changes_are_shown() {
        check("\ta\n", "    a\n", "@@ -1,1 +1,1 @@\n-    a\n+    a\n");
        check("ab\r\n", "ab\n", "@@ -1,1 +1,1 @@\n-ab[␍]\n+ab\n");
        check("tea a\r\n", "tea b\r\n", "@@ -1,1 +1,1 @@\n-tea [a]\n+tea [b]\n");
    }

    #[test]
    fn escapes_are_shown() {
        check("a\n", "a \x1b]52;c;eA==\x07b\n", "@@ -1,1 +1,1 @@\n-a\n+a ␛]52;c;eA==␇b\n");
    }

    #[test]
    fn a_patch_looks_like_a_diff() {
        let config = DiffConfig { context: 1, numbers: true };
        let (old, new) = ("a\nold line\nc\n", "a\nnew line\nc\n");
        let lines = diff_lines(old, new, &config);
        assert_eq!(patch_lines(&diff_hunks(old, new, 1), &config), lines);
        let expected = "@@ -1,3 +1,3 @@\n1 1  a\n2   -[old] line\n  2 +[new] line\n3 3  c\n";
        assert_eq!(draw(&lines), expected);
    }

    #[test]
    fn odd_hunks_do_not_panic() {
        let lines = ["", "é", "+", "-", "\\ x", "-é", "+e"].map(String::from).to_vec();
        let drawn = draw(&patch_lines(
            &[DiffHunk { lines, ..DiffHunk::default() }],
            &DiffConfig::default(),
        ));
        assert_eq!(drawn, "@@ -0,0 +0,0 @@\n\né\n+\n-\n\\ x\n-é\n+e\n");
    }

    #[test]
    fn a_patch_for_programs_keeps_every_byte() {
        assert_eq!(
            unified_diff("\ta\n", "\tb", ("a/x", "b/x")),
            "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-\ta\n+\tb\n\\ No newline at end of file\n"
        );
        assert_eq!(unified_diff("a", "a", ("x", "y")), "");
    }

    #[test]
    fn lines_are_counted() {
        assert_eq!(count_changes("a\nb\nc\n", "a\nx\ny\nc\n"), (2, 1));
        assert_eq!(count_changes("", "a\n"), (1, 0));
        assert_eq!(count_changes("a", "a"), (0, 0));
    }
}
