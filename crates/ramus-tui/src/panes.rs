//! The panes: the state, keys and drawing of each.

pub(crate) mod agents;
pub(crate) mod annotation;
pub(crate) mod branches;
pub(crate) mod document;
pub(crate) mod help;
pub(crate) mod list;
pub(crate) mod menu;
pub(crate) mod palette;
pub(crate) mod preview;
pub(crate) mod transcript;
pub(crate) mod tree;
pub(crate) mod welcome;
