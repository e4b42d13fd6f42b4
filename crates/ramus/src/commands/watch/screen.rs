//! News as lines for people, or as objects for scripts.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use ramus_core::live::{News, Spending, Told};
use ramus_core::name::short_id;
use ramus_core::turn::{Part, Thought, TurnKind};
use ramus_render::highlight::Highlight;
use ramus_render::json::{Answer, Watched, watched_change, watched_news, watched_note};
use ramus_render::layout::truncate;
use ramus_render::text::TextConfig;
use ramus_render::text::live;
use ramus_render::{Label, Line};
use serde_json::{Value, json};

use super::lanes::{Item, Lane, Lanes};
use super::only::{Kind, Only};
use crate::env::Clock;
use crate::error::CommandError;
use crate::project::project_name;
use crate::ui::Ui;

pub(super) struct Screen {
    clock: Clock,
    only: Only,
    full: bool,
    /// The directories where sessions are looked for.
    place: String,
    /// Files whose names were told.
    introduced: HashSet<PathBuf>,
    /// It was said how to see what the model thinks.
    hinted: bool,
}

impl Screen {
    pub(super) fn new(clock: Clock, only: Only, full: bool, place: String) -> Self {
        Self { clock, only, full, place, introduced: HashSet::new(), hinted: false }
    }

    pub(super) fn show(
        &mut self,
        ui: &mut Ui,
        item: &Item,
        lanes: &Lanes,
    ) -> Result<(), CommandError> {
        if ui.json {
            return self.write(ui, item, lanes);
        }
        match item {
            Item::News { path, news } => self.news(ui, path, news, lanes),
            // It is introduced when it says something, if that is shown.
            Item::File { event: "found", .. } if !self.only.names(Kind::Files) => Ok(()),
            Item::File { event, path, file, from } if self.only.wants(Kind::Files) => {
                let text = match (*event, from) {
                    ("rewritten", _) => "the file was rewritten, and is read anew".to_owned(),
                    ("found", _) => "a new session".to_owned(),
                    ("gone", _) => "the file was deleted".to_owned(),
                    (_, Some(from)) => {
                        format!("moved from {} to {}", from.display(), file.path.display())
                    }
                    (other, None) => other.to_owned(),
                };
                let tag = short(&file.id);
                let colour = lanes.lane(path).map_or(0, |lane| lane.colour);
                let lane = live::Lane { tag: Some(tag), colour, agent: None };
                let mut line = Line::new(&text, Label::Note);
                if from.is_none() {
                    line.push(&format!("  {}", file.relative), Label::Dim);
                }
                self.remark(ui, &line, &lane)
            }
            Item::File { .. } => Ok(()),
            Item::Ready { sessions } => {
                let s = if *sessions == 1 { "" } else { "s" };
                let text = match sessions {
                    0 => format!("nothing to watch yet in {}; waiting", self.place),
                    _ => format!("watching {sessions} session file{s}"),
                };
                ui.say(&Line::new(&format!("{text}; Ctrl-C ends"), Label::Dim));
                Ok(())
            }
            Item::Polling(why) => {
                ui.complain(&format!(
                    "the system does not tell of changes ({why}); looking twice a second instead"
                ));
                Ok(())
            }
            Item::Problem(problem) => {
                ui.clear_status()?;
                ui.complain(&format!("{problem}: {}", problem.source));
                Ok(())
            }
        }
    }

    fn news(
        &mut self,
        ui: &mut Ui,
        path: &Path,
        news: &News,
        lanes: &Lanes,
    ) -> Result<(), CommandError> {
        let Some(lane) = lanes.lane(path) else { return Ok(()) };
        let Some(told) = self.only.of(&news.told) else { return Ok(()) };
        let withheld = !self.hinted && is_withheld(&told);
        let clock = self.clock.clone();
        let time = |time| clock.seconds(time);
        let config =
            config(ui.width, self.full, ui.highlight(), lane.live.cwd().unwrap_or_default(), &time);
        let whose = whose(lane, lanes, news.sidechain);
        let lines = live::lines(&News { told, ..news.clone() }, &whose, &config);
        if lines.is_empty() {
            return Ok(());
        }
        let is_new = self.introduce(ui, path, lane, lanes)?;
        if is_new && matches!(news.told, Told::Title(_)) {
            return Ok(());
        }
        for line in &lines {
            ui.line(line)?;
        }
        if withheld {
            self.hinted = true;
            let hint = "the client keeps no text of what the model thinks; with \"showThinkingSummaries\": true in its settings.json it keeps summaries";
            self.remark(ui, &Line::new(hint, Label::Note), &whose)?;
        }
        Ok(())
    }

