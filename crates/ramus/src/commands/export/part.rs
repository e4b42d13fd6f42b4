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

use ramus_core::body::Body;
use ramus_core::fold::FoldId;
use ramus_core::history::{History, Path};
use ramus_core::name::Key;
use ramus_core::redact::{Found, redact, redact_text};
use ramus_core::session::NodeId;
use ramus_core::turn::{Turn, TurnKind, fork_turn, turns};
use ramus_render::export::{self, Config, Format, OutlineEntry};
use ramus_render::text::WithheldThoughts;
use ramus_store::export::Draft;
use ramus_store::{PathError, Source};

use super::ExportArgs;
use super::picture::Pictures;
use super::sums::Facts;
use crate::error::CommandError;

/// One session file, and what was made of it so far.
pub(super) struct Part<'a> {
    pub(super) file: &'a FilePath,
    pub(super) source: Source,
    pub(super) history: Arc<History>,
    pub(super) facts: Facts,
    pub(super) found: Found,
    /// The transcripts of its conversations by their last record, for links from forks.
    pub(super) links: HashMap<NodeId, String>,
    /// The agents of calls whose results do not name them.
    pub(super) agents: HashMap<Key, String>,
    made: Draft,
    pieces: HashMap<(FoldId, FoldId), Piece>,
    forks: HashMap<(FoldId, Option<FoldId>), Piece>,
}

/// What was made of a stretch of a path.
#[derive(Clone, Default)]
pub(super) struct Piece {
    /// Where it lies among what was made.
    pub(super) range: Range<u64>,
    pub(super) outline: Arc<[OutlineEntry]>,
}

/// How a part is written.
#[derive(Clone, Copy)]
pub(super) struct Style<'a> {
    pub(super) args: &'a ExportArgs,
    pub(super) pictures: &'a RefCell<Pictures>,
    /// Where the transcript of an agent is.
    pub(super) agent: &'a dyn Fn(&str) -> Option<String>,
}

impl<'a> Part<'a> {
    pub(super) fn new(file: &'a FilePath, read: (Source, Arc<History>), made: Draft) -> Self {
        let (source, history) = read;
        Self {
            file,
            source,
            history,
            facts: Facts::default(),
            found: Found::default(),
            links: HashMap::new(),
            agents: HashMap::new(),
            made,
            pieces: HashMap::new(),
            forks: HashMap::new(),
        }
    }

    /// Makes what is to be written of a path.
    pub(super) fn pieces(
        &mut self,
        path: &Path,
        format: Format,
        style: Style<'_>,
    ) -> Result<Vec<Piece>, CommandError> {
        let mut pieces = Vec::new();
        for piece in self.history.pieces(path) {
            let rest = &path.folds[piece.end..];
            let (start, end) = (path.folds[piece.start], path.folds[piece.end - 1]);
            let made = match self.pieces.get(&(start, end)) {
                Some(made) => made.clone(),
                None => self.make(&self.history.stretch(path, piece), format, style)?,
            };
            self.pieces.insert((start, end), made.clone());
            pieces.push(made);
            if self.history.branches.fork_at(end).is_some() {
                pieces.push(self.fork(end, rest, format, style)?);
            }
        }
        pieces.retain(|made: &Piece| !made.range.is_empty());
        Ok(pieces)
    }

    /// Writes a piece that was made.
    pub(super) fn copy(&mut self, made: Range<u64>, out: &mut dyn Write) -> io::Result<()> {
        self.made.copy_range(made, out)
    }

    /// Writes the lines of the path as they stand in the file.
    pub(super) fn lines(
        &mut self,
        path: &Path,
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
            let line = Cow::Borrowed(self.source.line(record.span)?);
            let line = if args.redact { redact(line, &mut self.found) } else { line };
            out.write_all(&line)?;
            out.write_all(b"\n")?;
        }
        Ok(())
    }

    /// Makes the turns of a piece.
    fn make(
        &mut self,
        piece: &Path,
        format: Format,
        style: Style<'_>,
    ) -> Result<Piece, CommandError> {
        let start = self.made.len();
        let mut writer =
            Writer::new(format, style, (&self.links, &self.agents), &self.history, self.file);
        let mut reader = Reader::new(&mut self.source, &self.history, format, style.args.redact);
        let mut bodies = |id| reader.body(id, Some((&mut self.facts, &mut self.found)));
        let injected = style.args.tools == super::HowMuch::Full;
        for turn in turns(&self.history, piece, &mut bodies).with_injected(injected) {
            if !matches!(turn.kind, TurnKind::Fork(_)) {
                writer.turn(turn, &mut self.made, start)?;
            }
        }
        reader.done()?;
        let outline = writer.outline.into();
        for (rule, times) in writer.found {
            *self.found.entry(rule).or_default() += times;
        }
        Ok(Piece { range: start..self.made.len(), outline })
    }

    /// Makes what tells of a fork, seen from one of its ways.
    fn fork(
        &mut self,
        at: FoldId,
        rest: &[FoldId],
        format: Format,
        style: Style<'_>,
    ) -> Result<Piece, CommandError> {
        let key = (at, rest.first().copied());
        // In JSON the way taken is told too, and how it ends.
        if let Some(made) = self.forks.get(&key).filter(|_| format != Format::Json) {
            return Ok(made.clone());
        }
        let start = self.made.len();
        let mut writer =
            Writer::new(format, style, (&self.links, &self.agents), &self.history, self.file);
        let mut reader = Reader::new(&mut self.source, &self.history, format, style.args.redact);
        let turn =
            fork_turn(&self.history, at, rest, export::MOST_WAYS, &mut |id| reader.body(id, None));
        reader.done()?;
        if let Some(turn) = turn {
            writer.turn(turn, &mut self.made, start)?;
        }
        let made = Piece { range: start..self.made.len(), outline: writer.outline.into() };
        self.forks.insert(key, made.clone());
        Ok(made)
    }
}

