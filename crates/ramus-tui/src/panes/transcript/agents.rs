//! Agents opened in place, below the calls that started them.

use std::sync::Arc;

use ramus_core::session::NodeId;

use super::{ItemKind, Key, Part, Stage, Transcript};
use crate::event::{AgentInfo, Chapter, Opening, Target};

impl Transcript {
    /// Returns the agents that the block at the cursor started.
    pub(crate) fn agents_here(&self) -> Vec<&AgentInfo> {
        let Some(item) = self.items.get(self.cursor) else { return Vec::new() };
        let stage = &self.stages[item.stage];
        let ItemKind::Block(range) = &item.kind else { return Vec::new() };
        if stage.part != Part::Main {
            return Vec::new();
        }
        let folds = &stage.chapter.history.folds;
        let is_here = |agent: &&AgentInfo| {
            let fold = agent.call.and_then(|call| folds.of(call));
            fold.is_some_and(|fold| stage.path.folds[range.clone()].contains(&fold))
        };
        self.agents.iter().filter(is_here).collect()
    }

    /// Closes the agents opened at the block at the cursor; `false`: there are none.
    pub(crate) fn close_agents(&mut self) -> bool {
        let calls: Vec<NodeId> = self.agents_here().iter().filter_map(|agent| agent.call).collect();
        let before = self.stages.len();
        self.stages.retain(
            |stage| !matches!(&stage.part, Part::Agent { call, .. } if calls.contains(call)),
        );
        let closed = self.stages.len() < before;
        if closed {
            let key = self.key(self.cursor);
            self.rebuild();
            self.go_to_key(key);
        }
        closed
    }

    /// Puts an agent's records below the call that started it.
    pub(crate) fn open_agent(&mut self, chapter: &Arc<Chapter>, target: &Target, at: &Opening) {
        let Opening::Here { call, depth } = at else { return };
        let history = &chapter.history;
        let path = match target {
            Target::Node(last) => history.path_to(*last),
            _ => history.branches.main().map(|c| history.path(c)),
        };
        let Some(path) = path else { return };
        let of = self.main().id;
        let id = self.new_stage();
        let part = Part::Agent { of, call: *call, depth: *depth };
        let key = self.key(self.cursor);
        self.stages.push(Stage { chapter: chapter.clone(), path: Arc::new(path), part, id });
        self.rebuild();
        self.go_to_key(key);
    }

    fn go_to_key(&mut self, key: Option<Key>) {
        let found = (0..self.items.len()).find(|item| self.key(*item) == key);
        if let Some(item) = found {
            self.cursor = item;
            self.reveal();
        }
    }
}
