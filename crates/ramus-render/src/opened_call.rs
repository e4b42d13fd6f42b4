//! Splits an opened tool call into sections: its input and its result.
//!
//! Only this module decides which sections a tool has. The terminal (`text::open`), exported documents and
//! the web app (`export::call`) only draw them.

use std::borrow::Cow;

use ramus_core::body::{
    ContentBlock, Media, ReadContent, StructuredPatch, Todo, ToolOutput, UserQuestion, human_text,
    plain_text,
};
use ramus_core::turn::{ToolAction, ToolCall, ToolOutcome};
use serde_json::Value;

use crate::diff::{self, DiffHunk};

/// A section of an opened call.
#[derive(Debug)]
pub(crate) enum CallSection<'a> {
    /// The model's description of a command.
    Description(&'a str),
    Command(&'a str),
    /// Changes in a file. `numbered`: the hunks have the line numbers of the file.
    Diff {
        hunks: Vec<DiffHunk>,
        numbered: bool,
    },
    /// The content of a file, or the part that begins at `first_line`.
    File {
        path: &'a str,
        text: Cow<'a, str>,
        first_line: usize,
    },
    /// A prompt to a model, or its reply.
    Message {
        heading: Option<&'static str>,
        markdown: Cow<'a, str>,
    },
    /// The question for a fetched page.
    Quote(&'a str),
    Todos(Vec<Todo>),
    Questions(Vec<AnsweredQuestion>),
    /// Inputs that no other section shows, by name.
    Inputs(Vec<(&'a str, &'a Value)>),
    /// Program output. `keep_end`: keep its last lines when it is shortened.
    Output {
        text: Cow<'a, str>,
        keep_end: bool,
    },
    Error(Cow<'a, str>),
    /// What the user wrote when rejecting the call.
    Feedback(&'a str),
    Media(&'a Media),
}

/// A question to the user, and the answer if there is one.
#[derive(Debug)]
pub(crate) struct AnsweredQuestion {
    pub(crate) question: UserQuestion,
    pub(crate) answer: Option<String>,
}

impl AnsweredQuestion {
    pub(crate) fn is_chosen(&self, option: &str) -> bool {
        self.answer.as_ref().is_some_and(|answer| answer.contains(option))
    }

    /// Returns an answer in the user's own words. `None`: there is none, or it is one of the options.
    pub(crate) fn own_words(&self) -> Option<&str> {
        let is_option = |answer: &&String| self.question.options.contains(answer);
        self.answer.as_ref().filter(|answer| !is_option(answer)).map(String::as_str)
    }
}

/// Returns the sections of a call. `all_inputs`: include inputs that readers rarely need.
pub(crate) fn call_sections(call: &ToolCall, all_inputs: bool) -> Vec<CallSection<'_>> {
    let mut sections = Vec::new();
    let input_tells_all = push_input(call, &mut sections);
    if all_inputs {
        push_other_inputs(call, &mut sections);
    }
    let Some(result) = &call.result else { return sections };
    if result.is_error {
        sections.push(CallSection::Error(result_text(result)));
    } else if !input_tells_all {
        push_output(call, result, &mut sections);
    }
    sections.extend(result.feedback.as_deref().map(CallSection::Feedback));
    sections.extend(result_media(result).map(CallSection::Media));
    sections
}

/// Returns the images and documents of a result.
pub(crate) fn result_media(result: &ToolOutcome) -> impl Iterator<Item = &Media> {
    result.content.iter().filter_map(|block| match block {
        ContentBlock::Image(media) | ContentBlock::Document(media) => Some(media),
        _ => None,
    })
}

/// Returns the text of a result: the spilled file, what the client stored, or what the model
/// saw.
pub(crate) fn result_text(result: &ToolOutcome) -> Cow<'_, str> {
    if let Some(whole) = &result.spilled_text {
        return Cow::Borrowed(whole);
    }
    let text = match &result.output {
        Some(ToolOutput::Bash(bash)) if !result.is_error && result.spilled_path.is_none() => {
            match [bash.stdout.trim_end(), bash.stderr.trim_end()] {
                [stdout, ""] => Cow::Borrowed(stdout),
                ["", stderr] => Cow::Borrowed(stderr),
                both => Cow::Owned(both.join("\n")),
            }
        }
        Some(ToolOutput::Shell(shell)) => Cow::Owned(format!("{}{}", shell.stdout, shell.stderr)),
        kept => match (blocks_text(&result.content), kept) {
            (seen, Some(ToolOutput::Text(text))) if seen.is_empty() => Cow::Borrowed(&**text),
            (seen, Some(ToolOutput::Blocks(blocks))) if seen.is_empty() => blocks_text(blocks),
            (seen, _) => seen,
        },
    };
    let text = match text {
        Cow::Borrowed(text) => Cow::Borrowed(without_tag(text, "tool_use_error")),
        Cow::Owned(text) => Cow::Owned(without_tag(&text, "tool_use_error").to_owned()),
    };
    if text.contains("<system-reminder>") {
        let own = human_text(&text);
        if !own.is_empty() {
            return Cow::Owned(own.into_owned());
        }
    }
    text
}

/// Returns the text of blocks, borrowed if there is only one.
fn blocks_text(blocks: &[ContentBlock]) -> Cow<'_, str> {
    let mut texts = blocks.iter().filter_map(ContentBlock::as_text);
    match (texts.next(), texts.next()) {
        (None, _) => Cow::Borrowed(""),
        (Some(only), None) => Cow::Borrowed(only),
        _ => Cow::Owned(plain_text(blocks)),
    }
}

fn without_tag<'t>(text: &'t str, tag: &str) -> &'t str {
    let inside =
        text.trim().strip_prefix('<').and_then(|text| text.strip_prefix(tag)?.strip_prefix('>'));
    inside.map_or(text, |inside| inside.strip_suffix(&format!("</{tag}>")).unwrap_or(inside))
}

