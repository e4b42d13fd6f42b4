//! Turns changes on disk into events: found, grew, rewritten, moved, gone.
//!
//! The operating system says only where something changed (or all files are polled); what
//! changed is found by looking at the files. So a lost, late, repeated or wrong notification
//! costs a moment at most, never a record.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use std::{io, thread};

use crate::claude_dir::HistoryFile;
use crate::error::PathError;

mod followed_files;

mod tracked_file;

mod fs_watcher;

mod earlier_lines;

#[cfg(test)]
mod tests;

pub use earlier_lines::{first_lines, line_at, lines_before};
use followed_files::FollowedFiles;
use fs_watcher::{ChangeSignal, DirtyPaths, FsWatcher};

/// Something that happened to a history file.
#[derive(Debug)]
pub enum FollowEvent {
    /// A file exists. Its content before `at` was there before following began and is not sent.
    Found { file: HistoryFile, at: u64 },
    /// Complete lines were appended.
    Grew { file: HistoryFile, lines: FollowedLines },
    /// It was truncated or replaced: what was read of it is no longer valid. Its new content
    /// follows as growth from zero.
    Rewritten { file: HistoryFile },
    /// The same file has another path. What was read of it is still valid.
    Moved { from: PathBuf, file: HistoryFile },
    /// It was deleted, or moved out of sight.
    Gone { file: HistoryFile },
    /// Everything that existed at the start has been reported. From here on events are new.
    Ready,
    /// The system does not report changes (any more), so the files are polled.
    Polling { why: String },
    /// Something cannot be read. Reported once, until it can be read again.
    Problem(PathError),
}

/// Complete lines of a file, with their newlines.
#[derive(Clone, PartialEq, Eq)]
pub struct FollowedLines {
    /// Offset of the first byte in the file.
    pub at: u64,
    pub bytes: Vec<u8>,
}

impl FollowedLines {
    /// Returns the offset after the last byte.
    pub fn end(&self) -> u64 {
        self.at + self.bytes.len() as u64
    }

    /// Returns the lines after an offset that was read already. `None`: bytes between are missing.
    pub fn bytes_after(&self, have: u64) -> Option<&[u8]> {
        let known = have.checked_sub(self.at)?;
        Some(self.bytes.get(known as usize..).unwrap_or_default())
    }
}

impl std::fmt::Debug for FollowedLines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}..{} {:?}", self.at, self.end(), String::from_utf8_lossy(&self.bytes))
    }
}

/// How to follow.
#[derive(Clone, Debug, Default)]
pub struct FollowConfig {
    pub mode: WatchMode,
    pub start: FollowStart,
}

/// How changes are noticed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WatchMode {
    /// The system reports them. Where it cannot, like [`Poll`](Self::Poll) every half second.
    #[default]
    Events,
    /// All files are checked at this interval, for network file systems.
    Poll(Duration),
}

/// Which lines of existing files are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FollowStart {
    /// All of them: loading is following from zero.
    Beginning,
    /// Only those that are completed from now on.
    #[default]
    End,
}

/// How often files are checked if the system does not report changes.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// How often they are checked even if it does, in case it missed something.
const SWEEP_INTERVAL: Duration = Duration::from_secs(2);
/// Checking all files may take at most one part in this of the time.
const SWEEP_COST_SHARE: u32 = 20;
/// How many events can wait for their reader before following pauses.
const QUEUE_LENGTH: usize = 64;

/// The events, as an iterator. Following ends when this is dropped.
#[derive(Debug)]
pub struct FollowEvents {
    receiver: Option<Receiver<FollowEvent>>,
    signal: Arc<ChangeSignal>,
    thread: Option<JoinHandle<()>>,
}

