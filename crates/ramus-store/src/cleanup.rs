//! Predicts which files the client's clean-up deletes next (R35).

use std::path::PathBuf;

use ramus_core::retention::{Due, Retention};
use ramus_core::time::Time;

use crate::place::{FileRole, HistoryFile, Place, cleanup_period};
use crate::survey::to_time;

/// The retention settings of each Claude directory.
#[derive(Clone, Debug)]
pub struct Cleanup {
    roots: Vec<(PathBuf, Retention)>,
}

impl Cleanup {
    /// Reads the settings of the Claude directories.
    pub fn of(place: &Place) -> Self {
        let retention = |root: &PathBuf| match cleanup_period(root) {
            Some(days) => Retention { days, from_settings: true },
            None => Retention::DEFAULT,
        };
        Self { roots: place.roots.iter().map(|root| (root.clone(), retention(root))).collect() }
    }

    /// Returns how long the client keeps a file.
    pub fn retention(&self, file: &HistoryFile) -> Retention {
        let own = self.roots.iter().find(|(root, _)| file.path.starts_with(root));
        own.or(self.roots.first()).map_or(Retention::DEFAULT, |(_, retention)| *retention)
    }

    /// Returns when the client deletes a file, if it is not changed before.
    pub fn end(&self, file: &HistoryFile) -> Time {
        self.retention(file).end(to_time(file.modified))
    }

    /// Counts the files that are overdue or due soon. Other files below a session's directory are deleted
    /// with their session and not counted.
    pub fn due<'a>(&self, files: impl IntoIterator<Item = &'a HistoryFile>, now: Time) -> Due {
        let first = self.roots.first().map_or(Retention::DEFAULT, |(_, retention)| *retention);
        let mut due = Due::new(first);
        for file in files {
            match file.role {
                FileRole::Session => due.add(self.end(file), false, file.bytes, now),
                FileRole::FlatAgent | FileRole::NestedAgent { .. } => {
                    due.add(self.end(file), true, file.bytes, now);
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
        let home = testkit::Home::new();
        let old = |name: &str, days: u32| {
            home.session(name, "a user hello\nb < a assistant hi");
            let file = File::options().write(true).open(home.claude().join("projects").join(name));
            file.unwrap().set_modified(SystemTime::now() - DAY * days).unwrap();
        };
        let id = "0a1b2c3d-0000-4000-8000-00000000000";
        old(&format!("-p/{id}1.jsonl"), 40);
        old(&format!("-p/{id}2.jsonl"), 25);
        old(&format!("-p/{id}3.jsonl"), 2);
        old("-p/agent-1111111.jsonl", 40);
        old(&format!("-p/{id}1/subagents/agent-2222222.jsonl"), 26);
        let due = || {
            let place = Place::open(vec![home.claude()]).unwrap();
            let projects = place.projects().projects;
            let files = projects.iter().flat_map(|project| &project.files);
            Cleanup::of(&place).due(files, to_time(SystemTime::now()))
        };
        let found = due();
        assert_eq!((found.sessions, found.agents, found.overdue), (2, 2, 2));
        assert_eq!(found.retention, Retention::DEFAULT);
        fs::write(home.claude().join("settings.json"), r#"{"cleanupPeriodDays": 365}"#).unwrap();
        let kept = due();
        assert_eq!(kept.retention, Retention { days: 365, from_settings: true });
        assert!(kept.is_empty());
    }
}
