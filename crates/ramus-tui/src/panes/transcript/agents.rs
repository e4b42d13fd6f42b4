//! Agents opened in place, below the calls that started them.

use std::sync::Arc;

use ramus_core::session::NodeId;

use super::{ItemKind, Key, Part, Stage, Transcript};
use crate::event::{AgentInfo, Chapter, OpenRequest, Opened, Opening, Target};

impl Transcript {
    /// Returns the agents that the block at the cursor started itself, and the stage it belongs to.
    pub(crate) fn agents_here(&self) -> (u32, Vec<&AgentInfo>) {
        let Some(item) = self.items.get(self.cursor) else { return (0, Vec::new()) };
        let stage = &self.stages[item.stage];
        let known = match stage.part {
            Part::Main => &self.agents,
            Part::Agent { .. } | Part::Earlier => &stage.agents,
        };
        let ItemKind::Block(range) = &item.kind else { return (stage.id, Vec::new()) };
        let folds = &stage.chapter.history.folds;
        let is_here = |agent: &&AgentInfo| {
            let fold = agent.call.and_then(|call| folds.of(call));
            agent.depth == 0
                && fold.is_some_and(|fold| stage.path.folds[range.clone()].contains(&fold))
        };
        (stage.id, known.iter().filter(is_here).collect())
    }

    /// Closes the agent at whose heading the cursor is, or those that were opened at the block there,
    /// with all that were opened in them; `false`: there are none.
    pub(crate) fn close_agents(&mut self) -> bool {
        let Some(item) = self.items.get(self.cursor) else { return false };
        let key = self.key(self.cursor);
        let mut above = key;
        let mut closed: Vec<u32> = if item.kind == ItemKind::Agent {
            above = (0..self.cursor)
                .rev()
                .find(|at| self.items[*at].depth < item.depth)
                .and_then(|at| self.key(at));
            vec![self.stages[item.stage].id]
        } else {
            let (stage, agents) = self.agents_here();
            let calls: Vec<NodeId> = agents.iter().filter_map(|agent| agent.call).collect();
            let is_here = |part: &Part| matches!(part, Part::Agent { of, call, .. } if *of == stage && calls.contains(call));
            self.stages.iter().filter(|stage| is_here(&stage.part)).map(|stage| stage.id).collect()
        };
        let mut at = 0;
        while let Some(closing) = closed.get(at).copied() {
            let is_inside =
                |stage: &&Stage| matches!(stage.part, Part::Agent { of, .. } if of == closing);
            closed.extend(self.stages.iter().filter(is_inside).map(|stage| stage.id));
            at += 1;
        }
        self.stages.retain(|stage| !closed.contains(&stage.id));
        if !closed.is_empty() {
            self.rebuild();
            self.go_to_key(above);
        }
        !closed.is_empty()
    }

    /// Returns what it takes to open an agent. `None`: its records are in the file that is read.
    pub(crate) fn agent_request(&self, agent: &AgentInfo, opening: Opening) -> Option<OpenRequest> {
        Some(OpenRequest {
            file: agent.file.clone()?,
            files: self.chapter.files.clone(),
            project: self.chapter.project.clone(),
            target: Target::Resume,
            opening,
        })
    }

    /// Puts an agent's records below the call that started it.
    pub(crate) fn open_agent(&mut self, opened: Opened) {
        let Opened { chapter, target, opening, agents } = opened;
        let Opening::Here { stage: of, call, label } = opening else { return };
        let Some(path) = path_of(&chapter, &target) else { return };
        let id = self.new_stage();
        let part = Part::Agent { of, call, label };
        let key = self.key(self.cursor);
        self.stages.push(Stage { chapter, path: Arc::new(path), part, id, agents });
        self.rebuild();
        self.go_to_key(key);
    }

    fn go_to_key(&mut self, key: Option<Key>) {
        let found = (0..self.items.len()).find(|item| key.is_some() && self.key(*item) == key);
        if let Some(item) = found {
            self.cursor = item;
            self.reveal();
        }
    }
}

fn path_of(chapter: &Chapter, target: &Target) -> Option<ramus_core::history::Path> {
    let history = &chapter.history;
    let branches = &history.branches;
    match target {
        Target::Node(last) => history.path_to(*last),
        _ => branches.main().map(|conversation| history.path(conversation)),
    }
}
