//! The books in one pass: sums by day and by session.

use std::collections::BTreeMap;

use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::{Books, Entry, Sum};
use crate::branches::Status;
use crate::time::Time;

/// Whose a file of the books is.
#[derive(Clone, Copy, Debug)]
pub struct Owner<'a> {
    pub project: &'a str,
    /// The directory of the project, if a session of it tells.
    pub path: Option<&'a str>,
    /// The session, or the one that its agent works for, which may be gone.
    pub session: &'a str,
    /// The file is the session's own.
    pub own: bool,
    pub title: Option<&'a str>,
    pub last_active: Option<Time>,
}

/// Everything that one pass over the entries adds up.
#[derive(Debug)]
pub struct Sums {
    pub total: Sum,
    pub main: Sum,
    pub agents: Sum,
    pub active: Sum,
    pub abandoned: Sum,
    /// By day; messages without a time are on none.
    pub days: BTreeMap<Date, Sum>,
    /// By the file that a session has, or an agent whose session is gone.
    pub sessions: Vec<SessionSum>,
}

/// What one session used.
#[derive(Clone, Copy, Debug, Default)]
pub struct SessionSum {
    pub all: Sum,
    /// Dollars that agents took, and that lie on abandoned branches.
    pub agents: f64,
    pub abandoned: f64,
}

impl Sums {
    /// Adds up the books of so many files, by the days of a time zone.
    pub fn new(books: &Books, files: usize, zone: &TimeZone) -> Self {
        let none = Sum::default();
        let mut sums = Self {
            total: none,
            main: none,
            agents: none,
            active: none,
            abandoned: none,
            days: BTreeMap::new(),
            sessions: vec![SessionSum::default(); files],
        };
        let mut calendar = Calendar { zone, quarter: i64::MIN, day: None };
        for entry in &books.entries {
            let sum = entry.charge.sum();
            sums.total.add(&sum);
            let session = &mut sums.sessions[entry.session as usize];
            session.all.add(&sum);
            match entry.agent {
                true => {
                    sums.agents.add(&sum);
                    session.agents += sum.cost;
                }
                false => sums.main.add(&sum),
            }
            match entry.status {
                Status::Active => sums.active.add(&sum),
                Status::Abandoned => {
                    sums.abandoned.add(&sum);
                    session.abandoned += sum.cost;
                }
            }
            if let Some(day) = calendar.day(entry) {
                sums.days.entry(day).or_default().add(&sum);
            }
        }
        sums
    }
}

/// Tells days, quickly for messages that follow one another.
struct Calendar<'a> {
    zone: &'a TimeZone,
    /// The quarter of an hour that `day` is of: no zone changes the day within one.
    quarter: i64,
    day: Option<Date>,
}

impl Calendar<'_> {
    /// Returns the day of a message; `None` where no record of it says when.
    fn day(&mut self, entry: &Entry) -> Option<Date> {
        let time = entry.charge.time?;
        let quarter = time.millis().div_euclid(900_000);
        if quarter != self.quarter {
            self.quarter = quarter;
            self.day = Some(self.zone.to_datetime(time.timestamp()).date());
        }
        self.day
    }
}
