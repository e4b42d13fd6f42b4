//! Splits texts into the tokens of a model, as its `tokenizer.json` says.
//!
//! Three kinds are known: WordPiece (the pieces of a word, the longest first), Unigram (the most probable pieces) and
//! BPE with `▁` for spaces (pairs are merged by their rank). Texts are split into words first.

use rustc_hash::FxHashMap;
use serde_json::Value;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::ModelError;
use super::best_pieces::best_pieces;

/// What `▁` stands for at the beginning of a token.
const SPACE: char = '▁';
/// Longer words are data.
const MAX_WORD_CHARS: usize = 100;

/// Splits texts into tokens.
#[derive(Debug)]
pub(super) struct Tokenizer {
    kind: TokenizerKind,
    tokens: FxHashMap<Box<str>, u32>,
    /// Tokens that are no text: they are left out.
    unknown: Option<u32>,
    lowercase: bool,
    strip_accents: bool,
    /// Words begin with `▁`; otherwise signs are words of their own.
    has_spaces: bool,
}

/// For a pair of tokens: the rank of its merge, and the merged token.
type MergeRanks = FxHashMap<(u32, u32), (u32, u32)>;

#[derive(Debug)]
enum TokenizerKind {
    WordPiece {
        prefix: String,
    },
    /// The logarithm of how probable each token is.
    Unigram {
        scores: Vec<f32>,
        longest: usize,
    },
    /// The rank of each pair.
    Merges(MergeRanks),
}

fn wrong(what: impl Into<String>) -> ModelError {
    ModelError::Tokenizer(what.into())
}

impl Tokenizer {
    pub(super) fn from_json(json: &[u8]) -> Result<Self, ModelError> {
        let json: Value = serde_json::from_slice(json).map_err(|error| wrong(error.to_string()))?;
        let model = &json["model"];
        let normalizers = [&json["normalizer"], &json["pre_tokenizer"]].map(Value::to_string);
        let has = |text: &str| normalizers.iter().any(|it| it.contains(text));
        let lowercase = has("\"lowercase\":true") || has("\"type\":\"Lowercase\"");
        let strip_accents = has("\"strip_accents\":true")
            || has("\"type\":\"StripAccents\"")
            || (lowercase && has("BertNormalizer") && !has("\"strip_accents\":false"));
        let has_spaces = has("Metaspace") || has(&SPACE.to_string());
        if has("ByteLevel") {
            return Err(wrong("tokens of bytes (`ByteLevel`) are not supported"));
        }
        let (kind, tokens) = match model["type"].as_str() {
            Some("WordPiece") => {
                let prefix = model["continuing_subword_prefix"].as_str().unwrap_or("##").to_owned();
                (TokenizerKind::WordPiece { prefix }, read_vocabulary(model)?)
            }
            Some("Unigram") => read_unigram(model)?,
            Some("BPE") => {
                let tokens = read_vocabulary(model)?;
                (TokenizerKind::Merges(read_merges(model, &tokens)?), tokens)
            }
            other => {
                let name = other.unwrap_or("(none)");
                return Err(wrong(format!(
                    "the type {name} is not supported; WordPiece, Unigram and BPE are"
                )));
            }
        };
        let unknown = match &kind {
            TokenizerKind::Unigram { .. } => model["unk_id"].as_u64().map(|id| id as u32),
            _ => model["unk_token"].as_str().and_then(|name| tokens.get(name).copied()),
        };
        Ok(Self { kind, tokens, unknown, lowercase, strip_accents, has_spaces })
    }

    /// Adds the tokens of a text, at most `limit`. What the model does not know is left out.
    pub(super) fn add_tokens(&self, text: &str, limit: usize, tokens: &mut Vec<u32>) {
        let text = self.normalize_text(text);
        for word in self.split_words(&text) {
            if tokens.len() >= limit {
                break;
            }
            if word.chars().count() <= MAX_WORD_CHARS {
                self.add_word(&word, tokens);
            }
        }
        tokens.retain(|token| Some(*token) != self.unknown);
        tokens.truncate(limit);
    }

    fn normalize_text(&self, text: &str) -> String {
        let lower = if self.lowercase { text.to_lowercase() } else { text.to_owned() };
        match (self.strip_accents, &self.kind) {
            _ if lower.is_ascii() => lower,
            (true, _) => lower.nfd().filter(|char| !is_combining_mark(*char)).collect(),
            (false, TokenizerKind::Unigram { .. }) => lower.nfkc().collect(),
            (false, _) => lower,
        }
    }

    fn split_words(&self, text: &str) -> Vec<String> {
        if self.has_spaces {
            let words = text.split_whitespace();
            return words.map(|word| format!("{SPACE}{word}")).collect();
        }
        let is_alone = |char: char| {
            let is_sign = !char.is_alphanumeric() && !is_combining_mark(char);
            is_sign || ('\u{3400}'..='\u{9fff}').contains(&char)
        };
        let mut words: Vec<String> = Vec::new();
        let mut is_open = false;
        for char in text.chars() {
            if char.is_whitespace() || char.is_control() {
                is_open = false;
                continue;
            }
            match words.last_mut().filter(|_| is_open && !is_alone(char)) {
                Some(word) => word.push(char),
                None => words.push(char.to_string()),
            }
            is_open = !is_alone(char);
        }
        words
    }

