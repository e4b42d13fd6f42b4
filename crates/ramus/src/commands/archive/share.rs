//! `archive share` and `unshare`: which projects the team may read.

use ramus_render::json::{Answer, ArchiveShare};
use ramus_render::{Label, Line};

use super::open_archive;
use crate::args::Global;
use crate::completion;
use crate::env;
use crate::error::CommandError;
use crate::ui::Ui;

/// Let the team read a project of yours
///
/// Everybody with a login for the archive can then read its sessions and sub-agents, and what is added to them later.
/// File backups stay yours alone.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  ramus archive share teapot")]
pub(super) struct ShareArgs {
    /// The project: a path, or part of its name
    #[arg(allow_hyphen_values = true, add = completion::projects())]
    project: String,
}

/// Stop sharing a project with the team
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  ramus archive unshare teapot")]
pub(super) struct UnshareArgs {
    /// The project: a path, or part of its name
    #[arg(allow_hyphen_values = true, add = completion::projects())]
    project: String,
}

pub(super) fn share(ui: &mut Ui, global: &Global, args: &ShareArgs) -> Result<(), CommandError> {
    set_shared(ui, global, &args.project, true)
}

pub(super) fn unshare(
    ui: &mut Ui,
    global: &Global,
    args: &UnshareArgs,
) -> Result<(), CommandError> {
    set_shared(ui, global, &args.project, false)
}

fn set_shared(
    ui: &mut Ui,
    global: &Global,
    project: &str,
    is_shared: bool,
) -> Result<(), CommandError> {
    let archive = open_archive(global)?;
    // What is shared can be unshared from a machine that does not have the project.
    let is_known = !is_shared && archive.shared_projects()?.iter().any(|name| name == project);
    let project = match is_known {
        true => project.to_owned(),
        false => env::command_workspace(ui, global)?.resolve_project(project)?.name.clone(),
    };
    let changed = match is_shared {
        true => archive.share_project(&project)?,
        false => archive.unshare_project(&project)?,
    };
    if ui.json {
        let answer = ArchiveShare { project, shared: is_shared, changed };
        return ui.print_json(&Answer::new("ramus.archive.share/1", answer));
    }
    let text = match (is_shared, changed) {
        (true, true) => format!("The team can now read {project}."),
        (true, false) => format!("The team can read {project} already."),
        (false, true) => format!("Only you can read {project} now."),
        (false, false) => format!("{project} is not shared."),
    };
    Ok(ui.print_line(&Line::new(&text, Label::Plain))?)
}
