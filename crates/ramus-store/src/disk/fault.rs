//! Fault injection for tests: a power cut, an error, or another program's write at the n-th call.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

type OtherWriter = Box<dyn FnMut()>;

thread_local! {
    static CALLS: Cell<u32> = const { Cell::new(0) };
    static CUT: Cell<Option<u32>> = const { Cell::new(None) };
    static ERROR: Cell<Option<(u32, i32)>> = const { Cell::new(None) };
    static LASTS: Cell<bool> = const { Cell::new(false) };
    static OPEN: Cell<bool> = const { Cell::new(false) };
    static OTHER: RefCell<Option<PathBuf>> = const { RefCell::new(None) };
    static PLAIN_RENAME: Cell<bool> = const { Cell::new(false) };
    static WRITER: RefCell<Option<(u32, OtherWriter)>> = const { RefCell::new(None) };
}

/// Lets `calls` calls succeed. After that nothing reaches the disk.
pub(crate) fn cut_after(calls: u32) {
    clear_faults();
    CUT.set(Some(calls));
}

/// Like [`cut_after`], but keeps the other faults that were set.
pub(crate) fn cut_also_after(calls: u32) {
    CUT.set(Some(calls));
}

/// Makes one call fail with a system error.
pub(crate) fn fail_at(call: u32, errno: i32) {
    clear_faults();
    ERROR.set(Some((call, errno)));
}

/// Lets a call and all after it fail, as on a full disk.
pub(crate) fn fail_from(call: u32, errno: i32) {
    fail_at(call, errno);
    LASTS.set(true);
}

/// Pretends that a directory is on another file system; `reset` does not change it.
pub(crate) fn other_file_system(dir: Option<&Path>) {
    OTHER.replace(dir.map(Path::to_owned));
}

pub(super) fn crosses(from: &Path, to: &Path) -> io::Result<()> {
    let is_there = |path: &Path| {
        OTHER.with_borrow(|dir| dir.as_deref().is_some_and(|dir| path.starts_with(dir)))
    };
    if is_there(from) == is_there(to) { Ok(()) } else { Err(io::ErrorKind::CrossesDevices.into()) }
}

/// Lets another program write just before one call.
pub(crate) fn write_at(call: u32, writer: OtherWriter) {
    clear_faults();
    WRITER.replace(Some((call, writer)));
}

/// Simulates a file system that can neither exchange files nor rename without replacing. `reset` does
/// not change it.
pub(crate) fn plain_renames_only(only: bool) {
    PLAIN_RENAME.set(only);
}

pub(super) fn check_rename_flags() -> io::Result<()> {
    if PLAIN_RENAME.get() { Err(io::ErrorKind::Unsupported.into()) } else { Ok(()) }
}

/// Pretends that other programs have every file open, as where `/proc` cannot be read; `reset` does not
/// change it.
pub(crate) fn all_look_open(open: bool) {
    OPEN.set(open);
}

pub(super) fn looks_open() -> bool {
    OPEN.get()
}

/// Clears all faults and returns how many calls there were.
pub(crate) fn clear_faults() -> u32 {
    CUT.set(None);
    ERROR.set(None);
    LASTS.set(false);
    WRITER.take();
    CALLS.replace(0)
}

fn power_is_off() -> io::Error {
    io::Error::other("the power is off")
}

pub(super) fn inject_fault() -> io::Result<()> {
    let call = CALLS.get();
    CALLS.set(call + 1);
    let writer = WRITER.take();
    match writer {
        Some((at, mut writer)) if at == call => writer(),
        writer => drop(WRITER.replace(writer)),
    }
    if CUT.get().is_some_and(|cut| call >= cut) {
        return Err(power_is_off());
    }
    match ERROR.get() {
        Some((at, errno)) if at == call || LASTS.get() && call > at => {
            Err(io::Error::from_raw_os_error(errno))
        }
        _ => Ok(()),
    }
}

/// Simulates a partial write: the last one before a power cut, or one that fails.
pub(super) fn write_partly(mut file: &File, bytes: &[u8]) -> io::Result<()> {
    let (part, broken) = append_partly(bytes.len());
    match broken {
        Some(broken) => file.write_all(&bytes[..part]).and(Err(broken)),
        None => Ok(()),
    }
}

/// Returns how much of a write succeeds, and the error after it.
pub(super) fn append_partly(len: usize) -> (usize, Option<io::Error>) {
    let call = CALLS.get();
    let is_off = CUT.get().is_some_and(|cut| call >= cut);
    match inject_fault() {
        Err(error) => (if is_off { 0 } else { len / 2 }, Some(error)),
        Ok(()) if CUT.get() == Some(call + 1) => (len / 2, Some(power_is_off())),
        Ok(()) => (len, None),
    }
}
