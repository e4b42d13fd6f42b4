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

use crate::error::PathError;
use crate::place::HistoryFile;

mod known;

mod tracked;

mod events;

mod past;

#[cfg(test)]
mod tests;

use events::{Dirty, Events, Signal};
use known::Known;
pub use past::{first_lines, line_at, lines_before};

/// Something that happened to a history file.
#[derive(Debug)]
pub enum Change {
    /// A file exists. Its content before `at` was there before following began and is not sent.
    Found { file: HistoryFile, at: u64 },
    /// Complete lines were appended.
    Grew { file: HistoryFile, lines: Lines },
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
pub struct Lines {
    /// Offset of the first byte in the file.
    pub at: u64,
    pub bytes: Vec<u8>,
}

impl Lines {
    /// Returns the offset after the last byte.
    pub fn end(&self) -> u64 {
        self.at + self.bytes.len() as u64
    }

    /// Returns what is new after an offset that was read already. `None`: bytes between are missing.
    pub fn beyond(&self, have: u64) -> Option<&[u8]> {
        let known = have.checked_sub(self.at)?;
        Some(self.bytes.get(known as usize..).unwrap_or_default())
    }
}

impl std::fmt::Debug for Lines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}..{} {:?}", self.at, self.end(), String::from_utf8_lossy(&self.bytes))
    }
}

/// How to follow.
#[derive(Clone, Debug, Default)]
pub struct FollowConfig {
    pub how: How,
    pub start: Start,
}

/// How changes are noticed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum How {
    /// The system reports them. Where it cannot, like [`Poll`](Self::Poll) every half second.
    #[default]
    Events,
    /// All files are checked at this interval, for network file systems.
    Poll(Duration),
}

/// Which lines of existing files are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// All of them: loading is following from zero.
    Beginning,
    /// Only those that are completed from now on.
    #[default]
    End,
}

/// How often files are checked if the system does not report changes.
const POLL: Duration = Duration::from_millis(500);
/// How often they are checked even if it does, in case it missed something.
const SWEEP: Duration = Duration::from_secs(2);
/// Checking all files may take at most one part in this of the time.
const SHARE: u32 = 20;
/// How many events can wait for their reader before following pauses.
const WAITING: usize = 64;

/// The events, as an iterator. Following ends when this is dropped.
#[derive(Debug)]
pub struct Changes {
    receiver: Option<Receiver<Change>>,
    signal: Arc<Signal>,
    thread: Option<JoinHandle<()>>,
}

/// Follows all history files below Claude directories, which need not exist yet.
///
/// Existing files are reported first, then [`Change::Ready`], then what happens to them and
/// to new ones. Each line is sent once, when its newline is there. The cost of an append does
/// not depend on the size of the file.
///
/// ```
/// use ramus_core::session::Session;
/// use ramus_store::follow::{Change, FollowConfig, Start, follow};
///
/// # let home = testkit::Home::new();
/// # home.session("-home-dev-app/0a1b2c3d-0000-4000-8000-000000000000.jsonl", "a user hello\nb < a assistant hi");
/// # let claude_dir = home.claude();
/// let mut session = Session::default();
/// for change in follow(vec![claude_dir], &FollowConfig { start: Start::Beginning, ..FollowConfig::default() })? {
///     match change {
///         Change::Grew { lines, .. } => session.push(&lines.bytes),
///         Change::Ready => break,
///         _ => {}
///     }
/// }
/// assert_eq!(session.records().len(), 2);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn follow(roots: Vec<PathBuf>, config: &FollowConfig) -> io::Result<Changes> {
    let signal = Arc::new(Signal::default());
    let (sender, receiver) = sync_channel(WAITING);
    let known = Known::new(roots.clone(), config.start);
    let thread = thread::Builder::new().name("follow".to_owned()).spawn({
        let (signal, how) = (Arc::clone(&signal), config.how);
        move || run(roots, known, how, &signal, &sender)
    })?;
    Ok(Changes { receiver: Some(receiver), signal, thread: Some(thread) })
}

impl Changes {
    /// Waits for the next change; `None`: following has ended.
    pub fn recv(&self) -> Option<Change> {
        self.receiver.as_ref()?.recv().ok()
    }

    /// Waits for the next change, but not for ever.
    pub fn recv_timeout(&self, timeout: Duration) -> Result<Change, RecvTimeoutError> {
        let receiver = self.receiver.as_ref().ok_or(RecvTimeoutError::Disconnected)?;
        receiver.recv_timeout(timeout)
    }

    /// Returns the next change if there is one.
    pub fn try_recv(&self) -> Result<Change, TryRecvError> {
        self.receiver.as_ref().ok_or(TryRecvError::Disconnected)?.try_recv()
    }
}

impl Iterator for Changes {
    type Item = Change;

    fn next(&mut self) -> Option<Change> {
        self.recv()
    }
}

impl Drop for Changes {
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

fn run(
    roots: Vec<PathBuf>,
    mut known: Known,
    how: How,
    signal: &Arc<Signal>,
    sender: &SyncSender<Change>,
) {
    let mut tell = |change| sender.send(change).is_ok();
    let (mut events, mut pause) = match how {
        How::Poll(pause) => (None, pause),
        How::Events => match Events::new(roots, signal) {
            Ok(events) => (Some(events), SWEEP),
            Err(error) if tell(Change::Polling { why: error.to_string() }) => (None, POLL),
            Err(_) => return,
        },
    };
    let mut dirty = Dirty::everything();
    let mut next_sweep = Instant::now();
    let mut started = false;
    loop {
        if let Some(watching) = &mut events {
            match watching.arm() {
                Ok(moved) => dirty.all |= moved,
                Err(error) => {
                    (events, pause, dirty.all) = (None, POLL, true);
                    if !tell(Change::Polling { why: error.to_string() }) {
                        return;
                    }
                }
            }
        }
        let swept = dirty.all;
        let before = Instant::now();
        if !known.settle(&dirty, &mut tell) || !(started || tell(Change::Ready)) {
            return;
        }
        started = true;
        if swept {
            next_sweep = Instant::now() + pause.max(before.elapsed() * SHARE);
        }
        dirty = match signal.wait(next_sweep) {
            Some(dirty) => dirty,
            None => return,
        };
        if let Some(why) = signal.take_failure() {
            (events, pause, dirty.all) = (None, POLL, true);
            if !tell(Change::Polling { why }) {
                return;
            }
        }
    }
}
