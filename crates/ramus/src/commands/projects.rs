use ramus_app::list::ListRequest;
use ramus_app::{Scope, SurveyDetail, Workspace};
use ramus_render::Label;
use ramus_render::json::{self, Answer, Project, Projects, Repository};

use crate::args::Global;
use crate::env::{self, LocalClock};
use crate::error::CommandError;
use crate::fields::FieldPrinter;
use crate::filter::{FilterArgs, GroupBy, no_rows, survey_for};
use crate::project::project_name;
use crate::table::{Table, bytes, cell, number};
use crate::ui::Ui;

/// List projects, most recently used first
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramus projects
  ramus projects --sort cost --limit 5
  ramus projects --since 7d
  ramus projects --by repo")]
pub(crate) struct ProjectsArgs {
    /// Group projects
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
    let workspace = env::command_workspace(ui, global)?;
    let mut request = args.filter.list_request(global, &workspace)?;
    request.by_repository = args.by.is_some();
    let short_ids = workspace.short_ids();
    let survey = survey_for(global, &request, workspace, &Scope::All)?;
    let listed = request.list_projects(&survey).into_iter();
    let projects: Vec<Project> = listed.map(json::project).collect();
    let mut repositories = args.by.map(|_| json::group_by_repository(&projects));
    if let Some(repositories) = &mut repositories {
        repositories.truncate(request.limit.unwrap_or(usize::MAX));
    }
    let nothing = projects.is_empty().then(|| no_project(&request));
    let clock = LocalClock::for_list(ui, global, args.filter.fields.absolute);
    let fields = &args.filter.fields;
    if !fields.fields.is_empty() && nothing.is_none() {
        let (header, fields) = (fields.header, &fields.fields);
        let printer =
            FieldPrinter { fields, header, short_ids: &short_ids, clock: &clock, on_request: &[] };
        return printer.print_rows(ui, &projects);
    }
    if ui.json {
        ui.print_json(&Answer::new("ramus.projects/1", Projects { projects, repositories }))?;
        return nothing.map_or(Ok(()), Err);
    }
    if let Some(nothing) = nothing {
        return Err(nothing);
    }
    ui.start_pager();
    if let Some(repositories) = &repositories {
        for line in repository_table(repositories, &projects, &clock).lines(ui.width) {
            ui.print_line(&line)?;
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
        ui.print_line(&line)?;
    }
    Ok(())
}

/// Returns the projects that are shown without `--all`, the most recently used first.
pub(crate) fn listed_projects(workspace: &Workspace) -> Result<Vec<Project>, CommandError> {
    let survey = workspace.survey_scope(Scope::All, SurveyDetail::Digests);
    let request = ListRequest::default();
    let listed = request.list_projects(&survey);
    if listed.is_empty() {
        return Err(no_project(&request));
    }
    Ok(listed.into_iter().map(json::project).collect())
}

fn no_project(request: &ListRequest) -> CommandError {
    no_rows(request, "projects", "run `ramus demo` to create a sample history")
}

fn repository_table(
    repositories: &[Repository],
    projects: &[Project],
    clock: &LocalClock,
) -> Table {
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
