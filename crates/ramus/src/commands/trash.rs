use ramus_app::{ChangeRequest, Site};
use ramus_render::text::count;
use ramus_render::{Label, Line};
use ramus_store::plan::Step;

use crate::args::Global;
use crate::env;
use crate::error::CommandError;
use crate::perform::{Proposal, WriteArgs, perform};
use crate::ui::Ui;

/// Move a session away, with its agents and file backups
///
/// Nothing is deleted: it goes to the trash of ramus, and `ramus undo` brings it back.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  ramus trash 3f9a\n  ramus log\n  ramus undo")]
pub(crate) struct TrashArgs {
    session: String,
    #[command(flatten)]
    write: WriteArgs,
}

pub(crate) fn trash(ui: &mut Ui, global: &Global, args: &TrashArgs) -> Result<(), CommandError> {
    let workspace = env::workspace_for(ui, global, &args.session)?;
    let found = workspace.address(&args.session)?.file;
    let site = Site::read(&workspace, found)?;
    let change = workspace.plan(&ChangeRequest::Trash { site: &site }, env::now())?;
    let messages: u32 = site
        .history
        .branches
        .conversations
        .iter()
        .map(|conversation| conversation.messages)
        .max()
        .unwrap_or(0);
    let mut lines = vec![
        Line::plain("Session ")
            .with(&site.short_id, Label::Id)
            .with(&format!("  {}", site.title), Label::Strong),
        Line::plain(&format!(
            "  {}, the longest with {}",
            count(site.history.branches.conversations.len(), "conversation"),
            count(messages as usize, "message")
        )),
    ];
    for step in &change.plan.steps {
        if let Step::Move { from, .. } = step {
            lines.push(Line::new(&format!("  moves {}", from.display()), Label::Dim));
        }
    }
    let proposal = Proposal { change: &change, lines, question: "Move it to the trash?" };
    perform(ui, "ramus.trash/1", &args.write, &proposal)
}
