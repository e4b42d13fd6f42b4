//! What keys do in what lies over the panes.

use ramus_render::Label;
use ratatui::crossterm::event::KeyEvent;

use crate::event::{Deed, Effect, OpenRequest, Opening, Side, Target};
use crate::keys::{self, Action};
use crate::panes::list::prompts_page;
use crate::state::{Focus, Overlay, State};

impl State {
    pub(super) fn overlay_key(&mut self, key: KeyEvent, action: Option<Action>) -> Vec<Effect> {
        let height = usize::from(self.areas().body.height).saturating_sub(2);
        if action == Some(Action::Back) {
            return self.close_overlay();
        }
        match &mut self.overlay {
            Some(Overlay::Page(page)) => match action {
                Some(Action::Enter) => {
                    let question = page.question().cloned();
                    return question.map(|question| self.look_up(question)).into_iter().collect();
                }
                Some(action) => {
                    page.update(action, height);
                }
                None => {}
            },
            Some(Overlay::Branches(branches)) => match action {
                Some(Action::Enter) => return self.choose_branch(),
                None if keys::plain_letter(key) == Some('d') => return self.mark_branch(),
                Some(action) => {
                    branches.update(action, height);
                }
                None => {}
            },
            Some(Overlay::Agents(agents)) => match action {
                Some(Action::Enter) => {
                    let agent = agents.agents[agents.cursor.at].clone();
                    self.overlay = None;
                    return self.open_agent_pane(&agent);
                }
                Some(action) => {
                    agents.update(action, height);
                }
                None => {}
            },
            Some(Overlay::Results(results)) => match action {
                Some(Action::Enter) => return self.choose_result(),
                Some(action) => {
                    results.update(action, height);
                }
                None => {}
            },
            Some(Overlay::Menu(menu)) => {
                if let Some(action) = action {
                    menu.update(action, height);
                }
            }
            None => {}
        }
        Vec::new()
    }

    /// Does what was chosen from a menu.
    pub(super) fn chosen(&mut self, effect: Option<Effect>) -> Vec<Effect> {
        self.overlay = None;
        if let Some(Effect::Do(Deed::Merge(..))) = effect {
            self.marked = None;
            self.say("planning …", Label::Dim);
        }
        effect.into_iter().collect()
    }

    /// Closes what lies over the panes; whoever asks there hears a no.
    pub(super) fn close_overlay(&mut self) -> Vec<Effect> {
        match self.overlay.take() {
            Some(Overlay::Menu(menu)) => menu.refused().into_iter().collect(),
            Some(Overlay::Page(page)) => {
                self.overlay = page.under.map(|under| *under);
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    pub(super) fn choose_branch(&mut self) -> Vec<Effect> {
        let Some(Overlay::Branches(branches)) = self.overlay.take() else { return Vec::new() };
        let Some(conversation) = branches.chosen() else { return Vec::new() };
        let history = &branches.chapter.history;
        // What is new on a branch begins after the fork it was left at.
        let fork = conversation.fork.map(|fork| &history.branches.forks[fork]);
        let node = fork.map(|fork| history.folds.fold(fork.fold).head);
        if let Some(reading) = self.stack.last_mut() {
            reading.read_conversation(conversation.n);
            match node {
                Some(node) => reading.show_node_here(node),
                None => {
                    reading.go(Action::First);
                }
            }
        }
        self.focus = Focus::Transcript;
        self.earlier().into_iter().collect()
    }

    fn mark_branch(&mut self) -> Vec<Effect> {
        let Some(Overlay::Branches(branches)) = &self.overlay else { return Vec::new() };
        let Some(conversation) = branches.chosen() else { return Vec::new() };
        let side = Side { chapter: branches.chapter.clone(), conversation: conversation.n };
        self.mark(side)
    }

    pub(super) fn choose_result(&mut self) -> Vec<Effect> {
        let Some(Overlay::Results(results)) = &self.overlay else { return Vec::new() };
        let Some(message) = results.messages.get(results.cursor.at) else { return Vec::new() };
        if let Some(prompt) = &message.lost {
            return vec![Effect::Show(prompts_page(&message.session, [prompt]))];
        }
        let Some(request) = self.result_request() else { return Vec::new() };
        vec![Effect::Open(Box::new(OpenRequest { opening: Opening::Hit, ..request }))]
    }

    /// Returns where the chosen message is; `None`: its session is gone.
    pub(super) fn result_request(&self) -> Option<OpenRequest> {
        let Some(Overlay::Results(results)) = &self.overlay else { return None };
        let message = results.messages.get(results.cursor.at)?;
        let target = message.node.map_or(Target::Resume, Target::Node);
        let sessions = self.list.projects.iter().flat_map(|project| &project.sessions);
        let session = sessions.map(|session| &session.file).find(|file| file.id == message.session);
        // What is kept beside a session is read with the session.
        let own = message.file.as_ref();
        let file = if message.spilled { session.or(own) } else { own };
        Some(self.list.request_for(file?, target))
    }
}
