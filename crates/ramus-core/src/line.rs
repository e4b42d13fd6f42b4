//! Splits bytes into lines.
//!
//! This module knows newlines, offsets and UTF-8. It does not know JSON.

use bitcode::{Decode, Encode};
use memchr::{memchr, memrchr};

/// The longest line that is read; the API accepts no message of that size.
///
/// Longer lines are damaged lines: their position and length are known, but their bytes are not kept,
/// so memory does not depend on the longest line (R1).
pub const LONGEST_LINE: u64 = 128 * 1024 * 1024;

/// From this length on, a torn line reserves the maximum at once. Unused capacity costs no memory,
/// while a line that grows in small steps would be copied each time.
const LONG_LINE: usize = 4 * 1024 * 1024;

/// One complete line without its newline, and where it is in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileLine<'a> {
    /// Offset of the first byte of `bytes` in the file.
    pub offset: u64,
    /// Line number, from 1; blank lines count.
    pub number: u32,
    /// The line without its newline, carriage return and byte order mark.
    pub bytes: &'a [u8],
    /// Whether the bytes are valid UTF-8.
    pub utf8: bool,
    /// The length of a line that is longer than [`LONGEST_LINE`], of which no bytes are given.
    pub too_long: Option<u64>,
}

/// Cuts a growing stream of bytes into complete lines (R1).
///
/// The client may be writing while we read, so the last line can be torn. It
/// waits in `tail` until its newline arrives. Loading a file is pushing it;
/// following a file means pushing each appended chunk.
#[derive(Clone, Debug, Default, Encode, Decode)]
pub struct LineBuffer {
    offset: u64,
    number: u32,
    #[bitcode(skip)]
    tail: Vec<u8>,
    /// The last line was emitted before its newline arrived.
    emitted_early: bool,
    /// The bytes discarded so far of an incomplete line that is longer than [`LONGEST_LINE`].
    discarded: u64,
}

impl LineBuffer {
    /// Calls `each` for every line that `chunk` completes.
    pub fn push(&mut self, chunk: &[u8], mut each: impl FnMut(FileLine<'_>)) {
        let mut rest = chunk;
        if self.emitted_early && !rest.is_empty() {
            self.emitted_early = false;
            if let Some(after) = rest.strip_prefix(b"\n") {
                self.offset += 1;
                rest = after;
            }
        }
        if self.is_torn() {
            let Some(end) = memchr(b'\n', rest) else { return self.keep_partial(rest) };
            self.keep_partial(&rest[..=end]);
            self.emit_tail(&mut each);
            rest = &rest[end + 1..];
        }
        let Some(last) = memrchr(b'\n', rest) else { return self.keep_partial(rest) };
        let (mut complete, torn) = rest.split_at(last + 1);
        // One check over the whole piece is cheaper than one per line; only a
        // piece that fails it is checked line by line.
        let all_utf8 = is_utf8(complete);
        while let Some(end) = memchr(b'\n', complete) {
            let (line, next) = complete.split_at(end + 1);
            self.emit_line(line, all_utf8 || is_utf8(line), &mut each);
            complete = next;
        }
        self.keep_partial(torn);
    }

    /// Whether everything pushed so far ended with a newline.
    pub fn is_at_line_end(&self) -> bool {
        !self.is_torn() && !self.emitted_early
    }

    /// Whether the last line has no newline.
    pub fn is_torn(&self) -> bool {
        !self.tail.is_empty() || self.discarded > 0
    }

    /// Returns the unterminated last line, if any.
    pub fn torn_line(&self) -> Option<FileLine<'_>> {
        self.is_torn().then(|| {
            let too_long = (self.discarded > 0).then_some(self.discarded);
            let (at, bytes) = strip_byte_order_mark(self.offset, &self.tail);
            FileLine { offset: at, number: self.number + 1, bytes, utf8: is_utf8(bytes), too_long }
        })
    }

