//! Plans a repaired copy of a session, or the end of an incomplete last line.

use std::path::Path;

use ramus_core::defect::DefectKind;
use ramus_core::edit::{self, Addition, Fixed, Misnamed, Thinking, Writer, reattached};
use ramus_core::session::NodeId;
use ramus_core::time::Time;
use rustc_hash::FxHashSet;

use super::fork::{agents, bodies, links, origin, session_of, sources};
use super::session::append;
use super::{Content, Plan, PlanError, Step, Subject, What, new_id};
use crate::error::PathError;
use crate::trace::Part;

/// Plans a copy of a conversation without what prevents resuming it. `None`: nothing does.
pub fn fix(
    subject: Subject<'_>,
    parts: &[Part],
    misnamed: &Misnamed,
    title: &str,
    thinking: Thinking,
    now: Time,
) -> Result<Option<(Plan, Fixed)>, PlanError> {
    let parts: Vec<&Part> = parts.iter().collect();
    let sessions: Vec<String> = parts.iter().map(|part| session_of(part)).collect();
    let mut origins = Vec::new();
    let mut lost = 0;
    for (part, session) in parts.iter().zip(&sessions) {
        let mut origin = origin(part, session)?;
        // Only the oldest part can lack its beginning. The others are linked to the part before them.
        if origins.is_empty() {
            (origin.nodes, lost) = reattached(&part.history, &part.path);
        }
        origins.push(origin);
    }
    let id = new_id();
    let mut next = new_id;
    let mut writer = Writer { session: &id, now, new_id: &mut next };
    let mut problem = None;
    let fixed = {
        let mut bodies = bodies(&parts, &mut problem)?;
        edit::fix(&origins, lost, misnamed, title, thinking, &mut writer, &mut bodies)
    };
    if let Some(problem) = problem {
        return Err(problem.into());
    }
    let Some(mut fixed) = fixed? else { return Ok(None) };
    let mut steps = Vec::new();
    for ((part, origin), session) in parts.iter().zip(&origins).zip(&sessions) {
        let kept: FxHashSet<NodeId> = origin.nodes.iter().copied().collect();
        steps.extend(agents(subject, part, &kept, subject.dir, &id)?);
        steps.extend(links(subject, session, subject.dir, &id)?);
    }
    let file = subject.dir.join(format!("{id}.jsonl"));
    let lines = std::mem::take(&mut fixed.new.lines);
    let content = Content::Lines { sources: sources(&parts)?, lines };
    steps.push(Step::Make { file: file.clone(), content });
    let plan = Plan {
        what: What::Fix,
        session: id,
        file,
        root: subject.root.map(Path::to_owned),
        words: fix_words(&subject.file.id),
        steps,
        resume: Some(fixed.new.resume),
        left_out: 0,
        unreported: 0,
        undoes: None,
    };
    Ok(Some((plan, fixed)))
}

/// Plans to end an incomplete last line, so that the next record begins on a new line. `None`: it is complete.
pub fn end_line(subject: Subject<'_>) -> Result<Option<Plan>, PathError> {
    let torn = subject.history.session.torn();
    if torn.is_none_or(|defect| defect.kind != DefectKind::Torn) {
        return Ok(None);
    }
    let nothing = Addition { bytes: Vec::new(), resume: None };
    append(subject, What::Fix, nothing, "ends a line that broke off".to_owned()).map(Some)
}

/// Returns the log text for a repaired copy.
pub fn fix_words(session: &str) -> String {
    format!("of {session}")
}
