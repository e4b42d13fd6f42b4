//! Reads, follows and changes the history files of Claude Code.
//!
//! This crate does all file access. What the bytes mean is decided in `ramus-core`.
//! Open a Claude directory and list its projects, sessions and conversations:
//!
//! ```
//! use ramus_core::resume::Rule;
//! use ramus_core::title::session_title;
//! use ramus_store::index::Index;
//! use ramus_store::place::Place;
//! use ramus_store::survey::survey;
//!
//! # let home = testkit::Home::new();
//! # home.session("-home-dev-app/0a1b2c3d-0000-4000-8000-000000000000.jsonl", "a user hello\nb < a assistant hi\nc < a assistant hey");
//! # let claude_dir = home.claude();
//! let place = Place::open(vec![claude_dir])?;
//! let found = survey(&Index::none(), place.projects(), Rule::Client, &|_bytes_read| {});
//! for project in &found.projects {
//!     for session in &project.sessions {
//!         println!("{:?} {:?}", project.path, session_title(&session.digest, &project.summaries));
//!         for conversation in &session.digest.conversations {
//!             println!("  {} {} messages", conversation.status, conversation.messages);
//!         }
//!     }
//! }
//! # assert_eq!(found.projects[0].sessions[0].digest.conversations.len(), 2);
//! # Ok::<(), ramus_store::place::PlaceError>(())
//! ```
//!
//! [`from_jsonl`] reads one file and [`Bodies`] single records of it.
//! [`follow`](follow::follow) reports every change from now on.

pub mod agents;
pub mod apply;
mod backup;
pub mod cleanup;
mod disk;
mod error;
pub mod export;
mod file_history;
pub mod files_at;
pub mod follow;
pub mod index;
pub mod inspect;
pub mod journal;
pub mod ledger;
pub mod live;
pub mod new;
pub mod on_disk;
pub mod pack;
pub mod place;
pub mod plan;
pub mod prompts;
mod read;
mod regular;
pub mod repository;
pub mod reverts;
pub mod scan;
pub mod secrets;
mod source;
mod spare;
mod stamp;
mod state;
pub mod survey;
pub mod trace;
pub mod tree;
pub mod undo;

pub use backup::Backup;
pub use disk::WriteError;
pub use error::PathError;
pub use file_history::FileHistory;
pub use read::{Bodies, from_jsonl, last_active, read, settings, spilled};
pub use source::Source;
pub use stamp::Stamp;
pub use state::State;
