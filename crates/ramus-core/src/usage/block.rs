//! Blocks of five hours: how subscriptions measure use.
//!
//! A block begins with the hour of its first message and lasts five hours; the first message after
//! that begins the next one.

use crate::time::Time;

/// How long a block lasts, in milliseconds.
const LENGTH: i64 = 5 * HOUR;
const HOUR: i64 = 3_600_000;

/// Five hours of use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    pub start: Time,
    pub end: Time,
}

impl Block {
    /// Finds the block that runs now, given when messages were; `None`: nothing was said in it yet.
    pub fn running(times: impl IntoIterator<Item = Time>, now: Time) -> Option<Self> {
        let mut times: Vec<Time> = times.into_iter().filter(|time| *time <= now).collect();
        times.sort_unstable();
        let mut block: Option<Self> = None;
        for time in times {
            if block.is_none_or(|block| time >= block.end) {
                block = Some(Self::from(time));
            }
        }
        block.filter(|block| now < block.end)
    }

    /// Whether a time lies in the block.
    pub fn has(&self, time: Time) -> bool {
        self.start <= time && time < self.end
    }

    /// Returns how much of the block is over, from 0 to 1.
    pub fn passed(&self, now: Time) -> f64 {
        let passed = now.millis() - self.start.millis();
        (passed as f64 / LENGTH as f64).clamp(0.0, 1.0)
    }
}

impl From<Time> for Block {
    fn from(first: Time) -> Self {
        let start = first.millis().div_euclid(HOUR) * HOUR;
        Self { start: Time::from_millis(start), end: Time::from_millis(start + LENGTH) }
    }
}

#[cfg(test)]
mod tests {
    use super::Block;
    use crate::time::Time;

    #[track_caller]
    fn check(times: &[&str], now: &str, expected: Option<&str>) {
        let time =
            |text: &&str| Time::parse(format!("2026-01-0{text}:00.000Z").as_bytes()).unwrap();
        let found = Block::running(times.iter().map(time), time(&now));
        assert_eq!(found.map(|block| block.start), expected.as_ref().map(time));
    }

    #[test]
    fn a_block_begins_with_the_hour_and_lasts_five() {
        check(&[], "1T10:00", None);
        check(&["1T10:20"], "1T12:00", Some("1T10:00"));
        check(&["1T10:20"], "1T14:59", Some("1T10:00"));
        check(&["1T10:20"], "1T15:00", None);
        check(&["1T15:30", "1T10:20", "1T14:50"], "1T16:00", Some("1T15:00"));
        // What is dated in the future does not count yet.
        check(&["1T10:20", "2T10:00"], "1T11:00", Some("1T10:00"));
    }

    #[test]
    fn a_block_knows_how_far_it_is() {
        let block = Block::from(Time::from_millis(0));
        assert!(block.has(Time::from_millis(1)) && !block.has(block.end));
        assert!((block.passed(Time::from_millis(9_000_000)) - 0.5).abs() < 1e-9);
    }
}
