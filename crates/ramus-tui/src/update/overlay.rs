//! Keys in overlays.

use std::path::{Path, PathBuf};

use ramus_render::Label;
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::Size;

use crate::event::{ChangeCommand, DocumentRequest, Effect, MarkedBranch, SavedFiles};
use crate::input::TextInput;
use crate::keys::KeyAction;
use crate::state::{Focus, InputPrompt, InputPromptKind, Overlay, ScreenState};

impl ScreenState {
    pub(super) fn overlay_key(&mut self, key: KeyEvent, action: Option<KeyAction>) -> Vec<Effect> {
        let body = self.screen_areas().body;
        let inner =
            Size { width: body.width.saturating_sub(4), height: body.height.saturating_sub(2) };
        let height = usize::from(inner.height);
        if action == Some(KeyAction::Back) {
            return self.close_overlay();
        }
        match &mut self.overlay {
            Some(Overlay::Document(page)) => match action {
                Some(KeyAction::Enter) => {
                    let question = page.selected_link().cloned();
                    let change = match &question {
                        Some(DocumentRequest::Operation(op)) => ChangeCommand::Undo(Some(*op)),
                        Some(DocumentRequest::Trashed(id)) => ChangeCommand::Restore(id.clone()),
                        _ => {
                            let page = question.map(|question| self.look_up(question));
                            return page.into_iter().collect();
                        }
                    };
                    self.close_overlay();
                    self.show_status("planning …", Label::Dim);
                    return vec![Effect::ApplyChange(change)];
                }
                Some(KeyAction::NextHit | KeyAction::NextPrompt) if page.page.has_stops => {
                    page.jump_to_stop(true, height);
                }
                Some(KeyAction::PreviousHit | KeyAction::PreviousPrompt) if page.page.has_stops => {
                    page.jump_to_stop(false, height);
                }
                Some(action) => {
                    page.apply_action(action, height);
                }
                None => {}
            },
            Some(Overlay::Branches(branches)) => match action {
                Some(KeyAction::Enter) => return self.choose_branch(),
                Some(KeyAction::Diff) => return self.mark_branch(),
                Some(action) => {
                    branches.apply_action(action, height);
                }
                None => {}
            },
            Some(Overlay::Agents(agents)) => match action {
                Some(KeyAction::Enter) => {
                    let agent = agents.agents[agents.cursor.at].clone();
                    self.overlay = None;
                    return self.open_agent_pane(&agent);
                }
                Some(action) => {
                    agents.apply_action(action, height);
                }
                None => {}
            },
            Some(Overlay::Palette(_)) => return self.palette_key(key, action),
            Some(Overlay::Menu(menu)) => match action {
                Some(KeyAction::Enter) => {
                    let chosen = menu.choose_selected();
                    return chosen.map(|effect| self.apply_choice(effect)).unwrap_or_default();
                }
                Some(action) => menu.apply_action(action, inner),
                None => {}
            },
            None => {}
        }
        Vec::new()
    }

    /// Does something with the file at the cursor of a page with files, or with all of them.
    pub(super) fn file_action(&mut self, action: KeyAction) -> Vec<Effect> {
        let Some(Overlay::Document(page)) = &self.overlay else { return Vec::new() };
        let Some(files) = page.page.files.clone() else { return Vec::new() };
        let own = match page.selected_link() {
            Some(DocumentRequest::File(at, path)) => {
                SavedFiles { at: at.clone(), only: Some(path.clone()) }
            }
            _ => files.clone(),
        };
        let is_all = matches!(
            action,
            KeyAction::AllFileChanges | KeyAction::SaveAllFiles | KeyAction::RestoreAllFiles
        );
        let files = if is_all { SavedFiles { only: None, ..files } } else { own };
        match action {
            KeyAction::FileChanges | KeyAction::AllFileChanges if !page.page.has_stops => {
                vec![self.look_up(DocumentRequest::FileChanges(files))]
            }
            KeyAction::SaveFile | KeyAction::SaveAllFiles => {
                let name = files.only.as_deref().map(|path| path.rsplit(['/', '\\']).next());
                let text = match name {
                    Some(name) => name.unwrap_or_default().to_owned(),
                    None => "ramus-files".to_owned(),
                };
                let input = TextInput::new(text);
                let kind = InputPromptKind::SaveFiles(files);
                self.prompt = Some(InputPrompt { kind, input });
                Vec::new()
            }
            KeyAction::RestoreFile | KeyAction::RestoreAllFiles => {
                self.show_status("planning …", Label::Dim);
                vec![Effect::ApplyChange(ChangeCommand::RestoreFiles(files))]
            }
            _ => Vec::new(),
        }
    }

    pub(super) fn save_files(&mut self, files: SavedFiles, to: &str) -> Vec<Effect> {
        let to = match to.trim().strip_prefix("~/") {
            Some(below) => Path::new(&self.list.home).join(below),
            None => PathBuf::from(to.trim()),
        };
        if to.as_os_str().is_empty() {
            self.show_status("nothing saved: no path was typed", Label::Dim);
            return Vec::new();
        }
        vec![Effect::SaveFiles(files, to)]
    }

    /// Runs the choice from a menu.
    pub(super) fn apply_choice(&mut self, effect: Option<Effect>) -> Vec<Effect> {
        self.overlay = None;
        if let Some(Effect::ApplyChange(ChangeCommand::Merge(..))) = effect {
            self.marked = None;
            self.show_status("planning …", Label::Dim);
        }
        effect.into_iter().collect()
    }

    /// Closes the overlay; a pending question is answered with no.
    pub(super) fn close_overlay(&mut self) -> Vec<Effect> {
        match self.overlay.take() {
            Some(Overlay::Menu(menu)) => menu.refusal_effect().into_iter().collect(),
            Some(Overlay::Document(page)) => {
                self.overlay = page.under.map(|under| *under);
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    pub(super) fn choose_branch(&mut self) -> Vec<Effect> {
        let Some(Overlay::Branches(branches)) = self.overlay.take() else { return Vec::new() };
        let Some(conversation) = branches.selected_conversation() else { return Vec::new() };
        let history = &branches.chapter.history;
        // What is new on a branch begins after the fork it was left at.
        let fork = conversation.fork_index.map(|fork| &history.branches.forks[fork]);
        let node = fork.map(|fork| history.message_tree.message(fork.message).head);
        if let Some(reading) = self.stack.last_mut() {
            reading.read_conversation(conversation.number);
            match node {
                Some(node) => reading.show_node_here(node),
                None => {
                    reading.apply_action(KeyAction::First);
                }
            }
        }
        self.focus = Focus::Transcript;
        self.earlier_effect().into_iter().collect()
    }

    fn mark_branch(&mut self) -> Vec<Effect> {
        let Some(Overlay::Branches(branches)) = &self.overlay else { return Vec::new() };
        let Some(conversation) = branches.selected_conversation() else { return Vec::new() };
        let side =
            MarkedBranch { chapter: branches.chapter.clone(), conversation: conversation.number };
        self.mark_or_compare(side)
    }
}
