use std::ops::ControlFlow;
use std::path::PathBuf;

use clap::ValueEnum;
use jiff::Zoned;
use ramus_app::search::{
    AgentFilter, LikeError, PER_SESSION, SearchBatch, SearchCounts, SearchError, SearchNotes,
    SearchOrder, SearchOutcome, SearchRequest,
};
use ramus_app::{Scope, Workspace};
use ramus_core::branches::BranchStatus;
use ramus_core::pull_request::PullRequestName;
use ramus_core::query::{
    CaseRule, FilterKey, MatchOptions, QueryError, SpeakerRole, TextKind, TypedFilter, TypedQuery,
};
use ramus_render::json::{self, Answer, AnswerScope, HitCount, HitFile, SNIPPET_ROOM};
use ramus_render::{Label, Line};

use crate::args::Global;
use crate::commands::cache;
use crate::completion;
use crate::env;
use crate::error::{CommandError, ErrorKind};
use crate::scope;
use crate::ui::Ui;

/// If a search had to read more bytes than this, the cache is built for the next one.
const CACHE_BUILD_BYTES: u64 = 64 * 1024 * 1024;

mod rows;
mod words;

use rows::FindWriter;
pub(crate) use words::move_words_to_end;

/// Search messages in all sessions and branches
///
/// Searches prompts, replies, thinking, tool calls and results, summaries, titles, queued prompts,
/// sub-agents and large tool outputs that are stored in separate files. Of deleted sessions it finds
/// the prompts that Claude Code still has (`prompt only`).
///
/// On a terminal the best sessions come first: those that contain the words as a phrase, then those
/// with all words in one message, then those with the words in several messages. In a pipe and with
/// --json the newest messages come first, and each contains all words. If no message contains all
/// words as typed, other forms and spellings are found, too (teapots, tea-pot), and sessions that
/// contain the words in several messages. --exact finds only what was typed.
///
/// TEXT can contain filters: tool:Bash file:main.rs since:7d until:2026-01-31 role:user kind:prompt
/// branch:abandoned model:opus pr:42 commit:abc123 in:PROJECT is:error like:WORD. -WORD leaves out messages that
/// contain WORD. Double quotes inside TEXT find a phrase; the shell removes the outer quotes of
/// '"thread pool" curl'. A single word with an upper-case letter is case-sensitive, unless that finds
/// nothing. Copies of a message in several files are one hit.
///
/// ● marks a hit on an active branch, ○ on an abandoned one, ▸ in a sub-agent; @N is the conversation.
/// ×3 is a message with three copies. Use the id at the end of a row as the address for other commands:
/// `ramus show ID` prints the conversation up to that message, `ramus show SESSION@N` all of it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramus find thread pool
  ramus find '\"thread per connection\" pool' --in teapot
  ramus find 'tool:Bash curl'
  ramus find --regex 'TODO|FIXME' --role assistant --since 7d
  ramus find pool --branch abandoned -C 2
  ramus find curl --tool bash --files
  ramus find --file src/main.rs
  ramus find --error
  ramus find --pr 42
  ramus find pool --json | jq -r .address")]
