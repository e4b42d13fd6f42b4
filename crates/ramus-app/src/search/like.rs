//! Search by meaning: messages that are about the same as a text, in whatever words.
//!
//! The order is that of two searches, one by meaning and one by words: what both put first comes first.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ramus_core::embedding::{EmbeddingModel, TextVector};
use ramus_core::query::{HitRank, MatchLevel, Query, QueryError};
use ramus_store::model_files::{ModelFileError, read_model};
use ramus_store::scan::{Hit, LikeJob, LikeScan, MEANING_KINDS, ScanNotes};

use super::rank::{RankedHits, source_session};
use super::steps::{SearchSteps, loosened};
use super::{BatchDelivery, SearchBatch, SearchNotes, SearchOutcome, SearchRequest};
use crate::workspace::Workspace;

/// How much the first places count more than the next.
const PLACE_OFFSET: f32 = 10.0;
/// How many sessions are shown: all others are less alike.
const MAX_SESSIONS: usize = 40;

/// What messages should be about.
#[derive(Debug)]
pub(super) struct LikeQuery {
    model: Arc<EmbeddingModel>,
    vector: TextVector,
    /// Finds every text that has a vector: one that is alike need not have any of the words.
    pub(super) any_text: Query,
}

/// Why a search by meaning cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum LikeError {
    #[error("searching by meaning needs an embedding model, and none is configured")]
    NoModel,
    #[error("the embedding model cannot be read: {0}")]
    Model(#[from] ModelFileError),
    #[error("the model knows no word of {0:?}")]
    UnknownWords(String),
    #[error("a search by meaning finds prompts and replies; it cannot be limited to {0}")]
    Filter(&'static str),
    #[error(transparent)]
    Query(#[from] QueryError),
}

impl LikeError {
    /// Returns what to do next.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NoModel => Some(
                "A model is a directory with model.safetensors and tokenizer.json in the format of model2vec, \
                 for example potion-base-8M. Set `like_model` in config.toml, RAMUS_LIKE_MODEL, or --like-model",
            ),
            Self::Model(_) => Some("See docs/find.md for the files that a model consists of"),
            Self::UnknownWords(_) => Some("Use other words, or search without --like"),
            Self::Filter(_) => Some("Remove the filter, or search without --like"),
            Self::Query(_) => None,
        }
    }
}

impl Workspace {
    /// Loads the model for a request that asks for what messages are about. Any other request needs none.
    pub fn load_like_model(&self, request: &mut SearchRequest) -> Result<(), LikeError> {
        let Some(text) = request.like_text.clone() else { return Ok(()) };
        if request.tool.is_some() {
            return Err(LikeError::Filter("a tool or a file"));
        }
        if request.query.only_errors {
            return Err(LikeError::Filter("errors"));
        }
        if request.query.model.is_some() {
            return Err(LikeError::Filter("a model's replies"));
        }
        let dir = self.like_model_dir().ok_or(LikeError::NoModel)?;
        let model = self.like_models.open_model(dir)?;
        let vector = model.embed_text(&text).ok_or(LikeError::UnknownWords(text))?;
        let any_text = Query::any_text(&MEANING_KINDS)?;
        request.like = Some(Arc::new(LikeQuery { model, vector, any_text }));
        Ok(())
    }
}

/// The model that was read last.
#[derive(Debug, Default)]
pub(crate) struct LikeModels(std::sync::Mutex<Option<(PathBuf, Arc<EmbeddingModel>)>>);

impl LikeModels {
    fn open_model(&self, dir: &Path) -> Result<Arc<EmbeddingModel>, ModelFileError> {
        let mut last = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some((known, model)) = &*last
            && known == dir
        {
            return Ok(model.clone());
        }
        let model = Arc::new(read_model(dir)?);
        *last = Some((dir.to_owned(), model.clone()));
        Ok(model)
    }
}

/// A session as both searches see it.
#[derive(Default)]
struct LikeSession {
    by_meaning: Vec<usize>,
    by_words: Vec<usize>,
    score: f32,
}

