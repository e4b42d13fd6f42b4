//! A path through one or several sessions, addressed by position, so that any part can be read separately.
//!
//! A position is the index of a message on its path. Roles are known from the
//! envelopes; bodies are read only for requested blocks.

use std::ops::Range;
use std::path::{Path as FilePath, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ramus_app::workspace::histories_to_keep;
use ramus_app::{Address, AddressError, NodeSelector, OpenConversation, ResolvedFile, Workspace};
use ramus_core::body::RecordBody;
use ramus_core::history::{ConversationPath, History};
use ramus_core::message_tree::MessageNodeId;
use ramus_core::record::RecordRole;
use ramus_core::session::NodeId;
use ramus_core::turn::{Turn, TurnKind, fork_turn, path_turns};
use ramus_store::{RecordReader, read_spilled_output};

use crate::error::ApiError;

/// About how many messages are read together.
const BLOCK_MESSAGES: usize = 16;

/// How many of the last messages are named.
const LAST_MESSAGES: usize = 32;

/// One path, cut into blocks.
#[derive(Debug)]
pub(crate) struct PathTranscript {
    pub(crate) open: OpenConversation,
    blocks: Vec<PathBlock>,
}

#[derive(Debug)]
struct PathBlock {
    part: usize,
    /// The position of its first message.
    at: usize,
    path: ConversationPath,
}

/// A turn and its place.
#[derive(Debug)]
pub(crate) struct PlacedTurn {
    pub(crate) at: usize,
    pub(crate) part: usize,
    pub(crate) turn: Turn,
}

impl PathTranscript {
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
            for path in piece.history.split_into_blocks(&piece.path, BLOCK_MESSAGES) {
                let next = at + path.messages.len();
                blocks.push(PathBlock { part, at, path });
                at = next;
            }
        }
        Ok(Self { open, blocks })
    }

    /// Returns how many messages are on the path.
    pub(crate) fn message_count(&self) -> usize {
        self.blocks.last().map_or(0, |block| block.at + block.path.messages.len())
    }

    /// Returns the position of the first message of a part.
    pub(crate) fn part_start(&self, part: usize) -> usize {
        self.blocks.iter().find(|block| block.part == part).map_or(0, |block| block.at)
    }

    /// Returns one letter for the voice of each message.
    pub(crate) fn role_letters(&self) -> String {
        self.path_messages()
            .map(|(history, message)| role_letter(history.message_tree.message(message).role))
            .collect()
    }

    /// Returns one letter for the size of each message: how often it can be halved.
    pub(crate) fn size_letters(&self) -> String {
        let size = |(history, message): (&History, MessageNodeId)| {
            let members = history.message_tree.records_of(message).iter();
            let bytes: u64 =
                members.map(|id| u64::from(history.session.record(*id).span.len)).sum();
            char::from(b'A' + bytes.max(1).ilog2().min(25) as u8)
        };
        self.path_messages().map(size).collect()
    }

    /// Names the last messages: a path that only grew has the same ones at the same positions.
    pub(crate) fn last_uuids(&self) -> Vec<String> {
        let named = self.path_messages().skip(self.message_count().saturating_sub(LAST_MESSAGES));
        named
            .map(|(history, message)| {
                let first = history.message_tree.records_of(message).first();
                first.map_or_else(String::new, |node| history.node_address(*node))
            })
            .collect()
    }

    /// Returns the positions after which the path forks.
    pub(crate) fn fork_positions(&self) -> Vec<usize> {
        let forks = self
            .path_messages()
            .map(|(history, message)| history.branches.fork_at(message).is_some());
        forks.enumerate().filter(|(_, forks)| *forks).map(|(at, _)| at).collect()
    }

    /// Returns the position of the first fork at which the path leaves the current branch (R12).
    pub(crate) fn left_at(&self) -> Option<usize> {
        let messages: Vec<(&History, MessageNodeId)> = self.path_messages().collect();
        messages.windows(2).position(|pair| {
            let (history, message) = pair[0];
            let branches = history.branches.fork_at(message).map_or(&[][..], |fork| &fork.branches);
            branches.iter().any(|branch| branch.message == pair[1].1 && !branch.current)
        })
    }

    /// Returns the position of a node by its name.
    pub(crate) fn position_of(&self, node: &str) -> Option<usize> {
        self.open.parts.iter().enumerate().rev().find_map(|(part, piece)| {
            let node = piece.history.node_at(node)?;
            let mut message = piece.history.message_tree.message_of(node)?;
            let start = self.blocks.iter().find(|block| block.part == part)?.at;
            loop {
                let at = piece.path.messages.iter().position(|on_path| *on_path == message);
                if let Some(at) = at {
                    return Some(start + at);
                }
                // A record that decorates a message is where the message is.
                message = piece.history.message_tree.message(message).parent?;
            }
        })
    }

    fn path_messages(&self) -> impl Iterator<Item = (&History, MessageNodeId)> {
        self.open
            .parts
            .iter()
            .flat_map(|part| part.path.messages.iter().map(|message| (&*part.history, *message)))
    }

    /// Reads the turns of all blocks that touch a range of positions.
    pub(crate) fn read_turns(&self, range: Range<usize>) -> Result<Vec<PlacedTurn>, ApiError> {
        let first = self
            .blocks
            .partition_point(|block| block.at + block.path.messages.len() <= range.start);
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
    pub(crate) fn block_range(&self, at: usize) -> Range<usize> {
        let index = self.blocks.partition_point(|block| block.at + block.path.messages.len() <= at);
        match self.blocks.get(index) {
            Some(block) => block.at..block.at + block.path.messages.len(),
            None => self.message_count()..self.message_count(),
        }
    }

    /// Reads one turn: the `n`-th at a position, with outputs that were kept elsewhere.
    pub(crate) fn read_turn(&self, at: usize, n: usize) -> Result<PlacedTurn, ApiError> {
        let placed = self.read_turns(at..at + 1)?;
        let mut placed = placed
            .into_iter()
            .filter(|placed| placed.at == at)
            .nth(n)
            .ok_or_else(|| ApiError::not_found("message"))?;
        let file = &self.open.parts[placed.part].file.path;
        placed.turn.read_spilled(&mut |named| read_spilled_output(file, FilePath::new(named)));
        Ok(placed)
    }

    fn read_block(&self, index: usize, placed: &mut Vec<PlacedTurn>) -> Result<(), ApiError> {
        let PathBlock { part, at: start, path } = &self.blocks[index];
        let piece = &self.open.parts[*part];
        let history = &*piece.history;
        let mut bodies = RecordReader::open(&piece.file.path)?;
        let mut body = |id: NodeId| {
            let bytes = bodies.read_record(history.session.record(id).span).ok()?;
            RecordBody::parse(&bytes).ok()
        };
        let mut at = *start;
        for turn in path_turns(history, path, &mut body) {
            // What follows the block depends on the whole path.
            if matches!(turn.kind, TurnKind::Fork(_)) {
                continue;
            }
            let message =
                turn.nodes.first().and_then(|node| history.message_tree.message_of(*node));
            if let Some(place) =
                message.and_then(|message| path.messages.iter().position(|on| *on == message))
            {
                at = start + place;
            }
            placed.push(PlacedTurn { at, part: *part, turn });
        }
        let end = path.messages.last().copied();
        let rest =
            self.blocks.get(index + 1).filter(|next| next.part == *part).map_or(&[][..], |next| {
                let from = next.at
                    - self.blocks.iter().find(|block| block.part == *part).map_or(0, |b| b.at);
                &piece.path.messages[from..]
            });
        if let Some(turn) = end.and_then(|end| fork_turn(history, end, rest, usize::MAX, &mut body))
        {
            placed.push(PlacedTurn { at: start + path.messages.len() - 1, part: *part, turn });
        }
        Ok(())
    }
}

