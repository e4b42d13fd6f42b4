//! Charts of a history for the terminal and as an HTML document: bars, hours of a week, a series.

mod html;

pub use html::chart_document;

use std::fmt::Write as _;

use crate::chart::{draw_bar, draw_sparkline};
use crate::layout::{pad_line, truncate_line};
use crate::span::{Label, Line};

/// One chart.
#[derive(Clone, Debug)]
pub enum ReportChart {
    Bars {
        title: String,
        /// A few words about the chart.
        note: String,
        rows: Vec<BarRow>,
    },
    /// A value for each hour of each weekday, from Monday.
    Week { title: String, hours: Box<[[u64; 24]; 7]> },
    /// A series of values, with marks before some of them.
    Series { title: String, note: String, values: Vec<u64>, marks: Vec<usize> },
}

/// One bar: its name, its value, and the text after it.
#[derive(Clone, Debug)]
pub struct BarRow {
    pub name: String,
    pub value: f64,
    pub text: String,
}

const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// Draws charts for a terminal.
pub fn draw_charts(pictures: &[ReportChart], width: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    for picture in pictures {
        if !lines.is_empty() {
            lines.push(Line::default());
        }
        match picture {
            ReportChart::Bars { title, note, rows } => {
                lines.push(chart_heading(title, note, width));
                draw_bars(rows, width, &mut lines);
            }
            ReportChart::Week { title, hours } => {
                lines.push(chart_heading(title, "", width));
                draw_week(hours, &mut lines);
            }
            ReportChart::Series { title, note, values, marks } => {
                lines.push(chart_heading(title, note, width));
                draw_series(values, marks, width, &mut lines);
            }
        }
    }
    lines.iter().map(|line| truncate_line(line, width)).collect()
}

/// Writes a title and a note. A long title is truncated to fit.
fn chart_heading(title: &str, note: &str, width: usize) -> Line {
    let room = width.saturating_sub(note.chars().count() + 2).max(width / 3);
    let mut line = truncate_line(&Line::new(title, Label::Heading), room);
    if !note.is_empty() {
        line.push("  ", Label::Plain);
        line.push(note, Label::Dim);
    }
    line
}

fn draw_bars(rows: &[BarRow], width: usize, lines: &mut Vec<Line>) {
    let names = rows.iter().map(|row| Line::plain(&row.name));
    let names: Vec<Line> = names.map(|name| truncate_line(&name, width / 3)).collect();
    let widest = names.iter().map(Line::width).max().unwrap_or(0);
    // Align the numbers.
    let number = |row: &BarRow| row.text.find(' ').unwrap_or(row.text.len());
    let digits = rows.iter().map(number).max().unwrap_or(0);
    let text = |row: &BarRow| format!("{}{}", " ".repeat(digits - number(row)), row.text);
    let texts = rows.iter().map(|row| text(row).chars().count()).max().unwrap_or(0);
    let room = width.saturating_sub(widest + texts + 6).clamp(4, 40);
    let most = rows.iter().map(|row| row.value).fold(0.0, f64::max);
    for (row, name) in rows.iter().zip(names) {
        let mut line = Line::plain("  ");
        line.append(&pad_line(name, widest));
        let drawn = Line::new(&draw_bar(row.value, most, room), Label::Bar);
        line.push("  ", Label::Plain);
        line.append(&pad_line(drawn, room));
        lines.push(line.with("  ", Label::Plain).with(&text(row), Label::Dim));
    }
}

fn draw_week(hours: &[[u64; 24]; 7], lines: &mut Vec<Line>) {
    let most = hours.iter().flatten().copied().max().unwrap_or(0) as f64;
    let mut clock = String::from("      ");
    for hour in (0..24).step_by(3) {
        let _ = write!(clock, "{hour:<6}");
    }
    lines.push(Line::new(clock.trim_end(), Label::Dim));
    for (name, day) in DAYS.iter().zip(hours) {
        let mut line = Line::new(&format!("  {name} "), Label::Dim);
        for count in day {
            // Scale by the whole week, so that days can be compared.
            let column = draw_sparkline(&[*count as f64, most]);
            let column = column.chars().next().unwrap_or(' ');
            let label = if *count == 0 { Label::Dim } else { Label::Bar };
            let column = if *count == 0 { '·' } else { column };
            line.push(&format!("{column}{column}"), label);
        }
        let sum: u64 = day.iter().sum();
        lines.push(line.with(&format!("  {}", crate::text::grouped_digits(sum)), Label::Dim));
    }
}

