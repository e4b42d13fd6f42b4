//! The gram filters that an archive keeps of its files: one question for each list of clues, for all files at once.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ramus_core::line::LONGEST_LINE;
use ramus_core::query::GramQuery;

use super::spilled_results::list_spilled_results;
use super::summary::LeafSummary;
use crate::cache::{ChunkVerdict, SearchExtent};
use crate::claude_dir::{HistoryFile, Project};
use crate::derived::{DerivedRequest, DerivedStore, FilterAnswer, decode_summaries};
use crate::overlay;

/// The archived files that have no filter here, and what their archives answered so far.
#[derive(Debug, Default)]
pub(super) struct ArchivedFilters {
    stores: Vec<(Arc<dyn DerivedStore>, Vec<DerivedRequest>)>,
    /// The length of each file.
    files: HashMap<PathBuf, u64>,
    answers: Mutex<HashMap<CluesKey, Arc<Answers>>>,
}

type CluesKey = Vec<(Vec<Vec<u32>>, Vec<(u16, u16)>)>;

/// What is known about each file that has a filter.
type Answers = HashMap<PathBuf, FileAnswer>;

#[derive(Debug)]
struct FileAnswer {
    parts: Vec<ChunkVerdict>,
    summaries: Vec<LeafSummary>,
}

impl ArchivedFilters {
    /// Takes the archived files of projects; `is_unknown` says which have no filter here.
    pub(super) fn new(
        projects: &[Project],
        is_unknown: impl Fn(usize, &HistoryFile) -> bool,
    ) -> Self {
        let mut files: Vec<HistoryFile> = Vec::new();
        for (at, project) in projects.iter().enumerate() {
            if !project.files.iter().any(|file| file.archived) {
                continue;
            }
            let spilled = list_spilled_results(project, None);
            let all = project.files.iter().cloned().chain(spilled);
            files.extend(all.filter(|file| file.archived && is_unknown(at, file)));
        }
        let stores = overlay::derived_stores(files.iter());
        let lengths: HashMap<&Path, u64> =
            files.iter().map(|file| (&*file.path, file.bytes)).collect();
        let requests = stores.iter().flat_map(|(_, requests)| requests);
        let files = requests.map(|file| (file.path.clone(), lengths[&*file.path])).collect();
        Self { stores, files, answers: Mutex::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Whether an archive may have a filter of a file.
    pub(super) fn may_know(&self, path: &Path) -> bool {
        self.files.contains_key(path)
    }

    /// Returns which parts of a file may match; all, if no archive has a filter of it.
    pub(super) fn search_extent(&self, path: &Path, clues: &[&GramQuery]) -> SearchExtent {
        match self.answers(clues).get(path) {
            None => SearchExtent::All,
            Some(answer) if answer.parts.is_empty() => SearchExtent::Nothing,
            Some(answer) => SearchExtent::Some(answer.parts.clone()),
        }
    }

    /// Returns the summaries of a file; `None`: no archive was asked about it, or none has a filter of it.
    pub(super) fn summaries(&self, path: &Path) -> Option<Vec<LeafSummary>> {
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let known = answers.values().find_map(|answers| answers.get(path));
        known.map(|answer| answer.summaries.clone())
    }

    fn answers(&self, clues: &[&GramQuery]) -> Arc<Answers> {
        let key: CluesKey = { clues.iter() }
            .map(|clue| (clue.required_bits().to_vec(), clue.escaped_ranges().to_vec()))
            .collect();
        // Held while the archive is asked: all threads need the same answer.
        let mut known = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(key).or_insert_with(|| Arc::new(self.ask(clues))).clone()
    }

    fn ask(&self, clues: &[&GramQuery]) -> Answers {
        let mut answers = Answers::new();
        for (store, files) in &self.stores {
            // A store that fails is as good as none: the files are read.
            for (path, answer) in store.filter(clues, files).unwrap_or_default() {
                let checked = self.files.get(&path).and_then(|bytes| check_answer(answer, *bytes));
                answers.extend(checked.map(|answer| (path, answer)));
            }
        }
        answers
    }
}

/// Returns an answer that fits the file. `None`: it has no filter, or somebody wrote nonsense.
fn check_answer(answer: FilterAnswer, bytes: u64) -> Option<FileAnswer> {
    let summaries = decode_summaries(&answer.search)?;
    let verdict =
        |(bytes, lines, may_match): (u64, u32, bool)| ChunkVerdict { bytes, lines, may_match };
    let parts: Vec<ChunkVerdict> = answer.parts.into_iter().map(verdict).collect();
    let sum = parts.iter().try_fold(0u64, |sum, part| sum.checked_add(part.bytes))?;
    let is_plausible = parts.iter().all(|part| part.bytes <= 2 * LONGEST_LINE);
    (is_plausible && (parts.is_empty() || sum == bytes)).then_some(FileAnswer { parts, summaries })
}