impl SearchSteps<'_> {
    /// Searches by meaning and by words.
    pub(super) fn search_by_meaning<B>(
        &self,
        request: &SearchRequest,
        like: &LikeQuery,
        each: &mut impl FnMut(&mut SearchBatch<'_>) -> ControlFlow<B>,
    ) -> ControlFlow<B, SearchOutcome> {
        let Self { workspace, files, progress } = self;
        let (on_read, go_on) = (|bytes| progress.advance_bytes(bytes), || !progress.is_cancelled());
        progress.begin_reading(files.total_bytes());
        let nearest = LikeJob {
            sources: &files.sources,
            projects: &files.projects,
            cache: workspace.session_cache(),
            model: &like.model,
            vector: &like.vector,
            query: &request.query,
            on_read: &on_read,
            go_on: &go_on,
        };
        let nearest = nearest.find_nearest();
        let words = loosened(request, &[]);
        let scan = files.scan_job(&words, &|_| {}, &go_on).find_ranked(true);
        let by_words = words.rank_hits(&scan, &files.sources);
        progress.end_reading();
        nearest.problems.iter().chain(&scan.problems).for_each(|it| progress.report_problem(it));
        let mut notes = scan.notes;
        notes.sessions.extend(nearest.notes.sessions.clone());
        let ranked = self.merge_ranks(&nearest, &by_words, &notes);
        let mut batch = SearchBatch::new(workspace, &words, files, *progress);
        let mut handing = BatchDelivery::new(&words, *progress);
        batch.set_ranked_hits(ranked, &notes);
        if let ControlFlow::Break(Some(ended)) = handing.hand_out(&mut batch, each) {
            return ControlFlow::Break(ended);
        }
        ControlFlow::Continue(SearchOutcome {
            shown: handing.shown,
            found: handing.found,
            is_complete: true,
            unknown_bytes: 0,
            notes: SearchNotes::default(),
        })
    }

    /// Orders sessions by their places in both searches.
    fn merge_ranks(
        &self,
        nearest: &LikeScan,
        by_words: &RankedHits,
        notes: &ScanNotes,
    ) -> RankedHits {
        let sources = &self.files.sources;
        let near = Hit::merge_copies(nearest.locations.clone(), sources);
        let closeness = |hit: &Hit| nearest.closeness[hit.location.rank as usize];
        let mut order: Vec<usize> = (0..near.len()).collect();
        order.sort_by(|a, b| closeness(&near[*b]).total_cmp(&closeness(&near[*a])));
        let mut sessions: BTreeMap<(Option<usize>, &str), LikeSession> = BTreeMap::new();
        let mut places = 0;
        for index in order {
            let key = source_session(sources, near[index].location.source, notes);
            let session = sessions.entry(key).or_default();
            if session.by_meaning.is_empty() {
                session.score += 1.0 / (PLACE_OFFSET + places as f32);
                places += 1;
            }
            session.by_meaning.push(index);
        }
        for (index, hit) in by_words.hits.iter().enumerate() {
            let key = source_session(sources, hit.location.source, notes);
            let session = sessions.entry(key).or_default();
            if session.by_words.is_empty() {
                session.score += 1.0 / (PLACE_OFFSET + by_words.ranks[index].session as f32);
            }
            session.by_words.push(index);
        }
        let mut sessions: Vec<LikeSession> = sessions.into_values().collect();
        sessions.sort_by(|a, b| b.score.total_cmp(&a.score));
        sessions.truncate(MAX_SESSIONS);
        let mut ranked = RankedHits::default();
        for (place, session) in sessions.iter().enumerate() {
            let rank = |score| HitRank {
                level: MatchLevel::Meaning,
                score,
                session: place,
                session_score: session.score,
                recency: 0.0,
                more: 0,
                terms: Vec::new(),
            };
            for index in &session.by_meaning {
                ranked.hits.push(near[*index].clone());
                ranked.ranks.push(rank(closeness(&near[*index])));
            }
            // A session that only the words find is shown by what has them.
            for index in session.by_words.iter().filter(|_| session.by_meaning.is_empty()) {
                ranked.hits.push(by_words.hits[*index].clone());
                let own = &by_words.ranks[*index];
                ranked.ranks.push(HitRank {
                    level: own.level,
                    terms: own.terms.clone(),
                    ..rank(0.0)
                });
            }
        }
        ranked
    }
}
