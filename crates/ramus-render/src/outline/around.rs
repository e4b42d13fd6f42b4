//! Selects the rows near one of them.

use ramus_core::session::NodeId;

use super::walk::{RowSource, Walked};
use super::{RowEdge, RowMarks, TreeRow, TreeRowKind};

/// The rows at most some steps away from one.
pub(super) struct NearRows {
    near: Vec<bool>,
    at: usize,
    /// The hidden rows since the last one that is near, as one row.
    hidden: Option<TreeRow>,
}

impl NearRows {
    /// Finds the rows near that of a node. `None`: it is on none.
    pub(super) fn around_node(source: &RowSource<'_>, node: NodeId, depth: usize) -> Option<Self> {
        let (mut parents, mut last_in_lane) = (Vec::new(), Vec::new());
        let mut row_of_node = None;
        // A walk that is not stopped reaches its end.
        let _ = source.walk_rows(&mut |row, nodes| {
            if nodes.contains(&node) {
                row_of_node = Some(parents.len());
            }
            parents.push(take_parent(&mut last_in_lane, &row, parents.len()));
            Ok(())
        });
        let near = near_rows(&parents, row_of_node?, depth);
        Some(Self { near, at: 0, hidden: None })
    }

    /// Passes a row on if it is near. Hidden rows are replaced by their count.
    pub(super) fn filter_row(
        &mut self,
        row: TreeRow,
        each: &mut dyn FnMut(TreeRow) -> Walked,
    ) -> Walked {
        let is_near = self.near[self.at];
        self.at += 1;
        match &mut self.hidden {
            _ if is_near => {
                self.take_hidden(each)?;
                each(row)
            }
            Some(hidden) => {
                hide_row(hidden, &row);
                Ok(())
            }
            None => {
                let (kind, marks) = (TreeRowKind::Elided { rows: 1 }, RowMarks::default());
                self.hidden = Some(TreeRow { kind, resumes: false, words: None, marks, ..row });
                Ok(())
            }
        }
    }

    /// Passes on the hidden rows since the last one that is near.
    pub(super) fn take_hidden(&mut self, each: &mut dyn FnMut(TreeRow) -> Walked) -> Walked {
        self.hidden.take().map_or(Ok(()), each)
    }
}

fn hide_row(hidden: &mut TreeRow, row: &TreeRow) {
    if let TreeRowKind::Elided { rows } = &mut hidden.kind {
        *rows += 1;
    }
    hidden.messages += row.messages;
    hidden.records += row.records;
    // The hidden row nearest to the main line decides where the count is drawn.
    if row.column < hidden.column {
        (hidden.column, hidden.edge) = (row.column, row.edge);
    }
}

/// Returns which rows are near, by steps along the tree. Parents come before their children.
fn near_rows(parents: &[Option<u32>], row: usize, depth: usize) -> Vec<bool> {
    // Every path from the row to another goes up first, and then down.
    let mut steps: Vec<Option<u32>> = vec![None; parents.len()];
    let mut above = Some(row);
    for up in 0.. {
        let Some(at) = above else { break };
        steps[at] = Some(up);
        above = parents[at].map(|parent| parent as usize);
    }
    for at in 0..parents.len() {
        let down = parents[at].and_then(|parent| steps[parent as usize]);
        steps[at] = steps[at].or(down.map(|down| down + 1));
    }
    steps.iter().map(|steps| steps.is_some_and(|steps| steps as usize <= depth)).collect()
}

/// Returns the parent of the next row, and remembers the row as a parent of those below it.
fn take_parent(last_in_lane: &mut Vec<u32>, row: &TreeRow, index: usize) -> Option<u32> {
    let from = match row.edge {
        RowEdge::Root => None,
        RowEdge::Straight => Some(row.column),
        RowEdge::Branch => row.column.checked_sub(1),
    };
    let parent = from.and_then(|lane| last_in_lane.get(lane).copied());
    last_in_lane.truncate(row.column);
    last_in_lane.resize(row.column + 1, index as u32);
    parent
}
