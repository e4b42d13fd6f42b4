use std::path::Path;

use ramus_app::{Address, ChangeRequest, NewSessionAt, PlannedChange, Site};
use ramus_core::session::NodeId;
use ramus_render::text::count;
use ramus_render::{Label, Line};
use ramus_store::plan::{Plan, Step};

use crate::args::Global;
use crate::env;
use crate::error::CommandError;
use crate::perform::{Proposal, SiteWords, WriteArgs, perform};
use crate::ui::Ui;

/// Copy a conversation up to a message into a session of its own
///
/// The session that is forked stays as it is. Abandoned branches, what was said before a compaction
/// and the conversations of sub-agents can be forked alike; their agents, spilled outputs and file
/// backups come along.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  ramus fork 3f9a:81b2c3d4\n  ramus fork 3f9a@2 --title \"The other way\"\n  ramus fork latest --into ~/other/project\n  ramus fork agent-a1b2c3d"
)]
pub(crate) struct ForkArgs {
    /// A node, a conversation, or an agent
    address: String,
    #[command(flatten)]
    to: ForkTo,
    #[command(flatten)]
    write: WriteArgs,
}

/// Where a new session goes, and what it is called.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct ForkTo {
    /// Another project: its path, its name or a part of it
    #[arg(long, value_name = "PROJECT", allow_hyphen_values = true)]
    pub(crate) into: Option<String>,
    /// What the new session is called
    #[arg(long)]
    pub(crate) title: Option<String>,
}

impl ForkArgs {
    /// Asks for one message.
    pub(crate) fn of(address: String) -> Self {
        Self { address, to: ForkTo::default(), write: WriteArgs::default() }
    }
}

pub(crate) fn fork(ui: &mut Ui, global: &Global, args: &ForkArgs) -> Result<(), CommandError> {
    let workspace = env::workspace_for(ui, global, &args.address)?;
    let Address { file: found, node: spot } = workspace.address(&args.address)?;
    let site = Site::read(&workspace, found)?;
    let node = site.node(&spot)?;
    let request = ChangeRequest::Fork { site: &site, node, to: args.to.new_session_at() };
    let change = workspace.plan(&request, env::now())?;
    propose_fork(ui, &site, node, &change, "ramus.fork/1", &args.write)
}

/// Shows a fork at a node, and carries it out.
pub(crate) fn propose_fork(
    ui: &mut Ui,
    site: &Site,
    node: NodeId,
    change: &PlannedChange,
    schema: &'static str,
    args: &WriteArgs,
) -> Result<(), CommandError> {
    let plan = &change.plan;
    let mut lines = Vec::new();
    if let Some(new) = &change.new {
        lines.push(
            Line::plain("New session ")
                .with(&plan.session[..8], Label::Id)
                .with(&format!("  {}", new.title), Label::Strong),
        );
        lines.push(
            Line::plain(&format!("  {} up to ", count(new.messages as usize, "message")))
                .join(&site.words(node)?),
        );
    }
    lines.extend(comes_along(plan));
    if let Some(set_back) = change.new.as_ref().map(|new| new.set_back).filter(|n| *n > 0) {
        let line = format!("  {set_back} records are dated in the future and set back");
        lines.push(Line::new(&line, Label::Warning));
    }
    lines.push(Line::new(&format!("  goes to {}", plan.file.display()), Label::Dim));
    perform(ui, schema, args, &Proposal { change, lines, question: "Make it?" })
}

impl ForkTo {
    pub(crate) fn new_session_at(&self) -> NewSessionAt<'_> {
        NewSessionAt { into: self.into.as_deref(), title: self.title.as_deref() }
    }
}

/// Tells what a new session has beside its own file.
pub(crate) fn comes_along(plan: &Plan) -> Option<Line> {
    let is_agent = |file: &Path| {
        *file != *plan.file && file.extension().is_some_and(|extension| extension == "jsonl")
    };
    let agents =
        plan.steps.iter().filter(|step| matches!(step, Step::Make { file, .. } if is_agent(file)));
    let links = plan.steps.iter().filter(|step| matches!(step, Step::Link { .. }));
    let mut parts = Vec::new();
    match agents.count() {
        0 => {}
        1 => parts.push("1 agent".to_owned()),
        many => parts.push(format!("{many} agents")),
    }
    match links.count() {
        0 => {}
        1 => parts.push("1 backup or output".to_owned()),
        many => parts.push(format!("{many} backups and outputs")),
    }
    (!parts.is_empty()).then(|| Line::plain(&format!("  with {}", parts.join(" and "))))
}
