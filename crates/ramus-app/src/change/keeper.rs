//! Changes that were shown and wait for somebody to agree.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::{PlannedChange, new_id};

/// How long a plan may be looked at, and how many there may be.
const KEPT: Duration = Duration::from_secs(15 * 60);
const PLANS: usize = 32;

/// Keeps what was shown until it is carried out, for some time.
#[derive(Debug, Default)]
pub struct PlanKeeper {
    shown: Mutex<Vec<Shown>>,
}

#[derive(Debug)]
struct Shown {
    name: String,
    change: PlannedChange,
    at: Instant,
}

impl PlanKeeper {
    /// Keeps a change and returns its name; the oldest gives way if there are too many.
    pub fn keep(&self, change: PlannedChange) -> String {
        let name = new_id();
        self.keep_at(name.clone(), change, Instant::now());
        name
    }

    fn keep_at(&self, name: String, change: PlannedChange, at: Instant) {
        let mut shown = self.shown(at);
        if shown.len() >= PLANS {
            shown.remove(0);
        }
        shown.push(Shown { name, change, at });
    }

    /// Takes a change out: it is good for one attempt.
    pub fn take(&self, name: &str) -> Option<PlannedChange> {
        self.take_at(name, Instant::now())
    }

    fn take_at(&self, name: &str, at: Instant) -> Option<PlannedChange> {
        let mut shown = self.shown(at);
        let place = shown.iter().position(|shown| shown.name == name)?;
        Some(shown.remove(place).change)
    }

    /// Returns what is still good.
    fn shown(&self, at: Instant) -> MutexGuard<'_, Vec<Shown>> {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        shown.retain(|shown| at.saturating_duration_since(shown.at) < KEPT);
        shown
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use ramus_core::edit::ChangeDetail;
    use ramus_store::plan::{Plan, What};

    use super::{KEPT, PLANS, PlanKeeper, PlannedChange};

    fn change() -> PlannedChange {
        let plan = Plan {
            what: What::Goto,
            session: String::new(),
            file: "x".into(),
            root: None,
            words: String::new(),
            steps: Vec::new(),
            resume: None,
            left_out: 0,
            unreported: 0,
            undoes: None,
        };
        PlannedChange {
            plan,
            detail: ChangeDetail::Undo(None),
            short_session: String::new(),
            resume_leaf: None,
            cwd: None,
            stops: false,
            instead_of: None,
        }
    }

    #[test]
    fn a_plan_is_kept_for_one_attempt_and_for_some_time() {
        let (keeper, now) = (PlanKeeper::default(), Instant::now());
        keeper.keep_at("a".to_owned(), change(), now);
        keeper.keep_at("b".to_owned(), change(), now);
        let late = now + KEPT;
        assert!(keeper.take_at("a", late.checked_sub(Duration::from_nanos(1)).unwrap()).is_some());
        assert!(keeper.take_at("a", now).is_none());
        assert!(keeper.take_at("b", late).is_none());
    }

    #[test]
    fn the_oldest_plan_gives_way() {
        let (keeper, now) = (PlanKeeper::default(), Instant::now());
        for n in 0..=PLANS {
            keeper.keep_at(n.to_string(), change(), now);
        }
        assert!(keeper.take_at("0", now).is_none());
        assert!(keeper.take_at("1", now).is_some());
        assert!(keeper.take_at(&PLANS.to_string(), now).is_some());
    }
}
