use ramus_app::list::{ListRequest, ListedConversations};
use ramus_app::survey::Survey;
use ramus_app::{Scope, SurveyDetail, Workspace};
use ramus_core::branches::BranchStatus;
use ramus_core::digest::{ResumeDigest, SessionDigest};
use ramus_core::ids::ShortIds;
use ramus_core::resume::ResumeReason;
use ramus_render::json::{self, Answer, Bookmark, Conversation, Conversations};
use ramus_render::layout::{truncate_line, wrap_line};
use ramus_render::outline::drawing_legend;
use ramus_render::{Label, Line};

use crate::args::Global;
use crate::completion;
use crate::env::{self, LocalClock};
use crate::error::CommandError;
use crate::fields::FieldPrinter;
use crate::filter::{FilterArgs, no_rows, survey_for};
use crate::scope;
use crate::table::{Table, cell, number};
use crate::ui::Ui;

/// List conversations: every branch of every session
///
/// A conversation is one branch, read from the first message of the session to its end. Read it with
/// `ramus show SESSION@N`.
///
/// ◉ marks the conversation that Claude Code would resume. At each fork point one branch is current:
/// the one that leads to where Claude Code would resume, or else the one written last. A conversation
/// that follows the current branch at every fork point is active; any other is abandoned. If there is
/// room for it, LEFT AT shows the fork point where it leaves the current branch. ◆ marks a bookmark: a
/// message that a summary names although no conversation ends there.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramus conversations latest --explain
  ramus conversations teapot --branch abandoned
  ramus conversations 7ea9 --json")]
pub(crate) struct ConversationsArgs {
    /// A session or a project [default: the project of the current directory, else everything]
    #[arg(allow_hyphen_values = true, add = completion::scopes())]
    scope: Option<String>,
    #[command(flatten)]
    filter: FilterArgs,
}

pub(crate) fn conversations(
    ui: &mut Ui,
    global: &Global,
    args: &ConversationsArgs,
) -> Result<(), CommandError> {
    let workspace = env::workspace_for(ui, global, args.scope.as_deref().unwrap_or_default())?;
    let scope = scope::resolve_scope(&workspace, args.scope.as_deref())?;
    let asked = args.scope.as_deref();
    let answer_scope = scope::answer_scope(&workspace, &scope, asked);
    let clock = LocalClock::for_list(ui, global, args.filter.fields.absolute);
    scope::print_scope_note(ui, &workspace, asked);
    let request = args.filter.list_request(global, &workspace)?;
    let nothing = scope::with_wider_hint(no_conversation(&request), &workspace, asked);
    let short_ids = workspace.short_ids();
    let survey = survey_for(global, &request, workspace, &scope)?;
    let (mut groups, bookmarks) = conversation_groups(&survey, &scope, &request);
    let fields = &args.filter.fields;
    if ui.json || !fields.fields.is_empty() {
        let conversations: Vec<Conversation> =
            groups.into_iter().flat_map(|group| group.rows).collect();
        let is_empty = conversations.is_empty();
        if !fields.fields.is_empty() {
            let (header, fields) = (fields.header, &*fields.fields);
            let printer = FieldPrinter {
                fields,
                header,
                short_ids: &short_ids,
                clock: &clock,
                on_request: &[],
            };
            printer.print_rows(ui, &conversations)?;
        } else {
            let answer = Conversations { conversations, bookmarks };
            let answer = Answer::new("ramus.conversations/1", answer);
            ui.print_json(&answer.with_scope(answer_scope))?;
        }
        return if is_empty { Err(nothing) } else { Ok(()) };
    }
    groups.retain(|group| !group.rows.is_empty());
    if groups.is_empty() {
        return Err(nothing);
    }
    let table = conversation_table(&short_ids, groups.iter().flat_map(|group| &group.rows), &clock);
    ui.start_pager();
    let rows = table.lines(ui.width);
    for line in &rows {
        ui.print_line(line)?;
    }
    for ConversationGroup { session, digest, rows } in &groups {
        if let Some(line) = resumes_inside(short_ids.shorten_id(session), digest, rows) {
            ui.print_line(&truncate_line(&line, ui.width))?;
        }
    }
    for bookmark in &bookmarks {
        let id = short_ids.shorten_id(&bookmark.session);
        let digest = groups.iter().find(|group| group.session == bookmark.session);
        let short_uuids = digest.map(|group| group.digest.short_uuids());
        let node = short_uuids.map_or(&*bookmark.node, |known| known.short(&bookmark.node));
        let line = Line::new("◆  ", Label::Note)
            .with(&format!("{id}:{node}  "), Label::Id)
            .with(&bookmark.title, Label::Plain);
        ui.print_line(&truncate_line(&line, ui.width))?;
    }
    if ui.terminal {
        ui.print_line(&drawing_legend(&rows))?;
    }
    if global.explain {
        for ConversationGroup { session, digest, .. } in &groups {
            for line in wrapped_explanation(session, digest.resume.as_ref(), ui.width) {
                ui.print_line(&line)?;
            }
        }
    }
    Ok(())
}

/// The conversations of one file.
struct ConversationGroup<'a> {
    session: &'a str,
    digest: &'a SessionDigest,
    rows: Vec<Conversation>,
}

/// Returns the matching conversations of a scope, file by file, and the bookmarks of the files.
fn conversation_groups<'a>(
    survey: &'a Survey,
    scope: &Scope,
    request: &ListRequest,
) -> (Vec<ConversationGroup<'a>>, Vec<Bookmark>) {
    let mut bookmarks = Vec::new();
    let group = |listed: ListedConversations<'a>| {
        let ListedConversations { project, file, numbers, has_bookmarks } = listed;
        let (session, digest) = (&*file.file.id, &*file.digest);
        let all =
            json::from_conversations(session, &file.file.relative, digest, &project.summaries);
        let rows = all.into_iter().filter(|row| numbers.contains(&row.n)).collect();
        if has_bookmarks {
            bookmarks.extend(json::find_bookmarks(session, digest, &project.summaries));
        }
        ConversationGroup { session, digest, rows }
    };
    let groups = request.list_conversations(survey, scope).into_iter().map(group).collect();
    (groups, bookmarks)
}

