//! Turns of a transcript by position, and opened details.

use std::sync::Arc;

use axum::extract::{Path, Query, State as Extract};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use ramus_core::body::MediaSource;
use ramus_core::price::PriceList;
use ramus_render::json::Answer;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{ApiResult, answer_json, run_work};
use crate::ServerState;
use crate::error::ApiError;
use crate::path_transcript::{PathTranscript, PlacedTurn};
use crate::turn_view::{TurnViewer, View, picture_type, turn_pictures, turn_text};
use crate::work_queues::TaskKind;

/// How many positions are sent at once.
const MAX_POSITIONS: usize = 200;
/// How many messages are searched for the next failure before the web app asks again.
const MAX_SCANNED: usize = 4_000;

#[derive(Debug, Deserialize)]
pub(crate) struct TurnsQuery {
    /// The last message of the path; none: where the client would continue.
    #[serde(default)]
    leaf: String,
    /// A message to be found on the path.
    #[serde(default)]
    node: String,
    #[serde(default)]
    from: usize,
    #[serde(default)]
    to: usize,
    #[serde(default)]
    at: usize,
    #[serde(default)]
    i: usize,
    #[serde(default)]
    n: usize,
    #[serde(default)]
    whole: bool,
    #[serde(default)]
    back: bool,
}

impl TurnsQuery {
    /// Reads the requested path.
    fn open_transcript(
        &self,
        state: &ServerState,
        id: &str,
    ) -> Result<Arc<PathTranscript>, ApiError> {
        state.open_transcript(&state.workspace.session_by_id(id)?, &self.leaf)
    }

    /// Reads the requested turn, and its path.
    fn read_turn(
        &self,
        state: &ServerState,
        id: &str,
    ) -> Result<(Arc<PathTranscript>, PlacedTurn), ApiError> {
        let path = self.open_transcript(state, id)?;
        let placed = path.read_turn(self.at, self.i)?;
        Ok((path, placed))
    }
}

/// An outline of a path: its length, and the positions of notable messages.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct PathView {
    session: String,
    leaf: String,
    status: &'static str,
    resumes: bool,
    conversation: Option<u32>,
    count: usize,
    /// A letter for the role of each message.
    shape: String,
    /// A letter for each message: how long it is.
    sizes: String,
    /// What the last messages are called.
    last: Vec<String>,
    /// Positions after which the path forks.
    forks: Vec<usize>,
    /// The position of the fork at which it leaves the current branch.
    left_at: Option<usize>,
    /// The position of the requested message.
    at: Option<usize>,
    /// The sessions it runs through, the eldest first.
    sessions: Vec<String>,
}

