//! Replaces the content of a file without losing a byte that another program writes.
//!
//! A file is never truncated and never overwritten. A check and the truncation after it would be two
//! calls, and what another program writes in between would be lost. Instead:
//!
//! 1. The new content has been written to a temporary file and synced, and its inode and hash are in
//!    the journal (`prepare`).
//! 2. The two files are exchanged in one step (`RENAME_EXCHANGE`). The name always leads to a file, so
//!    a client that opens the session does not create a new one (it would, with `O_CREAT|O_TRUNC`).
//!    Nothing is overwritten: whatever had the name, even a file that an editor saved a moment ago, is
//!    now at the temporary path.
//! 3. The old file is out of reach of its name. Only now is it compared with what the plan was made
//!    for. If it differs, the two are exchanged back and the operation stops.
//! 4. Lines that other programs appended to the old file, before the exchange or through an open file
//!    handle, are copied to the new file until two checks in a row find nothing new. An incomplete line
//!    is left for later.
//! 5. The old file is moved to the trash, not deleted. Every later command that writes or lists
//!    operations checks it again and carries over what arrived since (`recover`).
//!
//! So every byte that another program writes is in one of two files that both remain: the one with the
//! name, or the one in the trash. The user's project files do not consist of lines. For them the old file
//! must be exactly what the plan was made for, or it is put back. If another program saved both in
//! between, the newer version keeps the name and the message says where the other one is.
//!
//! Some network file systems cannot exchange files. There the old file is moved aside, and the new one
//! gets the name only if nobody took it in between; see [`FileSwap::swap_in_with_gap`].

use std::collections::HashMap;
use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::ApplyError;
use super::own_lines::is_record;
use super::prepare::empty_stamp;
use crate::disk::{self, WriteError};
use crate::file_id::FileId;
use crate::journal::{JournalStep, PreparedFile, TrashedFile};
use crate::stamp::Stamp;

/// The pause between two checks, in which other programs can finish a write.
const LOOK_INTERVAL: Duration = Duration::from_millis(if cfg!(test) { 0 } else { 10 });
/// After this many checks the rest is left to the next command.
const MAX_LOOKS: u32 = 50;

/// One replacement: which files, and what they must contain.
pub(super) struct FileSwap<'a> {
    pub(super) file: &'a Path,
    /// The temporary path. It has the new content before the swap and the old file after it.
    pub(super) temporary: &'a Path,
    /// Where the old file goes: the first path on its file system.
    pub(super) trash_paths: Vec<&'a Path>,
    /// What the old file must begin with, or be equal to.
    pub(super) old: Stamp,
    pub(super) new: &'a PreparedFile,
    /// Whether lines that other programs append are carried over.
    pub(super) carries: bool,
    /// The new content is a copy that we wrote, not an original file that comes back.
    pub(super) is_copy: bool,
    /// A process that no longer runs may have carried over some lines already.
    pub(super) is_resumed: bool,
}

/// What a replacement left besides the new content: the old file, and notes for the user.
pub(super) struct SwapOutcome {
    pub(super) kept: TrashedFile,
    pub(super) notes: Vec<String>,
}

impl<'a> FileSwap<'a> {
    /// New content for an existing file.
    pub(super) fn for_replacement(
        file: &'a Path,
        old: &Stamp,
        trash_paths: Vec<&'a Path>,
        carries: bool,
        new: &'a PreparedFile,
    ) -> Self {
        let (temporary, old) = (&*new.beside, old.clone());
        Self { file, temporary, trash_paths, old, new, carries, is_copy: true, is_resumed: false }
    }

    /// A session that comes back from the trash where the client has created it again.
    pub(super) fn for_join(
        file: &'a Path,
        trash_paths: Vec<&'a Path>,
        new: &'a PreparedFile,
    ) -> Self {
        let (carries, is_copy) = (true, false);
        let (temporary, old) = (&*new.beside, empty_stamp());
        Self { file, temporary, trash_paths, old, new, carries, is_copy, is_resumed: false }
    }

