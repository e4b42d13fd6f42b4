//! Writes a transcript as Markdown that renders well on any code host.

use std::borrow::Cow;
use std::fmt::Write as _;

use ramus_core::body::{Block, Media};
use ramus_core::turn::{Answer, Call, Command, Compaction, Fork, Part, Thought, Turn, TurnKind};

use super::call::{Section, sections, summary};
use super::contain::{contained, fenced};
use super::head::{COMPACTED, Header, TOTAL, stamp};
use super::{Config, Tools, words};
use crate::text::{count, fork_summary, guess_note, media, model_name, resume_note};

/// Writes what comes before the turns.
pub(super) fn head(header: &Header, out: &mut String) {
    out.push_str("# CLAUDE CODE SESSION TRANSCRIPT\n\n");
    for (name, value) in header.rows() {
        if name == TOTAL && header.compactions > 0 {
            let _ = writeln!(out, "**{}** - {}  ", COMPACTED.0, COMPACTED.1);
        }
        // Two spaces force a line break.
        let _ = writeln!(out, "{name}: {}  ", inline(&value));
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
            let words = &sibling.told;
            let (status, messages) = (sibling.status, sibling.messages);
            let _ = writeln!(out, "| {name} | {status}{resumes} | {messages} | {words} |");
        }
        if others > 0 {
            let _ = write!(out, "\n{} in this session\n", count(others, "more path"));
        }
    }
    if let Some(index) = &header.index {
        let _ = write!(out, "\n[All transcripts]({index})\n");
    }
    out.push_str("\n---\n\n");
}

/// Formats the first words of a path.
pub(super) fn told(words: &str) -> String {
    inline(&short(words)).into_owned()
}

/// Writes one turn.
pub(super) fn turn(turn: &Turn, config: &Config<'_>, out: &mut String) {
    match &turn.kind {
        TurnKind::Prompt(prompt) => {
            let who = if prompt.delegated { "Task" } else { "You" };
            heading(turn, who, if prompt.queued { "queued" } else { "" }, out);
            quote(&contained(&prompt.text), out);
            prompt.media.iter().for_each(|media| picture(media, config, out));
        }
        TurnKind::Answer(answer) => write_answer(turn, answer, config, out),
        TurnKind::Result(call) => write_call(call, config, out),
        TurnKind::Command(command) => write_command(turn, command, out),
        TurnKind::Compaction(compaction) => write_compaction(turn, compaction, out),
        TurnKind::Fork(fork) => write_fork(fork, config, out),
        TurnKind::File(file) => {
            let what = if file.edited { "changed on disk" } else { "attached" };
            let title = format!("📎 <code>{}</code> {what}", html(&file.path));
            let code = file.text.as_deref().filter(|_| config.tools == Tools::Full);
            match code {
                Some(text) => details(&title, out, |out| fenced("", text, out)),
                None => note("📎", &format!("{} {what}", file.path), out),
            }
        }
        kind => aside(kind, config, out),
    }
}

fn aside(kind: &TurnKind, config: &Config<'_>, out: &mut String) {
    match kind {
        TurnKind::Interrupt { for_tool_use: true } => {
            note("■", "Interrupted: tool call rejected", out);
        }
        TurnKind::Interrupt { .. } => note("■", "Interrupted", out),
        TurnKind::Synthetic(said) => {
            let mark = if said.is_api_error { "✗" } else { "○" };
            note(mark, &said.text, out);
        }
        TurnKind::Notification(news) => {
            let told = words::news(news);
            if news.text.trim().is_empty() {
                return note("◆", &told, out);
            }
            details(&format!("◆ {}", html(&told)), out, |out| block(&contained(&news.text), out));
        }
        TurnKind::Hook(hook) if config.tools != Tools::None => {
            let verb = words::hook(hook.effect);
            let title = format!("⚑ hook <code>{}</code> {verb}", html(&hook.name));
            details(&title, out, |out| fenced("", &hook.text, out));
        }
        TurnKind::Note(said) => note("ℹ", &said.text, out),
        TurnKind::Resume(at) => note("◉", &resume_note(*at), out),
        TurnKind::Guess(at) => note("?", guess_note(*at), out),
        TurnKind::Injected(text) => {
            details("⋯ Added by Claude Code", out, |out| block(&contained(text), out));
        }
        TurnKind::Unknown { kind, value } => {
            let title = format!("? Unknown record type <code>{}</code>", html(kind));
            details(&title, out, |out| fenced("json", &format!("{value:#}"), out));
        }
        TurnKind::Damaged { line, text } => {
            note("⚠", &format!("Line {line} is damaged; readable part: {text}"), out);
        }
        _ => {}
    }
}

