//! Writes everything between prompts and replies in compact form (R16).

use ramus_core::branches::ForkKind;
use ramus_core::client_path::ResumeNote;
use ramus_core::message_tree::Placement;
use ramus_core::turn::{
    CommandTurn, Compaction, ForkTurn, ForkTurnBranch, HookEffect, Turn, TurnKind,
};

use super::line_writer::{LastWritten, LineWriter};
use super::{amounts, reply::wrap_text, text_view, tool_call};
use crate::layout;
use crate::span::{Label, Line};

/// Writes a turn that takes one line.
pub(super) fn write_note(page: &mut LineWriter<'_, '_>, turn: &Turn) {
    match &turn.kind {
        TurnKind::Interrupt { for_tool_use } => {
            let text = if *for_tool_use {
                "■ interrupted, tool call rejected"
            } else {
                "■ interrupted"
            };
            page.write_row(&Line::new(text, Label::Warning));
        }
        TurnKind::Synthetic(message) if message.is_api_error => {
            let status = message.status.map(|status| format!("{status} ")).unwrap_or_default();
            write_entry(page, "×", Label::Error, &format!("{status}{}", message.text));
            if let Some(details) = message.details.as_deref().filter(|_| page.config.tools) {
                let lines =
                    text_view::shortened_text(details, Label::Dim, page.config, page.text_width(4));
                page.write_below(&lines, &Line::plain("    "));
            }
        }
        TurnKind::Synthetic(message) => write_entry(page, "○", Label::Dim, &message.text),
        TurnKind::Notification(news) => {
            let from = news.from.as_deref().unwrap_or("a task");
            let status = news.status.as_deref().unwrap_or("reported");
            let text = match &news.summary {
                Some(summary) => summary.clone(),
                None => format!("{from} {status}"),
            };
            write_entry(page, "◆", Label::Branch, &text);
            if page.config.tools || news.summary.is_none() {
                let lines =
                    text_view::shortened_markdown(&news.text, page.config, page.text_width(4));
                page.write_below(&lines, &Line::plain("    "));
            }
        }
        TurnKind::Hook(hook) => {
            let (verb, label) = match hook.effect {
                HookEffect::Reported => ("reported", Label::Dim),
                HookEffect::Failed => ("failed", Label::Warning),
                HookEffect::Blocked => ("blocked", Label::Error),
            };
            let mut row = Line::new(&format!("  » hook {} {verb}", hook.name), label);
            let mut text = hook.text.trim();
            if !page.config.tools {
                row.push(": ", Label::Dim);
                row.push(text.lines().next().unwrap_or_default(), Label::Dim);
                text = "";
            }
            page.write_row(&row);
            let lines =
                text_view::shortened_text(text, Label::Plain, page.config, page.text_width(6));
            page.write_below(&lines, &Line::new("    │ ", Label::Dim));
        }
        TurnKind::Injected(text) => {
            page.write_row(&Line::new("  … added by Claude Code", Label::Dim));
            let lines = text_view::shortened_markdown(text, page.config, page.text_width(6));
            page.write_below(&lines, &Line::new("    │ ", Label::Dim));
        }
        TurnKind::File(file) => {
            let path = tool_call::relative_path(&file.path, page.config.cwd);
            let lines =
                file.text.as_ref().map(|text| amounts::count_noun(text.lines().count(), "line"));
            let what = if file.edited { "changed on disk" } else { "attached" };
            let size = lines.map(|lines| format!(", {lines}")).unwrap_or_default();
            page.write_row(&Line::new(&format!("  ◇ {path}  {what}{size}"), Label::Dim));
            if let Some(text) = file.text.as_ref().filter(|_| page.config.full) {
                let lines =
                    text_view::shortened_code(&file.path, text, page.config, page.text_width(6));
                page.write_below(&lines, &Line::new("    │ ", Label::Dim));
            }
        }
        TurnKind::Note(note) => {
            let label = match note.level.as_deref() {
                _ if note.kind == "api_error" => Label::Error,
                Some("error") => Label::Error,
                Some("warning") => Label::Warning,
                _ => Label::Note,
            };
            write_entry(page, "i", label, &note.text);
        }
        TurnKind::Resume(note) => write_entry(page, "◉", Label::Active, &resume_note(*note)),
        TurnKind::Guess(placement) => write_entry(page, "?", Label::Dim, guess_note(*placement)),
        TurnKind::Unknown { kind, value } => {
            page.write_row(&Line::new(&format!("? unknown record type “{kind}”"), Label::Warning));
            if page.config.tools {
                let text = format!("{value:#}");
                let lines =
                    text_view::shortened_text(&text, Label::Dim, page.config, page.text_width(4));
                page.write_below(&lines, &Line::plain("    "));
            }
        }
        TurnKind::Damaged { line, text } => {
            let text = match text.trim() {
                "" => format!("line {line} is damaged"),
                text => format!("line {line} is damaged; readable part: {text}"),
            };
            write_entry(page, "!", Label::Warning, &text);
        }
        _ => {}
    }
}