    /// The swap that a journal entry describes, which a process that no longer runs may have made.
    /// `None`: the entry is not a swap.
    pub(super) fn from_journal(change: &'a JournalStep, new: &'a PreparedFile) -> Option<Self> {
        let places = change.trash_paths();
        let swap = match change {
            JournalStep::Put { file, before: Some(old), carries, .. } => {
                Self::for_replacement(file, old, places, *carries, new)
            }
            JournalStep::Join { file, .. } => Self::for_join(file, places, new),
            // Only version 1 has no `before`, and its interrupted operations are left as they are.
            JournalStep::Put { before: None, .. }
            | JournalStep::Append { .. }
            | JournalStep::Make { .. }
            | JournalStep::MakeDir { .. }
            | JournalStep::Move { .. }
            | JournalStep::Tidy { .. }
            | JournalStep::Cut { .. } => return None,
        };
        Some(Self { is_resumed: true, ..swap })
    }

    /// Makes the swap. After an error the old file has its name again.
    pub(super) fn carry_out(&self) -> Result<SwapOutcome, ApplyError> {
        let mut notes = self.swap_in()?;
        let is_expected = match self.carries {
            true => begins_with(&self.old, self.temporary),
            false => disk::stamp_file(self.temporary).map(|now| now == self.old),
        };
        match is_expected {
            Ok(true) => {}
            Ok(false) => {
                return Err(self.undo_after_error(ApplyError::Changed(self.file.to_owned())));
            }
            Err(error) => return Err(self.undo_after_error(error.into())),
        }
        let finished = self.finish_swap()?;
        notes.extend(finished.notes);
        Ok(SwapOutcome { notes, ..finished })
    }

    /// Completes a swap once the files are exchanged: carries over lines and moves the old file to the trash.
    pub(super) fn finish_swap(&self) -> Result<SwapOutcome, ApplyError> {
        let mut notes = Vec::new();
        let mut known = self.old.len;
        if self.carries {
            let since = self.is_resumed.then_some(self.new.stamp.len);
            known = carry_over(self.temporary, known, self.file, since, &mut notes)?;
        }
        disk::sync_parent_dir(self.file)?;
        let at = move_to_first(self.temporary, &self.trash_paths)?;
        if at == self.temporary && !self.trash_paths.is_empty() {
            notes.push(format!(
                "Another program may have the old version of {} open. It stays at {}",
                self.file.display(),
                at.display()
            ));
        }
        // Other programs only append to the file, so from now on its length is enough to notice writes.
        let known = Stamp { len: known, ..self.old.clone() };
        let kept = TrashedFile { file: self.file.to_owned(), at, known, carries: self.carries };
        Ok(SwapOutcome { kept, notes })
    }

    /// Exchanges the new content and the old file.
    fn swap_in(&self) -> Result<Vec<String>, ApplyError> {
        match disk::exchange_files(self.temporary, self.file) {
            Err(error) if error.source.kind() == io::ErrorKind::Unsupported => {
                self.swap_in_with_gap()
            }
            Err(error) if disk::is_missing(&error.source) => {
                Err(ApplyError::Changed(self.file.to_owned()))
            }
            placed => Ok(placed.map(|()| Vec::new())?),
        }
    }

