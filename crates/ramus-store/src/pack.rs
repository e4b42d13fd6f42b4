//! Packs: sessions with all their files, in one file that can be moved elsewhere.
//!
//! A pack is a tar archive, compressed with zstd. Its first entry, `manifest.json`, lists the sessions
//! and every other entry with its size and hash. The others are named as they lie in a Claude directory:
//!
//! ```text
//! manifest.json
//! projects/<project>/<session>.jsonl
//! projects/<project>/<session>/subagents/…, tool-results/…
//! projects/<project>/agent-<id>.jsonl         agents of old clients
//! file-history/<session>/<backup>
//! ```
//!
//! The same sessions give the same bytes: nothing in a pack depends on the time, the user or the order in
//! which a directory is listed. A pack comes from somebody else, so [`read`] believes nothing of it:
//! it is checked whole in a private directory before anything is made of it.

mod manifest;
pub mod read;
mod redacted;
pub mod source;
#[cfg(test)]
mod tests;
pub mod write;

pub use manifest::{Manifest, PackedAnnotation, PackedFile, PackedSession, is_plain_name};
pub use read::{OpenPack, PackError};
pub use redacted::Redactor;
pub use source::{PackSource, SessionSources, session_sources};
pub use write::{LeftOut, LeftOutReason, PackOptions, PackPlan};

/// The name of the first entry.
const MANIFEST: &str = "manifest.json";
/// The format that is written, and the only one that is read.
const FORMAT: &str = "ramus.pack/1";
