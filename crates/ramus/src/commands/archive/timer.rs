//! `archive install --timer`: the same without a hook, every hour.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use ramus_app::change::shell_quoted;
use ramus_archive::timer::{TimerCommand, TimerSetup, TimerState, cron_line};
use ramus_render::json::{Answer, ArchiveSettings};
use ramus_render::{Label, Line};

use super::install::{absolute_archive, location_options, refuse_password};
use crate::args::Global;
use crate::error::CommandError;
use crate::ui::Ui;

const ARCHIVE: &str = "RAMUS_ARCHIVE";
/// The variables that locate the archive and the Claude directories.
const VARIABLES: [&str; 4] = [ARCHIVE, "CLAUDE_CONFIG_DIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME"];

fn timer_command(global: &Global) -> Result<TimerCommand, CommandError> {
    let mut words = vec![std::env::current_exe()?.to_string_lossy().into_owned()];
    words.extend(location_options(global)?);
    words.extend(["archive", "add", "--quiet"].map(str::to_owned));
    let value = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    // An option overrides the variable, which may contain a password.
    let is_used = |name: &&&str| **name != ARCHIVE || global.archive.is_none();
    let mut environment = Vec::new();
    for name in VARIABLES.iter().filter(is_used) {
        let Some(value) = value(name) else { continue };
        let value = if *name == ARCHIVE { absolute_archive(&value)? } else { value };
        environment.push(((*name).to_owned(), value));
    }
    Ok(TimerCommand { words, environment })
}

/// Returns the timer of this system. `None`: only cron is left.
fn timer_setup(command: &TimerCommand) -> Option<TimerSetup> {
    let home = std::env::home_dir()?;
    if cfg!(target_os = "macos") {
        return Some(TimerSetup::launchd(&home, command));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let has_systemd = std::env::split_paths(&path).any(|dir| dir.join("systemctl").is_file());
    let config = std::env::var_os("XDG_CONFIG_HOME").map_or(home.join(".config"), PathBuf::from);
    has_systemd.then(|| TimerSetup::systemd(&config.join("systemd/user"), command))
}

/// Whether a timer runs the archive.
pub(super) fn has_timer(global: &Global) -> bool {
    let setup = timer_command(global).ok().and_then(|command| timer_setup(&command));
    setup.is_some_and(|setup| setup.look().is_ok_and(|state| state == TimerState::Installed))
}

pub(super) fn install_timer(ui: &mut Ui, global: &Global, yes: bool) -> Result<(), CommandError> {
    refuse_password(global)?;
    let command = timer_command(global)?;
    let Some(setup) = timer_setup(&command) else {
        if cfg!(windows) {
            let words: Vec<String> = command.words.iter().map(|word| shell_quoted(word)).collect();
            let run = words.join(" ");
            return Err(CommandError::user_error("timers are not supported on Windows")
                .with_hint(format!(
                    "use the Task Scheduler: `schtasks /create /sc hourly /tn ramus-archive /tr COMMAND`, where COMMAND is {run}"
                )));
        }
        let line = cron_line(&command, &|word| shell_quoted(word));
        if ui.json {
            return print_answer(ui, "cron", vec![line], false, false);
        }
        ui.print_message(&Line::plain(
            "There is no systemd here. Add this line with `crontab -e`:",
        ));
        ui.print_line(&Line::plain(&line))?;
        return Ok(());
    };
    match setup.look()? {
        TimerState::Installed => {
            return finish(ui, &setup, true, false, "The timer is already installed.");
        }
        TimerState::Other => return Err(refusal(&setup)),
        TimerState::Missing => {}
    }
    if !yes {
        if !ui.json {
            for file in &setup.files {
                ui.print_message(&Line::new(&file.path.display().to_string(), Label::Strong));
                file.text
                    .lines()
                    .for_each(|line| ui.print_message(&Line::plain(&format!("  {line}"))));
            }
        }
        return finish(
            ui,
            &setup,
            false,
            true,
            "Use --yes to write these files and start the timer.",
        );
    }
    setup.write_files()?;
    if let Err(why) = run(&setup.start) {
        setup.remove_files()?;
        let line = cron_line(&command, &|word| shell_quoted(word));
        return Err(CommandError::user_error(format!("the timer could not be started: {why}"))
            .with_hint(format!(
                "nothing changed; you can add this line with `crontab -e` instead: {line}"
            )));
    }
    finish(
        ui,
        &setup,
        true,
        true,
        "A timer now archives every hour. Run `ramus archive uninstall --timer` to remove it.",
    )
}

pub(super) fn uninstall_timer(ui: &mut Ui, global: &Global, yes: bool) -> Result<(), CommandError> {
    let Some(setup) = timer_setup(&timer_command(global)?) else {
        if ui.json {
            return print_answer(ui, "cron", Vec::new(), false, false);
        }
        ui.print_message(&Line::plain(
            "The timer is not installed. Use `crontab -e` to remove a line for cron.",
        ));
        return Ok(());
    };
    match setup.look()? {
        TimerState::Missing => {
            return finish(ui, &setup, false, false, "The timer is not installed.");
        }
        TimerState::Other => return Err(refusal(&setup)),
        TimerState::Installed if !yes => {
            return finish(
                ui,
                &setup,
                true,
                true,
                "Use --yes to stop the timer and remove its files.",
            );
        }
        TimerState::Installed => {}
    }
    // A timer that is not running is removed too.
    let stopped = run(&setup.stop);
    setup.remove_files()?;
    if let Err(why) = stopped {
        ui.print_message(&Line::new(
            &format!("the timer could not be stopped: {why}"),
            Label::Warning,
        ));
    }
    finish(ui, &setup, false, true, "Removed the timer.")
}

fn refusal(setup: &TimerSetup) -> CommandError {
    let files: Vec<String> =
        setup.files.iter().map(|file| file.path.display().to_string()).collect();
    CommandError::user_error(format!(
        "ramus did not write {}, or it was changed since",
        files.join(" or ")
    ))
    .with_hint("nothing changed; check the file, and remove it if it is not needed")
}

/// Runs a command; the error gives the reason.
fn run(words: &[String]) -> Result<(), String> {
    let Some((program, args)) = words.split_first() else { return Ok(()) };
    let output = Command::new(program).args(args).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{program}: {error}"))?;
    let complaint = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    if output.status.success() { Ok(()) } else { Err(format!("{program}: {complaint}")) }
}

fn finish(
    ui: &mut Ui,
    setup: &TimerSetup,
    installed: bool,
    changed: bool,
    words: &str,
) -> Result<(), CommandError> {
    if ui.json {
        let files = setup.files.iter().map(|file| file.path.display().to_string()).collect();
        return print_answer(ui, "timer", files, installed, changed);
    }
    ui.print_message(&Line::plain(words));
    Ok(())
}

fn print_answer(
    ui: &mut Ui,
    with: &'static str,
    files: Vec<String>,
    installed: bool,
    changed: bool,
) -> Result<(), CommandError> {
    let answer = ArchiveSettings { op: None, with, files, installed, changed };
    ui.print_json(&Answer::new("ramus.archive.install/1", answer))
}
