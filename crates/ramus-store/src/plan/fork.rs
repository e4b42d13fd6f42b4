//! Plans a new session with its agents, spilled outputs and file backups (R26).

use std::fs;
use std::path::{Path, PathBuf};

use ramus_core::body::RecordBody;
use ramus_core::edit::{self, CopySource, EditContext, ForkOptions, NewLine, NewSession, Splice};
use ramus_core::record::Record;
use ramus_core::session::NodeId;
use ramus_core::time::Time;
use rustc_hash::FxHashSet;

use super::{
    NewContent, OperationKind, PlanError, PlanStep, SessionContext, WritePlan, new_id, session,
    stamp_history,
};
use crate::agents::{find_spawning_calls, read_agents};
use crate::claude_dir::{FileRole, HistoryFile, list_nested_agents};
use crate::disk::is_missing;
use crate::error::PathError;
use crate::read::{RecordReader, read_session};
use crate::regular_file;
use crate::stamp::Stamp;
use crate::trace::LinkedPathPart;

/// Where a new session goes.
#[derive(Clone, Copy, Debug)]
pub struct ForkDestination<'a> {
    pub dir: &'a Path,
    /// The working directory of another project.
    pub cwd: Option<&'a str>,
    pub title: &'a str,
}

/// Plans a new session from the parts of a path, oldest part first.
///
/// The path must end with the message that the fork starts from.
pub fn plan_fork(
    subject: SessionContext<'_>,
    parts: &[LinkedPathPart],
    to: ForkDestination<'_>,
    now: Time,
) -> Result<(WritePlan, NewSession), PlanError> {
    fork_as(subject, parts, to, new_id(), &mut new_id, now)
}

/// Like [`plan_fork`], with the id of the new session and a source of ids for new records.
pub fn fork_as(
    subject: SessionContext<'_>,
    parts: &[LinkedPathPart],
    to: ForkDestination<'_>,
    id: String,
    new_id: &mut dyn FnMut() -> String,
    now: Time,
) -> Result<(WritePlan, NewSession), PlanError> {
    let sessions: Vec<String> = parts.iter().map(session_id_of).collect();
    let mut origins = Vec::new();
    for (part, session) in parts.iter().zip(&sessions) {
        origins.push(read_origin(part, session)?);
    }
    let mut writer = EditContext { session: &id, now, new_id };
    let request = ForkOptions { title: to.title, cwd: to.cwd };
    let mut new = edit::plan_fork(&origins, request, &mut writer)?;
    let mut steps = Vec::new();
    for (part, origin) in parts.iter().zip(&origins) {
        let kept: FxHashSet<NodeId> = origin.nodes.iter().copied().collect();
        steps.extend(plan_agent_copies(subject, part, &|node| kept.contains(&node), to.dir, &id)?);
    }
    let mut seen = FxHashSet::default();
    for session in sessions.iter().filter(|session| seen.insert(session.as_str())) {
        steps.extend(plan_links(subject, session, to.dir, &id)?);
    }
    let file = to.dir.join(format!("{id}.jsonl"));
    let sources = stamp_sources(&parts.iter().collect::<Vec<_>>())?;
    let content = NewContent::Lines { sources, lines: std::mem::take(&mut new.lines) };
    // The session file comes last, because with it the session exists.
    steps.push(PlanStep::CreateFile { file: file.clone(), content });
    let plan = WritePlan {
        what: OperationKind::Fork,
        session: id,
        file,
        root: subject.root.map(Path::to_owned),
        words: format!("of {} at {}", subject.short_id, subject.history.short_uuid(&new.leaf)),
        steps,
        resume: Some(new.resume),
        left_out: new.left_out,
        unreported: count_unreported(parts)?,
        undoes: None,
    };
    Ok((plan, new))
}

/// Counts the background agents that have not reported by the end of a path.
fn count_unreported(parts: &[LinkedPathPart]) -> Result<u32, PathError> {
    let Some(part) = parts.last() else { return Ok(0) };
    let Some(&end) = part.path.nodes.last() else { return Ok(0) };
    let end = edit::end_of_message(&part.history, end).unwrap_or(end);
    session::count_unreported_agents(&part.file.path, &part.history, end)
}

/// Returns the session that a part belongs to. For an agent's file that is the session that started it.
pub(super) fn session_id_of(part: &LinkedPathPart) -> String {
    let recorded = part.history.session.facts().session_ids.first();
    match part.file.role {
        FileRole::Session => part.file.id.clone(),
        _ => recorded.map_or_else(|| part.file.id.clone(), ToString::to_string),
    }
}

pub(super) fn read_origin<'a>(
    part: &'a LinkedPathPart,
    session: &'a str,
) -> Result<CopySource<'a>, PathError> {
    let mut bodies = RecordReader::open(&part.file.path)?;
    let mut problem = None;
    let mut body = |id: NodeId| match bodies.read_record(part.history.session.record(id).span) {
        Ok(bytes) => RecordBody::parse(&bytes).ok(),
        Err(error) => {
            problem = Some(error);
            None
        }
    };
    let origin = edit::copy_source(session, &part.history, &part.path, &mut body);
    problem.map_or(Ok(origin), Err)
}

