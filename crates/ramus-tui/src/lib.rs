//! The terminal user interface.
//!
//! One closed `event::ScreenEvent` goes in, `update` changes the `state`,
//! `view` draws it, and everything else that must happen is returned as effects.
//! Slow work is done by threads that keep only the newest request.

mod app;
mod background;
mod canvas;
mod cursor;
mod event;
mod hints;
mod input;
mod keys;
mod outside;
mod panes;
#[cfg(unix)]
mod signals;
mod state;
mod terminal;
mod theme;
mod update;
mod view;
mod work;

#[cfg(test)]
mod tests;

pub use app::{FileChanges, ScreenOptions, run};
pub use keys::KeyMap;
pub use state::ScreenClock;
pub use theme::ScreenColors;
