//! The order of hits when the best come first: sessions by their best messages, and the messages of each.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use ramus_core::ids::IdHash;
use ramus_core::query::{
    HitRank, MatchLevel, MatchStrength, Query, RankWeights, TermFrequency, TermRank, WordForm,
};
use ramus_core::time::Time;
use ramus_store::claude_dir::FileRole;
use ramus_store::scan::{Hit, NEAR_SHARE, RankedScan, ScanNotes, SearchSource};

use super::SearchNotes;

/// Hits in the order of their sessions, with their ranks.
#[derive(Default)]
pub(super) struct RankedHits {
    pub(super) hits: Vec<Hit>,
    pub(super) ranks: Vec<HitRank>,
    /// How many sessions with only some of the words were left out.
    left_out: usize,
    /// Words that no session has.
    pub(super) unfound: Vec<String>,
}

impl RankedHits {
    /// Whether no session has all words.
    pub(super) fn is_partial(&self) -> bool {
        self.best_level() == Some(MatchLevel::Partial)
    }

    /// Returns the level of the closest hit.
    pub(super) fn best_level(&self) -> Option<MatchLevel> {
        self.ranks.iter().map(|rank| rank.level).min()
    }

    /// Returns what a reader should know about the hits.
    pub(super) fn search_notes(&self, is_cut: bool) -> SearchNotes {
        let in_message = |rank: &HitRank| rank.level <= MatchLevel::Message;
        let is_spread = !self.ranks.is_empty() && !self.ranks.iter().any(in_message);
        let words = self.ranks.first().map_or(&[][..], |rank| &rank.terms);
        let is_missing =
            |at: &usize| self.ranks.iter().all(|rank| rank.terms[*at].form == WordForm::Elsewhere);
        let missing = (0..words.len()).filter(|_| self.is_partial()).filter(is_missing);
        let missing = missing.map(|at| words[at].word.clone()).collect();
        let partial_left_out = self.left_out;
        SearchNotes { is_spread, missing, partial_left_out, is_cut, ..SearchNotes::default() }
    }
}

/// The bonus of the newest session over an old one, and the number of days after which half of it is left.
const RECENCY_SHARE: f32 = 0.25;
const RECENCY_DAYS: f32 = 30.0;
/// What further messages of a session add to the best one.
const NEXT_SHARES: [f32; 3] = [1.0, 0.25, 0.12];
/// The penalty for long sessions, which contain more words by chance; smaller if one message has all words.
const LENGTH_SHARE: f32 = 0.45;
const CLOSE_LENGTH_SHARE: f32 = 0.18;
const MAX_LENGTH_RATIO: f32 = 4.0;
/// How many sessions are shown that have only some of the words: the best of them were meant, or none.
const MAX_PARTIAL: usize = 20;
/// How strongly missing words lower the score of a session.
const LACKING_POWER: i32 = 3;
/// The weight of words spread over a session, relative to words in one message.
const SPREAD_SHARE: f32 = 0.6;

/// Returns the session that a source belongs to, as far as the search knows.
pub(super) fn source_session<'s>(
    sources: &'s [SearchSource],
    index: u32,
    notes: &'s ScanNotes,
) -> (Option<usize>, &'s str) {
    let source = &sources[index as usize];
    let session = match &source.file.role {
        FileRole::NestedAgent { session } | FileRole::Journal { session } => session,
        FileRole::Session => &source.file.id,
        FileRole::FlatAgent => notes.sessions.get(&index).unwrap_or(&source.file.id),
    };
    (source.project, session)
}

/// One message with everything of it that matches.
struct MessageMatch {
    /// The index of its best hit.
    hit: usize,
    strength: MatchStrength,
    level: MatchLevel,
    score: f32,
}

/// A session with its messages, the best first.
struct SessionMatch {
    messages: Vec<MessageMatch>,
    /// The level of its closest message.
    level: MatchLevel,
    score: f32,
    recency: f32,
}

