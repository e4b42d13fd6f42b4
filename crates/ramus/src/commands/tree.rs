use ramus_app::{Address, NodeSelector, ResolvedFile};
use ramus_core::body::Body;
use ramus_core::digest::resume_of;
use ramus_core::history::History;
use ramus_core::session::NodeId;
use ramus_render::json::{self, Answer};
use ramus_render::outline::{AgentLane, OutlineConfig, draw, legend, outline, put_answers};
use ramus_render::{Label, Line};
use ramus_store::Bodies;
use ramus_store::agents::{Agent, agents_of, with_calls};
use ramus_store::place::FileRole;

use crate::args::Global;
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
    /// Asks for the whole tree of a session.
    pub(crate) fn of(session: &str) -> Self {
        Self { session: session.to_owned(), around: None, depth: DEPTH, records: false }
    }
}

/// How many rows are near, unless told.
const DEPTH: usize = 10;

pub(crate) fn tree(ui: &mut Ui, global: &Global, args: &TreeArgs) -> Result<(), CommandError> {
    let workspace = env::workspace_for(ui, global, &args.session)?;
    let Address { file: found, node: spot } = workspace.address(&args.session)?;
    let history = workspace.read(&found.file)?;
    let around = match &args.around {
        Some(uuid) => NodeSelector::Uuid(uuid.clone()).node(&history)?,
        None => spot.node(&history)?,
    };
    if ui.json {
        return ui.json(&Answer::new(
            "ramus.tree/1",
            json::tree(&found.file.id, &history, found.file.role.is_agent()),
        ));
    }
    if history.folds.is_empty() {
        return Err(CommandError::nothing("there is no conversation in this session"));
    }
    let clock = Clock::new();
    let config = OutlineConfig {
        records: args.records,
        around,
        depth: args.depth,
        width: ui.width,
        agents: agents(ui, &found, &history),
        time: &|time| clock.short(time),
    };
    let mut rows = outline(&history, &config);
    let mut bodies = Bodies::open(&found.file.path)?;
    put_answers(&history, &mut rows, &mut |node| {
        Body::parse(&bodies.bytes(history.session.record(node).span).ok()?).ok()
    });
    ui.page();
    let drawing = draw(&rows, &config);
    for line in &drawing {
        ui.line(line)?;
    }
    if let Some((session, message)) = &history.session.facts().forked_from {
        let line =
            Line::new("forked from ", Label::Dim).with(session, Label::Id).with(" at ", Label::Dim);
        ui.line(&line.with(message, Label::Id))?;
    } else if let Some((last, rest)) = history.session.facts().merged_from.split_last() {
        let mut line = Line::new("merged from ", Label::Dim);
        for (n, session) in rest.iter().enumerate() {
            let between = if n == 0 { "" } else { ", " };
            line = line.with(between, Label::Dim).with(session, Label::Id);
        }
        let between = if rest.is_empty() { "" } else { " and " };
        ui.line(&line.with(between, Label::Dim).with(last, Label::Id))?;
    }
    ui.line(&legend(&drawing))?;
    if global.explain {
        for line in explanation(&found.file.id, resume_of(&history).as_ref(), ui.width) {
            ui.line(&line)?;
        }
    }
    Ok(())
}

/// Finds the agents of a session and the calls they hang at.
fn agents(ui: &Ui, found: &ResolvedFile, history: &History) -> Vec<AgentLane> {
    if found.file.role != FileRole::Session {
        return Vec::new();
    }
    let (agents, problems) = agents_of(found.files_beside(), &found.file.id);
    for problem in &problems {
        ui.warn(problem);
    }
    let lane = |(node, agent): (Option<NodeId>, Agent)| AgentLane {
        node,
        label: agent.meta.description.or(agent.words).unwrap_or_default(),
        id: agent.file.id,
        records: agent.records,
        depth: agent.depth,
    };
    with_calls(agents, history).into_iter().map(lane).collect()
}
