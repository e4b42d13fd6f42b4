mod assist;

use clap::ValueEnum;
use ramus_app::change::MergeRequest;
use ramus_app::{Address, ChangeError, ChangeRequest, OpenedSession, PlannedChange};
use ramus_core::edit::{
    ChangeDetail, ConflictPolicy, ExchangePick, MergeBrief, MergeExchanges, MergeStrategy,
    PlannedMerge,
};
use ramus_core::session::NodeId;
use ramus_render::change::conflict_words;
use ramus_render::json::{self, MergeAnswer};
use serde::{Serialize, Serializer};

use crate::args::Global;
use crate::commands::fork::ForkTo;
use crate::completion;
use crate::confirm::{WriteArgs, confirm_and_apply_as, show_change, written_json};
use crate::env;
use crate::error::CommandError;
use crate::ui::Ui;

/// Merge several conversations into a new session
///
/// The new session begins with the messages that all conversations share. Then come the exchanges that
/// they do not share; an exchange is a prompt and everything up to the next prompt. The original
/// sessions are not changed. Where a conversation was compacted, its summary is quoted instead of the
/// messages it replaced.
///
/// If several conversations changed a file and ended with different contents, the file is a conflict.
/// Files on disk are never changed: `--on-conflict` decides which version a note at the end of the new
/// session calls the valid one.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramus merge 7ea9@2 7ea9@5 --dry-run           list the exchanges and their numbers
  ramus merge 7ea9@2 7ea9@5 --strategy digest   summarize the second one
  ramus merge 7ea9@2 7ea9@5 --pick 2:1,1:1      these exchanges in this order
  ramus merge 7ea9 0010 --no-base               two that have nothing in common
  ramus merge 7ea9@2 7ea9@5 --strategy assisted --with 'claude -p \"Sum up\"'")]