fn write_answer(turn: &Turn, answer: &Answer, config: &Config<'_>, out: &mut String) {
    let start = out.len();
    let model = answer.model.as_deref().map(model_name).unwrap_or_default();
    heading(turn, "Claude", model, out);
    let body = out.len();
    for part in &answer.parts {
        match part {
            Part::Text(text) => block(&contained(text), out),
            Part::Thinking(thought) => write_thought(thought, config, out),
            Part::Call(call) => write_call(call, config, out),
            Part::Media(media) => picture(media, config, out),
            Part::Fallback { from, to } => {
                note("↪", &words::fallback(from.as_deref(), to.as_deref()), out);
            }
            Part::Unknown(value) => fenced("json", &value.to_string(), out),
        }
    }
    // A reply without visible parts gets no heading.
    if out.len() == body {
        out.truncate(start);
    }
}

fn write_thought(thought: &Thought, config: &Config<'_>, out: &mut String) {
    match thought {
        _ if !config.thinking => {}
        Thought::Text(text) => details("∴ Thinking", out, |out| block(&contained(text), out)),
        Thought::Withheld { .. } => note("∴", "Thinking (withheld)", out),
        Thought::Redacted { .. } => note("∴", "Thinking (encrypted)", out),
    }
}

fn write_call(call: &Call, config: &Config<'_>, out: &mut String) {
    if config.tools == Tools::None {
        return;
    }
    let said = summary(call, config);
    let mark = if said.failed { "✗" } else { "⏺" };
    let mut title = format!("{mark} <b>{}</b>", html(&said.name));
    if !said.subject.is_empty() {
        let _ = write!(title, " <code>{}</code>", html(&said.subject));
    }
    if !said.outcome.is_empty() {
        let _ = write!(title, " {}", html(&said.outcome));
    }
    details(&title, out, |out| {
        for section in sections(call, config) {
            write_section(&section, config.tools, out);
        }
        let pictures = call.result.iter().flat_map(|result| &result.content);
        for media in pictures.filter_map(picture_of) {
            picture(media, config, out);
        }
        if let Some(href) = (config.agent)(call) {
            let _ = write!(out, "[Agent transcript]({href})\n\n");
        }
    });
}

fn write_section(section: &Section<'_>, tools: Tools, out: &mut String) {
    let left_out = |lines: usize| format!("*… {} left out*", count(lines, "more line"));
    match section {
        Section::Code { language, text } => fenced(language, text, out),
        Section::Error(text) => fenced("text", text, out),
        Section::Markdown(text) => quote(&contained(text), out),
        Section::Feedback(text) => quote(&contained(text), out),
        Section::Diff(diff) => {
            let (text, hidden) = diff.unified(tools);
            fenced("diff", &text, out);
            if hidden > 0 {
                let _ = writeln!(out, "\n{}", left_out(hidden));
            }
        }
        Section::Description(text) => {
            let _ = writeln!(out, "{}", inline(text.trim()));
        }
        Section::Cut(lines) => {
            let _ = writeln!(out, "{}", left_out(*lines));
        }
    }
    out.push('\n');
}

fn write_command(turn: &Turn, command: &Command, out: &mut String) {
    if !command.name.is_empty() {
        heading(turn, "You", "command", out);
        fenced("", format!("{} {}", command.name, command.args).trim(), out);
        out.push('\n');
    }
    for text in [&command.stdout, &command.stderr] {
        if !text.trim().is_empty() {
            fenced("text", text, out);
            out.push('\n');
        }
    }
}

