//! Writes a transcript as plain text, as in a terminal.

use std::fmt::Write as _;

use ramus_core::turn::Turn;

use super::head::{COMPACTED_NOTE, TOTAL_MESSAGES, TranscriptHeader, utc_time};
use super::{ExportConfig, ToolDetail};
use crate::highlight::Highlight;
use crate::text::{TextConfig, write_single_turn};

const WIDTH: usize = 100;

/// Writes what comes before the turns.
pub(super) fn write_head(header: &TranscriptHeader, out: &mut String) {
    out.push_str("CLAUDE CODE SESSION TRANSCRIPT\n\n");
    for (name, value) in header.header_rows() {
        if name == TOTAL_MESSAGES && header.compactions > 0 {
            let _ = writeln!(out, "{} - {}", COMPACTED_NOTE.0, COMPACTED_NOTE.1);
        }
        let line = ramus_core::digest::one_line(&crate::sanitize::sanitize_text(&value));
        let _ = writeln!(out, "{name}: {line}");
    }
    let _ = writeln!(out, "\n{}\n", "─".repeat(WIDTH));
}

/// Writes one turn.
pub(super) fn write_turn(turn: &Turn, config: &ExportConfig<'_>, out: &mut String) {
    let text = TextConfig {
        width: WIDTH,
        thinking: config.thinking,
        tools: config.tools != ToolDetail::None,
        full: config.tools == ToolDetail::Full,
        branch_notes: true,
        usage: None,
        highlight: Highlight::Off,
        show: "ramus show",
        cwd: config.cwd,
        running: &[],
        time: &utc_time,
    };
    let mut lines = Vec::new();
    write_single_turn(turn, &text, &mut lines);
    for line in lines {
        let _ = writeln!(out, "{}", line.to_text().trim_end());
    }
}
