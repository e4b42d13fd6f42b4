//! Two conversations compared, and other long texts about them.

use std::sync::mpsc::Sender;

use ramus_core::compare::{Stretch, common, files};
use ramus_core::history::History;
use ramus_core::resume::Rule;
use ramus_render::compare::{CompareConfig, Compared, Named, compare};
use ramus_render::{Label, Line};
use ramus_store::PathError;
use ramus_store::compare::side;
use ramus_store::trace::{Part, trace};

use crate::event::{Event, Side};
use crate::state::Clock;
use crate::work::Desk;

/// How many columns two texts need to stand beside each other.
const WIDE: u16 = 120;

pub(crate) fn desk(events: Sender<Event>, rule: Rule, clock: Clock) -> Desk<([Side; 2], u16)> {
    Desk::open(events, move |(sides, width): ([Side; 2], u16), _, events| {
        let event = match compared(&sides, width, rule, &clock) {
            Ok(lines) => {
                let [a, b] = sides.each_ref().map(Side::address);
                Event::Page(Line::new(&format!("{a} and {b}"), Label::Heading), lines)
            }
            Err(error) => Event::Said(Line::new(&error.to_string(), Label::Error)),
        };
        let _ = events.send(event);
    })
}

fn compared(
    sides: &[Side; 2],
    width: u16,
    rule: Rule,
    clock: &Clock,
) -> Result<Vec<Line>, PathError> {
    let [a, b] = [sides[0].parts(rule)?, sides[1].parts(rule)?];
    let shared = common(&stretches(&a), &stretches(&b));
    let read = [side(&a, &shared, 0)?, side(&b, &shared, 1)?];
    let files = files(&read[0], &read[1]);
    let names = sides.each_ref().map(Side::named);
    let cwd = sides[0].chapter.history.session.facts().cwd.as_deref().unwrap_or_default();
    let config = CompareConfig {
        width: usize::from(width),
        side_by_side: width >= WIDE,
        full: false,
        cwd,
        time: &|time| clock.short(time),
    };
    let compared = Compared {
        common: &shared,
        names: [&names[0], &names[1]],
        sides: [&read[0], &read[1]],
        files: &files,
    };
    Ok(compare(&compared, &config))
}

fn stretches(parts: &[Part]) -> Vec<Stretch<'_>> {
    parts.iter().map(|part| Stretch { history: &part.history, path: &part.path }).collect()
}

impl Side {
    pub(crate) fn address(&self) -> String {
        format!("{}@{}", self.chapter.short_id(), self.conversation)
    }

    fn parts(&self, rule: Rule) -> Result<Vec<Part>, PathError> {
        let history: History = self.chapter.history.clone();
        let Some(path) = self.of(&history).map(|conversation| history.path(conversation)) else {
            return Ok(Vec::new());
        };
        trace(&self.chapter.files, self.chapter.file.clone(), history, path, rule)
    }

    fn of<'h>(&self, history: &'h History) -> Option<&'h ramus_core::branches::Conversation> {
        history.branches.conversations.iter().find(|found| found.n == self.conversation)
    }

    /// What to call it: the session's title says little about a branch that was left.
    fn named(&self) -> Named {
        let history = &self.chapter.history;
        let conversation = self.of(history);
        let first = conversation.and_then(|conversation| history.first_prompt(conversation));
        let words = first.and_then(|prompt| history.session.words(prompt));
        let title = match conversation {
            Some(conversation) if !conversation.resumes => words.or(history.given_title()),
            _ => history.given_title().or(words),
        };
        Named {
            address: self.address(),
            status: conversation.map_or("", |conversation| conversation.status.word()).to_owned(),
            title: title.map(str::to_owned),
        }
    }
}
