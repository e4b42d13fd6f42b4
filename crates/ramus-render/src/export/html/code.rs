//! Writes source code and program output, coloured by CSS classes.

use std::fmt::Write as _;

use super::prose::escape_clean;
use crate::html::{escape, write_line};
use crate::span::Label;
use crate::{highlight, printed};

/// Writes verbatim text: code is highlighted, diff lines are marked, and program output keeps its
/// colours.
pub(super) fn code(language: &str, text: &str, out: &mut String) {
    let text = text.trim_matches('\n');
    out.push_str("<pre>");
    match language {
        "" if !text.contains('\x1b') => escape_clean(text, out),
        "diff" => diff(text, out),
        _ if text.contains('\x1b') => {
            for line in printed::lines(text, Label::Plain) {
                write_line(&line, out);
                out.push('\n');
            }
        }
        _ => {
            for line in highlight::code(language, text) {
                write_line(&line, out);
                out.push('\n');
            }
        }
    }
    out.push_str("</pre>\n");
}

fn diff(text: &str, out: &mut String) {
    for line in crate::sanitize::sanitize(text).lines() {
        let class = match line.as_bytes().first() {
            Some(b'+') => "add",
            Some(b'-') => "del",
            Some(b'@') => "hunk",
            _ => "",
        };
        if class.is_empty() {
            escape(line, out);
        } else {
            let _ = write!(out, "<span class=\"{class}\">");
            escape(line, out);
            out.push_str("</span>");
        }
        out.push('\n');
    }
}
