//! Compares two conversations: what they share, and what each did after that.
//!
//! They may be branches of one session or of two. A fork keeps the uuids of the records that it
//! copies, so uuids show what two sessions have in common. What each side did is collected turn by
//! turn in a [`Side`].

mod common;

mod side;

mod files;

mod change;

mod edit;

mod exchange;

use crate::branches::Status;
use crate::price::PriceList;

pub(crate) use change::{change, changed_path};
pub use common::{Common, Stretch, common};
pub use exchange::{Exchange, Pair, alike, pairs};
pub(crate) use files::whole;
pub use files::{Content, FileChange, FilePair, files};
pub use side::{Calls, Own, Ran, Side};

/// Two conversations and what was found out about them.
#[derive(Clone, Copy, Debug)]
pub struct Compared<'a> {
    pub common: &'a Common,
    pub names: [&'a Named; 2],
    pub sides: [&'a Side; 2],
    pub files: &'a [FilePair],
    pub prices: &'a PriceList,
}

/// What a conversation goes by.
#[derive(Clone, Debug)]
pub struct Named {
    /// `3f9a2b1c@2` or `3f9a2b1c:81b2c3d4`.
    pub address: String,
    pub status: Status,
    /// `None`: nothing but the address is known.
    pub title: Option<String>,
}

#[cfg(test)]
mod tests;
