use std::process::{Command, Stdio};

use clap::Subcommand;
use ramus_app::{Scope, SurveyDetail};
use ramus_render::json::{Answer, Cache};
use ramus_render::{Label, Line};
use ramus_store::index::Index;

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
    what: Option<What>,
}

#[derive(Clone, Copy, Debug, Subcommand)]
enum What {
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
    let index = env::index(global);
    match args.what.unwrap_or(What::Status) {
        What::Status => {}
        What::Build { aside: true } => return aside(ui, global),
        What::Build { aside: false } => build(ui, global)?,
        What::Clear => index.clear()?,
    }
    status(ui, &index)
}

fn build(ui: &mut Ui, global: &Global) -> Result<(), CommandError> {
    let workspace = env::workspace(ui, global)?.with_prices(prices::load(None)?);
    let projects = workspace.projects();
    if workspace.index().dir().is_none() {
        return Ok(());
    }
    workspace.survey_scope(Scope::All, SurveyDetail::Usage);
    workspace.survey_scope(Scope::All, SurveyDetail::Activity);
    let bar = ui.progress(workspace.index().unsketched(&projects));
    let built = workspace.index().sketch(&projects, &|bytes| bar.inc(bytes));
    bar.finish_and_clear();
    if !built? {
        ui.say(&Line::new("another ramus is at work on it", Label::Dim));
    }
    Ok(())
}

/// Lets another process build what is missing, so that nobody waits for it.
pub(crate) fn build_aside(global: &Global) {
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

fn aside(ui: &mut Ui, global: &Global) -> Result<(), CommandError> {
    let workspace = env::workspace(ui, global)?;
    workspace.index().sketch_aside(&workspace.projects());
    Ok(())
}

fn status(ui: &mut Ui, index: &Index) -> Result<(), CommandError> {
    let held = index.held()?;
    let dir = index.dir().map(|dir| dir.display().to_string());
    if ui.json {
        let cache = Cache { dir, files: held.files, bytes: held.bytes };
        return ui.json(&Answer::new("ramus.cache/1", cache));
    }
    let text = match dir {
        Some(dir) => format!("{} in {} files in {dir}", bytes(held.bytes), number(held.files)),
        None => "nothing is remembered (--no-cache)".to_owned(),
    };
    Ok(ui.line(&Line::plain(&text))?)
}
