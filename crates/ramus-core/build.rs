//! Computes a version from the sources, because data cached by other rules must not be used.
#![expect(
    clippy::disallowed_methods,
    reason = "the crate does no I/O; what is asked for while it is built reads its sources"
)]

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let mut hasher = DefaultHasher::new();
    add(Path::new("src"), &mut hasher)?;
    env::var("CARGO_PKG_VERSION").unwrap_or_default().hash(&mut hasher);
    println!("cargo::rustc-env=SOURCES={:016x}", hasher.finish());
    println!("cargo::rerun-if-changed=src");
    Ok(())
}

fn add(path: &Path, hasher: &mut DefaultHasher) -> io::Result<()> {
    if !path.is_dir() {
        fs::read(path)?.hash(hasher);
        return Ok(());
    }
    let entries: io::Result<Vec<_>> = fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect();
    let mut entries = entries?;
    entries.sort();
    entries.iter().try_for_each(|entry| add(entry, hasher))
}
