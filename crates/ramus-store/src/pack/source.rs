//! Which files belong to a session, under the names that they have in a pack.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use memchr::memmem::Finder;

use super::manifest::is_plain_name;
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

/// How deep a session's directory is looked through.
const DEEPEST: u32 = 8;

/// Lists everything that belongs to a session, the session itself first and the rest by name.
///
/// `project` is the name of the project in the pack.
pub fn session_sources(
    subject: SessionContext<'_>,
    project: &str,
) -> Result<Vec<PackSource>, PathError> {
    let id = &subject.file.id;
    let in_project = |name: &str| format!("projects/{project}/{name}");
    let own = PackSource {
        name: in_project(&format!("{id}.jsonl")),
        content: unchanging(&subject.file.path)?,
        mode: None,
    };
    let mut rest = BTreeMap::new();
    add_dir(&subject.dir.join(id), &in_project(id), 0, &mut rest)?;
    let (agents, problems) = read_agents(subject.files, id);
    if let Some(problem) = problems.into_iter().next() {
        return Err(problem);
    }
    for agent in agents.iter().filter(|agent| agent.file.role == FileRole::FlatAgent) {
        for path in [agent.file.path.clone(), agent.file.path.with_extension("meta.json")] {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            add_file(&path, in_project(&name), false, &mut rest)?;
        }
    }
    add_backups(subject, &mut rest)?;
    Ok(std::iter::once(own).chain(rest.into_values()).collect())
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

/// Adds the client's file backups: the session's own, and those of earlier copies that it names.
fn add_backups(
    subject: SessionContext<'_>,
    sources: &mut BTreeMap<String, PackSource>,
) -> Result<(), PathError> {
    let Some(root) = subject.root else { return Ok(()) };
    let id = &subject.file.id;
    let own = file_history_dir(root, id);
    let mut named = None;
    let facts = subject.history.session.facts();
    for dir in backup_dirs(&[root.to_owned()], subject.file, facts) {
        for (name, path) in regular_files(&dir)? {
            let in_pack = format!("file-history/{id}/{name}");
            if sources.contains_key(&in_pack) {
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
            add_file(&path, in_pack, true, sources)?;
        }
    }
    Ok(())
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

/// Adds the regular files below a directory; links and devices are not part of a history.
fn add_dir(
    dir: &Path,
    prefix: &str,
    depth: u32,
    sources: &mut BTreeMap<String, PackSource>,
) -> Result<(), PathError> {
    // A link in place of the directory could lead anywhere.
    if depth > DEEPEST || !dir.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
        return Ok(());
    }
    for (name, path) in entries(dir)? {
        let name = format!("{prefix}/{name}");
        match path.symlink_metadata() {
            Ok(meta) if meta.is_dir() => add_dir(&path, &name, depth + 1, sources)?,
            Ok(_) => add_file(&path, name, false, sources)?,
            Err(gone) if is_missing(&gone) => {}
            Err(source) => return Err(PathError::new(&path, source)),
        }
    }
    Ok(())
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

fn regular_files(dir: &Path) -> Result<Vec<(String, std::path::PathBuf)>, PathError> {
    let mut files = entries(dir)?;
    files.retain(|(_, path)| path.symlink_metadata().is_ok_and(|meta| meta.is_file()));
    Ok(files)
}

/// Lists the entries of a directory whose names a pack can contain.
fn entries(dir: &Path) -> Result<Vec<(String, std::path::PathBuf)>, PathError> {
    let error = |source| PathError::new(dir, source);
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).map_err(error)? {
        let entry = entry.map_err(error)?;
        if let Some(name) = entry.file_name().to_str().filter(|name| is_plain_name(name)) {
            found.push((name.to_owned(), entry.path()));
        }
    }
    Ok(found)
}
