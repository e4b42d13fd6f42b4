//! The journal: which operations ramus made, and how to undo them.
//!
//! An operation has up to three kinds of lines: it begins, with everything needed to
//! finish or reverse it; its new contents are ready, before any of them gets its final
//! name; it ended. An incomplete line was cut off by a crash and is ignored.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::backup::SessionBackup;
use crate::disk::{self, WriteError, WriteResult};
use crate::error::PathError;
use crate::plan::{FileTime, OperationKind};
use crate::regular_file;
use crate::stamp::Stamp;
use crate::state_dir::StateDir;

/// A larger file is not a journal of ours.
const MAX_JOURNAL_BYTES: u64 = 256 * 1024 * 1024;

/// The format of the lines. Higher numbers come from a newer ramus.
///
/// Version 2 records what will be written (`prepared`) before anything changes, and where replaced
/// files go. Lines of version 1 can still be read.
const JOURNAL_VERSION: u32 = 2;

/// All operations, oldest first.
#[derive(Debug, Default)]
pub struct Journal {
    path: PathBuf,
    pub operations: Vec<Operation>,
    /// A newer ramus wrote lines in an unknown format.
    is_newer: bool,
    /// The file ends with an incomplete line.
    is_torn: bool,
}

/// An operation that was begun.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Operation {
    pub op: u64,
    pub at: String,
    pub what: OperationKind,
    pub session: String,
    pub file: PathBuf,
    pub words: String,
    #[serde(rename = "deeds")]
    pub changes: Vec<JournalStep>,
    /// The state of the session before the operation.
    pub backup: Option<SessionBackup>,
    pub undoes: Option<u64>,
    /// A random part of the temporary file names, so that they are unique.
    #[serde(default)]
    pub mark: String,
    /// New contents in temporary files; see [`PreparedFile`].
    #[serde(skip)]
    pub prepared: Vec<PreparedFile>,
    /// How it ended. `None`: the process was killed first.
    #[serde(skip)]
    pub end: Option<OperationEnd>,
    #[serde(skip)]
    pub undone_by: Option<u64>,
    /// The version of the line it was read from.
    #[serde(skip)]
    pub version: u32,
}

/// One step of an operation: its change to one file, and the data needed to reverse it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "do")]
pub enum JournalStep {
    Append {
        file: PathBuf,
        before: Stamp,
        text: String,
        modified: FileTime,
    },
    Make {
        file: PathBuf,
    },
    MakeDir {
        dir: PathBuf,
    },
    /// New content for a file. The old file, if there was one, goes to `saved`, or to the first path of
    /// `near` that is on its file system.
    Put {
        file: PathBuf,
        before: Option<Stamp>,
        saved: Option<PathBuf>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        near: Vec<PathBuf>,
        /// Other programs append to the file: their lines are carried over to the new content.
        #[serde(default)]
        carries: bool,
    },
    /// A move to `to`, or to the first path of `near` that is on the same file system.
    Move {
        from: PathBuf,
        to: PathBuf,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        near: Vec<PathBuf>,
        /// What the moved file must contain. `None`: anything.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<Stamp>,
    },
    /// A session comes back from `from` although the client has created it again. The client's lines are
    /// appended, and its file goes to `saved`.
    Join {
        from: PathBuf,
        file: PathBuf,
        saved: PathBuf,
        near: Vec<PathBuf>,
    },
    /// A directory that is removed if it is empty.
    Tidy {
        dir: PathBuf,
    },
    /// A truncation. Only version 1 truncated files.
    Cut {
        file: PathBuf,
        before: Stamp,
        to: u64,
    },
}

impl JournalStep {
    /// Returns where the old file may go, preferred path first. Empty: no file is replaced or moved.
    pub(crate) fn trash_paths(&self) -> Vec<&Path> {
        match self {
            Self::Put { saved: Some(saved), near, .. }
            | Self::Join { saved, near, .. }
            | Self::Move { to: saved, near, .. } => {
                std::iter::once(saved).chain(near).map(|path| &**path).collect()
            }
            Self::Put { saved: None, .. }
            | Self::Append { .. }
            | Self::Make { .. }
            | Self::MakeDir { .. }
            | Self::Tidy { .. }
            | Self::Cut { .. } => Vec::new(),
        }
    }
}

