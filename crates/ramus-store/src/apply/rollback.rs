//! Rolls an operation back: at once if a step fails, or later if the process was killed.
//!
//! Only what is provably ours is changed: a new file by its inode and content, a replaced file if our
//! new content still has its name, lines where we wrote them. Anything else was written by another
//! program since. It is left alone, the earlier version stays in the trash, and both paths are reported.

use std::fs;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::ApplyError;
use super::carry_over::carry_over;
use super::file_change::is_ramus_path;
use super::move_file::{discard, move_to_first, part_of};
use super::own_lines::{Found, between, our_lines};
use super::prepare::{empty_stamp, prepare_existing, temporary_path, write_temporary};
use super::swap::{FileSwap, Leftovers, is_new_content};
use crate::disk;
use crate::journal::{Journal, JournalStep, Operation, PreparedFile, TrashedFile};
use crate::plan::{FileTime, NewContent};
use crate::real_path::real_path;
use crate::stamp::Stamp;
use crate::state_dir::StateDir;

/// Rolls back the first `begun` changes of an operation, in reverse order.
///
/// `appended` says where our lines are. `None`: another process wrote them, and they are searched for.
pub(super) fn roll_back(
    state: &StateDir,
    journal: &mut Journal,
    operation: &Operation,
    begun: usize,
    appended: Option<&[Range<u64>]>,
) -> Result<Leftovers, ApplyError> {
    let mut left = Leftovers::default();
    for (n, change) in operation.changes.iter().enumerate().rev() {
        let mut back = StepRollback { state, journal, operation, n, left: &mut left };
        if n < begun || !matches!(change, JournalStep::Append { .. } | JournalStep::Move { .. }) {
            back.reverse_step(change, appended)?;
        }
    }
    Ok(left)
}

/// Rolls back one change.
struct StepRollback<'a> {
    state: &'a StateDir,
    journal: &'a mut Journal,
    operation: &'a Operation,
    n: usize,
    left: &'a mut Leftovers,
}

