//! Writes the outline of a transcript: links to its prompts, fork points and compactions.
//!
//! Documents are streamed, so the outline is written after the turns. The style sheet moves it before them.

use std::fmt::Write as _;

use ramus_core::turn::{Turn, TurnKind};

use super::prose::escaped_line;
use super::{close_document, fork_anchor};
use crate::export::{OutlineEntry, OutlineKind};
use crate::text::{count_noun, fork_summary};

/// The maximum number of characters of a prompt in the outline.
const MAX_WORD_CHARS: usize = 90;

pub(in crate::export) fn outline_entry(turn: &Turn) -> Option<OutlineEntry> {
    let own = || turn.uuid.as_deref().map(escaped_line);
    let (kind, anchor, words) = match &turn.kind {
        TurnKind::Prompt(prompt) => (OutlineKind::Prompt, own()?, prompt.text.clone()),
        TurnKind::Command(command) if !command.name.is_empty() => {
            (OutlineKind::Prompt, own()?, format!("{} {}", command.name, command.args))
        }
        TurnKind::Compaction(_) => (OutlineKind::Compaction, own()?, "Compacted".to_owned()),
        TurnKind::Fork(fork) => {
            let words = format!("Fork point ({})", fork_summary(fork.kind, fork.branches.len()));
            (OutlineKind::Fork, fork_anchor(turn)?, words)
        }
        _ => return None,
    };
    let mut short: String = words.trim().chars().take(MAX_WORD_CHARS).collect();
    if words.trim().chars().nth(MAX_WORD_CHARS).is_some() {
        short.push('…');
    }
    let words = match escaped_line(&short) {
        words if words.is_empty() => "(image)".to_owned(),
        words => words,
    };
    Some(OutlineEntry { kind, anchor, words })
}

pub(in crate::export) fn write_foot_with_outline<'a>(
    outline: impl Iterator<Item = &'a OutlineEntry>,
    out: &mut String,
) {
    out.push_str("</main>\n");
    let mut list = String::new();
    let (mut prompts, mut forks) = (0, 0);
    for OutlineEntry { kind, anchor, words } in outline {
        let class = match kind {
            OutlineKind::Prompt => "",
            OutlineKind::Fork => " class=\"at-fork\"",
            OutlineKind::Compaction => " class=\"at-cut\"",
        };
        prompts += usize::from(*kind == OutlineKind::Prompt);
        forks += usize::from(*kind == OutlineKind::Fork);
        let _ = writeln!(list, "<li{class}><a href=\"#{anchor}\">{words}</a></li>");
    }
    if !list.is_empty() {
        let mut sums = count_noun(prompts, "prompt");
        if forks > 0 {
            let _ = write!(sums, ", {}", count_noun(forks, "fork"));
        }
        let _ = write!(
            out,
            "<nav id=\"outline\" class=\"noprint\" aria-label=\"Outline\"><details>\
             <summary>Outline <span class=\"out\">{sums}</span></summary><ol>\n{list}</ol></details></nav>\n"
        );
    }
    close_document(out);
}
