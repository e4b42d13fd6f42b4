//! Two conversations compared.

use std::sync::Arc;

use axum::extract::{Query, State as Extract};
use ramus_core::body::Body;
use ramus_core::compare::{Common, Content, FileChange, FilePair, Side, Stretch, common, files};
use ramus_core::name::short_id;
use ramus_core::price::PriceList;
use ramus_core::record::Kind;
use ramus_core::session::Session;
use ramus_core::turn::TurnKind;
use ramus_render::compare::{Compared, Named};
use ramus_render::json::{self, Answer};
use ramus_render::{diff as text_diff, html};
use ramus_store::Bodies;
use serde::{Deserialize, Serialize};

use super::{Answered, answer};
use crate::State;
use crate::error::ApiError;
use crate::library::Found;
use crate::transcript::{Placed, Transcript};
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
        let open = |id: &str, leaf: &str| {
            let found = state.library.find(id)?;
            let path = state.library.transcript(&found, leaf)?;
            Ok::<_, ApiError>((found, path))
        };
        let (found_a, a) = open(&sides.a, &sides.a_leaf)?;
        let (found_b, b) = open(&sides.b, &sides.b_leaf)?;
        let shared = common(&stretches(&a), &stretches(&b));
        let (side_a, views_a) = read(&a, &shared, 0, state.library.prices())?;
        let (side_b, views_b) = read(&b, &shared, 1, state.library.prices())?;
        let files = files(&side_a, &side_b);
        let names = [named(state, &found_a, &a), named(state, &found_b, &b)];
        let compared = Compared {
            common: &shared,
            names: [&names[0], &names[1]],
            sides: [&side_a, &side_b],
            files: &files,
            prices: state.library.prices(),
        };
        let ids = [(&*found_a.file.id, &*a.leaf), (&*found_b.file.id, &*b.leaf)];
        let mut diff = json::diff(&compared, ids, [&sessions(&a), &sessions(&b)]);
        diff.only_a.clear();
        diff.only_b.clear();
        for file in &mut diff.files {
            (file.a.content, file.b.content) = (None, None);
        }
        let changes = files.iter().map(changes).collect();
        Ok(Answer::new("ramus.diff/1", DiffView { diff, views_a, views_b, changes }))
    })
    .await
}

fn stretches(path: &Transcript) -> Vec<Stretch<'_>> {
    path.parts.iter().map(|part| Stretch { history: &part.history, path: &part.path }).collect()
}

fn sessions(path: &Transcript) -> Vec<&Session> {
    path.parts.iter().map(|part| &part.history.session).collect()
}

fn named(state: &State, found: &Found, path: &Transcript) -> Named {
    let id = short_id(&found.file.id);
    let address = match path.n {
        Some(n) => format!("{id}@{n}"),
        None => format!("{id}:{}", short_id(&path.leaf)),
    };
    let history = path.parts.last().map(|part| &part.history);
    let title = history.and_then(|history| state.library.title(found, history, path.n));
    Named { address, status: path.status, title }
}

/// Reads all turns of a path, and the tokens of what is its own.
fn read(
    path: &Transcript,
    common: &Common,
    which: usize,
    prices: &PriceList,
) -> Result<(Side, Vec<View>), ApiError> {
    let mut side = Side::default();
    let mut views: Vec<View> = Vec::new();
    for Placed { at, part, turn } in path.read(0..path.len())? {
        let is_own = turn.nodes.first().is_some_and(|node| common.own[which][part].contains(node));
        if !is_own || matches!(turn.kind, TurnKind::Fork(_)) {
            side.shared(&turn);
            continue;
        }
        if views.len() < SHOWN {
            let i = views.iter().rev().take_while(|view| view.at == at).count();
            let look = Look { history: &path.parts[part].history, prices, whole: false };
            views.push(look.turn(at, i, &turn));
        }
        side.own(part, turn);
    }
    for (part, own) in path.parts.iter().zip(&common.own[which]) {
        let mut bodies = Bodies::open(&part.file.path)?;
        let records = own.iter().map(|node| part.history.session.record(*node));
        for record in records.filter(|record| record.kind == Kind::Assistant) {
            if let Ok(Body::Assistant(body)) = Body::parse(&bodies.bytes(record.span)?) {
                side.usage.take(&body);
            }
        }
    }
    Ok((side, views))
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
