//! Short-form sessions, hermetic homes and real terminals for tests.
//!
//! A session is written one record a line:
//!
//! ```text
//! NAME [< PARENT]  KIND[:ARG…]  [#MESSAGE] [@SECONDS] [v=VERSION]  TEXT
//!
//! a        user               hello
//! b < a    assistant          hi
//! c < b    call:t1:Bash       ls -la
//! d < c    result:t1          Cargo.toml
//! e < a    user               hello again
//! -        last-prompt:e:explicit
//! ```
//!
//! Names serve as uuids as they are. Records are a second apart unless `@`
//! says otherwise; an assistant record is a message of its own unless `#` says
//! which one it belongs to. The client's file checkpoints are
//!
//! ```text
//! -        snapshot:PROMPT[:MESSAGE]  src/a.rs=0123456789abcdef@v1 new.txt=null@v1
//! -        delta:PROMPT:MESSAGE       new.txt=null@v1
//! ```

mod corpus;
pub mod demo;
mod home;
mod short;
mod skip;
mod terminal;

pub use corpus::{Truth, corpus};
pub use home::Home;
pub use short::{START, jsonl};
pub use skip::{shared, skip};
pub use terminal::Terminal;
