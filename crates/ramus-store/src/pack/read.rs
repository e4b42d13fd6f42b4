//! Reading a pack that may come from anybody.
//!
//! Everything is written to a private temporary directory first and compared with the manifest there.
//! Only what is a regular file, is listed, has its size and its hash gets that far; the directory goes with
//! the value that holds it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use tar::{Archive, EntryType};
use tempfile::{TempDir, TempPath};

use super::manifest::{Manifest, PackedFile};
use super::{FORMAT, MANIFEST};
use crate::error::PathError;
use crate::private_access::make_new_files_private;
use crate::regular_file;
use crate::session_in_use::is_process_alive;

/// Why a pack is not read.
#[derive(Debug, thiserror::Error)]
pub enum PackError {
    #[error("{} is not a ramus pack", .0.display())]
    NoPack(PathBuf),
    #[error("unknown pack format {0:?}; this ramus reads {FORMAT:?}")]
    OtherFormat(String),
    /// Its beginning is there.
    #[error("{}: the file ends in the middle", .0.display())]
    CutOff(PathBuf),
    /// It differs from what was written.
    #[error("the pack is damaged: {0}")]
    Damaged(String),
    /// It contains something that is not allowed in a pack.
    #[error("the pack is refused: {0}")]
    Refused(String),
    #[error(transparent)]
    Disk(#[from] PathError),
}

impl PackError {
    pub(super) fn damaged(what: impl Into<String>) -> Self {
        Self::Damaged(what.into())
    }

    pub(super) fn refused(what: impl Into<String>) -> Self {
        Self::Refused(what.into())
    }

