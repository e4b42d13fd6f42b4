//! Charts as a self-contained HTML document, without scripts and without external resources.

use std::fmt::Write as _;

use super::{BarRow, DAYS, ReportChart};
use crate::sanitize::sanitize_text;
use crate::text::{format_tokens, grouped_digits};

const STYLE: &str = include_str!("page.css");
/// SHA-256 of the style sheet, as base64. A test verifies it.
const STYLE_HASH: &str = "LGJk5Zfkwd1ZkPMtHIZZgUrKDNd5QqVyEA3G+9yM+kE=";

/// Writes the document.
pub fn chart_document(title: &str, about: &str, pictures: &[ReportChart]) -> String {
    let mut out = String::new();
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'sha256-{STYLE_HASH}'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>{0}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<header><h1>{0}</h1><p>{1}</p></header>\n<main>\n",
        escape_text(title),
        escape_text(about),
    );
    for picture in pictures {
        write_figure(picture, &mut out);
    }
    out.push_str("</main>\n</body>\n</html>\n");
    out
}

fn write_figure(picture: &ReportChart, out: &mut String) {
    let (title, note) = match picture {
        ReportChart::Bars { title, note, .. } | ReportChart::Series { title, note, .. } => {
            (title, &**note)
        }
        ReportChart::Week { title, .. } => (title, ""),
    };
    let _ = writeln!(
        out,
        "<figure><figcaption>{} <small>{}</small></figcaption>",
        escape_text(title),
        escape_text(note)
    );
    match picture {
        ReportChart::Bars { rows, .. } => write_bars(title, rows, out),
        ReportChart::Week { hours, .. } => write_week(title, hours, out),
        ReportChart::Series { values, marks, .. } => write_series(title, values, marks, out),
    }
    out.push_str("</figure>\n");
}

fn open_svg(title: &str, width: usize, height: usize, out: &mut String) {
    let title = escape_text(title);
    let _ =
        write!(out, "<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{title}\">");
}

/// The width of drawings in SVG units.
const WIDTH: usize = 640;
const ROW: usize = 22;
/// Where bars begin, and their minimum and maximum length.
const NAMES: usize = 200;
const BARS: (f64, f64) = (60.0, 240.0);
/// The approximate width of a letter.
const LETTER: f64 = 6.7;

fn write_bars(title: &str, rows: &[BarRow], out: &mut String) {
    let most = rows.iter().map(|row| row.value).fold(0.0, f64::max);
    let texts = rows.iter().map(|row| row.text.chars().count()).max().unwrap_or(0) as f64;
    let room = (WIDTH - NAMES) as f64 - 12.0 - texts * LETTER;
    let room = room.clamp(BARS.0, BARS.1);
    open_svg(title, WIDTH, rows.len() * ROW + 4, out);
    for (at, row) in rows.iter().enumerate() {
        let y = at * ROW;
        let length = if most > 0.0 { row.value / most * room } else { 0.0 };
        let left = (WIDTH - NAMES) as f64 - length - 8.0;
        let _ = write!(
            out,
            "<text class=\"n\" x=\"{}\" y=\"{}\">{}</text><rect class=\"b\" x=\"{NAMES}\" y=\"{}\" width=\"{length:.1}\" \
             height=\"14\" rx=\"2\"/><text x=\"{:.1}\" y=\"{}\">{}</text>",
            NAMES - 8,
            y + 15,
            escape_text(&clip_text(&row.name, 25)),
            y + 4,
            NAMES as f64 + length + 8.0,
            y + 15,
            escape_text(&clip_text(&row.text, (left / LETTER) as usize)),
        );
    }
    out.push_str("</svg>\n");
}

