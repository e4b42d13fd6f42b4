//! Tokens and cost of a scope.

use std::collections::HashMap;
use std::path::PathBuf;

use ramus_core::time::Time;
use ramus_store::ledger::SurveyLedger;
use ramus_store::survey::Survey;

use crate::address::Scope;
use crate::list::total_cost;
use crate::workspace::{SurveyDetail, Workspace};

/// Which messages count.
#[derive(Clone, Debug, Default)]
pub struct UsageFilter {
    pub since: Option<Time>,
    pub until: Option<Time>,
    /// A part of the model's name, in lower case.
    pub model: Option<String>,
}

/// What the files of a scope used.
#[derive(Debug)]
pub struct UsageSurvey {
    survey: Survey,
    scope: Scope,
}

impl Workspace {
    /// Reads what the files of a scope used, at the prices of the workspace.
    pub fn survey_usage(&self, scope: Scope) -> UsageSurvey {
        let survey = self.survey_scope(scope.clone(), SurveyDetail::Usage);
        UsageSurvey { survey, scope }
    }
}

impl Workspace {
    /// Returns what each session and its sub-agents cost, by the session's file.
    pub fn session_costs(&self) -> HashMap<PathBuf, f64> {
        let survey = self.survey_scope(Scope::All, SurveyDetail::Usage);
        let sessions = survey
            .projects
            .iter()
            .flat_map(|project| project.sessions.iter().map(move |session| (project, session)));
        sessions
            .map(|(project, session)| (session.file.path.clone(), total_cost(project, session)))
            .collect()
    }
}

impl UsageSurvey {
    /// Opens the ledger; a filter needs `each` message in it.
    pub fn open_ledger(&self, each: bool) -> SurveyLedger<'_> {
        SurveyLedger::new(&self.survey, |file| self.scope.includes_file(file), each)
    }
}

impl UsageFilter {
    pub fn is_some(&self) -> bool {
        self.since.is_some() || self.until.is_some() || self.model.is_some()
    }

    /// Removes the entries that the filter excludes.
    pub fn filter_ledger(&self, ledger: &mut SurveyLedger<'_>) {
        if self.is_some() {
            ledger.usage.retain_matching(|model| self.has_model(model), |time| self.has_time(time));
        }
    }

    fn has_time(&self, time: Option<Time>) -> bool {
        match time {
            None => self.since.is_none() && self.until.is_none(),
            Some(time) => {
                self.since.is_none_or(|since| time >= since)
                    && self.until.is_none_or(|until| time < until)
            }
        }
    }

    fn has_model(&self, model: &str) -> bool {
        self.model.as_ref().is_none_or(|wanted| model.to_lowercase().contains(wanted))
    }
}
