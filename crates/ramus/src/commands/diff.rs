use std::path::PathBuf;

use ramus_app::Workspace;
use ramus_render::Line;
use ramus_render::compare::{
    CompareConfig, ComparedConversations, SIDE_BY_SIDE_WIDTH, comparison_lines, stat_lines,
};
use ramus_render::highlight::Highlight;
use ramus_render::json::{self, Answer};

use crate::args::Global;
use crate::env::{self, LocalClock};
use crate::error::CommandError;
use crate::prices;
use crate::ui::Ui;

/// Compare two conversations
///
/// They may be branches of one session or of two. What both have is told in one line; then come the
/// prompts and answers, the files as they are in the end, the commands, tokens, cost and time of
/// each. What agents did counts for the side that called them. A file's end is put together from
/// Claude Code's backups and from what tools wrote and read: what a command changed is not seen
/// unless the file was read or backed up afterwards. The cost is what the tokens would cost by the
/// public list, or by the prices that `ramus usage` takes.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  ramus diff 3f9a@1 3f9a@2\n  ramus diff 3f9a 3f9a:81b2c3d4 --stat\n  ramus diff 3f9a@2 b2a9 --side-by-side"
)]
pub(crate) struct DiffArgs {
    /// One conversation: a session, a node or a conversation of it
    #[arg(value_name = "ADDRESS")]
    a: String,
    /// The other one
    #[arg(value_name = "ADDRESS")]
    b: String,
    /// The numbers alone
    #[arg(long)]
    stat: bool,
    /// One on the left, one on the right [default: from 120 columns on]
    #[arg(long, short = 'y', conflicts_with_all = ["unified", "stat"])]
    side_by_side: bool,
    /// One after the other [default: below 120 columns]
    #[arg(long, short, conflicts_with = "stat")]
    unified: bool,
    /// Leave nothing out
    #[arg(long)]
    full: bool,
    /// A file with other prices [default: $RAMUS_PRICES, else ~/.config/ramus/prices.json]
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
}

pub(crate) fn diff(ui: &mut Ui, global: &Global, args: &DiffArgs) -> Result<(), CommandError> {
    let prices = prices::load_prices(args.prices.as_deref())?;
    let workspace = env::command_workspace(ui, global)?.with_prices(prices);
    let a = workspace.open_conversation(workspace.resolve_address(&args.a)?)?;
    let b = workspace.open_conversation(workspace.resolve_address(&args.b)?)?;
    let comparison = workspace.compare_conversations([&a, &b], |_, _, _| {})?;
    let compared = comparison.priced_comparison(&workspace.active_prices().list);
    if ui.json {
        let leaves = [a.leaf_uuid(), b.leaf_uuid()];
        let ids = [(&*a.file.file.id, &*leaves[0]), (&*b.file.file.id, &*leaves[1])];
        let body = json::from_comparison(&compared, ids, [&a.path_sessions(), &b.path_sessions()]);
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
    for line in layout_lines(&compared, a.working_directory(), &layout) {
        ui.print_line(&line)?;
    }
    Ok(())
}

/// How a comparison is drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DiffLayout {
    /// The numbers alone.
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
    Ok(layout_lines(
        &comparison.priced_comparison(&workspace.active_prices().list),
        a.working_directory(),
        layout,
    ))
}

fn layout_lines(compared: &ComparedConversations<'_>, cwd: &str, layout: &DiffLayout) -> Vec<Line> {
    let clock = LocalClock::new();
    let config = CompareConfig {
        width: layout.width,
        side_by_side: layout.side_by_side,
        full: layout.full,
        highlight: layout.highlight,
        cwd,
        time: &|time| clock.short_time(time),
    };
    if layout.stat { stat_lines(compared, &config) } else { comparison_lines(compared, &config) }
}
