mod compare;
mod csv;
mod report;
mod tables;
mod watch;

use clap::ValueEnum;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use ramus_app::time_text::{TimeEdge, parse_time};
use ramus_app::usage::UsageFilter;
use ramus_app::{Scope, Workspace};
use ramus_render::Line;
use ramus_render::json::{Answer, Usage};

use crate::args::Global;
use crate::completion;
use crate::env;
use crate::error::CommandError;
use crate::prices;
use crate::scope;
use crate::ui::Ui;

/// Show tokens and cost by day, model, project, session or branch
///
/// Every message counts once, even if resumed, forked or replayed copies repeat it. Costs use public
/// list prices. If you have a subscription, this is not what you pay.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct UsageArgs {
    /// A project or a session [default: the project of the current directory, else everything]
    #[arg(allow_hyphen_values = true, add = completion::scopes())]
    scope: Option<String>,
    /// Show one table instead of the overview
    #[arg(long, value_name = "WHAT")]
    by: Option<UsageBy>,
    /// Only usage since a date, a time, or an age (`7d`)
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only usage before a time, or up to the end of a date
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Only this project
    #[arg(long)]
    project: Option<String>,
    /// Only models whose name contains this
    #[arg(long)]
    model: Option<String>,
    /// Print CSV
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Compare with Claude Code's own totals for each session
    #[arg(long, conflicts_with_all = ["by", "csv"])]
    compare_client: bool,
    /// Use UTC days instead of local days
    #[arg(long)]
    utc: bool,
    /// Show the current five-hour block live
    #[arg(long, conflicts_with_all = ["by", "csv", "since", "until", "model", "compare_client"])]
    watch: bool,
    /// A file with other prices [default: $RAMUS_PRICES, else ~/.config/ramus/prices.json]
    #[arg(long, value_name = "FILE")]
    prices: Option<std::path::PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  ramus usage                        totals, days, models, a calendar
  ramus usage teapot --since 7d      one project in the last week
  ramus usage --by session           cost of each session
  ramus usage latest --by branch     cost of its abandoned branches
  ramus usage --by month --csv       for a spreadsheet
  ramus usage --by owner --everyone  cost of each person of a team
  ramus usage --compare-client       compare with Claude Code's totals
  ramus usage --watch                the current five-hour block, live";

/// What to add up by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum UsageBy {
    Day,
    Week,
    Month,
    Model,
    Project,
    Session,
    /// Each person whose sessions are on the server
    Owner,
    /// Each machine that sent sessions to the server
    Machine,
    /// Each conversation as a whole: messages that several share count for each of them
    Conversation,
    /// Each branch from its fork point to the next: every message counts once
    Branch,
}

pub(crate) fn usage(ui: &mut Ui, global: &Global, args: &UsageArgs) -> Result<(), CommandError> {
    let prices = prices::load_prices(global, args.prices.as_deref())?;
    let changes = args.watch.then(|| watch::start_following(ui, global)).transpose()?;
    let workspace = env::workspace_for(ui, global, args.scope.as_deref().unwrap_or_default())?
        .with_prices(prices);
    let scope = usage_scope(&workspace, args)?;
    let asked = args.scope.as_deref().or(args.project.as_deref());
    let answer_scope = scope::answer_scope(&workspace, &scope, asked);
    scope::print_scope_note(ui, &workspace, asked);
    let now = Timestamp::now().to_zoned(time_zone(args.utc));
    if let Some(changes) = &changes {
        return watch::watch_block(ui, changes, &workspace, &scope, now.time_zone());
    }
    let filter =
        usage_filter(args.since.as_deref(), args.until.as_deref(), args.model.as_deref(), &now)?;
    let short_ids = workspace.short_ids();
    let used = workspace.survey_usage(scope);
    let mut ledger = used.open_ledger(filter.is_some());
    let client = args.compare_client.then(|| compare::compare_with_client(ui, &ledger));
    filter.filter_ledger(&mut ledger);
    let is_empty = ledger.usage.is_empty();
    if is_empty && !ui.json {
        return Err(scope::with_wider_hint(nothing_used(), &workspace, asked));
    }
    let mut report =
        report::usage_report(&ledger, &filter, workspace.active_prices(), now.time_zone(), args.by);
    report.by_source = match args.by {
        Some(by @ (UsageBy::Owner | UsageBy::Machine)) => {
            Some(report::by_source(&workspace, &ledger, by)?)
        }
        _ => None,
    };
    report.client = client;
    ui.let_go(ledger);
    ui.let_go(used);
    if ui.json {
        ui.print_json(&Answer::new("ramus.usage/1", report).with_scope(answer_scope))?;
        return if is_empty { Err(nothing_used()) } else { Ok(()) };
    }
    if args.csv {
        return csv::write_csv(ui, &report, args.by.unwrap_or(UsageBy::Day));
    }
    ui.start_pager();
    for line in report_lines(
        &report,
        args.by,
        ui.width,
        &tables::TableContext { now: &now, short_ids: &short_ids },
    ) {
        ui.print_line(&line)?;
    }
    Ok(())
}

