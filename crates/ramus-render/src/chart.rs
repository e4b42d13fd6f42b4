//! Draws numbers in a terminal: bars, sparklines, a calendar.

use crate::span::{Label, Line};

/// Eighths of a column.
const BAR_EIGHTHS: [&str; 9] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"];
const SPARK_SYMBOLS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// From zero to the maximum, distinguishable without colour.
const HEAT_SYMBOLS: [char; 5] = ['·', '░', '▒', '▓', '█'];

/// Draws a bar of at most `width` columns. A value above zero is always visible.
pub fn draw_bar(value: f64, most: f64, width: usize) -> String {
    if !(value > 0.0 && most > 0.0) || width == 0 {
        return String::new();
    }
    let eighths = ((value / most).min(1.0) * (width * 8) as f64).round().max(1.0) as usize;
    format!("{}{}", BAR_EIGHTHS[8].repeat(eighths / 8), BAR_EIGHTHS[eighths % 8])
}

/// Draws one column per value.
pub fn draw_sparkline(values: &[f64]) -> String {
    let most = values.iter().copied().fold(0.0, f64::max);
    let column = |value: &f64| {
        if value.is_nan() || *value <= 0.0 {
            return ' ';
        }
        let level = (value / most * (SPARK_SYMBOLS.len() - 1) as f64).round() as usize;
        SPARK_SYMBOLS[level.min(SPARK_SYMBOLS.len() - 1)]
    };
    values.iter().map(column).collect()
}

/// One value per day, for a calendar of weeks.
#[derive(Clone, Debug, Default)]
pub struct ActivityCalendar {
    /// The day of the week of the first value; 0 is Monday.
    pub first_weekday: usize,
    pub days: Vec<f64>,
    /// Days on which a month begins, with its name.
    pub months: Vec<(usize, String)>,
}

const WEEKDAYS: [&str; 7] = ["Mon", "", "Wed", "", "Fri", "", "Sun"];
/// The column where the weeks begin.
const MARGIN: usize = 4;

impl ActivityCalendar {
    /// Draws weeks as columns, the newest on the right. Old weeks that do not fit are left out.
    pub fn draw_weeks(&self, width: usize) -> Vec<Line> {
        let weeks = (self.first_weekday + self.days.len()).div_ceil(7);
        let room = width.saturating_sub(MARGIN);
        let step = if weeks * 2 <= room { 2 } else { 1 };
        let shown = weeks.min(room / step);
        let first = weeks - shown;
        let levels = self.day_levels();
        let mut lines = vec![self.month_names(first, shown, step)];
        for (weekday, name) in WEEKDAYS.iter().enumerate() {
            let mut line = Line::new(&format!("{name:<MARGIN$}"), Label::Dim);
            for week in first..weeks {
                let day = (week * 7 + weekday).checked_sub(self.first_weekday);
                let level = day.and_then(|day| levels.get(day));
                let label =
                    if level.is_some_and(|level| *level > 0) { Label::Bar } else { Label::Dim };
                line.push(&level.map_or(' ', |level| HEAT_SYMBOLS[*level]).to_string(), label);
                line.push(&" ".repeat(step - 1), Label::Plain);
            }
            lines.push(line);
        }
        lines
    }

    /// Sorts the days into level 0 for zero and four levels with equally many days.
    fn day_levels(&self) -> Vec<usize> {
        let mut some: Vec<f64> = self.days.iter().copied().filter(|value| *value > 0.0).collect();
        some.sort_by(f64::total_cmp);
        let level = |value: &f64| {
            if value.is_nan() || *value <= 0.0 {
                return 0;
            }
            let below = some.partition_point(|other| other < value);
            1 + below * 4 / some.len().max(1)
        };
        self.days.iter().map(level).collect()
    }

    fn month_names(&self, first: usize, shown: usize, step: usize) -> Line {
        let mut names = String::new();
        for (day, name) in &self.months {
            let week = (self.first_weekday + day) / 7;
            let Some(column) = week.checked_sub(first).map(|week| week * step) else { continue };
            let used = names.chars().count();
            if column + name.len() <= shown * step && (used == 0 || column > used) {
                names.push_str(&" ".repeat(column - used));
                names.push_str(name);
            }
        }
        Line::new(&format!("{:MARGIN$}{names}", ""), Label::Dim)
    }
}

/// Returns the legend of a calendar.
pub fn calendar_legend() -> Line {
    let mut line = Line::new("less ", Label::Dim);
    for sign in HEAT_SYMBOLS {
        line.push(&format!("{sign} "), Label::Bar);
    }
    line.with("more", Label::Dim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_their_share() {
        assert_eq!(draw_bar(1.0, 1.0, 4), "████");
        assert_eq!(draw_bar(0.5, 1.0, 3), "█▌");
        assert_eq!(draw_bar(0.0001, 1.0, 4), "▏");
        assert_eq!(
            [draw_bar(0.0, 1.0, 4), draw_bar(1.0, 0.0, 4), draw_bar(f64::NAN, 1.0, 4)],
            ["", "", ""]
        );
        assert_eq!(draw_bar(9.0, 1.0, 2), "██");
    }

    #[test]
    fn sparks_rise() {
        assert_eq!(draw_sparkline(&[0.0, 1.0, 4.0, 8.0]), " ▂▅█");
        assert_eq!(draw_sparkline(&[0.0]), " ");
        assert_eq!(draw_sparkline(&[]), "");
    }

    #[test]
    fn a_calendar_has_weeks_as_columns() {
        let calendar = ActivityCalendar {
            first_weekday: 5,
            days: vec![0.0, 1.0, 2.0, 3.0, 4.0, 0.0, 0.0, 0.0, 0.0, 9.0],
            months: vec![(0, "Jan".to_owned()), (8, "Feb".to_owned())],
        };
        let text: Vec<String> = calendar.draw_weeks(20).iter().map(Line::to_text).collect();
        assert_eq!(
            text,
            [
                "    Jan",
                "Mon   ░ █ ",
                "      ▒   ",
                "Wed   ▓   ",
                "      ·   ",
                "Fri   ·   ",
                "    · ·   ",
                "Sun ░ ·   ",
            ]
        );
        assert_eq!(calendar.draw_weeks(6)[1].to_text(), "Mon ░█");
    }
}
