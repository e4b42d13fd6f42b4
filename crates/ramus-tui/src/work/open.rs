//! A session file into a chapter, and the chapters before it.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use ramus_app::Workspace;
use ramus_core::history::History;
use ramus_core::resume::ResumeRule;
use ramus_core::session::NodeId;
use ramus_render::{Label, Line};
use ramus_store::trace::trace_path;

use crate::event::{Chapter, OpenMode, OpenRequest, OpenedChapter, ScreenEvent};
use crate::panes::transcript::{StageRole, TranscriptStage};
use crate::work::LatestWorker;
use crate::work::agents::list_agents;

pub(crate) fn start_open_worker(
    events: Sender<ScreenEvent>,
    workspace: Arc<Workspace>,
) -> LatestWorker<OpenRequest> {
    LatestWorker::start_worker(events, move |request: OpenRequest, _, events| {
        let _ = events.send(open_session(request, &workspace));
    })
}

/// Reads a session to open.
pub(crate) fn open_session(request: OpenRequest, workspace: &Workspace) -> ScreenEvent {
    let OpenRequest { file, files, project, target, opening } = request;
    match workspace.session_cache().read_session(&file.path) {
        Ok(session) => {
            let history = Arc::new(History::new(session, workspace.resume_rule()));
            let chapter = Arc::new(Chapter::new(file, files, project, history));
            let agents = match opening {
                OpenMode::Here { .. } => list_agents(&chapter),
                _ => Vec::new(),
            };
            ScreenEvent::Opened(Box::new(OpenedChapter { chapter, target, opening, agents }))
        }
        Err(error) => {
            let cause = error.source.to_string();
            ScreenEvent::Status(Line::new(&format!("{error}: {cause}"), Label::Error))
        }
    }
}

/// Finds where the conversation with a root began in other sessions (R13).
pub(crate) fn start_earlier_worker(
    events: Sender<ScreenEvent>,
    rule: ResumeRule,
) -> LatestWorker<(Arc<Chapter>, NodeId)> {
    LatestWorker::start_worker(events, move |(chapter, root): (Arc<Chapter>, NodeId), _, events| {
        let history = chapter.history.clone();
        let Some(path) = history.path_to(root) else { return };
        let Ok(mut parts) = trace_path(&chapter.files, chapter.file.clone(), history, path, rule)
        else {
            return;
        };
        // The last one is already open.
        parts.pop();
        let stage = |part: ramus_store::trace::LinkedPathPart| TranscriptStage {
            path: Arc::new(part.path),
            chapter: Arc::new(Chapter::new(
                part.file,
                chapter.files.clone(),
                chapter.project.clone(),
                part.history,
            )),
            part: StageRole::Earlier,
            id: 0,
            agents: Vec::new(),
        };
        let stages = parts.into_iter().map(stage).collect();
        let file = chapter.file.path.clone();
        let _ = events.send(ScreenEvent::Earlier { file, root, stages });
    })
}
