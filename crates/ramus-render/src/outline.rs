//! A session's tree as rows, and the rows as a drawing.
//!
//! The rows are what the command line, the terminal screens and the web page
//! share; [`draw()`] is the one picture of them in characters. The way to the
//! resume point is lane 0 and reads as a straight line from the oldest record to
//! the newest. Whatever was left hangs beside it, one lane further out for each
//! fork at which it was left. So the lanes tell how far something is from what
//! counts, not how long the conversation is, and stay few.

use ramus_core::body::Body;
use ramus_core::branches::{ForkKind, Status};
use ramus_core::files::{Revert, Reverts};
use ramus_core::history::History;
use ramus_core::record::{Kind, Voice};
use ramus_core::session::NodeId;
use ramus_core::time::Time;
use ramus_core::turn::message_label;

mod walk;

mod run;

mod row;

mod side;

mod around;

mod words;

mod draw;

#[cfg(test)]
mod tests;

pub use draw::{draw, legend};

/// What to show of a tree, and how.
#[derive(Clone)]
pub struct OutlineConfig<'a> {
    /// Every node is a row of its own, instead of one row for a linear stretch.
    pub records: bool,
    /// Show only what is near this node.
    pub around: Option<NodeId>,
    /// How many rows away still is near.
    pub depth: usize,
    /// The columns there are.
    pub width: usize,
    /// The agents that have files of their own.
    pub agents: Vec<AgentLane>,
    /// Whether the files went back too, by the prompt that begins the new branch; where it is known.
    pub reverts: Reverts,
    /// Writes a time in its short form.
    pub time: &'a dyn Fn(Time) -> String,
}

/// An agent whose records are in a file of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentLane {
    /// The call that started it, or its result. `None`: not known.
    pub node: Option<NodeId>,
    pub id: String,
    pub label: String,
    pub records: u32,
    /// How many agents lie between it and the session. It follows the one that started it.
    pub depth: u8,
}

/// One row of an outline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// How far beside the main line, which is 0.
    pub lane: usize,
    pub edge: Edge,
    pub kind: RowKind,
    pub first: NodeId,
    /// The record to go to from here: the last message of a run, the node at which a fork forks.
    pub last: NodeId,
    /// The name of `last` as it is spelled in the file; for an agent in a file
    /// of its own, the agent's id. Empty: there is none.
    pub id: String,
    /// The start of the id that means no other record of the session.
    pub short_id: String,
    /// The first words said. Answers have none here, because their text is not
    /// kept; whoever reads the bodies can put them in.
    pub words: Option<Words>,
    /// When it began.
    pub time: Option<Time>,
    /// When it ended.
    pub until: Option<Time>,
    pub status: Status,
    /// The model never answered here.
    pub draft: bool,
    /// The client would continue from here.
    pub resumes: bool,
    /// Displayable messages (R16).
    pub messages: u32,
    pub records: u32,
    pub marks: Marks,
}

/// How a row hangs together with the rows above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// Begins a tree.
    Root,
    /// Goes on in its lane.
    Straight,
    /// Leaves the lane before its own.
    Branch,
}

/// What a row stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowKind {
    /// A stretch without forks; who opens it.
    Run { opening: Voice },
    /// A place with several ways. Those that were left follow it, the current one comes last.
    Fork { kind: ForkKind, ways: usize, files: Option<Revert> },
    /// One record; `side`: of an agent.
    Record { kind: Kind, voice: Voice, side: bool },
    /// The boundary at which the conversation was compacted.
    Compaction,
    /// What an agent did. `None`: in this file, where agents have no ids.
    Sidechain { agent: Option<String> },
    /// The heading of one tree among several.
    Tree { n: usize, of: usize },
    /// Records that hang at no conversation.
    Loose,
    /// Rows left out because they are not near.
    Elided { rows: usize },
}

/// The beginning of something said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    pub node: NodeId,
    pub text: String,
    /// They are those of the answer that opens the row.
    pub opens: bool,
}

/// What else happened in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// `/name` of each command.
    pub commands: Vec<String>,
    pub interrupts: u32,
    pub errors: u32,
}

/// All rows of a session's tree, and which of them each node came to.
#[derive(Clone, Debug, Default)]
pub struct Outline {
    pub rows: Vec<Row>,
    row_of: Vec<Option<usize>>,
}

impl Outline {
    /// Returns all rows, oldest first, wherever `config` looks around.
    pub fn new(history: &History, config: &OutlineConfig<'_>) -> Self {
        walk::walk(history, config)
    }

    /// Returns the row a node is on. `None`: the record is no node.
    pub fn row_of(&self, node: NodeId) -> Option<usize> {
        self.row_of.get(node.0 as usize).copied().flatten()
    }
}

/// Returns the rows of a session's tree, oldest first.
pub fn outline(history: &History, config: &OutlineConfig<'_>) -> Vec<Row> {
    let outline = Outline::new(history, config);
    let row = config.around.and_then(|node| outline.row_of(history.tree.first(node)));
    match row {
        Some(row) => around::around(outline.rows, row, config.depth),
        None => outline.rows,
    }
}

/// Gives the rows that an answer opens its first words, which only the bodies have; and a name to prompts without words.
pub fn put_answers(
    history: &History,
    rows: &mut [Row],
    bodies: &mut dyn FnMut(NodeId) -> Option<Body>,
) {
    for row in rows {
        let members = match row.kind {
            // A prompt further down says less about it than what it opens with.
            RowKind::Run { opening: Voice::Answer } => opening_fold(history, row.first),
            RowKind::Run { opening: Voice::Synthetic | Voice::Prompt } if row.words.is_none() => {
                opening_fold(history, row.first)
            }
            RowKind::Record { voice: Voice::Answer | Voice::Synthetic, .. } => {
                Some(std::slice::from_ref(&row.first))
            }
            _ => None,
        };
        let members = members.unwrap_or_default();
        if let Some(label) = message_label(members, bodies) {
            row.words = Some(Words { node: label.node, text: label.text, opens: true });
        }
    }
}

/// Returns the records of the message that a row begins with.
fn opening_fold(history: &History, first: NodeId) -> Option<&[NodeId]> {
    let fold = history.folds.of(first)?;
    let voice = history.folds.fold(fold).voice;
    voice.is_displayable().then(|| history.folds.members(fold))
}
