//! The tools that write, each in two calls: one makes a plan, the other confirms it.

use std::fmt::Write;
use std::sync::Arc;

use ramus_app::change::apply_change;
use ramus_app::{
    Address, ChangeError, ChangeRequest, NewSessionAt, OpenedSession, PlannedChange, Workspace,
};
use ramus_core::session::NodeId;
use ramus_render::json::Written;
use ramus_store::apply::ApplyError;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::CallToolResult;
use rmcp::service::RequestContext;
use rmcp::{RoleServer, schemars, tool, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;

use super::McpServer;
use crate::confirm::{apply_error, nothing_written, written_json};
use crate::env;
use crate::error::CommandError;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Goto {
    /// SESSION:UUID or SESSION@N: where Claude Code should resume
    address: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Fork {
    /// SESSION, SESSION:UUID, SESSION@N or agent-ID: how far to copy
    address: String,
    /// Title of the new session
    title: Option<String>,
    /// Create it in this project instead
    into: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Confirm {
    /// The name of the plan
    plan: String,
}

#[tool_router(router = writing, vis = "pub(super)")]
impl McpServer {
    /// Plan to make Claude Code resume from a message. Nothing is written until `confirm` is called.
    #[tool(annotations(read_only_hint = true, open_world_hint = false))]
    async fn goto(
        &self,
        Parameters(asked): Parameters<Goto>,
        context: RequestContext<RoleServer>,
    ) -> CallToolResult {
        self.plan_at(&context, asked.address, |workspace, opened, node| {
            workspace.plan_change(ChangeRequest::Goto { opened, node }, env::current_time())
        })
        .await
    }

    /// Plan to copy a conversation up to a message into a new session. Nothing is written until `confirm` is called.
    #[tool(annotations(read_only_hint = true, open_world_hint = false))]
    async fn fork(
        &self,
        Parameters(asked): Parameters<Fork>,
        context: RequestContext<RoleServer>,
    ) -> CallToolResult {
        self.plan_at(&context, asked.address, move |workspace, opened, node| {
            let to = NewSessionAt { into: asked.into.as_deref(), title: asked.title.as_deref() };
            workspace.plan_change(ChangeRequest::Fork { opened, node, to }, env::current_time())
        })
        .await
    }

    /// Apply a plan that `goto` or `fork` made. The user can undo it with `ramus undo`.
    #[tool(annotations(read_only_hint = false, destructive_hint = false, open_world_hint = false))]
    async fn confirm(
        &self,
        Parameters(asked): Parameters<Confirm>,
        context: RequestContext<RoleServer>,
    ) -> CallToolResult {
        let found = self.plans.take_plan(&asked.plan);
        self.answer_call(&context, None, None, move |_, _| {
            let Some(change) = found else {
                return Err(CommandError::user_error(format!("no plan {:?}", asked.plan))
                    .with_hint("`goto` and `fork` make plans; each can be confirmed once"));
            };
            let done = apply_change(&env::state_dir(), &change, false, env::current_time())
                .map_err(not_applied)?;
            Ok(written_text(&written_json(&change, Some((done.op, done.backup))), "Done"))
        })
        .await
    }

    /// Plans something at an address, and keeps the plan until it is confirmed.
    async fn plan_at(
        &self,
        context: &RequestContext<RoleServer>,
        address: String,
        plan: impl FnOnce(&Workspace, &OpenedSession, NodeId) -> Result<PlannedChange, ChangeError>
        + Send
        + 'static,
    ) -> CallToolResult {
        let plans = self.plans.clone();
        self.answer_call(context, None, None, move |global, _| {
            let workspace = env::open_for(global, &address, Arc::new(()))?;
            let Address { file, node } = workspace.resolve_address(&address)?;
            let opened = OpenedSession::read_session(&workspace, file)?;
            let node = opened.find_node(&node)?;
            let change = match plan(&workspace, &opened, node) {
                Err(ChangeError::AlreadyThere) => {
                    let there = nothing_written(&opened, node);
                    return Ok(written_text(&there, "Nothing to do: it already resumes there"));
                }
                planned => planned?,
            };
            let mut text = written_text(&written_json(&change, None), "Planned");
            if let Some(refusal) = &change.instead_of {
                let _ = writeln!(text, "The session itself cannot resume there: {refusal}");
            }
            let name = plans.keep_plan(change);
            Ok(format!("{text}Call `confirm` with plan {name} to apply it.\n"))
        })
        .await
    }
}

fn not_applied(error: ApplyError) -> CommandError {
    match error {
        ApplyError::Changed(_) => {
            CommandError::user_error("the session changed after the plan was made")
                .with_hint("call `goto` or `fork` again to make a new plan")
        }
        error => apply_error(error),
    }
}

fn written_text(written: &Written, how: &str) -> String {
    let mut lines = format!(
        "{how}: {} in session {}, file {}\n",
        written.operation, written.session, written.file,
    );
    let facts = [
        (&written.resume_leaf, "resumes at"),
        (&written.backup, "backup"),
        (&written.resume_command, "resume with"),
    ];
    for (value, word) in facts {
        if let Some(value) = value.as_ref().filter(|value| !value.is_empty()) {
            let _ = writeln!(lines, "{word}: {value}");
        }
    }
    if let Some(op) = written.op {
        let _ = writeln!(lines, "operation {op}; run `ramus undo {op}` to undo it");
    }
    lines
}
