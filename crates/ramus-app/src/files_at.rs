//! The files of a project as they were at a message (R22).

use ramus_core::history::{History, Path};
use ramus_core::session::NodeId;
use ramus_store::files_at::FilesAt;

use crate::address::{Address, AddressError, NodeSelector};
use crate::workspace::Workspace;

impl Workspace {
    /// Returns the files at an address; a session alone means where the client would continue.
    pub fn files_at(&self, address: &Address) -> Result<FilesAt, AddressError> {
        let Address { file: found, node } = address;
        let history = self.read(&found.file)?;
        let meant = meant(&history, node)?;
        let (beside, file) = (found.files_beside(), found.file.clone());
        let files = FilesAt::open(self.roots(), beside, file, history, meant, self.rule())?;
        files.ok_or(AddressError::EmptySession)
    }
}

/// Finds the node that is meant, and the path of the conversation it is looked at on.
fn meant(
    history: &History,
    selector: &NodeSelector,
) -> Result<(Option<Path>, NodeId), AddressError> {
    let branches = &history.branches;
    let resumes = || branches.resume.map(|resume| resume.leaf);
    let main = || branches.main().map(|conversation| conversation.leaf);
    let wanted = selector.node(history)?.or_else(resumes).or_else(main);
    let wanted = wanted.ok_or(AddressError::EmptySession)?;
    let conversation = match selector {
        NodeSelector::Nth(_) => branches.conversations.iter().find(|way| way.leaf == wanted),
        _ => history.conversation_of(wanted),
    };
    Ok((conversation.map(|way| history.path(way)), wanted))
}
