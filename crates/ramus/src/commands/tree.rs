use std::sync::Arc;

use ramus_core::body::Body;
use ramus_core::digest::resume_of;
use ramus_core::history::History;
use ramus_core::session::NodeId;
use ramus_render::json::{self, Answer};
use ramus_render::lineage::lineage;
use ramus_render::outline::{AgentLane, OutlineConfig, draw, legend, outline, put_answers};
use ramus_store::Bodies;
use ramus_store::agents::{Agent, agents_of, with_calls};
use ramus_store::place::FileRole;
use ramus_store::reverts::reverts;

use crate::args::Global;
use crate::commands::conversations::explanation;
use crate::env::Clock;
use crate::error::CommandError;
use crate::select::{Found, Library, Spot, node};
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
    let library = Library::open_for(ui, global, &args.session)?;
    let (found, spot) = library.address(ui, &args.session)?;
    let history = Arc::new(library.read(&found)?);
    let around = match &args.around {
        Some(uuid) => node(&history, &Spot::Uuid(uuid.clone()))?,
        None => node(&history, &spot)?,
    };
    let reverts =
        reverts(library.roots(), library.files_beside(&found), &found.file, &history, library.rule);
    let family = library.family(ui, &found);
    if ui.json {
        let is_agent = found.file.role.is_agent();
        let tree = json::tree(&found.file.id, &history, is_agent, &family, &reverts);
        return ui.json(&Answer::new("ramus.tree/1", tree));
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
        agents: agents(ui, &library, &found, &history),
        reverts,
        time: &|time| clock.short(time),
    };
    let mut rows = outline(&history, &config);
    let mut bodies = Bodies::open(&found.file.path)?;
    put_answers(&history, &mut rows, &mut |node| {
        Body::parse(&bodies.bytes(history.session.record(node).span).ok()?).ok()
    });
    ui.page();
    for line in lineage(&family, false) {
        ui.line(&line)?;
    }
    let drawing = draw(&rows, &config);
    for line in &drawing {
        ui.line(line)?;
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
fn agents(ui: &mut Ui, library: &Library, found: &Found, history: &History) -> Vec<AgentLane> {
    let Some(project) = found.project.filter(|_| found.file.role == FileRole::Session) else {
        return Vec::new();
    };
    let (agents, problems) = agents_of(&library.projects[project].files, &found.file.id);
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
