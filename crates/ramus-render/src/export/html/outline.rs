//! Writes the outline of a transcript: links to its prompts, fork points and compactions.
//!
//! Documents are streamed, so the outline is written after the turns. The style sheet moves it before them.

use std::borrow::Cow;
use std::fmt::Write as _;

use ramus_core::turn::{Turn, TurnKind};

use super::prose::escaped_line;
use super::{close_document, fork_anchor};
use crate::export::OutlineCounts;
use crate::text::{count_noun, fork_summary};

/// The maximum number of characters of a prompt in the outline.
const MAX_WORD_CHARS: usize = 90;

/// Writes the entry of a turn.
pub(in crate::export) fn write_outline_entry(turn: &Turn, out: &mut String) -> OutlineCounts {
    let Some((class, anchor, words)) = entry_of_turn(turn) else { return OutlineCounts::default() };
    let mut short: String = words.trim().chars().take(MAX_WORD_CHARS).collect();
    if words.trim().chars().nth(MAX_WORD_CHARS).is_some() {
        short.push('…');
    }
    let words = match escaped_line(&short) {
        words if words.is_empty() => "(image)".to_owned(),
        words => words,
    };
    let _ = writeln!(out, "<li{class}><a href=\"#{anchor}\">{words}</a></li>");
    let is_fork = matches!(turn.kind, TurnKind::Fork(_));
    let is_prompt = matches!(turn.kind, TurnKind::Prompt(_) | TurnKind::Command(_));
    OutlineCounts { entries: 1, prompts: is_prompt.into(), forks: is_fork.into() }
}

/// Returns the class, the escaped anchor and the words of a turn's entry. `None`: it has none.
fn entry_of_turn(turn: &Turn) -> Option<(&'static str, String, Cow<'_, str>)> {
    let own = || turn.uuid.as_deref().map(escaped_line);
    Some(match &turn.kind {
        TurnKind::Prompt(prompt) => ("", own()?, prompt.text.as_str().into()),
        TurnKind::Command(command) if !command.name.is_empty() => {
            ("", own()?, format!("{} {}", command.name, command.args).into())
        }
        TurnKind::Compaction(_) => (" class=\"at-cut\"", own()?, "Compacted".into()),
        TurnKind::Fork(fork) => {
            let words = format!("Fork point ({})", fork_summary(fork.kind, fork.branches.len()));
            (" class=\"at-fork\"", fork_anchor(turn)?, words.into())
        }
        _ => return None,
    })
}

/// Closes the turns and opens the outline, if it has entries.
pub(in crate::export) fn write_outline_start(counts: OutlineCounts, out: &mut String) {
    out.push_str("</main>\n");
    if counts.entries > 0 {
        let mut sums = count_noun(counts.prompts, "prompt");
        if counts.forks > 0 {
            let _ = write!(sums, ", {}", count_noun(counts.forks, "fork"));
        }
        let _ = writeln!(
            out,
            "<nav id=\"outline\" class=\"noprint\" aria-label=\"Outline\"><details>\
             <summary>Outline <span class=\"out\">{sums}</span></summary><ol>"
        );
    }
}

/// Closes the outline and the document.
pub(in crate::export) fn write_outline_end(counts: OutlineCounts, out: &mut String) {
    if counts.entries > 0 {
        out.push_str("</ol></details></nav>\n");
    }
    close_document(out);
}
