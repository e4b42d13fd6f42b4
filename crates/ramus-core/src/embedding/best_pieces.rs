//! The most probable way to split a word into tokens.

/// What a character costs that is in no token: more than any token.
const UNKNOWN_SCORE: f32 = -30.0;

/// Returns the tokens of a word whose scores are the largest together. Characters in no token are left out.
pub(super) fn best_pieces(
    word: &str,
    longest: usize,
    token: impl Fn(&str) -> Option<(u32, f32)>,
) -> Vec<u32> {
    let mut ends: Vec<usize> = word.char_indices().map(|(at, _)| at).collect();
    ends.push(word.len());
    // The best score up to each character, where its last piece begins, and which token that is.
    let mut best: Vec<(f32, usize, Option<u32>)> = vec![(0.0, 0, None)];
    for end in 1..ends.len() {
        let unknown = (best[end - 1].0 + UNKNOWN_SCORE, end - 1, None);
        let pieces = (end.saturating_sub(longest)..end).filter_map(|start| {
            let (id, score) = token(&word[ends[start]..ends[end]])?;
            Some((best[start].0 + score, start, Some(id)))
        });
        best.push(pieces.fold(unknown, |best, piece| if piece.0 > best.0 { piece } else { best }));
    }
    let mut tokens = Vec::new();
    let mut at = ends.len() - 1;
    while at > 0 {
        let (_, start, id) = best[at];
        tokens.extend(id);
        at = start;
    }
    tokens.reverse();
    tokens
}

#[cfg(test)]
mod tests {
    use super::best_pieces;

    #[test]
    fn the_most_probable_pieces_are_chosen() {
        let token = |piece: &str| {
            let known = [("a", -3.0), ("b", -3.0), ("ab", -4.0), ("abc", -20.0), ("c", -3.0)];
            known.iter().position(|(it, _)| *it == piece).map(|at| (at as u32, known[at].1))
        };
        assert_eq!(best_pieces("abc", 3, token), [2, 4]);
        assert_eq!(best_pieces("a?b", 3, token), [0, 1]);
        assert_eq!(best_pieces("", 3, token), [0_u32; 0]);
    }
}
