//! Simulates the files of a project and their backups.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::SampleFile;
use super::client::{ClientGeneration, DemoProject};

/// The backup names by path: the first 16 digits of its SHA-256.
const HASHES: &[(&str, &str)] = &[
    ("/home/dev/teapot/src/main.rs", "ff1ef8492be66502"),
    ("/home/dev/teapot/src/pool.rs", "58bb4f40c9aacea5"),
    ("/home/dev/teapot/README.md", "00c0cc66cb0a09c6"),
    ("/home/dev/teapot/tests/http.rs", "14bcbc6816f9ec46"),
    ("/home/dev/teapot/Dockerfile", "c2313b1c13beb42e"),
    ("/home/dev/teapot/Cargo.toml", "4d22c63e20468a8d"),
    ("/home/dev/tea-menu/index.html", "06fb9dd596a5908e"),
    ("/home/dev/tea-menu/style.css", "4435b7b9795bbcba"),
];

/// File contents by path, relative to the project.
pub(super) type FileContents = BTreeMap<String, String>;

/// The current files, and all their backups.
#[derive(Clone, Debug)]
pub(super) struct ProjectDisk {
    pub(super) project: &'static DemoProject,
    pub(super) files: FileContents,
    tracked: BTreeMap<String, Vec<DemoBackup>>,
}

#[derive(Clone, Debug)]
struct DemoBackup {
    /// `None`: the file did not exist.
    content: Option<String>,
    time: String,
}

impl ProjectDisk {
    pub(super) fn new(project: &'static DemoProject) -> Self {
        Self { project, files: FileContents::new(), tracked: BTreeMap::new() }
    }

    /// Backs up a file before it is changed for the first time.
    ///
    /// `None`: it is tracked already, or the client makes no backups.
    pub(super) fn track_file(&mut self, path: &str, time: &str) -> Option<Value> {
        if self.project.generation == ClientGeneration::One || self.tracked.contains_key(path) {
            return None;
        }
        let backup = DemoBackup { content: self.files.get(path).cloned(), time: time.to_owned() };
        self.tracked.insert(path.to_owned(), vec![backup]);
        Some(self.newest_backup(path))
    }

    /// Backs up changed files, and returns the newest backups of all tracked files.
    pub(super) fn take_checkpoint(&mut self, time: &str) -> Value {
        for (path, backups) in &mut self.tracked {
            let content = self.files.get(path).cloned();
            if backups.last().is_some_and(|last| last.content != content) {
                backups.push(DemoBackup { content, time: time.to_owned() });
            }
        }
        self.newest_backups()
    }

    /// Returns the newest backups of all tracked files.
    pub(super) fn newest_backups(&self) -> Value {
        let newest = self.tracked.keys().map(|path| (path.clone(), self.newest_backup(path)));
        Value::Object(newest.collect::<Map<_, _>>())
    }

    /// Returns the backups as files of a session.
    pub(super) fn backup_files(&self, session: &str) -> Vec<SampleFile> {
        let mut files = Vec::new();
        for (path, backups) in &self.tracked {
            for (version, backup) in (1..).zip(backups) {
                let Some(content) = &backup.content else { continue };
                let name = self.backup_name(path, version);
                let path = format!("file-history/{session}/{name}");
                files.push(SampleFile { path, bytes: content.clone().into_bytes() });
            }
        }
        files
    }

    fn newest_backup(&self, path: &str) -> Value {
        let backups = &self.tracked[path];
        let last = &backups[backups.len() - 1];
        let name = last.content.as_ref().map(|_| self.backup_name(path, backups.len()));
        json!({"backupFileName": name, "version": backups.len(), "backupTime": last.time})
    }

    fn backup_name(&self, path: &str, version: usize) -> String {
        let absolute = format!("{}/{path}", self.project.cwd);
        let hash = HASHES.iter().find(|(known, _)| *known == absolute).map(|(_, hash)| *hash);
        debug_assert!(hash.is_some(), "no hash for {absolute}");
        format!("{}@v{version}", hash.unwrap_or("0000000000000000"))
    }
}