pub(crate) struct FindArgs {
    /// Words to find, and filters. Optional if there is a filter
    #[arg(value_name = "TEXT")]
    words: Vec<String>,
    /// Only in this project or session
    #[arg(long = "in", value_name = "SCOPE", allow_hyphen_values = true, add = completion::scopes())]
    scope: Option<String>,
    /// Find exactly this text, with the same case and without filters
    #[arg(long, conflicts_with_all = ["regex", "fuzzy"])]
    exact: bool,
    /// Treat TEXT as a regular expression. Case-sensitive unless it begins with `(?i)`
    #[arg(
        long,
        short = 'E',
        conflicts_with_all = ["ignore_case", "case_sensitive", "word", "line", "fuzzy"]
    )]
    regex: bool,
    /// Also find similar words where a word does not occur
    #[arg(long)]
    fuzzy: bool,
    /// Find prompts and replies that are about TEXT, in whatever words. Needs an embedding model
    #[arg(long, conflicts_with_all = ["exact", "regex", "fuzzy", "line", "word", "count", "files", "sort", "tool", "file", "error", "model"])]
    like: bool,
    /// The directory of the embedding model for --like
    #[arg(long, value_name = "DIR", requires = "like")]
    like_model: Option<PathBuf>,
    /// Ignore case
    #[arg(short, long)]
    ignore_case: bool,
    /// Match case even if all words are in lower case
    #[arg(short = 's', long, conflicts_with = "ignore_case")]
    case_sensitive: bool,
    /// Find whole words only
    #[arg(short, long)]
    word: bool,
    /// Find whole lines only: TEXT is one line
    #[arg(short = 'x', long)]
    line: bool,
    /// Show N messages before and after each hit
    #[arg(
        long,
        short = 'C',
        value_name = "N",
        default_value_t = 0,
        hide_default_value = true,
        allow_hyphen_values = true
    )]
    context: usize,
    /// Only messages from this role
    #[arg(long, value_parser = role_words(), value_name = "ROLE")]
    role: Vec<SpeakerRole>,
    /// Only texts of this kind. `progress` and `last-prompt` are searched only if given here
    #[arg(long, value_parser = kind_words(), value_name = "KIND")]
    kind: Vec<TextKind>,
    /// Only calls of this tool and their results
    #[arg(long, value_name = "NAME")]
    tool: Vec<String>,
    /// Only tool calls that touch this file, and their results
    #[arg(long, value_name = "PATH")]
    file: Vec<String>,
    /// Only results of failed tool calls, and API errors
    #[arg(long)]
    error: bool,
    /// Only in sessions that created this pull request: `42`, `owner/name#42` or its URL
    #[arg(long, value_name = "PR")]
    pr: Option<PullRequestName>,
    /// Only in sessions that mention this commit: at least 4 digits of its id
    #[arg(long, value_name = "ID")]
    commit: Option<String>,
    /// Only replies of a model whose name contains this
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Only messages since a date, a time, or an age (`2h`, `3d`)
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    since: Option<String>,
    /// Only messages before a time, or up to the end of a date
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    until: Option<String>,
    /// Only in this project
    #[arg(long, value_name = "PROJECT", conflicts_with = "scope", allow_hyphen_values = true, add = completion::projects())]
    project: Option<String>,
    /// Only messages on active branches, or only on abandoned ones
    #[arg(long, value_name = "STATUS", default_value = "any", hide_default_value = true)]
    branch: BranchOption,
    /// Search sub-agents too (`any`), `only` them, or not at all (`none`)
    #[arg(long, value_name = "WHICH", default_value = "any", hide_default_value = true)]
    agents: AgentOption,
    /// Sort order [default: best on a terminal, else newest]
    #[arg(long, value_name = "ORDER")]
    sort: Option<FindSort>,
    /// Show every message, not only the best of each session
    #[arg(long)]
    flat: bool,
    /// Show how each hit was ranked. Implies --sort best
    #[arg(long)]
    why: bool,
    /// Print only the number of matching messages; a tool call and its result are two
    #[arg(long, short = 'c', conflicts_with = "files")]
    count: bool,
    /// Print only the names of files with matching messages
    #[arg(long, short = 'l')]
    files: bool,
    /// Show at most N messages
    #[arg(long, short = 'n', value_name = "N", allow_hyphen_values = true)]
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
    /// Best match first, by session
    #[value(alias = "relevance")]
    Best,
    /// Newest first
    #[value(alias = "time")]
    Newest,
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
    let mut workspace = env::command_workspace(ui, global)?;
    if let Some(dir) = &args.like_model {
        workspace = workspace.with_like_model(Some(dir.clone()));
    }
    let (words, positional) = words::split_scope(&workspace, &args.words, has_scope(args))?;
    let text = words::join_words(words);
    let mut request = search_request(ui, args, &text)?;
    let typed = request.scope_text.take();
    let asked = single_scope([
        args.scope.as_deref(),
        args.project.as_deref(),
        positional,
        typed.as_deref(),
    ])?;
    request.scope = match &args.project {
        Some(project) => Scope::Project(workspace.resolve_project(project)?),
        None => scope::resolve_scope(&workspace, asked)?,
    };
    workspace.load_like_model(&mut request).map_err(like_error)?;
    let answer_scope = scope::answer_scope(&workspace, &request.scope, asked);
    scope::print_scope_note(ui, &workspace, asked);
    let (unknown_bytes, found) = if args.count || args.files {
        let counts = workspace.count_matches(&request, workspace.progress_sink());
        (counts.unknown_bytes, write_counts(ui, args, &text, &request, &counts, &answer_scope))
    } else {
        match write_hits(ui, args, &workspace, &request, &answer_scope) {
            ControlFlow::Break(error) => return Err(error),
            ControlFlow::Continue(outcome) => {
                (outcome.unknown_bytes, report_end(ui, args, &text, &request, &outcome))
            }
        }
    };
    if unknown_bytes > CACHE_BUILD_BYTES && workspace.session_cache().can_build_filters() {
        cache::spawn_background_build(global);
    }
    found.map_err(|error| match error.kind {
        ErrorKind::Nothing => scope::with_wider_hint(error, &workspace, asked),
        _ => error,
    })
}

