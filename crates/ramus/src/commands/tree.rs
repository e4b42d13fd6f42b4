use std::collections::HashMap;

use ramus_core::agent::call_of;
use ramus_core::body::{Body, plain_text};
use ramus_core::digest::{one_line, resume_of};
use ramus_core::history::History;
use ramus_core::record::Voice;
use ramus_core::session::NodeId;
use ramus_render::json::{self, Answer};
use ramus_render::outline::{AgentLane, OutlineConfig, Row, RowKind, Words, draw, legend, outline};
use ramus_render::{Label, Line};
use ramus_store::Bodies;
use ramus_store::agents::{Agent, agents_of};
use ramus_store::place::FileRole;

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
    let history = library.read(&found)?;
    let around = match &args.around {
        Some(uuid) => node(&history, &Spot::Uuid(uuid.clone()))?,
        None => node(&history, &spot)?,
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
        agents: agents(ui, &library, &found, &history),
        time: &|time| clock.short(time),
    };
    let mut rows = outline(&history, &config);
    put_answers(&found, &history, &mut rows)?;
    ui.page();
    for line in draw(&rows, &config) {
        ui.line(&line)?;
    }
    if let Some((session, message)) = &history.session.facts().forked_from {
        let line =
            Line::new("forked from ", Label::Dim).with(session, Label::Id).with(" at ", Label::Dim);
        ui.line(&line.with(message, Label::Id))?;
    }
    ui.line(&legend())?;
    if global.explain {
        for line in explanation(&found.file.id, resume_of(&history).as_ref(), ui.width) {
            ui.line(&line)?;
        }
    }
    Ok(())
}

/// Gives the rows that an answer opens its first words, which only the file has.
fn put_answers(found: &Found, history: &History, rows: &mut [Row]) -> Result<(), CommandError> {
    let mut bodies = Bodies::open(&found.file.path)?;
    for row in rows {
        let opened = matches!(row.kind, RowKind::Run { opening: Voice::Answer | Voice::Synthetic });
        let is_answer =
            matches!(row.kind, RowKind::Record { voice: Voice::Answer | Voice::Synthetic, .. });
        let Some(fold) =
            history.folds.of(row.first).filter(|_| (opened || is_answer) && row.words.is_none())
        else {
            continue;
        };
        let members =
            if is_answer { std::slice::from_ref(&row.first) } else { history.folds.members(fold) };
        for &node in members {
            let body = Body::parse(&bodies.bytes(history.session.record(node).span)?).ok();
            let text = body
                .map(|body| one_line(&plain_text(body.blocks())))
                .filter(|text| !text.is_empty());
            if let Some(text) = text {
                row.words = Some(Words { node, text: text.chars().take(WORDS).collect() });
                break;
            }
        }
    }
    Ok(())
}

/// How many letters of an answer are enough for any row.
const WORDS: usize = 240;

/// Finds the agents of a session and the calls they hang at.
fn agents(ui: &mut Ui, library: &Library, found: &Found, history: &History) -> Vec<AgentLane> {
    let Some(project) = found.project.filter(|_| found.file.role == FileRole::Session) else {
        return Vec::new();
    };
    let (agents, problems) = agents_of(&library.projects[project].files, &found.file.id);
    for problem in &problems {
        ui.warn(problem);
    }
    let task = |agent: &Agent| agent.words.as_deref() != Some("Warmup");
    let calls: HashMap<String, NodeId> = agents
        .iter()
        .filter_map(|agent| Some((agent.file.id.clone(), call_of(history, &agent.hint)?)))
        .collect();
    // An agent that another one started hangs where that one does.
    let call = |agent: &Agent| {
        let starter = agent.meta.parent.as_ref();
        calls.get(&agent.file.id).or_else(|| calls.get(starter?)).copied()
    };
    let lane = |agent: Agent| AgentLane {
        node: call(&agent),
        label: agent.meta.description.or(agent.words).unwrap_or_default(),
        id: agent.file.id,
        records: agent.records,
    };
    agents.into_iter().filter(task).map(lane).collect()
}
