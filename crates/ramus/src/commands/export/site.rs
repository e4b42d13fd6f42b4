//! stub
use super::path::{Exporter, Written};
use super::Format;
pub(super) fn index(_exporter: &Exporter<'_>, _format: Format, _written: &[Written]) -> Option<(&'static str, String)> { None }
