//! The options that lists share.

use clap::ValueEnum;
use jiff::Zoned;
use ramus_app::list::{ListRequest, SessionFeature, SortBy};
use ramus_app::survey::Survey;
use ramus_app::time_text::{TimeEdge, parse_time};
use ramus_app::{Scope, SurveyDetail, Workspace};
use ramus_core::pull_request::PullRequestName;

use crate::args::Global;
use crate::commands::annotate::parse_tags;
use crate::completion;
use crate::error::CommandError;
use crate::fields::FieldArgs;
use crate::prices;

#[derive(Debug, Default, clap::Args)]
pub(crate) struct FilterArgs {
    /// Show at most N rows
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
    /// Only sessions active since a date, a time, or an age (`2h`, `3d`)
    #[arg(long, short = 's', value_name = "TIME")]
    since: Option<String>,
    /// Only sessions started before a time, or by the end of a date
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Sort order [default: active]
    #[arg(long, value_name = "ORDER")]
    sort: Option<SortOption>,
    /// Only sessions on this git branch, or only conversations that are `active` or `abandoned`
    #[arg(long, value_name = "GIT_BRANCH|STATUS")]
    branch: Option<String>,
    /// Only sessions that used a model whose name contains this
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Only sessions that cost at least this much, including sub-agents and copied messages
    #[arg(long, value_name = "DOLLARS")]
    min_cost: Option<f64>,
    /// Only sessions with this feature. Repeat to require several
    #[arg(long, value_name = "WHAT")]
    has: Vec<FeatureOption>,
    /// Only sessions that created this pull request: `42`, `owner/name#42` or its URL
    #[arg(long, value_name = "PR")]
    pr: Option<PullRequestName>,
    /// Only sessions that have this tag, or a message with it. Repeat to require several
    #[arg(long, value_name = "TAG", add = completion::tags())]
    tag: Vec<String>,
    /// Only sessions that are pinned, or have a pinned message
    #[arg(long)]
    pinned: bool,
    #[command(flatten)]
    pub(crate) fields: FieldArgs,
}

/// The key by which rows of a list are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GroupBy {
    /// Git repository, including all its worktrees and clones
    Repo,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SortOption {
    /// Most recently active first
    Active,
    /// Most recently started first
    Started,
    /// Most messages first
    Messages,
    /// Most branches first
    Branches,
    /// Largest first
    Size,
    /// Most expensive first
    Cost,
    /// By title or name
    Title,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FeatureOption {
    /// A fork point
    Forks,
    /// A sub-agent
    Agents,
    /// A compaction
    Compaction,
    /// An API error
    Errors,
}

impl FilterArgs {
    /// Converts the options to a request.
    pub(crate) fn list_request(
        &self,
        global: &Global,
        workspace: &Workspace,
    ) -> Result<ListRequest, CommandError> {
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
            tags: parse_tags(&self.tag)?,
            pinned: self.pinned,
            annotations: workspace.annotations(),
            limit: self.limit,
            includes_hidden: global.all,
            wants_cost: self.fields.has_field("cost_usd"),
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

/// Returns the error of a list without rows. The hint is for a list without filters.
pub(crate) fn no_rows(request: &ListRequest, noun: &str, hint: &str) -> CommandError {
    if request.has_filter() {
        return CommandError::nothing_found(format!("no {noun} match these options"));
    }
    CommandError::nothing_found(format!("no {noun} found")).with_hint(hint)
}

/// Surveys a scope as far as a list needs it. Loads the user's prices only if costs are requested.
pub(crate) fn survey_for(
    global: &Global,
    request: &ListRequest,
    workspace: Workspace,
    scope: &Scope,
) -> Result<Survey, CommandError> {
    let workspace = match request.survey_detail() {
        SurveyDetail::Usage => workspace.with_prices(prices::load_prices(global, None)?),
        _ => workspace,
    };
    Ok(workspace.survey_scope(scope.clone(), request.survey_detail()))
}
