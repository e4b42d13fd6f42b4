//! Lists operations, newest first.

use std::sync::Arc;

use axum::extract::State as Extract;
use ramus_store::journal::Journal;
use ramus_store::undo::{self, is_in_roots};
use serde::Serialize;

use crate::ServerState;
use crate::api::{ApiResult, answer_json};
use crate::work_queues::TaskKind;

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
    /// The session can be restored to its state before the operation, and differs from it now.
    can_restore: bool,
}

/// Lists operations on the served histories, newest first.
pub(crate) async fn get_log(Extract(state): Extract<Arc<ServerState>>) -> ApiResult<Log> {
    answer_json(state, TaskKind::Changes, |state| {
        let journal = Journal::read(state.workspace.state_dir())?;
        let roots = state.workspace.claude_roots();
        let here =
            journal.operations.iter().rev().filter(|operation| is_in_roots(operation, roots));
        let mut backups = undo::BackupComparison::default();
        let operations = here.map(|operation| OperationView {
            op: operation.op,
            at: operation.at.clone(),
            what: operation.what.as_str(),
            session: operation.session.clone(),
            words: operation.words.clone(),
            done: operation.is_done(),
            undone_by: operation.undone_by,
            undoes: operation.undoes,
            can_undo: undo::is_in_effect(operation),
            can_restore: backups.can_restore(operation),
        });
        Ok(Log { operations: operations.collect() })
    })
    .await
}