pub(crate) async fn get_path(
    Extract(state): Extract<Arc<ServerState>>,
    Path(id): Path<String>,
    Query(at): Query<TurnsQuery>,
) -> ApiResult<Answer<PathView>> {
    answer_json(state, TaskKind::Sessions, move |state| {
        let found = state.workspace.session_by_id(&id)?;
        let leaf = if at.leaf.is_empty() { &at.node } else { &at.leaf };
        let path = state.open_transcript(&found, leaf)?;
        let view = PathView {
            session: found.address_id(),
            leaf: path.open.leaf_address(),
            status: path.open.status.as_str(),
            resumes: path.open.resumes,
            conversation: path.open.number,
            count: path.message_count(),
            shape: path.role_letters(),
            sizes: path.size_letters(),
            last: path.last_uuids(),
            forks: path.fork_positions(),
            left_at: path.left_at(),
            at: (!at.node.is_empty()).then(|| path.position_of(&at.node)).flatten(),
            sessions: path.open.parts.iter().map(|part| part.file.id.clone()).collect(),
        };
        Ok(Answer::new("ramus.path/1", view))
    })
    .await
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Turns {
    from: usize,
    to: usize,
    turns: Vec<View>,
}

pub(crate) async fn get_turns(
    Extract(state): Extract<Arc<ServerState>>,
    Path(id): Path<String>,
    Query(at): Query<TurnsQuery>,
) -> ApiResult<Answer<Turns>> {
    answer_json(state, TaskKind::Sessions, move |state| {
        let path = at.open_transcript(state, &id)?;
        let to =
            at.to.clamp(at.from, at.from.saturating_add(MAX_POSITIONS)).min(path.message_count());
        // Whole blocks are read anyway, so whole blocks are sent.
        let (first, last) = (path.block_range(at.from), path.block_range(to.saturating_sub(1)));
        let placed = path.read_turns(first.start..last.end)?;
        let views = turn_views(&path, &placed, &state.workspace.active_prices().list, at.whole);
        Ok(Answer::new("ramus.turns/1", Turns { from: first.start, to: last.end, turns: views }))
    })
    .await
}

/// Shows turns; `whole`: with nothing left out, as they are printed.
pub(super) fn turn_views(
    path: &PathTranscript,
    placed: &[PlacedTurn],
    prices: &PriceList,
    whole: bool,
) -> Vec<View> {
    let mut views: Vec<View> = Vec::with_capacity(placed.len());
    for PlacedTurn { at, part, turn } in placed {
        let i = views.iter().rev().take_while(|view| view.at == *at).count();
        let look = TurnViewer { history: &path.open.parts[*part].history, prices, whole };
        views.push(look.view_turn(*at, i, turn));
    }
    views
}

/// Sends one turn with nothing left out.
pub(crate) async fn get_turn(
    Extract(state): Extract<Arc<ServerState>>,
    Path(id): Path<String>,
    Query(at): Query<TurnsQuery>,
) -> ApiResult<Answer<View>> {
    answer_json(state, TaskKind::Sessions, move |state| {
        let (path, placed) = at.read_turn(state, &id)?;
        let prices = &state.workspace.active_prices().list;
        let look =
            TurnViewer { history: &path.open.parts[placed.part].history, prices, whole: true };
        Ok(Answer::new("ramus.turn/1", look.view_turn(at.at, at.i, &placed.turn)))
    })
    .await
}

/// Sends the original text of a message, for copying.
pub(crate) async fn get_text(
    Extract(state): Extract<Arc<ServerState>>,
    Path(id): Path<String>,
    Query(at): Query<TurnsQuery>,
) -> ApiResult<Value> {
    answer_json(state, TaskKind::Sessions, move |state| {
        let (_, placed) = at.read_turn(state, &id)?;
        Ok(json!({"text": turn_text(&placed.turn)}))
    })
    .await
}

/// Opens a call of a tool.
pub(crate) async fn get_call(
    Extract(state): Extract<Arc<ServerState>>,
    Path(id): Path<String>,
    Query(at): Query<TurnsQuery>,
) -> ApiResult<Value> {
    answer_json(state, TaskKind::Sessions, move |state| {
        let (path, placed) = at.read_turn(state, &id)?;
        let prices = &state.workspace.active_prices().list;
        let look =
            TurnViewer { history: &path.open.parts[placed.part].history, prices, whole: at.whole };
        let call = placed.turn.tool_calls().nth(at.n).ok_or_else(|| ApiError::not_found("call"))?;
        Ok(json!({"html": look.call_html(call)}))
    })
    .await
}

#[derive(Debug, Deserialize)]
pub(crate) struct WordsQuery {
    #[serde(default)]
    leaf: String,
    at: usize,
    text: String,
}

/// Finds out which calls and folds of a message hold some words: a hit in one of them must be unfolded to
/// be seen.
pub(crate) async fn matching_parts(
    Extract(state): Extract<Arc<ServerState>>,
    Path(id): Path<String>,
    Query(words): Query<WordsQuery>,
) -> ApiResult<Value> {
    answer_json(state, TaskKind::Sessions, move |state| {
        let path = state.open_transcript(&state.workspace.session_by_id(&id)?, &words.leaf)?;
        let (mut calls, mut messages) = (Vec::new(), Vec::new());
        for i in 0.. {
            let Ok(placed) = path.read_turn(words.at, i) else { break };
            let uuid = &placed.turn.uuid;
            let prices = &state.workspace.active_prices().list;
            let look = |whole| TurnViewer {
                history: &path.open.parts[placed.part].history,
                prices,
                whole,
            };
            for (n, call) in placed.turn.tool_calls().enumerate() {
                let is_in = |whole| contains_words(&look(whole).call_html(call), &words.text);
                let whole = !is_in(false);
                if !whole || is_in(true) {
                    calls.push(json!({"uuid": uuid, "i": i, "n": n, "whole": whole}));
                }
            }
            let folded = look(false).folded_parts(&placed.turn).into_iter();
            let folded = folded.filter(|(_, html)| contains_words(html, &words.text));
            messages.extend(folded.map(|(n, _)| json!({"uuid": uuid, "i": i, "n": n})));
        }
        Ok(json!({"calls": calls, "folds": messages}))
    })
    .await
}

/// Whether the text of some HTML contains words; any white space matches.
fn contains_words(html: &str, words: &str) -> bool {
    let mut text = String::with_capacity(html.len());
    for part in html.split('<') {
        // Text before the first tag has no closing bracket.
        text.push_str(part.split_once('>').map_or(part, |(_, after)| after));
    }
    for (entity, char) in
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]
    {
        text = text.replace(entity, char);
    }
    let message = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    message(&text).contains(&message(words))
}

