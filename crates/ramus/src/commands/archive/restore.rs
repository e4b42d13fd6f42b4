//! `archive restore`: a session back where it was.

use ramus_app::archive::ArchiveRestore;
use ramus_archive::restore::RestoreRequest;

use super::{archived_roots, open_archive};
use crate::args::Global;
use crate::confirm::{WriteArgs, confirm_and_apply};
use crate::env;
use crate::error::CommandError;
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
    let workspace = env::workspace_to_fill(ui, global);
    match workspace.plan_archive_restore(&archive, &session, request)? {
        ArchiveRestore::Planned(change) => {
            confirm_and_apply(ui, "ramus.archive.restore/1", &args.write, &change)
        }
        ArchiveRestore::AllThere => {
            Err(CommandError::nothing_found("the session is there as it was archived"))
        }
        ArchiveRestore::OtherContent => Err(CommandError::user_error(
            "the session is there with another content",
        )
        .with_hint("`--replace` puts the archived content in its place and keeps what is there")),
    }
}