/// Returns the overview or one table of what a scope used.
pub(crate) fn usage_lines(
    workspace: &Workspace,
    scope: Scope,
    by: Option<UsageBy>,
    [since, until]: [Option<&str>; 2],
    width: usize,
) -> Result<Vec<Line>, CommandError> {
    let now = Zoned::now();
    let filter = usage_filter(since, until, None, &now)?;
    let short_ids = workspace.short_ids();
    let used = workspace.survey_usage(scope);
    let mut ledger = used.open_ledger(filter.is_some());
    filter.filter_ledger(&mut ledger);
    if ledger.usage.is_empty() {
        return Err(nothing_used());
    }
    let report =
        report::usage_report(&ledger, &filter, workspace.active_prices(), now.time_zone(), by);
    Ok(report_lines(&report, by, width, &tables::TableContext { now: &now, short_ids: &short_ids }))
}

fn report_lines(
    report: &Usage,
    by: Option<UsageBy>,
    width: usize,
    context: &tables::TableContext<'_>,
) -> Vec<Line> {
    let mut lines = match (by, &report.client) {
        (_, Some(client)) => tables::client_lines(client, width, context.short_ids),
        (Some(by), None) => tables::table_lines(report, by, width, context),
        (None, None) => tables::overview_lines(report, width, context),
    };
    lines.extend(tables::note_lines(report, width));
    lines
}

fn nothing_used() -> CommandError {
    CommandError::nothing_found("no messages with usage found")
}

fn time_zone(utc: bool) -> TimeZone {
    if utc { TimeZone::UTC } else { TimeZone::system() }
}

fn usage_filter(
    since: Option<&str>,
    until: Option<&str>,
    model: Option<&str>,
    now: &Zoned,
) -> Result<UsageFilter, CommandError> {
    let time = |text: Option<&str>, edge| text.map(|text| parse_time(text, edge, now)).transpose();
    Ok(UsageFilter {
        since: time(since, TimeEdge::Start)?,
        until: time(until, TimeEdge::End)?,
        model: model.map(str::to_lowercase),
    })
}

fn usage_scope(workspace: &Workspace, args: &UsageArgs) -> Result<Scope, CommandError> {
    let Some(project) = &args.project else {
        return scope::resolve_scope(workspace, args.scope.as_deref());
    };
    let scope = match &args.scope {
        Some(named) => scope::resolve_scope(workspace, Some(named))?,
        None => Scope::All,
    };
    let project = workspace.resolve_project(project)?;
    match scope {
        Scope::All => Ok(Scope::Project(project)),
        Scope::Project(ref meant) if meant.dir == project.dir => Ok(scope),
        Scope::Session(_) | Scope::Sessions(_)
            if scope.sessions().is_some_and(|found| {
                found.iter().all(|found| found.project_dir() == project.dir)
            }) =>
        {
            Ok(scope)
        }
        _ => Err(CommandError::nothing_found("the scope is not in that project")),
    }
}
