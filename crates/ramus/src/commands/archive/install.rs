//! `archive install` and `uninstall`: a hook that archives whenever a session ends.

use std::path::PathBuf;

use ramus_app::archive::{SettingsError, SettingsRequest};
use ramus_app::change::{apply_change, shell_quoted};
use ramus_archive::{ArchiveLocation, hook};
use ramus_render::change::done_line;
use ramus_render::json::{Answer, ArchiveSettings};
use ramus_render::{Label, Line};
use ramus_store::read_optional_text;
use ramus_store::real_path::real_path_or_given;

use super::timer;
use crate::args::Global;
use crate::confirm::{apply_error, show_change};
use crate::env;
use crate::error::CommandError;
use crate::ui::Ui;

/// Add a hook to Claude Code's settings that archives whenever a session ends
///
/// Shows what it would add to `settings.json`; use `--yes` to add it. Nothing else in the file changes.
/// `ramus archive uninstall` removes it again.
///
/// `--timer` archives every hour instead, with a systemd timer, or with a launchd agent on macOS. Where
/// neither exists, it prints a line that you can add to your crontab.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramus archive install
  ramus archive install --yes
  ramus archive install --timer")]
pub(super) struct InstallArgs {
    /// Archive every hour with a timer instead of a hook
    #[arg(long)]
    timer: bool,
    /// Write the files
    #[arg(long, short)]
    yes: bool,
}

/// Remove the hook from Claude Code's settings, or the timer
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramus archive uninstall
  ramus archive uninstall --yes")]
pub(super) struct UninstallArgs {
    /// Remove the timer instead of the hook
    #[arg(long)]
    timer: bool,
    /// Write the files
    #[arg(long, short)]
    yes: bool,
}

pub(super) fn install(
    ui: &mut Ui,
    global: &Global,
    args: &InstallArgs,
) -> Result<(), CommandError> {
    match args.timer {
        true => timer::install_timer(ui, global, args.yes),
        false => change_settings(ui, global, SettingsRequest::Install, args.yes),
    }
}

pub(super) fn uninstall(
    ui: &mut Ui,
    global: &Global,
    args: &UninstallArgs,
) -> Result<(), CommandError> {
    match args.timer {
        true => timer::uninstall_timer(ui, global, args.yes),
        false => change_settings(ui, global, SettingsRequest::Uninstall, args.yes),
    }
}

/// Whether the settings run the archive when a session ends.
pub(super) fn has_hook(global: &Global) -> bool {
    let text =
        claude_dir(global).and_then(|dir| read_optional_text(&dir.join("settings.json")).ok()?);
    text.is_some_and(|text| hook::has_hook(&text).unwrap_or(false))
}

/// Returns the Claude directory whose settings to edit: the first that exists.
fn claude_dir(global: &Global) -> Option<PathBuf> {
    env::claude_dir_candidates(global).into_iter().find(|dir| dir.is_dir())
}

/// Returns how the hook starts this program: by its name if that is what a shell would find.
fn program_name() -> Result<String, CommandError> {
    let own = std::env::current_exe()?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|dir| dir.join("ramus")).find(|at| at.is_file());
    let is_own = found.is_some_and(|found| real_path_or_given(&found) == real_path_or_given(&own));
    Ok(if is_own { "ramus".to_owned() } else { shell_quoted(&own.to_string_lossy()) })
}

/// Returns the options of this command that say where the archive and the Claude directory are, for a command that
/// runs elsewhere.
pub(super) fn location_options(global: &Global) -> Result<Vec<String>, CommandError> {
    let mut options = Vec::new();
    if let Some(dir) = &global.claude_dir {
        let dir = std::path::absolute(dir)?.to_string_lossy().into_owned();
        options.extend(["--claude-dir".to_owned(), dir]);
    }
    if let Some(archive) = &global.archive {
        options.extend(["--archive".to_owned(), absolute_archive(archive)?]);
    }
    Ok(options)
}

/// Returns where an archive is, seen from any directory.
pub(super) fn absolute_archive(named: &str) -> Result<String, CommandError> {
    if ArchiveLocation::is_server_url(named) {
        return Ok(named.to_owned());
    }
    Ok(std::path::absolute(named)?.to_string_lossy().into_owned())
}

/// Returns how the hook starts ramus.
fn hook_program(global: &Global) -> Result<String, CommandError> {
    if global.archive.is_some() {
        refuse_password(global)?;
    }
    let mut words = vec![program_name()?];
    words.extend(location_options(global)?.iter().map(|word| shell_quoted(word)));
    Ok(words.join(" "))
}

/// Refuses to write down, or to show, where the archive is if a password is part of that.
pub(super) fn refuse_password(global: &Global) -> Result<(), CommandError> {
    if !env::archive_location(global).has_password()? {
        return Ok(());
    }
    let refusal = "the URL of the archive contains a password, which would be written to a file";
    Err(CommandError::user_error(refusal)
        .with_hint("put the password into ~/.pgpass, as for psql, and leave it out of the URL"))
}

fn change_settings(
    ui: &mut Ui,
    global: &Global,
    request: SettingsRequest,
    yes: bool,
) -> Result<(), CommandError> {
    let root = claude_dir(global).ok_or_else(|| {
        CommandError::user_error("no Claude directory found")
            .with_hint("use --claude-dir DIR to choose one")
    })?;
    let workspace = env::workspace_to_fill(ui, global);
    let program = match request {
        SettingsRequest::Install => hook_program(global)?,
        SettingsRequest::Uninstall => program_name()?,
    };
    let change = workspace.plan_settings(&root, request, &program)?;
    if !ui.json {
        match &change {
            Some(change) => show_change(ui, change),
            None if request == SettingsRequest::Install => {
                ui.print_message(&Line::plain("The hook is already installed."));
            }
            None => ui.print_message(&Line::plain("The hook is not installed.")),
        }
    }
    let op = match &change {
        Some(change) if yes => {
            let done = apply_change(&env::state_dir(), change, true, env::current_time())
                .map_err(apply_error)?;
            Some(done.op)
        }
        _ => None,
    };
    if !ui.json {
        match (op, &change) {
            (Some(op), _) => ui.print_message(&done_line(op, false)),
            (None, Some(_)) => ui.print_message(&Line::new("Use --yes to write it.", Label::Dim)),
            (None, None) => {}
        }
        return Ok(());
    }
    let is_as_asked = op.is_some() || change.is_none();
    let answer = ArchiveSettings {
        op,
        with: "hook",
        files: vec![root.join("settings.json").display().to_string()],
        installed: (request == SettingsRequest::Install) == is_as_asked,
        changed: change.is_some(),
    };
    ui.print_json(&Answer::new("ramus.archive.install/1", answer))
}

impl From<SettingsError> for CommandError {
    fn from(error: SettingsError) -> Self {
        match error {
            SettingsError::Read(error) => error.into(),
            SettingsError::Refused { .. } => Self::user_error(error)
                .with_hint("nothing changed; correct the file, or edit it by hand"),
        }
    }
}
