//! A copy of a file without what is secret in it, from which it is archived on a server.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use ramus_core::redact::RedactionCounts;
use ramus_store::pack::Redactor;
use tempfile::NamedTempFile;

/// How much is read at once.
const PIECE: usize = 1024 * 1024;

/// A file as it was, without what is secret in it.
#[derive(Debug)]
pub(super) struct RedactedCopy {
    pub(super) file: NamedTempFile,
    /// The length and the hash of the bytes that it was made from.
    original: (u64, blake3::Hash),
}

/// Makes the copy from so many bytes of a file. `None`: it is not text, so secrets in it cannot be found.
pub(super) fn redacted_copy(
    file: &mut File,
    path: &Path,
    length: u64,
) -> io::Result<Option<RedactedCopy>> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let suffix = path.extension().map(|suffix| format!(".{}", suffix.to_string_lossy()));
    let mut copy = tempfile::Builder::new().suffix(&suffix.unwrap_or_default()).tempfile()?;
    let mut redactor = Redactor::new(&name);
    let (mut hasher, mut found) = (blake3::Hasher::new(), RedactionCounts::new());
    let mut out = BufWriter::new(copy.as_file_mut());
    let mut write = |bytes: &[u8]| out.write_all(bytes);
    file.seek(SeekFrom::Start(0))?;
    let mut from = (&*file).take(length);
    let mut piece = vec![0; PIECE];
    let mut read_bytes = 0;
    loop {
        let read = match from.read(&mut piece) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        read_bytes += read as u64;
        hasher.update(&piece[..read]);
        redactor.push(&piece[..read], &mut found, &mut write)?;
    }
    redactor.drop_incomplete_line();
    let is_text = redactor.finish(&mut found, &mut write)?;
    out.flush()?;
    drop(out);
    let original = (read_bytes, hasher.finalize());
    Ok(is_text.then_some(RedactedCopy { file: copy, original }))
}

impl RedactedCopy {
    /// Whether the file still begins with the bytes that the copy was made from.
    pub(super) fn is_still_of(&self, file: &mut File) -> io::Result<bool> {
        let (length, hash) = self.original;
        file.seek(SeekFrom::Start(0))?;
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader((&*file).take(length))?;
        Ok(hasher.finalize() == hash)
    }
}
