use ramus_app::{Address, ChangeRequest, NewSessionAt, OpenedSession};

use crate::args::Global;
use crate::completion;
use crate::confirm::{WriteArgs, confirm_and_apply};
use crate::env;
use crate::error::CommandError;
use crate::ui::Ui;

/// Copy a conversation up to a message into a new session
///
/// The message itself is included: name a reply to end with an answer. The original session is not
/// changed. You can fork abandoned branches, messages before a compaction and sub-agents. Sub-agents,
/// spilled outputs and file backups are copied too.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramus fork 7ea9:bd21
  ramus fork 7ea9@2 --title 'Async instead'
  ramus fork latest --into ~/other/project
  ramus fork agent-a4187ea9")]
pub(crate) struct ForkArgs {
    /// A message, conversation or agent
    #[arg(add = completion::sessions())]
    address: String,
    #[command(flatten)]
    to: ForkTo,
    #[command(flatten)]
    write: WriteArgs,
}

/// Project and title of a new session.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ForkTo {
    /// Create it in this project: a path, a name, or part of one
    #[arg(long, value_name = "PROJECT", allow_hyphen_values = true)]
    pub(crate) into: Option<String>,
    /// Title of the new session
    #[arg(long)]
    pub(crate) title: Option<String>,
}

pub(crate) fn fork(ui: &mut Ui, global: &Global, args: &ForkArgs) -> Result<(), CommandError> {
    let workspace = env::workspace_for(ui, global, &args.address)?;
    let Address { file: found, node: selector } = workspace.resolve_address(&args.address)?;
    let opened = OpenedSession::read_session(&workspace, found)?;
    let node = opened.find_node(&selector)?;
    let request = ChangeRequest::Fork { opened: &opened, node, to: args.to.new_session_at() };
    let change = workspace.plan_change(request, env::current_time())?;
    confirm_and_apply(ui, "ramus.fork/1", &args.write, &change)
}

impl ForkTo {
    pub(crate) fn new_session_at(&self) -> NewSessionAt<'_> {
        NewSessionAt { into: self.into.as_deref(), title: self.title.as_deref() }
    }
}
