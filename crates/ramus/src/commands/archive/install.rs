//! `archive install` and `uninstall`: a hook that archives whenever a session ends.

use std::path::PathBuf;

use ramus_app::PlannedChange;
use ramus_archive::hook::{self, HookError, add_hook, hook_command, remove_hook};
use ramus_render::json::{Answer, ArchiveSettings};
use ramus_render::{Label, Line};
use ramus_store::plan::{self, Content, Plan, Step, What};
use ramus_store::{PathError, Stamp, settings};

use crate::args::Global;
use crate::env;
use crate::error::CommandError;
use crate::perform::explained;
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
    let program = program_name()?;
    let edit = |text: &str| add_hook(text, &program);
    change_settings(ui, global, args.yes, true, &edit)
}

pub(super) fn uninstall(
    ui: &mut Ui,
    global: &Global,
    args: &UninstallArgs,
) -> Result<(), CommandError> {
    change_settings(ui, global, args.yes, false, &remove_hook)
}

/// Whether the settings run the archive when a session ends.
pub(super) fn has_hook(global: &Global) -> bool {
    let text = claude_dir(global).and_then(|dir| settings(&dir.join("settings.json")).ok()?);
    text.is_some_and(|text| hook::has_hook(&text).unwrap_or(false))
}

/// Returns the Claude directory whose settings are meant: the first that exists.
fn claude_dir(global: &Global) -> Option<PathBuf> {
    env::candidates(global).into_iter().find(|dir| dir.is_dir())
}

/// Returns how the hook starts this program: by its name if that is what a shell would find.
fn program_name() -> Result<String, CommandError> {
    let own = std::env::current_exe()?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|dir| dir.join("ramus")).find(|at| at.is_file());
    let is_own = found.is_some_and(|found| found.canonicalize().ok() == own.canonicalize().ok());
    Ok(if is_own { "ramus".to_owned() } else { plan::quoted(&own.to_string_lossy()) })
}

fn change_settings(
    ui: &mut Ui,
    global: &Global,
    yes: bool,
    installs: bool,
    edit: &dyn Fn(&str) -> Result<String, HookError>,
) -> Result<(), CommandError> {
    let root = claude_dir(global).ok_or_else(|| {
        CommandError::user("there is no Claude directory").hinted("name it with `--claude-dir DIR`")
    })?;
    let file = root.join("settings.json");
    let old = settings(&file)?;
    let refused = |error: HookError| {
        CommandError::user(format!("{}: {error}", file.display()))
            .hinted("Nothing changed. Edit the file by hand, or correct it first")
    };
    let new = edit(old.as_deref().unwrap_or_default()).map_err(refused)?;
    let mut answer = ArchiveSettings {
        op: None,
        with: "hook",
        files: vec![file.display().to_string()],
        installed: installs,
        changed: old.as_deref().unwrap_or_default() != new,
    };
    let change = match answer.changed {
        true => Some(planned(root, file, old.as_deref(), new, installs)?),
        false => None,
    };
    if !ui.json {
        tell(ui, change.as_ref(), installs)?;
    }
    if let Some(change) = &change
        && yes
    {
        let done = ramus_app::change::apply(&env::state(), change, true, env::now());
        let op = done.map_err(explained)?.op;
        answer.op = Some(op);
        if !ui.json {
            let text = format!("Done as operation {op}. ");
            ui.say(
                &Line::new(&text, Label::Active).with("`ramus undo` takes it back.", Label::Plain),
            );
        }
    }
    answer.installed = if answer.op.is_some() || change.is_none() { installs } else { !installs };
    if ui.json {
        ui.json(&Answer::new("ramus.archive.install/1", answer))?;
    }
    Ok(())
}

/// Plans to put other settings in place of those that were read.
fn planned(
    root: PathBuf,
    file: PathBuf,
    old: Option<&str>,
    new: String,
    installs: bool,
) -> Result<PlannedChange, CommandError> {
    let content = Content::Bytes(new.into_bytes());
    let step = match old {
        Some(_) => {
            let before = Stamp::at(&file).map_err(|source| PathError::new(&file, source))?;
            Step::Put { file: file.clone(), before: Some(before), content }
        }
        None => Step::Make { file: file.clone(), content },
    };
    let words = if installs { "archive when a session ends" } else { "no archive hook" };
    Ok(PlannedChange::from(Plan {
        what: What::Settings,
        session: String::new(),
        file,
        root: Some(root),
        words: words.to_owned(),
        steps: vec![step],
        resume: None,
        left_out: 0,
        unreported: 0,
        undoes: None,
    }))
}

fn tell(ui: &mut Ui, change: Option<&PlannedChange>, installs: bool) -> Result<(), CommandError> {
    let Some(change) = change else {
        let text = if installs { "The hook is there already." } else { "There is no hook." };
        return Ok(ui.line(&Line::plain(text))?);
    };
    let verb = if installs { "Adds to" } else { "Takes out of" };
    ui.line(&Line::plain(&format!("{verb} {}:", change.plan.file.display())))?;
    let command = hook_command(&program_name()?);
    ui.line(&Line::plain("  SessionEnd hook: ").with(&command, Label::Strong))?;
    ui.say(&Line::new("`--yes` writes it.", Label::Dim));
    Ok(())
}
