//! Writes the directory of an export.
//!
//! Only files of an earlier export are replaced: a directory with other content and without
//! our marker is refused. A file gets its name only when it is complete. Until then it is in
//! a temporary directory, which is removed at the end, or by the next export if the process
//! was killed.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

use rayon::prelude::*;
use tempfile::{NamedTempFile, TempDir};

use crate::buffer_pool;
use crate::regular_file;
use crate::session_in_use::is_process_alive;

/// The file that marks a directory as an export.
pub const MARKER_FILE: &str = ".ramus-export";

/// The write buffer size. Larger pieces are written directly, without a copy.
const WRITE_BUFFER_BYTES: usize = 32 * 1024;
/// Buffers up to this size stay in memory.
const MAX_MEMORY_BYTES: usize = 16 * 1024 * 1024;

/// Why nothing, or not everything, was written.
#[derive(Debug, thiserror::Error)]
pub enum ExportDirError {
    #[error("{} contains files that are not from a ramus export", .0.display())]
    NotAnExport(PathBuf),
    #[error("{} is not from a ramus export", .0.display())]
    ForeignFile(PathBuf),
    #[error("cannot write {}", .path.display())]
    Write {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

/// A directory that exports go to.
#[derive(Debug)]
pub struct ExportDir {
    pub dir: PathBuf,
    /// The files that an earlier export wrote.
    earlier: BTreeSet<String>,
    /// Other files may be replaced, too.
    force: bool,
    /// The directory for incomplete files.
    partial: TempDir,
}

/// The prefix of the directory for incomplete files. The process id follows.
const PARTIAL: &str = ".ramus-partial-";

/// Whether a directory has the incomplete files of an export that was killed.
fn is_abandoned_partial(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let pid = name.strip_prefix(PARTIAL).and_then(|rest| rest.split('-').next()?.parse().ok());
    pid.is_some_and(|pid| !is_process_alive(pid))
}

/// The first line of the marker. The written files follow.
const MARKER_HEADER: &str = "This directory was written by `ramus export`.\n";

impl ExportDir {
    /// Opens a directory that is new, empty or an earlier export. `force` allows any other, and that files in
    /// it are replaced.
    pub fn open(dir: &Path, force: bool) -> Result<Self, ExportDirError> {
        let error = |source| ExportDirError::Write { path: dir.to_owned(), source };
        fs::create_dir_all(dir).map_err(error)?;
        let entries = fs::read_dir(dir).map_err(error)?;
        let left: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        let (left, others): (Vec<_>, Vec<_>) =
            left.into_iter().partition(|path| is_abandoned_partial(path));
        let is_ours = others.is_empty() || dir.join(MARKER_FILE).is_file();
        if !is_ours && !force {
            return Err(ExportDirError::NotAnExport(dir.to_owned()));
        }
        for left in left {
            // Another process may remove it at the same time.
            let _ = fs::remove_dir_all(left);
        }
        let prefix = format!("{PARTIAL}{}-", std::process::id());
        let partial = tempfile::Builder::new().prefix(&prefix).tempdir_in(dir).map_err(error)?;
        let mut folder = Self { dir: dir.to_owned(), earlier: BTreeSet::new(), force, partial };
        if let Ok(marker) =
            regular_file::read_limited(&dir.join(MARKER_FILE), regular_file::SMALL_FILE_BYTES)
        {
            let marker = String::from_utf8_lossy(&marker);
            let names = marker.lines().skip(1).filter(|name| stays_below(name));
            folder.earlier = names.map(str::to_owned).collect();
        }
        Ok(folder)
    }

    /// Marks the directory as an export and lists the files that will be written, before they are.
    /// A file of somebody else with one of these names is an error.
    pub fn claim_files<'n>(
        &'n self,
        names: impl Iterator<Item = &'n str>,
    ) -> Result<(), ExportDirError> {
        let names: BTreeSet<&str> = names.collect();
        let foreign = names.iter().filter(|name| !self.force && !self.earlier.contains(**name));
        let mut foreign = foreign.map(|name| self.dir.join(name));
        match foreign.find(|path| path.symlink_metadata().is_ok()) {
            Some(path) => Err(ExportDirError::ForeignFile(path)),
            None => self.keep_earlier_files(&names),
        }
    }

    /// Keeps the files of an earlier export. Used when something could not be read this time.
    pub fn keep_earlier_files(&self, names: &BTreeSet<&str>) -> Result<(), ExportDirError> {
        let earlier = self.earlier.iter().map(String::as_str);
        self.write_marker(&names.iter().copied().chain(earlier).collect())
    }

    /// Removes the files that an earlier export wrote and this one did not. Returns their number.
    pub fn remove_stale_files(&self, names: &BTreeSet<&str>) -> Result<usize, ExportDirError> {
        let mut removed = 0;
        for name in self.earlier.iter().filter(|name| !names.contains(name.as_str())) {
            let path = self.dir.join(name);
            if !fs::symlink_metadata(&path).is_ok_and(|found| found.is_file()) {
                continue;
            }
            fs::remove_file(&path).map_err(|source| self.write_error(&path, source))?;
            removed += 1;
            // A directory that is not empty stays.
            let dirs = Path::new(name).ancestors().skip(1);
            for dir in dirs.filter(|dir| !dir.as_os_str().is_empty()) {
                let _ = fs::remove_dir(self.dir.join(dir));
            }
        }
        self.write_marker(names).map(|()| removed)
    }

    fn write_marker(&self, names: &BTreeSet<&str>) -> Result<(), ExportDirError> {
        let mut text = MARKER_HEADER.to_owned();
        for name in names {
            text.push_str(name);
            text.push('\n');
        }
        self.write_file(MARKER_FILE, text.as_bytes())
    }

    /// Writes a complete file.
    pub fn write_file(&self, name: &str, bytes: &[u8]) -> Result<(), ExportDirError> {
        let path = self.dir.join(name);
        let write = || {
            let mut file = self.new_temporary()?;
            file.write_all(bytes)?;
            persist_as(file, &path)
        };
        write().map_err(|source| self.write_error(&path, source))
    }

    /// Returns a buffer for output that is produced before its file is written.
    pub fn new_spool(&self) -> SpoolBuffer {
        SpoolBuffer::new(&self.dir)
    }

    /// Writes a file in pieces, which `fill` produces. The file gets its name once it is complete.
    /// Returns its size.
    pub fn write_streamed<E: From<ExportDirError>>(
        &self,
        name: &str,
        fill: impl FnOnce(&mut dyn Write) -> Result<(), E>,
    ) -> Result<u64, E> {
        let path = self.dir.join(name);
        let error = |source| E::from(self.write_error(&path, source));
        let file = self.new_temporary().map_err(error)?;
        let file = BufWriter::with_capacity(WRITE_BUFFER_BYTES, file);
        let mut out = CountingWriter { file, length: 0, problem: None };
        let filled = fill(&mut out);
        if let Some(problem) = out.problem {
            return Err(error(problem));
        }
        filled?;
        let file = out.file.into_inner().map_err(|broken| error(broken.into_error()))?;
        persist_as(file, &path).map_err(error)?;
        Ok(out.length)
    }

    fn new_temporary(&self) -> io::Result<NamedTempFile> {
        NamedTempFile::new_in(self.partial.path())
    }

    fn write_error(&self, path: &Path, source: io::Error) -> ExportDirError {
        ExportDirError::Write { path: path.to_owned(), source }
    }
}

/// Whether a relative path stays inside its directory.
fn stays_below(name: &str) -> bool {
    !name.is_empty()
        && Path::new(name).components().all(|part| matches!(part, Component::Normal(_)))
}

/// Gives a complete file its name, replacing the file of an earlier export.
fn persist_as(file: NamedTempFile, path: &Path) -> io::Result<()> {
    let Err(failed) = file.persist(path) else { return Ok(()) };
    // The directory usually exists, so it is created only after a failure.
    if failed.error.kind() != io::ErrorKind::NotFound {
        return Err(failed.error);
    }
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir)?;
    }
    failed.file.persist(path).map(|_| ()).map_err(|failed| failed.error)
}

