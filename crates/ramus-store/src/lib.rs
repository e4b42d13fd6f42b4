//! Where Claude Code histories live: directories, files, reading.

mod error;
pub mod place;
mod read;
pub mod survey;

pub use error::PathError;
pub use read::{Bodies, from_jsonl, read};
