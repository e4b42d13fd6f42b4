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
use ramus_core::query::{Clue, Sketch, Sketched};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::identity::Identity;
use super::{Index, Lock, pack, private};
use crate::error::PathError;
use crate::place::{HistoryFile, Project};
use crate::regular;
use crate::scan::{LeftOut, Named, pieces, spills, summaries_in};

/// The size of the footer: offset, length and hash of the file list.
const FOOT: u64 = 24;

/// The gram filters of a project's files.
#[derive(Debug)]
pub(crate) struct Sketches {
    bits: File,
    files: FxHashMap<Box<str>, FileSketch>,
}

/// The gram filters of one file.
#[derive(Clone, Debug, Encode, Decode)]
pub(crate) struct FileSketch {
    path: Box<str>,
    identity: Identity,
    stretches: Vec<Stretch>,
    /// Summaries that name a node. They are titles of other sessions (R15).
    pub(crate) summaries: Vec<Named>,
}

/// The filter of one chunk: some complete lines of a file.
#[derive(Clone, Debug, Encode, Decode)]
struct Stretch {
    bytes: u64,
    lines: u32,
    /// The offset and length of its bits.
    at: u64,
    length: u32,
    odd: Vec<u16>,
}

/// Which parts of a file have to be searched.
#[derive(Debug)]
pub(crate) enum Sight {
    All,
    /// Some chunks.
    Some(Vec<Seen>),
    Nothing,
}

/// A chunk of a file: its bytes, its lines, and whether it may match.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub(crate) bytes: u64,
    pub(crate) lines: u32,
    pub(crate) may: bool,
}

impl Sketches {
    /// Opens the gram filters of a project.
    pub(crate) fn open(index: &Index, project: &Project) -> Option<Self> {
        let path = index.pack(&project.dir, LEVEL)?;
        let mut bits = regular::open(&path).ok()?;
        let files = list(&mut bits).ok()??;
        Some(Self {
            bits,
            files: files.into_iter().map(|file| (file.path.clone(), file)).collect(),
        })
    }

    /// Returns the filters of a file, if the file has not changed.
    pub(crate) fn of(&self, file: &HistoryFile) -> Option<&FileSketch> {
        let kept = self.files.get(file.path.to_str()?)?;
        (Some(kept.identity) == file.identity).then_some(kept)
    }

    /// Returns which parts of a file may match.
    pub(crate) fn look(&self, file: &FileSketch, clues: &[&Clue]) -> io::Result<Sight> {
        let mut seen = Vec::with_capacity(file.stretches.len());
        for stretch in &file.stretches {
            let Stretch { bytes, lines, .. } = *stretch;
            seen.push(Seen { bytes, lines, may: self.may_hold(stretch, clues)? });
        }
        let any = seen.iter().any(|seen| seen.may);
        Ok(if any { Sight::Some(seen) } else { Sight::Nothing })
    }

