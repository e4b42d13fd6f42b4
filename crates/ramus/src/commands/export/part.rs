//! The part of a path that lies in one file, piece by piece.
//!
//! Paths of one session share their beginnings. What is made of a piece between
//! two forks is kept, so each record is read once however many paths run
//! through it.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path as FilePath;
use std::sync::Arc;

use ramus_core::body::RecordBody;
use ramus_core::history::{ConversationPath, History};
use ramus_core::ids::IdHash;
use ramus_core::message_tree::MessageNodeId;
use ramus_core::redact::{RedactionCounts, redact_line, redact_text};
use ramus_core::session::NodeId;
use ramus_core::turn::{Turn, TurnKind, fork_turn, path_turns};
use ramus_render::export::{self, DocumentFormat, ExportConfig, OutlineEntry};
use ramus_render::text::WithheldThoughts;
use ramus_store::export::SpoolBuffer;
use ramus_store::{PathError, SessionReader};

use super::ExportArgs;
use super::picture::ExportPictures;
use super::sums::PartFacts;
use crate::error::CommandError;

/// One session file, and what was made of it so far.
pub(super) struct ExportPart<'a> {
    pub(super) file: &'a FilePath,
    pub(super) source: SessionReader,
    pub(super) history: Arc<History>,
    pub(super) facts: PartFacts,
    pub(super) found: RedactionCounts,
    /// The transcripts of its conversations by their last record, for links from forks.
    pub(super) links: HashMap<NodeId, String>,
    /// The agents of calls whose results do not name them.
    pub(super) agents: HashMap<IdHash, String>,
    made: SpoolBuffer,
    pieces: HashMap<(MessageNodeId, MessageNodeId), ExportPiece>,
    forks: HashMap<(MessageNodeId, Option<MessageNodeId>), ExportPiece>,
}

/// What was made of a stretch of a path.
#[derive(Clone, Default)]
pub(super) struct ExportPiece {
    /// Where it lies among what was made.
    pub(super) range: Range<u64>,
    pub(super) outline: Arc<[OutlineEntry]>,
}

/// How a part is written.
#[derive(Clone, Copy)]
pub(super) struct ExportStyle<'a> {
    pub(super) args: &'a ExportArgs,
    pub(super) pictures: &'a RefCell<ExportPictures>,
    /// Where the transcript of an agent is.
    pub(super) agent: &'a dyn Fn(&str) -> Option<String>,
}

impl<'a> ExportPart<'a> {
    pub(super) fn new(
        file: &'a FilePath,
        read: (SessionReader, Arc<History>),
        made: SpoolBuffer,
    ) -> Self {
        let (source, history) = read;
        Self {
            file,
            source,
            history,
            facts: PartFacts::default(),
            found: RedactionCounts::default(),
            links: HashMap::new(),
            agents: HashMap::new(),
            made,
            pieces: HashMap::new(),
            forks: HashMap::new(),
        }
    }

    /// Makes what is to be written of a path.
    pub(super) fn make_pieces(
        &mut self,
        path: &ConversationPath,
        format: DocumentFormat,
        style: ExportStyle<'_>,
    ) -> Result<Vec<ExportPiece>, CommandError> {
        let mut pieces = Vec::new();
        for piece in self.history.split_at_forks(path) {
            let rest = &path.messages[piece.end..];
            let (start, end) = (path.messages[piece.start], path.messages[piece.end - 1]);
            let made = match self.pieces.get(&(start, end)) {
                Some(made) => made.clone(),
                None => self.make_turns(&self.history.slice_path(path, piece), format, style)?,
            };
            self.pieces.insert((start, end), made.clone());
            pieces.push(made);
            if self.history.branches.fork_at(end).is_some() {
                pieces.push(self.make_fork(end, rest, format, style)?);
            }
        }
        pieces.retain(|made: &ExportPiece| !made.range.is_empty());
        Ok(pieces)
    }

