//! `archive restore`: restores a session to its place.

use ramus_app::archive::ArchiveRestore;
use ramus_archive::restore::RestoreRequest;

use super::{archived_roots, open_archive};
use crate::args::Global;
use crate::confirm::{WriteArgs, confirm_and_apply};
use crate::env;
use crate::error::CommandError;
use crate::table::bytes;
use crate::ui::Ui;

/// Restore an archived session with its sub-agents, tool outputs and file backups
///
/// Existing files are not changed unless you use `--replace`, which keeps a backup of them. Restored
/// files get the current date, because Claude Code deletes old files when it starts. Damaged files are
/// named and left out, unless it is the session itself. Run `ramus undo` to undo the restore.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramus archive restore 7ea9
  ramus archive restore 7ea9 --generation 1 --replace")]
pub(super) struct RestoreArgs {
    /// The session: the first characters of its id
    session: String,
    /// Restore this generation of the session's file [default: the newest]
    #[arg(long, value_name = "N")]
    generation: Option<u32>,
    /// Replace files whose content differs
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
    let archive = open_archive(global)?;
    let session = archive.find_session(&archived_roots(global), &args.session)?;
    let request = RestoreRequest { generation: args.generation, replace: args.replace };
    let workspace = env::workspace_to_fill(ui, global);
    match workspace.plan_archive_restore(&archive, &session, request, &bytes)? {
        ArchiveRestore::Planned { change, damaged } => {
            damaged.iter().for_each(|problem| ui.warn_unreadable(problem));
            confirm_and_apply(ui, "ramus.archive.restore/1", &args.write, &change)?;
            if !damaged.is_empty() {
                ui.mark_incomplete();
            }
            Ok(())
        }
        ArchiveRestore::AllThere => {
            Err(CommandError::nothing_found("the session exists and equals the archived one"))
        }
        ArchiveRestore::OtherContent => {
            Err(CommandError::user_error("the session exists and differs from the archived one")
                .with_hint(
                    "use --replace to restore the archived version; the current one is backed up",
                ))
        }
    }
}
