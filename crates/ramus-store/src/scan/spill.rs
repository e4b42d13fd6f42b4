//! Searches spilled results: tool outputs that were too long for their record and have their own file.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use memchr::{memchr_iter, memmem, memrchr};
use ramus_core::name::Key;
use ramus_core::query::{Detail, Finding, Query, TextKind};
use ramus_core::record::{ByteSpan, Kind};
use ramus_core::time::Time;

use super::pieces::pieces;
use super::tool::{ToolFilter, Verdict};
use super::{Place, Source};
use crate::error::PathError;
use crate::place::{FileRole, HistoryFile, Project};
use crate::read::SPILLED;
use crate::regular;

/// Lists the spilled results of a project's sessions, or of one of them.
pub fn spills(project: &Project, session: Option<&str>) -> Vec<HistoryFile> {
    let sessions =
        project.sessions().filter(|file| session.is_none_or(|session| session == file.id));
    let mut found = Vec::new();
    for session in sessions {
        let dir = project.session_dir(&session.id).join("tool-results");
        // A symbolic link could point anywhere.
        if !is_real_dir(&dir) || !dir.parent().is_some_and(is_real_dir) {
            continue;
        }
        let Ok(entries) = fs::read_dir(&dir) else { continue };
        let is_file = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_file());
        for path in entries.flatten().filter(is_file).map(|entry| entry.path()) {
            let Ok(mut file) = HistoryFile::at(&path) else { continue };
            if let Ok(relative) = path.strip_prefix(&project.root) {
                let parts: Vec<_> = relative.iter().map(|part| part.to_string_lossy()).collect();
                file.relative = parts.join("/");
            }
            file.role = FileRole::Journal { session: session.id.clone() };
            found.push(file);
        }
    }
    found
}

/// Whether a path is a directory and not a link to one.
pub(crate) fn is_real_dir(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| meta.is_dir())
}

/// The record that a spilled result belongs to.
struct Owner {
    bytes: Vec<u8>,
    identity: u128,
    time: Option<Time>,
}

/// Searches a spilled result, which is plain text.
pub(super) fn search(
    index: usize,
    source: &Source,
    query: &Query,
    tool: Option<&ToolFilter>,
) -> io::Result<Vec<Place>> {
    if !query.wants(TextKind::ToolResult) {
        return Ok(Vec::new());
    }
    let bytes = read(&source.file.path)?;
    let text = String::from_utf8_lossy(&bytes);
    let Some(range) = query.find(&text) else { return Ok(Vec::new()) };
    let owner = owner(source)?;
    if let Some(tool) = tool {
        let fits = match owner.as_ref().map(|owner| tool.judge(&owner.bytes)) {
            Some(Verdict::Yes) => true,
            Some(Verdict::Answers(ids)) => {
                let calls = tool.calls(&session_file(&source.file.path))?;
                ids.iter().any(|id: &Key| calls.contains(id))
            }
            Some(Verdict::No) | None => false,
        };
        if !fits {
            return Ok(Vec::new());
        }
    }
    let time = owner.as_ref().and_then(|owner| owner.time);
    if time.is_some_and(|time| !query.is_in_time(time)) {
        return Ok(Vec::new());
    }
    let start = memrchr(b'\n', &text.as_bytes()[..range.start]).map_or(0, |newline| newline + 1);
    let length = memchr::memchr(b'\n', &text.as_bytes()[start..]).unwrap_or(text.len() - start);
    let path_key = ramus_core::name::Name::new(source.file.relative.as_bytes());
    Ok(vec![Place {
        source: index as u32,
        line: 1 + memchr_iter(b'\n', &text.as_bytes()[..range.start]).count() as u32,
        span: ByteSpan { at: start as u64, len: length as u32 },
        time: time.or(Some(crate::survey::to_time(source.file.modified))),
        is_dated: time.is_some(),
        identity: owner.map_or(path_key.bits(), |owner| owner.identity),
        score: 100,
        // If the record itself matches too, that is the better location.
        is_copy: true,
    }])
}

