//! The tools that write, each in two calls: one makes a plan, the other confirms it.

use std::fmt::Write;

use std::path::PathBuf;
use std::time::SystemTime;

use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::CallToolResult;
use rmcp::service::RequestContext;
use rmcp::{RoleServer, schemars, tool, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Server, ask, brief::text};
use crate::args::Global;
use crate::env;
use crate::error::CommandError;
use crate::ui::Ui;

/// What was planned and waits for its confirmation.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    name: String,
    options: Vec<String>,
    address: String,
    /// The session as it was when it was planned.
    stamp: Stamp,
}

type Stamp = (PathBuf, u64, SystemTime);

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
        self.plan(&context, vec!["goto".to_owned()], asked.address).await
    }

    /// Plan to copy a conversation up to a message into a session of its own. Nothing is written until `confirm` is called.
    #[tool(annotations(read_only_hint = true, open_world_hint = false))]
    async fn fork(
        &self,
        Parameters(asked): Parameters<Fork>,
        context: RequestContext<RoleServer>,
    ) -> CallToolResult {
        let options = [("title", &asked.title), ("into", &asked.into)];
        let options = options
            .into_iter()
            .filter_map(|(name, value)| Some(format!("--{name}={}", value.as_ref()?)));
        let options = std::iter::once("fork".to_owned()).chain(options).collect();
        self.plan(&context, options, asked.address).await
    }

    /// Carry out a plan that `goto` or `fork` made. It can be undone with `ramus undo`.
    #[tool(annotations(read_only_hint = false, destructive_hint = false, open_world_hint = false))]
    async fn confirm(
        &self,
        Parameters(asked): Parameters<Confirm>,
        context: RequestContext<RoleServer>,
    ) -> CallToolResult {
        let found = self.take_plan(&asked.plan);
        self.answer(&context, None, None, move |global, _| {
            let Some(pending) = found else {
                return Err(CommandError::user(format!("there is no plan {:?}", asked.plan))
                    .hinted("`goto` and `fork` make plans; each can be confirmed once"));
            };
            if stamp(global, &pending.address)? != pending.stamp {
                return Err(CommandError::user("the session has changed since this was planned")
                    .hinted("plan again"));
            }
            let options: Vec<String> =
                pending.options.iter().cloned().chain(["--yes".to_owned()]).collect();
            let done = ask(global, &options, &[&pending.address])?;
            Ok(told(&done, "Done"))
        })
        .await
    }

    /// Takes a plan out: it is good for one attempt.
    fn take_plan(&self, name: &str) -> Option<Pending> {
        let mut pending = self.pending.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let place = pending.iter().position(|pending| pending.name == name)?;
        Some(pending.remove(place))
    }

    async fn plan(
        &self,
        context: &RequestContext<RoleServer>,
        options: Vec<String>,
        address: String,
    ) -> CallToolResult {
        let pending = self.pending.clone();
        self.answer(context, None, None, move |global, _| {
            let stamp = stamp(global, &address)?;
            let dry: Vec<String> =
                options.iter().cloned().chain(["--dry-run".to_owned()]).collect();
            let planned = ask(global, &dry, &[&address])?;
            let mut pending = pending.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let name = ramus_store::plan::new_id();
            let told =
                format!("{}Call `confirm` with plan {name} to do it.\n", told(&planned, "Would"));
            pending.push(Pending { name, options, address, stamp });
            if pending.len() > MOST {
                pending.remove(0);
            }
            Ok(told)
        })
        .await
    }
}

/// How many plans can wait at once.
const MOST: usize = 16;

/// Tells what a session's file is like now.
fn stamp(global: &Global, address: &str) -> Result<Stamp, CommandError> {
    let ui = &mut Ui::caught(global);
    let found = env::workspace_for(ui, global, address)?.address(address)?.file;
    Ok((found.file.path, found.file.bytes, found.file.modified))
}

fn told(written: &Value, how: &str) -> String {
    let mut lines = format!(
        "{how}: {} in session {}, file {}\n",
        text(written, "operation").unwrap_or_default(),
        text(written, "session").unwrap_or_default(),
        text(written, "file").unwrap_or_default(),
    );
    for (key, word) in
        [("resume_leaf", "resumes at"), ("backup", "backup"), ("resume_command", "resume with")]
    {
        if let Some(value) = text(written, key) {
            let _ = writeln!(lines, "{word}: {value}");
        }
    }
    if let Some(op) = written["op"].as_u64() {
        let _ = writeln!(lines, "operation {op}; `ramus undo {op}` takes it back");
    }
    lines
}
