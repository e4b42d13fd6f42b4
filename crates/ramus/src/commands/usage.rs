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
use crate::env;
use crate::error::CommandError;
use crate::prices;
use crate::ui::Ui;

/// Count tokens and what they cost: by day, model, project, session, branch
///
/// Every message counts once, however many records, resumed copies, forks and replays repeat it. Prices
/// are those of the public list; with a subscription the figure is only a comparison.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct UsageArgs {
    /// A project or a session [default: everything]
    #[arg(allow_hyphen_values = true)]
    scope: Option<String>,
    /// One table instead of the overview
    #[arg(long, value_name = "WHAT")]
    by: Option<UsageBy>,
    /// From this time on: a date, a time, or how long ago (`7d`)
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Up to this time; a date counts whole
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Only this project
    #[arg(long)]
    project: Option<String>,
    /// Only models whose name holds this
    #[arg(long)]
    model: Option<String>,
    /// Write a table of comma-separated values
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Set the client's own count of each session beside ours
    #[arg(long, conflicts_with_all = ["by", "csv"])]
    compare_client: bool,
    /// Days of UTC instead of the local time zone
    #[arg(long)]
    utc: bool,
    /// Show the running block of five hours, live
    #[arg(long, conflicts_with_all = ["by", "csv", "since", "until", "model", "compare_client"])]
    watch: bool,
    /// A file with other prices [default: $RAMUS_PRICES, else ~/.config/ramus/prices.json]
    #[arg(long, value_name = "FILE")]
    prices: Option<std::path::PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  ramus usage                        totals, days, models, a calendar
  ramus usage . --since 7d           this directory's last week
  ramus usage --by session           what each session cost
  ramus usage latest --by branch     what its abandoned branches cost
  ramus usage --by month --csv       for a spreadsheet
  ramus usage --compare-client       beside the client's own totals
  ramus usage --watch                the running block of five hours, live";

/// What to add up by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum UsageBy {
    Day,
    Week,
    Month,
    Model,
    Project,
    Session,
    /// Whole paths; what they share counts for each
    Conversation,
    /// Stretches between forks; every message lies on one
    Branch,
}

pub(crate) fn usage(ui: &mut Ui, global: &Global, args: &UsageArgs) -> Result<(), CommandError> {
    let prices = prices::load_prices(args.prices.as_deref())?;
    let changes = args.watch.then(|| watch::start_following(ui, global)).transpose()?;
    let workspace = env::workspace_for(ui, global, args.scope.as_deref().unwrap_or_default())?
        .with_prices(prices);
    let scope = usage_scope(&workspace, args)?;
    let now = Timestamp::now().to_zoned(time_zone(args.utc));
    if let Some(changes) = &changes {
        return watch::watch_block(ui, changes, &workspace, &scope, now.time_zone());
    }
    let filter =
        usage_filter(args.since.as_deref(), args.until.as_deref(), args.model.as_deref(), &now)?;
    let used = workspace.survey_usage(scope);
    let mut ledger = used.open_ledger(filter.is_some());
    let client = args.compare_client.then(|| compare::compare_with_client(ui, &ledger));
    filter.filter_ledger(&mut ledger);
    let is_empty = ledger.books.is_empty();
    if is_empty && !ui.json {
        return Err(nothing_used());
    }
    let mut report =
        report::usage_report(&ledger, &filter, workspace.active_prices(), now.time_zone(), args.by);
    report.client = client;
    ui.let_go(ledger);
    ui.let_go(used);
    if ui.json {
        ui.print_json(&Answer::new("ramus.usage/1", report))?;
        return if is_empty { Err(nothing_used()) } else { Ok(()) };
    }
    if args.csv {
        return csv::write_csv(ui, &report, args.by.unwrap_or(UsageBy::Day));
    }
    ui.start_pager();
    for line in report_lines(&report, args.by, ui.width, &now) {
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
    let used = workspace.survey_usage(scope);
    let mut ledger = used.open_ledger(filter.is_some());
    filter.filter_ledger(&mut ledger);
    if ledger.books.is_empty() {
        return Err(nothing_used());
    }
    let report =
        report::usage_report(&ledger, &filter, workspace.active_prices(), now.time_zone(), by);
    Ok(report_lines(&report, by, width, &now))
}

fn report_lines(report: &Usage, by: Option<UsageBy>, width: usize, now: &Zoned) -> Vec<Line> {
    let mut lines = match (by, &report.client) {
        (_, Some(client)) => tables::client_lines(client, width),
        (Some(by), None) => tables::table_lines(report, by, width, now),
        (None, None) => tables::overview_lines(report, width, now),
    };
    lines.extend(tables::note_lines(report, width));
    lines
}

fn nothing_used() -> CommandError {
    CommandError::nothing_found("no message with tokens was found")
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
    let scope = workspace.resolve_scope(args.scope.as_deref())?;
    let Some(project) = &args.project else { return Ok(scope) };
    let project = workspace.resolve_project(project)?;
    match scope {
        Scope::All => Ok(Scope::Project(project)),
        Scope::Project(ref meant) if meant.dir == project.dir => Ok(scope),
        Scope::Session(ref found)
            if found.project.as_ref().is_some_and(|home| home.dir == project.dir) =>
        {
            Ok(scope)
        }
        _ => Err(CommandError::nothing_found("what was asked for is not in that project")),
    }
}
