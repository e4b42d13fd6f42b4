//! Uses the cached gram filters to skip what cannot match.

use ramus_core::query::{GramQuery, Query};
use rayon::prelude::*;

use super::archived_filter::ArchivedFilters;

use super::SearchSource;
use super::summary::LeafSummary;
use crate::cache::{ChunkVerdict, FileGramFilter, HistoryCache, ProjectGramFilters, SearchExtent};
use crate::claude_dir::{HistoryFile, Project};

/// The gram filters of all projects that are searched, if there are any.
#[derive(Debug, Default)]
pub struct ScanFilter {
    by_project: Vec<Option<ProjectGramFilters>>,
    /// The filters that an archive keeps of its files.
    archived: ArchivedFilters,
}

impl ScanFilter {
    /// Opens the filters of projects, in the order that sources refer to.
    pub fn open(index: &HistoryCache, projects: &[Project]) -> Self {
        let open = |project: &Project| ProjectGramFilters::open(index, project);
        let by_project: Vec<_> = projects.par_iter().map(open).collect();
        // Without a cache, everything is read.
        let archived = match index.dir() {
            Some(_) => ArchivedFilters::new(projects, |at, file| {
                by_project[at].as_ref().is_none_or(|known| known.file_filter(file).is_none())
            }),
            None => ArchivedFilters::default(),
        };
        Self { by_project, archived }
    }

    /// Whether an archive on a server filters its files, so that few of them are transferred.
    pub fn is_filtered_on_server(&self) -> bool {
        !self.archived.is_empty()
    }

    /// Returns how many bytes have to be read because they have no filter.
    pub fn unfiltered_bytes(&self, sources: &[SearchSource]) -> u64 {
        let unknown = sources.iter().filter(|source| {
            self.file_filter(source).is_none() && !self.archived.may_know(&source.file.path)
        });
        unknown.map(|source| source.file.bytes).sum()
    }

    /// Returns which parts of each source may match.
    pub(super) fn search_extents(
        &self,
        sources: &[SearchSource],
        query: &Query,
    ) -> Vec<SearchExtent> {
        let clues = query.gram_queries();
        sources.par_iter().map(|source| self.search_extent(source, &clues)).collect()
    }

    fn search_extent(&self, source: &SearchSource, clues: &[&GramQuery]) -> SearchExtent {
        if clues.is_empty() {
            return SearchExtent::All;
        }
        let kept = self.file_filter(source);
        if kept.is_none() && self.archived.may_know(&source.file.path) {
            return self.archived.search_extent(&source.file.path, clues);
        }
        // If the filter cannot be read, search the whole file.
        let sight = kept.and_then(|(filters, file)| filters.search_extent(file, clues).ok());
        // The file may have changed since it was listed.
        let is_so = |_: &SearchExtent| {
            source.file.identity.is_some_and(|it| it.is_still_valid(&source.file.path))
        };
        sight.filter(is_so).unwrap_or(SearchExtent::All)
    }

    /// Whether a source may have a term; `None`: there is no filter for it.
    pub(super) fn may_have_term(
        &self,
        source: &SearchSource,
        query: &Query,
        term: usize,
    ) -> Option<bool> {
        if self.file_filter(source).is_none() && !self.archived.may_know(&source.file.path) {
            return None;
        }
        // A word may be too short for the filters.
        let Some(clue) = query.gram_query_of(term) else { return Some(true) };
        let extent = self.search_extent(source, &[clue]);
        Some(!matches!(extent, SearchExtent::Nothing))
    }

    /// Returns which parts of a source may have any of the terms.
    pub(super) fn extent_of_any(&self, source: &SearchSource, query: &Query) -> SearchExtent {
        let terms = query.term_texts().len();
        let mut all: Option<Vec<ChunkVerdict>> = None;
        for term in 0..terms {
            let Some(clue) = query.gram_query_of(term) else { return SearchExtent::All };
            match self.search_extent(source, &[clue]) {
                SearchExtent::All => return SearchExtent::All,
                SearchExtent::Nothing => {}
                SearchExtent::Some(chunks) => match &mut all {
                    None => all = Some(chunks),
                    Some(all) => {
                        for (chunk, other) in all.iter_mut().zip(chunks) {
                            chunk.may_match |= other.may_match;
                        }
                    }
                },
            }
        }
        all.map_or(SearchExtent::Nothing, SearchExtent::Some)
    }

    /// Returns the cached summaries of a file; `None`: there is no filter for it.
    pub(super) fn cached_summaries(
        &self,
        project: usize,
        file: &HistoryFile,
    ) -> Option<Vec<LeafSummary>> {
        match self.filter_of_file(project, file) {
            Some((_, known)) => Some(known.summaries.clone()),
            None => self.archived.summaries(&file.path),
        }
    }

    fn file_filter(&self, source: &SearchSource) -> Option<(&ProjectGramFilters, &FileGramFilter)> {
        self.filter_of_file(source.project?, &source.file)
    }

    fn filter_of_file(
        &self,
        project: usize,
        file: &HistoryFile,
    ) -> Option<(&ProjectGramFilters, &FileGramFilter)> {
        let filters = self.by_project.get(project)?.as_ref()?;
        Some((filters, filters.file_filter(file)?))
    }
}
