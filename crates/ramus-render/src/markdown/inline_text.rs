//! Collects the text of one block: emphasis, links, images.

use crate::span::{Label, Line};

/// The lines of a block, and its open labels and links.
#[derive(Default)]
pub(super) struct InlineText {
    lines: Vec<Line>,
    labels: Vec<Label>,
    links: Vec<OpenLink>,
}

/// An open link or image.
struct OpenLink {
    url: String,
    /// The text shown for it so far.
    text: String,
}

impl InlineText {
    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    pub(super) fn take_lines(&mut self) -> Vec<Line> {
        std::mem::take(&mut self.lines)
    }

    /// Starts text with a label. Within a heading all text stays a heading.
    pub(super) fn start_label(&mut self, label: Label) {
        let label = if self.current_label() == Label::Heading { Label::Heading } else { label };
        self.labels.push(label);
    }

    pub(super) fn end_label(&mut self) {
        self.labels.pop();
    }

    /// Adds text. URLs in it become links.
    pub(super) fn push_text(&mut self, text: &str) {
        let label = self.current_label();
        if !self.links.is_empty() {
            return self.push(text, label);
        }
        let mut rest = text;
        while let Some((before, url, after)) = find_url(rest) {
            self.push(before, label);
            self.push(url, Label::Link);
            rest = after;
        }
        self.push(rest, label);
    }

    pub(super) fn push(&mut self, text: &str, label: Label) {
        if let Some(link) = self.links.last_mut() {
            link.text.push_str(text);
        }
        if self.lines.is_empty() {
            self.lines.push(Line::default());
        }
        if let Some(line) = self.lines.last_mut() {
            line.push(text, label);
        }
    }

    pub(super) fn next_line(&mut self) {
        self.lines.push(Line::default());
    }

    /// Adds HTML as text. Only `<br>` breaks the line.
    pub(super) fn push_html(&mut self, text: &str) {
        if matches!(text, "<br>" | "<br/>" | "<br />") {
            return self.next_line();
        }
        for (index, line) in text.split('\n').enumerate() {
            if index > 0 {
                self.next_line();
            }
            self.push(line, self.current_label());
        }
    }

    /// Removes the last line if it is empty.
    pub(super) fn drop_empty_line(&mut self) {
        self.lines.pop_if(|line| line.is_empty());
    }

    pub(super) fn open_link(&mut self, url: &str) {
        self.links.push(OpenLink { url: url.to_owned(), text: String::new() });
        self.start_label(Label::Link);
    }

    /// Ends a link and shows its address, unless the text is the address.
    pub(super) fn close_link(&mut self) {
        self.end_label();
        let Some(OpenLink { url, text }) = self.links.pop() else { return };
        let address = url.strip_prefix("mailto:").unwrap_or(&url);
        if !address.is_empty() && address.trim_end_matches('/') != text.trim_end_matches('/') {
            self.push(&format!(" ({url})"), Label::Dim);
        }
    }

    pub(super) fn open_image(&mut self, url: &str) {
        self.push("[image: ", Label::Dim);
        self.links.push(OpenLink { url: url.to_owned(), text: String::new() });
        self.labels.push(Label::Dim);
    }

    /// Ends an image. Without a description its address is shown.
    pub(super) fn close_image(&mut self) {
        self.end_label();
        let Some(OpenLink { url, text }) = self.links.pop() else { return };
        if text.is_empty() {
            // For a data URL its type is enough.
            self.push(url.split(',').next().unwrap_or_default(), Label::Dim);
        }
        self.push("]", Label::Dim);
    }

    fn current_label(&self) -> Label {
        self.labels.last().copied().unwrap_or_default()
    }
}

/// Returns the text before the first URL, the URL, and the rest.
fn find_url(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    while let Some(found) = text[from..].find("http") {
        let start = from + found;
        let length = url_length(&text[start..]);
        if length > 0 {
            let end = start + length;
            return Some((&text[..start], &text[start..end], &text[end..]));
        }
        from = start + "http".len();
    }
    None
}

/// Returns the length of the URL that `text` starts with, or zero.
fn url_length(text: &str) -> usize {
    let Some(scheme) = ["https://", "http://"].iter().find(|scheme| text.starts_with(**scheme))
    else {
        return 0;
    };
    let is_end = |char: char| char.is_whitespace() || "<>\"`|。，、）」".contains(char);
    let mut url = &text[..text.find(is_end).unwrap_or(text.len())];
    // Punctuation and brackets that close the surrounding sentence are not part of the URL.
    for _ in 0..8 {
        let Some(last) = url.chars().next_back().filter(|last| is_outside(url, *last)) else {
            break;
        };
        url = &url[..url.len() - last.len_utf8()];
    }
    if url.len() > scheme.len() { url.len() } else { 0 }
}

/// Whether the last character of a URL belongs to the text around it.
fn is_outside(url: &str, last: char) -> bool {
    let unopened = |open: char| url.matches(open).count() < url.matches(last).count();
    match last {
        ')' => unopened('('),
        ']' => unopened('['),
        '}' => unopened('{'),
        last => ".,;:!?'*".contains(last),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let mut inline = InlineText::default();
        inline.push_text(text);
        let lines = inline.take_lines();
        let links = lines[0].0.iter().filter(|span| span.label == Label::Link);
        assert_eq!(links.map(crate::Span::text).collect::<Vec<_>>(), expected);
        assert_eq!(lines[0].to_text(), text);
    }

    #[test]
    fn urls_end_where_the_sentence_continues() {
        check("see https://a.b/c_d?e=f.", &["https://a.b/c_d?e=f"]);
        check("(http://a.b/x_(y)) and https://c.d, or", &["http://a.b/x_(y)", "https://c.d"]);
        check("http https:// httpx", &[]);
        check("siehe https://ä.de/ö!", &["https://ä.de/ö"]);
    }
}
