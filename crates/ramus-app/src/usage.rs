//! What messages used and cost, over a scope.

use ramus_core::time::Time;
use ramus_store::ledger::SurveyLedger;
use ramus_store::survey::Survey;

use crate::address::Scope;
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

impl UsageSurvey {
    /// Opens the books; a filter needs `each` message in them.
    pub fn open_ledger(&self, each: bool) -> SurveyLedger<'_> {
        SurveyLedger::new(&self.survey, |file| self.scope.includes_file(file), each)
    }
}

impl UsageFilter {
    pub fn is_some(&self) -> bool {
        self.since.is_some() || self.until.is_some() || self.model.is_some()
    }

    /// Leaves out of the books what does not count.
    pub fn filter_ledger(&self, ledger: &mut SurveyLedger<'_>) {
        if self.is_some() {
            ledger.books.retain_matching(|model| self.has_model(model), |time| self.has_time(time));
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
