//! Lenient access to the keys of a JSON object.
//!
//! A key that is missing, null or of another type is absent; nothing here fails.

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashSet;
use serde_json::{Map, Value};

use super::json::{LazyJson, unescape};
use super::usage::TokenUsage;

/// The keys of one object. Values are moved out, and decoded only then.
#[derive(Debug, Default)]
pub(super) struct Fields<'a>(LazyJson<'a>, Option<AskedKeys>);

/// Records which keys were read, so that the others can be kept; a key inside an object is `message/id`.
#[derive(Clone, Debug, Default)]
pub(super) struct AskedKeys {
    prefix: String,
    keys: Rc<RefCell<FxHashSet<String>>>,
}

impl AskedKeys {
    fn note_key(&self, key: &str) {
        self.keys.borrow_mut().insert(format!("{}{key}", self.prefix));
    }

    fn in_object(&self, key: &str) -> Self {
        Self { prefix: format!("{}{key}/", self.prefix), keys: Rc::clone(&self.keys) }
    }

    /// Returns the members of an object that were not read, and those of its objects that were only partly read.
    pub(super) fn unasked_members(&self, object: Value) -> Map<String, Value> {
        let Value::Object(object) = object else { return Map::new() };
        let keys = self.keys.borrow();
        let is_asked = |key: &str| keys.contains(&format!("{}{key}", self.prefix));
        let mut unknown = Map::new();
        for (key, value) in object {
            if !is_asked(&key) {
                unknown.insert(key, value);
                continue;
            }
            let inner = self.in_object(&key);
            if value.is_object() && keys.iter().any(|asked| asked.starts_with(&inner.prefix)) {
                let rest = inner.unasked_members(value);
                if !rest.is_empty() {
                    unknown.insert(key, Value::Object(rest));
                }
            }
        }
        unknown
    }
}

impl<'a> Fields<'a> {
    /// Returns the fields of an object; empty for any other value.
    pub(super) fn from_json(value: LazyJson<'a>) -> Self {
        Self::from_object(value).unwrap_or_default()
    }

    /// Returns the fields of an object; `None` for any other value.
    pub(super) fn from_object(value: LazyJson<'a>) -> Option<Self> {
        matches!(value, LazyJson::Object(_)).then_some(Self(value, None))
    }

    /// Starts recording which keys are read.
    pub(super) fn with_asked_keys(self, asked: &AskedKeys) -> Self {
        Self(self.0, Some(asked.clone()))
    }

    fn note_key(&self, key: &str) {
        if let Some(asked) = &self.1 {
            asked.note_key(key);
        }
    }

    #[cfg(test)]
    pub(super) fn read(json: &'a str) -> Self {
        Self::from_json(LazyJson::parse(json.as_bytes()).unwrap())
    }

    /// Returns the object, with null for every value that was taken.
    pub(super) fn into_value(self) -> Value {
        match self.0 {
            LazyJson::Null => Value::Object(serde_json::Map::new()),
            object => object.into_value(),
        }
    }

    /// Whether the key exists, even if its value is null.
    pub(super) fn has_key(&self, key: &str) -> bool {
        self.note_key(key);
        self.0.get(key).is_some()
    }

    /// Whether all the keys exist, even if their values are null.
    pub(super) fn has_keys(&self, keys: &[&str]) -> bool {
        keys.iter().all(|key| self.has_key(key))
    }

