//! The format of a cache file: frames with a length and a hash.
//!
//! A frame that is incomplete or damaged is ignored, together with all frames after it. The first frame
//! holds the path of the file or directory that the others describe.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use super::private_options;

use crate::regular_file;

/// The size of a frame's header: its length and a hash of its content.
const HEADER_BYTES: usize = 16;
/// The maximum length of the first frame.
const MAX_SUBJECT_BYTES: u64 = 64 * 1024;

/// Returns the contents of all frames except the first, and how many bytes are valid.
pub(super) fn content_frames(bytes: &[u8]) -> (Vec<&[u8]>, usize) {
    let (mut frames, whole) = all_frames(bytes);
    if !frames.is_empty() {
        frames.remove(0);
    }
    (frames, whole)
}

/// Whether the file or directory that a cache file describes still exists.
pub(super) fn is_subject_present(pack: &Path) -> io::Result<bool> {
    let mut head = Vec::new();
    regular_file::open_for_reading(pack)?.take(MAX_SUBJECT_BYTES).read_to_end(&mut head)?;
    let about = all_frames(&head).0.first().and_then(|about| std::str::from_utf8(about).ok());
    Ok(about.is_some_and(|about| Path::new(about).exists()))
}

fn all_frames(bytes: &[u8]) -> (Vec<&[u8]>, usize) {
    let mut frames = Vec::new();
    let mut rest = bytes;
    while let Some((head, after)) = rest.split_at_checked(HEADER_BYTES) {
        let (length, hash) = head.split_at(8);
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |n, byte| n << 8 | u64::from(*byte));
        let length = usize::try_from(number(length)).unwrap_or(usize::MAX);
        let Some((content, after)) = after.split_at_checked(length) else { break };
        if xxh3_64(content) != number(hash) {
            break;
        }
        frames.push(content);
        rest = after;
    }
    (frames, bytes.len() - rest.len())
}

/// Returns the first frame for a file or directory.
pub(super) fn subject_frame(about: &Path) -> Vec<u8> {
    encode_frame(absolute_path(about).as_os_str().as_encoded_bytes())
}

/// Returns an absolute path, which does not depend on the working directory.
pub(super) fn absolute_path(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

fn encode_frame(content: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(HEADER_BYTES + content.len());
    frame.extend((content.len() as u64).to_le_bytes());
    frame.extend(xxh3_64(content).to_le_bytes());
    frame.extend(content);
    frame
}

/// Appends a frame after the valid ones.
pub(super) fn append_frame(path: &Path, whole: u64, content: &[u8]) -> io::Result<()> {
    let mut file =
        regular_file::open_with_options(private_options(OpenOptions::new().write(true)), path)?;
    file.set_len(whole)?;
    io::Seek::seek(&mut file, io::SeekFrom::End(0))?;
    file.write_all(&encode_frame(content))
}

/// Replaces all frames by one.
pub(super) fn replace_frames(path: &Path, about: &Path, content: &[u8]) -> io::Result<()> {
    let beside = temporary_path(path);
    let mut file = private_options(OpenOptions::new().write(true).truncate(true)).open(&beside)?;
    file.write_all(&subject_frame(about))?;
    file.write_all(&encode_frame(content))?;
    fs::rename(&beside, path)
}

/// Returns the temporary path that a file is written to before it is renamed.
pub(super) fn temporary_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    name.into()
}

#[cfg(test)]
mod tests {
    use super::{append_frame, content_frames, encode_frame, is_subject_present, replace_frames};

    #[test]
    fn frames_are_whole_or_do_not_count() {
        let bytes = [
            encode_frame(b"/about"),
            encode_frame(b"one"),
            encode_frame(b""),
            encode_frame(b"three"),
        ]
        .concat();
        assert_eq!(content_frames(&bytes), (vec![&b"one"[..], b"", b"three"], bytes.len()));
        for cut in 0..bytes.len() {
            let (found, whole) = content_frames(&bytes[..cut]);
            assert!(whole <= cut && found.len() < 3);
        }
        for at in 0..bytes.len() {
            let mut bad = bytes.clone();
            bad[at] ^= 0x10;
            assert!(content_frames(&bad).0.len() < 3, "a changed byte at {at} goes unnoticed");
        }
    }

    #[test]
    fn a_frame_takes_the_place_of_a_torn_one() {
        let home = testkit::TestHome::new();
        let path = home.path().join("x.pack");
        replace_frames(&path, home.path(), b"one").unwrap();
        let whole = std::fs::metadata(&path).unwrap().len();
        append_frame(&path, whole, b"two").unwrap();
        let torn = std::fs::read(&path).unwrap();
        std::fs::write(&path, &torn[..torn.len() - 1]).unwrap();
        append_frame(&path, whole, b"three").unwrap();
        assert_eq!(content_frames(&std::fs::read(&path).unwrap()).0, [&b"one"[..], b"three"]);
    }

    #[test]
    fn what_is_gone_is_not_wanted_any_more() {
        let home = testkit::TestHome::new();
        let (path, about) = (home.path().join("x.pack"), home.path().join("session.jsonl"));
        replace_frames(&path, &about, b"").unwrap();
        assert!(!is_subject_present(&path).unwrap());
        std::fs::write(&about, "").unwrap();
        assert!(is_subject_present(&path).unwrap());
        std::fs::write(&path, "rubbish").unwrap();
        assert!(!is_subject_present(&path).unwrap());
    }
}
