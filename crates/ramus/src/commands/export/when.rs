//! `--since`: what was typed into a point in time.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use ramus_core::time::Time;

use crate::error::CommandError;

/// Reads a date, a time, or how long ago.
pub(super) fn when(text: &str) -> Result<Time, CommandError> {
    let now = Timestamp::now();
    read(text, now).ok_or_else(|| {
        CommandError::user(format!("{text:?} is not a time"))
            .hinted("write it as 2026-01-31, 2026-01-31T10:00, or 7d, 12h, 4w for so long ago")
    })
}

fn read(text: &str, now: Timestamp) -> Option<Time> {
    let zone = TimeZone::system();
    let at = |stamp: Timestamp| Some(Time::from_millis(stamp.as_millisecond()));
    if let Ok(stamp) = text.parse::<Timestamp>() {
        return at(stamp);
    }
    let civil = text.parse::<DateTime>().or_else(|_| text.parse::<Date>().map(DateTime::from));
    if let Ok(civil) = civil {
        return at(civil.to_zoned(zone).ok()?.timestamp());
    }
    let unit = text.chars().next_back()?;
    let n: i64 = text[..text.len() - unit.len_utf8()].trim().parse().ok()?;
    let hours = match unit {
        'h' => n,
        'd' => n.checked_mul(24)?,
        'w' => n.checked_mul(24 * 7)?,
        _ => return None,
    };
    let ago = SignedDuration::from_secs(hours.checked_mul(3600)?);
    at(now.checked_sub(ago).ok()?)
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn times_are_read() {
        let now = "2026-02-01T00:00:00Z".parse().unwrap();
        let check = |text: &str| read(text, now).map(|time| time.to_string());
        assert_eq!(check("2026-01-31T10:00:00Z").unwrap(), "2026-01-31T10:00:00.000Z");
        assert_eq!(check("1d").unwrap(), "2026-01-31T00:00:00.000Z");
        assert_eq!(check("2w").unwrap(), "2026-01-18T00:00:00.000Z");
        assert!(check("2026-01-31").is_some());
        for nonsense in ["", "yesterday", "d", "9x", "99999999999999999d"] {
            assert_eq!(check(nonsense), None, "{nonsense}");
        }
    }
}
