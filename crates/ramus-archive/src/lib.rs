//! Archives Claude Code histories byte for byte, compressed, in one file.
//!
//! ```
//! use ramus_archive::Archive;
//! use ramus_core::time::Time;
//! use ramus_store::owned::owned_files;
//! use ramus_store::claude_dir::ClaudeDirs;
//!
//! # let home = testkit::TestHome::new();
//! # let session = home.write_session("-app/0a1b.jsonl", "a user hello\nb < a assistant hi");
//! # let bytes = std::fs::read(&session)?;
//! let dirs = ClaudeDirs::open(vec![home.claude_dir()])?;
//! let (files, _) = owned_files(&dirs.roots, &dirs.list_projects().projects, true);
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
//! Archived content never changes: a file that grew gets more chunks, a file that was rewritten gets a new
//! generation next to the old one. [`storage::ArchiveStorage`] is the interface of a storage engine.

pub mod add;
mod archive;
mod chunk;
pub mod content;
pub mod hook;
mod lazy;
mod postgres;
pub mod restore;
mod sqlite;
pub mod storage;
pub mod timer;
mod tree;
pub mod verify;

pub use archive::{Archive, ArchivedSession, SessionLookupError, is_archived_as_it_is};
pub use content::ArchivedContent;
pub use lazy::{ArchiveLocation, LazyArchive};
pub use storage::{ArchiveError, ContentHash, FileEntry, FileKey, Generation, Source, is_damage};
pub use tree::ArchiveTree;
