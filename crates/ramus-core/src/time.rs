//! Points in time as recorded.

use std::fmt;
use std::num::NonZeroU64;

use crate::niche::{Niche, encode_plain};

const DAY_MICROS: i64 = 24 * 60 * 60 * 1_000_000;

/// A point in time in microseconds since 1970, as a record states it.
///
/// It is kept with its sign bit turned over, so that `Option<Time>` takes no more room and the order stays.
/// The one time that has no such form, 292,277 years before 1970, becomes the next.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(NonZeroU64);

const SIGN: u64 = 1 << 63;

encode_plain!(Time as i64);

impl Niche for Time {
    type Plain = i64;

    fn to_plain(self) -> i64 {
        (self.0.get() ^ SIGN) as i64
    }

    fn from_plain(plain: i64) -> Self {
        Self(NonZeroU64::new(plain as u64 ^ SIGN).unwrap_or(NonZeroU64::MIN))
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Time").field(&self.to_plain()).finish()
    }
}

impl Time {
    /// Reads an RFC 3339 time; `None` when it is not one.
    pub fn parse(text: &[u8]) -> Option<Self> {
        parse_fixed(text).or_else(|| {
            let stamp: jiff::Timestamp = std::str::from_utf8(text).ok()?.parse().ok()?;
            Some(Self::from_plain(stamp.as_microsecond()))
        })
    }

    /// Makes a time from milliseconds since 1970.
    pub fn from_millis(millis: i64) -> Self {
        Self::from_plain(millis.saturating_mul(1000))
    }

    /// Returns milliseconds since 1970.
    pub fn as_millis(self) -> i64 {
        self.to_plain().div_euclid(1000)
    }

    /// Returns the day of UTC since 1970.
    pub fn day_number(self) -> i32 {
        i32::try_from(self.to_plain().div_euclid(DAY_MICROS)).unwrap_or(0)
    }

    /// Returns the time for calendar arithmetic; times out of its range become 1970.
    pub fn to_timestamp(self) -> jiff::Timestamp {
        jiff::Timestamp::from_microsecond(self.to_plain()).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
    }
}

impl fmt::Display for Time {
    /// Writes the form the client writes: `2026-01-08T10:00:00.000Z`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}", self.to_timestamp())
    }
}

/// Reads the one form nearly all records use, `2026-01-08T10:00:00.000Z`.
fn parse_fixed(text: &[u8]) -> Option<Time> {
    let b: &[u8; 24] = text.try_into().ok()?;
    let separators =
        [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':'), (19, b'.'), (23, b'Z')];
    if separators.iter().any(|&(i, byte)| b[i] != byte) {
        return None;
    }
    let number = |from: usize, to: usize| {
        b[from..to]
            .iter()
            .try_fold(0i64, |n, d| d.is_ascii_digit().then(|| n * 10 + i64::from(d - b'0')))
    };
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second, milli) =
        (number(11, 13)?, number(14, 16)?, number(17, 19)?, number(20, 23)?);
    // Days past the end of a month and leap seconds are left to the full parser.
    if !(1..=12).contains(&month)
        || !(1..=28).contains(&day)
        || hour > 23
        || minute > 59
        || second > 59
    {
        return None;
    }
    // Days since 1970 of a civil date, with years that begin in March.
    let y = if month <= 2 { year - 1 } else { year };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days =
        365 * y + y.div_euclid(4) - y.div_euclid(100) + y.div_euclid(400) + day_of_year - 719_468;
    let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second;
    Some(Time::from_plain(seconds * 1_000_000 + milli * 1000))
}

#[cfg(test)]
mod tests {
    use super::{Niche, Time, parse_fixed};

    #[test]
    fn the_fixed_form_equals_the_full_parser() {
        for text in [
            "1970-01-01T00:00:00.000Z",
            "2024-02-28T23:59:59.999Z",
            "2024-03-01T00:00:00.001Z",
            "2026-11-15T10:00:00.000Z",
            "0001-01-01T00:00:00.000Z",
            "1969-12-28T23:59:59.500Z",
        ] {
            let full: jiff::Timestamp = text.parse().unwrap();
            assert_eq!(
                parse_fixed(text.as_bytes()).unwrap().to_plain(),
                full.as_microsecond(),
                "{text}"
            );
            assert_eq!(Time::parse(text.as_bytes()).unwrap().to_string(), text);
        }
    }

    #[test]
    fn other_forms_are_read_and_nonsense_is_not() {
        assert_eq!(Time::parse(b"2025-06-14T11:00:00Z"), Time::parse(b"2025-06-14T11:00:00.000Z"));
        assert_eq!(
            Time::parse(b"2025-06-14T13:00:00.000+02:00"),
            Time::parse(b"2025-06-14T11:00:00.000Z")
        );
        assert_eq!(
            Time::parse(b"2024-02-29T00:00:00.000Z").unwrap().to_string(),
            "2024-02-29T00:00:00.000Z"
        );
        for nonsense in ["", "yesterday", "2025-13-01T00:00:00.000Z", "2025-02-30T00:00:00.000Z"] {
            assert_eq!(Time::parse(nonsense.as_bytes()), None, "{nonsense}");
        }
    }
}
