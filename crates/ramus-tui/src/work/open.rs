//! A session file into a chapter, and the chapters before it.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use ramus_app::Workspace;
use ramus_core::history::History;
use ramus_core::resume::Rule;
use ramus_core::session::NodeId;
use ramus_render::{Label, Line};
use ramus_store::trace::trace;

use crate::event::{Chapter, Event, OpenRequest, Opened, Opening};
use crate::panes::transcript::{Part, Stage};
use crate::work::Desk;
use crate::work::agents::agents;

pub(crate) fn desk(events: Sender<Event>, workspace: Arc<Workspace>) -> Desk<OpenRequest> {
    Desk::open(events, move |request: OpenRequest, _, events| {
        let _ = events.send(open(request, &workspace));
    })
}

/// Reads what is to be opened.
pub(crate) fn open(request: OpenRequest, workspace: &Workspace) -> Event {
    let OpenRequest { file, files, project, target, opening } = request;
    match workspace.index().read(&file.path) {
        Ok(session) => {
            let history = Arc::new(History::new(session, workspace.rule()));
            let chapter = Arc::new(Chapter::new(file, files, project, history));
            let agents = match opening {
                Opening::Here { .. } => agents(&chapter),
                _ => Vec::new(),
            };
            Event::Opened(Box::new(Opened { chapter, target, opening, agents }))
        }
        Err(error) => {
            let cause = error.source.to_string();
            Event::Said(Line::new(&format!("{error}: {cause}"), Label::Error))
        }
    }
}

/// Finds where the conversation with a root began in other sessions (R13).
pub(crate) fn earlier_desk(events: Sender<Event>, rule: Rule) -> Desk<(Arc<Chapter>, NodeId)> {
    Desk::open(events, move |(chapter, root): (Arc<Chapter>, NodeId), _, events| {
        let history = chapter.history.clone();
        let Some(path) = history.path_to(root) else { return };
        let Ok(mut parts) = trace(&chapter.files, chapter.file.clone(), history, path, rule) else {
            return;
        };
        // The last one is what is read already.
        parts.pop();
        let stage = |part: ramus_store::trace::Part| Stage {
            path: Arc::new(part.path),
            chapter: Arc::new(Chapter::new(
                part.file,
                chapter.files.clone(),
                chapter.project.clone(),
                part.history,
            )),
            part: Part::Earlier,
            id: 0,
            agents: Vec::new(),
        };
        let stages = parts.into_iter().map(stage).collect();
        let file = chapter.file.path.clone();
        let _ = events.send(Event::Earlier { file, root, stages });
    })
}
