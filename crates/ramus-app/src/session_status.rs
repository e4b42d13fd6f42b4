//! A running session in a line: its branch, its context, what it and this day cost.

use std::path::Path;

use jiff::Zoned;
use ramus_core::time::Time;
use ramus_store::claude_dir::{HistoryFile, Project};
use ramus_store::ledger::SurveyLedger;
use ramus_store::survey::{ProjectSurvey, Survey, SurveyedFile, time_from_system};

use crate::list::total_cost;
use crate::usage::UsageFilter;
use crate::workspace::{SurveyDetail, Workspace};

/// What is known of a session while it runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionStatus {
    /// The number of the conversation that is resumed, and how many there are.
    pub branch: Option<(usize, usize)>,
    pub forks: u32,
    /// The tokens that the last reply started from.
    pub context: Option<u64>,
    /// What the session and its sub-agents cost; `None`: it has no file yet.
    pub cost: Option<f64>,
    /// What all sessions cost since midnight.
    pub cost_today: f64,
}

impl Workspace {
    /// Returns the status of the session in a file. Only files that were written today are read besides:
    /// no other can hold a message of today.
    pub fn session_status(&self, transcript: &Path, now: &Zoned) -> SessionStatus {
        let midnight = now.start_of_day().map_or_else(|_| now.timestamp(), |day| day.timestamp());
        let midnight = Time::from_millis(midnight.as_millisecond());
        let id = transcript.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let is_own = |file: &HistoryFile| {
            let session = file.role.session().unwrap_or(&file.id);
            id.as_deref() == Some(session)
        };
        let is_read =
            |file: &HistoryFile| is_own(file) || time_from_system(file.modified) >= midnight;
        let read_today = |project: &Project| {
            let files: Vec<_> =
                project.files.iter().filter(|file| is_read(file)).cloned().collect();
            (!files.is_empty()).then(|| Project { files, ..project.without_files() })
        };
        let projects = self.list_projects().iter().filter_map(read_today).collect();
        let survey = self.survey_projects(projects, SurveyDetail::Usage);
        let mut status = own_status(&survey, transcript, id.as_deref());
        let mut ledger = SurveyLedger::new(&survey, |_| true, true);
        let today = UsageFilter { since: Some(midnight), ..UsageFilter::default() };
        today.filter_ledger(&mut ledger);
        status.cost_today = ledger.usage.entries().map(|entry| entry.total.cost).sum();
        status
    }
}

/// Returns what the session's own files tell.
fn own_status(survey: &Survey, transcript: &Path, id: Option<&str>) -> SessionStatus {
    let all = || {
        let projects = survey.projects.iter();
        projects.flat_map(|project| project.sessions.iter().map(move |session| (project, session)))
    };
    let by_path = all().find(|(_, session)| session.file.path == transcript);
    let by_id = || all().find(|(_, session)| id == Some(&*session.file.id));
    let Some((project, session)) = by_path.or_else(by_id) else { return SessionStatus::default() };
    let conversations = &session.digest.conversations;
    let resumed = conversations.iter().position(|conversation| conversation.resumes);
    SessionStatus {
        branch: resumed.map(|index| (index + 1, conversations.len())),
        forks: session.digest.forks.values().sum(),
        context: last_context(session),
        cost: Some(session_cost(project, session)),
        cost_today: 0.0,
    }
}

fn session_cost(project: &ProjectSurvey, session: &SurveyedFile) -> f64 {
    if session.account.is_some() { total_cost(project, session) } else { 0.0 }
}

/// Returns the context of the newest reply that no sub-agent made.
fn last_context(session: &SurveyedFile) -> Option<u64> {
    let messages = session.account.as_ref()?.message_usages();
    let own = messages.iter().filter(|message| !message.sidechain);
    let newest = own.max_by_key(|message| message.time)?;
    let tokens = newest.first_model.tokens;
    let written = tokens.cache_write_5m + tokens.cache_write_1h;
    Some(tokens.input + tokens.cache_read + written)
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use jiff::tz::TimeZone;
    use ramus_core::resume::ResumeRule;
    use ramus_store::StateDir;
    use ramus_store::cache::HistoryCache;
    use ramus_store::claude_dir::ClaudeDirs;
    use testkit::TestHome;

    use crate::workspace::Workspace;

    #[test]
    fn a_session_that_forked_says_so_and_one_without_a_file_says_nothing() {
        let home = TestHome::new();
        let path = home.write_session(
            "-p/11111111-0000-4000-8000-000000000000.jsonl",
            "a user @1 one\nb < a assistant @2 1\nc < b user @3 two\nd < b user @4 three\ne < d assistant @5 3",
        );
        let place = ClaudeDirs::at(vec![home.claude_dir()], HistoryCache::disabled());
        let state = StateDir::new(home.path().join("state"));
        let workspace = Workspace::new(place, ResumeRule::Client, state);
        let now = Timestamp::now().to_zoned(TimeZone::UTC);
        let status = workspace.session_status(&path, &now);
        assert_eq!((status.branch, status.forks), (Some((2, 2)), 1));
        assert!(status.cost.is_some());
        let gone = workspace.session_status(&path.with_file_name("2222.jsonl"), &now);
        assert_eq!((gone.branch, gone.context, gone.cost), (None, None, None));
    }
}
