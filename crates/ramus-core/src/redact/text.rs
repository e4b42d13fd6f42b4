//! Finds where words, lines and strings begin and end, in text that may be escaped several times.

use super::rules::ByteClass;

/// Returns how many bytes from the start belong to a class.
pub(super) fn run_length(bytes: &[u8], class: ByteClass) -> usize {
    bytes.iter().take_while(|byte| class.contains(**byte)).count()
}

/// Like [`run_length`], but looks at no more than `most` bytes.
pub(super) fn run_within(bytes: &[u8], class: ByteClass, most: usize) -> usize {
    run_length(&bytes[..bytes.len().min(most)], class)
}

/// Whether a word may begin here; the letter of an escape such as `\n` belongs to no word.
pub(super) fn is_word_start(bytes: &[u8], at: usize) -> bool {
    let Some(before) = at.checked_sub(1) else { return true };
    if is_escape_letter(bytes, at) {
        return false;
    }
    !(bytes[before].is_ascii_alphanumeric() || bytes[before] == b'_')
        || is_escape_letter(bytes, before)
}

/// Whether the byte is the `n` of a `\n` or of a `\\n` (text that was escaped twice).
fn is_escape_letter(bytes: &[u8], at: usize) -> bool {
    matches!(bytes[at], b'n' | b'r' | b't') && at > 0 && bytes[at - 1] == b'\\'
}

/// Returns the number of backslashes at the start.
pub(super) fn count_slashes(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| **byte == b'\\').count()
}

/// Returns the length of a line end, a tab or a space at the start, escaped or not. 0: there is none.
pub(super) fn blank_length(bytes: &[u8]) -> usize {
    match bytes.first() {
        Some(b' ' | b'\t' | b'\n' | b'\r') => 1,
        Some(b'\\') => {
            let slashes = count_slashes(bytes);
            match bytes.get(slashes) {
                Some(b'n' | b'r' | b't') => slashes + 1,
                _ => 0,
            }
        }
        _ => 0,
    }
}

/// Returns the length of spaces and tabs at the start; examines at most 40 bytes.
pub(super) fn indent_length(bytes: &[u8]) -> usize {
    let mut at = 0;
    while at < 40 {
        match bytes.get(at) {
            Some(b' ' | b'\t') => at += 1,
            Some(b'\\') => {
                let slashes = count_slashes(&bytes[at..]);
                match bytes.get(at + slashes) {
                    Some(b't') => at += slashes + 1,
                    _ => break,
                }
            }
            _ => break,
        }
    }
    at
}

/// Whether a line ends here: at its newline, at the end of its string, or at the end of the bytes.
pub(super) fn is_line_end(bytes: &[u8]) -> bool {
    match bytes.first() {
        None | Some(b'\n' | b'\r' | b'"') => true,
        Some(b'\\') => {
            matches!(bytes.get(count_slashes(bytes)), None | Some(b'n' | b'r' | b'"'))
        }
        _ => false,
    }
}

/// A quote character with the backslashes before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct QuoteMark {
    pub(super) slashes: usize,
    pub(super) mark: u8,
}

impl QuoteMark {
    /// Reads a quote at the start.
    pub(super) fn read_at(bytes: &[u8]) -> Option<Self> {
        let slashes = count_slashes(bytes);
        let mark = *bytes.get(slashes)?;
        matches!(mark, b'"' | b'\'' | b'`').then_some(Self { slashes, mark })
    }

    pub(super) fn len(self) -> usize {
        self.slashes + 1
    }

    /// Returns the length of the quoted text, from after this quote to the closing one.
    ///
    /// A string that contains the quoted text may end first; then that is the end. `None`: the line
    /// or `most` bytes end before.
    pub(super) fn quoted_length(self, bytes: &[u8], is_json: bool, most: usize) -> Option<usize> {
        let mut at = 0;
        while at <= most {
            let slashes = count_slashes(&bytes[at..]);
            let byte = *bytes.get(at + slashes)?;
            if byte == self.mark && slashes == self.slashes {
                return Some(at);
            }
            let ends_outer = byte == b'"' && (slashes < self.slashes || is_json && slashes == 0);
            if ends_outer {
                return Some(at);
            }
            if matches!(byte, b'\n' | b'\r') {
                return None;
            }
            at += slashes + 1;
        }
        None
    }
}

/// Returns the start of the line or string at a position; at most `most` bytes are examined.
pub(super) fn line_start(bytes: &[u8], at: usize, most: usize) -> usize {
    let least = at.saturating_sub(most);
    let mut start = at;
    while start > least {
        let byte = bytes[start - 1];
        let is_quote = byte == b'"' && (start < 2 || bytes[start - 2] != b'\\');
        if matches!(byte, b'\n' | b'\r') || is_quote || is_newline_letter(bytes, start - 1) {
            break;
        }
        start -= 1;
    }
    start
}

fn is_newline_letter(bytes: &[u8], at: usize) -> bool {
    matches!(bytes[at], b'n' | b'r') && at > 0 && bytes[at - 1] == b'\\'
}
