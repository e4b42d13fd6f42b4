//! Search: hits as they are found, one object a line.
//!
//! Files are looked through the newest first, in batches that grow, so that the
//! first hits are there at once however large the history is.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::extract::{Query as Asked, State as Extract};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use jiff::ToSpan as _;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use ramus_app::survey::Survey;
use ramus_core::branches::Status;
use ramus_core::query::{Query, Role};
use ramus_core::time::Time;
use ramus_core::title::Summaries;
use ramus_render::json::{Answer, Hit as JsonHit, HitPlace, PromptOnly, prompt_hit};
use ramus_render::sanitize::is_bidi;
use ramus_store::place::{FileRole, Project};
use ramus_store::prompts::{LostPrompts, NotedPrompt};
use ramus_store::scan::{
    Again, Branch, Content, Filter, Histories, Hit, Order, Place, Source, Spot, ToolFilter,
    on_own_threads, scan_while, spills,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{pieces, unturned};
use crate::State;
use crate::error::ApiError;
use crate::work::Task;

/// How many bytes the first batch has; each one after is twice as large, up to a limit.
const BATCH: u64 = 16 * 1024 * 1024;
const LARGEST: u64 = 128 * 1024 * 1024;
/// How many characters of a text are shown.
const ROOM: usize = 240;
/// How many hits are sent at most.
const MOST: usize = 500;
/// How long hits are gathered before they are sent.
const GATHERED: Duration = Duration::from_millis(40);

#[derive(Debug, Deserialize)]
pub(crate) struct Wanted {
    q: String,
    #[serde(default)]
    regex: bool,
    project: Option<String>,
    session: Option<String>,
    role: Option<String>,
    tool: Option<String>,
    branch: Option<String>,
    since: Option<String>,
    until: Option<String>,
    #[serde(default)]
    limit: usize,
}

pub(crate) async fn find(
    Extract(state): Extract<Arc<State>>,
    Asked(wanted): Asked<Wanted>,
) -> Result<Response, ApiError> {
    let query = query(&wanted)?;
    let stop = Arc::new(AtomicBool::new(false));
    let (searched, stopped) = (state.clone(), stop.clone());
    let begin = move || Search::new(&searched, query, &wanted, stopped);
    let search = state.queues.run(Task::Searches, begin).await?;
    let headers = [
        (header::CONTENT_TYPE, "application/x-ndjson"),
        // Compressing would hold hits back until there are more.
        (header::CONTENT_ENCODING, "identity"),
    ];
    let body = pieces(state, Task::Searches, search, stop, Search::next);
    Ok((headers, body).into_response())
}

fn query(wanted: &Wanted) -> Result<Query, ApiError> {
    let made = if wanted.regex { Query::regex(&wanted.q) } else { Query::words(&wanted.q) };
    let mut query = made.map_err(|error| ApiError::bad(error.to_string()))?;
    if let Some(word) = wanted.role.as_deref().filter(|word| !word.is_empty()) {
        let role = Role::ALL.into_iter().find(|role| role.word() == word);
        query.roles.push(role.ok_or_else(|| ApiError::bad("there is no such role"))?);
    }
    let zone = TimeZone::system();
    query.since = start_of(wanted.since.as_deref(), 0, &zone)?;
    query.until =
        start_of(wanted.until.as_deref(), 1, &zone)?.map(|end| Time::from_millis(end.millis() - 1));
    Ok(query)
}

/// Returns when a day begins, or another one some days after it.
fn start_of(day: Option<&str>, after: i64, zone: &TimeZone) -> Result<Option<Time>, ApiError> {
    let Some(day) = day.filter(|day| !day.is_empty()) else { return Ok(None) };
    let start = day
        .parse::<Date>()
        .and_then(|day| day.checked_add(after.days())?.to_zoned(zone.clone()))
        .map_err(|_| ApiError::bad("a day is written as 2026-03-31"))?;
    Ok(Some(Time::from_millis(start.timestamp().as_millisecond())))
}

/// One search while it runs.
struct Search {
    projects: Arc<Vec<Project>>,
    survey: Option<Arc<Survey>>,
    query: Query,
    tool: Option<ToolFilter>,
    filter: Filter,
    status: Option<Status>,
    limit: usize,
    sources: Vec<Source>,
    histories: Histories,
    again: Again,
    seen: HashSet<u128>,
    sent: usize,
    found: usize,
    /// The next file to look through, how many bytes come with it, and how many were looked through.
    from: usize,
    batch: u64,
    done: u64,
    /// Prompts whose sessions are gone, as long as they were not looked through.
    lost: Option<LostPrompts>,
    /// What was found last and is not sent yet.
    told: Option<Told>,
    /// Nobody reads any more.
    stop: Arc<AtomicBool>,
}

/// The hits of one batch, while they are looked up and sent.
struct Told {
    hits: Vec<Hit>,
    by_source: BTreeMap<u32, Vec<usize>>,
    known: Vec<Option<(String, Option<String>, Spot)>>,
    next: usize,
}

impl Search {
    fn new(state: &State, query: Query, wanted: &Wanted, stop: Arc<AtomicBool>) -> Self {
        let projects = state.workspace.projects();
        let mut sources = sources(&projects, wanted);
        sources.sort_by_key(|source| Reverse(source.file.modified));
        let name = wanted.tool.clone().filter(|name| !name.is_empty());
        let is_any = |text: &Option<String>| text.as_deref().is_none_or(str::is_empty);
        let wants_lost = [&wanted.tool, &wanted.session, &wanted.branch].into_iter().all(is_any);
        let lost = wants_lost.then(|| {
            let mut lost = LostPrompts::read(state.workspace.roots(), &projects);
            let project = wanted.project.as_deref().filter(|project| !project.is_empty());
            lost.prompts.retain(|prompt| {
                prompt.fits(&query) && project.is_none_or(|project| prompt.is_of(project))
            });
            lost
        });
        Self {
            lost,
            filter: Filter::open(state.workspace.index(), &projects),
            projects,
            survey: state.workspace.known_survey(),
            query,
            tool: name.map(|name| ToolFilter { name: Some(name), file: None }),
            status: match wanted.branch.as_deref() {
                Some("active") => Some(Status::Active),
                Some("abandoned") => Some(Status::Abandoned),
                _ => None,
            },
            limit: if wanted.limit == 0 { MOST } else { wanted.limit.min(MOST) },
            sources,
            histories: Histories::new(state.workspace.rule()),
            again: Again::default(),
            seen: HashSet::new(),
            sent: 0,
            found: 0,
            from: 0,
            batch: BATCH,
            done: 0,
            told: None,
            stop,
        }
    }

    /// Looks on until there is something to send; `None`: all was looked through, or nobody reads.
    fn next(&mut self) -> io::Result<Option<Bytes>> {
        let begun = Instant::now();
        let mut out = Vec::new();
        while !self.stop.load(Ordering::Relaxed) {
            match self.told.take() {
                Some(mut told) => {
                    while told.next < told.hits.len() && self.sent < self.limit {
                        self.tell(&mut told, &mut out)?;
                        if begun.elapsed() > GATHERED {
                            self.told = Some(told);
                            return Ok(Some(out.into()));
                        }
                    }
                    self.tell_progress(&mut out)?;
                }
                None if self.from == self.sources.len() => {
                    if let Some(lost) = self.lost.take() {
                        self.tell_lost(&lost, &mut out)?;
                    }
                    return Ok(Some(out.into()).filter(|out: &Bytes| !out.is_empty()));
                }
                None => self.told = Some(self.look_through()),
            }
            if !out.is_empty() && begun.elapsed() > GATHERED {
                return Ok(Some(out.into()));
            }
        }
        Ok(None)
    }

    /// Looks through the next batch of files.
    fn look_through(&mut self) -> Told {
        let from = self.from;
        let mut bytes = 0;
        while self.from < self.sources.len() && (bytes < self.batch || self.from == from) {
            bytes += self.sources[self.from].file.bytes;
            self.from += 1;
        }
        self.batch = (self.batch * 2).min(LARGEST);
        self.done += bytes;
        let batch = &self.sources[from..self.from];
        let go_on = || !self.stop.load(Ordering::Relaxed);
        let tool = self.tool.as_ref();
        // On threads of its own: lists that others wait for are made on all the others.
        let found = on_own_threads(|| {
            scan_while(batch, &self.query, tool, Order::Time, &self.filter, &|_| {}, &go_on)
        });
        let mut places = found.places;
        for place in &mut places {
            place.source += from as u32;
        }
        let hits = Hit::merge(places, &self.sources, Order::Time);
        let hits: Vec<Hit> =
            hits.into_iter().filter(|hit| self.seen.insert(hit.place.identity)).collect();
        self.found += hits.len();
        let mut by_source: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (index, hit) in hits.iter().enumerate() {
            by_source.entry(hit.place.source).or_default().push(index);
        }
        Told { known: hits.iter().map(|_| None).collect(), hits, by_source, next: 0 }
    }

    /// Sends the next hit of a batch, if it is wanted.
    fn tell(&mut self, told: &mut Told, out: &mut Vec<u8>) -> io::Result<()> {
        let index = told.next;
        told.next += 1;
        let source = told.hits[index].place.source;
        if let Some(together) = told.by_source.remove(&source) {
            self.look_up(source, &together, &told.hits, &mut told.known);
        }
        let (session, title, spot) = told.known[index].take().unwrap_or_default();
        if self.status.is_some() && self.status != spot.branch.map(|branch| branch.status) {
            return Ok(());
        }
        if let Some(hit) = self.hit(&told.hits[index], session, title, spot) {
            self.sent += 1;
            add_line(&Answer::new("ramus.find/1", hit), out)?;
        }
        Ok(())
    }

    /// Sends the prompts whose sessions are gone, after everything else.
    fn tell_lost(&mut self, lost: &LostPrompts, out: &mut Vec<u8>) -> io::Result<()> {
        self.found += lost.prompts.len();
        for prompt in lost.prompts.iter().take(self.limit.saturating_sub(self.sent)) {
            let NotedPrompt { text, time, project, session, line } = prompt;
            let project = project.as_deref();
            let range = self.query.find(text).unwrap_or_default();
            let only = PromptOnly { session, project, line: *line, time: *time };
            add_line(&Answer::new("ramus.find/1", prompt_hit(&only, text, &range)), out)?;
            self.sent += 1;
        }
        self.tell_progress(out)
    }

    fn tell_progress(&self, out: &mut Vec<u8>) -> io::Result<()> {
        let all: u64 = self.sources.iter().map(|source| source.file.bytes).sum();
        let progress = json!({"schema": "ramus.find.progress/1", "bytes": self.done, "of": all,
            "found": self.found, "shown": self.sent});
        add_line(&progress, out)
    }

    /// Finds out where all hits of one file lie.
    fn look_up(
        &mut self,
        index: u32,
        together: &[usize],
        hits: &[Hit],
        known: &mut [Option<(String, Option<String>, Spot)>],
    ) {
        let source = &self.sources[index as usize];
        let places: Vec<Place> = together.iter().map(|at| hits[*at].place).collect();
        let files = source.project.map_or(&[][..], |project| &self.projects[project].files);
        let name = source.project.map(|project| &self.projects[project].name);
        // Titles that other sessions gave come with the survey; hits do not wait for it.
        let surveyed = self.survey.iter().flat_map(|survey| &survey.projects);
        let owner = { surveyed }.find(|project| Some(&project.name) == name);
        let none = Summaries::default();
        let summaries = owner.map_or(&none, |project| &project.summaries);
        if let Ok(found) = self.histories.whereabouts(source, &places, files, summaries) {
            for (at, spot) in together.iter().zip(found.spots) {
                known[*at] = Some((found.session.clone(), found.title.clone(), spot));
            }
        }
    }

    fn hit(
        &mut self,
        hit: &Hit,
        session: String,
        title: Option<String>,
        spot: Spot,
    ) -> Option<JsonHit> {
        let source = &self.sources[hit.place.source as usize];
        let shown = self.again.read(source, &hit.place, &self.query, |finding| {
            let (snippet, matched) = snippet(&finding.text, finding.range.clone());
            (finding.text_kind, finding.time, snippet, matched)
        });
        let (kind, time, snippet, matched) = shown.ok().flatten()?;
        let file = |place: &Place| self.sources[place.source as usize].file.relative.clone();
        let branch: Option<Branch> = spot.branch;
        let is_agent = source.file.role.is_agent();
        let owner = if is_agent { format!("agent-{}", source.file.id) } else { session.clone() };
        Some(JsonHit {
            title,
            project: source.project.map(|project| self.projects[project].name.clone()),
            agent: is_agent.then(|| source.file.id.clone()),
            address: match &spot.uuid {
                Some(_) if spot.is_hidden => match branch {
                    Some(branch) => format!("{owner}@{}", branch.n),
                    None => owner,
                },
                Some(uuid) => format!("{owner}:{uuid}"),
                None => owner,
            },
            session,
            file: file(&hit.place),
            line: hit.place.line,
            uuid: spot.uuid.filter(|_| spot.is_own),
            role: kind.role().word(),
            kind: kind.word(),
            class: None,
            conversation: branch.map(|branch| branch.n),
            status: branch.map(|branch| branch.status.word()),
            resumes: branch.is_some_and(|branch| branch.resumes),
            timestamp: time.map(|time| time.to_string()),
            snippet,
            matched,
            places: hit
                .places()
                .map(|place| {
                    // Where copies lie is found out when somebody goes there.
                    let branch = branch.filter(|_| place.span == hit.place.span);
                    HitPlace {
                        file: file(place),
                        line: place.line,
                        status: branch.map(|branch| branch.status.word()),
                        conversation: branch.map(|branch| branch.n),
                    }
                })
                .collect(),
            context: None,
        })
    }
}

fn add_line(line: &impl Serialize, out: &mut Vec<u8>) -> io::Result<()> {
    let bytes = serde_json::to_vec(line)?;
    out.extend(unturned(&bytes).unwrap_or(bytes));
    out.push(b'\n');
    Ok(())
}

/// Cuts the text around a match, with white space folded.
fn snippet(text: &str, range: std::ops::Range<usize>) -> (String, [usize; 2]) {
    let fold =
        |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").replace(is_bidi, "");
    let first = text[..range.start].char_indices().rev().nth(ROOM / 3 - 1).map(|(at, _)| at);
    let before = match first.filter(|first| *first > 0) {
        // Half a word says nothing.
        Some(first) => {
            let part = &text[first..range.start];
            format!("… {}", part.split_once(char::is_whitespace).map_or(part, |(_, rest)| rest))
        }
        None => text[..range.start].to_owned(),
    };
    let mut before = fold(&before);
    let matched: String = fold(&text[range.clone()]).chars().take(ROOM).collect();
    let after = match text[range.end..].char_indices().nth(ROOM * 2 / 3) {
        Some((end, _)) => {
            let part = &text[range.end..][..end];
            let whole = part.rsplit_once(char::is_whitespace).map_or(part, |(whole, _)| whole);
            format!("{whole} …")
        }
        None => text[range.end..].to_owned(),
    };
    let space =
        |text: &str, at: Option<char>| at.is_some_and(char::is_whitespace) && !text.is_empty();
    if space(&before, text[..range.start].chars().next_back()) {
        before.push(' ');
    }
    let gap = if space(&after, text[range.end..].chars().next()) { " " } else { "" };
    let start = before.chars().count();
    let end = start + matched.chars().count();
    (format!("{before}{matched}{gap}{}", fold(&after)), [start, end])
}

fn sources(projects: &[Project], wanted: &Wanted) -> Vec<Source> {
    let mut sources = Vec::new();
    let session = wanted.session.as_deref().filter(|session| !session.is_empty());
    let only = wanted.project.as_deref().filter(|project| !project.is_empty());
    for (index, project) in projects.iter().enumerate() {
        if only.is_some_and(|only| project.name != only) {
            continue;
        }
        let source = |file, content, only_session| Source {
            file,
            content,
            project: Some(index),
            only_session,
            sidechain: None,
        };
        for file in &project.files {
            let mut only_session = None;
            let is_meant = match (session, &file.role) {
                (None, _) => true,
                (Some(id), FileRole::Session) => file.id == id,
                (Some(id), FileRole::NestedAgent { session } | FileRole::Journal { session }) => {
                    session == id
                }
                (Some(id), FileRole::FlatAgent) => {
                    only_session = Some(id.to_owned());
                    true
                }
            };
            if is_meant {
                sources.push(source(file.clone(), Content::Records, only_session));
            }
        }
        let spilled = spills(project, session);
        sources.extend(spilled.into_iter().map(|file| source(file, Content::Spilled, None)));
    }
    sources
}

#[cfg(test)]
mod tests {
    use super::snippet;

    #[test]
    fn a_match_stands_amid_its_words() {
        let (text, [from, to]) = snippet("one\n  two harp, three", 10..14);
        assert_eq!(text, "one two harp, three");
        let matched: String = text.chars().skip(from).take(to - from).collect();
        assert_eq!(matched, "harp");
    }

    #[test]
    fn the_match_is_where_it_says_although_something_goes() {
        let (text, at) = snippet("a\u{202e}b harp", 6..10);
        assert_eq!((&*text, at), ("ab harp", [3, 7]));
    }

    #[test]
    fn words_are_not_cut_in_two() {
        let text = format!("{}harp{}", "golden ".repeat(40), " silver".repeat(60));
        let (text, [from, to]) = snippet(&text, 280..284);
        assert!(
            text.starts_with("… golden golden ") && text.ends_with(" silver silver …"),
            "{text}"
        );
        let matched: String = text.chars().skip(from).take(to - from).collect();
        assert_eq!(matched, "harp");
    }
}
