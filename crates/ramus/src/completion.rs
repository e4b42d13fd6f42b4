//! What a shell completes: commands and options by clap; sessions, projects, operations, tags and fields by the
//! history itself.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;

use clap::{Command, CommandFactory};
use clap_complete::CompleteEnv;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::{Bash, Elvish, EnvCompleter, Fish, Powershell, Shells, Zsh};
use ramus_app::list::ListRequest;
use ramus_app::{Scope, SurveyDetail, Workspace};
use ramus_render::Line;
use ramus_render::json::{self, Session};
use ramus_store::journal::{Journal, Operation};
use ramus_store::undo::is_in_roots;
use serde::Serialize;
use serde_json::Value;

use crate::args::{Args, Global};
use crate::commands::conversations::listed_conversations;
use crate::config::Settings;
use crate::env;
use crate::fields;
use crate::project::project_name;

/// The shells that can ask.
pub(crate) const SHELLS: Shells<'static> =
    Shells(&[&DescribingBash, &Elvish, &Fish, &Powershell, &Zsh]);
/// How many sessions are offered at once, the newest.
const MAX_SESSIONS: usize = 100;
/// How much of a title is shown next to an id.
const MAX_TITLE_CHARS: usize = 60;

/// Answers a shell that asks what could be typed, and ends the program; returns if none does.
pub(crate) fn answer_shell() {
    CompleteEnv::with_factory(completed_command).bin("ramus").shells(SHELLS).complete();
}

/// Returns the command to complete. Where nothing is typed yet, options are offered only if there is nothing else.
fn completed_command() -> Command {
    let words: Vec<OsString> = typed_words().collect();
    // bash and zsh send the position of the word, the other shells send no words behind it.
    let index = std::env::var("_CLAP_COMPLETE_INDEX").ok().and_then(|text| text.parse().ok());
    let index: usize = index.unwrap_or(words.len().saturating_sub(1));
    match words.get(index).is_none_or(|word| word.is_empty()) {
        true => hide_options(Args::command()),
        false => Args::command(),
    }
}

fn hide_options(command: Command) -> Command {
    let hide = |arg: clap::Arg| if arg.is_positional() { arg } else { arg.hide(true) };
    // `--help` is added later, where it could not be hidden.
    command
        .disable_help_flag(true)
        .disable_version_flag(true)
        .mut_args(hide)
        .mut_subcommands(hide_options)
}

/// Offers the sessions: those whose id begins with what was typed, else those whose title has it.
pub(crate) fn sessions() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| complete_sessions(&typed.to_string_lossy()))
}

/// Offers the projects.
pub(crate) fn projects() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| complete_projects(&typed.to_string_lossy()))
}

/// Offers both.
pub(crate) fn scopes() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        let typed = typed.to_string_lossy();
        let mut found = complete_sessions(&typed);
        found.extend(complete_projects(&typed));
        found
    })
}

/// Offers the numbers of operations, the newest first.
pub(crate) fn operations() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| complete_operations(&typed.to_string_lossy()))
}

/// Offers the tags that are in use.
pub(crate) fn tags() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| complete_tags(&typed.to_string_lossy()))
}

/// Offers the fields of the list that is asked for.
pub(crate) fn fields() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| complete_fields(&typed.to_string_lossy()))
}

fn complete_operations(typed: &str) -> Vec<CompletionCandidate> {
    let (Some(workspace), Ok(journal)) = (open_workspace(), Journal::read(&env::state_dir()))
    else {
        return Vec::new();
    };
    let short_ids = workspace.short_ids();
    let fits = |operation: &&Operation| {
        operation.op.to_string().starts_with(typed)
            && is_in_roots(operation, workspace.claude_roots())
    };
    let candidate = |(index, operation): (usize, &Operation)| {
        let Operation { what, session, words, .. } = operation;
        let session = short_ids.shorten_id(session);
        let help = format!("{} {session}, {}: {words}", what.as_str(), operation.state_text());
        CompletionCandidate::new(operation.op.to_string())
            .help(Some(single_line(&help).into()))
            .display_order(Some(index))
    };
    journal.operations.iter().rev().filter(fits).enumerate().map(candidate).collect()
}

fn complete_tags(typed: &str) -> Vec<CompletionCandidate> {
    let Some(workspace) = open_workspace() else { return Vec::new() };
    let annotations = workspace.annotations();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for tag in annotations.iter().flat_map(|(_, annotation)| &annotation.tags) {
        *counts.entry(tag).or_default() += 1;
    }
    let candidate = |(tag, count): (&str, usize)| {
        let noun = if count == 1 { "session or message" } else { "sessions or messages" };
        CompletionCandidate::new(tag).help(Some(format!("{count} {noun}").into()))
    };
    counts.into_iter().filter(|(tag, _)| tag.starts_with(typed)).map(candidate).collect()
}

