//! Which rows of a list are wanted, and in which order: the options that lists share.

use std::cmp::Ordering;
use std::cmp::Reverse;

use clap::ValueEnum;
use jiff::Zoned;
use ramus_app::survey::{ProjectSurvey, Survey, Surveyed};
use ramus_app::{Scope, SurveyDetail, Workspace};
use ramus_core::branches::Status;
use ramus_core::digest::Digest;
use ramus_core::pull_request::PullRequestName;
use ramus_core::time::Time;

use crate::error::CommandError;
use crate::prices;
use crate::when::{self, Edge};

#[derive(Debug, Default, clap::Args)]
pub(crate) struct FilterArgs {
    /// Show at most N rows
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Only what was active from then on: a date, a time, or how long ago (`2h`, `3d`)
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only what began before then
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Sort by this [default: active]
    #[arg(long, value_name = "ORDER")]
    sort: Option<SortBy>,
    /// Only sessions on this git branch; `active` and `abandoned` mean the status of conversations
    #[arg(long, value_name = "BRANCH")]
    branch: Option<String>,
    /// Only sessions in which a model with this in its name answered
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Only sessions that cost at least this many dollars, their sub-agents included
    #[arg(long, value_name = "DOLLARS")]
    min_cost: Option<f64>,
    /// Only sessions that have these; given several times, all of them
    #[arg(long, value_name = "WHAT")]
    has: Vec<Feature>,
    /// Only sessions in which this pull request was made: `42`, `owner/name#42` or its URL
    #[arg(long, value_name = "PR")]
    pr: Option<PullRequestName>,
}

