//! What can be typed.

use std::path::PathBuf;

use clap::builder::FalseyValueParser;
use clap::{Parser, ValueEnum};
use ramus_core::resume::ResumeRule;

use crate::commands::Command;

/// Opens up every branch of your Claude Code conversations
///
/// Claude Code keeps each conversation as a tree: edited prompts, retries, rewinds, forks,
/// compactions, sub-agents. ramus reads these trees, shows all of their branches, and says which one
/// is active and why. Reading changes nothing. The commands that write (goto, fork, resume, merge, unpack,
/// rename, trash, undo, restore, check --fix, files --restore) show their plan first and can be undone.
#[derive(Debug, Parser)]
#[command(name = "ramus", version, after_help = EXAMPLES, disable_help_subcommand = true)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

const EXAMPLES: &str = "\
Addresses:
  PROJECT        a path, the encoded directory name, a part of either, or `.`
  SESSION        an id, the first 4 or more letters of it, a title, a .jsonl file, or `latest`
  SESSION:UUID   a node of it; the first letters of the uuid are enough
  SESSION@N      its N-th conversation
  AGENT          `agent-<id>` or the id

Examples:
  ramus sessions .             sessions of this directory
  ramus tree latest            where the newest conversation forked
  ramus conversations latest   its branches, and which one Claude Code would resume
  ramus show latest@2          read the second one
  ramus demo                   no history yet? write a sample to look at";

/// Options that every command takes.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Options for every command")]
pub(crate) struct Global {
    /// The Claude directory [default: $CLAUDE_CONFIG_DIR, else ~/.claude and ~/.config/claude]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) claude_dir: Option<PathBuf>,
    /// Print one JSON object for scripts
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Show empty, warm-up and metadata-only files too
    #[arg(long, global = true)]
    pub(crate) all: bool,
    /// How to choose the active branch
    #[arg(
        long,
        global = true,
        value_name = "RULE",
        default_value = "client",
        hide_default_value = true
    )]
    pub(crate) active: ActiveRule,
    /// Say which rule and which record chose the active branch
    #[arg(long, global = true)]
    pub(crate) explain: bool,
    /// Do not send long output through a pager
    #[arg(long, global = true)]
    pub(crate) no_pager: bool,
    /// Read everything anew, and remember nothing
    #[arg(long, global = true)]
    pub(crate) no_cache: bool,
    /// Leave the archive out
    #[arg(long, global = true)]
    pub(crate) no_archive: bool,
    /// When to use colour
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_default_value = true
    )]
    pub(crate) color: ColorChoice,
    /// Draw with ASCII characters only, for fonts that lack the symbols
    #[arg(
        long,
        global = true,
        env = "RAMUS_ASCII",
        hide_env_values = true,
        value_parser = FalseyValueParser::new()
    )]
    pub(crate) ascii: bool,
    /// Only files below the Claude directories are read: whoever asks is not the person whose files they are.
    #[arg(skip)]
    pub(crate) confined: bool,
}

/// How to choose the active branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ActiveRule {
    /// As the Claude Code version that wrote the file does
    Client,
    /// What the last summary names
    Summary,
    /// The newest timestamp
    Newest,
    /// The last record in the file
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