pub(crate) struct MergeArgs {
    /// Sessions, messages or conversations
    #[arg(value_name = "ADDRESS", num_args = 2.., required = true, add = completion::sessions())]
    addresses: Vec<String>,
    /// How to combine the conversations
    #[arg(long, value_name = "HOW")]
    strategy: Option<StrategyOption>,
    /// Exchanges in the order you want: `2:3` (third exchange of the second conversation), `2:3-5`, `2:3-`, `2`, or the start of a uuid. The plan lists their numbers
    #[arg(long, value_name = "EXCHANGES")]
    pick: Vec<String>,
    /// The command that writes the summary of `--strategy assisted`
    ///
    /// `sh -c` runs it. It reads from standard input what each conversation did and which files conflict
    /// (at most about 170 kB), and prints the summary (at most 100 kB). It cannot ask on the terminal. You
    /// see the summary with the plan before anything is written. Without this option, nothing leaves ramus.
    #[arg(long, value_name = "COMMAND")]
    with: Option<String>,
    /// Allow conversations that have no messages in common
    #[arg(long)]
    no_base: bool,
    /// What to do if conversations changed the same file differently
    #[arg(long, value_name = "WHAT", default_value = "stop", hide_default_value = true)]
    on_conflict: ConflictOption,
    #[command(flatten)]
    to: ForkTo,
    #[command(flatten)]
    write: WriteArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum StrategyOption {
    /// One after the other (default)
    Append,
    /// Exchange by exchange, by time
    Interleave,
    /// Only the exchanges of --pick
    Pick,
    /// The first conversation, then a summary of the others
    Digest,
    /// Like digest, but the command of --with writes the summary
    Assisted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ConflictOption {
    /// Stop without merging (default)
    Stop,
    /// Merge; the first conversation's version is valid
    Ours,
    /// Merge; the last conversation's version is valid
    Theirs,
    /// Merge; describe all versions, to be combined later
    KeepBoth,
}

impl ConflictOption {
    fn conflict_policy(self) -> ConflictPolicy {
        match self {
            Self::Stop => ConflictPolicy::Stop,
            Self::Ours => ConflictPolicy::Ours,
            Self::Theirs => ConflictPolicy::Theirs,
            Self::KeepBoth => ConflictPolicy::KeepBoth,
        }
    }
}

pub(crate) fn merge(ui: &mut Ui, global: &Global, args: &MergeArgs) -> Result<(), CommandError> {
    let mut strategy = args.merge_strategy()?;
    let workspace = env::workspace_for(ui, global, &args.addresses[0])?;
    let mut opened_sessions: Vec<(OpenedSession, NodeId)> = Vec::new();
    for address in &args.addresses {
        let Address { file: found, node: selector } = workspace.resolve_address(address)?;
        let opened = OpenedSession::read_session(&workspace, found)?;
        let node = opened.find_node(&selector)?;
        opened_sessions.push((opened, node));
    }
    let conversations: Vec<(&OpenedSession, NodeId)> =
        opened_sessions.iter().map(|(opened, node)| (opened, *node)).collect();
    let named = |error| match error {
        ChangeError::NoConversation { nth } => {
            let address = &args.addresses[nth];
            CommandError::user_error(format!("{address:?} is not part of a conversation"))
        }
        error => error.into(),
    };
    if let MergeStrategy::Assisted(text) = &mut strategy {
        let brief = workspace.merge_brief(&conversations, args.no_base).map_err(named)?;
        *text = args.assisted_digest(ui, &brief)?;
    }
    let request = MergeRequest {
        conversations: &conversations,
        strategy,
        no_base: args.no_base,
        policy: args.on_conflict.conflict_policy(),
        to: args.to.new_session_at(),
    };
    let change =
        workspace.plan_change(ChangeRequest::Merge(request), env::current_time()).map_err(named)?;
    let ChangeDetail::Merge { plan: merged, digest, .. } = &change.detail else { return Ok(()) };
    if change.stops {
        return show_conflicts(ui, &change, merged);
    }
    let answer = |written| merge_answer(written, merged, digest.as_deref());
    confirm_and_apply_as(ui, "ramus.merge/1", &args.write, &change, answer)
}

impl MergeArgs {
    fn merge_strategy(&self) -> Result<MergeStrategy, CommandError> {
        match (self.strategy, &self.with) {
            (Some(StrategyOption::Assisted), None) => {
                return Err(CommandError::user_error("`--strategy assisted` needs `--with COMMAND`").with_hint(
                    "use --with 'claude -p' to let Claude Code write the digest; ramus itself sends nothing",
                ));
            }
            (Some(StrategyOption::Assisted), _) | (_, None) => {}
            (_, Some(_)) => {
                return Err(CommandError::user_error("`--with` needs `--strategy assisted`"));
            }
        }
        match self.strategy {
            None if !self.pick.is_empty() => {}
            Some(StrategyOption::Pick) if self.pick.is_empty() => {
                return Err(CommandError::user_error("`--strategy pick` needs `--pick EXCHANGES`")
                    .with_hint(
                        "use --dry-run without it to list the exchanges with their numbers",
                    ));
            }
            Some(StrategyOption::Pick) => {}
            Some(_) if !self.pick.is_empty() => {
                return Err(CommandError::user_error("`--pick` needs `--strategy pick`"));
            }
            None | Some(StrategyOption::Append) => return Ok(MergeStrategy::Append),
            Some(StrategyOption::Interleave) => return Ok(MergeStrategy::Interleave),
            Some(StrategyOption::Digest) => return Ok(MergeStrategy::Digest),
            // The text follows once the conversations are read.
            Some(StrategyOption::Assisted) => return Ok(MergeStrategy::Assisted(String::new())),
        }
        let picks: Result<Vec<Vec<ExchangePick>>, _> =
            self.pick.iter().map(|text| ExchangePick::parse(text)).collect();
        Ok(MergeStrategy::Pick(picks.map_err(CommandError::user_error)?.concat()))
    }

    /// Lets the command write the digest; empty where conflicts stop the merge anyway.
    fn assisted_digest(&self, ui: &Ui, brief: &MergeBrief) -> Result<String, CommandError> {
        if self.on_conflict == ConflictOption::Stop && !brief.conflicts.is_empty() {
            return Ok(String::new());
        }
        self.write.can_confirm(ui)?;
        assist::run_assistant(ui, self.with.as_deref().unwrap_or_default(), &brief.text)
    }
}

/// Shows the planned session and its conflicts, and ends.
fn show_conflicts(
    ui: &mut Ui,
    change: &PlannedChange,
    merged: &PlannedMerge,
) -> Result<(), CommandError> {
    if ui.json {
        let answer = merge_answer(written_json(change, None), merged, None);
        ui.print_json(&json::Answer::new("ramus.merge/1", answer))?;
    } else {
        show_change(ui, change);
    }
    Err(CommandError::user_error(conflict_words(merged))
        .with_hint("use --on-conflict ours, theirs or keep-both to choose a version; files on disk are not changed")
        .with_hint("`ramus diff` shows the changes"))
}

/// The exchanges of a merge, made while they are written: there may be half a million.
struct JsonExchanges<'a>(&'a MergeExchanges);

impl Serialize for JsonExchanges<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(json::from_exchange))
    }
}

fn merge_answer<'a>(
    written: json::Written,
    merged: &'a PlannedMerge,
    assisted: Option<&str>,
) -> MergeAnswer<JsonExchanges<'a>> {
    MergeAnswer {
        written,
        title: merged.new.title.clone(),
        messages: merged.new.messages,
        common: merged.common,
        exchanges: JsonExchanges(&merged.exchanges),
        conflicts: merged.conflicts.iter().map(json::from_conflict).collect(),
        assisted: assisted.map(str::to_owned),
    }
}
