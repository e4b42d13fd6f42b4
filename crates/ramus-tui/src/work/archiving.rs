//! Archives everything that is new, after asking.

use std::sync::mpsc::{Sender, channel};
use std::time::SystemTime;

use ramus_app::Workspace;
use ramus_app::archive::{ArchiveError, added_text};
use ramus_app::survey::time_from_system;
use ramus_render::table::bytes;
use ramus_render::{Label, Line};

use super::documents::{could_not, error_lines};
use crate::event::ScreenEvent;

/// Says what would be archived, asks, and archives it; returns what to show.
pub(crate) fn run_archiving(workspace: &Workspace, events: &Sender<ScreenEvent>) -> ScreenEvent {
    // Files are checked again: the plan is for their current state.
    workspace.request_refresh();
    archive_all(workspace, events).map_or_else(could_not, ScreenEvent::Status)
}

fn archive_all(workspace: &Workspace, events: &Sender<ScreenEvent>) -> Result<Line, Vec<Line>> {
    let now = time_from_system(SystemTime::now());
    let failed = |error: ArchiveError| error_lines(&error, None::<&str>);
    let Some(plan) = workspace.plan_archiving(now).map_err(failed)? else {
        return Ok(Line::new(
            "nothing archived: ramus was started with --no-archive",
            Label::Warning,
        ));
    };
    let plan_lines: Vec<Line> =
        plan.sentences(&bytes).iter().map(|text| Line::plain(text)).collect();
    if plan.files == 0 {
        return Ok(plan_lines.into_iter().next().unwrap_or_default());
    }
    let (answer, answered) = channel();
    let asked = ScreenEvent::Asked(plan_lines, "Archive them?".to_owned(), answer);
    if events.send(asked).is_err() || !answered.recv().unwrap_or(false) {
        return Ok(Line::plain("nothing archived"));
    }
    let _ = events.send(ScreenEvent::Status(Line::new("archiving …", Label::Dim)));
    let report = workspace.archive_everything(now).map_err(failed)?.unwrap_or_default();
    let left = workspace.count_unarchived_files(now).unwrap_or_default();
    let _ = events.send(ScreenEvent::Unarchived(left));
    Ok(Line::new(&added_text(report, &bytes), Label::Active))
}
