mod assist;

use clap::ValueEnum;
use ramus_app::change::MergeRequest;
use ramus_app::{Address, ChangeError, ChangeRequest, OpenedSession, PlannedChange};
use ramus_core::edit::{
    ChangeDetail, ConflictPolicy, ExchangePick, MergeBrief, MergeStrategy, PlannedMerge,
};
use ramus_core::session::NodeId;
use ramus_render::change::conflict_words;
use ramus_render::json::{self, MergeAnswer};

use crate::args::Global;
use crate::commands::fork::ForkTo;
use crate::confirm::{WriteArgs, confirm_and_apply_as, show_change, written_json};
use crate::env;
use crate::error::CommandError;
use crate::ui::Ui;

/// Put several conversations together in a session of its own
///
/// What all of them begin with stands once; then come the exchanges that each has of its own, whole:
/// a prompt with everything answered to it. Nothing that is merged is changed. Where a conversation
/// was compacted, its summary is quoted in the place of what it stands for.
///
/// Files that several of them changed with different results are conflicts. Files on disk are never
/// touched: `--on-conflict` decides what the merged conversation says about them at its end.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  ramus merge 3f9a@1 3f9a@2 --dry-run           see the exchanges and their numbers\n  ramus merge 3f9a@1 3f9a@2 --strategy digest   the second one in short\n  ramus merge 3f9a@1 3f9a@2 --pick 2:1,1:2-3    these exchanges in this order\n  ramus merge 3f9a b2a9 --no-base               two that have nothing in common\n  ramus merge 3f9a@1 3f9a@2 --strategy assisted --with 'claude -p'\n                                                the second one in the words of a command"
)]
pub(crate) struct MergeArgs {
    /// The conversations: sessions, nodes or conversations of them
    #[arg(value_name = "ADDRESS", num_args = 2.., required = true)]
    addresses: Vec<String>,
    /// How to put them together
    #[arg(long, value_name = "HOW")]
    strategy: Option<StrategyOption>,
    /// Exchanges in the order wanted: `2:3` (the third of the second conversation's own), `2:3-5`, `2:3-`, `2` or the first letters of a uuid
    #[arg(long, value_name = "EXCHANGES")]
    pick: Vec<String>,
    /// The command that writes the digest of `--strategy assisted`
    ///
    /// It is run by `sh -c`, reads what each branch did and where files conflict from its standard
    /// input, at most some 170 kB, and prints the digest, at most 100 kB. It cannot ask on the
    /// terminal. The digest is shown with the plan before anything is written. Without this option
    /// nothing leaves ramus.
    #[arg(long, value_name = "COMMAND")]
    with: Option<String>,
    /// Do not look for what they have in common; they may have nothing
    #[arg(long)]
    no_base: bool,
    /// What holds where several changed a file with different results
    #[arg(long, value_name = "WHAT", default_value = "stop", hide_default_value = true)]
    on_conflict: ConflictOption,
    #[command(flatten)]
    to: ForkTo,
    #[command(flatten)]
    write: WriteArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum StrategyOption {
    /// One after the other; the default
    Append,
    /// Exchange by exchange, as they were written
    Interleave,
    /// The exchanges that `--pick` names
    Pick,
    /// The first one, then the others in short as one message
    Digest,
    /// The same, but the command given by `--with` writes that message
    Assisted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ConflictOption {
    /// Nothing: do not merge; the default
    Stop,
    /// What the first conversation left
    Ours,
    /// What the last conversation left
    Theirs,
    /// All of it, to be put together later
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
    let mut sites: Vec<(OpenedSession, NodeId)> = Vec::new();
    for address in &args.addresses {
        let Address { file: found, node: spot } = workspace.resolve_address(address)?;
        let site = OpenedSession::read_session(&workspace, found)?;
        let node = site.find_node(&spot)?;
        sites.push((site, node));
    }
    let conversations: Vec<(&OpenedSession, NodeId)> =
        sites.iter().map(|(site, node)| (site, *node)).collect();
    let named = |error| match error {
        ChangeError::NoConversation { nth } => {
            let address = &args.addresses[nth];
            CommandError::user_error(format!("{address:?} is no part of a conversation"))
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
                    "`--with 'claude -p'` lets Claude Code write the digest; ramus sends nothing anywhere by itself",
                ));
            }
            (Some(StrategyOption::Assisted), _) | (_, None) => {}
            (_, Some(_)) => {
                return Err(CommandError::user_error(
                    "`--with` goes with `--strategy assisted` only",
                ));
            }
        }
        match self.strategy {
            None if !self.pick.is_empty() => {}
            Some(StrategyOption::Pick) if self.pick.is_empty() => {
                return Err(CommandError::user_error("`--strategy pick` needs `--pick EXCHANGES`")
                    .with_hint("`--dry-run` without it lists the exchanges with their numbers"));
            }
            Some(StrategyOption::Pick) => {}
            Some(_) if !self.pick.is_empty() => {
                return Err(CommandError::user_error("`--pick` goes with `--strategy pick` only"));
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

/// Shows what would come of it and where the conflicts are, and ends.
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
        .with_hint("`--on-conflict ours`, `theirs` or `keep-both` says what holds; nothing on disk is touched")
        .with_hint("`ramus diff` shows the changes"))
}

fn merge_answer(
    written: json::Written,
    merged: &PlannedMerge,
    assisted: Option<&str>,
) -> MergeAnswer {
    MergeAnswer {
        written,
        title: merged.new.title.clone(),
        messages: merged.new.messages,
        common: merged.common,
        exchanges: merged.exchanges.iter().map(json::from_exchange).collect(),
        conflicts: merged.conflicts.iter().map(json::from_conflict).collect(),
        assisted: assisted.map(str::to_owned),
    }
}
