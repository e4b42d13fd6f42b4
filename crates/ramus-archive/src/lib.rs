//! Keeps Claude Code histories: every byte of every file it was given, compressed, in one place.
//!
//! ```
//! use ramus_archive::Archive;
//! use ramus_core::time::Time;
//! use ramus_store::owned::owned_files;
//! use ramus_store::position::Place;
//!
//! # let home = testkit::Home::new();
//! # let session = home.session("-app/0a1b.jsonl", "a user hello\nb < a assistant hi");
//! # let bytes = std::fs::read(&session)?;
//! let place = Place::open(vec![home.claude()])?;
//! let (files, _) = owned_files(&place.roots, &place.projects().projects, true);
//! let archive = Archive::open(&home.path().join("archive.db"))?;
//! archive.add(&files, Time::from_millis(0), &|_bytes_read| {}, &|_problem| {})?;
//!
//! std::fs::remove_file(&session)?;
//! let kept = archive.sessions(None)?;
//! let content = archive.content(&kept[0].files[0], None)?;
//! assert_eq!(content.read_all()?, bytes);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What is kept never changes: a file that grew gets more chunks, a file that was rewritten gets a new
//! generation beside the old one. [`storage::ArchiveStorage`] is all that an engine has to provide.

pub mod add;
mod archive;
mod chunk;
pub mod content;
pub mod hook;
pub mod restore;
mod sqlite;
pub mod storage;
mod tree;
pub mod verify;

pub use archive::{Archive, ArchivedSession, SessionLookupError, is_archived};
pub use content::ArchivedContent;
pub use storage::{ArchiveError, ContentHash, FileEntry, FileKey, Generation};
pub use tree::ArchiveTree;
