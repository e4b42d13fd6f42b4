//! The tools that write, each in two calls: one makes a plan, the other confirms it.

use std::fmt::Write;
use std::sync::Arc;

use ramus_app::change::apply;
use ramus_app::{
    Address, ChangeError, ChangeRequest, NewSessionAt, PlannedChange, Site, Workspace,
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

use super::Server;
use crate::env;
use crate::error::CommandError;
use crate::perform::{explained, nothing_written, written};

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
    /// What the new session is called
    title: Option<String>,
    /// Another project to put it into
    into: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Confirm {
    /// The name of the plan
    plan: String,
}

#[tool_router(router = writing, vis = "pub(super)")]
impl Server {
    /// Plan to make a message the one that Claude Code resumes from. Nothing is written until `confirm` is called.
    #[tool(annotations(read_only_hint = true, open_world_hint = false))]
    async fn goto(
        &self,
        Parameters(asked): Parameters<Goto>,
        context: RequestContext<RoleServer>,
    ) -> CallToolResult {
        self.plan(&context, asked.address, |workspace, site, node| {
            workspace.plan(ChangeRequest::Goto { site, node }, env::now())
        })
        .await
    }

    /// Plan to copy a conversation up to a message into a session of its own. Nothing is written until `confirm` is called.
    #[tool(annotations(read_only_hint = true, open_world_hint = false))]
    async fn fork(
        &self,
        Parameters(asked): Parameters<Fork>,
        context: RequestContext<RoleServer>,
    ) -> CallToolResult {
        self.plan(&context, asked.address, move |workspace, site, node| {
            let to = NewSessionAt { into: asked.into.as_deref(), title: asked.title.as_deref() };
            workspace.plan(ChangeRequest::Fork { site, node, to }, env::now())
        })
        .await
    }

    /// Carry out a plan that `goto` or `fork` made. It can be undone with `ramus undo`.
    #[tool(annotations(read_only_hint = false, destructive_hint = false, open_world_hint = false))]
    async fn confirm(
        &self,
        Parameters(asked): Parameters<Confirm>,
        context: RequestContext<RoleServer>,
    ) -> CallToolResult {
        let found = self.plans.take(&asked.plan);
        self.answer(&context, None, None, move |_, _| {
            let Some(change) = found else {
                return Err(CommandError::user(format!("there is no plan {:?}", asked.plan))
                    .hinted("`goto` and `fork` make plans; each can be confirmed once"));
            };
            let done = apply(&env::state(), &change, false, env::now()).map_err(not_applied)?;
            Ok(told(&written(&change, Some((done.op, done.backup))), "Done"))
        })
        .await
    }

    /// Plans something at an address, and keeps the plan until it is confirmed.
    async fn plan(
        &self,
        context: &RequestContext<RoleServer>,
        address: String,
        plan: impl FnOnce(&Workspace, &Site, NodeId) -> Result<PlannedChange, ChangeError>
        + Send
        + 'static,
    ) -> CallToolResult {
        let plans = self.plans.clone();
        self.answer(context, None, None, move |global, _| {
            let workspace = env::open_for(global, &address, Arc::new(()))?;
            let Address { file, node } = workspace.address(&address)?;
            let site = Site::read(&workspace, file)?;
            let node = site.node(&node)?;
            let change = match plan(&workspace, &site, node) {
                Err(ChangeError::AlreadyThere) => {
                    let there = nothing_written(&site, node);
                    return Ok(told(&there, "Nothing to do, it resumes there already"));
                }
                planned => planned?,
            };
            let mut told = told(&written(&change, None), "Would");
            if let Some(refusal) = &change.instead_of {
                let _ = writeln!(told, "The session itself cannot go there: {refusal}");
            }
            let name = plans.keep(change);
            Ok(format!("{told}Call `confirm` with plan {name} to do it.\n"))
        })
        .await
    }
}

fn not_applied(error: ApplyError) -> CommandError {
    match error {
        ApplyError::Changed(_) => {
            CommandError::user("the session has changed since this was planned")
                .hinted("plan again")
        }
        error => explained(error),
    }
}

fn told(written: &Written, how: &str) -> String {
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
        let _ = writeln!(lines, "operation {op}; `ramus undo {op}` takes it back");
    }
    lines
}
