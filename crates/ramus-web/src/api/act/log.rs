//! What was done, newest first.

use std::sync::Arc;

use axum::extract::State as Extract;
use ramus_store::journal::Journal;
use ramus_store::undo::{self, is_below};
use serde::Serialize;

use crate::State;
use crate::api::{Answered, answer};
use crate::work::Task;

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Log {
    operations: Vec<OperationView>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct OperationView {
    op: u64,
    at: String,
    what: &'static str,
    session: String,
    words: String,
    done: bool,
    undone_by: Option<u64>,
    undoes: Option<u64>,
    can_undo: bool,
    /// The session can be brought back as it was before, and is not so now.
    can_restore: bool,
}

/// Tells what was done to the histories that are served, the newest first.
pub(crate) async fn log(Extract(state): Extract<Arc<State>>) -> Answered<Log> {
    answer(state, Task::Changes, |state| {
        let journal = Journal::read(state.workspace.state())?;
        let roots = state.workspace.roots();
        let here = journal.operations.iter().rev().filter(|operation| is_below(operation, roots));
        let operations = here.map(|operation| OperationView {
            op: operation.op,
            at: operation.at.clone(),
            what: operation.what.word(),
            session: operation.session.clone(),
            words: operation.words.clone(),
            done: operation.is_done(),
            undone_by: operation.undone_by,
            undoes: operation.undoes,
            can_undo: undo::is_open(operation),
            can_restore: undo::can_restore(operation),
        });
        Ok(Log { operations: operations.collect() })
    })
    .await
}
