//! A path through one session or several, by position: any stretch of it can be read alone.
//!
//! A position is the place of a folded message on its path. What there is at each
//! is known from the envelopes; bodies are read for the blocks that are asked for.

use std::ops::Range;
use std::path::{Path as FilePath, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ramus_app::workspace::kept_count;
use ramus_app::{Address, AddressError, NodeSelector, OpenConversation, ResolvedFile, Workspace};
use ramus_core::body::Body;
use ramus_core::fold::FoldId;
use ramus_core::history::{History, Path};
use ramus_core::record::Voice;
use ramus_core::session::NodeId;
use ramus_core::turn::{Turn, TurnKind, fork_turn, turns};
use ramus_store::{Bodies, spilled};

use crate::error::ApiError;

/// About how many messages are read together.
const BLOCK: usize = 16;

/// How many of the last messages are named.
const LAST: usize = 32;

/// One path, cut into blocks.
#[derive(Debug)]
pub(crate) struct Transcript {
    pub(crate) open: OpenConversation,
    blocks: Vec<Block>,
}

#[derive(Debug)]
struct Block {
    part: usize,
    /// The position of its first message.
    at: usize,
    path: Path,
}

/// A turn and its place.
#[derive(Debug)]
pub(crate) struct Placed {
    pub(crate) at: usize,
    pub(crate) part: usize,
    pub(crate) turn: Turn,
}

impl Transcript {
    /// Opens the path to a leaf; empty: to where the client would continue.
    fn new(workspace: &Workspace, file: ResolvedFile, leaf: &str) -> Result<Self, AddressError> {
        let node = match leaf {
            "" => NodeSelector::Resume,
            leaf => NodeSelector::Place(leaf.to_owned()),
        };
        let open = workspace.open_or_empty(Address { file, node })?;
        let mut blocks = Vec::new();
        let mut at = 0;
        for (part, piece) in open.parts.iter().enumerate() {
            for path in piece.history.blocks(&piece.path, BLOCK) {
                let next = at + path.folds.len();
                blocks.push(Block { part, at, path });
                at = next;
            }
        }
        Ok(Self { open, blocks })
    }

    /// Returns how many messages are on the path.
    pub(crate) fn len(&self) -> usize {
        self.blocks.last().map_or(0, |block| block.at + block.path.folds.len())
    }

    /// Returns the position of the first message of a part.
    pub(crate) fn start_of(&self, part: usize) -> usize {
        self.blocks.iter().find(|block| block.part == part).map_or(0, |block| block.at)
    }

    /// Returns one letter for the voice of each message.
    pub(crate) fn shape(&self) -> String {
        self.folds().map(|(history, fold)| letter(history.folds.fold(fold).voice)).collect()
    }

    /// Returns one letter for the size of each message: how often it can be halved.
    pub(crate) fn sizes(&self) -> String {
        let size = |(history, fold): (&History, FoldId)| {
            let members = history.folds.members(fold).iter();
            let bytes: u64 =
                members.map(|id| u64::from(history.session.record(*id).span.len)).sum();
            char::from(b'A' + bytes.max(1).ilog2().min(25) as u8)
        };
        self.folds().map(size).collect()
    }

    /// Names the last messages: a path that only grew has the same ones at the same positions.
    pub(crate) fn last(&self) -> Vec<String> {
        let named = self.folds().skip(self.len().saturating_sub(LAST));
        named
            .map(|(history, fold)| {
                let first = history.folds.members(fold).first();
                first.map_or_else(String::new, |node| history.place_of(*node))
            })
            .collect()
    }

    /// Returns the positions after which the path forks.
    pub(crate) fn forks(&self) -> Vec<usize> {
        let forks = self.folds().map(|(history, fold)| history.branches.fork_at(fold).is_some());
        forks.enumerate().filter(|(_, forks)| *forks).map(|(at, _)| at).collect()
    }

    /// Returns the position of the first fork at which the path leaves what is current (R12).
    pub(crate) fn left_at(&self) -> Option<usize> {
        let folds: Vec<(&History, FoldId)> = self.folds().collect();
        folds.windows(2).position(|pair| {
            let (history, fold) = pair[0];
            let ways = history.branches.fork_at(fold).map_or(&[][..], |fork| &fork.ways);
            ways.iter().any(|way| way.fold == pair[1].1 && !way.current)
        })
    }

    /// Returns the position of a node by its name.
    pub(crate) fn position(&self, node: &str) -> Option<usize> {
        self.open.parts.iter().enumerate().rev().find_map(|(part, piece)| {
            let node = piece.history.node_at(node)?;
            let mut fold = piece.history.folds.of(node)?;
            let start = self.blocks.iter().find(|block| block.part == part)?.at;
            loop {
                let at = piece.path.folds.iter().position(|on_path| *on_path == fold);
                if let Some(at) = at {
                    return Some(start + at);
                }
                // A record that decorates a message is where the message is.
                fold = piece.history.folds.fold(fold).parent?;
            }
        })
    }

    fn folds(&self) -> impl Iterator<Item = (&History, FoldId)> {
        self.open
            .parts
            .iter()
            .flat_map(|part| part.path.folds.iter().map(|fold| (&*part.history, *fold)))
    }

    /// Reads the turns of all blocks that touch a range of positions.
    pub(crate) fn read(&self, range: Range<usize>) -> Result<Vec<Placed>, ApiError> {
        let first =
            self.blocks.partition_point(|block| block.at + block.path.folds.len() <= range.start);
        let mut placed = Vec::new();
        for index in first..self.blocks.len() {
            if self.blocks[index].at >= range.end {
                break;
            }
            self.read_block(index, &mut placed)?;
        }
        Ok(placed)
    }

    /// Returns where the block of a position begins and ends.
    pub(crate) fn block(&self, at: usize) -> Range<usize> {
        let index = self.blocks.partition_point(|block| block.at + block.path.folds.len() <= at);
        match self.blocks.get(index) {
            Some(block) => block.at..block.at + block.path.folds.len(),
            None => self.len()..self.len(),
        }
    }

    /// Reads one turn: the `n`-th at a position, with outputs that were kept elsewhere.
    pub(crate) fn turn(&self, at: usize, n: usize) -> Result<Placed, ApiError> {
        let placed = self.read(at..at + 1)?;
        let mut placed = placed
            .into_iter()
            .filter(|placed| placed.at == at)
            .nth(n)
            .ok_or_else(|| ApiError::not_found("message"))?;
        let file = &self.open.parts[placed.part].file.path;
        placed.turn.read_spilled(&mut |named| spilled(file, FilePath::new(named)));
        Ok(placed)
    }

    fn read_block(&self, index: usize, placed: &mut Vec<Placed>) -> Result<(), ApiError> {
        let Block { part, at: start, path } = &self.blocks[index];
        let piece = &self.open.parts[*part];
        let history = &*piece.history;
        let mut bodies = Bodies::open(&piece.file.path)?;
        let mut body = |id: NodeId| {
            let bytes = bodies.bytes(history.session.record(id).span).ok()?;
            Body::parse(&bytes).ok()
        };
        let mut at = *start;
        for turn in turns(history, path, &mut body) {
            // What comes after the block is told with the whole path in view.
            if matches!(turn.kind, TurnKind::Fork(_)) {
                continue;
            }
            let fold = turn.nodes.first().and_then(|node| history.folds.of(*node));
            if let Some(place) = fold.and_then(|fold| path.folds.iter().position(|on| *on == fold))
            {
                at = start + place;
            }
            placed.push(Placed { at, part: *part, turn });
        }
        let end = path.folds.last().copied();
        let rest =
            self.blocks.get(index + 1).filter(|next| next.part == *part).map_or(&[][..], |next| {
                let from = next.at
                    - self.blocks.iter().find(|block| block.part == *part).map_or(0, |b| b.at);
                &piece.path.folds[from..]
            });
        if let Some(turn) = end.and_then(|end| fork_turn(history, end, rest, usize::MAX, &mut body))
        {
            placed.push(Placed { at: start + path.folds.len() - 1, part: *part, turn });
        }
        Ok(())
    }
}

/// The paths that were opened last, kept while their sessions do not change.
#[derive(Debug, Default)]
pub(crate) struct Transcripts(Mutex<Vec<Kept>>);

#[derive(Debug)]
struct Kept {
    file: PathBuf,
    bytes: u64,
    leaf: String,
    history: Arc<History>,
    transcript: Arc<Transcript>,
}

impl Transcripts {
    /// Returns the path to a leaf of a session, cut into blocks.
    pub(crate) fn open(
        &self,
        workspace: &Workspace,
        found: &ResolvedFile,
        leaf: &str,
    ) -> Result<Arc<Transcript>, ApiError> {
        let history = workspace.read(&found.file)?;
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lock()
            .iter()
            .find(|kept| {
                kept.file == found.file.path
                    && kept.leaf == leaf
                    && Arc::ptr_eq(&kept.history, &history)
            })
            .map(|kept| kept.transcript.clone());
        if let Some(transcript) = known {
            return Ok(transcript);
        }
        let transcript = Arc::new(Transcript::new(workspace, found.clone(), leaf)?);
        let newest = Kept {
            file: found.file.path.clone(),
            bytes: found.file.bytes,
            leaf: leaf.to_owned(),
            history,
            transcript: transcript.clone(),
        };
        let mut paths = lock();
        paths.retain(|kept| kept.file != newest.file || kept.leaf != leaf);
        paths.insert(0, newest);
        let kept = kept_count(paths.iter().map(|kept| kept.bytes));
        paths.truncate(kept);
        Ok(transcript)
    }
}

fn letter(voice: Voice) -> char {
    match voice {
        Voice::Prompt | Voice::Queued => 'p',
        Voice::Answer => 'a',
        Voice::Synthetic => 'e',
        Voice::CompactSummary | Voice::Boundary => 'z',
        Voice::Command | Voice::CommandOutput => 'c',
        Voice::Interrupt => 'i',
        Voice::Notification => 'n',
        Voice::ToolResult | Voice::Meta | Voice::Decoration => 'd',
    }
}
