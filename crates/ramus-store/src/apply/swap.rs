//! Another content in the place of a file, without losing a byte that somebody else writes.
//!
//! A file is never cut and never written over: a check and the cut after it are two calls, and
//! what another program adds in between would be gone. Instead:
//!
//! 1. The new content was written beside the file and synced, and the journal holds its inode and
//!    hash (`prepare`).
//! 2. The two files are swapped in one step (`RENAME_EXCHANGE`). There is no moment without a file,
//!    so a client that opens the session finds one and does not create it again (it would with
//!    `O_CREAT|O_TRUNC`). Whatever bore the name, even a file that an editor put there a moment ago,
//!    has ours now: nothing was overwritten.
//! 3. The old file cannot be reached by its name any more. Only now it is compared with what was
//!    planned for. If it begins otherwise, the two are swapped back, and the operation stops.
//! 4. What others added behind the known end, before the swap or through a file they still have
//!    open, is added to the new file line by line until two looks agree. A line that is not whole
//!    yet stays for later.
//! 5. The old file itself is moved into ramus's state, not removed. Each later command that writes or
//!    lists operations looks at it again (`late`): a write that came even later is carried over then.
//!
//! So every byte that another program manages to write lands in one of two files that both stay: the
//! one that has the name, or the one that is kept. Files of a project are not made of lines: there
//! the old file must be exactly what was planned for, else it goes back, and if somebody saved both
//! meanwhile, the newer one stays in place and the message says where the other one is.
//!
//! Where files cannot be swapped (some network file systems), the old file is moved aside and the new
//! one gets the name only if nobody took it in between; see [`Swap::place_with_gap`].

use std::collections::HashMap;
use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::ApplyError;
use super::prepare::nothing;
use crate::disk::{self, WriteError};
use crate::journal::{Change, Kept, Prepared};
use crate::live::is_open_elsewhere;
use crate::stamp::Stamp;

/// How long others get to finish a write that they have begun, between two looks.
const BETWEEN_LOOKS: Duration = Duration::from_millis(if cfg!(test) { 0 } else { 10 });
/// How often the old file is looked at before the rest is left to the next command.
const LOOKS: u32 = 50;

/// One replacement: which files, and what they must be.
pub(super) struct Swap<'a> {
    pub(super) file: &'a Path,
    /// Has the new content before the swap, and the old file after it.
    pub(super) beside: &'a Path,
    /// Where the old file goes: the first that lies on its file system.
    pub(super) places: Vec<&'a Path>,
    /// What the old file must begin with, or be.
    pub(super) old: Stamp,
    pub(super) new: &'a Prepared,
    /// Lines that others add are carried over.
    pub(super) carries: bool,
    /// The new content is a copy that we wrote ourselves, not a file that comes back.
    pub(super) is_copy: bool,
    /// A process that is gone may have carried some over already.
    pub(super) is_resumed: bool,
}

/// What a replacement left, beside the new content in its place.
pub(super) struct Swapped {
    pub(super) kept: Kept,
    pub(super) notes: Vec<String>,
}

impl<'a> Swap<'a> {
    /// Another content for a file that is there.
    pub(super) fn replace(
        file: &'a Path,
        old: &Stamp,
        places: Vec<&'a Path>,
        carries: bool,
        new: &'a Prepared,
    ) -> Self {
        let (beside, old) = (&*new.beside, old.clone());
        Self { file, beside, places, old, new, carries, is_copy: true, is_resumed: false }
    }

    /// A session that comes back in the place of one that somebody made again.
    pub(super) fn join(file: &'a Path, places: Vec<&'a Path>, new: &'a Prepared) -> Self {
        let (carries, is_copy) = (true, false);
        let (beside, old) = (&*new.beside, nothing());
        Self { file, beside, places, old, new, carries, is_copy, is_resumed: false }
    }

    /// The swap that a change in the journal was to make; a process that is gone may have made it.
    /// `None`: it is no swap.
    pub(super) fn resumed(change: &'a Change, new: &'a Prepared) -> Option<Self> {
        let places = change.places();
        let swap = match change {
            Change::Put { file, before: Some(old), carries, .. } => {
                Self::replace(file, old, places, *carries, new)
            }
            Change::Join { file, .. } => Self::join(file, places, new),
            // Before is `None` in version 1 alone, whose interrupted operations are left as they are.
            Change::Put { before: None, .. }
            | Change::Append { .. }
            | Change::Make { .. }
            | Change::MakeDir { .. }
            | Change::Move { .. }
            | Change::Tidy { .. }
            | Change::Cut { .. } => return None,
        };
        Some(Self { is_resumed: true, ..swap })
    }