/// Whether a file is a plan file of the client.
fn is_plan_file(path: &str) -> bool {
    path.contains("/.claude/plans/") && path.ends_with(".md")
}

/// Adds the input. `true`: the result only repeats it and need not be shown.
fn push_input<'a>(call: &'a ToolCall, sections: &mut Vec<CallSection<'a>>) -> bool {
    let markdown = |text: &'a str| CallSection::Message { heading: None, markdown: text.into() };
    match call.action() {
        ToolAction::Run { command, description, .. } => {
            sections.extend(description.map(CallSection::Description));
            sections.push(CallSection::Command(command));
            false
        }
        ToolAction::Edit { replacements, .. } => {
            match recorded_patch(call) {
                Some(patch) => sections.push(patch_section(patch)),
                None => sections.extend(replacements.iter().map(|edit| CallSection::Diff {
                    hunks: diff::diff_hunks(&edit.old, &edit.new, 3),
                    numbered: false,
                })),
            }
            true
        }
        ToolAction::Write { path, content } => {
            sections.push(match recorded_patch(call) {
                Some(patch) => patch_section(patch),
                None if is_plan_file(path) => markdown(content),
                None => CallSection::File { path, text: content.into(), first_line: 1 },
            });
            true
        }
        ToolAction::Delegate { prompt, .. } => {
            sections
                .push(CallSection::Message { heading: Some("prompt"), markdown: prompt.into() });
            false
        }
        ToolAction::Todos(todos) => {
            sections.push(CallSection::Todos(todos));
            true
        }
        ToolAction::Ask(questions) => {
            sections.push(CallSection::Questions(pair_answers(questions, call)));
            true
        }
        ToolAction::Plan(text)
        | ToolAction::NewTask { description: Some(text), .. }
        | ToolAction::SendMessage { message: text, .. } => {
            sections.push(markdown(text));
            true
        }
        ToolAction::Fetch { prompt: Some(prompt), .. } => {
            sections.push(CallSection::Quote(prompt));
            false
        }
        ToolAction::Other(pairs) => {
            if !pairs.is_empty() {
                sections.push(CallSection::Inputs(pairs));
            }
            false
        }
        _ => false,
    }
}