    /// Names a pack that came as a stream, of which `path` is a copy.
    pub fn of_stream(self) -> Self {
        match self {
            Self::NoPack(_) => Self::NoPack(STREAM.into()),
            Self::CutOff(_) => Self::CutOff(STREAM.into()),
            other => other,
        }
    }
}

/// A verified pack, unpacked into a directory with the layout of a Claude directory.
#[derive(Debug)]
pub struct OpenPack {
    pub manifest: Manifest,
    dir: TempDir,
}

/// What a stream is called.
const STREAM: &str = "standard input";
/// What compressed files of this kind begin with.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// How large a manifest may be.
const MANIFEST_LIMIT: u64 = 64 * 1024 * 1024;
/// From how many bytes on, and from how many times its own size, a pack counts as a trap.
const TRAP_BYTES: u64 = 256 * 1024 * 1024;
const TRAP_RATIO: u64 = 1_000;
/// How much memory decompressing may take, as a power of two.
const WINDOW: u32 = 27;
/// How long the name of an entry may be.
const NAME_LIMIT: u64 = 8 * 1024;
/// The maximum padding at the end of an archive.
const PADDING: u64 = 1024 * 1024;

/// Whether a file begins as a pack does.
pub fn is_pack(path: &Path) -> bool {
    let mut magic = [0; 4];
    regular_file::open_for_reading(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok()
        && magic == MAGIC
}

/// Keeps a pack that comes as a stream in a private file, which goes with the value that names it.
pub fn keep_stream(stream: &mut dyn Read) -> Result<TempPath, PackError> {
    let temporary = std::env::temp_dir();
    let mut keep = || {
        let mut kept = tempfile::Builder::new().prefix(PRIVATE).tempfile_in(&temporary)?;
        io::copy(stream, kept.as_file_mut())?;
        Ok(kept.into_temp_path())
    };
    keep().map_err(|source| PathError::on_write(&temporary, source).into())
}

/// Reads only the manifest of a pack.
pub fn read_manifest(path: &Path) -> Result<Manifest, PackError> {
    let mut archive = Archive::new(decompressed(path)?);
    manifest_of(path, &mut Entries::new(path, &mut archive)?)
}

impl OpenPack {
    /// Reads a whole pack; `temporary` is the directory for temporary files.
    pub fn read(path: &Path, temporary: &Path) -> Result<Self, PackError> {
        let mut archive = Archive::new(decompressed(path)?);
        let pack = Self::extract(path, temporary, &mut archive)?;
        ends(path, archive.into_inner())?;
        Ok(pack)
    }

    fn extract(
        path: &Path,
        temporary: &Path,
        archive: &mut Archive<Unpacked>,
    ) -> Result<Self, PackError> {
        let mut entries = Entries::new(path, archive)?;
        let manifest = manifest_of(path, &mut entries)?;
        let packed = fs::metadata(path).map_err(|source| PathError::new(path, source))?.len();
        let total = manifest.total_bytes();
        if total > TRAP_BYTES && total / TRAP_RATIO > packed {
            return Err(PackError::refused(format!(
                "{packed} bytes would expand to {total}, which is not plausible"
            )));
        }
        let dir = private_dir(temporary)?;
        for file in manifest.files() {
            let Some((name, mut entry)) = entries.next_file()? else {
                return Err(PackError::damaged(format!("{:?} is missing", file.name)));
            };
            if name != file.name {
                return Err(PackError::refused(format!("{name:?} is not in its manifest")));
            }
            extract_file(path, &mut entry, file, &dir.path().join(&file.name))?;
        }
        match entries.next_file()? {
            Some((name, _)) => Err(PackError::refused(format!("{name:?} is not in its manifest"))),
            None => Ok(Self { manifest, dir }),
        }
    }

    /// Returns the directory, which is laid out like a Claude directory.
    pub fn root(&self) -> &Path {
        self.dir.path()
    }
}

type Unpacked = zstd::Decoder<'static, BufReader<File>>;

fn decompressed(path: &Path) -> Result<Unpacked, PackError> {
    if path.is_file() && !is_pack(path) {
        return Err(PackError::NoPack(path.to_owned()));
    }
    let error = |source| PathError::new(path, source);
    let file = regular_file::open_for_reading(path).map_err(error)?;
    let mut decoder = zstd::Decoder::new(file).map_err(error)?;
    decoder.window_log_max(WINDOW).map_err(error)?;
    Ok(decoder)
}

/// How the `tar` crate says that an archive ends in the middle.
const ENDS_EARLY: [&str; 2] = ["failed to read entire block", "unexpected EOF during skip"];

/// Returns what reading a pack failed with: the disk rarely is the reason.
fn unreadable(path: &Path, error: &io::Error) -> PackError {
    let text = error.to_string();
    match error.kind() == io::ErrorKind::UnexpectedEof || ENDS_EARLY.contains(&&*text) {
        true => PackError::CutOff(path.to_owned()),
        false => PackError::damaged(text),
    }
}

fn manifest_of(path: &Path, entries: &mut Entries<'_>) -> Result<Manifest, PackError> {
    let Some((name, mut entry)) = entries.next_file()? else {
        return Err(PackError::NoPack(path.to_owned()));
    };
    if name != MANIFEST {
        return Err(PackError::NoPack(path.to_owned()));
    }
    if entry.size() > MANIFEST_LIMIT {
        return Err(PackError::refused("its manifest is too large"));
    }
    let mut bytes = Vec::new();
    entry.read_to_end(&mut bytes).map_err(|error| unreadable(path, &error))?;
    if (bytes.len() as u64) < entry.size() {
        return Err(PackError::CutOff(path.to_owned()));
    }
    Manifest::parse(&bytes)
}

type Entry<'a> = tar::Entry<'a, Unpacked>;

/// The entries of an archive; long names are assembled here, so that none takes much memory.
struct Entries<'a> {
    /// The pack.
    path: &'a Path,
    raw: tar::Entries<'a, Unpacked>,
}

impl<'a> Entries<'a> {
    fn new(path: &'a Path, archive: &'a mut Archive<Unpacked>) -> Result<Self, PackError> {
        let raw = archive.entries().map_err(|error| unreadable(path, &error))?.raw(true);
        Ok(Self { path, raw })
    }

