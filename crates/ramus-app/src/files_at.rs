//! The files of a project as of a message (R22).

use ramus_core::files::file_path::paths_named;
use ramus_core::files::{FileContent, FileState};
use ramus_core::history::{ConversationPath, History};
use ramus_core::session::NodeId;
use ramus_store::files_at::FilesAt;

use crate::address::{Address, AddressError, NodeSelector};
use crate::workspace::Workspace;

/// How many files an ambiguous name lists.
const MAX_CANDIDATES: usize = 12;

/// Why there is no content of a file to show.
#[derive(Debug, thiserror::Error)]
pub enum FileLookupError {
    #[error("no file matches {0:?} in this conversation")]
    NotNamed(String),
    #[error("{name:?} matches {} files:{}", .paths.len(), candidate_lines(.paths))]
    Ambiguous { name: String, paths: Vec<String> },
    #[error("{0} did not exist")]
    Absent(String),
    #[error("content of {path} is unknown: {why}")]
    NotKnown { path: String, why: String },
    #[error("the backup of {0} no longer exists")]
    BackupGone(String),
}

fn candidate_lines(paths: &[String]) -> String {
    paths.iter().take(MAX_CANDIDATES).map(|path| format!("\n  {path}")).collect()
}

impl Workspace {
    /// Returns the files at an address. For a session, that is its resume point.
    pub fn files_at(&self, address: &Address) -> Result<FilesAt, AddressError> {
        let Address { file: found, node } = address;
        let history = self.read_history(&found.file)?;
        let meant = resolve_point(&history, node)?;
        let (beside, file) = (found.files_beside(), found.file.clone());
        let files =
            FilesAt::open(self.claude_roots(), beside, file, history, meant, self.resume_rule())?;
        files.ok_or(AddressError::EmptySession)
    }
}

/// Finds the file that a path or the end of one means; `here` is where relative paths may begin.
pub fn find_file(files: &FilesAt, name: &str, here: &str) -> Result<FileState, FileLookupError> {
    let paths = files.files.iter().map(|file| file.path.as_str());
    let found = paths_named(paths, name, &[files.moment.cwd.as_str(), here]);
    match found[..] {
        [path] => {
            let file = files.files.iter().find(|file| file.path == path).cloned();
            file.ok_or_else(|| FileLookupError::NotNamed(name.to_owned()))
        }
        [] => Err(FileLookupError::NotNamed(name.to_owned())),
        ref several => Err(FileLookupError::Ambiguous {
            name: name.to_owned(),
            paths: several.iter().map(|path| (*path).to_owned()).collect(),
        }),
    }
}

/// Fails if the content of a file is unknown.
pub fn require_content(file: &FileState) -> Result<(), FileLookupError> {
    match &file.content {
        FileContent::Backup(_) | FileContent::Bytes(_) => Ok(()),
        FileContent::Absent => Err(FileLookupError::Absent(file.path.clone())),
        FileContent::Unknown => {
            let note = file.doubt_note();
            let why =
                if note.is_empty() { "its content was not recorded".to_owned() } else { note };
            Err(FileLookupError::NotKnown { path: file.path.clone(), why })
        }
    }
}

/// Returns the content of a file.
pub fn file_bytes(files: &mut FilesAt, file: &FileState) -> Result<Vec<u8>, FileLookupError> {
    require_content(file)?;
    files.file_bytes(file).ok_or_else(|| FileLookupError::BackupGone(file.path.clone()))
}

/// Finds the node that an address means, and the path of its conversation.
fn resolve_point(
    history: &History,
    selector: &NodeSelector,
) -> Result<(Option<ConversationPath>, NodeId), AddressError> {
    let branches = &history.branches;
    let resumes = || branches.resume.map(|resume| resume.leaf);
    let main = || branches.main_conversation().map(|conversation| conversation.leaf);
    let wanted = selector.find_node(history)?.or_else(resumes).or_else(main);
    let wanted = wanted.ok_or(AddressError::EmptySession)?;
    let conversation = match selector {
        NodeSelector::Nth(_) => branches.conversations.iter().find(|branch| branch.leaf == wanted),
        _ => history.conversation_of(wanted),
    };
    Ok((conversation.map(|branch| history.conversation_path(branch)), wanted))
}
