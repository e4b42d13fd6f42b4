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
use super::swap::{FileSwap, SwapOutcome, aside_path, is_new_content};
use crate::disk;
use crate::journal::{Journal, JournalStep, Operation, PreparedFile, TrashedFile};
use crate::plan::{FileTime, NewContent};
use crate::real_path::real_path;
use crate::stamp::Stamp;
use crate::state_dir::StateDir;

/// What a rollback left.
#[derive(Default)]
pub(super) struct Rollback {
    /// What remains different, as sentences.
    pub(super) left: Vec<String>,
    pub(super) kept: Vec<TrashedFile>,
}

/// Rolls back the first `begun` changes of an operation, in reverse order.
///
/// `appended` says where our lines are. `None`: another process wrote them, and they are searched for.
pub(super) fn roll_back(
    state: &StateDir,
    journal: &mut Journal,
    operation: &Operation,
    begun: usize,
    appended: Option<&[Range<u64>]>,
) -> Result<Rollback, ApplyError> {
    let mut taken = Rollback::default();
    for (n, change) in operation.changes.iter().enumerate().rev() {
        let Rollback { left, kept } = &mut taken;
        let mut back = StepRollback { state, journal, operation, n, left, kept };
        if n < begun || !matches!(change, JournalStep::Append { .. } | JournalStep::Move { .. }) {
            back.reverse_step(change, appended)?;
        }
    }
    Ok(taken)
}

/// Rolls back one change.
struct StepRollback<'a> {
    state: &'a StateDir,
    journal: &'a mut Journal,
    operation: &'a Operation,
    n: usize,
    left: &'a mut Vec<String>,
    kept: &'a mut Vec<TrashedFile>,
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
                    Found::Unclear(words) => self.left.push(words),
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
                self.left.push(stays);
                return Ok(());
            }
            disk::move_without_replacing(file, beside)?;
        }
        let place = self.fallback_path(file);
        let is_open = disk::is_open_elsewhere(beside);
        if disk::stamp_file(beside)? == prepared.stamp {
            return discard(beside, is_open, &[&place], self.left);
        }
        match disk::move_without_replacing(beside, file) {
            Ok(()) => self.left.push(stays),
            Err(error) if error.source.kind() == ErrorKind::AlreadyExists => {
                let at = move_to_first(beside, &[&place])?;
                let (file, at) = (file.display(), at.display());
                self.left.push(format!(
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
        close_gap(&swap)?;
        for place in &swap.trash_paths {
            disk::remove_second_name(place, swap.temporary)?;
        }
        if disk::path_exists(swap.temporary)? && is_new_content(prepared, swap.temporary)? {
            return self.discard_copy(&swap);
        }
        if !disk::path_exists(swap.temporary)? {
            let kept = swap.trash_paths.iter().find(|place| place.symlink_metadata().is_ok());
            let Some(kept) = kept else { return Ok(()) };
            if !swap.carries && !is_new_content(prepared, swap.file)? {
                self.left.push(swap.other_version_note(kept));
                return Ok(());
            }
            disk::move_without_replacing(kept, swap.temporary)
                .or_else(|error| move_back_across_devices(kept, swap.temporary, error))?;
        }
        self.left.extend(swap.swap_out()?);
        Ok(())
    }

    /// Removes our new content, which no longer has the final name or never had it.
    fn discard_copy(&mut self, swap: &FileSwap<'_>) -> Result<(), ApplyError> {
        if !swap.is_copy {
            return Ok(());
        }
        let is_open = disk::is_open_elsewhere(swap.temporary);
        if disk::stamp_file(swap.temporary)? == swap.new.stamp {
            return discard(swap.temporary, is_open, &swap.trash_paths, self.left);
        }
        // It had the name for a moment, and another program wrote to it then.
        if swap.carries {
            let known = swap.new.stamp.len;
            let since = Some(swap.old.len);
            carry_over(swap.temporary, known, swap.file, since, self.left)?;
        }
        let at = move_to_first(swap.temporary, &swap.trash_paths)?;
        self.left.push(format!(
            "what another program wrote to {} is now at {}",
            swap.file.display(),
            at.display()
        ));
        Ok(())
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
            close_gap(&swap)?;
            if !disk::path_exists(swap.temporary)? {
                continue;
            }
            if is_new_content(new, swap.temporary)? {
                self.discard_copy(&swap)?;
            } else {
                self.keep(swap.finish_swap()?);
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
        self.keep(swap.carry_out()?);
        Ok(())
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
                self.left.push(created_again_note(from, &at));
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
                discard(place, is_open, &[&self.fallback_path(place)], self.left)?;
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
        self.left.push(created_again_note(to, at));
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
        self.keep(match is_swapped {
            true => swap.finish_swap()?,
            false => swap.carry_out()?,
        });
        Ok(())
    }

    /// Records an old file. It is reported only where it could not go to the trash.
    fn keep(&mut self, outcome: SwapOutcome) {
        if !is_ramus_path(self.state, &outcome.kept.at) {
            self.left.extend(outcome.notes);
        }
        self.kept.push(outcome.kept);
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

/// Repairs a replacement that was interrupted between its two steps.
pub(super) fn close_gap(swap: &FileSwap<'_>) -> Result<(), ApplyError> {
    let aside = aside_path(swap.temporary);
    // Each of the steps can be a hard link whose first name was not removed yet. The first step is taken back then, the
    // others are completed.
    disk::remove_second_name(&aside, swap.file)?;
    disk::remove_second_name(swap.temporary, swap.file)?;
    disk::remove_second_name(&aside, swap.temporary)?;
    let again = swap.temporary.with_extension("again");
    if disk::path_exists(&aside)? {
        if disk::path_exists(swap.file)? {
            if !disk::path_exists(swap.temporary)? {
                return Ok(disk::move_without_replacing(&aside, swap.temporary)?);
            }
            if !swap.carries {
                // Another program created the file in the gap. Both versions stay.
                move_to_first(&aside, &swap.trash_paths)?;
                return Ok(());
            }
            disk::move_without_replacing(swap.file, &again)?;
        }
        disk::move_without_replacing(&aside, swap.file)?;
    }
    if disk::path_exists(&again)? {
        carry_over(&again, 0, swap.file, Some(swap.old.len), &mut Vec::new())?;
        let places: Vec<PathBuf> =
            swap.trash_paths.iter().map(|place| place.with_extension("again")).collect();
        move_to_first(&again, &places.iter().map(|place| &**place).collect::<Vec<_>>())?;
    }
    Ok(())
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
