//! The running block of five hours, live.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use jiff::Zoned;
use ramus_app::{Scope, Workspace};
use ramus_core::history::History;
use ramus_core::session::Session;
use ramus_core::time::Time;
use ramus_core::usage::{FileUsage, UsageBlock, UsageLedger, UsageTotal};
use ramus_render::chart::draw_bar;
use ramus_render::json::{Amounts, Answer, RunningBlock};
use ramus_render::text::{format_dollars, format_tokens};
use ramus_render::{Label, Line};
use ramus_store::follow::{FollowConfig, FollowEvent, FollowEvents, follow_files};

use super::tables::format_cost;
use crate::args::Global;
use crate::env;
use crate::error::CommandError;
use crate::table::number;
use crate::ui::Ui;

/// Idle time between two checks for Ctrl-C.
const TICK: Duration = Duration::from_millis(100);
/// How many ticks pass before the remaining time is printed again.
const TICKS_PER_REDRAW: usize = 10;
/// How many columns five hours take.
const BAR_WIDTH: usize = 20;

/// Starts following all files; everything written before is read normally.
pub(super) fn start_following(ui: &mut Ui, global: &Global) -> Result<FollowEvents, CommandError> {
    let changes = follow_files(env::claude_dir_candidates(global), &FollowConfig::default())?;
    while let Some(change) = changes.recv() {
        match change {
            FollowEvent::Ready => break,
            FollowEvent::Problem(problem) => ui.warn_unreadable(&problem),
            _ => {}
        }
    }
    Ok(changes)
}

/// Shows the running block until Ctrl-C.
///
/// Existing content is read once; after that, only appended lines.
pub(super) fn watch_block(
    ui: &mut Ui,
    changes: &FollowEvents,
    workspace: &Workspace,
    scope: &Scope,
    zone: &jiff::tz::TimeZone,
) -> Result<(), CommandError> {
    let mut ledger = workspace.survey_usage(scope.clone()).open_ledger(true).usage;
    let mut files: HashMap<PathBuf, Session> = HashMap::new();
    let mut printed = None;
    let mut problem = None;
    let stop = Arc::new(AtomicBool::new(false));
    if ui.terminal {
        let stopped = Arc::clone(&stop);
        // If no handler can be set, the signal still ends the program.
        let _ = ctrlc::set_handler(move || stopped.store(true, Ordering::Relaxed));
    }
    loop {
        let now = env::current_time();
        let block = running_block(&ledger, now);
        // Scripts get each change once; on a terminal the time is updated too.
        let news = block.as_ref().map(|(block, sum)| (*block, *sum));
        let changed = printed.as_ref() != Some(&news);
        if ui.json && changed {
            ui.print_json(&Answer::new("ramus.usage.block/1", to_json(news.as_ref(), now)))?;
            ui.flush_output()?;
        } else if !ui.json && (changed || ui.terminal) {
            let now = now.to_timestamp().to_zoned(zone.clone());
            let mut lines = block_lines(&ledger, news.as_ref(), &now);
            lines.extend(problem.clone());
            ui.redraw_screen(lines)?;
        }
        printed = Some(news);
        match next_change(changes, &stop) {
            Ok(FollowEvent::Grew { file, lines }) if in_scope(scope, &file.path) => {
                // A message may be written as several records, so the session keeps its state between reads.
                let session = files.entry(file.path).or_insert_with(Session::with_usage);
                session.push(&lines.bytes);
                let history = History::new(session.clone(), workspace.resume_rule());
                ledger.add_file(
                    &FileUsage::new(&history, &workspace.active_prices().list),
                    file.role.is_agent(),
                );
            }
            Ok(FollowEvent::Rewritten { file } | FollowEvent::Gone { file }) => {
                drop(files.remove(&file.path));
            }
            // A message on stderr would be overwritten by the next drawing.
            Ok(FollowEvent::Problem(found)) if ui.terminal && !ui.json => {
                let text = format!("{found}: {}", found.source);
                problem = Some(Line::new(&text, Label::Error));
            }
            Ok(FollowEvent::Problem(found)) => ui.warn_unreadable(&found),
            Ok(_) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(ui.end_redraw()?),
        }
    }
}

/// Waits for a change, or until the remaining time must be printed again.
fn next_change(changes: &FollowEvents, stop: &AtomicBool) -> Result<FollowEvent, RecvTimeoutError> {
    for _ in 0..TICKS_PER_REDRAW {
        if stop.load(Ordering::Relaxed) {
            return Err(RecvTimeoutError::Disconnected);
        }
        match changes.recv_timeout(TICK) {
            Err(RecvTimeoutError::Timeout) => {}
            heard => return heard,
        }
    }
    Err(RecvTimeoutError::Timeout)
}

fn in_scope(scope: &Scope, path: &Path) -> bool {
    match scope {
        Scope::All => true,
        Scope::Project(project) => path.starts_with(&project.dir),
        Scope::Session(_) | Scope::Sessions(_) => {
            let sessions = scope.sessions().unwrap_or_default();
            sessions.iter().any(|found| {
                path == found.file.path || path.starts_with(found.file.path.with_extension(""))
            })
        }
    }
}

