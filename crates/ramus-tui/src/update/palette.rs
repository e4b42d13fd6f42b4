//! The palette of actions, and actions on a whole session.

use ramus_app::{NodeSelector, ResumeDecision};
use ramus_core::annotation::Annotation;
use ramus_render::Label;
use ratatui::crossterm::event::KeyEvent;

use crate::event::{AnnotationEdit, ChangeCommand, DocumentRequest, Effect, NodeAddress};
use crate::keys::KeyAction;
use crate::panes::branches::move_in;
use crate::panes::palette::PalettePane;
use crate::state::{Focus, InputPromptKind, Overlay, ScreenState};

impl ScreenState {
    pub(super) fn open_palette(&mut self) -> Vec<Effect> {
        let effects = self.close_overlay();
        self.overlay = Some(Overlay::Palette(PalettePane::new(&self.keys)));
        effects
    }

    pub(super) fn palette_key(&mut self, key: KeyEvent, action: Option<KeyAction>) -> Vec<Effect> {
        let height = usize::from(self.screen_areas().body.height).saturating_sub(3);
        let Some(Overlay::Palette(palette)) = &mut self.overlay else { return Vec::new() };
        match action {
            Some(KeyAction::Enter) => {
                let chosen = palette.selected_action();
                self.overlay = None;
                return chosen.map(|action| self.run_action(action)).unwrap_or_default();
            }
            Some(action) if move_in(&mut palette.cursor, action, palette.rows.len(), height) => {}
            _ => {
                if palette.input.type_key(key) {
                    palette.update_rows(&self.keys);
                }
            }
        }
        Vec::new()
    }

    /// Does what a key would do that is bound to an action.
    fn run_action(&mut self, action: KeyAction) -> Vec<Effect> {
        match action {
            KeyAction::Quit => return vec![Effect::Quit],
            KeyAction::Redraw => return vec![Effect::Redraw],
            KeyAction::Suspend => return vec![Effect::Suspend],
            KeyAction::Find => return self.open_search(),
            KeyAction::Help => return self.show_help(),
            KeyAction::Resume => return self.resume_here(),
            KeyAction::Archive => return self.archive_all(),
            KeyAction::Rename => return self.open_prompt(InputPromptKind::Rename),
            KeyAction::Trash => return self.trash_session(),
            KeyAction::Log => return vec![self.look_up(DocumentRequest::Log)],
            KeyAction::Pin => return self.annotate_here(AnnotationEdit::TogglePin),
            KeyAction::Tag => return self.open_prompt(InputPromptKind::Tag),
            KeyAction::Note => return self.open_prompt(InputPromptKind::Note),
            KeyAction::Undo => return vec![Effect::ApplyChange(ChangeCommand::Undo(None))],
            KeyAction::NextPane => return self.next_pane(),
            KeyAction::SessionUsage
            | KeyAction::Pack
            | KeyAction::Restore
            | KeyAction::ForkResume
            | KeyAction::CopyResume
            | KeyAction::Export => {
                return self.session_action(action);
            }
            _ => {}
        }
        let height = self.screen_areas().list.map_or(1, |area| usize::from(area.height));
        if self.focus == Focus::List {
            if let Some(effects) = self.list.apply_action(action, height) {
                return effects;
            }
            if self.stack.is_empty() {
                self.show_status("open a session first: this is about a transcript", Label::Dim);
                return Vec::new();
            }
            self.focus = Focus::Transcript;
        } else if matches!(action, KeyAction::Everywhere | KeyAction::ByRepository) {
            self.focus = Focus::List;
            return self.list.apply_action(action, height).unwrap_or_default();
        }
        self.reading_action(action)
    }

    /// Does what concerns a session as a whole, from the list and from its transcript.
    pub(super) fn session_action(&mut self, action: KeyAction) -> Vec<Effect> {
        if action == KeyAction::Restore {
            return vec![self.look_up(DocumentRequest::Trash)];
        }
        if action == KeyAction::Export {
            self.export_menu();
            return Vec::new();
        }
        if matches!(action, KeyAction::ForkResume | KeyAction::CopyResume) {
            let Some(request) = self.resume_request() else {
                self.show_status("nothing to resume here", Label::Dim);
                return Vec::new();
            };
            return vec![match action {
                KeyAction::ForkResume => {
                    Effect::Resume(Box::new(request), Some(ResumeDecision::Fork))
                }
                _ => Effect::CopyResume(Box::new(request)),
            }];
        }
        let Some(NodeAddress { file, .. }) = self.session_here() else {
            self.show_status("no session here", Label::Dim);
            return Vec::new();
        };
        if action == KeyAction::Pack {
            self.show_status("packing …", Label::Dim);
            return vec![Effect::Pack(file)];
        }
        self.show_status("adding up …", Label::Dim);
        vec![self.look_up(DocumentRequest::Usage(file))]
    }

    /// Returns the address of the session at the cursor.
    pub(super) fn session_here(&self) -> Option<NodeAddress> {
        let file = match self.focus {
            Focus::List => self.list.selected_session_file()?.to_owned(),
            Focus::Transcript | Focus::Tree => self.stack.first()?.chapter.file.path.clone(),
        };
        Some(NodeAddress { file, node: NodeSelector::Resume })
    }

    /// Returns the pin, tags and note of what `annotate_here` would change.
    pub(super) fn annotation_here(&self) -> Option<&Annotation> {
        let reading = self.visible_transcript();
        match reading.and_then(|reading| reading.node_of(reading.cursor)) {
            Some((stage, node)) => {
                self.list.annotations.get(&stage.chapter.annotation_target(node))
            }
            None => {
                let session = self.list.session_of(&self.session_here()?.file)?;
                self.list.annotations.session_annotation(&session.file.id)
            }
        }
    }

    /// Pins, tags or notes the message at the cursor, or the session in the list.
    pub(super) fn annotate_here(&mut self, edit: AnnotationEdit) -> Vec<Effect> {
        let reading = self.visible_transcript();
        let message = reading.and_then(|reading| reading.node_of(reading.cursor));
        let message = message.map(|(stage, node)| stage.chapter.node_address(node));
        let Some(at) = message.or_else(|| self.session_here()) else {
            self.show_status("no session here", Label::Dim);
            return Vec::new();
        };
        vec![Effect::Annotate(at, edit)]
    }

    pub(super) fn trash_session(&mut self) -> Vec<Effect> {
        self.plan_on_session(ChangeCommand::Trash)
    }

    pub(super) fn rename_session(&mut self, title: &str) -> Vec<Effect> {
        let title = title.trim().to_owned();
        if title.is_empty() {
            self.show_status("nothing changed: no title was typed", Label::Dim);
            return Vec::new();
        }
        self.plan_on_session(|at| ChangeCommand::Rename(at, title))
    }

    fn plan_on_session(
        &mut self,
        change: impl FnOnce(NodeAddress) -> ChangeCommand,
    ) -> Vec<Effect> {
        let Some(at) = self.session_here() else {
            self.show_status("no session here", Label::Dim);
            return Vec::new();
        };
        self.show_status("planning …", Label::Dim);
        vec![Effect::ApplyChange(change(at))]
    }
}