/// A complete new content that does not have its final name yet.
///
/// After a crash, its inode and stamp tell our file from those of other programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreparedFile {
    /// The index of the step it is for.
    pub change: usize,
    pub beside: PathBuf,
    /// The inode number, or 0 on systems without inodes.
    pub inode: u64,
    pub stamp: Stamp,
    /// What it replaces, if the step does not say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<Stamp>,
}

/// A replaced or moved file in the trash, which another program may still have open for writing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrashedFile {
    /// Where it was.
    pub file: PathBuf,
    /// Where it is.
    pub at: PathBuf,
    /// Its content, as far as it has been carried over.
    pub known: Stamp,
    /// Lines that are appended to it later are carried over to `file`.
    #[serde(default)]
    pub carries: bool,
    /// Lines that ramus was about to carry over when it was killed, or had carried over already.
    #[serde(skip)]
    pub carrying: Option<LateLines>,
}

impl TrashedFile {
    pub(crate) fn new(file: &Path, at: PathBuf, known: Stamp, carries: bool) -> Self {
        Self { file: file.to_owned(), at, known, carries, carrying: None }
    }
}

/// Lines of a file in the trash that are about to be appended to the file that has its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LateLines {
    /// Where they end in the file in the trash.
    pub to: u64,
    /// How long the other file was before. If they were appended, they are after that.
    pub since: u64,
}

/// How an operation ended.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct OperationEnd {
    pub op: u64,
    pub done: bool,
    /// The new files as they were written.
    pub made: Vec<(PathBuf, Stamp)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<TrashedFile>,
    /// Further remarks, such as what could not be rolled back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// It could not be finished, and the user gave it up.
    #[serde(default)]
    pub set_aside: bool,
}

#[derive(Default, Serialize, Deserialize)]
struct JournalLine {
    v: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    begin: Option<Operation>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    prepared: Option<(u64, Vec<PreparedFile>)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    end: Option<OperationEnd>,
    /// A file in the trash was checked again: how much has been carried over. `None`: it is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    looked: Option<(u64, PathBuf, Option<Stamp>)>,
    /// Lines of a file in the trash are about to be carried over; `looked` says that they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    carrying: Option<(u64, PathBuf, LateLines)>,
}

impl Journal {
    /// Reads the journal. It is empty before the first operation.
    pub fn read(state: &StateDir) -> Result<Self, PathError> {
        let path = state.journal_path();
        let bytes = match regular_file::read_limited(&path, MAX_JOURNAL_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(source) => return Err(PathError::new(&path, source)),
        };
        let mut journal = Self { path, ..Self::default() };
        journal.is_torn = bytes.last().is_some_and(|byte| *byte != b'\n');
        for line in bytes.split(|byte| *byte == b'\n') {
            journal.read_line(line);
        }
        Ok(journal)
    }

    fn read_line(&mut self, line: &[u8]) {
        #[derive(Deserialize)]
        struct Form {
            v: u32,
        }
        let Ok(Form { v }) = serde_json::from_slice(line) else { return };
        if v > JOURNAL_VERSION {
            self.is_newer = true;
            return;
        }
        let Ok(line) = serde_json::from_slice(line) else { return };
        let JournalLine { begin, prepared, end, looked, carrying, .. } = line;
        // A number identifies one operation. A second one with the same number is ignored.
        if let Some(begin) = begin.filter(|begin| self.operation(begin.op).is_none()) {
            self.operations.push(Operation { version: v, ..begin });
        }
        if let Some((op, prepared)) = prepared
            && let Some(operation) = self.operation_mut(op)
        {
            operation.prepared.extend(prepared);
        }
        if let Some(end) = end {
            self.record_end(end);
        }
        if let Some((op, at, known)) = looked {
            self.record_trashed(op, &at, known);
        }
        if let Some((op, at, lines)) = carrying {
            self.record_carrying(op, &at, &lines);
        }
    }

    fn record_end(&mut self, end: OperationEnd) {
        let Some(ended) = self.operation_mut(end.op) else { return };
        let undoes = ended.undoes.filter(|_| end.done);
        let op = end.op;
        ended.end = Some(end);
        if let Some(undone) = undoes.and_then(|undone| self.operation_mut(undone)) {
            undone.undone_by = Some(op);
        }
    }