/// What rows of a list are put together by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GroupBy {
    /// The git repository: all its worktrees and clones
    Repo,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SortBy {
    /// The most recently active first
    Active,
    /// The most recently begun first
    Started,
    /// Most messages first
    Messages,
    /// Most branches first
    Branches,
    /// The largest first
    Size,
    /// The most expensive first
    Cost,
    /// By title or name
    Title,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Feature {
    Forks,
    Agents,
    Compaction,
    /// Errors of the model's server
    Errors,
}

/// What rows are sorted by.
#[derive(Clone, Debug, Default)]
pub(crate) struct SortKey {
    pub(crate) active: Option<Time>,
    pub(crate) started: Option<Time>,
    pub(crate) messages: u64,
    pub(crate) branches: u64,
    pub(crate) size: u64,
    pub(crate) cost: f64,
    pub(crate) title: String,
    /// Decides between equals, so that the order is always the same.
    pub(crate) file: String,
}

/// What was asked for, understood.
pub(crate) struct RowFilter {
    since: Option<Time>,
    until: Option<Time>,
    sort: SortBy,
    branch: Option<String>,
    model: Option<String>,
    min_cost: Option<f64>,
    has: Vec<Feature>,
    pr: Option<PullRequestName>,
    limit: Option<usize>,
}

impl FilterArgs {
    pub(crate) fn understood(&self) -> Result<RowFilter, CommandError> {
        let now = Zoned::now();
        let time = |text: &Option<String>, edge| {
            text.as_deref().map(|text| when::parse(text, edge, &now)).transpose()
        };
        Ok(RowFilter {
            since: time(&self.since, Edge::Start)?,
            until: time(&self.until, Edge::End)?,
            sort: self.sort.unwrap_or(SortBy::Active),
            branch: self.branch.clone(),
            model: self.model.as_ref().map(|model| model.to_lowercase()),
            min_cost: self.min_cost,
            has: self.has.clone(),
            pr: self.pr.clone(),
            limit: self.limit,
        })
    }
}

impl RowFilter {
    /// Reads what the filter needs to know of a scope: costs and models only if they are asked for.
    pub(crate) fn survey(
        &self,
        workspace: Workspace,
        scope: &Scope,
    ) -> Result<Survey, CommandError> {
        let needs_usage =
            self.model.is_some() || self.min_cost.is_some() || self.sort == SortBy::Cost;
        if !needs_usage {
            return Ok(workspace.survey_scope(scope.clone(), SurveyDetail::Digests));
        }
        let workspace = workspace.with_prices(prices::load(None)?);
        Ok(workspace.survey_scope(scope.clone(), SurveyDetail::Usage))
    }

    /// Whether a session is wanted.
    pub(crate) fn has_session(&self, project: &ProjectSurvey, session: &Surveyed) -> bool {
        let facts = &session.digest.facts;
        self.has_time(facts.started, facts.last_active)
            && self.branch.as_ref().is_none_or(|branch| match self.status() {
                Some(status) => session.digest.conversations.iter().any(|c| c.status == status),
                None => facts.git_branch.as_deref() == Some(&**branch),
            })
            && self.model.as_ref().is_none_or(|model| has_model(project, session, model))
            && self.min_cost.is_none_or(|least| cost(project, session) >= least)
            && self.pr.as_ref().is_none_or(|pr| has_pull_request(&session.digest, pr))
            && self.has.iter().all(|feature| has_feature(project, session, *feature))
    }

    /// Whether something that went on between two times is wanted; what has no time is, unless times are asked for.
    pub(crate) fn has_time(&self, started: Option<Time>, ended: Option<Time>) -> bool {
        self.since.is_none_or(|since| ended.is_some_and(|ended| ended >= since))
            && self.until.is_none_or(|until| started.is_some_and(|started| started < until))
    }

    /// Whether a session of which only prompts are left is wanted: nobody knows more of it than times.
    pub(crate) fn has_prompts(&self, started: Option<Time>, ended: Option<Time>) -> bool {
        let asks_more = self.branch.is_some()
            || self.model.is_some()
            || self.min_cost.is_some()
            || !self.has.is_empty();
        !asks_more && self.has_time(started, ended)
    }

    /// Returns the status that conversations must have.
    pub(crate) fn status(&self) -> Option<Status> {
        self.branch.as_deref().and_then(Status::parse)
    }

    /// Returns how many rows are wanted at most.
    pub(crate) fn limit(&self) -> usize {
        self.limit.unwrap_or(usize::MAX)
    }

    /// Puts rows in order and leaves out what is beyond the limit.
    pub(crate) fn arrange<T>(&self, rows: &mut Vec<(SortKey, T)>) {
        self.arrange_all(rows);
        rows.truncate(self.limit());
    }

    /// Puts rows in order.
    pub(crate) fn arrange_all<T>(&self, rows: &mut [(SortKey, T)]) {
        rows.sort_by(|(a, _), (b, _)| self.compare(a, b).then_with(|| a.file.cmp(&b.file)));
    }

    fn compare(&self, a: &SortKey, b: &SortKey) -> Ordering {
        match self.sort {
            SortBy::Active => b.active.cmp(&a.active),
            SortBy::Started => b.started.cmp(&a.started),
            SortBy::Messages => Reverse(a.messages).cmp(&Reverse(b.messages)),
            SortBy::Branches => Reverse(a.branches).cmp(&Reverse(b.branches)),
            SortBy::Size => Reverse(a.size).cmp(&Reverse(b.size)),
            SortBy::Cost => b.cost.total_cmp(&a.cost),
            SortBy::Title => a.title.to_lowercase().cmp(&b.title.to_lowercase()),
        }
    }
}

/// Returns the sort key of a session.
pub(crate) fn session_key(project: &ProjectSurvey, session: &Surveyed, title: &str) -> SortKey {
    let digest = &session.digest;
    SortKey {
        active: digest.facts.last_active,
        started: digest.facts.started,
        messages: u64::from(digest.messages),
        branches: digest.conversations.len() as u64,
        size: session.file.bytes,
        cost: if session.account.is_some() { cost(project, session) } else { 0.0 },
        title: title.to_owned(),
        file: session.file.relative.clone(),
    }
}

/// Whether a pull request was made in a session.
pub(crate) fn has_pull_request(digest: &Digest, wanted: &PullRequestName) -> bool {
    digest.pull_requests.iter().any(|request| wanted.is_meant(request))
}

fn with_agents<'a>(
    project: &'a ProjectSurvey,
    session: &'a Surveyed,
) -> impl Iterator<Item = &'a Surveyed> {
    std::iter::once(session).chain(project.agents_of(&session.file.id))
}

/// Returns what a session and its agents cost.
fn cost(project: &ProjectSurvey, session: &Surveyed) -> f64 {
    let accounts = with_agents(project, session).filter_map(|file| file.account.as_deref());
    accounts.flat_map(|account| &account.stretches).map(|stretch| stretch.sum.cost).sum()
}

fn has_model(project: &ProjectSurvey, session: &Surveyed, wanted: &str) -> bool {
    let accounts = with_agents(project, session).filter_map(|file| file.account.as_deref());
    accounts.flat_map(|account| &account.models).any(|model| model.to_lowercase().contains(wanted))
}

fn has_feature(project: &ProjectSurvey, session: &Surveyed, feature: Feature) -> bool {
    let digest = &session.digest;
    match feature {
        Feature::Forks => !digest.forks.is_empty(),
        Feature::Agents => project.listed(session).agents > 0 || digest.inline_agents > 0,
        Feature::Compaction => !digest.facts.compactions.is_empty(),
        Feature::Errors => digest.facts.api_errors > 0,
    }
}
