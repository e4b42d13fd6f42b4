use ramus_app::survey::ProjectSurvey;
use ramus_app::{Scope, Workspace};
use ramus_render::Label;
use ramus_render::json::{self, Answer, Project, Projects, Repository};

use crate::args::Global;
use crate::env::{self, Clock};
use crate::error::CommandError;
use crate::filter::{FilterArgs, GroupBy, RowFilter, SortKey, session_key};
use crate::project::project_name;
use crate::table::{Table, bytes, cell, number};
use crate::ui::Ui;

/// List the projects, the most recently used first
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  ramus projects --since 7d\n  ramus projects --sort cost --limit 5\n  ramus projects --by repo"
)]
pub(crate) struct ProjectsArgs {
    /// Put projects together
    #[arg(long, value_name = "WHAT")]
    by: Option<GroupBy>,
    #[command(flatten)]
    filter: FilterArgs,
}

pub(crate) fn projects(
    ui: &mut Ui,
    global: &Global,
    args: &ProjectsArgs,
) -> Result<(), CommandError> {
    let workspace = env::workspace(ui, global)?;
    let filter = args.filter.understood()?;
    let survey = filter.survey(workspace, &Scope::All)?;
    let repositories = match args.by {
        Some(GroupBy::Repo) => survey.repositories(),
        None => survey.projects.iter().map(|_| None).collect(),
    };
    let listed = survey.projects.iter().zip(repositories).filter_map(|(survey, repository)| {
        let (key, mut project) = project(survey, global.all, &filter)?;
        project.repository = repository.map(|repository| repository.name);
        Some((key, project))
    });
    let mut rows: Vec<(SortKey, Project)> = listed.collect();
    filter.arrange_all(&mut rows);
    let mut projects: Vec<Project> = rows.into_iter().map(|(_, project)| project).collect();
    let mut repositories = args.by.map(|_| json::repositories(&projects));
    match &mut repositories {
        Some(repositories) => repositories.truncate(filter.limit()),
        None => projects.truncate(filter.limit()),
    }
    let nothing = projects.is_empty().then(no_project);
    if ui.json {
        ui.json(&Answer::new("ramus.projects/1", Projects { projects, repositories }))?;
        return nothing.map_or(Ok(()), Err);
    }
    if let Some(nothing) = nothing {
        return Err(nothing);
    }
    let clock = Clock::new();
    ui.page();
    if let Some(repositories) = &repositories {
        for line in repository_table(repositories, &projects, &clock).lines(ui.width) {
            ui.line(&line)?;
        }
        return Ok(());
    }
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
    for line in table.lines(ui.width) {
        ui.line(&line)?;
    }
    Ok(())
}

/// Returns the projects that are shown without `--all`, the most recently used first.
pub(crate) fn listed(workspace: Workspace) -> Result<Vec<Project>, CommandError> {
    let filter = FilterArgs::default().understood()?;
    let survey = filter.survey(workspace, &Scope::All)?;
    let mut rows: Vec<(SortKey, Project)> =
        survey.projects.iter().filter_map(|survey| project(survey, false, &filter)).collect();
    filter.arrange(&mut rows);
    if rows.is_empty() {
        return Err(no_project());
    }
    Ok(rows.into_iter().map(|(_, project)| project).collect())
}

fn no_project() -> CommandError {
    CommandError::nothing("no project has a session yet")
        .hinted("`ramus demo` writes a sample to look at")
}

fn repository_table(repositories: &[Repository], projects: &[Project], clock: &Clock) -> Table {
    let mut table =
        Table::new(&["*REPOSITORY", ">?PROJECTS", ">SESSIONS", ">?SIZE", "?LAST ACTIVE"]);
    let path = |name: &str| {
        let project = projects.iter().find(|project| project.name == name);
        project_name(project.and_then(|project| project.path.as_deref()), name)
    };
    for group in repositories {
        let name = group.repository.as_deref().map(|name| project_name(Some(name), name));
        let name =
            name.unwrap_or_else(|| group.projects.first().map(|p| path(p)).unwrap_or_default());
        table.row(vec![
            cell(name, Label::Heading),
            cell(number(group.projects.len() as u64), Label::Plain),
            cell(number(group.sessions as u64), Label::Plain),
            cell(bytes(group.bytes), Label::Dim),
            cell(clock.short_text(group.last_active.as_deref()), Label::Time),
        ]);
        for project in group.projects.iter().filter(|_| group.projects.len() > 1) {
            let blank = || cell(String::new(), Label::Dim);
            let path = cell(format!("  {}", path(project)), Label::Dim);
            table.row(vec![path, blank(), blank(), blank(), blank()]);
        }
    }
    table
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
        repository: None,
    };
    Some((key, project))
}
