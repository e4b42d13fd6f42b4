//! Slow work on worker threads.
//!
//! A [`LatestWorker`] keeps only the newest request, so that fast scrolling does not wait
//! for blocks that are no longer visible.

pub(crate) mod agents;
pub(crate) mod annotating;
pub(crate) mod archiving;
pub(crate) mod changes;
pub(crate) mod documents;
pub(crate) mod draw;
pub(crate) mod exports;
pub(crate) mod find;
pub(crate) mod follow;
pub(crate) mod images;
pub(crate) mod live;
pub(crate) mod open;
pub(crate) mod preview;
pub(crate) mod render;
pub(crate) mod reply_names;
pub(crate) mod survey;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::event::ScreenEvent;
use crate::terminal;

/// A place for one request, and a thread that takes it from there.
#[derive(Debug)]
pub(crate) struct LatestWorker<R> {
    slot: Arc<RequestSlot<R>>,
}

#[derive(Debug)]
pub(crate) struct RequestSlot<R> {
    request: Mutex<Option<R>>,
    arrived: Condvar,
}

impl<R: Send + 'static> LatestWorker<R> {
    /// Starts a thread that does `work` for each request that is still the newest.
    pub(crate) fn start_worker(
        events: Sender<ScreenEvent>,
        mut work: impl FnMut(R, &RequestSlot<R>, &Sender<ScreenEvent>) + Send + 'static,
    ) -> Self {
        let slot = Arc::new(RequestSlot { request: Mutex::new(None), arrived: Condvar::new() });
        let own = slot.clone();
        spawn_guarded(events, move |events| {
            loop {
                let request = own.next_request();
                work(request, &own, events);
            }
        });
        Self { slot }
    }

    /// Replaces a request that was not taken yet.
    pub(crate) fn submit_request(&self, request: R) {
        *self.slot.lock_request() = Some(request);
        self.slot.arrived.notify_one();
    }
}

impl<R> RequestSlot<R> {
    /// Whether something newer waits, so that the work at hand can be left.
    pub(crate) fn is_waiting(&self) -> bool {
        self.lock_request().is_some()
    }

    /// Waits for something newer; `false`: nothing came within that time.
    pub(crate) fn comes_within(&self, time: Duration) -> bool {
        let waits = |held: &mut Option<R>| held.is_none();
        let waited = self.arrived.wait_timeout_while(self.lock_request(), time, waits);
        waited.unwrap_or_else(PoisonError::into_inner).0.is_some()
    }

    fn next_request(&self) -> R {
        let mut held = self.lock_request();
        loop {
            if let Some(request) = held.take() {
                return request;
            }
            held = self.arrived.wait(held).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock_request(&self) -> MutexGuard<'_, Option<R>> {
        self.request.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs work on a thread. A panic ends the program in an orderly way and leaves the terminal intact.
pub(crate) fn spawn_guarded(
    events: Sender<ScreenEvent>,
    work: impl FnOnce(&Sender<ScreenEvent>) + Send + 'static,
) {
    thread::spawn(move || {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| work(&events))) {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
            let message = terminal::panic_beside().unwrap_or_else(|| text.to_owned());
            // The receiver is gone once the screens have ended.
            let _ = events.send(ScreenEvent::Broken(message));
        }
    });
}
