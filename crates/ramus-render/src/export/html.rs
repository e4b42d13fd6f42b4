//! Writes a transcript as one HTML file that needs no network and runs nothing from the transcript.
//!
//! Everything is escaped. Markdown is rendered here; HTML in it is shown as text and its links are
//! restricted. The content security policy allows one style sheet and one script by their hashes.

mod code;

mod outline;

mod page;

mod prose;

use std::fmt::Write as _;

use ramus_core::body::{Block, Media, Usage};
use ramus_core::turn::{Answer, Call, Command, Compaction, Fork, Part, Thought, Turn, TurnKind};

use super::call::{Section, sections, succeeded, summary, tail};
use super::head::stamp;
use super::{Config, Tools, words};
use crate::text::{
    count, fork_summary, grouped, guess_note, media, model_name, resume_note, tokens,
};
use code::code;
pub(super) use outline::{foot_with_outline, outline_entry};
pub(super) use page::{close, head, open};
use prose::{escape_clean, line, prose};

/// Closes the document.
pub(super) fn foot(out: &mut String) {
    out.push_str("</main>\n");
    close(out);
}

/// Formats the first words of a path.
pub(super) fn told(words: &str) -> String {
    line(words)
}

/// Writes one turn.
pub(super) fn turn(turn: &Turn, config: &Config<'_>, out: &mut String) {
    match &turn.kind {
        TurnKind::Prompt(prompt) => {
            let who = if prompt.delegated { "Task" } else { "You" };
            section(turn, "you", who, if prompt.queued { "queued" } else { "" }, out);
            if !prompt.text.is_empty() {
                out.push_str("<div class=\"body\">");
                escape_clean(prompt.text.trim_end(), out);
                out.push_str("</div>\n");
            }
            prompt.media.iter().for_each(|media| picture(media, config, out));
            out.push_str("</section>\n");
        }
        TurnKind::Answer(answer) => write_answer(turn, answer, config, out),
        TurnKind::Result(call) => write_call(call, config, out),
        TurnKind::Command(command) => write_command(turn, command, out),
        TurnKind::Compaction(compaction) => write_compaction(turn, compaction, out),
        TurnKind::Fork(fork) => write_fork(turn, fork, config, out),
        TurnKind::File(file) => {
            let what = if file.edited { "changed on disk" } else { "attached" };
            let title = format!("📎 <code>{}</code> {what}", line(&file.path));
            match file.text.as_deref().filter(|_| config.tools == Tools::Full) {
                Some(text) => details("", &title, out, |out| code("", text, out)),
                None => {
                    let _ = writeln!(out, "<p class=\"line\">{title}</p>");
                }
            }
        }
        kind => aside(kind, config, out),
    }
}

fn aside(kind: &TurnKind, config: &Config<'_>, out: &mut String) {
    match kind {
        TurnKind::Interrupt { for_tool_use: true } => {
            note("bad", "■ Interrupted: tool call rejected", out);
        }
        TurnKind::Interrupt { .. } => note("bad", "■ Interrupted", out),
        TurnKind::Synthetic(said) if said.is_api_error => {
            note("bad", &format!("✗ {}", said.text), out);
        }
        TurnKind::Synthetic(said) => note("", &format!("○ {}", said.text), out),
        TurnKind::Notification(news) => {
            let told = words::news(news);
            if news.text.trim().is_empty() {
                return note("", &format!("◆ {told}"), out);
            }
            details("", &format!("◆ {}", line(&told)), out, |out| prose(&news.text, out));
        }
        TurnKind::Hook(hook) if config.tools != Tools::None => {
            let verb = words::hook(hook.effect);
            let title = format!("⚑ hook <code>{}</code> {verb}", line(&hook.name));
            details("", &title, out, |out| code("", &hook.text, out));
        }
        TurnKind::Note(said) => note("", &format!("ℹ {}", said.text), out),
        TurnKind::Resume(at) => note("", &format!("◉ {}", resume_note(*at)), out),
        TurnKind::Guess(at) => note("", &format!("? {}", guess_note(*at)), out),
        TurnKind::Injected(text) => {
            details("", "⋯ Added by Claude Code", out, |out| prose(text, out));
        }
        TurnKind::Unknown { kind, value } => {
            let title = format!("? Unknown record type <code>{}</code>", line(kind));
            details("", &title, out, |out| code("json", &format!("{value:#}"), out));
        }
        TurnKind::Damaged { line, text } => {
            note("bad", &format!("⚠ Line {line} is damaged; readable part: {text}"), out);
        }
        _ => {}
    }
}

