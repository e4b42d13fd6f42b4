use std::collections::BTreeMap;
use std::ops::ControlFlow;

use clap::ValueEnum;
use jiff::Zoned;
use ramus_app::Scope;
use ramus_core::pull_request::PullRequestName;
use ramus_core::query::{Query, QueryError, Role, TextKind};
use ramus_render::json::{Answer, HitCount, HitFile};
use ramus_render::{Label, Line};
use ramus_store::scan::{self, Filter, Hit, Order, ToolFilter};

use crate::args::Global;
use crate::commands::cache;
use crate::env;
use crate::error::{CommandError, ErrorKind};
use crate::ui::Ui;
use crate::when;

/// From how many bytes on that had to be read the next search should have less to do.
const WORTH_IT: u64 = 64 * 1024 * 1024;

/// Matches the first letter of every text.
const ANYTHING: &str = r"\A(?s:.)";

mod context;
mod page;
mod prompts;
mod rows;
mod search;
mod sources;
mod stream;

use search::Search;

/// Find messages in all sessions, on every branch, the newest first
///
/// Looks into prompts, answers, thinking, tool calls and their results, summaries, titles, queued
/// prompts, agents and results kept in files of their own; of sessions that are gone, into the prompts
/// that Claude Code still remembers (`prompt only`). All words must occur in one message;
/// quotes inside TEXT keep words together. Case counts only where TEXT has an upper-case letter. A
/// message that stands in several files is found once.
///
/// ● is on an active branch, ○ on an abandoned one, ▸ was said by an agent; @N is the conversation.
/// The letters at the end of a row are the address for the next command.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  ramus find 'connection pool'\n  ramus find '\"connection pool\" timeout' .\n  ramus find --regex 'TODO|FIXME' --role assistant --since 7d\n  ramus find migrate --branch abandoned --context 2\n  ramus find test --tool bash --files\n  ramus find --file src/main.rs\n  ramus find --pr 42\n  ramus find 'race condition' --pr 42\n  ramus find needle --json | jq -r .address"
)]
pub(crate) struct FindArgs {
    /// What to look for; with --tool, --file or --pr it can be left out
    #[arg(required_unless_present_any = ["tool", "file", "pr"])]
    text: Option<String>,
    /// Only in this project or session
    #[arg(allow_hyphen_values = true)]
    scope: Option<String>,
    /// TEXT is a regular expression; case counts unless it begins with `(?i)`
    #[arg(long)]
    regex: bool,
    /// Show N messages before and after each hit
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    context: usize,
    /// Only what this one says
    #[arg(long, value_parser = role_words(), value_name = "ROLE")]
    role: Vec<Role>,
    /// Only texts of this kind; `progress` and `last-prompt` are looked at only if asked for
    #[arg(long, value_parser = kind_words(), value_name = "KIND")]
    kind: Vec<TextKind>,
    /// Only calls of this tool and their results
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// Only tool calls that touch this file, and their results
    #[arg(long, value_name = "PATH")]
    file: Option<String>,
    /// Only in sessions in which this pull request was made: `42`, `owner/name#42` or its URL
    #[arg(long, value_name = "PR")]
    pr: Option<PullRequestName>,
    /// Only from here on: a date, a time, or how long ago (`2h`, `3d`)
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only up to here
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Only in this project
    #[arg(long, value_name = "PROJECT", conflicts_with = "scope", allow_hyphen_values = true)]
    project: Option<String>,
    /// Only on branches of this status
    #[arg(long, value_name = "STATUS", default_value = "any", hide_default_value = true)]
    branch: BranchFilter,
    /// Whether to look into what agents did
    #[arg(long, value_name = "WHICH", default_value = "any", hide_default_value = true)]
    agents: AgentFilter,
    /// What comes first
    #[arg(long, value_name = "ORDER", default_value = "time", hide_default_value = true)]
    sort: Sort,
    /// Print only how many messages match
    #[arg(long, conflicts_with = "files")]
    count: bool,
    /// Print only the files in which messages match
    #[arg(long)]
    files: bool,
    /// Show at most N messages
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum BranchFilter {
    Any,
    Active,
    Abandoned,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AgentFilter {
    Any,
    Only,
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Sort {
    /// The newest
    Time,
    /// What fits best
    Relevance,
}

fn role_words() -> impl clap::builder::TypedValueParser<Value = Role> {
    use clap::builder::{PossibleValuesParser, TypedValueParser};
    PossibleValuesParser::new(Role::ALL.map(Role::word))
        .map(|word| Role::ALL.into_iter().find(|role| role.word() == word).unwrap_or(Role::User))
}

fn kind_words() -> impl clap::builder::TypedValueParser<Value = TextKind> {
    use clap::builder::{PossibleValuesParser, TypedValueParser};
    PossibleValuesParser::new(TextKind::ALL.map(TextKind::word)).map(|word| {
        TextKind::ALL.into_iter().find(|kind| kind.word() == word).unwrap_or(TextKind::Other)
    })
}

pub(crate) fn find(ui: &mut Ui, global: &Global, args: &FindArgs) -> Result<(), CommandError> {
    let query = query(ui, args)?;
    let workspace = env::workspace(ui, global)?;
    let scope = match &args.project {
        Some(project) => Scope::Project(workspace.project(project)?),
        None => workspace.scope(args.scope.as_deref()).map_err(|error| {
            CommandError::from(error)
                .hinted("SCOPE is a project or a session; several words of TEXT stand in quotes")
        })?,
    };
    let mut sources = sources::sources(&workspace, &scope, args.agents);
    if let Some(pr) = &args.pr {
        sources::keep_pull_request(ui, &workspace, &scope, pr, &mut sources);
    }
    let tool =
        names_calls(args).then(|| ToolFilter { name: args.tool.clone(), file: args.file.clone() });
    let projects = workspace.projects();
    let filter = Filter::open(workspace.index(), &projects);
    let mut search = Search::new(workspace.rule(), &projects, &sources, &query, args.context);
    search.is_one_session = matches!(scope, Scope::Session(_));
    let unknown = filter.unknown(&sources);
    let found = if args.count || args.files || args.sort == Sort::Relevance {
        all(ui, args, search, tool.as_ref(), &filter)
    } else {
        newest(ui, args, search, tool.as_ref(), &filter)
    };
    if unknown > WORTH_IT && workspace.index().is_open() {
        cache::build_aside(global);
    }
    let room = match &found {
        Ok(shown) => args.limit.unwrap_or(usize::MAX).saturating_sub(*shown),
        Err(error) if error.kind == ErrorKind::Nothing => args.limit.unwrap_or(usize::MAX),
        Err(_) => 0,
    };
    let is_any = args.branch == BranchFilter::Any && args.agents != AgentFilter::Only;
    if tool.is_some() || args.pr.is_some() || args.count || args.files || !is_any || room == 0 {
        return found.map(drop);
    }
    let mut lost = prompts::lost_prompts(&workspace, &scope, &query);
    lost.truncate(room);
    match lost.is_empty() {
        true => found.map(drop),
        false => prompts::write_prompts(ui, &query, &lost),
    }
}

/// Tells what is newest as soon as it is certain.
fn newest(
    ui: &mut Ui,
    args: &FindArgs,
    mut search: Search<'_>,
    tool: Option<&ToolFilter>,
    filter: &Filter,
) -> Result<usize, CommandError> {
    let (sources, query) = (search.sources, search.query);
    let bar = ui.progress(sources.iter().map(|source| source.file.bytes).sum());
    let mut room = args.limit.unwrap_or(usize::MAX);
    let mut found_any = false;
    let (problems, flow) =
        scan::newest(sources, query, tool, filter, &|bytes| bar.inc(bytes), |batch| {
            search.said.clone_from(batch.said);
            search.turn_to(batch.hits);
            search.keep_branch(ui, args.branch);
            if search.hits.is_empty() {
                return ControlFlow::Continue(());
            }
            bar.finish_and_clear();
            found_any = true;
            let is_more = search.hits.len() > room;
            search.truncate(room);
            room -= search.hits.len();
            match search.write(ui) {
                Err(error) => ControlFlow::Break(Err(error)),
                Ok(()) if is_more => ControlFlow::Break(Ok(())),
                Ok(()) => ControlFlow::Continue(()),
            }
        });
    bar.finish_and_clear();
    for problem in &problems {
        ui.warn(problem);
    }
    match flow {
        ControlFlow::Break(Err(error)) => Err(error),
        ControlFlow::Break(Ok(())) => {
            ui.say(&Line::new("There are more; `--limit` says how many are shown", Label::Dim));
            Ok(args.limit.unwrap_or(usize::MAX))
        }
        ControlFlow::Continue(()) if found_any => Ok(args.limit.unwrap_or(usize::MAX) - room),
        ControlFlow::Continue(()) => nothing(ui, args),
    }
}

/// Finds everything before telling of it.
fn all(
    ui: &mut Ui,
    args: &FindArgs,
    mut search: Search<'_>,
    tool: Option<&ToolFilter>,
    filter: &Filter,
) -> Result<usize, CommandError> {
    let (sources, query) = (search.sources, search.query);
    let bar = ui.progress(sources.iter().map(|source| source.file.bytes).sum());
    let order = if args.sort == Sort::Time { Order::Time } else { Order::Relevance };
    let found = scan::scan(sources, query, tool, order, filter, &|bytes| bar.inc(bytes));
    bar.finish_and_clear();
    for problem in &found.problems {
        ui.warn(problem);
    }
    search.said = found.said;
    search.turn_to(Hit::merge(found.places, sources, order));
    search.keep_branch(ui, args.branch);
    if search.hits.is_empty() {
        return nothing(ui, args);
    }
    if args.count {
        return count(ui, &search).map(|()| search.hits.len());
    }
    if args.files {
        return files(ui, &search).map(|()| search.hits.len());
    }
    let all = search.hits.len();
    search.truncate(args.limit.unwrap_or(usize::MAX));
    search.write(ui)?;
    if search.hits.len() < all {
        let more = format!("{} more; `--limit` says how many are shown", all - search.hits.len());
        ui.say(&Line::new(&more, Label::Dim));
    }
    Ok(search.hits.len())
}

fn query(ui: &Ui, args: &FindArgs) -> Result<Query, CommandError> {
    let mut query = match &args.text {
        Some(text) if args.regex => Query::regex(text),
        Some(text) => Query::words(text),
        None => match &args.pr {
            Some(pr) if !names_calls(args) => {
                Query::regex(&format!(r"(?:\A|\D){}(?:\D|\z)", pr.number))
            }
            _ => Query::regex(ANYTHING),
        },
    }
    .map_err(|error| broken(ui, args.text.as_deref().unwrap_or_default(), &error))?;
    let now = Zoned::now();
    let time = |text: &Option<String>, edge| {
        text.as_deref().map(|text| when::parse(text, edge, &now)).transpose()
    };
    query.since = time(&args.since, when::Edge::Start)?;
    query.until = time(&args.until, when::Edge::End)?;
    query.kinds.clone_from(&args.kind);
    if args.text.is_none() && args.kind.is_empty() {
        let is_request = args.pr.is_some() && !names_calls(args);
        query.kinds.push(if is_request { TextKind::PullRequest } else { TextKind::ToolInput });
    }
    query.roles.clone_from(&args.role);
    Ok(query)
}

/// Whether tool calls are looked for by their name or file.
fn names_calls(args: &FindArgs) -> bool {
    args.tool.is_some() || args.file.is_some()
}

/// Shows where a pattern is broken, with a sign below it.
fn broken(ui: &Ui, text: &str, error: &QueryError) -> CommandError {
    if let Some(span) = &error.span
        && !text.contains('\n')
    {
        let columns = |text: Option<&str>| text.map_or(0, |text| Line::plain(text).width());
        let sign = "^".repeat(columns(text.get(span.clone())).max(1));
        ui.say(&Line::plain(&format!("  {text}")));
        let indent = " ".repeat(columns(text.get(..span.start)));
        ui.say(&Line::plain(&format!("  {indent}")).with(&sign, Label::Error));
        return CommandError::user(format!("the regular expression is broken: {error}"));
    }
    CommandError::user(error)
}

fn nothing(ui: &mut Ui, args: &FindArgs) -> Result<usize, CommandError> {
    if args.count {
        if ui.json {
            let none = HitCount { messages: 0, places: 0, files: 0 };
            ui.json(&Answer::new("ramus.find.count/1", none))?;
        } else {
            writeln!(ui.out(), "0")?;
        }
    }
    let Some(text) = &args.text else {
        return Err(match &args.pr {
            Some(pr) if !names_calls(args) => {
                CommandError::nothing(format!("No session made pull request {}", pr.number))
            }
            _ => CommandError::nothing("No tool call matches"),
        });
    };
    let mut error = CommandError::nothing(format!("no message holds {text:?}"));
    if !args.regex && text.split_whitespace().nth(1).is_some() {
        error = error.hinted("all words must occur in one message; fewer find more");
    }
    Err(error)
}

fn count(ui: &mut Ui, search: &Search<'_>) -> Result<(), CommandError> {
    if !ui.json {
        writeln!(ui.out(), "{}", search.hits.len())?;
        return Ok(());
    }
    let places = search.hits.iter().flat_map(Hit::places);
    let mut files: Vec<u32> = places.map(|place| place.source).collect();
    let (messages, places) = (search.hits.len(), files.len());
    files.sort_unstable();
    files.dedup();
    ui.json(&Answer::new("ramus.find.count/1", HitCount { messages, places, files: files.len() }))
}

fn files(ui: &mut Ui, search: &Search<'_>) -> Result<(), CommandError> {
    let mut order = Vec::new();
    let mut messages: BTreeMap<u32, usize> = BTreeMap::new();
    for place in search.hits.iter().flat_map(Hit::places) {
        let count = messages.entry(place.source).or_default();
        if *count == 0 {
            order.push(place.source);
        }
        *count += 1;
    }
    for source in order {
        let file = search.sources[source as usize].file.relative.clone();
        if ui.json {
            ui.json(&Answer::new(
                "ramus.find.file/1",
                HitFile { file, messages: messages[&source] },
            ))?;
        } else if ui.terminal {
            ui.line(&Line::plain(&file))?;
        } else {
            writeln!(ui.out(), "{file}")?;
        }
    }
    Ok(())
}