    /// Puts the new content in place; after an error the old file has its name again.
    pub(super) fn carry_out(&self) -> Result<Swapped, ApplyError> {
        let mut notes = self.place()?;
        let is_expected = match self.carries {
            true => begins(&self.old, self.beside),
            false => disk::stamp(self.beside).map(|now| now == self.old),
        };
        match is_expected {
            Ok(true) => {}
            Ok(false) => return Err(self.swap_back(ApplyError::Changed(self.file.to_owned()))),
            Err(error) => return Err(self.swap_back(error.into())),
        }
        let (kept, more) = self.finish()?;
        notes.extend(more);
        Ok(Swapped { kept, notes })
    }

    /// Does what is left to do once the files are swapped: carries over, and keeps the old file.
    pub(super) fn finish(&self) -> Result<(Kept, Vec<String>), ApplyError> {
        let mut notes = Vec::new();
        let mut known = self.old.len;
        if self.carries {
            let since = self.is_resumed.then_some(self.new.stamp.len);
            known = carry_all(self.beside, known, self.file, since, &mut notes)?;
        }
        disk::sync_dir_of(self.file)?;
        let at = keep(self.beside, &self.places)?;
        if at == self.beside {
            notes.push(format!(
                "Another program may have the old version of {} open. It stays at {}",
                self.file.display(),
                at.display()
            ));
        }
        // Of a file that others add to, only the length matters from now on.
        let known = Stamp { len: known, ..self.old.clone() };
        let kept = Kept { file: self.file.to_owned(), at, known, carries: self.carries };
        Ok((kept, notes))
    }

    /// Gives the new content its name; what had it is beside then.
    fn place(&self) -> Result<Vec<String>, ApplyError> {
        match disk::exchange(self.beside, self.file) {
            Err(error) if error.source.kind() == io::ErrorKind::Unsupported => {
                self.place_with_gap()
            }
            Err(error) if disk::is_missing(&error.source) => {
                Err(ApplyError::Changed(self.file.to_owned()))
            }
            placed => Ok(placed.map(|()| Vec::new())?),
        }
    }

    /// Gives the new content its name in two steps: between them there is no file.
    ///
    /// Nothing is overwritten: who creates the file in the gap keeps the name. Of a session the new
    /// file is moved aside as well and carried over whole.
    fn place_with_gap(&self) -> Result<Vec<String>, ApplyError> {
        let aside = aside(self.beside);
        disk::move_new(self.file, &aside)?;
        let mut placed = disk::move_new(self.beside, self.file);
        let mut again = Vec::new();
        while let Err(error) = &placed {
            let is_taken = error.source.kind() == io::ErrorKind::AlreadyExists;
            if !is_taken || !self.carries || again.len() == 5 {
                break;
            }
            let other = aside.with_extension(format!("{}", again.len() + 1));
            disk::move_new(self.file, &other)?;
            again.push(other);
            placed = disk::move_new(self.beside, self.file);
        }
        if let Err(error) = placed {
            return Err(match disk::move_new(&aside, self.file) {
                Ok(()) => error.into(),
                Err(_) => ApplyError::left(
                    error.into(),
                    format!("{} as it was before is {}", self.file.display(), aside.display()),
                ),
            });
        }
        disk::move_new(&aside, self.beside)?;
        let mut notes = Vec::new();
        for (n, other) in again.iter().enumerate() {
            carry_all(other, 0, self.file, None, &mut notes)?;
            let place = self.places[0].with_extension(format!("again-{n}"));
            keep(other, &[&place])?;
        }
        Ok(notes)
    }

    /// Gives the old file its name back; returns the error to report, with what could not be helped.
    fn swap_back(&self, cause: ApplyError) -> ApplyError {
        match self.take_back() {
            Ok(None) => cause,
            Ok(Some(left)) => ApplyError::left(cause, left),
            Err(error) => ApplyError::stuck(cause, error),
        }
    }

    /// Takes a swap back whose old file is beside. Returns what stays different, in words.
    pub(super) fn take_back(&self) -> Result<Option<String>, ApplyError> {
        let is_ours = is_new(self.new, self.file)?;
        if !is_ours && !self.carries {
            // Somebody saved a newer version: that one stays.
            return self.leave().map(Some);
        }
        match disk::exchange(self.beside, self.file) {
            Ok(()) => {}
            Err(error) if disk::is_missing(&error.source) => return self.leave().map(Some),
            Err(error) if error.source.kind() == io::ErrorKind::Unsupported => {
                let aside = aside(self.beside);
                disk::move_new(self.file, &aside)?;
                disk::move_new(self.beside, self.file)?;
                disk::move_new(&aside, self.beside)?;
            }
            Err(error) => return Err(error.into()),
        }
        disk::sync_dir_of(self.file)?;
        let mut notes = Vec::new();
        if self.carries {
            // A session that somebody put there is carried over whole, of ours what they added.
            let known = if is_new(self.new, self.beside)? { self.new.stamp.len } else { 0 };
            // What was carried over from the old file is in it anyway.
            let len = carry_all(self.beside, known, self.file, Some(self.old.len), &mut notes)?;
            let is_all = len == disk::read_len(self.beside)?;
            match (self.is_copy, known > 0 && is_all) {
                (true, true) => remove_unless_open(self.beside, &self.places)?,
                (true, false) => drop(keep(self.beside, &self.places)?),
                (false, _) => {}
            }
        } else if disk::stamp(self.beside)? == self.new.stamp {
            remove_unless_open(self.beside, &self.places)?;
        } else {
            // Saved between our look and the swap: swapped once more, the newer one has the name.
            disk::exchange(self.beside, self.file)?;
            return self.leave().map(Some);
        }
        Ok((!notes.is_empty()).then(|| notes.join("; ")))
    }

