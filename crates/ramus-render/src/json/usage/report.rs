//! Totals by time, model, project and session.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use ramus_core::usage::{FileOwner, LedgerTotals, SessionTotal, UsageLedger, UsageTotal};

use super::{
    Amounts, ByBranch, ByLine, ByModel, ByProject, BySession, ByTime, Prices, Unpriced, Usage,
    round_dollars,
};

/// Adds everything up. `owners` has the session and project of each file.
pub fn usage_report(
    ledger: &UsageLedger,
    owners: &[FileOwner<'_>],
    prices: Prices,
    zone: &TimeZone,
) -> Usage {
    let sums = LedgerTotals::new(ledger, owners.len(), zone);
    let days = &sums.days;
    let models = &sums.models;
    Usage {
        zone: zone_name(zone).to_owned(),
        since: None,
        until: None,
        prices,
        totals: Amounts::from(&sums.total),
        by_week: by_time(days, week_name, |week, amounts| ByTime {
            week,
            day: None,
            month: None,
            amounts,
        }),
        by_month: by_time(days, month_name, |month, amounts| ByTime {
            month,
            day: None,
            week: None,
            amounts,
        }),
        by_day: by_time(
            days,
            |day| day.to_string(),
            |day, amounts| ByTime { day, week: None, month: None, amounts },
        ),
        undated: (sums.undated.messages > 0).then(|| Amounts::from(&sums.undated)),
        unpriced: models
            .iter()
            .filter(|(_, sum)| sum.unpriced > 0)
            .map(|(model, sum)| Unpriced { model: (*model).to_owned(), tokens: sum.unpriced })
            .collect(),
        by_model: by_model(models),
        by_project: by_project(owners, &sums),
        by_session: by_session(owners, &sums),
        by_conversation: None,
        by_source: None,
        branches: None,
        by_branch: ByBranch {
            active: Amounts::from(&sums.active),
            abandoned: Amounts::from(&sums.abandoned),
        },
        by_line: ByLine { main: Amounts::from(&sums.main), agents: Amounts::from(&sums.agents) },
        client: None,
    }
}

/// Sorts rows by cost, then by tokens, highest first. Equal rows keep their order.
pub fn most_expensive_first<T>(mut rows: Vec<T>, amounts: impl Fn(&T) -> &Amounts) -> Vec<T> {
    rows.sort_by_key(|row| {
        let amounts = amounts(row);
        let micros = (amounts.cost_usd.unwrap_or(0.0) * 1e6) as u64;
        Reverse((micros, amounts.total_tokens()))
    });
    rows
}

pub(super) fn zone_name(zone: &TimeZone) -> &str {
    // A system without a time zone is treated as UTC.
    let unnamed = if zone.is_unknown() { "UTC" } else { "local time" };
    zone.iana_name().unwrap_or(unnamed)
}

fn week_name(day: Date) -> String {
    let back = i64::from(day.weekday().to_monday_zero_offset());
    day.checked_sub(jiff::Span::new().days(back)).unwrap_or(day).to_string()
}

fn month_name(day: Date) -> String {
    day.strftime("%Y-%m").to_string()
}

fn by_time(
    days: &BTreeMap<Date, UsageTotal>,
    name: impl Fn(Date) -> String,
    row: impl Fn(Option<String>, Amounts) -> ByTime,
) -> Vec<ByTime> {
    let mut sums: BTreeMap<String, UsageTotal> = BTreeMap::new();
    for (day, sum) in days {
        sums.entry(name(*day)).or_default().add(sum);
    }
    sums.into_iter().map(|(name, sum)| row(Some(name), Amounts::from(&sum))).collect()
}

fn by_model(models: &BTreeMap<&str, UsageTotal>) -> Vec<ByModel> {
    let row = |(model, sum): (&&str, &UsageTotal)| ByModel {
        model: (*model).to_owned(),
        amounts: Amounts::from(sum),
    };
    most_expensive_first(models.iter().map(row).collect(), |row: &ByModel| &row.amounts)
}

fn by_project(owners: &[FileOwner<'_>], sums: &LedgerTotals<'_>) -> Vec<ByProject> {
    let mut projects: BTreeMap<&str, (Option<&str>, UsageTotal)> = BTreeMap::new();
    for (owner, session) in owners.iter().zip(&sums.sessions) {
        let held = projects.entry(owner.project).or_default();
        held.0 = owner.path;
        held.1.add(&session.all);
    }
    let row = |(name, (path, sum)): (&str, (Option<&str>, UsageTotal))| ByProject {
        project: name.to_owned(),
        path: path.map(str::to_owned),
        amounts: Amounts::from(&sum),
    };
    let used = projects.into_iter().filter(|(_, (_, sum))| sum.messages > 0);
    most_expensive_first(used.map(row).collect(), |row: &ByProject| &row.amounts)
}

fn by_session(owners: &[FileOwner<'_>], sums: &LedgerTotals<'_>) -> Vec<BySession> {
    let mut rows: BTreeMap<(&str, &str), (SessionTotal, Option<&FileOwner<'_>>)> = BTreeMap::new();
    let used = owners.iter().zip(&sums.sessions).filter(|(_, sum)| sum.all.messages > 0);
    for (owner, sum) in used {
        let (held, own) = rows.entry((owner.project, owner.session)).or_default();
        held.all.add(&sum.all);
        held.agents += sum.agents;
        held.abandoned += sum.abandoned;
        if owner.own {
            *own = Some(owner);
        }
    }
    let row =
        |((project, id), (sum, own)): ((&str, &str), (SessionTotal, Option<&FileOwner<'_>>))| {
            BySession {
                session: id.to_owned(),
                project: project.to_owned(),
                title: own.and_then(|own| own.title).map(str::to_owned),
                last_active: own.and_then(|own| own.last_active).map(|time| time.to_string()),
                amounts: Amounts::from(&sum.all),
                agents_cost_usd: round_dollars(sum.agents),
                abandoned_cost_usd: round_dollars(sum.abandoned),
            }
        };
    most_expensive_first(rows.into_iter().map(row).collect(), |row: &BySession| &row.amounts)
}
