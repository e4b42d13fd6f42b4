//! Where memory comes from, and when it goes back.

#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Begins again as a program that gives freed memory back at once: for those that go on for hours, in
/// which what one thread needed should not stay with it. The allocator hears that from the environment only.
#[cfg(unix)]
pub(crate) fn give_back_at_once() {
    use std::os::unix::process::CommandExt;
    const DELAY: &str = "MIMALLOC_PURGE_DELAY";
    if std::env::var_os(DELAY).is_none()
        && let Ok(program) = std::env::current_exe()
    {
        let mut again = std::process::Command::new(program);
        // Where that cannot be it goes on as it is.
        drop(again.args(std::env::args_os().skip(1)).env(DELAY, "0").exec());
    }
}

#[cfg(not(unix))]
pub(crate) fn give_back_at_once() {}
