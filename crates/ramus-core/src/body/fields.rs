//! Lenient access to the keys of a JSON object.
//!
//! A key that is missing, null or of another type is absent; nothing here fails.

use serde_json::{Map, Value};

/// The keys of one object. Values are moved out, so large texts are never copied.
#[derive(Debug, Default)]
pub(super) struct Fields(Map<String, Value>);

impl Fields {
    /// Returns the fields of an object, and no fields for anything else.
    pub(super) fn of(value: Value) -> Self {
        match value {
            Value::Object(map) => Self(map),
            _ => Self::default(),
        }
    }

    /// Returns the object again, null where values were taken.
    pub(super) fn into_value(self) -> Value {
        Value::Object(self.0)
    }

    /// Says whether the key is there, be it null.
    pub(super) fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// Says whether all the keys are there, be they null.
    pub(super) fn have(&self, keys: &[&str]) -> bool {
        keys.iter().all(|key| self.has(key))
    }

    /// Looks at a value without taking it.
    pub(super) fn peek(&self, key: &str) -> Option<&Value> {
        self.0.get(key).filter(|value| !value.is_null())
    }

    /// Looks at a text without taking it.
    pub(super) fn peek_text(&self, key: &str) -> Option<&str> {
        self.peek(key)?.as_str()
    }

    /// Takes a value; a null stays in its place, so the order of keys is kept.
    pub(super) fn take(&mut self, key: &str) -> Option<Value> {
        self.0.get_mut(key).map(Value::take).filter(|value| !value.is_null())
    }

    pub(super) fn text(&mut self, key: &str) -> Option<String> {
        self.peek_text(key)?;
        match self.take(key) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    /// Takes a text, empty if absent: for keys that are always written.
    pub(super) fn string(&mut self, key: &str) -> String {
        self.text(key).unwrap_or_default()
    }

    pub(super) fn flag(&self, key: &str) -> bool {
        self.peek(key).and_then(Value::as_bool).unwrap_or(false)
    }

    pub(super) fn number(&self, key: &str) -> Option<u64> {
        number(self.peek(key)?)
    }

    /// Returns a count, 0 if absent.
    pub(super) fn count(&self, key: &str) -> u64 {
        self.number(key).unwrap_or(0)
    }

    pub(super) fn float(&self, key: &str) -> Option<f64> {
        self.peek(key)?.as_f64()
    }

    /// Takes the fields of the object at `key`.
    pub(super) fn object(&mut self, key: &str) -> Option<Self> {
        self.peek(key)?.as_object()?;
        self.take(key).map(Self::of)
    }

    pub(super) fn list(&mut self, key: &str) -> Vec<Value> {
        match self.peek(key) {
            Some(Value::Array(_)) => {}
            _ => return Vec::new(),
        }
        match self.take(key) {
            Some(Value::Array(list)) => list,
            _ => Vec::new(),
        }
    }

    /// Takes the texts of a list and passes over what is no text.
    pub(super) fn texts(&mut self, key: &str) -> Vec<String> {
        let text = |value| if let Value::String(text) = value { Some(text) } else { None };
        self.list(key).into_iter().filter_map(text).collect()
    }

    /// Takes the objects of a list and passes over what is no object.
    pub(super) fn objects(&mut self, key: &str) -> impl Iterator<Item = Self> + use<> {
        self.list(key).into_iter().filter(Value::is_object).map(Self::of)
    }

    /// Takes the pairs of the object at `key`, in file order.
    pub(super) fn pairs(&mut self, key: &str) -> impl Iterator<Item = (String, Value)> + use<> {
        self.object(key).unwrap_or_default().0.into_iter()
    }
}

/// Reads a number that counts something; fractions and numbers in quotes occur.
fn number(value: &Value) -> Option<u64> {
    match value {
        // A float that is too large or negative saturates.
        Value::Number(number) => number.as_u64().or_else(|| number.as_f64().map(|n| n as u64)),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check<T: std::fmt::Debug>(json: &str, get: impl Fn(&mut Fields) -> T, expected: &str) {
        let mut fields = Fields::of(serde_json::from_str(json).unwrap());
        assert_eq!(format!("{:?}", get(&mut fields)), expected);
    }

    #[test]
    fn wrong_types_are_absent() {
        for json in ["1", "{}", r#"{"a":null}"#, r#"{"a":true}"#] {
            check(json, |f| f.text("a"), "None");
            check(json, |f| f.number("a"), "None");
            check(json, |f| f.object("a").is_some(), "false");
            check(json, |f| f.texts("a"), "[]");
            check(json, |f| f.pairs("a").count(), "0");
        }
        check(r#"{"a":"x"}"#, |f| f.flag("a"), "false");
    }

    #[test]
    fn a_value_of_another_type_is_not_taken() {
        check(r#"{"a":[1]}"#, |f| (f.text("a"), f.take("a").is_some()), "(None, true)");
    }

    #[test]
    fn numbers_are_read_in_every_dress() {
        check(r#"{"a":7}"#, |f| f.number("a"), "Some(7)");
        check(r#"{"a":7.9}"#, |f| f.number("a"), "Some(7)");
        check(r#"{"a":-7}"#, |f| f.number("a"), "Some(0)");
        check(r#"{"a":"7"}"#, |f| f.number("a"), "Some(7)");
    }
}
