//! How long the client keeps sessions, and which it deletes next.

use crate::time::Time;

const DAY_MILLIS: i64 = 86_400_000;

/// How many days after its last change the client deletes a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    pub days: u32,
    /// From the settings; else it is the client's default.
    pub from_settings: bool,
}

impl Retention {
    /// The client's default.
    pub const DEFAULT: Self = Self { days: 30, from_settings: false };

    /// Returns when the client deletes a file that was last changed at `changed`.
    pub fn deletion_time(self, changed: Time) -> Time {
        Time::from_millis(changed.as_millis().saturating_add(i64::from(self.days) * DAY_MILLIS))
    }
}

/// Which files the client deletes within some days, those that are overdue included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueDeletions {
    /// The period that was checked, in days from now.
    pub within: u32,
    pub retention: Retention,
    pub sessions: usize,
    /// Files of sub-agents.
    pub agents: usize,
    /// Sessions and sub-agents that are overdue: the client deletes them when it starts next.
    pub overdue: usize,
    pub bytes: u64,
    /// When the first of them goes.
    pub first: Option<Time>,
}

impl DueDeletions {
    /// How many days ahead a deletion is announced.
    pub const WITHIN: u32 = 7;

    /// Begins to count.
    pub fn new(retention: Retention) -> Self {
        Self {
            within: Self::WITHIN,
            retention,
            sessions: 0,
            agents: 0,
            overdue: 0,
            bytes: 0,
            first: None,
        }
    }

    /// Counts a file that goes at `end`, if that is soon.
    pub fn add_file(&mut self, end: Time, is_agent: bool, bytes: u64, now: Time) {
        if !self.is_due(end, now) {
            return;
        }
        *(if is_agent { &mut self.agents } else { &mut self.sessions }) += 1;
        self.overdue += usize::from(end <= now);
        self.bytes += bytes;
        self.first = Some(self.first.map_or(end, |first| first.min(end)));
    }

    /// Whether a deletion at `end` is within the period.
    pub fn is_due(&self, end: Time, now: Time) -> bool {
        end.as_millis() <= now.as_millis().saturating_add(i64::from(self.within) * DAY_MILLIS)
    }

    /// Whether nothing is due.
    pub fn is_empty(&self) -> bool {
        self.sessions + self.agents == 0
    }

    /// Announces files due for deletion; `None`: there are none.
    pub fn warning_text(&self) -> Option<String> {
        let count = |n: usize, what: &str| match n {
            1 => format!("1 {what}"),
            n => format!("{n} {what}s"),
        };
        let what = match (self.sessions, self.agents) {
            (0, 0) => return None,
            (sessions, 0) => count(sessions, "session"),
            (0, agents) => count(agents, "sub-agent file"),
            (sessions, agents) => {
                format!("{} and {}", count(sessions, "session"), count(agents, "sub-agent file"))
            }
        };
        let overdue = match self.overdue {
            0 => String::new(),
            n if n == self.sessions + self.agents => " (overdue: at its next start)".to_owned(),
            n => format!(" ({n} overdue: at its next start)"),
        };
        let Retention { days, from_settings } = self.retention;
        let source = if from_settings { "your setting" } else { "its default" };
        Some(format!(
            "Claude Code will delete {what} within {} days{overdue}. It keeps sessions for {days} days ({source}); change `cleanupPeriodDays` in settings.json to keep them longer.",
            self.within
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(n: i64) -> Time {
        Time::from_millis(n * DAY_MILLIS)
    }

    #[test]
    fn what_is_overdue_or_due_soon_is_announced() {
        let mut due = DueDeletions::new(Retention::DEFAULT);
        for changed in [60, 71, 77, 78, 100] {
            due.add_file(Retention::DEFAULT.deletion_time(day(changed)), false, 10, day(100));
        }
        due.add_file(Retention::DEFAULT.deletion_time(day(70)), true, 5, day(100));
        assert_eq!((due.sessions, due.agents, due.overdue, due.bytes), (3, 1, 2, 35));
        assert_eq!(due.first, Some(day(90)));
        let sentence = due.warning_text().unwrap();
        assert!(
            sentence.starts_with("Claude Code will delete 3 sessions and 1 sub-agent file within 7 days (2 overdue: at its next start)."),
            "{sentence}"
        );
        assert!(sentence.contains("for 30 days (its default);"), "{sentence}");
    }

    #[test]
    fn nothing_due_is_nothing_to_announce() {
        let mut due = DueDeletions::new(Retention { days: 365, from_settings: true });
        due.add_file(due.retention.deletion_time(day(60)), false, 10, day(100));
        assert_eq!((due.warning_text(), due.is_empty()), (None, true));
    }
}
