//! A cursor over JSON that does not allocate.
//!
//! It finds where values begin and end and does not interpret them. Strings are skipped quote by
//! quote; everything between strings is examined byte by byte, because in compact JSON that is one
//! or two bytes. It is as tolerant as the client (duplicate keys, lone surrogates, odd numbers) and
//! strict about structure: brackets match, strings end, and nothing unexpected is between values.

use memchr::memchr;

/// Where a line stops being JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BrokenJson {
    /// Offset into the bytes given.
    pub(crate) offset: usize,
}

/// A position in some JSON.
#[derive(Clone, Debug)]
pub(crate) struct JsonCursor<'a> {
    bytes: &'a [u8],
    position: usize,
}

type CursorResult<T> = Result<T, BrokenJson>;

impl<'a> JsonCursor<'a> {
    pub(crate) fn new(bytes: &'a [u8], position: usize) -> Self {
        Self { bytes, position }
    }

    pub(crate) fn position(&self) -> usize {
        self.position
    }

    /// Returns the byte at the cursor, after white space.
    #[inline]
    pub(crate) fn peek_byte(&mut self) -> Option<u8> {
        loop {
            let byte = *self.bytes.get(self.position)?;
            if !matches!(byte, b' ' | b'\t' | b'\r' | b'\n') {
                return Some(byte);
            }
            self.position += 1;
        }
    }

