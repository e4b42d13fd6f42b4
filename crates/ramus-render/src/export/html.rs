//! Writes a transcript as one HTML file that needs no network and runs nothing from the transcript.
//!
//! Everything is escaped. Markdown is rendered here; HTML in it is shown as text and its links are
//! restricted. The content security policy allows one style sheet and one script by their hashes.

mod code;

mod outline;

mod document;

mod prose;

use std::fmt::Write as _;

use ramus_core::body::{ContentBlock, Media, TokenUsage};
use ramus_core::turn::{
    CommandTurn, Compaction, ForkTurn, Reply, ReplyPart, Thought, ToolCall, Turn, TurnKind,
};

use super::call::{DocumentSection, document_sections, has_succeeded, output_tail, summarize_call};
use super::head::utc_time;
use super::{ExportConfig, ToolDetail, phrases};
use crate::text::{
    count_noun, fork_summary, format_tokens, grouped_digits, guess_note, media_label, model_name,
    resume_note,
};
use code::write_code;
pub(super) use document::{close_document, open_document, write_head};
pub(super) use outline::{write_outline_end, write_outline_entry, write_outline_start};
use prose::{escape_sanitized, escaped_line, write_prose};

/// Closes the document.
pub(super) fn write_foot(out: &mut String) {
    out.push_str("</main>\n");
    close_document(out);
}

/// Formats the first words of a path.
pub(super) fn format_first_words(words: &str) -> String {
    escaped_line(words)
}

/// Writes one turn.
pub(super) fn write_turn(turn: &Turn, config: &ExportConfig<'_>, out: &mut String) {
    match &turn.kind {
        TurnKind::Prompt(prompt) => {
            let who = if prompt.delegated { "Task" } else { "You" };
            open_section(turn, "you", who, if prompt.queued { "queued" } else { "" }, out);
            if !prompt.text.is_empty() {
                out.push_str("<div class=\"body\">");
                escape_sanitized(prompt.text.trim_end(), out);
                out.push_str("</div>\n");
            }
            prompt.media.iter().for_each(|media| write_picture(media, config, out));
            out.push_str("</section>\n");
        }
        TurnKind::Reply(answer) => write_reply(turn, answer, config, out),
        TurnKind::Result(call) => write_call(call, config, out),
        TurnKind::Command(command) => write_command(turn, command, out),
        TurnKind::Compaction(compaction) => write_compaction(turn, compaction, out),
        TurnKind::Fork(fork) => write_fork(turn, fork, config, out),
        TurnKind::File(file) => {
            let what = if file.edited { "changed on disk" } else { "attached" };
            let title = format!("📎 <code>{}</code> {what}", escaped_line(&file.path));
            match file.text.as_deref().filter(|_| config.tools == ToolDetail::Full) {
                Some(text) => write_details("", &title, out, |out| write_code("", text, out)),
                None => {
                    let _ = writeln!(out, "<p class=\"line\">{title}</p>");
                }
            }
        }
        kind => write_aside(kind, config, out),
    }
}

fn write_aside(kind: &TurnKind, config: &ExportConfig<'_>, out: &mut String) {
    match kind {
        TurnKind::Interrupt { for_tool_use: true } => {
            write_note("bad", "■ Interrupted: tool call rejected", out);
        }
        TurnKind::Interrupt { .. } => write_note("bad", "■ Interrupted", out),
        TurnKind::Synthetic(message) if message.is_api_error => {
            write_note("bad", &format!("✗ {}", message.text), out);
        }
        TurnKind::Synthetic(message) => write_note("", &format!("○ {}", message.text), out),
        TurnKind::Notification(news) => {
            let phrase = phrases::notification_text(news);
            if news.text.trim().is_empty() {
                return write_note("", &format!("◆ {phrase}"), out);
            }
            write_details("", &format!("◆ {}", escaped_line(&phrase)), out, |out| {
                write_prose(&news.text, out);
            });
        }
        TurnKind::Hook(hook) if config.tools != ToolDetail::None => {
            let verb = phrases::hook_verb(hook.effect);
            let title = format!("⚑ hook <code>{}</code> {verb}", escaped_line(&hook.name));
            write_details("", &title, out, |out| write_code("", &hook.text, out));
        }
        TurnKind::Note(message) => write_note("", &format!("ℹ {}", message.text), out),
        TurnKind::Resume(at) => write_note("", &format!("◉ {}", resume_note(*at)), out),
        TurnKind::Guess(at) => write_note("", &format!("? {}", guess_note(*at)), out),
        TurnKind::Injected(text) => {
            write_details("", "⋯ Added by Claude Code", out, |out| write_prose(text, out));
        }
        TurnKind::Unknown { kind, value } => {
            let title = format!("? Unknown record type <code>{}</code>", escaped_line(kind));
            write_details("", &title, out, |out| write_code("json", &format!("{value:#}"), out));
        }
        TurnKind::Damaged { line, text } => {
            write_note("bad", &format!("⚠ Line {line} is damaged; readable part: {text}"), out);
        }
        _ => {}
    }
}

