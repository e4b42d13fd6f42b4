//! Renders planned changes: the summary, the question and the result.

use ramus_core::compare::TextContent;
use ramus_core::edit::{
    ChangeDetail, ChangeSummary, ConflictPolicy, EditRefusal, FileConflict, FileOutcome, Inclusion,
    MergeExchange, MessageSummary, PlannedMerge, UnpackedSummary,
};
use ramus_core::query::SpeakerRole;
use ramus_core::time::Time;
use ramus_core::title::short_title;

use crate::files::{left_line, restored_lines};
use crate::layout::wrap_line;
use crate::table::bytes;
use crate::text::count_noun;
use crate::{Label, Line};

/// How wide a plan is, and how its times are written.
#[derive(Clone, Copy)]
pub struct ChangeStyle<'a> {
    pub width: usize,
    pub short_time: &'a dyn Fn(Time) -> String,
    /// Always with the time of day.
    pub message_time: &'a dyn Fn(Time) -> String,
}

impl std::fmt::Debug for ChangeStyle<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChangeStyle").field("width", &self.width).finish_non_exhaustive()
    }
}

/// Returns the summary of a change.
pub fn change_lines(summary: &ChangeSummary<'_>, style: &ChangeStyle<'_>) -> Vec<Line> {
    let mut lines = Vec::new();
    print_change(summary, style, &mut |line| lines.push(line));
    lines
}

/// Prints the summary of a change: that of a merge may have half a million lines.
pub fn print_change(
    summary: &ChangeSummary<'_>,
    style: &ChangeStyle<'_>,
    print: &mut dyn FnMut(Line),
) {
    if let ChangeDetail::Merge { plan: merged, policy, .. } = summary.detail {
        print_merge(summary.short_session, merged, *policy, style, print);
    }
    detail_lines(summary, style).into_iter().for_each(print);
}

