//! The rows of each usage table: titles, amounts and details.

use jiff::Zoned;
use ramus_core::branches::BranchStatus;
use ramus_core::time::Time;
use ramus_render::json::{Amounts, Usage};
use ramus_render::text::format_dollars;
use ramus_render::{Label, Line};

use super::super::UsageBy;
use super::TableContext;
use crate::project::project_name;
use crate::table::cell;

/// One row: titles, amounts and details.
pub(super) struct UsageRow {
    pub(super) names: Vec<Line>,
    pub(super) amounts: Amounts,
    pub(super) tail: Vec<Line>,
    /// It is the sum of the others.
    pub(super) total: bool,
}

impl UsageRow {
    fn new(names: Vec<Line>, amounts: &Amounts, tail: Vec<Line>) -> Self {
        Self { names, amounts: amounts.clone(), tail, total: false }
    }

    /// Makes the last row of a table.
    pub(super) fn total_row(amounts: &Amounts) -> Self {
        let names = vec![cell("together", Label::Strong)];
        Self { names, amounts: amounts.clone(), tail: Vec::new(), total: true }
    }
}

/// Returns the word for `--by`.
pub(super) fn option_value(by: UsageBy) -> &'static str {
    match by {
        UsageBy::Day => "day",
        UsageBy::Week => "week",
        UsageBy::Month => "month",
        UsageBy::Model => "model",
        UsageBy::Project => "project",
        UsageBy::Session => "session",
        UsageBy::Owner => "owner",
        UsageBy::Machine => "machine",
        UsageBy::Conversation => "conversation",
        UsageBy::Branch => "branch",
    }
}

/// Returns the headings before the amounts.
pub(super) fn name_headings(by: UsageBy) -> &'static [&'static str] {
    match by {
        UsageBy::Day => &["DAY", ""],
        UsageBy::Week => &["WEEK FROM"],
        UsageBy::Month => &["MONTH"],
        UsageBy::Model => &["*MODEL"],
        UsageBy::Project => &["*PROJECT"],
        UsageBy::Session => &["SESSION"],
        UsageBy::Owner => &["*OWNER"],
        UsageBy::Machine => &["OWNER", "*MACHINE"],
        UsageBy::Conversation => &["CONVERSATION", "?"],
        UsageBy::Branch => &["BRANCH", "?"],
    }
}

/// Returns the headings behind the amounts.
pub(super) fn tail_headings(by: UsageBy) -> &'static [&'static str] {
    match by {
        UsageBy::Session => &["?LAST", "*TITLE"],
        UsageBy::Conversation => &[">?ALONE", "*TITLE"],
        UsageBy::Branch => &["*BEGINS"],
        _ => &[],
    }
}

/// Makes the rows of a table.
pub(super) fn table_rows(report: &Usage, by: UsageBy, context: &TableContext<'_>) -> Vec<UsageRow> {
    let TableContext { now, short_ids } = *context;
    let plain = |text: &str| cell(text, Label::Plain);
    let text = |text: &Option<String>| cell(text.as_deref().unwrap_or_default(), Label::Plain);
    let time = |text: &Option<String>| cell(text.as_deref().unwrap_or_default(), Label::Time);
    let undated = report.undated.iter();
    let undated = undated
        .map(|amounts| UsageRow::new(vec![cell("no timestamp", Label::Dim)], amounts, vec![]));
    match by {
        UsageBy::Day => report
            .by_day
            .iter()
            .map(|row| {
                UsageRow::new(
                    vec![time(&row.day), weekday_cell(row.day.as_deref())],
                    &row.amounts,
                    vec![],
                )
            })
            .chain(undated)
            .collect(),
        UsageBy::Week => report
            .by_week
            .iter()
            .map(|row| UsageRow::new(vec![time(&row.week)], &row.amounts, vec![]))
            .chain(undated)
            .collect(),
        UsageBy::Month => report
            .by_month
            .iter()
            .map(|row| UsageRow::new(vec![time(&row.month)], &row.amounts, vec![]))
            .chain(undated)
            .collect(),
        UsageBy::Model => report
            .by_model
            .iter()
            .map(|row| UsageRow::new(vec![plain(&row.model)], &row.amounts, vec![]))
            .collect(),
        UsageBy::Project => report
            .by_project
            .iter()
            .map(|row| {
                let name = project_name(row.path.as_deref(), &row.project);
                UsageRow::new(vec![plain(&name)], &row.amounts, vec![])
            })
            .collect(),
        UsageBy::Session => report
            .by_session
            .iter()
            .map(|row| {
                let last = row.last_active.as_deref().and_then(|last| local_day(last, now));
                let tail = vec![cell(last.unwrap_or_default(), Label::Time), text(&row.title)];
                UsageRow::new(
                    vec![cell(short_ids.shorten_id(&row.session), Label::Id)],
                    &row.amounts,
                    tail,
                )
            })
            .collect(),
        UsageBy::Owner | UsageBy::Machine => report
            .by_source
            .iter()
            .flatten()
            .map(|row| {
                let names = std::iter::once(&row.owner).chain(&row.machine);
                UsageRow::new(names.map(|name| plain(name)).collect(), &row.amounts, vec![])
            })
            .collect(),
        UsageBy::Conversation => report
            .by_conversation
            .iter()
            .flatten()
            .map(|row| {
                let name = format!("{}@{}", short_ids.shorten_id(&row.session), row.n);
                let alone = cell(format_dollars(row.own_cost_usd), Label::Dim);
                let names = vec![cell(name, Label::Id), status_cell(row.status)];
                UsageRow::new(names, &row.amounts, vec![alone, text(&row.branch_title)])
            })
            .collect(),
        UsageBy::Branch => report
            .branches
            .iter()
            .flatten()
            .map(|row| {
                let name = format!("{}:{}", short_ids.shorten_id(&row.session), row.short_node);
                let names = vec![cell(name, Label::Id), status_cell(row.status)];
                UsageRow::new(names, &row.amounts, vec![text(&row.prompt)])
            })
            .collect(),
    }
}

fn weekday_cell(day: Option<&str>) -> Line {
    let day = day.and_then(|day| day.parse::<jiff::civil::Date>().ok());
    cell(day.map(|day| day.strftime("%a").to_string()).unwrap_or_default(), Label::Dim)
}

fn local_day(time: &str, now: &Zoned) -> Option<String> {
    let time = Time::parse(time.as_bytes())?;
    Some(now.time_zone().to_datetime(time.to_timestamp()).date().to_string())
}

fn status_cell(status: BranchStatus) -> Line {
    let label = match status {
        BranchStatus::Active => Label::Active,
        BranchStatus::Abandoned => Label::Abandoned,
    };
    cell(status.as_str(), label)
}
