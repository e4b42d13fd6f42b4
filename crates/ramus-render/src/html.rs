//! Renders parts of a transcript as harmless HTML for the web app.
//!
//! Everything is escaped: nothing runs or loads external resources. Links to the web open in a new tab
//! that knows nothing of this one, and show their host; other links and images become elements that
//! only carry their address. Code becomes spans with one class per label.

use std::borrow::Cow;
use std::fmt::Write as _;

use pulldown_cmark::{
    Alignment, CodeBlockKind, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd,
};

use crate::highlight;
use crate::markdown::numbering::{ItemNumber, Numbering};
use crate::program_output;
use crate::sanitize::sanitize_text;
use crate::span::{Label, Line, SyntaxKind};

/// How many bytes of code are highlighted in one text.
const HIGHLIGHTED: usize = highlight::MAX_HIGHLIGHT_BYTES;

/// Renders Markdown as HTML. HTML in it is shown as text.
pub fn prose_html(text: &str) -> String {
    let text = sanitize_text(text);
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut events = Vec::new();
    let mut open: Option<(String, String)> = None;
    let mut left = HIGHLIGHTED;
    let mut lists = Numbering::default();
    let mut markup = Markup::default();
    for (event, range) in Parser::new_ext(&text, options).into_offset_iter() {
        if !matches!(event, Event::Text(_)) {
            markup.flush_text(&mut events);
        }
        match event {
            Event::Start(Tag::List(first)) => {
                lists.open_list(first);
                events.push(Event::Start(Tag::List(first)));
            }
            Event::Start(Tag::Item) => events.push(numbered_item(&mut lists, &text[range])),
            Event::Start(Tag::CodeBlock(kind)) => {
                let language = match kind {
                    CodeBlockKind::Fenced(language) => language.to_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                open = Some((language, String::new()));
            }
            Event::End(TagEnd::CodeBlock) => {
                if let Some((language, code)) = open.take() {
                    let lines = highlight::highlight_limited(&language, &code, left);
                    left = left.saturating_sub(code.len());
                    events.push(Event::Html(block_html(&language, &lines).into()));
                }
            }
            Event::Text(text) if open.is_some() => {
                if let Some((_, code)) = &mut open {
                    code.push_str(&text);
                }
            }
            Event::End(TagEnd::List(_)) => {
                lists.close_list();
                events.push(event);
            }
            event => markup.push_event(event, &mut events),
        }
    }
    markup.flush_text(&mut events);
    let mut out = String::with_capacity(text.len() * 3 / 2);
    pulldown_cmark::html::push_html(&mut out, events.into_iter());
    out
}

/// Returns source code as a block with its language and a copy button. Without a language it is
/// program output, with its colours.
pub fn code_html(language: &str, text: &str) -> String {
    let text = text.trim_matches('\n');
    let lines = match language {
        "" => program_output::output_lines(text, Label::Plain),
        language => highlight::highlight_code(language, text),
    };
    block_html(language, &lines)
}

/// Returns labelled lines as a block.
pub fn block_html(language: &str, lines: &[Line]) -> String {
    let mut out = String::from("<div class=\"code\"><div class=\"bar\"><span>");
    // A language may be given by the name of a file.
    let name = language.rsplit(['/', '\\']).next().unwrap_or(language);
    let name: String = name.chars().take(32).collect();
    escape_html(&sanitize_text(&name), &mut out);
    out.push_str("</span><button type=\"button\" class=\"copy\">Copy</button></div>");
    out.push_str("<pre tabindex=\"0\"><code>");
    for line in lines {
        write_line(line, &mut out);
        out.push('\n');
    }
    out.push_str("</code></pre></div>");
    out
}

/// Returns a diff as a block with full-width line marks.
pub fn diff_html(lines: &[Line]) -> String {
    let mut out = String::from("<div class=\"code diff\"><pre tabindex=\"0\"><code>");
    for line in lines {
        let has = |wanted: &[Label]| line.0.iter().any(|span| wanted.contains(&span.label));
        let class = if has(&[Label::Added, Label::AddedStrong]) {
            "row add"
        } else if has(&[Label::Removed, Label::RemovedStrong]) {
            "row del"
        } else if has(&[Label::Hunk]) {
            "row hunk"
        } else {
            "row"
        };
        let _ = write!(out, "<span class=\"{class}\">");
        write_line(line, &mut out);
        out.push_str("\n</span>");
    }
    out.push_str("</code></pre></div>");
    out
}

/// Returns escaped plain text.
pub fn text_html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    escape_html(&sanitize_text(text), &mut out);
    out
}

/// Writes a line with a class for each label.
pub(crate) fn write_line(line: &Line, out: &mut String) {
    for span in &line.0 {
        match &*css_class(span.label) {
            "" => escape_html(span.text(), out),
            class => {
                let _ = write!(out, "<span class=\"{class}\">");
                escape_html(span.text(), out);
                out.push_str("</span>");
            }
        }
    }
}

