//! Gram filters of a project's files: they tell a search which parts of a file cannot match.
//!
//! The filters are large and a search needs few of their bits, so single blocks are read. Each block has a
//! checksum, because lost bits would hide matches. If a block is damaged, the file is searched.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use bitcode::{Decode, Encode};
use memchr::memchr_iter;
use ramus_core::query::{GramFilter, GramFilterBuilder, GramQuery};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::file_identity::FileIdentity;
use super::{CacheLock, HistoryCache, frame_file, private_options};
use crate::claude_dir::{HistoryFile, Project};
use crate::derived::{DerivedKind, stored_values};
use crate::error::PathError;
use crate::regular_file;
use crate::scan::{
    LeafSummary, SkippedLines, list_spilled_results, read_line_chunks, summaries_in,
};

/// The size of the footer: offset, length and hash of the file list.
const FOOTER_BYTES: u64 = 24;

/// The gram filters of a project's files.
#[derive(Debug)]
pub(crate) struct ProjectGramFilters {
    bits: File,
    files: FxHashMap<Box<str>, FileGramFilter>,
}

/// The gram filters of one file.
#[derive(Clone, Debug, Encode, Decode)]
pub(crate) struct FileGramFilter {
    path: Box<str>,
    identity: FileIdentity,
    chunks: Vec<ChunkGramFilter>,
    /// Summaries that name a node. They are titles of other sessions (R15).
    pub(crate) summaries: Vec<LeafSummary>,
}

/// The filter of one chunk: some complete lines of a file.
#[derive(Clone, Debug, Encode, Decode)]
struct ChunkGramFilter {
    bytes: u64,
    lines: u32,
    /// The offset and length of its bits.
    at: u64,
    length: u32,
    odd: Vec<u16>,
}

/// Which parts of a file have to be searched.
#[derive(Debug)]
pub(crate) enum SearchExtent {
    All,
    /// Some chunks.
    Some(Vec<ChunkVerdict>),
    Nothing,
}

/// A chunk of a file: its bytes, its lines, and whether it may match.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChunkVerdict {
    pub(crate) bytes: u64,
    pub(crate) lines: u32,
    pub(crate) may_match: bool,
}

impl ProjectGramFilters {
    /// Opens the gram filters of a project.
    pub(crate) fn open(index: &HistoryCache, project: &Project) -> Option<Self> {
        let path = index.frame_file_path(&project.dir, FILTER_LEVEL)?;
        let mut bits = regular_file::open_for_reading(&path).ok()?;
        let files = read_file_list(&mut bits).ok()??;
        Some(Self {
            bits,
            files: files.into_iter().map(|file| (file.path.clone(), file)).collect(),
        })
    }

    /// Returns the filters of a file, if the file has not changed.
    pub(crate) fn file_filter(&self, file: &HistoryFile) -> Option<&FileGramFilter> {
        let kept = self.files.get(file.path.to_str()?)?;
        (Some(kept.identity) == file.identity).then_some(kept)
    }

    /// Returns which parts of a file may match.
    pub(crate) fn search_extent(
        &self,
        file: &FileGramFilter,
        clues: &[&GramQuery],
    ) -> io::Result<SearchExtent> {
        let mut seen = Vec::with_capacity(file.chunks.len());
        for chunk in &file.chunks {
            let ChunkGramFilter { bytes, lines, .. } = *chunk;
            seen.push(ChunkVerdict { bytes, lines, may_match: self.may_contain(chunk, clues)? });
        }
        let any = seen.iter().any(|seen| seen.may_match);
        Ok(if any { SearchExtent::Some(seen) } else { SearchExtent::Nothing })
    }

