//! Detects whether a session is in use right now (R24).

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::regular_file;

/// Returns the process id of a client that has a session open.
///
/// Clients since 2.1 register in `sessions/<pid>.json`. Older ones cannot be detected.
pub fn find_open_client(root: &Path, session: &str) -> Option<u32> {
    registered_clients(root)
        .find(|(open, pid)| open == session && is_process_alive(*pid))
        .map(|(_, pid)| pid)
}

/// Returns the ids of all sessions that clients have open.
pub fn open_sessions(root: &Path) -> HashSet<String> {
    registered_clients(root)
        .filter(|(_, pid)| is_process_alive(*pid))
        .map(|(session, _)| session)
        .collect()
}

/// Returns the sessions that clients registered, with their process ids; a client may have died since.
fn registered_clients(root: &Path) -> impl Iterator<Item = (String, u32)> {
    let client = |entry: fs::DirEntry| {
        let text =
            regular_file::read_limited(&entry.path(), regular_file::SMALL_FILE_BYTES).ok()?;
        let client: serde_json::Value = serde_json::from_slice(&text).ok()?;
        let pid = client.get("pid")?.as_u64()?.try_into().ok()?;
        Some((client.get("sessionId")?.as_str()?.to_owned(), pid))
    };
    let entries = fs::read_dir(root.join("sessions")).into_iter().flatten().flatten();
    entries.filter_map(client)
}

#[cfg(unix)]
pub(crate) fn is_process_alive(pid: u32) -> bool {
    let Some(pid) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) else {
        return false;
    };
    // A process of another user gives a permission error and is alive too.
    !matches!(rustix::process::test_kill_process(pid), Err(rustix::io::Errno::SRCH))
}

#[cfg(windows)]
pub(crate) fn is_process_alive(pid: u32) -> bool {
    /// What the system answers about a number that no process has.
    const ERROR_INVALID_PARAMETER: i32 = 87;
    match process_alive::state(pid.into()) {
        process_alive::State::Alive => true,
        process_alive::State::Dead => false,
        // It does not exist, or it is another user's and may not be asked about.
        process_alive::State::Unknown => {
            std::io::Error::last_os_error().raw_os_error() != Some(ERROR_INVALID_PARAMETER)
        }
    }
}

/// A file written this recently may be written again at any moment.
const RECENT_WRITE: Duration = Duration::from_secs(3);
/// How long a recently written file is watched for growth.
const WATCH_TIME: Duration = Duration::from_millis(250);

/// Whether a file is growing. Only a recently written file is watched; any other answers at once.
pub(crate) fn is_growing(path: &Path) -> bool {
    let look = || fs::metadata(path).ok();
    let Some(before) = look() else { return false };
    let age = before.modified().ok().and_then(|time| SystemTime::now().duration_since(time).ok());
    if age.is_none_or(|age| age > RECENT_WRITE) {
        return false;
    }
    std::thread::sleep(WATCH_TIME);
    look().is_none_or(|after| {
        after.len() != before.len() || after.modified().ok() != before.modified().ok()
    })
}

/// Whether another process has a file open.
///
/// The answer is about processes of the same user. If it cannot be found out, it is yes, to be safe.
#[cfg(target_os = "linux")]
pub(crate) fn is_open_elsewhere(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let file = match fs::metadata(path) {
        Ok(file) => file,
        Err(error) => return !crate::disk::is_missing(&error),
    };
    let is_it = |entry: fs::DirEntry| {
        fs::metadata(entry.path())
            .is_ok_and(|open| (open.dev(), open.ino()) == (file.dev(), file.ino()))
    };
    let own = std::process::id().to_string();
    let Ok(processes) = fs::read_dir("/proc") else { return true };
    processes.flatten().filter(|process| process.file_name().to_string_lossy() != own).any(
        |process| {
            let fds = fs::read_dir(process.path().join("fd")).into_iter().flatten().flatten();
            fds.into_iter().any(is_it)
        },
    )
}

/// Without `/proc`, `lsof` knows; it comes with macOS. It names the processes, or none and fails.
#[cfg(all(unix, not(target_os = "linux")))]
pub(crate) fn is_open_elsewhere(path: &Path) -> bool {
    if !path.exists() {
        return false;
    }
    let asked = std::process::Command::new("lsof").arg("-t").arg("--").arg(path).output();
    let own = std::process::id().to_string();
    match asked {
        Ok(asked) if asked.stderr.is_empty() => {
            let pids = String::from_utf8_lossy(&asked.stdout);
            pids.lines().any(|pid| pid.trim() != own)
        }
        _ => true,
    }
}

/// Whoever has it open prevents that it is opened by one process alone.
#[cfg(windows)]
pub(crate) fn is_open_elsewhere(path: &Path) -> bool {
    let mut alone = fs::OpenOptions::new();
    std::os::windows::fs::OpenOptionsExt::share_mode(alone.read(true), 0);
    match alone.open(path) {
        Ok(_) => false,
        Err(error) => !crate::disk::is_missing(&error),
    }
}
