//! The user's files as of a message (R22), and a plan to restore them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ramus_core::body::RecordBody;
use ramus_core::compare::PathPart;
use ramus_core::files::restore::{OnDisk, RestoreAction, RestoreChange, RestorePlan, plan_restore};
use ramus_core::files::{
    self, BackupReader, BackupRef, FileContent, FileState, FilesAtMessage, PathPoint, path_point_of,
};
use ramus_core::history::{self, History};
use ramus_core::resume::ResumeRule;
use ramus_core::session::NodeId;

use crate::claude_dir::HistoryFile;
use crate::error::PathError;
use crate::file_history::FileHistory;
use crate::on_disk::state_on_disk;
use crate::plan::{FileRestore, NewContent, WritePlan, plan_restore_files};
use crate::read::RecordReader;
use crate::trace::{LinkedPathPart, trace_path};

/// The permissions of a new file without a backup.
const DEFAULT_MODE: u32 = 0o644;

/// The user's files as of a message.
#[derive(Debug)]
pub struct FilesAt {
    pub session: String,
    /// The session's file, and the Claude directory that contains it.
    pub file: PathBuf,
    pub root: Option<PathBuf>,
    pub moment: FilesAtMessage,
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
        (along, node): (Option<history::ConversationPath>, NodeId),
        rule: ResumeRule,
    ) -> Result<Option<Self>, PathError> {
        let branches = [along, history.path_to(node)].into_iter().flatten();
        let found = { branches }
            .find_map(|path| path_point_of(&history, &path, node).map(|moment| (path, moment)));
        let Some((path, moment)) = found else { return Ok(None) };
        let record = history.session.record(node);
        let (name, time) = (record.uuid.map(|name| history.session.uuid_text(name)), record.time);
        let short_node = name.as_deref().map(|uuid| history.short_uuid(uuid).to_owned());
        let words = history.session.preview_text(node).map(str::to_owned);
        let (session, at) = (file.id.clone(), file.path.clone());
        let root = roots.iter().find(|root| at.starts_with(root)).cloned();
        let parts = trace_path(beside, file, history, path, rule)?;
        let mut backups = FileHistory::open(roots, &parts);
        let files = files_at_point(&parts, moment, &mut backups)?;
        let facts = parts.last().map(|part| part.history.session.facts());
        let cwd = facts.and_then(|facts| facts.cwd.as_deref()).unwrap_or_default().to_owned();
        let is_before = moment.sent_prompt.is_some();
        let moment =
            FilesAtMessage { node: name, short_node, time, prompt_text: words, is_before, cwd };
        Ok(Some(Self { session, file: at, root, moment, files, backups }))
    }

    /// Returns the files with their sizes.
    pub fn sized_files(&mut self) -> Vec<(FileState, Option<u64>)> {
        let files = self.files.clone();
        files.into_iter().map(|file| (file.clone(), self.file_size(&file))).collect()
    }

    /// Returns the size of a file. `None`: it did not exist, or its content is unknown.
    pub fn file_size(&mut self, file: &FileState) -> Option<u64> {
        match &file.content {
            FileContent::Backup(backup) => self.backups.backup_size(backup),
            FileContent::Bytes(bytes) => Some(bytes.len() as u64),
            FileContent::Absent | FileContent::Unknown => None,
        }
    }

    /// Returns the bytes of a file. `None`: unknown, absent, or too large for memory.
    pub fn file_bytes(&mut self, file: &FileState) -> Option<Vec<u8>> {
        match &file.content {
            FileContent::Backup(backup) => self.backups.read_backup(backup),
            FileContent::Bytes(bytes) => Some(bytes.clone()),
            FileContent::Absent | FileContent::Unknown => None,
        }
    }

    /// Returns the permissions a file had, if it has a backup.
    pub fn file_mode(&self, file: &FileState) -> Option<u32> {
        match &file.content {
            FileContent::Backup(backup) => self.backups.backup_mode(backup),
            _ => None,
        }
    }

    /// Plans to put files back where they were. `None`: they are as they were then.
    ///
    /// Where a file or a backup cannot be looked at, nothing is planned: what is left out would pass
    /// for put back.
    pub fn plan_restore<'a>(
        &self,
        files: &'a [FileState],
        outside: bool,
    ) -> Result<(RestorePlan<'a>, Option<WritePlan>), PathError> {
        let cwd = PathBuf::from(&self.moment.cwd);
        let mut problem = None;
        let mut look = |file: &FileState| {
            state_on_disk(file, &cwd, &self.backups).unwrap_or_else(|error| {
                problem.get_or_insert(error);
                OnDisk::NotAFile
            })
        };
        let wanted = plan_restore(files, &self.moment.cwd, outside, &mut look);
        if let Some(problem) = problem.or_else(|| self.backups.take_problem()) {
            return Err(problem);
        }
        if wanted.changes.is_empty() {
            return Ok((wanted, None));
        }
        let mut back = Vec::new();
        for change in &wanted.changes {
            let (path, content) =
                (PathBuf::from(&change.file.path), self.restored_content(change)?);
            back.push(FileRestore { path, content });
        }
        let when = if self.moment.is_before { "before" } else { "after" };
        let node = self.moment.short_node.as_deref().unwrap_or_default();
        let words = format!("{} files as {when} {node}", back.len());
        let plan =
            plan_restore_files(&self.session, &self.file, self.root.as_deref(), words, back)?;
        Ok((wanted, Some(plan)))
    }

    /// Returns the content to restore. `None` if the file is known not to exist.
    fn restored_content(
        &self,
        change: &RestoreChange<'_>,
    ) -> Result<Option<NewContent>, PathError> {
        let content = match &change.file.content {
            FileContent::Backup(backup) => NewContent::Copy(self.backup_path(backup)?),
            FileContent::Bytes(bytes) => NewContent::Bytes(bytes.clone()),
            FileContent::Absent | FileContent::Unknown => return Ok(None),
        };
        let mode = self.file_mode(change.file);
        if let Some(problem) = self.backups.take_problem() {
            return Err(problem);
        }
        let mode = match (mode, change.action) {
            // The file that is there keeps its own.
            (None, RestoreAction::Replace) => return Ok(Some(content)),
            (mode, _) => mode.unwrap_or(DEFAULT_MODE),
        };
        Ok(Some(NewContent::WithMode { content: Box::new(content), mode, modified: None }))
    }

    /// Returns the path of a backup that existed a moment ago.
    fn backup_path(&self, backup: &BackupRef) -> Result<PathBuf, PathError> {
        let missing =
            || PathError::new(Path::new(&backup.name), std::io::ErrorKind::NotFound.into());
        let found = self.backups.backup_path(backup);
        found.ok_or_else(|| self.backups.take_problem().unwrap_or_else(missing))
    }
}

/// Works out the files at a point of a path. Bodies and backups are read when needed.
pub fn files_at_point(
    parts: &[LinkedPathPart],
    moment: PathPoint,
    backups: &mut FileHistory,
) -> Result<Vec<FileState>, PathError> {
    let open = |part: &LinkedPathPart| RecordReader::open(&part.file.path);
    let mut bodies = parts.iter().map(open).collect::<Result<Vec<_>, PathError>>()?;
    let mut problem = None;
    let mut body = |part: usize, id: NodeId| {
        let span = parts[part].history.session.record(id).span;
        match bodies[part].read_record(span) {
            Ok(bytes) => RecordBody::parse(&bytes).ok(),
            Err(error) => {
                problem = Some(error);
                None
            }
        }
    };
    let stretches: Vec<PathPart<'_>> =
        parts.iter().map(|part| PathPart { history: &part.history, path: &part.path }).collect();
    let files = files::files_at(&stretches, moment, &mut body, backups);
    match problem {
        Some(problem) => Err(problem),
        None => Ok(files),
    }
}