/// Returns the description of a change; the exchanges of a merge are not part of it.
fn detail_lines(summary: &ChangeSummary<'_>, style: &ChangeStyle<'_>) -> Vec<Line> {
    let file =
        |words: &str| Line::new(&format!("  {words} {}", summary.file.display()), Label::Dim);
    let message = |message: &Option<MessageSummary>| {
        message.as_ref().map(|message| message_line(message, style)).unwrap_or_default()
    };
    let session = |title: &str| titled_session("Session ", summary.short_session, title);
    match summary.detail {
        ChangeDetail::Goto { title, now, then } => {
            let resumes_now = if now.is_some() { message(now) } else { Line::plain("nothing") };
            let adds = format!("adds {} bytes to", summary.appended_bytes);
            vec![
                session(title),
                Line::plain("  resumes now  ").with_line(&resumes_now),
                Line::new("  will resume  ", Label::Active).with_line(&message(then)),
                file(&adds),
            ]
        }
        ChangeDetail::Fork { new, up_to } => {
            let messages = format!("  {} up to ", count_noun(new.messages as usize, "message"));
            let mut lines = vec![
                titled_session("New session ", summary.short_session, &new.title),
                Line::plain(&messages).with_line(&message(up_to)),
            ];
            lines.extend(comes_along(summary));
            if new.set_back > 0 {
                let set_back = new.set_back;
                let line =
                    format!("  {set_back} records with a date in the future get a valid date");
                lines.push(Line::new(&line, Label::Warning));
            }
            lines.push(file("goes to"));
            lines
        }
        ChangeDetail::Merge { digest, .. } => {
            let mut lines = Vec::new();
            lines.extend(digest.iter().flat_map(|text| digest_lines(text, style.width)));
            lines.extend(comes_along(summary));
            lines.push(file("goes to"));
            lines
        }
        ChangeDetail::Rename { now, then } => vec![
            Line::plain("Session ").with(summary.short_session, Label::Id),
            Line::plain("  title      ").with(now, Label::Plain),
            Line::new("  new title  ", Label::Active).with(then, Label::Strong),
        ],
        ChangeDetail::Trash { title, conversations, longest, moved } => {
            let size = format!(
                "  {}, the longest with {}",
                count_noun(*conversations, "conversation"),
                count_noun(*longest as usize, "message")
            );
            let moves = |path: &std::path::PathBuf| {
                Line::new(&format!("  moves {}", path.display()), Label::Dim)
            };
            [session(title), Line::plain(&size)]
                .into_iter()
                .chain(moved.iter().map(moves))
                .collect()
        }
        ChangeDetail::Undo(undone) => {
            let undone = undone.as_ref().map(|operation| {
                Line::plain("Undoes operation ")
                    .with(&format!("{}: ", operation.op), Label::Strong)
                    .with(operation.kind, Label::Branch)
                    .with(&format!(" {} ", operation.short_session), Label::Id)
                    .with(&operation.description, Label::Plain)
            });
            undone.into_iter().chain([file("in")]).collect()
        }
        ChangeDetail::Restore { description: words } => vec![
            Line::plain("Session ")
                .with(summary.short_session, Label::Id)
                .with(&format!("  {words}"), Label::Plain),
            file("in"),
        ],
        ChangeDetail::RestoreFiles(files) => {
            let changes =
                files.changes.iter().flat_map(|change| restored_lines(change, &files.cwd));
            let left = files.left.iter().map(|(file, why)| left_line(file, *why, &files.cwd));
            changes.chain(left).collect()
        }
        ChangeDetail::Repair { short_of, title, repairs, is_copy, .. } => {
            let mut lines = vec![Line::default(), titled_session("Session ", short_of, title)];
            let repair = |words: &String| Line::new(&format!("  {words}"), Label::Warning);
            lines.extend(repairs.iter().map(repair));
            if *is_copy {
                lines.push(
                    Line::plain("  in a copy, session ")
                        .with(summary.short_session, Label::Id)
                        .with("; the original is not changed", Label::Plain),
                );
                lines.extend(comes_along(summary));
            }
            lines.push(file("writes"));
            lines
        }
        ChangeDetail::Settings { words, command } => vec![
            Line::plain(&format!("{words} {}", summary.file.display())),
            Line::plain("  when a session ends: ").with(command, Label::Strong),
        ],
        ChangeDetail::Unpack { sessions, makes_claude_dir } => {
            let made = makes_claude_dir.then(|| {
                Line::new(
                    "The Claude directory does not exist yet and will be created",
                    Label::Note,
                )
            });
            sessions.iter().flat_map(unpacked_lines).chain(made).collect()
        }
    }
}

fn unpacked_lines(session: &UnpackedSummary) -> Vec<Line> {
    let mut lines = vec![titled_session("Session ", &session.short_id, &session.title)];
    if let Some(id) = &session.replaced_id {
        let why = if session.old_id_is_uuid { "already exists" } else { "is not a uuid" };
        let taken = format!("  gets a new id, because {id} {why}");
        lines.push(Line::new(&taken, Label::Warning));
    }
    lines.push(Line::plain(&format!(
        "  {}, {}, {}, {}",
        count_noun(session.messages as usize, "message"),
        count_noun(session.agents as usize, "agent"),
        count_noun(session.files, "file"),
        bytes(session.bytes),
    )));
    if let Some(old) = &session.directory {
        let records = count_noun(session.rewritten as usize, "record");
        lines.push(Line::new(&format!("  from {old}: {records} get new paths"), Label::Dim));
    }
    lines.push(Line::new(&format!("  goes to {}", session.file.display()), Label::Dim));
    lines
}

/// Returns what Claude Code resumes without, and what it adds.
pub fn resume_note_lines(summary: &ChangeSummary<'_>) -> Vec<Line> {
    let line = |words: &String| Line::new(&format!("  {words}"), Label::Warning);
    summary.resume_notes.iter().map(line).collect()
}

