//! The tools, each a command in few words.

use std::convert::Infallible;
use std::ops::ControlFlow;
use std::sync::Arc;

use clap::ValueEnum;
use jiff::Zoned;
use ramus_app::{SearchRequest, Workspace};
use ramus_core::query::SpeakerRole;
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
use crate::commands::find::{BranchOption, no_match};
use crate::commands::tree::{self, TreeArgs};
use crate::commands::usage::{self, UsageBy};
use crate::commands::{conversations, diff, files, projects, sessions};
use crate::env;
use crate::error::{CommandError, ErrorKind};
use crate::prices;
use crate::ui::{WIDTH, WarningsOnly};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Search {
    /// What to look for; all words must be in one message. Quotes keep words together
    query: String,
    /// Only in this project (a path or a part of it) or session
    scope: Option<String>,
    /// The query is a regular expression
    #[serde(default)]
    regex: bool,
    /// Only what this one said: user, assistant, tool, system
    role: Option<String>,
    /// Only on branches of this status: active or abandoned
    branch: Option<String>,
    /// Only from here on: a date, or how long ago (`7d`)
    since: Option<String>,
    /// Only up to here
    until: Option<String>,
    /// How long the answer may be; 2000 if not given
    max_tokens: Option<usize>,
    /// Where an earlier answer stopped
    cursor: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Listed {
    /// How long the answer may be; 2000 if not given
    max_tokens: Option<usize>,
    /// Where an earlier answer stopped
    cursor: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListedIn {
    /// A project (a path or a part of it); for conversations also a session
    scope: Option<String>,
    /// How long the answer may be; 2000 if not given
    max_tokens: Option<usize>,
    /// Where an earlier answer stopped
    cursor: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Read {
    /// SESSION, SESSION:UUID (up to that message), SESSION@N, agent-ID, or `latest`
    address: String,
    /// Tool calls with all of their input and output
    #[serde(default)]
    tools: bool,
    /// What the model thought, where it was kept
    #[serde(default)]
    thinking: bool,
    /// Only so many turns from the end of the path; with the address of a hit, what led to it
    last: Option<usize>,
    /// How long the answer may be; 2000 if not given
    max_tokens: Option<usize>,
    /// Where an earlier answer stopped
    cursor: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Tree {
    /// The session
    session: String,
    /// Only what lies near this node
    around: Option<String>,
    /// How long the answer may be; 2000 if not given
    max_tokens: Option<usize>,
    /// Where an earlier answer stopped
    cursor: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Diff {
    /// One conversation: SESSION, SESSION:UUID or SESSION@N
    a: String,
    /// The other one
    b: String,
    /// The numbers alone
    #[serde(default)]
    stat: bool,
    /// How long the answer may be; 2000 if not given
    max_tokens: Option<usize>,
    /// Where an earlier answer stopped
    cursor: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FilesAt {
    /// SESSION, SESSION:UUID or SESSION@N: the message at which to look
    address: String,
    /// One file to print, by its path or the end of it; all are listed if not given
    path: Option<String>,
    /// How long the answer may be; 2000 if not given
    max_tokens: Option<usize>,
    /// Where an earlier answer stopped
    cursor: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Usage {
    /// A project or a session; everything if not given
    scope: Option<String>,
    /// One table: day, week, month, model, project, session, conversation or branch
    by: Option<String>,
    /// Only from here on: a date, or how long ago (`7d`)
    since: Option<String>,
    /// Only up to here
    until: Option<String>,
    /// How long the answer may be; 2000 if not given
    max_tokens: Option<usize>,
    /// Where an earlier answer stopped
    cursor: Option<String>,
}

#[tool_router(router = reading, vis = "pub(super)")]
impl McpServer {
    /// Search all past conversations, every branch of them. Each line: address, branch status, who, when, words around the match; `prompt-only` means that the session was deleted.
    #[tool(annotations(read_only_hint = true, open_world_hint = false))]
    async fn search(
        &self,
        Parameters(asked): Parameters<Search>,
        context: RequestContext<RoleServer>,
    ) -> CallToolResult {
        self.answer_call(&context, asked.max_tokens, asked.cursor.clone(), move |global, page| {
            let (rows, found) = search_rows(global, &asked, &page)?;
            Ok(page.fill_rest(&format!("{found} found, the newest first\n"), &rows))
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

    /// List sessions, the most recently active first: id, title, size, when, where.
    #[tool(annotations(read_only_hint = true, open_world_hint = false))]
    async fn list_sessions(
        &self,
        Parameters(asked): Parameters<ListedIn>,
        context: RequestContext<RoleServer>,
    ) -> CallToolResult {
        self.answer_call(&context, asked.max_tokens, asked.cursor, move |global, page| {
            let workspace = open_workspace(global)?;
            let short_ids = workspace.short_ids();
            let sessions = sessions::listed_sessions(&workspace, asked.scope.as_deref())?;
            Ok(list_text(&page, "sessions", &sessions, |row| brief::session_row(&short_ids, row)))
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
            let workspace = open_for(global, scope.unwrap_or_default())?;
            let short_ids = workspace.short_ids();
            let conversations = conversations::listed_conversations(&workspace, scope)?;
            let row = |row: &_| brief::conversation_row(&short_ids, row);
            Ok(list_text(&page, "conversations", &conversations, row))
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

    /// Draw a session as a tree: forks, branches, agents. The letters at the end of a row go behind the session: SESSION:LETTERS.
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

    /// Compare two conversations: what each said, did to files, ran and cost since they parted.
    #[tool(annotations(read_only_hint = true, open_world_hint = false))]
    async fn diff(
        &self,
        Parameters(asked): Parameters<Diff>,
        context: RequestContext<RoleServer>,
    ) -> CallToolResult {
        self.answer_call(&context, asked.max_tokens, asked.cursor, move |global, page| {
            let workspace = open_workspace(global)?.with_prices(prices::load_prices(None)?);
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

    /// List the files as they were at a message, or print one of them, with where its content is known from.
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

    /// Count tokens and cost, in all or by day, model, project, session or branch; abandoned branches and agents apart.
    #[tool(annotations(read_only_hint = true, open_world_hint = false))]
    async fn usage(
        &self,
        Parameters(asked): Parameters<Usage>,
        context: RequestContext<RoleServer>,
    ) -> CallToolResult {
        self.answer_call(&context, asked.max_tokens, asked.cursor, move |global, page| {
            let by = asked.by.as_deref().map(|by| parse_option::<UsageBy>("by", by)).transpose()?;
            let workspace = open_for(global, asked.scope.as_deref().unwrap_or_default())?
                .with_prices(prices::load_prices(None)?);
            let scope = workspace.resolve_scope(asked.scope.as_deref())?;
            let times = [asked.since.as_deref(), asked.until.as_deref()];
            let lines = usage::usage_lines(&workspace, scope, by, times, WIDTH)?;
            Ok(page.fill_page("", &text_lines(&lines)))
        })
        .await
    }

    /// Does a call's work and makes an answer of it, also of its failure: that the agent can mend.
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
            // That there is nothing is an answer.
            Err(ToolFailure::Command(error)) if error.kind == ErrorKind::Nothing => {
                CallToolResult::success(vec![ContentBlock::text(
                    ToolFailure::Command(error).failure_text(),
                )])
            }
            Err(failed) => CallToolResult::error(vec![ContentBlock::text(failed.failure_text())]),
        }
    }
}

/// Searches; returns the rows from the cursor on that a page can take, and how many there are in all.
fn search_rows(
    global: &Global,
    asked: &Search,
    page: &PageRequest,
) -> Result<(Vec<String>, usize), CommandError> {
    let mut request =
        SearchRequest::for_text(&asked.query, asked.regex).map_err(CommandError::user_error)?;
    request.set_times(asked.since.as_deref(), asked.until.as_deref(), &Zoned::now())?;
    if let Some(word) = &asked.role {
        request.query.roles.push(parse_role(word)?);
    }
    if let Some(word) = &asked.branch {
        request.status = parse_option::<BranchOption>("branch", word)?.branch_status();
    }
    let workspace = open_workspace(global)?;
    request.scope = workspace.resolve_scope(asked.scope.as_deref())?;
    (request.offset, request.counts_all) = (page.first_piece(), true);
    let mut rows: Vec<String> = Vec::new();
    let mut room = page.budget_bytes();
    let flow = workspace.search_history(&request, workspace.progress_sink(), |batch| {
        for index in 0..batch.len() {
            // Rows that do not fit are counted, not made.
            if room == 0 {
                break;
            }
            let Some(hit) = batch.read_hit(index) else { continue };
            let row = brief::single_row(&brief::hit_row(&hit));
            room = room.saturating_sub(row.len());
            rows.push(row);
        }
        ControlFlow::<Infallible>::Continue(())
    });
    let ControlFlow::Continue(outcome) = flow;
    match outcome.found {
        0 => Err(no_match(&asked.query, asked.regex)),
        found => Ok((rows, found)),
    }
}

fn parse_role(word: &str) -> Result<SpeakerRole, CommandError> {
    let valid = SpeakerRole::ALL.map(SpeakerRole::as_str).join(", ");
    let refused =
        || CommandError::user_error(format!("`role` cannot be {word:?}; it can be {valid}"));
    SpeakerRole::parse(word).ok_or_else(refused)
}

/// Opens the Claude directories for one call.
pub(super) fn open_workspace(global: &Global) -> Result<Workspace, CommandError> {
    env::open_workspace(global, Arc::new(WarningsOnly))
}

pub(super) fn open_for(global: &Global, address: &str) -> Result<Workspace, CommandError> {
    env::open_for(global, address, Arc::new(WarningsOnly))
}

/// Reads a word that a command takes as one of several.
fn parse_option<T: ValueEnum>(name: &str, word: &str) -> Result<T, CommandError> {
    T::from_str(word, false).map_err(|_| {
        let valid = T::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        let valid: Vec<String> = valid.map(|value| value.get_name().to_owned()).collect();
        let valid = valid.join(", ");
        CommandError::user_error(format!("`{name}` cannot be {word:?}; it can be {valid}"))
    })
}

/// Writes the rows of a list in few words.
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