/// Follows all history files below Claude directories, which need not exist yet.
///
/// Existing files are reported first, then [`FollowEvent::Ready`], then what happens to them and
/// to new ones. Each line is sent once, when its newline is there. The cost of an append does
/// not depend on the size of the file.
///
/// ```
/// use ramus_core::session::Session;
/// use ramus_store::follow::{FollowEvent, FollowConfig, FollowStart, follow_files};
///
/// # let home = testkit::TestHome::new();
/// # home.write_session("-home-dev-app/0a1b2c3d-0000-4000-8000-000000000000.jsonl", "a user hello\nb < a assistant hi");
/// # let claude_dir = home.claude_dir();
/// let mut session = Session::default();
/// for change in follow_files(vec![claude_dir], &FollowConfig { start: FollowStart::Beginning, ..FollowConfig::default() })? {
///     match change {
///         FollowEvent::Grew { lines, .. } => session.push(&lines.bytes),
///         FollowEvent::Ready => break,
///         _ => {}
///     }
/// }
/// assert_eq!(session.records().len(), 2);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn follow_files(roots: Vec<PathBuf>, config: &FollowConfig) -> io::Result<FollowEvents> {
    let signal = Arc::new(ChangeSignal::default());
    let (sender, receiver) = sync_channel(QUEUE_LENGTH);
    let known = FollowedFiles::new(roots.clone(), config.start);
    let thread = thread::Builder::new().name("follow".to_owned()).spawn({
        let (signal, how) = (Arc::clone(&signal), config.mode);
        move || run_follower(roots, known, how, &signal, &sender)
    })?;
    Ok(FollowEvents { receiver: Some(receiver), signal, thread: Some(thread) })
}

impl FollowEvents {
    /// Waits for the next change; `None`: following has ended.
    pub fn recv(&self) -> Option<FollowEvent> {
        self.receiver.as_ref()?.recv().ok()
    }

    /// Waits for the next change, but not for ever.
    pub fn recv_timeout(&self, timeout: Duration) -> Result<FollowEvent, RecvTimeoutError> {
        let receiver = self.receiver.as_ref().ok_or(RecvTimeoutError::Disconnected)?;
        receiver.recv_timeout(timeout)
    }

    /// Returns the next change if there is one.
    pub fn try_recv(&self) -> Result<FollowEvent, TryRecvError> {
        self.receiver.as_ref().ok_or(TryRecvError::Disconnected)?.try_recv()
    }
}

impl Iterator for FollowEvents {
    type Item = FollowEvent;

    fn next(&mut self) -> Option<FollowEvent> {
        self.recv()
    }
}

impl Drop for FollowEvents {
    fn drop(&mut self) {
        // The receiver first, so that a thread that is blocked on sending continues.
        self.receiver = None;
        self.signal.stop();
        if let Some(thread) = self.thread.take() {
            // An error means that it panicked, which has been reported.
            let _ = thread.join();
        }
    }
}

fn run_follower(
    roots: Vec<PathBuf>,
    mut known: FollowedFiles,
    how: WatchMode,
    signal: &Arc<ChangeSignal>,
    sender: &SyncSender<FollowEvent>,
) {
    let mut tell = |change| sender.send(change).is_ok();
    let (mut events, mut pause) = match how {
        WatchMode::Poll(pause) => (None, pause),
        WatchMode::Events => match FsWatcher::new(roots, signal) {
            Ok(events) => (Some(events), SWEEP_INTERVAL),
            Err(error) if tell(FollowEvent::Polling { why: error.to_string() }) => {
                (None, POLL_INTERVAL)
            }
            Err(_) => return,
        },
    };
    let mut dirty = DirtyPaths::all_dirty();
    let mut next_sweep = Instant::now();
    let mut started = false;
    loop {
        if let Some(watching) = &mut events {
            match watching.update_watches() {
                Ok(moved) => dirty.all |= moved,
                Err(error) => {
                    (events, pause, dirty.all) = (None, POLL_INTERVAL, true);
                    if !tell(FollowEvent::Polling { why: error.to_string() }) {
                        return;
                    }
                }
            }
        }
        let swept = dirty.all;
        let before = Instant::now();
        if !known.process_dirty(&dirty, &mut tell) || !(started || tell(FollowEvent::Ready)) {
            return;
        }
        started = true;
        if swept {
            next_sweep = Instant::now() + pause.max(before.elapsed() * SWEEP_COST_SHARE);
        }
        dirty = match signal.wait_until(next_sweep) {
            Some(dirty) => dirty,
            None => return,
        };
        if let Some(why) = signal.take_failure() {
            (events, pause, dirty.all) = (None, POLL_INTERVAL, true);
            if !tell(FollowEvent::Polling { why }) {
                return;
            }
        }
    }
}
