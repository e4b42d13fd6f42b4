use ramus_app::{Address, NodeSelector, Workspace};
use ramus_core::body::RecordBody;
use ramus_core::digest::digest_resume_point;
use ramus_core::history::History;
use ramus_core::session::NodeId;
use ramus_render::Line;
use ramus_render::json::{self, Answer};
use ramus_render::lineage::lineage_lines;
use ramus_render::outline::{
    AgentEntry, OutlineConfig, draw_rows, drawing_legend, fill_reply_words, outline_rows,
};
use ramus_store::RecordReader;
use ramus_store::agents::SubAgent;

use crate::args::Global;
use crate::commands::conversations::wrapped_explanation;
use crate::env::{self, LocalClock};
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
    pub(crate) fn for_session(session: &str, around: Option<String>) -> Self {
        Self { session: session.to_owned(), around, depth: DEPTH, records: false }
    }
}

/// How many rows are near, unless told.
const DEPTH: usize = 10;

pub(crate) fn tree(ui: &mut Ui, global: &Global, args: &TreeArgs) -> Result<(), CommandError> {
    let source = env::read_source(ui, global, &args.session)?;
    let workspace = &source.workspace;
    let address = workspace.resolve_address(source.single_address()?)?;
    let history = workspace.read_history(&address.file.file)?;
    if ui.json {
        node_around(&history, &address.node, args.around.as_deref())?;
        let file = &address.file.file;
        let reverts = workspace.revert_outcomes(&address.file, &history);
        let family = workspace.session_family(&address.file, &history);
        let tree = json::from_tree(&file.id, &history, file.role.is_agent(), &family, &reverts);
        return ui.print_json(&Answer::new("ramus.tree/1", tree));
    }
    let lines = tree_lines(workspace, &address, args, ui.width)?;
    ui.start_pager();
    for line in lines {
        ui.print_line(&line)?;
    }
    if global.explain {
        let id = &address.file.file.id;
        for line in wrapped_explanation(id, digest_resume_point(&history).as_ref(), ui.width) {
            ui.print_line(&line)?;
        }
    }
    Ok(())
}

/// Finds the node that only the rows near it are wanted of.
fn node_around(
    history: &History,
    node: &NodeSelector,
    asked: Option<&str>,
) -> Result<Option<NodeId>, CommandError> {
    Ok(match asked {
        Some(uuid) => NodeSelector::Uuid(uuid.to_owned()).find_node(history)?,
        None => node.find_node(history)?,
    })
}

/// Returns the tree of a session, where it came from, and what the symbols mean.
pub(crate) fn tree_lines(
    workspace: &Workspace,
    address: &Address,
    args: &TreeArgs,
    width: usize,
) -> Result<Vec<Line>, CommandError> {
    let Address { file: found, node } = address;
    let history = workspace.read_history(&found.file)?;
    let around = node_around(&history, node, args.around.as_deref())?;
    if history.message_tree.is_empty() {
        return Err(CommandError::nothing_found("there is no conversation in this session"));
    }
    // Before the drawing is made, so that the two are not held at once.
    let mut lines = lineage_lines(&workspace.session_family(found, &history), false);
    let clock = LocalClock::new();
    let config = OutlineConfig {
        records: args.records,
        around,
        depth: args.depth,
        width,
        agents: agent_lanes(workspace.session_agents(found, &history)),
        reverts: workspace.revert_outcomes(found, &history),
        time: &|time| clock.short_time(time),
    };
    let mut rows = outline_rows(&history, &config);
    let mut bodies = RecordReader::open(&found.file.path)?;
    fill_reply_words(&history, &mut rows, &mut |node| {
        RecordBody::parse(&bodies.read_record(history.session.record(node).span).ok()?).ok()
    });
    let drawing = draw_rows(&rows, &config);
    let legend = drawing_legend(&drawing);
    lines.extend(drawing);
    lines.push(legend);
    Ok(lines)
}

fn agent_lanes(agents: Vec<(Option<NodeId>, SubAgent)>) -> Vec<AgentEntry> {
    let lane = |(node, agent): (Option<NodeId>, SubAgent)| AgentEntry {
        node,
        label: agent.meta.description.or(agent.words).unwrap_or_default(),
        id: agent.file.id,
        records: agent.records,
        depth: agent.depth,
    };
    agents.into_iter().map(lane).collect()
}
