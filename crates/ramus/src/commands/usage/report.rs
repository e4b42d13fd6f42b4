//! The books as an answer: sums by time, model, project, session and branch.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use ramus_core::branches::Status;
use ramus_core::title::{conversation_title, session_title};
use ramus_core::usage::{Entry, Sum};
use ramus_render::json::{
    Amounts, ByBranch, ByConversation, ByLine, ByModel, ByProject, BySession, ByTime, OfBranch,
    Unpriced, Usage, dollars,
};

use super::ledger::Ledger;
use super::{By, Filter};
use crate::prices::Prices;

/// Adds everything up.
pub(super) fn report(
    ledger: &Ledger<'_>,
    filter: &Filter,
    prices: &Prices,
    zone: &TimeZone,
    by: Option<By>,
) -> Usage {
    let books = &ledger.books;
    let sums = Sums::new(ledger, zone);
    let days = &sums.days;
    let models = books.by_model();
    Usage {
        zone: zone_name(zone).to_owned(),
        since: filter.since.map(|time| time.to_string()),
        until: filter.until.map(|time| time.to_string()),
        prices: prices.to_json(),
        totals: Amounts::from(&sums.total),
        by_week: by_time(days, monday, |week, amounts| ByTime {
            week,
            day: None,
            month: None,
            amounts,
        }),
        by_month: by_time(days, month, |month, amounts| ByTime {
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
        unpriced: models
            .iter()
            .filter(|(_, sum)| sum.unpriced > 0)
            .map(|(model, sum)| Unpriced { model: (*model).to_owned(), tokens: sum.unpriced })
            .collect(),
        by_model: by_model(&models),
        by_project: by_project(ledger, &sums),
        by_session: by_session(ledger, &sums),
        by_conversation: (by == Some(By::Conversation)).then(|| by_conversation(ledger)),
        branches: (by == Some(By::Branch)).then(|| branches(ledger)),
        by_branch: ByBranch {
            active: Amounts::from(&sums.active),
            abandoned: Amounts::from(&sums.abandoned),
        },
        by_line: ByLine { main: Amounts::from(&sums.main), agents: Amounts::from(&sums.agents) },
        client: None,
    }
}

fn zone_name(zone: &TimeZone) -> &str {
    // A system that names no zone is taken to be in UTC.
    let unnamed = if zone.is_unknown() { "UTC" } else { "local time" };
    zone.iana_name().unwrap_or(unnamed)
}

/// Everything that one pass over the entries adds up.
struct Sums {
    total: Sum,
    main: Sum,
    agents: Sum,
    active: Sum,
    abandoned: Sum,
    /// By day; messages without a time are on none.
    days: BTreeMap<Date, Sum>,
    /// By the file that a session has, or an agent whose session is gone.
    sessions: Vec<SessionSum>,
}

#[derive(Clone, Copy, Default)]
struct SessionSum {
    all: Sum,
    agents: f64,
    abandoned: f64,
}

impl Sums {
    fn new(ledger: &Ledger<'_>, zone: &TimeZone) -> Self {
        let none = Sum::default();
        let mut sums = Self {
            total: none,
            main: none,
            agents: none,
            active: none,
            abandoned: none,
            days: BTreeMap::new(),
            sessions: vec![SessionSum::default(); ledger.files.len()],
        };
        let mut calendar = Calendar { zone, quarter: i64::MIN, day: None };
        for entry in &ledger.books.entries {
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

fn monday(day: Date) -> String {
    let back = i64::from(day.weekday().to_monday_zero_offset());
    day.checked_sub(jiff::Span::new().days(back)).unwrap_or(day).to_string()
}

fn month(day: Date) -> String {
    day.strftime("%Y-%m").to_string()
}

fn by_time(
    days: &BTreeMap<Date, Sum>,
    name: impl Fn(Date) -> String,
    row: impl Fn(Option<String>, Amounts) -> ByTime,
) -> Vec<ByTime> {
    let mut sums: BTreeMap<String, Sum> = BTreeMap::new();
    for (day, sum) in days {
        sums.entry(name(*day)).or_default().add(sum);
    }
    sums.into_iter().map(|(name, sum)| row(Some(name), Amounts::from(&sum))).collect()
}

fn by_model(models: &BTreeMap<&str, Sum>) -> Vec<ByModel> {
    let row = |(model, sum): (&&str, &Sum)| ByModel {
        model: (*model).to_owned(),
        amounts: Amounts::from(sum),
    };
    dearest_first(models.iter().map(row).collect(), |row: &ByModel| &row.amounts)
}

fn by_project(ledger: &Ledger<'_>, sums: &Sums) -> Vec<ByProject> {
    let mut projects: BTreeMap<&str, (Option<&str>, Sum)> = BTreeMap::new();
    for ((project, _), session) in ledger.files.iter().zip(&sums.sessions) {
        let held = projects.entry(&project.name).or_default();
        held.0 = project.path.as_deref();
        held.1.add(&session.all);
    }
    let row = |(name, (path, sum)): (&str, (Option<&str>, Sum))| ByProject {
        project: name.to_owned(),
        path: path.map(str::to_owned),
        amounts: Amounts::from(&sum),
    };
    let used = projects.into_iter().filter(|(_, (_, sum))| sum.messages > 0);
    dearest_first(used.map(row).collect(), |row: &ByProject| &row.amounts)
}

fn by_session(ledger: &Ledger<'_>, sums: &Sums) -> Vec<BySession> {
    let mut rows: BTreeMap<(&str, &str), (SessionSum, Option<usize>)> = BTreeMap::new();
    let used = sums.sessions.iter().enumerate().filter(|(_, sum)| sum.all.messages > 0);
    for (index, sum) in used {
        let (project, file) = ledger.files[index];
        // The session of an agent may be gone.
        let id = file.parent_session().unwrap_or(&file.file.id);
        let (held, own) = rows.entry((&*project.name, id)).or_default();
        held.all.add(&sum.all);
        held.agents += sum.agents;
        held.abandoned += sum.abandoned;
        if file.parent_session().is_none() {
            *own = Some(index);
        }
    }
    let row = |((project, id), (sum, own)): ((&str, &str), (SessionSum, Option<usize>))| {
        let file = own.map(|index| ledger.files[index]);
        BySession {
            session: id.to_owned(),
            project: project.to_owned(),
            title: file.and_then(|(project, file)| {
                session_title(&file.digest, &project.summaries).map(str::to_owned)
            }),
            last_active: file
                .and_then(|(_, file)| file.digest.facts.last_active)
                .map(|time| time.to_string()),
            amounts: Amounts::from(&sum.all),
            agents_cost_usd: dollars(sum.agents),
            abandoned_cost_usd: dollars(sum.abandoned),
        }
    };
    dearest_first(rows.into_iter().map(row).collect(), |row: &BySession| &row.amounts)
}

/// Lists whole paths. Each is told by its own file alone, with the agents that it started.
fn by_conversation(ledger: &Ledger<'_>) -> Vec<ByConversation> {
    let mut rows = Vec::new();
    let agents = agents_by_branch(ledger);
    for (index, (project, file)) in ledger.files.iter().enumerate() {
        if ledger.accounts[index].agent {
            continue;
        }
        let account = &ledger.accounts[index].account;
        let mut sums = ledger.by_branch[index].clone();
        for (branch, sum) in sums.iter_mut().enumerate() {
            if let Some(more) = agents.get(&(index as u32, branch as u32)) {
                sum.add(more);
            }
        }
        for (n, conversation) in file.digest.conversations.iter().enumerate() {
            let Some(&end) = account.ends.get(n) else { continue };
            let own = sums.get(end as usize).map_or(0.0, |sum| sum.cost);
            rows.push(ByConversation {
                session: file.file.id.clone(),
                n: n + 1,
                leaf: conversation.leaf.to_string(),
                status: conversation.status.word(),
                resumes: conversation.resumes,
                title: conversation_title(&file.digest, conversation, &project.summaries)
                    .map(str::to_owned),
                amounts: Amounts::from(&account.along(end, &sums)),
                own_cost_usd: dollars(own),
            });
        }
    }
    dearest_first(rows, |row| &row.amounts)
}

/// Adds up agents with files of their own, by the session and branch that they were started on.
fn agents_by_branch(ledger: &Ledger<'_>) -> BTreeMap<(u32, u32), Sum> {
    let mut sums: BTreeMap<(u32, u32), Sum> = BTreeMap::new();
    for entry in ledger.books.entries.iter().filter(|entry| entry.file != entry.session) {
        sums.entry((entry.session, entry.branch)).or_default().add(&entry.charge.sum());
    }
    sums
}

fn branches(ledger: &Ledger<'_>) -> Vec<OfBranch> {
    let sums = ledger.books.by(|entry| (entry.session, entry.branch));
    let row = |((session, branch), sum): ((u32, u32), Sum)| {
        let (_, file) = ledger.files[session as usize];
        let account = &ledger.accounts[session as usize].account;
        let branch = account.branches.get(branch as usize);
        OfBranch {
            session: file.parent_session().unwrap_or(&file.file.id).to_owned(),
            node: branch.map(|branch| branch.head.to_string()).unwrap_or_default(),
            status: branch.map_or(Status::Active, |branch| branch.status).word(),
            prompt: branch.and_then(|branch| branch.prompt.as_deref()).map(str::to_owned),
            amounts: Amounts::from(&sum),
        }
    };
    dearest_first(sums.into_iter().map(row).collect(), |row: &OfBranch| &row.amounts)
}

/// Sorts rows by cost, then by tokens; equal ones keep their order.
fn dearest_first<T>(mut rows: Vec<T>, amounts: impl Fn(&T) -> &Amounts) -> Vec<T> {
    rows.sort_by_key(|row| {
        let amounts = amounts(row);
        let micros = (amounts.cost_usd.unwrap_or(0.0) * 1e6) as u64;
        Reverse((micros, amounts.tokens()))
    });
    rows
}
