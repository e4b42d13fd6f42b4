//! The tree of a session as rows and lines.

use std::sync::mpsc::Sender;

use ramus_core::body::Body;
use ramus_core::resume::Rule;
use ramus_render::outline::{AgentLane, Outline, OutlineConfig, draw, legend, put_answers};
use ramus_store::Bodies;
use ramus_store::reverts::reverts;

use crate::event::Event;
use crate::panes::tree::{Drawing, Wanted};
use crate::state::Clock;
use crate::work::Desk;

pub(crate) fn desk(events: Sender<Event>, clock: Clock, rule: Rule) -> Desk<Wanted> {
    Desk::open(events, move |wanted: Wanted, _, events| {
        let _ = events.send(Event::Drawn(Box::new(drawing(wanted, &clock, rule))));
    })
}

pub(crate) fn drawing(wanted: Wanted, clock: &Clock, rule: Rule) -> Drawing {
    let Wanted { chapter, agents, width } = wanted;
    let history = &chapter.history;
    let lane = |agent: &crate::event::AgentInfo| AgentLane {
        node: agent.call,
        id: agent.id.clone(),
        label: agent.label.clone(),
        records: agent.records,
        depth: agent.depth,
    };
    let config = OutlineConfig {
        records: false,
        around: None,
        depth: 0,
        width: usize::from(width),
        // Those in the session's own file the outline finds itself.
        agents: agents.iter().filter(|agent| agent.file.is_some()).map(lane).collect(),
        reverts: reverts(&[], &chapter.files, &chapter.file, history, rule),
        // Where there is little room, the words matter more than the hour.
        time: &|time| if width < 80 { clock.short(time) } else { clock.message(time) },
    };
    let mut outline = Outline::new(history, &config);
    let mut bodies = Bodies::open(&chapter.file.path).ok();
    put_answers(history, &mut outline.rows, &mut |node| {
        let bytes = bodies.as_mut()?.bytes(history.session.record(node).span).ok()?;
        Body::parse(&bytes).ok()
    });
    let lines = draw(&outline.rows, &config);
    let legend = legend(&lines);
    Drawing { file: chapter.file.path.clone(), outline, lines, legend }
}