/// Returns the conversations of a scope that are shown without `--all`.
pub(crate) fn listed_conversations(
    workspace: &Workspace,
    scope: Option<&str>,
) -> Result<Vec<Conversation>, CommandError> {
    let scope = workspace.resolve_scope(scope)?;
    let survey = workspace.survey_scope(scope.clone(), SurveyDetail::Digests);
    let request = ListRequest::default();
    let (groups, _) = conversation_groups(&survey, &scope, &request);
    let rows: Vec<Conversation> = groups.into_iter().flat_map(|group| group.rows).collect();
    if rows.is_empty() { Err(no_conversation(&request)) } else { Ok(rows) }
}

fn no_conversation(request: &ListRequest) -> CommandError {
    no_rows(request, "conversations", "use --all to include files without messages")
}

fn conversation_table<'a>(
    short_ids: &ShortIds,
    conversations: impl Iterator<Item = &'a Conversation>,
    clock: &LocalClock,
) -> Table {
    let mut table =
        Table::new(&["", "ADDRESS", "?STATUS", "?LAST ACTIVE", ">?MESSAGES", "?LEFT AT", "*TITLE"]);
    for conversation in conversations {
        let id = short_ids.shorten_id(&conversation.session);
        let (mark, label) = match (conversation.resumes, conversation.status) {
            (true, _) => ("◉", Label::Active),
            (_, BranchStatus::Active) => ("●", Label::Active),
            (_, BranchStatus::Abandoned) => ("○", Label::Abandoned),
        };
        let status = if conversation.draft { "draft" } else { conversation.status.as_str() };
        let left = match (&conversation.fork_kind, &conversation.short_fork_point) {
            (Some(kind), Some(point)) => {
                Line::new(kind, Label::Branch).with(&format!(" {point}"), Label::Id)
            }
            _ => Line::default(),
        };
        table.row(vec![
            cell(mark, label),
            cell(format!("{id}@{}", conversation.n), Label::Id),
            cell(status, label),
            cell(clock.short_text(conversation.last_active.as_deref()), Label::Time),
            cell(number(u64::from(conversation.messages)), Label::Plain),
            left,
            conversation
                .branch_title
                .as_deref()
                .map_or_else(|| Line::new(&conversation.leaf, Label::Dim), Line::plain),
        ]);
    }
    table
}

/// Prints where a conversation is resumed that continues after the resume point.
fn resumes_inside(
    session: &str,
    digest: &SessionDigest,
    conversations: &[Conversation],
) -> Option<Line> {
    let resume = digest.resume.as_ref()?;
    let resuming = conversations.iter().find(|conversation| conversation.resumes)?;
    (*resuming.leaf != *resume.leaf).then(|| {
        let leaf = digest.short_uuids().short(&resume.leaf).to_owned();
        Line::new("◉  ", Label::Active)
            .with(&format!("{session}:{leaf}"), Label::Id)
            .with("  is where Claude Code resumes, before the end of ", Label::Plain)
            .with(&format!("@{}", resuming.n), Label::Id)
    })
}

/// Prints in full how the resume point was chosen.
pub(crate) fn wrapped_explanation(
    session: &str,
    resume: Option<&ResumeDigest>,
    width: usize,
) -> Vec<Line> {
    resume_explanation(session, resume).iter().flat_map(|line| wrap_line(line, width, 4)).collect()
}

/// Warns that an implausible date decided the resume point.
fn date_doubt(resume: &ResumeDigest) -> Option<String> {
    match (resume.reason, resume.time) {
        (ResumeReason::NoTimestamps, _) => Some(
            "no record has a timestamp, so later messages are not resumed. `ramus check --fix` makes a copy with timestamps"
                .to_owned(),
        ),
        (ResumeReason::NewestTimestamp | ResumeReason::NothingAbove, Some(time)) if time > env::current_time() => Some(format!(
            "it is dated {time}, in the future, so messages before then are not resumed. `ramus check --fix` makes a copy with a valid date"
        )),
        _ => None,
    }
}

fn resume_explanation(session: &str, resume: Option<&ResumeDigest>) -> Vec<Line> {
    let mut lines = vec![Line::default()];
    let Some(resume) = resume else {
        lines.push(Line::new(session, Label::Id).with(": nothing to resume", Label::Plain));
        return lines;
    };
    lines.push(
        Line::new(session, Label::Id)
            .with(" resumes at ", Label::Plain)
            .with(&resume.point, Label::Active)
            .with(": ", Label::Plain)
            .with(&resume.reason.to_string(), Label::Plain),
    );
    lines.push(
        Line::plain("  rule      ").with(&format!("of {}", resume.rule_text()), Label::Plain),
    );
    lines.push(Line::plain("  decided by").with(&format!(" line {}", resume.line), Label::Plain));
    if resume.leaf != resume.point {
        lines.push(Line::plain("  message   ").with(&resume.leaf, Label::Id));
    }
    if let Some(doubt) = date_doubt(resume) {
        lines.push(Line::new("  beware    ", Label::Warning).with(&doubt, Label::Plain));
    }
    for (era, leaf) in &resume.otherwise {
        lines.push(
            Line::plain("  but ")
                .with(&era.to_string(), Label::Plain)
                .with(" would continue from ", Label::Plain)
                .with(leaf, Label::Id),
        );
    }
    lines
}
