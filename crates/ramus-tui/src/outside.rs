//! Running a program outside of the screens, on the plain terminal.
//!
//! The thread that reads keys must not read while another program does: it would take every other key
//! away from it. On Unix a signal wakes it up, because nothing else ends its wait for a key. Windows has no
//! such signal, so there it looks up from its wait five times a second.

use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use ratatui::crossterm::event::{self, Event};
#[cfg(unix)]
use rustix::process::{Signal, getpid, kill_process};

/// Whether keys go to the screens or to a program that runs in their place.
#[derive(Debug, Default)]
pub(crate) struct InputGate {
    gate: Mutex<Gate>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Gate {
    /// Another program reads the keys.
    is_closed: bool,
    /// The screens wait for a key.
    is_reading: bool,
}

impl InputGate {
    /// Reads one event for the screens, once no other program reads.
    #[cfg(unix)]
    pub(crate) fn read_event(&self) -> io::Result<Event> {
        self.read(event::read)
    }

    /// Reads one event for the screens, once no other program reads.
    #[cfg(windows)]
    pub(crate) fn read_event(&self) -> io::Result<Event> {
        const LONGEST_WAIT: std::time::Duration = std::time::Duration::from_millis(200);
        loop {
            let waited = self.read(|| match event::poll(LONGEST_WAIT)? {
                true => event::read().map(Some),
                false => Ok(None),
            });
            if let Some(event) = waited? {
                return Ok(event);
            }
        }
    }

    fn read<T>(&self, read: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let mut gate = self.lock();
        while gate.is_closed {
            gate = self.wait(gate);
        }
        gate.is_reading = true;
        drop(gate);
        let event = read();
        self.lock().is_reading = false;
        self.changed.notify_all();
        event
    }

    /// Runs something that reads the keys itself.
    pub(crate) fn close_during<T>(&self, outside: impl FnOnce() -> T) -> io::Result<T> {
        let mut gate = self.lock();
        gate.is_closed = true;
        #[cfg(unix)]
        if gate.is_reading {
            // It comes back with the size of the terminal, which is nothing new.
            kill_process(getpid(), Signal::WINCH)?;
        }
        while gate.is_reading {
            gate = self.wait(gate);
        }
        drop(gate);
        let done = outside();
        self.lock().is_closed = false;
        self.changed.notify_all();
        Ok(done)
    }

    fn lock(&self) -> MutexGuard<'_, Gate> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, gate: MutexGuard<'a, Gate>) -> MutexGuard<'a, Gate> {
        self.changed.wait(gate).unwrap_or_else(PoisonError::into_inner)
    }
}
