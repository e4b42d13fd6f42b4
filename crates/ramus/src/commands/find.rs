use std::ops::ControlFlow;

use clap::ValueEnum;
use jiff::Zoned;
use ramus_app::search::{
    AgentFilter, SearchBatch, SearchCounts, SearchOrder, SearchOutcome, SearchRequest, ToolFilter,
};
use ramus_app::{Scope, Workspace};
use ramus_core::branches::BranchStatus;
use ramus_core::pull_request::PullRequestName;
use ramus_core::query::{QueryError, SpeakerRole, TextKind};
use ramus_render::json::{self, Answer, HitCount, HitFile, SNIPPET_ROOM};
use ramus_render::{Label, Line};

use crate::args::Global;
use crate::commands::cache;
use crate::env;
use crate::error::CommandError;
use crate::ui::Ui;

/// From how many bytes on that had to be read the next search should have less to do.
const WORTH_IT: u64 = 64 * 1024 * 1024;

mod rows;

use rows::FindWriter;

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
    role: Vec<SpeakerRole>,
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
    branch: BranchOption,
    /// Whether to look into what agents did
    #[arg(long, value_name = "WHICH", default_value = "any", hide_default_value = true)]
    agents: AgentOption,
    /// What comes first
    #[arg(long, value_name = "ORDER", default_value = "time", hide_default_value = true)]
    sort: FindSort,
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

/// The status of branches, as it is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BranchOption {
    Any,
    Active,
    Abandoned,
}