/// The only table from labels to classes of the web app's style sheet.
fn css_class(label: Label) -> Cow<'static, str> {
    match label {
        Label::Output(printed) => Cow::Owned(printed.css_classes()),
        label => Cow::Borrowed(label_class(label)),
    }
}

fn label_class(label: Label) -> &'static str {
    match label {
        Label::Syntax(kind) => match kind {
            SyntaxKind::Keyword => "k",
            SyntaxKind::String => "s",
            SyntaxKind::Number | SyntaxKind::Constant => "n",
            SyntaxKind::Comment => "c",
            SyntaxKind::Function => "f",
            SyntaxKind::Type | SyntaxKind::Tag => "t",
            SyntaxKind::Attribute => "a",
            SyntaxKind::Operator | SyntaxKind::Punctuation | SyntaxKind::Variable => "",
        },
        Label::AddedStrong => "ins",
        Label::RemovedStrong => "rem",
        Label::LineNumber => "no",
        Label::Hunk | Label::Dim => "dim",
        Label::Heading | Label::Strong => "b",
        _ => "",
    }
}

/// Opens a list item with the number it was written with.
pub(crate) fn numbered_item(lists: &mut Numbering, source: &str) -> Event<'static> {
    match lists.next_number(source) {
        Some(ItemNumber { number, counted: false, .. }) => {
            Event::Html(format!("\n<li value=\"{number}\">").into())
        }
        _ => Event::Start(Tag::Item),
    }
}

/// What the events around the next one decide about it.
#[derive(Default)]
struct Markup {
    /// Text outside of links that was not written yet: the parser cuts texts at special characters, which
    /// web addresses have many of.
    text: String,
    /// The end tag of the link that is open.
    link_end: Option<&'static str>,
    columns: Vec<Alignment>,
    column: usize,
    in_head: bool,
}

impl Markup {
    /// Writes an event so that nothing of the text becomes markup.
    fn push_event<'a>(&mut self, event: Event<'a>, events: &mut Vec<Event<'a>>) {
        let event = match event {
            Event::Text(text) if self.link_end.is_none() => return self.text.push_str(&text),
            Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
            Event::Start(Tag::HtmlBlock) => Event::Start(Tag::Paragraph),
            Event::End(TagEnd::HtmlBlock) => Event::End(TagEnd::Paragraph),
            Event::Start(Tag::Link { dest_url, .. }) => self.open_link(&dest_url),
            Event::End(TagEnd::Link) => {
                let end = self.link_end.take().unwrap_or_default();
                Event::InlineHtml(CowStr::Borrowed(end))
            }
            Event::Start(Tag::Image { dest_url, .. }) => {
                address_tag("<span class=\"link picture\"", &dest_url)
            }
            Event::End(TagEnd::Image) => Event::InlineHtml(CowStr::Borrowed("</span>")),
            Event::Start(Tag::Table(columns)) => {
                let count = columns.len();
                self.columns = columns;
                // The parser's own alignment needs inline styles, which the content security policy forbids.
                Event::Start(Tag::Table(vec![Alignment::None; count]))
            }
            Event::Start(tag @ (Tag::TableHead | Tag::TableRow)) => {
                (self.column, self.in_head) = (0, tag == Tag::TableHead);
                Event::Start(tag)
            }
            Event::Start(Tag::TableCell) => self.open_cell(),
            Event::End(TagEnd::TableCell) => {
                let end = if self.in_head { "</th>" } else { "</td>" };
                Event::InlineHtml(CowStr::Borrowed(end))
            }
            Event::Start(Tag::Heading { level, .. }) => Event::Start(Tag::Heading {
                level: lower_heading(level),
                id: None,
                classes: Vec::new(),
                attrs: Vec::new(),
            }),
            Event::End(TagEnd::Heading(level)) => Event::End(TagEnd::Heading(lower_heading(level))),
            Event::TaskListMarker(done) => {
                Event::Text(CowStr::Borrowed(if done { "☑ " } else { "☐ " }))
            }
            event => event,
        };
        events.push(event);
    }

    /// Writes the text so far, with web addresses in it as links.
    fn flush_text(&mut self, events: &mut Vec<Event<'_>>) {
        let text = std::mem::take(&mut self.text);
        let mut rest = &*text;
        let mut out = String::new();
        while let Some((before, address)) = next_address(rest) {
            escape_html(before, &mut out);
            match web_host(address) {
                Some(host) => {
                    out.push_str(&link_tag(address, host));
                    escape_html(address, &mut out);
                    out.push_str("</a>");
                }
                None => escape_html(address, &mut out),
            }
            rest = &rest[before.len() + address.len()..];
        }
        escape_html(rest, &mut out);
        if !out.is_empty() {
            events.push(Event::InlineHtml(out.into()));
        }
    }

    fn open_link(&mut self, address: &str) -> Event<'static> {
        match web_host(address) {
            Some(host) => {
                self.link_end = Some("</a>");
                Event::InlineHtml(link_tag(address, host).into())
            }
            None => {
                self.link_end = Some("</button>");
                address_tag("<button type=\"button\" class=\"link\"", address)
            }
        }
    }

    fn open_cell(&mut self) -> Event<'static> {
        let tag = if self.in_head { "th" } else { "td" };
        let class = match self.columns.get(self.column) {
            Some(Alignment::Right) => " class=\"right\"",
            Some(Alignment::Center) => " class=\"center\"",
            _ => "",
        };
        self.column += 1;
        Event::InlineHtml(format!("<{tag}{class}>").into())
    }
}

