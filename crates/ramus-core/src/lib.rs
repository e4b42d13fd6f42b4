//! Parses and interprets Claude Code histories: bytes in, values out.
//!
//! A session file is a tree written line by line. [`Session`](session::Session)
//! takes its bytes, [`History`](history::History) interprets them: where
//! the conversation forked and why, which conversations there are, and which of
//! them the client would resume.
//!
//! Comments cite rules by number, such as R9. `docs/rules.md` states each rule; searching for its number
//! finds the code that follows it.
//!
//! ```
//! use ramus_core::history::History;
//! use ramus_core::resume::ResumeRule;
//! use ramus_core::session::Session;
//!
//! let file = br#"
//! {"parentUuid":null,"type":"user","message":{"content":"Name a tea"},"uuid":"a","timestamp":"2026-01-01T10:00:00.000Z"}
//! {"parentUuid":"a","type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"Oolong"}]},"uuid":"b","timestamp":"2026-01-01T10:00:01.000Z"}
//! {"parentUuid":"a","type":"assistant","message":{"id":"m2","content":[{"type":"text","text":"Sencha"}]},"uuid":"c","timestamp":"2026-01-01T10:00:09.000Z"}
//! "#;
//! let mut session = Session::default();
//! session.push(file);
//! session.finish_last_line();
//! assert_eq!(session.user_records().count(), 1);
//!
//! let history = History::new(session, ResumeRule::Client);
//! let fork = &history.branches.forks[0];
//! assert_eq!(fork.kind.as_str(), "retry");
//!
//! // Walk a path, root first.
//! let resuming = history.branches.resuming_conversation().expect("there is something to resume");
//! let path = history.conversation_path(resuming);
//! let names: Vec<String> = path
//!     .nodes
//!     .iter()
//!     .filter_map(|id| history.session.record(*id).uuid)
//!     .map(|uuid| history.session.uuid_text(uuid))
//!     .collect();
//! assert_eq!(names, ["a", "c"]);
//!
//! // Ask for the resume point and its reason.
//! let resume = history.branches.resume.expect("there is something to resume");
//! assert_eq!(resume.reason.to_string(), "it has the newest timestamp");
//! assert_eq!(history.session.record(resume.decided_by).line, 4);
//! ```
//!
//! Nothing here reads a file, a clock or an environment, and no content makes
//! it fail: what is wrong in the data is a [`Defect`](defect::Defect) beside the
//! result. Bodies of messages are parsed on demand, see [`body`]; [`turn`] puts
//! them together into what a reader sees.

pub mod activity;
pub mod agent;
pub mod annotation;
pub mod body;
pub mod branches;
pub mod characters;
pub mod client_path;
mod client_view;
pub mod compare;
mod cursor;
pub mod defect;
pub mod digest;
pub mod edit;
pub mod embedding;
mod envelope;
pub mod files;
pub mod history;
pub mod ids;
pub mod inspect;
pub mod line;
pub mod lineage;
pub mod link;
pub mod live;
pub mod message;
pub mod message_tree;
mod niche;
mod preserved;
pub mod price;
pub mod pull_request;
pub mod query;
pub mod record;
pub mod record_tree;
pub mod redact;
pub mod resume;
pub mod retention;
pub mod session;
pub mod stats;
mod steps;
pub mod time;
pub mod title;
pub mod turn;
pub mod unique;
pub mod usage;

/// Identifies this crate's sources. Cached values from other sources may have another meaning.
pub const SOURCES: &str = env!("SOURCES");