    fn may_contain(&self, chunk: &ChunkGramFilter, clues: &[&GramQuery]) -> io::Result<bool> {
        for clue in clues {
            let byte = |at: usize| -> io::Result<u8> {
                let block = self.read_block(chunk, at / BLOCK_BYTES)?;
                block.get(at % BLOCK_BYTES).copied().ok_or_else(damaged_error)
            };
            if !clue.has_escaped_char(&chunk.odd)
                && !clue.is_in_filter(chunk.length as usize, byte)?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reads a block of bits and verifies its checksum.
    fn read_block(&self, chunk: &ChunkGramFilter, index: usize) -> io::Result<Vec<u8>> {
        let length = (chunk.length as usize).saturating_sub(index * BLOCK_BYTES).min(BLOCK_BYTES);
        let at = chunk.at + (index * (BLOCK_BYTES + CHECKSUM_BYTES)) as u64;
        let mut bytes = vec![0; length + CHECKSUM_BYTES];
        read_exact_at(&self.bits, &mut bytes, at)?;
        let check = bytes.split_off(length);
        if check != block_checksum(&bytes, at) {
            return Err(damaged_error());
        }
        Ok(bytes)
    }
}

/// The block size. Small, because usually one byte of a block is needed.
const BLOCK_BYTES: usize = 60;
/// The size of the checksum after each block.
const CHECKSUM_BYTES: usize = 4;

/// The checksum includes the offset, so a block is valid only at its own position.
fn block_checksum(block: &[u8], at: u64) -> [u8; CHECKSUM_BYTES] {
    let [a, b, c, d, ..] = xxh3_64_with_seed(block, at).to_le_bytes();
    [a, b, c, d]
}

fn damaged_error() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the gram filter is damaged")
}

const FILTER_LEVEL: &str = "sketches";

fn read_file_list(file: &mut File) -> io::Result<Option<Vec<FileGramFilter>>> {
    file.seek(SeekFrom::End(-(FOOTER_BYTES as i64)))?;
    let mut foot = [[0; 8]; 3];
    for part in &mut foot {
        file.read_exact(part)?;
    }
    let [at, length, hash] = foot.map(u64::from_le_bytes);
    file.seek(SeekFrom::Start(at))?;
    let mut list = Vec::new();
    file.take(length).read_to_end(&mut list)?;
    Ok((xxh3_64(&list) == hash).then(|| bitcode::decode(&list).ok()).flatten())
}

#[cfg(unix)]
fn read_exact_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut bytes: &mut [u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, bytes, at)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => {
                bytes = &mut bytes[read..];
                at += read as u64;
            }
        }
    }
    Ok(())
}

/// Returns the files of a project that are searched.
fn searched_files(project: &Project) -> Vec<HistoryFile> {
    let mut files = project.files.clone();
    files.extend(list_spilled_results(project, None));
    if files.iter().any(|file| file.archived) {
        // An archive keeps filters of its own.
        let kept = stored_values(&DerivedKind::search(), files.iter());
        files.retain(|file| !kept.contains_key(&file.path));
    }
    files
}

/// Returns how many bytes of a project could have a filter but do not.
pub(crate) fn unfiltered_bytes(index: &HistoryCache, project: &Project) -> u64 {
    let known = ProjectGramFilters::open(index, project);
    let is_known =
        |file: &HistoryFile| known.as_ref().is_some_and(|known| known.file_filter(file).is_some());
    let files = searched_files(project);
    let unknown = files.iter().filter(|file| file.identity.is_some() && !is_known(file));
    unknown.map(|file| file.bytes).sum()
}

/// Builds the missing filters of a project. `on_read` gets the size of each file.
pub(crate) fn build_project_filters(
    index: &HistoryCache,
    _lock: &CacheLock,
    project: &Project,
    on_read: &(dyn Fn(u64) + Sync),
) -> Result<(), PathError> {
    let Some(path) = index.frame_file_path(&project.dir, FILTER_LEVEL) else { return Ok(()) };
    let known = ProjectGramFilters::open(index, project);
    let beside = frame_file::temporary_path(&path);
    let made = write_project_filters(known.as_ref(), project, &beside, on_read);
    made.and_then(|()| fs::rename(&beside, &path))
        .map_err(|source| PathError::on_write(&path, source))
}

fn write_project_filters(
    known: Option<&ProjectGramFilters>,
    project: &Project,
    beside: &Path,
    on_read: &(dyn Fn(u64) + Sync),
) -> io::Result<()> {
    let file = private_options(OpenOptions::new().write(true).truncate(true)).open(beside)?;
    let output = Mutex::new(FilterOutput { file: BufWriter::new(file), at: 0 });
    let head = frame_file::subject_frame(&project.dir);
    write_at_end(&output, |_| head)?;
    let sketched: Vec<Option<FileGramFilter>> = searched_files(project)
        .par_iter()
        .with_max_len(1)
        .map_init(GramFilterBuilder::default, |room, file| {
            let kept = known.and_then(|known| Some((known, known.file_filter(file)?)));
            let copied =
                kept.and_then(|(known, kept)| copy_file_filter(known, kept, &output).transpose());
            let sketched = match copied {
                Some(copied) => copied.map(Some),
                None => build_file_filter(file, room, &output),
            };
            on_read(file.bytes);
            sketched
        })
        .collect::<io::Result<_>>()?;
    let files: Vec<FileGramFilter> = sketched.into_iter().flatten().collect();
    let FilterOutput { file, at } = output.into_inner().unwrap_or_else(PoisonError::into_inner);
    write_file_list(file, at, &files)
}

