//! Formats amounts for people.

use ramus_core::body::Media;

/// Returns `1 line`, `1,203 lines`.
pub fn count_noun(n: usize, noun: &str) -> String {
    let end = if n == 1 { "" } else { "s" };
    format!("{} {noun}{end}", grouped_digits(n as u64))
}

/// Returns a number with thousands separators.
pub fn grouped_digits(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns `950`, `30k`, `1.2M`, `7.9G`.
pub fn format_tokens(n: u64) -> String {
    match n {
        0..1_000 => n.to_string(),
        1_000..9_950 => format!("{:.1}k", n as f64 / 1e3),
        9_950..999_500 => format!("{:.0}k", n as f64 / 1e3),
        999_500..999_950_000 => format!("{:.1}M", n as f64 / 1e6),
        _ => format!("{:.1}G", n as f64 / 1e9),
    }
}

/// Returns a sum of dollars: `$0.0042`, `$4.56`, `$1,235`.
pub fn format_dollars(sum: f64) -> String {
    match sum {
        sum if sum > 0.0 && sum < 0.005 => format!("${sum:.4}"),
        sum if sum < 999.995 => format!("${sum:.2}"),
        sum => format!("${}", grouped_digits(sum.round() as u64)),
    }
}

/// Returns the cost of one reply, which is mostly cents: `<$0.0001`, `$0.0123`, `$4.56`, `$1,235`.
pub fn format_reply_dollars(cost: f64) -> String {
    match cost {
        cost if cost > 0.0 && cost < 0.0001 => "<$0.0001".to_owned(),
        cost if cost < 1.0 => format!("${cost:.4}"),
        cost => format_dollars(cost),
    }
}

/// Returns `120 B`, `45 KB`, `3.1 MB`.
pub(super) fn format_bytes(n: u64) -> String {
    match n {
        0..1_000 => format!("{n} B"),
        1_000..999_500 => format!("{:.0} KB", n as f64 / 1e3),
        _ => format!("{:.1} MB", n as f64 / 1e6),
    }
}

/// Returns `0.4s`, `12s`, `2m 10s`, `1h 05m`.
pub(crate) fn format_duration(millis: u64) -> String {
    let seconds = millis / 1_000;
    match seconds {
        0..10 => format!("{seconds}.{}s", millis % 1_000 / 100),
        10..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h {:02}m", seconds / 3_600, seconds / 60 % 60),
    }
}

/// Returns `[image png 120 KB]`.
pub(crate) fn media_label(media: &Media) -> String {
    let (kind, form) = match media.media_type.as_deref().and_then(|kind| kind.split_once('/')) {
        Some(("image", form)) => ("image", form),
        Some((_, form)) => ("document", form),
        None => ("image", ""),
    };
    let size = match media.data_len() as u64 {
        0 => String::new(),
        letters => format_bytes(letters * 3 / 4),
    };
    let title = media.title.as_deref().unwrap_or_default();
    let words = [kind, title, form, &size];
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    format!("[{}]", words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_dollars_are_rounded() {
        let texts = [0.0, 0.0042, 0.005, 4.558, 999.9, 1234.5].map(format_dollars);
        assert_eq!(texts, ["$0.00", "$0.0042", "$0.01", "$4.56", "$999.90", "$1,235"]);
    }

    #[test]
    fn the_cost_of_a_reply_has_more_digits() {
        let texts = [0.0, 0.000_01, 0.5, 12.345, 4321.9].map(format_reply_dollars);
        assert_eq!(texts, ["$0.0000", "<$0.0001", "$0.5000", "$12.35", "$4,322"]);
    }

    #[test]
    fn numbers_are_rounded() {
        let texts =
            [0, 999, 1_000, 8_496, 9_950, 248_927, 999_499, 999_500, 1_880_000, 7_960_000_000];
        let texts = texts.map(format_tokens);
        let expected = ["0", "999", "1.0k", "8.5k", "10k", "249k", "999k", "1.0M", "1.9M", "8.0G"];
        assert_eq!(texts, expected);
        assert_eq!([950, 1_500, 999_500].map(format_bytes), ["950 B", "2 KB", "1.0 MB"]);
    }
}
