//! JSON values that are decoded only when they are used.
//!
//! Most of a line is never looked at: a file as it was before an edit, an output that is stored
//! twice. So strings and numbers stay as slices of the line until they are taken. What cannot be
//! decoded then is decoded as far as possible, as in `unescape` (R2).

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::unescape;
use crate::cursor::{BrokenJson, JsonCursor};

/// A value inside of a line.
#[derive(Debug, Default)]
pub(in crate::body) enum LazyJson<'a> {
    #[default]
    Null,
    Bool(bool),
    /// As it is written.
    Number(&'a [u8]),
    /// The bytes between the quotes, escapes included.
    Text(&'a [u8]),
    List(Vec<Self>),
    /// Pairs in file order; of two with one key the last counts.
    Object(Vec<(&'a [u8], Self)>),
    /// The raw value of the key `usage`: every reply has one, few callers need it, and they parse it themselves.
    Usage(&'a [u8]),
}

/// How deep values are read; serde_json draws the same line. What lies deeper is left out.
const MAX_DEPTH: usize = 127;
/// Replaces values that are nested too deeply.
const TOO_DEEP: &[u8] = "…".as_bytes();

impl<'a> LazyJson<'a> {
    /// Parses bytes that contain exactly one value; `None`: they do not.
    pub(in crate::body) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let mut cursor = JsonCursor::new(bytes, 0);
        let value = read_value(&mut cursor, 0).ok()?;
        cursor.peek_byte().is_none().then_some(value)
    }

    /// Returns the value of a key, if this is an object that has it.
    pub(in crate::body) fn get(&self, key: &str) -> Option<&Self> {
        let Self::Object(pairs) = self else { return None };
        pairs.iter().rev().find(|(name, _)| *name == key.as_bytes()).map(|(_, value)| value)
    }

    pub(in crate::body) fn get_mut(&mut self, key: &str) -> Option<&mut Self> {
        let Self::Object(pairs) = self else { return None };
        pairs.iter_mut().rev().find(|(name, _)| *name == key.as_bytes()).map(|(_, value)| value)
    }

    /// Takes the value of a key and leaves null.
    pub(in crate::body) fn take_member(&mut self, key: &str) -> Option<Self> {
        self.get_mut(key).map(std::mem::take)
    }

    /// Returns the text, if this is one.
    pub(in crate::body) fn as_text(&self) -> Option<Cow<'a, str>> {
        match self {
            Self::Text(raw) => Some(unescape(raw)),
            _ => None,
        }
    }

    /// Decodes the value and everything in it.
    pub(in crate::body) fn into_value(self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(is_true) => Value::Bool(is_true),
            Self::Number(raw) => serde_json::from_slice(raw).unwrap_or_default(),
            Self::Text(raw) => Value::String(unescape(raw).into_owned()),
            Self::List(list) => Value::Array(list.into_iter().map(Self::into_value).collect()),
            Self::Object(pairs) => {
                let mut map = Map::with_capacity(pairs.len());
                for (key, value) in pairs {
                    map.insert(unescape(key).into_owned(), value.into_value());
                }
                Value::Object(map)
            }
            Self::Usage(raw) => Self::parse(raw).map(Self::into_value).unwrap_or_default(),
        }
    }
}

fn read_value<'a>(cursor: &mut JsonCursor<'a>, depth: usize) -> Result<LazyJson<'a>, BrokenJson> {
    match cursor.peek_byte() {
        Some(b'"') => cursor.read_string().map(LazyJson::Text),
        Some(b'{' | b'[') if depth == MAX_DEPTH => {
            cursor.skip_value().map(|()| LazyJson::Text(TOO_DEEP))
        }
        Some(b'{') => {
            // A record has about two dozen keys, the objects in it have a few.
            let mut pairs = Vec::with_capacity(if depth == 0 { 28 } else { 6 });
            cursor.walk_object(|cursor, key| {
                let value = match key {
                    b"usage" if cursor.peek_byte() == Some(b'{') => {
                        let start = cursor.position();
                        cursor.skip_value()?;
                        LazyJson::Usage(cursor.slice_from(start))
                    }
                    _ => read_value(cursor, depth + 1)?,
                };
                pairs.push((key, value));
                Ok(())
            })?;
            Ok(LazyJson::Object(pairs))
        }
        Some(b'[') => {
            let mut list = Vec::new();
            cursor.walk_array(|cursor| {
                list.push(read_value(cursor, depth + 1)?);
                Ok(())
            })?;
            Ok(LazyJson::List(list))
        }
        _ => read_scalar(cursor),
    }
}

fn read_scalar<'a>(cursor: &mut JsonCursor<'a>) -> Result<LazyJson<'a>, BrokenJson> {
    let start = cursor.position();
    cursor.skip_value()?;
    Ok(match cursor.slice_from(start) {
        b"null" => LazyJson::Null,
        b"true" => LazyJson::Bool(true),
        b"false" => LazyJson::Bool(false),
        number => LazyJson::Number(number),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{any, prop_assert_eq, proptest};

    fn decoded(bytes: &[u8]) -> Option<Value> {
        LazyJson::parse(bytes).map(LazyJson::into_value)
    }

    #[test]
    fn what_is_nested_too_deep_is_left_out() {
        for pairs in [63, 64, 100_000] {
            let line = format!("{}7{}", r#"{"a":["#.repeat(pairs), "]}".repeat(pairs));
            let printed = decoded(line.as_bytes()).unwrap().to_string();
            let shallow = format!(r#"{}{{"a":"…"}}{}"#, r#"{"a":["#.repeat(63), "]}".repeat(63));
            assert_eq!(printed, if pairs == 63 { line.clone() } else { shallow });
            assert!(LazyJson::parse(&line.as_bytes()[..line.len() - 1]).is_none(), "it is torn");
        }
    }

    #[test]
    fn of_two_values_with_one_key_the_last_counts() {
        let json = LazyJson::parse(br#"{"a":1,"b":2,"a":"x"}"#).unwrap();
        assert_eq!(json.get("a").unwrap().as_text().unwrap(), "x");
        assert_eq!(json.into_value().to_string(), r#"{"a":"x","b":2}"#);
    }

    #[test]
    fn what_an_answer_cost_stays_as_it_is_until_it_is_wanted() {
        let line = r#"{"usage":{"a":[1,{"usage":{"b":"\u00e9"}}]},"c":{"usage":7}}"#;
        assert!(matches!(
            LazyJson::parse(line.as_bytes()).unwrap().get("usage"),
            Some(LazyJson::Usage(_))
        ));
        assert_eq!(decoded(line.as_bytes()), serde_json::from_str(line).ok());
        assert!(LazyJson::parse(br#"{"usage":{"a":1}"#).is_none());
    }

    #[test]
    fn only_one_value_is_a_line() {
        for bytes in ["", "{} {}", "1 2", r#"{"a":}"#, "nul"] {
            assert!(LazyJson::parse(bytes.as_bytes()).is_none(), "{bytes}");
        }
    }

    proptest! {
        #[test]
        fn what_serde_takes_comes_out_the_same(
            json in r#"([\[\]{}:, ]|"a"|"b"|null|true|-?[0-9]{1,3}(\.[0-9])?|"(\\n|\\u00e9|é|x)*"){0,12}"#,
        ) {
            if let Ok(value) = serde_json::from_str::<Value>(&json) {
                prop_assert_eq!(decoded(json.as_bytes()), Some(value));
            }
        }

        #[test]
        fn any_bytes_do_not_panic(bytes in any::<Vec<u8>>()) {
            let _ = decoded(&bytes);
        }
    }
}
