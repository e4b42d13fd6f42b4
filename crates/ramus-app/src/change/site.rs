//! A session that is written to or from, read.

use std::path::PathBuf;
use std::sync::Arc;

use ramus_core::edit::{MessageSummary, end_of_message};
use ramus_core::history::History;
use ramus_core::session::NodeId;
use ramus_core::title::session_title;
use ramus_store::plan::Subject;
use ramus_store::{Bodies, PathError};

use crate::address::{AddressError, NodeSelector, ResolvedFile};
use crate::message::message_summary;
use crate::workspace::Workspace;

/// A session that is written to or from, read.
#[derive(Debug)]
pub struct Site {
    pub found: ResolvedFile,
    pub history: Arc<History>,
    pub title: String,
    /// The start of the session's id that means no other one.
    pub short_id: String,
    root: Option<PathBuf>,
    dir: PathBuf,
}

impl Site {
    pub fn read(workspace: &Workspace, found: ResolvedFile) -> Result<Self, PathError> {
        let history = workspace.read(&found.file)?;
        let (digest, summaries) = workspace.digest(&found, &history);
        let title = session_title(&digest, &summaries).unwrap_or(&found.file.id).to_owned();
        let root = workspace.root_of(&found.file.path);
        let dir = found.dir().to_owned();
        let short_id = workspace.short_id(&found.file.id);
        Ok(Self { found, history, title, short_id, root, dir })
    }

    pub fn subject(&self) -> Subject<'_> {
        Subject {
            root: self.root.as_deref(),
            dir: &self.dir,
            files: self.found.files_beside(),
            file: &self.found.file,
            history: &self.history,
            title: &self.title,
        }
    }

    /// Finds the node that is meant: a session alone means its resume point.
    pub fn node(&self, selector: &NodeSelector) -> Result<NodeId, AddressError> {
        let branches = &self.history.branches;
        let last = || branches.conversations.last().map(|conversation| conversation.leaf);
        selector
            .node(&self.history)?
            .or_else(|| branches.resume.map(|resume| resume.leaf))
            .or_else(last)
            .ok_or(AddressError::EmptySession)
    }

    /// Returns the uuid of the message that a node ends with.
    pub fn leaf(&self, node: NodeId) -> String {
        let session = &self.history.session;
        let end = end_of_message(&self.history, node).unwrap_or(node);
        session.record(end).name.map(|name| session.spell(name)).unwrap_or_default()
    }

    /// Returns the directory that the session ran in; empty if it does not say.
    pub fn cwd(&self) -> &str {
        self.history.session.facts().cwd.as_deref().unwrap_or_default()
    }

    /// Returns the message of a node in one line; `None`: the record is no part of a message.
    pub fn message(&self, node: NodeId) -> Result<Option<MessageSummary>, PathError> {
        let folds = &self.history.folds;
        let Some(fold) = folds.of(node) else { return Ok(None) };
        let mut bodies = Bodies::open(&self.found.file.path)?;
        let mut message = message_summary(&self.history, &mut bodies, fold)?;
        if message.text.is_empty() {
            for above in folds.ancestors(fold).skip(1) {
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
        let folds = &self.history.folds;
        self.history.branches.resume.is_some_and(|resume| {
            folds.of(resume.leaf) == folds.of(node) && self.leaf(resume.leaf) == self.leaf(node)
        })
    }
}
