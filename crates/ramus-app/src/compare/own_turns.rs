//! Reads the turns that only one of two conversations has.

use std::cell::RefCell;

use ramus_core::body::RecordBody;
use ramus_core::compare::{OwnRecords, OwnTurn, is_compared};
use ramus_core::session::{NodeId, Session};
use ramus_core::turn::{Turn, path_turns};
use ramus_store::{PathError, RecordReader};

use crate::conversation::OpenConversation;

/// How many bytes of records are kept as turns, for each side.
const MAX_BUFFERED_BYTES: u64 = 8 * 1024 * 1024;

/// The turns of a side while they are few, so that most conversations are read once.
#[derive(Debug)]
pub(super) struct TurnBuffer {
    /// `None`: there are too many.
    turns: Option<Vec<OwnTurn>>,
    bytes: u64,
}

impl TurnBuffer {
    pub(super) fn new() -> Self {
        Self { turns: Some(Vec::new()), bytes: 0 }
    }

    /// Adds a turn of a part of the path, if it is compared.
    pub(super) fn add_turn(&mut self, part: usize, session: &Session, turn: Turn) {
        let Some(turns) = self.turns.as_mut().filter(|_| is_compared(&turn)) else { return };
        let lengths = turn.nodes.iter().map(|node| u64::from(session.record(*node).span.len));
        self.bytes += lengths.sum::<u64>();
        turns.push(OwnTurn { part, turn });
        if self.bytes > MAX_BUFFERED_BYTES {
            self.turns = None;
        }
    }

    /// Returns the turns; `None`: there are too many to hold.
    pub(super) fn turns(&self) -> Option<&[OwnTurn]> {
        self.turns.as_deref()
    }
}

/// Whether a turn is one of a side's own: its first record is.
pub(super) fn is_own_turn(turn: &Turn, own: &OwnRecords) -> bool {
    turn.nodes.first().is_some_and(|first| own.contains(first))
}

/// Reads the turns that only this conversation has; `own` are its records, by part.
pub(super) fn read_own_turns<R>(
    conversation: &OpenConversation,
    own: &[OwnRecords],
    read: impl FnOnce(&mut dyn Iterator<Item = OwnTurn>) -> R,
) -> Result<R, PathError> {
    let problem = RefCell::new(None);
    // Of all files of the path only the current one is open.
    let open: RefCell<Option<(usize, RecordReader)>> = RefCell::new(None);
    let read_body = |index: usize, node: NodeId| -> Result<Vec<u8>, PathError> {
        let part = &conversation.parts[index];
        let mut open = open.borrow_mut();
        if open.as_ref().is_none_or(|(at, _)| *at != index) {
            *open = Some((index, RecordReader::open(&part.file.path)?));
        }
        let Some((_, reader)) = open.as_mut() else { return Ok(Vec::new()) };
        reader.read_record(part.history.session.record(node).span)
    };
    let mut bodies: Vec<_> = (0..conversation.parts.len())
        .map(|index| {
            let (problem, read_body) = (&problem, &read_body);
            move |node: NodeId| match read_body(index, node) {
                Ok(bytes) => RecordBody::parse(&bytes).ok(),
                Err(error) => {
                    problem.replace(Some(error));
                    None
                }
            }
        })
        .collect();
    let parts = conversation.parts.iter().zip(&mut bodies).zip(own).enumerate();
    let mut turns = parts.flat_map(|(index, ((part, body), own))| {
        path_turns(&part.history, &part.path, body)
            .filter(|turn| is_compared(turn) && is_own_turn(turn, own))
            .map(move |turn| OwnTurn { part: index, turn })
    });
    let answer = read(&mut turns);
    drop(turns);
    drop(bodies);
    match problem.into_inner() {
        Some(problem) => Err(problem),
        None => Ok(answer),
    }
}
