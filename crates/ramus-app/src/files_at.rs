//! The files of a project as they were at a message (R22).

use ramus_core::files::place::named;
use ramus_core::files::{FileState, Held};
use ramus_core::history::{History, Path};
use ramus_core::session::NodeId;
use ramus_store::files_at::FilesAt;

use crate::address::{Address, AddressError, NodeSelector};
use crate::workspace::Workspace;

/// How many files an ambiguous name lists.
const CANDIDATES: usize = 12;

/// Why there is no content of a file to show.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("no tool of this conversation knew {0:?}")]
    NotNamed(String),
    #[error("{name:?} could be {} files:{}", .paths.len(), listed(.paths))]
    Ambiguous { name: String, paths: Vec<String> },
    #[error("{0} did not exist")]
    Absent(String),
    #[error("cannot tell what {path} held: {why}")]
    NotKnown { path: String, why: String },
    #[error("the backup of {0} is gone")]
    BackupGone(String),
}

fn listed(paths: &[String]) -> String {
    paths.iter().take(CANDIDATES).map(|path| format!("\n  {path}")).collect()
}

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

/// Finds the file that a path or the end of one means; `here` is where relative paths may begin.
pub fn find_file(files: &FilesAt, name: &str, here: &str) -> Result<FileState, FileError> {
    let paths = files.files.iter().map(|file| file.path.as_str());
    let found = named(paths, name, &[files.moment.cwd.as_str(), here]);
    match found[..] {
        [path] => {
            let file = files.files.iter().find(|file| file.path == path).cloned();
            file.ok_or_else(|| FileError::NotNamed(name.to_owned()))
        }
        [] => Err(FileError::NotNamed(name.to_owned())),
        ref several => Err(FileError::Ambiguous {
            name: name.to_owned(),
            paths: several.iter().map(|path| (*path).to_owned()).collect(),
        }),
    }
}

/// Fails where it is not known what a file held.
pub fn check_held(file: &FileState) -> Result<(), FileError> {
    match &file.held {
        Held::Backup(_) | Held::Bytes(_) => Ok(()),
        Held::Absent => Err(FileError::Absent(file.path.clone())),
        Held::Unknown => {
            let note = file.note();
            let why = if note.is_empty() { "nobody wrote it down".to_owned() } else { note };
            Err(FileError::NotKnown { path: file.path.clone(), why })
        }
    }
}

/// Returns what a file held.
pub fn held_bytes(files: &mut FilesAt, file: &FileState) -> Result<Vec<u8>, FileError> {
    check_held(file)?;
    files.bytes(file).ok_or_else(|| FileError::BackupGone(file.path.clone()))
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
