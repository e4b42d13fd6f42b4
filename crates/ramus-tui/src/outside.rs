//! Running a program outside of the screens, on the plain terminal.
//!
//! The thread that reads keys must not read while another program does: it would take every other key
//! away from it. A signal wakes it up, because nothing else ends its wait for a key.

use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

#[cfg(unix)]
use rustix::process::{Signal, getpid, kill_process};

/// Says who reads the keys: the screens, or a program that runs outside of them.
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
    pub(crate) fn read<T>(&self, read: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
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
    #[cfg(unix)]
    pub(crate) fn close_during<T>(&self, outside: impl FnOnce() -> T) -> io::Result<T> {
        let mut gate = self.lock();
        gate.is_closed = true;
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
