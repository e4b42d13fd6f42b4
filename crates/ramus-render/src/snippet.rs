//! The text around a search match, on one line of limited length.

use std::borrow::Cow;
use std::ops::Range;

use ramus_core::query::Passage;
use unicode_width::UnicodeWidthChar;

use crate::sanitize::{is_bidi, sanitize_text};
use crate::span::{Label, Line};

/// A match with the text around it. Runs of white space become one space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snippet {
    pub before: String,
    pub matched: String,
    pub after: String,
}

/// How many characters may be dropped at an edge to end with a whole word.
const MAX_CUT_CHARS: usize = 20;

impl Snippet {
    /// Cuts out at most `room` characters around the words of a match.
    pub fn new(text: &str, range: &Range<usize>, room: usize) -> Self {
        let range = expand_to_words(text, range);
        let matched: String =
            fold_whitespace(without_colors(&text[range.clone()]).chars()).take(room).collect();
        let left = room.saturating_sub(matched.chars().count());
        // Folding never adds characters.
        let near = (left + 1) * Passage::BYTES_PER_CHARACTER;
        let start = text.floor_char_boundary(range.start.saturating_sub(near));
        let end = text.ceil_char_boundary((range.end + near).min(text.len()));
        let around = [&text[start..range.start], &text[range.end..end]].map(without_colors);
        let mut before: Vec<char> =
            fold_whitespace(around[0].chars().rev()).take(left + 1).collect();
        before.reverse();
        let mut after: Vec<char> = fold_whitespace(around[1].chars()).take(left + 1).collect();
        // Drop white space at the ends of the text, but keep it where more text follows.
        if before.len() <= left && before.first() == Some(&' ') {
            before.remove(0);
        }
        if after.len() <= left && after.last() == Some(&' ') {
            after.pop();
        }
        let wanted = (left * 2 / 5).max(left.saturating_sub(after.len()));
        let sentence = || sentence_beginning(&around[0], wanted);
        let before = match before.len() > wanted {
            true => sentence().unwrap_or_else(|| last_chars(&before, wanted)),
            false => before.into_iter().collect(),
        };
        let room = left.saturating_sub(before.chars().count());
        Self { before, matched, after: first_chars(&after, room) }
    }

    pub fn to_text(&self) -> String {
        [&*self.before, &self.matched, &self.after].concat()
    }

    /// Returns the character range of the match.
    pub fn match_range(&self) -> [usize; 2] {
        let start = self.before.chars().count();
        [start, start + self.matched.chars().count()]
    }

    /// Returns it as a line with all matches marked. `marks` finds the other matches.
    pub fn to_line(&self, around: Label, marks: impl Fn(&str) -> Vec<Range<usize>>) -> Line {
        let mut line = Line::default();
        push_marked(&mut line, &self.before, around, &marks(&self.before));
        line.push(&self.matched, Label::Match);
        push_marked(&mut line, &self.after, around, &marks(&self.after));
        line
    }
}

/// Extends a range to whole words.
fn expand_to_words(text: &str, range: &Range<usize>) -> Range<usize> {
    // Scripts without spaces have no visible words. Their characters are wide.
    let is_letter =
        |char: &char| (char.is_alphanumeric() || *char == '_') && char.width() == Some(1);
    let matched = &text[range.clone()];
    let starts_inside = matched.chars().next().as_ref().is_some_and(is_letter);
    let ends_inside = matched.chars().next_back().as_ref().is_some_and(is_letter);
    let before = word_bytes(text[..range.start].chars().rev().take_while(is_letter));
    let after = word_bytes(text[range.end..].chars().take_while(is_letter));
    let start = range.start - if starts_inside { before } else { 0 };
    let end = range.end + if ends_inside { after } else { 0 };
    start..end
}

/// Returns the length of the letters in bytes, or zero if they are too many for a word and so are data.
fn word_bytes(letters: impl Iterator<Item = char>) -> usize {
    let (count, bytes) = letters
        .take(Passage::LONGEST_WORD + 1)
        .fold((0, 0), |(count, bytes), letter| (count + 1, bytes + letter.len_utf8()));
    if count > Passage::LONGEST_WORD { 0 } else { bytes }
}

/// Returns a text without colour codes.
fn without_colors(text: &str) -> Cow<'_, str> {
    if text.contains('\x1b') { sanitize_text(text) } else { Cow::Borrowed(text) }
}

fn push_marked(line: &mut Line, text: &str, around: Label, marks: &[Range<usize>]) {
    let mut done = 0;
    for mark in marks {
        let mark = expand_to_words(text, mark);
        if mark.start < done {
            continue;
        }
        line.push(&text[done..mark.start], around);
        line.push(&text[mark.clone()], Label::Match);
        done = mark.end;
    }
    line.push(&text[done..], around);
}

/// Folds white space into single spaces.
fn fold_whitespace(chars: impl Iterator<Item = char>) -> impl Iterator<Item = char> {
    let mut was_space = false;
    // Bidirectional controls are never shown, and the match must stay at its reported position.
    chars.filter(|char| !is_bidi(*char)).filter_map(move |char| {
        let is_space = char.is_whitespace();
        let kept = !(is_space && was_space);
        was_space = is_space;
        kept.then_some(if is_space { ' ' } else { char })
    })
}