fn write_compaction(turn: &Turn, compaction: &Compaction, out: &mut String) {
    heading(turn, "Compacted", compaction.trigger.as_deref().unwrap_or_default(), out);
    if let Some(tokens) = words::compaction(compaction) {
        note("┄", &tokens, out);
    }
    if let Some(summary) = &compaction.summary {
        details("Summary", out, |out| block(&contained(summary), out));
    }
}

fn write_fork(fork: &Fork, config: &Config<'_>, out: &mut String) {
    let _ = writeln!(out, "> ⑂ **{}**  ", fork_summary(fork.kind, fork.ways.len() + fork.more));
    for way in fork.ways.iter().filter(|way| !way.taken) {
        let state = words::way(way);
        let words = told(&way.words);
        let words = match (config.other)(way.leaf) {
            Some(href) => format!("[{}]({href})", words.replace(['[', ']'], "")),
            None => words,
        };
        let messages = count(way.messages as usize, "message");
        let _ = writeln!(out, "> also: {words} ({messages}, {state})  ");
    }
    if fork.more > 0 {
        let _ = writeln!(out, "> and {} more  ", fork.more);
    }
    out.push('\n');
}

/// Writes the heading of a turn, with its anchor and time.
fn heading(turn: &Turn, who: &str, detail: &str, out: &mut String) {
    if let Some(uuid) = &turn.uuid {
        let _ = writeln!(out, "<a id=\"{}\"></a>\n", html(uuid));
    }
    let _ = write!(out, "## {who}");
    let time = turn.time.map(stamp).unwrap_or_default();
    let damaged = if turn.recovered { "recovered from a damaged line" } else { "" };
    for word in [detail, &time, damaged].into_iter().filter(|word| !word.is_empty()) {
        let _ = write!(out, " · {}", inline(word));
    }
    out.push_str("\n\n");
}

fn details(title: &str, out: &mut String, inside: impl FnOnce(&mut String)) {
    let _ = write!(out, "<details>\n<summary>{title}</summary>\n\n");
    inside(out);
    if !out.ends_with("\n\n") {
        out.push('\n');
    }
    out.push_str("</details>\n\n");
}

fn block(text: &str, out: &mut String) {
    out.push_str(text.trim_matches('\n'));
    out.push_str("\n\n");
}

/// Writes text as a quote and keeps its line breaks.
fn quote(text: &str, out: &mut String) {
    for line in text.trim_matches('\n').lines() {
        out.push_str("> ");
        out.push_str(line);
        out.push_str("  \n");
    }
    out.push('\n');
}

fn note(mark: &str, text: &str, out: &mut String) {
    let _ = write!(out, "*{mark}* {}\n\n", inline(text.trim()));
}

fn picture(media: &Media, config: &Config<'_>, out: &mut String) {
    let name = self::media(media);
    let name = inline(name.trim_matches(['[', ']']));
    match (config.picture)(media) {
        Some(address) => {
            let _ = write!(out, "![{name}]({address})\n\n");
        }
        None => note("▣", &name, out),
    }
}

fn picture_of(block: &Block) -> Option<&Media> {
    match block {
        Block::Image(media) | Block::Document(media) => Some(media),
        _ => None,
    }
}

fn short(words: &str) -> String {
    let words: Vec<&str> = words.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(100) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// Returns a text as one line with escaped Markdown.
pub(super) fn inline(text: &str) -> Cow<'_, str> {
    one_line(text, |char| {
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
pub(super) fn html(text: &str) -> Cow<'_, str> {
    one_line(text, |char| {
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
fn one_line(text: &str, sign: fn(char) -> Option<&'static str>) -> Cow<'_, str> {
    if is_plain_line(text) {
        return Cow::Borrowed(text);
    }
    let clean = crate::sanitize::sanitize(text);
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
