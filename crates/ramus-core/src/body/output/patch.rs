//! Changes to a file, in hunks.

use crate::body::fields::Fields;

/// The hunks of one change, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StructuredPatch {
    pub hunks: Vec<PatchHunk>,
}

/// Lines that changed together, with the lines around them. Line numbers start at 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PatchHunk {
    pub old_start: u64,
    pub old_lines: u64,
    pub new_start: u64,
    pub new_lines: u64,
    /// Each line with its sign: ` `, `-`, `+`, or `\` for the note on a missing newline.
    pub lines: Vec<String>,
}

/// One line of a hunk without its sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HunkLine<'a> {
    Context(&'a str),
    Removed(&'a str),
    Added(&'a str),
    /// A note about the line before, such as a missing newline at the end of the file.
    Note(&'a str),
}

impl PatchHunk {
    /// Returns the lines by what happened to them.
    pub fn tagged_lines(&self) -> impl Iterator<Item = HunkLine<'_>> {
        self.lines.iter().map(|line| match line.split_at_checked(1) {
            Some(("-", text)) => HunkLine::Removed(text),
            Some(("+", text)) => HunkLine::Added(text),
            Some(("\\", text)) => HunkLine::Note(text.trim_start()),
            Some((" ", text)) => HunkLine::Context(text),
            _ => HunkLine::Context(line),
        })
    }
}

impl StructuredPatch {
    /// Returns how many lines were added.
    pub fn added_lines(&self) -> usize {
        self.tagged_lines().filter(|line| matches!(line, HunkLine::Added(_))).count()
    }

    /// Returns how many lines were removed.
    pub fn removed_lines(&self) -> usize {
        self.tagged_lines().filter(|line| matches!(line, HunkLine::Removed(_))).count()
    }

    fn tagged_lines(&self) -> impl Iterator<Item = HunkLine<'_>> {
        self.hunks.iter().flat_map(PatchHunk::tagged_lines)
    }

    pub(super) fn from_fields(fields: &mut Fields) -> Self {
        let hunk = |mut hunk: Fields| PatchHunk {
            old_start: hunk.count("oldStart"),
            old_lines: hunk.count("oldLines"),
            new_start: hunk.count("newStart"),
            new_lines: hunk.count("newLines"),
            lines: hunk.take_texts("lines"),
        };
        Self { hunks: fields.take_objects("structuredPatch").map(hunk).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, hunks: usize, added: usize, removed: usize) {
        let mut fields = Fields::read(json);
        let patch = StructuredPatch::from_fields(&mut fields);
        assert_eq!(
            (patch.hunks.len(), patch.added_lines(), patch.removed_lines()),
            (hunks, added, removed)
        );
    }

    #[test]
    fn hunks_are_counted() {
        check("{}", 0, 0, 0);
        check(r#"{"structuredPatch":[{"lines":[" a","-b","+c","+d",7,""]},null]}"#, 1, 2, 1);
    }

    #[test]
    fn signs_become_kinds() {
        let lines = [" a", "-b", "+c", "\\ No newline at end of file", "é", ""].map(String::from);
        let hunk = PatchHunk { lines: lines.into(), ..PatchHunk::default() };
        let expected = [
            HunkLine::Context("a"),
            HunkLine::Removed("b"),
            HunkLine::Added("c"),
            HunkLine::Note("No newline at end of file"),
            HunkLine::Context("é"),
            HunkLine::Context(""),
        ];
        assert_eq!(hunk.tagged_lines().collect::<Vec<_>>(), expected);
    }
}
