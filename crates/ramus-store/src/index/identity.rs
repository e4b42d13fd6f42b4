//! Which file something was learnt from, and in which state.

use std::fs::{self, Metadata};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bitcode::{Decode, Encode};

/// How long a file must have been left alone before it can be recognised: two changes within one tick
/// of a file system's clock look the same.
const SETTLED: Duration = Duration::from_secs(2);

/// What tells one state of a file from every other one.
///
/// Nobody can set the time of the last change (`ctime`), so content that was replaced under the same
/// size and date is noticed all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Identity {
    device: u64,
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Identity {
    /// Tells the state of a file; `None`: it changed a moment ago, or its clock is ahead of ours.
    pub(crate) fn of(meta: &Metadata) -> Option<Self> {
        let identity = Self::unsettled(meta);
        let (seconds, nanos) = identity.changed;
        let changed = Duration::new(seconds.try_into().ok()?, nanos.try_into().ok()?);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
        (changed + SETTLED < now).then_some(identity)
    }

    /// Returns how long the file was.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether a file is still in this state.
    pub(crate) fn still_is(&self, path: &Path) -> bool {
        fs::metadata(path).is_ok_and(|meta| Self::unsettled(&meta) == *self)
    }

    #[cfg(unix)]
    fn unsettled(meta: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self {
            device: meta.dev(),
            inode: meta.ino(),
            bytes: meta.len(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        }
    }

    #[cfg(not(unix))]
    fn unsettled(meta: &Metadata) -> Self {
        let time = |time: std::io::Result<SystemTime>| {
            let since = time.ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            since.map_or((0, 0), |since| (since.as_secs() as i64, i64::from(since.subsec_nanos())))
        };
        Self {
            device: 0,
            inode: 0,
            bytes: meta.len(),
            modified: time(meta.created()),
            changed: time(meta.modified()),
        }
    }
}
