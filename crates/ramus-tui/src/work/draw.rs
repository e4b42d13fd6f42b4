//! The tree of a session as rows and lines.

use std::sync::mpsc::Sender;

use ramus_core::agent::AgentEntry;
use ramus_core::body::RecordBody;
use ramus_core::resume::ResumeRule;
use ramus_render::outline::{
    OutlineConfig, TreeOutline, draw_rows, drawing_legend, fill_reply_words,
};
use ramus_store::RecordReader;
use ramus_store::file_reverts::find_reverts;

use crate::event::ScreenEvent;
use crate::panes::tree::{TreeDrawing, TreeRequest};
use crate::state::ScreenClock;
use crate::work::LatestWorker;

pub(crate) fn start_tree_worker(
    events: Sender<ScreenEvent>,
    clock: ScreenClock,
    rule: ResumeRule,
) -> LatestWorker<TreeRequest> {
    LatestWorker::start_worker(events, move |wanted: TreeRequest, _, events| {
        let _ = events.send(ScreenEvent::Drawn(Box::new(draw_tree(wanted, &clock, rule))));
    })
}

pub(crate) fn draw_tree(wanted: TreeRequest, clock: &ScreenClock, rule: ResumeRule) -> TreeDrawing {
    let TreeRequest { chapter, agents, short_ids, width } = wanted;
    let history = &chapter.history;
    let lane = |agent: &crate::event::AgentInfo| AgentEntry {
        node: agent.call,
        id: agent.id.clone(),
        short_id: short_ids.shorten_id(&agent.id).to_owned(),
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
        reverts: find_reverts(&[], &chapter.files, &chapter.file, history, rule),
        // On narrow screens the words matter more than the time.
        time: &|time| if width < 80 { clock.short_time(time) } else { clock.message_time(time) },
    };
    let mut outline = TreeOutline::new(history, &config);
    let mut bodies = RecordReader::open(&chapter.file.path).ok();
    fill_reply_words(history, &mut outline.rows, &mut |node| {
        let bytes = bodies.as_mut()?.read_record(history.session.record(node).span).ok()?;
        RecordBody::parse(&bytes).ok()
    });
    let lines = draw_rows(&outline.rows, &config);
    let legend = drawing_legend(&lines);
    TreeDrawing { file: chapter.file.path.clone(), outline, lines, legend }
}