/// Reports why nothing can be found by its meaning.
pub(crate) fn like_error(error: LikeError) -> CommandError {
    let hint = error.hint();
    hint.into_iter().fold(CommandError::user_error(error), CommandError::with_hint)
}

/// Returns the scope, which can be given in several ways but only once.
fn single_scope(given: [Option<&str>; 4]) -> Result<Option<&str>, CommandError> {
    let mut given = given.into_iter().flatten();
    let Some(scope) = given.next() else { return Ok(None) };
    match given.find(|other| *other != scope) {
        Some(other) => Err(CommandError::user_error(format!(
            "only one project or session can be searched, not {scope:?} and {other:?}"
        ))),
        None => Ok(Some(scope)),
    }
}

fn has_scope(args: &FindArgs) -> bool {
    args.scope.is_some() || args.project.is_some()
}

/// Writes hits as they are found.
fn write_hits(
    ui: &mut Ui,
    args: &FindArgs,
    workspace: &Workspace,
    request: &SearchRequest,
    scope: &AnswerScope,
) -> ControlFlow<CommandError, SearchOutcome> {
    let mut rows = FindWriter::new(args.why);
    workspace.search_history(request, workspace.progress_sink(), |batch| {
        let written = match ui.json {
            true => write_json(ui, batch, args.why, scope),
            false => rows.write_batch(ui, batch),
        };
        match written.and_then(|()| Ok(ui.output_writer().flush()?)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    })
}

fn write_json(
    ui: &mut Ui,
    batch: &mut SearchBatch<'_>,
    with_reasons: bool,
    scope: &AnswerScope,
) -> Result<(), CommandError> {
    for index in 0..batch.len() {
        let Some(hit) = batch.read_hit(index) else { continue };
        let address = hit.short_address.clone();
        let mut hit = json::hit(hit, address);
        if !with_reasons {
            hit.why = None;
        }
        let answer = Answer::new("ramus.find/1", hit);
        // Each hit is a separate object. The scope is repeated only if the current directory decided it.
        match scope.from_directory {
            true => ui.print_json(&answer.with_scope(scope.clone()))?,
            false => ui.print_json(&answer)?,
        }
        if index.is_power_of_two() {
            ui.output_writer().flush()?;
        }
    }
    Ok(())
}

/// Reports whether there are more hits, or none.
fn report_end(
    ui: &mut Ui,
    args: &FindArgs,
    text: &str,
    request: &SearchRequest,
    outcome: &SearchOutcome,
) -> Result<(), CommandError> {
    if outcome.found == 0 {
        let error = nothing_found(args, text, request);
        return Err(note_sentences(&outcome.notes)
            .into_iter()
            .fold(error, CommandError::with_hint));
    }
    for sentence in note_sentences(&outcome.notes) {
        ui.print_closing_note(&sentence)?;
    }
    let more = match outcome.found - outcome.shown {
        0 => return Ok(()),
        _ if !outcome.is_complete => "There are more. Use --limit to see them".to_owned(),
        more if args.limit.is_none() => format!("{more} more. Use --flat to see all"),
        more => format!("{more} more. Use --limit to see them"),
    };
    ui.print_closing_note(&more)
}

/// Returns the notes of a search, with the option that searches for similar words.
fn note_sentences(notes: &SearchNotes) -> Vec<String> {
    let mut sentences = notes.sentences();
    let suggestion = notes.suggestion_sentence();
    for sentence in sentences.iter_mut().filter(|it| suggestion.as_ref() == Some(*it)) {
        sentence.push_str(" Use --fuzzy to search for it");
    }
    sentences
}

fn search_request(ui: &Ui, args: &FindArgs, text: &str) -> Result<SearchRequest, CommandError> {
    let now = Zoned::now();
    let options = MatchOptions {
        case: match (args.ignore_case, args.case_sensitive || args.exact) {
            (true, _) => CaseRule::Ignore,
            (false, true) => CaseRule::Sensitive,
            (false, false) => CaseRule::Smart,
        },
        whole_words: args.word,
        whole_lines: args.line,
    };
    let filters = option_filters(args);
    let request = if args.regex {
        SearchRequest::from_regex(text, &filters, &now)
    } else {
        let mut typed = match (args.exact, args.line) {
            (true, _) => TypedQuery::from_phrase(text),
            (false, true) => TypedQuery::parse_line(text),
            (false, false) => TypedQuery::parse(text),
        };
        typed.filters.extend(filters);
        SearchRequest::from_typed(&typed, options, &now)
    };
    let mut request = request.map_err(|error| search_error(ui, args, text, error))?;
    if args.like {
        let words = request.query.typed_words().map(TypedQuery::words_text);
        request.like_text = words.filter(|words| !words.is_empty());
        if request.like_text.is_none() {
            return Err(CommandError::user_error("--like needs the text that messages are about"));
        }
    }
    request.agents = match args.agents {
        AgentOption::Any => AgentFilter::Any,
        AgentOption::Only => AgentFilter::Only,
        AgentOption::None => AgentFilter::None,
    };
    request.order = match args.sort {
        Some(FindSort::Newest) => SearchOrder::Newest,
        Some(FindSort::Best) => SearchOrder::Best,
        None if args.why || request.like_text.is_some() => SearchOrder::Best,
        None if ui.terminal && !ui.json && !args.flat && !text.is_empty() => SearchOrder::Best,
        None => SearchOrder::Newest,
    };
    request.per_session = (request.order == SearchOrder::Best && !args.flat).then_some(PER_SESSION);
    request.is_exact |= args.exact;
    request.is_fuzzy = args.fuzzy;
    request.suggests = true;
    request.limit = args.limit;
    request.context = args.context;
    request.passage_chars = if ui.json { SNIPPET_ROOM } else { ui.width };
    Ok(request)
}

/// Returns the options that are filters.
fn option_filters(args: &FindArgs) -> Vec<TypedFilter> {
    let status = args.branch.branch_status().map(BranchStatus::as_str);
    let single = [
        (FilterKey::Is, args.error.then(|| "error".to_owned())),
        (FilterKey::Commit, args.commit.clone()),
        (FilterKey::Model, args.model.clone()),
        (FilterKey::Since, args.since.clone()),
        (FilterKey::Until, args.until.clone()),
        (FilterKey::Branch, status.map(str::to_owned)),
        (FilterKey::PullRequest, args.pr.as_ref().map(PullRequestName::to_string)),
    ];
    let single = single.into_iter().filter_map(|(key, value)| Some((key, value?)));
    let roles = args.role.iter().map(|role| (FilterKey::Role, role.as_str().to_owned()));
    let kinds = args.kind.iter().map(|kind| (FilterKey::Kind, kind.as_str().to_owned()));
    let tools = args.tool.iter().map(|tool| (FilterKey::Tool, tool.clone()));
    let files = args.file.iter().map(|file| (FilterKey::File, file.clone()));
    let filter = |(key, value)| TypedFilter { key, value, span: 0..0 };
    single.chain(roles).chain(kinds).chain(tools).chain(files).map(filter).collect()
}

fn search_error(ui: &Ui, args: &FindArgs, text: &str, error: SearchError) -> CommandError {
    match error {
        SearchError::Query(error) => query_error(ui, args.regex, text, &error),
        SearchError::Time(error) => error.into(),
    }
}

/// Shows where a pattern or a filter is wrong, with a sign below it.
fn query_error(ui: &Ui, is_regex: bool, text: &str, error: &QueryError) -> CommandError {
    if let Some(span) = &error.span
        && !text.contains('\n')
    {
        let columns = |text: Option<&str>| text.map_or(0, |text| Line::plain(text).width());
        let sign = "^".repeat(columns(text.get(span.clone())).max(1));
        ui.print_message(&Line::plain(&format!("  {text}")));
        let indent = " ".repeat(columns(text.get(..span.start)));
        ui.print_message(&Line::plain(&format!("  {indent}")).with(&sign, Label::Error));
        if is_regex {
            return CommandError::user_error(format!("invalid regular expression: {error}"));
        }
    }
    CommandError::user_error(error)
}

fn nothing_found(args: &FindArgs, text: &str, request: &SearchRequest) -> CommandError {
    let has_words = args.regex || request.query.typed_words().is_some();
    match &request.pull_request {
        _ if has_words && !text.is_empty() => {
            let offers_fuzzy = !args.fuzzy && !args.exact && !args.regex;
            let hint = no_match_hint(request, offers_fuzzy);
            hint.into_iter().fold(no_match(text), CommandError::with_hint)
        }
        Some(pr) if request.tool.is_none() => {
            CommandError::nothing_found(format!("No session created pull request {}", pr.number))
        }
        _ => CommandError::nothing_found("No message matches the filters"),
    }
}

/// Reports that no message matches.
pub(crate) fn no_match(text: &str) -> CommandError {
    let quoted = match format!("{text:?}") {
        // A phrase has double quotes of its own.
        escaped if text.contains('"') => {
            format!("'{}'", escaped[1..escaped.len() - 1].replace("\\\"", "\""))
        }
        escaped => escaped,
    };
    CommandError::nothing_found(format!("no matches for {quoted}"))
}

/// Returns what to try if nothing was found.
pub(crate) fn no_match_hint(request: &SearchRequest, offers_fuzzy: bool) -> Option<&'static str> {
    let words = request.query.typed_words().map_or(0, |typed| typed.words.len());
    match offers_fuzzy {
        _ if request.has_filters() => Some("Only messages that match the filters were searched"),
        _ if words < 2 => None,
        true => Some("No session contains all words. Try fewer words, or --fuzzy"),
        false => Some("No session contains all words. Try fewer words"),
    }
}

