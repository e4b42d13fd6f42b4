//! Two conversations beside each other: how far they are one, and what each did after that.
//!
//! They may be branches of one session or of two. A fork keeps the uuids of what
//! it copies, so what two sessions have in common is told by the names of their
//! records. What each side did is gathered turn by turn into a [`Side`].

mod common;

mod side;

mod files;

mod change;

mod edit;

mod exchange;

pub(crate) use change::{change, changed_path};
pub use common::{Common, Stretch, common};
pub use exchange::{Exchange, Pair, alike, pairs};
pub(crate) use files::whole;
pub use files::{Content, FileChange, FilePair, files};
pub use side::{Calls, Own, Ran, Side};

#[cfg(test)]
mod tests;