    /// Leaves what has the name alone, and keeps the old file.
    fn leave(&self) -> Result<String, ApplyError> {
        let at = keep(self.beside, &self.places)?;
        Ok(self.left_words(&at))
    }

    /// Says where the two versions are when somebody else's stays.
    pub(super) fn left_words(&self, kept: &Path) -> String {
        format!(
            "another program changed {0} meanwhile, and that version stays; {0} as it was before is {1}",
            self.file.display(),
            kept.display()
        )
    }
}

/// Where the old file lies between the two steps of [`Swap::place_with_gap`].
pub(super) fn aside(beside: &Path) -> PathBuf {
    beside.with_extension("old")
}

/// Whether a path leads to the new content itself, whatever was added to it since.
pub(super) fn is_new(new: &Prepared, path: &Path) -> Result<bool, ApplyError> {
    if !disk::exists(path)? {
        return Ok(false);
    }
    match inode(path) {
        Some(inode) if new.inode != 0 => Ok(inode == new.inode),
        _ => Ok(begins(&new.stamp, path).unwrap_or(false)),
    }
}

/// Returns the number of a file's inode. `None`: there is no such file, or no such number.
pub(super) fn inode(path: &Path) -> Option<u64> {
    #[cfg(unix)]
    return fs::symlink_metadata(path).ok().map(|meta| std::os::unix::fs::MetadataExt::ino(&meta));
    #[cfg(not(unix))]
    return None;
}

/// Whether a regular file begins with what was stamped.
pub(super) fn begins(stamp: &Stamp, path: &Path) -> Result<bool, crate::PathError> {
    let file = disk::open_regular(path)?;
    let read = || Ok(file.metadata()?.len() >= stamp.len && Stamp::of(&file, stamp.len)? == *stamp);
    read().map_err(|source| crate::PathError::new(path, source))
}

/// Adds to `file` what stands in `from` behind `known`, until two looks agree. Returns how much of
/// `from` is accounted for then.
///
/// Somebody may have begun with that already. Then `since` says where in `file` the lines stand that
/// are not to be added twice.
pub(super) fn carry_all(
    from: &Path,
    known: u64,
    file: &Path,
    since: Option<u64>,
    notes: &mut Vec<String>,
) -> Result<u64, ApplyError> {
    let (mut at, mut since) = (known, since);
    let mut bytes = 0;
    for look in 0..LOOKS {
        let carried = carry_lines(from, at, file, since.take())?;
        bytes += carried.added;
        let is_quiet = carried.known == at && carried.is_whole;
        at = carried.known;
        if is_quiet && look > 0 {
            break;
        }
        std::thread::sleep(BETWEEN_LOOKS);
    }
    if bytes > 0 {
        let name = file.display();
        notes.push(format!("{bytes} bytes that another program added to {name} were kept in it"));
    }
    Ok(at)
}

/// How far one look at an old file came.
pub(super) struct Carried {
    /// How much of the old file is accounted for.
    pub(super) known: u64,
    /// How many bytes were added to the new one.
    pub(super) added: u64,
    /// The old file ends with a whole line.
    pub(super) is_whole: bool,
}

/// Adds the whole lines that stand in `from` behind `known` to the end of `file`, in one write.
pub(super) fn carry_lines(
    from: &Path,
    known: u64,
    file: &Path,
    since: Option<u64>,
) -> Result<Carried, ApplyError> {
    let rest = disk::read_from(from, known)?;
    let end = memchr::memrchr(b'\n', &rest).map_or(0, |at| at + 1);
    let mut lines = rest[..end].to_vec();
    let mut is_continued = false;
    if let Some(since) = since.filter(|_| end > 0) {
        let others = disk::read_from(file, since)?;
        lines = without_lines(&lines, &others);
        // The power went while a line was carried over: the rest of it follows.
        let tail = &others[memchr::memrchr(b'\n', &others).map_or(0, |at| at + 1)..];
        if !tail.is_empty() && lines.starts_with(tail) {
            is_continued = true;
            lines.drain(..tail.len());
        }
    }
    let added = lines.len() as u64;
    if !lines.is_empty() {
        let out = disk::open_to_append(file)?;
        // What is there may lack its last newline.
        if !is_continued && !ends_line(&out).map_err(|source| WriteError::new(file, source))? {
            lines.insert(0, b'\n');
        }
        disk::append(file, &out, &lines, &mut Vec::new())?;
        disk::sync(file, &out)?;
    }
    Ok(Carried { known: known + end as u64, added, is_whole: end == rest.len() })
}

