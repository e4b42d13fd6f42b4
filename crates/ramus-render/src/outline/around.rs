//! Selects the rows near one of them.

use super::{Edge, Marks, Row, RowKind};

/// Keeps the rows at most `depth` steps away from `row`. Hidden rows are replaced by their count.
pub(super) fn around(rows: Vec<Row>, row: usize, depth: usize) -> Vec<Row> {
    let near = near(&rows, row, depth);
    let mut kept: Vec<Row> = Vec::new();
    for (row, is_near) in rows.into_iter().zip(near) {
        match kept.last_mut() {
            _ if is_near => kept.push(row),
            Some(Row { kind: RowKind::Elided { rows }, lane, edge, messages, records, .. }) => {
                *rows += 1;
                *messages += row.messages;
                *records += row.records;
                // The hidden row nearest to the main line decides where the count is drawn.
                if row.lane < *lane {
                    (*lane, *edge) = (row.lane, row.edge);
                }
            }
            _ => {
                let kind = RowKind::Elided { rows: 1 };
                let marks = Marks::default();
                kept.push(Row { kind, resumes: false, words: None, marks, ..row });
            }
        }
    }
    kept
}

/// Returns which rows are near, by steps along the tree.
fn near(rows: &[Row], row: usize, depth: usize) -> Vec<bool> {
    let parents = parents(rows);
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
fn parents(rows: &[Row]) -> Vec<Option<usize>> {
    let mut last_in_lane: Vec<usize> = Vec::new();
    let mut parents = Vec::with_capacity(rows.len());
    for (index, row) in rows.iter().enumerate() {
        let from = match row.edge {
            Edge::Root => None,
            Edge::Straight => Some(row.lane),
            Edge::Branch => row.lane.checked_sub(1),
        };
        parents.push(from.and_then(|lane| last_in_lane.get(lane).copied()));
        last_in_lane.truncate(row.lane);
        last_in_lane.resize(row.lane + 1, index);
    }
    parents
}
