//! Selects the rows near one of them.

use super::{RowEdge, RowMarks, TreeRow, TreeRowKind};

/// Keeps the rows at most `depth` steps away from `row`. Hidden rows are replaced by their count.
pub(super) fn rows_around(rows: Vec<TreeRow>, row: usize, depth: usize) -> Vec<TreeRow> {
    let near = near_rows(&rows, row, depth);
    let mut kept: Vec<TreeRow> = Vec::new();
    for (row, is_near) in rows.into_iter().zip(near) {
        match kept.last_mut() {
            _ if is_near => kept.push(row),
            Some(TreeRow {
                kind: TreeRowKind::Elided { rows },
                column: lane,
                edge,
                messages,
                records,
                ..
            }) => {
                *rows += 1;
                *messages += row.messages;
                *records += row.records;
                // The hidden row nearest to the main line decides where the count is drawn.
                if row.column < *lane {
                    (*lane, *edge) = (row.column, row.edge);
                }
            }
            _ => {
                let kind = TreeRowKind::Elided { rows: 1 };
                let marks = RowMarks::default();
                kept.push(TreeRow { kind, resumes: false, words: None, marks, ..row });
            }
        }
    }
    kept
}

/// Returns which rows are near, by steps along the tree.
fn near_rows(rows: &[TreeRow], row: usize, depth: usize) -> Vec<bool> {
    let parents = row_parents(rows);
    let mut children = vec![Vec::new(); rows.len()];
    for (child, parent) in parents.iter().enumerate() {
        if let Some(parent) = parent {
            children[*parent].push(child);
        }
    }
    let mut near = vec![false; rows.len()];
    near[row] = true;
    let mut rim = vec![row];
    for _ in 0..depth {
        let mut next = Vec::new();
        for row in rim {
            for &row in children[row].iter().chain(&parents[row]) {
                if !std::mem::replace(&mut near[row], true) {
                    next.push(row);
                }
            }
        }
        if next.is_empty() {
            break;
        }
        rim = next;
    }
    near
}

/// Returns the parent of each row.
fn row_parents(rows: &[TreeRow]) -> Vec<Option<usize>> {
    let mut last_in_lane: Vec<usize> = Vec::new();
    let mut parents = Vec::with_capacity(rows.len());
    for (index, row) in rows.iter().enumerate() {
        let from = match row.edge {
            RowEdge::Root => None,
            RowEdge::Straight => Some(row.column),
            RowEdge::Branch => row.column.checked_sub(1),
        };
        parents.push(from.and_then(|lane| last_in_lane.get(lane).copied()));
        last_in_lane.truncate(row.column);
        last_in_lane.resize(row.column + 1, index);
    }
    parents
}
