//! `archive forget`: removes a session from the archive.

use ramus_render::json::{Answer, ArchiveForget};
use ramus_render::text::count_noun;
use ramus_render::{Label, Line};

use super::list::is_on_disk;
use super::{archived_roots, open_archive};
use crate::args::Global;
use crate::error::CommandError;
use crate::table::bytes;
use crate::ui::Ui;

/// Remove a session from the archive, with all its generations and files
///
/// This cannot be undone. Files on disk are not changed, and the next `archive add` archives them again.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramus archive forget 7ea9")]
pub(super) struct ForgetArgs {
    /// The session: the first characters of its id
    session: String,
    /// Do it without asking
    #[arg(long, short)]
    yes: bool,
}

pub(super) fn forget(ui: &mut Ui, global: &Global, args: &ForgetArgs) -> Result<(), CommandError> {
    let archive = open_archive(global)?;
    let session = archive.find_session(&archived_roots(global), &args.session)?;
    ui.print_message(
        &Line::plain("Session ")
            .with(archive.short_ids()?.shorten_id(&session.id), Label::Id)
            .with(&format!("  {}", session.project().unwrap_or_default()), Label::Strong)
            .with(
                &format!(
                    "  {}, {}",
                    count_noun(session.files.len(), "file"),
                    bytes(session.bytes())
                ),
                Label::Plain,
            ),
    );
    ui.print_message(&match is_on_disk(&session) {
        true => Line::plain("  Its file is on disk; the next `archive add` archives it again."),
        false => Line::new("  Its file no longer exists: this is the only copy.", Label::Warning),
    });
    if !args.yes && !ui.can_ask() {
        return Err(CommandError::user_error("Nothing changed: no terminal to confirm on")
            .with_hint("use --yes to remove it without asking"));
    }
    if !args.yes && !ui.confirm_question("Remove it from the archive for good?") {
        return Err(CommandError::nothing_found("Nothing changed"));
    }
    let forgotten = archive.forget(&session)?;
    if ui.json {
        let (files, generations) = (forgotten.files, forgotten.generations);
        let (session, bytes) = (session.id, forgotten.bytes);
        let answer = ArchiveForget { session, files, generations, bytes };
        return ui.print_json(&Answer::new("ramus.archive.forget/1", answer));
    }
    let text = format!(
        "Removed {} with {}, {}.",
        count_noun(forgotten.files as usize, "file"),
        count_noun(forgotten.generations as usize, "generation"),
        bytes(forgotten.bytes)
    );
    Ok(ui.print_line(&Line::plain(&text))?)
}
