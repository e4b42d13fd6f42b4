//! Turns histories into readable output: text, Markdown, HTML, JSON, trees.
//!
//! The output is lines of labelled text. A label says what a piece of text *means*; each
//! front end has one table that maps labels to styles. Nothing here reads files, the clock,
//! the environment or the terminal.

pub mod span;

pub mod sanitize;

pub mod program_output;

pub mod symbols;

pub mod layout;

pub mod snippet;

pub mod markdown;

pub mod highlight;
pub mod json;

pub mod diff;

pub mod change;

pub mod files;

pub mod table;

pub mod chart;
pub mod compare;

pub mod lineage;
pub mod outline;

pub mod report_charts;

pub mod ansi;

mod opened_call;

pub mod text;

pub mod export;

pub mod html;

pub use span::{Label, Line, Span, SyntaxKind};