    fn record_trashed(&mut self, op: u64, at: &Path, known: Option<Stamp>) {
        match known {
            Some(known) => self.trashed_files_mut(op, at).for_each(|kept| {
                kept.known = known.clone();
                kept.carrying = None;
            }),
            None => {
                if let Some(end) = self.operation_mut(op).and_then(|ended| ended.end.as_mut()) {
                    end.kept.retain(|kept| kept.at != at);
                }
            }
        }
    }

    fn record_carrying(&mut self, op: u64, at: &Path, lines: &LateLines) {
        self.trashed_files_mut(op, at).for_each(|kept| kept.carrying = Some(lines.clone()));
    }

    fn trashed_files_mut<'a>(
        &'a mut self,
        op: u64,
        at: &'a Path,
    ) -> impl Iterator<Item = &'a mut TrashedFile> {
        let end = self.operation_mut(op).and_then(|operation| operation.end.as_mut());
        end.into_iter().flat_map(|end| &mut end.kept).filter(move |kept| kept.at == at)
    }

    /// Whether this version of ramus may append to it.
    pub(crate) fn is_writable(&self) -> bool {
        !self.is_newer
    }

    /// Returns the number of the next operation.
    ///
    /// It is above every number in the trash as well, because the journal may have been lost.
    pub(crate) fn next_number(&self, state: &StateDir) -> u64 {
        let newest = self.operations.iter().map(|operation| operation.op).max().unwrap_or(0);
        newest.max(state.last_trashed_operation()) + 1
    }

    /// Returns an operation by its number.
    pub fn operation(&self, op: u64) -> Option<&Operation> {
        self.operations.iter().find(|operation| operation.op == op)
    }

    fn operation_mut(&mut self, op: u64) -> Option<&mut Operation> {
        self.operations.iter_mut().find(|operation| operation.op == op)
    }

    pub(crate) fn write_begin(&mut self, operation: &Operation) -> WriteResult<()> {
        self.append_line(JournalLine { begin: Some(operation.clone()), ..JournalLine::default() })?;
        self.operations.push(Operation { version: JOURNAL_VERSION, ..operation.clone() });
        Ok(())
    }

    /// Records new contents, before the first of them gets its final name.
    pub(crate) fn write_prepared(
        &mut self,
        op: u64,
        prepared: Vec<PreparedFile>,
    ) -> WriteResult<()> {
        if prepared.is_empty() {
            return Ok(());
        }
        self.append_line(JournalLine {
            prepared: Some((op, prepared.clone())),
            ..JournalLine::default()
        })?;
        if let Some(operation) = self.operation_mut(op) {
            operation.prepared.extend(prepared);
        }
        Ok(())
    }

    pub(crate) fn write_end(&mut self, end: OperationEnd) -> WriteResult<()> {
        self.append_line(JournalLine { end: Some(end.clone()), ..JournalLine::default() })?;
        self.record_end(end);
        Ok(())
    }

    /// Records how much of a file in the trash has been carried over. `None`: it was removed.
    pub(crate) fn write_trashed(
        &mut self,
        op: u64,
        at: &Path,
        known: Option<Stamp>,
    ) -> WriteResult<()> {
        self.append_line(JournalLine {
            looked: Some((op, at.to_owned(), known.clone())),
            ..JournalLine::default()
        })?;
        self.record_trashed(op, at, known);
        Ok(())
    }

    /// Records that lines of a file in the trash are about to be carried over.
    pub(crate) fn write_carrying(
        &mut self,
        op: u64,
        at: &Path,
        lines: &LateLines,
    ) -> WriteResult<()> {
        self.append_line(JournalLine {
            carrying: Some((op, at.to_owned(), lines.clone())),
            ..JournalLine::default()
        })?;
        self.record_carrying(op, at, lines);
        Ok(())
    }

    fn append_line(&mut self, line: JournalLine) -> WriteResult<()> {
        let error = |source| WriteError::new(&self.path, source);
        let mut bytes = if self.is_torn { vec![b'\n'] } else { Vec::new() };
        let line = JournalLine { v: JOURNAL_VERSION, ..line };
        serde_json::to_writer(&mut bytes, &line).map_err(|source| error(source.into()))?;
        bytes.push(b'\n');
        let is_new = !self.path.exists();
        let file =
            if is_new { disk::create_file(&self.path)? } else { disk::open_to_append(&self.path)? };
        // If this write is cut off, the next line must begin on a new line.
        self.is_torn = true;
        disk::write_bytes(&self.path, &file, &bytes)?;
        disk::sync_file(&self.path, &file)?;
        if is_new {
            disk::sync_parent_dir(&self.path)?;
        }
        self.is_torn = false;
        Ok(())
    }
}

