use std::collections::HashMap;

use ramus_app::list::ListRequest;
use ramus_app::{Scope, SurveyDetail, Workspace};
use ramus_core::history::SessionClass;
use ramus_core::ids::ShortIds;
use ramus_render::json::{self, Answer, LostAgent, Session, Sessions};
use ramus_render::layout::truncate_line;
use ramus_render::{Label, Line};
use ramus_store::prompt_history::{GoneSession, LostPrompts};

use crate::args::Global;
use crate::env::{self, LocalClock};
use crate::error::CommandError;
use crate::filter::{FilterArgs, GroupBy, survey_for};
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
    let workspace = env::command_workspace(ui, global)?;
    let scope = match &args.project {
        Some(project) => Scope::Project(workspace.resolve_project(project)?),
        None => Scope::All,
    };
    let mut request = args.filter.list_request(global)?;
    request.by_repository = args.by.is_some();
    let lost_prompts = workspace.lost_prompts(&scope);
    if args.gone {
        return list_deleted(ui, &workspace, lost_prompts, &request);
    }
    let announced = workspace.due_files(&scope, env::current_time()).warning_text();
    let cleanup = workspace.cleanup_schedule();
    let short_ids = workspace.short_ids();
    let survey = survey_for(&request, workspace, &scope)?;
    let mut sessions = request.list_sessions(&survey, &scope, &cleanup, json::from_session);
    let lost = request.lost_agents(&survey, &scope, json::from_lost_agent);
    let paths: HashMap<String, Option<String>> = { &survey.projects }
        .iter()
        .map(|project| (project.name.clone(), project.path.clone()))
        .collect();
    ui.let_go(survey);
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
        ui.print_json(&Answer::new("ramus.sessions/1", Sessions { sessions, lost_agents: lost }))?;
        return nothing.map_or(Ok(()), Err);
    }
    if let Some(nothing) = nothing {
        return Err(nothing);
    }
    ui.start_pager();
    let room = (ui.width / 5).clamp(12, 32);
    let name = |session: &Session| {
        let path = paths.get(&session.project).and_then(Option::as_deref);
        project_end(&project_name(path, &session.project), room)
    };
    let lines = session_table(&sessions, &short_ids, &name, &LocalClock::new()).lines(ui.width);
    let head = lines.len() - sessions.len();
    let mut last = None;
    for (index, line) in lines.iter().enumerate() {
        let session = index.checked_sub(head).map(|index| &sessions[index]);
        let heading = session.filter(|_| args.by.is_some()).map(&group);
        if let Some(heading) = heading.filter(|heading| last.as_ref() != Some(heading)) {
            ui.print_line(&Line::new(&heading, Label::Heading))?;
            last = Some(heading);
        }
        ui.print_line(line)?;
    }
    for line in lost_lines(&lost, &short_ids) {
        ui.print_line(&truncate_line(&line, ui.width))?;
    }
    if !lost_prompts.prompts.is_empty() {
        let (count, s) =
            (lost_prompts.prompts.len(), if lost_prompts.prompts.len() == 1 { "" } else { "s" });
        let line =
            format!("{} prompt{s} of deleted sessions: `--gone` lists them.", number(count as u64));
        print_notice(ui, &line, Label::Dim)?;
    }
    announced.map_or(Ok(()), |due| print_notice(ui, &due, Label::Warning))
}

/// Says something that is no row of the table.
fn print_notice(ui: &mut Ui, text: &str, label: Label) -> Result<(), CommandError> {
    ui.flush_output()?;
    ui.print_message(&Line::new(text, label));
    Ok(())
}

/// Returns the sessions of a scope that are shown without `--all`, the most recently active first.
pub(crate) fn listed_sessions(
    workspace: &Workspace,
    project: Option<&str>,
) -> Result<Vec<Session>, CommandError> {
    let scope = match project {
        Some(project) => Scope::Project(workspace.resolve_project(project)?),
        None => Scope::All,
    };
    let survey = workspace.survey_scope(scope.clone(), SurveyDetail::Digests);
    let request = ListRequest::default();
    let sessions =
        request.list_sessions(&survey, &scope, &workspace.cleanup_schedule(), json::from_session);
    if sessions.is_empty() { Err(no_session()) } else { Ok(sessions) }
}

