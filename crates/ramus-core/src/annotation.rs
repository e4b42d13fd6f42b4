//! Pins, tags and notes that a person puts on sessions and messages.
//!
//! They are ramus's own data and never part of a history.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// The longest tag and note, in characters, and the most tags of one session or message.
pub const MAX_TAG_CHARS: usize = 40;
pub const MAX_NOTE_CHARS: usize = 10_000;
pub const MAX_TAGS: usize = 32;

/// What is annotated: a session, or one message of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct AnnotationTarget {
    /// The session's id; that of an agent begins with `agent-`.
    pub session: String,
    /// The uuid of the message's first record. `None`: the session itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// What a person put on a session or a message.
// Fields of a later version are not dropped silently: such a line is kept unchanged and reported.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Annotation {
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub tags: BTreeSet<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// When it was changed last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<String>,
}

/// What is changed about an annotation.
#[derive(Clone, Debug, Default)]
pub struct AnnotationChange {
    /// `None`: as it is.
    pub pinned: Option<bool>,
    pub add_tags: Vec<String>,
    pub remove_tags: Vec<String>,
    /// An empty note removes it. `None`: as it is.
    pub note: Option<String>,
}

/// Why an annotation is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnnotationRefusal {
    #[error("a tag cannot be empty")]
    EmptyTag,
    #[error("invalid tag {0:?}: a tag cannot contain spaces, commas or control characters")]
    OddTag(String),
    #[error("the tag {0:?} is longer than {MAX_TAG_CHARS} characters")]
    LongTag(String),
    #[error("a session or message can have at most {MAX_TAGS} tags")]
    TooManyTags,
    #[error("a note can have at most {MAX_NOTE_CHARS} characters; this one has {0}")]
    LongNote(usize),
}

impl Annotation {
    /// Whether nothing is left of it.
    pub fn is_empty(&self) -> bool {
        !self.pinned && self.tags.is_empty() && self.note.is_empty()
    }

    /// Changes it, or refuses and leaves it as it is.
    pub fn apply_change(&mut self, change: &AnnotationChange) -> Result<(), AnnotationRefusal> {
        let mut tags = self.tags.clone();
        for tag in &change.remove_tags {
            tags.remove(&parse_tag(tag)?);
        }
        for tag in &change.add_tags {
            tags.insert(parse_tag(tag)?);
        }
        if tags.len() > MAX_TAGS {
            return Err(AnnotationRefusal::TooManyTags);
        }
        if let Some(note) = &change.note {
            let note = note.trim();
            let length = note.chars().count();
            if length > MAX_NOTE_CHARS {
                return Err(AnnotationRefusal::LongNote(length));
            }
            self.note = note.to_owned();
        }
        self.tags = tags;
        self.pinned = change.pinned.unwrap_or(self.pinned);
        Ok(())
    }

    /// Adds what another one has: an annotation from a pack, or a second line about the same thing.
    ///
    /// Two notes together may be longer than one may be typed: neither is cut.
    pub fn merge(&mut self, other: Self) {
        self.pinned |= other.pinned;
        self.tags.extend(other.tags);
        if !self.note.contains(&other.note) {
            self.note = [&*self.note, &*other.note].join("\n").trim().to_owned();
        }
        self.changed = self.changed.take().max(other.changed);
    }
}

/// Returns a tag as it is stored: in lower case, without `#` in front.
pub fn parse_tag(text: &str) -> Result<String, AnnotationRefusal> {
    let tag = text.trim().trim_start_matches('#').to_lowercase();
    let is_odd = |c: char| c.is_whitespace() || c.is_control() || c == ',';
    if tag.is_empty() {
        Err(AnnotationRefusal::EmptyTag)
    } else if tag.contains(is_odd) {
        Err(AnnotationRefusal::OddTag(tag))
    } else if tag.chars().count() > MAX_TAG_CHARS {
        Err(AnnotationRefusal::LongTag(tag))
    } else {
        Ok(tag)
    }
}

/// All annotations, in the order of their sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Annotations {
    entries: BTreeMap<AnnotationTarget, Annotation>,
}

impl Annotations {
    /// Returns all targets with their annotations.
    pub fn iter(&self) -> impl Iterator<Item = (&AnnotationTarget, &Annotation)> {
        self.entries.iter()
    }