/// Returns the text before the first web address, and the address without the punctuation behind it.
fn next_address(text: &str) -> Option<(&str, &str)> {
    let is_begin =
        |at: &usize| ["https://", "http://"].iter().any(|it| text[*at..].starts_with(it));
    let begin = text.match_indices("http").map(|(at, _)| at).find(is_begin)?;
    let is_end = |c: char| c.is_whitespace() || matches!(c, '<' | '>' | '"' | '`' | '|');
    let address = &text[begin..];
    let address = &address[..address.find(is_end).unwrap_or(address.len())];
    let is_punctuation =
        |c: char| matches!(c, '.' | ',' | ';' | ':' | '!' | '?' | '\'' | '*' | '_');
    let mut address = address.trim_end_matches(is_punctuation);
    // A bracket belongs to the address only if it was opened in it. They are counted once: there may be many.
    let count = |sign: char| address.matches(sign).count();
    let mut unopened = [('(', ')'), ('[', ']')]
        .map(|(open, close)| (close, count(close).saturating_sub(count(open))));
    while let Some((_, left)) =
        unopened.iter_mut().find(|(close, left)| *left > 0 && address.ends_with(*close))
    {
        *left -= 1;
        address = address[..address.len() - 1].trim_end_matches(is_punctuation);
    }
    Some((&text[..begin], address))
}

/// Returns the host of an address of the web; `None`: a browser would do something else with it.
fn web_host(address: &str) -> Option<&str> {
    let (scheme, rest) = address.split_once("://")?;
    let is_web = scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http");
    // Browsers drop control characters and read `\` as `/`, so the host would be another one.
    let is_odd = |c: char| c.is_control() || c.is_whitespace() || c == '\\';
    if !is_web || address.contains(is_odd) {
        return None;
    }
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    (!host.is_empty()).then_some(host)
}

/// Returns the start tag of a link to the web. The new tab learns nothing of this one.
fn link_tag(address: &str, host: &str) -> String {
    let mut html =
        String::from("<a class=\"link\" target=\"_blank\" rel=\"noopener noreferrer\" href=\"");
    escape_html(address, &mut html);
    html.push_str("\" title=\"");
    escape_html(address, &mut html);
    html.push_str("\" data-host=\"");
    escape_html(host, &mut html);
    html.push_str("\">");
    html
}

/// Returns a start tag that carries an address without linking to it.
fn address_tag(tag: &str, address: &str) -> Event<'static> {
    let mut html = format!("{tag} data-address=\"");
    escape_html(address, &mut html);
    html.push_str("\" title=\"");
    escape_html(address, &mut html);
    html.push_str("\">");
    Event::InlineHtml(html.into())
}

/// Lowers headings below those of the web app.
fn lower_heading(level: HeadingLevel) -> HeadingLevel {
    match level {
        HeadingLevel::H1 => HeadingLevel::H4,
        HeadingLevel::H2 => HeadingLevel::H5,
        _ => HeadingLevel::H6,
    }
}