/// Returns the question before a change is made.
pub fn change_question(detail: &ChangeDetail) -> String {
    let question = match detail {
        ChangeDetail::Goto { .. } => "Resume from there?",
        ChangeDetail::Fork { .. } | ChangeDetail::Merge { .. } => "Create it?",
        ChangeDetail::Rename { .. } => "Rename it?",
        ChangeDetail::Trash { .. } => "Move it to the trash?",
        ChangeDetail::Undo(_) => "Undo it?",
        ChangeDetail::Restore { .. } => "Restore it?",
        ChangeDetail::Repair { .. } => "Repair it?",
        ChangeDetail::Settings { .. } => "Write it?",
        ChangeDetail::Unpack { .. } => "Unpack?",
        ChangeDetail::RestoreFiles(files) => match files.changes.len() {
            1 => "Restore this file?",
            n => return format!("Restore these {n} files?"),
        },
    };
    question.to_owned()
}

/// Returns why a fork is offered where a session was to go to a message.
pub fn offer_lines(refusal: &EditRefusal) -> [Line; 2] {
    [
        Line::new("Cannot resume there in this session: ", Label::Warning)
            .with(&refusal.to_string(), Label::Plain),
        Line::plain("A fork with the same conversation works:"),
    ]
}

/// Reports an applied change, its operation number, and how to undo it.
pub fn done_line(op: u64, is_undo: bool) -> Line {
    let line = Line::new(&format!("Done as operation {op}. "), Label::Active);
    if is_undo { line } else { line.with("Run `ramus undo` to undo it.", Label::Plain) }
}

/// Explains why conflicts stop a merge.
pub fn conflict_words(merged: &PlannedMerge) -> String {
    let files = count_noun(merged.conflicts.len(), "file");
    format!("nothing changed: the conversations changed {files} differently")
}

/// Returns a message in one line: its id, when, who, and the first words.
pub fn message_line(message: &MessageSummary, style: &ChangeStyle<'_>) -> Line {
    let time = message.time.map(|time| (style.message_time)(time)).unwrap_or_default();
    let label = if message.role == SpeakerRole::User { Label::Prompt } else { Label::Plain };
    let line = Line::new(&message.short_uuid, Label::Id)
        .with(&format!("  {time}  "), Label::Time)
        .with(&format!("{}: ", message.role.as_str()), Label::Dim)
        .with(&message.text, label);
    match &message.above {
        Some((role, text)) => {
            line.with(&format!("after {}: ", role.as_str()), Label::Dim).with(text, Label::Plain)
        }
        None => line,
    }
}

fn titled_session(heading: &str, short_id: &str, title: &str) -> Line {
    Line::plain(heading).with(short_id, Label::Id).with(&format!("  {title}"), Label::Strong)
}

/// Lists what a new session has in addition to its own file.
fn comes_along(summary: &ChangeSummary<'_>) -> Option<Line> {
    let mut parts = Vec::new();
    match summary.agents {
        0 => {}
        1 => parts.push("1 agent".to_owned()),
        many => parts.push(format!("{many} agents")),
    }
    match summary.links {
        0 => {}
        1 => parts.push("1 backup or output".to_owned()),
        many => parts.push(format!("{many} backups and outputs")),
    }
    (!parts.is_empty()).then(|| Line::plain(&format!("  with {}", parts.join(" and "))))
}

