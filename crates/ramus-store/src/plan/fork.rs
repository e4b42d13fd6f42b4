//! Plans a new session with its agents, spilled outputs and file backups (R26).

use std::fs;
use std::path::{Path, PathBuf};

use ramus_core::body::Body;
use ramus_core::edit::{self, Fork, NewLine, NewSession, Origin, Splice, Writer};
use ramus_core::session::NodeId;
use ramus_core::time::Time;
use rustc_hash::FxHashSet;

use super::{Content, Plan, PlanError, Step, Subject, What, new_id, session, short, stamp};
use crate::agents::{agents_of, calls};
use crate::disk::is_missing;
use crate::error::PathError;
use crate::place::{FileRole, HistoryFile, nested_agents};
use crate::read::{Bodies, read};
use crate::regular;
use crate::stamp::Stamp;
use crate::trace::Part;

/// Where a new session goes.
#[derive(Clone, Copy, Debug)]
pub struct Destination<'a> {
    pub dir: &'a Path,
    /// The working directory of another project.
    pub cwd: Option<&'a str>,
    pub title: &'a str,
}

/// Plans a new session from the parts of a path, oldest part first.
///
/// The path must end with the message that the fork starts from.
pub fn fork(
    subject: Subject<'_>,
    parts: &[Part],
    to: Destination<'_>,
    now: Time,
) -> Result<(Plan, NewSession), PlanError> {
    fork_as(subject, parts, to, new_id(), &mut new_id, now)
}

/// Like [`fork`], with the id of the new session and a source of ids for new records.
pub fn fork_as(
    subject: Subject<'_>,
    parts: &[Part],
    to: Destination<'_>,
    id: String,
    new_id: &mut dyn FnMut() -> String,
    now: Time,
) -> Result<(Plan, NewSession), PlanError> {
    let sessions: Vec<String> = parts.iter().map(session_of).collect();
    let mut origins = Vec::new();
    for (part, session) in parts.iter().zip(&sessions) {
        origins.push(origin(part, session)?);
    }
    let mut writer = Writer { session: &id, now, new_id };
    let request = Fork { title: to.title, cwd: to.cwd };
    let mut new = edit::fork(&origins, request, &mut writer)?;
    let mut steps = Vec::new();
    for (part, origin) in parts.iter().zip(&origins) {
        let kept: FxHashSet<NodeId> = origin.nodes.iter().copied().collect();
        steps.extend(agents(subject, part, &kept, to.dir, &id)?);
    }
    let mut seen = FxHashSet::default();
    for session in sessions.iter().filter(|session| seen.insert(session.as_str())) {
        steps.extend(links(subject, session, to.dir, &id)?);
    }
    let file = to.dir.join(format!("{id}.jsonl"));
    let sources = sources(&parts.iter().collect::<Vec<_>>())?;
    let content = Content::Lines { sources, lines: std::mem::take(&mut new.lines) };
    // The session file comes last, because with it the session exists.
    steps.push(Step::Make { file: file.clone(), content });
    let plan = Plan {
        what: What::Fork,
        session: id,
        file,
        root: subject.root.map(Path::to_owned),
        words: format!("of {} at {}", short(&subject.file.id), short(&new.leaf)),
        steps,
        resume: Some(new.resume),
        left_out: new.left_out,
        unreported: unreported(parts)?,
        undoes: None,
    };
    Ok((plan, new))
}

/// Counts the background agents that have not reported by the end of a path.
fn unreported(parts: &[Part]) -> Result<u32, PathError> {
    let Some(part) = parts.last() else { return Ok(0) };
    let Some(&end) = part.path.nodes.last() else { return Ok(0) };
    let end = edit::end_of_message(&part.history, end).unwrap_or(end);
    session::unreported(&part.file.path, &part.history, end)
}

/// Returns the session that a part belongs to. For an agent's file that is the session that started it.
pub(super) fn session_of(part: &Part) -> String {
    let told = part.history.session.facts().session_ids.first();
    match part.file.role {
        FileRole::Session => part.file.id.clone(),
        _ => told.map_or_else(|| part.file.id.clone(), ToString::to_string),
    }
}

pub(super) fn origin<'a>(part: &'a Part, session: &'a str) -> Result<Origin<'a>, PathError> {
    let mut bodies = Bodies::open(&part.file.path)?;
    let mut problem = None;
    let mut body = |id: NodeId| match bodies.bytes(part.history.session.record(id).span) {
        Ok(bytes) => Body::parse(&bytes).ok(),
        Err(error) => {
            problem = Some(error);
            None
        }
    };
    let origin = edit::origin(session, &part.history, &part.path, &mut body);
    problem.map_or(Ok(origin), Err)
}