/// Ranks what a search found.
///
/// Records of one message (`groups`) are one hit, or each is a hit of its own.
pub(super) fn rank_hits(
    scan: &RankedScan,
    sources: &[SearchSource],
    query: &Query,
    groups: bool,
) -> RankedHits {
    let ranker = Ranker::new(scan, sources, query);
    let hits = Hit::merge_copies(scan.locations.clone(), sources);
    let mut by_session: Vec<Vec<usize>> = vec![Vec::new(); ranker.session_terms.len()];
    for (index, hit) in hits.iter().enumerate() {
        by_session[ranker.session_of[&hit.location.source]].push(index);
    }
    let has_all = |terms: &u64| terms & scan.required == scan.required;
    let is_partial = !ranker.session_terms.iter().any(has_all);
    let best = ranker.session_terms.iter().map(|terms| ranker.weight(*terms)).fold(0.0, f32::max);
    let accepts_near = is_partial || scan.has_near;
    let is_wanted = |terms: &u64| {
        has_all(terms) || (accepts_near && ranker.weight(*terms) >= best * NEAR_SHARE)
    };
    let wanted = by_session.iter().zip(&ranker.session_terms);
    let wanted = wanted.filter(|(hits, terms)| !hits.is_empty() && is_wanted(terms));
    let rank = |(own, terms): (&Vec<usize>, &u64)| {
        let mut session = ranker.rank_session(&hits, own, *terms, groups);
        // Missing words count more than how often the others occur.
        let share = if best > 0.0 { ranker.weight(*terms) / best } else { 1.0 };
        session.score *= share.powi(LACKING_POWER);
        session
    };
    let mut sessions: Vec<SessionMatch> = wanted.map(rank).collect();
    sessions.retain(|session| !session.messages.is_empty());
    // By chance a long session has all words somewhere.
    let group = |session: &SessionMatch| match session.level {
        MatchLevel::Partial if accepts_near => MatchLevel::Conversation,
        level => level,
    };
    sessions.sort_by(|a, b| group(a).cmp(&group(b)).then(b.score.total_cmp(&a.score)));
    let found = sessions.len();
    let mut partial = 0..MAX_PARTIAL;
    sessions.retain(|it| it.level != MatchLevel::Partial || partial.next().is_some());
    let left_out = found - sessions.len();
    let unfound = ranker.unfound_words();
    let mut ranked = RankedHits { left_out, unfound, ..RankedHits::default() };
    for (place, session) in sessions.iter().enumerate() {
        for message in &session.messages {
            ranked.hits.push(hits[message.hit].clone());
            ranked.ranks.push(HitRank {
                level: message.level,
                score: message.score,
                session: place,
                session_score: session.score,
                recency: session.recency,
                more: 0,
                terms: ranker.term_ranks(&message.strength),
            });
        }
    }
    ranked
}

struct Ranker<'a> {
    scan: &'a RankedScan,
    query: &'a Query,
    weights: RankWeights,
    /// The session of each source with a match, and the terms of each session.
    session_of: BTreeMap<u32, usize>,
    session_terms: Vec<u64>,
    newest: Option<Time>,
    /// The size of each source, and the mean of those that are searched.
    sizes: Vec<u64>,
    usual_size: f32,
}

