//! Characters that no reader sees, or that change what a reader sees.

/// Whether the character embeds, overrides or isolates a reading direction.
pub fn is_bidi(char: char) -> bool {
    matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether the character controls a terminal or deceives a reader instead of being visible: controls,
/// direction marks, unusual line separators, and tags.
pub fn is_control_like(char: char) -> bool {
    char.is_control()
        || is_bidi(char)
        || matches!(
            char,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}' | '\u{e0000}'
                ..='\u{e007f}'
        )
}

/// Whether the character is invisible in a text. Such characters can carry words that only a machine reads.
pub fn is_invisible(char: char) -> bool {
    is_bidi(char)
        || matches!(char,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}' | '\u{2029}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// Whether a reader sees anything of a text.
pub fn is_visible(text: &str) -> bool {
    // The last one is the Braille pattern without dots.
    let is_empty = |char: char| {
        char.is_whitespace() || char.is_control() || is_invisible(char) || char == '\u{2800}'
    };
    !text.chars().all(is_empty)
}

#[cfg(test)]
mod tests {
    use super::is_visible;

    #[test]
    fn what_is_only_white_space_and_invisible_is_not_visible() {
        for text in
            ["", " \t", "\u{200b}", "\u{200b} \u{2060}\u{feff}\u{200d}", "\u{3164}", "\u{2800}"]
        {
            assert!(!is_visible(text), "{text:?}");
        }
        for text in ["a", "\u{200b}a", "👩\u{200d}🚀", "·"] {
            assert!(is_visible(text), "{text:?}");
        }
    }
}
