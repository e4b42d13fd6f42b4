//! `archive install` and `uninstall`: a hook that archives whenever a session ends.

use std::path::PathBuf;

use ramus_app::archive::{SettingsError, SettingsRequest};
use ramus_app::change::{apply_change, shell_quoted};
use ramus_archive::hook;
use ramus_render::change::done_line;
use ramus_render::json::{Answer, ArchiveSettings};
use ramus_render::{Label, Line};
use ramus_store::read_optional_text;

use crate::args::Global;
use crate::confirm::{apply_error, show_change};
use crate::env;
use crate::error::CommandError;
use crate::ui::Ui;

/// Archive whenever a session ends, by a hook in Claude Code's settings
///
/// Shows what it would add to `settings.json`; `--yes` adds it. Nothing else in the file changes. `ramus archive
/// uninstall` takes exactly that out again.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  ramus archive install\n  ramus archive install --yes\n  ramus archive uninstall --yes"
)]
pub(super) struct InstallArgs {
    /// Write it
    #[arg(long, short)]
    yes: bool,
}

/// Take the hook out of Claude Code's settings again
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  ramus archive uninstall\n  ramus archive uninstall --yes")]
pub(super) struct UninstallArgs {
    /// Write it
    #[arg(long, short)]
    yes: bool,
}

pub(super) fn install(
    ui: &mut Ui,
    global: &Global,
    args: &InstallArgs,
) -> Result<(), CommandError> {
    change_settings(ui, global, SettingsRequest::Install, args.yes)
}

pub(super) fn uninstall(
    ui: &mut Ui,
    global: &Global,
    args: &UninstallArgs,
) -> Result<(), CommandError> {
    change_settings(ui, global, SettingsRequest::Uninstall, args.yes)
}

/// Whether the settings run the archive when a session ends.
pub(super) fn has_hook(global: &Global) -> bool {
    let text =
        claude_dir(global).and_then(|dir| read_optional_text(&dir.join("settings.json")).ok()?);
    text.is_some_and(|text| hook::has_hook(&text).unwrap_or(false))
}

/// Returns the Claude directory whose settings are meant: the first that exists.
fn claude_dir(global: &Global) -> Option<PathBuf> {
    env::claude_dir_candidates(global).into_iter().find(|dir| dir.is_dir())
}

/// Returns how the hook starts this program: by its name if that is what a shell would find.
fn program_name() -> Result<String, CommandError> {
    let own = std::env::current_exe()?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|dir| dir.join("ramus")).find(|at| at.is_file());
    let is_own = found.is_some_and(|found| found.canonicalize().ok() == own.canonicalize().ok());
    Ok(if is_own { "ramus".to_owned() } else { shell_quoted(&own.to_string_lossy()) })
}

fn change_settings(
    ui: &mut Ui,
    global: &Global,
    request: SettingsRequest,
    yes: bool,
) -> Result<(), CommandError> {
    let root = claude_dir(global).ok_or_else(|| {
        CommandError::user_error("there is no Claude directory")
            .with_hint("name it with `--claude-dir DIR`")
    })?;
    let workspace = env::workspace_to_fill(ui, global);
    let change = workspace.plan_settings(&root, request, &program_name()?)?;
    if !ui.json {
        match &change {
            Some(change) => show_change(ui, change),
            None if request == SettingsRequest::Install => {
                ui.print_message(&Line::plain("The hook is there already."));
            }
            None => ui.print_message(&Line::plain("There is no hook.")),
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
            (None, Some(_)) => ui.print_message(&Line::new("`--yes` writes it.", Label::Dim)),
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
