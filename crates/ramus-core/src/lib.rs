//! What a Claude Code history is: bytes in, values out.

pub mod agent;
pub mod body;
pub mod branches;
mod cursor;
pub mod defect;
pub mod digest;
mod envelope;
pub mod fold;
pub mod history;
pub mod line;
pub mod link;
mod loader;
pub mod name;
pub mod record;
pub mod redact;
pub mod resume;
pub mod session;
pub mod stats;
pub mod time;
pub mod title;
pub mod tree;
pub mod turn;
pub mod unique;
