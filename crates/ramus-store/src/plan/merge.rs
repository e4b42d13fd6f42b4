//! Plans a new session from several conversations, with their agents and backups (R27).

use std::cell::LazyCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ramus_core::edit::{
    self, EditContext, MergeBrief, MergeOptions, MergeSources, MergeStrategy, NewLine, PlannedMerge,
};
use ramus_core::ids::IdHash;
use ramus_core::session::NodeId;
use ramus_core::time::Time;
use rustc_hash::{FxHashMap, FxHashSet};

use super::fork::{
    plan_agent_copies, plan_links, read_origin, record_body_reader, session_id_of, stamp_sources,
};
use super::{NewContent, OperationKind, PlanError, PlanStep, SessionContext, WritePlan, new_id};
use crate::error::PathError;
use crate::trace::LinkedPathPart;

/// One of the conversations that are merged.
#[derive(Clone, Copy, Debug)]
pub struct MergeInput<'a> {
    pub subject: SessionContext<'a>,
    /// Its path, the oldest part first.
    pub parts: &'a [LinkedPathPart],
}

/// Plans a new session from several conversations, in a project's directory.
pub fn plan_merge(
    conversations: &[MergeInput<'_>],
    request: &MergeOptions<'_>,
    dir: &Path,
    now: Time,
) -> Result<(WritePlan, PlannedMerge), PlanError> {
    let parts: Vec<&LinkedPathPart> = conversations.iter().flat_map(|one| one.parts).collect();
    let sessions: Vec<String> = parts.iter().map(|part| session_id_of(part)).collect();
    let backups = BackupRenames::new(conversations);
    let mut sources_of = collect_merge_sources(conversations, &sessions)?;
    for (origin, session) in sources_of.origins.iter_mut().zip(&sessions) {
        origin.backups = backups.renames_of(session);
    }
    let id = new_id();
    let mut next = new_id;
    let mut writer = EditContext { session: &id, now, new_id: &mut next };
    let mut problem = None;
    let merged = {
        let mut bodies = record_body_reader(&parts, &mut problem)?;
        edit::plan_merge(&sources_of, request, &mut writer, &mut bodies)
    };
    if let Some(problem) = problem {
        return Err(problem.into());
    }
    let mut merged = merged?;
    // Made when an agent is met: both take memory for every record.
    let copied = LazyCell::new(|| copied_offsets(&merged.new.lines, parts.len()));
    let mut steps = Vec::new();
    let mut source = 0;
    for conversation in conversations {
        for part in conversation.parts {
            let nodes = LazyCell::new(|| {
                let nodes = sources_of.origins[source].nodes.iter().copied();
                nodes.collect::<FxHashSet<NodeId>>()
            });
            let is_copied = |node: NodeId| {
                let offset = part.history.session.record(node).span.offset;
                nodes.contains(&node) && copied[source].binary_search(&offset).is_ok()
            };
            steps.extend(plan_agent_copies(conversation.subject, part, &is_copied, dir, &id)?);
            source += 1;
            let session = session_id_of(part);
            for step in plan_links(conversation.subject, &session, dir, &id)? {
                steps.push(backups.rename_link(step, &session));
            }
        }
    }
    drop(copied);
    let file = dir.join(format!("{id}.jsonl"));
    let lines = std::mem::take(&mut merged.new.lines);
    let content = NewContent::Lines { sources: stamp_sources(&parts)?, lines };
    steps.push(PlanStep::CreateFile { file: file.clone(), content });
    let mut made = FxHashSet::default();
    steps.retain(|step| match step {
        PlanStep::CreateFile { file, .. } | PlanStep::HardLink { to: file, .. } => {
            made.insert(file.clone())
        }
        _ => true,
    });
    let ids: Vec<&str> = conversations.iter().map(|one| one.subject.short_id).collect();
    let plan = WritePlan {
        what: OperationKind::Merge,
        session: id,
        file,
        root: conversations.first().and_then(|one| one.subject.root).map(Path::to_owned),
        words: match request.strategy {
            MergeStrategy::Assisted(_) => format!("of {}, assisted", ids.join(" and ")),
            _ => format!("of {}", ids.join(" and ")),
        },
        steps,
        resume: Some(merged.new.resume),
        left_out: merged.new.left_out,
        unreported: 0,
        undoes: None,
    };
    Ok((plan, merged))
}

/// Returns the offsets of the records that are copied, by source and sorted.
fn copied_offsets(lines: &[NewLine], sources: usize) -> Vec<Vec<u64>> {
    let mut copied = vec![Vec::new(); sources];
    for line in lines {
        if let NewLine::Copied(line) = line {
            copied[line.source()].push(line.span().offset);
        }
    }
    copied.iter_mut().for_each(|offsets| offsets.sort_unstable());
    copied
}

/// Writes the input for a command that writes the merge digest.
pub fn write_merge_brief(
    conversations: &[MergeInput<'_>],
    no_base: bool,
) -> Result<MergeBrief, PlanError> {
    let parts: Vec<&LinkedPathPart> = conversations.iter().flat_map(|one| one.parts).collect();
    let sessions: Vec<String> = parts.iter().map(|part| session_id_of(part)).collect();
    let sources = collect_merge_sources(conversations, &sessions)?;
    let mut problem = None;
    let brief = {
        let mut bodies = record_body_reader(&parts, &mut problem)?;
        edit::merge_brief(&sources, no_base, &mut bodies)
    };
    match problem {
        Some(problem) => Err(problem.into()),
        None => Ok(brief?),
    }
}

/// Collects the files of all conversations. `sessions` are the session ids of their parts.
fn collect_merge_sources<'a>(
    conversations: &[MergeInput<'a>],
    sessions: &'a [String],
) -> Result<MergeSources<'a>, PathError> {
    let mut sources = MergeSources {
        origins: Vec::new(),
        histories: Vec::new(),
        paths: Vec::new(),
        branches: Vec::new(),
    };
    for conversation in conversations {
        let first = sources.origins.len();
        for part in conversation.parts {
            sources.origins.push(read_origin(part, &sessions[sources.origins.len()])?);
            sources.histories.push(Arc::clone(&part.history));
            sources.paths.push(&part.path);
        }
        sources.branches.push(first..sources.origins.len());
    }
    Ok(sources)
}

/// New names for file backups whose names clash.
///
/// Each session numbers the versions of a file on its own, so two sessions may use one
/// name for different contents. The backups of the later session then get its id appended.
struct BackupRenames {
    /// By session: the backups that get another name.
    renamed: FxHashMap<String, FxHashMap<String, String>>,
}

impl BackupRenames {
    fn new(conversations: &[MergeInput<'_>]) -> Self {
        let mut taken: FxHashMap<String, PathBuf> = FxHashMap::default();
        let mut renamed: FxHashMap<String, FxHashMap<String, String>> = FxHashMap::default();
        for conversation in conversations {
            let Some(root) = conversation.subject.root else { continue };
            for part in conversation.parts {
                let session = session_id_of(part);
                if renamed.contains_key(&session) {
                    continue;
                }
                let dir = root.join("file-history").join(&session);
                let mut others = FxHashMap::default();
                for name in file_names(&dir) {
                    let path = dir.join(&name);
                    match taken.get(&name) {
                        Some(first) if !has_same_content(first, &path) => {
                            others.insert(name.clone(), format!("{name}-{session}"));
                        }
                        Some(_) => {}
                        None => drop(taken.insert(name, path)),
                    }
                }
                renamed.insert(session, others);
            }
        }
        Self { renamed }
    }

    fn renames_of(&self, session: &str) -> FxHashMap<IdHash, String> {
        let names = self.renamed.get(session).into_iter().flatten();
        names.map(|(old, new)| (IdHash::new(old.as_bytes()), new.clone())).collect()
    }

    fn rename_link(&self, step: PlanStep, session: &str) -> PlanStep {
        let PlanStep::HardLink { from, to } = step else { return step };
        let is_backup =
            from.parent().and_then(Path::parent).is_some_and(|dir| dir.ends_with("file-history"));
        let name = to.file_name().map(|name| name.to_string_lossy().into_owned());
        let new = name.filter(|_| is_backup).and_then(|name| self.renamed.get(session)?.get(&name));
        let to = new.map_or(to.clone(), |new| to.with_file_name(new));
        PlanStep::HardLink { from, to }
    }
}

fn file_names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Whether two files have the same content.
fn has_same_content(a: &Path, b: &Path) -> bool {
    crate::on_disk::has_same_bytes(a, b).unwrap_or(false)
}