fn no_session() -> CommandError {
    CommandError::nothing_found("no session here")
        .with_hint("`--all` shows empty and metadata-only files")
        .with_hint("no history yet? `ramus demo` writes a sample to look at")
}

/// Lists the sessions of which nothing but prompts is left.
fn list_deleted(
    ui: &mut Ui,
    workspace: &Workspace,
    lost: LostPrompts,
    request: &ListRequest,
) -> Result<(), CommandError> {
    let row = |gone: &GoneSession| {
        let first = gone.prompts.first().map_or("", |prompt| &*prompt.text);
        let count = gone.prompts.len();
        json::gone_session(
            &gone.id,
            gone.project.as_deref(),
            count,
            first,
            gone.first_and_last_time(),
        )
    };
    let sessions: Vec<Session> = request.deleted_sessions(lost).iter().map(row).collect();
    let nothing =
        sessions.is_empty().then(|| CommandError::nothing_found("no prompts of deleted sessions"));
    if ui.json {
        ui.print_json(&Answer::new(
            "ramus.sessions/1",
            Sessions { sessions, lost_agents: Vec::new() },
        ))?;
    } else if !sessions.is_empty() {
        ui.start_pager();
        let (clock, short_ids) = (LocalClock::new(), workspace.short_ids());
        let mut table =
            Table::new(&["ID", "?PROJECT", "?LAST PROMPT", ">PROMPTS", "*FIRST PROMPT"]);
        let room = (ui.width / 5).clamp(12, 32);
        for session in &sessions {
            let name = project_name(session.cwd.as_deref(), &session.project);
            table.row(vec![
                cell(short_ids.shorten_id(&session.id), Label::Id),
                cell(project_end(&name, room), Label::Dim),
                cell(clock.short_text(session.last_active.as_deref()), Label::Time),
                cell(number(u64::from(session.messages)), Label::Plain),
                Line::new(session.title.as_deref().unwrap_or_default(), Label::Dim),
            ]);
        }
        for line in table.lines(ui.width) {
            ui.print_line(&line)?;
        }
        print_notice(
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

/// How many lost agents are named.
const MAX_NAMED_AGENTS: usize = 5;

fn lost_lines(lost: &[LostAgent], short_ids: &ShortIds) -> Vec<Line> {
    let line = |agent: &LostAgent| {
        Line::new("▸ agent-", Label::ToolName)
            .with(&agent.agent, Label::Id)
            .with(
                &format!("  of {}, which is gone  ", short_ids.shorten_id(&agent.session)),
                Label::Dim,
            )
            .with(agent.title.as_deref().unwrap_or_default(), Label::Plain)
    };
    let more = lost.len().saturating_sub(MAX_NAMED_AGENTS);
    let more = (more > 0).then(|| {
        let text = format!("  {more} more agents of sessions that are gone; `--json` lists them");
        Line::new(&text, Label::Dim)
    });
    lost.iter().take(MAX_NAMED_AGENTS).map(line).chain(more).collect()
}

/// Returns a mark that says where a session came from; empty for one that began by itself.
fn origin_mark(session: &Session) -> String {
    let mut kinds: Vec<&str> = session.origins.iter().map(|origin| origin.kind).collect();
    kinds.dedup();
    if kinds.is_empty() { String::new() } else { format!("↳{} ", kinds.join(" ")) }
}

fn session_table(
    sessions: &[Session],
    short_ids: &ShortIds,
    name: &dyn Fn(&Session) -> String,
    clock: &LocalClock,
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
            None if session.class == SessionClass::Conversation.as_str() => {
                Line::new(&session.id, Label::Dim)
            }
            None => Line::new(session.class, Label::Dim),
        });
        if session.archived {
            title = Line::new("archived  ", Label::Note).with_line(&title);
        }
        if session.defects > 0 {
            let defects = Line::new(&format!("! {} ", session.defects), Label::Warning);
            title = defects.with(&title.to_text(), Label::Plain);
        }
        table.row(vec![
            cell(short_ids.shorten_id(&session.id), Label::Id),
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
