//! Parses and formats times as the client writes them.

use jiff::Timestamp;

/// Parses a time to milliseconds since 1970.
pub(super) fn parse_millis(text: &str) -> i64 {
    text.parse::<Timestamp>().map_or(0, Timestamp::as_millisecond)
}

/// Formats a time: `2026-01-08T10:00:00.000Z`.
pub(super) fn format_time(millis: i64) -> String {
    format!("{:.3}", Timestamp::from_millisecond(millis).unwrap_or_default())
}
