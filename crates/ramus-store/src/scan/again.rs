//! Reads matching records again to show them.

use ramus_core::query::{Detail, Finding, Query};

use super::{Content, Place, Source, spill};
use crate::error::PathError;
use crate::read::Bodies;

/// Reads matching records. The last file stays open, because hits of one file come together.
#[derive(Debug, Default)]
pub struct Again {
    last: Option<(u32, Bodies)>,
}

impl Again {
    /// Reads one record. `None`: it no longer matches.
    pub fn read<T>(
        &mut self,
        source: &Source,
        place: &Place,
        query: &Query,
        show: impl FnOnce(&Finding<'_>) -> T,
    ) -> Result<Option<T>, PathError> {
        if source.content == Content::Spilled {
            return spill::read_again(source, place, query, show);
        }
        let mut bodies = match self.last.take() {
            Some((last, bodies)) if last == place.source => bodies,
            _ => Bodies::open(&source.file.path)?,
        };
        let bytes = bodies.bytes(place.span)?;
        self.last = Some((place.source, bodies));
        let mut shown = None;
        let mut show = Some(show);
        query.findings(&bytes, Detail::Where, |finding| {
            if let Some(show) = show.take() {
                shown = Some(show(&finding));
            }
        });
        Ok(shown)
    }
}
