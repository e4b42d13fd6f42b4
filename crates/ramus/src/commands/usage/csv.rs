//! One table of comma-separated values.

use ramus_render::json::{Amounts, BySource, Usage};
use ramus_render::sanitize::sanitize_text;

use super::UsageBy;
use crate::error::CommandError;
use crate::ui::Ui;

const AMOUNTS: [&str; 12] = [
    "messages",
    "input",
    "output",
    "cache_read",
    "cache_write_5m",
    "cache_write_1h",
    "cost_usd",
    "unpriced_tokens",
    "thinking",
    "fast_messages",
    "web_searches",
    "web_fetches",
];

/// Writes the requested table.
pub(super) fn write_csv(ui: &mut Ui, report: &Usage, by: UsageBy) -> Result<(), CommandError> {
    let (head, rows) = csv_rows(report, by);
    let mut writer = csv::Writer::from_writer(ui.output_writer());
    writer.write_record(head.iter().copied().chain(AMOUNTS)).map_err(csv_error)?;
    for (names, amounts) in rows {
        let names = names.iter().map(|name| sanitize_text(name).into_owned());
        writer.write_record(names.chain(amount_cells(amounts))).map_err(csv_error)?;
    }
    Ok(writer.flush()?)
}

type CsvRows<'a> = Vec<(Vec<String>, &'a Amounts)>;

fn csv_rows(report: &Usage, by: UsageBy) -> (&'static [&'static str], CsvRows<'_>) {
    let some = |text: &Option<String>| text.clone().unwrap_or_default();
    let undated = || report.undated.iter().map(|amounts| (vec![String::new()], amounts));
    let cell = |text: &Option<String>| text.as_deref().map(escape_formula).unwrap_or_default();
    match by {
        UsageBy::Day => {
            let days = report.by_day.iter().map(|r| (vec![some(&r.day)], &r.amounts));
            (&["day"], days.chain(undated()).collect())
        }
        UsageBy::Week => {
            let weeks = report.by_week.iter().map(|r| (vec![some(&r.week)], &r.amounts));
            (&["week"], weeks.chain(undated()).collect())
        }
        UsageBy::Month => {
            let months = report.by_month.iter().map(|r| (vec![some(&r.month)], &r.amounts));
            (&["month"], months.chain(undated()).collect())
        }
        UsageBy::Model => (
            &["model"],
            report.by_model.iter().map(|r| (vec![r.model.clone()], &r.amounts)).collect(),
        ),
        UsageBy::Project => (
            &["project", "path"],
            report
                .by_project
                .iter()
                .map(|r| (vec![r.project.clone(), some(&r.path)], &r.amounts))
                .collect(),
        ),
        UsageBy::Session => (
            &["session", "project", "title", "last_active"],
            report
                .by_session
                .iter()
                .map(|r| {
                    let names = vec![
                        r.session.clone(),
                        r.project.clone(),
                        cell(&r.title),
                        some(&r.last_active),
                    ];
                    (names, &r.amounts)
                })
                .collect(),
        ),
        UsageBy::Owner => (&["owner"], source_rows(report)),
        UsageBy::Machine => (&["owner", "machine"], source_rows(report)),
        UsageBy::Conversation => (
            &["session", "n", "leaf", "status", "title"],
            report
                .by_conversation
                .iter()
                .flatten()
                .map(|r| {
                    let names = vec![
                        r.session.clone(),
                        r.n.to_string(),
                        r.leaf.clone(),
                        r.status.as_str().to_owned(),
                        cell(&r.title),
                    ];
                    (names, &r.amounts)
                })
                .collect(),
        ),
        UsageBy::Branch => (
            &["session", "node", "status", "prompt"],
            report
                .branches
                .iter()
                .flatten()
                .map(|r| {
                    let names = vec![
                        r.session.clone(),
                        r.node.clone(),
                        r.status.as_str().to_owned(),
                        cell(&r.prompt),
                    ];
                    (names, &r.amounts)
                })
                .collect(),
        ),
    }
}

fn source_rows(report: &Usage) -> CsvRows<'_> {
    let names = |row: &BySource| -> Vec<String> {
        let names = std::iter::once(&row.owner).chain(&row.machine);
        names.map(|name| escape_formula(name)).collect()
    };
    report.by_source.iter().flatten().map(|row| (names(row), &row.amounts)).collect()
}

fn amount_cells(amounts: &Amounts) -> [String; 12] {
    [
        amounts.messages.to_string(),
        amounts.input.to_string(),
        amounts.output.to_string(),
        amounts.cache_read.to_string(),
        amounts.cache_write_5m.to_string(),
        amounts.cache_write_1h.to_string(),
        amounts.cost_usd.map(|cost| cost.to_string()).unwrap_or_default(),
        amounts.unpriced_tokens.to_string(),
        amounts.thinking.to_string(),
        amounts.fast_messages.to_string(),
        amounts.web_searches.to_string(),
        amounts.web_fetches.to_string(),
    ]
}

/// Keeps a spreadsheet from taking words of a transcript for a formula.
fn escape_formula(text: &str) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        format!("'{text}")
    } else {
        text.to_owned()
    }
}

fn csv_error(error: csv::Error) -> CommandError {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error.into(),
        other => CommandError::user_error(format!("{other:?}")),
    }
}
