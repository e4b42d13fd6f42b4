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

use crate::live::is_alive;
use crate::regular;
use crate::spare;

/// The file that marks a directory as an export.
pub const MARKER: &str = ".ramus-export";

/// The write buffer size. Larger pieces are written directly, without a copy.
const BUFFER: usize = 32 * 1024;
/// Buffers up to this size stay in memory.
const IN_MEMORY: usize = 16 * 1024 * 1024;

/// Why nothing, or not everything, was written.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error("{} holds files that are not an export of ramus", .0.display())]
    Foreign(PathBuf),
    #[error("cannot write {}", .path.display())]
    Write {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

/// A directory that exports go to.
#[derive(Debug)]
pub struct Folder {
    pub dir: PathBuf,
    /// The files that an earlier export wrote.
    earlier: BTreeSet<String>,
    /// The directory for incomplete files.
    partial: TempDir,
}

/// The prefix of the directory for incomplete files. The process id follows.
const PARTIAL: &str = ".ramus-partial-";

/// Whether a directory has the incomplete files of an export that was killed.
fn is_left(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let pid = name.strip_prefix(PARTIAL).and_then(|rest| rest.split('-').next()?.parse().ok());
    pid.is_some_and(|pid| !is_alive(pid))
}

/// The first line of the marker. The written files follow.
const MARK: &str = "This directory was written by `ramus export`.\n";

impl Folder {
    /// Opens a directory that is new, empty or an earlier export. `force` allows any other.
    pub fn open(dir: &Path, force: bool) -> Result<Self, ExportError> {
        let error = |source| ExportError::Write { path: dir.to_owned(), source };
        fs::create_dir_all(dir).map_err(error)?;
        let entries = fs::read_dir(dir).map_err(error)?;
        let left: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        let (left, others): (Vec<_>, Vec<_>) = left.into_iter().partition(|path| is_left(path));
        let is_ours = others.is_empty() || dir.join(MARKER).is_file();
        if !is_ours && !force {
            return Err(ExportError::Foreign(dir.to_owned()));
        }
        for left in left {
            // Another process may remove it at the same time.
            let _ = fs::remove_dir_all(left);
        }
        let prefix = format!("{PARTIAL}{}-", std::process::id());
        let partial = tempfile::Builder::new().prefix(&prefix).tempdir_in(dir).map_err(error)?;
        let mut folder = Self { dir: dir.to_owned(), earlier: BTreeSet::new(), partial };
        if let Ok(marker) = regular::read(&dir.join(MARKER), regular::SMALL) {
            let marker = String::from_utf8_lossy(&marker);
            let names = marker.lines().skip(1).filter(|name| is_below(name));
            folder.earlier = names.map(str::to_owned).collect();
        }
        Ok(folder)
    }

    /// Marks the directory as an export and lists the files that will be written, before they are.
    pub fn claim<'n>(&'n self, names: impl Iterator<Item = &'n str>) -> Result<(), ExportError> {
        let names = names.chain(self.earlier.iter().map(String::as_str));
        self.mark(&names.collect())
    }

    /// Keeps the files of an earlier export. Used when something could not be read this time.
    pub fn keep_earlier(&self, names: &BTreeSet<&str>) -> Result<(), ExportError> {
        self.claim(names.iter().copied())
    }

    /// Removes the files that an earlier export wrote and this one did not. Returns their number.
    pub fn settle(&self, names: &BTreeSet<&str>) -> Result<usize, ExportError> {
        let mut removed = 0;
        for name in self.earlier.iter().filter(|name| !names.contains(name.as_str())) {
            let path = self.dir.join(name);
            if !fs::symlink_metadata(&path).is_ok_and(|found| found.is_file()) {
                continue;
            }
            fs::remove_file(&path).map_err(|source| self.error(&path, source))?;
            removed += 1;
            // A directory that is not empty stays.
            let dirs = Path::new(name).ancestors().skip(1);
            for dir in dirs.filter(|dir| !dir.as_os_str().is_empty()) {
                let _ = fs::remove_dir(self.dir.join(dir));
            }
        }
        self.mark(names).map(|()| removed)
    }

    fn mark(&self, names: &BTreeSet<&str>) -> Result<(), ExportError> {
        let mut text = MARK.to_owned();
        for name in names {
            text.push_str(name);
            text.push('\n');
        }
        self.write(MARKER, text.as_bytes())
    }

    /// Writes a complete file.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), ExportError> {
        let path = self.dir.join(name);
        let write = || {
            let mut file = self.temporary()?;
            file.write_all(bytes)?;
            give_name(file, &path)
        };
        write().map_err(|source| self.error(&path, source))
    }

    /// Returns a buffer for output that is produced before its file is written.
    pub fn draft(&self) -> Draft {
        Draft::new(&self.dir)
    }

    /// Writes a file in pieces, which `fill` produces. The file gets its name once it is complete.
    /// Returns its size.
    pub fn fill<E: From<ExportError>>(
        &self,
        name: &str,
        fill: impl FnOnce(&mut dyn Write) -> Result<(), E>,
    ) -> Result<u64, E> {
        let path = self.dir.join(name);
        let error = |source| E::from(self.error(&path, source));
        let file = self.temporary().map_err(error)?;
        let file = BufWriter::with_capacity(BUFFER, file);
        let mut out = Counted { file, length: 0, problem: None };
        let filled = fill(&mut out);
        if let Some(problem) = out.problem {
            return Err(error(problem));
        }
        filled?;
        let file = out.file.into_inner().map_err(|broken| error(broken.into_error()))?;
        give_name(file, &path).map_err(error)?;
        Ok(out.length)
    }

    fn temporary(&self) -> io::Result<NamedTempFile> {
        NamedTempFile::new_in(self.partial.path())
    }

    fn error(&self, path: &Path, source: io::Error) -> ExportError {
        ExportError::Write { path: path.to_owned(), source }
    }
}