    fn add_word(&self, word: &str, tokens: &mut Vec<u32>) {
        match &self.kind {
            TokenizerKind::WordPiece { prefix } => self.add_pieces(word, prefix, tokens),
            TokenizerKind::Unigram { scores, longest } => {
                let token = |piece: &str| {
                    let token = *self.tokens.get(piece)?;
                    Some((token, scores.get(token as usize).copied()?))
                };
                tokens.extend(best_pieces(word, *longest, token));
            }
            TokenizerKind::Merges(merges) => self.add_merged(word, merges, tokens),
        }
    }

    /// Adds the pieces of a word, the longest first. A word that cannot be split is unknown.
    fn add_pieces(&self, word: &str, prefix: &str, tokens: &mut Vec<u32>) {
        let before = tokens.len();
        let mut at = 0;
        while at < word.len() {
            let lead = if at == 0 { "" } else { prefix };
            let ends = word[at..].char_indices().map(|(start, char)| at + start + char.len_utf8());
            let piece = ends.rev().find_map(|end| {
                let token = self.tokens.get(&*format!("{lead}{}", &word[at..end]))?;
                Some((*token, end))
            });
            let Some((token, end)) = piece else { return tokens.truncate(before) };
            tokens.push(token);
            at = end;
        }
    }

    /// Merges the characters of a word, the pair of the lowest rank first.
    fn add_merged(&self, word: &str, merges: &MergeRanks, tokens: &mut Vec<u32>) {
        if let Some(token) = self.tokens.get(word) {
            return tokens.push(*token);
        }
        let unknown = self.unknown.unwrap_or(u32::MAX);
        let single = |char: char| {
            self.tokens.get(&*char.encode_utf8(&mut [0; 4])).copied().unwrap_or(unknown)
        };
        let mut pieces: Vec<u32> = word.chars().map(single).collect();
        loop {
            let ranks = pieces.windows(2).enumerate().filter_map(|(at, pair)| {
                let (rank, merged) = merges.get(&(pair[0], pair[1]))?;
                Some((*rank, at, *merged))
            });
            let Some((_, at, merged)) = ranks.min() else { break };
            pieces[at] = merged;
            pieces.remove(at + 1);
        }
        tokens.extend(pieces.into_iter().filter(|token| *token != u32::MAX));
    }
}

fn read_vocabulary(model: &Value) -> Result<FxHashMap<Box<str>, u32>, ModelError> {
    let vocabulary = model["vocab"].as_object().ok_or_else(|| wrong("it has no vocabulary"))?;
    let entry = |(token, id): (&String, &Value)| {
        Some((token.as_str().into(), u32::try_from(id.as_u64()?).ok()?))
    };
    let tokens: Option<_> = vocabulary.iter().map(entry).collect();
    tokens.ok_or_else(|| wrong("a token has no number"))
}

fn read_unigram(model: &Value) -> Result<(TokenizerKind, FxHashMap<Box<str>, u32>), ModelError> {
    let vocabulary = model["vocab"].as_array().ok_or_else(|| wrong("it has no vocabulary"))?;
    let mut tokens = FxHashMap::default();
    let mut scores = Vec::with_capacity(vocabulary.len());
    let mut longest = 1;
    for (id, entry) in vocabulary.iter().enumerate() {
        let token = entry[0].as_str().ok_or_else(|| wrong("a token is no text"))?;
        longest = longest.max(token.chars().count());
        tokens.insert(token.into(), id as u32);
        scores.push(entry[1].as_f64().unwrap_or(f64::MIN_POSITIVE) as f32);
    }
    Ok((TokenizerKind::Unigram { scores, longest: longest.min(MAX_WORD_CHARS) }, tokens))
}

fn read_merges(model: &Value, tokens: &FxHashMap<Box<str>, u32>) -> Result<MergeRanks, ModelError> {
    let merges = model["merges"].as_array().ok_or_else(|| wrong("it has no merges"))?;
    let mut ranks = FxHashMap::default();
    for (rank, merge) in merges.iter().enumerate() {
        let (left, right) = match merge {
            Value::String(pair) => pair.split_once(' ').unwrap_or_default(),
            pair => (pair[0].as_str().unwrap_or_default(), pair[1].as_str().unwrap_or_default()),
        };
        let merged = format!("{left}{right}");
        // A pair of tokens that the vocabulary lacks can never occur.
        if let (Some(left), Some(right), Some(merged)) =
            (tokens.get(left), tokens.get(right), tokens.get(&*merged))
        {
            ranks.entry((*left, *right)).or_insert((rank as u32, *merged));
        }
    }
    Ok(ranks)
}
