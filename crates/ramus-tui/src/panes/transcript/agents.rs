//! Agents opened in place, below the calls that started them.

use std::sync::Arc;

use ramus_core::session::NodeId;

use super::{BlockKey, StageRole, TranscriptItemKind, TranscriptPane, TranscriptStage};
use crate::event::{AgentInfo, Chapter, JumpTarget, OpenMode, OpenRequest, OpenedChapter};

impl TranscriptPane {
    /// Returns the agents that the block at the cursor started itself, and the stage it belongs to.
    pub(crate) fn agents_here(&self) -> (u32, Vec<&AgentInfo>) {
        let Some(item) = self.items.get(self.cursor) else { return (0, Vec::new()) };
        let stage = &self.stages[item.stage];
        let known = match stage.part {
            StageRole::Main => &self.agents,
            StageRole::Agent { .. } | StageRole::Earlier => &stage.agents,
        };
        let TranscriptItemKind::Block(range) = &item.kind else { return (stage.id, Vec::new()) };
        let folds = &stage.chapter.history.message_tree;
        let is_here = |agent: &&AgentInfo| {
            let fold = agent.call.and_then(|call| folds.message_of(call));
            agent.depth == 0
                && fold.is_some_and(|fold| stage.path.messages[range.clone()].contains(&fold))
        };
        (stage.id, known.iter().filter(is_here).collect())
    }

    /// Closes the agent at whose heading the cursor is, or those that were opened at the block there,
    /// with all that were opened in them; `false`: there are none.
    pub(crate) fn close_agents(&mut self) -> bool {
        let Some(item) = self.items.get(self.cursor) else { return false };
        let key = self.block_key(self.cursor);
        let mut above = key;
        let mut closed: Vec<u32> = if item.kind == TranscriptItemKind::Agent {
            above = (0..self.cursor)
                .rev()
                .find(|at| self.items[*at].depth < item.depth)
                .and_then(|at| self.block_key(at));
            vec![self.stages[item.stage].id]
        } else {
            let (stage, agents) = self.agents_here();
            let calls: Vec<NodeId> = agents.iter().filter_map(|agent| agent.call).collect();
            let is_here = |part: &StageRole| matches!(part, StageRole::Agent { parent_stage, call, .. } if *parent_stage == stage && calls.contains(call));
            self.stages.iter().filter(|stage| is_here(&stage.part)).map(|stage| stage.id).collect()
        };
        let mut at = 0;
        while let Some(closing) = closed.get(at).copied() {
            let is_inside = |stage: &&TranscriptStage| matches!(stage.part, StageRole::Agent { parent_stage, .. } if parent_stage == closing);
            closed.extend(self.stages.iter().filter(is_inside).map(|stage| stage.id));
            at += 1;
        }
        self.stages.retain(|stage| !closed.contains(&stage.id));
        if !closed.is_empty() {
            self.rebuild_items();
            self.go_to_key(above);
        }
        !closed.is_empty()
    }

    /// Returns what it takes to open an agent. `None`: its records are in the file that is read.
    pub(crate) fn agent_request(
        &self,
        agent: &AgentInfo,
        opening: OpenMode,
    ) -> Option<OpenRequest> {
        Some(OpenRequest {
            file: agent.file.clone()?,
            files: self.chapter.files.clone(),
            project: self.chapter.project.clone(),
            target: JumpTarget::Resume,
            opening,
        })
    }

    /// Puts an agent's records below the call that started it.
    pub(crate) fn open_agent(&mut self, opened: OpenedChapter) {
        let OpenedChapter { chapter, target, opening, agents } = opened;
        let OpenMode::Here { stage: of, call, label } = opening else { return };
        let Some(path) = path_to_target(&chapter, &target) else { return };
        let id = self.new_stage();
        let part = StageRole::Agent { parent_stage: of, call, label };
        let key = self.block_key(self.cursor);
        self.stages.push(TranscriptStage { chapter, path: Arc::new(path), part, id, agents });
        self.rebuild_items();
        self.go_to_key(key);
    }

    fn go_to_key(&mut self, key: Option<BlockKey>) {
        let found =
            (0..self.items.len()).find(|item| key.is_some() && self.block_key(*item) == key);
        if let Some(item) = found {
            self.cursor = item;
            self.reveal_cursor();
        }
    }
}

fn path_to_target(
    chapter: &Chapter,
    target: &JumpTarget,
) -> Option<ramus_core::history::ConversationPath> {
    let history = &chapter.history;
    let branches = &history.branches;
    match target {
        JumpTarget::Node(last) => history.path_to(*last),
        _ => {
            branches.main_conversation().map(|conversation| history.conversation_path(conversation))
        }
    }
}
