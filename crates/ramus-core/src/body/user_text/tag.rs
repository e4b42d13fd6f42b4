//! Tags as the client writes them: flat, closed, perhaps with attributes.

/// A closed tag at the start of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tag<'a> {
    pub(super) name: &'a str,
    attributes: &'a str,
    /// The content, trimmed.
    pub(super) text: &'a str,
    /// The text after it.
    pub(super) rest: &'a str,
}

impl<'a> Tag<'a> {
    pub(super) fn attribute(&self, key: &str) -> Option<&'a str> {
        let mut rest = self.attributes;
        while let Some((before, after)) = rest.split_once("=\"") {
            let (value, next) = after.split_once('"')?;
            if before.trim() == key {
                return Some(value);
            }
            rest = next;
        }
        None
    }
}

/// An opening tag at the start of a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpeningTag<'a> {
    pub(super) name: &'a str,
    attributes: &'a str,
    after: &'a str,
}

/// Returns the opening tag that `text` begins with.
pub(super) fn opening_tag(text: &str) -> Option<OpeningTag<'_>> {
    let inside = text.strip_prefix('<')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let (name, after) = inside.split_at(inside.find(|c| !is_name(c))?);
    if name.is_empty() || !after.starts_with(|c: char| c == '>' || c.is_ascii_whitespace()) {
        return None;
    }
    let (attributes, after) = after.split_once('>')?;
    Some(OpeningTag { name, attributes, after })
}

/// Returns the tag that `text` begins with, if it is closed.
pub(super) fn leading_tag(text: &str) -> Option<Tag<'_>> {
    let OpeningTag { name, attributes, after } = opening_tag(text)?;
    let end = closing_tag_at(after, name)?;
    let rest = &after[end + name.len() + 3..];
    Some(Tag { name, attributes, text: after[..end].trim(), rest })
}

/// Returns the trimmed text in the first `<name>` of `text`.
pub(super) fn tag_text<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = text;
    while let Some((_, after)) = rest.split_once('<') {
        let body = after.strip_prefix(name).and_then(|after| after.strip_prefix('>'));
        if let Some(body) = body {
            return Some(body[..closing_tag_at(body, name)?].trim());
        }
        rest = after;
    }
    None
}

/// Finds `</name>`.
fn closing_tag_at(body: &str, name: &str) -> Option<usize> {
    let is_close = |at: &usize| {
        let inside = body[at + 2..].strip_prefix(name);
        inside.is_some_and(|after| after.starts_with('>'))
    };
    body.match_indices("</").map(|(at, _)| at).find(is_close)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<(&str, &str, &str)>) {
        assert_eq!(leading_tag(text).map(|tag| (tag.name, tag.text, tag.rest)), expected);
    }

    #[test]
    fn tags_are_closed() {
        check("<a>x</a> y", Some(("a", "x", " y")));
        check("<a-b_c k=\"v\">\nx\n</a-b_c>", Some(("a-b_c", "x", "")));
        check("<a>x</ab></a>", Some(("a", "x</ab>", "")));
        for text in ["", "<", "<a", "<a>", "<a>x", "<>x</>", "< a>x</a>", "a<b>x</b>", "<a/>x</a>"]
        {
            check(text, None);
        }
    }

    #[test]
    fn attributes_are_named() {
        let tag = leading_tag(r#"<m teammate_id="a b" color="c">x</m>"#).unwrap();
        assert_eq!(tag.attribute("teammate_id"), Some("a b"));
        assert_eq!(tag.attribute("color"), Some("c"));
        assert_eq!(tag.attribute("id"), None);
    }

    #[test]
    fn inner_tags_are_found() {
        assert_eq!(tag_text("x <a>1</a> <b> 2 </b>", "b"), Some("2"));
        assert_eq!(tag_text("<b>2", "b"), None);
        assert_eq!(tag_text("", "b"), None);
    }
}
