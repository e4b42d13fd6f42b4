use std::collections::HashMap;

use ramus_app::survey::{ProjectSurvey, Survey, Surveyed};
use ramus_app::{Scope, Workspace};
use ramus_core::history::{AgentClass, Class};
use ramus_core::name::{ShortIds, short_id};
use ramus_render::json::{self, Answer, LostAgent, Session, Sessions};
use ramus_render::layout::truncate;
use ramus_render::{Label, Line};
use ramus_store::cleanup::Cleanup;
use ramus_store::prompts::{GoneSession, LostPrompts};

use crate::args::Global;
use crate::env::{self, Clock};
use crate::error::CommandError;
use crate::filter::{FilterArgs, GroupBy, RowFilter, SortKey, session_key};
use crate::project::{project_end, project_name};
use crate::table::{Table, bytes, cell, number};
use crate::ui::Ui;

/// List the sessions, the most recently active first
///
/// BRANCHES counts the conversations of a session: one for every end that an edit, a retry or a
/// rewind left behind. ↳ says that a session came from another one (`fork`, `merge`, `copy`,
/// `continuation`) or was begun with `/clear`; `ramus tree` names both.
#[derive(Debug, Default, clap::Args)]
#[command(
    after_help = "Examples:\n  ramus sessions\n  ramus sessions .\n  ramus sessions --json | jq '.sessions[] | select(.forks > 0)'\n  ramus sessions --has forks --since 7d --sort cost\n  ramus sessions --by repo\n  ramus sessions --pr 42\n  ramus sessions --gone"
)]
pub(crate) struct SessionsArgs {
    /// Only those of one project
    #[arg(allow_hyphen_values = true)]
    project: Option<String>,
    /// Put sessions together
    #[arg(long, value_name = "WHAT")]
    by: Option<GroupBy>,
    /// Only sessions that Claude Code deleted, of which it remembers the prompts (`prompt-only`)
    #[arg(long)]
    gone: bool,
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
    let lost_prompts = workspace.lost_prompts(&scope);
    if args.gone {
        return gone(ui, lost_prompts, &filter);
    }
    let announced = workspace.due_soon(&scope, env::now());
    let cleanup = workspace.cleanup();
    let short_ids = workspace.short_ids();
    let survey = filter.survey(workspace, &scope)?;
    let mut rows = rows(&survey, &filter, &cleanup, global.all);
    let paths: HashMap<String, Option<String>> = { &survey.projects }
        .iter()
        .map(|project| (project.name.clone(), project.path.clone()))
        .collect();
    let repositories: HashMap<String, String> = match args.by {
        Some(GroupBy::Repo) => { survey.projects.iter().zip(survey.repositories()) }
            .filter_map(|(project, found)| Some((project.name.clone(), found?.name)))
            .collect(),
        None => HashMap::new(),
    };
    let mut lost = lost_agents(&survey, &filter);
    lost.truncate(filter.limit());
    ui.let_go(survey);
    filter.arrange(&mut rows);
    let mut sessions: Vec<Session> = rows.into_iter().map(|(_, session)| session).collect();
    for session in &mut sessions {
        session.repository = repositories.get(&session.project).cloned();
    }
    let group = |session: &Session| {
        let path = paths.get(&session.project).and_then(Option::as_deref);
        let repository = session.repository.as_deref();
        project_name(repository.or(path), &session.project)
    };
    if args.by.is_some() {
        put_together(&mut sessions, &group);
    }
    let nothing = (sessions.is_empty() && lost.is_empty()).then(no_session);
    if ui.json {
        ui.json(&Answer::new("ramus.sessions/1", Sessions { sessions, lost_agents: lost }))?;
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
    let lines = table(&sessions, &short_ids, &name, &Clock::new()).lines(ui.width);
    let head = lines.len() - sessions.len();
    let mut last = None;
    for (index, line) in lines.iter().enumerate() {
        let session = index.checked_sub(head).map(|index| &sessions[index]);
        let heading = session.filter(|_| args.by.is_some()).map(&group);
        if let Some(heading) = heading.filter(|heading| last.as_ref() != Some(heading)) {
            ui.line(&Line::new(&heading, Label::Heading))?;
            last = Some(heading);
        }
        ui.line(line)?;
    }
    for line in lost_lines(&lost) {
        ui.line(&truncate(&line, ui.width))?;
    }
    if !lost_prompts.prompts.is_empty() {
        let (count, s) =
            (lost_prompts.prompts.len(), if lost_prompts.prompts.len() == 1 { "" } else { "s" });
        let line =
            format!("{} prompt{s} of deleted sessions: `--gone` lists them.", number(count as u64));
        notice(ui, &line, Label::Dim)?;
    }
    announced.map_or(Ok(()), |due| notice(ui, &due, Label::Warning))
}

/// Says something that is no row of the table.
fn notice(ui: &mut Ui, text: &str, label: Label) -> Result<(), CommandError> {
    ui.flush()?;
    ui.say(&Line::new(text, label));
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
    let cleanup = workspace.cleanup();
    let survey = filter.survey(workspace, &scope)?;
    let mut rows = rows(&survey, &filter, &cleanup, false);
    filter.arrange(&mut rows);
    if rows.is_empty() {
        return Err(no_session());
    }
    Ok(rows.into_iter().map(|(_, session)| session).collect())
}

fn rows(
    survey: &Survey,
    filter: &RowFilter,
    cleanup: &Cleanup,
    all: bool,
) -> Vec<(SortKey, Session)> {
    let mut rows = survey.list(|project, session, listed| {
        let is_shown = all || !session.digest.class.is_hidden();
        (is_shown && filter.has_session(project, session)).then(|| {
            let deleted_after = Some(cleanup.end(&session.file).to_string());
            row(project, session, Session { deleted_after, ..json::session(listed) })
        })
    });
    if all {
        rows.extend(survey.projects.iter().flat_map(|project| warm_ups(project, filter, cleanup)));
    }
    rows
}

fn no_session() -> CommandError {
    CommandError::nothing("no session here")
        .hinted("`--all` shows empty and metadata-only files")
        .hinted("no history yet? `ramus demo` writes a sample to look at")
}

/// Lists the sessions of which nothing but prompts is left.
fn gone(ui: &mut Ui, lost: LostPrompts, filter: &RowFilter) -> Result<(), CommandError> {
    let mut rows: Vec<(SortKey, Session)> = Vec::new();
    for gone in lost.sessions() {
        let times = gone.times();
        let GoneSession { id, project, prompts } = gone;
        let first = prompts.first().map_or("", |prompt| &*prompt.text);
        let session = json::gone_session(&id, project.as_deref(), prompts.len(), first, times);
        let key = SortKey {
            active: times.1,
            started: times.0,
            messages: prompts.len() as u64,
            title: session.title.clone().unwrap_or_default(),
            file: id,
            ..SortKey::default()
        };
        if filter.has_prompts(times.0, times.1) {
            rows.push((key, session));
        }
    }
    filter.arrange(&mut rows);
    let sessions: Vec<Session> = rows.into_iter().map(|(_, session)| session).collect();
    let nothing =
        sessions.is_empty().then(|| CommandError::nothing("no prompts of deleted sessions"));
    if ui.json {
        ui.json(&Answer::new("ramus.sessions/1", Sessions { sessions, lost_agents: Vec::new() }))?;
    } else if !sessions.is_empty() {
        ui.page();
        let clock = Clock::new();
        let mut table =
            Table::new(&["ID", "?PROJECT", "?LAST PROMPT", ">PROMPTS", "*FIRST PROMPT"]);
        let room = (ui.width / 5).clamp(12, 32);
        for session in &sessions {
            let name = project_name(session.cwd.as_deref(), &session.project);
            table.row(vec![
                cell(short_id(&session.id), Label::Id),
                cell(project_end(&name, room), Label::Dim),
                cell(clock.short_text(session.last_active.as_deref()), Label::Time),
                cell(number(u64::from(session.messages)), Label::Plain),
                Line::new(session.title.as_deref().unwrap_or_default(), Label::Dim),
            ]);
        }
        for line in table.lines(ui.width) {
            ui.line(&line)?;
        }
        notice(
            ui,
            "Claude Code deleted these sessions; `ramus find` searches their prompts.",
            Label::Dim,
        )?;
    }
    nothing.map_or(Ok(()), Err)
}

/// Puts the sessions of one group beside each other, in the order of the first of each.
fn put_together(sessions: &mut [Session], group: &dyn Fn(&Session) -> String) {
    let mut places: HashMap<String, usize> = HashMap::new();
    for session in &*sessions {
        let next = places.len();
        places.entry(group(session)).or_insert(next);
    }
    sessions.sort_by_cached_key(|session| places[&group(session)]);
}

/// Lists the agents whose session has no file any more, the newest first.
fn lost_agents(survey: &Survey, filter: &RowFilter) -> Vec<LostAgent> {
    let mut agents: Vec<LostAgent> = Vec::new();
    for project in &survey.projects {
        let lost = project.lost_agents();
        let wanted = lost.filter(|(_, agent)| filter.has_session(project, agent));
        agents.extend(
            wanted.map(|(session, agent)| json::lost_agent(session, &project.listed(agent))),
        );
    }
    agents.sort_by(|a, b| b.last_active.cmp(&a.last_active).then_with(|| a.file.cmp(&b.file)));
    agents
}

/// How many lost agents are named.
const NAMED: usize = 5;

fn lost_lines(lost: &[LostAgent]) -> Vec<Line> {
    let line = |agent: &LostAgent| {
        Line::new("▸ agent-", Label::ToolName)
            .with(&agent.agent, Label::Id)
            .with(&format!("  of {}, which is gone  ", short_id(&agent.session)), Label::Dim)
            .with(agent.title.as_deref().unwrap_or_default(), Label::Plain)
    };
    let more = lost.len().saturating_sub(NAMED);
    let more = (more > 0).then(|| {
        let text = format!("  {more} more agents of sessions that are gone; `--json` lists them");
        Line::new(&text, Label::Dim)
    });
    lost.iter().take(NAMED).map(line).chain(more).collect()
}

/// Returns a mark that says where a session came from; empty for one that began by itself.
fn origin_mark(session: &Session) -> String {
    let mut kinds: Vec<&str> = session.origins.iter().map(|origin| origin.kind).collect();
    kinds.dedup();
    if kinds.is_empty() { String::new() } else { format!("↳{} ", kinds.join(" ")) }
}

fn row(project: &ProjectSurvey, file: &Surveyed, session: Session) -> (SortKey, Session) {
    let title = session.title.as_deref().unwrap_or_default();
    (session_key(project, file, title), session)
}

/// Lists the agents that only warmed up, which belong to no conversation (R18).
fn warm_ups<'a>(
    project: &'a ProjectSurvey,
    filter: &'a RowFilter,
    cleanup: &'a Cleanup,
) -> impl Iterator<Item = (SortKey, Session)> + 'a {
    let is_warm_up = |agent: &&Surveyed| agent.digest.agent_class == AgentClass::Warmup;
    let agents = project.agents.iter().filter(is_warm_up);
    agents.filter(|agent| filter.has_session(project, agent)).map(|agent| {
        let listed = json::session(project.listed(agent));
        let deleted_after = Some(cleanup.end(&agent.file).to_string());
        row(project, agent, Session { class: AgentClass::Warmup.word(), deleted_after, ..listed })
    })
}

fn table(
    sessions: &[Session],
    short_ids: &ShortIds,
    name: &dyn Fn(&Session) -> String,
    clock: &Clock,
) -> Table {
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
        let mut title = Line::new(&origin_mark(session), Label::Branch);
        title.append(&match &session.title {
            Some(title) => Line::plain(title),
            None if session.class == Class::Conversation.word() => {
                Line::new(&session.id, Label::Dim)
            }
            None => Line::new(session.class, Label::Dim),
        });
        if session.defects > 0 {
            let defects = Line::new(&format!("! {} ", session.defects), Label::Warning);
            title = defects.with(&title.text(), Label::Plain);
        }
        table.row(vec![
            cell(short_ids.short(&session.id), Label::Id),
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