    /// Passes the unterminated last line to `each` as if it were complete.
    pub fn take_torn(&mut self, mut each: impl FnMut(FileLine<'_>)) {
        if self.is_torn() {
            self.emit_tail(&mut each);
            self.emitted_early = true;
        }
    }

    /// Stores the next part of an incomplete line.
    fn keep_partial(&mut self, part: &[u8]) {
        let length = self.tail.len() + part.len();
        if self.discarded > 0 || length as u64 > LONGEST_LINE {
            self.discarded += length as u64;
            self.tail = Vec::new();
            return;
        }
        if length > LONG_LINE {
            self.tail.reserve_exact(LONGEST_LINE as usize - self.tail.len());
        }
        self.tail.extend_from_slice(part);
    }

    /// Emits the stored line, which is complete now.
    fn emit_tail(&mut self, each: &mut impl FnMut(FileLine<'_>)) {
        let let_go = std::mem::take(&mut self.discarded);
        if let_go > 0 {
            let at = self.offset;
            self.offset += let_go;
            self.number = self.number.saturating_add(1);
            let too_long = Some(let_go);
            return each(FileLine {
                offset: at,
                number: self.number,
                bytes: &[],
                utf8: true,
                too_long,
            });
        }
        let mut whole = std::mem::take(&mut self.tail);
        let utf8 = is_utf8(&whole);
        self.emit_line(&whole, utf8, each);
        if whole.len() <= LONG_LINE {
            whole.clear();
            self.tail = whole;
        }
    }

    fn emit_line(&mut self, with_newline: &[u8], utf8: bool, each: &mut impl FnMut(FileLine<'_>)) {
        let bytes = with_newline.strip_suffix(b"\n").unwrap_or(with_newline);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let (at, mut bytes) = strip_byte_order_mark(self.offset, bytes);
        let length = with_newline.len() as u64;
        let too_long = (length > LONGEST_LINE).then_some(length);
        if too_long.is_some() {
            bytes = &[];
        }
        self.offset += length;
        self.number = self.number.saturating_add(1);
        each(FileLine { offset: at, number: self.number, bytes, utf8, too_long });
    }
}

/// Drops the byte order mark that a file can begin with.
fn strip_byte_order_mark(at: u64, bytes: &[u8]) -> (u64, &[u8]) {
    match bytes.strip_prefix(b"\xEF\xBB\xBF") {
        Some(bare) if at == 0 => (3, bare),
        _ => (at, bytes),
    }
}

fn is_utf8(bytes: &[u8]) -> bool {
    simdutf8::basic::from_utf8(bytes).is_ok()
}

#[cfg(test)]
mod tests {
    use super::LineBuffer;

    /// Pushes `input` in pieces of `size` and records the output.
    fn lines(input: &[u8], size: usize) -> Vec<(u64, u32, Vec<u8>, bool)> {
        let mut buffer = LineBuffer::default();
        let mut seen = Vec::new();
        for chunk in input.chunks(size) {
            buffer.push(chunk, |l| seen.push((l.offset, l.number, l.bytes.to_vec(), l.utf8)));
        }
        seen
    }

    #[test]
    fn lines_carry_offsets_and_numbers_whatever_the_chunks() {
        let input = b"\xEF\xBB\xBFone\r\n\ntwo\n\xff\ntorn";
        let whole = lines(input, 100);
        assert_eq!(
            whole,
            [
                (3, 1, b"one".to_vec(), true),
                (8, 2, b"".to_vec(), true),
                (9, 3, b"two".to_vec(), true),
                (13, 4, b"\xff".to_vec(), false),
            ]
        );
        for size in 1..input.len() {
            assert_eq!(lines(input, size), whole, "chunks of {size}");
        }
    }

    #[test]
    fn a_torn_line_waits_for_its_newline() {
        let mut buffer = LineBuffer::default();
        buffer.push(b"a\nhal", |_| {});
        assert_eq!(
            buffer.torn_line().map(|l| (l.offset, l.bytes.to_vec())),
            Some((2, b"hal".to_vec()))
        );
        let mut seen = Vec::new();
        buffer.push(b"f\n", |l| seen.push((l.offset, l.bytes.to_vec())));
        assert_eq!(seen, [(2, b"half".to_vec())]);
        assert_eq!(buffer.torn_line(), None);
    }

    #[test]
    fn a_line_taken_early_does_not_shift_what_follows() {
        let mut buffer = LineBuffer::default();
        buffer.push(b"a\nb", |_| {});
        buffer.take_torn(|_| {});
        let mut seen = Vec::new();
        buffer.push(b"\nc\n", |l| seen.push((l.offset, l.number, l.bytes.to_vec())));
        assert_eq!(seen, [(4, 3, b"c".to_vec())]);
    }
}