impl<'a> Ranker<'a> {
    fn new(scan: &'a RankedScan, sources: &[SearchSource], query: &'a Query) -> Self {
        let mut known = BTreeMap::new();
        let mut session_of = BTreeMap::new();
        let mut strengths: Vec<MatchStrength> = Vec::new();
        for place in &scan.locations {
            let session = *session_of.entry(place.source).or_insert_with(|| {
                let key = source_session(sources, place.source, &scan.notes);
                *known.entry(key).or_insert_with(|| {
                    strengths.push(MatchStrength::default());
                    strengths.len() - 1
                })
            });
            strengths[session].add_record(&scan.ranks[place.rank as usize].strength);
        }
        let count = |term: usize, terms: fn(&MatchStrength) -> u64| {
            strengths.iter().filter(|it| terms(it) & 1 << term != 0).count()
        };
        let frequency = |term: usize| TermFrequency {
            sessions: count(term, |it| it.terms),
            word_starts: count(term, |it| it.word_starts),
            whole_words: count(term, |it| it.whole_words),
            of: scan.sessions,
        };
        let weights = RankWeights::new((0..query.term_texts().len().min(64)).map(frequency));
        let newest = scan.locations.iter().filter_map(|place| place.time).max();
        let sizes: Vec<u64> = sources.iter().map(|source| source.file.bytes).collect();
        let usual_size = sizes.iter().sum::<u64>() as f32 / sizes.len().max(1) as f32;
        let usual_size = usual_size.max(1.0);
        let session_terms = strengths.iter().map(|strength| strength.terms).collect();
        Self { scan, query, weights, session_of, session_terms, newest, sizes, usual_size }
    }

    fn unfound_words(&self) -> Vec<String> {
        let found = self.session_terms.iter().fold(0, |all, terms| all | terms);
        let words = self.query.term_texts().take(64).enumerate();
        let is_unfound = |at: usize| self.scan.required & !found & 1 << at != 0;
        words.filter(|(at, _)| is_unfound(*at)).map(|(_, word)| word.to_owned()).collect()
    }

    fn weight(&self, terms: u64) -> f32 {
        self.weights.sum_weights(terms & self.scan.required)
    }

    fn rank_session(&self, hits: &[Hit], own: &[usize], terms: u64, groups: bool) -> SessionMatch {
        let terms = terms & self.scan.required;
        let is_partial = terms != self.scan.required;
        let strength = |hit: usize| self.scan.ranks[hits[hit].location.rank as usize].strength;
        let mut messages: Vec<MessageMatch> = Vec::new();
        let groups = match groups {
            true => self.group_messages(hits, own),
            false => own.iter().map(|hit| vec![*hit]).collect(),
        };
        for group in groups {
            let mut all = group.iter().map(|hit| strength(*hit)).fold(
                MatchStrength::default(),
                |mut all, one| {
                    all.add_record(&one);
                    all
                },
            );
            let level = self.level(&all, is_partial);
            let by_score = |hit: &&usize| {
                let one = strength(**hit);
                self.weights.score(&one, self.level(&one, is_partial))
            };
            let best = group.iter().max_by(|a, b| by_score(a).total_cmp(&by_score(b)));
            let Some(&hit) = best else { continue };
            // A match of function words only says nothing.
            if all.terms & self.scan.required == 0 {
                continue;
            }
            let one = strength(hit);
            (all.text_kind, all.text_len, all.count) = (one.text_kind, one.text_len, one.count);
            messages.push(MessageMatch {
                hit,
                strength: all,
                level,
                score: self.weights.score(&all, level),
            });
        }
        messages.sort_by(|a, b| b.score.total_cmp(&a.score));
        self.cover_terms(&mut messages);
        let time = messages.iter().filter_map(|message| hits[message.hit].location.time).max();
        let recency = self.recency(time);
        let size = own.first().map_or(0, |hit| self.sizes[hits[*hit].location.source as usize]);
        let level = messages.iter().map(|message| message.level).min();
        let level = level.unwrap_or(MatchLevel::Partial);
        let share = match level {
            MatchLevel::Phrase | MatchLevel::Message => CLOSE_LENGTH_SHARE,
            _ => LENGTH_SHARE,
        };
        let ratio = (size as f32 / self.usual_size).min(MAX_LENGTH_RATIO);
        let length = 1.0 - share + share * ratio;
        let score = self.session_score(&messages, terms) * (1.0 + recency) / length;
        SessionMatch { messages, level, score, recency }
    }

