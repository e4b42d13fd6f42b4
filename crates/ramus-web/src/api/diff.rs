//! Two conversations compared.

use std::sync::Arc;

use axum::extract::{Query, State as Extract};
use ramus_core::compare::{Content, FileChange, FilePair};
use ramus_core::price::PriceList;
use ramus_core::turn::{Turn, TurnKind};
use ramus_render::json::{self, Answer};
use ramus_render::{diff as text_diff, html};
use serde::{Deserialize, Serialize};

use super::{Answered, answer};
use crate::State;
use crate::transcript::Transcript;
use crate::view::{Look, View};
use crate::work::Task;

/// How many turns of each side are shown.
const SHOWN: usize = 300;

#[derive(Debug, Deserialize)]
pub(crate) struct Sides {
    a: String,
    #[serde(default)]
    a_leaf: String,
    b: String,
    #[serde(default)]
    b_leaf: String,
}

/// The comparison, and what differs as the page shows it.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct DiffView {
    #[serde(flatten)]
    diff: json::Diff,
    views_a: Vec<View>,
    views_b: Vec<View>,
    /// For each file, what the second side ends with against the first.
    changes: Vec<String>,
}

pub(crate) async fn diff(
    Extract(state): Extract<Arc<State>>,
    Query(sides): Query<Sides>,
) -> Answered<Answer<DiffView>> {
    answer(state, Task::Sessions, move |state| {
        let open =
            |id: &str, leaf: &str| state.transcript(&state.workspace.session_by_id(id)?, leaf);
        let (a, b) = (open(&sides.a, &sides.a_leaf)?, open(&sides.b, &sides.b_leaf)?);
        let prices = &state.workspace.prices().list;
        let mut views = [Views::new(&a, prices), Views::new(&b, prices)];
        let comparison = state
            .workspace
            .compare([&a.open, &b.open], |side, part, turn| views[side].add(part, turn))?;
        let [views_a, views_b] = views.map(|views| views.shown);
        let leaves = [a.open.leaf_place(), b.open.leaf_place()];
        let ids = [(&*a.open.file.file.id, &*leaves[0]), (&*b.open.file.file.id, &*leaves[1])];
        let compared = comparison.compared(prices);
        let mut diff = json::diff(&compared, ids, [&a.open.sessions(), &b.open.sessions()]);
        diff.only_a.clear();
        diff.only_b.clear();
        for file in &mut diff.files {
            (file.a.content, file.b.content) = (None, None);
        }
        let changes = comparison.files.iter().map(changes).collect();
        Ok(Answer::new("ramus.diff/1", DiffView { diff, views_a, views_b, changes }))
    })
    .await
}

/// The first turns of one side, as the page shows them.
struct Views<'a> {
    path: &'a Transcript,
    prices: &'a PriceList,
    shown: Vec<View>,
    /// The part and the place in it where the last turn was found: turns come in order.
    last: (usize, usize),
}

impl<'a> Views<'a> {
    fn new(path: &'a Transcript, prices: &'a PriceList) -> Self {
        Self { path, prices, shown: Vec::new(), last: (0, 0) }
    }

    fn add(&mut self, part: usize, turn: &Turn) {
        if self.shown.len() >= SHOWN || matches!(turn.kind, TurnKind::Fork(_)) {
            return;
        }
        let piece = &self.path.open.parts[part];
        let mut from = if self.last.0 == part { self.last.1 } else { 0 };
        let fold = turn.nodes.first().and_then(|node| piece.history.folds.of(*node));
        let further = piece.path.folds[from..].iter().position(|on_path| Some(*on_path) == fold);
        from += further.unwrap_or(0);
        self.last = (part, from);
        let at = self.path.start_of(part) + from;
        let i = self.shown.iter().rev().take_while(|view| view.at == at).count();
        let look = Look { history: &piece.history, prices: self.prices, whole: false };
        self.shown.push(look.turn(at, i, turn));
    }
}

fn changes(file: &FilePair) -> String {
    fn text(change: &FileChange) -> Option<&str> {
        match &change.after {
            Content::Text(text) => Some(text),
            Content::Absent => Some(""),
            Content::Unknown => None,
        }
    }
    match (text(&file.a), text(&file.b)) {
        (Some(a), Some(b)) if a != b => {
            let config = text_diff::DiffConfig { numbers: true, ..Default::default() };
            let lines = text_diff::diff(a, b, &config);
            html::diff(&lines[..lines.len().min(2000)])
        }
        _ => String::new(),
    }
}
