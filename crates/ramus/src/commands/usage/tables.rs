//! Usage for a person: an overview, or one table.

mod rows;

use jiff::Zoned;
use jiff::civil::Date;
use ramus_core::ids::ShortIds;
use ramus_render::chart::{ActivityCalendar, calendar_legend, draw_bar, draw_sparkline};
use ramus_render::json::{Amounts, Client, Usage};
use ramus_render::layout::wrap_line;
use ramus_render::text::{count_noun, format_dollars, format_tokens};
use ramus_render::{Label, Line};

use super::UsageBy;
use crate::table::{Table, cell, number};

/// How many rows of a table the overview shows.
const OVERVIEW_ROWS: usize = 7;
/// How many days the sparkline shows.
const SPARKLINE_DAYS: i64 = 30;

/// What rows are named with.
pub(super) struct TableContext<'a> {
    pub(super) now: &'a Zoned,
    pub(super) short_ids: &'a ShortIds,
}

/// Shows totals, the newest days, the dearest models, projects and sessions, and a calendar.
pub(super) fn overview_lines(
    report: &Usage,
    width: usize,
    context: &TableContext<'_>,
) -> Vec<Line> {
    let mut lines = totals_lines(report, width, context.now);
    for (by, title) in [
        (UsageBy::Day, "Newest days"),
        (UsageBy::Model, "Models"),
        (UsageBy::Project, "Projects"),
        (UsageBy::Session, "Sessions"),
    ] {
        let all = rows::table_rows(report, by, context);
        if all.len() < 2 {
            continue;
        }
        let from = if by == UsageBy::Day { all.len().saturating_sub(OVERVIEW_ROWS) } else { 0 };
        let shown = &all[from..all.len().min(from + OVERVIEW_ROWS)];
        lines.push(Line::default());
        let mut heading = Line::new(title, Label::Heading);
        if shown.len() < all.len() {
            let word = rows::option_value(by);
            let more = format!(
                "  {} of {}. Use --by {word} to show all",
                shown.len(),
                number(all.len() as u64)
            );
            heading.push(&more, Label::Dim);
        }
        lines.push(heading);
        lines.extend(layout_table(shown, by, width));
    }
    lines.extend(calendar_lines(report, width));
    lines
}

/// Shows one table, with its sum.
pub(super) fn table_lines(
    report: &Usage,
    by: UsageBy,
    width: usize,
    context: &TableContext<'_>,
) -> Vec<Line> {
    let mut all = rows::table_rows(report, by, context);
    // Conversations share their first messages, so a sum would count them several times.
    if all.len() > 1 && by != UsageBy::Conversation {
        all.push(rows::UsageRow::total_row(&report.totals));
    }
    let mut lines = layout_table(&all, by, width);
    if by == UsageBy::Day {
        lines.extend(calendar_lines(report, width));
    }
    lines
}

/// Shows the client's totals next to ours, session by session.
pub(super) fn client_lines(rows: &[Client], width: usize, short_ids: &ShortIds) -> Vec<Line> {
    if rows.is_empty() {
        return vec![Line::plain(
            "No session has totals by Claude Code; versions 2.1.246 and later store them.",
        )];
    }
    let mut table = Table::new(&["SESSION", ">CLIENT", ">RAMUS", ">DIFFERENCE", "*TITLE"]);
    for row in rows {
        let far = row.difference_usd.abs() >= 0.005;
        let difference = format!("{:+.4}", row.difference_usd);
        table.row(vec![
            cell(short_ids.shorten_id(&row.session), Label::Id),
            cell(format!("${:.4}", row.client_cost_usd), Label::Plain),
            cell(format!("${:.4}", row.cost_usd), Label::Plain),
            cell(difference, if far { Label::Warning } else { Label::Dim }),
            cell(row.title.as_deref().unwrap_or_default(), Label::Plain),
        ]);
    }
    let mut lines = table.lines(width);
    let ours: f64 = rows.iter().map(|row| row.cost_usd).sum();
    let client: f64 = rows.iter().map(|row| row.client_cost_usd).sum();
    lines.push(Line::default());
    lines.push(Line::plain(&format!(
        "Total: ${client:.2} by Claude Code, ${ours:.2} by ramus. Claude Code also counts requests outside of \
         the conversation, such as titles, and loses sessions that it could not end properly."
    )));
    lines.into_iter().flat_map(|line| wrap_line(&line, width, 0)).collect()
}

