//! Collects summaries that name a node of another file. Old clients wrote them into the next session (R15).

use std::cell::RefCell;
use std::io;

use memchr::{memchr, memmem, memrchr};
use ramus_core::digest::one_line;
use ramus_core::name::Name;
use ramus_core::session::Session;
use ramus_core::title::Summaries;
use rayon::prelude::*;

use super::pieces::pieces;
use crate::place::HistoryFile;
use crate::survey::to_time;

/// A summary and the node it names.
pub(crate) type Named = (Name, Box<str>);

thread_local! {
    static FINDER: RefCell<memmem::Finder<'static>> = RefCell::new(memmem::Finder::new(b"\"leafUuid\""));
}

/// Collects the summaries in some lines.
pub(crate) fn collect(lines: &[u8], named: &mut Vec<Named>) {
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
            session.end();
            let summaries = session.summaries();
            named.extend(summaries.filter_map(|(text, leaf)| Some((leaf?, one_line(text)))));
        }
    });
}

/// Reads the summaries of files. Files that cannot be read are skipped.
pub fn summaries(files: &[HistoryFile]) -> Summaries {
    let read = |file: &HistoryFile| -> io::Result<Vec<Named>> {
        let mut named = Vec::new();
        pieces(&file.path, |piece| collect(piece.bytes, &mut named))?;
        Ok(named)
    };
    let found: Vec<Vec<Named>> =
        files.par_iter().map(|file| read(file).unwrap_or_default()).collect();
    let mut summaries = Summaries::default();
    for (file, named) in files.iter().zip(found) {
        add(&mut summaries, file, &named);
    }
    summaries
}

/// Adds the summaries of one file.
pub(super) fn add(summaries: &mut Summaries, file: &HistoryFile, named: &[Named]) {
    for (leaf, text) in named {
        summaries.insert(*leaf, text, to_time(file.modified));
    }
}
