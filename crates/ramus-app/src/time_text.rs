//! Parses points in time as users type them: dates, times, and `3d` for three days ago.

use jiff::civil::{Date, DateTime};
use jiff::{Span, Timestamp, ToSpan, Zoned};
use ramus_core::time::Time;

/// Which end of a day to use if only the day is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeEdge {
    Start,
    End,
}

/// A text that is no point in time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid time {0:?}")]
pub struct TimeError(String);

impl TimeError {
    /// What can be typed instead.
    pub const HINT: &str = "use a date (`2026-01-31`), a time (`2026-01-31T10:00:00Z`), or an age (`90m`, `2h`, `3d`, `2w`)";
}

/// Reads a point in time.
pub fn parse_time(text: &str, edge: TimeEdge, now: &Zoned) -> Result<Time, TimeError> {
    parse_point(text.trim(), edge, now)
        .map(|stamp| Time::from_millis(stamp.as_millisecond()))
        .ok_or_else(|| TimeError(text.to_owned()))
}

fn parse_point(text: &str, edge: TimeEdge, now: &Zoned) -> Option<Timestamp> {
    if let Ok(stamp) = text.parse::<Timestamp>() {
        return Some(stamp);
    }
    let zone = now.time_zone();
    let day = match text {
        "today" => Some(now.date()),
        "yesterday" => now.date().yesterday().ok(),
        _ => text.parse::<Date>().ok().filter(|_| text.len() == 10),
    };
    if let Some(day) = day {
        let day = if edge == TimeEdge::End { day.tomorrow().ok()? } else { day };
        return Some(day.to_zoned(zone.clone()).ok()?.timestamp());
    }
    if let Ok(time) = text.parse::<DateTime>() {
        return Some(time.to_zoned(zone.clone()).ok()?.timestamp());
    }
    Some(now.checked_sub(parse_span(text)?).ok()?.timestamp())
}

fn parse_span(text: &str) -> Option<Span> {
    let unit = text.char_indices().next_back()?;
    let amount: i64 = text[..unit.0].parse().ok().filter(|amount| (0..100_000).contains(amount))?;
    Some(match unit.1 {
        's' => amount.seconds(),
        'm' => amount.minutes(),
        'h' => amount.hours(),
        'd' => amount.days(),
        'w' => amount.weeks(),
        'y' => amount.min(9_000).years(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use jiff::tz::TimeZone;

    use super::{TimeEdge, parse_time};

    #[track_caller]
    fn check_time(text: &str, edge: TimeEdge, expected: &str) {
        let now: Timestamp = "2026-03-10T12:00:00Z".parse().unwrap();
        let now = now.to_zoned(TimeZone::UTC);
        let seen = parse_time(text, edge, &now).map(|time| time.to_string()).unwrap_or_default();
        assert_eq!(seen, expected, "{text}");
    }

    #[test]
    fn times_are_read_as_people_write_them() {
        check_time("2026-01-08", TimeEdge::Start, "2026-01-08T00:00:00.000Z");
        check_time("2026-01-08", TimeEdge::End, "2026-01-09T00:00:00.000Z");
        check_time("2026-01-08T10:00:00+02:00", TimeEdge::Start, "2026-01-08T08:00:00.000Z");
        check_time("2026-01-08T10:00", TimeEdge::Start, "2026-01-08T10:00:00.000Z");
        check_time("2026-01-08 10:00", TimeEdge::End, "2026-01-08T10:00:00.000Z");
        check_time("3d", TimeEdge::Start, "2026-03-07T12:00:00.000Z");
        check_time("90m", TimeEdge::End, "2026-03-10T10:30:00.000Z");
        check_time("yesterday", TimeEdge::Start, "2026-03-09T00:00:00.000Z");
        for nonsense in ["", "d", "3", "-3d", "soon", "2026-13-01", "99999999d"] {
            check_time(nonsense, TimeEdge::Start, "");
        }
    }
}