fn running_block(ledger: &UsageLedger, now: Time) -> Option<(UsageBlock, UsageTotal)> {
    let times = ledger.messages().filter_map(|(_, charge)| charge.time);
    let block = UsageBlock::running_at(times, now)?;
    let mut sum = UsageTotal::default();
    for (_, charge) in ledger.messages() {
        if charge.time.is_some_and(|time| block.contains(time)) {
            sum.add_message(charge);
        }
    }
    Some((block, sum))
}

fn to_json(running: Option<&(UsageBlock, UsageTotal)>, now: Time) -> RunningBlock {
    RunningBlock {
        start: running.map(|(block, _)| block.start.to_string()),
        end: running.map(|(block, _)| block.end.to_string()),
        now: now.to_string(),
        amounts: Amounts::from(running.map_or(&UsageTotal::default(), |(_, sum)| sum)),
        projected_cost_usd: running.and_then(|(block, sum)| projected_cost(block, sum, now)),
    }
}

/// Projects the cost of the block at the current rate. `None` in its first minutes.
fn projected_cost(block: &UsageBlock, sum: &UsageTotal, now: Time) -> Option<f64> {
    let passed = block.elapsed_share(now);
    (passed > 0.02).then(|| ramus_render::json::round_dollars(sum.cost / passed))
}

fn block_lines(
    ledger: &UsageLedger,
    running: Option<&(UsageBlock, UsageTotal)>,
    now: &Zoned,
) -> Vec<Line> {
    let time = |time: Time| {
        time.to_timestamp().to_zoned(now.time_zone().clone()).strftime("%H:%M").to_string()
    };
    let Some((block, sum)) = running else {
        let last = ledger.messages().filter_map(|(_, charge)| charge.time).max();
        let last = last.map_or_else(|| "never".to_owned(), |last| last.to_string());
        return vec![
            Line::new("No five-hour block is active.", Label::Heading),
            Line::new(
                &format!("The last message was {last}. The next message starts a new block."),
                Label::Dim,
            ),
        ];
    };
    let moment = Time::from_millis(now.timestamp().as_millisecond());
    let left = (block.end.as_millis() - moment.as_millis()).max(0) / 60_000;
    let mut heading = Line::new("Block ", Label::Heading);
    heading.push(&format!("{} – {}", time(block.start), time(block.end)), Label::Time);
    heading.push(&format!("  {} h {:02} min left  ", left / 60, left % 60), Label::Plain);
    let passed = draw_bar(block.elapsed_share(moment), 1.0, BAR_WIDTH);
    heading.push(&passed, Label::Bar);
    heading.push(&"░".repeat(BAR_WIDTH.saturating_sub(passed.chars().count())), Label::Dim);
    let amounts = Amounts::from(sum);
    let minutes = ((moment.as_millis() - block.start.as_millis()) / 60_000).max(1);
    let mut money = Line::plain("  cost      ").with(&format_cost(&amounts), Label::Strong);
    if let Some(projected) = projected_cost(block, sum, moment) {
        money.push(&format!("  {} projected", format_dollars(projected)), Label::Dim);
    }
    let pace = sum.tokens.total() / minutes as u64;
    vec![
        heading,
        money,
        Line::plain(&format!("  messages  {}", number(sum.messages))),
        Line::plain(&format!("  tokens    {}", format_tokens(sum.tokens.total())))
            .with(&format!("  {} a minute", format_tokens(pace)), Label::Dim),
        Line::new(&format!("  {}", now.strftime("%H:%M:%S")), Label::Dim),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramus_core::price::PriceList;

    /// Draws what an answer of a million tokens at five past two makes of the block.
    fn drawn_lines(now: &str) -> Vec<String> {
        let answer = testkit::jsonl("a assistant @300 hi")
            .replace("\"input_tokens\":10", "\"input_tokens\":1000000")
            .replace("2026-01-01T00", "2026-01-01T14");
        let mut session = Session::with_usage();
        session.push(answer.as_bytes());
        let history = History::new(session, ramus_core::resume::ResumeRule::Client);
        let mut ledger = UsageLedger::default();
        ledger.add_file(&FileUsage::new(&history, &PriceList::default()), false);
        let now: jiff::Timestamp = now.parse().unwrap();
        let running = running_block(&ledger, Time::from_millis(now.as_millisecond()));
        let now = now.to_zoned(jiff::tz::TimeZone::UTC);
        block_lines(&ledger, running.as_ref(), &now).iter().map(Line::to_text).collect()
    }

    #[test]
    fn a_running_block_tells_what_it_cost_and_will() {
        let expected = [
            "Block 14:00 – 19:00  4 h 00 min left  ████░░░░░░░░░░░░░░░░",
            "  cost      $6.00  $30.00 projected",
            "  messages  1",
            "  tokens    1.0M  17k a minute",
            "  15:00:00",
        ];
        assert_eq!(drawn_lines("2026-01-01T15:00:00Z"), expected);
    }

    #[test]
    fn a_block_ends_after_five_hours() {
        let printed = drawn_lines("2026-01-01T19:00:01Z");
        assert_eq!(printed[0], "No five-hour block is active.");
        assert!(printed[1].starts_with("The last message was 2026-01-01T14:05:00"), "{printed:?}");
    }
}
