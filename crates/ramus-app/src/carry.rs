//! Packs: sessions written to one file, read from one, and placed in a project of this machine.

use std::path::{Path, PathBuf};

use ramus_core::digest::SessionDigest;
use ramus_core::edit::{ChangeDetail, EditRefusal, UnpackedSummary};
use ramus_core::redact::{RedactionCounts, redact_text};
use ramus_core::session::NodeId;
use ramus_core::time::Time;
use ramus_core::title::short_title;
use ramus_store::PathError;
use ramus_store::claude_dir::{FileRole, Project};
use ramus_store::pack::source::{SessionSources, planned_sources, session_sources};
use ramus_store::pack::write::PackWriteError;
use ramus_store::pack::{OpenPack, PackError, PackOptions, PackPlan, PackSource, PackedSession};
use ramus_store::plan::{self, ForkDestination, PlacedSession, PlanError, UnpackTo};
use ramus_store::project_name::{is_encoded_path, project_dir_name};
use ramus_store::real_path::real_path;

use crate::annotations::accepted_annotations;
use crate::change::{ChangeError, OpenedSession, PlannedChange};
use crate::workspace::Workspace;

/// A session that is packed, whole or only one conversation of it.
#[derive(Debug)]
pub struct PackItem<'a> {
    pub opened: &'a OpenedSession,
    /// The message that the one conversation ends with; `None`: the whole session.
    pub up_to: Option<NodeId>,
}