/// Returns the lines that are not among others; one that is there twice is taken off twice.
fn without_lines(lines: &[u8], others: &[u8]) -> Vec<u8> {
    let mut counts: HashMap<&[u8], u32> = HashMap::new();
    for line in others.split_inclusive(|byte| *byte == b'\n') {
        *counts.entry(line).or_default() += 1;
    }
    let is_new = |line: &&[u8]| match counts.get_mut(*line) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    };
    lines.split_inclusive(|byte| *byte == b'\n').filter(is_new).collect::<Vec<_>>().concat()
}

/// Whether a file's last byte is a newline; an empty one needs none.
fn ends_line(mut file: &fs::File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(true);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

/// Moves a file or directory to the first of some places that lies on its file system; a single file
/// is copied if none does. Returns where it is: where it was, if it was copied and is still open.
pub(super) fn keep(from: &Path, places: &[&Path]) -> Result<PathBuf, ApplyError> {
    let mut crossed = None;
    for place in places {
        if let Some(dir) = place.parent() {
            disk::create_dirs(dir)?;
        }
        match disk::move_new(from, place) {
            Ok(()) => {
                disk::sync_dir_of(from)?;
                disk::sync_dir_of(place)?;
                return Ok((*place).to_owned());
            }
            Err(error) if error.source.kind() == io::ErrorKind::CrossesDevices => {
                crossed = Some(error);
            }
            Err(error) => return Err(error.into()),
        }
    }
    match (crossed, places) {
        (Some(_), [place]) if from.symlink_metadata().is_ok_and(|meta| meta.is_file()) => {
            copy_out(from, place)
        }
        (Some(error), _) => Err(error.into()),
        (None, _) => Ok(from.to_owned()),
    }
}

/// Copies a file to another file system and removes it, unless somebody may still write to it.
fn copy_out(from: &Path, to: &Path) -> Result<PathBuf, ApplyError> {
    let part = part_of(to);
    disk::remove(&part)?;
    copy_by_way_of(&part, from, to).inspect_err(|_| {
        // If this fails as well, the next try begins with it.
        let _ = disk::remove(&part);
    })
}

/// Returns the name of a copy in the making. Files of a project may have any name, but hardly this one.
pub(super) fn part_of(to: &Path) -> PathBuf {
    let name = to.file_name().unwrap_or_default().to_string_lossy();
    to.with_file_name(format!(".ramus-{name}.part"))
}

fn copy_by_way_of(part: &Path, from: &Path, to: &Path) -> Result<PathBuf, ApplyError> {
    let before = disk::stamp(from)?;
    // A process that is gone may have come as far as this.
    let is_there = disk::exists(to)? && disk::stamp(to)? == before;
    if !is_there {
        write_copy(part, from, &before)?;
    }
    if is_open_elsewhere(from) || disk::stamp(from)? != before {
        disk::remove(part)?;
        return Ok(from.to_owned());
    }
    if !is_there {
        disk::move_new(part, to)?;
    }
    disk::sync_dir_of(to)?;
    disk::remove(from)?;
    disk::sync_dir_of(from)?;
    Ok(to.to_owned())
}

/// Writes a copy of a file, with its mode and date.
fn write_copy(part: &Path, from: &Path, stamp: &Stamp) -> Result<(), ApplyError> {
    let out = disk::create(part)?;
    let content = crate::plan::Content::Beginning { path: from.to_owned(), stamp: stamp.clone() };
    content.read::<ApplyError>(&mut |bytes| Ok(disk::write(part, &out, bytes)?))?;
    let meta = fs::metadata(from).map_err(|source| WriteError::new(from, source))?;
    disk::set_permissions(part, &out, meta.permissions())?;
    let modified = meta.modified().map_err(|source| WriteError::new(from, source))?;
    disk::set_modified(part, &out, modified)?;
    Ok(disk::sync(part, &out)?)
}

/// Removes a file of ours that had a name for a moment; one that somebody has open is kept.
pub(super) fn remove_unless_open(path: &Path, places: &[&Path]) -> Result<(), ApplyError> {
    if is_open_elsewhere(path) {
        keep(path, places)?;
    } else {
        disk::remove(path)?;
    }
    Ok(disk::sync_dir_of(path)?)
}
