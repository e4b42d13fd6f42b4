//! The panes: each with what it knows, what keys do in it, and how it is drawn.

pub(crate) mod agents;
pub(crate) mod branches;
pub(crate) mod document;
pub(crate) mod help;
pub(crate) mod list;
pub(crate) mod menu;
pub(crate) mod results;
pub(crate) mod transcript;
pub(crate) mod tree;
pub(crate) mod welcome;
