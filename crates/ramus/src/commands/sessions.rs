use std::collections::HashMap;

use ramus_app::list::ListRequest;
use ramus_app::{Scope, SurveyDetail, Workspace};
use ramus_core::history::SessionClass;
use ramus_core::ids::ShortIds;
use ramus_render::json::{self, Answer, LostAgent, Session, Sessions};
use ramus_render::layout::truncate_line;
use ramus_render::{Label, Line};
use ramus_store::prompt_history::LostPrompts;

use crate::args::Global;
use crate::completion;
use crate::env::{self, LocalClock};
use crate::error::CommandError;
use crate::fields::{FieldArgs, FieldPrinter};
use crate::filter::{FilterArgs, GroupBy, no_rows, survey_for};
use crate::project::{project_end, project_name};
use crate::scope;
use crate::table::{Table, bytes, cell, number};
use crate::ui::Ui;

/// List sessions, most recently active first
///
/// In the directory of a project, or below it, only sessions of that project are listed. Use -A for all
/// projects.
///
/// BRANCHES is the number of branches of a session: 1 if it never forked. ↳ marks a session that came
/// from another one (`fork`, `merge`, `copy`, `continuation`) or was started with `/clear`; `ramus
/// tree` shows which one.
#[derive(Debug, Default, clap::Args)]
#[command(after_help = "\
Examples:
  ramus sessions
  ramus sessions -A
  ramus sessions teapot
  ramus sessions -o id,title,cost
  ramus sessions --has forks --sort cost
  ramus sessions --since 7d
  ramus sessions --by repo
  ramus sessions --pr 42
  ramus sessions --tag review
  ramus sessions --gone
  ramus sessions --json | jq '.sessions[] | select(.forks > 0)'")]
pub(crate) struct SessionsArgs {
    /// Only sessions of this project [default: the one of the current directory]
    #[arg(allow_hyphen_values = true, add = completion::projects())]
    project: Option<String>,
    /// Group sessions
    #[arg(long, value_name = "WHAT")]
    by: Option<GroupBy>,
    /// Only sessions whose file was deleted, if Claude Code's prompt history still has their prompts
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
    let asked = args.project.as_deref();
    let scope = sessions_scope(&workspace, asked)?;
    let answer_scope = scope::answer_scope(&workspace, &scope, asked);
    let fields = args.shown_fields(ui, global);
    let mut request = args.filter.list_request(global, &workspace)?;
    request.by_repository = args.by.is_some();
    request.wants_cost |= fields.has_field("cost_usd");
    let lost_prompts = workspace.lost_prompts(&scope);
    scope::print_scope_note(ui, &workspace, asked);
    if args.gone {
        return list_deleted(ui, &workspace, lost_prompts, &request);
    }
    let wider = |error| scope::with_wider_hint(error, &workspace, asked);
    let (no_session, no_history) = (wider(no_session(&request)), wider(no_history()));
    let announced = workspace.due_files(&scope, env::current_time()).warning_text();
    let cleanup = workspace.cleanup_schedule();
    let short_ids = workspace.short_ids();
    let survey = survey_for(global, &request, workspace, &scope)?;
    let mut sessions = request.list_sessions(&survey, &scope, &cleanup, json::from_session);
    let lost = request.lost_agents(&survey, &scope, json::from_lost_agent);
    let has_history = survey.projects.iter().any(|project| !project.sessions.is_empty());
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
    let no_session = if has_history { no_session } else { no_history };
    let nothing = (sessions.is_empty() && lost.is_empty()).then_some(no_session);
    let clock = LocalClock::for_list(ui, global, args.filter.fields.absolute);
    if !fields.fields.is_empty() && nothing.is_none() {
        let (header, fields) = (fields.header, &*fields.fields);
        let on_request = &["cost_usd"];
        let printer =
            FieldPrinter { fields, header, short_ids: &short_ids, clock: &clock, on_request };
        return printer.print_rows(ui, &sessions);
    }
    if ui.json {
        let answer = Answer::new("ramus.sessions/1", Sessions { sessions, lost_agents: lost });
        ui.print_json(&answer.with_scope(answer_scope))?;
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
    let lines = session_table(&sessions, &short_ids, &name, &clock).lines(ui.width);
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
        let line = format!(
            "{} prompt{s} of deleted sessions. Use --gone to list them.",
            number(count as u64)
        );
        print_notice(ui, &line, Label::Dim)?;
    }
    announced.map_or(Ok(()), |due| print_notice(ui, &due, Label::Warning))
}

fn sessions_scope(workspace: &Workspace, project: Option<&str>) -> Result<Scope, CommandError> {
    Ok(match project {
        Some(project) => Scope::Project(workspace.resolve_project(project)?),
        None => workspace.default_scope(),
    })
}

impl SessionsArgs {
    /// Returns the fields that were asked for, else those that the settings name for a terminal.
    fn shown_fields(&self, ui: &Ui, global: &Global) -> FieldArgs {
        let usual = &global.settings.columns.value;
        let mut shown = self.filter.fields.clone();
        if shown.fields.is_empty() && ui.terminal && !ui.json && self.by.is_none() {
            shown.fields.clone_from(usual);
        }
        shown
    }
}

/// Prints a message that is not a table row.
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
    let scope = sessions_scope(workspace, project)?;
    let survey = workspace.survey_scope(scope.clone(), SurveyDetail::Digests);
    let request = ListRequest { annotations: workspace.annotations(), ..ListRequest::default() };
    let sessions =
        request.list_sessions(&survey, &scope, &workspace.cleanup_schedule(), json::from_session);
    if sessions.is_empty() { Err(no_session(&request)) } else { Ok(sessions) }
}

fn no_session(request: &ListRequest) -> CommandError {
    no_rows(request, "sessions", "use --all to include empty and metadata-only files")
}

fn no_history() -> CommandError {
    no_session(&ListRequest::default())
        .with_hint("no history yet? Run `ramus demo` to create a sample")
}

/// Lists the sessions of which nothing but prompts is left.
fn list_deleted(
    ui: &mut Ui,
    workspace: &Workspace,
    lost: LostPrompts,
    request: &ListRequest,
) -> Result<(), CommandError> {
    let sessions = request.list_deleted(lost);
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
            "Claude Code deleted these sessions. `ramus find` searches their prompts.",
            Label::Dim,
        )?;
    }
    nothing.map_or(Ok(()), Err)
}

/// Groups sessions, in the order of the first session of each group.
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
                &format!("  of {}, which was deleted  ", short_ids.shorten_id(&agent.session)),
                Label::Dim,
            )
            .with(agent.title.as_deref().unwrap_or_default(), Label::Plain)
    };
    let more = lost.len().saturating_sub(MAX_NAMED_AGENTS);
    let more = (more > 0).then(|| {
        let text = format!("  {more} more agents of deleted sessions. Use --json to list them");
        Line::new(&text, Label::Dim)
    });
    lost.iter().take(MAX_NAMED_AGENTS).map(line).chain(more).collect()
}

/// Returns a mark for where a session came from. Empty if it came from no other session.
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
        if session.pinned {
            title = Line::new("◆ ", Label::Active).with_line(&title);
        }
        for tag in &session.tags {
            title = title.with(&format!(" #{tag}"), Label::Branch);
        }
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
