//! A panic is a bug in ramus: it ends with one sentence and exit code 255.

use std::io::{self, Write};
use std::panic;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

/// The exit code after a bug in ramus, different from all others.
pub(crate) const EXIT_CODE: u8 = 255;

static REPORTED: AtomicBool = AtomicBool::new(false);

/// Runs the program; a panic on any of its threads is reported once and changes the exit code.
pub(crate) fn run_guarded(run: impl FnOnce() -> ExitCode + panic::UnwindSafe) -> ExitCode {
    panic::set_hook(Box::new(|info| report_panic(&info.to_string())));
    match panic::catch_unwind(run) {
        Ok(code) if !REPORTED.load(Ordering::SeqCst) => code,
        Ok(_) => ExitCode::from(EXIT_CODE),
        Err(payload) => {
            // The screens keep the message of a panicking thread until the terminal is restored.
            if let Some(text) = payload.downcast_ref::<String>() {
                report_panic(text);
            }
            ExitCode::from(EXIT_CODE)
        }
    }
}

/// Reports a panic. It often causes others, so only the first one is reported.
fn report_panic(panic: &str) {
    if !REPORTED.swap(true, Ordering::SeqCst) {
        // `eprintln` would panic if stderr is closed.
        drop(writeln!(io::stderr(), "Error: {}", panic_message(panic)));
    }
}

/// Returns one sentence for a panic, whose message may have several lines.
pub(crate) fn panic_message(panic: &str) -> String {
    let words = panic.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("this is a bug in ramus ({words}); please report it with the command you ran")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_on_any_thread_changes_the_exit_code() {
        let bug = format!("{:?}", ExitCode::from(EXIT_CODE));
        let code = run_guarded(|| {
            let beside = std::thread::spawn(|| panic!("a bug"));
            assert!(beside.join().is_err());
            ExitCode::SUCCESS
        });
        assert_eq!(format!("{code:?}"), bug);
        assert_eq!(format!("{:?}", run_guarded(|| panic!("another"))), bug);
    }

    #[test]
    fn it_is_described_in_one_line() {
        assert!(!panic_message("panicked at a.rs:1:\n  index out of bounds").contains('\n'));
    }
}
