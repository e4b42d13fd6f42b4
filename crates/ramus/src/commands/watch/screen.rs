//! Prints live events as lines for people, or as objects for scripts.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use ramus_core::live::{LiveEvent, LiveEventKind, Spending};
use ramus_core::turn::{ReplyPart, Thought, TurnKind};
use ramus_render::highlight::Highlight;
use ramus_render::json::{
    Answer, AnswerScope, Watched, watched_change, watched_news, watched_note,
};
use ramus_render::layout::truncate_line;
use ramus_render::text::TextConfig;
use ramus_render::text::live;
use ramus_render::{Label, Line};
use serde_json::{Value, json};

use super::event_kinds::{WatchKind, WatchKinds};
use super::watched_files::{WatchItem, WatchedFile, WatchedFiles};
use crate::env::LocalClock;
use crate::error::CommandError;
use crate::project::project_name;
use crate::ui::Ui;

pub(super) struct WatchScreen {
    clock: LocalClock,
    kinds: WatchKinds,
    full: bool,
    /// The directories that are watched for sessions.
    place: String,
    /// Files whose titles were printed.
    introduced: HashSet<PathBuf>,
    /// The hint about thinking summaries was printed.
    hinted: bool,
    /// What is watched, for programs.
    scope: Option<AnswerScope>,
}

impl WatchScreen {
    pub(super) fn new(clock: LocalClock, kinds: WatchKinds, full: bool, place: String) -> Self {
        Self { clock, kinds, full, place, introduced: HashSet::new(), hinted: false, scope: None }
    }

    /// Prints the `ready` event for programs.
    pub(super) fn with_scope(self, scope: Option<AnswerScope>) -> Self {
        Self { scope, ..self }
    }

    pub(super) fn show_item(
        &mut self,
        ui: &mut Ui,
        item: &WatchItem,
        lanes: &WatchedFiles,
    ) -> Result<(), CommandError> {
        if ui.json {
            return self.write_json(ui, item, lanes);
        }
        match item {
            WatchItem::Live { path, event: news } => self.show_event(ui, path, news, lanes),
            // The session is announced with its first visible event.
            WatchItem::File { event: "found", .. } if !self.kinds.names_kind(WatchKind::Files) => {
                Ok(())
            }
            WatchItem::File { event, path, file, from }
                if self.kinds.wants_kind(WatchKind::Files) =>
            {
                let text = match (*event, from) {
                    ("rewritten", _) => "the file was rewritten; reading it again".to_owned(),
                    ("found", _) => "new session".to_owned(),
                    ("gone", _) => "the file was deleted".to_owned(),
                    (_, Some(from)) => {
                        format!("moved from {} to {}", from.display(), file.path.display())
                    }
                    (other, None) => other.to_owned(),
                };
                let tag = lanes.shorten_id(&file.id);
                let colour = lanes.file_at(path).map_or(0, |lane| lane.colour);
                let lane = live::LineOwner { tag: Some(tag), colour, agent: None };
                let mut line = Line::new(&text, Label::Note);
                if from.is_none() {
                    line.push(&format!("  {}", file.relative), Label::Dim);
                }
                self.print_remark(ui, &line, &lane)
            }
            WatchItem::File { .. } => Ok(()),
            WatchItem::Ready { sessions } => {
                let s = if *sessions == 1 { "" } else { "s" };
                let text = match sessions {
                    0 => format!("nothing to watch yet in {}; waiting", self.place),
                    _ => format!("watching {sessions} session file{s}"),
                };
                ui.print_message(&Line::new(&format!("{text}; press Ctrl-C to stop"), Label::Dim));
                Ok(())
            }
            WatchItem::Polling(why) => {
                ui.print_warning(&format!(
                    "file notifications are not available ({why}); polling twice a second"
                ));
                Ok(())
            }
            WatchItem::Problem(problem) => {
                ui.clear_status()?;
                ui.print_warning(&format!("{problem}: {}", problem.source));
                Ok(())
            }
        }
    }

