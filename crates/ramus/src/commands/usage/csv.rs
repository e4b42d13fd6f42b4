//! One table of comma-separated values.

use ramus_render::json::{Amounts, Usage};
use ramus_render::sanitize::sanitize;

use super::By;
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

/// Writes the table that was asked for.
pub(super) fn write(ui: &mut Ui, report: &Usage, by: By) -> Result<(), CommandError> {
    let (head, rows) = rows(report, by);
    let mut writer = csv::Writer::from_writer(ui.out());
    writer.write_record(head.iter().copied().chain(AMOUNTS)).map_err(failed)?;
    for (names, amounts) in rows {
        let names = names.iter().map(|name| sanitize(name).into_owned());
        writer.write_record(names.chain(numbers(amounts))).map_err(failed)?;
    }
    Ok(writer.flush()?)
}

type Rows<'a> = Vec<(Vec<String>, &'a Amounts)>;

fn rows(report: &Usage, by: By) -> (&'static [&'static str], Rows<'_>) {
    let some = |text: &Option<String>| text.clone().unwrap_or_default();
    let undated = || report.undated.iter().map(|amounts| (vec![String::new()], amounts));
    let said = |text: &Option<String>| text.as_deref().map(harmless).unwrap_or_default();
    match by {
        By::Day => {
            let days = report.by_day.iter().map(|r| (vec![some(&r.day)], &r.amounts));
            (&["day"], days.chain(undated()).collect())
        }
        By::Week => {
            let weeks = report.by_week.iter().map(|r| (vec![some(&r.week)], &r.amounts));
            (&["week"], weeks.chain(undated()).collect())
        }
        By::Month => {
            let months = report.by_month.iter().map(|r| (vec![some(&r.month)], &r.amounts));
            (&["month"], months.chain(undated()).collect())
        }
        By::Model => (
            &["model"],
            report.by_model.iter().map(|r| (vec![r.model.clone()], &r.amounts)).collect(),
        ),
        By::Project => (
            &["project", "path"],
            report
                .by_project
                .iter()
                .map(|r| (vec![r.project.clone(), some(&r.path)], &r.amounts))
                .collect(),
        ),
        By::Session => (
            &["session", "project", "title", "last_active"],
            report
                .by_session
                .iter()
                .map(|r| {
                    let names = vec![
                        r.session.clone(),
                        r.project.clone(),
                        said(&r.title),
                        some(&r.last_active),
                    ];
                    (names, &r.amounts)
                })
                .collect(),
        ),
        By::Conversation => (
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
                        r.status.word().to_owned(),
                        said(&r.title),
                    ];
                    (names, &r.amounts)
                })
                .collect(),
        ),
        By::Branch => (
            &["session", "node", "status", "prompt"],
            report
                .branches
                .iter()
                .flatten()
                .map(|r| {
                    let names = vec![
                        r.session.clone(),
                        r.node.clone(),
                        r.status.word().to_owned(),
                        said(&r.prompt),
                    ];
                    (names, &r.amounts)
                })
                .collect(),
        ),
    }
}

fn numbers(amounts: &Amounts) -> [String; 12] {
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
fn harmless(text: &str) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        format!("'{text}")
    } else {
        text.to_owned()
    }
}

fn failed(error: csv::Error) -> CommandError {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error.into(),
        other => CommandError::user(format!("{other:?}")),
    }
}
