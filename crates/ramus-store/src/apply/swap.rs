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

use std::io;
use std::path::{Path, PathBuf};

use super::ApplyError;
use super::carry_over::carry_over;
use super::move_file::{discard, move_to_first};
use super::prepare::empty_stamp;
use crate::disk;
use crate::file_id::FileId;
use crate::journal::{JournalStep, PreparedFile, TrashedFile};
use crate::stamp::Stamp;

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
