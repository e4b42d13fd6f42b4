//! Plans to restore files: which are written, which deleted, and which left alone and why.

use super::place::below;
use super::{FileState, Held};

/// What has to change to restore the files of a point.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restore<'a> {
    pub changes: Vec<Change<'a>>,
    /// Files that are not as they were then, and stay so.
    pub left: Vec<(&'a FileState, Why)>,
}

/// One file that is to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change<'a> {
    pub file: &'a FileState,
    pub how: How,
}

/// What is to become of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    Create,
    Replace,
    Delete,
}

/// Why a file is left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Its content at the point is unknown.
    Unknown,
    /// It does not lie in the directory that the session ran in.
    Outside,
    /// It is a link, or behind one.
    Link,
    /// There is something else at its path.
    NotAFile,
}

/// What is at the path of a file now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDisk {
    Absent,
    /// The same bytes as at the point.
    Same,
    Other,
    Link,
    NotAFile,
}

impl How {
    /// Returns the stable word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Replace => "replace",
            Self::Delete => "delete",
        }
    }
}

impl Why {
    /// Returns the stable word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Outside => "outside",
            Self::Link => "link",
            Self::NotAFile => "not-a-file",
        }
    }
}

/// Plans what has to change; `disk` examines the path of a file. Files outside `cwd` are left alone
/// unless `outside` is set.
pub fn restore<'a>(
    files: impl IntoIterator<Item = &'a FileState>,
    cwd: &str,
    outside: bool,
    disk: &mut dyn FnMut(&FileState) -> OnDisk,
) -> Restore<'a> {
    let mut plan = Restore::default();
    for file in files {
        let now = disk(file);
        let is_same = match file.held {
            Held::Absent => now == OnDisk::Absent,
            _ => now == OnDisk::Same,
        };
        if is_same {
            continue;
        }
        let why = match (&file.held, now) {
            (Held::Unknown, _) => Some(Why::Unknown),
            _ if !outside && below(&file.path, cwd).is_none() => Some(Why::Outside),
            (_, OnDisk::Link) => Some(Why::Link),
            (_, OnDisk::NotAFile) => Some(Why::NotAFile),
            _ => None,
        };
        match why {
            Some(why) => plan.left.push((file, why)),
            None => {
                let how = match (&file.held, now) {
                    (Held::Absent, _) => How::Delete,
                    (_, OnDisk::Absent) => How::Create,
                    _ => How::Replace,
                };
                plan.changes.push(Change { file, how });
            }
        }
    }
    plan
}

#[cfg(test)]
mod tests {
    use super::super::Source;
    use super::*;

    fn file(path: &str, held: Held) -> FileState {
        let source = Source::Snapshot;
        FileState { path: path.into(), held, source, doubt: None, only_read: false }
    }

    #[track_caller]
    fn check(path: &str, held: Held, now: OnDisk, outside: bool, expected: &str) {
        let files = [file(path, held)];
        let plan = restore(&files, "/app", outside, &mut |_| now);
        let changes = plan.changes.iter().map(|change| change.how.word());
        let left = plan.left.iter().map(|(_, why)| why.word());
        assert_eq!(changes.chain(left).collect::<Vec<_>>().join(" "), expected);
    }

    #[test]
    fn files_are_written_taken_away_or_left_alone() {
        let bytes = || Held::Bytes(b"x".to_vec());
        check("/app/a", bytes(), OnDisk::Absent, false, "create");
        check("/app/a", bytes(), OnDisk::Other, false, "replace");
        check("/app/a", bytes(), OnDisk::Same, false, "");
        check("/app/a", Held::Absent, OnDisk::Other, false, "delete");
        check("/app/a", Held::Absent, OnDisk::Absent, false, "");
        check("/app/a", Held::Unknown, OnDisk::Other, false, "unknown");
        check("/app/a", bytes(), OnDisk::Link, false, "link");
        check("/app/a", Held::Absent, OnDisk::NotAFile, false, "not-a-file");
        check("/apple/a", bytes(), OnDisk::Other, false, "outside");
        check("/apple/a", bytes(), OnDisk::Other, true, "replace");
        check("a", bytes(), OnDisk::Other, false, "outside");
    }
}
