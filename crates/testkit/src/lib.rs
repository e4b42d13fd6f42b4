//! Helpers for tests: sessions in short form, isolated home directories and real terminals.
//!
//! A session in short form has one record per line:
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
//! Names are used as uuids. Records are one second apart unless `@` sets a time, which may be `@now`. An assistant
//! record is a message of its own unless `#` names another message. File checkpoints are
//!
//! ```text
//! -        snapshot:PROMPT[:MESSAGE]  src/a.rs=0123456789abcdef@v1 new.txt=null@v1
//! -        delta:PROMPT:MESSAGE       new.txt=null@v1
//! ```

mod corpus;
pub mod demo;
pub mod embedding_model;
mod short_form;
mod skip;
mod test_home;
mod test_postgres;
mod test_terminal;

pub use corpus::{CorpusTruth, write_corpus};
pub use short_form::{START_SECOND, jsonl};
pub use skip::{shared_material, skip_test};
pub use test_home::TestHome;
pub use test_postgres::TestPostgres;
pub use test_terminal::TestTerminal;
