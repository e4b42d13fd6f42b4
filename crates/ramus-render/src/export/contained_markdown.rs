//! Makes untrusted Markdown safe to embed in a document.
//!
//! A transcript may contain fences that never close, unbalanced HTML, or headings that look like
//! ours. This module rewrites it so that it reads the same and has no effect beyond its end. If
//! that is not possible, it is shown as plain text.

use std::borrow::Cow;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};

/// The highest heading level allowed in a transcript, below the document's own headings.
const MIN_HEADING_LEVEL: usize = 3;
/// A paragraph that must still be parsed as one after a contained text.
const PROBE: &str = "\n\nprobe";

/// Returns Markdown without HTML and without effect beyond its end.
pub(super) fn contain_markdown(text: &str) -> Cow<'_, str> {
    let text = crate::sanitize::sanitize_text(text);
    if !needs_care(&text) {
        return text;
    }
    let careful = neutralize_markup(&text);
    if is_contained(&careful) {
        return Cow::Owned(careful);
    }
    if let Some(closed) = close_fence(&careful).filter(|closed| is_contained(closed)) {
        return Cow::Owned(closed);
    }
    let mut plain = String::new();
    write_fenced("text", &text, &mut plain);
    Cow::Owned(plain)
}

/// Writes a text between fences that nothing in it can close.
pub(super) fn write_fenced(language: &str, text: &str, out: &mut String) {
    let text = crate::sanitize::sanitize_text(text);
    let fence = "`".repeat(longest_run(&text, b'`').max(2) + 1);
    out.push_str(&fence);
    out.push_str(language);
    out.push('\n');
    let text = text.trim_end_matches('\n');
    out.push_str(text);
    if !text.is_empty() {
        out.push('\n');
    }
    out.push_str(&fence);
    out.push('\n');
}

fn longest_run(text: &str, byte: u8) -> usize {
    let (mut longest, mut run, mut last) = (0, 0, usize::MAX);
    for at in memchr::memchr_iter(byte, text.as_bytes()) {
        run = if at == last.wrapping_add(1) { run + 1 } else { 1 };
        longest = longest.max(run);
        last = at;
    }
    longest
}

/// Whether a text has anything that could have an effect beyond its end: fences, HTML, headings, definitions.
fn needs_care(text: &str) -> bool {
    let bytes = text.as_bytes();
    let has = |needle: &[u8]| memchr::memmem::find(bytes, needle).is_some();
    memchr::memchr2(b'<', b'#', bytes).is_some()
        || has(b"```")
        || has(b"~~~")
        || has(b"]:")
        || text.lines().skip(1).any(is_underline)
}

/// Whether a line makes the one before it a heading.
fn is_underline(line: &str) -> bool {
    let line = line.trim();
    let all = |byte| line.bytes().all(|other| other == byte);
    !line.is_empty() && (all(b'=') || all(b'-'))
}

/// The Markdown extensions that other renderers may support.
fn parser_options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS
}

/// Escapes HTML and lowers the headings.
fn neutralize_markup(text: &str) -> String {
    let mut code = Vec::new();
    let mut headings = Vec::new();
    let parser = Parser::new_ext(text, parser_options());
    let defines = parser.reference_definitions().iter().next().is_some();
    for (event, range) in parser.into_offset_iter() {
        match event {
            Event::Code(_) | Event::Start(Tag::CodeBlock(_)) => code.push(range),
            Event::Start(Tag::Heading { level, .. }) => headings.push((level as usize, range)),
            _ => {}
        }
    }
    let mut out = String::with_capacity(text.len() + 64);
    let (mut code, mut headings) = (code.into_iter().peekable(), headings.into_iter().peekable());
    let mut at = 0;
    while at < text.len() {
        if let Some((level, range)) = headings.next_if(|(_, range)| range.start <= at) {
            if range.start == at {
                at = write_lowered_heading(text, level, range, &mut out);
                while code.next_if(|code| code.start < at).is_some() {}
            }
            continue;
        }
        if let Some(range) = code.next_if(|range| range.start <= at) {
            if range.end > at {
                out.push_str(&text[at..range.end]);
                at = range.end;
            }
            continue;
        }
        let next_code = code.peek().map_or(text.len(), |range| range.start);
        let next_heading = headings.peek().map_or(text.len(), |(_, range)| range.start);
        let next = next_code.min(next_heading).max(at + 1).min(text.len());
        let next = (next..=text.len()).find(|next| text.is_char_boundary(*next)).unwrap_or(next);
        escape_markup(&text[at..next], defines, &mut out);
        at = next;
    }
    out
}