    fn show_event(
        &mut self,
        ui: &mut Ui,
        path: &Path,
        news: &LiveEvent,
        lanes: &WatchedFiles,
    ) -> Result<(), CommandError> {
        let Some(lane) = lanes.file_at(path) else { return Ok(()) };
        let Some(shown) = self.kinds.filter_event(&news.kind) else { return Ok(()) };
        let withheld = !self.hinted && is_withheld(&shown);
        let clock = self.clock.clone();
        let time = |time| clock.time_with_seconds(time);
        let config = text_config(
            ui.width,
            self.full,
            ui.highlight_mode(),
            lane.live.cwd().unwrap_or_default(),
            &time,
        );
        let whose = speaker_of(lane, lanes, news.sidechain);
        let lines = live::event_lines(&LiveEvent { kind: shown, ..news.clone() }, &whose, &config);
        if lines.is_empty() {
            return Ok(());
        }
        let is_new = self.introduce_file(ui, path, lane, lanes)?;
        if is_new && matches!(news.kind, LiveEventKind::Title(_)) {
            return Ok(());
        }
        for line in &lines {
            ui.print_line(line)?;
        }
        if withheld {
            self.hinted = true;
            let hint = "Claude Code doesn't store thinking; set \"showThinkingSummaries\": true in its settings.json to store summaries";
            self.print_remark(ui, &Line::new(hint, Label::Note), &whose)?;
        }
        Ok(())
    }

    /// Prints the session's heading once. `false` if it was printed before.
    fn introduce_file(
        &mut self,
        ui: &mut Ui,
        path: &Path,
        lane: &WatchedFile,
        lanes: &WatchedFiles,
    ) -> Result<bool, CommandError> {
        if self.introduced.contains(path) {
            return Ok(false);
        }
        self.introduced.insert(path.to_owned());
        let is_agent = lane.agent.is_some();
        if is_agent && !self.kinds.wants_kind(WatchKind::Agents) {
            return Ok(true);
        }
        let mut line = Line::default();
        let title = first_line(lane.live.title().unwrap_or("untitled session"));
        if let Some(agent) = &lane.agent {
            line.push(&format!("agent-{} ", lane.file.id), Label::Id);
            line.push(agent.task.as_ref().unwrap_or(&title), Label::Note);
        } else {
            if lanes.is_one() {
                line.push(&format!("{} ", lane.file.id), Label::Id);
            }
            let name = project_name(lane.live.cwd(), lane.project_name());
            line.push(&format!("{name} "), Label::Dim);
            line.push(&title, Label::Strong);
        }
        let whose = speaker_of(lane, lanes, false);
        self.print_remark(ui, &truncate_line(&line, ui.width.saturating_sub(24).max(40)), &whose)?;
        Ok(true)
    }

    fn print_remark(
        &self,
        ui: &mut Ui,
        line: &Line,
        lane: &live::LineOwner<'_>,
    ) -> Result<(), CommandError> {
        for line in live::remark_lines(line, lane, ui.width) {
            ui.print_line(&line)?;
        }
        Ok(())
    }

    fn write_json(
        &self,
        ui: &mut Ui,
        item: &WatchItem,
        lanes: &WatchedFiles,
    ) -> Result<(), CommandError> {
        let watched = match item {
            WatchItem::Live { path, event: news } => {
                let Some(lane) = lanes.file_at(path) else { return Ok(()) };
                let Some(shown) = self.kinds.filter_event(&news.kind) else { return Ok(()) };
                let agent = lane.agent.is_some().then(|| lane.file.id.clone());
                Watched {
                    session: Some(lane.session_id().to_owned()),
                    agent,
                    project: Some(lane.project_name().to_owned()),
                    file: Some(lane.file.relative.clone()),
                    ..watched_news(&LiveEvent { kind: shown, ..news.clone() })
                }
            }
            WatchItem::File { event, file, from, .. } => {
                if !self.kinds.wants_kind(WatchKind::Files) {
                    return Ok(());
                }
                let from = from.as_ref().map(|from| from.to_string_lossy());
                let detail = from.map_or(Value::Null, |from| json!({"from": from}));
                Watched {
                    session: Some(file.id.clone()).filter(|_| !file.role.is_agent()),
                    agent: Some(file.id.clone()).filter(|_| file.role.is_agent()),
                    project: file.relative.split('/').nth(1).map(str::to_owned),
                    file: Some(file.relative.clone()),
                    ..watched_change(event, detail)
                }
            }
            WatchItem::Ready { sessions } => watched_change("ready", json!({"sessions": sessions})),
            WatchItem::Polling(why) => watched_note("polling", Some(why.clone())),
            WatchItem::Problem(problem) => {
                watched_note("problem", Some(format!("{problem}: {}", problem.source)))
            }
        };
        let answer = Answer::new("ramus.watch/1", watched);
        match (item, &self.scope) {
            (WatchItem::Ready { .. }, Some(scope)) => {
                ui.print_json(&answer.with_scope(scope.clone()))
            }
            _ => ui.print_json(&answer),
        }
    }

