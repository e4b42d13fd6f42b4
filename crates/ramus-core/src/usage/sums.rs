//! The books in one pass: sums by day and by session.

use std::collections::BTreeMap;

use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::stretch::Quarter;
use super::{Books, Home, Post, Sum};
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
pub struct Sums<'a> {
    pub total: Sum,
    pub main: Sum,
    pub agents: Sum,
    pub active: Sum,
    pub abandoned: Sum,
    /// By day; messages without a time are on none.
    pub days: BTreeMap<Date, Sum>,
    /// Messages without a time.
    pub undated: Sum,
    /// By model; a message counts for the one that began it.
    pub models: BTreeMap<&'a str, Sum>,
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

impl<'a> Sums<'a> {
    /// Adds up the books of so many files, by the days of a time zone.
    pub fn new(books: &'a Books, files: usize, zone: &TimeZone) -> Self {
        let none = Sum::default();
        let mut sums = Self {
            total: none,
            main: none,
            agents: none,
            active: none,
            abandoned: none,
            days: BTreeMap::new(),
            undated: none,
            models: BTreeMap::new(),
            sessions: vec![SessionSum::default(); files],
        };
        let mut models: Vec<Option<Sum>> = vec![None; books.models.len()];
        let mut calendar = Calendar { zone, quarter: None, day: None };
        for Post { home, model, quarter, sum } in books.posts() {
            models[usize::from(model)].get_or_insert_default().add(&sum);
            sums.add(home, calendar.day(quarter), &sum);
        }
        let named = books.models.iter().map(|model| &**model).zip(models);
        sums.models = named.filter_map(|(model, sum)| Some((model, sum?))).collect();
        sums
    }

    fn add(&mut self, Home { session, agent, status, .. }: Home, day: Option<Date>, sum: &Sum) {
        self.total.add(sum);
        let session = &mut self.sessions[session as usize];
        session.all.add(sum);
        match agent {
            true => {
                self.agents.add(sum);
                session.agents += sum.cost;
            }
            false => self.main.add(sum),
        }
        match status {
            Status::Active => self.active.add(sum),
            Status::Abandoned => {
                self.abandoned.add(sum);
                session.abandoned += sum.cost;
            }
        }
        match day {
            Some(day) => self.days.entry(day).or_default().add(sum),
            None => self.undated.add(sum),
        }
    }
}

/// Tells days, quickly for quarters that are asked for again.
struct Calendar<'a> {
    zone: &'a TimeZone,
    quarter: Option<Quarter>,
    day: Option<Date>,
}

impl Calendar<'_> {
    fn day(&mut self, quarter: Option<Quarter>) -> Option<Date> {
        if quarter != self.quarter {
            self.quarter = quarter;
            self.day =
                quarter.map(|quarter| self.zone.to_datetime(quarter.start().timestamp()).date());
        }
        self.day
    }
}
