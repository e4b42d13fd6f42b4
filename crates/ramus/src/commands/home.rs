//! What `ramus` alone does: the screens on a terminal, else the newest conversation as a tree.

use std::path::PathBuf;

use ramus_app::Scope;
use ramus_render::{Label, Line};

use crate::args::Global;
use crate::commands::demo::{self, DemoArgs};
use crate::commands::screens;
use crate::commands::tree::{self, TreeArgs};
use crate::env;
use crate::error::CommandError;
use crate::ui::Ui;

pub(crate) fn home(ui: &mut Ui, global: &Global) -> Result<(), CommandError> {
    if ui.is_interactive() {
        return screens::screens(ui, global);
    }
    let workspace = env::command_workspace(ui, global).ok();
    let has_history = workspace.as_ref().is_some_and(|workspace| {
        workspace
            .list_projects()
            .iter()
            .any(|project| project.session_files().any(|file| file.bytes > 0))
    });
    // A directory that was asked for by name is an error when it is not there.
    if !has_history && global.claude_dir.is_none() {
        return offer_demo(ui, global);
    }
    tree::tree(ui, global, &TreeArgs::for_session("latest", None))?;
    if !ui.json {
        ui.flush_output()?;
        ui.print_message(&Line::default());
        ui.print_message(&Line::plain("That was the newest session. ").with(
            "`ramus sessions` lists all, `ramus show` reads this one, `ramus --help` tells the rest.",
            Label::Dim,
        ));
        if let Some(due) = workspace.and_then(|workspace| {
            workspace.due_files(&Scope::All, env::current_time()).warning_text()
        }) {
            ui.print_message(&Line::new(&due, Label::Warning));
        }
    }
    Ok(())
}

/// Offers the demo to somebody without any history.
fn offer_demo(ui: &mut Ui, global: &Global) -> Result<(), CommandError> {
    ui.print_message(&Line::plain("There is no Claude Code history in your home directory yet."));
    if !ui.confirm_question("Write a sample history to ./ramus-demo and look at it?") {
        ui.print_message(&Line::plain(
            "`ramus demo` writes a sample history and says how to look at it.",
        ));
        return Ok(());
    }
    let dir = PathBuf::from("ramus-demo");
    demo::demo(ui, &DemoArgs { dir: dir.clone() })?;
    ui.print_line(&Line::default())?;
    let global = Global { claude_dir: Some(dir), ..global.clone() };
    tree::tree(ui, &global, &TreeArgs::for_session(demo::SHOWCASE, None))
}
