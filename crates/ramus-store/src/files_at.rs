//! The user's files as of a message (R22), and a plan to restore them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ramus_core::body::Body;
use ramus_core::compare::Stretch;
use ramus_core::files::restore::{Change, How, OnDisk, Restore, restore};
use ramus_core::files::{self, Backup, Backups, FileState, FilesMoment, Held, Moment, moment};
use ramus_core::history::{self, History};
use ramus_core::name::short_id;
use ramus_core::resume::Rule;
use ramus_core::session::NodeId;

use crate::error::PathError;
use crate::file_history::FileHistory;
use crate::on_disk::on_disk;
use crate::place::HistoryFile;
use crate::plan::{Content, FileBack, Plan, restore_files};
use crate::read::Bodies;
use crate::trace::{Part, trace};

/// The permissions of a new file without a backup.
const USUAL: u32 = 0o644;

/// The user's files as of a message.
#[derive(Debug)]
pub struct FilesAt {
    pub session: String,
    /// The session's file, and the Claude directory that contains it.
    pub file: PathBuf,
    pub root: Option<PathBuf>,
    pub moment: FilesMoment,
    pub files: Vec<FileState>,
    pub backups: FileHistory,
}

impl FilesAt {
    /// Works out the files at a node. `along` is the preferred path, used if the node is on it.
    ///
    /// The path matters because later records on it show earlier contents. `None`: the node is
    /// not part of a conversation.
    pub fn open(
        roots: &[PathBuf],
        beside: &[HistoryFile],
        file: HistoryFile,
        history: Arc<History>,
        (along, node): (Option<history::Path>, NodeId),
        rule: Rule,
    ) -> Result<Option<Self>, PathError> {
        let ways = [along, history.path_to(node)].into_iter().flatten();
        let found =
            { ways }.find_map(|path| moment(&history, &path, node).map(|moment| (path, moment)));
        let Some((path, moment)) = found else { return Ok(None) };
        let record = history.session.record(node);
        let (name, time) = (record.name.map(|name| history.session.spell(name)), record.time);
        let words = history.session.words(node).map(str::to_owned);
        let (session, at) = (file.id.clone(), file.path.clone());
        let root = roots.iter().find(|root| at.starts_with(root)).cloned();
        let parts = trace(beside, file, history, path, rule)?;
        let mut backups = FileHistory::open(roots, &parts);
        let files = files_of(&parts, moment, &mut backups)?;
        let facts = parts.last().map(|part| part.history.session.facts());
        let cwd = facts.and_then(|facts| facts.cwd.as_deref()).unwrap_or_default().to_owned();
        let is_before = moment.sent.is_some();
        let moment = FilesMoment { node: name, time, words, is_before, cwd };
        Ok(Some(Self { session, file: at, root, moment, files, backups }))
    }

    /// Returns the files with their sizes.
    pub fn sized_files(&mut self) -> Vec<(FileState, Option<u64>)> {
        let files = self.files.clone();
        files.into_iter().map(|file| (file.clone(), self.size(&file))).collect()
    }

    /// Returns the size of a file. `None`: it did not exist, or its content is unknown.
    pub fn size(&mut self, file: &FileState) -> Option<u64> {
        match &file.held {
            Held::Backup(backup) => self.backups.size(backup),
            Held::Bytes(bytes) => Some(bytes.len() as u64),
            Held::Absent | Held::Unknown => None,
        }
    }

    /// Returns the bytes of a file. `None`: unknown, absent, or too large for memory.
    pub fn bytes(&mut self, file: &FileState) -> Option<Vec<u8>> {
        match &file.held {
            Held::Backup(backup) => self.backups.read(backup),
            Held::Bytes(bytes) => Some(bytes.clone()),
            Held::Absent | Held::Unknown => None,
        }
    }

    /// Returns the permissions a file had, if it has a backup.
    pub fn mode(&self, file: &FileState) -> Option<u32> {
        match &file.held {
            Held::Backup(backup) => self.backups.mode(backup),
            _ => None,
        }
    }

    /// Plans to put files back where they were. `None`: they are as they were then.
    ///
    /// Where a file or a backup cannot be looked at, nothing is planned: what is left out would pass
    /// for put back.
    pub fn put_back<'a>(
        &self,
        files: &'a [FileState],
        outside: bool,
    ) -> Result<(Restore<'a>, Option<Plan>), PathError> {
        let cwd = PathBuf::from(&self.moment.cwd);
        let mut problem = None;
        let mut look = |file: &FileState| {
            on_disk(file, &cwd, &self.backups).unwrap_or_else(|error| {
                problem.get_or_insert(error);
                OnDisk::NotAFile
            })
        };
        let wanted = restore(files, &self.moment.cwd, outside, &mut look);
        if let Some(problem) = problem.or_else(|| self.backups.take_problem()) {
            return Err(problem);
        }
        if wanted.changes.is_empty() {
            return Ok((wanted, None));
        }
        let mut back = Vec::new();
        for change in &wanted.changes {
            let (path, content) = (PathBuf::from(&change.file.path), self.content(change)?);
            back.push(FileBack { path, content });
        }
        let when = if self.moment.is_before { "before" } else { "after" };
        let node = self.moment.node.as_deref().unwrap_or_default();
        let words = format!("{} files as {when} {}", back.len(), short_id(node));
        let plan = restore_files(&self.session, &self.file, self.root.as_deref(), words, back)?;
        Ok((wanted, Some(plan)))
    }

    /// Returns what a file is to hold. `None`: it is not to be there, and that is known.
    fn content(&self, change: &Change<'_>) -> Result<Option<Content>, PathError> {
        let content = match &change.file.held {
            Held::Backup(backup) => Content::Copy(self.backup_path(backup)?),
            Held::Bytes(bytes) => Content::Bytes(bytes.clone()),
            Held::Absent | Held::Unknown => return Ok(None),
        };
        let mode = self.mode(change.file);
        if let Some(problem) = self.backups.take_problem() {
            return Err(problem);
        }
        let mode = match (mode, change.how) {
            // The file that is there keeps its own.
            (None, How::Replace) => return Ok(Some(content)),
            (mode, _) => mode.unwrap_or(USUAL),
        };
        Ok(Some(Content::WithMode { content: Box::new(content), mode, modified: None }))
    }

    /// Returns where a backup lies that was there a moment ago.
    fn backup_path(&self, backup: &Backup) -> Result<PathBuf, PathError> {
        let missing =
            || PathError::new(Path::new(&backup.name), std::io::ErrorKind::NotFound.into());
        let found = self.backups.path(backup);
        found.ok_or_else(|| self.backups.take_problem().unwrap_or_else(missing))
    }
}

/// Works out the files at a point of a path. Bodies and backups are read when needed.
pub fn files_of(
    parts: &[Part],
    moment: Moment,
    backups: &mut FileHistory,
) -> Result<Vec<FileState>, PathError> {
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
        Some(problem) => Err(problem),
        None => Ok(files),
    }
}