    /// Does the same in two steps. Between them the name leads to no file.
    ///
    /// Nothing is overwritten: a program that creates the file in the gap keeps the name. If it is a
    /// session, that file is moved aside as well and all its lines are carried over.
    fn swap_in_with_gap(&self) -> Result<Vec<String>, ApplyError> {
        let aside = aside_path(self.temporary);
        disk::move_without_replacing(self.file, &aside)?;
        let mut placed = disk::move_without_replacing(self.temporary, self.file);
        let mut again = Vec::new();
        while let Err(error) = &placed {
            let is_taken = error.source.kind() == io::ErrorKind::AlreadyExists;
            if !is_taken || !self.carries || again.len() == 5 {
                break;
            }
            let other = aside.with_extension(format!("{}", again.len() + 1));
            disk::move_without_replacing(self.file, &other)?;
            again.push(other);
            placed = disk::move_without_replacing(self.temporary, self.file);
        }
        if let Err(error) = placed {
            return Err(match disk::move_without_replacing(&aside, self.file) {
                Ok(()) => error.into(),
                Err(_) => ApplyError::partly_rolled_back(
                    error.into(),
                    format!(
                        "the earlier version of {} is {}",
                        self.file.display(),
                        aside.display()
                    ),
                ),
            });
        }
        disk::move_without_replacing(&aside, self.temporary)?;
        let mut notes = Vec::new();
        for (n, other) in again.iter().enumerate() {
            carry_over(other, 0, self.file, None, &mut notes)?;
            let place = self.trash_paths[0].with_extension(format!("again-{n}"));
            move_to_first(other, &[&place])?;
        }
        Ok(notes)
    }

    /// Gives the old file its name back. Returns the error to report.
    fn undo_after_error(&self, cause: ApplyError) -> ApplyError {
        match self.swap_out() {
            Ok(None) => cause,
            Ok(Some(left)) => ApplyError::partly_rolled_back(cause, left),
            Err(error) => ApplyError::rollback_failed(cause, error),
        }
    }

    /// Reverses a swap whose old file is at the temporary path. Returns what remains different, as a sentence.
    pub(super) fn swap_out(&self) -> Result<Option<String>, ApplyError> {
        let is_ours = is_new_content(self.new, self.file)?;
        if !is_ours && !self.carries {
            // Another program saved a newer version, which stays.
            return self.trash_old_version().map(Some);
        }
        match disk::exchange_files(self.temporary, self.file) {
            Ok(()) => {}
            Err(error) if disk::is_missing(&error.source) => {
                return self.trash_old_version().map(Some);
            }
            Err(error) if error.source.kind() == io::ErrorKind::Unsupported => {
                let aside = aside_path(self.temporary);
                disk::move_without_replacing(self.file, &aside)?;
                disk::move_without_replacing(self.temporary, self.file)?;
                disk::move_without_replacing(&aside, self.temporary)?;
            }
            Err(error) => return Err(error.into()),
        }
        disk::sync_parent_dir(self.file)?;
        let mut notes = Vec::new();
        if self.carries {
            // From our file only added lines are carried over, from a file of another program all lines.
            let known =
                if is_new_content(self.new, self.temporary)? { self.new.stamp.len } else { 0 };
            // Lines that were carried over from the old file are still in it.
            let len = carry_over(self.temporary, known, self.file, Some(self.old.len), &mut notes)?;
            if self.is_copy {
                let is_open = disk::is_open_elsewhere(self.temporary);
                let is_all = known > 0 && len == disk::read_len(self.temporary)?;
                discard(self.temporary, is_open || !is_all, &self.trash_paths, &mut notes)?;
            }
            return Ok(joined_notes(&notes));
        }
        let is_open = disk::is_open_elsewhere(self.temporary);
        if disk::stamp_file(self.temporary)? == self.new.stamp {
            discard(self.temporary, is_open, &self.trash_paths, &mut notes)?;
        } else {
            // It was saved between our check and the exchange. Exchange again, so the newer version has the name.
            disk::exchange_files(self.temporary, self.file)?;
            return self.trash_old_version().map(Some);
        }
        Ok(joined_notes(&notes))
    }

    /// Leaves the other program's file in place and moves the old file to the trash.
    fn trash_old_version(&self) -> Result<String, ApplyError> {
        let at = move_to_first(self.temporary, &self.trash_paths)?;
        Ok(self.other_version_note(&at))
    }

    /// Says where the two versions are when another program's version stays.
    pub(super) fn other_version_note(&self, kept: &Path) -> String {
        format!(
            "another program changed {0} in the meantime and that version is kept; the earlier version is {1}",
            self.file.display(),
            kept.display()
        )
    }
}

