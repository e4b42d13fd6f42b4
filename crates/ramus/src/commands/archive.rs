mod add;
mod export;
mod forget;
mod install;
mod list;
mod restore;
mod status;
mod verify;

use std::path::PathBuf;

use clap::Subcommand;
use ramus_app::{ResolvedFile, Workspace};
use ramus_archive::Archive;
use ramus_render::{Label, Line};

use crate::args::Global;
use crate::env;
use crate::error::CommandError;
use crate::ui::Ui;

/// Keep your history: archive every session before Claude Code deletes it
///
/// Claude Code deletes sessions 30 days after their last change. The archive keeps every byte of every
/// file it was given: sessions, sub-agents, large tool outputs and file backups, compressed, in one file
/// that only you can read (see `ramus archive status`; RAMUS_ARCHIVE names another file). Nothing in it
/// ever changes: a session that was rewritten is kept as it was before, too.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  ramus archive add              archive everything that is new\n  ramus archive install          do so whenever a session ends\n  ramus archive list             what is archived\n  ramus archive restore 3f9a     put a session back that was deleted"
)]
pub(crate) struct ArchiveArgs {
    #[command(subcommand)]
    command: Option<ArchiveCommand>,
}

#[derive(Debug, Subcommand)]
enum ArchiveCommand {
    Status(status::StatusArgs),
    Add(add::AddArgs),
    List(list::ListArgs),
    Verify(verify::VerifyArgs),
    Restore(restore::RestoreArgs),
    Forget(forget::ForgetArgs),
    Export(export::ExportArgs),
    Install(install::InstallArgs),
    Uninstall(install::UninstallArgs),
}

pub(crate) fn archive(
    ui: &mut Ui,
    global: &Global,
    args: &ArchiveArgs,
) -> Result<(), CommandError> {
    match &args.command {
        None => status::status(ui, global),
        Some(ArchiveCommand::Status(_)) => status::status(ui, global),
        Some(ArchiveCommand::Add(args)) => add::add(ui, global, args),
        Some(ArchiveCommand::List(args)) => list::list(ui, global, args),
        Some(ArchiveCommand::Verify(_)) => verify::verify(ui),
        Some(ArchiveCommand::Restore(args)) => restore::restore(ui, global, args),
        Some(ArchiveCommand::Forget(args)) => forget::forget(ui, global, args),
        Some(ArchiveCommand::Export(args)) => export::export(ui, global, args),
        Some(ArchiveCommand::Install(args)) => install::install(ui, global, args),
        Some(ArchiveCommand::Uninstall(args)) => install::uninstall(ui, global, args),
    }
}

/// Opens the archive; one that does not exist is an answer of its own.
fn open_archive() -> Result<Archive, CommandError> {
    let path = env::archive_path();
    Archive::open_existing(&path)?.ok_or_else(|| {
        CommandError::nothing(format!("nothing is archived yet in {}", path.display()))
            .hinted("`ramus archive add` archives everything")
    })
}

/// Returns the Claude directories as the archive knows them, whether they exist or not.
fn archived_roots(global: &Global) -> Vec<PathBuf> {
    let roots = env::candidates(global).into_iter();
    roots.map(|root| root.canonicalize().unwrap_or(root)).collect()
}

/// Says that a session is read from the archive, and how to get it back.
pub(crate) fn tell_archived(ui: &Ui, workspace: &Workspace, found: &ResolvedFile) {
    if !found.file.archived || ui.json {
        return;
    }
    let session = found.file.role.session().unwrap_or(&found.file.id);
    let text = format!(
        "its file is gone; `ramus archive restore {}` puts it back",
        workspace.short_id(session)
    );
    ui.say(&Line::new("archived: ", Label::Note).with(&text, Label::Dim));
}

/// Returns the archive's file, for answers.
fn archive_name() -> String {
    env::archive_path().display().to_string()
}
