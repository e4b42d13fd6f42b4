//! What all files used, added up without holding all messages in books at once.
//!
//! A message that stands in several files counts once (R20), so their accounts
//! have to be put together. Copies have the same id: messages are divided by it,
//! and the books of one part are added up and closed before the next are opened.
//! Until then they are packed.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::Arc;

use jiff::tz::TimeZone;
use ramus_core::price::PriceList;
use ramus_core::resume::Rule;
use ramus_core::usage::{Books, Charge, Sum, Sums};
use ramus_render::json;
use ramus_store::index::Index;
use ramus_store::ledger::Ledger;
use ramus_store::place::{Listing, Project};
use ramus_store::survey::{ProjectSurvey, Survey, Surveyed, survey_usage};

/// Into how many parts messages are divided.
const PARTS: usize = 16;
/// Bytes of files of which everything is held, before what nobody needs of it is let go.
const STRETCH: u64 = 16 * 1024 * 1024;

/// How files are read and what their tokens cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms<'a> {
    pub(crate) index: &'a Index,
    pub(crate) rule: Rule,
    pub(crate) prices: &'a PriceList,
    pub(crate) told: &'a json::Prices,
}

/// Adds up what all files of a listing used; what is `known` of them is not held twice.
pub(crate) fn usage(terms: Terms<'_>, listing: Listing, known: &Survey) -> json::Usage {
    let (mut survey, parts) = read(terms, listing, known);
    let mut ledger = Ledger::new(&mut survey, |_| true, false);
    let zone = TimeZone::system();
    let mut sums = Sums::new(&Books::default(), ledger.files.len(), &zone);
    let mut models: BTreeMap<String, Sum> = BTreeMap::new();
    for part in parts {
        for (file, charge) in part.unpack() {
            ledger.accounts[file as usize].account.charges.push(charge);
        }
        let books = Books::new(&mut ledger.accounts);
        add(&mut sums, Sums::new(&books, ledger.files.len(), &zone));
        for (model, sum) in books.by_model() {
            models.entry(model.to_owned()).or_default().add(&sum);
        }
    }
    let models = models.iter().map(|(model, sum)| (&**model, *sum)).collect();
    json::usage_of(&sums, &models, &ledger.owners(), terms.told.clone(), &zone)
}

/// The messages of one part, each with the number of its file in a [`Ledger`]; packed, for there are many.
#[derive(Debug, Default)]
struct Part(Vec<Vec<u8>>);

impl Part {
    fn pack(&mut self, messages: &[(u32, Charge)]) {
        self.0.push(bitcode::encode(messages));
    }

    fn unpack(self) -> impl Iterator<Item = (u32, Charge)> {
        let unpacked = |packed: Vec<u8>| bitcode::decode::<Vec<(u32, Charge)>>(&packed);
        self.0.into_iter().flat_map(move |packed| unpacked(packed).expect("because we packed it"))
    }
}

/// Reads what the messages of all files used, some files at a time.
fn read(terms: Terms<'_>, listing: Listing, known: &Survey) -> (Survey, [Part; PARTS]) {
    let known: HashMap<&Path, &Surveyed> = { known.projects.iter() }
        .flat_map(|project| project.sessions.iter().chain(&project.agents).chain(&project.journals))
        .map(|file| (&*file.file.path, file))
        .collect();
    let Listing { mut projects, problems } = listing;
    // A large file takes most room while it is read: first, while nothing else is held.
    let largest = |project: &Project| project.files.iter().map(|file| file.bytes).max();
    projects.sort_by_key(|project| std::cmp::Reverse(largest(project)));
    let mut survey = Survey { problems, ..Survey::default() };
    let mut parts: [Part; PARTS] = Default::default();
    let mut number = 0;
    let mut rest = projects.into_iter().peekable();
    while rest.peek().is_some() {
        let mut bytes = 0;
        let mut projects = Vec::new();
        while bytes < STRETCH
            && let Some(project) = rest.next()
        {
            bytes += project.files.iter().map(|file| file.bytes).sum::<u64>();
            projects.push(project);
        }
        let listing = Listing { projects, problems: Vec::new() };
        let mut stretch = survey_usage(terms.index, listing, terms.rule, terms.prices, &|_| {});
        let mut divided: [Vec<(u32, Charge)>; PARTS] = Default::default();
        for file in files(&mut stretch) {
            let same = known.get(&*file.file.path).filter(|same| same.file == file.file);
            for charge in slim(file, same.copied()) {
                divided[part_of(&charge)].push((number, charge));
            }
            number += 1;
        }
        parts.iter_mut().zip(&divided).for_each(|(part, messages)| part.pack(messages));
        survey.projects.append(&mut stretch.projects);
        survey.problems.append(&mut stretch.problems);
    }
    (survey, parts)
}