/// The output file, shared by several threads.
struct FilterOutput {
    file: BufWriter<File>,
    at: u64,
}

/// Appends what `make` returns for its offset, and returns the offset.
fn write_at_end(
    output: &Mutex<FilterOutput>,
    make: impl FnOnce(u64) -> Vec<u8>,
) -> io::Result<u64> {
    let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
    let at = output.at;
    let bytes = make(at);
    output.file.write_all(&bytes)?;
    output.at += bytes.len() as u64;
    Ok(at)
}

/// Returns bits as they are stored at an offset: in blocks with checksums.
fn encode_blocks(bits: &[u8], at: u64) -> Vec<u8> {
    let mut out =
        Vec::with_capacity(bits.len() + bits.len().div_ceil(BLOCK_BYTES) * CHECKSUM_BYTES);
    for block in bits.chunks(BLOCK_BYTES) {
        let check = block_checksum(block, at + out.len() as u64);
        out.extend_from_slice(block);
        out.extend_from_slice(&check);
    }
    out
}

fn write_file_list(mut file: BufWriter<File>, at: u64, files: &[FileGramFilter]) -> io::Result<()> {
    let list = bitcode::encode(files);
    file.write_all(&list)?;
    for number in [at, list.len() as u64, xxh3_64(&list)] {
        file.write_all(&number.to_le_bytes())?;
    }
    file.flush()?;
    file.get_ref().sync_all()
}

/// Copies the filters of a file. `None`: they are damaged.
fn copy_file_filter(
    known: &ProjectGramFilters,
    kept: &FileGramFilter,
    output: &Mutex<FilterOutput>,
) -> io::Result<Option<FileGramFilter>> {
    let mut kept = kept.clone();
    for chunk in &mut kept.chunks {
        let all = 0..(chunk.length as usize).div_ceil(BLOCK_BYTES);
        let read: io::Result<Vec<Vec<u8>>> =
            all.map(|index| known.read_block(chunk, index)).collect();
        let Ok(bits) = read else { return Ok(None) };
        chunk.at = write_at_end(output, |at| encode_blocks(&bits.concat(), at))?;
    }
    Ok(Some(kept))
}

/// Reads a file and builds its filters. `None`: it has no identity yet, or changed while it was read.
fn build_file_filter(
    file: &HistoryFile,
    builder: &mut GramFilterBuilder,
    output: &Mutex<FilterOutput>,
) -> io::Result<Option<FileGramFilter>> {
    let (Some(identity), Some(path)) = (file.identity, file.path.to_str()) else {
        return Ok(None);
    };
    let mut summaries = Vec::new();
    let mut made: io::Result<Vec<ChunkGramFilter>> = Ok(Vec::new());
    let read = read_line_chunks(&file.path, |piece| {
        summaries_in(piece.bytes, &mut summaries);
        builder.add_lines(piece.bytes);
        let GramFilter { bits, escaped_units: odd } = builder.take_filter();
        let chunk = write_at_end(output, |at| encode_blocks(&bits, at)).map(|at| ChunkGramFilter {
            bytes: piece.bytes.len() as u64,
            lines: memchr_iter(b'\n', piece.bytes).count() as u32,
            at,
            length: bits.len() as u32,
            odd,
        });
        match (&mut made, chunk) {
            (Ok(made), Ok(chunk)) => made.push(chunk),
            (made, Err(error)) => *made = Err(error),
            (Err(_), _) => {}
        }
    });
    let stretches = made?;
    let sketched = FileGramFilter { path: path.into(), identity, chunks: stretches, summaries };
    // A read error is reported by the search, which reads the file itself.
    let is_whole = read.is_ok_and(|left_out| left_out == SkippedLines::Nothing);
    Ok((is_whole && identity.is_still_valid(&file.path)).then_some(sketched))
}
