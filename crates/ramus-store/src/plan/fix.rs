//! Plans a repaired copy of a session, or the end of an incomplete last line.

use std::path::Path;

use ramus_core::defect::DefectKind;
use ramus_core::edit::{
    self, AppendedLines, EditContext, RepairedSession, ThinkingPolicy, WrongIds, reattached_nodes,
};
use ramus_core::session::NodeId;
use ramus_core::time::Time;
use rustc_hash::FxHashSet;

use super::fork::{
    plan_agent_copies, plan_links, read_origin, record_body_reader, session_id_of, stamp_sources,
};
use super::session::plan_append;
use super::{NewContent, OperationKind, PlanError, PlanStep, SessionContext, WritePlan, new_id};
use crate::error::PathError;
use crate::trace::LinkedPathPart;

/// Plans a copy of a conversation without what prevents resuming it. `None`: nothing does.
pub fn plan_fix(
    subject: SessionContext<'_>,
    parts: &[LinkedPathPart],
    misnamed: &WrongIds,
    title: &str,
    thinking: ThinkingPolicy,
    now: Time,
) -> Result<Option<(WritePlan, RepairedSession)>, PlanError> {
    let parts: Vec<&LinkedPathPart> = parts.iter().collect();
    let sessions: Vec<String> = parts.iter().map(|part| session_id_of(part)).collect();
    let mut origins = Vec::new();
    let mut lost = 0;
    for (part, session) in parts.iter().zip(&sessions) {
        let mut origin = read_origin(part, session)?;
        // Only the oldest part can lack its beginning. The others are linked to the part before them.
        if origins.is_empty() {
            (origin.nodes, lost) = reattached_nodes(&part.history, &part.path);
        }
        origins.push(origin);
    }
    let id = new_id();
    let mut next = new_id;
    let mut writer = EditContext { session: &id, now, new_id: &mut next };
    let mut problem = None;
    let fixed = {
        let mut bodies = record_body_reader(&parts, &mut problem)?;
        edit::plan_repair(&origins, lost, misnamed, title, thinking, &mut writer, &mut bodies)
    };
    if let Some(problem) = problem {
        return Err(problem.into());
    }
    let Some(mut fixed) = fixed? else { return Ok(None) };
    let mut steps = Vec::new();
    for ((part, origin), session) in parts.iter().zip(&origins).zip(&sessions) {
        let kept: FxHashSet<NodeId> = origin.nodes.iter().copied().collect();
        steps.extend(plan_agent_copies(
            subject,
            part,
            &|node| kept.contains(&node),
            subject.dir,
            &id,
        )?);
        steps.extend(plan_links(subject, session, subject.dir, &id)?);
    }
    let file = subject.dir.join(format!("{id}.jsonl"));
    let lines = std::mem::take(&mut fixed.new.lines);
    let content = NewContent::Lines { sources: stamp_sources(&parts)?, lines };
    steps.push(PlanStep::CreateFile { file: file.clone(), content });
    let plan = WritePlan {
        what: OperationKind::Fix,
        session: id,
        file,
        root: subject.root.map(Path::to_owned),
        words: fix_summary(&subject.file.id),
        steps,
        resume: Some(fixed.new.resume),
        left_out: 0,
        unreported: 0,
        undoes: None,
    };
    Ok(Some((plan, fixed)))
}

/// Plans to end an incomplete last line, so that the next record begins on a new line. `None`: it is complete.
pub fn plan_line_end(subject: SessionContext<'_>) -> Result<Option<WritePlan>, PathError> {
    let torn = subject.history.session.torn_line_defect();
    if torn.is_none_or(|defect| defect.kind != DefectKind::Torn) {
        return Ok(None);
    }
    let nothing = AppendedLines { bytes: Vec::new(), resume: None };
    plan_append(subject, OperationKind::Fix, nothing, "ends an incomplete line".to_owned())
        .map(Some)
}

/// Returns the log text for a repaired copy.
pub fn fix_summary(session: &str) -> String {
    format!("of {session}")
}
