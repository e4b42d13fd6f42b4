mod add;
mod export;
mod forget;
mod init;
mod install;
mod list;
mod restore;
mod share;
mod status;
mod timer;
mod verify;

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::Subcommand;
use ramus_app::change::shell_quoted;
use ramus_app::{ResolvedFile, Workspace};
use ramus_archive::{Archive, LazyArchive};
use ramus_render::{Label, Line};

use crate::args::Global;
use crate::env;
use crate::error::CommandError;
use crate::ui::Ui;
use ramus_store::real_path::real_path_or_given;

/// Archive sessions before Claude Code deletes them
///
/// Claude Code deletes sessions 30 days after their last change. The archive keeps every byte of
/// sessions, sub-agents, large tool outputs and file backups, compressed, in one file that only you can
/// read (see `ramus archive status`; set RAMUS_ARCHIVE to use another file). Archived content never
/// changes: if a session is rewritten, both versions are kept.
///
/// A team keeps its archive on a PostgreSQL server: set RAMUS_ARCHIVE to its URL (docs/team.md).
#[derive(Debug, clap::Args)]
#[command(
    disable_help_subcommand = true,
    after_help = "\
Examples:
  ramus archive add              archive everything that is new
  ramus archive install          do so whenever a session ends
  ramus archive list             list archived sessions
  ramus archive restore 7ea9     bring back a deleted session"
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
    Init(init::InitArgs),
    Share(share::ShareArgs),
    Unshare(share::UnshareArgs),
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
        Some(ArchiveCommand::Verify(_)) => verify::verify(ui, global),
        Some(ArchiveCommand::Restore(args)) => restore::restore(ui, global, args),
        Some(ArchiveCommand::Forget(args)) => forget::forget(ui, global, args),
        Some(ArchiveCommand::Export(args)) => export::export(ui, global, args),
        Some(ArchiveCommand::Install(args)) => install::install(ui, global, args),
        Some(ArchiveCommand::Uninstall(args)) => install::uninstall(ui, global, args),
        Some(ArchiveCommand::Init(args)) => init::init(ui, global, args),
        Some(ArchiveCommand::Share(args)) => share::share(ui, global, args),
        Some(ArchiveCommand::Unshare(args)) => share::unshare(ui, global, args),
    }
}

/// Opens the archive. A missing one is reported as "nothing archived", not as an error.
fn open_archive(global: &Global) -> Result<Archive, CommandError> {
    let archive = LazyArchive::new(env::archive_location(global));
    archive.open_existing()?.cloned().ok_or_else(|| {
        CommandError::nothing_found(format!("nothing is archived yet in {}", archive.name()))
            .with_hint("`ramus archive add` archives everything")
    })
}

/// Returns the Claude directories as the archive knows them, whether they exist or not.
fn archived_roots(global: &Global) -> Vec<PathBuf> {
    let roots = env::claude_dir_candidates(global).into_iter();
    roots.map(|root| real_path_or_given(&root)).collect()
}

/// Says which Claude directories the archived sessions come from, where none comes from the requested ones.
fn other_directories(archive: &Archive) -> Result<Vec<String>, CommandError> {
    let roots: BTreeSet<PathBuf> =
        archive.files(None)?.into_iter().map(|file| file.key.root).collect();
    let sentence = |root: PathBuf| {
        let (root, typed) = (root.display(), shell_quoted(&root.to_string_lossy()));
        format!("sessions of {root} are archived; use --claude-dir {typed} for them")
    };
    Ok(roots.into_iter().map(sentence).collect())
}

/// Prints that a session is read from the archive, and how to restore it.
pub(crate) fn print_archived_note(ui: &Ui, workspace: &Workspace, found: &ResolvedFile) {
    if !found.file.archived || ui.json {
        return;
    }
    let session = found.file.role.session().unwrap_or(&found.file.id);
    let text = match workspace.is_of_others(&found.file.path) {
        true => "it was sent to the server by another person or machine".to_owned(),
        false => format!(
            "its file no longer exists; run `ramus archive restore {}` to bring it back",
            workspace.short_id(session)
        ),
    };
    ui.print_message(&Line::new("archived: ", Label::Note).with(&text, Label::Dim));
}