/// Returns the sentence or line that a text ends with, if it is at most `room` characters long.
fn sentence_beginning(text: &str, room: usize) -> Option<String> {
    let mut start = None;
    // Whether a sentence has ended, and whether white space or a new line has followed.
    let (mut has_ended, mut has_space, mut has_line) = (false, false, false);
    for (at, char) in text.char_indices().chain([(text.len(), 'x')]) {
        has_space |= char.is_whitespace();
        has_line |= char == '\n';
        if !char.is_whitespace() {
            if has_line || (has_ended && has_space) {
                start = Some(at);
            }
            has_ended = matches!(char, '.' | '!' | '?' | '。' | '！' | '？');
            (has_space, has_line) = (matches!(char, '。' | '！' | '？'), false);
        }
    }
    let sentence: String = fold_whitespace(text[start?..].chars()).collect();
    (sentence.chars().count() <= room).then_some(sentence)
}

/// Keeps the last `room` characters, from the beginning of a word on.
fn last_chars(chars: &[char], room: usize) -> String {
    if chars.len() <= room {
        return chars.iter().collect();
    }
    let kept = &chars[chars.len() - room.saturating_sub(1)..];
    let cut = cut_word_len(kept.iter());
    if room == 0 { String::new() } else { std::iter::once(&'…').chain(&kept[cut..]).collect() }
}

/// Keeps the first `room` characters, up to the end of a word.
fn first_chars(chars: &[char], room: usize) -> String {
    if chars.len() <= room {
        return chars.iter().collect();
    }
    let kept = &chars[..room.saturating_sub(1)];
    let kept = &kept[..kept.len() - cut_word_len(kept.iter().rev())];
    if room == 0 { String::new() } else { kept.iter().chain(std::iter::once(&'…')).collect() }
}

/// Returns how many characters at the edge belong to a word that was cut there. Zero if that is too much
/// to drop, or if the word reaches the match.
fn cut_word_len<'c>(mut from_edge: impl Iterator<Item = &'c char>) -> usize {
    let space = from_edge.position(|char| *char == ' ');
    space.filter(|space| *space <= MAX_CUT_CHARS).map_or(0, |space| space + 1)
}

#[cfg(test)]
mod tests {
    use super::{Label, Snippet};

    #[track_caller]
    fn check(text: &str, room: usize, expected: &str) {
        let start = text.find("harp").unwrap();
        let snippet = Snippet::new(text, &(start..start + 4), room);
        let shown = format!("{}[{}]{}", snippet.before, snippet.matched, snippet.after);
        assert_eq!(shown, expected);
        assert!(snippet.to_text().chars().count() <= room, "{shown}");
        let [from, to] = snippet.match_range();
        let matched: String = snippet.to_text().chars().skip(from).take(to - from).collect();
        assert_eq!(matched, snippet.matched);
    }

    #[test]
    fn a_match_is_shown_with_its_context() {
        check("a violet harp, old", 40, "a violet [harp], old");
        check("a\n\n  violet harp,\told ", 40, "a violet [harp], old");
        check("one two three four harp five six seven eight", 24, "…four [harp] five six…");
        check("harp five six seven eight nine ten", 20, "[harp] five six…");
        check("one two three four five harp", 20, "…four five [harp]");
        check("é漢字 harp 漢字", 12, "é漢字 [harp] 漢字");
        check("harp", 2, "[ha]");
    }

    #[test]
    fn a_whole_word_is_marked() {
        check("two sharpened ones", 40, "two [sharpened] ones");
        check("(harpsi_chord)", 40, "([harpsi_chord])");
        check("漢字harp漢字", 40, "漢字[harp]漢字");
        let data = format!("{}harp", "x".repeat(60));
        check(&data, 20, "…xxxxxxxxxxxxxxx[harp]");
        let snippet = Snippet::new("harp and sharp", &(0..4), 40);
        let line = snippet.to_line(Label::Plain, |text| {
            text.match_indices("harp").map(|(at, _)| at..at + 4).collect()
        });
        let marked: Vec<&str> = line
            .0
            .iter()
            .filter(|span| span.label == Label::Match)
            .map(crate::Span::text)
            .collect();
        assert_eq!(marked, ["harp", "sharp"]);
    }

    #[test]
    fn a_snippet_begins_with_a_sentence_or_a_line() {
        let long = "one two three four five six seven. ";
        check(&format!("{long}The harp is here"), 30, "The [harp] is here");
        check(&format!("{long}\nA harp, another line"), 24, "A [harp], another line");
        check(&format!("{long}harp"), 20, "[harp]");
        check("一二三四五六七八。九十harp", 12, "九十[harp]");
        check("v1.2 and one two three four harp", 20, "…three four [harp]");
    }

    #[test]
    fn words_are_not_cut() {
        check("unquestionably harp unquestionably so", 26, "…[harp] unquestionably so");
        check("a misunderstanding of a harp", 22, "…of a [harp]");
    }

    #[test]
    fn the_match_position_is_right_after_removals() {
        check("a\u{202e}b harp", 40, "ab [harp]");
    }

    #[test]
    fn colour_codes_go() {
        check("\x1b[31merror\x1b[0m: harp \x1b[2mhere\x1b[0m", 40, "error: [harp] here");
    }
}