    /// Returns the bytes from `start` to the cursor.
    pub(crate) fn slice_from(&self, start: usize) -> &'a [u8] {
        &self.bytes[start..self.position]
    }

    fn syntax_error<T>(&self) -> CursorResult<T> {
        Err(BrokenJson { offset: self.position.min(self.bytes.len()) })
    }

    /// Reads the string at the cursor and returns the bytes between its quotes, escapes included.
    #[inline]
    pub(crate) fn read_string(&mut self) -> CursorResult<&'a [u8]> {
        if self.peek_byte() != Some(b'"') {
            return self.syntax_error();
        }
        let start = self.position + 1;
        let Some(end) = string_end(self.bytes, start) else {
            self.position = self.bytes.len();
            return self.syntax_error();
        };
        self.position = end + 1;
        Ok(&self.bytes[start..end])
    }

    /// Reads a string if there is one at the cursor, else skips the value.
    #[inline]
    pub(crate) fn read_string_or_skip(&mut self) -> CursorResult<Option<&'a [u8]>> {
        if self.peek_byte() == Some(b'"') {
            return self.read_string().map(Some);
        }
        self.skip_value()?;
        Ok(None)
    }

    /// Skips the value at the cursor and returns whether it was `true`.
    #[inline]
    pub(crate) fn read_flag(&mut self) -> CursorResult<bool> {
        self.peek_byte();
        let start = self.position;
        self.skip_value()?;
        Ok(self.slice_from(start) == b"true")
    }

    /// Walks the object at the cursor; `each` gets every key with the cursor at
    /// its value and must move past it. Anything but an object is skipped.
    #[inline]
    pub(crate) fn walk_object(
        &mut self,
        mut each: impl FnMut(&mut Self, &'a [u8]) -> CursorResult<()>,
    ) -> CursorResult<()> {
        if self.peek_byte() != Some(b'{') {
            return self.skip_value();
        }
        self.position += 1;
        if self.peek_byte() == Some(b'}') {
            self.position += 1;
            return Ok(());
        }
        loop {
            let key = self.read_string()?;
            if self.peek_byte() != Some(b':') {
                return self.syntax_error();
            }
            self.position += 1;
            each(self, key)?;
            match self.peek_byte() {
                Some(b',') => self.position += 1,
                Some(b'}') => {
                    self.position += 1;
                    return Ok(());
                }
                _ => return self.syntax_error(),
            }
        }
    }

    /// Walks the array at the cursor; `each` must move past one element.
    /// Anything but an array is skipped.
    #[inline]
    pub(crate) fn walk_array(
        &mut self,
        mut each: impl FnMut(&mut Self) -> CursorResult<()>,
    ) -> CursorResult<()> {
        if self.peek_byte() != Some(b'[') {
            return self.skip_value();
        }
        self.position += 1;
        if self.peek_byte() == Some(b']') {
            self.position += 1;
            return Ok(());
        }
        loop {
            each(self)?;
            match self.peek_byte() {
                Some(b',') => self.position += 1,
                Some(b']') => {
                    self.position += 1;
                    return Ok(());
                }
                _ => return self.syntax_error(),
            }
        }
    }

    /// Moves past the value at the cursor.
    #[inline]
    pub(crate) fn skip_value(&mut self) -> CursorResult<()> {
        match self.peek_byte() {
            Some(b'"') => self.read_string().map(|_| ()),
            Some(b'{' | b'[') => self.skip_container(),
            Some(_) => self.skip_scalar(),
            None => self.syntax_error(),
        }
    }

    fn skip_scalar(&mut self) -> CursorResult<()> {
        let start = self.position;
        while let Some(byte) = self.bytes.get(self.position)
            && BYTE_CLASS[*byte as usize] == SCALAR
        {
            self.position += 1;
        }
        match self.slice_from(start) {
            b"true" | b"false" | b"null" => Ok(()),
            [b'-' | b'0'..=b'9', rest @ ..]
                if rest
                    .iter()
                    .all(|b| matches!(b, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')) =>
            {
                Ok(())
            }
            _ => {
                self.position = start;
                self.syntax_error()
            }
        }
    }

    fn skip_container(&mut self) -> CursorResult<()> {
        let bytes = self.bytes;
        let mut pos = self.position;
        let mut depth = 0u32;
        // One bit per level: is it an object? Levels beyond the 64th are not checked.
        let mut objects = 0u64;
        // Whether a value has just ended, so that only `,` or a closing bracket can follow.
        let mut ended = false;
        while let Some(&byte) = bytes.get(pos) {
            match BYTE_CLASS[byte as usize] {
                QUOTE if !ended => {
                    let Some(end) = string_end(bytes, pos + 1) else {
                        pos = bytes.len();
                        break;
                    };
                    pos = end + 1;
                    // A key and its colon count as nothing yet.
                    ended = bytes.get(pos) != Some(&b':');
                    pos += usize::from(!ended);
                }
                COMMA | COLON if ended => {
                    pos += 1;
                    ended = false;
                }
                SCALAR if !ended => {
                    self.position = pos;
                    self.skip_scalar()?;
                    pos = self.position;
                    ended = true;
                }
                OPEN if !ended => {
                    depth += 1;
                    if depth <= 64 {
                        objects = objects << 1 | u64::from(byte == b'{');
                    }
                    pos += 1;
                }
                CLOSE if depth > 64 || (objects & 1 == 1) == (byte == b'}') => {
                    if depth <= 64 {
                        objects >>= 1;
                    }
                    pos += 1;
                    depth -= 1;
                    if depth == 0 {
                        self.position = pos;
                        return Ok(());
                    }
                    ended = true;
                }
                SPACE => pos += 1,
                _ => break,
            }
        }
        self.position = pos;
        self.syntax_error()
    }
}

/// Returns where the string that begins at `start`, after its quote, ends.
#[inline]
fn string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut from = start;
    loop {
        let quote = find_byte(b'"', bytes, from)?;
        // Nearly every quote ends its string, so the byte before it is checked first.
        if bytes[quote - 1] != b'\\' {
            return Some(quote);
        }
        let slashes = bytes[start..quote].iter().rev().take_while(|&&b| b == b'\\').count();
        if slashes % 2 == 0 {
            return Some(quote);
        }
        from = quote + 1;
    }
}

/// Returns where a byte occurs next, at or after `from`.
///
/// Most strings are keys and ids of a few letters, and lines of code are short,
/// for which the call of a vector search costs more than the search: the first
/// sixteen bytes are checked here, eight at a time.
#[inline]
pub(crate) fn find_byte(byte: u8, bytes: &[u8], from: usize) -> Option<usize> {
    let rest = bytes.get(from..)?;
    let Some((head, tail)) = rest.split_first_chunk::<16>() else {
        return memchr(byte, rest).map(|found| from + found);
    };
    let words = u128::from_le_bytes(*head);
    let first = equal_bytes(byte, words as u64);
    let second = equal_bytes(byte, (words >> 64) as u64);
    let found = if first != 0 {
        first.trailing_zeros() as usize / 8
    } else if second != 0 {
        8 + second.trailing_zeros() as usize / 8
    } else {
        16 + memchr(byte, tail)?
    };
    Some(from + found)
}

/// Marks the bytes of a word that equal `byte`: the lowest high bit that is set marks the first of them.
#[inline]
fn equal_bytes(byte: u8, word: u64) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGHS: u64 = u64::from_ne_bytes([0x80; 8]);
    let differs = word ^ u64::from_ne_bytes([byte; 8]);
    differs.wrapping_sub(ONES) & !differs & HIGHS
}

