//! Writes a transcript as Markdown that renders well on any code host.

use std::borrow::Cow;
use std::fmt::Write as _;

use ramus_core::body::{ContentBlock, Media};
use ramus_core::turn::{
    CommandTurn, Compaction, ForkTurn, Reply, ReplyPart, Thought, ToolCall, Turn, TurnKind,
};

use super::call::{DocumentSection, document_sections, summarize_call};
use super::contained_markdown::{contain_markdown, write_fenced};
use super::head::{COMPACTED_NOTE, TOTAL_MESSAGES, TranscriptHeader, utc_time};
use super::{ExportConfig, ToolDetail, phrases};
use crate::text::{count_noun, fork_summary, guess_note, media_label, model_name, resume_note};

/// Writes what comes before the turns.
pub(super) fn write_head(header: &TranscriptHeader, out: &mut String) {
    out.push_str("# CLAUDE CODE SESSION TRANSCRIPT\n\n");
    for (name, value) in header.header_rows() {
        if name == TOTAL_MESSAGES && header.compactions > 0 {
            let _ = writeln!(out, "**{}** - {}  ", COMPACTED_NOTE.0, COMPACTED_NOTE.1);
        }
        // Two spaces force a line break.
        let _ = writeln!(out, "{name}: {}  ", escape_inline(&value));
    }
    if header.siblings.len() > 1 {
        out.push_str("\n| Path | Status | Messages | Begins with |\n|---|---|---|---|\n");
        let (siblings, others) = header.nearest_siblings();
        for sibling in siblings {
            let name = match &sibling.href {
                _ if sibling.path == header.path => format!("**{}**", sibling.path),
                Some(href) => format!("[{}]({href})", sibling.path),
                None => sibling.path.to_string(),
            };
            let resumes = if sibling.resumes { ", resumes" } else { "" };
            let words = &sibling.formatted_words;
            let (status, messages) = (sibling.status, sibling.messages);
            let _ = writeln!(out, "| {name} | {status}{resumes} | {messages} | {words} |");
        }
        if others > 0 {
            let _ = write!(out, "\n{} in this session\n", count_noun(others, "more path"));
        }
    }
    if let Some(index) = &header.index {
        let _ = write!(out, "\n[All transcripts]({index})\n");
    }
    out.push_str("\n---\n\n");
}

/// Formats the first words of a path.
pub(super) fn format_first_words(words: &str) -> String {
    escape_inline(&shorten_words(words)).into_owned()
}

/// Writes one turn.
pub(super) fn write_turn(turn: &Turn, config: &ExportConfig<'_>, out: &mut String) {
    match &turn.kind {
        TurnKind::Prompt(prompt) => {
            let who = if prompt.delegated { "Task" } else { "You" };
            write_heading(turn, who, if prompt.queued { "queued" } else { "" }, out);
            write_quote(&contain_markdown(&prompt.text), out);
            prompt.media.iter().for_each(|media| write_picture(media, config, out));
        }
        TurnKind::Reply(answer) => write_reply(turn, answer, config, out),
        TurnKind::Result(call) => write_call(call, config, out),
        TurnKind::Command(command) => write_command(turn, command, out),
        TurnKind::Compaction(compaction) => write_compaction(turn, compaction, out),
        TurnKind::Fork(fork) => write_fork(fork, config, out),
        TurnKind::File(file) => {
            let what = if file.edited { "changed on disk" } else { "attached" };
            let title = format!("📎 <code>{}</code> {what}", escape_html(&file.path));
            let code = file.text.as_deref().filter(|_| config.tools == ToolDetail::Full);
            match code {
                Some(text) => write_details(&title, out, |out| write_fenced("", text, out)),
                None => write_note("📎", &format!("{} {what}", file.path), out),
            }
        }
        kind => write_aside(kind, config, out),
    }
}

fn write_aside(kind: &TurnKind, config: &ExportConfig<'_>, out: &mut String) {
    match kind {
        TurnKind::Interrupt { for_tool_use: true } => {
            write_note("■", "Interrupted: tool call rejected", out);
        }
        TurnKind::Interrupt { .. } => write_note("■", "Interrupted", out),
        TurnKind::Synthetic(message) => {
            let mark = if message.is_api_error { "✗" } else { "○" };
            write_note(mark, &message.text, out);
        }
        TurnKind::Notification(news) => {
            let phrase = phrases::notification_text(news);
            if news.text.trim().is_empty() {
                return write_note("◆", &phrase, out);
            }
            write_details(&format!("◆ {}", escape_html(&phrase)), out, |out| {
                write_block(&contain_markdown(&news.text), out);
            });
        }
        TurnKind::Hook(hook) if config.tools != ToolDetail::None => {
            let verb = phrases::hook_verb(hook.effect);
            let title = format!("⚑ hook <code>{}</code> {verb}", escape_html(&hook.name));
            write_details(&title, out, |out| write_fenced("", &hook.text, out));
        }
        TurnKind::Note(message) => write_note("ℹ", &message.text, out),
        TurnKind::Resume(at) => write_note("◉", &resume_note(*at), out),
        TurnKind::Guess(at) => write_note("?", guess_note(*at), out),
        TurnKind::Injected(text) => {
            write_details("⋯ Added by Claude Code", out, |out| {
                write_block(&contain_markdown(text), out);
            });
        }
        TurnKind::Unknown { kind, value } => {
            let title = format!("? Unknown record type <code>{}</code>", escape_html(kind));
            write_details(&title, out, |out| write_fenced("json", &format!("{value:#}"), out));
        }
        TurnKind::Damaged { line, text } => {
            write_note("⚠", &format!("Line {line} is damaged; readable part: {text}"), out);
        }
        _ => {}
    }
}

