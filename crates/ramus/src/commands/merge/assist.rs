//! Runs the command that writes the digest of an assisted merge.

use std::io::{self, Read, Write};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
#[cfg(unix)]
use std::time::Duration;

use ramus_core::edit::{MAX_DIGEST_BYTES, parse_digest_text};
use ramus_render::{Label, Line};

use crate::error::CommandError;
use crate::other_process::{detach, shell_command};
use crate::ui::Ui;

/// What happens while the command runs.
enum AssistEvent {
    /// It ended, or printed more than is read.
    Printed(io::Result<Vec<u8>>),
    Ended(io::Result<ExitStatus>),
    Interrupted,
}

/// How long the command may take to end before it is killed.
#[cfg(unix)]
const KILL_DELAY: Duration = Duration::from_secs(2);

/// Hands the brief to the command and returns what it prints.
pub(super) fn run_assistant(ui: &Ui, command: &str, brief: &str) -> Result<String, CommandError> {
    let size = brief.len().div_ceil(1000);
    ui.print_message(&Line::new(&format!("Sending {size} kB to `{command}`…"), Label::Dim));
    let failed =
        |why: &str| CommandError::user_error(format!("nothing changed: `{command}` {why}"));
    // Set up before the command runs, so that no signal leaves it running.
    let (sender, events) = mpsc::channel();
    listen_for_signals(sender.clone());
    let child =
        start_command(command).map_err(|error| failed(&format!("could not be run: {error}")))?;
    let bytes =
        command_output(child, brief.to_owned(), sender, &events).map_err(|why| failed(&why))?;
    parse_digest_text(&bytes).map_err(|error| failed(&error.to_string()))
}

/// Starts the command in a new process group, so that all its processes can be ended.
fn start_command(command: &str) -> io::Result<Child> {
    let mut shell = shell_command(command);
    detach(&mut shell);
    shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()
}

/// Writes to the command and reads its output. The error describes what went wrong.
fn command_output(
    mut child: Child,
    brief: String,
    sender: Sender<AssistEvent>,
    events: &Receiver<AssistEvent>,
) -> Result<Vec<u8>, String> {
    let group = child.id();
    if let Some(mut stdin) = child.stdin.take() {
        // A command that does not read all of it may still print a digest.
        thread::spawn(move || drop(stdin.write_all(brief.as_bytes())));
    }
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let most = MAX_DIGEST_BYTES as u64 + 1;
        let read = match child.stdout.take() {
            Some(stdout) => stdout.take(most).read_to_end(&mut bytes).map(|_| bytes),
            None => Ok(bytes),
        };
        let _ = sender.send(AssistEvent::Printed(read));
        let _ = sender.send(AssistEvent::Ended(child.wait()));
    });
    let mut printed = Vec::new();
    loop {
        let why = match events.recv() {
            Ok(AssistEvent::Printed(Ok(bytes))) if bytes.len() > MAX_DIGEST_BYTES => {
                end_command(group, events);
                return Ok(bytes);
            }
            Ok(AssistEvent::Printed(Ok(bytes))) => {
                printed = bytes;
                continue;
            }
            Ok(AssistEvent::Ended(Ok(status))) if status.success() => return Ok(printed),
            Ok(AssistEvent::Ended(Ok(status))) => return Err(failure_text(status)),
            Ok(AssistEvent::Interrupted) => "was interrupted".to_owned(),
            Ok(AssistEvent::Printed(Err(error)) | AssistEvent::Ended(Err(error))) => {
                error.to_string()
            }
            Err(mpsc::RecvError) => "ended unexpectedly".to_owned(),
        };
        end_command(group, events);
        return Err(why);
    }
}

/// Handles Ctrl-C and termination signals while the command runs; afterwards they end the program.
fn listen_for_signals(sender: Sender<AssistEvent>) {
    // It can be set only once in a program; the first one is enough.
    let _ = ctrlc::set_handler(move || {
        if sender.send(AssistEvent::Interrupted).is_err() {
            std::process::exit(130);
        }
    });
}

/// Describes how a command failed, by the exit codes of the shell.
fn failure_text(status: ExitStatus) -> String {
    match status.code() {
        Some(126) => "cannot be run (exit code 126)".to_owned(),
        Some(127) => "was not found (exit code 127)".to_owned(),
        Some(code) => format!("failed with exit code {code}"),
        None => format!("was killed ({status})"),
    }
}

/// Ends the command and everything that it started.
#[cfg(unix)]
fn end_command(group: u32, events: &Receiver<AssistEvent>) {
    use rustix::process::{Pid, Signal, kill_process_group};

    let Some(group) = i32::try_from(group).ok().and_then(Pid::from_raw) else { return };
    let _ = kill_process_group(group, Signal::TERM);
    while let Ok(event) = events.recv_timeout(KILL_DELAY) {
        if matches!(event, AssistEvent::Ended(_)) {
            break;
        }
    }
    // Ends processes that ignored the first signal or outlived the shell.
    let _ = kill_process_group(group, Signal::KILL);
}

#[cfg(windows)]
fn end_command(process: u32, _: &Receiver<AssistEvent>) {
    let mut end = std::process::Command::new("taskkill");
    end.args(["/T", "/F", "/PID", &process.to_string()]);
    let _ = end.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
}
