//! Calls a person when a session needs one.

use std::process::{Child, Command, Stdio};

use ramus_core::live::Told;

use super::lanes::{Item, Lanes};
use crate::ui::Ui;

/// How to call.
pub(super) enum Alert {
    Bell,
    Command { line: String, running: Vec<Child> },
}

/// How many commands may run at a time; one that never ends must not pile up.
const MOST: usize = 16;

impl Alert {
    pub(super) fn new(text: &str) -> Self {
        match text {
            "bell" => Self::Bell,
            line => Self::Command { line: line.to_owned(), running: Vec::new() },
        }
    }

    pub(super) fn hear(&mut self, ui: &Ui, item: &Item, lanes: &Lanes) {
        let Item::News { path, news } = item else { return };
        let Some(lane) = lanes.lane(path).filter(|lane| !lane.file.role.is_agent()) else { return };
        let (event, text) = match &news.told {
            Told::Ended { .. } => ("turn_ended", ""),
            Told::Waits(question) => ("waiting", question.as_str()),
            _ => return,
        };
        match self {
            Self::Bell => ui.bell(),
            Self::Command { line, running } => {
                running.retain_mut(|child| matches!(child.try_wait(), Ok(None)));
                if running.len() >= MOST {
                    return;
                }
                // A NUL would make the whole environment unusable.
                let clean = |text: &str| text.replace('\0', "");
                let started = shell(line)
                    .env("RAMUS_EVENT", event)
                    .env("RAMUS_SESSION", clean(lane.session()))
                    .env("RAMUS_TITLE", clean(lane.live.title().unwrap_or_default()))
                    .env("RAMUS_PROJECT", clean(lane.live.cwd().unwrap_or(lane.project())))
                    .env("RAMUS_TEXT", clean(text))
                    .stdin(Stdio::null())
                    .stdout(Stdio::null())
                    .spawn();
                match started {
                    Ok(child) => running.push(child),
                    Err(error) => ui.complain(&format!("cannot run `{line}`: {error}")),
                }
            }
        }
    }
}

#[cfg(unix)]
fn shell(line: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", line]);
    command
}

#[cfg(not(unix))]
fn shell(line: &str) -> Command {
    let mut command = Command::new("cmd");
    command.args(["/C", line]);
    command
}
