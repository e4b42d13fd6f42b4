//! Which files belong to a session, under the names that they have in a pack.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use memchr::memmem::Finder;

use super::manifest::is_plain_name;
use super::write::{LeftOut, LeftOutReason};
use crate::agents::read_agents;
use crate::claude_dir::{FileRole, file_history_dir};
use crate::disk::is_missing;
use crate::error::PathError;
use crate::file_history::backup_dirs;
use crate::file_mode::file_mode;
use crate::plan::{NewContent, PlanStep, SessionContext};
use crate::stamp::Stamp;

/// A file that goes into a pack.
#[derive(Clone, Debug)]
pub struct PackSource {
    /// Its path from the Claude directory on.
    pub name: String,
    pub content: NewContent,
    /// The permissions of a file that was backed up.
    pub mode: Option<u32>,
}

/// The files of a session.
#[derive(Clone, Debug, Default)]
pub struct SessionSources {
    /// The session itself first, the rest by name.
    pub sources: Vec<PackSource>,
    /// What a pack cannot contain, by name.
    pub left_out: Vec<LeftOut>,
}

/// The files of a session but its own, by their names in the pack.
#[derive(Default)]
struct FoundFiles {
    sources: BTreeMap<String, PackSource>,
    left_out: Vec<LeftOut>,
}

/// How deep a session's directory is looked through.
const DEEPEST: u32 = 8;

/// Lists everything that belongs to a session.
///
/// `project` is the name of the project in the pack.
pub fn session_sources(
    subject: SessionContext<'_>,
    project: &str,
) -> Result<SessionSources, PathError> {
    let id = &subject.file.id;
    let in_project = |name: &str| format!("projects/{project}/{name}");
    let own = PackSource {
        name: in_project(&format!("{id}.jsonl")),
        content: unchanging(&subject.file.path)?,
        mode: None,
    };
    let mut found = FoundFiles::default();
    found.add_dir(&subject.dir.join(id), &in_project(id), 0)?;
    let (agents, problems) = read_agents(subject.files, id);
    if let Some(problem) = problems.into_iter().next() {
        return Err(problem);
    }
    for agent in agents.iter().filter(|agent| agent.file.role == FileRole::FlatAgent) {
        for path in [agent.file.path.clone(), agent.file.path.with_extension("meta.json")] {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            add_file(&path, in_project(&name), false, &mut found.sources)?;
        }
    }
    found.add_backups(subject)?;
    let FoundFiles { sources, mut left_out } = found;
    left_out.sort_by(|a, b| a.name.cmp(&b.name));
    left_out.dedup();
    let sources = std::iter::once(own).chain(sources.into_values()).collect();
    Ok(SessionSources { sources, left_out })
}

/// Lists what a planned new session is made of; of spilled outputs and backups only those that it names.
pub fn planned_sources(
    steps: &[PlanStep],
    file: &Path,
    root: Option<&Path>,
) -> Result<Vec<PackSource>, PathError> {
    let name = |path: &Path| {
        let below = root.and_then(|root| path.strip_prefix(root).ok()).unwrap_or(path);
        below.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
    };
    let (mut own, mut rest, mut links) = (Vec::new(), BTreeMap::new(), Vec::new());
    for step in steps {
        match step {
            PlanStep::CreateFile { file: made, content } => {
                let source = PackSource { name: name(made), content: content.clone(), mode: None };
                if made == file {
                    own.push(source);
                } else {
                    rest.insert(source.name.clone(), source);
                }
            }
            PlanStep::HardLink { from, to } => links.push((from, to)),
            _ => {}
        }
    }
    let mut named = NamedFiles::default();
    for source in own.iter().chain(rest.values()) {
        source.content.for_each_piece::<PathError>(&mut |bytes| {
            named.add(bytes);
            Ok(())
        })?;
    }
    for (from, to) in links {
        let file = to.file_name().unwrap_or_default().to_string_lossy();
        if named.has(&file) {
            let is_backup = to.iter().any(|part| part == "file-history");
            add_file(from, name(to), is_backup, &mut rest)?;
        }
    }
    Ok(own.into_iter().chain(rest.into_values()).collect())
}

/// The spilled outputs and file backups that lines name.
#[derive(Default)]
struct NamedFiles {
    names: std::collections::HashSet<Vec<u8>>,
}

impl NamedFiles {
    /// Looks through whole lines.
    fn add(&mut self, lines: &[u8]) {
        let is_part = |byte: &u8| !matches!(byte, b'"' | b'\\' | b'/' | b'\n' | b' ' | b'<');
        for at in Finder::new("tool-results/").find_iter(lines) {
            let name = lines[at + "tool-results/".len()..].iter().take_while(|byte| is_part(byte));
            self.names.insert(name.copied().collect());
        }
        for at in Finder::new("@v").find_iter(lines) {
            let is_word = |byte: &u8| byte.is_ascii_alphanumeric();
            let before = lines[..at].iter().rev().take(64).take_while(|byte| is_word(byte)).count();
            let after = lines[at + 2..].iter().take(16).take_while(|byte| is_word(byte)).count();
            self.names.insert(lines[at - before..at + 2 + after].to_vec());
        }
    }

