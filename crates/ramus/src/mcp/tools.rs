//! The tools that read: each is a command with a short answer.

use std::convert::Infallible;
use std::ops::ControlFlow;
use std::sync::Arc;

use clap::ValueEnum;
use jiff::Zoned;
use ramus_app::search::{PER_SESSION, SearchOutcome};
use ramus_app::{SearchOrder, SearchRequest, Workspace};
use ramus_core::annotation::parse_tag;
use ramus_core::query::{FilterKey, MatchOptions, TypedFilter, TypedQuery};
use ramus_render::Line;
use ramus_render::ansi::{AnsiTheme, to_ansi};
use ramus_render::highlight::Highlight;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{CallToolResult, ContentBlock};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, schemars, tool, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;

use super::page::PageRequest;
use super::read::{ReadDepth, read_path};
use super::{McpServer, ToolFailure, brief};
use crate::args::Global;
use crate::commands::find::{like_error, no_match, no_match_hint};
use crate::commands::tree::{self, TreeArgs};
use crate::commands::usage::{self, UsageBy};
use crate::commands::{annotate, conversations, diff, files, projects, sessions};
use crate::env;
use crate::error::{CommandError, ErrorKind};
use crate::prices;
use crate::ui::{WIDTH, WarningsOnly};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Search {
    /// Words to find; put phrases in quotes. `-word` leaves out messages with it. Filters: `tool:Bash`, `file:main.rs`, `is:error`, `model:opus`, `pr:42`, `commit:abc123`
    query: String,
    /// Only in this project (a path or a part of it) or session; default: the current project
    scope: Option<String>,
    /// All projects instead of the current one
    #[serde(default)]
    everywhere: bool,
    /// The query is a regular expression
    #[serde(default)]
    regex: bool,
    /// Find prompts and replies that are about the query, in whatever words. Works if the user has configured a model
    #[serde(default)]
    like: bool,
    /// Only messages from this role: user, assistant, tool, system
    role: Option<String>,
    /// Only on branches of this status: active or abandoned
    branch: Option<String>,
    /// Only since: a date or an age (`7d`)
    since: Option<String>,
    /// Only until this time
    until: Option<String>,
    /// Maximum length of the answer in tokens (default 2000)
    max_tokens: Option<usize>,
    /// Cursor from an earlier answer, to continue it
    cursor: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Listed {
    /// Maximum length of the answer in tokens (default 2000)
    max_tokens: Option<usize>,
    /// Cursor from an earlier answer, to continue it
    cursor: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListedIn {
    /// A project (a path or a part of it); for conversations also a session; default: the current project
    scope: Option<String>,
    /// All projects instead of the current one
    #[serde(default)]
    everywhere: bool,
    /// Maximum length of the answer in tokens (default 2000)
    max_tokens: Option<usize>,
    /// Cursor from an earlier answer, to continue it
    cursor: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Annotated {
    /// Only with this tag
    tag: Option<String>,
    /// Maximum length of the answer in tokens (default 2000)
    max_tokens: Option<usize>,
    /// Cursor from an earlier answer, to continue it
    cursor: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Read {
    /// SESSION, SESSION:UUID (up to that message), SESSION@N, agent-ID, or `latest`
    address: String,
    /// Include full input and output of tool calls
    #[serde(default)]
    tools: bool,
    /// Include thinking, if it was recorded
    #[serde(default)]
    thinking: bool,
    /// Only this many turns from the end; with the address of a hit, the turns before it
    last: Option<usize>,
    /// Maximum length of the answer in tokens (default 2000)
    max_tokens: Option<usize>,
    /// Cursor from an earlier answer, to continue it
    cursor: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Tree {
    /// The session
    session: String,
    /// Only rows near this message
    around: Option<String>,
    /// Maximum length of the answer in tokens (default 2000)
    max_tokens: Option<usize>,
    /// Cursor from an earlier answer, to continue it
    cursor: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Diff {
    /// One conversation: SESSION, SESSION:UUID or SESSION@N
    a: String,
    /// The second conversation
    b: String,
    /// Only totals
    #[serde(default)]
    stat: bool,
    /// Maximum length of the answer in tokens (default 2000)
    max_tokens: Option<usize>,
    /// Cursor from an earlier answer, to continue it
    cursor: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FilesAt {
    /// SESSION, SESSION:UUID or SESSION@N: show the files as of this message
    address: String,
    /// A file to print: its path or the end of it. Without it, all files are listed
    path: Option<String>,
    /// Maximum length of the answer in tokens (default 2000)
    max_tokens: Option<usize>,
    /// Cursor from an earlier answer, to continue it
    cursor: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Usage {
    /// A project or a session; default: the current project
    scope: Option<String>,
    /// All projects instead of the current one
    #[serde(default)]
    everywhere: bool,
    /// One table: day, week, month, model, project, session, conversation or branch
    by: Option<String>,
    /// Only since: a date or an age (`7d`)
    since: Option<String>,
    /// Only until this time
    until: Option<String>,
    /// Maximum length of the answer in tokens (default 2000)
    max_tokens: Option<usize>,
    /// Cursor from an earlier answer, to continue it
    cursor: Option<String>,
}

#[tool_router(router = reading, vis = "pub(super)")]
impl McpServer {
    /// Search past conversations of this project, or of all with `everywhere`, on every branch. Each line has the address, branch status, role, time and the text around the match. `prompt-only`: the session was deleted.
    #[tool(annotations(read_only_hint = true, open_world_hint = false))]
    async fn search(
        &self,
        Parameters(asked): Parameters<Search>,
        context: RequestContext<RoleServer>,
    ) -> CallToolResult {
        self.answer_call(&context, asked.max_tokens, asked.cursor.clone(), move |global, page| {
            let workspace = open_in(global, None, asked.everywhere)?;
            let (rows, outcome) = search_rows(&workspace, &asked, &page)
                .map_err(|error| with_wider_hint(error, &workspace, asked.scope.as_deref()))?;
            let scope = scope_words(&workspace, asked.scope.as_deref());
            let notes: String =
                outcome.notes.sentences().iter().map(|note| format!("{note}\n")).collect();
            let listed = page.first_piece() + outcome.shown;
            let count = match outcome.found {
                found if listed < found => format!("{found} found{scope}, {listed} of them listed"),
                found => format!("{found} found{scope}"),
            };
            Ok(page.fill_rest(&format!("{count}, best first\n{notes}"), &rows))
        })
        .await
    }

    /// List the projects that have conversations.
    #[tool(annotations(read_only_hint = true, open_world_hint = false))]
    async fn list_projects(
        &self,
        Parameters(asked): Parameters<Listed>,
        context: RequestContext<RoleServer>,
    ) -> CallToolResult {
        self.answer_call(&context, asked.max_tokens, asked.cursor, |global, page| {
            let projects = projects::listed_projects(&open_workspace(global)?)?;
            Ok(list_text(&page, "projects", &projects, brief::project_row))
        })
        .await
    }

    /// List sessions, most recently active first: id, title, size, time, project.
    #[tool(annotations(read_only_hint = true, open_world_hint = false))]
    async fn list_sessions(
        &self,
        Parameters(asked): Parameters<ListedIn>,
        context: RequestContext<RoleServer>,
    ) -> CallToolResult {
        self.answer_call(&context, asked.max_tokens, asked.cursor, move |global, page| {
            let scope = asked.scope.as_deref();
            let workspace = open_in(global, None, asked.everywhere)?;
            let short_ids = workspace.short_ids();
            let sessions = sessions::listed_sessions(&workspace, scope)
                .map_err(|error| with_wider_hint(error, &workspace, scope))?;
            let what = format!("sessions{}", scope_words(&workspace, scope));
            Ok(list_text(&page, &what, &sessions, |row| brief::session_row(&short_ids, row)))
        })
        .await
    }

    /// List conversations: every branch of a session or a project, active or abandoned, and which one would be resumed.
    #[tool(annotations(read_only_hint = true, open_world_hint = false))]
    async fn list_conversations(
        &self,
        Parameters(asked): Parameters<ListedIn>,
        context: RequestContext<RoleServer>,
    ) -> CallToolResult {
        self.answer_call(&context, asked.max_tokens, asked.cursor, move |global, page| {
            let scope = asked.scope.as_deref();
            let workspace = open_in(global, scope, asked.everywhere)?;
            let short_ids = workspace.short_ids();
            let conversations = conversations::listed_conversations(&workspace, scope)
                .map_err(|error| with_wider_hint(error, &workspace, scope))?;
            let row = |row: &_| brief::conversation_row(&short_ids, row);
            let what = format!("conversations{}", scope_words(&workspace, scope));
            Ok(list_text(&page, &what, &conversations, row))
        })
        .await
    }

    /// List what the user pinned, tagged or wrote a note on: sessions and messages, each with its address.
    #[tool(annotations(read_only_hint = true, open_world_hint = false))]
    async fn list_annotations(
        &self,
        Parameters(asked): Parameters<Annotated>,
        context: RequestContext<RoleServer>,
    ) -> CallToolResult {
        self.answer_call(&context, asked.max_tokens, asked.cursor, move |global, page| {
            let workspace = open_workspace(global)?;
            let tag = asked.tag.as_deref().map(parse_tag).transpose();
            let tag = tag.map_err(CommandError::user_error)?;
            let annotations = workspace.annotations();
            let wanted = annotations
                .iter()
                .filter(|(_, one)| tag.as_ref().is_none_or(|tag| one.tags.contains(tag)));
            let wanted: Vec<_> = wanted.collect();
            let rows = text_lines(&annotate::annotated_lines(&workspace, &wanted));
            Ok(list_text(&page, "annotations", &rows, String::clone))
        })
        .await
    }

    /// Read one path of a conversation as Markdown, from its beginning, page by page.
    #[tool(annotations(read_only_hint = true, open_world_hint = false))]
    async fn read(
        &self,
        Parameters(asked): Parameters<Read>,
        context: RequestContext<RoleServer>,
    ) -> CallToolResult {
        let depth = ReadDepth { tools: asked.tools, thinking: asked.thinking, last: asked.last };
        self.answer_call(&context, asked.max_tokens, asked.cursor, move |global, page| {
            Ok(read_path(global, &asked.address, depth, page)?.into_text())
        })
        .await
    }

    /// Draw the tree of a session: fork points, branches, agents. Use the id at the end of a row as an address: SESSION:ID.
    #[tool(annotations(read_only_hint = true, open_world_hint = false))]
    async fn tree(
        &self,
        Parameters(asked): Parameters<Tree>,
        context: RequestContext<RoleServer>,
    ) -> CallToolResult {
        self.answer_call(&context, asked.max_tokens, asked.cursor, move |global, page| {
            let workspace = open_for(global, &asked.session)?;
            let args = TreeArgs::for_session(&asked.session, asked.around);
            let address = workspace.resolve_address(&asked.session)?;
            Ok(page
                .fill_page("", &text_lines(&tree::tree_lines(&workspace, &address, &args, WIDTH)?)))
        })
        .await
    }

    /// Compare two conversations: messages, files, commands and cost since they diverged.
    #[tool(annotations(read_only_hint = true, open_world_hint = false))]
    async fn diff(
        &self,
        Parameters(asked): Parameters<Diff>,
        context: RequestContext<RoleServer>,
    ) -> CallToolResult {
        self.answer_call(&context, asked.max_tokens, asked.cursor, move |global, page| {
            let workspace = open_workspace(global)?.with_prices(prices::load_prices(global, None)?);
            let layout = diff::DiffLayout {
                stat: asked.stat,
                side_by_side: false,
                full: false,
                width: WIDTH,
                highlight: Highlight::Off,
            };
            let lines = diff::diff_lines(&workspace, [&asked.a, &asked.b], &layout)?;
            Ok(page.fill_page("", &text_lines(&lines)))
        })
        .await
    }

    /// List files as of a message, or print one, with the source of its content.
    #[tool(annotations(read_only_hint = true, open_world_hint = false))]
    async fn files_at(
        &self,
        Parameters(asked): Parameters<FilesAt>,
        context: RequestContext<RoleServer>,
    ) -> CallToolResult {
        self.answer_call(&context, asked.max_tokens, asked.cursor, move |global, page| {
            let workspace = open_for(global, &asked.address)?;
            let lines = match &asked.path {
                Some(path) => {
                    let bytes = files::file_content(&workspace, &asked.address, path)?;
                    split_lines(&String::from_utf8_lossy(&bytes))
                }
                None => text_lines(&files::file_list_lines(&workspace, &asked.address, WIDTH)?),
            };
            Ok(page.fill_page("", &lines))
        })
        .await
    }

    /// Show tokens and cost, in total or by day, model, project, session or branch, with abandoned branches and agents separately.
    #[tool(annotations(read_only_hint = true, open_world_hint = false))]
    async fn usage(
        &self,
        Parameters(asked): Parameters<Usage>,
        context: RequestContext<RoleServer>,
    ) -> CallToolResult {
        self.answer_call(&context, asked.max_tokens, asked.cursor, move |global, page| {
            let by = asked.by.as_deref().map(|by| parse_option::<UsageBy>("by", by)).transpose()?;
            let workspace = open_in(global, asked.scope.as_deref(), asked.everywhere)?
                .with_prices(prices::load_prices(global, None)?);
            let scope = workspace.resolve_scope(asked.scope.as_deref())?;
            let times = [asked.since.as_deref(), asked.until.as_deref()];
            let lines = usage::usage_lines(&workspace, scope, by, times, WIDTH)
                .map_err(|error| with_wider_hint(error, &workspace, asked.scope.as_deref()))?;
            let head = match &*scope_words(&workspace, asked.scope.as_deref()) {
                "" => String::new(),
                words => format!("usage{words}\n"),
            };
            Ok(page.fill_page(&head, &text_lines(&lines)))
        })
        .await
    }

    /// Runs a call and turns its result into an answer. A failure is an answer too, because the agent can correct it.
    pub(super) async fn answer_call(
        &self,
        context: &RequestContext<RoleServer>,
        max_tokens: Option<usize>,
        cursor: Option<String>,
        work: impl FnOnce(&Global, PageRequest) -> Result<String, CommandError> + Send + 'static,
    ) -> CallToolResult {
        let done = self.run_work(context, move |global| {
            work(global, PageRequest::new(max_tokens, cursor.as_deref())?)
        });
        match done.await {
            Ok(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
            // An empty result is not an error.
            Err(ToolFailure::Command(error)) if error.kind == ErrorKind::Nothing => {
                CallToolResult::success(vec![ContentBlock::text(
                    ToolFailure::Command(error).failure_text(),
                )])
            }
            Err(failed) => CallToolResult::error(vec![ContentBlock::text(failed.failure_text())]),
        }
    }
}

/// Searches; returns the rows from the cursor on that fit on a page.
fn search_rows(
    workspace: &Workspace,
    asked: &Search,
    page: &PageRequest,
) -> Result<(Vec<String>, SearchOutcome), CommandError> {
    let filters = [
        (FilterKey::Since, &asked.since),
        (FilterKey::Until, &asked.until),
        (FilterKey::Role, &asked.role),
        (FilterKey::Branch, &asked.branch),
        (FilterKey::Scope, &asked.scope),
    ];
    let filters = filters
        .into_iter()
        .filter_map(|(key, value)| Some(TypedFilter { key, value: value.clone()?, span: 0..0 }));
    let mut request = if asked.regex {
        SearchRequest::from_regex(&asked.query, &filters.collect::<Vec<_>>(), &Zoned::now())
    } else {
        let mut typed = TypedQuery::parse(&asked.query);
        typed.filters.extend(filters);
        SearchRequest::from_typed(&typed, MatchOptions::default(), &Zoned::now())
    }
    .map_err(CommandError::user_error)?;
    let typed = request.scope_text.take();
    request.scope = workspace.resolve_scope(typed.as_deref())?;
    if asked.like {
        request.like_text = request.query.typed_words().map(TypedQuery::words_text);
    }
    workspace.load_like_model(&mut request).map_err(like_error)?;
    (request.order, request.per_session) = (SearchOrder::Best, Some(PER_SESSION));
    (request.offset, request.counts_all, request.suggests) = (page.first_piece(), true, true);
    let mut rows: Vec<String> = Vec::new();
    let mut room = page.budget_bytes();
    let flow = workspace.search_history(&request, workspace.progress_sink(), |batch| {
        let last_rows: Vec<usize> =
            batch.by_session().iter().filter_map(|rows| rows.last().copied()).collect();
        for index in 0..batch.len() {
            // Rows that do not fit are counted, but not rendered.
            if room == 0 {
                break;
            }
            let Some(hit) = batch.read_hit(index) else { continue };
            let mut row = brief::single_row(&brief::hit_row(&hit));
            let more = hit.rank.as_ref().map_or(0, |rank| rank.more);
            if more > 0 && last_rows.contains(&index) {
                let session = &hit.short_session;
                row = format!("{row}… {more} more in {session} (`scope` {session} lists them)\n");
            }
            room = room.saturating_sub(row.len());
            rows.push(row);
        }
        ControlFlow::<Infallible>::Continue(())
    });
    let ControlFlow::Continue(outcome) = flow;
    match outcome.found {
        0 => {
            let hint = no_match_hint(&request, false).map(str::to_owned);
            let hints = hint.into_iter().chain(outcome.notes.sentences());
            Err(hints.fold(no_match(&asked.query), CommandError::with_hint))
        }
        _ => Ok((rows, outcome)),
    }
}

/// Opens the Claude directories for one call.
pub(super) fn open_workspace(global: &Global) -> Result<Workspace, CommandError> {
    env::open_workspace(global, Arc::new(WarningsOnly))
}

pub(super) fn open_for(global: &Global, address: &str) -> Result<Workspace, CommandError> {
    env::open_for(global, address, Arc::new(WarningsOnly))
}

/// Opens the Claude directories for a call that may be limited to the current project.
fn open_in(
    global: &Global,
    scope: Option<&str>,
    everywhere: bool,
) -> Result<Workspace, CommandError> {
    let workspace = open_for(global, scope.unwrap_or_default())?;
    Ok(if everywhere { workspace.with_current_dir(None) } else { workspace })
}

/// Describes the scope of an answer that covers only the current project.
fn scope_words(workspace: &Workspace, scope: Option<&str>) -> String {
    match workspace.current_project().filter(|_| scope.is_none()) {
        Some(current) => {
            format!(" in the project {} (`everywhere` for all)", current.dir.display())
        }
        None => String::new(),
    }
}

/// Adds a hint that a wider scope may have results.
fn with_wider_hint(
    error: CommandError,
    workspace: &Workspace,
    scope: Option<&str>,
) -> CommandError {
    let is_narrow = scope.is_none() && workspace.current_project().is_some();
    match error.kind {
        ErrorKind::Nothing if is_narrow => error
            .with_hint("only the current project was searched; use `everywhere` for all projects"),
        _ => error,
    }
}

/// Parses one of the values that an option accepts.
fn parse_option<T: ValueEnum>(name: &str, word: &str) -> Result<T, CommandError> {
    T::from_str(word, false).map_err(|_| {
        let valid = T::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        let valid: Vec<String> = valid.map(|value| value.get_name().to_owned()).collect();
        let valid = valid.join(", ");
        CommandError::user_error(format!("`{name}` cannot be {word:?}; it can be {valid}"))
    })
}

/// Writes a list with its count.
fn list_text<T>(page: &PageRequest, what: &str, all: &[T], row: impl Fn(&T) -> String) -> String {
    let rows: Vec<String> = all.iter().map(|one| brief::single_row(&row(one))).collect();
    page.fill_page(&format!("{} {what}\n", rows.len()), &rows)
}

fn split_lines(text: &str) -> Vec<String> {
    text.lines().map(|line| format!("{line}\n")).collect()
}

fn text_lines(lines: &[Line]) -> Vec<String> {
    lines.iter().map(|line| format!("{}\n", to_ansi(line, &AnsiTheme::NONE).trim_end())).collect()
}
