//! Programs that ramus starts: command lines of the user, and processes that outlive ramus.

use std::process::Command;

/// Returns the system's shell with a command line that the user wrote for it.
#[cfg(unix)]
pub(crate) fn shell_command(line: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", line]);
    command
}

/// Returns the system's shell with a command line that the user wrote for it.
#[cfg(windows)]
pub(crate) fn shell_command(line: &str) -> Command {
    use std::os::windows::process::CommandExt;
    let mut command = Command::new("cmd");
    // `cmd` reads the rest as it is; quoted as one argument it would be another command.
    command.arg("/C").raw_arg(line);
    command
}

/// Starts a program apart from this one, so that Ctrl-C and what ends the group do not reach it.
#[cfg(unix)]
pub(crate) fn detach(command: &mut Command) {
    std::os::unix::process::CommandExt::process_group(command, 0);
}

/// Starts a program apart from this one, so that Ctrl-C does not reach it and no console is opened for it.
#[cfg(windows)]
pub(crate) fn detach(command: &mut Command) {
    const CREATE_NEW_PROCESS_GROUP: u32 = 0x0000_0200;
    const CREATE_NO_WINDOW: u32 = 0x0800_0000;
    std::os::windows::process::CommandExt::creation_flags(
        command,
        CREATE_NEW_PROCESS_GROUP | CREATE_NO_WINDOW,
    );
}