/// Takes the messages out of a file, and lets go of what sums need not know: another copy of what is
/// known, and the words of branches.
fn slim(file: &mut Surveyed, same: Option<&Surveyed>) -> Vec<Charge> {
    if let Some(same) = same {
        file.digest = same.digest.clone();
    }
    let Some(account) = file.account.as_mut().map(Arc::make_mut) else { return Vec::new() };
    for branch in &mut account.branches {
        (branch.head, branch.prompt) = (Box::default(), None);
    }
    std::mem::take(&mut account.charges)
}

/// Returns all files in the order of a [`Ledger`].
fn files(survey: &mut Survey) -> impl Iterator<Item = &mut Surveyed> {
    survey.projects.iter_mut().flat_map(|ProjectSurvey { sessions, agents, journals, .. }| {
        sessions.iter_mut().chain(agents).chain(journals)
    })
}

/// Returns the part that a message belongs to, with all of its copies.
fn part_of(charge: &Charge) -> usize {
    let mut hasher = DefaultHasher::new();
    charge.message.hash(&mut hasher);
    (hasher.finish() % PARTS as u64) as usize
}

fn add(sums: &mut Sums, more: Sums) {
    let Sums { total, main, agents, active, abandoned, days, sessions } = more;
    sums.total.add(&total);
    sums.main.add(&main);
    sums.agents.add(&agents);
    sums.active.add(&active);
    sums.abandoned.add(&abandoned);
    for (day, sum) in days {
        sums.days.entry(day).or_default().add(&sum);
    }
    for (session, more) in sums.sessions.iter_mut().zip(sessions) {
        session.all.add(&more.all);
        session.agents += more.agents;
        session.abandoned += more.abandoned;
    }
}

#[cfg(test)]
mod tests {
    use ramus_core::price::DATE;
    use ramus_store::place::Place;
    use ramus_store::survey::survey;
    use testkit::Home;

    use super::*;

    /// However messages are divided, the answer is that of books which hold all of them.
    #[test]
    fn parts_add_up_to_the_whole() {
        let home = Home::new();
        let id = |n: usize| format!("0a1b2c3d-0000-4000-8000-{n:012}");
        for n in 0..24 {
            let lines: Vec<String> = (0..n + 2)
                .flat_map(|turn| {
                    let parent =
                        if turn == 0 { String::new() } else { format!(" < b{}", turn - 1) };
                    // The first message stands in every file; sessions with an even number share the second.
                    let of = if turn == 0 || turn == 1 && n % 2 == 0 { 99 } else { n };
                    let ask = format!("a{turn}{parent} user more");
                    [ask, format!("b{turn} < a{turn} assistant #m{of}-{turn} said")]
                })
                .collect();
            let file = format!("-home-dev-p{}/{}.jsonl", n % 3, id(n));
            home.session(&file, &lines.join("\n"));
        }
        let agent = format!("-home-dev-p0/{}/subagents/agent-a9.jsonl", id(0));
        home.session(&agent, "x user steep it\ny < x assistant #agent steeped");
        let place = Place::open(vec![home.claude()]).unwrap();
        let prices = PriceList::default();
        let told = json::Prices { date: DATE, file: None, file_date: None };
        let (index, rule) = (&place.index, Rule::Client);
        let terms = Terms { index, rule, prices: &prices, told: &told };
        let known = survey(index, place.projects(), rule, &|_| {});
        let parts = usage(terms, place.projects(), &known);
        let mut all = survey_usage(index, place.projects(), rule, &prices, &|_| {});
        let ledger = Ledger::new(&mut all, |_| true, false);
        let zone = TimeZone::system();
        let whole = json::usage(&ledger.books, &ledger.owners(), told.clone(), &zone);
        assert_eq!(serde_json::to_value(&parts).unwrap(), serde_json::to_value(&whole).unwrap());
        let own: u64 = (0..24).map(|n| n + 1 - u64::from(n % 2 == 0)).sum();
        assert_eq!(parts.totals.messages, own + 3, "each message once");
    }
}
