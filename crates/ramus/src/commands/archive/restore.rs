//! `archive restore`: a session back where it was.

use ramus_app::PlannedChange;
use ramus_archive::restore::RestoreRequest;
use ramus_core::name::short_id;
use ramus_render::text::count;
use ramus_render::{Label, Line};

use super::{archived_roots, open_archive};
use crate::args::Global;
use crate::error::CommandError;
use crate::perform::{Proposal, WriteArgs, perform};
use crate::table::bytes;
use crate::ui::Ui;

/// Put an archived session back, with its sub-agents, tool outputs and file backups
///
/// Files that are there stay as they are, unless `--replace` is given; what is replaced is kept. The
/// restored files are dated now, because Claude Code deletes old ones when it starts. `ramus undo` takes
/// all of it back.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  ramus archive restore 3f9a\n  ramus archive restore 3f9a --generation 1 --replace\n  ramus undo"
)]
pub(super) struct RestoreArgs {
    session: String,
    /// An earlier content of the session's own file [default: the newest]
    #[arg(long, value_name = "N")]
    generation: Option<u32>,
    /// Replace files that have another content now
    #[arg(long)]
    replace: bool,
    #[command(flatten)]
    write: WriteArgs,
}

pub(super) fn restore(
    ui: &mut Ui,
    global: &Global,
    args: &RestoreArgs,
) -> Result<(), CommandError> {
    let archive = open_archive()?;
    let session = archive.find_session(&archived_roots(global), &args.session)?;
    let request = RestoreRequest { generation: args.generation, replace: args.replace };
    let restore = archive.plan_restore(&session, request)?;
    if restore.plan.steps.is_empty() {
        return Err(nothing_to_do(restore.kept));
    }
    let mut lines = vec![
        Line::plain("Session ")
            .with(short_id(&session.id), Label::Id)
            .with(&format!("  {}", session.project().unwrap_or_default()), Label::Strong),
        Line::plain(&format!(
            "  puts back {}, {}",
            count(restore.plan.steps.len(), "file"),
            bytes(restore.bytes)
        )),
        Line::new(&format!("  in {}", restore.plan.file.display()), Label::Dim),
    ];
    if restore.kept > 0 {
        let text = format!(
            "  leaves {} with another content as it is (`--replace` replaces)",
            count(restore.kept as usize, "file")
        );
        lines.push(Line::new(&text, Label::Warning));
    }
    let change = PlannedChange::from(restore.plan);
    let proposal = Proposal { change: &change, lines, question: "Put it back?" };
    perform(ui, "ramus.archive.restore/1", &args.write, &proposal)
}

fn nothing_to_do(kept: u64) -> CommandError {
    match kept {
        0 => CommandError::nothing("the session is there as it was archived"),
        _ => CommandError::user("the session is there with another content")
            .hinted("`--replace` puts the archived content in its place and keeps what is there"),
    }
}