    /// Writes a piece that was made.
    pub(super) fn copy_piece(&mut self, made: Range<u64>, out: &mut dyn Write) -> io::Result<()> {
        self.made.copy_range(made, out)
    }

    /// Writes the lines of the path as they stand in the file.
    pub(super) fn write_raw_lines(
        &mut self,
        path: &ConversationPath,
        args: &ExportArgs,
        out: &mut dyn Write,
    ) -> Result<(), CommandError> {
        let mut last = None;
        for node in &path.nodes {
            let record = self.history.session.record(*node);
            // Two records that were glued together are one line.
            if last.replace(record.line) == Some(record.line) {
                continue;
            }
            let line = Cow::Borrowed(self.source.read_line(record.span)?);
            let line = if args.redact { redact_line(line, &mut self.found) } else { line };
            out.write_all(&line)?;
            out.write_all(b"\n")?;
        }
        Ok(())
    }

    /// Makes the turns of a piece.
    fn make_turns(
        &mut self,
        piece: &ConversationPath,
        format: DocumentFormat,
        style: ExportStyle<'_>,
    ) -> Result<ExportPiece, CommandError> {
        let start = self.made.len();
        let mut writer =
            PieceWriter::new(format, style, (&self.links, &self.agents), &self.history, self.file);
        let mut reader =
            PartReader::new(&mut self.source, &self.history, format, style.args.redact);
        let mut bodies = |id| reader.read_body(id, Some((&mut self.facts, &mut self.found)));
        let injected = style.args.tools == super::ToolsOption::Full;
        for turn in path_turns(&self.history, piece, &mut bodies).with_injected(injected) {
            if !matches!(turn.kind, TurnKind::Fork(_)) {
                writer.write_turn(turn, &mut self.made, start)?;
            }
        }
        reader.into_result()?;
        let outline = writer.outline.into();
        for (rule, times) in writer.found {
            *self.found.entry(rule).or_default() += times;
        }
        Ok(ExportPiece { range: start..self.made.len(), outline })
    }

    /// Makes what tells of a fork, seen from one of its ways.
    fn make_fork(
        &mut self,
        at: MessageNodeId,
        rest: &[MessageNodeId],
        format: DocumentFormat,
        style: ExportStyle<'_>,
    ) -> Result<ExportPiece, CommandError> {
        let key = (at, rest.first().copied());
        // In JSON the way taken is told too, and how it ends.
        if let Some(made) = self.forks.get(&key).filter(|_| format != DocumentFormat::Json) {
            return Ok(made.clone());
        }
        let start = self.made.len();
        let mut writer =
            PieceWriter::new(format, style, (&self.links, &self.agents), &self.history, self.file);
        let mut reader =
            PartReader::new(&mut self.source, &self.history, format, style.args.redact);
        let turn = fork_turn(&self.history, at, rest, export::MAX_BRANCHES, &mut |id| {
            reader.read_body(id, None)
        });
        reader.into_result()?;
        if let Some(turn) = turn {
            writer.write_turn(turn, &mut self.made, start)?;
        }
        let made = ExportPiece { range: start..self.made.len(), outline: writer.outline.into() };
        self.forks.insert(key, made.clone());
        Ok(made)
    }
}

/// Bodies of a file, redacted if they are to be.
struct PartReader<'a> {
    source: &'a mut SessionReader,
    history: &'a History,
    format: DocumentFormat,
    redacts: bool,
    problem: Option<PathError>,
}

impl<'a> PartReader<'a> {
    fn new(
        source: &'a mut SessionReader,
        history: &'a History,
        format: DocumentFormat,
        redacts: bool,
    ) -> Self {
        Self { source, history, format, redacts, problem: None }
    }