/// Adds the inputs of a known tool that neither its row nor its other sections show.
fn push_other_inputs<'a>(call: &'a ToolCall, sections: &mut Vec<CallSection<'a>>) {
    let shown: &[&str] = match call.action() {
        ToolAction::Run { .. } => &["command", "description"],
        ToolAction::Read { .. } => &["file_path", "notebook_path", "path"],
        ToolAction::Edit { .. } => &["file_path", "path", "old_string", "new_string", "edits"],
        ToolAction::Write { .. } => {
            &["file_path", "notebook_path", "path", "content", "new_source"]
        }
        ToolAction::Grep { .. } => &["pattern", "path"],
        ToolAction::Glob { .. } => &["pattern", "path"],
        ToolAction::Delegate { .. } => &["description", "prompt", "subagent_type"],
        ToolAction::Todos(_) => &["todos"],
        ToolAction::Fetch { .. } => &["url", "prompt"],
        ToolAction::Search { .. } => &["query"],
        ToolAction::Ask(_) => &["questions"],
        ToolAction::Plan(_) => &["plan"],
        // The call's line shows only the first line of these.
        ToolAction::Skill { .. } => &["skill", "command"],
        ToolAction::NewTask { .. } => &["subject", "description"],
        ToolAction::ChangeTask { .. } => &["taskId"],
        ToolAction::SendMessage { .. } => &["to", "recipient", "message", "content"],
        ToolAction::Other(_) => return,
    };
    let inputs = call.input.as_object().into_iter().flatten();
    let others: Vec<(&str, &Value)> = inputs
        .map(|(key, value)| (key.as_str(), value))
        .filter(|(key, _)| !shown.contains(key))
        .collect();
    if !others.is_empty() {
        sections.push(CallSection::Inputs(others));
    }
}

fn push_output<'a>(
    call: &'a ToolCall,
    result: &'a ToolOutcome,
    sections: &mut Vec<CallSection<'a>>,
) {
    let list =
        |names: &[String]| CallSection::Output { text: names.join("\n").into(), keep_end: false };
    let message = |text: Cow<'a, str>| CallSection::Message { heading: None, markdown: text };
    sections.push(match &result.output {
        Some(ToolOutput::Read(read)) if result.spilled_text.is_none() => match &read.content {
            ReadContent::Text { content, start_line, .. } => {
                let path = match call.action() {
                    ToolAction::Read { path } => path,
                    _ => read.file_path.as_deref().unwrap_or_default(),
                };
                let first_line = *start_line as usize;
                CallSection::File { path, text: content.as_str().into(), first_line }
            }
            ReadContent::Image(media) | ReadContent::Pdf(media) => CallSection::Media(media),
            _ => CallSection::Output { text: result_text(result), keep_end: false },
        },
        Some(ToolOutput::Agent(agent)) => {
            let reply = plain_text(&agent.content);
            let markdown = if reply.is_empty() { result_text(result) } else { reply.into() };
            CallSection::Message { heading: Some("reply"), markdown }
        }
        // With recent clients the plan is in the result, or in a file that the result names.
        Some(ToolOutput::ExitPlanMode(plan)) => {
            message(plan.plan.as_deref().map_or_else(|| result_text(result), Cow::Borrowed))
        }
        Some(ToolOutput::WebFetch(page)) => message(page.result.as_str().into()),
        Some(ToolOutput::WebSearch(_)) => message(result_text(result)),
        Some(ToolOutput::Grep(grep)) if grep.content.is_none() => list(&grep.filenames),
        Some(ToolOutput::Glob(glob)) => list(&glob.filenames),
        _ => CallSection::Output { text: result_text(result), keep_end: true },
    });
}

fn pair_answers(questions: Vec<UserQuestion>, call: &ToolCall) -> Vec<AnsweredQuestion> {
    let answers = match call.result.as_ref().and_then(|result| result.output.as_ref()) {
        Some(ToolOutput::AskUserQuestion(asked)) => asked.answers.as_slice(),
        _ => &[],
    };
    let with_answer = |question: UserQuestion| {
        let answer = answers.iter().find(|(asked, _)| *asked == question.question);
        AnsweredQuestion { answer: answer.map(|(_, answer)| answer.clone()), question }
    };
    questions.into_iter().map(with_answer).collect()
}

/// Returns the patch that the client recorded for an edit.
fn recorded_patch(call: &ToolCall) -> Option<&StructuredPatch> {
    let patch = match &call.result.as_ref()?.output {
        Some(ToolOutput::Edit(edit)) => &edit.patch,
        Some(ToolOutput::MultiEdit(edit)) => &edit.patch,
        Some(ToolOutput::Write(write)) => &write.patch,
        _ => return None,
    };
    (!patch.hunks.is_empty()).then_some(patch)
}

