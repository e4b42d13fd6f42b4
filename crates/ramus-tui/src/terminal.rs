//! Takes the terminal and restores it, whatever happens.

use std::io::{self, Stdout, Write, stdout};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, Once, PoisonError};
use std::{panic, thread};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
};
use ratatui::crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen,
    LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::crossterm::{execute, queue};

/// The terminal while it is ours; dropping it gives it back.
pub(crate) struct TerminalScreen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    /// What is on the screen may be wider than it should be.
    unsure: bool,
}

/// Whether the terminal must be restored. Doing it twice would move the cursor of the next program.
static TAKEN: AtomicBool = AtomicBool::new(false);

impl TerminalScreen {
    pub(crate) fn open_terminal() -> io::Result<Self> {
        restore_on_panic();
        let opened = enter_screen().and_then(|()| Terminal::new(CrosstermBackend::new(stdout())));
        match opened {
            Ok(terminal) => Ok(Self { terminal, unsure: false }),
            Err(error) => {
                restore_terminal();
                Err(error)
            }
        }
    }

    /// Takes the terminal again after another program used it.
    pub(crate) fn reopen_terminal(&mut self) -> io::Result<()> {
        // The shell may have changed the modes while we believed to have them.
        restore_terminal();
        enter_screen()?;
        self.clear_terminal()
    }

    /// Returns columns and rows.
    pub(crate) fn terminal_size(&self) -> io::Result<(u16, u16)> {
        self.terminal.size().map(|size| (size.width, size.height))
    }

    /// Draws a frame.
    pub(crate) fn draw_frame(&mut self, view: impl FnOnce(&mut Buffer)) -> io::Result<()> {
        queue!(stdout(), BeginSynchronizedUpdate)?;
        if self.unsure {
            self.clear_terminal()?;
        }
        let unsure = &mut self.unsure;
        self.terminal.draw(|frame| {
            view(frame.buffer_mut());
            *unsure = is_unsure(frame.buffer_mut());
        })?;
        execute!(stdout(), EndSynchronizedUpdate)
    }

    /// Forces a complete redraw.
    ///
    /// The terminal's own `clear` queries the cursor position, and the key reader would receive the answer.
    pub(crate) fn clear_terminal(&mut self) -> io::Result<()> {
        // What was drawn last is forgotten.
        self.terminal.swap_buffers();
        queue!(stdout(), Clear(ClearType::All))
    }

    /// Hands a text to the terminal's clipboard (OSC 52).
    pub(crate) fn copy_to_clipboard(text: &str) -> io::Result<()> {
        let mut out = stdout().lock();
        write!(out, "\x1b]52;c;{}\x07", STANDARD.encode(text))?;
        out.flush()
    }
}

/// Takes the terminal.
fn enter_screen() -> io::Result<()> {
    TAKEN.store(true, Ordering::SeqCst);
    enable_raw_mode()?;
    execute!(stdout(), EnterAlternateScreen, EnableMouseCapture, EnableBracketedPaste)
}

impl Drop for TerminalScreen {
    fn drop(&mut self) {
        restore_terminal();
    }
}

/// Whether there is a flag, a family or another sign of several characters: terminals disagree on
/// how wide those are, and changing only some cells then leaves pieces of them behind.
fn is_unsure(buffer: &Buffer) -> bool {
    let longest_char = 4;
    buffer.content.iter().any(|cell| cell.symbol().len() > longest_char)
}

/// Restores the terminal. A failure cannot be reported.
pub(crate) fn restore_terminal() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        let _ = execute!(
            stdout(),
            DisableBracketedPaste,
            DisableMouseCapture,
            LeaveAlternateScreen,
            Show
        );
        let _ = disable_raw_mode();
    }
}

/// The message of a panic on a worker thread.
static PANIC: Mutex<Option<String>> = Mutex::new(None);

/// Returns the message and location of the last panic on a worker thread.
pub(crate) fn panic_beside() -> Option<String> {
    PANIC.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Gives the terminal back before a panic is printed, so that it can be read.
///
/// Only the drawing thread can do this; panics on other threads are reported after the screens end.
fn restore_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let print = panic::take_hook();
        let draws = thread::current().id();
        panic::set_hook(Box::new(move |info| {
            if thread::current().id() == draws {
                restore_terminal();
            }
            if TAKEN.load(Ordering::SeqCst) {
                let message = info.to_string();
                *PANIC.lock().unwrap_or_else(PoisonError::into_inner) = Some(message);
            } else {
                print(info);
            }
        }));
    });
}
