//! Memory used again: files come one after the other, and each needs room for all of it.
//!
//! Fresh pages cost more than what is done with them; a thread keeps a few.

use std::cell::RefCell;

/// How many pieces of memory a thread keeps, and how large each may be.
const KEPT: usize = 3;
const LARGEST: usize = 16 * 1024 * 1024;

thread_local! {
    static SPARE: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// Returns empty memory with room for at least so much.
pub(crate) fn take(room: usize) -> Vec<u8> {
    SPARE.with_borrow_mut(|spare| match spare.iter().position(|memory| memory.capacity() >= room) {
        Some(at) => spare.swap_remove(at),
        None => Vec::with_capacity(room),
    })
}

/// Takes memory back that is not needed any more.
pub(crate) fn give(mut memory: Vec<u8>) {
    memory.clear();
    if (1..=LARGEST).contains(&memory.capacity()) {
        SPARE.with_borrow_mut(|spare| {
            // The smallest goes: what fits a large file fits the others.
            spare.push(memory);
            spare.sort_by_key(|memory| std::cmp::Reverse(memory.capacity()));
            spare.truncate(KEPT);
        });
    }
}
