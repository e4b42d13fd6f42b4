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
use super::file_change::is_private;
use super::own_lines::{Found, between, our_lines};
use super::prepare::{beside, existing, nothing, write_beside};
use super::swap::{Swap, aside, carry_all, is_new, keep, part_of, remove_unless_open};
use crate::disk;
use crate::journal::{Change, Journal, Kept, Operation, Prepared};
use crate::plan::{Content, Moment};
use crate::stamp::Stamp;
use crate::state::State;

/// What a rollback left.
#[derive(Default)]
pub(super) struct TakenBack {
    /// What remains different, as sentences.
    pub(super) left: Vec<String>,
    pub(super) kept: Vec<Kept>,
}

/// Rolls back the first `begun` changes of an operation, in reverse order.
///
/// `appended` says where our lines are. `None`: another process wrote them, and they are searched for.
pub(super) fn take_back(
    state: &State,
    journal: &mut Journal,
    operation: &Operation,
    begun: usize,
    appended: Option<&[Range<u64>]>,
) -> Result<TakenBack, ApplyError> {
    let mut taken = TakenBack::default();
    for (n, change) in operation.changes.iter().enumerate().rev() {
        let TakenBack { left, kept } = &mut taken;
        let mut back = Back { state, journal, operation, n, left, kept };
        if n < begun || !matches!(change, Change::Append { .. } | Change::Move { .. }) {
            back.reverse(change, appended)?;
        }
    }
    Ok(taken)
}

/// Rolls back one change.
struct Back<'a> {
    state: &'a State,
    journal: &'a mut Journal,
    operation: &'a Operation,
    n: usize,
    left: &'a mut Vec<String>,
    kept: &'a mut Vec<Kept>,
}

