//! Reads, follows and changes the history files of Claude Code.
//!
//! This crate does all file access. What the bytes mean is decided in `ramus-core`.
//! Open a Claude directory and list its projects, sessions and conversations:
//!
//! ```
//! use ramus_core::resume::ResumeRule;
//! use ramus_core::title::session_title;
//! use ramus_store::cache::HistoryCache;
//! use ramus_store::claude_dir::ClaudeDirs;
//! use ramus_store::survey::survey_files;
//!
//! # let home = testkit::TestHome::new();
//! # home.write_session("-home-dev-app/0a1b2c3d-0000-4000-8000-000000000000.jsonl", "a user hello\nb < a assistant hi\nc < a assistant hey");
//! # let claude_dir = home.claude_dir();
//! let dirs = ClaudeDirs::open(vec![claude_dir])?;
//! let found = survey_files(&HistoryCache::disabled(), dirs.list_projects(), ResumeRule::Client, &|_bytes_read| {});
//! for project in &found.projects {
//!     for session in &project.sessions {
//!         println!("{:?} {:?}", project.path, session_title(&session.digest, &project.summaries));
//!         for conversation in &session.digest.conversations {
//!             println!("  {} {} messages", conversation.status, conversation.messages);
//!         }
//!     }
//! }
//! # assert_eq!(found.projects[0].sessions[0].digest.conversations.len(), 2);
//! # Ok::<(), ramus_store::claude_dir::ClaudeDirError>(())
//! ```
//!
//! [`from_jsonl`] reads one file and [`RecordReader`] single records of it.
//! [`follow`](follow::follow_files) reports every change from now on.

pub mod agents;
pub mod annotations;
pub mod apply;
mod backup;
mod buffer_pool;
pub mod cache;
pub mod claude_dir;
pub mod cleanup;
pub mod derived;
mod disk;
mod error;
pub mod export;
mod file_history;
mod file_id;
mod file_mode;
pub mod file_reverts;
pub mod files_at;
pub mod follow;
pub mod inspect;
pub mod journal;
pub mod ledger;
pub mod model_files;
pub mod new_files;
pub mod on_disk;
pub mod output_tree;
pub mod overlay;
pub mod owned;
pub mod pack;
pub mod plan;
mod private_access;
pub mod project_name;
pub mod prompt_history;
mod read;
pub mod real_path;
mod regular_file;
pub mod repository;
pub mod scan;
pub mod secrets;
pub mod session_in_use;
mod session_reader;
mod stamp;
mod state_dir;
mod stored;
pub mod survey;
pub mod trace;
pub mod undo;

pub use backup::SessionBackup;
pub use cache::FileIdentity;
pub use disk::WriteError;
pub use error::PathError;
pub use file_history::FileHistory;
pub use read::{
    RecordReader, from_jsonl, read_last_active, read_optional_text, read_session,
    read_spilled_output,
};
pub use regular_file::open_for_reading as open_regular;
pub use session_reader::SessionReader;
pub use stamp::Stamp;
pub use state_dir::{StateDir, private_file};
pub use stored::StoredBytes;