fn write_reply(turn: &Turn, answer: &Reply, config: &ExportConfig<'_>, out: &mut String) {
    let start = out.len();
    let model = answer.model.as_deref().map(model_name).unwrap_or_default();
    write_heading(turn, "Claude", model, out);
    let body = out.len();
    for part in &answer.parts {
        match part {
            ReplyPart::Text(text) => write_block(&contain_markdown(text), out),
            ReplyPart::Thinking(thought) => write_thought(thought, config, out),
            ReplyPart::Call(call) => write_call(call, config, out),
            ReplyPart::Media(media) => write_picture(media, config, out),
            ReplyPart::Fallback { from, to } => {
                write_note("↪", &phrases::fallback_text(from.as_deref(), to.as_deref()), out);
            }
            ReplyPart::Unknown(value) => write_fenced("json", &value.to_string(), out),
        }
    }
    // A reply without visible parts gets no heading.
    if out.len() == body {
        out.truncate(start);
    }
}

fn write_thought(thought: &Thought, config: &ExportConfig<'_>, out: &mut String) {
    match thought {
        _ if !config.thinking => {}
        Thought::Text(text) => {
            write_details("∴ Thinking", out, |out| write_block(&contain_markdown(text), out));
        }
        Thought::Withheld { .. } => write_note("∴", "Thinking (withheld)", out),
        Thought::Redacted { .. } => write_note("∴", "Thinking (encrypted)", out),
    }
}

fn write_call(call: &ToolCall, config: &ExportConfig<'_>, out: &mut String) {
    if config.tools == ToolDetail::None {
        return;
    }
    let message = summarize_call(call, config);
    let mark = if message.failed { "✗" } else { "⏺" };
    let mut title = format!("{mark} <b>{}</b>", escape_html(&message.name));
    if !message.subject.is_empty() {
        let _ = write!(title, " <code>{}</code>", escape_html(&message.subject));
    }
    if !message.outcome.is_empty() {
        let _ = write!(title, " {}", escape_html(&message.outcome));
    }
    write_details(&title, out, |out| {
        for section in document_sections(call, config) {
            write_section(&section, config.tools, out);
        }
        let pictures = call.result.iter().flat_map(|result| &result.content);
        for media in pictures.filter_map(block_media) {
            write_picture(media, config, out);
        }
        if let Some(href) = (config.agent_link)(call) {
            let _ = write!(out, "[Agent transcript]({href})\n\n");
        }
    });
}

fn write_section(section: &DocumentSection<'_>, tools: ToolDetail, out: &mut String) {
    let left_out = |lines: usize| format!("*… {} left out*", count_noun(lines, "more line"));
    match section {
        DocumentSection::Code { language, text } => write_fenced(language, text, out),
        DocumentSection::Error(text) => write_fenced("text", text, out),
        DocumentSection::Markdown(text) => write_quote(&contain_markdown(text), out),
        DocumentSection::Feedback(text) => write_quote(&contain_markdown(text), out),
        DocumentSection::Diff(diff) => {
            let (text, hidden) = diff.unified_text(tools);
            write_fenced("diff", &text, out);
            if hidden > 0 {
                let _ = writeln!(out, "\n{}", left_out(hidden));
            }
        }
        DocumentSection::Description(text) => {
            let _ = writeln!(out, "{}", escape_inline(text.trim()));
        }
        DocumentSection::LeftOut(lines) => {
            let _ = writeln!(out, "{}", left_out(*lines));
        }
    }
    out.push('\n');
}

fn write_command(turn: &Turn, command: &CommandTurn, out: &mut String) {
    if !command.name.is_empty() {
        write_heading(turn, "You", "command", out);
        write_fenced("", format!("{} {}", command.name, command.args).trim(), out);
        out.push('\n');
    }
    for text in [&command.stdout, &command.stderr] {
        if !text.trim().is_empty() {
            write_fenced("text", text, out);
            out.push('\n');
        }
    }
}

fn write_compaction(turn: &Turn, compaction: &Compaction, out: &mut String) {
    write_heading(turn, "Compacted", compaction.trigger.as_deref().unwrap_or_default(), out);
    if let Some(tokens) = phrases::compaction_tokens(compaction) {
        write_note("┄", &tokens, out);
    }
    if let Some(summary) = &compaction.summary {
        write_details("Summary", out, |out| write_block(&contain_markdown(summary), out));
    }
}

