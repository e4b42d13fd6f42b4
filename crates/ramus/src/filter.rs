//! The options that lists share.

use clap::ValueEnum;
use jiff::Zoned;
use ramus_app::list::{ListRequest, SessionFeature, SortBy};
use ramus_app::survey::Survey;
use ramus_app::time_text::{TimeEdge, parse_time};
use ramus_app::{Scope, SurveyDetail, Workspace};
use ramus_core::pull_request::PullRequestName;

use crate::args::Global;
use crate::error::CommandError;
use crate::prices;

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
    sort: Option<SortOption>,
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
    has: Vec<FeatureOption>,
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
enum SortOption {
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
enum FeatureOption {
    Forks,
    Agents,
    Compaction,
    /// Errors of the model's server
    Errors,
}

impl FilterArgs {
    /// Returns what was asked for.
    pub(crate) fn list_request(&self, global: &Global) -> Result<ListRequest, CommandError> {
        let now = Zoned::now();
        let time = |text: &Option<String>, edge| {
            text.as_deref().map(|text| parse_time(text, edge, &now)).transpose()
        };
        Ok(ListRequest {
            since: time(&self.since, TimeEdge::Start)?,
            until: time(&self.until, TimeEdge::End)?,
            sort: self.sort.map(SortOption::sort_by).unwrap_or_default(),
            branch: self.branch.clone(),
            model: self.model.as_ref().map(|model| model.to_lowercase()),
            min_cost: self.min_cost,
            features: self.has.iter().map(|word| word.session_feature()).collect(),
            pull_request: self.pr.clone(),
            limit: self.limit,
            includes_hidden: global.all,
            by_repository: false,
        })
    }
}

impl SortOption {
    fn sort_by(self) -> SortBy {
        match self {
            Self::Active => SortBy::Active,
            Self::Started => SortBy::Started,
            Self::Messages => SortBy::Messages,
            Self::Branches => SortBy::Branches,
            Self::Size => SortBy::Size,
            Self::Cost => SortBy::Cost,
            Self::Title => SortBy::Title,
        }
    }
}

impl FeatureOption {
    fn session_feature(self) -> SessionFeature {
        match self {
            Self::Forks => SessionFeature::Forks,
            Self::Agents => SessionFeature::Agents,
            Self::Compaction => SessionFeature::Compaction,
            Self::Errors => SessionFeature::Errors,
        }
    }
}

/// Reads what a list needs to know of a scope; the user's prices only if costs are asked for.
pub(crate) fn survey_for(
    request: &ListRequest,
    workspace: Workspace,
    scope: &Scope,
) -> Result<Survey, CommandError> {
    let workspace = match request.survey_detail() {
        SurveyDetail::Usage => workspace.with_prices(prices::load_prices(None)?),
        _ => workspace,
    };
    Ok(workspace.survey_scope(scope.clone(), request.survey_detail()))
}
