//! Finds what to resume in Claude Code: the message, branch or session at the cursor.

use ramus_app::ResumeDecision;
use ramus_render::{Label, Line};

use crate::event::{Effect, JumpTarget, OpenRequest, ResumeChoice};
use crate::panes::menu::{MenuChoice, MenuPane};
use crate::state::{Focus, Overlay, ScreenState};

impl ScreenState {
    pub(super) fn resume_here(&mut self) -> Vec<Effect> {
        match self.resume_request() {
            Some(request) => {
                self.show_status("checking where Claude Code resumes …", Label::Dim);
                vec![Effect::PlanResume(Box::new(request))]
            }
            None => {
                self.show_status("nothing to resume here", Label::Dim);
                Vec::new()
            }
        }
    }

    /// Resumes, or asks how where Claude Code would resume elsewhere.
    pub(super) fn resume_planned(
        &mut self,
        request: OpenRequest,
        choice: ResumeChoice,
    ) -> Vec<Effect> {
        self.status_line = None;
        let resume = |request: &OpenRequest, decision| {
            Some(Effect::Resume(Box::new(request.clone()), decision))
        };
        let as_it_is = OpenRequest { target: JumpTarget::Resume, ..request.clone() };
        let stay =
            MenuChoice::new('r', "resume the session where it ended", resume(&as_it_is, None));
        let fork = MenuChoice::new(
            'f',
            "fork and resume: a new session up to here; this one is not changed",
            resume(&request, Some(ResumeDecision::Fork)),
        );
        let mut menu = match choice {
            ResumeChoice::AsItIs => return vec![Effect::Resume(Box::new(request), None)],
            ResumeChoice::GotoOrFork => {
                let label = "go there and resume: this session continues from here";
                let decision = resume(&request, Some(ResumeDecision::Goto));
                let goto = MenuChoice::new('g', label, decision);
                let mut menu = MenuPane::new("Resume", vec![stay, goto, fork]);
                let why = "Claude Code resumes this session at another message.";
                menu.lines = vec![Line::plain(why), Line::default()];
                menu
            }
            ResumeChoice::Fork(why) => {
                let mut menu = MenuPane::new("Resume", vec![stay, fork]);
                let why = format!("Cannot resume there in this session: {why}");
                menu.lines = vec![Line::plain(&why), Line::default()];
                menu
            }
        };
        menu.choices.push(MenuChoice::new('n', "nothing", None));
        self.overlay = Some(Overlay::Menu(menu));
        Vec::new()
    }

    pub(super) fn resume_request(&self) -> Option<OpenRequest> {
        match (&self.overlay, self.focus) {
            (Some(Overlay::Branches(branches)), _) => {
                let target = JumpTarget::Conversation(branches.selected_conversation()?.number);
                Some(self.list.request_for(&branches.chapter.file, target))
            }
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