fn joined_notes(notes: &[String]) -> Option<String> {
    (!notes.is_empty()).then(|| notes.join("; "))
}

/// Where the old file is between the two steps of [`FileSwap::swap_in_with_gap`].
pub(super) fn aside_path(beside: &Path) -> PathBuf {
    beside.with_extension("old")
}

/// Whether a path leads to our new content, even if lines were appended to it since.
pub(super) fn is_new_content(new: &PreparedFile, path: &Path) -> Result<bool, ApplyError> {
    if !disk::path_exists(path)? {
        return Ok(false);
    }
    match inode_number(path) {
        Some(inode) if new.inode != 0 => Ok(inode == new.inode),
        _ => Ok(begins_with(&new.stamp, path).unwrap_or(false)),
    }
}

/// Returns a file's inode number. `None`: there is no such file.
pub(super) fn inode_number(path: &Path) -> Option<u64> {
    FileId::without_following(path).ok().map(|id| id.number)
}

/// Whether a regular file begins with the stamped content.
pub(super) fn begins_with(stamp: &Stamp, path: &Path) -> Result<bool, crate::PathError> {
    let file = disk::open_regular(path)?;
    let read =
        || Ok(file.metadata()?.len() >= stamp.len && Stamp::of_prefix(&file, stamp.len)? == *stamp);
    read().map_err(|source| crate::PathError::new(path, source))
}

/// Appends to `file` what `from` has after offset `known`, until two checks in a row find nothing new.
/// Returns up to which offset `from` has been carried over.
///
/// An earlier process may have begun already. Then `since` is the offset in `file` after which lines
/// must not be added twice.
pub(super) fn carry_over(
    from: &Path,
    known: u64,
    file: &Path,
    since: Option<u64>,
    notes: &mut Vec<String>,
) -> Result<u64, ApplyError> {
    let (mut at, mut since) = (known, since);
    let mut bytes = 0;
    for look in 0..MAX_LOOKS {
        let carried = carry_over_once(from, at, file, since.take())?;
        bytes += carried.added;
        let is_quiet = carried.known == at && carried.is_whole;
        at = carried.known;
        if is_quiet && look > 0 {
            break;
        }
        std::thread::sleep(LOOK_INTERVAL);
    }
    if bytes > 0 {
        let name = file.display();
        notes.push(format!("{bytes} bytes that another program appended to {name} were kept"));
    }
    Ok(at)
}

/// The result of one check of an old file.
pub(super) struct CarryOver {
    /// Up to which offset the old file has been carried over.
    pub(super) known: u64,
    /// How many bytes were added to the new one.
    pub(super) added: u64,
    /// The old file ends with a complete line.
    pub(super) is_whole: bool,
}

/// Appends the complete lines that `from` has after offset `known` to `file`, in one write.
pub(super) fn carry_over_once(
    from: &Path,
    known: u64,
    file: &Path,
    since: Option<u64>,
) -> Result<CarryOver, ApplyError> {
    let rest = disk::read_from(from, known)?;
    let end = memchr::memrchr(b'\n', &rest).map_or(0, |at| at + 1);
    let mut lines = rest[..end].to_vec();
    let mut is_continued = false;
    if let Some(since) = since.filter(|_| end > 0) {
        let others = disk::read_from(file, since)?;
        lines = lines_not_in(&lines, &others);
        // A crash cut a line off while it was carried over. Append only the rest of it.
        let tail = &others[memchr::memrchr(b'\n', &others).map_or(0, |at| at + 1)..];
        if !tail.is_empty() && lines.starts_with(tail) {
            is_continued = true;
            lines.drain(..tail.len());
        }
    }
    let added = lines.len() as u64;
    if !lines.is_empty() {
        let out = disk::open_to_append(file)?;
        // The file may lack its last newline.
        let tail = incomplete_line(&out).map_err(|source| WriteError::new(file, source))?;
        if !is_continued && !tail.is_empty() && !completes_record(tail, &lines) {
            lines.insert(0, b'\n');
        }
        disk::append_bytes(file, &out, &lines, &mut Vec::new())?;
        disk::sync_file(file, &out)?;
    }
    Ok(CarryOver { known: known + end as u64, added, is_whole: end == rest.len() })
}

