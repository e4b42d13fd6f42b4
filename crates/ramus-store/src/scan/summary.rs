//! Collects summaries that name a node of another file. Old clients wrote them into the next session (R15).

use std::cell::RefCell;
use std::path::Path;

use memchr::{memchr, memmem, memrchr};
use ramus_core::digest::one_line;
use ramus_core::ids::RecordUuid;
use ramus_core::session::Session;
use ramus_core::title::ProjectSummaries;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::line_chunks::read_line_chunks;
use super::{ScanFilter, ScanNotes, SearchSource, SourceFormat};
use crate::claude_dir::HistoryFile;
use crate::survey::time_from_system;

/// A summary and the node it names.
pub(crate) type LeafSummary = (RecordUuid, Box<str>);

thread_local! {
    static FINDER: RefCell<memmem::Finder<'static>> = RefCell::new(memmem::Finder::new(b"\"leafUuid\""));
}

/// Collects the summaries in some lines.
pub(crate) fn collect_summaries(lines: &[u8], named: &mut Vec<LeafSummary>) {
    FINDER.with_borrow(|finder| {
        let mut from = 0;
        while let Some(at) = finder.find(&lines[from..]).map(|at| from + at) {
            let start = memrchr(b'\n', &lines[..at]).map_or(0, |newline| newline + 1);
            let end = memchr(b'\n', &lines[at..]).map_or(lines.len(), |newline| at + newline);
            let line = &lines[start..end];
            from = end;
            if memmem::find(line, b"\"summary\"").is_none() {
                continue;
            }
            let mut session = Session::default();
            session.push(line);
            session.finish_last_line();
            let summaries = session.summaries();
            named.extend(summaries.filter_map(|(text, leaf)| Some((leaf?, one_line(text)))));
        }
    });
}

/// Reads the summaries of files. Files that cannot be read are skipped.
pub fn read_summaries(files: &[HistoryFile]) -> ProjectSummaries {
    collect_by_file(files, read_file_summaries)
}

fn read_file_summaries(file: &HistoryFile) -> Vec<LeafSummary> {
    let mut named = Vec::new();
    // What was read before a problem is as good as the rest.
    let _ = read_line_chunks(&file.path, |piece| collect_summaries(piece.bytes, &mut named));
    named
}

/// Collects the summaries of files in their order, which decides between files of one time.
fn collect_by_file(
    files: &[HistoryFile],
    file_summaries: impl Fn(&HistoryFile) -> Vec<LeafSummary> + Sync,
) -> ProjectSummaries {
    let found: Vec<Vec<LeafSummary>> = files.par_iter().map(&file_summaries).collect();
    let mut summaries = ProjectSummaries::default();
    for (file, named) in files.iter().zip(found) {
        for (leaf, text) in named {
            summaries.insert(leaf, &text, time_from_system(file.modified));
        }
    }
    summaries
}

impl ScanNotes {
    /// Returns the summaries in the files of a project: as the search saw them, from the cache, or read now.
    pub fn project_summaries(
        &self,
        sources: &[SearchSource],
        filter: &ScanFilter,
        project: usize,
        files: &[HistoryFile],
    ) -> ProjectSummaries {
        let in_project = |source: &&SearchSource| {
            source.project == Some(project) && source.content == SourceFormat::Records
        };
        let indexed = (0..).zip(sources).filter(|(_, source)| in_project(source));
        let indexes: FxHashMap<&Path, u32> =
            indexed.map(|(index, source)| (&*source.file.path, index)).collect();
        collect_by_file(files, |file| {
            let index = indexes.get(&*file.path);
            let seen = index.and_then(|index| self.summaries.get(index)).cloned();
            let known = seen.or_else(|| filter.cached_summaries(project, file));
            known.unwrap_or_else(|| read_file_summaries(file))
        })
    }
}
