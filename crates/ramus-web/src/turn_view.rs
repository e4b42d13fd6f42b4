//! Turns as the web app shows them: role, time, and inert HTML.

use std::fmt::Write as _;

use ramus_core::history::History;
use ramus_core::price::PriceList;
use ramus_core::session::NodeId;
use ramus_core::turn::{
    ForkTurn, PromptTurn, Reply, ReplyPart, Thought, ToolAction, ToolCall, Turn, TurnKind,
};
use ramus_render::export::{
    DocumentSection, ExportConfig, ToolDetail, compaction_tokens, document_sections, fallback_text,
    hook_verb, notification_text, summarize_call,
};
use ramus_render::json::from_reply;
use ramus_render::text::{guess_note, is_withheld, resume_note};
use ramus_render::{diff, html};

mod picture;
mod view;

use picture::{call_media, picture_piece};
pub(crate) use picture::{picture_type, turn_pictures};
use view::{CallView, ForkView, WayView};
pub(crate) use view::{Piece, View};

/// Longer texts are cut until the reader asks for the rest.
const MAX_TEXT_BYTES: usize = 24 * 1024;

/// How a turn is shown.
pub(crate) struct TurnViewer<'a> {
    pub(crate) history: &'a History,
    pub(crate) prices: &'a PriceList,
    /// Whether long texts are shown whole.
    pub(crate) whole: bool,
}

