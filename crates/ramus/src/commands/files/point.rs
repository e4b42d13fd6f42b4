//! What an address comes down to: a moment, and the files at it.

use std::io::Write;
use std::path::PathBuf;

use ramus_core::body::Body;
use ramus_core::compare::Stretch;
use ramus_core::files::{self, Backups, FileState, Held, Moment, moment};
use ramus_core::history::{History, Path};
use ramus_core::session::NodeId;
use ramus_core::time::Time;
use ramus_render::json::FilesPoint;
use ramus_store::trace::{Part, trace};
use ramus_store::{Bodies, FileHistory, PathError};

use crate::error::CommandError;
use crate::select::{Library, Spot, node};
use crate::ui::Ui;

/// The files of a session at one moment.
pub(super) struct Point {
    pub(super) session: String,
    /// The session's file, and the Claude directory it lies in.
    pub(super) file: PathBuf,
    pub(super) root: Option<PathBuf>,
    pub(super) node: Option<String>,
    pub(super) time: Option<Time>,
    /// The first words of the prompt, if the moment is that of one.
    pub(super) words: Option<String>,
    pub(super) is_before: bool,
    /// Where the session ran; empty if it does not say.
    pub(super) cwd: String,
    pub(super) files: Vec<FileState>,
    pub(super) backups: FileHistory,
}

impl Point {
    pub(super) fn open(
        ui: &mut Ui,
        library: &Library,
        address: &str,
    ) -> Result<Self, CommandError> {
        let (found, spot) = library.address(ui, address)?;
        let history = library.read(&found)?;
        let (path, node, moment) = meant(&history, &spot)?;
        let record = history.session.record(node);
        let (name, time) = (record.name.map(|name| history.session.spell(name)), record.time);
        let words = history.session.words(node).map(str::to_owned);
        let beside = library.files_beside(&found);
        let (session, file) = (found.file.id.clone(), found.file.path.clone());
        let root = library.root_of(&file);
        let parts = trace(beside, found.file, history, path, library.rule)?;
        let mut backups = FileHistory::open(library.roots(), &parts);
        let files = read(&parts, moment, &mut backups)?;
        let facts = parts.last().map(|part| part.history.session.facts());
        let cwd = facts.and_then(|facts| facts.cwd.as_deref()).unwrap_or_default().to_owned();
        let is_before = moment.sent.is_some();
        Ok(Self { session, file, root, node: name, time, words, is_before, cwd, files, backups })
    }

    /// Returns the size of a file. `None`: there is none, or it is not known.
    pub(super) fn size(&mut self, file: &FileState) -> Option<u64> {
        match &file.held {
            Held::Backup(backup) => self.backups.size(backup),
            Held::Bytes(bytes) => Some(bytes.len() as u64),
            Held::Absent | Held::Unknown => None,
        }
    }

    /// Returns the bytes of a file that is not too large to be held.
    pub(super) fn bytes(&mut self, file: &FileState) -> Option<Vec<u8>> {
        match &file.held {
            Held::Backup(backup) => self.backups.read(backup),
            Held::Bytes(bytes) => Some(bytes.clone()),
            Held::Absent | Held::Unknown => None,
        }
    }

    /// Returns the permissions a file had, where its backup tells.
    pub(super) fn mode(&self, file: &FileState) -> Option<u32> {
        match &file.held {
            Held::Backup(backup) => self.backups.mode(backup),
            _ => None,
        }
    }

    /// Copies the bytes of a file of any size.
    pub(super) fn copy(&self, file: &FileState, out: &mut dyn Write) -> Result<(), CommandError> {
        match &file.held {
            Held::Backup(backup) => drop(self.backups.copy(backup, out)?),
            Held::Bytes(bytes) => out.write_all(bytes)?,
            Held::Absent | Held::Unknown => {}
        }
        Ok(())
    }

    pub(super) fn json(&self) -> FilesPoint {
        FilesPoint {
            session: self.session.clone(),
            node: self.node.clone(),
            moment: if self.is_before { "before" } else { "after" },
            cwd: (!self.cwd.is_empty()).then(|| self.cwd.clone()),
        }
    }
}

/// Finds the node and the conversation that a spot means; what is said later tells of what was before.
fn meant(history: &History, spot: &Spot) -> Result<(Path, NodeId, Moment), CommandError> {
    let nothing = || CommandError::nothing("there is no conversation in this session");
    let branches = &history.branches;
    let resuming = branches.resuming().or(branches.conversations.last());
    let wanted = match (spot, node(history, spot)?) {
        (_, Some(node)) => node,
        (_, None) => match (branches.resume, resuming) {
            (Some(resume), _) => resume.leaf,
            (None, Some(resuming)) => resuming.leaf,
            (None, None) => return Err(nothing()),
        },
    };
    let conversation = match spot {
        Spot::Nth(_) => branches.conversations.iter().find(|way| way.leaf == wanted),
        _ => history.conversation_of(wanted),
    };
    let ways = [conversation.map(|way| history.path(way)), history.path_to(wanted)];
    let found = ways.into_iter().flatten().find_map(|path| {
        let moment = moment(history, &path, wanted)?;
        Some((path, wanted, moment))
    });
    found.ok_or_else(nothing)
}

/// Reads the files of a moment, bodies and backups from the disk as they are needed.
pub(crate) fn read(
    parts: &[Part],
    moment: Moment,
    backups: &mut FileHistory,
) -> Result<Vec<FileState>, CommandError> {
    let open = |part: &Part| Bodies::open(&part.file.path);
    let mut bodies = parts.iter().map(open).collect::<Result<Vec<_>, PathError>>()?;
    let mut problem = None;
    let mut body = |part: usize, id: NodeId| {
        let span = parts[part].history.session.record(id).span;
        match bodies[part].bytes(span) {
            Ok(bytes) => Body::parse(&bytes).ok(),
            Err(error) => {
                problem = Some(error);
                None
            }
        }
    };
    let stretches: Vec<Stretch<'_>> =
        parts.iter().map(|part| Stretch { history: &part.history, path: &part.path }).collect();
    let files = files::files(&stretches, moment, &mut body, backups);
    match problem {
        Some(problem) => Err(problem.into()),
        None => Ok(files),
    }
}
