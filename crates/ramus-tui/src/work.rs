//! Slow work, on threads of its own.
//!
//! A [`Desk`] keeps only the newest request: who scrolls on does not wait for
//! what has scrolled by.

pub(crate) mod agents;
pub(crate) mod answers;
pub(crate) mod changes;
pub(crate) mod draw;
pub(crate) mod find;
pub(crate) mod follow;
pub(crate) mod open;
pub(crate) mod pages;
pub(crate) mod render;
pub(crate) mod survey;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::event::Event;
use crate::terminal;

/// A place for one request, and a thread that takes it from there.
#[derive(Debug)]
pub(crate) struct Desk<R> {
    slot: Arc<Slot<R>>,
}

#[derive(Debug)]
pub(crate) struct Slot<R> {
    request: Mutex<Option<R>>,
    came: Condvar,
}

impl<R: Send + 'static> Desk<R> {
    /// Starts a thread that does `work` for each request that is still the newest.
    pub(crate) fn open(
        events: Sender<Event>,
        mut work: impl FnMut(R, &Slot<R>, &Sender<Event>) + Send + 'static,
    ) -> Self {
        let slot = Arc::new(Slot { request: Mutex::new(None), came: Condvar::new() });
        let own = slot.clone();
        spawn(events, move |events| {
            loop {
                let request = own.next();
                work(request, &own, events);
            }
        });
        Self { slot }
    }

    /// Puts a request in the place of one that nobody has taken yet.
    pub(crate) fn put(&self, request: R) {
        *self.slot.held() = Some(request);
        self.slot.came.notify_one();
    }
}

impl<R> Slot<R> {
    /// Whether something newer waits, so that the work at hand can be left.
    pub(crate) fn is_waiting(&self) -> bool {
        self.held().is_some()
    }

    /// Waits for something newer; `false`: nothing came within that time.
    pub(crate) fn comes_within(&self, time: Duration) -> bool {
        let waits = |held: &mut Option<R>| held.is_none();
        let waited = self.came.wait_timeout_while(self.held(), time, waits);
        waited.unwrap_or_else(PoisonError::into_inner).0.is_some()
    }

    fn next(&self) -> R {
        let mut held = self.held();
        loop {
            if let Some(request) = held.take() {
                return request;
            }
            held = self.came.wait(held).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn held(&self) -> MutexGuard<'_, Option<R>> {
        self.request.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Does something beside the screens; a panic in it ends the program in order, not the terminal.
pub(crate) fn spawn(events: Sender<Event>, work: impl FnOnce(&Sender<Event>) + Send + 'static) {
    thread::spawn(move || {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| work(&events))) {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
            let told = terminal::panic_beside().unwrap_or_else(|| text.to_owned());
            // Nobody hears it when the screens are gone already.
            let _ = events.send(Event::Broken(told));
        }
    });
}
