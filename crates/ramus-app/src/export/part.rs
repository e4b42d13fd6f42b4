//! The part of a path that is in one file, rendered in pieces.
//!
//! Paths of one session share their beginnings. What is made of a piece between
//! two forks is kept, so each record is read once however many paths run
//! through it.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
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
use ramus_render::export::{self, DocumentFormat, ExportConfig, OutlineCounts};
use ramus_render::text::WithheldThoughts;
use ramus_store::export::SpoolBuffer;
use ramus_store::{PathError, SessionReader};

use super::picture::ExportPictures;
use super::sums::PartFacts;
use super::{ExportError, ExportRequest, ToolDetail};

/// One session file, with its entries so far.
pub(super) struct ExportPart<'a> {
    pub(super) file: &'a FilePath,
    pub(super) source: SessionReader,
    pub(super) history: Arc<History>,
    pub(super) facts: PartFacts,
    pub(super) found: RedactionCounts,
    /// The records that `facts` and `found` count. A split reply is read once for each of its parts, and
    /// a record is on several paths.
    counted: HashSet<NodeId>,
    /// The transcripts of its conversations by their last record, for links from forks.
    pub(super) links: HashMap<NodeId, String>,
    /// The agents of calls whose results do not name them.
    pub(super) agents: HashMap<IdHash, String>,
    made: SpoolBuffer,
    /// The outline entries made so far.
    outlines: SpoolBuffer,
    pieces: HashMap<(MessageNodeId, MessageNodeId), ExportPiece>,
    forks: HashMap<(MessageNodeId, Option<MessageNodeId>), ExportPiece>,
}

/// The rendered form of a range of turns.
#[derive(Clone, Default)]
pub(super) struct ExportPiece {
    /// Its position in the output.
    pub(super) range: Range<u64>,
    /// Where its entries lie among the outlines, and how many there are.
    pub(super) outline: Range<u64>,
    pub(super) outline_counts: OutlineCounts,
}