/// Prints what the figures leave out and where the prices come from.
pub(super) fn note_lines(report: &Usage, width: usize) -> Vec<Line> {
    let mut notes = vec![Line::default()];
    if !report.unpriced.is_empty() {
        let named = report.unpriced.iter();
        let named: Vec<String> = named
            .map(|model| format!("{} ({})", model.model, format_tokens(model.tokens)))
            .collect();
        let text = format!("No price for {}; not included in the cost.", named.join(", "));
        notes.push(Line::new(&text, Label::Warning));
    }
    let mut prices = format!("List prices of {}", report.prices.date);
    if let Some(file) = &report.prices.file {
        prices = format!("{prices}, changed by {file}");
    }
    notes.push(Line::new(&format!("{prices}; days of {}.", report.zone), Label::Dim));
    notes.iter().flat_map(|line| wrap_line(line, width, 0)).collect()
}

fn totals_lines(report: &Usage, width: usize, now: &Zoned) -> Vec<Line> {
    let all = &report.totals;
    let mut lines = vec![Line::new("Usage", Label::Heading)];
    let mut row = |name: &str, value: &str, label: Label, note: &str| {
        let line = Line::plain(&format!("  {name:<17}")).with(&format!(" {value:>11}"), label);
        lines.extend(wrap_line(&line.with("  ", Label::Plain).with(note, Label::Dim), width, 25));
    };
    let span = match (report.by_day.first(), report.by_day.last()) {
        (Some(first), Some(last)) => {
            let days = report.by_day.len();
            let [first, last] = [first, last].map(|row| row.day.clone().unwrap_or_default());
            format!("on {} from {first} to {last}", count_noun(days, "day"))
        }
        _ => String::new(),
    };
    row("cost", &format_cost(all), Label::Strong, &span);
    let mut scope = format!("in {}", count_noun(report.by_session.len(), "session"));
    if all.fast_messages > 0 {
        scope = format!("{scope}, {} in fast mode", number(all.fast_messages));
    }
    row("messages", &number(all.messages), Label::Plain, &scope);
    row("tokens", &format_tokens(all.total_tokens()), Label::Plain, &token_kinds(all));
    if all.web_searches + all.web_fetches > 0 {
        let note = format!("searches, {} pages fetched", number(all.web_fetches));
        row("web", &number(all.web_searches), Label::Plain, &note);
    }
    for (name, part) in [
        ("main conversation", &report.by_line.main),
        ("agents", &report.by_line.agents),
        ("active", &report.by_branch.active),
        ("abandoned", &report.by_branch.abandoned),
    ] {
        let whole = all.cost_usd.unwrap_or(0.0);
        let share = if whole > 0.0 { part.cost_usd.unwrap_or(0.0) / whole } else { 0.0 };
        let note = format!(
            "{:>3.0}%  {} messages, {} tokens",
            share * 100.0,
            number(part.messages),
            format_tokens(part.total_tokens())
        );
        row(name, &format_cost(part), Label::Plain, &note);
    }
    let line = recent_line(report, now);
    if line.trim().is_empty() {
        return lines;
    }
    let line = Line::plain(&format!("  {:<31}", format!("last {SPARKLINE_DAYS} days")))
        .with(&line, Label::Bar);
    lines.push(line);
    lines
}

fn token_kinds(amounts: &Amounts) -> String {
    let kinds = [
        ("input", amounts.input),
        ("output", amounts.output),
        ("cache read", amounts.cache_read),
        ("cache write 5 min", amounts.cache_write_5m),
        ("for 1 h", amounts.cache_write_1h),
    ];
    let some = kinds.into_iter().filter(|(_, n)| *n > 0);
    some.map(|(name, n)| format!("{name} {}", format_tokens(n))).collect::<Vec<_>>().join(" · ")
}

fn recent_line(report: &Usage, now: &Zoned) -> String {
    let days = daily_values(report);
    let day = |back: i64| now.date().checked_sub(jiff::Span::new().days(back)).ok();
    let value = |back| {
        day(back).and_then(|day| days.iter().find(|(of, _)| *of == day)).map_or(0.0, |(_, v)| *v)
    };
    draw_sparkline(&(0..SPARKLINE_DAYS).rev().map(value).collect::<Vec<f64>>())
}

/// Returns each day's cost, or its tokens where nothing has a price.
fn daily_values(report: &Usage) -> Vec<(Date, f64)> {
    let priced = report.totals.cost_usd.is_some();
    let value = |amounts: &Amounts| {
        if priced { amounts.cost_usd.unwrap_or(0.0) } else { amounts.total_tokens() as f64 }
    };
    let day = |day: &Option<String>| day.as_deref()?.parse::<Date>().ok();
    report.by_day.iter().filter_map(|row| Some((day(&row.day)?, value(&row.amounts)))).collect()
}

/// How many weeks a calendar shows at most.
const CALENDAR_WEEKS: i64 = 53;

