//! Writes the document around a transcript: security policy, style and header.

use std::fmt::Write as _;

use super::prose::escaped_line;
use crate::export::head::{COMPACTED_NOTE, TranscriptHeader};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// SHA-256 of both, as base64. A test verifies them.
const STYLE_HASH: &str = "za7/kOLaoOIfIrZtf//1mXfIYKGUN2qgCeg2cwtaUfs=";
const SCRIPT_HASH: &str = "JeDFRZiYhlXGhKSiDqTYl0uvHQ0BsL+IFczsx1S/tPw=";

/// Opens a document.
pub(in crate::export) fn open_document(title: &str, out: &mut String) {
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'sha256-{STYLE_HASH}'; script-src 'sha256-{SCRIPT_HASH}'; \
         img-src data: 'self' file:; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>{}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n",
        escaped_line(title)
    );
}

/// Closes a document.
pub(in crate::export) fn close_document(out: &mut String) {
    let _ = write!(out, "<script>{SCRIPT}</script>\n</body>\n</html>\n");
}

/// Writes what comes before the turns.
pub(in crate::export) fn write_head(header: &TranscriptHeader, out: &mut String) {
    open_document(header.display_name(), out);
    out.push_str("<header>\n<p class=\"over\">");
    if let Some(index) = &header.index {
        let _ = write!(out, "<a href=\"{}\">All transcripts</a> · ", escaped_line(index));
    }
    let _ = writeln!(out, "{}</p>", escaped_line(&header.project));
    let _ = writeln!(
        out,
        "<h1>{}</h1>\n<p class=\"bar\"><span class=\"tag {}\">{}</span> path {} of {} · {} messages</p>",
        escaped_line(header.display_name()),
        header.status,
        if header.resumes { "active, resumes" } else { header.status },
        header.path,
        header.paths,
        header.messages,
    );
    if header.siblings.len() > 1 {
        write_siblings(header, out);
    }
    out.push_str("<details><summary>About this transcript</summary><div class=\"in\"><dl>\n");
    for (name, value) in header.header_rows() {
        let _ = writeln!(out, "<dt>{name}</dt><dd>{}</dd>", escaped_line(&value));
    }
    out.push_str("</dl></div></details>\n");
    if header.compactions > 0 {
        let _ = writeln!(out, "<p class=\"note\">{}: {}</p>", COMPACTED_NOTE.0, COMPACTED_NOTE.1);
    }
    out.push_str("</header>\n");
    write_filters(out);
    out.push_str("<main>\n");
}

/// Writes the checkboxes that filter the turns. They work with CSS alone.
fn write_filters(out: &mut String) {
    out.push_str("<div class=\"filters noprint\" role=\"group\" aria-label=\"Show\">\n");
    for (kind, name) in [
        ("prompts", "Prompts"),
        ("replies", "Replies"),
        ("tools", "Tools"),
        ("thinking", "Thinking"),
    ] {
        let _ = writeln!(
            out,
            "<label class=\"for-{kind}\"><input type=\"checkbox\" id=\"show-{kind}\" checked> {name}</label>"
        );
    }
    out.push_str("<button id=\"all\" aria-pressed=\"false\">Open all</button>\n</div>\n");
}

/// Writes the links to the other paths of the session.
fn write_siblings(header: &TranscriptHeader, out: &mut String) {
    out.push_str("<nav class=\"paths\" aria-label=\"Paths of this session\">\n");
    let (siblings, others) = header.nearest_siblings();
    for sibling in siblings {
        let here = sibling.path == header.path;
        let current = if here { " aria-current=\"page\"" } else { "" };
        let (open, close) = match &sibling.href {
            Some(href) => (format!("<a href=\"{}\"{current}>", escaped_line(href)), "</a>"),
            None => (format!("<span class=\"row\"{current}>"), "</span>"),
        };
        let resumes = if sibling.resumes { ", resumes" } else { "" };
        let _ = writeln!(
            out,
            "{open}<span class=\"n\">{}</span><span class=\"words\">{}</span>\
             <span class=\"m\">{}</span><span class=\"tag {status}\">{status}{resumes}</span>{close}",
            sibling.path,
            sibling.formatted_words,
            crate::text::count_noun(sibling.messages as usize, "message"),
            status = sibling.status,
        );
    }
    if others > 0 {
        let others = crate::text::count_noun(others, "more path");
        let _ = writeln!(out, "<span class=\"row\">{others} in this session</span>");
    }
    out.push_str("</nav>\n");
}

#[cfg(test)]
mod tests {
    use super::{SCRIPT, SCRIPT_HASH, STYLE, STYLE_HASH};
    use sha2::{Digest, Sha256};

    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    #[track_caller]
    fn check(text: &str, hash: &str) {
        let mut base64 = String::new();
        for three in Sha256::digest(text.as_bytes()).chunks(3) {
            let bits = three.iter().fold(0, |bits, byte| bits << 8 | u32::from(*byte))
                << (8 * (3 - three.len()));
            for sextet in 0..=three.len() {
                base64.push(char::from(LETTERS[(bits >> (18 - 6 * sextet) & 63) as usize]));
            }
        }
        while !base64.len().is_multiple_of(4) {
            base64.push('=');
        }
        assert_eq!(base64, hash, "write this into the page");
    }

    #[test]
    fn the_page_allows_its_own_style_and_script() {
        check(STYLE, STYLE_HASH);
        check(SCRIPT, SCRIPT_HASH);
    }
}
