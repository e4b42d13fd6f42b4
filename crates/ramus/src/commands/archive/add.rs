//! `archive add`: archives new content.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use ramus_app::Scope;
use ramus_app::archive::{AddReport, SendableFiles, added_text};
use ramus_archive::{Archive, FileKey, LazyArchive};
use ramus_render::json::{Answer, ArchiveAdd};
use ramus_render::text::count_noun;
use ramus_render::{Label, Line};
use ramus_store::owned::{OwnedFile, OwnedKind};

use crate::args::Global;
use crate::completion;
use crate::env;
use crate::error::CommandError;
use crate::other_process::detach;
use crate::table::bytes;
use crate::ui::Ui;

/// Archive new sessions, sub-agents, large tool outputs and file backups
///
/// Unchanged files are skipped, and only the new part of a file that grew is stored. It is safe to run
/// this while sessions are being written, and several times at once. If it is interrupted, the next run
/// continues.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramus archive add
  ramus archive add teapot
  ramus archive add 7ea9
  ramus archive add --redact
  ramus sessions --has forks -o id | ramus archive add -")]
pub(super) struct AddArgs {
    /// A project or a session; `-` reads them from standard input [default: everything]
    #[arg(allow_hyphen_values = true, add = completion::scopes())]
    scope: Option<String>,
    /// Print nothing unless something goes wrong
    #[arg(long, short)]
    quiet: bool,
    /// Send to a server for the first time without asking
    #[arg(long, short)]
    yes: bool,
    /// Remove secrets and personal data before anything is sent to a server
    #[arg(long)]
    redact: bool,
    /// Return at once and archive in the background
    #[arg(long)]
    background: bool,
}

pub(super) fn add(ui: &mut Ui, global: &Global, args: &AddArgs) -> Result<(), CommandError> {
    if args.background && args.scope.as_deref() == Some("-") {
        return Err(CommandError::user_error(
            "`--background` cannot read addresses from standard input",
        ));
    }
    if args.background {
        return add_in_background(global, args);
    }
    let scope = args.scope.as_deref();
    let location = env::archive_location(global);
    // What is only in the archive cannot be added to it.
    let global = &Global { no_archive: true, ..global.clone() };
    let workspace = env::workspace_for(ui, global, scope.unwrap_or_default())?;
    let mut scopes = Vec::new();
    for scope in env::expand_addresses(args.scope.as_slice())? {
        scopes.push(workspace.resolve_scope(Some(&scope))?);
    }
    // The client runs this where a session ends; all of them are kept.
    if scopes.is_empty() {
        scopes.push(Scope::All);
    }
    let archive = LazyArchive::new(location);
    let archive = archive.open_or_create()?;
    if args.redact && archive.own_source().is_none() {
        return Err(CommandError::user_error("`--redact` is for an archive on a server")
            .with_hint("this archive stays on this machine and keeps every byte"));
    }
    let mut sendable = workspace.sendable_files(archive, &scopes)?;
    sendable.redact |= args.redact;
    if !args.yes {
        confirm_first_push(ui, archive, &sendable)?;
    }
    let report = workspace.add_to_archive(archive, &sendable, env::current_time())?;
    if ui.json {
        let answer = answer(archive.name().to_owned(), report, sendable.redact);
        return ui.print_json(&Answer::new("ramus.archive.add/1", answer));
    }
    if !args.quiet {
        let label = if report.skipped > 0 { Label::Warning } else { Label::Active };
        ui.print_line(&Line::new(&added_text(report, &bytes), label))?;
    }
    Ok(())
}

/// Shows what leaves this machine the first time that it sends something to a server, and asks.
fn confirm_first_push(
    ui: &mut Ui,
    archive: &Archive,
    sendable: &SendableFiles,
) -> Result<(), CommandError> {
    if archive.own_source().is_none() || !archive.files(None)?.is_empty() {
        return Ok(());
    }
    let SendableFiles { files, held_back, redact } = sendable;
    let sessions = files.iter().filter(|file| file.kind == OwnedKind::Session).count();
    let size = bytes(files.iter().map(|file| file.bytes).sum());
    let what = format!(
        "{} with {} ({size}) would be sent to {}.",
        count_noun(sessions, "session"),
        count_noun(files.len(), "file"),
        archive.name()
    );
    ui.print_message(&Line::plain(&what));
    for line in project_lines(files) {
        ui.print_message(&Line::new(&line, Label::Dim));
    }
    if *held_back > 0 {
        let text = format!("{} held back by archive.toml.", count_noun(*held_back, "file"));
        ui.print_message(&Line::plain(&text));
    }
    let text = match redact {
        true => "Secrets and personal data are removed before sending.",
        false => "They are sent as they are; `--redact` removes secrets and personal data first.",
    };
    ui.print_message(&Line::plain(text));
    let who = "Others read only the projects that you share: `ramus archive share PROJECT`.";
    ui.print_message(&Line::new(who, Label::Dim));
    if !ui.can_ask() {
        return Err(CommandError::user_error("Nothing was sent: no terminal to confirm on")
            .with_hint("`--yes` sends it without asking"));
    }
    if ui.confirm_question("Send them?") {
        return Ok(());
    }
    Err(CommandError::nothing_found("Nothing was sent"))
}

/// How many projects are listed before sending.
const LISTED_PROJECTS: usize = 20;

/// Lists the projects of files, the largest first.
fn project_lines(files: &[OwnedFile]) -> Vec<String> {
    let mut projects: BTreeMap<String, (usize, u64)> = BTreeMap::new();
    for file in files {
        let key = FileKey { root: file.root.clone(), path: file.relative.clone() };
        let name = key.project().unwrap_or_else(|| "file backups".to_owned());
        let (sessions, size) = projects.entry(name).or_default();
        *sessions += usize::from(file.kind == OwnedKind::Session);
        *size += file.bytes;
    }
    let mut projects: Vec<_> = projects.into_iter().collect();
    projects.sort_by_key(|(_, (_, size))| Reverse(*size));
    let more = projects.len().saturating_sub(LISTED_PROJECTS);
    let line = |(name, (sessions, size)): (String, (usize, u64))| {
        format!("  {name}: {}, {}", count_noun(sessions, "session"), bytes(size))
    };
    let mut lines: Vec<String> = projects.into_iter().take(LISTED_PROJECTS).map(line).collect();
    lines.extend((more > 0).then(|| format!("  and {more} more projects")));
    lines
}

/// Starts another process that archives, so that the caller does not wait.
fn add_in_background(global: &Global, args: &AddArgs) -> Result<(), CommandError> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["archive", "add", "--quiet"]).args(args.yes.then_some("--yes"));
    command.args(args.redact.then_some("--redact"));
    command.args(&args.scope);
    if let Some(archive) = &global.archive {
        command.arg("--archive").arg(archive);
    }
    if let Some(dir) = &global.claude_dir {
        command.arg("--claude-dir").arg(dir);
    }
    // The client ends the process group of its hooks.
    detach(&mut command);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    Ok(())
}

fn answer(archive: String, report: AddReport, is_redacted: bool) -> ArchiveAdd {
    ArchiveAdd {
        archive,
        files: report.files,
        unchanged: report.unchanged,
        new: report.new,
        grown: report.grown,
        rewritten: report.rewritten,
        skipped: report.skipped,
        added_bytes: report.added_bytes,
        stored_bytes: report.stored_bytes,
        left_out: is_redacted.then_some(report.left_out),
    }
}
