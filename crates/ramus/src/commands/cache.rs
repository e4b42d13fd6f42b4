use std::process::{Command, Stdio};

use clap::Subcommand;
use ramus_app::{Scope, SurveyDetail};
use ramus_render::json::{Answer, Cache};
use ramus_render::{Label, Line};
use ramus_store::cache::HistoryCache;

use crate::args::Global;
use crate::env;
use crate::error::CommandError;
use crate::prices;
use crate::table::{bytes, number};
use crate::ui::Ui;

/// See, build or clear what ramus remembers to be faster
///
/// Everything works without it, and with it nothing is answered otherwise: what is remembered of a file
/// counts only while the file has not changed. It is made in passing; `build` makes all of it now.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  ramus cache\n  ramus cache build\n  ramus cache clear\n  ramus sessions --no-cache"
)]
pub(crate) struct CacheArgs {
    #[command(subcommand)]
    what: Option<CacheCommand>,
}

#[derive(Clone, Copy, Debug, Subcommand)]
enum CacheCommand {
    /// Say where it is and how large
    Status,
    /// Read everything that is not remembered yet
    Build {
        /// Give way to everybody else
        #[arg(long, hide = true)]
        aside: bool,
    },
    /// Forget everything
    Clear,
}

pub(crate) fn cache(ui: &mut Ui, global: &Global, args: &CacheArgs) -> Result<(), CommandError> {
    let index = env::session_cache(global);
    match args.what.unwrap_or(CacheCommand::Status) {
        CacheCommand::Status => {}
        CacheCommand::Build { aside: true } => return build_in_background(ui, global),
        CacheCommand::Build { aside: false } => build_cache(ui, global)?,
        CacheCommand::Clear => index.clear()?,
    }
    print_status(ui, &index)
}

fn build_cache(ui: &mut Ui, global: &Global) -> Result<(), CommandError> {
    let workspace = env::command_workspace(ui, global)?.with_prices(prices::load_prices(None)?);
    let projects = workspace.list_projects();
    if workspace.session_cache().dir().is_none() {
        return Ok(());
    }
    workspace.survey_scope(Scope::All, SurveyDetail::Usage);
    workspace.survey_scope(Scope::All, SurveyDetail::Activity);
    let bar = ui.progress_bar(workspace.session_cache().unfiltered_bytes(&projects));
    let built = workspace.session_cache().build_filters(&projects, &|bytes| bar.inc(bytes));
    bar.finish_and_clear();
    if !built? {
        ui.print_message(&Line::new("another ramus is at work on it", Label::Dim));
    }
    Ok(())
}

/// Lets another process build what is missing, so that nobody waits for it.
pub(crate) fn spawn_background_build(global: &Global) {
    let Ok(program) = std::env::current_exe() else { return };
    let mut command = Command::new(program);
    command.args(["cache", "build", "--aside"]);
    if let Some(dir) = &global.claude_dir {
        command.arg("--claude-dir").arg(dir);
    }
    // Ctrl-C here is not meant for it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // What cannot be started is not missed.
    drop(quiet.spawn());
}

fn build_in_background(ui: &mut Ui, global: &Global) -> Result<(), CommandError> {
    let workspace = env::command_workspace(ui, global)?;
    workspace.session_cache().build_filters_slowly(&workspace.list_projects());
    Ok(())
}

fn print_status(ui: &mut Ui, index: &HistoryCache) -> Result<(), CommandError> {
    let held = index.size_on_disk()?;
    let dir = index.dir().map(|dir| dir.display().to_string());
    if ui.json {
        let cache = Cache { dir, files: held.files, bytes: held.bytes };
        return ui.print_json(&Answer::new("ramus.cache/1", cache));
    }
    let text = match dir {
        Some(dir) => format!("{} in {} files in {dir}", bytes(held.bytes), number(held.files)),
        None => "nothing is remembered (--no-cache)".to_owned(),
    };
    Ok(ui.print_line(&Line::plain(&text))?)
}
