//! A small history to try everything on: three projects, three ages of the client, every pattern.
//!
//! It lies in `crates/ramus/demo`, made by `testkit::demo`.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::path::Path;

use ramus_store::PathError;
use rust_embed::RustEmbed;

#[derive(RustEmbed)]
#[folder = "$CARGO_MANIFEST_DIR/demo"]
struct EmbeddedDemo;

/// One file of the sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DemoFile {
    /// Its path from the Claude directory on, with `/`.
    pub(crate) path: String,
    pub(crate) bytes: Vec<u8>,
}

/// Returns the whole sample, by path: sessions, agents, backups, prompt history, settings.
pub(crate) fn demo_files() -> Vec<DemoFile> {
    let file = |path: Cow<'static, str>| {
        let bytes = EmbeddedDemo::get(&path)?.data.into_owned();
        Some(DemoFile { path: path.into_owned(), bytes })
    };
    let mut files: Vec<DemoFile> = EmbeddedDemo::iter().filter_map(file).collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

/// Writes the sample into a directory that does not exist yet.
pub(crate) fn write_demo(dir: &Path) -> Result<(), PathError> {
    let files: Vec<(String, Vec<u8>)> =
        demo_files().into_iter().map(|file| (file.path, file.bytes)).collect();
    ramus_store::new_files::create_dir_with_files(dir, &files)
}
