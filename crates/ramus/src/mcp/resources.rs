//! Transcripts as resources: every session is one, and so is every address.

use rmcp::model::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate,
};

use super::brief;
use super::page::{PageRequest, visible_text};
use super::read::{ReadDepth, read_path};
use super::tools::open_workspace;
use crate::args::Global;
use crate::commands::sessions;
use crate::error::CommandError;

/// How the address of a transcript begins.
pub(super) const SCHEME: &str = "ramus://transcript/";
/// How many resources are listed at once.
const RESOURCES_PER_PAGE: usize = 50;
/// Tokens of a transcript per page; `?cursor=` after its name continues.
const RESOURCE_TOKENS: usize = 20_000;

/// Lists the sessions, the newest first.
pub(super) fn list_resources(
    global: &Global,
    cursor: Option<&str>,
) -> Result<ListResourcesResult, CommandError> {
    let from: usize = match cursor {
        Some(cursor) => cursor.parse().map_err(|_| {
            CommandError::user_error(format!("invalid cursor {cursor:?} for this list"))
        })?,
        None => 0,
    };
    let workspace = open_workspace(global)?;
    let short_ids = workspace.short_ids();
    let sessions = sessions::listed_sessions(&workspace, None)?;
    let page = sessions.iter().skip(from).take(RESOURCES_PER_PAGE);
    let resources = page.map(|row| {
        let title = brief::single_row(&visible_text(row.title.as_deref().unwrap_or(&row.id)));
        Resource::new(format!("{SCHEME}{}", row.id), title.trim_end())
            .with_description(
                brief::single_row(&visible_text(&brief::session_row(&short_ids, row))).trim_end(),
            )
            .with_mime_type("text/markdown")
    });
    let mut listed =
        ListResourcesResult { resources: resources.collect(), ..ListResourcesResult::default() };
    listed.next_cursor = (from + RESOURCES_PER_PAGE < sessions.len())
        .then(|| (from + RESOURCES_PER_PAGE).to_string());
    Ok(listed)
}

/// Describes how to address any other path.
pub(super) fn resource_templates() -> ListResourceTemplatesResult {
    let template = ResourceTemplate::new(format!("{SCHEME}{{address}}"), "transcript")
        .with_description("One path of a conversation as Markdown; address is SESSION, SESSION:UUID, SESSION@N or agent-ID. A long one ends with the address of the rest")
        .with_mime_type("text/markdown");
    ListResourceTemplatesResult {
        resource_templates: vec![template],
        ..ListResourceTemplatesResult::default()
    }
}

/// Returns the address in a resource's name, and the cursor.
pub(super) fn parse_uri(uri: &str) -> Option<(String, Option<String>)> {
    let name = uri.strip_prefix(SCHEME)?;
    let (name, cursor) = match name.split_once("?cursor=") {
        Some((name, cursor)) => (name, Some(cursor.to_owned())),
        None => (name, None),
    };
    let raw = name.as_bytes();
    let mut bytes = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let [byte, after @ ..] = rest {
        let hex = |digit: u8| char::from(digit).to_digit(16).map(|value| value as u8);
        rest = match after {
            [high, low, after @ ..] if *byte == b'%' => {
                bytes.push(hex(*high)? << 4 | hex(*low)?);
                after
            }
            _ => {
                bytes.push(*byte);
                after
            }
        };
    }
    let address = String::from_utf8(bytes).ok().filter(|address| !address.is_empty())?;
    Some((address, cursor))
}

/// Reads a transcript, cut to what a client takes.
pub(super) fn read_resource(
    global: &Global,
    uri: &str,
    address: &str,
    cursor: Option<&str>,
) -> Result<ReadResourceResult, CommandError> {
    let filled = read_path(
        global,
        address,
        ReadDepth::default(),
        PageRequest::new(Some(RESOURCE_TOKENS), cursor)?,
    )?;
    let name = uri.split('?').next().unwrap_or(uri);
    let text = filled.into_text_with(|at| format!("The rest is the resource {name}?cursor={at}"));
    Ok(ReadResourceResult::new(vec![
        ResourceContents::text(text, uri).with_mime_type("text/markdown"),
    ]))
}

#[cfg(test)]
mod tests {
    use super::parse_uri;

    #[test]
    fn names_of_resources_hold_addresses() {
        let check = |uri: &str| parse_uri(uri).unwrap_or_default().0;
        assert_eq!(check("ramus://transcript/3f9a2b1c:81b2"), "3f9a2b1c:81b2");
        assert_eq!(check("ramus://transcript/3f9a%402"), "3f9a@2");
        assert_eq!(check("ramus://transcript/"), "");
        assert_eq!(check("file:///etc/passwd"), "");
        assert_eq!(check("ramus://transcript/%zz"), "");
        let page = ("3f9a".to_owned(), Some("30.6503".to_owned()));
        assert_eq!(parse_uri("ramus://transcript/3f9a?cursor=30.6503"), Some(page));
    }
}
