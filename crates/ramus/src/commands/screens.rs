//! The terminal screens.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use ramus_app::Workspace;
use ramus_store::claude_dir::ClaudeDirs;
use ramus_tui::ScreenOptions;

use crate::args::Global;
use crate::commands::export::export_conversation;
use crate::demo;
use crate::env::{self, LocalClock};
use crate::error::CommandError;
use crate::memory;
use crate::prices;
use crate::ui::{self, Ui};

pub(crate) fn screens(ui: &Ui, global: &Global) -> Result<(), CommandError> {
    memory::give_back_at_once();
    let (clock, message_clock) = (LocalClock::new(), LocalClock::new());
    let home = std::env::home_dir().unwrap_or_default();
    let roots = env::claude_dir_candidates(global).into_iter().map(absolute_path).collect();
    let place = ClaudeDirs::at(roots, env::session_cache(global));
    let workspace = Workspace::for_serving(place, global.active.resume_rule(), env::state_dir())
        .with_archive(env::archive(global, &()))
        .with_prices(prices::load_prices(None)?)
        .with_client(env::client_program());
    let options = ScreenOptions {
        workspace: Arc::new(workspace),
        usual_roots: env::claude_dir_candidates(&Global { claude_dir: None, ..global.clone() }),
        all: global.all,
        color: ui.has_color(),
        symbols: ui.symbol_set(),
        home: home.to_string_lossy().into_owned(),
        clock: ramus_tui::ScreenClock {
            short: Arc::new(move |time| clock.short_time(time)),
            message: Arc::new(move |time| message_clock.message_time(time)),
        },
        write_demo: demo::write_demo,
        export: |workspace, address, format| {
            export_conversation(workspace, address, format)
                .map_err(|error| format!("{:#}", error.error))
        },
        resume,
    };
    Ok(ramus_tui::run(options)?)
}

/// Returns a directory by a name that holds wherever a command is typed that names it.
fn absolute_path(dir: PathBuf) -> PathBuf {
    std::path::absolute(&dir).unwrap_or(dir)
}

/// Runs `ramus resume` as a program of its own, which asks on the plain terminal and becomes Claude Code.
fn resume(root: Option<&Path>, address: &str) -> io::Result<()> {
    let mut ramus = Command::new(std::env::current_exe()?);
    memory::leave_out_setting(&mut ramus);
    if let Some(root) = root {
        ramus.arg("--claude-dir").arg(root);
    }
    let status = ramus.args(["resume", address]).status()?;
    if !status.success() {
        // What went wrong stands on the plain terminal, which is about to be covered.
        ui::wait_for_enter("Press Enter to return to ramus");
    }
    Ok(())
}
