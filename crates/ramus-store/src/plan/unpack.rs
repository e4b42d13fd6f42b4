//! The sessions of a pack, placed in a project of this machine.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use ramus_core::edit::Relocation;
use ramus_core::resume::ResumeRule;

use super::{NewContent, OperationKind, PlanStep, WritePlan, new_id};
use crate::error::PathError;
use crate::pack::{OpenPack, PackError, PackedFile, PackedSession};
use crate::read::from_jsonl;
use crate::stamp::Stamp;

/// Where the sessions of a pack go.
#[derive(Clone, Copy, Debug)]
pub struct UnpackTo<'a> {
    /// The Claude directory.
    pub root: &'a Path,
    /// The directory of the project in it.
    pub dir: &'a Path,
    /// The working directory of the project.
    pub directory: &'a str,
    /// Paths of the old machine and what they are here; the longest one that fits a path counts.
    pub maps: &'a [(String, String)],
}

/// A session of a pack and where it goes.
#[derive(Clone, Debug)]
pub struct PlacedSession {
    /// Its number in the pack.
    pub index: usize,
    /// Its id here; another one if its own exists already or is none that the client accepts.
    pub id: String,
    pub file: PathBuf,
    /// The last message of what will be resumed.
    pub leaf: Option<String>,
    /// How many records get other paths or another id.
    pub rewritten: u64,
}

/// Plans to add all sessions of a pack; `is_taken` tells whether an id already exists.
///
/// Rewritten copies are prepared beside the pack's files, which must stay until the plan is carried out.
pub fn unpack(
    pack: &OpenPack,
    to: UnpackTo<'_>,
    is_taken: &dyn Fn(&str) -> bool,
) -> Result<(WritePlan, Vec<PlacedSession>), PackError> {
    let mut steps = Vec::new();
    let mut placed = Vec::new();
    let mut resume = None;
    let mut agents = HashSet::new();
    for (index, session) in pack.manifest.sessions.iter().enumerate() {
        let id = match is_uuid(&session.id) && !is_taken(&session.id) && is_free(&to, &session.id) {
            true => session.id.clone(),
            false => new_id(),
        };
        let mut placer = Placer::new(pack, to, session, &id, index)?;
        for file in session.files.iter().rev() {
            // The session itself is made last, because with it everything is there.
            steps.push(placer.step(file, &mut agents)?);
        }
        let file = to.dir.join(format!("{id}.jsonl"));
        let history = from_jsonl(&placer.source(&session.files[0]), ResumeRule::Client)?;
        let name = |node| history.session.record(node).uuid;
        let leaf = history.branches.resume.and_then(|resume| name(resume.leaf));
        if placed.is_empty() {
            resume = history.branches.resume.and_then(|resume| name(resume.point));
        }
        let leaf = leaf.map(|leaf| history.session.uuid_text(leaf));
        let rewritten = placer.rewritten;
        placed.push(PlacedSession { index, id, file, leaf, rewritten });
    }
    let first =
        placed.first().ok_or_else(|| PackError::Damaged("it contains no session".into()))?;
    let words = match &pack.manifest.sessions[..] {
        [one] => format!("{:?} into {}", one.title, to.directory),
        several => format!("{} sessions into {}", several.len(), to.directory),
    };
    let plan = WritePlan {
        what: OperationKind::Unpack,
        session: first.id.clone(),
        file: first.file.clone(),
        root: Some(to.root.to_owned()),
        words,
        steps,
        resume,
        left_out: 0,
        unreported: 0,
        undoes: None,
    };
    Ok((plan, placed))
}

/// Whether an id is a uuid as the client spells it; it finds sessions by no other name.
pub fn is_uuid(id: &str) -> bool {
    uuid::Uuid::try_parse(id).is_ok_and(|uuid| uuid.hyphenated().to_string() == id)
}

/// Whether nothing of a session is where it would go.
fn is_free(to: &UnpackTo<'_>, id: &str) -> bool {
    let places = [
        to.dir.join(format!("{id}.jsonl")),
        to.dir.join(id),
        to.root.join("file-history").join(id),
    ];
    places.iter().all(|place| place.symlink_metadata().is_err())
}

/// Places the files of one session.
struct Placer<'a> {
    pack: &'a OpenPack,
    to: UnpackTo<'a>,
    old: &'a str,
    id: &'a str,
    relocation: Relocation,
    /// Rewritten copies, by the names of the originals.
    copies: HashMap<&'a str, PathBuf>,
    copies_dir: PathBuf,
    rewritten: u64,
}

