//! Images of a message, written to private files for the program that shows them.

use std::io;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ramus_core::body::{Media, MediaSource};
use ramus_render::text::count_noun;
use ramus_store::PathError;
use ramus_store::new_files::fill_private_dir;

/// The media types that are written, and how their files end. A viewer decides by the name what to do with a
/// file, so nothing that could be run gets one.
const ENDINGS: [(&str, &str); 5] = [
    ("image/png", "png"),
    ("image/jpeg", "jpg"),
    ("image/gif", "gif"),
    ("image/webp", "webp"),
    ("application/pdf", "pdf"),
];

/// How many directories one run makes for images.
const MAX_DIRS: u32 = 10_000;

/// Opens the images of a message; returns what to tell.
pub(crate) fn open_images(media: &[Media], open_file: fn(&Path) -> bool) -> Result<String, String> {
    let images: Vec<(Vec<u8>, &str)> = media.iter().filter_map(decode_image).collect();
    if images.is_empty() {
        return Err("no image here: move to a message that shows [image …]".to_owned());
    }
    let paths = write_images(&images).map_err(|error| format!("{error}: {}", error.source))?;
    // `all` would stop at the first.
    let opened = paths.iter().filter(|path| open_file(path)).count();
    let count = count_noun(paths.len(), "image");
    let dir = paths[0].parent().unwrap_or(&paths[0]).display();
    Ok(match opened {
        0 => format!("no viewer found; {count} in {dir}"),
        _ => format!("opened {count}, in {dir}"),
    })
}

fn decode_image(media: &Media) -> Option<(Vec<u8>, &'static str)> {
    let kind = media.media_type.as_deref()?;
    let (_, ending) = ENDINGS.iter().find(|(known, _)| *known == kind)?;
    let MediaSource::Base64(data) = &media.source else { return None };
    Some((STANDARD.decode(data.trim()).ok()?, ending))
}

/// Writes images into a new directory that only the user can read.
fn write_images(images: &[(Vec<u8>, &str)]) -> Result<Vec<PathBuf>, PathError> {
    let name = |(n, (_, ending)): (usize, &(Vec<u8>, &str))| format!("{}.{ending}", n + 1);
    let bytes = images.iter().map(|(bytes, _)| bytes.clone());
    let files: Vec<(String, Vec<u8>)> = images.iter().enumerate().map(name).zip(bytes).collect();
    let parent = std::env::temp_dir();
    let own = std::process::id();
    let mut n = 0;
    let dir = loop {
        let dir = parent.join(format!("ramus-images-{own}-{n}"));
        match fill_private_dir(&dir, &files) {
            Err(error) if error.source.kind() == io::ErrorKind::AlreadyExists && n < MAX_DIRS => {
                n += 1;
            }
            made => break made.map(|()| dir)?,
        }
    };
    Ok(files.iter().map(|(name, _)| dir.join(name)).collect())
}
