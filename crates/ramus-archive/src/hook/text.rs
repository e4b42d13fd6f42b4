//! Locates values in valid JSON text, and edits it without changing its style.

use serde::Serialize;
use serde_json::Value;

/// An object or array in a text.
#[derive(Debug)]
pub(super) struct Container<'a> {
    text: &'a str,
    /// Behind its opening bracket, and before its closing one.
    start: usize,
    end: usize,
    items: Vec<Item>,
}

/// An element, or a member with its name.
#[derive(Debug)]
struct Item {
    name: Option<String>,
    start: usize,
    value: usize,
    end: usize,
}

impl<'a> Container<'a> {
    /// Finds the items of the outermost object or array.
    pub(super) fn root(text: &'a str) -> Option<Self> {
        Self::at(text, skip_space(text, 0))
    }

    fn at(text: &'a str, at: usize) -> Option<Self> {
        let is_object = match text.as_bytes().get(at)? {
            b'{' => true,
            b'[' => false,
            _ => return None,
        };
        let mut items = Vec::new();
        let mut next = skip_space(text, at + 1);
        while !matches!(text.as_bytes().get(next)?, b'}' | b']') {
            let start = next;
            let mut value = start;
            let mut name = None;
            if is_object {
                let end = value_end(text, start)?;
                name = serde_json::from_str(&text[start..end]).ok();
                value = skip_space(text, skip_space(text, end) + 1);
            }
            let end = value_end(text, value)?;
            items.push(Item { name, start, value, end });
            next = skip_space(text, end);
            if text.as_bytes().get(next) == Some(&b',') {
                next = skip_space(text, next + 1);
            }
        }
        Some(Self { text, start: at + 1, end: next, items })
    }

    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.items.iter().position(|item| item.name.as_deref() == Some(name))
    }

    /// Returns the object or array that is the value of a member.
    pub(super) fn member(&self, name: &str) -> Option<Self> {
        self.element(self.position(name)?)
    }

    /// Returns the object or array at a position.
    pub(super) fn element(&self, position: usize) -> Option<Self> {
        Self::at(self.text, self.items.get(position)?.value)
    }

    /// Returns the text between the opening bracket and the first item.
    fn lead(&self) -> Option<&'a str> {
        self.items.first().map(|item| &self.text[self.start..item.start])
    }
}

/// Adds an item behind the others, indented as they are.
pub(super) fn insert_last(
    text: &str,
    container: &Container<'_>,
    name: Option<&str>,
    value: &Value,
) -> String {
    let unit = indent_unit(text);
    let outer = indent_of_line(text, container.start);
    let lead = match container.lead() {
        Some(lead) => lead.to_owned(),
        // The style of an empty container is that of the file.
        None if unit.is_some() || text.trim() == "{}" => {
            format!("\n{outer}{}", unit.unwrap_or("  "))
        }
        None => String::new(),
    };
    let indent = lead.rsplit_once('\n').map(|(_, indent)| indent);
    let name = name.map(|name| Value::from(name).to_string());
    let mut item = name.map_or_else(String::new, |name| {
        format!("{name}:{}", if indent.is_some() { " " } else { "" })
    });
    item.push_str(&render(value, indent, unit.unwrap_or("  ")));
    match container.items.last() {
        Some(last) => format!("{},{lead}{item}{}", &text[..last.end], &text[last.end..]),
        None => {
            let tail = if indent.is_some() { format!("\n{outer}") } else { String::new() };
            let (before, after) = (&text[..container.start], &text[container.end..]);
            format!("{before}{lead}{item}{tail}{after}")
        }
    }
}

/// Takes an item out, with the comma that parted it from its neighbour.
pub(super) fn remove_at(text: &str, container: &Container<'_>, position: usize) -> String {
    let items = &container.items;
    let (from, to) =
        match (position.checked_sub(1).map(|before| &items[before]), items.get(position + 1)) {
            (Some(before), _) => (before.end, items[position].end),
            (None, Some(after)) => (items[position].start, after.start),
            (None, None) => (container.start, container.end),
        };
    format!("{}{}", &text[..from], &text[to..])
}

fn render(value: &Value, indent: Option<&str>, unit: &str) -> String {
    let Some(indent) = indent else { return value.to_string() };
    let mut bytes = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(unit.as_bytes());
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
    match value.serialize(&mut serializer) {
        Ok(()) => String::from_utf8_lossy(&bytes).replace('\n', &format!("\n{indent}")),
        Err(_) => value.to_string(),
    }
}

/// Returns the indentation of the first line that has some.
fn indent_unit(text: &str) -> Option<&str> {
    text.lines().skip(1).find_map(|line| {
        let indent = &line[..line.len() - line.trim_start().len()];
        (!indent.is_empty() && !line.trim().is_empty()).then_some(indent)
    })
}

fn indent_of_line(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let line = &text[start..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

fn skip_space(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at + (rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len())
}

/// Finds the end of a value.
fn value_end(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (start, 0_usize);
    loop {
        match bytes.get(at)? {
            b'"' => {
                at += 1;
                while bytes.get(at)? != &b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            b'{' | b'[' => {
                depth += 1;
                at += 1;
                continue;
            }
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                at += 1;
            }
            b',' | b':' | b' ' | b'\t' | b'\n' | b'\r' => {
                at += 1;
                continue;
            }
            _ => {
                while !matches!(
                    bytes.get(at),
                    None | Some(b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r')
                ) {
                    at += 1;
                }
            }
        }
        if depth == 0 {
            return Some(at);
        }
    }
}
