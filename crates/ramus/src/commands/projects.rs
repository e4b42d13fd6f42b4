use ramus_render::Label;
use ramus_render::json::{Answer, Project, Projects};
use ramus_store::survey::ProjectSurvey;

use crate::args::Global;
use crate::env::Clock;
use crate::error::CommandError;
use crate::project::project_name;
use crate::select::{Library, Scope};
use crate::table::{Table, bytes, cell, number};
use crate::ui::Ui;

/// List the projects, the most recently used first
#[derive(Debug, clap::Args)]
pub(crate) struct ProjectsArgs {}

pub(crate) fn projects(ui: &mut Ui, global: &Global, _: &ProjectsArgs) -> Result<(), CommandError> {
    let library = Library::open(ui, global)?;
    let survey = library.survey(ui, &Scope::All);
    let mut projects: Vec<Project> =
        survey.projects.iter().map(|survey| project(survey, global.all)).collect();
    projects.retain(|project| project.sessions > 0 || global.all);
    projects.sort_by(|a, b| b.last_active.cmp(&a.last_active).then_with(|| a.name.cmp(&b.name)));
    let nothing = projects.is_empty().then(|| {
        CommandError::nothing("no project has a session yet")
            .hinted("`ramus demo` writes a sample to look at")
    });
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

fn project(survey: &ProjectSurvey, all: bool) -> Project {
    let shown: Vec<_> =
        survey.sessions.iter().filter(|session| all || !session.digest.class.is_hidden()).collect();
    let files = survey.sessions.iter().chain(&survey.agents).chain(&survey.journals);
    Project {
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
    }
}
