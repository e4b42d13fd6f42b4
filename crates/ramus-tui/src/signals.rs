//! Handles termination and suspension: restores the terminal first.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;

use rustix::process::{Signal, kill_current_process_group};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use crate::event::ScreenEvent;
use crate::{terminal, work};

/// Whether another program has the terminal: Ctrl-C is for that one then.
pub(crate) static IS_OUTSIDE: AtomicBool = AtomicBool::new(false);

/// Starts the thread that receives signals.
pub(crate) fn listen_for_signals(sender: &Sender<ScreenEvent>) -> io::Result<()> {
    let mut signals = Signals::new([SIGCONT, SIGHUP, SIGINT, SIGTERM])?;
    work::spawn_guarded(sender.clone(), move |events| {
        let mut heard = false;
        for signal in signals.forever() {
            // A program outside of the screens was meant.
            if signal == SIGINT && IS_OUTSIDE.load(Ordering::SeqCst) {
                continue;
            }
            if signal == SIGCONT {
                let _ = events.send(ScreenEvent::Continued);
                continue;
            }
            // The second one comes because the first one did not help.
            if heard || events.send(ScreenEvent::Signal(signal)).is_err() {
                terminal::restore_terminal();
                let _ = end_with_signal(signal);
            }
            heard = true;
        }
    });
    Ok(())
}

/// Stops the program as Ctrl-Z does in a shell, and all that runs in the same job; returns when it
/// goes on. Without a shell that could continue it the system ignores this.
pub(crate) fn stop_job() -> io::Result<()> {
    Ok(kill_current_process_group(Signal::TSTP)?)
}

/// Ends the program as the signal would have, so that the sender sees the expected status.
pub(crate) fn end_with_signal(signal: i32) -> io::Result<()> {
    emulate_default_handler(signal)
}