/// Whether a relative path stays inside its directory.
fn is_below(name: &str) -> bool {
    !name.is_empty()
        && Path::new(name).components().all(|part| matches!(part, Component::Normal(_)))
}

/// Gives a complete file its name, replacing the file of an earlier export.
fn give_name(file: NamedTempFile, path: &Path) -> io::Result<()> {
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
struct Counted {
    file: BufWriter<NamedTempFile>,
    length: u64,
    problem: Option<io::Error>,
}

impl Write for Counted {
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
pub struct Draft {
    dir: PathBuf,
    length: u64,
    memory: Vec<u8>,
    spilled: Option<BufWriter<fs::File>>,
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(file) = &mut self.spilled {
            file.write_all(bytes)?;
            self.length += bytes.len() as u64;
            return Ok(bytes.len());
        }
        self.length += bytes.len() as u64;
        self.memory.extend_from_slice(bytes);
        if self.memory.len() > IN_MEMORY {
            let mut file = BufWriter::new(tempfile::tempfile_in(&self.dir)?);
            file.write_all(&std::mem::take(&mut self.memory))?;
            self.spilled = Some(file);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        spare::give(std::mem::take(&mut self.memory));
    }
}

impl Draft {
    /// Makes an empty buffer. If it gets large, it moves to an unnamed file in `dir`.
    pub fn new(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), length: 0, memory: spare::take(0), spilled: None }
    }

    /// Returns how much was written so far.
    pub fn len(&self) -> u64 {
        self.length
    }

    /// Whether nothing was written yet.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Copies a range of what was written.
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
pub fn each<T: Sync, R: Send>(items: &[T], work: &(dyn Fn(&T) -> R + Sync)) -> Vec<R> {
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
        let home = testkit::Home::new();
        let dir = home.path().join("out");
        let folder = Folder::open(&dir, false).unwrap();
        folder.write("a/old.md", b"old").unwrap();
        folder.write("kept.md", b"kept").unwrap();
        assert_eq!(folder.settle(&names(&["a/old.md", "kept.md"])).unwrap(), 0);
        drop(folder);
        fs::write(dir.join("mine.txt"), "mine").unwrap();
        // A name that leads elsewhere was never written by us.
        let outside = home.path().join("outside");
        fs::write(&outside, "outside").unwrap();
        let marker = fs::read_to_string(dir.join(MARKER)).unwrap() + "../outside\n";
        fs::write(dir.join(MARKER), marker).unwrap();
        let folder = Folder::open(&dir, false).unwrap();
        assert_eq!(folder.settle(&names(&["kept.md"])).unwrap(), 1);
        assert!(!dir.join("a").exists(), "an empty directory goes, too");
        for path in [dir.join("kept.md"), dir.join("mine.txt"), outside] {
            assert!(path.exists(), "{}", path.display());
        }
    }

    #[test]
    fn a_directory_of_somebody_else_is_refused() {
        let home = testkit::Home::new();
        let dir = home.path().join("out");
        fs::create_dir(&dir).unwrap();
        fs::write(dir.join("mine.txt"), "mine").unwrap();
        assert!(matches!(Folder::open(&dir, false), Err(ExportError::Foreign(_))));
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 1, "nothing was written");
        assert!(Folder::open(&dir, true).is_ok());
    }

    #[test]
    fn a_file_that_could_not_be_filled_is_not_there() {
        let home = testkit::Home::new();
        let folder = Folder::open(&home.path().join("out"), false).unwrap();
        let failed = folder.fill::<ExportError>("a.md", |out| {
            out.write_all(b"half").unwrap();
            Err(ExportError::Foreign(PathBuf::new()))
        });
        assert!(failed.is_err() && !folder.dir.join("a.md").exists());
        let length = folder.fill::<ExportError>("a.md", |out| {
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
        let home = testkit::Home::new();
        let mut draft = Draft::new(home.path());
        let part = vec![b'x'; IN_MEMORY / 2];
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
