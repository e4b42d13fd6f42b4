//! Two conversations compared.

use std::sync::Arc;

use axum::extract::{Query, State as Extract};
use ramus_core::body::Body;
use ramus_core::compare::{Common, Content, FileChange, FilePair, Side, Stretch, common, files};
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
use crate::transcript::{Placed, Transcript};
use crate::view::{Look, View};
use crate::work::Task;
use ramus_app::ResolvedFile;

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
            let found = state.workspace.session_by_id(id)?;
            let path = state.transcript(&found, leaf)?;
            Ok::<_, ApiError>((found, path))
        };
        let (found_a, a) = open(&sides.a, &sides.a_leaf)?;
        let (found_b, b) = open(&sides.b, &sides.b_leaf)?;
        let shared = common(&stretches(&a), &stretches(&b));
        let (side_a, views_a) = read(&a, &shared, 0)?;
        let (side_b, views_b) = read(&b, &shared, 1)?;
        let files = files(&side_a, &side_b);
        let names = [named(state, &found_a, &a), named(state, &found_b, &b)];
        let compared = Compared {
            common: &shared,
            names: [&names[0], &names[1]],
            sides: [&side_a, &side_b],
            files: &files,
            prices: &state.workspace.prices().list,
        };
        let leaves = [a.open.leaf_place(), b.open.leaf_place()];
        let ids = [(&*found_a.file.id, &*leaves[0]), (&*found_b.file.id, &*leaves[1])];
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
    path.open
        .parts
        .iter()
        .map(|part| Stretch { history: &part.history, path: &part.path })
        .collect()
}

fn sessions(path: &Transcript) -> Vec<&Session> {
    path.open.parts.iter().map(|part| &part.history.session).collect()
}

fn named(state: &State, found: &ResolvedFile, path: &Transcript) -> Named {
    let short = |id: &str| id.chars().take(8).collect::<String>();
    let id = short(&found.file.id);
    let address = match path.open.number {
        Some(n) => format!("{id}@{n}"),
        None => format!("{id}:{}", short(&path.open.leaf_place())),
    };
    Named { address, status: path.open.status, title: state.workspace.title(&path.open) }
}

/// Reads all turns of a path, and the tokens of what is its own.
fn read(path: &Transcript, common: &Common, which: usize) -> Result<(Side, Vec<View>), ApiError> {
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
            let look = Look { history: &path.open.parts[part].history, whole: false };
            views.push(look.turn(at, i, &turn));
        }
        side.own(part, turn);
    }
    for (part, own) in path.open.parts.iter().zip(&common.own[which]) {
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
