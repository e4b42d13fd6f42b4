//! Where the pictures of a transcript go.

use std::collections::BTreeMap;

use ramus_core::body::{Media, MediaSource};
use ramus_core::name::fingerprint;

use super::Images;

/// Pictures met so far, those that become files kept until the transcript is whole.
pub(super) struct Pictures {
    images: Images,
    /// The way from the transcript to the directory of the export.
    up: &'static str,
    files: BTreeMap<String, Vec<u8>>,
}

impl Pictures {
    pub(super) fn new(images: Images, up: &'static str) -> Self {
        Self { images, up, files: BTreeMap::new() }
    }

    /// Returns the address of a picture. `None`: it is only named.
    pub(super) fn address(&mut self, media: &Media) -> Option<String> {
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
        let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
        if !data.bytes().all(is_base64) {
            return None;
        }
        match self.images {
            Images::None => None,
            Images::Inline => Some(format!("data:{kind};base64,{data}")),
            Images::Files => {
                let name = format!("images/{:016x}.{ending}", fingerprint(data.as_bytes()));
                let address = format!("{}{name}", self.up);
                self.files.entry(name).or_insert_with(|| decoded(data.as_bytes()));
                Some(address)
            }
        }
    }

    pub(super) fn files(self) -> impl Iterator<Item = (String, Vec<u8>)> {
        self.files.into_iter()
    }
}

/// Decodes base64; letters that are none end it.
fn decoded(data: &[u8]) -> Vec<u8> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let mut out = Vec::with_capacity(data.len() / 4 * 3);
    let (mut bits, mut held) = (0_u32, 0);
    for value in data.iter().map_while(|byte| value(*byte)) {
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::decoded;

    #[test]
    fn base64_is_decoded() {
        assert_eq!(decoded(b"aGVsbG8="), b"hello");
        assert_eq!(decoded(b"aGVsbG8h"), b"hello!");
        assert_eq!(decoded(b""), b"");
    }
}
