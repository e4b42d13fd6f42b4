//! Being asked to end from outside: the terminal is given back first.

use std::io;
use std::sync::mpsc::Sender;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use crate::event::Event;
use crate::{terminal, work};

/// Starts the thread that hears signals.
pub(crate) fn listen(sender: &Sender<Event>) -> io::Result<()> {
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    work::spawn(sender.clone(), move |events| {
        for (heard, signal) in signals.forever().enumerate() {
            // The second one comes because the first one did not help.
            if heard > 0 || events.send(Event::Signal(signal)).is_err() {
                terminal::restore();
                let _ = die_of(signal);
            }
        }
    });
    Ok(())
}

/// Ends the program as the signal would have, so that whoever sent it sees that it worked.
pub(crate) fn die_of(signal: i32) -> io::Result<()> {
    emulate_default_handler(signal)
}