/// Returns the lines that are not among `others`. Repeated lines are matched one by one.
fn lines_not_in(lines: &[u8], others: &[u8]) -> Vec<u8> {
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

/// A longer line is not read: no record is that long.
const MAX_LINE_BYTES: u64 = 128 * 1024 * 1024;

/// Returns what a file has after its last newline, or the end of that.
fn incomplete_line(mut file: &fs::File) -> io::Result<Vec<u8>> {
    let len = file.metadata()?.len();
    let mut window = 4096;
    loop {
        let start = len.saturating_sub(window);
        let mut end = Vec::new();
        file.seek(SeekFrom::Start(start))?;
        file.take(len - start).read_to_end(&mut end)?;
        match memchr::memrchr(b'\n', &end) {
            Some(at) => return Ok(end.split_off(at + 1)),
            None if start == 0 || window >= MAX_LINE_BYTES => return Ok(end),
            None => window *= 16,
        }
    }
}

/// Whether the first line is the rest of an incomplete one: another program wrote a record in two parts.
fn completes_record(mut tail: Vec<u8>, lines: &[u8]) -> bool {
    tail.extend(lines.split(|byte| *byte == b'\n').next().unwrap_or_default());
    is_record(&tail)
}

/// Moves a file or directory to the first path on its file system. If there is none, a single file is
/// copied instead. Returns where it is now: its old path, if it was still in use and could not be moved.
///
/// No other program may know it by this name; [`take_away`] is for the files of others.
pub(super) fn move_to_first(from: &Path, places: &[&Path]) -> Result<PathBuf, ApplyError> {
    match rename_to_first(from, places)? {
        Renamed::To(place) => Ok(place),
        Renamed::Crossed(place) => move_across_devices(from, place),
    }
}

/// Does the same with a file that other programs can save at any moment.
///
/// Its copy on the other file system would lack what is saved before the original is removed. So the
/// file gets the name `aside` first: a save comes before that and is copied, or makes a new file.
/// Returns `aside` if it was still in use.
pub(super) fn take_away(
    from: &Path,
    aside: &Path,
    places: &[&Path],
) -> Result<PathBuf, ApplyError> {
    match rename_to_first(from, places)? {
        Renamed::To(place) => Ok(place),
        Renamed::Crossed(place) => {
            disk::move_without_replacing(from, aside)?;
            move_across_devices(aside, place)
        }
    }
}

/// What came of renaming a file.
enum Renamed<'a> {
    To(PathBuf),
    /// The only path is on another file system, where a single file can be copied.
    Crossed(&'a Path),
}

fn rename_to_first<'a>(from: &Path, places: &[&'a Path]) -> Result<Renamed<'a>, ApplyError> {
    let mut crossed = None;
    for place in places {
        if let Some(dir) = place.parent() {
            disk::create_dirs(dir)?;
        }
        match disk::move_without_replacing(from, place) {
            Ok(()) => {
                disk::sync_parent_dir(from)?;
                disk::sync_parent_dir(place)?;
                return Ok(Renamed::To((*place).to_owned()));
            }
            Err(error) if error.source.kind() == io::ErrorKind::CrossesDevices => {
                crossed = Some(error);
            }
            Err(error) => return Err(error.into()),
        }
    }
    match (crossed, places) {
        (Some(_), [place]) if from.symlink_metadata().is_ok_and(|meta| meta.is_file()) => {
            Ok(Renamed::Crossed(place))
        }
        (Some(error), _) => Err(error.into()),
        (None, _) => Ok(Renamed::To(from.to_owned())),
    }
}