    fn may_hold(&self, stretch: &Stretch, clues: &[&Clue]) -> io::Result<bool> {
        for clue in clues {
            let byte = |at: usize| -> io::Result<u8> {
                let block = self.block(stretch, at / BLOCK)?;
                block.get(at % BLOCK).copied().ok_or_else(damaged)
            };
            if !clue.is_among(&stretch.odd) && !clue.is_in(stretch.length as usize, byte)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reads a block of bits and verifies its checksum.
    fn block(&self, stretch: &Stretch, index: usize) -> io::Result<Vec<u8>> {
        let length = (stretch.length as usize).saturating_sub(index * BLOCK).min(BLOCK);
        let at = stretch.at + (index * (BLOCK + CHECK)) as u64;
        let mut bytes = vec![0; length + CHECK];
        read_at(&self.bits, &mut bytes, at)?;
        let check = bytes.split_off(length);
        if check != checksum(&bytes, at) {
            return Err(damaged());
        }
        Ok(bytes)
    }
}

/// The block size. Small, because usually one byte of a block is needed.
const BLOCK: usize = 60;
/// The size of the checksum after each block.
const CHECK: usize = 4;

/// The checksum includes the offset, so a block is valid only at its own position.
fn checksum(block: &[u8], at: u64) -> [u8; CHECK] {
    let [a, b, c, d, ..] = xxh3_64_with_seed(block, at).to_le_bytes();
    [a, b, c, d]
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the sketch is damaged")
}

const LEVEL: &str = "sketches";

fn list(file: &mut File) -> io::Result<Option<Vec<FileSketch>>> {
    file.seek(SeekFrom::End(-(FOOT as i64)))?;
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
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

#[cfg(not(unix))]
fn read_at(mut file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(bytes)
}

/// Returns the files of a project that are searched.
fn searched(project: &Project) -> Vec<HistoryFile> {
    let mut files = project.files.clone();
    files.extend(spills(project, None));
    files
}

/// Returns how many bytes of a project could have a filter but do not.
pub(crate) fn unknown(index: &Index, project: &Project) -> u64 {
    let known = Sketches::open(index, project);
    let is_known =
        |file: &HistoryFile| known.as_ref().is_some_and(|known| known.of(file).is_some());
    let files = searched(project);
    let unknown = files.iter().filter(|file| file.identity.is_some() && !is_known(file));
    unknown.map(|file| file.bytes).sum()
}

/// Builds the missing filters of a project. `on_read` gets the size of each file.
pub(crate) fn build(
    index: &Index,
    _lock: &Lock,
    project: &Project,
    on_read: &(dyn Fn(u64) + Sync),
) -> Result<(), PathError> {
    let Some(path) = index.pack(&project.dir, LEVEL) else { return Ok(()) };
    let known = Sketches::open(index, project);
    let beside = pack::beside(&path);
    let made = make(known.as_ref(), project, &beside, on_read);
    made.and_then(|()| fs::rename(&beside, &path))
        .map_err(|source| PathError::writing(&path, source))
}

fn make(
    known: Option<&Sketches>,
    project: &Project,
    beside: &Path,
    on_read: &(dyn Fn(u64) + Sync),
) -> io::Result<()> {
    let file = private(OpenOptions::new().write(true).truncate(true)).open(beside)?;
    let output = Mutex::new(Output { file: BufWriter::new(file), at: 0 });
    let head = pack::head(&project.dir);
    write(&output, |_| head)?;
    let sketched: Vec<Option<FileSketch>> = searched(project)
        .par_iter()
        .with_max_len(1)
        .map_init(Sketch::default, |room, file| {
            let kept = known.and_then(|known| Some((known, known.of(file)?)));
            let copied = kept.and_then(|(known, kept)| copy(known, kept, &output).transpose());
            let sketched = match copied {
                Some(copied) => copied.map(Some),
                None => sketch(file, room, &output),
            };
            on_read(file.bytes);
            sketched
        })
        .collect::<io::Result<_>>()?;
    let files: Vec<FileSketch> = sketched.into_iter().flatten().collect();
    let Output { file, at } = output.into_inner().unwrap_or_else(PoisonError::into_inner);
    finish(file, at, &files)
}

/// The output file, shared by several threads.
struct Output {
    file: BufWriter<File>,
    at: u64,
}

/// Appends what `make` returns for its offset, and returns the offset.
fn write(output: &Mutex<Output>, make: impl FnOnce(u64) -> Vec<u8>) -> io::Result<u64> {
    let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
    let at = output.at;
    let bytes = make(at);
    output.file.write_all(&bytes)?;
    output.at += bytes.len() as u64;
    Ok(at)
}

/// Returns bits as they are stored at an offset: in blocks with checksums.
fn blocks(bits: &[u8], at: u64) -> Vec<u8> {
    let mut out = Vec::with_capacity(bits.len() + bits.len().div_ceil(BLOCK) * CHECK);
    for block in bits.chunks(BLOCK) {
        let check = checksum(block, at + out.len() as u64);
        out.extend_from_slice(block);
        out.extend_from_slice(&check);
    }
    out
}

fn finish(mut file: BufWriter<File>, at: u64, files: &[FileSketch]) -> io::Result<()> {
    let list = bitcode::encode(files);
    file.write_all(&list)?;
    for number in [at, list.len() as u64, xxh3_64(&list)] {
        file.write_all(&number.to_le_bytes())?;
    }
    file.flush()?;
    file.get_ref().sync_all()
}

/// Copies the filters of a file. `None`: they are damaged.
fn copy(
    known: &Sketches,
    kept: &FileSketch,
    output: &Mutex<Output>,
) -> io::Result<Option<FileSketch>> {
    let mut kept = kept.clone();
    for stretch in &mut kept.stretches {
        let all = 0..(stretch.length as usize).div_ceil(BLOCK);
        let read: io::Result<Vec<Vec<u8>>> = all.map(|index| known.block(stretch, index)).collect();
        let Ok(bits) = read else { return Ok(None) };
        stretch.at = write(output, |at| blocks(&bits.concat(), at))?;
    }
    Ok(Some(kept))
}

/// Reads a file and builds its filters. `None`: it has no identity yet, or changed while it was read.
fn sketch(
    file: &HistoryFile,
    sketch: &mut Sketch,
    output: &Mutex<Output>,
) -> io::Result<Option<FileSketch>> {
    let (Some(identity), Some(path)) = (file.identity, file.path.to_str()) else {
        return Ok(None);
    };
    let mut summaries = Vec::new();
    let mut made: io::Result<Vec<Stretch>> = Ok(Vec::new());
    let read = pieces(&file.path, |piece| {
        summaries_in(piece.bytes, &mut summaries);
        sketch.add(piece.bytes);
        let Sketched { bits, odd } = sketch.take();
        let stretch = write(output, |at| blocks(&bits, at)).map(|at| Stretch {
            bytes: piece.bytes.len() as u64,
            lines: memchr_iter(b'\n', piece.bytes).count() as u32,
            at,
            length: bits.len() as u32,
            odd,
        });
        match (&mut made, stretch) {
            (Ok(made), Ok(stretch)) => made.push(stretch),
            (made, Err(error)) => *made = Err(error),
            (Err(_), _) => {}
        }
    });
    let stretches = made?;
    let sketched = FileSketch { path: path.into(), identity, stretches, summaries };
    // A read error is reported by the search, which reads the file itself.
    let is_whole = read.is_ok_and(|left_out| left_out == LeftOut::Nothing);
    Ok((is_whole && identity.still_is(&file.path)).then_some(sketched))
}