/// Finds the next failure of a tool or of the service.
pub(crate) async fn next_failure(
    Extract(state): Extract<Arc<ServerState>>,
    Path(id): Path<String>,
    Query(at): Query<TurnsQuery>,
) -> ApiResult<Value> {
    answer_json(state, TaskKind::Sessions, move |state| {
        let path = at.open_transcript(state, &id)?;
        let mut here = path.block_range(at.at.min(path.message_count().saturating_sub(1)));
        let mut looked_at = 0;
        let beyond = |place: usize| if at.back { place < at.at } else { place > at.at };
        while !here.is_empty() && looked_at < MAX_SCANNED {
            looked_at += here.len();
            let placed = path.read_turns(here.clone())?;
            let failed = |placed: &&PlacedTurn| beyond(placed.at) && is_failure(placed);
            let hit =
                if at.back { placed.iter().rfind(failed) } else { placed.iter().find(failed) };
            if let Some(hit) = hit {
                return Ok(json!({"at": hit.at}));
            }
            here = match at.back {
                true if here.start == 0 => 0..0,
                true => path.block_range(here.start - 1),
                false => path.block_range(here.end),
            };
        }
        Ok(json!({"at": null}))
    })
    .await
}

fn is_failure(placed: &PlacedTurn) -> bool {
    use ramus_core::turn::TurnKind;
    let call = |call: &ramus_core::turn::ToolCall| {
        call.result.as_ref().is_some_and(|result| result.is_error)
    };
    match &placed.turn.kind {
        TurnKind::Synthetic(synthetic) => synthetic.is_api_error,
        TurnKind::Note(note) => note.kind == "api_error",
        TurnKind::Damaged { .. } => true,
        _ => placed.turn.tool_calls().any(call),
    }
}

/// Sends a picture: of a kind that only draws, decoded here.
pub(crate) async fn get_picture(
    Extract(state): Extract<Arc<ServerState>>,
    Path(id): Path<String>,
    Query(at): Query<TurnsQuery>,
) -> Result<Response, ApiError> {
    let (kind, bytes) = run_work(state, TaskKind::Sessions, move |state| {
        let nothing = || ApiError::not_found("picture");
        let (_, placed) = at.read_turn(state, &id)?;
        let media = *turn_pictures(&placed.turn).get(at.n).ok_or_else(nothing)?;
        let kind = picture_type(media).ok_or_else(nothing)?;
        let MediaSource::Base64(data) = &media.source else { return Err(nothing()) };
        let bytes = base64::engine::general_purpose::STANDARD.decode(data.trim());
        Ok((kind, bytes.map_err(|_| nothing())?))
    })
    .await?;
    Ok(([(header::CONTENT_TYPE, kind)], bytes).into_response())
}