/// Copies a file to another file system and removes it, unless another program may still write to it.
fn move_across_devices(from: &Path, to: &Path) -> Result<PathBuf, ApplyError> {
    let part = part_of(to);
    disk::remove_file(&part)?;
    copy_by_way_of(&part, from, to).inspect_err(|_| {
        // If this fails as well, the next try begins with it.
        let _ = disk::remove_file(&part);
    })
}

/// Returns the name of a copy in the making. Files of a project may have any name, but hardly this one.
pub(super) fn part_of(to: &Path) -> PathBuf {
    let name = to.file_name().unwrap_or_default().to_string_lossy();
    to.with_file_name(format!(".ramus-{name}.part"))
}

fn copy_by_way_of(part: &Path, from: &Path, to: &Path) -> Result<PathBuf, ApplyError> {
    let before = disk::stamp_file(from)?;
    // A killed process may have got this far.
    let is_there = disk::path_exists(to)? && disk::stamp_file(to)? == before;
    if !is_there {
        write_copy(part, from, &before)?;
    }
    if disk::is_open_elsewhere(from) || disk::stamp_file(from)? != before {
        disk::remove_file(part)?;
        return Ok(from.to_owned());
    }
    if !is_there {
        disk::move_without_replacing(part, to)?;
    }
    disk::sync_parent_dir(to)?;
    disk::remove_file(from)?;
    disk::sync_parent_dir(from)?;
    Ok(to.to_owned())
}

/// Writes a copy of a file, with its mode and date.
fn write_copy(part: &Path, from: &Path, stamp: &Stamp) -> Result<(), ApplyError> {
    let out = disk::create_file(part)?;
    let content =
        crate::plan::NewContent::Beginning { path: from.to_owned(), stamp: stamp.clone() };
    content.for_each_piece::<ApplyError>(&mut |bytes| Ok(disk::write_bytes(part, &out, bytes)?))?;
    let meta = fs::metadata(from).map_err(|source| WriteError::new(from, source))?;
    disk::set_permissions(part, &out, meta.permissions())?;
    let modified = meta.modified().map_err(|source| WriteError::new(from, source))?;
    disk::set_modified(part, &out, modified)?;
    Ok(disk::sync_file(part, &out)?)
}

/// Removes a file of ours, or moves it to the trash if its bytes may still be needed: another program has it
/// open. Where the trash is on another file system it may have to stay, and `left` says so.
///
/// A caller that compares the content must first look whether the file is open: what is written between
/// the two would be removed unseen.
pub(super) fn discard(
    path: &Path,
    is_needed: bool,
    places: &[&Path],
    left: &mut Vec<String>,
) -> Result<(), ApplyError> {
    if !is_needed {
        disk::remove_file(path)?;
    } else if move_to_first(path, places)? == path {
        let path = path.display();
        left.push(format!("another program has {path} open, so it was not removed"));
    }
    Ok(disk::sync_parent_dir(path)?)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;
    use crate::disk::fault;

    #[test]
    fn a_file_that_cannot_be_moved_away_from_its_user_is_named() {
        let home = testkit::TestHome::new();
        let (file, trash) = (home.path().join("a.tmp"), home.path().join("trash/a"));
        fs::write(&file, "ours").unwrap();
        let mut user = Command::new("cat")
            .stdin(Stdio::piped())
            .stderr(fs::File::open(&file).unwrap())
            .spawn()
            .unwrap();
        fault::other_file_system(trash.parent());
        let mut left = Vec::new();
        let discard_file = |left: &mut Vec<String>| {
            discard(&file, disk::is_open_elsewhere(&file), &[&trash], left).unwrap();
        };
        discard_file(&mut left);
        assert!(file.exists());
        assert!(left.len() == 1 && left[0].contains("a.tmp"), "{left:?}");
        drop(user.stdin.take());
        user.wait().unwrap();
        left.clear();
        discard_file(&mut left);
        assert!(!file.exists() && left.is_empty(), "{left:?}");
        fault::other_file_system(None);
    }
}