    fn has(&self, name: &str) -> bool {
        self.names.contains(name.as_bytes())
    }
}

impl FoundFiles {
    /// Adds the client's file backups: the session's own, and those of earlier copies that it names.
    fn add_backups(&mut self, subject: SessionContext<'_>) -> Result<(), PathError> {
        let Some(root) = subject.root else { return Ok(()) };
        let id = &subject.file.id;
        let own = file_history_dir(root, id);
        let mut named = None;
        let facts = subject.history.session.facts();
        for dir in backup_dirs(&[root.to_owned()], subject.file, facts) {
            let prefix = format!("file-history/{id}");
            let Entries { plain, odd } = Entries::read(&dir)?;
            if own.as_ref() == Some(&dir) {
                self.leave_out_odd(&prefix, odd);
            }
            for (name, path) in plain {
                let in_pack = format!("{prefix}/{name}");
                if self.sources.contains_key(&in_pack) {
                    continue;
                }
                if own.as_ref() != Some(&dir) {
                    let named = match &named {
                        Some(named) => named,
                        None => named.insert(named_by(&subject.file.path)?),
                    };
                    if !named.has(&name) {
                        continue;
                    }
                }
                add_file(&path, in_pack, true, &mut self.sources)?;
            }
        }
        Ok(())
    }

    /// Adds the regular files below a directory; links and devices are not part of a history.
    fn add_dir(&mut self, dir: &Path, prefix: &str, depth: u32) -> Result<(), PathError> {
        // A link in place of the directory could lead anywhere.
        if !dir.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
            return Ok(());
        }
        if depth > DEEPEST {
            self.leave_out(prefix.to_owned(), LeftOutReason::TooDeep);
            return Ok(());
        }
        let Entries { plain, odd } = Entries::read(dir)?;
        self.leave_out_odd(prefix, odd);
        for (name, path) in plain {
            let name = format!("{prefix}/{name}");
            match path.symlink_metadata() {
                Ok(meta) if meta.is_dir() => self.add_dir(&path, &name, depth + 1)?,
                Ok(_) => add_file(&path, name, false, &mut self.sources)?,
                Err(gone) if is_missing(&gone) => {}
                Err(source) => return Err(PathError::new(&path, source)),
            }
        }
        Ok(())
    }

    fn leave_out_odd(&mut self, prefix: &str, names: Vec<String>) {
        for name in names {
            self.leave_out(format!("{prefix}/{name}"), LeftOutReason::OddName);
        }
    }

    fn leave_out(&mut self, name: String, reason: LeftOutReason) {
        self.left_out.push(LeftOut { name, reason });
    }
}

/// Finds the files that the lines of a session name.
fn named_by(path: &Path) -> Result<NamedFiles, PathError> {
    let mut named = NamedFiles::default();
    let mut rest = Vec::new();
    NewContent::Copy(path.to_owned()).for_each_piece::<PathError>(&mut |bytes| {
        rest.extend_from_slice(bytes);
        let end = memchr::memrchr(b'\n', &rest).map_or(0, |at| at + 1);
        named.add(&rest[..end]);
        rest.drain(..end);
        Ok(())
    })?;
    named.add(&rest);
    Ok(named)
}

/// The entries of a directory.
#[derive(Default)]
struct Entries {
    /// Those with a name that a pack can contain.
    plain: Vec<(String, PathBuf)>,
    /// The names of the others.
    odd: Vec<String>,
}

impl Entries {
    fn read(dir: &Path) -> Result<Self, PathError> {
        let error = |source| PathError::new(dir, source);
        let mut entries = Self::default();
        for entry in fs::read_dir(dir).map_err(error)? {
            let entry = entry.map_err(error)?;
            match entry.file_name().to_str().filter(|name| is_plain_name(name)) {
                Some(name) => entries.plain.push((name.to_owned(), entry.path())),
                None => entries.odd.push(entry.file_name().to_string_lossy().into_owned()),
            }
        }
        Ok(entries)
    }
}

fn add_file(
    path: &Path,
    name: String,
    is_backup: bool,
    sources: &mut BTreeMap<String, PackSource>,
) -> Result<(), PathError> {
    let Ok(meta) = path.symlink_metadata() else { return Ok(()) };
    if meta.is_file() {
        let mode = file_mode(&meta).filter(|_| is_backup).map(|mode| mode & 0o777);
        let source = PackSource { name: name.clone(), content: unchanging(path)?, mode };
        sources.insert(name, source);
    }
    Ok(())
}

/// Returns a file as it is now; a session may be written to while it is packed.
fn unchanging(path: &Path) -> Result<NewContent, PathError> {
    let stamp = Stamp::of_file(path).map_err(|source| PathError::new(path, source))?;
    Ok(NewContent::Beginning { path: path.to_owned(), stamp })
}
