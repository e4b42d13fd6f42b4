//! Where Claude Code histories live: directories, files, reading.

pub mod agents;
mod error;
pub mod new;
pub mod place;
mod read;
pub mod scan;
pub mod survey;
pub mod trace;

pub use error::PathError;
pub use read::{Bodies, from_jsonl, read, spilled};
