//! Simulates tools: their inputs and results.

use serde_json::{Value, json};

use super::client::ClientGeneration;
use super::project_disk::ProjectDisk;

/// A tool call.
#[derive(Clone, Copy, Debug)]
pub(super) enum ToolStep<'a> {
    /// A command, its description and its output.
    Bash(&'a str, &'a str, &'a str),
    /// A command that fails.
    Fails(&'a str, &'a str, &'a str),
    Read(&'a str),
    /// A path and its new content.
    Write(&'a str, &'a str),
    /// A path, the old text and the new text.
    Edit(&'a str, &'a str, &'a str),
    /// A text to search for in all files.
    Grep(&'a str),
    /// To-dos: those done, the one in progress, those to come.
    Todo(&'a [&'a str], &'a str, &'a [&'a str]),
}

/// A tool call with its result.
#[derive(Clone, Debug)]
pub(super) struct ToolRun {
    pub(super) name: &'static str,
    pub(super) input: Value,
    /// What the model sees.
    pub(super) content: Value,
    /// `toolUseResult`.
    pub(super) result: Value,
    pub(super) is_error: bool,
}

impl<'a> ToolStep<'a> {
    /// Returns the file that the tool changes.
    pub(super) fn changed_file(&self) -> Option<&'a str> {
        match self {
            Self::Write(path, _) | Self::Edit(path, ..) => Some(path),
            _ => None,
        }
    }

    /// Runs the tool.
    pub(super) fn run_tool(&self, disk: &mut ProjectDisk) -> ToolRun {
        match *self {
            Self::Bash(command, why, out) => run_bash(disk.project.generation, command, why, out),
            Self::Fails(command, why, out) => ToolRun {
                name: "Bash",
                input: json!({"command": command, "description": why}),
                content: json!(out),
                result: json!(format!("Error: {out}")),
                is_error: true,
            },
            Self::Read(path) => run_read(disk, path),
            Self::Write(path, content) => run_write(disk, path, content),
            Self::Edit(path, old, new) => run_edit(disk, path, old, new),
            Self::Grep(pattern) => run_grep(disk, pattern),
            Self::Todo(done, now, next) => run_todo(done, now, next),
        }
    }
}

fn tool_run(name: &'static str, input: Value, content: impl Into<Value>, result: Value) -> ToolRun {
    ToolRun { name, input, content: content.into(), result, is_error: false }
}

fn run_bash(era: ClientGeneration, command: &str, why: &str, out: &str) -> ToolRun {
    let mut result = json!({"stdout": out, "stderr": "", "interrupted": false, "isImage": false});
    if era == ClientGeneration::Three {
        result["noOutputExpected"] = json!(false);
    }
    tool_run("Bash", json!({"command": command, "description": why}), out, result)
}

fn run_read(disk: &ProjectDisk, path: &str) -> ToolRun {
    let absolute = format!("{}/{path}", disk.project.cwd);
    let text = disk.files.get(path).map_or("", |text| text.trim_end());
    let numbered: Vec<String> = (1..)
        .zip(text.lines())
        .map(|(n, line)| match disk.project.generation {
            ClientGeneration::Three => format!("{n}\t{line}"),
            _ => format!("{n:6}→{line}"),
        })
        .collect();
    let lines = numbered.len();
    let file = json!({"filePath": absolute, "content": text, "numLines": lines, "startLine": 1, "totalLines": lines});
    let input = json!({"file_path": absolute});
    tool_run("Read", input, numbered.join("\n"), json!({"type": "text", "file": file}))
}

fn run_write(disk: &mut ProjectDisk, path: &str, content: &str) -> ToolRun {
    let absolute = format!("{}/{path}", disk.project.cwd);
    let before = disk.files.insert(path.to_owned(), content.to_owned());
    let (kind, words) = match before {
        None => ("create", format!("File created successfully at: {absolute}")),
        Some(_) => ("update", format!("The file {absolute} has been updated successfully.")),
    };
    let hunks = before.as_deref().map_or_else(|| json!([]), |old| structured_patch(old, content));
    let result = json!({"type": kind, "filePath": absolute, "content": content,
        "structuredPatch": hunks, "originalFile": original_file(disk.project.generation, before)});
    tool_run("Write", json!({"file_path": absolute, "content": content}), words, result)
}

fn run_edit(disk: &mut ProjectDisk, path: &str, old: &str, new: &str) -> ToolRun {
    let absolute = format!("{}/{path}", disk.project.cwd);
    let before = disk.files.get(path).cloned().unwrap_or_default();
    debug_assert_eq!(before.matches(old).count(), 1, "edits must be clear: {old} in {before}");
    let after = before.replacen(old, new, 1);
    let result = json!({"filePath": absolute, "oldString": old, "newString": new,
        "originalFile": original_file(disk.project.generation, Some(before.clone())),
        "structuredPatch": structured_patch(&before, &after), "userModified": false, "replaceAll": false});
    disk.files.insert(path.to_owned(), after);
    let input =
        json!({"file_path": absolute, "old_string": old, "new_string": new, "replace_all": false});
    tool_run("Edit", input, format!("The file {absolute} has been updated successfully."), result)
}

/// Returns the original file, which older clients included in the result.
fn original_file(era: ClientGeneration, content: Option<String>) -> Option<String> {
    content.filter(|_| era != ClientGeneration::Three)
}

fn run_grep(disk: &ProjectDisk, pattern: &str) -> ToolRun {
    let mut hits = Vec::new();
    for (path, text) in &disk.files {
        let lines = (1..).zip(text.lines()).filter(|(_, line)| line.contains(pattern));
        hits.extend(lines.map(|(n, line)| format!("{path}:{n}:{line}")));
    }
    let input = json!({"pattern": pattern, "output_mode": "content", "-n": true});
    let content = hits.join("\n");
    let result = json!({"mode": "content", "numFiles": 0, "filenames": [], "content": content, "numLines": hits.len()});
    tool_run("Grep", input, content, result)
}

fn run_todo(done: &[&str], now: &str, next: &[&str]) -> ToolRun {
    let todo =
        |text: &str, status: &str| json!({"content": text, "status": status, "activeForm": text});
    let list = |finished: usize| -> Vec<Value> {
        let steps = done.iter().copied().chain((!now.is_empty()).then_some(now));
        let steps = steps.chain(next.iter().copied()).enumerate();
        let status = |at: usize| match at.cmp(&finished) {
            std::cmp::Ordering::Less => "completed",
            std::cmp::Ordering::Equal => "in_progress",
            std::cmp::Ordering::Greater => "pending",
        };
        steps.map(|(at, text)| todo(text, status(at))).collect()
    };
    let new = list(done.len());
    let old = done.len().checked_sub(1).map(list).unwrap_or_default();
    let words = "Todos have been modified successfully. Ensure that you continue to use the todo list to track your progress. Please proceed with the current tasks if applicable";
    tool_run("TodoWrite", json!({"todos": new}), words, json!({"oldTodos": old, "newTodos": new}))
}

/// Returns the difference as one hunk with three lines of context.
fn structured_patch(old: &str, new: &str) -> Value {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let rest = old.len().min(new.len()) - head;
    let tail =
        old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let (old_end, new_end) = (old.len() - tail, new.len() - tail);
    let (from, to) = (head.saturating_sub(3), old.len().min(old_end + 3));
    let sign = |sign: char, lines: &[&str]| -> Vec<String> {
        lines.iter().map(|line| format!("{sign}{line}")).collect()
    };
    let lines = [
        sign(' ', &old[from..head]),
        sign('-', &old[head..old_end]),
        sign('+', &new[head..new_end]),
        sign(' ', &old[old_end..to]),
    ]
    .concat();
    json!([{"oldStart": from + 1, "oldLines": to - from, "newStart": from + 1,
        "newLines": to - from + new_end - old_end, "lines": lines}])
}
