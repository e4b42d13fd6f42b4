//! The steps of a search: what was typed, and less where that finds nothing.

use std::ops::ControlFlow;

use ramus_core::query::{MatchLevel, MatchOptions, Query, TypedQuery, TypedWord};

use super::rank::RankedHits;
use super::{
    BatchDelivery, SearchBatch, SearchFiles, SearchNotes, SearchOrder, SearchOutcome, SearchRequest,
};
use crate::workspace::{ProgressSink, Workspace};

/// One search, step by step. Each step asks for less than the one before it.
pub(super) struct SearchSteps<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) files: SearchFiles,
    pub(super) progress: &'a dyn ProgressSink,
}

/// How a step ended, and the words that no session has.
type StepEnd = (SearchOutcome, Vec<String>);

impl SearchSteps<'_> {
    /// Takes steps until something is found.
    pub(super) fn run_all<B>(
        &self,
        request: &SearchRequest,
        each: &mut impl FnMut(&mut SearchBatch<'_>) -> ControlFlow<B>,
    ) -> ControlFlow<B, SearchOutcome> {
        if let Some(like) = &request.like {
            return self.search_by_meaning(request, like, each);
        }
        let mut request = request.clone();
        let accepts_partial = request.accepts_partial && request.order == SearchOrder::Best;
        let (mut outcome, mut unfound) = self.run_step(&request, MatchLevel::Message, each)?;
        if self.is_open(&outcome)
            && let Some(query) = request.query.ignoring_case()
        {
            let relaxed = SearchRequest { query, ..request.clone() };
            (outcome, unfound) = self.run_step(&relaxed, MatchLevel::Message, each)?;
            outcome.notes.ignored_case = outcome.found > 0;
        }
        if request.query.term_texts().len() > 1 {
            request.order = SearchOrder::Best;
        }
        let mut skipped_accents = false;
        if self.is_open(&outcome) {
            (outcome, unfound) = self.search_other_forms(&request, unfound, each)?;
            skipped_accents = outcome.notes.skipped_accents;
        }
        if self.is_open(&outcome)
            && request.is_fuzzy
            && let Some((corrected, words)) = self.correct_words(&request)
        {
            let relaxed = loosened(&corrected, &[]);
            let least =
                if accepts_partial { MatchLevel::Partial } else { MatchLevel::Conversation };
            (outcome, _) = self.run_step(&relaxed, least, each)?;
            outcome.notes.corrected = words;
        }
        if self.is_open(&outcome) && accepts_partial {
            let relaxed = loosened(&request, &unfound);
            (outcome, _) = self.run_step(&relaxed, MatchLevel::Partial, each)?;
            if outcome.found > 0 && outcome.notes.missing.is_empty() {
                outcome.notes.other_forms = unfound;
            }
        }
        let is_missing = outcome.found == 0 || !outcome.notes.missing.is_empty();
        if is_missing && request.suggests && !request.is_fuzzy && !self.progress.is_cancelled() {
            outcome.notes.suggestions = self.similar_words(&request, &outcome.notes.missing);
        }
        outcome.notes.skipped_accents = skipped_accents;
        let typed = request.query.typed_words();
        outcome.notes.unclosed_quote = typed.and_then(|typed| typed.unclosed.clone());
        ControlFlow::Continue(outcome)
    }

    /// Searches for other forms of all words; then, for words that have none, for other letters. Returns the words
    /// that occur in no form, too.
    fn search_other_forms<B>(
        &self,
        request: &SearchRequest,
        unfound: Vec<String>,
        each: &mut impl FnMut(&mut SearchBatch<'_>) -> ControlFlow<B>,
    ) -> ControlFlow<B, StepEnd> {
        let forms = loosened(request, &[]);
        let (mut outcome, mut still) = self.run_step(&forms, MatchLevel::Conversation, each)?;
        // What is in quotes stays together until sessions with only some of the words are accepted.
        let typed = request.query.typed_words().map_or(&[][..], |typed| &typed.words);
        let is_quoted = |word: &&String| typed.iter().any(|it| it.is_quoted && it.text == **word);
        let alone: Vec<String> = still.iter().filter(|word| !is_quoted(word)).cloned().collect();
        // No filter knows other letters, so everything would be transferred from a server.
        if self.is_open(&outcome) && !alone.is_empty() {
            if self.files.filter.is_filtered_on_server() {
                outcome.notes.skipped_accents = true;
            } else {
                let letters = loosened(request, &alone);
                (outcome, _) = self.run_step(&letters, MatchLevel::Conversation, each)?;
            }
        }
        if outcome.found > 0 {
            outcome.notes.other_forms = unfound;
            still = Vec::new();
        }
        ControlFlow::Continue((outcome, still))
    }

    /// Whether nothing was found and somebody still waits for it.
    fn is_open(&self, outcome: &SearchOutcome) -> bool {
        outcome.found == 0 && !self.progress.is_cancelled()
    }

    /// Returns words that are similar to those of a request which occur nowhere: the missing ones, or all.
    fn similar_words(
        &self,
        request: &SearchRequest,
        missing: &[String],
    ) -> Vec<(String, Vec<String>)> {
        let Some(typed) = request.query.typed_words() else { return Vec::new() };
        let (on_read, go_on) = (|_| {}, || !self.progress.is_cancelled());
        // A word that occurs is not misspelt, even if the filters leave it out.
        let occurs = |word: &str| {
            let query = Query::from_typed(&TypedQuery::from_phrase(word), MatchOptions::default());
            let Ok(query) = query else { return true };
            let query = query.loosened(&[]).unwrap_or(query);
            let single = SearchRequest { query, tool: None, ..request.clone() };
            self.files.scan_job(&single, &on_read, &go_on).has_match()
        };
        let is_asked = |word: &&TypedWord| {
            (missing.is_empty() || missing.contains(&word.text)) && !occurs(&word.text)
        };
        let words: Vec<String> =
            typed.words.iter().filter(is_asked).map(|word| word.text.clone()).collect();
        if words.is_empty() {
            return Vec::new();
        }
        let similar = self.files.scan_job(request, &on_read, &go_on).similar_words(&words);
        words.into_iter().zip(similar).filter(|(_, similar)| !similar.is_empty()).collect()
    }

    /// Returns the request with similar words for those that occur nowhere; `None`: there are none.
    fn correct_words(
        &self,
        request: &SearchRequest,
    ) -> Option<(SearchRequest, Vec<(String, String)>)> {
        let mut typed = request.query.typed_words()?.clone();
        let similar = self.similar_words(request, &[]);
        let mut corrected = Vec::new();
        for (word, similar) in similar {
            let similar = similar.into_iter().next()?;
            for meant in typed.words.iter_mut().filter(|it| it.text == word) {
                meant.text.clone_from(&similar);
            }
            corrected.push((word, similar));
        }
        let query = request.query.with_words(&typed, request.query.match_options()).ok()?;
        let relaxed = SearchRequest { query, order: SearchOrder::Best, ..request.clone() };
        (!corrected.is_empty()).then_some((relaxed, corrected))
    }

    /// Searches once. Nothing is handed out if no hit is at least as close as `least`.
    pub(super) fn run_step<B>(
        &self,
        request: &SearchRequest,
        least: MatchLevel,
        each: &mut impl FnMut(&mut SearchBatch<'_>) -> ControlFlow<B>,
    ) -> ControlFlow<B, StepEnd> {
        let Self { workspace, files, progress } = self;
        let (on_read, go_on) = (|bytes| progress.advance_bytes(bytes), || !progress.is_cancelled());
        let job = files.scan_job(request, &on_read, &go_on);
        let mut batch = SearchBatch::new(workspace, request, files, *progress);
        let mut handing = BatchDelivery::new(request, *progress);
        let mut notes = SearchNotes::default();
        let mut unfound = Vec::new();
        progress.begin_reading(files.total_bytes());
        let (problems, flow) = match request.order {
            SearchOrder::Newest => job.find_newest(|found| {
                batch.set_hits(found.hits, found.notes);
                handing.hand_out(&mut batch, each)
            }),
            SearchOrder::Best => {
                // Whoever accepts words in several messages accepts that a common one lacks.
                let scan = job.find_ranked(least > MatchLevel::Message && !request.is_exact);
                let mut ranked = request.rank_hits(&scan, &files.sources);
                unfound = std::mem::take(&mut ranked.unfound);
                if ranked.best_level().is_some_and(|level| level > least) {
                    ranked = RankedHits::default();
                }
                notes = ranked.search_notes(scan.is_cut);
                batch.set_ranked_hits(ranked, &scan.notes);
                (scan.problems, handing.hand_out(&mut batch, each))
            }
        };
        progress.end_reading();
        problems.iter().for_each(|problem| progress.report_problem(problem));
        let is_complete = flow.is_continue() || request.order == SearchOrder::Best;
        let flow = match flow {
            ControlFlow::Continue(()) if go_on() => {
                batch.set_prompts(workspace.matching_prompts(request));
                handing.hand_out(&mut batch, each)
            }
            flow => flow,
        };
        if request.order == SearchOrder::Newest && handing.found == 0 {
            let words: Vec<&str> = request.query.term_texts().collect();
            unfound = if let [word] = words[..] { vec![word.to_owned()] } else { Vec::new() };
        }
        match flow {
            ControlFlow::Break(Some(ended)) => ControlFlow::Break(ended),
            _ => {
                let outcome = SearchOutcome {
                    shown: handing.shown,
                    found: handing.found,
                    is_complete,
                    unknown_bytes: files.filter.unfiltered_bytes(&files.sources),
                    notes,
                };
                ControlFlow::Continue((outcome, unfound))
            }
        }
    }
}

/// Returns the request for other forms of its words, or the same if it has none.
pub(super) fn loosened(request: &SearchRequest, unfound: &[String]) -> SearchRequest {
    let query = request.query.loosened(unfound).unwrap_or_else(|| request.query.clone());
    SearchRequest { query, ..request.clone() }
}