fn write_reply(turn: &Turn, answer: &Reply, config: &ExportConfig<'_>, out: &mut String) {
    let start = out.len();
    let model = answer.model.as_deref().map(model_name).unwrap_or_default();
    open_section(turn, &reply_class(answer, config), "Claude", model, out);
    if let Some(used) = answer.requests.last() {
        write_tokens(&used.usage, out);
    }
    let body = out.len();
    for part in &answer.parts {
        match part {
            ReplyPart::Text(text) => {
                out.push_str("<div class=\"say\">");
                write_prose(text, out);
                out.push_str("</div>\n");
            }
            ReplyPart::Thinking(thought) => write_thought(thought, config, out),
            ReplyPart::Call(call) => write_call(call, config, out),
            ReplyPart::Media(media) => write_picture(media, config, out),
            ReplyPart::Fallback { from, to } => {
                let phrase = phrases::fallback_text(from.as_deref(), to.as_deref());
                write_note("", &format!("↪ {phrase}"), out);
            }
            ReplyPart::Unknown(value) => write_code("json", &value.to_string(), out),
        }
    }
    // A reply without visible parts gets no heading.
    if out.len() == body {
        out.truncate(start);
    } else {
        out.push_str("</section>\n");
    }
}

/// Returns the CSS classes of a reply: which kinds of parts it has, for the filters.
fn reply_class(answer: &Reply, config: &ExportConfig<'_>) -> String {
    let (mut says, mut calls, mut thinks) = (false, false, false);
    for part in &answer.parts {
        match part {
            ReplyPart::Call(_) => calls |= config.tools != ToolDetail::None,
            ReplyPart::Thinking(_) => thinks |= config.thinking,
            _ => says = true,
        }
    }
    let mut class = "claude".to_owned();
    for (has, name) in [(says, " says"), (calls, " calls"), (thinks, " thinks")] {
        if has {
            class.push_str(name);
        }
    }
    class
}

/// Adds the tokens of a message to its heading, which was just written.
fn write_tokens(usage: &TokenUsage, out: &mut String) {
    let (context, output) = (usage.context_tokens(), usage.output_tokens);
    if context == 0 && output == 0 {
        return;
    }
    out.truncate(out.trim_end_matches("</h2>\n").len());
    let _ = writeln!(
        out,
        "<small class=\"tokens\" title=\"{} output tokens; {} input tokens: {} new, {} cache read, {} cache write\">\
         {} out · {} in</small></h2>",
        grouped_digits(output),
        grouped_digits(context),
        grouped_digits(usage.input_tokens),
        grouped_digits(usage.cache_read_input_tokens),
        grouped_digits(usage.cache_creation_input_tokens),
        format_tokens(output),
        format_tokens(context),
    );
}

fn write_thought(thought: &Thought, config: &ExportConfig<'_>, out: &mut String) {
    match thought {
        _ if !config.thinking => {}
        Thought::Text(text) => {
            write_details("thought", "∴ Thinking", out, |out| write_prose(text, out));
        }
        Thought::Withheld { .. } => write_note("thought", "∴ Thinking (withheld)", out),
        Thought::Redacted { .. } => write_note("thought", "∴ Thinking (encrypted)", out),
    }
}

fn write_call(call: &ToolCall, config: &ExportConfig<'_>, out: &mut String) {
    if config.tools == ToolDetail::None {
        return;
    }
    let message = summarize_call(call, config);
    let mut title = format!("<b>{}</b>", escaped_line(&message.name));
    if !message.subject.is_empty() {
        let _ = write!(title, " <code>{}</code>", escaped_line(&message.subject));
    }
    if !message.outcome.is_empty() {
        let outcome = match message.outcome.strip_prefix("→ ") {
            Some(words) if has_succeeded(call) => format!("✓ {words}"),
            _ => message.outcome.clone(),
        };
        let _ = write!(title, " <span class=\"out\">{}</span>", escaped_line(&outcome));
    }
    // The end of a command's output is visible while the call is folded.
    if let Some(tail) = output_tail(call) {
        title.push_str("<span class=\"tail\">");
        escape_sanitized(&tail, &mut title);
        title.push_str("</span>");
    }
    write_details(if message.failed { "tool bad" } else { "tool" }, &title, out, |out| {
        for section in document_sections(call, config) {
            write_section(&section, config.tools, out);
        }
        for block in call.result.iter().flat_map(|result| &result.content) {
            if let ContentBlock::Image(media) | ContentBlock::Document(media) = block {
                write_picture(media, config, out);
            }
        }
        if let Some(href) = (config.agent_link)(call) {
            let _ =
                writeln!(out, "<p><a href=\"{}\">Agent transcript</a></p>", escaped_line(&href));
        }
    });
}