    /// Looks at a value without taking it.
    pub(super) fn peek_value(&self, key: &str) -> Option<&LazyJson<'a>> {
        self.note_key(key);
        self.0.get(key).filter(|value| !matches!(value, LazyJson::Null))
    }

    /// Looks at a text without taking it.
    pub(super) fn peek_text(&self, key: &str) -> Option<Cow<'a, str>> {
        self.peek_value(key)?.as_text()
    }

    /// Takes a value as it is and leaves null, which keeps the order of the keys.
    pub(super) fn take_json(&mut self, key: &str) -> Option<LazyJson<'a>> {
        self.note_key(key);
        self.0.take_member(key).filter(|value| !matches!(value, LazyJson::Null))
    }

    /// Takes a value, fully decoded.
    pub(super) fn take_value(&mut self, key: &str) -> Option<Value> {
        self.take_json(key).map(LazyJson::into_value)
    }

    pub(super) fn take_text(&mut self, key: &str) -> Option<String> {
        self.note_key(key);
        let value = self.0.get_mut(key)?;
        let text = value.as_text()?.into_owned();
        *value = LazyJson::Null;
        Some(text)
    }

    /// Looks at a text in the object at `key`.
    pub(super) fn object_text(&self, key: &str, inner: &str) -> Option<String> {
        if let Some(asked) = &self.1 {
            asked.in_object(key).note_key(inner);
        }
        self.peek_value(key)?.get(inner)?.as_text().map(Cow::into_owned)
    }

    /// Returns how long a text is, 0 if absent.
    pub(super) fn text_len(&self, key: &str) -> usize {
        self.peek_text(key).map_or(0, |text| text.len())
    }

    /// Takes a string, empty if absent: for keys that are always written.
    pub(super) fn take_string(&mut self, key: &str) -> String {
        self.take_text(key).unwrap_or_default()
    }

    pub(super) fn flag(&self, key: &str) -> bool {
        matches!(self.peek_value(key), Some(LazyJson::Bool(true)))
    }

    pub(super) fn number(&self, key: &str) -> Option<u64> {
        parse_count(self.peek_value(key)?)
    }

    /// Returns a count, 0 if absent.
    pub(super) fn count(&self, key: &str) -> u64 {
        self.number(key).unwrap_or(0)
    }

    pub(super) fn integer(&self, key: &str) -> Option<i64> {
        match self.peek_value(key)? {
            LazyJson::Number(raw) => serde_json::from_slice(raw).ok(),
            _ => None,
        }
    }

    pub(super) fn float(&self, key: &str) -> Option<f64> {
        match self.peek_value(key)? {
            LazyJson::Number(raw) => serde_json::from_slice(raw).ok(),
            _ => None,
        }
    }

    /// Takes the fields of the object at `key`.
    pub(super) fn take_object(&mut self, key: &str) -> Option<Self> {
        match self.peek_value(key)? {
            LazyJson::Object(_) => {
                let asked = self.1.as_ref().map(|asked| asked.in_object(key));
                self.take_json(key).map(|value| Self(value, asked))
            }
            _ => None,
        }
    }

    /// Reads the token usage of a reply.
    pub(super) fn read_usage(&self) -> Option<TokenUsage> {
        match self.peek_value("usage")? {
            LazyJson::Usage(raw) => Some(TokenUsage::from_json_bytes(raw)),
            _ => None,
        }
    }

    /// Takes the items of a list.
    pub(super) fn take_list(&mut self, key: &str) -> Vec<LazyJson<'a>> {
        match self.peek_value(key) {
            Some(LazyJson::List(_)) => {}
            _ => return Vec::new(),
        }
        match self.take_json(key) {
            Some(LazyJson::List(list)) => list,
            _ => Vec::new(),
        }
    }

    /// Takes the items of a list, fully decoded.
    pub(super) fn take_values(&mut self, key: &str) -> Vec<Value> {
        self.take_list(key).into_iter().map(LazyJson::into_value).collect()
    }

    /// Takes the strings of a list and skips everything else.
    pub(super) fn take_texts(&mut self, key: &str) -> Vec<String> {
        self.take_list(key)
            .iter()
            .filter_map(|value| value.as_text().map(Cow::into_owned))
            .collect()
    }

    /// Takes the objects of a list and skips everything else.
    pub(super) fn take_objects(&mut self, key: &str) -> impl Iterator<Item = Self> + use<'a> {
        self.take_list(key).into_iter().filter_map(Self::from_object)
    }

    /// Takes the pairs of the object at `key`, in file order.
    pub(super) fn take_pairs(
        &mut self,
        key: &str,
    ) -> impl Iterator<Item = (String, LazyJson<'a>)> + use<'a> {
        let pairs = match self.take_object(key) {
            Some(Self(LazyJson::Object(pairs), _)) => pairs,
            _ => Vec::new(),
        };
        pairs.into_iter().map(|(key, value)| (unescape(key).into_owned(), value))
    }
}

/// Reads a number that counts something; fractions and numbers in quotes occur.
fn parse_count(value: &LazyJson<'_>) -> Option<u64> {
    match value {
        // A float that is too large or negative saturates.
        LazyJson::Number(raw) => {
            let number: serde_json::Number = serde_json::from_slice(raw).ok()?;
            number.as_u64().or_else(|| number.as_f64().map(|n| n as u64))
        }
        LazyJson::Text(_) => value.as_text()?.parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check<T: std::fmt::Debug>(json: &str, get: impl Fn(&mut Fields) -> T, expected: &str) {
        let mut fields = Fields::read(json);
        assert_eq!(format!("{:?}", get(&mut fields)), expected);
    }

    #[test]
    fn wrong_types_are_absent() {
        for json in ["1", "{}", r#"{"a":null}"#, r#"{"a":true}"#] {
            check(json, |f| f.take_text("a"), "None");
            check(json, |f| f.number("a"), "None");
            check(json, |f| f.take_object("a").is_some(), "false");
            check(json, |f| f.take_texts("a"), "[]");
            check(json, |f| f.take_pairs("a").count(), "0");
        }
        check(r#"{"a":"x"}"#, |f| f.flag("a"), "false");
    }

    #[test]
    fn a_value_of_another_type_is_not_taken() {
        check(r#"{"a":[1]}"#, |f| (f.take_text("a"), f.take_value("a").is_some()), "(None, true)");
    }

    #[test]
    fn numbers_are_read_in_every_dress() {
        check(r#"{"a":7}"#, |f| f.number("a"), "Some(7)");
        check(r#"{"a":7.9}"#, |f| f.number("a"), "Some(7)");
        check(r#"{"a":-7}"#, |f| f.number("a"), "Some(0)");
        check(r#"{"a":"7"}"#, |f| f.number("a"), "Some(7)");
    }
}
