//! The operation log: what ramus did, and how to take it back.
//!
//! One line says that an operation begins, with all that is needed to finish or
//! reverse it; another one says how it ended. A line that is not whole was being
//! written when the power went, and says nothing.

use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::backup::Backup;
use crate::disk::{self, WriteError, Written};
use crate::error::PathError;
use crate::plan::{Moment, What};
use crate::regular;
use crate::stamp::Stamp;
use crate::state::State;

/// A journal this large is none of ours.
const LARGEST: u64 = 256 * 1024 * 1024;

/// The form of the lines; others are of a newer ramus.
const VERSION: u32 = 1;

/// Everything ramus did, oldest first.
#[derive(Debug, Default)]
pub struct Journal {
    path: PathBuf,
    pub operations: Vec<Operation>,
    /// A newer ramus wrote here, in a form that is not known.
    is_newer: bool,
    /// The file does not end with a whole line.
    is_torn: bool,
}

/// Something that was begun.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Operation {
    pub op: u64,
    pub at: String,
    pub what: What,
    pub session: String,
    pub file: PathBuf,
    pub words: String,
    pub deeds: Vec<Deed>,
    /// The session as it was before.
    pub backup: Option<Backup>,
    pub undoes: Option<u64>,
    /// How it ended; `None`: the process ended first.
    #[serde(skip)]
    pub end: Option<End>,
    #[serde(skip)]
    pub undone_by: Option<u64>,
}

/// What is done to one file, so that it can be taken back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "do")]
pub enum Deed {
    Append { file: PathBuf, before: Stamp, text: String, modified: Moment },
    Make { file: PathBuf },
    MakeDir { dir: PathBuf },
    Put { file: PathBuf, before: Option<Stamp>, saved: Option<PathBuf> },
    Move { from: PathBuf, to: PathBuf },
    Cut { file: PathBuf, before: Stamp, to: u64 },
}

/// How an operation ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct End {
    pub op: u64,
    pub done: bool,
    /// The files that were made, as they were then.
    pub made: Vec<(PathBuf, Stamp)>,
}

#[derive(Serialize, Deserialize)]
struct Line {
    v: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    begin: Option<Operation>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    end: Option<End>,
}

impl Journal {
    /// Reads the journal; there is none before the first operation.
    pub fn read(state: &State) -> Result<Self, PathError> {
        let path = state.journal();
        let bytes = match regular::read(&path, LARGEST) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(source) => return Err(PathError::new(&path, source)),
        };
        let mut journal = Self { path, ..Self::default() };
        journal.is_torn = bytes.last().is_some_and(|byte| *byte != b'\n');
        for line in bytes.split(|byte| *byte == b'\n') {
            journal.take(line);
        }
        Ok(journal)
    }

    fn take(&mut self, line: &[u8]) {
        #[derive(Deserialize)]
        struct Form {
            v: u32,
        }
        let Ok(Form { v }) = serde_json::from_slice(line) else { return };
        if v > VERSION {
            self.is_newer = true;
            return;
        }
        let Ok(Line { begin, end, .. }) = serde_json::from_slice(line) else { return };
        self.operations.extend(begin);
        if let Some(end) = end {
            self.settle(end);
        }
    }

    fn settle(&mut self, end: End) {
        let Some(ended) = self.operations.iter_mut().find(|operation| operation.op == end.op)
        else {
            return;
        };
        let undoes = ended.undoes.filter(|_| end.done);
        let op = end.op;
        ended.end = Some(end);
        let undone = self.operations.iter_mut().find(|operation| Some(operation.op) == undoes);
        if let Some(undone) = undone {
            undone.undone_by = Some(op);
        }
    }

    /// Whether this ramus may add to it.
    pub(crate) fn is_writable(&self) -> bool {
        !self.is_newer
    }

    /// Returns the number of the next operation.
    pub(crate) fn next(&self) -> u64 {
        self.operations.iter().map(|operation| operation.op).max().unwrap_or(0) + 1
    }

    /// Returns an operation by its number.
    pub fn operation(&self, op: u64) -> Option<&Operation> {
        self.operations.iter().find(|operation| operation.op == op)
    }

    pub(crate) fn begin(&mut self, operation: Operation) -> Written<()> {
        self.add(&Line { v: VERSION, begin: Some(operation.clone()), end: None })?;
        self.operations.push(operation);
        Ok(())
    }

    pub(crate) fn end(&mut self, end: End) -> Written<()> {
        self.add(&Line { v: VERSION, begin: None, end: Some(end.clone()) })?;
        self.settle(end);
        Ok(())
    }

    fn add(&mut self, line: &Line) -> Written<()> {
        let error = |source| WriteError::new(&self.path, source);
        let mut bytes = if self.is_torn { vec![b'\n'] } else { Vec::new() };
        serde_json::to_writer(&mut bytes, line).map_err(|source| error(source.into()))?;
        bytes.push(b'\n');
        let is_new = !self.path.exists();
        let file =
            if is_new { disk::create(&self.path)? } else { disk::open_to_append(&self.path)? };
        // Should this break off, the next line must not be glued to it.
        self.is_torn = true;
        disk::write(&self.path, &file, &bytes)?;
        disk::sync(&self.path, &file)?;
        if is_new {
            disk::sync_dir_of(&self.path)?;
        }
        self.is_torn = false;
        Ok(())
    }
}

impl Operation {
    /// Whether it was carried out.
    pub fn is_done(&self) -> bool {
        self.end.as_ref().is_some_and(|end| end.done)
    }
}
