//! What is resumed in Claude Code: the message, branch or session at the cursor.

use ramus_render::Label;

use crate::event::{Effect, OpenRequest, Target};
use crate::state::{Focus, Overlay, State};

impl State {
    pub(super) fn resume_here(&mut self) -> Vec<Effect> {
        match self.resume_request() {
            Some(request) => vec![Effect::Resume(Box::new(request))],
            None => {
                self.say("nothing to resume here", Label::Dim);
                Vec::new()
            }
        }
    }

    fn resume_request(&self) -> Option<OpenRequest> {
        match (&self.overlay, self.focus) {
            (Some(Overlay::Branches(branches)), _) => {
                let target = Target::Conversation(branches.chosen()?.n);
                Some(self.list.request_for(&branches.chapter.file, target))
            }
            (Some(Overlay::Results(_)), _) => self.result_request(),
            (Some(_), _) => None,
            (None, Focus::List) => self.list.chosen_request(),
            (None, Focus::Transcript | Focus::Tree) => {
                let reading = self.reading()?;
                let (stage, node) = reading.node(reading.cursor)?;
                Some(self.list.request_for(&stage.chapter.file, Target::Node(node)))
            }
        }
    }
}
