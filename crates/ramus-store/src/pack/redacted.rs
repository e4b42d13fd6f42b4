//! The content of a file for a pack, with secrets and personal data removed if requested.

use std::borrow::Cow;

use ramus_core::redact::{RedactionCounts, redact_line, redact_text};

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

/// Passes a file on piece by piece without its secrets; `found` counts them.
///
/// Returns `false` if the file is not text: secrets in it cannot be found, so it must be left out.
pub(super) fn read_redacted<E: From<PathError>>(
    source: &PackSource,
    found: &mut RedactionCounts,
    each: &mut dyn FnMut(&[u8]) -> Result<(), E>,
) -> Result<bool, E> {
    let kind = kind_of(&source.name);
    let mut rest: Vec<u8> = Vec::new();
    source.content.for_each_piece::<E>(&mut |bytes| {
        rest.extend_from_slice(bytes);
        if kind != Kind::Lines {
            return Ok(());
        }
        let mut done = 0;
        while let Some(end) = memchr::memchr(b'\n', &rest[done..]) {
            each(&redact_line(Cow::Borrowed(&rest[done..=done + end]), found))?;
            done += end + 1;
        }
        rest.drain(..done);
        Ok(())
    })?;
    match kind {
        Kind::Lines | Kind::Object => each(&redact_line(Cow::Borrowed(&rest), found))?,
        Kind::Text => match std::str::from_utf8(&rest) {
            Ok(text) => each(redact_text(text, found).as_bytes())?,
            Err(_) => return Ok(false),
        },
    }
    Ok(true)
}
