//! Aligns the exchanges of two conversations.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use super::side::OwnTurn;
use crate::turn::{PromptTurn, TurnKind};

/// A prompt and everything up to the next prompt; the first one may have no prompt.
#[derive(Clone, Copy, Debug)]
pub struct ComparedExchange<'a> {
    pub prompt: Option<&'a PromptTurn>,
    /// All turns of it, the prompt too.
    pub turns: &'a [OwnTurn],
}

impl<'a> ComparedExchange<'a> {
    /// Returns what follows the prompt.
    pub fn replies(&self) -> &'a [OwnTurn] {
        &self.turns[usize::from(self.prompt.is_some())..]
    }
}

/// Two aligned exchanges; at least one of them is present.
pub type ExchangePair<'a> = (Option<ComparedExchange<'a>>, Option<ComparedExchange<'a>>);

/// The similarity from which on two texts are shown by their differences.
const MIN_SIMILARITY: f32 = 0.55;
/// The number of words of a text that are compared.
const MAX_WORDS: usize = 2_000;
/// The number of pairs up to which exchanges are matched by their prompts.
const MAX_PAIRS: usize = 1_000_000;

/// Aligns the exchanges of two conversations.
///
/// Exchanges with similar prompts are aligned, in order; the exchanges between them are paired
/// one by one, as the branches of a fork point are.
pub fn pair_exchanges<'a>(a: &'a [OwnTurn], b: &'a [OwnTurn]) -> Vec<ExchangePair<'a>> {
    let (a, b) = (split_exchanges(a), split_exchanges(b));
    let mut pairs = Vec::new();
    let (mut at, mut bt) = (0, 0);
    for (next_a, next_b) in matching_pairs(&a, &b).into_iter().chain([(a.len(), b.len())]) {
        while at < next_a || bt < next_b {
            let left = (at < next_a).then(|| a[at]);
            let right = (bt < next_b).then(|| b[bt]);
            at += usize::from(left.is_some());
            bt += usize::from(right.is_some());
            pairs.push((left, right));
        }
        if let (Some(left), Some(right)) = (a.get(next_a), b.get(next_b)) {
            pairs.push((Some(*left), Some(*right)));
            (at, bt) = (next_a + 1, next_b + 1);
        }
    }
    pairs
}

/// Whether two texts share most of their words.
pub fn are_alike(a: &str, b: &str) -> bool {
    similarity(&word_hashes(a), &word_hashes(b)) >= MIN_SIMILARITY
}

fn split_exchanges(turns: &[OwnTurn]) -> Vec<ComparedExchange<'_>> {
    let asks = |own: &OwnTurn| matches!(&own.turn.kind, TurnKind::Prompt(prompt) if !prompt.queued);
    turns.chunk_by(|_, next| !asks(next)).map(exchange_from_turns).collect()
}

fn exchange_from_turns(turns: &[OwnTurn]) -> ComparedExchange<'_> {
    let prompt = match &turns[0].turn.kind {
        TurnKind::Prompt(prompt) => Some(prompt),
        _ => None,
    };
    ComparedExchange { prompt, turns }
}

/// Finds the pairs with similar prompts: the sequence with the highest total similarity.
fn matching_pairs(a: &[ComparedExchange<'_>], b: &[ComparedExchange<'_>]) -> Vec<(usize, usize)> {
    if a.is_empty() || b.is_empty() || a.len() * b.len() > MAX_PAIRS {
        return Vec::new();
    }
    let asked = |exchange: &ComparedExchange<'_>| {
        word_hashes(exchange.prompt.map_or("", |prompt| &prompt.text))
    };
    let (a, b): (Vec<_>, Vec<_>) = (a.iter().map(asked).collect(), b.iter().map(asked).collect());
    // best[i][j]: the most likeness from these two on.
    let mut best = vec![vec![0.0f32; b.len() + 1]; a.len() + 1];
    let like = |i: usize, j: usize| similarity(&a[i], &b[j]);
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            let like = like(i, j);
            let both = if like >= MIN_SIMILARITY { best[i + 1][j + 1] + like } else { 0.0 };
            best[i][j] = both.max(best[i + 1][j]).max(best[i][j + 1]);
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut found = Vec::new();
    while i < a.len() && j < b.len() {
        if best[i][j] <= best[i + 1][j] {
            i += 1;
        } else if best[i][j] <= best[i][j + 1] {
            j += 1;
        } else {
            found.push((i, j));
            (i, j) = (i + 1, j + 1);
        }
    }
    found
}

/// Returns the hashes of the words of a text, sorted.
fn word_hashes(text: &str) -> Vec<u64> {
    let hash = |word: &str| {
        let mut hasher = FxHasher::default();
        word.to_lowercase().hash(&mut hasher);
        hasher.finish()
    };
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut words: Vec<u64> = words.take(MAX_WORDS).map(hash).collect();
    words.sort_unstable();
    words
}

/// Returns the share of words that two texts have in common, from 0 to 1.
fn similarity(a: &[u64], b: &[u64]) -> f32 {
    if a.is_empty() || b.is_empty() {
        return 0.0;
    }
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => (i, j, shared) = (i + 1, j + 1, shared + 1),
        }
    }
    2.0 * shared as f32 / (a.len() + b.len()) as f32
}
