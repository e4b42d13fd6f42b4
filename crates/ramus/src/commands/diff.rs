use std::path::PathBuf;

use ramus_core::compare::{Common, Side, Stretch, common, files};
use ramus_core::fold::FoldId;
use ramus_core::history::History;
use ramus_core::name::short_id;
use ramus_core::record::Voice;
use ramus_core::session::{NodeId, Session};
use ramus_render::compare::{CompareConfig, Compared, Named, compare, stat};
use ramus_render::json::{self, Answer};
use ramus_store::trace::{Part, trace};

use crate::args::Global;
use crate::commands::show::{Target, each_turn};
use crate::env::Clock;
use crate::error::CommandError;
use crate::prices;
use crate::select::{Found, Library, Spot, node};
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
    let library = Library::open(ui, global)?;
    let a = Conversation::open(ui, &library, &args.a)?;
    let b = Conversation::open(ui, &library, &args.b)?;
    let shared = common(&a.stretches(), &b.stretches());
    let sides = [read(&library, &a, &shared, 0)?, read(&library, &b, &shared, 1)?];
    let mut files = files(&sides[0], &sides[1]);
    ends::complete(&library, &a.parts, &mut files, |pair| &mut pair.a)?;
    ends::complete(&library, &b.parts, &mut files, |pair| &mut pair.b)?;
    let compared = Compared {
        common: &shared,
        names: [&a.named, &b.named],
        sides: [&sides[0], &sides[1]],
        files: &files,
        prices: &prices.list,
    };
    if ui.json {
        let ids = [(&*a.session, &*a.leaf), (&*b.session, &*b.leaf)];
        let body = json::diff(&compared, ids, [&a.sessions(), &b.sessions()]);
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

/// What an address comes down to: a path through one file or several.
struct Conversation {
    named: Named,
    session: String,
    leaf: String,
    project: Option<usize>,
    parts: Vec<Part>,
}

impl Conversation {
    fn open(ui: &mut Ui, library: &Library, address: &str) -> Result<Self, CommandError> {
        let (found, spot) = library.address(ui, address)?;
        let history = library.read(&found)?;
        let target = Target::new(&history, &spot)?;
        let named = named(&found, &history, &spot, &target)?;
        let files =
            found.project.map(|project| &*library.projects[project].files).unwrap_or_default();
        let session = found.file.id.clone();
        let project = found.project;
        let parts = trace(files, found.file, history, target.path, library.rule)?;
        Ok(Self { named, session, leaf: target.leaf, project, parts })
    }

    fn stretches(&self) -> Vec<Stretch<'_>> {
        let parts = self.parts.iter();
        parts.map(|part| Stretch { history: &part.history, path: &part.path }).collect()
    }

    fn sessions(&self) -> Vec<&Session> {
        self.parts.iter().map(|part| &part.history.session).collect()
    }

    fn cwd(&self) -> &str {
        let cwd = self.parts.last().and_then(|part| part.history.session.facts().cwd.as_deref());
        cwd.unwrap_or_default()
    }
}

/// Finds out what to call a conversation: by its number if the address means the whole of it.
fn named(
    found: &Found,
    history: &History,
    spot: &Spot,
    target: &Target,
) -> Result<Named, CommandError> {
    let session = &history.session;
    let conversation = match node(history, spot)? {
        Some(node) => history.conversation_of(node),
        None => history.branches.main(),
    };
    let short = |id: &str| short_id(id).to_owned();
    let agent = if found.file.role.is_agent() { "agent-" } else { "" };
    let id = format!("{agent}{}", short(&found.file.id));
    let address = match (spot, conversation) {
        (Spot::Uuid(_), _) | (_, None) => format!("{id}:{}", short(&target.leaf)),
        (_, Some(conversation)) => format!("{id}@{}", conversation.n),
    };
    // The session's title says little about a branch that was left.
    let own = conversation.and_then(|conversation| history.first_prompt(conversation));
    let is_prompt = |fold: &&FoldId| history.folds.fold(**fold).voice == Voice::Prompt;
    let first = target.path.folds.iter().find(is_prompt).map(|fold| history.folds.fold(*fold).head);
    let words = |prompt: Option<NodeId>| prompt.and_then(|prompt| session.words(prompt));
    let title = match conversation {
        Some(conversation) if !conversation.resumes => words(own).or(history.given_title()),
        _ => history.given_title(),
    };
    let title = title.or(words(first));
    Ok(Named { address, status: target.status, title: title.map(str::to_owned) })
}

/// Reads all turns of a conversation, and the tokens of what is its own; agents count for it.
fn read(
    library: &Library,
    conversation: &Conversation,
    common: &Common,
    which: usize,
) -> Result<Side, CommandError> {
    let mut side = Side::default();
    for (index, (part, own)) in conversation.parts.iter().zip(&common.own[which]).enumerate() {
        let files = conversation.project.map(|project| &*library.projects[project].files);
        let mut team = Team::new(files.unwrap_or_default(), &part.file.id, library.rule);
        let mut started = team.started_by(&part.file, &part.history)?;
        each_turn(part, |turn| {
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