fn complete_fields(typed: &str) -> Vec<CompletionCandidate> {
    let Some(workspace) = open_workspace() else { return Vec::new() };
    let mut words = typed_words();
    let list = words.find_map(|word| {
        let lists = ["sessions", "ls", "projects", "conversations"];
        lists.into_iter().find(|list| word == *list)
    });
    let request = ListRequest::default();
    let names = match list {
        Some("projects") => {
            let survey = workspace.survey_scope(Scope::All, SurveyDetail::Digests);
            field_names(request.list_projects(&survey).into_iter().map(json::project).next())
        }
        Some("conversations") => field_names(
            listed_conversations(&workspace, None).ok().and_then(|rows| rows.into_iter().next()),
        ),
        _ => {
            let (scope, cleanup) = (Scope::All, workspace.cleanup_schedule());
            let survey = workspace.survey_scope(scope.clone(), SurveyDetail::Digests);
            let rows = request.list_sessions(&survey, &scope, &cleanup, json::from_session);
            let mut names = field_names(rows.into_iter().next());
            names.push("cost_usd".to_owned());
            names
        }
    };
    let names = fields::with_short_names(names).into_iter();
    names.filter(|name| name.starts_with(typed)).map(CompletionCandidate::new).collect()
}

/// Returns the names of the fields of a row.
fn field_names(row: Option<impl Serialize>) -> Vec<String> {
    match row.map(serde_json::to_value) {
        Some(Ok(Value::Object(row))) => row.into_iter().map(|(name, _)| name).collect(),
        _ => Vec::new(),
    }
}

/// Returns the words of the command line to complete.
fn typed_words() -> impl Iterator<Item = OsString> {
    std::env::args_os().skip_while(|word| word != "--").skip(1)
}

fn complete_sessions(typed: &str) -> Vec<CompletionCandidate> {
    let Some(workspace) = open_workspace() else { return Vec::new() };
    let scope = workspace.default_scope();
    let (short_ids, cleanup) = (workspace.short_ids(), workspace.cleanup_schedule());
    let survey = workspace.survey_scope(scope.clone(), SurveyDetail::Digests);
    let mut rows =
        ListRequest::default().list_sessions(&survey, &scope, &cleanup, json::from_session);
    rows.retain(|session| !session.id.contains(char::is_control));
    let candidate = |session: &Session| {
        let title = session.title.as_deref().unwrap_or_default();
        CompletionCandidate::new(short_ids.shorten_id(&session.id))
            .help(Some(single_line(title).into()))
    };
    let by_id = |session: &&Session| session.id.starts_with(typed);
    let mut found: Vec<_> = rows.iter().filter(by_id).take(MAX_SESSIONS).map(candidate).collect();
    if found.is_empty() {
        let typed = typed.to_lowercase();
        let by_title = |session: &&Session| {
            let title = session.title.as_deref().unwrap_or_default().to_lowercase();
            typed.split_whitespace().all(|word| title.contains(word))
        };
        found.extend(rows.iter().filter(by_title).take(MAX_SESSIONS).map(candidate));
    }
    if "latest".starts_with(typed) {
        let help = "the most recently active session";
        found.insert(0, CompletionCandidate::new("latest").help(Some(help.into())));
    }
    // Shells sort by this, so that the newest stays first.
    let order = |(index, found): (usize, CompletionCandidate)| found.display_order(Some(index));
    found.into_iter().enumerate().map(order).collect()
}

fn complete_projects(typed: &str) -> Vec<CompletionCandidate> {
    let Some(workspace) = open_workspace() else { return Vec::new() };
    let survey = workspace.survey_scope(Scope::All, SurveyDetail::Digests);
    let rows = ListRequest::default().list_projects(&survey);
    let lower = typed.to_lowercase();
    let fits = |path: &str| path.to_lowercase().contains(&lower);
    // A line of its own is all that shells have for a value.
    let paths = rows.into_iter().filter_map(|row| Some((row.path?, row.sessions)));
    let paths = paths.filter(|(path, _)| !path.contains(char::is_control));
    let candidate = |(path, count): (String, usize)| {
        let name = project_name(Some(&path), &path);
        let help = format!("{name}: {count} session{}", if count == 1 { "" } else { "s" });
        CompletionCandidate::new(path).help(Some(help.into()))
    };
    paths.filter(|(path, _)| fits(path)).map(candidate).collect()
}

