use std::path::PathBuf;

use ramus_app::Workspace;
use ramus_app::compare::ConversationComparison;
use ramus_core::session::Session;
use ramus_render::Line;
use ramus_render::compare::{
    CompareConfig, ComparedConversations, SIDE_BY_SIDE_WIDTH, stat_lines, write_comparison,
};
use ramus_render::highlight::Highlight;
use ramus_render::json::{self, Answer};
use serde::ser::{Error, Serialize, Serializer};

use crate::args::Global;
use crate::completion;
use crate::env::{self, LocalClock};
use crate::error::CommandError;
use crate::prices;
use crate::ui::Ui;

/// Compare two conversations
///
/// Compares two branches of one session or of two. Shows what they have in common, then the prompts
/// and replies, final file contents, commands, tokens, cost and time of each. Sub-agents count for the
/// side that started them. File contents come from Claude Code's backups and from what tools wrote and
/// read; changes by commands are visible only if the file was read or backed up afterwards. Costs use
/// list prices, or the prices of `ramus usage`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramus diff 7ea9@3 7ea9@5
  ramus diff 7ea9 7ea9:a540 --stat
  ramus diff 7ea9@2 b2a9 --side-by-side

`diff` changes nothing and never asks, so -y does not mean --yes here.")]
pub(crate) struct DiffArgs {
    /// The first session, message or conversation
    #[arg(value_name = "ADDRESS", add = completion::sessions())]
    a: String,
    /// The second one
    #[arg(value_name = "ADDRESS", add = completion::sessions())]
    b: String,
    /// Show only totals
    #[arg(long)]
    stat: bool,
    /// Show both side by side, as `diff -y` does [default: from 120 columns]
    #[arg(long, short = 'y', conflicts_with_all = ["unified", "stat"])]
    side_by_side: bool,
    /// Show one after the other, as `diff -u` does [default: below 120 columns]
    #[arg(long, short, conflicts_with = "stat")]
    unified: bool,
    /// Show long texts in full
    #[arg(long)]
    full: bool,
    /// A file with other prices [default: $RAMUS_PRICES, else ~/.config/ramus/prices.json]
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
}

pub(crate) fn diff(ui: &mut Ui, global: &Global, args: &DiffArgs) -> Result<(), CommandError> {
    let prices = prices::load_prices(global, args.prices.as_deref())?;
    let workspace = env::command_workspace(ui, global)?.with_prices(prices);
    let a = workspace.open_conversation(workspace.resolve_address(&args.a)?)?;
    let b = workspace.open_conversation(workspace.resolve_address(&args.b)?)?;
    let comparison = workspace.compare_conversations([&a, &b], |_, _, _| {})?;
    let compared = comparison.priced_comparison(&workspace.active_prices().list);
    if ui.json {
        let leaves = [a.leaf_uuid(), b.leaf_uuid()];
        let ids = [(&*a.file.file.id, &*leaves[0]), (&*b.file.file.id, &*leaves[1])];
        let turns = [(0, &a), (1, &b)].map(|(side, open)| JsonOwnTurns {
            comparison: &comparison,
            side,
            sessions: open.path_sessions(),
        });
        let body = json::from_comparison(&compared, ids, turns);
        return ui.print_json(&Answer::new("ramus.diff/1", body));
    }
    ui.start_pager();
    let layout = DiffLayout {
        stat: args.stat,
        side_by_side: args.side_by_side || ui.width >= SIDE_BY_SIDE_WIDTH && !args.unified,
        full: args.full,
        width: ui.width,
        highlight: ui.highlight_mode(),
    };
    write_lines(&comparison, &compared, a.working_directory(), &layout, &mut |line| {
        Ok(ui.print_line(&line)?)
    })
}

/// The turns that one side has, read while they are written.
struct JsonOwnTurns<'a> {
    comparison: &'a ConversationComparison<'a>,
    side: usize,
    /// The sessions that its path runs through.
    sessions: Vec<&'a Session>,
}

impl Serialize for JsonOwnTurns<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let written = self.comparison.read_own_turns(self.side, |turns| {
            serializer
                .collect_seq(turns.map(|own| json::from_turn(self.sessions[own.part], &own.turn)))
        });
        written.map_err(S::Error::custom)?
    }
}

/// How a comparison is drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DiffLayout {
    /// Only the totals.
    pub(crate) stat: bool,
    pub(crate) side_by_side: bool,
    pub(crate) full: bool,
    pub(crate) width: usize,
    pub(crate) highlight: Highlight,
}

/// Returns how two addresses differ.
pub(crate) fn diff_lines(
    workspace: &Workspace,
    [a, b]: [&str; 2],
    layout: &DiffLayout,
) -> Result<Vec<Line>, CommandError> {
    let a = workspace.open_conversation(workspace.resolve_address(a)?)?;
    let b = workspace.open_conversation(workspace.resolve_address(b)?)?;
    let comparison = workspace.compare_conversations([&a, &b], |_, _, _| {})?;
    let compared = comparison.priced_comparison(&workspace.active_prices().list);
    let mut lines = Vec::new();
    write_lines(&comparison, &compared, a.working_directory(), layout, &mut |line| {
        lines.push(line);
        Ok(())
    })?;
    Ok(lines)
}

fn write_lines(
    comparison: &ConversationComparison<'_>,
    compared: &ComparedConversations<'_>,
    cwd: &str,
    layout: &DiffLayout,
    print: &mut dyn FnMut(Line) -> Result<(), CommandError>,
) -> Result<(), CommandError> {
    let clock = LocalClock::new();
    let config = CompareConfig {
        width: layout.width,
        side_by_side: layout.side_by_side,
        full: layout.full,
        totals_first: false,
        highlight: layout.highlight,
        cwd,
        time: &|time| clock.short_time(time),
    };
    if layout.stat {
        return stat_lines(compared, &config).into_iter().try_for_each(print);
    }
    comparison.read_exchanges(|exchanges| write_comparison(compared, exchanges, &config, print))?
}
