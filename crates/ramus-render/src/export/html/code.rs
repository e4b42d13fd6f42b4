//! Writes source code and program output, coloured by CSS classes.

use std::fmt::Write as _;

use super::prose::escape_sanitized;
use crate::html::{escape_html, write_line};
use crate::span::Label;
use crate::{highlight, program_output};

/// Writes verbatim text: code is highlighted, diff lines are marked, and program output keeps its
/// colours.
pub(super) fn write_code(language: &str, text: &str, out: &mut String) {
    let text = text.trim_matches('\n');
    out.push_str("<pre>");
    match language {
        "" if !text.contains('\x1b') => escape_sanitized(text, out),
        "diff" => write_diff(text, out),
        _ if text.contains('\x1b') => {
            for line in program_output::output_lines(text, Label::Plain) {
                write_line(&line, out);
                out.push('\n');
            }
        }
        _ => {
            for line in highlight::highlight_code(language, text) {
                write_line(&line, out);
                out.push('\n');
            }
        }
    }
    out.push_str("</pre>\n");
}

fn write_diff(text: &str, out: &mut String) {
    for line in crate::sanitize::sanitize_text(text).lines() {
        let class = match line.as_bytes().first() {
            Some(b'+') => "add",
            Some(b'-') => "del",
            Some(b'@') => "hunk",
            _ => "",
        };
        if class.is_empty() {
            escape_html(line, out);
        } else {
            let _ = write!(out, "<span class=\"{class}\">");
            escape_html(line, out);
            out.push_str("</span>");
        }
        out.push('\n');
    }
}
