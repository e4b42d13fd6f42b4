//! Writes the tokens and cost of a reply in one line with aligned columns.

use ramus_core::usage::{ReplyUsage, TokenCounts};

use super::amounts::{format_reply_dollars, format_tokens};
use crate::layout;
use crate::span::{Label, Line};

/// The maximum width of a number of tokens.
const NUMBER: usize = 5;

/// Returns the line below a reply. Less important columns are dropped if the width is small.
pub fn reply_usage_line(usage: &ReplyUsage, width: usize) -> Line {
    usage_line("  ", &usage.tokens, Some(usage.context), usage.cost, width)
}

/// Returns tokens and cost after a name, as many columns as fit.
///
/// `context` is absent if several requests are added up; its column is empty then.
pub fn usage_line(
    name: &str,
    used: &TokenCounts,
    context: Option<u64>,
    cost: Option<f64>,
    width: usize,
) -> Line {
    let writes = used.cache_write_5m.saturating_add(used.cache_write_1h);
    let cells = [
        ("in", Some(used.input), 2),
        ("cache read", Some(used.cache_read), 1),
        ("cache write", Some(writes), 1),
        ("out", Some(used.output), 3),
        ("context", context, 3),
    ];
    let price = cost.map_or_else(|| "no price".to_owned(), format_reply_dollars);
    // Columns with the lowest rank are dropped first.
    let fitting = (0..=3).map(|least| {
        let kept = cells.iter().filter(|(_, _, rank)| *rank >= least);
        let text: String = kept
            .map(|(word, count, _)| match count {
                Some(count) => format!("{word} {:>NUMBER$}  ", format_tokens(*count)),
                None => " ".repeat(word.len() + NUMBER + 3),
            })
            .collect();
        format!("{text}{price:>8}")
    });
    let room = width.saturating_sub(layout::display_width(name));
    let fits = |text: &String| layout::display_width(text) <= room;
    let mut all: Vec<String> = fitting.collect();
    let at = all.iter().position(fits).unwrap_or(all.len() - 1);
    let line = Line::new(name, Label::Plain).with(&all.swap_remove(at), Label::Dim);
    layout::truncate_line(&line, width)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(width: usize, cost: Option<f64>, expected: &str) {
        let used = TokenCounts {
            input: 12,
            output: 512,
            cache_read: 45_000,
            cache_write_5m: 1_000,
            cache_write_1h: 200,
            ..TokenCounts::default()
        };
        let usage = ReplyUsage { tokens: used, cost, context: 46_212 };
        let line = reply_usage_line(&usage, width);
        assert_eq!(line.to_text(), expected);
        assert!(line.width() <= width);
    }

    #[test]
    fn narrow_lines_leave_out_columns() {
        let full =
            "  in    12  cache read   45k  cache write  1.2k  out   512  context   46k   $0.0312";
        check(100, Some(0.0312), full);
        check(60, Some(0.0312), "  in    12  out   512  context   46k   $0.0312");
        check(40, Some(0.0312), "  out   512  context   46k   $0.0312");
        check(100, None, &full.replace(" $0.0312", "no price"));
        check(20, Some(1.0), "  out   512  contex…");
    }

    #[test]
    fn columns_stay_in_their_place() {
        let line = |count: u64, context: Option<u64>| {
            let used = TokenCounts { input: count, output: count, ..TokenCounts::default() };
            usage_line("  ", &used, context, Some(0.5), 100).width()
        };
        assert_eq!(line(1, Some(1)), line(999_499, Some(12_345_678)));
        assert_eq!(line(1, None), line(1, Some(1)));
    }
}
