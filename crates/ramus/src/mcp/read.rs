//! A path as Markdown, turn by turn.

use std::collections::VecDeque;

use ramus_app::conversation::each_turn;
use ramus_core::turn::{Turn, TurnKind};
use ramus_render::export::{self, DocumentFormat, ExportConfig, ToolDetail};
use ramus_store::trace::LinkedPathPart;

use super::brief;
use super::page::{FilledPage, PageRequest};
use super::tools::open_for;
use crate::args::Global;
use crate::error::{CommandError, ErrorKind};

/// How much of a transcript to return.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReadDepth {
    pub(super) tools: bool,
    pub(super) thinking: bool,
    /// Only so many turns from the end.
    pub(super) last: Option<usize>,
}

/// Reads a page of the path that an address means.
pub(super) fn read_path(
    global: &Global,
    address: &str,
    depth: ReadDepth,
    page: PageRequest,
) -> Result<FilledPage, CommandError> {
    let workspace = open_for(global, address)?;
    let open = workspace.open_conversation(workspace.resolve_address(address)?)?;
    let title = workspace
        .conversation_title(&open)
        .map(|title| format!(" “{}”", brief::clip_title(&title)));
    let title = title.unwrap_or_default();
    let id = &open.file.file.id;
    let head = brief::single_row(&format!("# {id}{title}"));
    let end =
        brief::single_row(&format!("{} branch, ends at {id}:{}", open.status, open.leaf_uuid()));
    let head = format!("{head}{end}\n");
    let mut pieces = VecDeque::new();
    let mut number = 0;
    // Turns before the page are read but not written; turns after it are not read.
    let mut room = page.budget_bytes();
    let short_ids = workspace.short_ids();
    for part in &open.parts {
        let short = short_ids.shorten_id(&part.file.id);
        let flow = each_turn(part, |turn| -> Result<(), CommandError> {
            number += 1;
            if let Some(last) = depth.last {
                // Turns without content are of no use to an agent.
                pieces.extend(
                    Some(turn_piece(part, short, &turn, depth)).filter(|text| !text.is_empty()),
                );
                if pieces.len() > last {
                    pieces.pop_front();
                }
            } else if number > page.first_piece() {
                if room == 0 {
                    return Err(end_of_page());
                }
                let text = turn_piece(part, short, &turn, depth);
                room = room.saturating_sub(text.len());
                pieces.push_back(text);
            }
            Ok(())
        });
        match flow {
            Err(error) if error.kind == ErrorKind::Nothing => break,
            flow => flow?,
        }
    }
    if depth.last.is_some() {
        pieces.drain(..page.first_piece().min(pieces.len()));
    }
    page.fill_with(&head, || Ok(pieces.pop_front()))
}

/// Stops reading; never shown to anyone.
fn end_of_page() -> CommandError {
    CommandError::nothing_found("")
}

fn turn_piece(part: &LinkedPathPart, id: &str, turn: &Turn, depth: ReadDepth) -> String {
    let session = &part.history.session;
    let config = ExportConfig {
        thinking: depth.thinking,
        tools: if depth.tools { ToolDetail::Full } else { ToolDetail::Brief },
        cwd: session.facts().cwd.as_deref().unwrap_or_default(),
        branch_link: &|node| {
            let name = session.record(node).uuid?;
            Some(format!("{}:{}", part.file.id, session.uuid_text(name)))
        },
        agent_link: &|call| call.agent.as_ref().map(|agent| format!("agent-{agent}")),
        picture_link: &|_| None,
    };
    let mut markdown = String::new();
    export::write_turn(DocumentFormat::Markdown, turn, &config, &mut markdown);
    // Anchors are for browsers.
    let lines = markdown.split_inclusive('\n').filter(|line| !line.starts_with("<a id=\""));
    let mut text: String = lines.collect();
    text.drain(..text.len() - text.trim_start_matches('\n').len());
    let speaks = matches!(turn.kind, TurnKind::Prompt(_) | TurnKind::Reply(_));
    if let (true, Some(uuid)) = (speaks && !text.is_empty(), &turn.short_uuid) {
        text = format!("{}\n[{id}:{uuid}]\n\n", text.trim_end());
    }
    text
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::Args;

    const TALK: &str = r"
a      user       one
b < a  assistant  first
c < b  user       two
d < c  assistant  second
e < d  thinking   x
";

    /// Reads the last turns of a conversation page by page. Returns the turns and the number of pages.
    fn read_last(address: &str, last: Option<usize>, budget: usize) -> (Vec<String>, usize) {
        let home = testkit::TestHome::new();
        home.write_session("-home-dev-app/aaaa1111.jsonl", TALK);
        let dir = home.claude_dir();
        let global = Args::parse_from(["ramus", "--claude-dir", dir.to_str().unwrap()]).global;
        let (mut shown, mut pages, mut cursor) = (String::new(), 0, None);
        loop {
            let page = PageRequest::new(Some(budget), cursor.as_deref()).unwrap();
            let text =
                read_path(&global, address, ReadDepth { last, ..ReadDepth::default() }, page)
                    .unwrap()
                    .into_text();
            pages += 1;
            let (body, next) = text.split_once("next_cursor: ").unwrap_or((&text, ""));
            // The heading contains the title, which is the first prompt here.
            shown.extend(body.lines().filter(|line| !line.starts_with("# ")));
            cursor = next.split_once(' ').map(|(cursor, _)| cursor.to_owned());
            if cursor.is_none() {
                let words = ["one", "first", "two", "second"];
                let found = words.iter().filter(|word| shown.contains(**word));
                return (found.map(|word| (*word).to_owned()).collect(), pages);
            }
        }
    }

    #[test]
    fn the_last_turns_are_those_before_the_end_of_the_path() {
        assert_eq!(read_last("aaaa", None, 2000).0, ["one", "first", "two", "second"]);
        assert_eq!(read_last("aaaa", Some(2), 2000).0, ["two", "second"]);
        assert_eq!(read_last("aaaa:c", Some(2), 2000).0, ["first", "two"]);
        assert_eq!(read_last("aaaa", Some(99), 2000).0, ["one", "first", "two", "second"]);
        assert!(read_last("aaaa", Some(0), 2000).0.is_empty());
    }

    #[test]
    fn a_cursor_continues_within_the_last_turns() {
        let (shown, pages) = read_last("aaaa", Some(3), 100);
        assert_eq!(shown, ["first", "two", "second"]);
        assert!(pages > 1);
    }
}
