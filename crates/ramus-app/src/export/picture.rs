//! Where the pictures of a transcript go.

use std::collections::BTreeMap;

use ramus_core::body::{Media, MediaSource};
use ramus_core::ids::fingerprint;

use super::ImagePlacement;

/// Pictures met so far, those that become files kept until the transcript is whole.
pub(super) struct ExportPictures {
    images: ImagePlacement,
    /// The relative path from the transcript to the directory of the export.
    path_to_root: &'static str,
    files: BTreeMap<String, Vec<u8>>,
}

impl ExportPictures {
    pub(super) fn new(images: ImagePlacement, path_to_root: &'static str) -> Self {
        Self { images, path_to_root, files: BTreeMap::new() }
    }

    /// Returns the address of a picture. `None`: it is only named.
    pub(super) fn picture_address(&mut self, media: &Media) -> Option<String> {
        let MediaSource::Base64(data) = &media.source else { return None };
        let kind = media.media_type.as_deref()?;
        // Other kinds could be documents that run.
        let ending = match kind {
            "image/png" => "png",
            "image/jpeg" | "image/jpg" => "jpg",
            "image/gif" => "gif",
            "image/webp" => "webp",
            _ => return None,
        };
        if !data.bytes().all(|byte| VALUES[byte as usize] < 64 || byte == b'=') {
            return None;
        }
        match self.images {
            ImagePlacement::None => None,
            ImagePlacement::Inline => Some(format!("data:{kind};base64,{data}")),
            ImagePlacement::Files => {
                let name = format!("images/{:016x}.{ending}", fingerprint(data.as_bytes()));
                let address = format!("{}{name}", self.path_to_root);
                self.files.entry(name).or_insert_with(|| decode_base64(data.as_bytes()));
                Some(address)
            }
        }
    }

    pub(super) fn into_files(self) -> impl Iterator<Item = (String, Vec<u8>)> {
        self.files.into_iter()
    }
}

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The value of each letter; 64: none.
static VALUES: [u8; 256] = {
    let mut values = [64; 256];
    let mut letter = 0;
    while letter < 64 {
        values[LETTERS[letter] as usize] = letter as u8;
        letter += 1;
    }
    values
};

/// Decodes base64; letters that are none end it.
fn decode_base64(data: &[u8]) -> Vec<u8> {
    let value = |byte: u8| u32::from(VALUES[byte as usize]);
    let end = data.iter().position(|byte| value(*byte) == 64).unwrap_or(data.len());
    let (fours, rest) = data[..end].as_chunks::<4>();
    let bits = |letters: &[u8]| letters.iter().fold(0, |bits, byte| bits << 6 | value(*byte));
    let mut out = Vec::with_capacity(data.len() / 4 * 3 + 2);
    for four in fours {
        let [_, three @ ..] = bits(four).to_be_bytes();
        out.extend_from_slice(&three);
    }
    if !rest.is_empty() {
        // Each letter but the first ends a byte.
        let [_, last @ ..] = (bits(rest) << (6 * (4 - rest.len()))).to_be_bytes();
        out.extend_from_slice(&last[..rest.len() - 1]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::decode_base64;

    #[test]
    fn base64_is_decoded() {
        assert_eq!(decode_base64(b"aGVsbG8="), b"hello");
        assert_eq!(decode_base64(b"aGVsbG8h"), b"hello!");
        assert_eq!(decode_base64(b"aGVsbA=="), b"hell");
        assert_eq!(decode_base64(b"aGVs!GVs"), b"hel");
        assert_eq!(decode_base64(b""), b"");
    }
}
