//! Plans a new session from several conversations, with their agents and backups (R27).

use std::fs;
use std::path::{Path, PathBuf};

use ramus_core::edit::{self, Merge, MergeBrief, Merged, NewLine, Sources, Strategy, Writer};
use ramus_core::name::{Key, short_id};
use ramus_core::session::NodeId;
use ramus_core::time::Time;
use rustc_hash::{FxHashMap, FxHashSet};

use super::fork::{agents, bodies, links, origin, session_of, sources};
use super::{Content, Plan, PlanError, Step, Subject, What, new_id, short};
use crate::error::PathError;
use crate::trace::Part;

/// One of the conversations that are merged.
#[derive(Clone, Copy, Debug)]
pub struct Conversation<'a> {
    pub subject: Subject<'a>,
    /// Its path, the oldest part first.
    pub parts: &'a [Part],
}

/// Plans a new session from several conversations, in a project's directory.
pub fn merge(
    conversations: &[Conversation<'_>],
    request: &Merge<'_>,
    dir: &Path,
    now: Time,
) -> Result<(Plan, Merged), PlanError> {
    let parts: Vec<&Part> = conversations.iter().flat_map(|one| one.parts).collect();
    let sessions: Vec<String> = parts.iter().map(|part| session_of(part)).collect();
    let backups = Backups::new(conversations);
    let mut sources_of = merge_sources(conversations, &sessions)?;
    for (origin, session) in sources_of.origins.iter_mut().zip(&sessions) {
        origin.backups = backups.renamed(session);
    }
    let id = new_id();
    let mut next = new_id;
    let mut writer = Writer { session: &id, now, new_id: &mut next };
    let mut problem = None;
    let merged = {
        let mut bodies = bodies(&parts, &mut problem)?;
        edit::merge(&sources_of, request, &mut writer, &mut bodies)
    };
    if let Some(problem) = problem {
        return Err(problem.into());
    }
    let mut merged = merged?;
    let copied: FxHashSet<(usize, u64)> = merged
        .new
        .lines
        .iter()
        .filter_map(|line| match line {
            NewLine::Copied { source, span, .. } => Some((*source, span.at)),
            NewLine::Made(_) => None,
        })
        .collect();
    let mut steps = Vec::new();
    let mut source = 0;
    for conversation in conversations {
        for part in conversation.parts {
            let kept: FxHashSet<NodeId> = {
                let at = |node: &NodeId| part.history.session.record(*node).span.at;
                let nodes = sources_of.origins[source].nodes.iter().copied();
                nodes.filter(|node| copied.contains(&(source, at(node)))).collect()
            };
            source += 1;
            steps.extend(agents(conversation.subject, part, &kept, dir, &id)?);
            let session = session_of(part);
            for step in links(conversation.subject, &session, dir, &id)? {
                steps.push(backups.link(step, &session));
            }
        }
    }
    let file = dir.join(format!("{id}.jsonl"));
    let lines = std::mem::take(&mut merged.new.lines);
    let content = Content::Lines { sources: sources(&parts)?, lines };
    steps.push(Step::Make { file: file.clone(), content });
    let mut made = FxHashSet::default();
    steps.retain(|step| match step {
        Step::Make { file, .. } | Step::Link { to: file, .. } => made.insert(file.clone()),
        _ => true,
    });
    let ids: Vec<&str> = conversations.iter().map(|one| short(&one.subject.file.id)).collect();
    let plan = Plan {
        what: What::Merge,
        session: id,
        file,
        root: conversations.first().and_then(|one| one.subject.root).map(Path::to_owned),
        words: match request.strategy {
            Strategy::Assisted(_) => format!("of {}, assisted", ids.join(" and ")),
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

/// Writes the input for a command that writes the merge digest.
pub fn merge_brief(
    conversations: &[Conversation<'_>],
    no_base: bool,
) -> Result<MergeBrief, PlanError> {
    let parts: Vec<&Part> = conversations.iter().flat_map(|one| one.parts).collect();
    let sessions: Vec<String> = parts.iter().map(|part| session_of(part)).collect();
    let sources = merge_sources(conversations, &sessions)?;
    let mut problem = None;
    let brief = {
        let mut bodies = bodies(&parts, &mut problem)?;
        edit::merge_brief(&sources, no_base, &mut bodies)
    };
    match problem {
        Some(problem) => Err(problem.into()),
        None => Ok(brief?),
    }
}

/// Collects the files of all conversations. `sessions` are the session ids of their parts.
fn merge_sources<'a>(
    conversations: &[Conversation<'a>],
    sessions: &'a [String],
) -> Result<Sources<'a>, PathError> {
    let mut sources = Sources { origins: Vec::new(), paths: Vec::new(), branches: Vec::new() };
    for conversation in conversations {
        let first = sources.origins.len();
        for part in conversation.parts {
            sources.origins.push(origin(part, &sessions[sources.origins.len()])?);
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
struct Backups {
    /// By session: the backups that get another name.
    renamed: FxHashMap<String, FxHashMap<String, String>>,
}

impl Backups {
    fn new(conversations: &[Conversation<'_>]) -> Self {
        let mut taken: FxHashMap<String, PathBuf> = FxHashMap::default();
        let mut renamed: FxHashMap<String, FxHashMap<String, String>> = FxHashMap::default();
        for conversation in conversations {
            let Some(root) = conversation.subject.root else { continue };
            for part in conversation.parts {
                let session = session_of(part);
                if renamed.contains_key(&session) {
                    continue;
                }
                let dir = root.join("file-history").join(&session);
                let mut others = FxHashMap::default();
                for name in names(&dir) {
                    let path = dir.join(&name);
                    match taken.get(&name) {
                        Some(first) if !is_same(first, &path) => {
                            let id = short_id(&session);
                            others.insert(name.clone(), format!("{name}-{id}"));
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

    fn renamed(&self, session: &str) -> FxHashMap<Key, String> {
        let names = self.renamed.get(session).into_iter().flatten();
        names.map(|(old, new)| (Key::new(old.as_bytes()), new.clone())).collect()
    }

    fn link(&self, step: Step, session: &str) -> Step {
        let Step::Link { from, to } = step else { return step };
        let is_backup =
            from.parent().and_then(Path::parent).is_some_and(|dir| dir.ends_with("file-history"));
        let name = to.file_name().map(|name| name.to_string_lossy().into_owned());
        let new = name.filter(|_| is_backup).and_then(|name| self.renamed.get(session)?.get(&name));
        let to = new.map_or(to.clone(), |new| to.with_file_name(new));
        Step::Link { from, to }
    }
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Whether two files have the same content.
fn is_same(a: &Path, b: &Path) -> bool {
    crate::on_disk::same(a, b).unwrap_or(false)
}
