//! What is derived from the content of one file and kept with its archived copy: its digest, its usage, and filters that
//! tell a search which parts cannot match. Whoever reads the copy need not read the content for these.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bitcode::{DecodeOwned, Encode};
use memchr::memchr_iter;
use ramus_core::digest::SessionDigest;
use ramus_core::history::History;
use ramus_core::price::PriceList;
use ramus_core::query::{GramFilter, GramFilterBuilder, GramQuery};
use ramus_core::resume::ResumeRule;
use ramus_core::session::Session;
use ramus_core::usage::FileUsage;

use crate::FileIdentity;
use crate::cache::version_name;
use crate::claude_dir::HistoryFile;
use crate::error::PathError;
use crate::overlay;
use crate::owned::OwnedKind;
use crate::read::read_session_as;
use crate::scan::{LeafSummary, SkippedLines, read_line_chunks, summaries_in};

/// What is derived from one file.
#[derive(Clone, Debug, Default)]
pub struct DerivedData {
    /// Encoded values by what they are.
    pub values: Vec<(DerivedKind, Vec<u8>)>,
    /// `None`: the file must be read to be searched.
    pub filter: Option<Vec<FilterPart>>,
}

/// A value that is derived from one file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DerivedKind(pub String);

impl DerivedKind {
    pub(crate) fn digest(rule: ResumeRule) -> Self {
        Self(format!("digest-{}", rule as u8))
    }

    /// The cost depends on the prices, which `prices` identifies.
    pub(crate) fn usage(rule: ResumeRule, prices: u64) -> Self {
        Self(format!("usage-{}-{prices:016x}", rule as u8))
    }

    /// The summaries of a file that has a filter. It is there for every file that was derived from.
    pub fn search() -> Self {
        Self("search".to_owned())
    }
}

/// The filter of some complete lines of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterPart {
    pub bytes: u64,
    pub lines: u32,
    /// Which four bytes occur; a power of two of bytes.
    pub bits: Vec<u8>,
    pub escaped_units: Vec<u16>,
}

/// An archived file whose derived values are asked for.
#[derive(Clone, Debug)]
pub struct DerivedRequest {
    /// Where the file is, or was; answers are by this path.
    pub path: PathBuf,
    /// The Claude directory as the archive knows it, and the path from there on.
    pub root: PathBuf,
    pub relative: PathBuf,
    pub identity: FileIdentity,
}

/// What a search needs to know of one archived file.
#[derive(Clone, Debug)]
pub struct FilterAnswer {
    /// The encoded summaries.
    pub search: Vec<u8>,
    /// Whether each part may match, with its length in bytes and lines. Empty: no part does.
    pub parts: Vec<(u64, u32, bool)>,
}

/// Derived values that are kept with the archived files of one or several Claude directories.
pub trait DerivedStore: fmt::Debug + Send + Sync {
    /// Returns values of some files, as far as they are there and of exactly this state of the file.
    fn values(
        &self,
        kind: &DerivedKind,
        files: &[DerivedRequest],
    ) -> Result<HashMap<PathBuf, Vec<u8>>, PathError>;

    /// Returns what filters say of all files that have one in exactly this state.
    fn filter(
        &self,
        queries: &[&GramQuery],
        files: &[DerivedRequest],
    ) -> Result<HashMap<PathBuf, FilterAnswer>, PathError>;
}

/// Returns the version of derived values: those of another one cannot be read and are derived again.
pub fn derived_version() -> String {
    version_name()
}

/// Returns values of archived files from wherever they are kept. A store that fails is as good as none: the files are
/// read then.
pub(crate) fn stored_values<'a>(
    kind: &DerivedKind,
    files: impl Iterator<Item = &'a HistoryFile>,
) -> HashMap<PathBuf, Vec<u8>> {
    let values = |(store, files): (Arc<dyn DerivedStore>, Vec<DerivedRequest>)| {
        store.values(kind, &files).unwrap_or_default()
    };
    overlay::derived_stores(files).into_iter().flat_map(values).collect()
}

/// How many bytes one filter covers at least. Small enough that few of its bits are set.
const PART_BYTES: u64 = 1024 * 1024;

/// Derives what there is to derive from a file, whose name may be another one than that of the archived file.
pub fn derive_from_file(path: &Path, kind: OwnedKind) -> Result<DerivedData, PathError> {
    let mut derived = DerivedData::default();
    let is_jsonl = path.extension().is_some_and(|extension| extension == "jsonl");
    if is_jsonl {
        let (rule, prices) = (ResumeRule::Client, PriceList::default());
        let history = History::new(read_session_as(Session::with_usage(), path)?, rule);
        derived.add(DerivedKind::digest(rule), &SessionDigest::new(&history));
        let usage = FileUsage::new(&history, &prices);
        derived.add(DerivedKind::usage(rule, prices.fingerprint()), &usage);
    }
    let summaries = match is_jsonl || kind == OwnedKind::SpilledOutput {
        true => derived.add_filter(path)?,
        false => None,
    };
    derived.add(DerivedKind::search(), &summaries);
    Ok(derived)
}

impl DerivedData {
    /// Returns how long everything is together.
    pub fn byte_count(&self) -> usize {
        let parts = self.filter.iter().flatten().map(|part| part.bits.len());
        self.values.iter().map(|(_, value)| value.len()).chain(parts).sum()
    }

    fn add<T: Encode>(&mut self, kind: DerivedKind, value: &T) {
        self.values.push((kind, bitcode::encode(value)));
    }

    /// Makes the filter. Returns the summaries of the file; `None`: it has lines that nobody searches.
    fn add_filter(&mut self, path: &Path) -> Result<Option<Vec<LeafSummary>>, PathError> {
        let mut builder = GramFilterBuilder::default();
        let (mut summaries, mut parts) = (Vec::new(), Vec::new());
        let (mut bytes, mut lines) = (0, 0);
        let mut take = |bytes: &mut u64, lines: &mut u32, builder: &mut GramFilterBuilder| {
            let GramFilter { bits, escaped_units } = builder.take_filter();
            let (bytes, lines) = (std::mem::take(bytes), std::mem::take(lines));
            parts.push(FilterPart { bytes, lines, bits, escaped_units });
        };
        let read = read_line_chunks(path, |chunk| {
            summaries_in(chunk.bytes, &mut summaries);
            builder.add_lines(chunk.bytes);
            bytes += chunk.bytes.len() as u64;
            lines += memchr_iter(b'\n', chunk.bytes).count() as u32;
            if bytes >= PART_BYTES {
                take(&mut bytes, &mut lines, &mut builder);
            }
        });
        let skipped = read.map_err(|source| PathError::new(path, source))?;
        if bytes > 0 {
            take(&mut bytes, &mut lines, &mut builder);
        }
        if skipped != SkippedLines::Nothing {
            return Ok(None);
        }
        self.filter = Some(parts);
        Ok(Some(summaries))
    }
}

/// Decodes a value. `None`: it is damaged.
pub(crate) fn decode_value<T: DecodeOwned>(bytes: &[u8]) -> Option<T> {
    bitcode::decode(bytes).ok()
}

/// Decodes the summaries of a file. `None`: it has no filter.
pub(crate) fn decode_summaries(bytes: &[u8]) -> Option<Vec<LeafSummary>> {
    decode_value::<Option<Vec<LeafSummary>>>(bytes).flatten()
}
