//! What the client's clean-up deletes soon: it removes files that were not changed for so many days.

use std::time::{Duration, SystemTime};

use ramus_store::place::RETENTION_DAYS;
use ramus_store::survey::{ProjectSurvey, Survey, Surveyed};

use crate::workspace::Workspace;

const DAY: Duration = Duration::from_secs(86_400);
/// How many days ahead a deletion is worth a warning.
const SOON: u32 = 7;

/// How long the client keeps files, and which of them are due.
#[derive(Debug)]
pub struct Retention<'a> {
    pub days: u32,
    /// Whether the client's settings say so; otherwise it is its default.
    pub is_set: bool,
    /// Files that are deleted within a week or whose time is over, the first to go first.
    pub due: Vec<DueFile<'a>>,
}

/// A file that the client deletes soon: of a session, an agent, or something else below a session.
#[derive(Clone, Copy, Debug)]
pub struct DueFile<'a> {
    pub project: &'a ProjectSurvey,
    pub file: &'a Surveyed,
    pub at: SystemTime,
}

impl Workspace {
    /// Returns which of the files that `is_wanted` takes the client deletes soon.
    pub fn retention<'a>(
        &self,
        survey: &'a Survey,
        is_wanted: impl Fn(&Surveyed) -> bool,
        now: SystemTime,
    ) -> Retention<'a> {
        let set = self.retention_days();
        let days = set.unwrap_or(RETENTION_DAYS);
        let mut due = Vec::new();
        for project in &survey.projects {
            let files = project.sessions.iter().chain(&project.agents).chain(&project.journals);
            for file in files.filter(|file| is_wanted(file)) {
                let Some(at) = file.file.modified.checked_add(DAY * days) else { continue };
                if at <= now + DAY * SOON {
                    due.push(DueFile { project, file, at });
                }
            }
        }
        due.sort_by(|a, b| {
            a.at.cmp(&b.at).then_with(|| a.file.file.relative.cmp(&b.file.file.relative))
        });
        Retention { days, is_set: set.is_some(), due }
    }
}

#[cfg(test)]
mod tests {
    use ramus_core::resume::Rule;
    use ramus_store::State;
    use ramus_store::place::Place;
    use testkit::Home;

    use super::*;

    #[test]
    fn files_that_are_overdue_and_agents_are_due() {
        let home = Home::new();
        home.session("-p/aaaa1111.jsonl", "a user hello");
        home.session("-p/aaaa1111/subagents/agent-b2.jsonl", "a user look");
        let place = Place::open(vec![home.claude()]).unwrap();
        let workspace = Workspace::new(place, Rule::Client, State::new(home.path().join("state")));
        let survey = workspace.survey();
        let due = |days: u32| {
            let retention = workspace.retention(&survey, |_| true, SystemTime::now() + DAY * days);
            let ids = retention.due.iter().map(|due| due.file.file.id.clone());
            ids.collect::<std::collections::BTreeSet<_>>().len()
        };
        assert_eq!(due(RETENTION_DAYS - SOON - 1), 0);
        assert_eq!(due(RETENTION_DAYS - SOON + 1), 2, "both go within a week");
        assert_eq!(due(RETENTION_DAYS + 100), 2, "both should be gone already");
    }
}