/// Returns a function that reads record bodies by part and node. It stores a read error in `problem`.
pub(super) fn bodies<'a>(
    parts: &'a [&'a Part],
    problem: &'a mut Option<PathError>,
) -> Result<impl FnMut(usize, NodeId) -> Option<Body> + 'a, PathError> {
    let files = parts.iter().map(|part| Bodies::open(&part.file.path));
    let mut files = files.collect::<Result<Vec<_>, _>>()?;
    Ok(move |part: usize, node: NodeId| {
        let span = parts[part].history.session.record(node).span;
        match files[part].bytes(span) {
            Ok(bytes) => Body::parse(&bytes).ok(),
            Err(error) => {
                *problem = Some(error);
                None
            }
        }
    })
}

pub(super) fn sources(parts: &[&Part]) -> Result<Vec<(PathBuf, Stamp)>, PathError> {
    let stamped =
        |part: &&Part| Ok((part.file.path.clone(), stamp(&part.file.path, &part.history)?));
    parts.iter().map(stamped).collect()
}

/// Plans copies of the agents that the path started, and of the agents those started.
pub(super) fn agents(
    subject: Subject<'_>,
    part: &Part,
    kept: &FxHashSet<NodeId>,
    dir: &Path,
    id: &str,
) -> Result<Vec<Step>, PathError> {
    // List them again: an agent that could not be read a moment ago would be missing in the copy.
    let session = &part.file.id;
    let (nested, mut problems) =
        nested_agents(subject.root.unwrap_or(subject.dir), subject.dir, session);
    let is_flat = |file: &&HistoryFile| file.role == FileRole::FlatAgent;
    let files: Vec<HistoryFile> =
        subject.files.iter().filter(is_flat).cloned().chain(nested).collect();
    let (all, unread) = agents_of(&files, session);
    problems.extend(unread);
    if let Some(problem) = problems.into_iter().next() {
        return Err(problem);
    }
    let calls = calls(&all, &part.history);
    let started =
        all.iter().zip(calls).filter(|(_, call)| call.is_some_and(|call| kept.contains(&call)));
    let mut steps = Vec::new();
    for (agent, _) in started {
        let file = dir.join(id).join("subagents").join(place_of(&agent.file));
        let meta = agent.file.path.with_extension("meta.json");
        if is_file(&meta)? {
            steps.push(Step::Make {
                file: file.with_extension("meta.json"),
                content: Content::Copy(meta),
            });
        }
        steps.push(Step::Make { file, content: of_session(&agent.file, id)? });
    }
    Ok(steps)
}

/// Returns the path of an agent's file relative to `subagents`.
fn place_of(file: &HistoryFile) -> PathBuf {
    let parts: Vec<_> = file.path.iter().collect();
    let below =
        parts.iter().rposition(|part| *part == "subagents").map_or(parts.len() - 1, |at| at + 1);
    parts[below..].iter().collect()
}

/// Returns a copy of an agent's records with another session id.
fn of_session(file: &HistoryFile, id: &str) -> Result<Content, PathError> {
    let session = read(&file.path)?;
    let len = session.facts().bytes;
    let stamp = regular::open(&file.path)
        .and_then(|file| Stamp::of(&file, len))
        .map_err(|source| PathError::new(&file.path, source))?;
    let splice = Splice::session(id);
    let lines = session.records().iter().map(|record| NewLine::Copied {
        source: 0,
        span: record.span,
        splice: splice.clone(),
    });
    Ok(Content::Lines { sources: vec![(file.path.clone(), stamp)], lines: lines.collect() })
}

/// Plans hard links for a session's spilled outputs and file backups, which never change.
pub(super) fn links(
    subject: Subject<'_>,
    session: &str,
    dir: &Path,
    id: &str,
) -> Result<Vec<Step>, PathError> {
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
                links.push(Step::Link { from: file, to: to.join(name) });
            }
        }
    }
    Ok(links)
}

/// Whether a regular file is there. What cannot be looked at is an error: a copy would lack it.
fn is_file(path: &Path) -> Result<bool, PathError> {
    match path.symlink_metadata() {
        Ok(found) => Ok(found.is_file()),
        Err(missing) if is_missing(&missing) => Ok(false),
        Err(source) => Err(PathError::new(path, source)),
    }
}
