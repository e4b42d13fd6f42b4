//! Compares two conversations: what they share, and what each did after that.
//!
//! They may be branches of one session or of two. A fork keeps the uuids of the records that it
//! copies, so uuids show what two sessions have in common. What each side did is collected turn by
//! turn in a [`ComparedSide`].

mod overlap;

mod side;

mod files;

mod change;

mod edit;

mod exchange;

use crate::branches::BranchStatus;
use crate::price::PriceList;

pub(crate) use change::{change_by_call, changed_path};
pub use exchange::{
    ComparedExchange, ExchangeOrder, ExchangePair, TurnReader, are_alike, order_exchanges,
    paired_exchanges,
};
pub(crate) use files::whole_text;
pub use files::{FilePair, SideFileChange, TextContent, changed_files};
pub use overlap::{OwnRecords, PathOverlap, PathPart, compare_paths};
pub use side::{CallCounts, ComparedSide, OwnTurn, RanCommand, is_compared};

/// Two conversations and the result of comparing them.
#[derive(Clone, Copy, Debug)]
pub struct ComparedConversations<'a> {
    pub common: &'a PathOverlap,
    pub names: [&'a ConversationLabel; 2],
    pub sides: [&'a ComparedSide; 2],
    pub files: &'a [FilePair],
    pub prices: &'a PriceList,
}

/// What a conversation goes by.
#[derive(Clone, Debug)]
pub struct ConversationLabel {
    /// `3f9a2b1c@2` or `3f9a2b1c:81b2c3d4`.
    pub address: String,
    pub status: BranchStatus,
    /// `None`: nothing but the address is known.
    pub title: Option<String>,
}

#[cfg(test)]
mod tests;
