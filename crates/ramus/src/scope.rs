//! The default scope of a command, and the message that names it.

use ramus_app::{Address, CurrentProject, Scope, Workspace};
use ramus_render::json::AnswerScope;
use ramus_render::{Label, Line};

use crate::env;
use crate::error::CommandError;
use crate::project::project_name;
use crate::ui::Ui;

/// Finds what a command is about. `-` means the sessions that standard input names.
pub(crate) fn resolve_scope(
    workspace: &Workspace,
    asked: Option<&str>,
) -> Result<Scope, CommandError> {
    match asked {
        Some(asked @ "-") => {
            let addresses = env::expand_addresses(&[asked.to_owned()])?;
            Ok(workspace.resolve_sessions(&addresses)?)
        }
        asked => Ok(workspace.resolve_scope(asked)?),
    }
}

/// Says that only the current project is shown, and how to see the rest.
pub(crate) fn print_scope_note(ui: &Ui, workspace: &Workspace, asked: Option<&str>) {
    if ui.json {
        return;
    }
    if let Some(current) = deciding_project(workspace, asked) {
        let line = Line::new("In ", Label::Dim)
            .with(&current_name(&current), Label::Heading)
            .with(". Use -A for all projects.", Label::Dim);
        ui.print_message(&line);
    }
}

/// Returns how a project that is current is called.
pub(crate) fn current_name(current: &CurrentProject) -> String {
    project_name(Some(&current.dir.to_string_lossy()), &current.project.name)
}

/// Adds to an error how to widen the scope, if only the current project was searched.
pub(crate) fn with_wider_hint(
    error: CommandError,
    workspace: &Workspace,
    asked: Option<&str>,
) -> CommandError {
    match deciding_project(workspace, asked) {
        Some(current) => {
            let name = current_name(&current);
            error.with_hint(format!("this was only {name}; use -A for all projects"))
        }
        None => error,
    }
}

/// Returns the scope for programs.
pub(crate) fn answer_scope(
    workspace: &Workspace,
    scope: &Scope,
    asked: Option<&str>,
) -> AnswerScope {
    let (kind, project, session) = match scope {
        Scope::All => ("everywhere", None, None),
        Scope::Project(project) => ("project", Some(project.name.clone()), None),
        Scope::Session(file) => {
            let project = Some(file.project_name().to_owned()).filter(|name| !name.is_empty());
            ("session", project, Some(file.file.id.clone()))
        }
        Scope::Sessions(_) => ("sessions", None, None),
    };
    let sessions = match scope {
        Scope::Sessions(found) => Some(found.iter().map(|found| found.file.id.clone()).collect()),
        _ => None,
    };
    let from_directory = deciding_project(workspace, asked).is_some();
    AnswerScope { kind, project, session, sessions, from_directory }
}

/// Returns the scope of an address for programs: the session that it is in.
pub(crate) fn address_scope(workspace: &Workspace, found: &Address, asked: &str) -> AnswerScope {
    answer_scope(workspace, &Scope::Session(Box::new(found.file.clone())), Some(asked))
}

/// Returns the current project if it decided, because nothing else was asked for.
fn deciding_project(workspace: &Workspace, asked: Option<&str>) -> Option<CurrentProject> {
    match asked {
        None => workspace.current_project(),
        // The latest session is the latest of the current project.
        Some(asked) if asked.split(['@', ':']).next() == Some("latest") => {
            workspace.current_project()
        }
        Some(_) => None,
    }
}