/// Bodies of a file, redacted if they are to be.
struct Reader<'a> {
    source: &'a mut Source,
    history: &'a History,
    format: Format,
    redacts: bool,
    problem: Option<PathError>,
}

impl<'a> Reader<'a> {
    fn new(source: &'a mut Source, history: &'a History, format: Format, redacts: bool) -> Self {
        Self { source, history, format, redacts, problem: None }
    }

    /// Reads a body; `sums` hear of what lies on the path.
    fn body(&mut self, id: NodeId, sums: Option<(&mut Facts, &mut Found)>) -> Option<Body> {
        let line = match self.source.record(self.history.session.record(id).span) {
            Ok(line) => Cow::Borrowed(line),
            Err(problem) => {
                self.problem = Some(problem);
                return None;
            }
        };
        let mut elsewhere = (Facts::default(), Found::default());
        let (facts, found) = sums.unwrap_or((&mut elsewhere.0, &mut elsewhere.1));
        let line = if self.redacts { redact(line, found) } else { line };
        let body = match self.format {
            Format::Json => Body::parse_shown(&line),
            _ => Body::parse_drawn(&line),
        };
        let body = body.ok()?;
        facts.body(id, &body);
        Some(body)
    }

    fn done(self) -> Result<(), CommandError> {
        match self.problem {
            Some(problem) => Err(problem.into()),
            None => Ok(()),
        }
    }
}

/// Turns into the text of a format.
struct Writer<'a> {
    format: Format,
    style: Style<'a>,
    links: &'a HashMap<NodeId, String>,
    agents: &'a HashMap<Key, String>,
    history: &'a History,
    file: &'a FilePath,
    cwd: String,
    /// What was taken out of texts that are in no record.
    found: Found,
    withheld: WithheldThoughts,
    outline: Vec<OutlineEntry>,
    out: String,
}

impl<'a> Writer<'a> {
    fn new(
        format: Format,
        style: Style<'a>,
        (links, agents): (&'a HashMap<NodeId, String>, &'a HashMap<Key, String>),
        history: &'a History,
        file: &'a FilePath,
    ) -> Self {
        let cwd = history.session.facts().cwd.as_deref().unwrap_or_default();
        let cwd = match style.args.redact {
            true => redact_text(cwd, &mut Found::default()).into_owned(),
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
            found: Found::default(),
            withheld: WithheldThoughts::default(),
            outline: Vec::new(),
            out: String::new(),
        }
    }

    fn turn(&mut self, mut turn: Turn, out: &mut Draft, start: u64) -> io::Result<()> {
        let args = self.style.args;
        if args.tools == super::HowMuch::Full {
            turn.read_spilled(&mut |path| {
                let text = ramus_store::spilled(self.file, FilePath::new(path))?;
                Some(redacted(args, text, &mut self.found))
            });
        }
        // The first words of other ways do not come from records that are read here.
        if let TurnKind::Fork(fork) = &mut turn.kind {
            for way in &mut fork.ways {
                // They are counted in the transcript that they stand in.
                let words = std::mem::take(&mut way.words);
                way.words = redacted(args, words, &mut Found::default());
            }
        }
        if self.format != Format::Json {
            self.withheld.fold(&mut turn);
        }
        let config = Config {
            thinking: args.thinking,
            tools: args.tools.tools(),
            cwd: &self.cwd,
            other: &|leaf| self.links.get(&leaf).cloned(),
            agent: &|call| {
                let known = || self.agents.get(&Key::new(call.id.as_bytes()));
                let id = call.agent.as_ref().or_else(known)?;
                (self.style.agent)(id)
            },
            picture: &|media| self.style.pictures.borrow_mut().address(media),
        };
        export::turn(self.format, &self.history.session, &turn, &config, &mut self.out);
        self.outline.extend(export::outline_entry(self.format, &turn));
        if !self.out.is_empty() {
            if out.len() > start {
                out.write_all(export::between(self.format).as_bytes())?;
            }
            out.write_all(self.out.as_bytes())?;
            self.out.clear();
        }
        Ok(())
    }
}

fn redacted(args: &ExportArgs, text: String, found: &mut Found) -> String {
    if args.redact { redact_text(&text, found).into_owned() } else { text }
}
