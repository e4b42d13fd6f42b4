//! Words that differ from a word by a letter or two, for words that were misspelt.

use std::ops::Range;

use memchr::{memchr, memrchr};
use regex::bytes::{Regex, RegexBuilder};

use super::{FindingDetail, Query};

/// Finds words in raw lines that are similar to others.
#[derive(Clone, Debug)]
pub struct SimilarWords {
    words: Vec<Vec<char>>,
    /// Finds the parts of words of which a similar word must have one unchanged.
    parts: Regex,
}

/// From how many letters on a word may have one wrong letter, and two.
const ONE_ERROR_CHARS: usize = 4;
const TWO_ERRORS_CHARS: usize = 8;
/// Anything longer is data, such as a hash, and not a word.
const MAX_WORD_BYTES: usize = 60;

impl SimilarWords {
    /// `None`: the words are too short to have similar ones.
    pub fn new<'w>(words: impl IntoIterator<Item = &'w str>) -> Option<Self> {
        let lower = |word: &str| word.to_lowercase().chars().collect::<Vec<char>>();
        let words: Vec<Vec<char>> = words.into_iter().map(lower).collect();
        let parts: Vec<String> = words.iter().flat_map(|word| unchanged_parts(word)).collect();
        if parts.is_empty() {
            return None;
        }
        let parts = RegexBuilder::new(&parts.join("|")).case_insensitive(true).build().ok()?;
        Some(Self { words, parts })
    }

    /// Passes the similar words in some lines to `each`: which word they are similar to, the word in lower
    /// case, and how many letters differ. Only words that a reader can see are passed.
    pub fn find_in_lines(&self, lines: &[u8], mut each: impl FnMut(usize, &str, usize)) {
        let mut end = 0;
        for part in self.parts.find_iter(lines) {
            if part.start() < end {
                continue;
            }
            let range = token_range(lines, part.range());
            end = range.end;
            let Ok(token) = std::str::from_utf8(&lines[range.clone()]) else { continue };
            if token.len() > MAX_WORD_BYTES {
                continue;
            }
            let token = token.to_lowercase();
            let letters: Vec<char> = token.chars().collect();
            for (index, word) in self.words.iter().enumerate() {
                let distance = edit_distance(word, &letters);
                if (1..=max_errors(word.len())).contains(&distance)
                    && is_seen(lines, &range, &token)
                {
                    each(index, &token, distance);
                }
            }
        }
    }
}

fn max_errors(chars: usize) -> usize {
    match chars {
        TWO_ERRORS_CHARS.. => 2,
        ONE_ERROR_CHARS.. => 1,
        _ => 0,
    }
}

/// Returns patterns of which every similar word has one: as there are more parts than errors, one part is
/// unchanged. Two letters that changed places can be in two parts, so parts are also taken without their first
/// letter.
fn unchanged_parts(word: &[char]) -> Vec<String> {
    let count = max_errors(word.len()) + 1;
    if count == 1 {
        return Vec::new();
    }
    let text = |range: Range<usize>| regex::escape(&word[range].iter().collect::<String>());
    let bounds: Vec<usize> = (0..=count).map(|part| part * word.len() / count).collect();
    let parts = bounds.windows(2).flat_map(|bounds| {
        let whole = text(bounds[0]..bounds[1]);
        let rest =
            (bounds[0] > 0 && bounds[1] - bounds[0] > 2).then(|| text(bounds[0] + 1..bounds[1]));
        [Some(whole), rest].into_iter().flatten()
    });
    parts.collect()
}

/// Returns the word around a part. A letter after a backslash belongs to an escape.
fn token_range(lines: &[u8], part: Range<usize>) -> Range<usize> {
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || !byte.is_ascii();
    let before = lines[..part.start].iter().rev().take(MAX_WORD_BYTES + 1);
    let mut start = part.start - before.take_while(|byte| is_letter(byte)).count();
    if start > 0 && start < part.start && lines[start - 1] == b'\\' {
        start += 1;
    }
    let after = lines[part.end..].iter().take(MAX_WORD_BYTES + 1);
    start..part.end + after.take_while(|byte| is_letter(byte)).count()
}

/// Whether a word is in a text that a reader can see, not in a key or an id.
fn is_seen(lines: &[u8], range: &Range<usize>, word: &str) -> bool {
    let start = memrchr(b'\n', &lines[..range.start]).map_or(0, |newline| newline + 1);
    let end = memchr(b'\n', &lines[range.end..]).map_or(lines.len(), |newline| range.end + newline);
    let mut is_seen = false;
    if let Ok(query) = Query::from_words(word) {
        query.find_in_line(&lines[start..end], FindingDetail::Whether, |_| is_seen = true);
    }
    is_seen
}

/// Returns how many letters have to be added, removed, replaced or swapped with the next; a large number if
/// it is surely more than two.
fn edit_distance(a: &[char], b: &[char]) -> usize {
    if a.len().abs_diff(b.len()) > 2 {
        return usize::MAX;
    }
    let mut rows = [vec![0; b.len() + 1], (0..=b.len()).collect::<Vec<_>>(), vec![0; b.len() + 1]];
    for (i, from) in a.iter().enumerate() {
        rows[2][0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = rows[1][j] + usize::from(from != to);
            let mut best = replaced.min(rows[1][j + 1] + 1).min(rows[2][j] + 1);
            if i > 0 && j > 0 && a[i - 1] == *to && b[j - 1] == *from {
                best = best.min(rows[0][j - 1] + 1);
            }
            rows[2][j + 1] = best;
        }
        rows.rotate_left(1);
    }
    rows[1][b.len()]
}

#[cfg(test)]
mod tests {
    use super::{SimilarWords, edit_distance};

    #[track_caller]
    fn check(word: &str, text: &str, expected: &str) {
        let line = serde_json::json!({"type": "user", "sessionId": "kettle",
            "message": {"role": "user", "content": text}});
        let mut found = Vec::new();
        if let Some(similar) = SimilarWords::new([word]) {
            let line = line.to_string();
            similar.find_in_lines(line.as_bytes(), |_, word, distance| {
                found.push(format!("{word} {distance}"));
            });
        }
        assert_eq!(found.join(", "), expected, "{word}");
    }

    #[test]
    fn words_with_a_wrong_letter_are_found() {
        check("teapt", "a\nTeapot, a teacup", "teapot 1");
        check("taepot", "the teapot", "teapot 1");
        check("teaopt", "the teapot", "teapot 1");
        check("recconects", "it reconnects", "reconnects 2");
        check("kuberentes", "on kubernetes", "kubernetes 1");
        check("größenanderung", "Größenänderung", "größenänderung 1");
        check("teapot", "the teapot", "");
        check("tea", "the ten", "");
    }

    #[test]
    fn keys_and_ids_are_not_offered() {
        check("sesionid", "nothing", "");
        check("ketle", "nothing", "");
    }

    #[test]
    fn distances_count_swapped_letters_once() {
        let distance = |a: &str, b: &str| {
            edit_distance(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>())
        };
        assert_eq!((distance("ab", "ba"), distance("abc", "axc"), distance("a", "abc")), (1, 1, 2));
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
