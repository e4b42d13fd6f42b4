use ramus_app::{Address, NodeSelector, Workspace};
use ramus_core::body::RecordBody;
use ramus_core::digest::digest_resume_point;
use ramus_core::history::History;
use ramus_core::session::NodeId;
use ramus_render::json::{self, Answer};
use ramus_render::lineage::lineage_lines;
use ramus_render::outline::{OutlineConfig, draw_outline};
use ramus_render::{Label, Line};
use ramus_store::RecordReader;

use crate::args::Global;
use crate::commands::archive::print_archived_note;
use crate::commands::conversations::wrapped_explanation;
use crate::completion;
use crate::env::{self, LocalClock};
use crate::error::CommandError;
use crate::scope;
use crate::ui::Ui;

/// Draw the tree of a session: fork points, branches, agents
///
/// Each row is a run of messages without a fork, with its first words. The branch that Claude Code
/// would resume runs straight down; abandoned branches are beside it. Use the id at the end of a row
/// as an address: `ramus show SESSION:ID`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramus tree latest
  ramus tree 7ea9 --around bd21 --depth 5
  ramus tree 7ea9 --records")]
pub(crate) struct TreeArgs {
    /// Sessions; `-` reads them from standard input
    #[arg(value_name = "SESSION", default_value = "latest", add = completion::sessions())]
    sessions: Vec<String>,
    /// Show only rows near this message
    #[arg(long, value_name = "UUID")]
    around: Option<String>,
    /// With --around, show rows that are at most N rows away from the message
    #[arg(long, value_name = "N", default_value_t = DEPTH)]
    depth: usize,
    /// Show one row per record
    #[arg(long)]
    records: bool,
}

impl TreeArgs {
    /// Which rows of a session's tree to show: all, or those near a node.
    pub(crate) fn for_session(session: &str, around: Option<String>) -> Self {
        Self { sessions: vec![session.to_owned()], around, depth: DEPTH, records: false }
    }
}

/// The default number of rows around a node.
const DEPTH: usize = 10;

pub(crate) fn tree(ui: &mut Ui, global: &Global, args: &TreeArgs) -> Result<(), CommandError> {
    let sessions = env::expand_addresses(&args.sessions)?;
    for session in &sessions {
        if sessions.len() > 1 && !ui.json {
            ui.start_pager();
            ui.print_line(&Line::new(&format!("── {session} ──"), Label::Heading))?;
        }
        print_tree(ui, global, args, session)?;
    }
    Ok(())
}

fn print_tree(
    ui: &mut Ui,
    global: &Global,
    args: &TreeArgs,
    session: &str,
) -> Result<(), CommandError> {
    let source = env::read_source(ui, global, session)?;
    let workspace = &source.workspace;
    let address = workspace.resolve_address(source.single_address()?)?;
    scope::print_scope_note(ui, workspace, Some(session));
    print_archived_note(ui, workspace, &address.file);
    let history = workspace.read_history(&address.file.file)?;
    if ui.json {
        node_around(&history, &address.node, args.around.as_deref())?;
        let file = &address.file.file;
        let reverts = workspace.revert_outcomes(&address.file, &history);
        let family = workspace.session_family(&address.file, &history);
        let tree = json::from_tree(&file.id, &history, file.role.is_agent(), &family, &reverts);
        let answer = Answer::new("ramus.tree/1", tree);
        return ui
            .print_json(&answer.with_scope(scope::address_scope(workspace, &address, session)));
    }
    let width = ui.width;
    draw_tree(workspace, &address, args, width, &mut |line| {
        ui.start_pager();
        Ok(ui.print_line(line)?)
    })?;
    if global.explain {
        let id = &address.file.file.id;
        for line in wrapped_explanation(id, digest_resume_point(&history).as_ref(), ui.width) {
            ui.print_line(&line)?;
        }
    }
    Ok(())
}

/// Finds the node of `--around`.
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
    let mut lines = Vec::new();
    draw_tree(workspace, address, args, width, &mut |line| {
        lines.push(line.clone());
        Ok(())
    })?;
    Ok(lines)
}

/// Draws the tree and passes on each line.
fn draw_tree(
    workspace: &Workspace,
    address: &Address,
    args: &TreeArgs,
    width: usize,
    each: &mut dyn FnMut(&Line) -> Result<(), CommandError>,
) -> Result<(), CommandError> {
    let Address { file: found, node } = address;
    let history = workspace.read_history(&found.file)?;
    let around = node_around(&history, node, args.around.as_deref())?;
    if history.message_tree.is_empty() {
        return Err(CommandError::nothing_found("this session has no conversations"));
    }
    let family = lineage_lines(&workspace.session_family(found, &history), None);
    let clock = LocalClock::new();
    let config = OutlineConfig {
        records: args.records,
        around,
        depth: args.depth,
        width,
        agents: workspace.agent_entries(found, &history),
        reverts: workspace.revert_outcomes(found, &history),
        time: &|time| clock.short_time(time),
    };
    let mut bodies = RecordReader::open(&found.file.path)?;
    let mut body =
        |node| RecordBody::parse(&bodies.read_record(history.session.record(node).span).ok()?).ok();
    family.iter().try_for_each(&mut *each)?;
    let legend = draw_outline(&history, &config, &mut body, each)?;
    each(&legend)
}
