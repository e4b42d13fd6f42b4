//! Scans formats that are not programming languages: markup, Markdown, diffs.

use super::code_scanner::{length_through, line_length, quoted_length, scan_code};
use super::language::{StringQuote, find_language};
use super::painter::LabelPainter;
use crate::span::{Label, SyntaxKind};

const TAG: Label = Label::Syntax(SyntaxKind::Tag);
const COMMENT: Label = Label::Syntax(SyntaxKind::Comment);
const VALUE: StringQuote =
    StringQuote { open: "\"", close: "\"", lines: true, escape: false, template: false };

/// Labels HTML and XML; scripts and styles in it are code.
pub(super) fn scan_markup(text: &str, painter: &mut LabelPainter<'_>) {
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'<', &text.as_bytes()[at..]) {
        at += found;
        painter.paint_to(at, Label::Plain);
        let rest = &text[at..];
        if rest.starts_with("<!--") {
            at += length_through(rest, "-->").unwrap_or(rest.len());
            painter.paint_to(at, COMMENT);
            continue;
        }
        let name = rest[1..].trim_start_matches(['/', '!', '?']);
        if !name.starts_with(|char: char| char.is_ascii_alphabetic()) {
            at += 1;
            continue;
        }
        let start = at;
        at = scan_tag(text, at, painter);
        at = scan_embedded(text, start, at, painter);
    }
}

/// Labels a tag and returns where it ends.
fn scan_tag(text: &str, start: usize, painter: &mut LabelPainter<'_>) -> usize {
    let rest = &text[start..];
    let is_end = |char: char| char.is_whitespace() || char == '>';
    let mut at = start + rest.find(is_end).unwrap_or(rest.len());
    painter.paint_to(at, TAG);
    while let Some(char) = text[at..].chars().next() {
        let rest = &text[at..];
        match char {
            '>' => {
                painter.paint_to(at + 1, TAG);
                return at + 1;
            }
            // The tag was never closed.
            '<' => return at,
            '"' | '\'' => {
                let mark = if char == '"' { "\"" } else { "'" };
                at += quoted_length(rest, &StringQuote { open: mark, close: mark, ..VALUE });
                painter.paint_to(at, Label::Syntax(SyntaxKind::String));
            }
            '=' | '/' | '?' => {
                at += 1;
                painter.paint_to(at, Label::Syntax(SyntaxKind::Punctuation));
            }
            char if char.is_whitespace() => at += char.len_utf8(),
            _ => {
                let is_end = |char: char| char.is_whitespace() || "=>\"'</".contains(char);
                painter.paint_to(at, Label::Plain);
                at += rest.find(is_end).unwrap_or(rest.len());
                painter.paint_to(at, Label::Syntax(SyntaxKind::Attribute));
            }
        }
    }
    at
}

/// Labels the content of a `<script>` or `<style>` that was just opened. Returns its end.
fn scan_embedded(text: &str, start: usize, at: usize, painter: &mut LabelPainter<'_>) -> usize {
    let tag = &text[start..at];
    let inside = [("<script", "</script", "ts"), ("<style", "</style", "css")];
    let is_open = |(open, ..): &&(&str, &str, &str)| tag.starts_with(open) && !tag.ends_with("/>");
    let Some((_, close, name)) = inside.iter().find(is_open) else { return at };
    let end = memchr::memmem::find(&text.as_bytes()[at..], close.as_bytes());
    let end = end.map_or(text.len(), |end| at + end);
    if let Some(language) = find_language(name) {
        scan_code(language, &text[..end], at, painter);
    }
    end
}

/// Labels headings, lists, quotes, code and emphasis, line by line.
pub(super) fn scan_markdown(text: &str, painter: &mut LabelPainter<'_>) {
    let mut fenced = false;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let end = at + line_length(line);
        let words = line.trim_start();
        let is_fence = words.starts_with("```") || words.starts_with("~~~");
        match words.chars().next() {
            _ if is_fence || fenced => painter.paint_to(end, Label::Code),
            Some('#') => painter.paint_to(end, Label::Heading),
            Some('>') => painter.paint_to(end, Label::Quote),
            _ => scan_inline(&text[..end], at, painter),
        }
        fenced ^= is_fence;
        at += line.len();
        painter.paint_to(at, Label::Plain);
    }
}

/// Labels code and strong words of a line.
fn scan_inline(text: &str, mut at: usize, painter: &mut LabelPainter<'_>) {
    while let Some(found) = text[at..].find(['`', '*']) {
        at += found;
        painter.paint_to(at, Label::Plain);
        let rest = &text[at..];
        let (mark, label) = match rest.starts_with('`') {
            true => ("`", Label::Code),
            false if rest.starts_with("**") => ("**", Label::Strong),
            false => ("", Label::Plain),
        };
        // Without an end mark, later marks have none either.
        let length = match mark {
            "" => Some(1),
            mark => length_through(&rest[mark.len()..], mark).map(|length| mark.len() + length),
        };
        let Some(length) = length else { return };
        at += length;
        painter.paint_to(at, label);
    }
}

/// Labels the lines of a diff.
pub(super) fn scan_diff(text: &str, painter: &mut LabelPainter<'_>) {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        at += line.len();
        let label = match line.as_bytes().first() {
            _ if HEADERS.iter().any(|mark| line.starts_with(mark)) => Label::Heading,
            Some(b'+' | b'>') => Label::Added,
            Some(b'-' | b'<') => Label::Removed,
            Some(b'@') => Label::Hunk,
            _ => Label::Plain,
        };
        painter.paint_to(at, label);
    }
}

const HEADERS: &[&str] = &["+++ ", "--- ", "diff ", "index ", "Index: "];
