//! Renders untrusted text and Markdown as harmless HTML.

use pulldown_cmark::{
    CodeBlockKind, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html,
};

use super::code::write_code;
use crate::html::{escape_html, numbered_item};
use crate::markdown::numbering::Numbering;
use crate::sanitize::sanitize_text;

/// Renders Markdown as HTML. HTML in it becomes text, images become links.
pub(super) fn write_prose(text: &str, out: &mut String) {
    let text = sanitize_text(text);
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut lists = Numbering::default();
    let mut events = Vec::new();
    let mut open: Option<(String, String)> = None;
    for (event, range) in Parser::new_ext(&text, options).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(kind)) => {
                let language = match kind {
                    CodeBlockKind::Fenced(language) => language.to_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                open = Some((language, String::new()));
            }
            Event::End(TagEnd::CodeBlock) => {
                if let Some((language, text)) = open.take() {
                    let mut block = String::new();
                    write_code(&language, &text, &mut block);
                    events.push(Event::Html(block.into()));
                }
            }
            Event::Text(text) if open.is_some() => {
                if let Some((_, code)) = &mut open {
                    code.push_str(&text);
                }
            }
            Event::Start(Tag::Item) => events.push(numbered_item(&mut lists, &text[range])),
            Event::Start(Tag::List(first)) => {
                lists.open_list(first);
                events.push(Event::Start(Tag::List(first)));
            }
            Event::End(TagEnd::List(_)) => {
                lists.close_list();
                events.push(event);
            }
            event => events.push(neutralize_event(event)),
        }
    }
    html::push_html(out, events.into_iter());
}

fn neutralize_event(event: Event<'_>) -> Event<'_> {
    match event {
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        Event::Start(Tag::HtmlBlock) => Event::Start(Tag::Paragraph),
        Event::End(TagEnd::HtmlBlock) => Event::End(TagEnd::Paragraph),
        Event::Start(Tag::Link { link_type, dest_url, .. }) => Event::Start(Tag::Link {
            link_type,
            dest_url: safe_address(dest_url),
            title: CowStr::Borrowed(""),
            id: CowStr::Borrowed(""),
        }),
        // Loading an external image would reveal to its server that someone reads the transcript.
        Event::Start(Tag::Image { dest_url, .. }) => Event::Start(Tag::Link {
            link_type: pulldown_cmark::LinkType::Inline,
            dest_url: safe_address(dest_url),
            title: CowStr::Borrowed(""),
            id: CowStr::Borrowed(""),
        }),
        Event::End(TagEnd::Image) => Event::End(TagEnd::Link),
        Event::Start(Tag::Heading { level, .. }) => Event::Start(Tag::Heading {
            level: lower_heading(level),
            id: None,
            classes: Vec::new(),
            attrs: Vec::new(),
        }),
        Event::End(TagEnd::Heading(level)) => Event::End(TagEnd::Heading(lower_heading(level))),
        event => event,
    }
}

/// Lowers headings below those of the document.
fn lower_heading(level: HeadingLevel) -> HeadingLevel {
    match level {
        HeadingLevel::H1 => HeadingLevel::H3,
        HeadingLevel::H2 => HeadingLevel::H4,
        HeadingLevel::H3 => HeadingLevel::H5,
        _ => HeadingLevel::H6,
    }
}

/// Returns the address if its scheme is harmless, otherwise `#`.
fn safe_address(url: CowStr<'_>) -> CowStr<'_> {
    let scheme = url.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
    match scheme.as_deref() {
        Some("http" | "https" | "mailto") => url,
        _ => CowStr::Borrowed("#"),
    }
}

/// Writes escaped text without control sequences.
pub(super) fn escape_sanitized(text: &str, out: &mut String) {
    // Growing step by step would hold a text of many megabytes twice.
    out.reserve(text.len());
    escape_html(&sanitize_text(text), out);
}

/// Returns a text as one escaped line of limited length.
pub(super) fn escaped_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let clean = sanitize_text(text);
    for word in clean.split_whitespace() {
        if out.len() > 600 {
            out.push('…');
            break;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        escape_html(word, &mut out);
    }
    out
}
