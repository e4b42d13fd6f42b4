//! Collects summaries that name a node of another file. Old clients wrote them into the next session (R15).

use std::cell::RefCell;
use std::io;

use memchr::{memchr, memmem, memrchr};
use ramus_core::digest::one_line;
use ramus_core::ids::RecordUuid;
use ramus_core::session::Session;
use ramus_core::title::ProjectSummaries;
use rayon::prelude::*;

use super::line_chunks::read_line_chunks;
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
    let read = |file: &HistoryFile| -> io::Result<Vec<LeafSummary>> {
        let mut named = Vec::new();
        read_line_chunks(&file.path, |piece| collect_summaries(piece.bytes, &mut named))?;
        Ok(named)
    };
    let found: Vec<Vec<LeafSummary>> =
        files.par_iter().map(|file| read(file).unwrap_or_default()).collect();
    let mut summaries = ProjectSummaries::default();
    for (file, named) in files.iter().zip(found) {
        add_summaries(&mut summaries, file, &named);
    }
    summaries
}

/// Adds the summaries of one file.
pub(super) fn add_summaries(
    summaries: &mut ProjectSummaries,
    file: &HistoryFile,
    named: &[LeafSummary],
) {
    for (leaf, text) in named {
        summaries.insert(*leaf, text, time_from_system(file.modified));
    }
}
