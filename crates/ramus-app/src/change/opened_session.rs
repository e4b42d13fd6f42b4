//! A session that is written to or from, read.

use std::path::PathBuf;
use std::sync::Arc;

use ramus_core::edit::{MessageSummary, end_of_message};
use ramus_core::history::History;
use ramus_core::session::NodeId;
use ramus_core::title::session_title;
use ramus_store::plan::SessionContext;
use ramus_store::{PathError, RecordReader};

use crate::address::{AddressError, NodeSelector, ResolvedFile};
use crate::message::message_summary;
use crate::workspace::Workspace;

/// A session that is written to or from, read.
#[derive(Debug)]
pub struct OpenedSession {
    pub found: ResolvedFile,
    pub history: Arc<History>,
    pub title: String,
    /// The start of the session's id that means no other one.
    pub short_id: String,
    root: Option<PathBuf>,
    dir: PathBuf,
}

impl OpenedSession {
    pub fn read_session(workspace: &Workspace, found: ResolvedFile) -> Result<Self, PathError> {
        let history = workspace.read_history(&found.file)?;
        let (digest, summaries) = workspace.digest_session(&found, &history);
        let title = session_title(&digest, &summaries).unwrap_or(&found.file.id).to_owned();
        let root = workspace.root_of(&found.file.path);
        let dir = found.project_dir().to_owned();
        let short_id = workspace.short_id(&found.file.id);
        Ok(Self { found, history, title, short_id, root, dir })
    }

    pub fn edit_subject(&self) -> SessionContext<'_> {
        SessionContext {
            root: self.root.as_deref(),
            dir: &self.dir,
            files: self.found.files_beside(),
            file: &self.found.file,
            history: &self.history,
            title: &self.title,
            short_id: &self.short_id,
        }
    }

    /// Finds the node that an address means: for a session, its resume point.
    pub fn find_node(&self, selector: &NodeSelector) -> Result<NodeId, AddressError> {
        let branches = &self.history.branches;
        let last = || branches.conversations.last().map(|conversation| conversation.leaf);
        selector
            .find_node(&self.history)?
            .or_else(|| branches.resume.map(|resume| resume.leaf))
            .or_else(last)
            .ok_or(AddressError::EmptySession)
    }

    /// Returns the uuid of the message that a node ends with.
    pub fn leaf_uuid(&self, node: NodeId) -> String {
        let session = &self.history.session;
        let end = end_of_message(&self.history, node).unwrap_or(node);
        session.record(end).uuid.map(|name| session.uuid_text(name)).unwrap_or_default()
    }

    /// Returns the working directory of the session, or an empty string if it is not recorded.
    pub fn working_directory(&self) -> &str {
        self.history.session.facts().cwd.as_deref().unwrap_or_default()
    }

    /// Returns the message of a node in one line; `None`: the record is no part of a message.
    pub fn message_summary(&self, node: NodeId) -> Result<Option<MessageSummary>, PathError> {
        let messages = &self.history.message_tree;
        let Some(message_id) = messages.message_of(node) else { return Ok(None) };
        let mut bodies = RecordReader::open(&self.found.file.path)?;
        let mut message = message_summary(&self.history, &mut bodies, message_id)?;
        if message.text.is_empty() {
            for above in messages.ancestors(message_id).skip(1) {
                let MessageSummary { role, text, .. } =
                    message_summary(&self.history, &mut bodies, above)?;
                if !text.is_empty() {
                    message.above = Some((role, text));
                    break;
                }
            }
        }
        Ok(Some(message))
    }

    /// Whether Claude Code resumes at the message of a node now.
    pub(super) fn resumes_at(&self, node: NodeId) -> bool {
        let messages = &self.history.message_tree;
        self.history.branches.resume.is_some_and(|resume| {
            messages.message_of(resume.leaf) == messages.message_of(node)
                && self.leaf_uuid(resume.leaf) == self.leaf_uuid(node)
        })
    }
}