impl TurnViewer<'_> {
    /// Shows a turn.
    pub(crate) fn view_turn(&self, at: usize, i: usize, turn: &Turn) -> View {
        let (kind, detail, parts) = self.turn_contents(turn);
        let fork = match &turn.kind {
            TurnKind::Fork(fork) => Some(self.fork_view(fork)),
            _ => None,
        };
        View {
            at,
            i,
            kind,
            uuid: turn.uuid.clone(),
            timestamp: turn.time.map(|time| time.to_string()),
            ended: self.end_time(turn),
            detail,
            recovered: turn.recovered,
            parts,
            fork,
            usage: from_reply(turn, self.prices),
        }
    }

    fn end_time(&self, turn: &Turn) -> Option<String> {
        let times = turn.nodes.iter().filter_map(|node| self.history.session.record(*node).time);
        let last = times.max().filter(|last| turn.time.is_none_or(|first| *last > first));
        last.map(|time| time.to_string())
    }

    /// Returns the parts of a turn that are folded at first, each with its place among all parts.
    pub(crate) fn folded_parts(&self, turn: &Turn) -> Vec<(usize, String)> {
        let parts = self.turn_contents(turn).2.into_iter().enumerate();
        let folded = parts.filter_map(|(n, part)| match part {
            Piece::Fold { html, .. } | Piece::Thinking { html: Some(html), .. } => Some((n, html)),
            _ => None,
        });
        folded.collect()
    }

    fn turn_contents(&self, turn: &Turn) -> (&'static str, String, Vec<Piece>) {
        let note = |text: String, bad: bool| vec![Piece::Note { text, bad }];
        let none = String::new;
        match &turn.kind {
            TurnKind::Prompt(prompt) => self.prompt_contents(prompt),
            TurnKind::Reply(answer) => {
                ("answer", answer.model.clone().unwrap_or_default(), self.reply_pieces(answer))
            }
            TurnKind::Result(call) => ("result", none(), vec![self.call_piece(0, call)]),
            TurnKind::Command(command) => {
                let mut parts = Vec::new();
                if !command.name.is_empty() {
                    let text = format!("{} {}", command.name, command.args).trim().to_owned();
                    parts.push(Piece::Text { text, html: None, cut: None });
                }
                for out in [&command.stdout, &command.stderr] {
                    if !out.trim().is_empty() {
                        parts.push(Piece::Html { html: html::code_html("", out), cut: None });
                    }
                }
                ("command", none(), parts)
            }
            TurnKind::Interrupt { for_tool_use } => {
                let text =
                    if *for_tool_use { "Interrupted: tool call rejected" } else { "Interrupted" };
                ("interrupt", none(), note(text.to_owned(), true))
            }
            TurnKind::Synthetic(message) => {
                let kind = if message.is_api_error { "error" } else { "note" };
                (kind, none(), note(message.text.clone(), message.is_api_error))
            }
            TurnKind::Compaction(compaction) => {
                let mut parts =
                    compaction_tokens(compaction).map_or(Vec::new(), |text| note(text, false));
                if let Some(summary) = &compaction.summary {
                    parts.push(self.fold("Summary".to_owned(), summary, html::prose_html));
                }
                ("compaction", compaction.trigger.clone().unwrap_or_default(), parts)
            }
            TurnKind::Notification(news) => {
                let title = notification_text(news);
                let parts = match news.text.trim() {
                    "" => note(title, false),
                    _ => vec![self.fold(title, &news.text, html::prose_html)],
                };
                ("notification", none(), parts)
            }
            TurnKind::Hook(hook) => {
                let title = format!("hook {} {}", hook.name, hook_verb(hook.effect));
                let fold = self.fold(title, &hook.text, |text| html::code_html("", text));
                ("hook", none(), vec![fold])
            }
            TurnKind::File(file) => {
                let what = if file.edited { "changed on disk" } else { "attached" };
                let title = format!("{} {what}", file.path);
                let parts = match &file.text {
                    Some(text) => {
                        vec![self.fold(title, text, |text| html::code_html(&file.path, text))]
                    }
                    None => note(title, false),
                };
                ("file", none(), parts)
            }
            TurnKind::Note(message) => {
                let bad = message.kind == "api_error" || message.level.as_deref() == Some("error");
                (if bad { "error" } else { "note" }, none(), note(message.text.clone(), bad))
            }
            TurnKind::Injected(text) => {
                let title = "Added by Claude Code".to_owned();
                ("note", none(), vec![self.fold(title, text, html::prose_html)])
            }
            TurnKind::Fork(_) => ("fork", none(), Vec::new()),
            TurnKind::Resume(at) => ("resume", none(), note(resume_note(*at), false)),
            TurnKind::Guess(at) => ("note", none(), note(guess_note(*at).to_owned(), false)),
            TurnKind::Unknown { kind, value } => {
                let title = format!("unknown record type {kind}");
                let text = format!("{value:#}");
                let fold = self.fold(title, &text, |text| html::code_html("json", text));
                ("unknown", none(), vec![fold])
            }
            TurnKind::Damaged { line, text } => {
                let text = self.cut_text(text).0;
                ("damaged", none(), note(format!("Line {line} is damaged. {text}"), true))
            }
        }
    }

    fn prompt_contents(&self, prompt: &PromptTurn) -> (&'static str, String, Vec<Piece>) {
        let mut parts = Vec::new();
        if !prompt.text.is_empty() {
            let (text, cut) = self.cut_text(prompt.text.trim_end());
            let html = Some(html::prose_html(&text));
            parts.push(Piece::Text { text, html, cut });
        }
        parts.extend(prompt.media.iter().enumerate().map(|(n, media)| picture_piece(n, media)));
        let detail = if prompt.queued { "queued" } else { "" };
        (if prompt.delegated { "task" } else { "prompt" }, detail.to_owned(), parts)
    }

    fn reply_pieces(&self, answer: &Reply) -> Vec<Piece> {
        let (mut calls, mut pictures) = (0, 0);
        let mut pieces = Vec::new();
        // Thinking without text gets a line only if the reply has nothing else.
        let silent = answer.parts.iter().all(is_withheld);
        let parts = answer.parts.iter().filter(|part| !is_withheld(part));
        for part in parts.chain(answer.parts.first().filter(|_| silent)) {
            match part {
                ReplyPart::Text(text) => {
                    let (text, cut) = self.cut_text(text);
                    pieces.push(Piece::Html { html: html::prose_html(&text), cut });
                }
                ReplyPart::Thinking(Thought::Text(text)) => {
                    let (text, cut) = self.cut_text(text);
                    pieces.push(Piece::Thinking { html: Some(html::prose_html(&text)), cut });
                }
                ReplyPart::Thinking(_) => pieces.push(Piece::Thinking { html: None, cut: None }),
                ReplyPart::Call(call) => {
                    pieces.push(self.call_piece(calls, call));
                    calls += 1;
                    for media in call_media(call) {
                        pieces.push(picture_piece(pictures, media));
                        pictures += 1;
                    }
                }
                ReplyPart::Media(media) => {
                    pieces.push(picture_piece(pictures, media));
                    pictures += 1;
                }
                ReplyPart::Fallback { from, to } => {
                    let text = fallback_text(from.as_deref(), to.as_deref());
                    pieces.push(Piece::Note { text, bad: false });
                }
                ReplyPart::Unknown(value) => {
                    let (text, cut) = self.cut_text(&value.to_string());
                    pieces.push(Piece::Html { html: html::code_html("json", &text), cut });
                }
            }
        }
        pieces
    }

    fn call_piece(&self, n: usize, call: &ToolCall) -> Piece {
        let message = summarize_call(call, &self.text_config(ToolDetail::Brief));
        let short = |text: String| text.chars().take(400).collect();
        Piece::Call(CallView {
            n,
            tool: tool_kind(call),
            name: short(message.name),
            subject: short(message.subject),
            outcome: short(message.outcome),
            failed: message.failed,
            running: call.result.is_none(),
            agent: call.agent.clone(),
        })
    }

    /// Opens a call: its input and its result.
    pub(crate) fn call_html(&self, call: &ToolCall) -> String {
        let mut out = String::new();
        let tools = if self.whole { ToolDetail::Full } else { ToolDetail::Brief };
        let config = self.text_config(tools);
        for section in document_sections(call, &config) {
            match section {
                DocumentSection::Diff(diff) => self.push_diff(&diff.hunks, &mut out),
                DocumentSection::Code { language, text } => {
                    out.push_str(&html::code_html(language, &text));
                }
                DocumentSection::Markdown(text) => {
                    out.push_str("<div class=\"prose\">");
                    out.push_str(&html::prose_html(&text));
                    out.push_str("</div>");
                }
                DocumentSection::Error(text) => {
                    out.push_str("<div class=\"failure\">");
                    out.push_str(&html::code_html("", &text));
                    out.push_str("</div>");
                }
                DocumentSection::Feedback(text) => {
                    out.push_str("<blockquote>");
                    out.push_str(&html::text_html(text));
                    out.push_str("</blockquote>");
                }
                DocumentSection::Description(text) => {
                    out.push_str("<p class=\"note\">");
                    out.push_str(&html::text_html(text));
                    out.push_str("</p>");
                }
                DocumentSection::LeftOut(lines) => self.left_out(lines, &mut out),
            }
        }
        out
    }

    fn push_diff(&self, hunks: &[diff::DiffHunk], out: &mut String) {
        let numbers = diff::DiffConfig { numbers: true, ..Default::default() };
        let lines = diff::patch_lines(hunks, &numbers);
        let shown = if self.whole { lines.len() } else { lines.len().min(MAX_DIFF_LINES) };
        out.push_str(&html::diff_html(&lines[..shown]));
        self.left_out(lines.len() - shown, out);
    }

    fn left_out(&self, lines: usize, out: &mut String) {
        if lines > 0 {
            let plural = if lines == 1 { "" } else { "s" };
            let _ = write!(
                out,
                "<button type=\"button\" class=\"more\" data-more>{lines} more line{plural}</button>"
            );
        }
    }

    fn text_config(&self, tools: ToolDetail) -> ExportConfig<'_> {
        ExportConfig {
            thinking: true,
            tools,
            cwd: self.history.session.facts().cwd.as_deref().unwrap_or_default(),
            branch_link: &|_| None,
            agent_link: &|_| None,
            picture_link: &|_| None,
        }
    }

    fn fork_view(&self, fork: &ForkTurn) -> ForkView {
        let spell = |id: NodeId| {
            let name = self.history.session.record(id).uuid;
            name.map_or_else(String::new, |name| self.history.session.uuid_text(name))
        };
        let branches = fork.branches.iter().map(|branch| WayView {
            node: spell(branch.node),
            leaf: self.history.node_address(branch.leaf),
            words: ramus_core::digest::one_line(&branch.label).chars().take(200).collect(),
            timestamp: branch.time.map(|time| time.to_string()),
            messages: branch.messages,
            draft: branch.draft,
            current: branch.current,
            taken: branch.taken,
        });
        ForkView { kind: fork.kind.as_str(), ways: branches.collect() }
    }

    /// A text to open; a long one is cut.
    fn fold(&self, title: String, text: &str, draw: impl Fn(&str) -> String) -> Piece {
        let (text, cut) = self.cut_text(text);
        Piece::Fold { title, html: draw(&text), cut }
    }

    fn cut_text(&self, text: &str) -> (String, Option<usize>) {
        let mut end = MAX_TEXT_BYTES;
        if self.whole || text.len() <= end {
            return (text.to_owned(), None);
        }
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        (text[..end].to_owned(), Some(text.len()))
    }
}