fn write_answer(turn: &Turn, answer: &Answer, config: &Config<'_>, out: &mut String) {
    let start = out.len();
    let model = answer.model.as_deref().map(model_name).unwrap_or_default();
    section(turn, &answer_class(answer, config), "Claude", model, out);
    if let Some(used) = answer.uses.last() {
        write_tokens(&used.usage, out);
    }
    let body = out.len();
    for part in &answer.parts {
        match part {
            Part::Text(text) => {
                out.push_str("<div class=\"say\">");
                prose(text, out);
                out.push_str("</div>\n");
            }
            Part::Thinking(thought) => write_thought(thought, config, out),
            Part::Call(call) => write_call(call, config, out),
            Part::Media(media) => picture(media, config, out),
            Part::Fallback { from, to } => {
                let told = words::fallback(from.as_deref(), to.as_deref());
                note("", &format!("↪ {told}"), out);
            }
            Part::Unknown(value) => code("json", &value.to_string(), out),
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
fn answer_class(answer: &Answer, config: &Config<'_>) -> String {
    let (mut says, mut calls, mut thinks) = (false, false, false);
    for part in &answer.parts {
        match part {
            Part::Call(_) => calls |= config.tools != Tools::None,
            Part::Thinking(_) => thinks |= config.thinking,
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
fn write_tokens(usage: &Usage, out: &mut String) {
    let (context, output) = (usage.context_tokens(), usage.output_tokens);
    if context == 0 && output == 0 {
        return;
    }
    out.truncate(out.trim_end_matches("</h2>\n").len());
    let _ = writeln!(
        out,
        "<small class=\"tokens\" title=\"{} output tokens; {} input tokens: {} new, {} cache read, {} cache write\">\
         {} out · {} in</small></h2>",
        grouped(output),
        grouped(context),
        grouped(usage.input_tokens),
        grouped(usage.cache_read_input_tokens),
        grouped(usage.cache_creation_input_tokens),
        tokens(output),
        tokens(context),
    );
}

fn write_thought(thought: &Thought, config: &Config<'_>, out: &mut String) {
    match thought {
        _ if !config.thinking => {}
        Thought::Text(text) => details("thought", "∴ Thinking", out, |out| prose(text, out)),
        Thought::Withheld { .. } => note("thought", "∴ Thinking (withheld)", out),
        Thought::Redacted { .. } => note("thought", "∴ Thinking (encrypted)", out),
    }
}

fn write_call(call: &Call, config: &Config<'_>, out: &mut String) {
    if config.tools == Tools::None {
        return;
    }
    let said = summary(call, config);
    let mut title = format!("<b>{}</b>", line(&said.name));
    if !said.subject.is_empty() {
        let _ = write!(title, " <code>{}</code>", line(&said.subject));
    }
    if !said.outcome.is_empty() {
        let outcome = match said.outcome.strip_prefix("→ ") {
            Some(words) if succeeded(call) => format!("✓ {words}"),
            _ => said.outcome.clone(),
        };
        let _ = write!(title, " <span class=\"out\">{}</span>", line(&outcome));
    }
    // The end of a command's output is visible while the call is folded.
    if let Some(tail) = tail(call) {
        title.push_str("<span class=\"tail\">");
        escape_clean(&tail, &mut title);
        title.push_str("</span>");
    }
    details(if said.failed { "tool bad" } else { "tool" }, &title, out, |out| {
        for section in sections(call, config) {
            write_section(&section, config.tools, out);
        }
        for block in call.result.iter().flat_map(|result| &result.content) {
            if let Block::Image(media) | Block::Document(media) = block {
                picture(media, config, out);
            }
        }
        if let Some(href) = (config.agent)(call) {
            let _ = writeln!(out, "<p><a href=\"{}\">Agent transcript</a></p>", line(&href));
        }
    });
}

fn write_section(section: &Section<'_>, tools: Tools, out: &mut String) {
    let left_out = |lines: usize| format!("… {} left out", count(lines, "more line"));
    match section {
        Section::Code { language, text } => code(language, text, out),
        Section::Error(text) => code("", text, out),
        Section::Markdown(text) => prose(text, out),
        Section::Feedback(text) => {
            out.push_str("<blockquote>");
            escape_clean(text, out);
            out.push_str("</blockquote>\n");
        }
        Section::Diff(diff) => {
            let (text, hidden) = diff.unified(tools);
            code("diff", &text, out);
            if hidden > 0 {
                note("", &left_out(hidden), out);
            }
        }
        Section::Description(text) => note("", text, out),
        Section::Cut(lines) => note("", &left_out(*lines), out),
    }
}

fn write_command(turn: &Turn, command: &Command, out: &mut String) {
    section(turn, "you", if command.name.is_empty() { "Output" } else { "You" }, "command", out);
    if !command.name.is_empty() {
        code("sh", format!("{} {}", command.name, command.args).trim(), out);
    }
    for text in [&command.stdout, &command.stderr] {
        if !text.trim().is_empty() {
            code("", text, out);
        }
    }
    out.push_str("</section>\n");
}

fn write_compaction(turn: &Turn, compaction: &Compaction, out: &mut String) {
    section(turn, "cut", "Compacted", compaction.trigger.as_deref().unwrap_or_default(), out);
    if let Some(tokens) = words::compaction(compaction) {
        note("", &tokens, out);
    }
    if let Some(summary) = &compaction.summary {
        details("", "Summary", out, |out| prose(summary, out));
    }
    out.push_str("</section>\n");
}

fn write_fork(turn: &Turn, fork: &Fork, config: &Config<'_>, out: &mut String) {
    let ways = fork.ways.len() + fork.more;
    let id = fork_anchor(turn).map(|anchor| format!(" id=\"{anchor}\"")).unwrap_or_default();
    let _ = write!(
        out,
        "<div class=\"fork\"{id}><b>Fork point</b> ({})<ul>",
        fork_summary(fork.kind, ways)
    );
    for way in fork.ways.iter().filter(|way| !way.taken) {
        let state = words::way(way);
        let words = line(&way.words);
        out.push_str("<li>");
        match (config.other)(way.leaf) {
            Some(href) => {
                let _ = write!(out, "<a href=\"{}\">{words}</a>", line(&href));
            }
            None => out.push_str(&words),
        }
        let messages = count(way.messages as usize, "message");
        let _ = write!(out, " <span class=\"note\">{messages}, {state}</span></li>");
    }
    if fork.more > 0 {
        let _ = write!(out, "<li>and {} more</li>", fork.more);
    }
    out.push_str("</ul></div>\n");
}

/// Returns the escaped anchor of a fork point. The record before it has an anchor of its own.
fn fork_anchor(turn: &Turn) -> Option<String> {
    turn.uuid.as_deref().map(|uuid| format!("fork-{}", line(uuid)))
}

/// Opens the section of a turn, with its anchor and time.
fn section(turn: &Turn, class: &str, who: &str, detail: &str, out: &mut String) {
    let _ = write!(out, "<section class=\"{class}\"");
    let anchor = turn.uuid.as_deref().map(line);
    if let Some(uuid) = &anchor {
        let _ = write!(out, " id=\"{uuid}\"");
    }
    let _ = write!(out, "><h2><span>{who}</span> <small>{}</small>", line(detail));
    if let Some(time) = turn.time {
        let href = anchor.map(|uuid| format!(" href=\"#{uuid}\"")).unwrap_or_default();
        let _ = write!(
            out,
            "<small><a{href}><time datetime=\"{time}\">{}</time></a></small>",
            stamp(time)
        );
    }
    if turn.recovered {
        out.push_str("<small>recovered from a damaged line</small>");
    }
    out.push_str("</h2>\n");
}

fn details(class: &str, title: &str, out: &mut String, inside: impl FnOnce(&mut String)) {
    let _ = write!(out, "<details class=\"{class}\"><summary>{title}</summary><div class=\"in\">");
    inside(out);
    out.push_str("</div></details>\n");
}

fn note(class: &str, text: &str, out: &mut String) {
    let _ = writeln!(out, "<p class=\"line {class}\">{}</p>", line(text));
}

fn picture(media: &Media, config: &Config<'_>, out: &mut String) {
    let name = line(&self::media(media));
    match (config.picture)(media) {
        Some(address) => {
            let _ = writeln!(out, "<p><img alt=\"{name}\" loading=\"lazy\" src=\"{address}\"></p>");
        }
        None => {
            let _ = writeln!(out, "<p class=\"line\">{name}</p>");
        }
    }
}