/// Reads as much of a spilled result as is searched.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    regular::open(path)?.take(SPILLED).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Shows the match in a spilled result.
pub(super) fn read_again<T>(
    source: &Source,
    place: &Place,
    query: &Query,
    show: impl FnOnce(&Finding<'_>) -> T,
) -> Result<Option<T>, PathError> {
    let bytes =
        read(&source.file.path).map_err(|error| PathError::new(&source.file.path, error))?;
    let text = String::from_utf8_lossy(&bytes);
    let Some(range) = query.find(&text) else { return Ok(None) };
    Ok(Some(show(&Finding {
        start: 0,
        len: bytes.len(),
        kind: Kind::User,
        name: None,
        time: place.time,
        identity: place.identity,
        session: None,
        is_copy: false,
        sidechain: false,
        said: Key::new(b""),
        text_kind: TextKind::ToolResult,
        text,
        range,
        count: 1,
    })))
}

/// Returns the offset of the record that a spilled result belongs to.
pub(super) fn owner_at(source: &Source) -> io::Result<Option<u64>> {
    let mut found = None;
    with_owner(source, |at, _| found = Some(at))?;
    Ok(found)
}

fn owner(source: &Source) -> io::Result<Option<Owner>> {
    let mut owner = None;
    let any = Query::regex("").map_err(io::Error::other)?;
    with_owner(source, |_, bytes| {
        any.findings(bytes, Detail::Whether, |finding| {
            owner = Some(Owner {
                bytes: bytes.to_vec(),
                identity: finding.identity,
                time: finding.time,
            });
        });
    })?;
    Ok(owner)
}

/// Finds the first line of the session that contains the path of a spilled result.
fn with_owner(source: &Source, mut each: impl FnMut(u64, &[u8])) -> io::Result<()> {
    let name = source.file.path.file_name().unwrap_or_default().to_string_lossy();
    let needle = format!("tool-results/{name}");
    let finder = memmem::Finder::new(&needle);
    let mut found = false;
    pieces(&session_file(&source.file.path), |piece| {
        if found {
            return;
        }
        let Some(at) = finder.find(piece.bytes) else { return };
        found = true;
        let start = memrchr(b'\n', &piece.bytes[..at]).map_or(0, |newline| newline + 1);
        let end =
            memchr::memchr(b'\n', &piece.bytes[at..]).map_or(piece.bytes.len(), |end| at + end);
        each(piece.at + start as u64, &piece.bytes[start..end]);
    })?;
    Ok(())
}

/// Returns the session file for a spilled result `<session>/tool-results/<name>`.
pub(super) fn session_file(path: &Path) -> std::path::PathBuf {
    let dir = path.parent().and_then(Path::parent).unwrap_or(path);
    dir.with_extension("jsonl")
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_among_the_results_are_not_followed() {
        let home = testkit::Home::new();
        let session = home.session("-p/0a1b2c3d.jsonl", "a user hello");
        let project = |home: &testkit::Home| {
            Project::list(&home.claude(), home.claude().join("projects/-p"), &mut Vec::new())
        };
        let results = session.with_extension("").join("tool-results");
        fs::create_dir_all(&results).unwrap();
        let secret = home.path().join("secret.txt");
        fs::write(&secret, "the samovar").unwrap();
        fs::write(results.join("own.txt"), "the teapot").unwrap();
        symlink(&secret, results.join("link.txt")).unwrap();
        let found = spills(&project(&home), None);
        assert_eq!(found.iter().map(|file| &*file.id).collect::<Vec<_>>(), ["own"]);
        assert_eq!(
            crate::read::spilled(&session, Path::new("own.txt")).as_deref(),
            Some("the teapot")
        );
        assert_eq!(crate::read::spilled(&session, Path::new("link.txt")), None);
        // Nor is a directory of them that is a link.
        fs::rename(&results, home.path().join("elsewhere")).unwrap();
        symlink(home.path().join("elsewhere"), &results).unwrap();
        assert!(spills(&project(&home), None).is_empty());
        assert_eq!(crate::read::spilled(&session, Path::new("own.txt")), None);
    }
}
