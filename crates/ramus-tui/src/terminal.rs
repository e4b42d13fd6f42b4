//! The terminal: taken, and given back as it was, whatever happens.

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
pub(crate) struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    /// What is on the screen may be wider than it should be.
    unsure: bool,
}

/// Whether there is something to give back: doing it twice would move the cursor of whoever is next.
static TAKEN: AtomicBool = AtomicBool::new(false);

impl Screen {
    pub(crate) fn open() -> io::Result<Self> {
        mind_panics();
        let opened = enter().and_then(|()| Terminal::new(CrosstermBackend::new(stdout())));
        match opened {
            Ok(terminal) => Ok(Self { terminal, unsure: false }),
            Err(error) => {
                restore();
                Err(error)
            }
        }
    }

    /// Takes the terminal again after somebody else had it.
    #[cfg(unix)]
    pub(crate) fn reopen(&mut self) -> io::Result<()> {
        // The shell may have changed the modes while we believed to have them.
        restore();
        enter()?;
        self.clear()
    }

    /// Returns columns and rows.
    pub(crate) fn size(&self) -> io::Result<(u16, u16)> {
        self.terminal.size().map(|size| (size.width, size.height))
    }

    /// Draws a frame.
    pub(crate) fn draw(&mut self, view: impl FnOnce(&mut Buffer)) -> io::Result<()> {
        queue!(stdout(), BeginSynchronizedUpdate)?;
        if self.unsure {
            self.clear()?;
        }
        let unsure = &mut self.unsure;
        self.terminal.draw(|frame| {
            view(frame.buffer_mut());
            *unsure = is_unsure(frame.buffer_mut());
        })?;
        execute!(stdout(), EndSynchronizedUpdate)
    }

    /// Has everything drawn anew.
    ///
    /// The terminal's own `clear` asks where the cursor is, and who hears keys would hear the answer.
    pub(crate) fn clear(&mut self) -> io::Result<()> {
        // What was drawn last is forgotten.
        self.terminal.swap_buffers();
        queue!(stdout(), Clear(ClearType::All))
    }

    /// Hands a text to the terminal's clipboard (OSC 52).
    pub(crate) fn copy(text: &str) -> io::Result<()> {
        let mut out = stdout().lock();
        write!(out, "\x1b]52;c;{}\x07", STANDARD.encode(text))?;
        out.flush()
    }
}

/// Takes the terminal.
fn enter() -> io::Result<()> {
    TAKEN.store(true, Ordering::SeqCst);
    enable_raw_mode()?;
    execute!(stdout(), EnterAlternateScreen, EnableMouseCapture, EnableBracketedPaste)
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

/// Whether there is a flag, a family or another sign of several characters: terminals disagree on
/// how wide those are, and changing only some cells then leaves pieces of them behind.
fn is_unsure(buffer: &Buffer) -> bool {
    let longest_char = 4;
    buffer.content.iter().any(|cell| cell.symbol().len() > longest_char)
}

/// Gives the terminal back; there is nobody to tell if that fails.
pub(crate) fn restore() {
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

/// What a panic beside the screens said.
static PANIC: Mutex<Option<String>> = Mutex::new(None);

/// Returns what the last panic beside the screens said, and where it was.
pub(crate) fn panic_beside() -> Option<String> {
    PANIC.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Gives the terminal back before a panic is printed, so that it can be read.
///
/// Only the thread that draws can do so; what panics beside it is told when the screens have ended.
fn mind_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let print = panic::take_hook();
        let draws = thread::current().id();
        panic::set_hook(Box::new(move |info| {
            if thread::current().id() == draws {
                restore();
            }
            if TAKEN.load(Ordering::SeqCst) {
                let told = info.to_string();
                *PANIC.lock().unwrap_or_else(PoisonError::into_inner) = Some(told);
            } else {
                print(info);
            }
        }));
    });
}