fn write_week(title: &str, hours: &[[u64; 24]; 7], out: &mut String) {
    let most = hours.iter().flatten().copied().max().unwrap_or(0);
    open_svg(title, WIDTH, 7 * ROW + 24, out);
    for hour in (0..24).step_by(3) {
        let _ = write!(out, "<text x=\"{}\" y=\"14\">{hour}:00</text>", 44 + hour * 24);
    }
    for (day, counts) in hours.iter().enumerate() {
        let y = 22 + day * ROW;
        let _ = write!(out, "<text x=\"4\" y=\"{}\">{}</text>", y + 15, DAYS[day]);
        for (hour, count) in counts.iter().enumerate() {
            let level = if *count == 0 { 0 } else { 1 + (count - 1) * 4 / most.max(1) };
            let _ = write!(
                out,
                "<rect class=\"h{level}\" x=\"{}\" y=\"{y}\" width=\"21\" height=\"19\" rx=\"3\"><title>{} {hour}:00, {}</title></rect>",
                44 + hour * 24,
                DAYS[day],
                grouped_digits(*count),
            );
        }
    }
    out.push_str("</svg>\n");
}

/// The height of a series.
const HEIGHT: f64 = 160.0;
/// More points than this could not be distinguished.
const POINTS: usize = 560;

fn write_series(title: &str, values: &[u64], marks: &[usize], out: &mut String) {
    let columns = super::downsample(values, marks, POINTS);
    let most = columns.iter().map(|(value, _)| *value).max().unwrap_or(0).max(1);
    let x = |at: usize| 60.0 + at as f64 * 570.0 / columns.len().max(2) as f64;
    let y = |value: u64| 10.0 + HEIGHT - value as f64 / most as f64 * HEIGHT;
    open_svg(title, WIDTH, HEIGHT as usize + 24, out);
    let _ = write!(
        out,
        "<text class=\"n\" x=\"52\" y=\"18\">{}</text><text class=\"n\" x=\"52\" y=\"{:.0}\">0</text>\
         <line class=\"axis\" x1=\"60\" x2=\"636\" y1=\"{1:.0}\" y2=\"{1:.0}\"/>",
        format_tokens(most),
        HEIGHT + 10.0,
    );
    for (at, _) in columns.iter().enumerate().filter(|(_, (_, mark))| *mark) {
        let _ = write!(
            out,
            "<line class=\"mark\" x1=\"{0:.1}\" x2=\"{0:.1}\" y1=\"10\" y2=\"{1:.0}\"><title>compacted</title></line>",
            x(at),
            HEIGHT + 10.0,
        );
    }
    out.push_str("<polyline class=\"line\" points=\"");
    for (at, (value, _)) in columns.iter().enumerate() {
        let _ = write!(out, "{:.1},{:.1} ", x(at), y(*value));
    }
    out.push_str("\"/></svg>\n");
}

fn clip_text(text: &str, letters: usize) -> String {
    match text.char_indices().nth(letters) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn escape_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in sanitize_text(text).chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' => out.push(' '),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{STYLE, STYLE_HASH, chart_document};
    use crate::report_charts::tests::some;
    use sha2::{Digest, Sha256};

    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    #[test]
    fn nothing_of_a_transcript_becomes_markup() {
        let page = chart_document("a <i>title</i>", "\"about\"", &some());
        for bad in ["<script", "<b>", "<i>", "\u{1b}"] {
            assert!(!page.contains(bad), "{bad}");
        }
        assert!(page.contains("&lt;script&gt;") && page.contains("compacted"));
        assert!(page.contains("default-src 'none'") && !page.contains("http://"));
    }

    #[test]
    fn the_page_allows_its_own_style() {
        let hash = Sha256::digest(STYLE.as_bytes());
        let sextets: Vec<u8> = STYLE_HASH
            .bytes()
            .filter_map(|byte| LETTERS.iter().position(|l| *l == byte))
            .map(|n| n as u8)
            .collect();
        let bits: String = sextets.iter().map(|sextet| format!("{sextet:06b}")).collect();
        let wanted: String = hash.iter().map(|byte| format!("{byte:08b}")).collect();
        assert!(
            bits.starts_with(&wanted),
            "the style has changed: write its SHA-256 into the page"
        );
    }
}
