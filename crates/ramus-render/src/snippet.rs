//! The text around a match, on one line and no longer than there is room.

use std::ops::Range;

use crate::span::{Label, Line};

/// A match with what stands around it; white space is folded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snippet {
    pub before: String,
    pub matched: String,
    pub after: String,
}

/// How many characters are given up to begin or end with a whole word.
const WORD: usize = 12;

impl Snippet {
    /// Cuts at most `room` characters around a match.
    pub fn new(text: &str, range: &Range<usize>, room: usize) -> Self {
        let matched: String = fold(text[range.clone()].chars()).take(room).collect();
        let left = room.saturating_sub(matched.chars().count());
        // Folding may join several characters, never make more of them.
        let mut before: Vec<char> =
            fold(text[..range.start].chars().rev()).take(left + 1).collect();
        before.reverse();
        let mut after: Vec<char> = fold(text[range.end..].chars()).take(left + 1).collect();
        // White space at the ends of the text goes; where more follows, it shows that it does.
        if before.len() <= left && before.first() == Some(&' ') {
            before.remove(0);
        }
        if after.len() <= left && after.last() == Some(&' ') {
            after.pop();
        }
        let wanted = (left * 2 / 5).max(left.saturating_sub(after.len()));
        let before = last(&before, wanted);
        let room = left.saturating_sub(before.chars().count());
        Self { before, matched, after: first(&after, room) }
    }

    pub fn text(&self) -> String {
        [&*self.before, &self.matched, &self.after].concat()
    }

    /// Returns from and to which character it matches.
    pub fn range(&self) -> [usize; 2] {
        let start = self.before.chars().count();
        [start, start + self.matched.chars().count()]
    }

    /// Returns it with all matches marked; `marks` finds those beside the first.
    pub fn line(&self, around: Label, marks: impl Fn(&str) -> Vec<Range<usize>>) -> Line {
        let mut line = Line::default();
        push_marked(&mut line, &self.before, around, &marks(&self.before));
        line.push(&self.matched, Label::Match);
        push_marked(&mut line, &self.after, around, &marks(&self.after));
        line
    }
}

fn push_marked(line: &mut Line, text: &str, around: Label, marks: &[Range<usize>]) {
    let mut done = 0;
    for mark in marks {
        line.push(&text[done..mark.start], around);
        line.push(&text[mark.clone()], Label::Match);
        done = mark.end;
    }
    line.push(&text[done..], around);
}

/// Folds white space into single spaces.
fn fold(chars: impl Iterator<Item = char>) -> impl Iterator<Item = char> {
    let mut was_space = false;
    chars.filter_map(move |char| {
        let is_space = char.is_whitespace();
        let kept = !(is_space && was_space);
        was_space = is_space;
        kept.then_some(if is_space { ' ' } else { char })
    })
}

/// Keeps the last `room` characters, if possible from the beginning of a word on.
fn last(chars: &[char], room: usize) -> String {
    if chars.len() <= room {
        return chars.iter().collect();
    }
    let kept = &chars[chars.len() - room.saturating_sub(1)..];
    let word = kept.iter().take(WORD).position(|char| *char == ' ').map_or(0, |space| space + 1);
    let kept = if word < kept.len() { &kept[word..] } else { kept };
    if room == 0 { String::new() } else { std::iter::once(&'…').chain(kept).collect() }
}

/// Keeps the first `room` characters, if possible up to the end of a word.
fn first(chars: &[char], room: usize) -> String {
    if chars.len() <= room {
        return chars.iter().collect();
    }
    let kept = &chars[..room.saturating_sub(1)];
    let word = kept.iter().rev().take(WORD).position(|char| *char == ' ').map_or(0, |at| at + 1);
    let kept = if word < kept.len() { &kept[..kept.len() - word] } else { kept };
    if room == 0 { String::new() } else { kept.iter().chain(std::iter::once(&'…')).collect() }
}

#[cfg(test)]
mod tests {
    use super::Snippet;

    #[track_caller]
    fn check(text: &str, room: usize, expected: &str) {
        let start = text.find("harp").unwrap();
        let snippet = Snippet::new(text, &(start..start + 4), room);
        let shown = format!("{}[{}]{}", snippet.before, snippet.matched, snippet.after);
        assert_eq!(shown, expected);
        assert!(snippet.text().chars().count() <= room, "{shown}");
        let [from, to] = snippet.range();
        let matched: String = snippet.text().chars().skip(from).take(to - from).collect();
        assert_eq!(matched, snippet.matched);
    }

    #[test]
    fn a_match_stands_amid_its_words() {
        check("a violet harp, old", 40, "a violet [harp], old");
        check("a\n\n  violet harp,\told ", 40, "a violet [harp], old");
        check("one two three four harp five six seven eight", 24, "…four [harp] five six…");
        check("harp five six seven eight nine ten", 20, "[harp] five six…");
        check("one two three four five harp", 20, "…four five [harp]");
        check("é漢字 harp 漢字", 12, "é漢字 [harp] 漢字");
        check("harp", 2, "[ha]");
    }
}