    /// Reads a body; `sums` hear of what lies on the path.
    fn read_body(
        &mut self,
        id: NodeId,
        sums: Option<(&mut PartFacts, &mut RedactionCounts)>,
    ) -> Option<RecordBody> {
        let line = match self.source.read_record(self.history.session.record(id).span) {
            Ok(line) => Cow::Borrowed(line),
            Err(problem) => {
                self.problem = Some(problem);
                return None;
            }
        };
        let mut elsewhere = (PartFacts::default(), RedactionCounts::default());
        let (facts, found) = sums.unwrap_or((&mut elsewhere.0, &mut elsewhere.1));
        let line = if self.redacts { redact_line(line, found) } else { line };
        let body = match self.format {
            DocumentFormat::Json => RecordBody::parse_shown(&line),
            _ => RecordBody::parse_drawn(&line),
        };
        let body = body.ok()?;
        facts.add_body(id, &body);
        Some(body)
    }

    fn into_result(self) -> Result<(), CommandError> {
        match self.problem {
            Some(problem) => Err(problem.into()),
            None => Ok(()),
        }
    }
}

/// Turns into the text of a format.
struct PieceWriter<'a> {
    format: DocumentFormat,
    style: ExportStyle<'a>,
    links: &'a HashMap<NodeId, String>,
    agents: &'a HashMap<IdHash, String>,
    history: &'a History,
    file: &'a FilePath,
    cwd: String,
    /// What was taken out of texts that are in no record.
    found: RedactionCounts,
    withheld: WithheldThoughts,
    outline: Vec<OutlineEntry>,
    out: String,
}

impl<'a> PieceWriter<'a> {
    fn new(
        format: DocumentFormat,
        style: ExportStyle<'a>,
        (links, agents): (&'a HashMap<NodeId, String>, &'a HashMap<IdHash, String>),
        history: &'a History,
        file: &'a FilePath,
    ) -> Self {
        let cwd = history.session.facts().cwd.as_deref().unwrap_or_default();
        let cwd = match style.args.redact {
            true => redact_text(cwd, &mut RedactionCounts::default()).into_owned(),
            false => cwd.to_owned(),
        };
        Self {
            format,
            style,
            links,
            agents,
            history,
            file,
            cwd,
            found: RedactionCounts::default(),
            withheld: WithheldThoughts::default(),
            outline: Vec::new(),
            out: String::new(),
        }
    }

    fn write_turn(&mut self, mut turn: Turn, out: &mut SpoolBuffer, start: u64) -> io::Result<()> {
        let args = self.style.args;
        if args.tools == super::ToolsOption::Full {
            turn.read_spilled(&mut |path| {
                let text = ramus_store::read_spilled_output(self.file, FilePath::new(path))?;
                Some(redact_if_asked(args, text, &mut self.found))
            });
        }
        // The first words of other ways do not come from records that are read here.
        if let TurnKind::Fork(fork) = &mut turn.kind {
            for way in &mut fork.branches {
                // They are counted in the transcript that they stand in.
                let words = std::mem::take(&mut way.label);
                way.label = redact_if_asked(args, words, &mut RedactionCounts::default());
            }
        }
        if self.format != DocumentFormat::Json {
            self.withheld.drop_repeated(&mut turn);
        }
        let config = ExportConfig {
            thinking: args.thinking,
            tools: args.tools.text_tools(),
            cwd: &self.cwd,
            branch_link: &|leaf| self.links.get(&leaf).cloned(),
            agent_link: &|call| {
                let known = || self.agents.get(&IdHash::new(call.id.as_bytes()));
                let id = call.agent.as_ref().or_else(known)?;
                (self.style.agent)(id)
            },
            picture_link: &|media| self.style.pictures.borrow_mut().picture_address(media),
        };
        export::write_turn(self.format, &self.history.session, &turn, &config, &mut self.out);
        self.outline.extend(export::outline_entry(self.format, &turn));
        if !self.out.is_empty() {
            if out.len() > start {
                out.write_all(export::turn_separator(self.format).as_bytes())?;
            }
            out.write_all(self.out.as_bytes())?;
            self.out.clear();
        }
        Ok(())
    }
}

fn redact_if_asked(args: &ExportArgs, text: String, found: &mut RedactionCounts) -> String {
    if args.redact { redact_text(&text, found).into_owned() } else { text }
}