    /// Returns how many sessions and messages are annotated.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn get(&self, target: &AnnotationTarget) -> Option<&Annotation> {
        self.entries.get(target)
    }

    /// Returns the annotations of a session and its messages; that of the session itself comes first.
    pub fn in_session<'a>(
        &'a self,
        session: &str,
    ) -> impl Iterator<Item = (Option<&'a str>, &'a Annotation)> + use<'a> {
        let session = session.to_owned();
        let first = AnnotationTarget { session: session.clone(), message: None };
        let entries = self.entries.range(first..);
        let own = entries.take_while(move |(target, _)| target.session == session);
        own.map(|(target, annotation)| (target.message.as_deref(), annotation))
    }

    /// Returns the annotation of a session itself.
    pub fn session_annotation(&self, session: &str) -> Option<&Annotation> {
        self.get(&AnnotationTarget { session: session.to_owned(), message: None })
    }

    /// Whether a session, or a message of it, has all these tags; `pinned`: and is pinned.
    pub fn has_session(&self, session: &str, tags: &[String], pinned: bool) -> bool {
        let has = |fits: &dyn Fn(&Annotation) -> bool| {
            self.in_session(session).any(|(_, annotation)| fits(annotation))
        };
        (!pinned || has(&|annotation| annotation.pinned))
            && tags.iter().all(|tag| has(&|annotation| annotation.tags.contains(tag)))
    }

    /// Adds an annotation to the existing one of its target.
    pub fn merge(&mut self, target: AnnotationTarget, annotation: Annotation) {
        if !annotation.is_empty() {
            self.entries.entry(target).or_default().merge(annotation);
        }
    }

    /// Replaces the annotation of a target; an empty one is removed.
    pub fn set(&mut self, target: AnnotationTarget, annotation: Annotation) {
        match annotation.is_empty() {
            true => self.entries.remove(&target),
            false => self.entries.insert(target, annotation),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(session: &str, message: Option<&str>) -> AnnotationTarget {
        AnnotationTarget { session: session.to_owned(), message: message.map(str::to_owned) }
    }

    fn tagged(tags: &[&str]) -> Annotation {
        Annotation {
            tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
            ..Annotation::default()
        }
    }

    #[test]
    fn tags_are_words() {
        assert_eq!(parse_tag(" #Review "), Ok("review".to_owned()));
        assert_eq!(parse_tag("größe-2"), Ok("größe-2".to_owned()));
        assert_eq!(parse_tag("#"), Err(AnnotationRefusal::EmptyTag));
        for odd in ["two words", "a,b", "a\u{1b}[0m", "a\tb"] {
            assert!(matches!(parse_tag(odd), Err(AnnotationRefusal::OddTag(_))), "{odd:?}");
        }
        assert!(matches!(parse_tag(&"x".repeat(41)), Err(AnnotationRefusal::LongTag(_))));
    }

    #[test]
    fn a_refused_change_leaves_everything_as_it_is() {
        let mut annotation = tagged(&["a"]);
        let before = annotation.clone();
        for change in [
            AnnotationChange {
                pinned: Some(true),
                add_tags: vec!["x y".into()],
                ..Default::default()
            },
            AnnotationChange {
                add_tags: (0..MAX_TAGS).map(|n| format!("t{n}")).collect(),
                ..Default::default()
            },
            AnnotationChange {
                remove_tags: vec!["a".into()],
                note: Some("n".repeat(MAX_NOTE_CHARS + 1)),
                ..Default::default()
            },
        ] {
            assert!(annotation.apply_change(&change).is_err());
            assert_eq!(annotation, before);
        }
    }

    #[test]
    fn annotations_are_found_by_session_and_message() {
        let mut all = Annotations::default();
        all.set(target("one", None), tagged(&["a"]));
        all.set(target("one", Some("m")), Annotation { pinned: true, ..tagged(&["b"]) });
        all.set(target("one-more", None), tagged(&["c"]));
        let found: Vec<Option<&str>> = all.in_session("one").map(|(message, _)| message).collect();
        assert_eq!(found, [None, Some("m")]);
        let has = |tags: &[&str], pinned| {
            let tags: Vec<String> = tags.iter().map(|tag| (*tag).to_owned()).collect();
            all.has_session("one", &tags, pinned)
        };
        assert!(has(&["a", "b"], true) && has(&[], false) && !has(&["c"], false));
        all.set(target("one", None), Annotation::default());
        assert_eq!(all.session_annotation("one"), None);
    }

    #[test]
    fn merging_keeps_what_both_have() {
        let mut annotation = Annotation { note: "first".into(), ..tagged(&["a"]) };
        let other = Annotation { pinned: true, note: "second".into(), ..tagged(&["b"]) };
        annotation.merge(other.clone());
        annotation.merge(other);
        let both = Annotation { pinned: true, note: "first\nsecond".into(), ..tagged(&["a", "b"]) };
        assert_eq!(annotation, both);
        let long =
            |letter: &str| Annotation { note: letter.repeat(9_000), ..Annotation::default() };
        let mut annotation = long("a");
        annotation.merge(long("b"));
        assert_eq!(annotation.note, format!("{}\n{}", "a".repeat(9_000), "b".repeat(9_000)));
    }
}