fn write_fork(fork: &ForkTurn, config: &ExportConfig<'_>, out: &mut String) {
    let _ = writeln!(out, "> ⑂ **{}**  ", fork_summary(fork.kind, fork.branches.len() + fork.more));
    for branch in fork.branches.iter().filter(|branch| !branch.taken) {
        let state = phrases::branch_state(branch);
        let words = format_first_words(&branch.label);
        let words = match (config.branch_link)(branch.leaf) {
            Some(href) => format!("[{}]({href})", words.replace(['[', ']'], "")),
            None => words,
        };
        let messages = count_noun(branch.messages as usize, "message");
        let _ = writeln!(out, "> also: {words} ({messages}, {state})  ");
    }
    if fork.more > 0 {
        let _ = writeln!(out, "> and {} more  ", fork.more);
    }
    out.push('\n');
}

/// Writes the heading of a turn, with its anchor and time.
fn write_heading(turn: &Turn, who: &str, detail: &str, out: &mut String) {
    if let Some(uuid) = &turn.uuid {
        let _ = writeln!(out, "<a id=\"{}\"></a>\n", escape_html(uuid));
    }
    let _ = write!(out, "## {who}");
    let time = turn.time.map(utc_time).unwrap_or_default();
    let damaged = if turn.recovered { "recovered from a damaged line" } else { "" };
    for word in [detail, &time, damaged].into_iter().filter(|word| !word.is_empty()) {
        let _ = write!(out, " · {}", escape_inline(word));
    }
    out.push_str("\n\n");
}

fn write_details(title: &str, out: &mut String, inside: impl FnOnce(&mut String)) {
    let _ = write!(out, "<details>\n<summary>{title}</summary>\n\n");
    inside(out);
    if !out.ends_with("\n\n") {
        out.push('\n');
    }
    out.push_str("</details>\n\n");
}

fn write_block(text: &str, out: &mut String) {
    out.push_str(text.trim_matches('\n'));
    out.push_str("\n\n");
}

/// Writes text as a quote and keeps its line breaks.
fn write_quote(text: &str, out: &mut String) {
    let text = text.trim_matches('\n');
    // Growing step by step would hold a text of many megabytes twice.
    let lines = memchr::memchr_iter(b'\n', text.as_bytes()).count() + 1;
    const MARGIN_BYTES: usize = "> ".len() + "  \n".len();
    out.reserve(text.len() + lines * MARGIN_BYTES);
    for line in text.lines() {
        out.push_str("> ");
        out.push_str(line);
        out.push_str("  \n");
    }
    out.push('\n');
}

fn write_note(mark: &str, text: &str, out: &mut String) {
    let _ = write!(out, "*{mark}* {}\n\n", escape_inline(text.trim()));
}

fn write_picture(media: &Media, config: &ExportConfig<'_>, out: &mut String) {
    let name = self::media_label(media);
    let name = escape_inline(name.trim_matches(['[', ']']));
    match (config.picture_link)(media) {
        Some(address) => {
            let _ = write!(out, "![{name}]({address})\n\n");
        }
        None => write_note("▣", &name, out),
    }
}

fn block_media(block: &ContentBlock) -> Option<&Media> {
    match block {
        ContentBlock::Image(media) | ContentBlock::Document(media) => Some(media),
        _ => None,
    }
}

fn shorten_words(words: &str) -> String {
    let words: Vec<&str> = words.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(100) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// Returns a text as one line with escaped Markdown.
pub(super) fn escape_inline(text: &str) -> Cow<'_, str> {
    escape_line(text, |char| {
        Some(match char {
            '<' => "&lt;",
            '&' => "&amp;",
            '\\' => "\\\\",
            '`' => "\\`",
            '*' => "\\*",
            '_' => "\\_",
            '[' => "\\[",
            ']' => "\\]",
            '#' => "\\#",
            '|' => "\\|",
            '~' => "\\~",
            '!' => "\\!",
            _ => return None,
        })
    })
}

/// Returns a text as one line with escaped HTML.
pub(super) fn escape_html(text: &str) -> Cow<'_, str> {
    escape_line(text, |char| {
        Some(match char {
            '<' => "&lt;",
            '>' => "&gt;",
            '&' => "&amp;",
            '"' => "&quot;",
            '\'' => "&#39;",
            _ => return None,
        })
    })
}

/// Joins the words of a text with single spaces, and escapes characters by `sign`.
fn escape_line(text: &str, sign: fn(char) -> Option<&'static str>) -> Cow<'_, str> {
    if is_plain_line(text) {
        return Cow::Borrowed(text);
    }
    let clean = crate::sanitize::sanitize_text(text);
    let mut out = String::with_capacity(clean.len() + 16);
    for word in clean.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        for char in word.chars() {
            match sign(char) {
                Some(sign) => out.push_str(sign),
                None => out.push(char),
            }
        }
    }
    Cow::Owned(out)
}

/// Whether a text is one line that needs no escapes, as most ids, times and paths.
fn is_plain_line(text: &str) -> bool {
    let is_plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'/' | b':');
    text.split(' ').all(|word| !word.is_empty() && word.bytes().all(is_plain))
}
