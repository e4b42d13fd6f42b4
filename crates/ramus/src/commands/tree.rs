use ramus_app::{Address, NodeSelector, Workspace};
use ramus_core::body::Body;
use ramus_core::digest::resume_of;
use ramus_core::history::History;
use ramus_core::session::NodeId;
use ramus_render::Line;
use ramus_render::json::{self, Answer};
use ramus_render::lineage::lineage;
use ramus_render::outline::{AgentLane, OutlineConfig, draw, legend, outline, put_answers};
use ramus_store::Bodies;
use ramus_store::agents::Agent;

use crate::args::Global;
use crate::commands::archive::tell_archived;
use crate::commands::conversations::explanation;
use crate::env::{self, Clock};
use crate::error::CommandError;
use crate::ui::Ui;

/// Draw a session as the tree it is: forks, branches, agents
///
/// A row is a stretch of conversation without a fork, with its first words. The way that Claude
/// Code would resume runs straight down; what was left at a fork hangs beside it. The letters at the
/// end of a row go behind the session's id: `ramus show SESSION:LETTERS`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  ramus tree latest\n  ramus tree 3f9a --around 81b2 --depth 5\n  ramus tree 3f9a --records"
)]
pub(crate) struct TreeArgs {
    /// The session
    #[arg(default_value = "latest")]
    session: String,
    /// Only what lies near this node
    #[arg(long, value_name = "UUID")]
    around: Option<String>,
    /// How many rows are near
    #[arg(long, value_name = "N", default_value_t = DEPTH)]
    depth: usize,
    /// Every record on a row of its own
    #[arg(long)]
    records: bool,
}

impl TreeArgs {
    /// Asks for the tree of a session, or what lies near a node.
    pub(crate) fn of(session: &str, around: Option<String>) -> Self {
        Self { session: session.to_owned(), around, depth: DEPTH, records: false }
    }
}

/// How many rows are near, unless told.
const DEPTH: usize = 10;

pub(crate) fn tree(ui: &mut Ui, global: &Global, args: &TreeArgs) -> Result<(), CommandError> {
    let source = env::read_source(ui, global, &args.session)?;
    let workspace = &source.workspace;
    let address = workspace.address(source.one()?)?;
    tell_archived(ui, workspace, &address.file);
    let history = workspace.read(&address.file.file)?;
    if ui.json {
        around(&history, &address.node, args.around.as_deref())?;
        let file = &address.file.file;
        let reverts = workspace.reverts(&address.file, &history);
        let family = workspace.family(&address.file, &history);
        let tree = json::tree(&file.id, &history, file.role.is_agent(), &family, &reverts);
        return ui.json(&Answer::new("ramus.tree/1", tree));
    }
    let lines = drawn(workspace, &address, args, ui.width)?;
    ui.page();
    for line in lines {
        ui.line(&line)?;
    }
    if global.explain {
        let id = &address.file.file.id;
        for line in explanation(id, resume_of(&history).as_ref(), ui.width) {
            ui.line(&line)?;
        }
    }
    Ok(())
}

/// Finds the node that only the rows near it are wanted of.
fn around(
    history: &History,
    node: &NodeSelector,
    asked: Option<&str>,
) -> Result<Option<NodeId>, CommandError> {
    Ok(match asked {
        Some(uuid) => NodeSelector::Uuid(uuid.to_owned()).node(history)?,
        None => node.node(history)?,
    })
}

/// Returns the tree of a session, where it came from, and what the symbols mean.
pub(crate) fn drawn(
    workspace: &Workspace,
    address: &Address,
    args: &TreeArgs,
    width: usize,
) -> Result<Vec<Line>, CommandError> {
    let Address { file: found, node } = address;
    let history = workspace.read(&found.file)?;
    let around = around(&history, node, args.around.as_deref())?;
    if history.folds.is_empty() {
        return Err(CommandError::nothing("there is no conversation in this session"));
    }
    // Before the drawing is made, so that the two are not held at once.
    let mut lines = lineage(&workspace.family(found, &history), false);
    let clock = Clock::new();
    let config = OutlineConfig {
        records: args.records,
        around,
        depth: args.depth,
        width,
        agents: lanes(workspace.agents(found, &history)),
        reverts: workspace.reverts(found, &history),
        time: &|time| clock.short(time),
    };
    let mut rows = outline(&history, &config);
    let mut bodies = Bodies::open(&found.file.path)?;
    put_answers(&history, &mut rows, &mut |node| {
        Body::parse(&bodies.bytes(history.session.record(node).span).ok()?).ok()
    });
    let drawing = draw(&rows, &config);
    let legend = legend(&drawing);
    lines.extend(drawing);
    lines.push(legend);
    Ok(lines)
}

fn lanes(agents: Vec<(Option<NodeId>, Agent)>) -> Vec<AgentLane> {
    let lane = |(node, agent): (Option<NodeId>, Agent)| AgentLane {
        node,
        label: agent.meta.description.or(agent.words).unwrap_or_default(),
        id: agent.file.id,
        records: agent.records,
        depth: agent.depth,
    };
    agents.into_iter().map(lane).collect()
}
