//! Where Claude Code histories live: directories, files, reading.

pub mod agents;
mod error;
pub mod export;
pub mod new;
pub mod place;
mod read;
mod source;
pub mod survey;
pub mod trace;

pub use error::PathError;
pub use read::{Bodies, from_jsonl, read, spilled};
pub use source::Source;
