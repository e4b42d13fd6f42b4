//! The tools, each a command in few words.

use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{CallToolResult, ContentBlock};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, schemars, tool, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::page::Page;
use super::read::{Depth, read};
use super::{Failed, Server, ask, brief, run};
use crate::args::Global;
use crate::error::{CommandError, ErrorKind};

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
impl Server {
    /// Search all past conversations, every branch of them. Each line: address, branch status, who, when, words around the match; `prompt-only` means that the session was deleted.
    #[tool(annotations(read_only_hint = true, open_world_hint = false))]
    async fn search(
        &self,
        Parameters(asked): Parameters<Search>,
        context: RequestContext<RoleServer>,
    ) -> CallToolResult {
        self.answer(&context, asked.max_tokens, asked.cursor.clone(), move |global, page| {
            let mut options = vec!["find".to_owned(), "--json".to_owned()];
            options.extend(asked.regex.then(|| "--regex".to_owned()));
            options.extend(option("role", asked.role.as_deref()));
            options.extend(option("branch", asked.branch.as_deref()));
            options.extend(option("since", asked.since.as_deref()));
            options.extend(option("until", asked.until.as_deref()));
            let words: Vec<&str> =
                std::iter::once(&*asked.query).chain(asked.scope.as_deref()).collect();
            let found = run(global, &options, &words)?;
            let rows: Vec<String> = found
                .lines()
                .filter_map(|line| serde_json::from_str::<Value>(line).ok())
                .map(|row| brief::row(&brief::hit(&row)))
                .collect();
            Ok(page.of(&format!("{} found, the newest first\n", rows.len()), &rows))
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
        self.answer(&context, asked.max_tokens, asked.cursor, |global, page| {
            rows(global, page, "projects", None, brief::project)
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
        self.answer(&context, asked.max_tokens, asked.cursor, move |global, page| {
            rows(global, page, "sessions", asked.scope.as_deref(), brief::session)
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
        self.answer(&context, asked.max_tokens, asked.cursor, move |global, page| {
            rows(global, page, "conversations", asked.scope.as_deref(), brief::conversation)
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
        let depth = Depth { tools: asked.tools, thinking: asked.thinking, last: asked.last };
        self.answer(&context, asked.max_tokens, asked.cursor, move |global, page| {
            Ok(read(global, &asked.address, depth, page)?.told())
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
        self.answer(&context, asked.max_tokens, asked.cursor, move |global, page| {
            let options: Vec<String> = std::iter::once("tree".to_owned())
                .chain(option("around", asked.around.as_deref()))
                .collect();
            Ok(page.of("", &lines(&run(global, &options, &[&asked.session])?)))
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
        self.answer(&context, asked.max_tokens, asked.cursor, move |global, page| {
            let how = if asked.stat { "--stat" } else { "--unified" };
            let options = ["diff".to_owned(), how.to_owned()];
            Ok(page.of("", &lines(&run(global, &options, &[&asked.a, &asked.b])?)))
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
        self.answer(&context, asked.max_tokens, asked.cursor, move |global, page| {
            let words: Vec<&str> =
                std::iter::once(&*asked.address).chain(asked.path.as_deref()).collect();
            Ok(page.of("", &lines(&run(global, &["files".to_owned()], &words)?)))
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
        self.answer(&context, asked.max_tokens, asked.cursor, move |global, page| {
            let mut options = vec!["usage".to_owned()];
            options.extend(option("by", asked.by.as_deref()));
            options.extend(option("since", asked.since.as_deref()));
            options.extend(option("until", asked.until.as_deref()));
            let words: Vec<&str> = asked.scope.as_deref().into_iter().collect();
            Ok(page.of("", &lines(&run(global, &options, &words)?)))
        })
        .await
    }

    /// Does a call's work and makes an answer of it, also of its failure: that the agent can mend.
    pub(super) async fn answer(
        &self,
        context: &RequestContext<RoleServer>,
        max_tokens: Option<usize>,
        cursor: Option<String>,
        work: impl FnOnce(&Global, Page) -> Result<String, CommandError> + Send + 'static,
    ) -> CallToolResult {
        let done = self
            .work(context, move |global| work(global, Page::new(max_tokens, cursor.as_deref())?));
        match done.await {
            Ok(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
            // That there is nothing is an answer.
            Err(Failed::Command(error)) if error.kind == ErrorKind::Nothing => {
                CallToolResult::success(vec![ContentBlock::text(Failed::Command(error).text())])
            }
            Err(failed) => CallToolResult::error(vec![ContentBlock::text(failed.text())]),
        }
    }
}

fn option(name: &str, value: Option<&str>) -> Option<String> {
    value.map(|value| format!("--{name}={value}"))
}

/// Asks for a list and writes its rows in few words.
fn rows(
    global: &Global,
    page: Page,
    what: &str,
    scope: Option<&str>,
    row: fn(&Value) -> String,
) -> Result<String, CommandError> {
    let words: Vec<&str> = scope.into_iter().collect();
    let answer = ask(global, &[what.to_owned()], &words)?;
    let all = answer[what].as_array().into_iter().flatten();
    let rows: Vec<String> = all.map(|told| brief::row(&row(told))).collect();
    Ok(page.of(&format!("{} {what}\n", rows.len()), &rows))
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(|line| format!("{line}\n")).collect()
}
