//! One side of a comparison, read from its files.

use ramus_core::body::Body;
use ramus_core::compare::{Common, Side};
use ramus_core::record::Kind;
use ramus_core::session::NodeId;
use ramus_core::turn::{Turn, turns};

use crate::error::PathError;
use crate::read::Bodies;
use crate::trace::Part;

/// Reads all turns of a conversation, and the tokens of what is its own; `which` of the two it is.
pub fn side(parts: &[Part], common: &Common, which: usize) -> Result<Side, PathError> {
    let mut side = Side::default();
    for (index, (part, own)) in parts.iter().zip(&common.own[which]).enumerate() {
        part.each_turn(|turn| match turn.nodes.first() {
            Some(first) if own.contains(first) => side.own(index, turn),
            _ => side.shared(&turn),
        })?;
        let mut bodies = Bodies::open(&part.file.path)?;
        let records = own.iter().map(|node| part.history.session.record(*node));
        for record in records.filter(|record| record.kind == Kind::Assistant) {
            if let Ok(Body::Assistant(body)) = Body::parse(&bodies.bytes(record.span)?) {
                side.usage.take(&body);
            }
        }
    }
    Ok(side)
}

impl Part {
    /// Reads the turns one by one, bodies from the disk as they are needed.
    pub fn each_turn(&self, mut each: impl FnMut(Turn)) -> Result<(), PathError> {
        let mut bodies = Bodies::open(&self.file.path)?;
        let mut problem = None;
        let session = &self.history.session;
        let mut body = |id: NodeId| match bodies.bytes(session.record(id).span) {
            Ok(bytes) => Body::parse(&bytes).ok(),
            Err(error) => {
                problem = Some(error);
                None
            }
        };
        turns(&self.history, &self.path, &mut body).for_each(&mut each);
        problem.map_or(Ok(()), Err)
    }
}
