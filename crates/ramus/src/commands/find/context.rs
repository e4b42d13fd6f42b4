//! What stands before and after a hit: its ancestors, and all that was said next.

use ramus_app::message::message_summary;
use ramus_core::edit::MessageSummary;
use ramus_core::fold::FoldId;
use ramus_core::history::History;
use ramus_core::session::NodeId;
use ramus_render::json::{HitContext, HitNeighbour};
use ramus_store::{Bodies, PathError};

/// Returns the neighbours of a node, at most `depth` messages away.
pub(super) fn context(
    history: &History,
    bodies: &mut Bodies,
    node: NodeId,
    depth: usize,
) -> Result<HitContext, PathError> {
    let mut context = HitContext { before: Vec::new(), after: Vec::new() };
    let Some(fold) = history.folds.of(node) else { return Ok(context) };
    let folds = &history.folds;
    for above in folds.ancestors(fold).skip(1).filter(|fold| folds.speaks(*fold)).take(depth) {
        context.before.insert(0, neighbour(history, bodies, above)?);
    }
    let mut open: Vec<(FoldId, usize)> =
        folds.speaking_children(fold).map(|child| (child, 1)).collect();
    open.reverse();
    while let Some((below, level)) = open.pop() {
        if folds.fold(below).voice.speaks() {
            context.after.push(neighbour(history, bodies, below)?);
        }
        if level < depth {
            let mut next: Vec<_> =
                folds.speaking_children(below).map(|child| (child, level + 1)).collect();
            next.reverse();
            open.extend(next);
        }
    }
    Ok(context)
}

fn neighbour(
    history: &History,
    bodies: &mut Bodies,
    fold: FoldId,
) -> Result<HitNeighbour, PathError> {
    let MessageSummary { uuid, role, text, .. } = message_summary(history, bodies, fold)?;
    Ok(HitNeighbour { uuid, role, text })
}
