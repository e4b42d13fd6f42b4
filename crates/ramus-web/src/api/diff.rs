//! Two conversations compared.

use std::sync::Arc;

use axum::extract::{Query, State as Extract};
use ramus_core::compare::{FilePair, SideFileChange, TextContent};
use ramus_core::price::PriceList;
use ramus_core::turn::{Turn, TurnKind};
use ramus_render::json::{self, Answer};
use ramus_render::{diff as text_diff, html};
use serde::{Deserialize, Serialize};

use super::{ApiResult, answer_json};
use crate::ServerState;
use crate::path_transcript::PathTranscript;
use crate::turn_view::{TurnViewer, View};
use crate::work_queues::TaskKind;

/// How many turns of each side are shown.
const MAX_TURNS: usize = 300;

#[derive(Debug, Deserialize)]
pub(crate) struct DiffQuery {
    a: String,
    #[serde(default)]
    a_leaf: String,
    b: String,
    #[serde(default)]
    b_leaf: String,
}

/// The comparison, and the differences as the web app shows them.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct DiffView {
    #[serde(flatten)]
    /// Its turns are the views.
    diff: json::Diff<[(); 0]>,
    views_a: Vec<View>,
    views_b: Vec<View>,
    /// For each file, what the second side ends with against the first.
    changes: Vec<String>,
}

pub(crate) async fn get_diff(
    Extract(state): Extract<Arc<ServerState>>,
    Query(sides): Query<DiffQuery>,
) -> ApiResult<Answer<DiffView>> {
    answer_json(state, TaskKind::Sessions, move |state| {
        let open =
            |id: &str, leaf: &str| state.open_transcript(&state.workspace.session_by_id(id)?, leaf);
        let (a, b) = (open(&sides.a, &sides.a_leaf)?, open(&sides.b, &sides.b_leaf)?);
        let prices = &state.workspace.active_prices().list;
        let mut views = [OwnTurnViews::new(&a, prices), OwnTurnViews::new(&b, prices)];
        let comparison =
            state.workspace.compare_conversations([&a.open, &b.open], |side, part, turn| {
                views[side].add_turn(part, turn);
            })?;
        let [views_a, views_b] = views.map(|views| views.shown);
        let leaves = [a.open.leaf_address(), b.open.leaf_address()];
        let ids = [(&*a.open.file.file.id, &*leaves[0]), (&*b.open.file.file.id, &*leaves[1])];
        let compared = comparison.priced_comparison(prices);
        let mut diff = json::from_comparison(&compared, ids, [[], []]);
        for file in &mut diff.files {
            (file.a.content, file.b.content) = (None, None);
        }
        let changes = comparison.files.iter().map(change_html).collect();
        Ok(Answer::new("ramus.diff/1", DiffView { diff, views_a, views_b, changes }))
    })
    .await
}

/// The first turns of one side, as the web app shows them.
struct OwnTurnViews<'a> {
    path: &'a PathTranscript,
    prices: &'a PriceList,
    shown: Vec<View>,
    /// The part and the place in it where the last turn was found: turns come in order.
    last: (usize, usize),
}

impl<'a> OwnTurnViews<'a> {
    fn new(path: &'a PathTranscript, prices: &'a PriceList) -> Self {
        Self { path, prices, shown: Vec::new(), last: (0, 0) }
    }

    fn add_turn(&mut self, part: usize, turn: &Turn) {
        if self.shown.len() >= MAX_TURNS || matches!(turn.kind, TurnKind::Fork(_)) {
            return;
        }
        let piece = &self.path.open.parts[part];
        let mut from = if self.last.0 == part { self.last.1 } else { 0 };
        let message =
            turn.nodes.first().and_then(|node| piece.history.message_tree.message_of(*node));
        let further =
            piece.path.messages[from..].iter().position(|on_path| Some(*on_path) == message);
        from += further.unwrap_or(0);
        self.last = (part, from);
        let at = self.path.part_start(part) + from;
        let i = self.shown.iter().rev().take_while(|view| view.at == at).count();
        let look = TurnViewer { history: &piece.history, prices: self.prices, whole: false };
        self.shown.push(look.view_turn(at, i, turn));
    }
}

fn change_html(file: &FilePair) -> String {
    fn after_text(change: &SideFileChange) -> Option<&str> {
        match &change.after {
            TextContent::Text(text) => Some(text),
            TextContent::Absent => Some(""),
            TextContent::Unknown => None,
        }
    }
    match (after_text(&file.a), after_text(&file.b)) {
        (Some(a), Some(b)) if a != b => {
            let config = text_diff::DiffConfig { numbers: true, ..Default::default() };
            let lines = text_diff::diff_lines(a, b, &config);
            html::diff_html(&lines[..lines.len().min(2000)])
        }
        _ => String::new(),
    }
}
