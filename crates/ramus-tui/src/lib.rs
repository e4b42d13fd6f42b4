//! The terminal screens: every branch of a history, to be walked through.
//!
//! One closed `event::ScreenEvent` goes in, `update` changes the `state`,
//! `view` draws it, and what is to be done elsewhere comes out as effects.
//! Slow work is done by threads that keep only the newest request.

mod app;
mod canvas;
mod cursor;
mod event;
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

pub use app::{ScreenOptions, run};
pub use state::ScreenClock;
