//! Changes to a file, in hunks.

use crate::body::fields::Fields;

/// The hunks of one change, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StructuredPatch {
    pub hunks: Vec<Hunk>,
}

/// Lines that changed together, with the lines around them. Line numbers start at 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hunk {
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

impl Hunk {
    /// Returns the lines by what happened to them.
    pub fn changes(&self) -> impl Iterator<Item = HunkLine<'_>> {
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
    pub fn added(&self) -> usize {
        self.changes().filter(|line| matches!(line, HunkLine::Added(_))).count()
    }

    /// Returns how many lines were removed.
    pub fn removed(&self) -> usize {
        self.changes().filter(|line| matches!(line, HunkLine::Removed(_))).count()
    }

    fn changes(&self) -> impl Iterator<Item = HunkLine<'_>> {
        self.hunks.iter().flat_map(Hunk::changes)
    }

    pub(super) fn of(fields: &mut Fields) -> Self {
        let hunk = |mut hunk: Fields| Hunk {
            old_start: hunk.count("oldStart"),
            old_lines: hunk.count("oldLines"),
            new_start: hunk.count("newStart"),
            new_lines: hunk.count("newLines"),
            lines: hunk.texts("lines"),
        };
        Self { hunks: fields.objects("structuredPatch").map(hunk).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, hunks: usize, added: usize, removed: usize) {
        let mut fields = Fields::read(json);
        let patch = StructuredPatch::of(&mut fields);
        assert_eq!((patch.hunks.len(), patch.added(), patch.removed()), (hunks, added, removed));
    }

    #[test]
    fn hunks_are_counted() {
        check("{}", 0, 0, 0);
        check(r#"{"structuredPatch":[{"lines":[" a","-b","+c","+d",7,""]},null]}"#, 1, 2, 1);
    }

    #[test]
    fn signs_become_kinds() {
        let lines = [" a", "-b", "+c", "\\ No newline at end of file", "é", ""].map(String::from);
        let hunk = Hunk { lines: lines.into(), ..Hunk::default() };
        let expected = [
            HunkLine::Context("a"),
            HunkLine::Removed("b"),
            HunkLine::Added("c"),
            HunkLine::Note("No newline at end of file"),
            HunkLine::Context("é"),
            HunkLine::Context(""),
        ];
        assert_eq!(hunk.changes().collect::<Vec<_>>(), expected);
    }
}