/// Opens the history that the typed command is about. `None`: there is none, and nothing to offer.
fn open_workspace() -> Option<Workspace> {
    let mut global = Global {
        archive: None,
        everyone: false,
        owner: None,
        machine: None,
        claude_dir: None,
        json: false,
        everywhere: false,
        all: false,
        active: crate::args::ActiveRule::Client,
        explain: false,
        no_pager: true,
        no_cache: false,
        no_archive: true,
        color: None,
        ascii: false,
        settings: Settings::default(),
        confined: false,
    };
    let mut words = typed_words();
    while let Some(word) = words.next() {
        match word.to_str() {
            Some("--claude-dir") => global.claude_dir = words.next().map(Into::into),
            Some("-A" | "--everywhere") => global.everywhere = true,
            Some(word) => {
                if let Some(dir) = word.strip_prefix("--claude-dir=") {
                    global.claude_dir = Some(dir.into());
                }
            }
            None => {}
        }
    }
    global.settings = Settings::load(&global).unwrap_or_else(|_| Settings::without_file(&global));
    env::open_workspace(&global, std::sync::Arc::new(())).ok()
}

/// Cuts a title to one line without control characters.
fn single_line(title: &str) -> String {
    let line = Line::plain(&title.replace(['\n', '\r', '\t'], " ")).to_text();
    match line.char_indices().nth(MAX_TITLE_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// Escapes what bash would expand or take for the end of a word. It writes candidates into the command line as they
/// are, and a directory may have any name.
fn escape_for_bash(value: &str) -> String {
    let is_plain =
        |c: char| !c.is_ascii() || c.is_ascii_alphanumeric() || "/._-+:@=,%~".contains(c);
    value.chars().flat_map(|c| [(!is_plain(c)).then_some('\\'), Some(c)]).flatten().collect()
}

/// Returns what was meant by a word with such escapes.
fn unescape_from_bash(word: &str) -> String {
    let mut letters = word.chars();
    let next = |letters: &mut std::str::Chars<'_>| match letters.next()? {
        '\\' => letters.next(),
        letter => Some(letter),
    };
    std::iter::from_fn(|| next(&mut letters)).collect()
}

/// bash cannot show descriptions: they follow the values while there are several.
struct DescribingBash;

impl EnvCompleter for DescribingBash {
    fn name(&self) -> &'static str {
        Bash.name()
    }

    fn is(&self, name: &str) -> bool {
        Bash.is(name)
    }

    fn write_registration(
        &self,
        var: &str,
        name: &str,
        bin: &str,
        completer: &str,
        out: &mut dyn io::Write,
    ) -> Result<(), io::Error> {
        Bash.write_registration(var, name, bin, completer, out)
    }

    fn write_complete(
        &self,
        command: &mut Command,
        mut words: Vec<OsString>,
        current_dir: Option<&Path>,
        out: &mut dyn io::Write,
    ) -> Result<(), io::Error> {
        let variable = |name: &str| std::env::var(name).ok();
        let index = variable("_CLAP_COMPLETE_INDEX").and_then(|text| text.parse().ok());
        let index: usize = index.unwrap_or_default();
        if let Some(typed) = words.get_mut(index)
            && let Some(text) = typed.to_str()
        {
            *typed = unescape_from_bash(text).into();
        }
        let separator = variable("_CLAP_IFS").unwrap_or_else(|| "\n".to_owned());
        // A key that goes through the candidates would write the descriptions, too.
        let is_listed =
            !matches!(variable("_CLAP_COMPLETE_COMP_TYPE").as_deref(), Some("37" | "42"));
        let found = clap_complete::engine::complete(command, words, index, current_dir)?;
        let describes = is_listed && found.len() > 1;
        for (index, candidate) in found.iter().enumerate() {
            if index > 0 {
                write!(out, "{separator}")?;
            }
            write!(out, "{}", escape_for_bash(&candidate.get_value().to_string_lossy()))?;
            let help = candidate.get_help().map(ToString::to_string).filter(|_| describes);
            if let Some(help) = help.filter(|help| !help.is_empty()) {
                write!(out, "  ({})", single_line(&help))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{escape_for_bash, unescape_from_bash};

    #[test]
    fn a_value_stays_one_word_that_runs_nothing() {
        for (value, escaped) in [
            ("/home/me/app-1_2.x", "/home/me/app-1_2.x"),
            ("/home/Größe", "/home/Größe"),
            ("/my dir/$(touch x);`y`", r"/my\ dir/\$\(touch\ x\)\;\`y\`"),
            (r"a'b\c", r"a\'b\\c"),
        ] {
            assert_eq!(escape_for_bash(value), escaped);
            assert_eq!(unescape_from_bash(escaped), value);
        }
        assert_eq!(unescape_from_bash("/my\\"), "/my");
    }
}
