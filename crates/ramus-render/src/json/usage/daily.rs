//! Usage by day, session, model and branch, for charts that sum it by several keys.

use std::collections::HashMap;

use jiff::tz::TimeZone;
use ramus_core::usage::{FileOwner, UsageLedger};
use serde::Serialize;

use super::report::zone_name;
use super::{Amounts, Prices};

/// How many five-hour blocks are written.
const MAX_BLOCKS: usize = 1_000;

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DailyUsage {
    /// The time zone that days are of.
    pub zone: String,
    pub prices: Prices,
    pub models: Vec<String>,
    pub projects: Vec<UsageProject>,
    pub sessions: Vec<UsageSession>,
    /// They add up to everything.
    pub rows: Vec<DailyRow>,
    /// The five-hour blocks in which something was used, the earliest first.
    pub blocks: Vec<BlockRow>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct UsageProject {
    /// The encoded name.
    pub project: String,
    pub path: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct UsageSession {
    pub session: String,
    /// Its index in `projects`.
    pub project: usize,
    pub title: Option<String>,
}

/// What one model used in one session on one day, on active or abandoned branches, in sub-agents or not.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DailyRow {
    /// `None`: the messages have no time.
    pub day: Option<String>,
    /// Its index in `sessions`.
    pub session: usize,
    /// Its index in `models`.
    pub model: usize,
    pub abandoned: bool,
    pub agent: bool,
    pub messages: u64,
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    pub cost_usd: Option<f64>,
    /// Tokens that are not in the cost, because their model has no known price.
    pub unpriced_tokens: u64,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct BlockRow {
    /// The day on which it begins, in the zone of the report.
    pub day: String,
    pub start: String,
    pub end: String,
    pub messages: u64,
    pub tokens: u64,
    pub cost_usd: Option<f64>,
}

/// Converts the usage of many files. `owners` has the session and project of each file.
pub fn daily_usage(
    ledger: &UsageLedger,
    owners: &[FileOwner<'_>],
    prices: Prices,
    zone: &TimeZone,
) -> DailyUsage {
    let mut names = OwnerNames::default();
    let of_file: Vec<usize> = owners.iter().map(|owner| names.session_index(owner)).collect();
    let rows = ledger.daily_usage(zone).into_iter().map(|(key, total)| {
        let amounts = Amounts::from(&total);
        DailyRow {
            day: key.day.map(|day| day.to_string()),
            session: of_file[key.session as usize],
            model: usize::from(key.model),
            abandoned: key.abandoned,
            agent: key.agent,
            messages: amounts.messages,
            input: amounts.input,
            output: amounts.output,
            cache_read: amounts.cache_read,
            cache_write: amounts.cache_write_5m.saturating_add(amounts.cache_write_1h),
            cost_usd: amounts.cost_usd,
            unpriced_tokens: amounts.unpriced_tokens,
        }
    });
    let blocks = ledger.block_usage();
    let skipped = blocks.len().saturating_sub(MAX_BLOCKS);
    let blocks = blocks.into_iter().skip(skipped).map(|(block, total)| {
        let amounts = Amounts::from(&total);
        BlockRow {
            day: block.start_day(zone).to_string(),
            start: block.start.to_string(),
            end: block.end.to_string(),
            messages: amounts.messages,
            tokens: amounts.total_tokens(),
            cost_usd: amounts.cost_usd,
        }
    });
    DailyUsage {
        zone: zone_name(zone).to_owned(),
        prices,
        models: ledger.models.iter().map(ToString::to_string).collect(),
        rows: rows.collect(),
        blocks: blocks.collect(),
        projects: names.projects,
        sessions: names.sessions,
    }
}

/// Sessions and projects in the order in which files name them first.
#[derive(Default)]
struct OwnerNames<'a> {
    projects: Vec<UsageProject>,
    sessions: Vec<UsageSession>,
    known_projects: HashMap<&'a str, usize>,
    known_sessions: HashMap<(&'a str, &'a str), usize>,
}

impl<'a> OwnerNames<'a> {
    fn session_index(&mut self, owner: &FileOwner<'a>) -> usize {
        let project = *self.known_projects.entry(owner.project).or_insert_with(|| {
            let path = owner.path.map(str::to_owned);
            self.projects.push(UsageProject { project: owner.project.to_owned(), path });
            self.projects.len() - 1
        });
        let key = (owner.project, owner.session);
        let index = *self.known_sessions.entry(key).or_insert_with(|| {
            let session = owner.session.to_owned();
            self.sessions.push(UsageSession { session, project, title: None });
            self.sessions.len() - 1
        });
        let title = &mut self.sessions[index].title;
        *title = title.take().or(owner.title.map(str::to_owned));
        index
    }
}