/// Writes text with HTML special characters escaped.
pub(crate) fn escape_html(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(at) =
        rest.bytes().position(|byte| matches!(byte, b'<' | b'>' | b'&' | b'"' | b'\''))
    {
        let (before, found) = rest.split_at(at);
        out.push_str(before);
        out.push_str(match found.as_bytes()[0] {
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'&' => "&amp;",
            b'"' => "&quot;",
            _ => "&#39;",
        });
        rest = &found[1..];
    }
    out.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_text_becomes_markup() {
        let html = prose_html(
            "<script>alert(1)</script> <img src=x onerror=alert(1)>\n\n[a](javascript:alert(1) \"t\\\" onclick=x\")\n\n\
             ![p](https://example.org/p.png)\n\n```\"><script>\n</code></pre><script>alert(2)</script>\n```",
        );
        for bad in ["<script", "<img", "<a ", "href=\"javascript", "src=\"", " onclick=\""] {
            assert!(!html.contains(bad), "{bad} in {html}");
        }
        assert!(html.contains("data-address=\"javascript:alert(1)\""), "{html}");
        let table = prose_html("| a |\n|--:|\n| <b style=x>1</b> |");
        assert!(table.contains("<td class=\"right\">&lt;b") && !table.contains("<b "), "{table}");
    }

    #[test]
    fn links_to_the_web_open_in_a_tab_of_their_own_and_show_their_host() {
        let link = |address: &str, host: &str| {
            format!(
                "<a class=\"link\" target=\"_blank\" rel=\"noopener noreferrer\" href=\"{address}\" \
                 title=\"{address}\" data-host=\"{host}\">"
            )
        };
        for (text, address, host) in [
            (
                "[a](https://example.org/x?a=1&b=2)",
                "https://example.org/x?a=1&amp;b=2",
                "example.org",
            ),
            (
                "[good.example](HTTP://good.example@evil.example/)",
                "HTTP://good.example@evil.example/",
                "evil.example",
            ),
            (
                "see https://example.org/a_b_c(1), and",
                "https://example.org/a_b_c(1)",
                "example.org",
            ),
            ("(https://example.org/a-b.)", "https://example.org/a-b", "example.org"),
            ("<https://example.org>", "https://example.org", "example.org"),
        ] {
            let html = prose_html(text);
            assert!(html.contains(&link(address, host)), "{text} in {html}");
            assert_eq!(html.matches("<a ").count(), html.matches("</a>").count(), "{html}");
        }
        for text in [
            "[a](javascript:alert(1))",
            "[a](data:text/html,x)",
            "[a](file:///etc/passwd)",
            "[a](vbscript:x)",
            "[a](//example.org)",
            "[a](/api/log)",
            "[a](https:///x)",
            "[a](https://good.example\\\\@evil.example)",
            "[a](https&#58;//example.org&#9;x)",
            "`https://example.org`",
            "```\nhttps://example.org\n```",
        ] {
            let html = prose_html(text);
            assert!(!html.contains("href="), "{text} in {html}");
        }
        // An attribute cannot be closed from inside an address.
        let html = prose_html("https://example.org/\"onmouseover=x [a](<https://example.org/\"b>)");
        assert!(!html.contains("\"onmouseover") && !html.contains("/\"b"), "{html}");
    }

    #[test]
    fn many_addresses_and_brackets_take_no_time_that_grows_with_their_square() {
        let brackets = format!("https://a.example/({}", ")]".repeat(300_000));
        let html = prose_html(&brackets);
        assert!(html.contains("href=\"https://a.example/()\""), "{}", &html[..200]);
        let html = prose_html(&"https://a.example/x ".repeat(20_000));
        assert_eq!(html.matches("<a ").count(), 20_000);
    }

    #[test]
    fn columns_of_a_table_are_aligned_without_styles() {
        let html = prose_html("| a | b | c |\n|:--|:-:|--:|\n| 1 | 2 | 3 |");
        for part in ["<th>a</th>", "<th class=\"center\">b</th>", "<td class=\"right\">3</td>"] {
            assert!(html.contains(part), "{part} in {html}");
        }
        assert!(!html.contains("style="), "{html}");
    }

    #[test]
    fn code_is_highlighted_and_can_be_copied() {
        let html = prose_html("```rust\nfn a() {}\n```");
        assert!(html.contains("<span class=\"k\">fn</span>"), "{html}");
        assert!(html.contains("class=\"copy\""));
    }

    #[test]
    fn lists_keep_their_numbers() {
        let html = prose_html("3. three\n4. four\n9. nine\n   1. a\n   5. e\n10. ten");
        for expected in
            ["<ol start=\"3\">", "<li>four", "<li value=\"9\">nine", "<li value=\"5\">e", "<li>ten"]
        {
            assert!(html.contains(expected), "{expected} in {html}");
        }
        assert_eq!(html.matches("<li").count(), html.matches("</li>").count());
    }

    #[test]
    fn output_has_the_colours_it_was_printed_in() {
        let html = code_html("", "\x1b[1;31m<b>\x1b[0m \x1b[2Jx\n");
        assert!(html.contains("<span class=\"pb p1\">&lt;b&gt;</span> ␛[2Jx\n"), "{html}");
        let html = prose_html("\x1b[31mred\x1b[0m\n\n```\n\x1b[31mred\x1b[0m\n```");
        assert!(!html.contains("31m"), "{html}");
    }

    #[test]
    fn a_diff_marks_rows_and_words() {
        let lines = crate::diff::diff_lines("one two\n", "one <b>\n", &Default::default());
        let html = diff_html(&lines);
        assert!(html.contains("<span class=\"row add\">"), "{html}");
        assert!(html.contains("class=\"ins\"") && html.contains("&lt;b&gt;"), "{html}");
    }
}
