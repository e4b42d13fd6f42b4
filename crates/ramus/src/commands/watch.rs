use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use ramus_app::time_text::{TimeEdge, parse_time};
use ramus_core::time::Time;
use ramus_render::json::AnswerScope;
use ramus_store::follow::{FollowConfig, FollowEvent, FollowEvents, WatchMode, follow_files};

use crate::args::Global;
use crate::completion;
use crate::env::{self, LocalClock};
use crate::error::CommandError;
use crate::memory;
use crate::prices;
use crate::scope;
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

/// Follow sessions live: prompts, replies, tool calls, agents
///
/// Shows new messages of all sessions, or only of the given projects, sessions, agents or conversation
/// (`SESSION@N`, `SESSION:UUID`). New sessions are included automatically. Each session has its own
/// colour; agents are indented. A tool call appears when it is finished, with its duration and outcome.
/// On a terminal without SCOPE you choose from a list.
///
/// Tokens and cost count from the start of watching. Recent clients don't store thinking; set
/// `"showThinkingSummaries": true` in Claude Code's settings.json to store summaries.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ramus watch latest
  ramus watch teapot --since 10m
  ramus watch --only thinking,prompts
  ramus watch latest@1
  ramus watch --notify bell
  ramus watch teapot --notify 'notify-send \"$RAMUS_EVENT\" \"$RAMUS_TITLE\"'
  ramus watch --json | jq -r 'select(.event == \"prompt\").text'")]
pub(crate) struct WatchArgs {
    /// Projects, sessions, agents or one conversation [default: the project of the current directory]
    #[arg(allow_hyphen_values = true, add = completion::scopes())]
    scope: Option<String>,
    /// More scopes
    #[arg(value_name = "SCOPE")]
    more: Vec<String>,
    /// Only events of these kinds
    #[arg(long, value_enum, value_delimiter = ',', value_name = "KIND")]
    only: Vec<WatchKind>,
    /// Follow only the current branch, and report when the session leaves it
    #[arg(long)]
    branch: bool,
    /// Start with messages since a time, or an age (`10m`, `2h`)
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Run a command, or ring the bell, when a session ends its turn or waits for you
    ///
    /// The command runs in a shell with RAMUS_EVENT (`turn_ended` or `waiting`),
    /// RAMUS_SESSION, RAMUS_TITLE, RAMUS_PROJECT and RAMUS_TEXT.
    #[arg(long, value_name = "CMD|bell")]
    notify: Option<String>,
    /// Check files at this interval instead of waiting for notifications, for network drives
    #[arg(long, value_name = "MS")]
    poll: Option<u64>,
    /// Show long texts in full
    #[arg(long)]
    full: bool,
    /// A file with other prices [default: $RAMUS_PRICES, else ~/.config/ramus/prices.json]
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
}

/// Idle time after which the clock is checked.
const TICK: Duration = Duration::from_millis(100);
/// How many changes may be written before the output is sent off.
const BATCH: usize = 32;

pub(crate) fn watch(ui: &mut Ui, global: &Global, args: &WatchArgs) -> Result<(), CommandError> {
    memory::restart_with_eager_release();
    let prices = Arc::new(prices::load_prices(global, args.prices.as_deref())?.list);
    let clock = LocalClock::new();
    let since = match &args.since {
        Some(since) => Some(parse_time(since, TimeEdge::Start, clock.local_now())?),
        None => None,
    };
    let current = match &args.scope {
        None => env::command_workspace(ui, global).ok().and_then(|workspace| {
            scope::print_scope_note(ui, &workspace, None);
            workspace.current_project()
        }),
        Some(_) => None,
    };
    let picked = match (&args.scope, &current) {
        (None, Some(current)) => vec![current.project.name.clone()],
        (None, None) if picker::can_ask(ui) => match picker::pick_scope(ui, global)? {
            Some(picked) => picked,
            None => return Ok(()),
        },
        (typed, _) => {
            let typed: Vec<String> = typed.iter().chain(&args.more).cloned().collect();
            env::expand_addresses(&typed)?
        }
    };
    let answer_scope = args.scope.is_none().then(|| AnswerScope {
        kind: if current.is_some() { "project" } else { "everywhere" },
        project: current.as_ref().map(|current| current.project.name.clone()),
        session: None,
        sessions: None,
        from_directory: current.is_some(),
    });
    let wanted = WatchSelection::find_selection(ui, global, &picked, args.branch)?;
    let config = FollowConfig {
        mode: args
            .poll
            .map_or(WatchMode::Events, |ms| WatchMode::Poll(Duration::from_millis(ms.max(1)))),
        ..FollowConfig::default()
    };
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    // If no handler can be set, the signal still ends the program.
    let _ = ctrlc::set_handler(move || stopped.store(true, Ordering::Relaxed));
    let dirs = env::claude_dir_candidates(global);
    let place: Vec<String> = dirs.iter().map(|dir| dir.display().to_string()).collect();
    let changes = follow_files(dirs, &config)?;
    let now = Time::from_millis(clock.local_now().timestamp().as_millisecond());
    let mut watch = WatchRun {
        files: WatchedFiles::new(wanted, since.unwrap_or(now), since.is_some(), global.all, prices),
        screen: WatchScreen::new(clock, WatchKinds::new(&args.only), args.full, place.join(" or "))
            .with_scope(answer_scope),
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