/// Returns a function that reads record bodies by part and node. It stores a read error in `problem`.
pub(super) fn record_body_reader<'a>(
    parts: &'a [&'a LinkedPathPart],
    problem: &'a mut Option<PathError>,
) -> Result<impl FnMut(usize, NodeId) -> Option<RecordBody> + 'a, PathError> {
    let files = parts.iter().map(|part| RecordReader::open(&part.file.path));
    let mut files = files.collect::<Result<Vec<_>, _>>()?;
    Ok(move |part: usize, node: NodeId| {
        let span = parts[part].history.session.record(node).span;
        match files[part].read_record(span) {
            Ok(bytes) => RecordBody::parse(&bytes).ok(),
            Err(error) => {
                *problem = Some(error);
                None
            }
        }
    })
}

pub(super) fn stamp_sources(parts: &[&LinkedPathPart]) -> Result<Vec<(PathBuf, Stamp)>, PathError> {
    let stamped = |part: &&LinkedPathPart| {
        Ok((part.file.path.clone(), stamp_history(&part.file.path, &part.history)?))
    };
    parts.iter().map(stamped).collect()
}

/// Plans copies of the agents that the path started, and of the agents those started.
pub(super) fn plan_agent_copies(
    subject: SessionContext<'_>,
    part: &LinkedPathPart,
    is_copied: &dyn Fn(NodeId) -> bool,
    dir: &Path,
    id: &str,
) -> Result<Vec<PlanStep>, PathError> {
    // List them again: an agent that could not be read a moment ago would be missing in the copy.
    let session = &part.file.id;
    let (nested, mut problems) =
        list_nested_agents(subject.root.unwrap_or(subject.dir), subject.dir, session);
    let is_flat = |file: &&HistoryFile| file.role == FileRole::FlatAgent;
    let files: Vec<HistoryFile> =
        subject.files.iter().filter(is_flat).cloned().chain(nested).collect();
    let (all, unread) = read_agents(&files, session);
    problems.extend(unread);
    if let Some(problem) = problems.into_iter().next() {
        return Err(problem);
    }
    let calls = find_spawning_calls(&all, &part.history);
    let started = all.iter().zip(calls).filter(|(_, call)| call.is_some_and(is_copied));
    let mut steps = Vec::new();
    for (agent, _) in started {
        let file = dir.join(id).join("subagents").join(path_below_subagents(&agent.file));
        let meta = agent.file.path.with_extension("meta.json");
        if is_file(&meta)? {
            steps.push(PlanStep::CreateFile {
                file: file.with_extension("meta.json"),
                content: NewContent::Copy(meta),
            });
        }
        steps.push(PlanStep::CreateFile { file, content: agent_copy_content(&agent.file, id)? });
    }
    Ok(steps)
}

/// Returns the path of an agent's file relative to `subagents`.
fn path_below_subagents(file: &HistoryFile) -> PathBuf {
    let parts: Vec<_> = file.path.iter().collect();
    let below =
        parts.iter().rposition(|part| *part == "subagents").map_or(parts.len() - 1, |at| at + 1);
    parts[below..].iter().collect()
}

/// Returns a copy of an agent's records with another session id.
fn agent_copy_content(file: &HistoryFile, id: &str) -> Result<NewContent, PathError> {
    let session = read_session(&file.path)?;
    let len = session.facts().bytes;
    let stamp = regular_file::open_for_reading(&file.path)
        .and_then(|file| Stamp::of_prefix(&file, len))
        .map_err(|source| PathError::new(&file.path, source))?;
    let splice = Splice::for_session(id);
    let copy = |record: &Record| NewLine::copied(0, record.span, splice.clone());
    let lines = session.records().iter().map(copy);
    Ok(NewContent::Lines { sources: vec![(file.path.clone(), stamp)], lines: lines.collect() })
}

/// Plans hard links for a session's spilled outputs and file backups, which never change.
pub(super) fn plan_links(
    subject: SessionContext<'_>,
    session: &str,
    dir: &Path,
    id: &str,
) -> Result<Vec<PlanStep>, PathError> {
    let outputs =
        (subject.dir.join(session).join("tool-results"), dir.join(id).join("tool-results"));
    let backups = subject.root.map(|root| root.join("file-history"));
    let backups = backups.map(|all| (all.join(session), all.join(id)));
    let pairs = std::iter::once(outputs).chain(backups);
    let mut links = Vec::new();
    for (from, to) in pairs {
        let error = |source| PathError::new(&from, source);
        let mut names: Vec<_> = match fs::read_dir(&from) {
            Ok(entries) => entries
                .map(|entry| entry.map(|entry| entry.file_name()))
                .collect::<Result<_, _>>()
                .map_err(error)?,
            Err(missing) if is_missing(&missing) => continue,
            Err(source) => return Err(error(source)),
        };
        names.sort();
        for name in names {
            let file = from.join(&name);
            if is_file(&file)? {
                links.push(PlanStep::HardLink { from: file, to: to.join(name) });
            }
        }
    }
    Ok(links)
}

/// Whether a regular file exists. Any other failure is an error, because a copy would lack the file.
fn is_file(path: &Path) -> Result<bool, PathError> {
    match path.symlink_metadata() {
        Ok(found) => Ok(found.is_file()),
        Err(missing) if is_missing(&missing) => Ok(false),
        Err(source) => Err(PathError::new(path, source)),
    }
}
