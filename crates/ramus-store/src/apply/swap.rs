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

/// What a change or its rollback left besides the result.
#[derive(Default)]
pub(super) struct Leftovers {
    /// Files that other programs may still have open.
    pub(super) kept: Vec<TrashedFile>,
    /// What the user should know, as sentences.
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
    pub(super) fn carry_out(&self, left: &mut Leftovers) -> Result<(), ApplyError> {
        self.swap_in(left)?;
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
        self.finish_swap(left)
    }

    /// Completes a swap once the files are exchanged: carries over lines and moves the old file to the trash.
    pub(super) fn finish_swap(&self, left: &mut Leftovers) -> Result<(), ApplyError> {
        let mut known = self.old.len;
        if self.carries {
            let since = self.is_resumed.then_some(self.new.stamp.len);
            known = carry_over(self.temporary, known, self.file, since, &mut left.notes)?;
        }
        disk::sync_parent_dir(self.file)?;
        let at = move_to_first(self.temporary, &self.trash_paths)?;
        if at == self.temporary && !self.trash_paths.is_empty() {
            left.notes.push(format!(
                "Another program may have the old version of {} open. It stays at {}",
                self.file.display(),
                at.display()
            ));
        }
        // Other programs only append to the file, so from now on its length is enough to notice writes.
        let known = Stamp { len: known, ..self.old.clone() };
        left.kept.push(TrashedFile::new(self.file, at, known, self.carries));
        Ok(())
    }

    /// Exchanges the new content and the old file.
    fn swap_in(&self, left: &mut Leftovers) -> Result<(), ApplyError> {
        match disk::exchange_files(self.temporary, self.file) {
            Err(error) if error.source.kind() == io::ErrorKind::Unsupported => {
                self.swap_in_with_gap(left)
            }
            Err(error) if disk::is_missing(&error.source) => {
                Err(ApplyError::Changed(self.file.to_owned()))
            }
            placed => Ok(placed?),
        }
    }

