//! Looking for words: in one session, and in all of them.

use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use ramus_app::Workspace;
use ramus_core::name::short_id;
use ramus_core::query::Query;
use ramus_core::resume::Rule;
use ramus_core::session::NodeId;
use ramus_core::title::Summaries;
use ramus_render::snippet::Snippet;
use ramus_render::{Label, Line};
use ramus_store::prompts::{LostPrompts, NotedPrompt};
use ramus_store::scan::{Again, Content, Filter, Histories, Hit, Order, Place, Source, Spot, scan};

use crate::event::{Chapter, Event};
use crate::panes::results::{Found, Message};
use crate::work::{Desk, Slot};

/// Looks into one session.
pub(crate) fn here_desk(events: Sender<Event>) -> Desk<(Arc<Chapter>, String)> {
    Desk::open(events, |(chapter, text): (Arc<Chapter>, String), _, events| {
        let Ok(query) = Query::words(&text) else { return };
        let source = Source {
            file: chapter.file.clone(),
            content: Content::Records,
            project: None,
            only_session: None,
            sidechain: None,
        };
        let found = scan(&[source], &query, None, Order::Time, &Filter::default(), &|_| {});
        let records = chapter.history.session.records();
        let node = |place: &Place| {
            let index = records.binary_search_by_key(&place.span.at, |record| record.span.at);
            index.ok().map(|index| chapter.history.tree.first(NodeId(index as u32)))
        };
        let mut hits: Vec<NodeId> = found.places.iter().filter_map(node).collect();
        hits.sort_unstable();
        hits.dedup();
        let _ = events.send(Event::Hits { file: chapter.file.path.clone(), hits });
    })
}

/// How many messages are shown at most, the newest first.
const MOST: usize = 1_000;
/// How often what was found so far is shown.
const PACE: Duration = Duration::from_millis(40);
/// How much of a text is kept around what matches.
const SNIPPET: usize = 200;

/// Looks into everything.
pub(crate) fn all_desk(events: Sender<Event>, workspace: Arc<Workspace>) -> Desk<String> {
    Desk::open(events, move |text: String, newer, events| {
        let query = match Query::words(&text) {
            Ok(query) => query,
            Err(error) => {
                let _ = events.send(Event::Said(Line::new(&error.to_string(), Label::Error)));
                return;
            }
        };
        let projects = workspace.list_again();
        let sources: Vec<Source> = projects
            .iter()
            .enumerate()
            .flat_map(|(index, project)| Source::of_project(index, project))
            .collect();
        let filter = Filter::open(workspace.index(), &projects);
        let found = scan(&sources, &query, None, Order::Time, &filter, &|_| {});
        let mut hits = Hit::merge(found.places, &sources, Order::Time);
        let mut lost = LostPrompts::read(workspace.roots(), &projects).prompts;
        lost.retain(|prompt| prompt.fits(&query));
        let all = hits.len() + lost.len();
        hits.truncate(MOST);
        lost.truncate(MOST - hits.len());
        let files = |source: &Source| source.project.map(|index| &projects[index].files[..]);
        let rule = workspace.rule();
        let mut search = Search { hits: &hits, lost, sources: &sources, query: &query, rule };
        search.tell(&text, all, &files, newer, events);
    })
}

struct Search<'a> {
    hits: &'a [Hit],
    /// Prompts whose sessions are gone.
    lost: Vec<NotedPrompt>,
    sources: &'a [Source],
    query: &'a Query,
    rule: Rule,
}

type Files<'a> = dyn Fn(&Source) -> Option<&'a [ramus_store::place::HistoryFile]> + 'a;

impl Search<'_> {
    /// Finds out where hits lie, a file at a time, and tells of them as they become known.
    fn tell(
        &mut self,
        text: &str,
        all: usize,
        files: &Files<'_>,
        newer: &Slot<String>,
        events: &Sender<Event>,
    ) {
        let mut histories = Histories::new(self.rule);
        let mut again = Again::default();
        let mut known: Vec<Option<(Spot, String, Option<String>)>> = vec![None; self.hits.len()];
        let mut messages = Vec::new();
        let mut told = Instant::now();
        let send = |messages: &mut Vec<Message>, done: bool| {
            let messages = std::mem::take(messages);
            let found = Found { text: text.to_owned(), messages, all, done };
            let _ = events.send(Event::Found(Box::new(found)));
        };
        for index in 0..self.hits.len() {
            if newer.is_waiting() {
                return;
            }
            if known[index].is_none() {
                self.look_up(index, files, &mut histories, &mut known);
            }
            let (spot, session, title) = known[index].take().unwrap_or_default();
            messages.extend(self.message(index, &spot, session, title, &mut again));
            if told.elapsed() > PACE {
                send(&mut messages, false);
                told = Instant::now();
            }
        }
        let lost = std::mem::take(&mut self.lost);
        messages.extend(lost.into_iter().map(|prompt| self.lost_message(prompt)));
        send(&mut messages, true);
    }

    fn lost_message(&self, prompt: NotedPrompt) -> Message {
        let range = self.query.find(&prompt.text).unwrap_or_default();
        Message {
            file: None,
            spilled: false,
            session: prompt.session.clone(),
            title: Some(format!("deleted session {}", short_id(&prompt.session))),
            node: None,
            branch: None,
            is_agent: false,
            kind: "prompt only",
            time: prompt.time,
            snippet: Snippet::new(&prompt.text, &range, SNIPPET),
            lost: Some(prompt),
            copies: 0,
        }
    }

    /// Finds out where all hits of one file lie.
    fn look_up(
        &self,
        index: usize,
        files: &Files<'_>,
        histories: &mut Histories,
        known: &mut [Option<(Spot, String, Option<String>)>],
    ) {
        let source = self.hits[index].place.source;
        let together: Vec<usize> =
            (index..self.hits.len()).filter(|at| self.hits[*at].place.source == source).collect();
        let places: Vec<Place> = together.iter().map(|at| self.hits[*at].place).collect();
        let source = &self.sources[source as usize];
        let project = files(source).unwrap_or_default();
        let Ok(found) = histories.whereabouts(source, &places, project, &Summaries::default())
        else {
            return;
        };
        for (at, spot) in together.into_iter().zip(found.spots) {
            known[at] = Some((spot, found.session.clone(), found.title.clone()));
        }
    }

    fn message(
        &self,
        index: usize,
        spot: &Spot,
        session: String,
        title: Option<String>,
        again: &mut Again,
    ) -> Option<Message> {
        let hit = &self.hits[index];
        let source = &self.sources[hit.place.source as usize];
        let is_agent = source.file.role.is_agent();
        let shown = again.read(source, &hit.place, self.query, |finding| {
            let snippet = Snippet::new(&finding.text, &finding.range, SNIPPET);
            (snippet, finding.text_kind.word(), finding.time)
        });
        let (snippet, kind, time) = shown.ok().flatten()?;
        Some(Message {
            file: Some(source.file.clone()),
            // What is kept beside a session is shown with the session.
            spilled: source.content == Content::Spilled,
            session,
            title,
            node: spot.node,
            branch: spot.branch,
            is_agent,
            kind,
            time,
            snippet,
            lost: None,
            copies: hit.copies.len(),
        })
    }
}
