//! What an archive promises, with each of its engines.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod bytes;
mod derived;
mod faults;
mod postgres;
mod rights;