    /// Does the same in two steps. Between them the name leads to no file.
    ///
    /// Nothing is overwritten: a program that creates the file in the gap keeps the name. If it is a
    /// session, that file is moved aside as well and all its lines are carried over.
    fn swap_in_with_gap(&self, left: &mut Leftovers) -> Result<(), ApplyError> {
        let aside = aside_path(self.temporary);
        disk::move_without_replacing(self.file, &aside)?;
        let mut placed = disk::move_without_replacing(self.temporary, self.file);
        for other in &self.created_paths()[1..] {
            let is_taken = matches!(&placed, Err(error) if error.source.kind() == io::ErrorKind::AlreadyExists);
            if !is_taken || !self.carries {
                break;
            }
            disk::move_without_replacing(self.file, other)?;
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
        self.take_over_created(left)
    }

    /// Repairs a replacement that was interrupted between its two steps.
    pub(super) fn close_gap(&self, left: &mut Leftovers) -> Result<(), ApplyError> {
        let aside = aside_path(self.temporary);
        // Each of the steps can be a hard link whose first name was not removed yet. A first step is taken back then, the
        // others are completed.
        disk::remove_second_name(&aside, self.file)?;
        disk::remove_second_name(self.temporary, self.file)?;
        disk::remove_second_name(&aside, self.temporary)?;
        let created = self.created_paths();
        for other in &created {
            disk::remove_second_name(other, self.file)?;
        }
        if disk::path_exists(&aside)? {
            if !disk::path_exists(self.file)? {
                disk::move_without_replacing(&aside, self.file)?;
            } else if !disk::path_exists(self.temporary)? {
                disk::move_without_replacing(&aside, self.temporary)?;
            } else if self.carries {
                // Another program created the file in the gap.
                disk::move_without_replacing(self.file, &created[0])?;
                disk::move_without_replacing(&aside, self.file)?;
            } else {
                // Both versions stay.
                self.trash_old_version(&aside, left)?;
            }
        }
        self.take_over_created(left)
    }

    /// Names for files that other programs create in the gap. [`Self::close_gap`] uses the first one.
    fn created_paths(&self) -> [PathBuf; 6] {
        [0, 1, 2, 3, 4, 5].map(|n| self.temporary.with_extension(n.to_string()))
    }

    /// Carries the lines of such files over, and moves them to the trash.
    fn take_over_created(&self, left: &mut Leftovers) -> Result<(), ApplyError> {
        for (n, other) in self.created_paths().iter().enumerate() {
            if !disk::path_exists(other)? {
                continue;
            }
            let since = match self.is_resumed {
                true if is_new_content(self.new, self.file)? => Some(self.new.stamp.len),
                true => Some(self.old.len),
                false => None,
            };
            let len = carry_over(other, 0, self.file, since, &mut left.notes)?;
            let places: Vec<PathBuf> = self
                .trash_paths
                .iter()
                .map(|place| place.with_extension(format!("again-{n}")))
                .collect();
            let at =
                move_to_first(other, &places.iter().map(|place| &**place).collect::<Vec<_>>())?;
            let known = Stamp { len, ..empty_stamp() };
            left.kept.push(TrashedFile::new(self.file, at, known, true));
        }
        Ok(())
    }

    /// Gives the old file its name back. Returns the error to report.
    fn undo_after_error(&self, cause: ApplyError) -> ApplyError {
        // What is kept is found again by the rollback of the operation.
        let mut left = Leftovers::default();
        match self.swap_out(&mut left) {
            Ok(()) if left.notes.is_empty() => cause,
            Ok(()) => ApplyError::partly_rolled_back(cause, left.notes.join("; ")),
            Err(error) => ApplyError::rollback_failed(cause, error),
        }
    }

    /// Reverses a swap whose old file is at the temporary path.
    pub(super) fn swap_out(&self, left: &mut Leftovers) -> Result<(), ApplyError> {
        let is_ours = is_new_content(self.new, self.file)?;
        if !is_ours && !self.carries {
            // Another program saved a newer version, which stays.
            return self.trash_old_version(self.temporary, left);
        }
        match disk::exchange_files(self.temporary, self.file) {
            Ok(()) => {}
            Err(error) if disk::is_missing(&error.source) => {
                return self.trash_old_version(self.temporary, left);
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
        if !self.carries && disk::stamp_file(self.temporary)? != self.new.stamp {
            // It was saved between our check and the exchange. Exchange again, so the newer version has the name.
            disk::exchange_files(self.temporary, self.file)?;
            return self.trash_old_version(self.temporary, left);
        }
        self.discard_copy(left)
    }

    /// Removes our new content, which no longer has the final name or never had it.
    ///
    /// What another program wrote to it meanwhile is carried over or kept. While one has it open, it is
    /// kept too, and every later command looks at it again.
    pub(super) fn discard_copy(&self, left: &mut Leftovers) -> Result<(), ApplyError> {
        let is_ours = is_new_content(self.new, self.temporary)?;
        if self.carries {
            // From our file only added lines are carried over, from a file of another program all lines.
            let known = if is_ours { self.new.stamp.len } else { 0 };
            // It must be asked first: what is written between the two would be removed unseen.
            let is_open = disk::is_open_elsewhere(self.temporary);
            // Lines that were carried over from the old file are still in it.
            let since = Some(self.old.len);
            let len = carry_over(self.temporary, known, self.file, since, &mut left.notes)?;
            if !self.is_copy {
                return Ok(());
            }
            let is_needed = is_open || !is_ours || len != disk::read_len(self.temporary)?;
            let known = Stamp { len, ..self.new.stamp.clone() };
            return self.discard_temporary(is_needed, known, left);
        }
        let is_open = disk::is_open_elsewhere(self.temporary);
        let now = disk::stamp_file(self.temporary)?;
        if now == self.new.stamp {
            return self.discard_temporary(is_open, now, left);
        }
        // It had the name for a moment, and another program wrote to it then.
        let at = move_to_first(self.temporary, &self.trash_paths)?;
        left.notes.push(format!(
            "what another program wrote to {} is now at {}",
            self.file.display(),
            at.display()
        ));
        left.kept.push(TrashedFile::new(self.file, at, now, false));
        Ok(())
    }

    fn discard_temporary(
        &self,
        is_needed: bool,
        known: Stamp,
        left: &mut Leftovers,
    ) -> Result<(), ApplyError> {
        let kept = discard(self.temporary, is_needed, &self.trash_paths, &mut left.notes)?;
        left.kept.extend(kept.map(|at| TrashedFile::new(self.file, at, known, self.carries)));
        Ok(())
    }

    /// Leaves the other program's file in place and moves the old file to the trash.
    fn trash_old_version(&self, old: &Path, left: &mut Leftovers) -> Result<(), ApplyError> {
        let at = move_to_first(old, &self.trash_paths)?;
        left.notes.push(self.other_version_note(&at));
        if at == old && !self.carries {
            let known = disk::stamp_file(&at)?;
            left.kept.push(TrashedFile::new(self.file, at, known, false));
        }
        Ok(())
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