fn write_section(section: &DocumentSection<'_>, tools: ToolDetail, out: &mut String) {
    let left_out = |lines: usize| format!("… {} left out", count_noun(lines, "more line"));
    match section {
        DocumentSection::Code { language, text } => write_code(language, text, out),
        DocumentSection::Error(text) => write_code("", text, out),
        DocumentSection::Markdown(text) => write_prose(text, out),
        DocumentSection::Feedback(text) => {
            out.push_str("<blockquote>");
            escape_sanitized(text, out);
            out.push_str("</blockquote>\n");
        }
        DocumentSection::Diff(diff) => {
            let (text, hidden) = diff.unified_text(tools);
            write_code("diff", &text, out);
            if hidden > 0 {
                write_note("", &left_out(hidden), out);
            }
        }
        DocumentSection::Description(text) => write_note("", text, out),
        DocumentSection::LeftOut(lines) => write_note("", &left_out(*lines), out),
    }
}

fn write_command(turn: &Turn, command: &CommandTurn, out: &mut String) {
    open_section(
        turn,
        "you",
        if command.name.is_empty() { "Output" } else { "You" },
        "command",
        out,
    );
    if !command.name.is_empty() {
        write_code("sh", format!("{} {}", command.name, command.args).trim(), out);
    }
    for text in [&command.stdout, &command.stderr] {
        if !text.trim().is_empty() {
            write_code("", text, out);
        }
    }
    out.push_str("</section>\n");
}

fn write_compaction(turn: &Turn, compaction: &Compaction, out: &mut String) {
    open_section(turn, "cut", "Compacted", compaction.trigger.as_deref().unwrap_or_default(), out);
    if let Some(tokens) = phrases::compaction_tokens(compaction) {
        write_note("", &tokens, out);
    }
    if let Some(summary) = &compaction.summary {
        write_details("", "Summary", out, |out| write_prose(summary, out));
    }
    out.push_str("</section>\n");
}

fn write_fork(turn: &Turn, fork: &ForkTurn, config: &ExportConfig<'_>, out: &mut String) {
    let branches = fork.branches.len() + fork.more;
    let id = fork_anchor(turn).map(|anchor| format!(" id=\"{anchor}\"")).unwrap_or_default();
    let _ = write!(
        out,
        "<div class=\"fork\"{id}><b>Fork point</b> ({})<ul>",
        fork_summary(fork.kind, branches)
    );
    for branch in fork.branches.iter().filter(|branch| !branch.taken) {
        let state = phrases::branch_state(branch);
        let words = escaped_line(&branch.label);
        out.push_str("<li>");
        match (config.branch_link)(branch.leaf) {
            Some(href) => {
                let _ = write!(out, "<a href=\"{}\">{words}</a>", escaped_line(&href));
            }
            None => out.push_str(&words),
        }
        let messages = count_noun(branch.messages as usize, "message");
        let _ = write!(out, " <span class=\"note\">{messages}, {state}</span></li>");
    }
    if fork.more > 0 {
        let _ = write!(out, "<li>and {} more</li>", fork.more);
    }
    out.push_str("</ul></div>\n");
}

/// Returns the escaped anchor of a fork point. The record before it has an anchor of its own.
fn fork_anchor(turn: &Turn) -> Option<String> {
    turn.uuid.as_deref().map(|uuid| format!("fork-{}", escaped_line(uuid)))
}

/// Opens the section of a turn, with its anchor and time.
fn open_section(turn: &Turn, class: &str, who: &str, detail: &str, out: &mut String) {
    let _ = write!(out, "<section class=\"{class}\"");
    let anchor = turn.uuid.as_deref().map(escaped_line);
    if let Some(uuid) = &anchor {
        let _ = write!(out, " id=\"{uuid}\"");
    }
    let _ = write!(out, "><h2><span>{who}</span> <small>{}</small>", escaped_line(detail));
    if let Some(time) = turn.time {
        let href = anchor.map(|uuid| format!(" href=\"#{uuid}\"")).unwrap_or_default();
        let _ = write!(
            out,
            "<small><a{href}><time datetime=\"{time}\">{}</time></a></small>",
            utc_time(time)
        );
    }
    if turn.recovered {
        out.push_str("<small>recovered from a damaged line</small>");
    }
    out.push_str("</h2>\n");
}

fn write_details(class: &str, title: &str, out: &mut String, inside: impl FnOnce(&mut String)) {
    let _ = write!(out, "<details class=\"{class}\"><summary>{title}</summary><div class=\"in\">");
    inside(out);
    out.push_str("</div></details>\n");
}

fn write_note(class: &str, text: &str, out: &mut String) {
    let _ = writeln!(out, "<p class=\"line {class}\">{}</p>", escaped_line(text));
}

fn write_picture(media: &Media, config: &ExportConfig<'_>, out: &mut String) {
    let name = escaped_line(&self::media_label(media));
    match (config.picture_link)(media) {
        Some(address) => {
            let _ = writeln!(out, "<p><img alt=\"{name}\" loading=\"lazy\" src=\"{address}\"></p>");
        }
        None => {
            let _ = writeln!(out, "<p class=\"line\">{name}</p>");
        }
    }
}
