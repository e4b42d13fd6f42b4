use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use ramus_app::time_text::{TimeEdge, parse_time};
use ramus_core::time::Time;
use ramus_store::follow::{FollowConfig, FollowEvent, FollowEvents, WatchMode, follow_files};

use crate::args::Global;
use crate::env::{self, LocalClock};
use crate::error::CommandError;
use crate::memory;
use crate::prices;
use crate::ui::Ui;

mod alert;
mod event_kinds;
mod picker;
mod screen;
mod selection;
mod watched_files;

use alert::WatchAlert;
use event_kinds::{WatchKind, WatchKinds};
use screen::WatchScreen;
use selection::WatchSelection;
use watched_files::WatchedFiles;

/// Follow sessions live: prompts, thinking, answers, tools, agents
///
/// Shows what is written from now on, of all sessions or of those named: projects, sessions,
/// agents, or one conversation (`SESSION@N`, `SESSION:UUID`). New sessions appear by themselves.
/// Several sessions are told apart by colour; agents speak indented. A tool call is one line, when
/// it is over, with how long it took and what came of it. On a terminal and without SCOPE you choose
/// first.
///
/// Tokens and cost are those since watching began. Recent clients keep no text of what the model
/// thinks; `"showThinkingSummaries": true` in the client's settings.json makes them keep summaries.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  ramus watch latest\n  ramus watch . --since 10m\n  ramus watch --only thinking,prompts\n  ramus watch latest@2\n  ramus watch --notify bell\n  ramus watch . --notify 'notify-send \"$RAMUS_EVENT\" \"$RAMUS_TITLE\"'\n  ramus watch --json | jq -r 'select(.event == \"prompt\").text'"
)]
pub(crate) struct WatchArgs {
    /// Projects, sessions, agents or one conversation [default: everything]
    #[arg(allow_hyphen_values = true)]
    scope: Option<String>,
    /// More of them
    #[arg(value_name = "SCOPE")]
    more: Vec<String>,
    /// Only news of these kinds
    #[arg(long, value_enum, value_delimiter = ',', value_name = "KIND")]
    only: Vec<WatchKind>,
    /// Follow only the conversation that is being held, and say when it is left
    #[arg(long)]
    branch: bool,
    /// Show first what was said since then: a time, or how long ago (`10m`, `2h`)
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Run a command, or ring (`bell`), when a session ends its turn or waits for its user
    ///
    /// The command is given to the shell, with RAMUS_EVENT (`turn_ended` or `waiting`),
    /// RAMUS_SESSION, RAMUS_TITLE, RAMUS_PROJECT and RAMUS_TEXT.
    #[arg(long, value_name = "CMD|bell")]
    notify: Option<String>,
    /// Look at the files this often instead of waiting for the system to tell, for network drives
    #[arg(long, value_name = "MS")]
    poll: Option<u64>,
    /// Leave nothing out for being long
    #[arg(long)]
    full: bool,
    /// A file with other prices [default: $RAMUS_PRICES, else ~/.config/ramus/prices.json]
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
}

/// How long nothing happens before the clock is looked at.
const TICK: Duration = Duration::from_millis(100);
/// How many changes may be written before the output is sent off.
const BATCH: usize = 32;

pub(crate) fn watch(ui: &mut Ui, global: &Global, args: &WatchArgs) -> Result<(), CommandError> {
    memory::give_back_at_once();
    let prices = Arc::new(prices::load_prices(args.prices.as_deref())?.list);
    let clock = LocalClock::new();
    let since = match &args.since {
        Some(since) => Some(parse_time(since, TimeEdge::Start, clock.local_now())?),
        None => None,
    };
    let picked = match &args.scope {
        None if picker::can_ask(ui) => match picker::pick_scope(ui, global)? {
            Some(picked) => picked,
            None => return Ok(()),
        },
        typed => typed.iter().chain(&args.more).cloned().collect(),
    };
    let wanted = WatchSelection::find_selection(ui, global, &picked, args.branch)?;
    let config = FollowConfig {
        mode: args
            .poll
            .map_or(WatchMode::Events, |ms| WatchMode::Poll(Duration::from_millis(ms.max(1)))),
        ..FollowConfig::default()
    };
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    // Without a handler the signal ends us all the same.
    let _ = ctrlc::set_handler(move || stopped.store(true, Ordering::Relaxed));
    let dirs = env::claude_dir_candidates(global);
    let place: Vec<String> = dirs.iter().map(|dir| dir.display().to_string()).collect();
    let changes = follow_files(dirs, &config)?;
    let now = Time::from_millis(clock.local_now().timestamp().as_millisecond());
    let mut watch = WatchRun {
        files: WatchedFiles::new(wanted, since.unwrap_or(now), since.is_some(), global.all, prices),
        screen: WatchScreen::new(clock, WatchKinds::new(&args.only), args.full, place.join(" or ")),
        alert: args.notify.as_deref().map(WatchAlert::new),
    };
    watch.run(ui, &changes, &stop)
}

struct WatchRun {
    files: WatchedFiles,
    screen: WatchScreen,
    alert: Option<WatchAlert>,
}

impl WatchRun {
    fn run(
        &mut self,
        ui: &mut Ui,
        changes: &FollowEvents,
        stop: &AtomicBool,
    ) -> Result<(), CommandError> {
        let mut looked = Instant::now();
        while !stop.load(Ordering::Relaxed) {
            match changes.recv_timeout(TICK) {
                Ok(change) => {
                    self.apply_change(ui, change)?;
                    for _ in 1..BATCH {
                        let Ok(change) = changes.try_recv() else { break };
                        self.apply_change(ui, change)?;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if looked.elapsed() >= TICK {
                looked = Instant::now();
                let silent = self.files.end_silent_turns();
                self.show_items(ui, silent)?;
            }
            self.screen.show_status(ui, &self.files)?;
            ui.output_writer().flush()?;
        }
        self.screen.print_summary(ui, &self.files)
    }

    fn apply_change(&mut self, ui: &mut Ui, change: FollowEvent) -> Result<(), CommandError> {
        let items = self.files.apply_change(change);
        self.show_items(ui, items)
    }

    fn show_items(
        &mut self,
        ui: &mut Ui,
        items: Vec<watched_files::WatchItem>,
    ) -> Result<(), CommandError> {
        for item in items {
            if let Some(alert) = &mut self.alert {
                alert.notify_item(ui, &item, &self.files);
            }
            self.screen.show_item(ui, &item, &self.files)?;
        }
        Ok(())
    }
}
