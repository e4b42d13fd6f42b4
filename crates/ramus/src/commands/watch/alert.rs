//! Calls a person when a session needs one.

use std::process::{Child, Stdio};

use ramus_core::live::LiveEventKind;

use super::watched_files::{WatchItem, WatchedFiles};
use crate::other_process::shell_command;
use crate::ui::Ui;

/// How to call.
pub(super) enum WatchAlert {
    Bell,
    Command { line: String, running: Vec<Child> },
}

/// How many commands may run at a time; one that never ends must not pile up.
const MAX_RUNNING: usize = 16;

impl WatchAlert {
    pub(super) fn new(text: &str) -> Self {
        match text {
            "bell" => Self::Bell,
            line => Self::Command { line: line.to_owned(), running: Vec::new() },
        }
    }

    pub(super) fn notify_item(&mut self, ui: &Ui, item: &WatchItem, watched_set: &WatchedFiles) {
        let WatchItem::Live { path, event: news } = item else { return };
        let Some(watched) =
            watched_set.file_at(path).filter(|watched| !watched.file.role.is_agent())
        else {
            return;
        };
        let (event, text) = match &news.kind {
            LiveEventKind::Ended { .. } => ("turn_ended", ""),
            LiveEventKind::WaitsForUser(question) => ("waiting", question.as_str()),
            _ => return,
        };
        match self {
            Self::Bell => ui.ring_bell(),
            Self::Command { line, running } => {
                running.retain_mut(|child| matches!(child.try_wait(), Ok(None)));
                if running.len() >= MAX_RUNNING {
                    return;
                }
                // A NUL would make the whole environment unusable.
                let clean = |text: &str| text.replace('\0', "");
                let started = shell_command(line)
                    .env("RAMUS_EVENT", event)
                    .env("RAMUS_SESSION", clean(watched.session_id()))
                    .env("RAMUS_TITLE", clean(watched.live.title().unwrap_or_default()))
                    .env(
                        "RAMUS_PROJECT",
                        clean(watched.live.cwd().unwrap_or(watched.project_name())),
                    )
                    .env("RAMUS_TEXT", clean(text))
                    .stdin(Stdio::null())
                    .stdout(Stdio::null())
                    .spawn();
                match started {
                    Ok(child) => running.push(child),
                    Err(error) => ui.print_warning(&format!("cannot run `{line}`: {error}")),
                }
            }
        }
    }
}