    /// Shows running tool calls and spending on the last line.
    pub(super) fn show_status(
        &self,
        ui: &mut Ui,
        lanes: &WatchedFiles,
    ) -> Result<(), CommandError> {
        if ui.json || !ui.terminal {
            return Ok(());
        }
        let now = LocalClock::new();
        let mut line = Line::default();
        let heard = lanes.active_files();
        for lane in &heard {
            let time = |time| now.time_with_seconds(time);
            let config =
                text_config(48, false, Highlight::Off, lane.live.cwd().unwrap_or_default(), &time);
            for (call, since) in lane.live.running_calls() {
                if line.width() > ui.width / 2 {
                    break;
                }
                line.push("► ", Label::Speaker(lane.colour));
                let running = live::call_line(call, &config);
                line.append(&truncate_line(&running, 40));
                let millis = since
                    .map(|since| now.local_now().timestamp().as_millisecond() - since.as_millis());
                if let Some(millis) = millis.and_then(|millis| u64::try_from(millis).ok()) {
                    line.push(
                        &format!(" {}", live::duration_text(millis / 1000 * 1000)),
                        Label::Time,
                    );
                }
                line.push("  ", Label::Plain);
            }
        }
        if !heard.is_empty() {
            line.push(&live::spending_text(&total_spending(lanes)), Label::Dim);
        }
        if !line.is_empty() {
            ui.show_status(&line)?;
        }
        Ok(())
    }

    /// Prints a summary at the end.
    pub(super) fn print_summary(
        &self,
        ui: &mut Ui,
        lanes: &WatchedFiles,
    ) -> Result<(), CommandError> {
        ui.clear_status()?;
        if ui.terminal && !ui.json && !lanes.active_files().is_empty() {
            let text = format!("watched {}", live::spending_text(&total_spending(lanes)));
            ui.print_line(&Line::new(&text, Label::Dim))?;
        }
        Ok(())
    }
}

fn text_config<'a>(
    width: usize,
    full: bool,
    highlight: Highlight,
    cwd: &'a str,
    time: &'a dyn Fn(ramus_core::time::Time) -> String,
) -> TextConfig<'a> {
    TextConfig {
        width,
        thinking: true,
        tools: false,
        full,
        branch_notes: true,
        usage: None,
        highlight,
        show: "ramus show",
        cwd,
        running: &[],
        time,
    }
}

fn speaker_of<'a>(
    lane: &'a WatchedFile,
    lanes: &WatchedFiles,
    sidechain: bool,
) -> live::LineOwner<'a> {
    let session = lanes.colour_of(lane.session_id()).unwrap_or(lane.colour);
    let agent = match &lane.agent {
        Some(agent) => Some((agent.name.as_str(), lane.colour)),
        None => sidechain.then_some(("agent", lane.colour.wrapping_add(1))),
    };
    let tag = (!lanes.is_one()).then(|| lanes.shorten_id(lane.session_id()));
    live::LineOwner { tag, colour: session, agent }
}

fn total_spending(lanes: &WatchedFiles) -> Spending {
    let mut total = Spending::default();
    for lane in lanes.active_files() {
        let spent = lane.live.total_spending();
        total.messages += spent.messages;
        total.tokens = total.tokens.saturating_add(spent.tokens);
        total.cost += spent.cost;
        total.unpriced |= spent.unpriced;
    }
    total
}

fn is_withheld(shown: &LiveEventKind) -> bool {
    let LiveEventKind::Turn(TurnKind::Reply(answer)) = shown else { return false };
    answer.parts.iter().any(|part| matches!(part, ReplyPart::Thinking(Thought::Withheld { .. })))
}

fn first_line(text: &str) -> String {
    text.trim().lines().next().unwrap_or_default().to_owned()
}
