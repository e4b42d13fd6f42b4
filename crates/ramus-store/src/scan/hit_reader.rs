//! Reads matching records again to show them.

use ramus_core::query::{Finding, FindingDetail, Query};

use super::{MatchLocation, SearchSource, SourceFormat, spilled_results};
use crate::error::PathError;
use crate::read::RecordReader;

/// Reads matching records. The last file stays open, because hits of one file come together.
#[derive(Debug, Default)]
pub struct HitReader {
    last: Option<(u32, RecordReader)>,
}

impl HitReader {
    /// Reads one record. `None`: it no longer matches.
    pub fn read_hit<T>(
        &mut self,
        source: &SearchSource,
        place: &MatchLocation,
        query: &Query,
        show: impl FnOnce(&Finding<'_>) -> T,
    ) -> Result<Option<T>, PathError> {
        if source.content == SourceFormat::Spilled {
            return spilled_results::read_spilled_hit(source, place, query, show);
        }
        let mut bodies = match self.last.take() {
            Some((last, bodies)) if last == place.source => bodies,
            _ => RecordReader::open(&source.file.path)?,
        };
        let bytes = bodies.read_record(place.span)?;
        self.last = Some((place.source, bodies));
        let mut shown = None;
        let mut show = Some(show);
        query.find_in_line(&bytes, FindingDetail::Strength, |finding| {
            if let Some(show) = show.take() {
                shown = Some(show(&finding));
            }
        });
        Ok(shown)
    }
}