    /// Returns the next entry with its name; whatever is no regular file is refused.
    fn next_file(&mut self) -> Result<Option<(String, Entry<'a>)>, PackError> {
        let Some(mut entry) = self.next_raw()? else { return Ok(None) };
        let mut long = None;
        if entry.header().entry_type() == EntryType::GNULongName {
            if entry.size() > NAME_LIMIT {
                return Err(PackError::refused("a name in it is too long"));
            }
            let mut name = Vec::new();
            entry.read_to_end(&mut name).map_err(|error| unreadable(self.path, &error))?;
            while name.last() == Some(&0) {
                name.pop();
            }
            long = Some(name);
            let next = self.next_raw()?;
            entry = next.ok_or_else(|| PackError::CutOff(self.path.to_owned()))?;
        }
        let name = long.unwrap_or_else(|| entry.path_bytes().into_owned());
        let name = String::from_utf8(name).map_err(|error| {
            let shown = String::from_utf8_lossy(error.as_bytes()).into_owned();
            PackError::refused(format!("the name {shown:?} is not text"))
        })?;
        match entry.header().entry_type() {
            EntryType::Regular => Ok(Some((name, entry))),
            kind => Err(PackError::refused(format!("{name:?} is {}", kind_words(kind)))),
        }
    }

    fn next_raw(&mut self) -> Result<Option<Entry<'a>>, PackError> {
        self.raw.next().transpose().map_err(|error| unreadable(self.path, &error))
    }
}

fn kind_words(kind: EntryType) -> &'static str {
    match kind {
        EntryType::Symlink | EntryType::Link => "a link",
        EntryType::Directory => "a directory",
        EntryType::Char | EntryType::Block | EntryType::Fifo => "a device",
        _ => "not a regular file",
    }
}

/// Writes an entry to a new file and compares it with the manifest.
fn extract_file(
    pack: &Path,
    entry: &mut Entry<'_>,
    file: &PackedFile,
    path: &Path,
) -> Result<(), PackError> {
    let writing = |source| PackError::Disk(PathError::on_write(path, source));
    if entry.size() != file.bytes {
        return Err(PackError::damaged(format!(
            "the size of {:?} differs from the manifest",
            file.name
        )));
    }
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(writing)?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    let mut out = make_new_files_private(&mut options).open(path).map_err(writing)?;
    let mut hasher = Sha256::new();
    let mut piece = vec![0; 256 * 1024];
    let mut left = file.bytes;
    loop {
        let read = entry.read(&mut piece).map_err(|error| unreadable(pack, &error))?;
        if read == 0 {
            break;
        }
        left = left.saturating_sub(read as u64);
        hasher.update(&piece[..read]);
        out.write_all(&piece[..read]).map_err(writing)?;
    }
    if left > 0 {
        return Err(PackError::CutOff(pack.to_owned()));
    }
    if hex(&hasher.finalize()) != file.sha256 {
        return Err(PackError::damaged(format!(
            "the hash of {:?} differs from the manifest",
            file.name
        )));
    }
    Ok(())
}

/// Writes a hash as it is written everywhere.
pub(super) fn hex(hash: &[u8]) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Makes sure that a pack ends where its archive does: a truncated pack must not go unnoticed.
fn ends(path: &Path, mut rest: Unpacked) -> Result<(), PackError> {
    let mut padding = Vec::new();
    let limited = rest.by_ref().take(PADDING + 1);
    { limited }.read_to_end(&mut padding).map_err(|error| unreadable(path, &error))?;
    match padding.len() as u64 <= PADDING && padding.iter().all(|byte| *byte == 0) {
        true => Ok(()),
        false => Err(PackError::refused("there is data after the last file")),
    }
}

/// How the name of a directory for an open pack begins; the process that reads it follows.
const PRIVATE: &str = "ramus-pack-";

/// Makes a private directory, and removes those that killed processes left.
fn private_dir(temporary: &Path) -> Result<TempDir, PackError> {
    for left in fs::read_dir(temporary).into_iter().flatten().flatten() {
        let name = left.file_name();
        let rest = name.to_str().and_then(|name| name.strip_prefix(PRIVATE));
        let pid = rest.and_then(|rest| rest.split('-').next()?.parse().ok());
        if pid.is_some_and(|pid| !is_process_alive(pid))
            && left.file_type().is_ok_and(|kind| kind.is_dir())
        {
            // It may belong to another process; then leave it.
            let _ = fs::remove_dir_all(left.path());
        }
    }
    let prefix = format!("{PRIVATE}{}-", std::process::id());
    let made = tempfile::Builder::new().prefix(&prefix).tempdir_in(temporary);
    made.map_err(|source| PathError::on_write(temporary, source).into())
}
