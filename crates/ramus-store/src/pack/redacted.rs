//! The content of a file with secrets and personal data removed, for packs and for archives on a server.

use std::borrow::Cow;

use ramus_core::redact::{RedactionCounts, redact_line, redact_text};
use serde::de::IgnoredAny;

use super::source::PackSource;
use crate::error::PathError;

/// How a file is redacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Line by line, each an object.
    Lines,
    /// Whole, one object.
    Object,
    /// Whole, if it is text.
    Text,
}

fn kind_of(name: &str) -> Kind {
    match name.rsplit_once('.') {
        Some((_, "jsonl")) => Kind::Lines,
        Some((_, "json")) => Kind::Object,
        _ => Kind::Text,
    }
}

/// Redacts a file that comes in pieces.
#[derive(Debug)]
pub struct Redactor {
    kind: Kind,
    /// What is not redacted yet: an incomplete line, or everything.
    rest: Vec<u8>,
}

impl Redactor {
    /// Begins a file; its name decides how it is read.
    pub fn new(name: &str) -> Self {
        Self { kind: kind_of(name), rest: Vec::new() }
    }

    /// Takes the next piece, and hands over what is complete; `found` counts what was removed.
    pub fn push<E>(
        &mut self,
        bytes: &[u8],
        found: &mut RedactionCounts,
        each: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.rest.extend_from_slice(bytes);
        if self.kind != Kind::Lines {
            return Ok(());
        }
        let mut done = 0;
        while let Some(end) = memchr::memchr(b'\n', &self.rest[done..]) {
            each(&redact_line(Cow::Borrowed(&self.rest[done..=done + end]), found))?;
            done += end + 1;
        }
        self.rest.drain(..done);
        Ok(())
    }

    /// Drops a last line that is not complete JSON yet: the beginning of a secret is not recognised.
    pub fn drop_incomplete_line(&mut self) {
        if self.kind == Kind::Lines && serde_json::from_slice::<IgnoredAny>(&self.rest).is_err() {
            self.rest.clear();
        }
    }

    /// Hands over the rest. Returns `false` if the file is not text: secrets in it cannot be found, so it must be
    /// left out.
    pub fn finish<E>(
        self,
        found: &mut RedactionCounts,
        each: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<bool, E> {
        match self.kind {
            Kind::Lines | Kind::Object => each(&redact_line(Cow::Borrowed(&self.rest), found))?,
            Kind::Text => match std::str::from_utf8(&self.rest) {
                Ok(text) => each(redact_text(text, found).as_bytes())?,
                Err(_) => return Ok(false),
            },
        }
        Ok(true)
    }
}

/// Passes a file on piece by piece without its secrets; `found` counts them.
///
/// Returns `false` if the file is not text: secrets in it cannot be found, so it must be left out.
pub(super) fn read_redacted<E: From<PathError>>(
    source: &PackSource,
    found: &mut RedactionCounts,
    each: &mut dyn FnMut(&[u8]) -> Result<(), E>,
) -> Result<bool, E> {
    let mut redactor = Redactor::new(&source.name);
    source.content.for_each_piece::<E>(&mut |bytes| redactor.push(bytes, found, each))?;
    redactor.finish(found, each)
}