/// Counts the bytes that are written to a file, and keeps the first error.
struct CountingWriter {
    file: BufWriter<NamedTempFile>,
    length: u64,
    problem: Option<io::Error>,
}

impl Write for CountingWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes).inspect(|written| self.length += *written as u64);
        written.map_err(|problem| {
            let kind = problem.kind();
            self.problem = Some(problem);
            kind.into()
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// A buffer for parts of documents. It moves from memory to a temporary file when it gets large.
#[derive(Debug)]
pub struct SpoolBuffer {
    dir: PathBuf,
    length: u64,
    max_memory: usize,
    memory: Vec<u8>,
    spilled: Option<BufWriter<fs::File>>,
}

impl Write for SpoolBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(file) = &mut self.spilled {
            file.write_all(bytes)?;
            self.length += bytes.len() as u64;
            return Ok(bytes.len());
        }
        self.length += bytes.len() as u64;
        if self.memory.len() + bytes.len() <= self.max_memory {
            self.memory.extend_from_slice(bytes);
            return Ok(bytes.len());
        }
        let mut file = BufWriter::new(tempfile::tempfile_in(&self.dir)?);
        file.write_all(&std::mem::take(&mut self.memory))?;
        // Not through memory: it may be a hundred megabytes.
        file.write_all(bytes)?;
        self.spilled = Some(file);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for SpoolBuffer {
    fn drop(&mut self) {
        buffer_pool::return_buffer(std::mem::take(&mut self.memory));
    }
}

impl SpoolBuffer {
    /// Makes an empty buffer. If it gets large, it moves to an unnamed file in `dir`.
    pub fn new(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
            length: 0,
            max_memory: MAX_MEMORY_BYTES,
            memory: buffer_pool::take_buffer(0),
            spilled: None,
        }
    }

    /// Keeps at most so many bytes in memory.
    pub fn with_max_memory(mut self, max_memory: usize) -> Self {
        self.max_memory = max_memory;
        self
    }

    /// Makes another empty buffer that moves to the same directory.
    pub fn new_beside(&self) -> Self {
        Self::new(&self.dir)
    }

    /// Returns how much was written so far.
    pub fn len(&self) -> u64 {
        self.length
    }

    /// Whether nothing was written yet.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Copies a range of the output.
    pub fn copy_range(&mut self, range: Range<u64>, out: &mut dyn Write) -> io::Result<()> {
        match &mut self.spilled {
            None => out.write_all(&self.memory[range.start as usize..range.end as usize]),
            Some(file) => {
                file.flush()?;
                let file = file.get_mut();
                file.seek(SeekFrom::Start(range.start))?;
                io::copy(&mut Read::by_ref(file).take(range.end - range.start), out)?;
                file.seek(SeekFrom::End(0)).map(|_| ())
            }
        }
    }
}

/// Processes all items in parallel. The results are in the order of the items.
pub fn map_in_parallel<T: Sync, R: Send>(items: &[T], work: &(dyn Fn(&T) -> R + Sync)) -> Vec<R> {
    items.par_iter().with_max_len(1).map(work).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names<'a>(names: &[&'a str]) -> BTreeSet<&'a str> {
        names.iter().copied().collect()
    }

    #[test]
    fn only_what_an_earlier_export_wrote_is_removed() {
        let home = testkit::TestHome::new();
        let dir = home.path().join("out");
        let folder = ExportDir::open(&dir, false).unwrap();
        folder.write_file("a/old.md", b"old").unwrap();
        folder.write_file("kept.md", b"kept").unwrap();
        assert_eq!(folder.remove_stale_files(&names(&["a/old.md", "kept.md"])).unwrap(), 0);
        drop(folder);
        fs::write(dir.join("mine.txt"), "mine").unwrap();
        // A name that leads elsewhere was never written by us.
        let outside = home.path().join("outside");
        fs::write(&outside, "outside").unwrap();
        let marker = fs::read_to_string(dir.join(MARKER_FILE)).unwrap() + "../outside\n";
        fs::write(dir.join(MARKER_FILE), marker).unwrap();
        let folder = ExportDir::open(&dir, false).unwrap();
        assert_eq!(folder.remove_stale_files(&names(&["kept.md"])).unwrap(), 1);
        assert!(!dir.join("a").exists(), "an empty directory goes, too");
        for path in [dir.join("kept.md"), dir.join("mine.txt"), outside] {
            assert!(path.exists(), "{}", path.display());
        }
    }

    #[test]
    fn a_directory_of_somebody_else_is_refused() {
        let home = testkit::TestHome::new();
        let dir = home.path().join("out");
        fs::create_dir(&dir).unwrap();
        fs::write(dir.join("mine.txt"), "mine").unwrap();
        assert!(matches!(ExportDir::open(&dir, false), Err(ExportDirError::NotAnExport(_))));
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 1, "nothing was written");
        assert!(ExportDir::open(&dir, true).is_ok());
    }

    #[test]
    fn a_file_of_somebody_else_in_an_export_is_not_replaced() {
        let home = testkit::TestHome::new();
        let dir = home.path().join("out");
        let folder = ExportDir::open(&dir, false).unwrap();
        folder.claim_files(["a.md"].into_iter()).unwrap();
        folder.write_file("a.md", b"a").unwrap();
        drop(folder);
        fs::write(dir.join("index.md"), "mine").unwrap();
        let claim = |force| {
            ExportDir::open(&dir, force).unwrap().claim_files(["a.md", "index.md"].into_iter())
        };
        let refused = claim(false);
        assert!(
            matches!(&refused, Err(ExportDirError::ForeignFile(path)) if path.ends_with("index.md")),
            "{refused:?}"
        );
        claim(true).unwrap();
        // A killed export had listed it before it was written.
        claim(false).unwrap();
    }

    #[test]
    fn a_file_that_could_not_be_filled_is_not_there() {
        let home = testkit::TestHome::new();
        let folder = ExportDir::open(&home.path().join("out"), false).unwrap();
        let failed = folder.write_streamed::<ExportDirError>("a.md", |out| {
            out.write_all(b"half").unwrap();
            Err(ExportDirError::NotAnExport(PathBuf::new()))
        });
        assert!(failed.is_err() && !folder.dir.join("a.md").exists());
        let length = folder.write_streamed::<ExportDirError>("a.md", |out| {
            out.write_all(b"whole").unwrap();
            Ok(())
        });
        assert_eq!(length.unwrap(), 5);
        assert_eq!(fs::read(folder.dir.join("a.md")).unwrap(), b"whole");
        let dir = folder.dir.clone();
        drop(folder);
        assert_eq!(fs::read_dir(dir).unwrap().count(), 1, "no temporary files are left");
    }

    #[test]
    fn a_draft_gives_any_part_back_in_memory_and_on_disk() {
        let home = testkit::TestHome::new();
        let mut draft = SpoolBuffer::new(home.path());
        let part = vec![b'x'; MAX_MEMORY_BYTES / 2];
        for (n, spills) in [(0, false), (1, false), (2, true), (3, true)] {
            draft.write_all(&part).unwrap();
            draft.write_all(&[n]).unwrap();
            assert_eq!(draft.spilled.is_some(), spills || n == 1, "{n}");
            let end = draft.len();
            let mut out = Vec::new();
            draft.copy_range(end - 2..end, &mut out).unwrap();
            assert_eq!(out, [b'x', n]);
        }
    }
}
