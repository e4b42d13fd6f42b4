//! `archive forget`: out of the archive, for good.

use ramus_core::ids::short_id;
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
/// This cannot be undone. Files on disk stay as they are, and the next `archive add` archives them again.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  ramus archive forget 3f9a")]
pub(super) struct ForgetArgs {
    session: String,
    /// Do it without asking
    #[arg(long, short)]
    yes: bool,
}

pub(super) fn forget(ui: &mut Ui, global: &Global, args: &ForgetArgs) -> Result<(), CommandError> {
    let archive = open_archive()?;
    let session = archive.find_session(&archived_roots(global), &args.session)?;
    ui.print_message(
        &Line::plain("Session ")
            .with(short_id(&session.id), Label::Id)
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
        false => Line::new("  Its file is gone: this is the only copy.", Label::Warning),
    });
    if !args.yes && !ui.can_ask() {
        return Err(CommandError::user_error("Nothing changed: no terminal to confirm on")
            .with_hint("`--yes` does it without asking"));
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
