//! What opens from the list: the session, conversation or passage at the cursor.

use std::sync::Arc;

use ramus_app::NodeSelector;
use ramus_store::claude_dir::HistoryFile;

use super::{ListPane, ListRow, ProjectRow, prompts_document};
use crate::event::{Effect, JumpTarget, NodeAddress, OpenMode, OpenRequest};

impl ListPane {
    pub(super) fn open_selected(&mut self) -> Vec<Effect> {
        let Some(row) = self.rows.get(self.cursor.at).copied() else { return Vec::new() };
        match row {
            ListRow::Project(p) => self.toggle_row(self.is_closed(&self.projects[p])),
            ListRow::Deleted => self.toggle_row(!self.shows_gone),
            ListRow::Gone(n) => {
                let gone = &self.gone[n];
                return vec![Effect::Show(prompts_document(
                    &gone.id,
                    &gone.prompts,
                    &self.short_ids,
                ))];
            }
            ListRow::Session(..) | ListRow::Conversation(..) | ListRow::Passage(..) => {
                let request = self.chosen_request();
                return request
                    .map(|request| Effect::Open(Box::new(request)))
                    .into_iter()
                    .collect();
            }
        }
        Vec::new()
    }

    /// Returns the session or conversation at the cursor; `None`: there is none.
    pub(crate) fn chosen_request(&self) -> Option<OpenRequest> {
        match *self.rows.get(self.cursor.at)? {
            ListRow::Session(p, s) => match self.best_passage(p, s) {
                // What was found is why it is listed.
                Some(found) => Some(self.passage_request(found)),
                None => {
                    let request = self.open_request(p, s, JumpTarget::Resume);
                    Some(match self.search.has_request() {
                        true => OpenRequest { opening: OpenMode::Titled, ..request },
                        false => request,
                    })
                }
            },
            ListRow::Passage(.., found) => Some(self.passage_request(found)),
            ListRow::Conversation(p, s, c) => {
                let conversation = self.session_at(p, s).conversations[c].n;
                Some(self.open_request(p, s, JumpTarget::Conversation(conversation)))
            }
            ListRow::Project(_) | ListRow::Deleted | ListRow::Gone(_) => None,
        }
    }

    /// Returns the conversation at the cursor, or the one that resumes of the session there.
    pub(crate) fn selected_branch(&self) -> Option<NodeAddress> {
        let (p, s, n) = match *self.rows.get(self.cursor.at)? {
            ListRow::Session(p, s) | ListRow::Passage(p, s, _) => {
                let all = &self.session_at(p, s).conversations;
                (p, s, all.iter().find(|one| one.resumes).or(all.last())?.n)
            }
            ListRow::Conversation(p, s, c) => (p, s, self.session_at(p, s).conversations[c].n),
            ListRow::Project(_) | ListRow::Deleted | ListRow::Gone(_) => return None,
        };
        let file = self.session_at(p, s).file.path.clone();
        Some(NodeAddress { file, node: NodeSelector::Nth(n as usize) })
    }

    /// Returns the first passage below the row of a session, which is at the cursor.
    fn best_passage(&self, p: usize, s: usize) -> Option<usize> {
        // Who types a title means the session.
        let title = self.session_at(p, s).title.as_deref().unwrap_or_default();
        if !self.words.is_empty() && self.words.words_missing_from(&[title]).is_empty() {
            return None;
        }
        let below = self.rows.get(self.cursor.at + 1..)?.iter();
        let own = below.map_while(|row| match *row {
            ListRow::Passage(of, nth, found) if (of, nth) == (p, s) => Some(Some(found)),
            ListRow::Conversation(of, nth, _) if (of, nth) == (p, s) => Some(None),
            _ => None,
        });
        own.flatten().next()
    }

    /// Returns how to open a passage that was found, at its place.
    fn passage_request(&self, found: usize) -> OpenRequest {
        let message = &self.search.messages[found];
        let target = message.node.map_or(JumpTarget::Resume, JumpTarget::Node);
        let sessions = self.projects.iter().flat_map(|project| &project.sessions);
        let session = sessions.map(|session| &session.file).find(|file| file.id == message.session);
        // Spilled outputs are opened through their session.
        let file = session.filter(|_| message.spilled).unwrap_or(&message.file);
        OpenRequest { opening: OpenMode::Hit, ..self.request_for(file, target) }
    }

    fn open_request(&self, p: usize, s: usize, target: JumpTarget) -> OpenRequest {
        let project = &self.projects[p];
        OpenRequest {
            file: project.sessions[s].file.clone(),
            files: project.files.clone(),
            project: self.shorten_path(&project.label),
            target,
            opening: OpenMode::New,
        }
    }

    /// Finds the project of a file and returns how to open it.
    pub(crate) fn request_for(&self, file: &HistoryFile, target: JumpTarget) -> OpenRequest {
        let holds = |project: &&ProjectRow| project.files.iter().any(|held| held.path == file.path);
        let project = self.projects.iter().find(holds);
        OpenRequest {
            file: file.clone(),
            files: project.map_or_else(|| Arc::from([]), |project| project.files.clone()),
            project: project.map_or_else(String::new, |project| self.shorten_path(&project.label)),
            target,
            opening: OpenMode::New,
        }
    }
}