    /// Says once who speaks; `false`: it was said before.
    fn introduce(
        &mut self,
        ui: &mut Ui,
        path: &Path,
        lane: &Lane,
        lanes: &Lanes,
    ) -> Result<bool, CommandError> {
        if self.introduced.contains(path) {
            return Ok(false);
        }
        self.introduced.insert(path.to_owned());
        let is_agent = lane.agent.is_some();
        if is_agent && !self.only.wants(Kind::Agents) {
            return Ok(true);
        }
        let mut line = Line::default();
        let title = first_line(lane.live.title().unwrap_or("a session without a name"));
        if let Some(agent) = &lane.agent {
            line.push(&format!("agent-{} ", lane.file.id), Label::Id);
            line.push(agent.task.as_ref().unwrap_or(&title), Label::Note);
        } else {
            if lanes.is_one() {
                line.push(&format!("{} ", lane.file.id), Label::Id);
            }
            let name = project_name(lane.live.cwd(), lane.project());
            line.push(&format!("{name} "), Label::Dim);
            line.push(&title, Label::Strong);
        }
        let whose = whose(lane, lanes, false);
        self.remark(ui, &truncate(&line, ui.width.saturating_sub(24).max(40)), &whose)?;
        Ok(true)
    }

    fn remark(&self, ui: &mut Ui, line: &Line, lane: &live::Lane<'_>) -> Result<(), CommandError> {
        for line in live::remark(line, lane, ui.width) {
            ui.line(&line)?;
        }
        Ok(())
    }

    fn write(&self, ui: &mut Ui, item: &Item, lanes: &Lanes) -> Result<(), CommandError> {
        let watched = match item {
            Item::News { path, news } => {
                let Some(lane) = lanes.lane(path) else { return Ok(()) };
                let Some(told) = self.only.of(&news.told) else { return Ok(()) };
                let agent = lane.agent.is_some().then(|| lane.file.id.clone());
                Watched {
                    session: Some(lane.session().to_owned()),
                    agent,
                    project: Some(lane.project().to_owned()),
                    file: Some(lane.file.relative.clone()),
                    ..watched_news(&News { told, ..news.clone() })
                }
            }
            Item::File { event, file, from, .. } => {
                if !self.only.wants(Kind::Files) {
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
            Item::Ready { sessions } => watched_change("ready", json!({"sessions": sessions})),
            Item::Polling(why) => watched_note("polling", Some(why.clone())),
            Item::Problem(problem) => {
                watched_note("problem", Some(format!("{problem}: {}", problem.source)))
            }
        };
        ui.json(&Answer::new("ramus.watch/1", watched))
    }

    /// Shows on the last line what is running, and what was spent.
    pub(super) fn status(&self, ui: &mut Ui, lanes: &Lanes) -> Result<(), CommandError> {
        if ui.json || !ui.terminal {
            return Ok(());
        }
        let now = Clock::new();
        let mut line = Line::default();
        let heard = lanes.heard();
        for lane in &heard {
            let time = |time| now.seconds(time);
            let config =
                config(48, false, Highlight::Off, lane.live.cwd().unwrap_or_default(), &time);
            for (call, since) in lane.live.running() {
                if line.width() > ui.width / 2 {
                    break;
                }
                line.push("► ", Label::Lane(lane.colour));
                let running = live::running(call, &config);
                line.append(&truncate(&running, 40));
                let millis =
                    since.map(|since| now.now().timestamp().as_millisecond() - since.millis());
                if let Some(millis) = millis.and_then(|millis| u64::try_from(millis).ok()) {
                    line.push(&format!(" {}", live::duration(millis / 1000 * 1000)), Label::Time);
                }
                line.push("  ", Label::Plain);
            }
        }
        if !heard.is_empty() {
            line.push(&live::spent(&total(lanes)), Label::Dim);
        }
        if !line.is_empty() {
            ui.status(&line)?;
        }
        Ok(())
    }

    /// Says what was seen.
    pub(super) fn end(&self, ui: &mut Ui, lanes: &Lanes) -> Result<(), CommandError> {
        ui.clear_status()?;
        if ui.terminal && !ui.json && !lanes.heard().is_empty() {
            let text = format!("watched {}", live::spent(&total(lanes)));
            ui.line(&Line::new(&text, Label::Dim))?;
        }
        Ok(())
    }
}

fn config<'a>(
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
        time,
    }
}

fn whose<'a>(lane: &'a Lane, lanes: &Lanes, sidechain: bool) -> live::Lane<'a> {
    let session = lanes.colour_of(lane.session()).unwrap_or(lane.colour);
    let agent = match &lane.agent {
        Some(agent) => Some((agent.name.as_str(), lane.colour)),
        None => sidechain.then_some(("agent", lane.colour.wrapping_add(1))),
    };
    let tag = (!lanes.is_one()).then(|| short(lane.session()));
    live::Lane { tag, colour: session, agent }
}

fn total(lanes: &Lanes) -> Spending {
    let mut total = Spending::default();
    for lane in lanes.heard() {
        let spent = lane.live.spent();
        total.messages += spent.messages;
        total.tokens = total.tokens.saturating_add(spent.tokens);
        total.cost += spent.cost;
        total.unpriced |= spent.unpriced;
    }
    total
}

fn is_withheld(told: &Told) -> bool {
    let Told::Turn(TurnKind::Answer(answer)) = told else { return false };
    answer.parts.iter().any(|part| matches!(part, Part::Thinking(Thought::Withheld { .. })))
}

fn short(id: &str) -> &str {
    short_id(id)
}

fn first_line(text: &str) -> String {
    text.trim().lines().next().unwrap_or_default().to_owned()
}