fn print_merge(
    short_session: &str,
    merged: &PlannedMerge,
    policy: ConflictPolicy,
    style: &ChangeStyle<'_>,
    print: &mut dyn FnMut(Line),
) {
    let messages = count_noun(merged.new.messages as usize, "message");
    print(titled_session("New session ", short_session, &merged.new.title));
    print(Line::plain(&format!("  {messages}, {} of them common to all", merged.common)));
    merged.exchanges.iter().for_each(|exchange| print(exchange_line(&exchange, style)));
    for conflict in &merged.conflicts {
        print(
            Line::new("  conflict  ", Label::Warning)
                .with(&conflict.path, Label::Strong)
                .with(&format!("  {}", conflict_ends(conflict)), Label::Plain),
        );
    }
    if policy == ConflictPolicy::KeepBoth && !merged.conflicts.is_empty() {
        let text =
            "            a note at the end lists both versions; files on disk are not changed";
        print(Line::new(text, Label::Dim));
    }
    let fixes = merged.chain_fixes;
    let repaired = [
        (fixes.answered, "tool calls without a result get an \"interrupted\" result"),
        (fixes.strays, "tool results without a call are left out"),
        (fixes.thinking, "thinking blocks without a signature are left out"),
        (fixes.set_back, "records with a date in the future get a valid date"),
    ];
    let repaired = repaired.into_iter().filter(|(count, _)| *count > 0);
    repaired
        .map(|(count, what)| Line::new(&format!("  {count} {what}"), Label::Warning))
        .for_each(print);
}

fn digest_lines(text: &str, width: usize) -> Vec<Line> {
    let mut lines = vec![Line::plain("  digest that the command wrote:")];
    for line in text.lines() {
        let rows = wrap_line(&Line::new(line, Label::Quote), width.saturating_sub(6).max(12), 0);
        lines.extend(rows.into_iter().map(|row| {
            let mut line = Line::new("    │ ", Label::Dim);
            line.append(&row);
            line
        }));
    }
    lines
}

fn exchange_line(exchange: &MergeExchange, style: &ChangeStyle<'_>) -> Line {
    let number = format!("{}:{}", exchange.branch, exchange.number);
    let time = exchange.time.map(|time| (style.short_time)(time)).unwrap_or_default();
    let (label, fate) = match exchange.inclusion {
        Inclusion::Copied => (Label::Prompt, ""),
        Inclusion::Quoted => (Label::Quote, "summary: "),
        Inclusion::Summarized => (Label::Dim, "summarized: "),
        Inclusion::LeftOut => (Label::Dim, "left out: "),
    };
    let words = exchange.prompt_text.as_deref().unwrap_or("(no prompt)");
    Line::plain("  ")
        .with(&format!("{number:<6}"), Label::LineNumber)
        .with(&exchange.short_uuid, Label::Id)
        .with(&format!("  {time}  "), Label::Time)
        .with(fate, Label::Note)
        .with(&short_title(words), label)
}

fn conflict_ends(conflict: &FileConflict) -> String {
    let end = |end: &FileOutcome| {
        let state = match &end.content {
            TextContent::Text(text) => count_noun(text.lines().count(), "line"),
            TextContent::Absent => "gone".to_owned(),
            TextContent::Unknown => "not known".to_owned(),
        };
        format!("{}: +{} −{}, {state}", end.branch, end.added, end.removed)
    };
    conflict.outcomes.iter().map(end).collect::<Vec<_>>().join("   ")
}

/// Reports what happened to interrupted operations; `unfinished` lists those that remain, and why.
pub fn recovery_lines<'a>(
    notes: &[String],
    unfinished: impl Iterator<Item = (u64, &'a str)>,
) -> Vec<Line> {
    let note = |note: &String| Line::new("Note: ", Label::Note).with(note, Label::Plain);
    let mut lines: Vec<Line> = notes.iter().map(note).collect();
    let done = lines.len();
    lines.extend(unfinished.map(|(op, why)| {
        let words = format!("operation {op} was interrupted and cannot be finished: {why}");
        Line::new("Warning: ", Label::Warning).with(&words, Label::Plain)
    }));
    if lines.len() > done {
        let hint = "run `ramus log --repair` to give it up; its files stay where they are";
        lines.push(Line::new("Hint: ", Label::Note).with(hint, Label::Plain));
    }
    lines
}
