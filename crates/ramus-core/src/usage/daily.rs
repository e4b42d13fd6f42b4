//! Usage by day, session, model and branch, for charts that sum it by several keys; and by block of five hours.

use std::collections::BTreeMap;

use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::ledger::DayCache;
use super::{LedgerEntry, UsageBlock, UsageLedger, UsageTotal};
use crate::branches::BranchStatus;

/// What is added up in one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DailyKey {
    /// `None`: its messages have no time.
    pub day: Option<Date>,
    /// The file of the session, or of a sub-agent whose session is gone.
    pub session: u32,
    pub model: u16,
    pub abandoned: bool,
    pub agent: bool,
}

impl UsageLedger {
    /// Returns the usage of each day in a time zone, the earliest first. The rows add up to the total.
    pub fn daily_usage(&self, zone: &TimeZone) -> BTreeMap<DailyKey, UsageTotal> {
        let mut calendar = DayCache { zone, quarter: None, day: None };
        let mut rows: BTreeMap<DailyKey, UsageTotal> = BTreeMap::new();
        for LedgerEntry { owner, model, quarter, total } in self.entries() {
            let key = DailyKey {
                day: calendar.day_of(quarter),
                session: owner.session,
                model,
                abandoned: owner.status == BranchStatus::Abandoned,
                agent: owner.agent,
            };
            rows.entry(key).or_default().add(&total);
        }
        rows
    }

    /// Returns the five-hour blocks in which something was used, the earliest first.
    ///
    /// Messages are known by their quarter of an hour here, and blocks begin with an hour, so each message
    /// is in its own block.
    pub fn block_usage(&self) -> Vec<(UsageBlock, UsageTotal)> {
        let mut quarters: BTreeMap<_, UsageTotal> = BTreeMap::new();
        for LedgerEntry { quarter, total, .. } in self.entries() {
            if let Some(quarter) = quarter {
                quarters.entry(quarter.start_time()).or_default().add(&total);
            }
        }
        let mut blocks: Vec<(UsageBlock, UsageTotal)> = Vec::new();
        for (time, total) in quarters {
            match blocks.last_mut() {
                Some((block, sum)) if time < block.end => sum.add(&total),
                _ => blocks.push((UsageBlock::from(time), total)),
            }
        }
        blocks
    }
}