/// Draws the last year before the newest day, if there is more than a week of it.
fn calendar_lines(report: &Usage, width: usize) -> Vec<Line> {
    let days = daily_values(report);
    let (Some((first, _)), Some((last, _))) = (days.first(), days.last()) else {
        return Vec::new();
    };
    let earliest =
        last.checked_sub(jiff::Span::new().days(CALENDAR_WEEKS * 7 - 1)).unwrap_or(*first);
    let first = (*first).max(earliest);
    let length = first.until(*last).map_or(0, |span| span.get_days()) + 1;
    if length <= 7 {
        return Vec::new();
    }
    let mut calendar = ActivityCalendar {
        first_weekday: first.weekday().to_monday_zero_offset() as usize,
        days: vec![0.0; length as usize],
        months: Vec::new(),
    };
    for (day, value) in &days {
        if let Ok(place) = usize::try_from(first.until(*day).map_or(-1, |span| span.get_days())) {
            calendar.days[place] = *value;
        }
    }
    for (place, day) in first.series(jiff::Span::new().days(1)).take(length as usize).enumerate() {
        if day.day() == 1 || place == 0 && day.day() < 24 {
            calendar.months.push((place, day.strftime("%b").to_string()));
        }
    }
    let mut lines =
        vec![
            Line::default(),
            Line::new("Calendar", Label::Heading)
                .with("  ", Label::Plain)
                .with_line(&calendar_total(report, first, &calendar.days)),
        ];
    lines.extend(calendar.draw_weeks(width));
    lines.push(Line::plain("    ").with_line(&calendar_legend()));
    lines
}

/// Returns the sum of the days that a calendar shows, and the day with the most.
fn calendar_total(report: &Usage, first: Date, days: &[f64]) -> Line {
    let amount = |value: f64| match report.totals.cost_usd {
        Some(_) => format_dollars(value),
        None => format!("{} tokens", format_tokens(value as u64)),
    };
    let used = days.iter().filter(|value| **value > 0.0).count();
    let most = days.iter().enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b));
    let day = |place: usize| first.checked_add(jiff::Span::new().days(place as i64));
    let Some((most, day)) = most.and_then(|(place, most)| Some((*most, day(place).ok()?))) else {
        return Line::default();
    };
    let total = amount(days.iter().sum());
    let days = count_noun(used, "day");
    let most = format!("most on {}: {}", day.strftime("%-d %b"), amount(most));
    Line::new(&format!("{total} on {days}, {most}"), Label::Dim)
}

/// Lays rows out as a table with bars.
fn layout_table(all: &[rows::UsageRow], by: UsageBy, width: usize) -> Vec<Line> {
    let value = |row: &rows::UsageRow| row.amounts.cost_usd.unwrap_or(0.0);
    let parts = all.iter().filter(|row| !row.total);
    let most = parts.map(value).fold(0.0, f64::max);
    let room = if width < 60 { 0 } else { (width / 8).min(24) };
    let mut head = rows::name_headings(by).to_vec();
    head.extend([
        ">COST",
        "",
        ">?MESSAGES",
        ">?OUTPUT",
        ">?INPUT",
        ">?CACHE READ",
        ">?WRITTEN 5m",
        ">?WRITTEN 1h",
    ]);
    head.extend(rows::tail_headings(by));
    let mut table = Table::new(&head);
    for row in all {
        let label = if row.total { Label::Strong } else { Label::Plain };
        let amount = |n: u64| {
            cell(
                if n == 0 { "–".to_owned() } else { format_tokens(n) },
                if n == 0 { Label::Dim } else { label },
            )
        };
        let drawn = if row.total { String::new() } else { draw_bar(value(row), most, room) };
        let mut cells = row.names.clone();
        cells.resize(rows::name_headings(by).len(), Line::default());
        cells.extend([
            cell(format_cost(&row.amounts), label),
            cell(drawn, Label::Bar),
            cell(number(row.amounts.messages), label),
            amount(row.amounts.output),
            amount(row.amounts.input),
            amount(row.amounts.cache_read),
            amount(row.amounts.cache_write_5m),
            amount(row.amounts.cache_write_1h),
        ]);
        cells.extend(row.tail.clone());
        cells.resize(head.len(), Line::default());
        table.row(cells);
    }
    table.lines(width)
}

/// Formats dollars. Marks a sum that leaves something out.
pub(super) fn format_cost(amounts: &Amounts) -> String {
    let Some(cost) = amounts.cost_usd else { return "?".to_owned() };
    let unknown = if amounts.unpriced_tokens > 0 { "+" } else { "" };
    format!("{}{unknown}", format_dollars(cost))
}
