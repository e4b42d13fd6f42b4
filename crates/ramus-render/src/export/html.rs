//! stub
use super::{Config, Header};
use ramus_core::turn::Turn;
pub(super) fn head(_header: &Header, _out: &mut String) {}
pub(super) fn turn(_turn: &Turn, _config: &Config<'_>, _out: &mut String) {}
pub(super) fn foot(_out: &mut String) {}
