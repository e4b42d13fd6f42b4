//! What is resumed in Claude Code: the message, branch or session at the cursor.

use ramus_render::Label;

use crate::event::{Effect, JumpTarget, OpenRequest};
use crate::state::{Focus, Overlay, ScreenState};

impl ScreenState {
    pub(super) fn resume_here(&mut self) -> Vec<Effect> {
        match self.resume_request() {
            Some(request) => vec![Effect::Resume(Box::new(request))],
            None => {
                self.show_status("nothing to resume here", Label::Dim);
                Vec::new()
            }
        }
    }

    fn resume_request(&self) -> Option<OpenRequest> {
        match (&self.overlay, self.focus) {
            (Some(Overlay::Branches(branches)), _) => {
                let target = JumpTarget::Conversation(branches.selected_conversation()?.number);
                Some(self.list.request_for(&branches.chapter.file, target))
            }
            (Some(Overlay::Results(_)), _) => self.result_request(),
            (Some(_), _) => None,
            (None, Focus::List) => self.list.chosen_request(),
            (None, Focus::Transcript | Focus::Tree) => {
                let reading = self.open_transcript()?;
                let (stage, node) = reading.node_of(reading.cursor)?;
                Some(self.list.request_for(&stage.chapter.file, JumpTarget::Node(node)))
            }
        }
    }
}
