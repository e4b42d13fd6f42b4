//! Keeps planned changes that were shown until they are confirmed.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::{PlannedChange, new_id};

/// How long a plan is kept, and how many at most.
const PLAN_LIFETIME: Duration = Duration::from_secs(15 * 60);
const MAX_PLANS: usize = 32;

/// Keeps plans that were shown until they are applied or expire.
#[derive(Debug, Default)]
pub struct PlanKeeper {
    shown: Mutex<Vec<ShownPlan>>,
}

#[derive(Debug)]
struct ShownPlan {
    name: String,
    change: PlannedChange,
    at: Instant,
}

impl PlanKeeper {
    /// Keeps a change and returns its name. Drops the oldest if there are too many.
    pub fn keep_plan(&self, change: PlannedChange) -> String {
        let name = new_id();
        self.keep_plan_at(name.clone(), change, Instant::now());
        name
    }

    fn keep_plan_at(&self, name: String, change: PlannedChange, at: Instant) {
        let mut shown = self.lock_valid_plans(at);
        if shown.len() >= MAX_PLANS {
            shown.remove(0);
        }
        shown.push(ShownPlan { name, change, at });
    }

    /// Takes a change out: it is good for one attempt.
    pub fn take_plan(&self, name: &str) -> Option<PlannedChange> {
        self.take_plan_at(name, Instant::now())
    }

    fn take_plan_at(&self, name: &str, at: Instant) -> Option<PlannedChange> {
        let mut shown = self.lock_valid_plans(at);
        let place = shown.iter().position(|shown| shown.name == name)?;
        Some(shown.remove(place).change)
    }

    /// Returns the plans that have not expired.
    fn lock_valid_plans(&self, at: Instant) -> MutexGuard<'_, Vec<ShownPlan>> {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        shown.retain(|shown| at.saturating_duration_since(shown.at) < PLAN_LIFETIME);
        shown
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use ramus_core::edit::ChangeDetail;
    use ramus_store::plan::{OperationKind, WritePlan};

    use super::{MAX_PLANS, PLAN_LIFETIME, PlanKeeper, PlannedChange};

    fn test_change() -> PlannedChange {
        let plan = WritePlan {
            what: OperationKind::Goto,
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
            annotations: Vec::new(),
        }
    }

    #[test]
    fn a_plan_is_kept_for_one_attempt_and_for_some_time() {
        let (keeper, now) = (PlanKeeper::default(), Instant::now());
        keeper.keep_plan_at("a".to_owned(), test_change(), now);
        keeper.keep_plan_at("b".to_owned(), test_change(), now);
        let late = now + PLAN_LIFETIME;
        assert!(
            keeper.take_plan_at("a", late.checked_sub(Duration::from_nanos(1)).unwrap()).is_some()
        );
        assert!(keeper.take_plan_at("a", now).is_none());
        assert!(keeper.take_plan_at("b", late).is_none());
    }

    #[test]
    fn the_oldest_plan_is_dropped() {
        let (keeper, now) = (PlanKeeper::default(), Instant::now());
        for n in 0..=MAX_PLANS {
            keeper.keep_plan_at(n.to_string(), test_change(), now);
        }
        assert!(keeper.take_plan_at("0", now).is_none());
        assert!(keeper.take_plan_at("1", now).is_some());
        assert!(keeper.take_plan_at(&MAX_PLANS.to_string(), now).is_some());
    }
}
