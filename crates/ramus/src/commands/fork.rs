use ramus_app::{Address, ChangeRequest, NewSessionAt, OpenedSession};

use crate::args::Global;
use crate::confirm::{WriteArgs, confirm_and_apply};
use crate::env;
use crate::error::CommandError;
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
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ForkTo {
    /// Another project: its path, its name or a part of it
    #[arg(long, value_name = "PROJECT", allow_hyphen_values = true)]
    pub(crate) into: Option<String>,
    /// What the new session is called
    #[arg(long)]
    pub(crate) title: Option<String>,
}

pub(crate) fn fork(ui: &mut Ui, global: &Global, args: &ForkArgs) -> Result<(), CommandError> {
    let workspace = env::workspace_for(ui, global, &args.address)?;
    let Address { file: found, node: spot } = workspace.resolve_address(&args.address)?;
    let site = OpenedSession::read_session(&workspace, found)?;
    let node = site.find_node(&spot)?;
    let request = ChangeRequest::Fork { site: &site, node, to: args.to.new_session_at() };
    let change = workspace.plan_change(request, env::current_time())?;
    confirm_and_apply(ui, "ramus.fork/1", &args.write, &change)
}

impl ForkTo {
    pub(crate) fn new_session_at(&self) -> NewSessionAt<'_> {
        NewSessionAt { into: self.into.as_deref(), title: self.title.as_deref() }
    }
}