fn patch_section(patch: &StructuredPatch) -> CallSection<'static> {
    let hunk = |hunk: &ramus_core::body::PatchHunk| DiffHunk {
        old_start: hunk.old_start as usize,
        old_lines: hunk.old_lines as usize,
        new_start: hunk.new_start as usize,
        new_lines: hunk.new_lines as usize,
        lines: hunk.lines.clone(),
    };
    CallSection::Diff { hunks: patch.hunks.iter().map(hunk).collect(), numbered: true }
}

#[cfg(test)]
mod tests {
    use ramus_core::body::RecordBody;
    use ramus_core::history::History;
    use ramus_core::resume::ResumeRule;
    use ramus_core::session::Session;
    use ramus_core::turn::path_turns;

    use crate::export::{self, DocumentFormat, ExportConfig, ToolDetail};
    use crate::highlight::Highlight;
    use crate::text::{TextConfig, write_single_turn};

    /// Returns one call and its result, opened in a terminal and in every format of a document.
    fn opened(name: &str, input: &str, output: &str) -> [(&'static str, String); 3] {
        let jsonl = format!(
            r#"{{"parentUuid":null,"type":"assistant","message":{{"id":"m","content":[{{"type":"tool_use","id":"t","name":"{name}","input":{input}}}]}},"uuid":"a"}}
{{"parentUuid":"a","type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"t","content":"ok"}}]}},"toolUseResult":{output},"uuid":"b"}}
"#
        );
        let mut session = Session::default();
        session.push(jsonl.as_bytes());
        session.finish_last_line();
        let history = History::new(session, ResumeRule::Client);
        let path = history.conversation_path(history.branches.resuming_conversation().unwrap());
        let mut body = |node| {
            let span = history.session.record(node).span;
            RecordBody::parse(&jsonl.as_bytes()[span.offset as usize..span.end_offset() as usize])
                .ok()
        };
        let turns: Vec<_> = path_turns(&history, &path, &mut body).collect();
        let text = TextConfig {
            width: 80,
            thinking: true,
            tools: true,
            full: true,
            branch_notes: false,
            usage: None,
            highlight: Highlight::Off,
            show: "",
            cwd: "",
            running: &[],
            time: &|_| String::new(),
        };
        let config = ExportConfig {
            thinking: true,
            tools: ToolDetail::Full,
            cwd: "",
            branch_link: &|_| None,
            agent_link: &|_| None,
            picture_link: &|_| None,
        };
        let (mut lines, mut markdown, mut html) = (Vec::new(), String::new(), String::new());
        for turn in &turns {
            write_single_turn(turn, &text, &mut lines);
            export::write_turn(DocumentFormat::Markdown, turn, &config, &mut markdown);
            export::write_turn(DocumentFormat::Html, turn, &config, &mut html);
        }
        let terminal = lines.iter().map(|line| line.to_text() + "\n").collect();
        [("terminal", terminal), ("Markdown", markdown), ("HTML", html)]
    }

    #[track_caller]
    fn all_show(name: &str, input: &str, output: &str, words: &[&str]) {
        for (format, text) in opened(name, input, output) {
            for word in words {
                assert!(text.contains(word), "{format} lacks {word}:\n{text}");
            }
        }
    }

    #[test]
    fn a_call_opens_into_the_same_sections_everywhere() {
        let ask =
            r#"{"questions":[{"question":"Which?","options":[{"label":"Red"},{"label":"Blue"}]}]}"#;
        let own = r#"{"questions":[],"answers":{"Which?":"something greenish"}}"#;
        all_show("AskUserQuestion", ask, own, &["Which?", "Red", "something greenish"]);
        let plan = r#"{"plan":"first measure, then cut","isAgent":false}"#;
        all_show("ExitPlanMode", "{}", plan, &["first measure, then cut"]);
        let run = r#"{"command":"make","description":"Build it","timeout":120000}"#;
        let bash = r#"{"stdout":"done","stderr":"","interrupted":false,"isImage":false}"#;
        all_show("Bash", run, bash, &["make", "Build it", "timeout", "120000", "done"]);
        all_show("mcp__db__query", r#"{"sql":"select 1"}"#, "\"one row\"", &["select 1"]);
    }
}