/// Returns a note where the client resumes with other messages than the reader sees.
pub fn resume_note(note: ResumeNote) -> String {
    let messages = |count: u32| amounts::count_noun(count as usize, "message");
    match note {
        ResumeNote { without, below: None } => {
            format!("Claude Code resumes without the {} above", messages(without))
        }
        ResumeNote { without: 0, below: Some(below) } => {
            format!("Claude Code resumes here, without the {} below", messages(below))
        }
        ResumeNote { without, below: Some(below) } => format!(
            "Claude Code resumes here, without the {} above and the {below} below",
            messages(without)
        ),
    }
}

/// Returns a note about why the position of the following record is a guess.
pub fn guess_note(placement: Placement) -> &'static str {
    match placement {
        Placement::NoParent => {
            "The next record has no parent. It is shown after the record before it in the file"
        }
        _ => {
            "The parent of the next record is not in this file. It is shown after the record before it"
        }
    }
}

/// Writes a text with a mark. It may take more than one line.
fn write_entry(page: &mut LineWriter<'_, '_>, mark: &str, label: Label, text: &str) {
    let lines = wrap_text(text.trim(), label, page.text_width(2));
    let Some((first, rest)) = lines.split_first() else { return };
    let mut row = Line::new(&format!("{mark} "), label);
    row.append(first);
    page.write_row(&row);
    page.write_below(rest, &Line::plain("  "));
}

pub(super) fn write_command(page: &mut LineWriter<'_, '_>, turn: &Turn, command: &CommandTurn) {
    let room = page.text_width(2);
    if !command.name.is_empty() {
        let args = command.args.trim();
        let mut header = Line::new(&format!("❯ {}", command.name), Label::Prompt);
        let space = if args.is_empty() { "" } else { " " };
        let beside = Line::plain(space).with(args, Label::Plain);
        // Arguments are shown in full like a prompt, below the name if they are long.
        let is_short =
            !args.contains('\n') && header.width() + beside.width() <= page.text_width(20);
        if is_short {
            header.append(&beside);
        }
        page.write_header(header, turn);
        if !is_short {
            page.write_block(&wrap_text(args, Label::Plain, room), &Line::new("▎ ", Label::Prompt));
        }
    }
    let mut lines = text_view::shortened_text(&command.stdout, Label::Dim, page.config, room);
    lines.extend(text_view::shortened_text(&command.stderr, Label::Error, page.config, room));
    page.write_block(&lines, &Line::plain("  "));
    page.last = LastWritten::Block;
}

