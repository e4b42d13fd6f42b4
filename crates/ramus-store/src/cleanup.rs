//! Predicts which files the client's clean-up deletes next (R35).

use std::path::PathBuf;

use ramus_core::retention::{DueDeletions, Retention};
use ramus_core::time::Time;

use crate::claude_dir::{ClaudeDirs, FileRole, HistoryFile, read_cleanup_period};
use crate::survey::time_from_system;

/// The retention settings of each Claude directory.
#[derive(Clone, Debug)]
pub struct CleanupSchedule {
    roots: Vec<(PathBuf, Retention)>,
}

impl CleanupSchedule {
    /// Reads the settings of the Claude directories.
    pub fn read_settings(place: &ClaudeDirs) -> Self {
        let retention = |root: &PathBuf| match read_cleanup_period(root) {
            Some(days) => Retention { days, from_settings: true },
            None => Retention::DEFAULT,
        };
        Self { roots: place.roots.iter().map(|root| (root.clone(), retention(root))).collect() }
    }

    /// Returns how long the client keeps a file.
    pub fn retention_of(&self, file: &HistoryFile) -> Retention {
        let own = self.roots.iter().find(|(root, _)| file.path.starts_with(root));
        own.or(self.roots.first()).map_or(Retention::DEFAULT, |(_, retention)| *retention)
    }

    /// Returns when the client deletes a file, if it is not changed before.
    pub fn deletion_time(&self, file: &HistoryFile) -> Time {
        self.retention_of(file).deletion_time(time_from_system(file.modified))
    }

    /// Counts the files that are overdue or due soon. Other files below a session's directory are deleted
    /// with their session and not counted.
    pub fn count_due<'a>(
        &self,
        files: impl IntoIterator<Item = &'a HistoryFile>,
        now: Time,
    ) -> DueDeletions {
        let first = self.roots.first().map_or(Retention::DEFAULT, |(_, retention)| *retention);
        let mut due = DueDeletions::new(first);
        // An archived file is already deleted.
        for file in files.into_iter().filter(|file| !file.archived) {
            match file.role {
                FileRole::Session => due.add_file(self.deletion_time(file), false, file.bytes, now),
                FileRole::FlatAgent | FileRole::NestedAgent { .. } => {
                    due.add_file(self.deletion_time(file), true, file.bytes, now);
                }
                FileRole::Journal { .. } => {}
            }
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, File};
    use std::time::{Duration, SystemTime};

    const DAY: Duration = Duration::from_secs(86_400);

    #[test]
    fn overdue_files_and_agents_are_counted() {
        let home = testkit::TestHome::new();
        let old = |name: &str, days: u32| {
            home.write_session(name, "a user hello\nb < a assistant hi");
            let file =
                File::options().write(true).open(home.claude_dir().join("projects").join(name));
            file.unwrap().set_modified(SystemTime::now() - DAY * days).unwrap();
        };
        let id = "0a1b2c3d-0000-4000-8000-00000000000";
        old(&format!("-p/{id}1.jsonl"), 40);
        old(&format!("-p/{id}2.jsonl"), 25);
        old(&format!("-p/{id}3.jsonl"), 2);
        old("-p/agent-1111111.jsonl", 40);
        old(&format!("-p/{id}1/subagents/agent-2222222.jsonl"), 26);
        let due = || {
            let place = ClaudeDirs::open(vec![home.claude_dir()]).unwrap();
            let projects = place.list_projects().projects;
            let files = projects.iter().flat_map(|project| &project.files);
            CleanupSchedule::read_settings(&place)
                .count_due(files, time_from_system(SystemTime::now()))
        };
        let found = due();
        assert_eq!((found.sessions, found.agents, found.overdue), (2, 2, 2));
        assert_eq!(found.retention, Retention::DEFAULT);
        fs::write(home.claude_dir().join("settings.json"), r#"{"cleanupPeriodDays": 365}"#)
            .unwrap();
        let kept = due();
        assert_eq!(kept.retention, Retention { days: 365, from_settings: true });
        assert!(kept.is_empty());
    }
}
