//! The arguments of the program and the options that every command takes.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, ValueEnum};
use ramus_core::resume::ResumeRule;

use crate::commands::Command;
use crate::config::Settings;

/// Read, search and manage every branch of your Claude Code conversations
///
/// Claude Code stores each session as a tree: every edited prompt, retry and rewind leaves a branch
/// behind. ramus shows all branches, and which one is active and why. Reading changes nothing.
#[derive(Debug, Parser)]
#[command(name = "ramus", version, after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

const EXAMPLES: &str = "\
Terms:
  project        the sessions of one working directory
  session        one .jsonl file of Claude Code, with all its branches
  fork point     a message with several continuations: an edited prompt, a retry, a rewind
  branch         one of these continuations: active if Claude Code would resume it, else abandoned
  conversation   a branch, read from the first message of its session to its end
  sub-agent      an agent that a session started, with messages of its own

Addresses:
  PROJECT        a directory, its name below `projects`, part of either, or `.`
  SESSION        the first characters of an id, words of a title ('tiny server'), a .jsonl file,
                 or `latest`
  SESSION:UUID   a message; the first characters of its uuid are enough
  SESSION@N      the N-th conversation of a session
  AGENT          a sub-agent: `agent-ID`, or only the id

In the directory of a project, a command without an address means that project, and `latest`
is its newest session. Use -A for all projects. `-` reads addresses from standard input.
`ls` is another name for `sessions`, `cat` for `show`, `grep` and `search` for `find`.

Examples:
  ramus demo                   write a sample history to try ramus on
  ramus sessions               list the sessions of this directory's project
  ramus tree latest            show where the newest session forked
  ramus conversations latest   list its conversations, and which one Claude Code resumes
  ramus show latest@1          read the first one";

/// Reports an unknown option, with the nearest known one.
///
/// Names of projects begin with a hyphen, so that some arguments take anything that does. Read again without
/// that, clap finds the option and those that are like it.
pub(crate) fn unknown_option_error() -> Option<clap::Error> {
    fn refuse_hyphens(command: clap::Command) -> clap::Command {
        command
            .mut_args(|arg| if arg.is_positional() { arg.allow_hyphen_values(false) } else { arg })
            .mut_subcommands(refuse_hyphens)
    }
    let command = Args::command().mut_subcommands(refuse_hyphens);
    let refused = command.try_get_matches_from(std::env::args_os()).err();
    refused.filter(|error| error.kind() == ErrorKind::UnknownArgument)
}

/// Options that every command takes.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Options for every command")]
pub(crate) struct Global {
    /// The Claude directory [default: $CLAUDE_CONFIG_DIR, else ~/.claude and ~/.config/claude]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) claude_dir: Option<PathBuf>,
    /// Print JSON for scripts: one object, or one per line where results are streamed
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Use all projects, not only the one of the current directory
    #[arg(long, short = 'A', global = true)]
    pub(crate) everywhere: bool,
    /// Include files without messages: empty, warm-up and metadata-only ones
    #[arg(long, global = true)]
    pub(crate) all: bool,
    /// The rule that decides which branch is active
    #[arg(
        long,
        global = true,
        value_name = "RULE",
        default_value = "client",
        hide_default_value = true
    )]
    pub(crate) active: ActiveRule,
    /// Show which rule and which record decided the active branch
    #[arg(long, global = true)]
    pub(crate) explain: bool,
    /// Do not send long output through a pager
    #[arg(long, global = true)]
    pub(crate) no_pager: bool,
    /// Ignore the cache and don't write to it
    #[arg(long, global = true)]
    pub(crate) no_cache: bool,
    /// Ignore archived sessions
    #[arg(long, global = true)]
    pub(crate) no_archive: bool,
    /// The archive: a file, or the URL of a PostgreSQL server [default: $RAMUS_ARCHIVE, else a file in ~/.local/share/ramus]
    #[arg(long, global = true, value_name = "FILE|URL", hide_short_help = true)]
    pub(crate) archive: Option<String>,
    /// Include sessions that other people and machines archived on the server
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) everyone: bool,
    /// Only sessions that this person archived on the server
    #[arg(long, global = true, value_name = "NAME", hide_short_help = true)]
    pub(crate) owner: Option<String>,
    /// Only sessions that were archived from this machine
    #[arg(long, global = true, value_name = "NAME", hide_short_help = true)]
    pub(crate) machine: Option<String>,
    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN")]
    pub(crate) color: Option<ColorChoice>,
    /// Draw with ASCII characters only, for fonts that lack the symbols [env: RAMUS_ASCII]
    #[arg(long, global = true)]
    pub(crate) ascii: bool,
    /// The settings that apply if no option is given.
    #[arg(skip)]
    pub(crate) settings: Settings,
    /// Read only files below the Claude directories, because the caller is not the owner of the files.
    #[arg(skip)]
    pub(crate) confined: bool,
}

/// How to choose the active branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ActiveRule {
    /// The rule of the Claude Code version that wrote the session (default)
    Client,
    /// The message that the last summary names
    Summary,
    /// The message with the newest timestamp
    Newest,
    /// The last message in the file
    FileOrder,
}

impl ActiveRule {
    pub(crate) fn resume_rule(self) -> ResumeRule {
        match self {
            Self::Client => ResumeRule::Client,
            Self::Summary => ResumeRule::Summary,
            Self::Newest => ResumeRule::Newest,
            Self::FileOrder => ResumeRule::FileOrder,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    Auto,
    Always,
    Never,
}

/// Parses one of several words into its value.
pub(crate) fn choices<T: Copy + Send + Sync + 'static>(
    choices: &'static [(&'static str, T)],
) -> impl TypedValueParser<Value = T> {
    let words = PossibleValuesParser::new(choices.iter().map(|(word, _)| *word));
    words.try_map(move |typed| {
        let choice = choices.iter().find(|(word, _)| *word == typed);
        choice.map(|(_, value)| *value).ok_or("unknown word")
    })
}
