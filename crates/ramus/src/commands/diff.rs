use std::path::PathBuf;

use ramus_app::conversation::each_turn;
use ramus_app::{OpenConversation, Workspace};
use ramus_core::compare::{Common, Side, Stretch, common, files};
use ramus_core::name::short_id;
use ramus_core::session::{NodeId, Session};
use ramus_render::compare::{CompareConfig, Compared, Named, compare, stat};
use ramus_render::json::{self, Answer};

use crate::args::Global;
use crate::env::{self, Clock};
use crate::error::CommandError;
use crate::prices;
use crate::ui::Ui;

mod ends;
mod team;

use team::Team;

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

/// How many columns two texts need to stand beside each other.
const WIDE: usize = 120;

impl DiffArgs {
    /// Asks for the usual view of two conversations.
    pub(crate) fn of(a: String, b: String) -> Self {
        Self { a, b, stat: false, side_by_side: false, unified: false, full: false, prices: None }
    }
}

pub(crate) fn diff(ui: &mut Ui, global: &Global, args: &DiffArgs) -> Result<(), CommandError> {
    let prices = prices::load(args.prices.as_deref())?;
    let workspace = env::workspace(ui, global)?;
    let a = workspace.open(workspace.address(&args.a)?)?;
    let b = workspace.open(workspace.address(&args.b)?)?;
    let shared = common(&stretches(&a), &stretches(&b));
    let sides = [read(&workspace, &a, &shared, 0)?, read(&workspace, &b, &shared, 1)?];
    let mut files = files(&sides[0], &sides[1]);
    ends::complete(&workspace, &a.parts, &mut files, |pair| &mut pair.a)?;
    ends::complete(&workspace, &b.parts, &mut files, |pair| &mut pair.b)?;
    let compared = Compared {
        common: &shared,
        names: [&named(&workspace, &a), &named(&workspace, &b)],
        sides: [&sides[0], &sides[1]],
        files: &files,
        prices: &prices.list,
    };
    if ui.json {
        let leaves = [a.leaf_uuid(), b.leaf_uuid()];
        let ids = [(&*a.file.file.id, &*leaves[0]), (&*b.file.file.id, &*leaves[1])];
        let body = json::diff(&compared, ids, [&sessions(&a), &sessions(&b)]);
        return ui.json(&Answer::new("ramus.diff/1", body));
    }
    let clock = Clock::new();
    let config = CompareConfig {
        width: ui.width,
        side_by_side: args.side_by_side || ui.width >= WIDE && !args.unified,
        full: args.full,
        highlight: ui.highlight(),
        cwd: a.cwd(),
        time: &|time| clock.short(time),
    };
    ui.page();
    let lines = if args.stat { stat(&compared, &config) } else { compare(&compared, &config) };
    for line in lines {
        ui.line(&line)?;
    }
    Ok(())
}

/// What to call a conversation: by its number if the address means the whole of it.
fn named(workspace: &Workspace, open: &OpenConversation) -> Named {
    let agent = if open.file.file.role.is_agent() { "agent-" } else { "" };
    let id = format!("{agent}{}", short_id(&open.file.file.id));
    let address = match open.number.filter(|_| open.is_whole) {
        Some(number) => format!("{id}@{number}"),
        None => format!("{id}:{}", short_id(&open.leaf_uuid())),
    };
    Named { address, status: open.status, title: workspace.title(open) }
}

fn stretches(open: &OpenConversation) -> Vec<Stretch<'_>> {
    let parts = open.parts.iter();
    parts.map(|part| Stretch { history: &part.history, path: &part.path }).collect()
}

fn sessions(open: &OpenConversation) -> Vec<&Session> {
    open.parts.iter().map(|part| &part.history.session).collect()
}

/// Reads all turns of a conversation, and the tokens of what is its own; agents count for it.
fn read(
    workspace: &Workspace,
    conversation: &OpenConversation,
    common: &Common,
    which: usize,
) -> Result<Side, CommandError> {
    let mut side = Side::default();
    for (index, (part, own)) in conversation.parts.iter().zip(&common.own[which]).enumerate() {
        let mut team = Team::new(conversation.file.files_beside(), &part.file.id, workspace.rule());
        let mut started = team.started_by(&part.file, &part.history)?;
        each_turn(part, |turn| -> Result<(), CommandError> {
            let is_own = turn.nodes.first().is_some_and(|first| own.contains(first));
            team.tell(&mut started, &turn, is_own, &mut side)?;
            match is_own {
                true => side.own(index, turn),
                false => side.shared(&turn),
            }
            Ok(())
        })?;
        let own: Vec<NodeId> = own.iter().copied().collect();
        team::spend(part, &own, &mut side)?;
    }
    Ok(side)
}
