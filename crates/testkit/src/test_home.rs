//! A temporary home directory for one test.

use std::fs;
use std::path::{Path, PathBuf};

use crate::short_form::jsonl;

/// A temporary home with a Claude directory. Removed when dropped.
#[derive(Debug)]
pub struct TestHome {
    dir: tempfile::TempDir,
}

impl TestHome {
    /// Makes an empty home with `.claude/projects`.
    ///
    /// # Panics
    ///
    /// If the directory cannot be created.
    pub fn new() -> Self {
        let home =
            Self { dir: tempfile::tempdir().expect("because tests need a scratch directory") };
        fs::create_dir_all(home.claude_dir().join("projects"))
            .expect("because the scratch directory is ours");
        home
    }

    /// Returns the home directory.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Returns the Claude directory in it.
    pub fn claude_dir(&self) -> PathBuf {
        self.dir.path().join(".claude")
    }

    /// Writes a file below `projects/` and returns its path.
    ///
    /// # Panics
    ///
    /// If the file cannot be written.
    pub fn write_file(&self, relative: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.claude_dir().join("projects").join(relative);
        let parent = path.parent().expect("because the path lies below projects");
        fs::create_dir_all(parent).expect("because the scratch directory is ours");
        fs::write(&path, bytes).expect("because the scratch directory is ours");
        path
    }

    /// Writes a short-form session below `projects/` and returns its path.
    pub fn write_session(&self, relative: &str, short: &str) -> PathBuf {
        self.write_file(relative, jsonl(short))
    }
}

impl Default for TestHome {
    fn default() -> Self {
        Self::new()
    }
}
