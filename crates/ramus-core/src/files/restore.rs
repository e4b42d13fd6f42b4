//! Plans to restore files: which are written, which deleted, and which left alone and why.

use super::file_path::path_below;
use super::{FileContent, FileState};

/// What has to change to restore the files of a point.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RestorePlan<'a> {
    pub changes: Vec<RestoreChange<'a>>,
    /// Files that differ from then and are not changed.
    pub left: Vec<(&'a FileState, LeftReason)>,
}

/// One file that is to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RestoreChange<'a> {
    pub file: &'a FileState,
    pub action: RestoreAction,
}

/// What is to become of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestoreAction {
    Create,
    Replace,
    Delete,
}

/// Why a file is skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftReason {
    /// Its content at the point is unknown.
    Unknown,
    /// It is not in the working directory of the session.
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

impl RestoreAction {
    /// Returns the stable word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Replace => "replace",
            Self::Delete => "delete",
        }
    }
}

impl LeftReason {
    /// Returns the stable word for it.
    pub fn as_str(self) -> &'static str {
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
pub fn plan_restore<'a>(
    files: impl IntoIterator<Item = &'a FileState>,
    cwd: &str,
    outside: bool,
    disk: &mut dyn FnMut(&FileState) -> OnDisk,
) -> RestorePlan<'a> {
    let mut plan = RestorePlan::default();
    for file in files {
        let now = disk(file);
        let is_same = match file.content {
            FileContent::Absent => now == OnDisk::Absent,
            _ => now == OnDisk::Same,
        };
        if is_same {
            continue;
        }
        let why = match (&file.content, now) {
            (FileContent::Unknown, _) => Some(LeftReason::Unknown),
            _ if !outside && path_below(&file.path, cwd).is_none() => Some(LeftReason::Outside),
            (_, OnDisk::Link) => Some(LeftReason::Link),
            (_, OnDisk::NotAFile) => Some(LeftReason::NotAFile),
            _ => None,
        };
        match why {
            Some(why) => plan.left.push((file, why)),
            None => {
                let how = match (&file.content, now) {
                    (FileContent::Absent, _) => RestoreAction::Delete,
                    (_, OnDisk::Absent) => RestoreAction::Create,
                    _ => RestoreAction::Replace,
                };
                plan.changes.push(RestoreChange { file, action: how });
            }
        }
    }
    plan
}

#[cfg(test)]
mod tests {
    use super::super::ContentSource;
    use super::*;

    fn file(path: &str, held: FileContent) -> FileState {
        let source = ContentSource::Snapshot;
        FileState { path: path.into(), content: held, source, doubt: None, only_read: false }
    }

    #[track_caller]
    fn check(path: &str, held: FileContent, now: OnDisk, outside: bool, expected: &str) {
        let files = [file(path, held)];
        let plan = plan_restore(&files, "/app", outside, &mut |_| now);
        let changes = plan.changes.iter().map(|change| change.action.as_str());
        let left = plan.left.iter().map(|(_, why)| why.as_str());
        assert_eq!(changes.chain(left).collect::<Vec<_>>().join(" "), expected);
    }

    #[test]
    fn files_are_written_taken_away_or_left_alone() {
        let bytes = || FileContent::Bytes(b"x".to_vec());
        check("/app/a", bytes(), OnDisk::Absent, false, "create");
        check("/app/a", bytes(), OnDisk::Other, false, "replace");
        check("/app/a", bytes(), OnDisk::Same, false, "");
        check("/app/a", FileContent::Absent, OnDisk::Other, false, "delete");
        check("/app/a", FileContent::Absent, OnDisk::Absent, false, "");
        check("/app/a", FileContent::Unknown, OnDisk::Other, false, "unknown");
        check("/app/a", bytes(), OnDisk::Link, false, "link");
        check("/app/a", FileContent::Absent, OnDisk::NotAFile, false, "not-a-file");
        check("/apple/a", bytes(), OnDisk::Other, false, "outside");
        check("/apple/a", bytes(), OnDisk::Other, true, "replace");
        check("a", bytes(), OnDisk::Other, false, "outside");
    }
}