/// Why there is no pack, or nothing that could be unpacked.
#[derive(Debug, thiserror::Error)]
pub enum CarryError {
    #[error("{0:?} is not a session, so it cannot be packed whole")]
    NoSession(String),
    #[error("{0:?} is given twice")]
    Twice(String),
    #[error("cannot pack this conversation: {0}")]
    Refused(EditRefusal),
    #[error("{} is not a directory", .0.display())]
    NoDirectory(PathBuf),
    #[error("no Claude directory to unpack into")]
    NoClaudeDir,
    #[error(transparent)]
    Change(#[from] ChangeError),
    #[error(transparent)]
    Pack(#[from] PackError),
    #[error(transparent)]
    Write(#[from] PackWriteError),
}

impl From<PathError> for CarryError {
    fn from(error: PathError) -> Self {
        Self::Change(ChangeError::Read(error))
    }
}

/// What a pack is unpacked to.
#[derive(Debug)]
pub struct UnpackRequest<'a> {
    /// The directory whose project gets the sessions.
    pub into: &'a Path,
    /// Paths of the old machine, and their replacements here.
    pub maps: &'a [(String, String)],
}

/// The result of planning to unpack.
#[derive(Debug)]
pub struct PlannedUnpack {
    pub change: PlannedChange,
    pub sessions: Vec<PlacedSession>,
    /// The directory, by its real name.
    pub directory: PathBuf,
}

impl Workspace {
    /// Reads everything that goes into a pack; nothing is written yet.
    pub fn plan_pack(
        &self,
        items: &[PackItem<'_>],
        options: PackOptions,
    ) -> Result<PackPlan, CarryError> {
        let mut pack = PackPlan::new(options);
        for item in items {
            if item.opened.found.file.archived {
                return Err(self.archived_error(item.opened).into());
            }
            let (mut session, sources) = match item.up_to {
                Some(node) => self.conversation_to_pack(item.opened, node)?,
                None => self.session_to_pack(item.opened, &mut pack)?,
            };
            if pack.manifest.sessions.iter().any(|packed| packed.id == session.id) {
                return Err(CarryError::Twice(session.id));
            }
            let sources = match options.redact {
                true => without_names(&mut session, sources),
                false => sources,
            };
            pack.add(session, sources)?;
        }
        Ok(pack)
    }

    /// Describes a whole session; what a pack cannot contain is noted in `pack`.
    fn session_to_pack(
        &self,
        opened: &OpenedSession,
        pack: &mut PackPlan,
    ) -> Result<(PackedSession, Vec<PackSource>), CarryError> {
        let file = &opened.found.file;
        if file.role != FileRole::Session {
            return Err(CarryError::NoSession(opened.found.address_id()));
        }
        let project = project_name(opened);
        let SessionSources { sources, left_out } =
            session_sources(opened.edit_subject(), &project)?;
        pack.left_out.extend(left_out);
        let digest = SessionDigest::new(&opened.history);
        let mut session = self.describe_packed(opened, &file.id, &sources);
        session.title = short_title(&opened.title);
        session.messages = digest.messages;
        session.conversations = opened.history.branches.conversations.len() as u32;
        session.annotations = self.annotations_to_pack(&opened.found, &opened.history, None);
        Ok((session, sources))
    }

    /// Makes a new session of one conversation, always the same one for the same conversation.
    fn conversation_to_pack(
        &self,
        opened: &OpenedSession,
        node: NodeId,
    ) -> Result<(PackedSession, Vec<PackSource>), CarryError> {
        let parts = self.path_parts(opened, node)?;
        let parts = parts.ok_or(CarryError::Refused(EditRefusal::NoNode))?;
        let leaf = opened.leaf_uuid(node);
        let mut ids = SeededIds::new(&format!("{} {leaf}", opened.found.address_id()));
        let id = ids.next_id();
        let times = parts.iter().flat_map(|part| {
            part.path.nodes.iter().filter_map(|node| part.history.session.record(*node).time)
        });
        // The time of packing would make each pack another one.
        let newest = times.max().unwrap_or(Time::from_millis(0));
        let title = short_title(&opened.title);
        let dir = Path::new("projects").join(project_name(opened));
        let to = ForkDestination { dir: &dir, cwd: None, title: &title };
        let mut new_id = || ids.next_id();
        let forked = plan::fork_as(opened.edit_subject(), &parts, to, id, &mut new_id, newest);
        let (plan, new) = forked.map_err(|error| match error {
            PlanError::Refused(refusal) => CarryError::Refused(refusal),
            PlanError::Read(error) => error.into(),
        })?;
        let root = self.root_of(&opened.found.file.path);
        let sources = planned_sources(&plan.steps, &plan.file, root.as_deref())?;
        let mut session = self.describe_packed(opened, &plan.session, &sources);
        session.title = title;
        session.messages = new.messages;
        session.conversations = 1;
        let path = opened.history.path_to(node).map(|path| path.nodes).unwrap_or_default();
        session.annotations = self.annotations_to_pack(&opened.found, &opened.history, Some(&path));
        Ok((session, sources))
    }

    /// Describes a session without what differs between a whole one and one conversation.
    fn describe_packed(
        &self,
        opened: &OpenedSession,
        id: &str,
        sources: &[PackSource],
    ) -> PackedSession {
        let directory = self.working_directory(opened);
        let facts = opened.history.session.facts();
        let is_agent = |source: &&PackSource| {
            let name = source.name.rsplit('/').next().unwrap_or_default();
            name.starts_with("agent-") && name.ends_with(".jsonl")
        };
        let session_dir = opened.found.project_dir().join(&opened.found.file.id);
        let session_dir = std::path::absolute(&session_dir).unwrap_or(session_dir);
        PackedSession {
            id: id.to_owned(),
            title: String::new(),
            directory: directory.map(|directory| directory.to_string_lossy().into_owned()),
            session_dir: Some(session_dir.to_string_lossy().into_owned()),
            version: facts.version.as_ref().map(|version| version.text.to_string()),
            started: facts.started.map(|time| time.to_string()),
            last_active: facts.last_active.map(|time| time.to_string()),
            messages: 0,
            conversations: 0,
            agents: sources.iter().filter(is_agent).count() as u32,
            files: Vec::new(),
            annotations: Vec::new(),
        }
    }

    /// Plans to place the sessions of a pack; nothing is written.
    pub fn plan_unpack(
        &self,
        pack: &OpenPack,
        request: &UnpackRequest<'_>,
    ) -> Result<PlannedUnpack, CarryError> {
        let directory = real_path(request.into).ok().filter(|directory| directory.is_dir());
        let directory =
            directory.ok_or_else(|| CarryError::NoDirectory(request.into.to_owned()))?;
        let root = self.claude_roots().first().ok_or(CarryError::NoClaudeDir)?;
        let root = std::path::absolute(root).unwrap_or_else(|_| root.clone());
        let name = directory.to_string_lossy();
        let projects = self.list_projects();
        let dir = root.join("projects").join(self.project_dir_name(&root, &name));
        let is_taken =
            |id: &str| projects.iter().flat_map(Project::session_files).any(|file| file.id == id);
        let to = UnpackTo { root: &root, dir: &dir, directory: &name, maps: request.maps };
        let (plan, sessions) = plan::unpack(pack, to, &is_taken)?;
        let detail = ChangeDetail::Unpack {
            sessions: sessions.iter().map(|placed| self.unpacked_summary(pack, placed)).collect(),
            makes_claude_dir: !self.claude_roots().iter().any(|root| root.is_dir()),
        };
        let annotations = sessions.iter().flat_map(|placed| {
            accepted_annotations(&placed.id, &pack.manifest.sessions[placed.index].annotations)
        });
        let change = PlannedChange {
            annotations: annotations.collect(),
            resume_leaf: sessions.first().and_then(|session| session.leaf.clone()),
            cwd: Some(name.clone().into_owned()),
            ..PlannedChange::new(self, plan, detail)
        };
        drop(name);
        Ok(PlannedUnpack { change, sessions, directory })
    }

    /// Returns the name of the directory that the client reads for a working directory.
    fn project_dir_name(&self, root: &Path, directory: &str) -> String {
        let encoded = project_dir_name(directory);
        let is_here = |project: &&Project| {
            std::path::absolute(&project.root).is_ok_and(|of| of == root)
                && project.name.len() == encoded.len()
                && is_encoded_path(&project.name, directory)
        };
        // Names that differ in nothing but case are one directory where the client looks at it.
        let projects = self.list_projects();
        let mut here = projects.iter().filter(is_here).map(|project| &project.name);
        match here.clone().find(|name| **name == encoded).or_else(|| here.next()) {
            Some(existing) => existing.clone(),
            None => encoded,
        }
    }

    fn unpacked_summary(&self, pack: &OpenPack, placed: &PlacedSession) -> UnpackedSummary {
        let session = &pack.manifest.sessions[placed.index];
        UnpackedSummary {
            short_id: self.short_id(&placed.id),
            replaced_id: (placed.id != session.id).then(|| session.id.clone()),
            old_id_is_uuid: plan::is_uuid(&session.id),
            title: session.title.clone(),
            messages: session.messages,
            agents: session.agents,
            files: session.files.len(),
            bytes: session.files.iter().map(|file| file.bytes).sum(),
            directory: session.directory.clone(),
            rewritten: placed.rewritten,
            file: placed.file.clone(),
        }
    }
}

/// Returns the name of a session's project in a pack.
fn project_name(opened: &OpenedSession) -> String {
    match opened.found.project_name() {
        "" if opened.working_directory().is_empty() => "-".to_owned(),
        "" => project_dir_name(opened.working_directory()),
        name => name.to_owned(),
    }
}

/// Redacts the manifest entry of a session, like its records.
fn without_names(session: &mut PackedSession, sources: Vec<PackSource>) -> Vec<PackSource> {
    fn redacted(text: &str) -> String {
        redact_text(text, &mut RedactionCounts::default()).into_owned()
    }
    session.title = redacted(&session.title);
    session.directory = session.directory.as_deref().map(redacted);
    session.session_dir = session.session_dir.as_deref().map(redacted);
    for annotation in session.annotations.iter_mut().map(|one| &mut one.annotation) {
        annotation.note = redacted(&annotation.note);
        annotation.tags = annotation.tags.iter().map(|tag| redacted(tag)).collect();
    }
    let project = session.directory.as_deref().map_or_else(|| "-".to_owned(), project_dir_name);
    let renamed = sources.into_iter().map(|source| {
        let parts: Vec<&str> = source.name.splitn(3, '/').collect();
        match parts[..] {
            ["projects", _, rest] => {
                PackSource { name: format!("projects/{project}/{rest}"), ..source }
            }
            _ => source,
        }
    });
    renamed.collect()
}

/// Ids that are always the same for the same text.
struct SeededIds {
    seed: String,
    count: u32,
}

impl SeededIds {
    fn new(seed: &str) -> Self {
        Self { seed: seed.to_owned(), count: 0 }
    }

    fn next_id(&mut self) -> String {
        self.count += 1;
        plan::seeded_id(&format!("{} {}", self.seed, self.count))
    }
}