/// The paths that were opened last, kept while their sessions do not change.
#[derive(Debug, Default)]
pub(crate) struct TranscriptCache(Mutex<Vec<CachedTranscript>>);

#[derive(Debug)]
struct CachedTranscript {
    file: PathBuf,
    bytes: u64,
    leaf: String,
    history: Arc<History>,
    transcript: Arc<PathTranscript>,
}

impl TranscriptCache {
    /// Returns the path to a leaf of a session, cut into blocks.
    pub(crate) fn open_path(
        &self,
        workspace: &Workspace,
        found: &ResolvedFile,
        leaf: &str,
    ) -> Result<Arc<PathTranscript>, ApiError> {
        let history = workspace.read_history(&found.file)?;
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
        let transcript = Arc::new(PathTranscript::new(workspace, found.clone(), leaf)?);
        let newest = CachedTranscript {
            file: found.file.path.clone(),
            bytes: found.file.bytes,
            leaf: leaf.to_owned(),
            history,
            transcript: transcript.clone(),
        };
        let mut paths = lock();
        paths.retain(|kept| kept.file != newest.file || kept.leaf != leaf);
        paths.insert(0, newest);
        let kept = histories_to_keep(paths.iter().map(|kept| kept.bytes));
        paths.truncate(kept);
        Ok(transcript)
    }
}

fn role_letter(role: RecordRole) -> char {
    match role {
        RecordRole::Prompt | RecordRole::QueuedPrompt => 'p',
        RecordRole::Reply => 'a',
        RecordRole::Synthetic => 'e',
        RecordRole::CompactSummary | RecordRole::CompactBoundary => 'z',
        RecordRole::Command | RecordRole::CommandOutput => 'c',
        RecordRole::Interrupt => 'i',
        RecordRole::Notification => 'n',
        RecordRole::ToolResult | RecordRole::Meta | RecordRole::Decoration => 'd',
    }
}