/// The height of a series in rows.
const HEIGHT: usize = 6;

fn draw_series(values: &[u64], marks: &[usize], width: usize, lines: &mut Vec<Line>) {
    let columns = downsample(values, marks, width.saturating_sub(12).clamp(8, 100));
    let most = columns.iter().map(|(value, _)| *value).max().unwrap_or(0);
    for row in (0..HEIGHT).rev() {
        let scale =
            if row + 1 == HEIGHT { crate::text::format_tokens(most) } else { String::new() };
        let mut line = Line::new(&format!("  {scale:>7} "), Label::Dim);
        for (value, mark) in &columns {
            let eighths =
                (*value as f64 / most.max(1) as f64 * (HEIGHT * 8) as f64).round() as usize;
            let sign = match eighths.saturating_sub(row * 8) {
                0 if *mark => '┊',
                part => [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'][part.min(8)],
            };
            line.push(&sign.to_string(), if *mark { Label::Warning } else { Label::Bar });
        }
        lines.push(line);
    }
    if columns.iter().any(|(_, mark)| *mark) {
        // A full bar hides the mark, so repeat the marks below.
        let marks = columns.iter().map(|(_, mark)| if *mark { '┊' } else { ' ' });
        let marks: String = marks.collect();
        lines.push(Line::new("compacted ", Label::Dim).with(marks.trim_end(), Label::Warning));
    }
}

/// Reduces values to at most `columns`: the maximum of each group, and whether it has a mark.
pub(crate) fn downsample(values: &[u64], marks: &[usize], columns: usize) -> Vec<(u64, bool)> {
    let step = values.len().div_ceil(columns.max(1)).max(1);
    let chunks = values.chunks(step).enumerate();
    chunks
        .map(|(at, chunk)| {
            let mark = marks.iter().any(|mark| *mark / step == at);
            (chunk.iter().copied().max().unwrap_or(0), mark)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn some() -> Vec<ReportChart> {
        let row =
            |name: &str, value: f64| BarRow { name: name.into(), value, text: format!("{value}") };
        let mut hours = Box::new([[0; 24]; 7]);
        hours[2][9] = 8;
        hours[6][23] = 4;
        vec![
            ReportChart::Bars {
                title: "Tools".into(),
                note: "<b>\u{1b}[31m".into(),
                rows: vec![
                    row("Bash", 4.0),
                    row("<script>alert(1)</script>", 1.0),
                    row("none", 0.0),
                ],
            },
            ReportChart::Week { title: "Hours".into(), hours },
            ReportChart::Series {
                title: "Context".into(),
                note: String::new(),
                values: vec![10, 400, 900, 80, 300],
                marks: vec![3],
            },
        ]
    }

    #[test]
    fn pictures_fit_and_hold_no_controls() {
        for width in [30, 80, 160] {
            for line in draw_charts(&some(), width) {
                assert!(line.width() <= width, "{}", line.to_text());
                assert!(!line.to_text().contains('\u{1b}'));
            }
        }
        let text: Vec<String> = draw_charts(&some(), 60).iter().map(Line::to_text).collect();
        assert!(text.iter().any(|line| line.contains('┊')), "{text:#?}");
        assert!(
            text.iter().any(|line| line.starts_with("  Wed ··················██")),
            "{text:#?}"
        );
    }

    #[test]
    fn numbers_stand_below_each_other_and_notes_are_not_cut() {
        let row = |text: &str| BarRow { name: "x".into(), value: 1.0, text: text.into() };
        let bars = ReportChart::Bars {
            title: "A title that takes more room than there is".into(),
            note: "and what it means".into(),
            rows: vec![row("1,234  90.0%"), row("7  1.0%")],
        };
        let text: Vec<String> = draw_charts(&[bars], 40).iter().map(Line::to_text).collect();
        assert_eq!(text[0], "A title that takes m…  and what it means");
        assert!(
            text[1].ends_with("  1,234  90.0%") && text[2].ends_with("      7  1.0%"),
            "{text:#?}"
        );
    }

    #[test]
    fn many_values_share_a_column() {
        assert_eq!(downsample(&[1, 5, 2, 3], &[3], 2), [(5, false), (3, true)]);
        assert_eq!(downsample(&[], &[], 5), []);
    }
}