impl StepRollback<'_> {
    fn reverse_step(
        &mut self,
        change: &JournalStep,
        appended: Option<&[Range<u64>]>,
    ) -> Result<(), ApplyError> {
        match change {
            JournalStep::Append { file, before, text, modified } => {
                self.finish_line_removal(file)?;
                let found = match appended {
                    Some(ranges) => Found::Ours(ranges.to_vec()),
                    None => our_lines(file, before, text)?,
                };
                match found {
                    Found::Ours(ranges) => self.remove_lines(file, before, *modified, &ranges)?,
                    Found::Nothing => {}
                    Found::Unclear(words) => self.left.notes.push(words),
                }
                Ok(())
            }
            JournalStep::Make { file } => self.remove_created(file),
            JournalStep::MakeDir { dir } => Ok(disk::remove_empty_dir(dir)?),
            JournalStep::Put { file, .. } | JournalStep::Join { file, .. } => {
                match self.operation.prepared_for(self.n) {
                    Some(prepared) => self.restore_replaced(change, prepared),
                    None if matches!(change, JournalStep::Put { .. }) => {
                        self.discard_temporary(file)
                    }
                    None => Ok(()),
                }
            }
            JournalStep::Move { from, near, .. } => {
                if self.take_back_name(from)? {
                    return Ok(());
                }
                let mut places = change.trash_paths().into_iter();
                match places.find(|place| was_moved(self.state, place, from)) {
                    // Only files of a Claude directory have a trash directory nearby.
                    Some(at) => self.move_back(at, from, !near.is_empty()),
                    None => self.drop_copies(change, from),
                }
            }
            // Version 1 truncated files in one call, which was made or not.
            JournalStep::Cut { .. } | JournalStep::Tidy { .. } => Ok(()),
        }
    }

    /// Removes a temporary file that never got its final name.
    fn discard_temporary(&self, file: &Path) -> Result<(), ApplyError> {
        let beside = temporary_path(self.operation, self.n, file);
        if disk::path_exists(&beside)? {
            disk::remove_file(&beside)?;
        }
        Ok(())
    }

    /// Removes a file that we created, unless it is not ours or another program wrote to it.
    fn remove_created(&mut self, file: &Path) -> Result<(), ApplyError> {
        let Some(prepared) = self.operation.prepared_for(self.n) else {
            return self.discard_temporary(file);
        };
        let beside = &*prepared.beside;
        disk::remove_second_name(beside, file)?;
        let stays = format!("another program wrote to {}, so it was not removed", file.display());
        if !disk::path_exists(beside)? {
            if !is_new_content(prepared, file)? {
                return Ok(());
            }
            if disk::stamp_file(file)? != prepared.stamp {
                self.left.notes.push(stays);
                return Ok(());
            }
            disk::move_without_replacing(file, beside)?;
        }
        let place = self.fallback_path(file);
        let is_open = disk::is_open_elsewhere(beside);
        if disk::stamp_file(beside)? == prepared.stamp {
            let kept = discard(beside, is_open, &[&place], &mut self.left.notes)?;
            let known = prepared.stamp.clone();
            let kept = kept.map(|at| TrashedFile::new(file, at, known, false));
            self.left.kept.extend(kept);
            return Ok(());
        }
        match disk::move_without_replacing(beside, file) {
            Ok(()) => self.left.notes.push(stays),
            Err(error) if error.source.kind() == ErrorKind::AlreadyExists => {
                let at = move_to_first(beside, &[&place])?;
                let (file, at) = (file.display(), at.display());
                self.left.notes.push(format!(
                    "the version that another program wrote to {file} is now at {at}"
                ));
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Returns a path in the trash for a file that has none in the journal.
    fn fallback_path(&self, file: &Path) -> PathBuf {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        self.state.trash_dir(self.operation.op).join(format!("back-{}-{name}", self.n))
    }

    /// Gives a replaced file its name back.
    fn restore_replaced(
        &mut self,
        change: &JournalStep,
        prepared: &PreparedFile,
    ) -> Result<(), ApplyError> {
        let Some(swap) = FileSwap::from_journal(change, prepared) else { return Ok(()) };
        swap.close_gap(self.left)?;
        for place in &swap.trash_paths {
            disk::remove_second_name(place, swap.temporary)?;
        }
        if disk::path_exists(swap.temporary)? && is_new_content(prepared, swap.temporary)? {
            return swap.discard_copy(self.left);
        }
        if !disk::path_exists(swap.temporary)? {
            let kept = swap.trash_paths.iter().find(|place| place.symlink_metadata().is_ok());
            let Some(kept) = kept else { return Ok(()) };
            if swap.is_copy && is_new_content(prepared, kept)? {
                // The old file has its name again, and another program had the new one open.
                let mut known = prepared.stamp.clone();
                if swap.carries {
                    let (since, notes) = (Some(swap.old.len), &mut self.left.notes);
                    known.len = carry_over(kept, known.len, swap.file, since, notes)?;
                }
                let kept = TrashedFile::new(swap.file, (*kept).to_owned(), known, swap.carries);
                self.left.kept.push(kept);
                return Ok(());
            }
            if !swap.carries && !is_new_content(prepared, swap.file)? {
                self.left.notes.push(swap.other_version_note(kept));
                return Ok(());
            }
            disk::move_without_replacing(kept, swap.temporary)
                .or_else(|error| move_back_across_devices(kept, swap.temporary, error))?;
        }
        swap.swap_out(self.left)
    }

    /// Finishes a removal of lines that another process began.
    fn finish_line_removal(&mut self, file: &Path) -> Result<(), ApplyError> {
        let place = self.fallback_path(file);
        let Ok(file) = real_path(file) else { return Ok(()) };
        for new in &self.operation.prepared {
            let Some(old) = new.old.clone().filter(|_| new.change == self.n) else { continue };
            let swap = FileSwap {
                file: &file,
                temporary: &new.beside,
                trash_paths: vec![&place],
                old,
                new,
                carries: true,
                is_copy: true,
                is_resumed: true,
            };
            swap.close_gap(self.left)?;
            if !disk::path_exists(swap.temporary)? {
                continue;
            }
            if is_new_content(new, swap.temporary)? {
                swap.discard_copy(self.left)?;
            } else {
                self.keep(|left| swap.finish_swap(left))?;
            }
        }
        self.discard_temporary(&file)
    }

    /// Removes our lines from a session that others may append to, by swapping in a content without them.
    fn remove_lines(
        &mut self,
        file: &Path,
        before: &Stamp,
        modified: FileTime,
        ranges: &[Range<u64>],
    ) -> Result<(), ApplyError> {
        if ranges.iter().all(Range::is_empty) || !disk::path_exists(file)? {
            return Ok(());
        }
        let file = &*real_path(file).map_err(|source| disk::WriteError::new(file, source))?;
        let old = disk::stamp_file(file)?;
        let mut rest = disk::read_from(file, before.len)?;
        // What came after that look is carried over like all later lines.
        rest.truncate(usize::try_from(old.len.saturating_sub(before.len)).unwrap_or(usize::MAX));
        let mut wanted = Vec::new();
        let mut at = before.len;
        for range in ranges {
            wanted.extend_from_slice(between(&rest, before.len, at..range.start));
            at = range.end;
        }
        wanted.extend_from_slice(between(&rest, before.len, at..u64::MAX));
        let beginning = NewContent::Beginning { path: file.to_owned(), stamp: before.clone() };
        let content = NewContent::Joined(Box::new(beginning), wanted.clone());
        let path = temporary_path(self.operation, self.n, file);
        let mut prepared = write_temporary(&path, &content, Some(file))?;
        prepared.change = self.n;
        prepared.old = Some(old.clone());
        if wanted.is_empty() {
            let out = disk::open_to_append(&path)?;
            disk::set_modified(&path, &out, modified.into())?;
            disk::sync_file(&path, &out)?;
        }
        self.journal.write_prepared(self.operation.op, vec![prepared.clone()])?;
        let place = self.fallback_path(file);
        let swap = FileSwap {
            file,
            temporary: &path,
            trash_paths: vec![&place],
            old,
            new: &prepared,
            carries: true,
            is_copy: true,
            is_resumed: false,
        };
        self.keep(|left| swap.carry_out(left))
    }

    /// Gives a file its name back whose move to another file system was not completed. Returns whether
    /// another file has the name by now.
    fn take_back_name(&mut self, from: &Path) -> Result<bool, ApplyError> {
        let aside = temporary_path(self.operation, self.n, from);
        disk::remove_second_name(&aside, from)?;
        if !disk::path_exists(&aside)? {
            return Ok(false);
        }
        match disk::move_without_replacing(&aside, from) {
            Ok(()) => {
                disk::sync_parent_dir(from)?;
                Ok(false)
            }
            Err(error) if error.source.kind() == ErrorKind::AlreadyExists => {
                let at = move_to_first(&aside, &[&self.fallback_path(from)])?;
                self.left.notes.push(created_again_note(from, &at));
                if at == aside {
                    let known = disk::stamp_file(&at)?;
                    self.left.kept.push(TrashedFile::new(from, at, known, false));
                }
                Ok(true)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Removes copies, whole or not, that came out of the trash from another file system while the
    /// original is still in it, because its removal was never reached.
    fn drop_copies(&mut self, change: &JournalStep, from: &Path) -> Result<(), ApplyError> {
        for place in change.trash_paths() {
            disk::remove_second_name(place, from)?;
            disk::remove_file(&part_of(place))?;
            if is_ramus_path(self.state, place)
                || !disk::path_exists(place)?
                || !disk::path_exists(from)?
            {
                continue;
            }
            if place.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
                continue;
            }
            let is_open = disk::is_open_elsewhere(place);
            if disk::stamp_file(place)? == disk::stamp_file(from)? {
                discard(place, is_open, &[&self.fallback_path(place)], &mut self.left.notes)?;
            }
        }
        Ok(())
    }

    /// Moves something back to where it was. What somebody made there since stays: lines are joined,
    /// directories are merged, and anything else is left in both places.
    fn move_back(&mut self, at: &Path, to: &Path, joins: bool) -> Result<(), ApplyError> {
        if let Some(dir) = to.parent() {
            disk::create_dirs(dir)?;
        }
        match disk::move_without_replacing(at, to) {
            Ok(()) => {
                disk::sync_parent_dir(at)?;
                return Ok(disk::sync_parent_dir(to)?);
            }
            Err(error) if error.source.kind() == ErrorKind::AlreadyExists => {}
            Err(error) if error.source.kind() == ErrorKind::CrossesDevices => {
                if !is_taken(at, to)? {
                    move_to_first(at, &[to])?;
                    return Ok(());
                }
            }
            Err(error) => return Err(error.into()),
        }
        let is_dir = |path: &Path| path.symlink_metadata().is_ok_and(|meta| meta.is_dir());
        if is_dir(at) && is_dir(to) {
            let entries = fs::read_dir(at).map_err(|source| disk::WriteError::new(at, source))?;
            for entry in entries {
                let entry = entry.map_err(|source| disk::WriteError::new(at, source))?;
                self.move_back(&entry.path(), &to.join(entry.file_name()), joins)?;
            }
            return Ok(disk::remove_empty_dir(at)?);
        }
        if joins && can_join(at, to) {
            return self.join_sessions(at, to);
        }
        self.left.notes.push(created_again_note(to, at));
        Ok(())
    }

    /// Brings a session back where the client has created it again, and appends the client's lines to it.
    fn join_sessions(&mut self, at: &Path, file: &Path) -> Result<(), ApplyError> {
        let known = self.operation.prepared.iter().find(|prepared| prepared.beside == at).cloned();
        let is_swapped = match &known {
            Some(prepared) => is_new_content(prepared, file)?,
            None => false,
        };
        let prepared = match known {
            Some(prepared) => prepared,
            None => {
                let prepared = PreparedFile { change: self.n, ..prepare_existing(at)? };
                self.journal.write_prepared(self.operation.op, vec![prepared.clone()])?;
                prepared
            }
        };
        let place = at.with_file_name(format!(
            "again-{}",
            at.file_name().unwrap_or_default().to_string_lossy()
        ));
        let swap = FileSwap {
            file,
            temporary: at,
            trash_paths: vec![&place],
            old: empty_stamp(),
            new: &prepared,
            carries: true,
            is_copy: false,
            is_resumed: is_swapped,
        };
        self.keep(|left| match is_swapped {
            true => swap.finish_swap(left),
            false => swap.carry_out(left),
        })
    }

    /// Records an old file. It is reported only where it could not go to the trash.
    fn keep(
        &mut self,
        swap: impl FnOnce(&mut Leftovers) -> Result<(), ApplyError>,
    ) -> Result<(), ApplyError> {
        let mut left = Leftovers::default();
        swap(&mut left)?;
        if left.kept.iter().any(|kept| !is_ramus_path(self.state, &kept.at)) {
            self.left.notes.extend(left.notes);
        }
        self.left.kept.extend(left.kept);
        Ok(())
    }
}

/// Whether something else than a copy of a file has its name.
fn is_taken(file: &Path, name: &Path) -> Result<bool, ApplyError> {
    let is_copy = || Some(disk::stamp_file(name).ok()? == disk::stamp_file(file).ok()?);
    Ok(disk::path_exists(name)? && is_copy() != Some(true))
}

fn created_again_note(file: &Path, earlier: &Path) -> String {
    format!(
        "{} was created again and is kept; the earlier version is {}",
        file.display(),
        earlier.display()
    )
}

fn move_back_across_devices(
    kept: &Path,
    to: &Path,
    error: disk::WriteError,
) -> Result<(), ApplyError> {
    match error.source.kind() {
        ErrorKind::CrossesDevices => move_to_first(kept, &[to]).map(drop),
        _ => Err(error.into()),
    }
}

/// Whether two files are sessions, so that the lines of one can be appended to the other.
pub(crate) fn can_join(a: &Path, b: &Path) -> bool {
    let is_lines = |path: &Path| {
        path.extension().is_some_and(|extension| extension == "jsonl")
            && path.symlink_metadata().is_ok_and(|meta| meta.is_file())
    };
    is_lines(a) && is_lines(b)
}

/// Whether something was moved from `from` to `place`.
pub(super) fn was_moved(state: &StateDir, place: &Path, from: &Path) -> bool {
    let is_there = |path: &Path| path.symlink_metadata().is_ok();
    if !is_ramus_path(state, place) {
        // It moved out of the trash. If `from` is another file, what is at `place` is not ours.
        return is_there(place) && (!is_there(from) || disk::is_same_file(place, from));
    }
    let is_copy = || {
        let both = || Some(disk::stamp_file(place).ok()? == disk::stamp_file(from).ok()?);
        is_there(from) && both().unwrap_or(false)
    };
    is_there(place) && !is_copy()
}