impl BranchOption {
    pub(crate) fn branch_status(self) -> Option<BranchStatus> {
        match self {
            Self::Any => None,
            Self::Active => Some(BranchStatus::Active),
            Self::Abandoned => Some(BranchStatus::Abandoned),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AgentOption {
    Any,
    Only,
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FindSort {
    /// The newest
    Time,
    /// What fits best
    Relevance,
}

fn role_words() -> impl clap::builder::TypedValueParser<Value = SpeakerRole> {
    use clap::builder::{PossibleValuesParser, TypedValueParser};
    PossibleValuesParser::new(SpeakerRole::ALL.map(SpeakerRole::as_str))
        .map(|word| SpeakerRole::parse(&word).unwrap_or(SpeakerRole::User))
}

fn kind_words() -> impl clap::builder::TypedValueParser<Value = TextKind> {
    use clap::builder::{PossibleValuesParser, TypedValueParser};
    PossibleValuesParser::new(TextKind::ALL.map(TextKind::as_str)).map(|word| {
        TextKind::ALL.into_iter().find(|kind| kind.as_str() == word).unwrap_or(TextKind::Other)
    })
}

pub(crate) fn find(ui: &mut Ui, global: &Global, args: &FindArgs) -> Result<(), CommandError> {
    let mut request = search_request(ui, args)?;
    let workspace = env::command_workspace(ui, global)?;
    request.scope = match &args.project {
        Some(project) => Scope::Project(workspace.resolve_project(project)?),
        None => workspace.resolve_scope(args.scope.as_deref()).map_err(|error| {
            CommandError::from(error)
                .with_hint("SCOPE is a project or a session; several words of TEXT stand in quotes")
        })?,
    };
    let (unknown_bytes, found) = if args.count || args.files {
        let counts = workspace.count_matches(&request, workspace.progress_sink());
        (counts.unknown_bytes, write_counts(ui, args, &counts))
    } else {
        match write_hits(ui, &workspace, &request) {
            ControlFlow::Break(error) => return Err(error),
            ControlFlow::Continue(outcome) => {
                (outcome.unknown_bytes, report_end(ui, args, outcome))
            }
        }
    };
    if unknown_bytes > WORTH_IT && workspace.session_cache().can_build_filters() {
        cache::spawn_background_build(global);
    }
    found
}

/// Writes hits as they are found.
fn write_hits(
    ui: &mut Ui,
    workspace: &Workspace,
    request: &SearchRequest,
) -> ControlFlow<CommandError, SearchOutcome> {
    let mut rows = FindWriter::new(&request.query);
    workspace.search_history(request, workspace.progress_sink(), |batch| {
        let written = if ui.json { write_json(ui, batch) } else { rows.write_batch(ui, batch) };
        match written.and_then(|()| Ok(ui.output_writer().flush()?)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    })
}

fn write_json(ui: &mut Ui, batch: &mut SearchBatch<'_>) -> Result<(), CommandError> {
    for index in 0..batch.len() {
        let Some(hit) = batch.read_hit(index) else { continue };
        let address = hit.short_address.clone();
        ui.print_json(&Answer::new("ramus.find/1", json::hit(hit, address)))?;
        if index.is_power_of_two() {
            ui.output_writer().flush()?;
        }
    }
    Ok(())
}

/// Says whether there is more, or nothing.
fn report_end(ui: &Ui, args: &FindArgs, outcome: SearchOutcome) -> Result<(), CommandError> {
    if outcome.found == 0 {
        return Err(nothing_found(args));
    }
    let more = match outcome.found - outcome.shown {
        0 => return Ok(()),
        _ if !outcome.is_complete => "There are more; `--limit` says how many are shown".to_owned(),
        more => format!("{more} more; `--limit` says how many are shown"),
    };
    ui.print_message(&Line::new(&more, Label::Dim));
    Ok(())
}

fn search_request(ui: &Ui, args: &FindArgs) -> Result<SearchRequest, CommandError> {
    let tool =
        names_calls(args).then(|| ToolFilter { name: args.tool.clone(), file: args.file.clone() });
    let request = match &args.text {
        Some(text) => SearchRequest::for_text(text, args.regex).map(|request| SearchRequest {
            tool,
            pull_request: args.pr.clone(),
            ..request
        }),
        None => SearchRequest::for_filters(tool, args.pr.clone()),
    };
    let mut request = request
        .map_err(|error| pattern_error(ui, args.text.as_deref().unwrap_or_default(), &error))?;
    request.set_times(args.since.as_deref(), args.until.as_deref(), &Zoned::now())?;
    if !args.kind.is_empty() {
        request.query.kinds.clone_from(&args.kind);
    }
    request.query.roles.clone_from(&args.role);
    request.status = args.branch.branch_status();
    request.agents = match args.agents {
        AgentOption::Any => AgentFilter::Any,
        AgentOption::Only => AgentFilter::Only,
        AgentOption::None => AgentFilter::None,
    };
    request.order = match args.sort {
        FindSort::Time => SearchOrder::Newest,
        FindSort::Relevance => SearchOrder::Relevance,
    };
    request.limit = args.limit;
    request.context = args.context;
    request.passage_chars = if ui.json { SNIPPET_ROOM } else { ui.width };
    Ok(request)
}

/// Whether tool calls are looked for by their name or file.
fn names_calls(args: &FindArgs) -> bool {
    args.tool.is_some() || args.file.is_some()
}

/// Shows where a pattern is broken, with a sign below it.
fn pattern_error(ui: &Ui, text: &str, error: &QueryError) -> CommandError {
    if let Some(span) = &error.span
        && !text.contains('\n')
    {
        let columns = |text: Option<&str>| text.map_or(0, |text| Line::plain(text).width());
        let sign = "^".repeat(columns(text.get(span.clone())).max(1));
        ui.print_message(&Line::plain(&format!("  {text}")));
        let indent = " ".repeat(columns(text.get(..span.start)));
        ui.print_message(&Line::plain(&format!("  {indent}")).with(&sign, Label::Error));
        return CommandError::user_error(format!("the regular expression is broken: {error}"));
    }
    CommandError::user_error(error)
}

fn nothing_found(args: &FindArgs) -> CommandError {
    let Some(text) = &args.text else {
        return match &args.pr {
            Some(pr) if !names_calls(args) => {
                CommandError::nothing_found(format!("No session made pull request {}", pr.number))
            }
            _ => CommandError::nothing_found("No tool call matches"),
        };
    };
    no_match(text, args.regex)
}

/// Says that no message matches.
pub(crate) fn no_match(text: &str, is_regex: bool) -> CommandError {
    let error = CommandError::nothing_found(format!("no message holds {text:?}"));
    if !is_regex && text.split_whitespace().nth(1).is_some() {
        return error.with_hint("all words must occur in one message; fewer find more");
    }
    error
}

fn write_counts(ui: &mut Ui, args: &FindArgs, counts: &SearchCounts) -> Result<(), CommandError> {
    if args.count && ui.json {
        let (messages, places, files) = (counts.messages, counts.match_count(), counts.files.len());
        ui.print_json(&Answer::new("ramus.find.count/1", HitCount { messages, places, files }))?;
    } else if args.count {
        writeln!(ui.output_writer(), "{}", counts.messages)?;
    }
    for (file, messages) in counts.files.iter().filter(|_| args.files) {
        if ui.json {
            let file = HitFile { file: file.clone(), messages: *messages };
            ui.print_json(&Answer::new("ramus.find.file/1", file))?;
        } else if ui.terminal {
            ui.print_line(&Line::plain(file))?;
        } else {
            writeln!(ui.output_writer(), "{file}")?;
        }
    }
    if counts.messages == 0 { Err(nothing_found(args)) } else { Ok(()) }
}
