//! Writes a transcript as plain text, as in a terminal.

use std::fmt::Write as _;

use ramus_core::turn::Turn;

use super::head::{COMPACTED, Header, TOTAL, stamp};
use super::{Config, Tools};
use crate::highlight::Highlight;
use crate::text::{TextConfig, transcript};

const WIDTH: usize = 100;

/// Writes what comes before the turns.
pub(super) fn head(header: &Header, out: &mut String) {
    out.push_str("CLAUDE CODE SESSION TRANSCRIPT\n\n");
    for (name, value) in header.rows() {
        if name == TOTAL && header.compactions > 0 {
            let _ = writeln!(out, "{} - {}", COMPACTED.0, COMPACTED.1);
        }
        let line = ramus_core::digest::one_line(&crate::sanitize::sanitize(&value));
        let _ = writeln!(out, "{name}: {line}");
    }
    let _ = writeln!(out, "\n{}\n", "─".repeat(WIDTH));
}

/// Writes one turn.
pub(super) fn turn(turn: &Turn, config: &Config<'_>, out: &mut String) {
    let text = TextConfig {
        width: WIDTH,
        thinking: config.thinking,
        tools: config.tools != Tools::None,
        full: config.tools == Tools::Full,
        branch_notes: true,
        usage: None,
        highlight: Highlight::Off,
        show: "ramus show",
        cwd: config.cwd,
        time: &stamp,
    };
    let mut lines = Vec::new();
    transcript(turn, &text, &mut lines);
    for line in lines {
        let _ = writeln!(out, "{}", line.text().trim_end());
    }
}
