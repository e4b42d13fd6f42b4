use ramus_app::survey::ProjectSurvey;
use ramus_app::{Scope, Workspace};
use ramus_render::Label;
use ramus_render::json::{Answer, Project, Projects};

use crate::args::Global;
use crate::env::{self, Clock};
use crate::error::CommandError;
use crate::filter::{FilterArgs, RowFilter, SortKey, session_key};
use crate::project::project_name;
use crate::table::{Table, bytes, cell, number};
use crate::ui::Ui;

/// List the projects, the most recently used first
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  ramus projects --since 7d\n  ramus projects --sort cost --limit 5"
)]
pub(crate) struct ProjectsArgs {
    #[command(flatten)]
    filter: FilterArgs,
}

pub(crate) fn projects(
    ui: &mut Ui,
    global: &Global,
    args: &ProjectsArgs,
) -> Result<(), CommandError> {
    let workspace = env::workspace(ui, global)?;
    let projects = listed(workspace, &args.filter, global.all)?;
    let nothing = projects.is_empty().then(no_project);
    if ui.json {
        ui.json(&Answer::new("ramus.projects/1", Projects { projects }))?;
        return nothing.map_or(Ok(()), Err);
    }
    if let Some(nothing) = nothing {
        return Err(nothing);
    }
    let clock = Clock::new();
    let mut table =
        Table::new(&["*PROJECT", ">SESSIONS", ">?CONVERSATIONS", ">?SIZE", "?LAST ACTIVE"]);
    for project in &projects {
        let name = project_name(project.path.as_deref(), &project.name);
        table.row(vec![
            cell(name, Label::Heading),
            cell(number(project.sessions as u64), Label::Plain),
            cell(number(project.conversations as u64), Label::Branch),
            cell(bytes(project.bytes), Label::Dim),
            cell(clock.short_text(project.last_active.as_deref()), Label::Time),
        ]);
    }
    ui.page();
    for line in table.lines(ui.width) {
        ui.line(&line)?;
    }
    Ok(())
}

/// Returns the projects that a list shows, in its order.
pub(crate) fn listed(
    workspace: Workspace,
    filter: &FilterArgs,
    all: bool,
) -> Result<Vec<Project>, CommandError> {
    let filter = filter.understood()?;
    let survey = filter.survey(workspace, &Scope::All)?;
    let mut rows: Vec<(SortKey, Project)> =
        survey.projects.iter().filter_map(|survey| project(survey, all, &filter)).collect();
    filter.arrange(&mut rows);
    Ok(rows.into_iter().map(|(_, project)| project).collect())
}

pub(crate) fn no_project() -> CommandError {
    CommandError::nothing("no project has a session yet")
        .hinted("`ramus demo` writes a sample to look at")
}

/// Sums up a project; `None`: none of its sessions is wanted.
fn project(survey: &ProjectSurvey, all: bool, filter: &RowFilter) -> Option<(SortKey, Project)> {
    let shown: Vec<_> = survey
        .sessions
        .iter()
        .filter(|session| all || !session.digest.class.is_hidden())
        .filter(|session| filter.has_session(survey, session))
        .collect();
    let is_empty = survey.sessions.is_empty() && all && filter.has_time(None, None);
    if shown.is_empty() && !is_empty {
        return None;
    }
    let keys = shown.iter().map(|session| session_key(survey, session, ""));
    let mut key = keys.fold(SortKey::default(), |sum, key| SortKey {
        active: sum.active.max(key.active),
        started: sum.started.max(key.started),
        messages: sum.messages + key.messages,
        branches: sum.branches + key.branches,
        size: sum.size + key.size,
        cost: sum.cost + key.cost,
        ..sum
    });
    key.title = survey.path.clone().unwrap_or_else(|| survey.name.clone());
    key.file.clone_from(&survey.name);
    let files = survey.sessions.iter().chain(&survey.agents).chain(&survey.journals);
    let project = Project {
        name: survey.name.clone(),
        path: survey.path.clone(),
        dir: survey.dir.display().to_string(),
        sessions: shown.len(),
        conversations: shown.iter().map(|session| session.digest.conversations.len()).sum(),
        agents: survey.agents.len(),
        bytes: files.map(|file| file.file.bytes).sum(),
        last_active: shown
            .iter()
            .filter_map(|session| session.digest.facts.last_active)
            .max()
            .map(|t| t.to_string()),
    };
    Some((key, project))
}
