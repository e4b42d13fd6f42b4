//! Writes new files. Nothing that exists is changed.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use crate::error::PathError;
use crate::private_access::create_private_dir;

/// Writes files into a new or empty directory.
pub fn fill_empty_dir(dir: &Path, files: &[(String, Vec<u8>)]) -> Result<(), PathError> {
    fs::create_dir_all(dir)
        .and_then(|()| match fs::read_dir(dir)?.next() {
            None => Ok(()),
            Some(_) => Err(io::ErrorKind::DirectoryNotEmpty.into()),
        })
        .map_err(|source| PathError::on_write(dir, source))?;
    write_new_files(dir, files)
}

/// Writes files below a directory. It is an error if one of them exists.
pub fn write_new_files(dir: &Path, files: &[(String, Vec<u8>)]) -> Result<(), PathError> {
    for (name, bytes) in files {
        let path = dir.join(name);
        create_file(&path, bytes).map_err(|source| PathError::on_write(&path, source))?;
    }
    Ok(())
}

/// Writes files into a new directory that only the user can read.
pub fn fill_private_dir(dir: &Path, files: &[(String, Vec<u8>)]) -> Result<(), PathError> {
    create_private_dir(dir).map_err(|source| PathError::on_write(dir, source))?;
    write_new_files(dir, files)
}

/// Writes a file whose directory exists. It is an error if the file exists.
pub fn write_new_file(path: &Path, bytes: &[u8]) -> Result<(), PathError> {
    let made = OpenOptions::new().write(true).create_new(true).open(path);
    made.and_then(|mut file| file.write_all(bytes))
        .map_err(|source| PathError::on_write(path, source))
}

fn create_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    OpenOptions::new().write(true).create_new(true).open(path)?.write_all(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_exists_is_touched() {
        let home = testkit::TestHome::new();
        let dir = home.path().join("a/b");
        let files = |text: &str| vec![("c/d".to_owned(), text.as_bytes().to_vec())];
        fs::create_dir_all(&dir).unwrap();
        fill_empty_dir(&dir, &files("one")).unwrap();
        let error = fill_empty_dir(&dir, &files("two")).unwrap_err();
        assert_eq!(error.source.kind(), io::ErrorKind::DirectoryNotEmpty);
        let error = write_new_files(&dir, &files("two")).unwrap_err();
        assert_eq!(error.path, dir.join("c/d"));
        assert_eq!(fs::read(dir.join("c/d")).unwrap(), b"one");
    }
}
