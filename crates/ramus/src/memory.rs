//! Where memory comes from, and when it goes back.

use std::process::Command;

#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The setting of the allocator, which reads it only from the environment.
const DELAY: &str = "MIMALLOC_PURGE_DELAY";

/// Begins again as a program that gives freed memory back at once: for those that go on for hours, in
/// which what one thread needed should not stay with it. The allocator hears that from the environment only.
#[cfg(unix)]
pub(crate) fn restart_with_eager_release() {
    use std::os::unix::process::CommandExt;
    if std::env::var_os(DELAY).is_none()
        && let Ok(program) = std::env::current_exe()
    {
        let mut again = Command::new(program);
        // If that is not possible, the program continues as it is.
        drop(again.args(std::env::args_os().skip(1)).env(DELAY, "0").exec());
    }
}

#[cfg(not(unix))]
pub(crate) fn restart_with_eager_release() {}

/// Keeps the setting from a program that ramus starts: Claude Code has the same allocator.
pub(crate) fn leave_out_setting(program: &mut Command) {
    program.env_remove(DELAY);
}