/// How a part is written.
#[derive(Clone, Copy)]
pub(super) struct ExportStyle<'a> {
    pub(super) request: &'a ExportRequest,
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
            counted: HashSet::new(),
            links: HashMap::new(),
            agents: HashMap::new(),
            outlines: made.new_beside(),
            made,
            pieces: HashMap::new(),
            forks: HashMap::new(),
        }
    }

    /// Makes the part of a path that is to be written.
    pub(super) fn make_pieces(
        &mut self,
        path: &ConversationPath,
        format: DocumentFormat,
        style: ExportStyle<'_>,
    ) -> Result<Vec<ExportPiece>, ExportError> {
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

    /// Writes the outline entries of a piece.
    pub(super) fn copy_outline(
        &mut self,
        entries: Range<u64>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        self.outlines.copy_range(entries, out)
    }

    /// Writes the records of the path unchanged.
    pub(super) fn write_raw_lines(
        &mut self,
        path: &ConversationPath,
        request: &ExportRequest,
        out: &mut dyn Write,
    ) -> Result<(), ExportError> {
        let mut last = None;
        for node in &path.nodes {
            let record = self.history.session.record(*node);
            // Two records that were glued together are one line.
            if last.replace(record.line) == Some(record.line) {
                continue;
            }
            let line = Cow::Borrowed(self.source.read_line(record.span)?);
            let mut uncounted = RedactionCounts::default();
            let found = match self.counted.insert(*node) {
                true => &mut self.found,
                false => &mut uncounted,
            };
            let line = if request.redact { redact_line(line, found) } else { line };
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
    ) -> Result<ExportPiece, ExportError> {
        let (start, outline) = (self.made.len(), self.outlines.len());
        let mut writer =
            PieceWriter::new(format, style, (&self.links, &self.agents), &self.history, self.file);
        let mut reader =
            PartReader::new(&mut self.source, &self.history, format, style.request.redact);
        let mut bodies = |id| {
            let is_first = self.counted.insert(id);
            reader.read_body(id, is_first.then_some((&mut self.facts, &mut self.found)))
        };
        let injected = style.request.tools == ToolDetail::Full;
        for turn in path_turns(&self.history, piece, &mut bodies).with_injected(injected) {
            if !matches!(turn.kind, TurnKind::Fork(_)) {
                writer.write_turn(turn, (&mut self.made, &mut self.outlines), start)?;
            }
        }
        reader.into_result()?;
        for (rule, times) in writer.found {
            *self.found.entry(rule).or_default() += times;
        }
        Ok(ExportPiece {
            range: start..self.made.len(),
            outline: outline..self.outlines.len(),
            outline_counts: writer.outline_counts,
        })
    }

    /// Renders the note about a fork point, seen from one of its branches.
    fn make_fork(
        &mut self,
        at: MessageNodeId,
        rest: &[MessageNodeId],
        format: DocumentFormat,
        style: ExportStyle<'_>,
    ) -> Result<ExportPiece, ExportError> {
        let key = (at, rest.first().copied());
        // JSON also has the branch taken, and its end.
        if let Some(made) = self.forks.get(&key).filter(|_| format != DocumentFormat::Json) {
            return Ok(made.clone());
        }
        let (start, outline) = (self.made.len(), self.outlines.len());
        let mut writer =
            PieceWriter::new(format, style, (&self.links, &self.agents), &self.history, self.file);
        let mut reader =
            PartReader::new(&mut self.source, &self.history, format, style.request.redact);
        let turn = fork_turn(&self.history, at, rest, export::MAX_BRANCHES, &mut |id| {
            reader.read_body(id, None)
        });
        reader.into_result()?;
        if let Some(turn) = turn {
            writer.write_turn(turn, (&mut self.made, &mut self.outlines), start)?;
        }
        let made = ExportPiece {
            range: start..self.made.len(),
            outline: outline..self.outlines.len(),
            outline_counts: writer.outline_counts,
        };
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

    /// Reads a body; `sums` are updated for records on the path.
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
        let body = body.ok();
        drop(line);
        self.source.release_large_record();
        let body = body?;
        facts.add_body(id, &body);
        Some(body)
    }

    fn into_result(self) -> Result<(), ExportError> {
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
    outline_counts: OutlineCounts,
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
        let cwd = match style.request.redact {
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
            outline_counts: OutlineCounts::default(),
            out: String::new(),
        }
    }

    fn write_turn(
        &mut self,
        mut turn: Turn,
        (out, outlines): (&mut SpoolBuffer, &mut SpoolBuffer),
        start: u64,
    ) -> io::Result<()> {
        let request = self.style.request;
        if request.tools == ToolDetail::Full {
            turn.read_spilled(&mut |path| {
                let text = ramus_store::read_spilled_output(self.file, FilePath::new(path))?;
                Some(redact_if_asked(request, text, &mut self.found))
            });
        }
        // The labels of other branches do not come from records that are read here.
        if let TurnKind::Fork(fork) = &mut turn.kind {
            for branch in &mut fork.branches {
                // They are counted in the transcript that they stand in.
                let words = std::mem::take(&mut branch.label);
                branch.label = redact_if_asked(request, words, &mut RedactionCounts::default());
            }
        }
        if self.format != DocumentFormat::Json {
            self.withheld.drop_repeated(&mut turn);
        }
        let config = ExportConfig {
            thinking: request.thinking,
            tools: request.tools,
            cwd: &self.cwd,
            branch_link: &|leaf| self.links.get(&leaf).cloned(),
            agent_link: &|call| {
                let known = || self.agents.get(&IdHash::new(call.id.as_bytes()));
                let id = call.agent.as_ref().or_else(known)?;
                (self.style.agent)(id)
            },
            picture_link: &|media| self.style.pictures.borrow_mut().picture_address(media),
        };
        self.outline_counts.add(export::write_outline_entry(self.format, &turn, &mut self.out));
        outlines.write_all(self.out.as_bytes())?;
        self.out.clear();
        if self.format == DocumentFormat::Json {
            if out.len() > start {
                out.write_all(export::turn_separator(self.format).as_bytes())?;
            }
            return export::write_json_turn(&self.history.session, &turn, &config, out);
        }
        export::write_turn(self.format, &turn, &config, &mut self.out);
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

fn redact_if_asked(request: &ExportRequest, text: String, found: &mut RedactionCounts) -> String {
    if request.redact { redact_text(&text, found).into_owned() } else { text }
}
