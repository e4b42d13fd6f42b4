//! A path as a document to keep, sent while it is written.

use std::io;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, Query, State as Extract};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use ramus_render::export::{self, DocumentFormat, ExportConfig, ToolDetail, TranscriptHeader};
use ramus_render::text::WithheldThoughts;
use ramus_store::RecordReader;
use ramus_store::trace::LinkedPathPart;
use serde::Deserialize;

use super::{run_work, stream_pieces};
use crate::ServerState;
use crate::error::ApiError;
use crate::path_transcript::{PathTranscript, PlacedTurn};
use crate::work_queues::TaskKind;

#[derive(Debug, Deserialize)]
pub(crate) struct ExportQuery {
    #[serde(default)]
    leaf: String,
    #[serde(default)]
    format: String,
}

/// How many messages are written at a time.
const MESSAGES_PER_PIECE: usize = 64;

pub(crate) async fn get_export(
    Extract(state): Extract<Arc<ServerState>>,
    Path(id): Path<String>,
    Query(wanted): Query<ExportQuery>,
) -> Result<Response, ApiError> {
    let (format, ending, kind) = match &*wanted.format {
        "html" => (Some(DocumentFormat::Html), "html", "text/html; charset=utf-8"),
        "json" => (Some(DocumentFormat::Json), "json", "application/json"),
        "txt" => (Some(DocumentFormat::Text), "txt", "text/plain; charset=utf-8"),
        "jsonl" => (None, "jsonl", "application/x-ndjson"),
        "" | "md" => (Some(DocumentFormat::Markdown), "md", "text/markdown; charset=utf-8"),
        _ => {
            return Err(ApiError::bad_request(
                "there is no such format; there are md, html, json, jsonl and txt",
            ));
        }
    };
    let name = id.clone();
    let path = run_work(state.clone(), TaskKind::Sessions, move |state| {
        let found = state.workspace.session_by_id(&id)?;
        let path = state.open_transcript(&found, &wanted.leaf)?;
        let named = ExportNames {
            project: found.project_name().to_owned(),
            title: state.workspace.conversation_title(&path.open),
        };
        Ok((path, named))
    });
    let (path, named) = path.await?;
    let writing = match format {
        Some(format) => ExportState::Document {
            format,
            head: Some(Box::new(document_header(&path, named))),
            at: 0,
        },
        None => ExportState::Lines { part: 0, at: 0, bodies: None },
    };
    let export =
        ExportStream { path, writing, withheld: WithheldThoughts::default(), is_first: true };
    let body = stream_pieces(state, TaskKind::Exports, export, ExportStream::next_piece);
    let short: String = name.chars().filter(char::is_ascii_alphanumeric).take(12).collect();
    let headers = [
        (header::CONTENT_TYPE, kind.to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"ramus-{short}.{ending}\"")),
    ];
    Ok((headers, body).into_response())
}

/// What only the library knows of a path.
#[derive(Debug)]
struct ExportNames {
    project: String,
    title: Option<String>,
}

/// A document while it is written.
struct ExportStream {
    path: Arc<PathTranscript>,
    writing: ExportState,
    withheld: WithheldThoughts,
    /// No turn was written yet.
    is_first: bool,
}

enum ExportState {
    Document {
        format: DocumentFormat,
        /// Not written yet.
        head: Option<Box<TranscriptHeader>>,
        /// The position to go on at.
        at: usize,
    },
    /// The records as they stand in their files.
    Lines {
        part: usize,
        at: usize,
        bodies: Option<RecordReader>,
    },
    Done,
}

impl ExportStream {
    /// Writes the next piece; `None`: all is written.
    fn next_piece(&mut self) -> io::Result<Option<Bytes>> {
        match std::mem::replace(&mut self.writing, ExportState::Done) {
            ExportState::Document { format, head, at } => {
                self.document_piece(format, head, at).map(Some)
            }
            ExportState::Lines { part, at, bodies } => self.raw_lines(part, at, bodies),
            ExportState::Done => Ok(None),
        }
    }