impl Back<'_> {
    fn reverse(
        &mut self,
        change: &Change,
        appended: Option<&[Range<u64>]>,
    ) -> Result<(), ApplyError> {
        match change {
            Change::Append { file, before, text, modified } => {
                self.finish_take_off(file)?;
                let found = match appended {
                    Some(ranges) => Found::Ours(ranges.to_vec()),
                    None => our_lines(file, before, text)?,
                };
                match found {
                    Found::Ours(ranges) => self.take_off(file, before, *modified, &ranges)?,
                    Found::Nothing => {}
                    Found::Unclear(words) => self.left.push(words),
                }
                Ok(())
            }
            Change::Make { file } => self.unmake(file),
            Change::MakeDir { dir } => Ok(disk::remove_empty_dir(dir)?),
            Change::Put { file, .. } | Change::Join { file, .. } => {
                match self.operation.prepared_for(self.n) {
                    Some(prepared) => self.swap_back(change, prepared),
                    None if matches!(change, Change::Put { .. }) => self.discard(file),
                    None => Ok(()),
                }
            }
            Change::Move { from, near, .. } => {
                let mut places = change.places().into_iter();
                match places.find(|place| is_moved(self.state, place, from)) {
                    // Only files of a Claude directory have a trash directory nearby.
                    Some(at) => self.bring_back(at, from, !near.is_empty()),
                    None => self.drop_copies(change, from),
                }
            }
            // Version 1 truncated files in one call, which was made or not.
            Change::Cut { .. } | Change::Tidy { .. } => Ok(()),
        }
    }

    /// Removes a temporary file that never got its final name.
    fn discard(&self, file: &Path) -> Result<(), ApplyError> {
        let beside = beside(self.operation, self.n, file);
        if disk::exists(&beside)? {
            disk::remove(&beside)?;
        }
        Ok(())
    }

    /// Removes a file that we created, unless it is not ours or another program wrote to it.
    fn unmake(&mut self, file: &Path) -> Result<(), ApplyError> {
        let Some(prepared) = self.operation.prepared_for(self.n) else {
            return self.discard(file);
        };
        let beside = &*prepared.beside;
        let stays = format!("another program wrote to {}; it stays", file.display());
        if !disk::exists(beside)? {
            if !is_new(prepared, file)? {
                return Ok(());
            }
            if disk::stamp(file)? != prepared.stamp {
                self.left.push(stays);
                return Ok(());
            }
            disk::move_new(file, beside)?;
        }
        let place = self.spare_place(file);
        if disk::stamp(beside)? == prepared.stamp {
            return remove_unless_open(beside, &[&place]);
        }
        match disk::move_new(beside, file) {
            Ok(()) => self.left.push(stays),
            Err(error) if error.source.kind() == ErrorKind::AlreadyExists => {
                let at = keep(beside, &[&place])?;
                let (file, at) = (file.display(), at.display());
                self.left.push(format!("what another program wrote to {file} is kept at {at}"));
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Returns a path in the trash for a file that has none in the journal.
    fn spare_place(&self, file: &Path) -> PathBuf {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        self.state.trash(self.operation.op).join(format!("back-{}-{name}", self.n))
    }

    /// Gives a replaced file its name back.
    fn swap_back(&mut self, change: &Change, prepared: &Prepared) -> Result<(), ApplyError> {
        let Some(swap) = Swap::resumed(change, prepared) else { return Ok(()) };
        close_gap(&swap)?;
        if disk::exists(swap.beside)? && is_new(prepared, swap.beside)? {
            return self.drop_copy(&swap);
        }
        if !disk::exists(swap.beside)? {
            let kept = swap.places.iter().find(|place| place.symlink_metadata().is_ok());
            let Some(kept) = kept else { return Ok(()) };
            if !swap.carries && !is_new(prepared, swap.file)? {
                self.left.push(swap.left_words(kept));
                return Ok(());
            }
            disk::move_new(kept, swap.beside)
                .or_else(|error| copy_back(kept, swap.beside, error))?;
        }
        self.left.extend(swap.take_back()?);
        Ok(())
    }

    /// Removes our new content, which no longer has the final name or never had it.
    fn drop_copy(&mut self, swap: &Swap<'_>) -> Result<(), ApplyError> {
        if !swap.is_copy {
            return Ok(());
        }
        if disk::stamp(swap.beside)? == swap.new.stamp {
            return remove_unless_open(swap.beside, &swap.places);
        }
        // It had the name for a moment, and another program wrote to it then.
        if swap.carries {
            let known = swap.new.stamp.len;
            let since = Some(swap.old.len);
            carry_all(swap.beside, known, swap.file, since, self.left)?;
        }
        let at = keep(swap.beside, &swap.places)?;
        self.left.push(format!(
            "what another program wrote to {} is kept at {}",
            swap.file.display(),
            at.display()
        ));
        Ok(())
    }

    /// Finishes a removal of lines that another process began.
    fn finish_take_off(&mut self, file: &Path) -> Result<(), ApplyError> {
        let place = self.spare_place(file);
        let Ok(file) = file.canonicalize() else { return Ok(()) };
        for new in &self.operation.prepared {
            let Some(old) = new.old.clone().filter(|_| new.change == self.n) else { continue };
            let swap = Swap {
                file: &file,
                beside: &new.beside,
                places: vec![&place],
                old,
                new,
                carries: true,
                is_copy: true,
                is_resumed: true,
            };
            close_gap(&swap)?;
            if !disk::exists(swap.beside)? {
                continue;
            }
            if is_new(new, swap.beside)? {
                self.drop_copy(&swap)?;
            } else {
                self.kept.push(swap.finish()?.0);
            }
        }
        self.discard(&file)
    }

    /// Removes our lines from a session that others may append to, by swapping in a content without them.
    fn take_off(
        &mut self,
        file: &Path,
        before: &Stamp,
        modified: Moment,
        ranges: &[Range<u64>],
    ) -> Result<(), ApplyError> {
        if ranges.iter().all(Range::is_empty) || !disk::exists(file)? {
            return Ok(());
        }
        let file = &*file.canonicalize().map_err(|source| disk::WriteError::new(file, source))?;
        let old = disk::stamp(file)?;
        let rest = disk::read_from(file, before.len)?;
        let mut wanted = Vec::new();
        let mut at = before.len;
        for range in ranges {
            wanted.extend_from_slice(between(&rest, before.len, at..range.start));
            at = range.end;
        }
        wanted.extend_from_slice(between(&rest, before.len, at..u64::MAX));
        let beginning = Content::Beginning { path: file.to_owned(), stamp: before.clone() };
        let content = Content::Joined(Box::new(beginning), wanted.clone());
        let path = beside(self.operation, self.n, file);
        let mut prepared = write_beside(&path, &content, Some(file))?;
        prepared.change = self.n;
        prepared.old = Some(old.clone());
        if wanted.is_empty() {
            let out = disk::open_to_append(&path)?;
            disk::set_modified(&path, &out, modified.into())?;
            disk::sync(&path, &out)?;
        }
        self.journal.prepare(self.operation.op, vec![prepared.clone()])?;
        let place = self.spare_place(file);
        let swap = Swap {
            file,
            beside: &path,
            places: vec![&place],
            old,
            new: &prepared,
            carries: true,
            is_copy: true,
            is_resumed: false,
        };
        self.kept.push(swap.carry_out()?.kept);
        Ok(())
    }

    /// Removes copies, whole or not, that came out of the trash from another file system while the
    /// original is still in it: nobody got as far as removing that.
    fn drop_copies(&mut self, change: &Change, from: &Path) -> Result<(), ApplyError> {
        for place in change.places() {
            disk::remove(&part_of(place))?;
            if is_private(self.state, place) || !disk::exists(place)? || !disk::exists(from)? {
                continue;
            }
            let is_dir = place.symlink_metadata().is_ok_and(|meta| meta.is_dir());
            if !is_dir && disk::stamp(place)? == disk::stamp(from)? {
                remove_unless_open(place, &[&self.spare_place(place)])?;
            }
        }
        Ok(())
    }

    /// Moves something back to where it was. What somebody made there since stays: lines are joined,
    /// directories are merged, and anything else is left in both places.
    fn bring_back(&mut self, at: &Path, to: &Path, joins: bool) -> Result<(), ApplyError> {
        if let Some(dir) = to.parent() {
            disk::create_dirs(dir)?;
        }
        match disk::move_new(at, to) {
            Ok(()) => {
                disk::sync_dir_of(at)?;
                return Ok(disk::sync_dir_of(to)?);
            }
            Err(error) if error.source.kind() == ErrorKind::AlreadyExists => {}
            Err(error) if error.source.kind() == ErrorKind::CrossesDevices => {
                keep(at, &[to])?;
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        }
        let is_dir = |path: &Path| path.symlink_metadata().is_ok_and(|meta| meta.is_dir());
        if is_dir(at) && is_dir(to) {
            let entries = fs::read_dir(at).map_err(|source| disk::WriteError::new(at, source))?;
            for entry in entries {
                let entry = entry.map_err(|source| disk::WriteError::new(at, source))?;
                self.bring_back(&entry.path(), &to.join(entry.file_name()), joins)?;
            }
            return Ok(disk::remove_empty_dir(at)?);
        }
        if joins && can_join(at, to) {
            return self.join(at, to);
        }
        self.left.push(format!(
            "somebody made {0} again, and it stays; {0} as it was before is {1}",
            to.display(),
            at.display()
        ));
        Ok(())
    }

    /// Brings a session back where the client has created it again, and appends the client's lines to it.
    fn join(&mut self, at: &Path, file: &Path) -> Result<(), ApplyError> {
        let known = self.operation.prepared.iter().find(|prepared| prepared.beside == at).cloned();
        let is_swapped = match &known {
            Some(prepared) => is_new(prepared, file)?,
            None => false,
        };
        let prepared = match known {
            Some(prepared) => prepared,
            None => {
                let prepared = Prepared { change: self.n, ..existing(at)? };
                self.journal.prepare(self.operation.op, vec![prepared.clone()])?;
                prepared
            }
        };
        let place = at.with_file_name(format!(
            "again-{}",
            at.file_name().unwrap_or_default().to_string_lossy()
        ));
        let swap = Swap {
            file,
            beside: at,
            places: vec![&place],
            old: nothing(),
            new: &prepared,
            carries: true,
            is_copy: false,
            is_resumed: is_swapped,
        };
        self.kept.push(match is_swapped {
            true => swap.finish()?.0,
            false => swap.carry_out()?.kept,
        });
        Ok(())
    }
}

fn copy_back(kept: &Path, to: &Path, error: disk::WriteError) -> Result<(), ApplyError> {
    match error.source.kind() {
        ErrorKind::CrossesDevices => keep(kept, &[to]).map(drop),
        _ => Err(error.into()),
    }
}

/// Repairs a replacement that was interrupted between its two steps.
pub(super) fn close_gap(swap: &Swap<'_>) -> Result<(), ApplyError> {
    let aside = aside(swap.beside);
    let again = swap.beside.with_extension("again");
    if disk::exists(&aside)? {
        if disk::exists(swap.file)? {
            if !disk::exists(swap.beside)? {
                return Ok(disk::move_new(&aside, swap.beside)?);
            }
            if !swap.carries {
                // Another program created the file in the gap. Both versions stay.
                keep(&aside, &swap.places)?;
                return Ok(());
            }
            disk::move_new(swap.file, &again)?;
        }
        disk::move_new(&aside, swap.file)?;
    }
    if disk::exists(&again)? {
        carry_all(&again, 0, swap.file, Some(swap.old.len), &mut Vec::new())?;
        let places: Vec<PathBuf> =
            swap.places.iter().map(|place| place.with_extension("again")).collect();
        keep(&again, &places.iter().map(|place| &**place).collect::<Vec<_>>())?;
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
pub(super) fn is_moved(state: &State, place: &Path, from: &Path) -> bool {
    let is_there = |path: &Path| path.symlink_metadata().is_ok();
    if !is_private(state, place) {
        // It moved out of the trash. If `from` still exists, what is at `place` is not ours.
        return is_there(place) && !is_there(from);
    }
    let is_copy = || {
        let both = || Some(disk::stamp(place).ok()? == disk::stamp(from).ok()?);
        is_there(from) && both().unwrap_or(false)
    };
    is_there(place) && !is_copy()
}
