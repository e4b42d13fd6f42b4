//! The rows of each table: what they are called, and what stands behind the numbers.

use jiff::Zoned;
use ramus_core::branches::Status;
use ramus_core::time::Time;
use ramus_render::json::{Amounts, Usage};
use ramus_render::{Label, Line};

use super::super::By;
use super::{dollars, short};
use crate::project::project_name;
use crate::table::cell;

/// One row: names, amounts, and what stands behind them.
pub(super) struct Row {
    pub(super) names: Vec<Line>,
    pub(super) amounts: Amounts,
    pub(super) tail: Vec<Line>,
    /// It is the sum of the others.
    pub(super) total: bool,
}

impl Row {
    fn new(names: Vec<Line>, amounts: &Amounts, tail: Vec<Line>) -> Self {
        Self { names, amounts: amounts.clone(), tail, total: false }
    }

    /// Makes the last row of a table.
    pub(super) fn total(amounts: &Amounts) -> Self {
        let names = vec![cell("together", Label::Strong)];
        Self { names, amounts: amounts.clone(), tail: Vec::new(), total: true }
    }
}

/// Returns how a table is asked for.
pub(super) fn word(by: By) -> &'static str {
    match by {
        By::Day => "day",
        By::Week => "week",
        By::Month => "month",
        By::Model => "model",
        By::Project => "project",
        By::Session => "session",
        By::Conversation => "conversation",
        By::Branch => "branch",
    }
}

/// Returns the headings before the amounts.
pub(super) fn head(by: By) -> &'static [&'static str] {
    match by {
        By::Day => &["DAY", ""],
        By::Week => &["WEEK FROM"],
        By::Month => &["MONTH"],
        By::Model => &["*MODEL"],
        By::Project => &["*PROJECT"],
        By::Session => &["SESSION"],
        By::Conversation => &["CONVERSATION", "?"],
        By::Branch => &["BRANCH", "?"],
    }
}

/// Returns the headings behind the amounts.
pub(super) fn tail(by: By) -> &'static [&'static str] {
    match by {
        By::Session => &["?LAST", "*TITLE"],
        By::Conversation => &[">?ALONE", "*TITLE"],
        By::Branch => &["*BEGINS"],
        _ => &[],
    }
}

/// Makes the rows of a table.
pub(super) fn rows(report: &Usage, by: By, now: &Zoned) -> Vec<Row> {
    let plain = |text: &str| cell(text, Label::Plain);
    let text = |text: &Option<String>| cell(text.as_deref().unwrap_or_default(), Label::Plain);
    let time = |text: &Option<String>| cell(text.as_deref().unwrap_or_default(), Label::Time);
    let undated = report.undated.iter();
    let undated =
        undated.map(|amounts| Row::new(vec![cell("no time", Label::Dim)], amounts, vec![]));
    match by {
        By::Day => report
            .by_day
            .iter()
            .map(|row| {
                Row::new(vec![time(&row.day), weekday(row.day.as_deref())], &row.amounts, vec![])
            })
            .chain(undated)
            .collect(),
        By::Week => report
            .by_week
            .iter()
            .map(|row| Row::new(vec![time(&row.week)], &row.amounts, vec![]))
            .chain(undated)
            .collect(),
        By::Month => report
            .by_month
            .iter()
            .map(|row| Row::new(vec![time(&row.month)], &row.amounts, vec![]))
            .chain(undated)
            .collect(),
        By::Model => report
            .by_model
            .iter()
            .map(|row| Row::new(vec![plain(&row.model)], &row.amounts, vec![]))
            .collect(),
        By::Project => report
            .by_project
            .iter()
            .map(|row| {
                let name = project_name(row.path.as_deref(), &row.project);
                Row::new(vec![plain(&name)], &row.amounts, vec![])
            })
            .collect(),
        By::Session => report
            .by_session
            .iter()
            .map(|row| {
                let last = row.last_active.as_deref().and_then(|last| day_of(last, now));
                let tail = vec![cell(last.unwrap_or_default(), Label::Time), text(&row.title)];
                Row::new(vec![cell(short(&row.session), Label::Id)], &row.amounts, tail)
            })
            .collect(),
        By::Conversation => report
            .by_conversation
            .iter()
            .flatten()
            .map(|row| {
                let name = format!("{}@{}", short(&row.session), row.n);
                let alone = cell(dollars(row.own_cost_usd), Label::Dim);
                let names = vec![cell(name, Label::Id), status(row.status)];
                // The session's title says little about one of its branches.
                let words = if row.resumes { None } else { row.prompt.as_ref() };
                let words = text(&words.or(row.title.as_ref()).cloned());
                Row::new(names, &row.amounts, vec![alone, words])
            })
            .collect(),
        By::Branch => report
            .branches
            .iter()
            .flatten()
            .map(|row| {
                let name = format!("{}:{}", short(&row.session), short(&row.node));
                let names = vec![cell(name, Label::Id), status(row.status)];
                Row::new(names, &row.amounts, vec![text(&row.prompt)])
            })
            .collect(),
    }
}

fn weekday(day: Option<&str>) -> Line {
    let day = day.and_then(|day| day.parse::<jiff::civil::Date>().ok());
    cell(day.map(|day| day.strftime("%a").to_string()).unwrap_or_default(), Label::Dim)
}

fn day_of(time: &str, now: &Zoned) -> Option<String> {
    let time = Time::parse(time.as_bytes())?;
    Some(now.time_zone().to_datetime(time.timestamp()).date().to_string())
}

fn status(status: Status) -> Line {
    let label = match status {
        Status::Active => Label::Active,
        Status::Abandoned => Label::Abandoned,
    };
    cell(status.word(), label)
}