    fn document_piece(
        &mut self,
        format: DocumentFormat,
        head: Option<Box<TranscriptHeader>>,
        at: usize,
    ) -> io::Result<Bytes> {
        let path = self.path.clone();
        let mut text = String::new();
        if let Some(head) = head {
            export::write_head(format, &head, &mut text);
        }
        let to = match path.message_count() {
            0 => 0,
            len => path.block_range((at + MESSAGES_PER_PIECE).min(len) - 1).end,
        };
        let placed = path.read_turns(at..to).map_err(|_| io::ErrorKind::Other)?;
        for PlacedTurn { part, mut turn, .. } in placed {
            if format != DocumentFormat::Json {
                self.withheld.drop_repeated(&mut turn);
            }
            let session = &path.open.parts[part].history.session;
            let config = ExportConfig {
                thinking: true,
                tools: ToolDetail::Brief,
                cwd: session.facts().cwd.as_deref().unwrap_or_default(),
                branch_link: &|_| None,
                agent_link: &|_| None,
                picture_link: &|_| None,
            };
            if !std::mem::take(&mut self.is_first) {
                text.push_str(export::turn_separator(format));
            }
            export::write_turn(format, session, &turn, &config, &mut text);
        }
        if to < path.message_count() {
            self.writing = ExportState::Document { format, head: None, at: to };
        } else {
            export::write_foot(format, &mut text);
        }
        Ok(text.into())
    }

    fn raw_lines(
        &mut self,
        index: usize,
        at: usize,
        bodies: Option<RecordReader>,
    ) -> io::Result<Option<Bytes>> {
        let Some(part) = self.path.open.parts.get(index) else { return Ok(None) };
        let mut bodies = match bodies {
            Some(bodies) => bodies,
            None => RecordReader::open(&part.file.path).map_err(|error| error.source)?,
        };
        let to = (at + MESSAGES_PER_PIECE).min(part.path.nodes.len());
        let mut bytes = Vec::new();
        for node in &part.path.nodes[at..to] {
            let span = part.history.session.record(*node).span;
            bytes.extend(bodies.read_record(span).map_err(|error| error.source)?);
            bytes.push(b'\n');
        }
        self.writing = match to < part.path.nodes.len() {
            true => ExportState::Lines { part: index, at: to, bodies: Some(bodies) },
            false => ExportState::Lines { part: index + 1, at: 0, bodies: None },
        };
        Ok(Some(bytes.into()))
    }
}

fn document_header(path: &PathTranscript, named: ExportNames) -> TranscriptHeader {
    let Some(part) = path.open.parts.last() else { return TranscriptHeader::default() };
    let facts = part.history.session.facts();
    let conversations = &part.history.branches.conversations;
    let own =
        conversations.iter().find(|conversation| Some(conversation.number) == path.open.number);
    let fork = own.and_then(|own| own.fork_index).map(|fork| &part.history.branches.forks[fork]);
    let said = |part: &LinkedPathPart| {
        let folds = &part.history.message_tree;
        part.path.messages.iter().filter(|fold| folds.message(**fold).role.is_displayable()).count()
    };
    let records = path.open.parts.iter().map(|part| part.path.nodes.len()).sum();
    let time = |node: &ramus_core::session::NodeId| part.history.session.record(*node).time;
    TranscriptHeader {
        session: part.file.id.clone(),
        title: named.title,
        project: facts.cwd.as_deref().map_or(named.project, str::to_owned),
        git_branch: facts.git_branch.as_deref().map(str::to_owned),
        version: facts.version.as_ref().map(|version| version.text.to_string()),
        path: path.open.number.unwrap_or(1) as usize,
        paths: conversations.len(),
        status: path.open.status.as_str(),
        resumes: path.open.resumes,
        draft: own.is_some_and(|own| own.draft),
        leaf: path.open.leaf_address(),
        fork_point: fork.map(|fork| part.history.node_address(fork.node)),
        fork_kind: fork.map(|fork| fork.kind.as_str()),
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
        ..TranscriptHeader::default()
    }
}
