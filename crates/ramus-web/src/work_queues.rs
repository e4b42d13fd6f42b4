//! Queues for work that reads files, independent of each other.
//!
//! Each kind of work has a few threads and a bounded queue, so that searches neither
//! delay reading nor accumulate without limit.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::http::StatusCode;
use tokio::sync::Semaphore;

use crate::error::ApiError;

/// What is worked on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TaskKind {
    /// What is known of all files.
    Lists,
    /// One session, or a few.
    Sessions,
    Searches,
    Exports,
    /// Plans and changes.
    Changes,
}

/// How many of each kind are worked on at once, and how many may wait.
const QUEUE_SIZES: [(TaskKind, usize, usize); 5] = [
    (TaskKind::Lists, 2, 256),
    (TaskKind::Sessions, 4, 512),
    (TaskKind::Searches, 2, 32),
    (TaskKind::Exports, 2, 64),
    (TaskKind::Changes, 1, 32),
];

/// The number of threads for all kinds, plus a few for other work.
pub(crate) const WORKER_THREADS: usize = 2 + 4 + 2 + 2 + 1 + 3;

/// The queues of one server.
#[derive(Debug)]
pub(crate) struct WorkQueues {
    queues: [WorkQueue; QUEUE_SIZES.len()],
}

#[derive(Debug)]
struct WorkQueue {
    task: TaskKind,
    permits: Arc<Semaphore>,
    waiting: AtomicUsize,
    most: usize,
}

impl Default for WorkQueues {
    fn default() -> Self {
        let queue = |(task, threads, most)| WorkQueue {
            task,
            permits: Arc::new(Semaphore::new(threads)),
            waiting: AtomicUsize::new(0),
            most,
        };
        Self { queues: QUEUE_SIZES.map(queue) }
    }
}

impl WorkQueues {
    /// Does work on a thread of its kind, when there is one.
    ///
    /// A caller that disconnects leaves the queue; work that has begun is finished.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        task: TaskKind,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        let Some(queue) = self.queues.iter().find(|queue| queue.task == task) else {
            return Err(busy_error());
        };
        let permit = {
            let _place = QueueSlot::new(queue).ok_or_else(busy_error)?;
            queue.permits.clone().acquire_owned().await.map_err(|_| busy_error())?
        };
        let done = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            work()
        });
        done.await.map_err(|error| {
            let message = format!("internal error: {error}");
            let hint = "please report it";
            ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, message, hint)
        })
    }
}

fn busy_error() -> ApiError {
    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "the server is busy", "try again in a moment")
}

/// A place in a queue, released when the caller stops waiting.
struct QueueSlot<'a>(&'a WorkQueue);

impl<'a> QueueSlot<'a> {
    fn new(queue: &'a WorkQueue) -> Option<Self> {
        let before = queue.waiting.fetch_add(1, Ordering::Relaxed);
        let place = Self(queue);
        (before < queue.most).then_some(place)
    }
}

impl Drop for QueueSlot<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn a_full_queue_refuses_and_blocks_no_other_queue() {
        let queues = Arc::new(WorkQueues::default());
        let (open, gate) = mpsc::channel::<()>();
        let gate = Arc::new(std::sync::Mutex::new(gate));
        let slow = |gate: &Arc<std::sync::Mutex<mpsc::Receiver<()>>>| {
            let (queues, gate) = (queues.clone(), gate.clone());
            tokio::spawn(async move {
                queues.run(TaskKind::Searches, move || gate.lock().unwrap().recv().is_ok()).await
            })
        };
        let (_, threads, most) = QUEUE_SIZES[2];
        let searches: Vec<_> = (0..threads + most).map(|_| slow(&gate)).collect();
        while queues.queues[2].waiting.load(Ordering::Relaxed) < most {
            tokio::task::yield_now().await;
        }
        let refused = queues.run(TaskKind::Searches, || ()).await;
        assert!(refused.is_err(), "the queue is full");
        assert_eq!(queues.run(TaskKind::Lists, || 7).await.ok(), Some(7));
        // A caller that disconnects while waiting frees its place.
        let (waits, works): (Vec<_>, Vec<_>) =
            searches.into_iter().enumerate().partition(|(index, _)| *index >= threads);
        for (_, search) in waits {
            search.abort();
            let _ = search.await;
        }
        drop(open);
        for (_, search) in works {
            search.await.unwrap().ok();
        }
        assert!(queues.run(TaskKind::Searches, || ()).await.is_ok());
    }
}