/// How many lines of a diff are shown at first.
const MAX_DIFF_LINES: usize = 400;

/// Returns the text of a turn, without tool calls and thinking.
pub(crate) fn turn_text(turn: &Turn) -> String {
    match &turn.kind {
        TurnKind::Prompt(prompt) => prompt.text.clone(),
        TurnKind::Reply(reply) => {
            let texts = reply.parts.iter().filter_map(|part| match part {
                ReplyPart::Text(text) => Some(text.trim_end()),
                _ => None,
            });
            texts.collect::<Vec<_>>().join("\n\n")
        }
        TurnKind::Command(command) => {
            let line = format!("{} {}", command.name, command.args);
            [line.trim(), &command.stdout, &command.stderr].join("\n").trim().to_owned()
        }
        TurnKind::Synthetic(message) => message.text.clone(),
        TurnKind::Compaction(compaction) => compaction.summary.clone().unwrap_or_default(),
        TurnKind::Notification(news) => news.text.clone(),
        _ => String::new(),
    }
}

fn tool_kind(call: &ToolCall) -> &'static str {
    if call.name.starts_with("mcp__") {
        return "mcp";
    }
    match call.action() {
        ToolAction::Run { .. } => "run",
        ToolAction::Read { .. } => "read",
        ToolAction::Edit { .. } => "edit",
        ToolAction::Write { .. } => "write",
        ToolAction::Grep { .. } => "grep",
        ToolAction::Glob { .. } => "glob",
        ToolAction::Delegate { .. } => "agent",
        ToolAction::Todos(_) => "todos",
        ToolAction::Fetch { .. } => "fetch",
        ToolAction::Search { .. } => "search",
        ToolAction::Ask(_) => "ask",
        ToolAction::Plan(_) => "plan",
        ToolAction::Skill { .. } => "skill",
        ToolAction::NewTask { .. } | ToolAction::ChangeTask { .. } => "todos",
        ToolAction::SendMessage { .. } => "tell",
        ToolAction::Other(_) => "other",
    }
}
