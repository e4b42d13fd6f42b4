//! Searches spilled results: tool outputs that were too long for their record and have their own file.

use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;

use memchr::{memchr_iter, memmem, memrchr};
use ramus_core::ids::IdHash;
use ramus_core::query::{Finding, FindingDetail, MatchStrength, Query, TextKind};
use ramus_core::record::{ByteSpan, RecordKind};
use ramus_core::time::Time;

use super::line_chunks::read_line_chunks;
use super::tool_filter::{ToolFilter, ToolVerdict};
use super::{MatchLocation, SearchSource};
use crate::claude_dir::{FileRole, HistoryFile, Project};
use crate::error::PathError;
use crate::overlay::{self, is_real_dir};
use crate::read::MAX_SPILLED_BYTES;

/// Lists the spilled results of a project's sessions, or of one of them.
pub fn list_spilled_results(project: &Project, session: Option<&str>) -> Vec<HistoryFile> {
    let sessions =
        project.session_files().filter(|file| session.is_none_or(|session| session == file.id));
    let mut found = Vec::new();
    for session in sessions {
        let dir = project.session_dir(&session.id).join("tool-results");
        // A symbolic link could point anywhere.
        if !is_real_dir(&dir) || !dir.parent().is_some_and(is_real_dir) {
            continue;
        }
        for path in overlay::files_in(&dir) {
            let Ok(mut file) = HistoryFile::from_path(&path) else { continue };
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

/// The record that a spilled result belongs to.
struct SpillOwner {
    bytes: Vec<u8>,
    identity: u128,
    time: Option<Time>,
}

/// Searches a spilled result, which is plain text.
pub(super) fn search_spilled(
    index: usize,
    source: &SearchSource,
    query: &Query,
    tool: Option<&ToolFilter>,
) -> io::Result<Vec<MatchLocation>> {
    if !query.wants_kind(TextKind::ToolResult) {
        return Ok(Vec::new());
    }
    let bytes = read_spilled(&source.file.path)?;
    let text = String::from_utf8_lossy(&bytes);
    let Some(range) = query.find_in_text(&text) else { return Ok(Vec::new()) };
    Ok(locate_spilled(index, source, query, tool, &text, range)?.into_iter().collect())
}

/// Like [`search_spilled`], for a search that ranks: one of the terms is enough.
pub(super) fn rank_spilled(
    index: usize,
    source: &SearchSource,
    query: &Query,
    tool: Option<&ToolFilter>,
) -> io::Result<Option<(MatchLocation, MatchStrength)>> {
    if !query.wants_kind(TextKind::ToolResult) {
        return Ok(None);
    }
    let bytes = read_spilled(&source.file.path)?;
    let text = String::from_utf8_lossy(&bytes);
    let found = query.strength_in_text(TextKind::ToolResult, &text);
    let Some((strength, range)) = found else { return Ok(None) };
    let place = locate_spilled(index, source, query, tool, &text, range)?;
    Ok(place.map(|place| (place, strength)))
}

/// Returns the location of a match in a spilled result; `None`: a filter leaves it out.
fn locate_spilled(
    index: usize,
    source: &SearchSource,
    query: &Query,
    tool: Option<&ToolFilter>,
    text: &str,
    range: Range<usize>,
) -> io::Result<Option<MatchLocation>> {
    let owner = find_owner(source)?;
    if let Some(tool) = tool {
        let fits = match owner.as_ref().map(|owner| tool.judge_record(&owner.bytes)) {
            Some(ToolVerdict::Yes) => true,
            Some(ToolVerdict::Answers(ids)) => {
                let calls = tool.matching_call_ids(&session_file_of(&source.file.path))?;
                ids.iter().any(|id: &IdHash| calls.contains(id))
            }
            Some(ToolVerdict::No) | None => false,
        };
        if !fits {
            return Ok(None);
        }
    }
    let time = owner.as_ref().and_then(|owner| owner.time);
    let fits = owner.as_ref().is_none_or(|owner| query.wants_record(&owner.bytes));
    if !fits || time.is_some_and(|time| !query.is_in_time(time)) {
        return Ok(None);
    }
    let start = memrchr(b'\n', &text.as_bytes()[..range.start]).map_or(0, |newline| newline + 1);
    let length = memchr::memchr(b'\n', &text.as_bytes()[start..]).unwrap_or(text.len() - start);
    let path_key = ramus_core::ids::RecordUuid::new(source.file.relative.as_bytes());
    Ok(Some(MatchLocation {
        source: index as u32,
        line: 1 + memchr_iter(b'\n', &text.as_bytes()[..range.start]).count() as u32,
        span: ByteSpan { offset: start as u64, len: length as u32 },
        time: time.or(Some(crate::survey::time_from_system(source.file.modified))),
        is_dated: time.is_some(),
        identity: owner.map_or(path_key.to_bits(), |owner| owner.identity),
        rank: 0,
        // If the record itself matches too, that is the better location.
        is_copy: true,
    }))
}

/// Reads as much of a spilled result as is searched.
fn read_spilled(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    overlay::open(path)?.take(MAX_SPILLED_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Shows the match in a spilled result.
pub(super) fn read_spilled_hit<T>(
    source: &SearchSource,
    place: &MatchLocation,
    query: &Query,
    show: impl FnOnce(&Finding<'_>) -> T,
) -> Result<Option<T>, PathError> {
    let bytes = read_spilled(&source.file.path)
        .map_err(|error| PathError::new(&source.file.path, error))?;
    let text = String::from_utf8_lossy(&bytes);
    let found = query.strength_in_text(TextKind::ToolResult, &text);
    let Some((_, range)) = found else { return Ok(None) };
    Ok(Some(show(&Finding {
        start: 0,
        len: bytes.len(),
        kind: RecordKind::User,
        uuid: None,
        time: place.time,
        identity: place.identity,
        session: None,
        is_copy: false,
        sidechain: false,
        text_hash: IdHash::new(b""),
        text_kind: TextKind::ToolResult,
        text,
        range,
        strength: MatchStrength::default(),
        message_ids: Vec::new(),
    })))
}

/// Returns the offset of the record that a spilled result belongs to.
pub(super) fn owner_offset(source: &SearchSource) -> io::Result<Option<u64>> {
    let mut found = None;
    for_owner_line(source, |at, _| found = Some(at))?;
    Ok(found)
}

fn find_owner(source: &SearchSource) -> io::Result<Option<SpillOwner>> {
    let mut owner = None;
    let any = Query::from_regex("").map_err(io::Error::other)?;
    for_owner_line(source, |_, bytes| {
        any.find_in_line(bytes, FindingDetail::Whether, |finding| {
            owner = Some(SpillOwner {
                bytes: bytes.to_vec(),
                identity: finding.identity,
                time: finding.time,
            });
        });
    })?;
    Ok(owner)
}

/// Finds the first line of the session that contains the path of a spilled result.
fn for_owner_line(source: &SearchSource, mut each: impl FnMut(u64, &[u8])) -> io::Result<()> {
    let name = source.file.path.file_name().unwrap_or_default().to_string_lossy();
    let needle = format!("tool-results/{name}");
    let finder = memmem::Finder::new(&needle);
    let mut found = false;
    read_line_chunks(&session_file_of(&source.file.path), |piece| {
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
pub(super) fn session_file_of(path: &Path) -> std::path::PathBuf {
    let dir = path.parent().and_then(Path::parent).unwrap_or(path);
    dir.with_extension("jsonl")
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;

    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_among_the_results_are_not_followed() {
        let home = testkit::TestHome::new();
        let session = home.write_session("-p/0a1b2c3d.jsonl", "a user hello");
        let project = |home: &testkit::TestHome| {
            Project::list_dir(
                &home.claude_dir(),
                home.claude_dir().join("projects/-p"),
                &mut Vec::new(),
            )
        };
        let results = session.with_extension("").join("tool-results");
        fs::create_dir_all(&results).unwrap();
        let secret = home.path().join("secret.txt");
        fs::write(&secret, "the samovar").unwrap();
        fs::write(results.join("own.txt"), "the teapot").unwrap();
        symlink(&secret, results.join("link.txt")).unwrap();
        let found = list_spilled_results(&project(&home), None);
        assert_eq!(found.iter().map(|file| &*file.id).collect::<Vec<_>>(), ["own"]);
        assert_eq!(
            crate::read::read_spilled_output(&session, Path::new("own.txt")).as_deref(),
            Some("the teapot")
        );
        assert_eq!(crate::read::read_spilled_output(&session, Path::new("link.txt")), None);
        // Nor is a directory of them that is a link.
        fs::rename(&results, home.path().join("elsewhere")).unwrap();
        symlink(home.path().join("elsewhere"), &results).unwrap();
        assert!(list_spilled_results(&project(&home), None).is_empty());
        assert_eq!(crate::read::read_spilled_output(&session, Path::new("own.txt")), None);
    }
}