/// Writes a heading at a lower level; returns where it ends.
fn write_lowered_heading(
    text: &str,
    level: usize,
    range: std::ops::Range<usize>,
    out: &mut String,
) -> usize {
    let whole = &text[range.clone()];
    let mut words = whole.trim();
    if words.starts_with('#') {
        words = words.trim_start_matches('#').trim_start();
    } else if let Some((above, _)) = words.rsplit_once('\n') {
        words = above;
    }
    out.push_str(&"#".repeat((level + MIN_HEADING_LEVEL - 1).min(6)));
    out.push(' ');
    // Inline code in a heading shows its escapes. That is safe, and rare.
    let line = words.split('\n').map(|line| line.trim().trim_start_matches('>').trim());
    escape_markup(&line.collect::<Vec<_>>().join(" "), false, out);
    if whole.ends_with('\n') {
        out.push('\n');
    }
    range.end
}

/// Writes text with escaped HTML and, if it has some, escaped link definitions.
fn escape_markup(text: &str, defines: bool, out: &mut String) {
    let mut rest = text;
    while let Some(at) = memchr::memchr2(b'<', b']', rest.as_bytes()) {
        let (before, found) = rest.split_at(at);
        out.push_str(before);
        rest = &found[1..];
        match found.as_bytes()[0] {
            b'<' => out.push_str("&lt;"),
            _ if defines && rest.starts_with(':') => out.push_str("]\\"),
            _ => out.push(']'),
        }
    }
    out.push_str(rest);
}

/// Whether a paragraph after the text is parsed as one, and the text has no HTML and no high headings.
fn is_contained(text: &str) -> bool {
    let probed = format!("{text}{PROBE}");
    let mut depth = 0;
    let mut is_paragraph = false;
    let mut ends_well = false;
    for event in Parser::new_ext(&probed, parser_options()) {
        ends_well &= matches!(event, Event::End(_));
        match event {
            Event::Html(_) | Event::InlineHtml(_) => return false,
            Event::Start(Tag::Heading { level, .. }) if (level as usize) < MIN_HEADING_LEVEL => {
                return false;
            }
            Event::Start(tag) => {
                is_paragraph = depth == 0 && tag == Tag::Paragraph;
                depth += 1;
            }
            Event::End(_) => depth -= 1,
            Event::Text(words) => ends_well = is_paragraph && *words == *PROBE.trim(),
            _ => {}
        }
    }
    ends_well
}

/// Closes a fence that was left open.
fn close_fence(text: &str) -> Option<String> {
    let blocks =
        Parser::new_ext(text, parser_options()).into_offset_iter().filter_map(|(event, range)| {
            matches!(event, Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_)))).then_some(range)
        });
    let open = text[blocks.last()?.start..].trim_start();
    let mark = open.as_bytes().first().copied()?;
    let length = open.bytes().take_while(|byte| *byte == mark).count();
    let fence = char::from(mark).to_string().repeat(length);
    Some(format!("{}\n{fence}", text.trim_end_matches('\n')))
}

#[cfg(test)]
mod tests {
    use super::{contain_markdown, is_contained, write_fenced};

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let safe = contain_markdown(text);
        assert_eq!(safe, expected);
        assert!(is_contained(&safe), "{safe:?}");
    }

    #[test]
    fn plain_words_stay() {
        check("hello *you*\n\n- a\n- b", "hello *you*\n\n- a\n- b");
        check("```rust\nlet a = \"<b>\";\n```\nend", "```rust\nlet a = \"<b>\";\n```\nend");
        check("use `<b>` here", "use `<b>` here");
    }

    #[test]
    fn html_is_text() {
        check("a <b>c</b>", "a &lt;b>c&lt;/b>");
        check("</details>\n\n<script>x</script>", "&lt;/details>\n\n&lt;script>x&lt;/script>");
        check("<!-- open\n\nand on", "&lt;!-- open\n\nand on");
        check("<img src=x onerror=alert(1)>", "&lt;img src=x onerror=alert(1)>");
    }

    #[test]
    fn open_fences_close() {
        check("```\ncode", "```\ncode\n```");
        check("~~~~\n```\ncode", "~~~~\n```\ncode\n~~~~");
        check("<div>\n```\ncode", "&lt;div>\n```\ncode\n```");
    }

    #[test]
    fn headings_stand_below_ours() {
        check("# One\n## Two\n###### Six", "### One\n#### Two\n###### Six");
        check("One\n===\ntext", "### One\ntext");
        check("One `<b>`\n---\ntext", "#### One `&lt;b>`\ntext");
    }

    #[test]
    fn fences_are_longer_than_what_is_inside() {
        let mut out = String::new();
        write_fenced("sh", "a\n`````\nb\n", &mut out);
        assert_eq!(out, "``````sh\na\n`````\nb\n``````\n");
    }

    #[test]
    fn anything_is_contained() {
        let pieces = [
            "```", "~~~", "\n", "<div>", "> ", "- ", "# x", "    ", "`", "<!--", "|", "a", "\n\n",
            "[a]: b", "===",
        ];
        let mut state = 7_u64;
        for _ in 0..4000 {
            let mut text = String::new();
            for _ in 0..8 {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                text.push_str(pieces[(state >> 33) as usize % pieces.len()]);
            }
            assert!(
                is_contained(&contain_markdown(&text)),
                "{text:?} → {:?}",
                contain_markdown(&text)
            );
        }
    }
}