impl<'a> Placer<'a> {
    fn new(
        pack: &'a OpenPack,
        to: UnpackTo<'a>,
        session: &'a PackedSession,
        id: &'a str,
        index: usize,
    ) -> Result<Self, PackError> {
        let ids = (session.id != id).then_some((&*session.id, id));
        let mut relocation = Relocation::new(ids);
        for (old, new) in to.maps {
            relocation.map_path(old, new);
        }
        if let Some(old) = &session.session_dir {
            relocation.map_path(old, &to.dir.join(id).to_string_lossy());
        }
        if let Some(old) = &session.directory {
            relocation.map_path(old, to.directory);
        }
        let copies_dir = pack.root().join(format!("rewritten-{index}"));
        fs::create_dir_all(&copies_dir)
            .map_err(|source| PathError::on_write(&copies_dir, source))?;
        let (old, copies) = (&*session.id, HashMap::new());
        Ok(Self { pack, to, old, id, relocation, copies, copies_dir, rewritten: 0 })
    }

    fn step(
        &mut self,
        file: &'a PackedFile,
        agents: &mut HashSet<PathBuf>,
    ) -> Result<PlanStep, PackError> {
        if !self.relocation.is_empty() && (is_lines(&file.name) || file.name.ends_with(".json")) {
            self.rewrite(file)?;
        }
        let path = self.source(file);
        let stamp = Stamp::of_file(&path).map_err(|source| PathError::new(&path, source))?;
        let content = NewContent::Beginning { path, stamp };
        let content = match file.mode {
            Some(mode) => {
                let mode = mode & 0o777;
                NewContent::WithMode { content: Box::new(content), mode, modified: None }
            }
            None => content,
        };
        Ok(PlanStep::CreateFile { file: self.target(&file.name, agents), content })
    }

    /// Returns the current location of a file's content.
    fn source(&self, file: &PackedFile) -> PathBuf {
        self.copies.get(&*file.name).cloned().unwrap_or_else(|| self.pack.root().join(&file.name))
    }

    /// Returns where a file goes; the names were checked when the pack was read. `agents` are the agents that go beside
    /// the sessions.
    fn target(&self, name: &str, agents: &mut HashSet<PathBuf>) -> PathBuf {
        let parts: Vec<&str> = name.split('/').collect();
        let to = &self.to;
        match &parts[..] {
            ["file-history", _, rest @ ..] => {
                to.root.join("file-history").join(self.id).join(rest.join("/"))
            }
            [_, _, file] if *file == format!("{}.jsonl", self.old) => {
                to.dir.join(format!("{}.jsonl", self.id))
            }
            [_, _, agent] => {
                // An agent of that name may already exist, next to a copy of the session, or come from another project.
                let beside = to.dir.join(agent);
                match beside.symlink_metadata().is_err() && agents.insert(beside.clone()) {
                    true => beside,
                    false => to.dir.join(self.id).join("subagents").join(agent),
                }
            }
            [_, _, _, rest @ ..] => to.dir.join(self.id).join(rest.join("/")),
            _ => to.dir.join(self.id),
        }
    }

    /// Writes a copy whose records have the new paths and the new id.
    fn rewrite(&mut self, file: &'a PackedFile) -> Result<(), PackError> {
        let path = self.copies_dir.join(self.copies.len().to_string());
        let writing = |source| PathError::on_write(&path, source);
        let mut out = BufWriter::new(File::create_new(&path).map_err(writing)?);
        let (relocation, rewritten) = (&self.relocation, &mut self.rewritten);
        let mut line = |line: &[u8]| {
            let new = relocation.apply_to(line);
            *rewritten += u64::from(matches!(new, std::borrow::Cow::Owned(_)));
            out.write_all(&new).map_err(writing)
        };
        let mut rest: Vec<u8> = Vec::new();
        let is_lines = is_lines(&file.name);
        let original = NewContent::Copy(self.pack.root().join(&file.name));
        original.for_each_piece::<PathError>(&mut |bytes| {
            rest.extend_from_slice(bytes);
            let mut done = 0;
            while is_lines && let Some(end) = memchr::memchr(b'\n', &rest[done..]) {
                line(&rest[done..=done + end])?;
                done += end + 1;
            }
            rest.drain(..done);
            Ok(())
        })?;
        line(&rest)?;
        out.flush().map_err(writing)?;
        self.copies.insert(&file.name, path);
        Ok(())
    }
}

fn is_lines(name: &str) -> bool {
    name.ends_with(".jsonl")
}
