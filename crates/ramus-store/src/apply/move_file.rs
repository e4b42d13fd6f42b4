//! Moves files to the trash and back, also to another file system.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::ApplyError;
use crate::disk::{self, WriteError};
use crate::stamp::Stamp;

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
/// open. Where the trash is on another file system it may have to stay, and `notes` says so. Returns
/// where it is now, if it was not removed.
///
/// A caller that compares the content must first look whether the file is open: what is written between
/// the two would be removed unseen.
pub(super) fn discard(
    path: &Path,
    is_needed: bool,
    places: &[&Path],
    notes: &mut Vec<String>,
) -> Result<Option<PathBuf>, ApplyError> {
    let mut kept = None;
    if is_needed {
        let at = move_to_first(path, places)?;
        if at == path {
            let path = path.display();
            notes.push(format!("another program has {path} open, so it was not removed"));
        }
        kept = Some(at);
    } else {
        disk::remove_file(path)?;
    }
    disk::sync_parent_dir(path)?;
    Ok(kept)
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
