use std::collections::HashMap;

use ramus_app::survey::{ProjectSurvey, Survey, Surveyed};
use ramus_app::{Scope, Workspace};
use ramus_core::history::AgentClass;
use ramus_core::name::short_id;
use ramus_render::json::{self, Answer, Session, Sessions};
use ramus_render::{Label, Line};

use crate::args::Global;
use crate::env::{self, Clock};
use crate::error::CommandError;
use crate::filter::{FilterArgs, RowFilter, SortKey, session_key};
use crate::project::{project_end, project_name};
use crate::table::{Table, bytes, cell, number};
use crate::ui::Ui;

/// List the sessions, the most recently active first
///
/// BRANCHES counts the conversations of a session: one for every end that an edit, a retry or a
/// rewind left behind.
#[derive(Debug, Default, clap::Args)]
#[command(
    after_help = "Examples:\n  ramus sessions\n  ramus sessions .\n  ramus sessions --json | jq '.sessions[] | select(.forks > 0)'\n  ramus sessions --has forks --since 7d --sort cost"
)]
pub(crate) struct SessionsArgs {
    /// Only those of one project
    #[arg(allow_hyphen_values = true)]
    project: Option<String>,
    #[command(flatten)]
    filter: FilterArgs,
}

pub(crate) fn sessions(
    ui: &mut Ui,
    global: &Global,
    args: &SessionsArgs,
) -> Result<(), CommandError> {
    let workspace = env::workspace(ui, global)?;
    let scope = match &args.project {
        Some(project) => Scope::Project(workspace.project(project)?),
        None => Scope::All,
    };
    let filter = args.filter.understood()?;
    let survey = filter.survey(workspace, &scope)?;
    let mut rows = rows(&survey, &filter, global.all);
    let paths: HashMap<String, Option<String>> = { &survey.projects }
        .iter()
        .map(|project| (project.name.clone(), project.path.clone()))
        .collect();
    ui.let_go(survey);
    filter.arrange(&mut rows);
    let sessions: Vec<Session> = rows.into_iter().map(|(_, session)| session).collect();
    let nothing = sessions.is_empty().then(no_session);
    if ui.json {
        ui.json(&Answer::new("ramus.sessions/1", Sessions { sessions }))?;
        return nothing.map_or(Ok(()), Err);
    }
    if let Some(nothing) = nothing {
        return Err(nothing);
    }
    ui.page();
    let room = (ui.width / 5).clamp(12, 32);
    let name = |session: &Session| {
        let path = paths.get(&session.project).and_then(Option::as_deref);
        project_end(&project_name(path, &session.project), room)
    };
    for line in table(&sessions, &name, &Clock::new()).lines(ui.width) {
        ui.line(&line)?;
    }
    Ok(())
}

/// Returns the sessions of a scope that are shown without `--all`, the most recently active first.
pub(crate) fn listed(
    workspace: Workspace,
    project: Option<&str>,
) -> Result<Vec<Session>, CommandError> {
    let scope = match project {
        Some(project) => Scope::Project(workspace.project(project)?),
        None => Scope::All,
    };
    let filter = FilterArgs::default().understood()?;
    let survey = filter.survey(workspace, &scope)?;
    let mut rows = rows(&survey, &filter, false);
    filter.arrange(&mut rows);
    if rows.is_empty() {
        return Err(no_session());
    }
    Ok(rows.into_iter().map(|(_, session)| session).collect())
}

fn rows(survey: &Survey, filter: &RowFilter, all: bool) -> Vec<(SortKey, Session)> {
    let mut rows = survey.list(|project, session, listed| {
        let is_shown = all || !session.digest.class.is_hidden();
        (is_shown && filter.has_session(project, session))
            .then(|| row(project, session, json::session(listed)))
    });
    if all {
        rows.extend(survey.projects.iter().flat_map(|project| warm_ups(project, filter)));
    }
    rows
}

fn no_session() -> CommandError {
    CommandError::nothing("no session here")
        .hinted("`--all` shows empty and metadata-only files")
        .hinted("no history yet? `ramus demo` writes a sample to look at")
}

fn row(project: &ProjectSurvey, file: &Surveyed, session: Session) -> (SortKey, Session) {
    let title = session.title.as_deref().unwrap_or_default();
    (session_key(project, file, title), session)
}

/// Lists the agents that only warmed up, which belong to no conversation (R18).
fn warm_ups<'a>(
    project: &'a ProjectSurvey,
    filter: &'a RowFilter,
) -> impl Iterator<Item = (SortKey, Session)> + 'a {
    let is_warm_up = |agent: &&Surveyed| agent.digest.agent_class == AgentClass::Warmup;
    let agents = project.agents.iter().filter(is_warm_up);
    agents.filter(|agent| filter.has_session(project, agent)).map(|agent| {
        let listed = json::session(project.listed(agent));
        row(project, agent, Session { class: AgentClass::Warmup.word(), ..listed })
    })
}

fn table(sessions: &[Session], name: &dyn Fn(&Session) -> String, clock: &Clock) -> Table {
    let mut table = Table::new(&[
        "ID",
        "?PROJECT",
        "?LAST ACTIVE",
        ">?MESSAGES",
        ">BRANCHES",
        ">?AGENTS",
        ">?SIZE",
        "*TITLE",
    ]);
    for session in sessions {
        let branches = match session.conversations {
            0 | 1 => cell("·", Label::Dim),
            n => cell(number(n as u64), Label::Branch),
        };
        let agents =
            if session.agents == 0 { String::new() } else { number(session.agents as u64) };
        let mut title = match &session.title {
            Some(title) => Line::plain(title),
            None if session.class == "conversation" => Line::new(&session.id, Label::Dim),
            None => Line::new(session.class, Label::Dim),
        };
        if session.defects > 0 {
            title = Line::new(&format!("! {} ", session.defects), Label::Warning)
                .with(&title.text(), Label::Plain);
        }
        table.row(vec![
            cell(short_id(&session.id), Label::Id),
            cell(name(session), Label::Dim),
            cell(clock.short_text(session.last_active.as_deref()), Label::Time),
            cell(number(u64::from(session.messages)), Label::Plain),
            branches,
            cell(agents, Label::Dim),
            cell(bytes(session.bytes), Label::Dim),
            title,
        ]);
    }
    table
}
