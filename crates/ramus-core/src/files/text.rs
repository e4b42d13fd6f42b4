//! Bytes into the text that tools see, and back.
//!
//! The client shows and records text with `\n` alone, and writes an edited file
//! with the line ends that most of its lines had. Measured with 2.0.8 to 2.1.325.

/// How a text is encoded in its file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TextFormat {
    pub(super) windows_line_ends: bool,
    pub(super) utf16: bool,
}

/// Decodes a file as the client does. `None`: it is not text.
pub(super) fn decode_text(bytes: &[u8]) -> Option<(String, TextFormat)> {
    let wide = bytes.starts_with(&[0xff, 0xfe]);
    let text = if wide {
        let units = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
        if bytes.len() % 2 == 1 {
            return None;
        }
        char::decode_utf16(units).collect::<Result<String, _>>().ok()?
    } else {
        std::str::from_utf8(bytes).ok()?.to_owned()
    };
    let dress = TextFormat { windows_line_ends: has_windows_ends(&text), utf16: wide };
    Some((unix_line_ends(&text), dress))
}

/// Writes a text as the file had it before.
pub(super) fn encode_text(text: &str, dress: TextFormat) -> Vec<u8> {
    let text = if dress.windows_line_ends {
        unix_line_ends(text).replace('\n', "\r\n")
    } else {
        text.to_owned()
    };
    match dress.utf16 {
        true => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        false => text.into_bytes(),
    }
}

/// Whether most lines end as on Windows.
pub(super) fn has_windows_ends(text: &str) -> bool {
    let windows = text.matches("\r\n").count();
    windows > text.matches('\n').count() - windows
}

fn unix_line_ends(text: &str) -> String {
    if text.contains('\r') { text.replace("\r\n", "\n") } else { text.to_owned() }
}

/// Whether two texts are the same but for what recording them may have cost: line ends, a mark at
/// the beginning, a newline at the end.
pub(super) fn is_same_text(a: &str, b: &str) -> bool {
    let bare = |text: &str| {
        let text = unix_line_ends(text.strip_prefix('\u{feff}').unwrap_or(text));
        text.trim_end_matches('\n').to_owned()
    };
    bare(a) == bare(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], edited: &[u8]) {
        let (text, how) = decode_text(bytes).unwrap();
        assert_eq!(encode_text(&text.replace("two", "2\n3"), how), edited);
    }

    #[test]
    fn an_edited_file_keeps_its_line_ends_and_encoding() {
        check(b"one\ntwo\n", b"one\n2\n3\n");
        check(b"one\r\ntwo\r\n", b"one\r\n2\r\n3\r\n");
        check(b"one\r\ntwo\nx\n", b"one\n2\n3\nx\n");
        check(b"one\ntwo\r\nx\r\n", b"one\r\n2\r\n3\r\nx\r\n");
        check(b"\xef\xbb\xbftwo", b"\xef\xbb\xbf2\n3");
        let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
        check(&wide("\u{feff}two\r\n"), &wide("\u{feff}2\r\n3\r\n"));
    }

    #[test]
    fn what_is_no_text_is_not_taken_for_one() {
        assert_eq!(decode_text(b"\xff\x00\x80"), None);
        assert_eq!(decode_text(b"\xff\xfea"), None);
    }

    #[test]
    fn recording_a_text_may_cost_its_ends() {
        assert!(is_same_text("\u{feff}a\r\nb\r\n", "a\nb"));
        assert!(!is_same_text("a\nb", "a\n\nb"));
    }
}