pub(super) fn write_compaction(
    page: &mut LineWriter<'_, '_>,
    turn: &Turn,
    compaction: &Compaction,
) {
    let trigger = compaction.trigger.as_deref().filter(|trigger| !trigger.is_empty());
    let tokens = match (compaction.pre_tokens, compaction.post_tokens) {
        (Some(pre), Some(post)) => {
            format!("{} → {} tokens", amounts::grouped_digits(pre), amounts::grouped_digits(post))
        }
        (Some(pre), None) => format!("{} tokens", amounts::grouped_digits(pre)),
        _ => String::new(),
    };
    let words = [
        trigger.map_or("compacted".to_owned(), |trigger| format!("compacted ({trigger})")),
        tokens,
        turn.time.map(page.config.time).unwrap_or_default(),
    ];
    let words: Vec<String> = words.into_iter().filter(|word| !word.is_empty()).collect();
    let mut rule = Line::new("── ", Label::Branch);
    rule.push(&words.join("  "), Label::Branch);
    rule.push(" ", Label::Branch);
    let missing = page.config.width.saturating_sub(rule.width());
    rule.push(&"─".repeat(missing), Label::Branch);
    page.write_block(&[layout::truncate_line(&rule, page.config.width)], &Line::default());
    if let Some(summary) = &compaction.summary {
        let lines = text_view::shortened_markdown(summary, page.config, page.text_width(2));
        page.write_below(&lines, &Line::new("┊ ", Label::Branch));
    }
}

/// Returns the kind of a fork point and its number of branches: `edited prompt: 2 branches`.
pub fn fork_summary(kind: ForkKind, branches: usize) -> String {
    format!("{}: {branches} branches", fork_kind_phrase(kind))
}

/// Returns what happened at a fork point.
pub fn fork_kind_phrase(kind: ForkKind) -> &'static str {
    match kind {
        ForkKind::Edit => "edited prompt",
        ForkKind::Retry => "retry",
        ForkKind::Interrupt => "interrupted reply",
        ForkKind::Rewind => "rewind",
    }
}

/// Writes where the other branches of a fork point are.
pub(super) fn write_fork(page: &mut LineWriter<'_, '_>, fork: &ForkTurn) {
    if !page.config.branch_notes {
        return;
    }
    let taken = fork.branches.iter().any(|branch| branch.taken);
    let here = format!("┬ {}", fork_summary(fork.kind, fork.branches.len() + fork.more));
    let others: Vec<&ForkTurnBranch> =
        fork.branches.iter().filter(|branch| !branch.taken).collect();
    let mut lines = Vec::new();
    match (&others[..], taken) {
        ([only], true) if page.config.width >= 80 => {
            lines.extend(branch_lines(only, &format!("{here}; also: "), page));
        }
        (_, true) => lines.push(Line::new(&format!("{here}; also:"), Label::Branch)),
        (_, false) => lines.push(Line::new(&format!("{here}:"), Label::Branch)),
    }
    if others.len() > 1 || !taken || page.config.width < 80 {
        lines.extend(others.iter().flat_map(|other| branch_lines(other, "  ", page)));
    }
    let lines: Vec<Line> =
        lines.iter().map(|line| layout::truncate_line(line, page.config.width)).collect();
    page.write_block(&lines, &Line::default());
}

/// Returns one branch in one line, or with its address on a second line if the width is too small.
fn branch_lines(branch: &ForkTurnBranch, before: &str, page: &LineWriter<'_, '_>) -> Vec<Line> {
    let state = match (branch.draft, branch.current) {
        (true, _) => "draft",
        (_, true) => "current",
        _ => "abandoned",
    };
    let after = format!("({}, {state})", amounts::count_noun(branch.messages as usize, "message"));
    let address = branch.address.as_ref().map(|place| format!("{}{place}", page.config.show));
    let address = address.unwrap_or_default();
    let start = Line::new(before, Label::Branch);
    let fixed = start.width() + layout::display_width(&after) + 3;
    let one_line = fixed + layout::display_width(&address) + 3 + 16 <= page.config.width;
    let used = if one_line { fixed + layout::display_width(&address) + 3 } else { fixed };
    let room = page.config.width.saturating_sub(used).max(12);
    let words = layout::truncate_line(&Line::plain(branch.label.trim()), room);
    let mut line = start;
    let (open, close) = if branch.is_quote { ("“", "” ") } else { ("", " ") };
    line.push(open, Label::Plain);
    line.append(&words);
    line.push(close, Label::Plain);
    line.push(&after, Label::Dim);
    let mut link = Line::new(if one_line { " → " } else { "  → " }, Label::Dim);
    link.push(&address, Label::Link);
    if address.is_empty() {
        vec![line]
    } else if one_line {
        line.append(&link);
        vec![line]
    } else {
        vec![line, link]
    }
}
