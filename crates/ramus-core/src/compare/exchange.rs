//! Aligns the exchanges of two conversations.
//!
//! A conversation may have more turns than fit in memory, so they are read one after the other: once to
//! pair the exchanges by their prompts, and once more to show them.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use super::side::OwnTurn;
use crate::turn::{PromptTurn, Turn, TurnKind};

/// A prompt and everything up to the next prompt; the first one may have no prompt.
#[derive(Clone, Debug, Default)]
pub struct ComparedExchange {
    /// All turns of it, the prompt too.
    pub turns: Vec<OwnTurn>,
}

impl ComparedExchange {
    /// Returns the prompt it begins with.
    pub fn prompt(&self) -> Option<&PromptTurn> {
        self.turns.first().and_then(|own| prompt_of(&own.turn))
    }

    /// Returns what follows the prompt.
    pub fn replies(&self) -> &[OwnTurn] {
        &self.turns[usize::from(self.prompt().is_some())..]
    }
}

/// Two aligned exchanges; at least one of them is present.
pub type ExchangePair = (Option<ComparedExchange>, Option<ComparedExchange>);

/// The similarity from which on two texts are shown by their differences.
const MIN_SIMILARITY: f32 = 0.55;
/// The number of words of a text that are compared.
const MAX_WORDS: usize = 2_000;
/// The number of pairs up to which exchanges are matched by their prompts.
const MAX_PAIRS: usize = 1_000_000;

/// The order in which the exchanges of two conversations are shown: which of the two sides have one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExchangeOrder(Vec<[bool; 2]>);

/// Aligns the exchanges of two conversations, which have so many of them.
///
/// Exchanges with similar prompts are aligned, in order; the exchanges between them are paired
/// one by one, as the branches of a fork point are. `read_turns` passes on the turns of a side.
pub fn order_exchanges<E>(
    counts: [usize; 2],
    read_turns: &mut TurnReader<'_, E>,
) -> Result<ExchangeOrder, E> {
    let mut pairs = Vec::new();
    let mut at = [0; 2];
    for next in matching_pairs(counts, read_turns)?.into_iter().chain([counts]) {
        while at != next {
            let pair = [at[0] < next[0], at[1] < next[1]];
            at = [at[0] + usize::from(pair[0]), at[1] + usize::from(pair[1])];
            pairs.push(pair);
        }
        if next != counts {
            at = next.map(|at| at + 1);
            pairs.push([true; 2]);
        }
    }
    Ok(ExchangeOrder(pairs))
}

/// Passes on the turns of one of two sides, one after the other.
pub type TurnReader<'r, E> = dyn FnMut(usize, &mut dyn FnMut(&OwnTurn)) -> Result<(), E> + 'r;

/// Returns the exchanges of two conversations in this order. At most two are in memory at a time.
pub fn paired_exchanges<'t>(
    order: &'t ExchangeOrder,
    [a, b]: [&'t mut dyn Iterator<Item = OwnTurn>; 2],
) -> impl Iterator<Item = ExchangePair> + 't {
    let (mut a, mut b) = (split_exchanges(a), split_exchanges(b));
    order.0.iter().map(move |[has_a, has_b]| {
        (has_a.then(|| a.next()).flatten(), has_b.then(|| b.next()).flatten())
    })
}

/// Whether two texts share most of their words.
pub fn are_alike(a: &str, b: &str) -> bool {
    similarity(&word_hashes(a), &word_hashes(b)) >= MIN_SIMILARITY
}

/// Whether an exchange begins with this turn.
pub(super) fn begins_exchange(turn: &Turn) -> bool {
    prompt_of(turn).is_some_and(|prompt| !prompt.queued)
}

fn prompt_of(turn: &Turn) -> Option<&PromptTurn> {
    match &turn.kind {
        TurnKind::Prompt(prompt) => Some(prompt),
        _ => None,
    }
}

fn split_exchanges(
    turns: &mut dyn Iterator<Item = OwnTurn>,
) -> impl Iterator<Item = ComparedExchange> {
    let mut turns = turns.peekable();
    std::iter::from_fn(move || {
        let mut exchange = ComparedExchange { turns: vec![turns.next()?] };
        while let Some(own) = turns.next_if(|own| !begins_exchange(&own.turn)) {
            exchange.turns.push(own);
        }
        Some(exchange)
    })
}

/// Finds the pairs with similar prompts: the sequence with the highest total similarity.
fn matching_pairs<E>(
    counts: [usize; 2],
    read_turns: &mut TurnReader<'_, E>,
) -> Result<Vec<[usize; 2]>, E> {
    let [a, b] = counts;
    if a == 0 || b == 0 || a.saturating_mul(b) > MAX_PAIRS {
        return Ok(Vec::new());
    }
    let similarities = PromptSimilarities::new(counts, read_turns)?;
    // best[i * width + j]: the highest total similarity from these two on.
    let width = b + 1;
    let mut best = vec![0.0f32; (a + 1) * width];
    for i in (0..a).rev() {
        for j in (0..b).rev() {
            let like = similarities.between(i, j);
            let both =
                if like >= MIN_SIMILARITY { best[(i + 1) * width + j + 1] + like } else { 0.0 };
            best[i * width + j] = both.max(best[(i + 1) * width + j]).max(best[i * width + j + 1]);
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut found = Vec::new();
    while i < a && j < b {
        if best[i * width + j] <= best[(i + 1) * width + j] {
            i += 1;
        } else if best[i * width + j] <= best[i * width + j + 1] {
            j += 1;
        } else {
            found.push([i, j]);
            (i, j) = (i + 1, j + 1);
        }
    }
    Ok(found)
}

/// How similar each prompt of one side is to each of the other.
struct PromptSimilarities {
    /// The side with fewer exchanges. Only its words are kept in memory, those of the other side are streamed.
    short: usize,
    /// The number of its exchanges.
    width: usize,
    /// For each exchange of the other side a row.
    rows: Vec<f32>,
}

impl PromptSimilarities {
    fn new<E>(counts: [usize; 2], read_turns: &mut TurnReader<'_, E>) -> Result<Self, E> {
        let short = usize::from(counts[1] < counts[0]);
        let mut words: Vec<Vec<u64>> = Vec::with_capacity(counts[short]);
        each_prompt(short, read_turns, &mut |prompt| words.push(word_hashes(prompt)))?;
        // A file can change while it is read.
        words.resize(counts[short], Vec::new());
        let mut rows = Vec::with_capacity(counts[0] * counts[1]);
        each_prompt(1 - short, read_turns, &mut |prompt| {
            let prompt = word_hashes(prompt);
            rows.extend(words.iter().map(|other| similarity(&prompt, other)));
        })?;
        rows.resize(counts[0] * counts[1], 0.0);
        Ok(Self { short, width: counts[short], rows })
    }

    fn between(&self, a: usize, b: usize) -> f32 {
        let (row, column) = if self.short == 0 { (b, a) } else { (a, b) };
        self.rows[row * self.width + column]
    }
}

/// Reads the prompts of all exchanges of a side; an exchange without a prompt has an empty one.
fn each_prompt<E>(
    side: usize,
    read_turns: &mut TurnReader<'_, E>,
    each: &mut dyn FnMut(&str),
) -> Result<(), E> {
    let mut is_first = true;
    read_turns(side, &mut |own| {
        if std::mem::take(&mut is_first) || begins_exchange(&own.turn) {
            each(prompt_of(&own.turn).map_or("", |prompt| &prompt.text));
        }
    })
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