const BAD: u8 = 0;
const SPACE: u8 = 1;
const SCALAR: u8 = 2;
const QUOTE: u8 = 3;
const OPEN: u8 = 4;
const CLOSE: u8 = 5;
const COMMA: u8 = 6;
const COLON: u8 = 7;

/// What a byte outside of strings can be.
static BYTE_CLASS: [u8; 256] = {
    let mut class = [BAD; 256];
    class = mark_bytes(class, b" \t\r\n", SPACE);
    class = mark_bytes(class, b",", COMMA);
    class = mark_bytes(class, b":", COLON);
    class = mark_bytes(class, b"0123456789+-.eEtrufalsn", SCALAR);
    class = mark_bytes(class, b"\"", QUOTE);
    class = mark_bytes(class, b"{[", OPEN);
    mark_bytes(class, b"}]", CLOSE)
};

const fn mark_bytes(mut class: [u8; 256], bytes: &[u8], value: u8) -> [u8; 256] {
    let mut i = 0;
    while i < bytes.len() {
        class[bytes[i] as usize] = value;
        i += 1;
    }
    class
}

#[cfg(test)]
mod tests {
    use super::{JsonCursor, find_byte};
    use proptest::prelude::*;

    /// Skips one value and returns the cursor's new position.
    fn skip(json: &str) -> Result<usize, usize> {
        let mut cursor = JsonCursor::new(json.as_bytes(), 0);
        cursor.skip_value().map(|()| cursor.position()).map_err(|broken| broken.offset)
    }

    #[test]
    fn values_end_where_they_end() {
        for (json, end) in [
            (r#""a\\" x"#, 5),
            (r#""a\"b","#, 6),
            (r#"{"a":[1,{"b":"}]"}],"c":null} "#, 29),
            ("-1.5e3,", 6),
            ("true}", 4),
            (r#"{"x":"\ud83d"}"#, 14),
        ] {
            assert_eq!(skip(json), Ok(end), "{json}");
        }
    }

    #[test]
    fn a_byte_is_found_wherever_it_is() {
        for length in 0..40 {
            for from in 0..=length {
                for at in from..length {
                    let mut bytes = vec![b'-'; length];
                    bytes[at..].fill(b'"');
                    bytes[..from].fill(b'"');
                    assert_eq!(find_byte(b'"', &bytes, from), Some(at), "{length} {from} {at}");
                }
                assert_eq!(find_byte(b'"', &vec![b'!'; length], from), None);
            }
        }
    }

    #[test]
    fn malformed_json_names_the_position() {
        for (json, at) in [
            ("", 0),
            (r#"{"a":1"#, 6),
            (r#"{"a":[1}"#, 7),
            (r#"{"a":"b"#, 7),
            ("Segmentation fault", 0),
            (r#"{"a":"foo{"parentUuid":1}"#, 11),
            ("nul", 0),
            (r#"{"a":[[1 2]]}"#, 9),
            (r#"{"a":[tru e]}"#, 6),
            (r#"{"a":[1,,2]}"#, 8),
            (r#"{"a":["b""c"]}"#, 9),
        ] {
            assert_eq!(skip(json), Err(at), "{json}");
        }
    }

    #[test]
    fn nesting_costs_no_stack() {
        let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
        assert_eq!(skip(&deep), Ok(400_000));
        let mixed = format!("{}1{}", r#"{"a":["#.repeat(50_000), "]}".repeat(50_000));
        assert_eq!(skip(&mixed), Ok(mixed.len()));
    }

    fn json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            any::<f64>().prop_map(Into::into),
            ".*".prop_map(serde_json::Value::String),
        ];
        leaf.prop_recursive(6, 64, 8, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..8).prop_map(Into::into),
                prop::collection::vec((".*", inner), 0..8).prop_map(|entries| {
                    serde_json::Value::Object(entries.into_iter().collect())
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn every_json_value_is_skipped_whole(value in json(), pretty: bool) {
            let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
            prop_assert_eq!(skip(&text), Ok(text.len()));
        }

        #[test]
        fn any_bytes_never_panic(bytes: Vec<u8>) {
            let mut cursor = JsonCursor::new(&bytes, 0);
            let _ = cursor.walk_object(|c, _| c.skip_value());
        }
    }
}