impl Operation {
    /// Returns what became of it, in a few words.
    pub fn state_text(&self) -> String {
        match (&self.end, self.undone_by) {
            (Some(end), Some(by)) if end.done => format!("undone by {by}"),
            (Some(end), None) if end.done => "done".to_owned(),
            (Some(end), _) if end.set_aside => "given up".to_owned(),
            (Some(_), _) => "not done".to_owned(),
            (None, _) => "unfinished".to_owned(),
        }
    }

    /// Whether it completed successfully.
    pub fn is_done(&self) -> bool {
        self.end.as_ref().is_some_and(|end| end.done)
    }

    /// Returns the prepared content of a step, the latest if there are several.
    pub(crate) fn prepared_for(&self, change: usize) -> Option<&PreparedFile> {
        self.prepared.iter().rev().find(|prepared| prepared.change == change)
    }

    /// Returns the files that it changes.
    pub(crate) fn touched_files(&self) -> impl Iterator<Item = &Path> {
        self.changes.iter().map(|change| match change {
            JournalStep::Append { file, .. }
            | JournalStep::Make { file }
            | JournalStep::Put { file, .. }
            | JournalStep::Cut { file, .. }
            | JournalStep::Join { file, .. }
            | JournalStep::Tidy { dir: file }
            | JournalStep::MakeDir { dir: file } => &**file,
            JournalStep::Move { from, .. } => &**from,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A stamp as it is written.
    fn stamp() -> String {
        serde_json::to_string(&crate::stamp::StampHasher::default().finish()).unwrap()
    }

    fn journal(lines: &str) -> (testkit::TestHome, StateDir, Journal) {
        let home = testkit::TestHome::new();
        let state = StateDir::new(home.path().join("state"));
        fs::create_dir_all(state.path()).unwrap();
        fs::write(state.journal_path(), lines.replace("STAMP", &stamp())).unwrap();
        let journal = Journal::read(&state).unwrap();
        (home, state, journal)
    }

    const BEGIN_1: &str = r#"{"v":1,"begin":{"op":1,"at":"2025-01-01T00:00:00Z","what":"goto","session":"s","file":"/c/s.jsonl","words":"to a","deeds":[{"do":"append","file":"/c/s.jsonl","before":STAMP,"text":"{}\n","modified":[1,2]},{"do":"cut","file":"/c/s.jsonl","before":STAMP,"to":3},{"do":"put","file":"/c/a.txt","before":null,"saved":null},{"do":"move","from":"/c/x","to":"/t/x"}],"backup":null,"undoes":null}}"#;
    const END_1: &str = r#"{"v":1,"end":{"op":1,"done":true,"made":[["/c/a.txt",STAMP]]}}"#;
    const BEGIN_2: &str = r#"{"v":2,"begin":{"op":2,"at":"2025-01-02T00:00:00Z","what":"undo","session":"s","file":"/c/s.jsonl","words":"of 1","deeds":[{"do":"put","file":"/c/s.jsonl","before":STAMP,"saved":"/t/2/1-s.jsonl","near":["/c/.ramus-trash/2/1-s.jsonl"],"carries":true},{"do":"join","from":"/t/a","file":"/c/a","saved":"/t/b","near":[]},{"do":"make-dir","dir":"/c/d"},{"do":"make","file":"/c/d/f"},{"do":"tidy","dir":"/c/e"}],"backup":null,"undoes":1,"mark":"0a1b2c3d"}}"#;
    const PREPARED_2: &str = r#"{"v":2,"prepared":[2,[{"change":0,"beside":"/c/.ramus-2-0a1b2c3d-0.tmp","inode":7,"stamp":STAMP}]]}"#;
    const END_2: &str = r#"{"v":2,"end":{"op":2,"done":true,"made":[],"kept":[{"file":"/c/s.jsonl","at":"/t/2/1-s.jsonl","known":STAMP,"carries":true}],"set_aside":false}}"#;
    const CARRYING_2: &str = r#"{"v":2,"carrying":[2,"/t/2/1-s.jsonl",{"to":30,"since":20}]}"#;
    const LOOKED_2: &str = r#"{"v":2,"looked":[2,"/t/2/1-s.jsonl",null]}"#;

    #[test]
    fn lines_of_both_versions_are_read() {
        let lines = [BEGIN_1, END_1, BEGIN_2, PREPARED_2, END_2, LOOKED_2].join("\n") + "\n";
        let (_home, state, journal) = journal(&lines);
        let [one, two] = &journal.operations[..] else { panic!("{:?}", journal.operations) };
        assert_eq!((one.version, one.what, one.undone_by), (1, OperationKind::Goto, Some(2)));
        assert_eq!((two.version, two.what, two.undoes), (2, OperationKind::Undo, Some(1)));
        assert!(matches!(
            &one.changes[..],
            [
                JournalStep::Append { modified: FileTime(1, 2), .. },
                JournalStep::Cut { to: 3, .. },
                JournalStep::Put { before: None, saved: None, carries: false, .. },
                JournalStep::Move { before: None, .. },
            ]
        ));
        assert!(matches!(
            &two.changes[..],
            [
                JournalStep::Put { carries: true, before: Some(_), .. },
                JournalStep::Join { .. },
                JournalStep::MakeDir { .. },
                JournalStep::Make { .. },
                JournalStep::Tidy { .. },
            ]
        ));
        assert_eq!(two.changes[0].trash_paths().len(), 2);
        assert_eq!(two.prepared_for(0).unwrap().inode, 7);
        assert_eq!(two.prepared_for(1), None);
        assert!(two.end.as_ref().unwrap().kept.is_empty(), "it was looked at for the last time");
        assert_eq!(journal.next_number(&state), 3);
        assert!(journal.is_writable());
    }

    #[test]
    fn lines_that_may_have_been_carried_over_are_known_until_they_were() {
        let mut lines = [BEGIN_2, END_2, CARRYING_2, ""].join("\n");
        let (_home, state, mut read) = journal(&lines);
        let kept = |read: &Journal| read.operations[0].end.clone().unwrap().kept;
        assert_eq!(kept(&read)[0].carrying, Some(LateLines { to: 30, since: 20 }));
        let known = Stamp { len: 30, ..kept(&read)[0].known.clone() };
        read.write_trashed(2, Path::new("/t/2/1-s.jsonl"), Some(known.clone())).unwrap();
        let again = Journal::read(&state).unwrap();
        assert_eq!(kept(&again), kept(&read));
        assert_eq!((&kept(&again)[0].known, &kept(&again)[0].carrying), (&known, &None));
        lines.push_str(LOOKED_2);
        assert!(kept(&journal(&lines).2).is_empty());
    }

    #[test]
    fn what_is_written_is_what_is_read() {
        let (_home, state, mut journal) = journal(&[BEGIN_1, END_1, BEGIN_2, ""].join("\n"));
        let operation = Operation { op: 3, ..journal.operations[1].clone() };
        journal.write_begin(&operation).unwrap();
        journal.write_end(OperationEnd { op: 3, done: true, ..OperationEnd::default() }).unwrap();
        let again = Journal::read(&state).unwrap();
        assert_eq!(format!("{:?}", again.operations), format!("{:?}", journal.operations));
        assert_eq!(again.operations[2].changes, operation.changes);
    }

    #[test]
    fn a_line_that_broke_off_is_no_operation_and_the_next_one_is_whole() {
        let half = &BEGIN_2[..100];
        let (_home, state, mut journal) = journal(&format!("{BEGIN_1}\n{END_1}\n{half}"));
        assert_eq!(journal.operations.len(), 1);
        journal.write_trashed(1, Path::new("/t/x"), None).unwrap();
        let text = fs::read_to_string(state.journal_path()).unwrap();
        assert!(text.ends_with("}\n") && text.contains(&format!("{half}\n{{")), "{text}");
    }

    #[test]
    fn a_second_operation_of_the_same_number_is_not_mixed_up_with_the_first() {
        let again = BEGIN_1.replace("to a", "to b");
        let (_home, _, journal) = journal(&[BEGIN_1, &again, ""].join("\n"));
        assert_eq!(journal.operations.len(), 1);
        assert_eq!(journal.operations[0].words, "to a");
    }

    #[test]
    fn the_journal_of_a_newer_ramus_is_only_read() {
        let newer = BEGIN_2.replace("\"v\":2", "\"v\":3");
        let (_home, _, journal) = journal(&[BEGIN_1, &newer, ""].join("\n"));
        assert_eq!(journal.operations.len(), 1);
        assert!(!journal.is_writable());
    }
}
