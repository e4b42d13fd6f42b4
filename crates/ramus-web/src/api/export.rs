//! A path as a document to keep, sent while it is written.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Path, Query, State as Extract};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use ramus_render::export::{self, Config, Format, Header, Tools};
use ramus_render::text::WithheldThoughts;
use ramus_store::Bodies;
use serde::Deserialize;
use tokio::sync::mpsc::{Sender, channel};
use tokio_stream::wrappers::ReceiverStream;

use super::work;
use crate::State;
use crate::error::ApiError;
use crate::transcript::{Placed, Transcript};

#[derive(Debug, Deserialize)]
pub(crate) struct Wanted {
    #[serde(default)]
    leaf: String,
    #[serde(default)]
    format: String,
}

type Out = Sender<Result<Bytes, std::io::Error>>;

/// How many messages are written at a time.
const STRIDE: usize = 64;

pub(crate) async fn export(
    Extract(state): Extract<Arc<State>>,
    Path(id): Path<String>,
    Query(wanted): Query<Wanted>,
) -> Result<Response, ApiError> {
    let (format, ending, kind) = match &*wanted.format {
        "html" => (Some(Format::Html), "html", "text/html; charset=utf-8"),
        "json" => (Some(Format::Json), "json", "application/json"),
        "txt" => (Some(Format::Text), "txt", "text/plain; charset=utf-8"),
        "jsonl" => (None, "jsonl", "application/x-ndjson"),
        "" | "md" => (Some(Format::Markdown), "md", "text/markdown; charset=utf-8"),
        _ => {
            return Err(ApiError::bad(
                "there is no such format; there are md, html, json, jsonl and txt",
            ));
        }
    };
    let name = id.clone();
    let path = work(state, move |state| {
        let found = state.library.find(&id)?;
        let path = state.library.transcript(&found, &wanted.leaf)?;
        let history = path.parts.last().map(|part| part.history.clone());
        let named = Named {
            project: found.project().name.clone(),
            title: history.and_then(|history| state.library.title(&found, &history, path.n)),
        };
        Ok((path, named))
    });
    let (path, named) = path.await?;
    let (sender, receiver) = channel(4);
    tokio::task::spawn_blocking(move || {
        let written = match format {
            Some(format) => document(&path, named, format, &sender),
            None => lines(&path, &sender),
        };
        if let Err(error) = written {
            // The browser shall not take half a file for a whole one.
            let _ = sender.blocking_send(Err(error));
        }
    });
    let short: String = name.chars().filter(char::is_ascii_alphanumeric).take(12).collect();
    let headers = [
        (header::CONTENT_TYPE, kind.to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"ramus-{short}.{ending}\"")),
    ];
    Ok((headers, Body::from_stream(ReceiverStream::new(receiver))).into_response())
}

/// What only the library knows of a path.
#[derive(Debug)]
struct Named {
    project: String,
    title: Option<String>,
}

fn document(path: &Transcript, named: Named, format: Format, out: &Out) -> std::io::Result<()> {
    let mut text = String::new();
    export::head(format, &header(path, named), &mut text);
    let mut first = true;
    let mut withheld = WithheldThoughts::default();
    let mut at = 0;
    while at < path.len() {
        let to = path.block((at + STRIDE).min(path.len()) - 1).end;
        let placed = path.read(at..to).map_err(|_| std::io::ErrorKind::Other)?;
        for Placed { part, mut turn, .. } in placed {
            if format != Format::Json {
                withheld.fold(&mut turn);
            }
            let session = &path.parts[part].history.session;
            let config = Config {
                thinking: true,
                tools: Tools::Brief,
                cwd: session.facts().cwd.as_deref().unwrap_or_default(),
                other: &|_| None,
                agent: &|_| None,
                picture: &|_| None,
            };
            if !first {
                text.push_str(export::between(format));
            }
            first = false;
            export::turn(format, session, &turn, &config, &mut text);
        }
        send(out, std::mem::take(&mut text).into())?;
        at = to;
    }
    export::foot(format, &mut text);
    send(out, text.into())
}

/// Writes the records of the path as they stand in their files.
fn lines(path: &Transcript, out: &Out) -> std::io::Result<()> {
    for part in &path.parts {
        let mut bodies = Bodies::open(&part.file.path).map_err(|error| error.source)?;
        for nodes in part.path.nodes.chunks(STRIDE) {
            let mut bytes = Vec::new();
            for node in nodes {
                let span = part.history.session.record(*node).span;
                bytes.extend(bodies.bytes(span).map_err(|error| error.source)?);
                bytes.push(b'\n');
            }
            send(out, bytes.into())?;
        }
    }
    Ok(())
}

fn send(out: &Out, bytes: Bytes) -> std::io::Result<()> {
    out.blocking_send(Ok(bytes)).map_err(|_| std::io::ErrorKind::BrokenPipe.into())
}

fn header(path: &Transcript, named: Named) -> Header {
    let Some(part) = path.parts.last() else { return Header::default() };
    let facts = part.history.session.facts();
    let conversations = &part.history.branches.conversations;
    let own = conversations.iter().find(|conversation| Some(conversation.n) == path.n);
    let records = path.parts.iter().map(|part| part.path.nodes.len()).sum();
    let time = |node: &ramus_core::session::NodeId| part.history.session.record(*node).time;
    Header {
        session: part.file.id.clone(),
        title: named.title,
        project: facts.cwd.as_deref().map_or(named.project, str::to_owned),
        git_branch: facts.git_branch.as_deref().map(str::to_owned),
        version: facts.version.as_ref().map(|version| version.text.to_string()),
        path: path.n.unwrap_or(1) as usize,
        paths: conversations.len(),
        status: path.status,
        resumes: path.resumes,
        draft: own.is_some_and(|own| own.draft),
        leaf: path.leaf.clone(),
        messages: own.map_or(0, |own| own.messages as usize),
        compactions: own.map_or(0, |own| own.compactions as usize),
        records,
        started: path.parts.first().and_then(|part| {
            part.path.nodes.iter().find_map(|node| part.history.session.record(*node).time)
        }),
        ended: part.path.nodes.iter().rev().find_map(time),
        continues: path.parts[..path.parts.len() - 1]
            .iter()
            .map(|part| part.file.id.clone())
            .collect(),
        ..Header::default()
    }
}
