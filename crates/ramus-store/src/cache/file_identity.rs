//! Identifies a file in one particular state.

use std::fs::{self, Metadata};
use std::path::Path;
use std::sync::LazyLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bitcode::{Decode, Encode};

#[cfg(not(unix))]
use crate::file_id::FileId;
use crate::overlay;

/// How long a file must be unchanged before it can be identified. Two changes within one tick of the
/// file system's clock look the same, and some clocks have ticks of two seconds.
///
/// Tests on file systems with finer clocks set `RAMUS_CACHE_SETTLE_MS` to wait less.
static SETTLE_TIME: LazyLock<Duration> = LazyLock::new(|| {
    let given = std::env::var("RAMUS_CACHE_SETTLE_MS").ok().and_then(|millis| millis.parse().ok());
    given.map_or(Duration::from_secs(2), Duration::from_millis)
});

/// Distinguishes one state of a file from every other.
///
/// `ctime` cannot be set by programs, so a replaced content with the same size and date is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct FileIdentity {
    device: u64,
    inode: u64,
    bytes: u64,
    /// A second time in addition to `changed`: the modification time on Unix, the creation time elsewhere.
    other: (i64, i64),
    /// The last change that the file system reports. It decides whether the file has settled.
    changed: (i64, i64),
}

impl FileIdentity {
    /// Returns the identity of a file. `None`: it changed a moment ago, or its clock is ahead of ours.
    pub fn of_settled(path: &Path, meta: &Metadata) -> Option<Self> {
        Self::of_settled_at(path, meta, SystemTime::now(), *SETTLE_TIME)
    }

    fn of_settled_at(
        path: &Path,
        meta: &Metadata,
        now: SystemTime,
        after: Duration,
    ) -> Option<Self> {
        let identity = Self::of_unsettled(path, meta);
        let (seconds, nanos) = identity.changed;
        let changed = Duration::new(seconds.try_into().ok()?, nanos.try_into().ok()?);
        let now = now.duration_since(UNIX_EPOCH).ok()?;
        (changed + after < now).then_some(identity)
    }

    /// Returns how long the file was.
    pub(crate) fn file_len(&self) -> u64 {
        self.bytes
    }

    /// Returns the identity of a content that is kept elsewhere than in a file, by its hash.
    pub fn of_content(hash: &[u8; 32], bytes: u64) -> Self {
        let field = |at: usize| {
            let mut field = [0; 8];
            field.copy_from_slice(&hash[at..at + 8]);
            i64::from_le_bytes(field)
        };
        // No file system has this number.
        let device = u64::MAX;
        let (other, changed) = ((field(8), field(16)), (field(24), 0));
        Self { device, inode: field(0).cast_unsigned(), bytes, other, changed }
    }

    /// Returns the hash that [`of_content`](Self::of_content) was given. `None`: it identifies a file.
    pub fn content_hash(&self) -> Option<[u8; 32]> {
        let fields = [self.inode.cast_signed(), self.other.0, self.other.1, self.changed.0]
            .map(i64::to_le_bytes);
        let mut hash = [0; 32];
        hash.chunks_exact_mut(8).zip(fields).for_each(|(part, field)| part.copy_from_slice(&field));
        (self.device == u64::MAX).then_some(hash)
    }

    /// Returns the identity as bytes of a fixed length, for storing it elsewhere.
    pub fn to_bytes(self) -> [u8; 56] {
        let fields = [
            self.device.cast_signed(),
            self.inode.cast_signed(),
            self.bytes.cast_signed(),
            self.other.0,
            self.other.1,
            self.changed.0,
            self.changed.1,
        ];
        let mut bytes = [0; 56];
        for (place, field) in bytes.chunks_exact_mut(8).zip(fields) {
            place.copy_from_slice(&field.to_le_bytes());
        }
        bytes
    }

    /// Whether two observations of a file show the same state, settled or not.
    pub fn is_same_state(path: &Path, one: &Metadata, other: &Metadata) -> bool {
        Self::of_unsettled(path, one) == Self::of_unsettled(path, other)
    }

    /// Whether cached data of a file is still valid: the file is still in this state.
    pub(crate) fn is_still_valid(&self, path: &Path) -> bool {
        match fs::metadata(path) {
            Ok(meta) => Self::of_unsettled(path, &meta) == *self,
            Err(_) => overlay::archived_file(path).is_some_and(|file| file.identity == *self),
        }
    }

    #[cfg(unix)]
    fn of_unsettled(_: &Path, meta: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self {
            device: meta.dev(),
            inode: meta.ino(),
            bytes: meta.len(),
            other: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        }
    }

    #[cfg(not(unix))]
    fn of_unsettled(path: &Path, meta: &Metadata) -> Self {
        let time = |time: std::io::Result<SystemTime>| {
            let since = time.ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            since.map_or((0, 0), |since| (since.as_secs() as i64, i64::from(since.subsec_nanos())))
        };
        // The standard library does not tell `ctime` here. The times of the last write and of creation are used
        // instead, with the number of the file: a replaced file has another one.
        let id = FileId::from_path(path).ok();
        Self {
            device: id.map_or(0, |id| id.device),
            inode: id.map_or(0, |id| id.number),
            bytes: meta.len(),
            other: time(meta.created()),
            changed: time(meta.modified()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_recognised_once_it_was_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        fs::write(&path, "one").unwrap();
        let meta = fs::metadata(&path).unwrap();
        let (seconds, nanos) = FileIdentity::of_unsettled(&path, &meta).changed;
        let changed =
            UNIX_EPOCH + Duration::new(seconds.try_into().unwrap(), nanos.try_into().unwrap());
        let after = Duration::from_secs(2);
        let at = |now| FileIdentity::of_settled_at(&path, &meta, now, after);
        assert_eq!(at(changed), None);
        assert_eq!(at(changed + after), None, "the same tick");
        assert_eq!(at(changed - after), None, "its clock is ahead of ours");
        let identity = at(changed + after + Duration::from_nanos(1)).unwrap();
        assert_eq!(identity.file_len(), 3);
        assert!(identity.is_still_valid(&path));
    }

    #[test]
    fn another_content_of_the_same_size_and_date_is_another_state() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        fs::write(&path, "one").unwrap();
        let before = fs::metadata(&path).unwrap();
        let identity = FileIdentity::of_unsettled(&path, &before);
        let other = dir.path().join("other");
        fs::write(&other, "two").unwrap();
        let file = fs::File::options().write(true).open(&other).unwrap();
        file.set_modified(before.modified().unwrap()).unwrap();
        fs::rename(&other, &path).unwrap();
        assert!(!identity.is_still_valid(&path));
        fs::remove_file(&path).unwrap();
        assert!(!identity.is_still_valid(&path));
    }
}
