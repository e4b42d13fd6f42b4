//! `ramus` without arguments: the screens on a terminal, else the newest session as a tree.

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
    // A directory that was given explicitly must exist.
    if !has_history && global.claude_dir.is_none() {
        return offer_demo(ui, global);
    }
    tree::tree(ui, global, &TreeArgs::for_session("latest", None))?;
    if !ui.json {
        ui.flush_output()?;
        ui.print_message(&Line::default());
        ui.print_message(&Line::plain("That was the newest session. ").with(
            "`ramus sessions` lists all sessions, `ramus show` shows this one, `ramus --help` lists all commands.",
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

/// Offers the sample history to users without any history.
fn offer_demo(ui: &mut Ui, global: &Global) -> Result<(), CommandError> {
    ui.print_message(&Line::plain("No Claude Code history found in your home directory."));
    if !ui.confirm_question("Write a sample history to ./ramus-demo and open it?") {
        ui.print_message(&Line::plain("Run `ramus demo` to create a sample history."));
        return Ok(());
    }
    let dir = PathBuf::from("ramus-demo");
    demo::demo(ui, &DemoArgs { dir: dir.clone() })?;
    ui.print_line(&Line::default())?;
    let global = Global { claude_dir: Some(dir), ..global.clone() };
    tree::tree(ui, &global, &TreeArgs::for_session(demo::SHOWCASE, None))
}
