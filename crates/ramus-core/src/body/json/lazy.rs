//! JSON values that are decoded only when they are used.
//!
//! Most of a line is never looked at: a file as it was before an edit, an output that is stored
//! twice. So strings and numbers stay as slices of the line until they are taken. What cannot be
//! decoded then is decoded as far as possible, as in `unescape` (R2).

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::unescape;
use crate::cursor::{Broken, Cursor};

/// A value inside of a line.
#[derive(Debug, Default)]
pub(in crate::body) enum Json<'a> {
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
const DEEPEST: usize = 127;
/// Replaces values that are nested too deeply.
const LEFT_OUT: &[u8] = "…".as_bytes();

impl<'a> Json<'a> {
    /// Parses bytes that contain exactly one value; `None`: they do not.
    pub(in crate::body) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let mut cursor = Cursor::new(bytes, 0);
        let value = value(&mut cursor, 0).ok()?;
        cursor.peek().is_none().then_some(value)
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
    pub(in crate::body) fn take(&mut self, key: &str) -> Option<Self> {
        self.get_mut(key).map(std::mem::take)
    }

    /// Returns the text, if this is one.
    pub(in crate::body) fn text(&self) -> Option<Cow<'a, str>> {
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

fn value<'a>(cursor: &mut Cursor<'a>, depth: usize) -> Result<Json<'a>, Broken> {
    match cursor.peek() {
        Some(b'"') => cursor.string().map(Json::Text),
        Some(b'{' | b'[') if depth == DEEPEST => cursor.skip().map(|()| Json::Text(LEFT_OUT)),
        Some(b'{') => {
            // A record has about two dozen keys, the objects in it have a few.
            let mut pairs = Vec::with_capacity(if depth == 0 { 28 } else { 6 });
            cursor.object(|cursor, key| {
                let value = match key {
                    b"usage" if cursor.peek() == Some(b'{') => {
                        let start = cursor.pos();
                        cursor.skip()?;
                        Json::Usage(cursor.since(start))
                    }
                    _ => value(cursor, depth + 1)?,
                };
                pairs.push((key, value));
                Ok(())
            })?;
            Ok(Json::Object(pairs))
        }
        Some(b'[') => {
            let mut list = Vec::new();
            cursor.array(|cursor| {
                list.push(value(cursor, depth + 1)?);
                Ok(())
            })?;
            Ok(Json::List(list))
        }
        _ => scalar(cursor),
    }
}

fn scalar<'a>(cursor: &mut Cursor<'a>) -> Result<Json<'a>, Broken> {
    let start = cursor.pos();
    cursor.skip()?;
    Ok(match cursor.since(start) {
        b"null" => Json::Null,
        b"true" => Json::Bool(true),
        b"false" => Json::Bool(false),
        number => Json::Number(number),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{any, prop_assert_eq, proptest};

    fn decoded(bytes: &[u8]) -> Option<Value> {
        Json::parse(bytes).map(Json::into_value)
    }

    #[test]
    fn what_is_nested_too_deep_is_left_out() {
        for pairs in [63, 64, 100_000] {
            let line = format!("{}7{}", r#"{"a":["#.repeat(pairs), "]}".repeat(pairs));
            let told = decoded(line.as_bytes()).unwrap().to_string();
            let shallow = format!(r#"{}{{"a":"…"}}{}"#, r#"{"a":["#.repeat(63), "]}".repeat(63));
            assert_eq!(told, if pairs == 63 { line.clone() } else { shallow });
            assert!(Json::parse(&line.as_bytes()[..line.len() - 1]).is_none(), "it is torn");
        }
    }

    #[test]
    fn of_two_values_with_one_key_the_last_counts() {
        let json = Json::parse(br#"{"a":1,"b":2,"a":"x"}"#).unwrap();
        assert_eq!(json.get("a").unwrap().text().unwrap(), "x");
        assert_eq!(json.into_value().to_string(), r#"{"a":"x","b":2}"#);
    }

    #[test]
    fn what_an_answer_cost_stays_as_it_is_until_it_is_wanted() {
        let line = r#"{"usage":{"a":[1,{"usage":{"b":"\u00e9"}}]},"c":{"usage":7}}"#;
        assert!(matches!(Json::parse(line.as_bytes()).unwrap().get("usage"), Some(Json::Usage(_))));
        assert_eq!(decoded(line.as_bytes()), serde_json::from_str(line).ok());
        assert!(Json::parse(br#"{"usage":{"a":1}"#).is_none());
    }

    #[test]
    fn only_one_value_is_a_line() {
        for bytes in ["", "{} {}", "1 2", r#"{"a":}"#, "nul"] {
            assert!(Json::parse(bytes.as_bytes()).is_none(), "{bytes}");
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
