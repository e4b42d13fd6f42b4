//! File checkpoints: which backup has a file's content at a message (R22).

use crate::body::fields::Fields;

/// All files that were watched when a message was sent, and their backups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileHistorySnapshot {
    /// The user record that it precedes.
    pub message_id: String,
    /// The message of the inner snapshot, which an update can carry on from an earlier one.
    pub snapshot_message_id: String,
    pub timestamp: Option<String>,
    /// Adds to the snapshot of the same message.
    pub is_update: bool,
    /// Path, as recorded, and backup, in the order of the record.
    pub backups: Vec<(String, FileBackup)>,
}

/// One version of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileBackup {
    /// `None`: the file did not exist.
    pub backup_file_name: Option<String>,
    /// Counted from 1. 0: not in the client's format, so it means nothing.
    pub version: u64,
    pub backup_time: Option<String>,
    pub real_parent_dir: Option<String>,
}

/// One file added to a snapshot. Written since 2.1.217.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileHistoryDelta {
    pub message_id: String,
    pub snapshot_message_id: String,
    pub tracking_path: String,
    pub backup: FileBackup,
    pub timestamp: Option<String>,
}

impl FileHistorySnapshot {
    pub(super) fn from_fields(mut fields: Fields) -> Self {
        let mut snapshot = fields.take_object("snapshot").unwrap_or_default();
        let backup = |(path, backup)| (path, FileBackup::from_fields(Fields::from_json(backup)));
        Self {
            message_id: fields.take_string("messageId"),
            snapshot_message_id: snapshot.take_string("messageId"),
            timestamp: snapshot.take_text("timestamp"),
            is_update: fields.flag("isSnapshotUpdate"),
            backups: snapshot.take_pairs("trackedFileBackups").map(backup).collect(),
        }
    }
}

impl FileHistoryDelta {
    pub(super) fn from_fields(mut fields: Fields) -> Self {
        Self {
            message_id: fields.take_string("messageId"),
            snapshot_message_id: fields.take_string("snapshotMessageId"),
            tracking_path: fields.take_string("trackingPath"),
            backup: FileBackup::from_fields(fields.take_object("backup").unwrap_or_default()),
            timestamp: fields.take_text("timestamp"),
        }
    }
}

impl FileBackup {
    fn from_fields(mut fields: Fields) -> Self {
        let named = fields.peek_value("backupFileName").is_some();
        let backup_file_name = fields.take_text("backupFileName");
        // Only the client's own form means "the file did not exist".
        let odd = named && backup_file_name.is_none();
        Self {
            backup_file_name,
            version: if odd { 0 } else { fields.count("version") },
            backup_time: fields.take_text("backupTime"),
            real_parent_dir: fields.take_text("realParentDir"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, backups: &[(&str, Option<&str>, u64)]) {
        let fields = Fields::read(json);
        let snapshot = FileHistorySnapshot::from_fields(fields);
        let actual: Vec<_> = snapshot
            .backups
            .iter()
            .map(|(path, backup)| {
                (path.as_str(), backup.backup_file_name.as_deref(), backup.version)
            })
            .collect();
        assert_eq!(actual, backups);
    }

    #[test]
    fn backups_keep_their_order_and_may_have_no_file() {
        check("{}", &[]);
        check(r#"{"snapshot":{"trackedFileBackups":[]}}"#, &[]);
        check(
            r#"{"snapshot":{"trackedFileBackups":{
                "b":{"backupFileName":"h@v2","version":2},"a":{"backupFileName":null,"version":1},"c":7,
                "d":{"backupFileName":7,"version":1}}}}"#,
            &[("b", Some("h@v2"), 2), ("a", None, 1), ("c", None, 0), ("d", None, 0)],
        );
    }

    #[test]
    fn a_delta_is_one_backup() {
        let json = r#"{"messageId":"m","snapshotMessageId":"s","trackingPath":"p","backup":{"version":3}}"#;
        let delta = FileHistoryDelta::from_fields(Fields::read(json));
        assert_eq!((delta.tracking_path.as_str(), delta.backup.version), ("p", 3));
    }
}
