//! The terminal screens.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use ramus_app::{Address, NodeSelector, ResumeDecision, Scope, Workspace};
use ramus_render::Line;
use ramus_store::claude_dir::ClaudeDirs;
use ramus_tui::{ScreenColors, ScreenOptions};

use crate::args::Global;
use crate::commands::usage::{self, UsageBy};
use crate::commands::{files, serve};
use crate::config::{ScreenColorChoice, TimeStyle};
use crate::demo;
use crate::env::{self, LocalClock};
use crate::error::CommandError;
use crate::memory;
use crate::prices;
use crate::ui::{self, Ui};

pub(crate) fn screens(ui: &Ui, global: &Global) -> Result<(), CommandError> {
    memory::restart_with_eager_release();
    let (clock, message_clock) = (LocalClock::new(), LocalClock::new());
    let is_relative = global.settings.times.value == TimeStyle::Relative;
    let home = std::env::home_dir().unwrap_or_default();
    let roots = env::claude_dir_candidates(global).into_iter().map(absolute_path).collect();
    let place = ClaudeDirs::at(roots, env::session_cache(global));
    let workspace = Workspace::for_serving(place, global.active.resume_rule(), env::state_dir())
        .with_archive(env::archive(global, &()))
        .with_send_policy(crate::send_policy::load_send_policy())
        .with_prices(prices::load_prices(global, None)?)
        .with_client(env::client_program(global))
        .with_current_dir(env::current_dir(global));
    let options = ScreenOptions {
        workspace: Arc::new(workspace),
        usual_roots: env::claude_dir_candidates(&Global { claude_dir: None, ..global.clone() }),
        all: global.all,
        color: ui.has_color(),
        colors: screen_colors(global.settings.screen_colors.value),
        symbols: ui.symbol_set(),
        home: home.to_string_lossy().into_owned(),
        clock: ramus_tui::ScreenClock {
            short: Arc::new(move |time| clock.short_time(time)),
            message: Arc::new(move |time| message_clock.message_time(time)),
            // Read again each time, because screens stay open for hours.
            age: Arc::new(move |time| LocalClock::for_screens(is_relative).short_time(time)),
        },
        keys: global.settings.keys.clone(),
        // What is written there is named elsewhere, too.
        output_dir: std::env::current_dir().unwrap_or_default(),
        write_demo: demo::write_demo,
        usage_lines,
        file_changes,
        open_file: serve::open_file,
        resume,
    };
    Ok(ramus_tui::run(options)?)
}

/// Returns the absolute path of a directory, for commands that the user may run elsewhere.
fn absolute_path(dir: PathBuf) -> PathBuf {
    std::path::absolute(&dir).unwrap_or(dir)
}

/// Returns the colours that were chosen; `None`: the terminal is asked.
fn screen_colors(choice: ScreenColorChoice) -> Option<ScreenColors> {
    let is_rich =
        std::env::var("COLORTERM").is_ok_and(|term| term == "truecolor" || term == "24bit");
    match choice {
        ScreenColorChoice::Auto if is_rich => None,
        ScreenColorChoice::Auto | ScreenColorChoice::Terminal => Some(ScreenColors::Terminal),
        ScreenColorChoice::Dark => Some(ScreenColors::Dark),
        ScreenColorChoice::Light => Some(ScreenColors::Light),
    }
}

fn usage_lines(workspace: &Workspace, file: &Path, width: usize) -> Result<Vec<Line>, String> {
    let address = workspace.address_in(file, NodeSelector::Resume);
    let scope = Scope::Session(Box::new(address.map_err(|error| error.to_string())?.file));
    let lines = |by| usage::usage_lines(workspace, scope.clone(), by, [None; 2], width);
    let mut all = lines(None).map_err(|error| format!("{:#}", error.error))?;
    // No other view of the screens shows what abandoned branches cost.
    if let Ok(branches) = lines(Some(UsageBy::Branch)) {
        // Both end with the same note about prices.
        while all.last().is_some_and(|last| Some(last) == branches.last()) {
            all.pop();
        }
        all.push(Line::default());
        all.extend(branches);
    }
    Ok(all)
}

fn file_changes(
    workspace: &Workspace,
    [then, end]: [&Address; 2],
    only: Option<&str>,
) -> Result<Vec<Line>, String> {
    let read = |at| workspace.files_at(at).map_err(|error| error.to_string());
    files::changed_lines(only, &mut read(then)?, &mut read(end)?)
        .map_err(|error| format!("{:#}", error.error))
}

/// Runs `ramus resume` as a separate process, which becomes Claude Code.
fn resume(root: Option<&Path>, address: &str, decision: Option<ResumeDecision>) -> io::Result<()> {
    let mut ramus = Command::new(std::env::current_exe()?);
    memory::leave_out_setting(&mut ramus);
    if let Some(root) = root {
        ramus.arg("--claude-dir").arg(root);
    }
    let decision = decision.map(|decision| match decision {
        ResumeDecision::Goto => "--goto",
        ResumeDecision::Fork => "--fork",
    });
    let status = ramus.args(["resume", address]).args(decision).status()?;
    if !status.success() {
        // The error is on the plain terminal, which the screens are about to cover.
        ui::wait_for_enter("Press Enter to return to ramus");
    }
    Ok(())
}
