//! A path as a document to keep, sent while it is written.

use std::io;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, Query, State as Extract};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use ramus_render::export::{self, Config, Format, Header, Tools};
use ramus_render::text::WithheldThoughts;
use ramus_store::Bodies;
use ramus_store::trace::Part;
use serde::Deserialize;

use super::{pieces, work};
use crate::State;
use crate::error::ApiError;
use crate::transcript::{Placed, Transcript};
use crate::work::Task;

#[derive(Debug, Deserialize)]
pub(crate) struct Wanted {
    #[serde(default)]
    leaf: String,
    #[serde(default)]
    format: String,
}

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
    let path = work(state.clone(), Task::Sessions, move |state| {
        let found = state.workspace.session_by_id(&id)?;
        let path = state.transcript(&found, &wanted.leaf)?;
        let named = Named {
            project: found.project_name().to_owned(),
            title: state.workspace.title(&path.open),
        };
        Ok((path, named))
    });
    let (path, named) = path.await?;
    let writing = match format {
        Some(format) => {
            Writing::Document { format, head: Some(Box::new(header(&path, named))), at: 0 }
        }
        None => Writing::Lines { part: 0, at: 0, bodies: None },
    };
    let export = Export { path, writing, withheld: WithheldThoughts::default(), is_first: true };
    let body = pieces(state, Task::Exports, export, Export::next);
    let short: String = name.chars().filter(char::is_ascii_alphanumeric).take(12).collect();
    let headers = [
        (header::CONTENT_TYPE, kind.to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"ramus-{short}.{ending}\"")),
    ];
    Ok((headers, body).into_response())
}

/// What only the library knows of a path.
#[derive(Debug)]
struct Named {
    project: String,
    title: Option<String>,
}

/// A document while it is written.
struct Export {
    path: Arc<Transcript>,
    writing: Writing,
    withheld: WithheldThoughts,
    /// No turn was written yet.
    is_first: bool,
}

enum Writing {
    Document {
        format: Format,
        /// Not written yet.
        head: Option<Box<Header>>,
        /// The position to go on at.
        at: usize,
    },
    /// The records as they stand in their files.
    Lines {
        part: usize,
        at: usize,
        bodies: Option<Bodies>,
    },
    Done,
}

impl Export {
    /// Writes the next piece; `None`: all is written.
    fn next(&mut self) -> io::Result<Option<Bytes>> {
        match std::mem::replace(&mut self.writing, Writing::Done) {
            Writing::Document { format, head, at } => self.document(format, head, at).map(Some),
            Writing::Lines { part, at, bodies } => self.lines(part, at, bodies),
            Writing::Done => Ok(None),
        }
    }

    fn document(
        &mut self,
        format: Format,
        head: Option<Box<Header>>,
        at: usize,
    ) -> io::Result<Bytes> {
        let path = self.path.clone();
        let mut text = String::new();
        if let Some(head) = head {
            export::head(format, &head, &mut text);
        }
        let to = match path.len() {
            0 => 0,
            len => path.block((at + STRIDE).min(len) - 1).end,
        };
        let placed = path.read(at..to).map_err(|_| io::ErrorKind::Other)?;
        for Placed { part, mut turn, .. } in placed {
            if format != Format::Json {
                self.withheld.fold(&mut turn);
            }
            let session = &path.open.parts[part].history.session;
            let config = Config {
                thinking: true,
                tools: Tools::Brief,
                cwd: session.facts().cwd.as_deref().unwrap_or_default(),
                other: &|_| None,
                agent: &|_| None,
                picture: &|_| None,
            };
            if !std::mem::take(&mut self.is_first) {
                text.push_str(export::between(format));
            }
            export::turn(format, session, &turn, &config, &mut text);
        }
        if to < path.len() {
            self.writing = Writing::Document { format, head: None, at: to };
        } else {
            export::foot(format, &mut text);
        }
        Ok(text.into())
    }

    fn lines(
        &mut self,
        index: usize,
        at: usize,
        bodies: Option<Bodies>,
    ) -> io::Result<Option<Bytes>> {
        let Some(part) = self.path.open.parts.get(index) else { return Ok(None) };
        let mut bodies = match bodies {
            Some(bodies) => bodies,
            None => Bodies::open(&part.file.path).map_err(|error| error.source)?,
        };
        let to = (at + STRIDE).min(part.path.nodes.len());
        let mut bytes = Vec::new();
        for node in &part.path.nodes[at..to] {
            let span = part.history.session.record(*node).span;
            bytes.extend(bodies.bytes(span).map_err(|error| error.source)?);
            bytes.push(b'\n');
        }
        self.writing = match to < part.path.nodes.len() {
            true => Writing::Lines { part: index, at: to, bodies: Some(bodies) },
            false => Writing::Lines { part: index + 1, at: 0, bodies: None },
        };
        Ok(Some(bytes.into()))
    }
}

fn header(path: &Transcript, named: Named) -> Header {
    let Some(part) = path.open.parts.last() else { return Header::default() };
    let facts = part.history.session.facts();
    let conversations = &part.history.branches.conversations;
    let own = conversations.iter().find(|conversation| Some(conversation.n) == path.open.number);
    let fork = own.and_then(|own| own.fork).map(|fork| &part.history.branches.forks[fork]);
    let said = |part: &Part| {
        let folds = &part.history.folds;
        part.path.folds.iter().filter(|fold| folds.fold(**fold).voice.is_displayable()).count()
    };
    let records = path.open.parts.iter().map(|part| part.path.nodes.len()).sum();
    let time = |node: &ramus_core::session::NodeId| part.history.session.record(*node).time;
    Header {
        session: part.file.id.clone(),
        title: named.title,
        project: facts.cwd.as_deref().map_or(named.project, str::to_owned),
        git_branch: facts.git_branch.as_deref().map(str::to_owned),
        version: facts.version.as_ref().map(|version| version.text.to_string()),
        path: path.open.number.unwrap_or(1) as usize,
        paths: conversations.len(),
        status: path.open.status.word(),
        resumes: path.open.resumes,
        draft: own.is_some_and(|own| own.draft),
        leaf: path.open.leaf_place(),
        fork_point: fork.map(|fork| part.history.place_of(fork.node)),
        fork_kind: fork.map(|fork| fork.kind.word()),
        messages: path.open.parts.iter().map(said).sum(),
        compactions: own.map_or(0, |own| own.compactions as usize),
        records,
        started: path.open.parts.first().and_then(|part| {
            part.path.nodes.iter().find_map(|node| part.history.session.record(*node).time)
        }),
        ended: part.path.nodes.iter().rev().find_map(time),
        continues: path.open.parts[..path.open.parts.len() - 1]
            .iter()
            .map(|part| part.file.id.clone())
            .collect(),
        ..Header::default()
    }
}