fn write_counts(
    ui: &mut Ui,
    args: &FindArgs,
    text: &str,
    request: &SearchRequest,
    counts: &SearchCounts,
    scope: &AnswerScope,
) -> Result<(), CommandError> {
    if args.count && ui.json {
        let (messages, places, files) = (counts.messages, counts.match_count(), counts.files.len());
        let count = HitCount { messages, places, files };
        ui.print_json(&Answer::new("ramus.find.count/1", count).with_scope(scope.clone()))?;
    } else if args.count {
        writeln!(ui.output_writer(), "{}", counts.messages)?;
    }
    for (file, messages) in counts.files.iter().filter(|_| args.files) {
        if ui.json {
            let file = HitFile { file: file.clone(), messages: *messages };
            ui.print_json(&Answer::new("ramus.find.file/1", file).with_scope(scope.clone()))?;
        } else if ui.terminal {
            ui.print_line(&Line::plain(file))?;
        } else {
            writeln!(ui.output_writer(), "{file}")?;
        }
    }
    let typed = request.query.typed_words().filter(|_| counts.messages == 0);
    let unclosed_quote = typed.and_then(|typed| typed.unclosed.clone());
    let ignored_case = counts.ignored_case;
    let notes = SearchNotes { ignored_case, unclosed_quote, ..SearchNotes::default() };
    for note in notes.sentences() {
        ui.print_message(&Line::new(&note, Label::Dim));
    }
    if counts.messages == 0 { Err(nothing_found(args, text, request)) } else { Ok(()) }
}
