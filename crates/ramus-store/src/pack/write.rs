//! Writes a pack: reads everything once to list it, and a second time to write it.

use std::io::{self, Write};
use std::path::Path;

use ramus_core::redact::RedactionCounts;
use sha2::{Digest, Sha256};

use super::manifest::{Manifest, PackedFile, PackedSession};
use super::read::hex;
use super::redacted::read_redacted;
use super::source::PackSource;
use super::{FORMAT, MANIFEST};
use crate::error::PathError;

/// How a pack is written.
#[derive(Clone, Copy, Debug, Default)]
pub struct PackOptions {
    /// Takes out secrets and personal data.
    pub redact: bool,
}

/// A pack ready to be written: its exact content.
#[derive(Debug)]
pub struct PackPlan {
    pub manifest: Manifest,
    /// The files, in the order of the manifest.
    sources: Vec<PackSource>,
    options: PackOptions,
    /// What was taken out, by rule.
    pub redactions: RedactionCounts,
    /// What belongs to the sessions and is not in the pack.
    pub left_out: Vec<LeftOut>,
}

/// A file or a directory that is not packed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Its path from the Claude directory on.
    pub name: String,
    pub reason: LeftOutReason,
}

/// Why something is not packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOutReason {
    /// Secrets cannot be found in it.
    NotText,
    /// Its name, or the name of a directory, is not allowed on every system.
    OddName,
    /// It is below too many directories.
    TooDeep,
}

/// Why a pack was not written.
#[derive(Debug, thiserror::Error)]
pub enum PackWriteError {
    #[error(transparent)]
    Disk(#[from] PathError),
    /// A file is not what it was when the pack was planned.
    #[error("{0:?} changed while it was packed")]
    Changed(String),
    #[error("cannot write the pack")]
    Write(#[from] io::Error),
}

/// How hard is tried to make packs small; higher levels take several times as long for a few percent.
const LEVEL: i32 = 9;

impl PackPlan {
    /// Starts a pack without sessions.
    pub fn new(options: PackOptions) -> Self {
        let manifest =
            Manifest { format: FORMAT.to_owned(), redacted: options.redact, sessions: Vec::new() };
        let (sources, left_out) = (Vec::new(), Vec::new());
        Self { manifest, sources, options, redactions: RedactionCounts::new(), left_out }
    }

    /// Adds a session with its files, which are read for that; `session.files` is filled in.
    pub fn add(
        &mut self,
        mut session: PackedSession,
        sources: Vec<PackSource>,
    ) -> Result<(), PackWriteError> {
        for source in sources {
            let mut hasher = Sha256::new();
            let mut bytes = 0;
            let is_kept = self.read(&source, &mut |piece| {
                bytes += piece.len() as u64;
                hasher.update(piece);
                Ok(())
            })?;
            if !is_kept {
                let reason = LeftOutReason::NotText;
                self.left_out.push(LeftOut { name: source.name, reason });
                continue;
            }
            let sha256 = hex(&hasher.finalize());
            let (name, mode) = (source.name.clone(), source.mode);
            session.files.push(PackedFile { name, bytes, sha256, mode });
            self.sources.push(source);
        }
        self.manifest.sessions.push(session);
        Ok(())
    }

    fn read(
        &mut self,
        source: &PackSource,
        each: &mut dyn FnMut(&[u8]) -> Result<(), PackWriteError>,
    ) -> Result<bool, PackWriteError> {
        match self.options.redact {
            true => read_redacted(source, &mut self.redactions, each),
            false => source.content.for_each_piece(each).map(|()| true),
        }
    }

    /// Writes the pack to a private temporary file and renames it. Returns its size.
    pub fn write_file(&self, path: &Path) -> Result<u64, PackWriteError> {
        let failed = |source| PackWriteError::Disk(PathError::on_write(path, source));
        let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
        let beside =
            tempfile::Builder::new().prefix(".ramus-").tempfile_in(dir.unwrap_or(Path::new(".")));
        let mut file = beside.map_err(failed)?;
        self.write(file.as_file_mut())?;
        file.as_file().sync_all().map_err(failed)?;
        let size = file.as_file().metadata().map_err(failed)?.len();
        file.persist(path).map_err(|error| failed(error.error))?;
        Ok(size)
    }

    /// Writes the pack.
    pub fn write(&self, out: &mut dyn Write) -> Result<(), PackWriteError> {
        let mut encoder = zstd::Encoder::new(out, LEVEL)?;
        encoder.include_checksum(true)?;
        let mut manifest = serde_json::to_vec_pretty(&self.manifest).map_err(io::Error::from)?;
        manifest.push(b'\n');
        write_header(&mut encoder, MANIFEST, manifest.len() as u64, None)?;
        encoder.write_all(&manifest)?;
        write_padding(&mut encoder, manifest.len() as u64)?;
        for (file, source) in self.manifest.files().zip(&self.sources) {
            self.write_entry(&mut encoder, file, source)?;
        }
        // Two empty blocks end an archive.
        encoder.write_all(&[0; 1024])?;
        encoder.finish()?.flush()?;
        Ok(())
    }

    fn write_entry(
        &self,
        out: &mut dyn Write,
        file: &PackedFile,
        source: &PackSource,
    ) -> Result<(), PackWriteError> {
        write_header(out, &file.name, file.bytes, file.mode)?;
        let changed = || PackWriteError::Changed(file.name.clone());
        let mut hasher = Sha256::new();
        let mut left = file.bytes;
        let mut each = |piece: &[u8]| {
            left = left.checked_sub(piece.len() as u64).ok_or_else(changed)?;
            hasher.update(piece);
            Ok(out.write_all(piece)?)
        };
        match self.options.redact {
            true => drop(read_redacted(source, &mut RedactionCounts::new(), &mut each)?),
            false => source.content.for_each_piece::<PackWriteError>(&mut each)?,
        }
        if left > 0 || hex(&hasher.finalize()) != file.sha256 {
            return Err(changed());
        }
        Ok(write_padding(out, file.bytes)?)
    }
}

/// Writes the header of an entry that has no time, no owner and nothing else that varies.
fn write_header(out: &mut dyn Write, name: &str, bytes: u64, mode: Option<u32>) -> io::Result<()> {
    let header = |size: u64, mode: u32, kind: tar::EntryType| {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(size);
        header.set_mode(mode);
        header.set_mtime(0);
        header
    };
    let mut file = header(bytes, mode.unwrap_or(0o600), tar::EntryType::Regular);
    if file.set_path(name).is_err() {
        let long_name = [name.as_bytes(), b"\0"].concat();
        let mut long = header(long_name.len() as u64, 0o644, tar::EntryType::GNULongName);
        long.set_path("././@LongLink")?;
        long.set_cksum();
        out.write_all(long.as_bytes())?;
        out.write_all(&long_name)?;
        write_padding(out, long_name.len() as u64)?;
        let end = name.floor_char_boundary(99);
        file.set_path(&name[..end])?;
    }
    file.set_cksum();
    out.write_all(file.as_bytes())
}

/// Fills the last block of an entry.
fn write_padding(out: &mut dyn Write, bytes: u64) -> io::Result<()> {
    let rest = (512 - bytes % 512) % 512;
    out.write_all(&[0; 512][..rest as usize])
}