    fn level(&self, strength: &MatchStrength, is_partial: bool) -> MatchLevel {
        match strength.terms & self.scan.required == self.scan.required {
            _ if is_partial => MatchLevel::Partial,
            true if strength.has_phrase => MatchLevel::Phrase,
            true => MatchLevel::Message,
            false => MatchLevel::Conversation,
        }
    }

    /// Joins the records of one message: the text of a reply, its calls, and their results.
    fn group_messages(&self, hits: &[Hit], own: &[usize]) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut known: BTreeMap<IdHash, usize> = BTreeMap::new();
        // In the order of the file a call comes before its result, which names nothing else.
        let mut own = own.to_vec();
        own.sort_by_key(|hit| (hits[*hit].location.source, hits[*hit].location.span.offset));
        for hit in own {
            let ids = &self.scan.ranks[hits[hit].location.rank as usize].message_ids;
            let group = ids.iter().find_map(|id| known.get(id).copied()).unwrap_or(groups.len());
            match groups.get_mut(group) {
                Some(group) => group.push(hit),
                None => groups.push(vec![hit]),
            }
            known.extend(ids.iter().map(|id| (*id, group)));
        }
        groups
    }

    /// Moves up messages with words that no earlier message has.
    fn cover_terms(&self, messages: &mut Vec<MessageMatch>) {
        let mut seen = 0;
        let (first, rest): (Vec<MessageMatch>, Vec<MessageMatch>) =
            messages.drain(..).partition(|message| {
                let new = message.strength.terms & self.scan.required & !seen;
                seen |= message.strength.terms;
                new != 0
            });
        messages.extend(first.into_iter().chain(rest));
    }

    /// Returns the combined score of a session's messages, which together have some terms.
    fn session_score(&self, messages: &[MessageMatch], terms: u64) -> f32 {
        let mut scores: Vec<f32> = messages.iter().map(|message| message.score).collect();
        scores.sort_by_key(|score| Reverse(score.to_bits()));
        let together: f32 =
            scores.iter().zip(NEXT_SHARES).map(|(score, share)| score * share).sum();
        let has_message = messages.iter().any(|it| it.strength.terms & terms == terms);
        if has_message { together } else { SPREAD_SHARE * self.spread_score(messages) }
    }

    /// Returns the weight of the words if each is taken from the message where it counts most.
    fn spread_score(&self, messages: &[MessageMatch]) -> f32 {
        let only = |strength: &MatchStrength, bit: u64| MatchStrength {
            terms: strength.terms & bit,
            whole_words: strength.whole_words & bit,
            word_starts: strength.word_starts & bit,
            ..*strength
        };
        let best = |bit: u64| {
            let scores = messages.iter().map(|message| {
                self.weights.score(&only(&message.strength, bit), MatchLevel::Conversation)
            });
            scores.fold(0.0, f32::max)
        };
        (0..self.query.term_texts().len().min(64)).map(|term| best(1 << term)).sum()
    }

    fn recency(&self, time: Option<Time>) -> f32 {
        let (Some(newest), Some(time)) = (self.newest, time) else { return 0.0 };
        let days = (newest.as_millis() - time.as_millis()) as f32 / 86_400_000.0;
        RECENCY_SHARE * 0.5_f32.powf(days.max(0.0) / RECENCY_DAYS)
    }

    fn term_ranks(&self, strength: &MatchStrength) -> Vec<TermRank> {
        let form = |bit: u64| match strength {
            it if it.whole_words & bit != 0 => WordForm::WholeWord,
            it if it.word_starts & bit != 0 => WordForm::WordStart,
            it if it.terms & bit != 0 => WordForm::WordPart,
            _ => WordForm::Elsewhere,
        };
        let words = self.query.term_texts().take(64).enumerate();
        let rank = |(at, word): (usize, &str)| TermRank {
            word: word.to_owned(),
            weight: self.weights.term_weight(at, form(1 << at)),
            form: form(1 << at),
        };
        words.map(rank).collect()
    }
}
