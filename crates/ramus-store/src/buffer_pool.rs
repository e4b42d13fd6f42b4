//! Buffers that are reused from file to file.
//!
//! Page faults on fresh memory cost more than the work itself, so each thread keeps a few buffers.

use std::cell::RefCell;

/// How many buffers a thread keeps, and how large each may be.
const MAX_POOLED: usize = 3;
const MAX_BUFFER_BYTES: usize = 16 * 1024 * 1024;

thread_local! {
    static SPARE: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// Returns an empty buffer with at least this capacity.
pub(crate) fn take_buffer(room: usize) -> Vec<u8> {
    SPARE.with_borrow_mut(|spare| match spare.iter().position(|memory| memory.capacity() >= room) {
        Some(at) => spare.swap_remove(at),
        None => Vec::with_capacity(room),
    })
}

/// Returns a buffer that is no longer needed.
pub(crate) fn return_buffer(mut memory: Vec<u8>) {
    memory.clear();
    if (1..=MAX_BUFFER_BYTES).contains(&memory.capacity()) {
        SPARE.with_borrow_mut(|spare| {
            // Keep the largest: they fit every file.
            spare.push(memory);
            spare.sort_by_key(|memory| std::cmp::Reverse(memory.capacity()));
            spare.truncate(MAX_POOLED);
        });
    }
}
