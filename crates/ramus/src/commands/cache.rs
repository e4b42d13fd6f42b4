use std::process::{Command, Stdio};

use clap::Subcommand;
use ramus_app::{Scope, SurveyDetail};
use ramus_render::json::{Answer, Cache};
use ramus_render::{Label, Line};
use ramus_store::cache::HistoryCache;

use crate::args::Global;
use crate::env;
use crate::error::CommandError;
use crate::other_process::detach;
use crate::prices;
use crate::table::{bytes, number};
use crate::ui::Ui;

/// Show, build or clear the cache
///
/// The cache only makes ramus faster. An entry is used only while its file is unchanged, so answers are the
/// same without it. It fills as you use ramus; `build` fills it now.
#[derive(Debug, clap::Args)]
#[command(
    disable_help_subcommand = true,
    after_help = "\
Examples:
  ramus cache
  ramus cache build
  ramus cache clear
  ramus sessions --no-cache"
)]
pub(crate) struct CacheArgs {
    #[command(subcommand)]
    what: Option<CacheCommand>,
}

#[derive(Clone, Copy, Debug, Subcommand)]
enum CacheCommand {
    /// Show the location and size
    #[command(after_help = "Examples:\n  ramus cache status")]
    Status,
    /// Read all files that are not cached yet
    #[command(after_help = "Examples:\n  ramus cache build")]
    Build {
        /// Run at low priority
        #[arg(long, hide = true)]
        aside: bool,
    },
    /// Delete the cache
    #[command(after_help = "Examples:\n  ramus cache clear")]
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
    let workspace =
        env::command_workspace(ui, global)?.with_prices(prices::load_prices(global, None)?);
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
        ui.print_message(&Line::new("another ramus process is building the cache", Label::Dim));
    }
    Ok(())
}

/// Starts a background process that builds the cache, so that the caller need not wait.
pub(crate) fn spawn_background_build(global: &Global) {
    let Ok(program) = std::env::current_exe() else { return };
    let mut command = Command::new(program);
    command.args(["cache", "build", "--aside"]);
    if let Some(dir) = &global.claude_dir {
        command.arg("--claude-dir").arg(dir);
    }
    // Ctrl-C here is not meant for it.
    detach(&mut command);
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // The cache is optional, so a failure to start is ignored.
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
        None => "the cache is off (--no-cache)".to_owned(),
    };
    Ok(ui.print_line(&Line::plain(&text))?)
}
