//! Interprets tool calls by the names and inputs of the client's own tools.

use serde_json::Value;

use super::ToolCall;
use crate::body::{Replacement, Todo, TodoStatus, UserQuestion};

/// What a tool call does.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolAction<'a> {
    Run {
        command: &'a str,
        /// The purpose, in the model's words.
        description: Option<&'a str>,
        background: bool,
    },
    Read {
        path: &'a str,
    },
    Edit {
        path: &'a str,
        replacements: Vec<Replacement>,
    },
    Write {
        path: &'a str,
        content: &'a str,
    },
    /// Looks for text in files.
    Grep {
        pattern: &'a str,
        scope: Option<&'a str>,
    },
    /// Finds files by name.
    Glob {
        pattern: &'a str,
        scope: Option<&'a str>,
    },
    /// Starts a sub-agent.
    Delegate {
        description: &'a str,
        prompt: &'a str,
        agent_type: Option<&'a str>,
    },
    Todos(Vec<Todo>),
    Fetch {
        url: &'a str,
        prompt: Option<&'a str>,
    },
    Search {
        query: &'a str,
    },
    Ask(Vec<UserQuestion>),
    Plan(&'a str),
    Skill {
        name: &'a str,
        args: Option<&'a str>,
    },
    /// Puts a task on the shared list.
    NewTask {
        subject: &'a str,
        description: Option<&'a str>,
    },
    /// Changes a task of the shared list.
    ChangeTask {
        id: &'a str,
        status: Option<&'a str>,
    },
    /// Sends a message to another agent.
    SendMessage {
        to: &'a str,
        summary: Option<&'a str>,
        message: &'a str,
    },
    /// Another tool, or one with unexpected input.
    Other(Vec<(&'a str, &'a Value)>),
}

impl ToolCall {
    /// Interprets the call.
    pub fn action(&self) -> ToolAction<'_> {
        known_action(&self.name, &self.input).unwrap_or_else(|| {
            let pairs = self.input.as_object().into_iter().flatten();
            ToolAction::Other(pairs.map(|(key, value)| (key.as_str(), value)).collect())
        })
    }
}

/// Tool names of the earliest builds are included.
fn known_action<'a>(name: &str, input: &'a Value) -> Option<ToolAction<'a>> {
    let text = |key: &str| input.get(key).and_then(Value::as_str);
    let path = || text("file_path").or_else(|| text("notebook_path")).or_else(|| text("path"));
    Some(match name {
        "Bash" | "PowerShell" => ToolAction::Run {
            command: text("command")?,
            description: text("description"),
            background: input.get("run_in_background").and_then(Value::as_bool) == Some(true),
        },
        "Read" | "View" | "ReadNotebook" | "NotebookRead" | "LS" => {
            ToolAction::Read { path: path()? }
        }
        "Edit" => ToolAction::Edit { path: path()?, replacements: vec![parse_replacement(input)?] },
        "MultiEdit" => ToolAction::Edit {
            path: path()?,
            replacements: list_member(input, "edits").filter_map(parse_replacement).collect(),
        },
        "Write" | "Replace" => ToolAction::Write { path: path()?, content: text("content")? },
        "NotebookEdit" => ToolAction::Write { path: path()?, content: text("new_source")? },
        "Grep" | "GrepTool" | "SearchTool" => ToolAction::Grep {
            pattern: text("pattern")?,
            scope: text("path").or_else(|| text("glob")).or_else(|| text("include")),
        },
        "Glob" | "GlobTool" => ToolAction::Glob { pattern: text("pattern")?, scope: text("path") },
        "Task" | "Agent" | "dispatch_agent" => ToolAction::Delegate {
            description: text("description").unwrap_or_default(),
            prompt: text("prompt")?,
            agent_type: text("subagent_type"),
        },
        "TodoWrite" => ToolAction::Todos(list_member(input, "todos").map(parse_todo).collect()),
        "WebFetch" => ToolAction::Fetch { url: text("url")?, prompt: text("prompt") },
        "WebSearch" | "web_search" | "ToolSearch" => ToolAction::Search { query: text("query")? },
        "AskUserQuestion" => {
            ToolAction::Ask(list_member(input, "questions").map(parse_question).collect())
        }
        "ExitPlanMode" | "exit_plan_mode" => ToolAction::Plan(text("plan")?),
        "Skill" | "SlashCommand" => ToolAction::Skill {
            name: text("skill").or_else(|| text("command"))?,
            args: text("args"),
        },
        "TaskCreate" => {
            ToolAction::NewTask { subject: text("subject")?, description: text("description") }
        }
        "TaskUpdate" => ToolAction::ChangeTask { id: text("taskId")?, status: text("status") },
        "SendMessage" => ToolAction::SendMessage {
            to: text("to").or_else(|| text("recipient"))?,
            summary: text("summary"),
            message: text("message").or_else(|| text("content"))?,
        },
        _ => return None,
    })
}

fn list_member<'a>(input: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    input.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn string_member(value: &Value, key: &str) -> Option<String> {
    value.get(key)?.as_str().map(str::to_owned)
}

fn bool_member(value: &Value, key: &str) -> bool {
    value.get(key).and_then(Value::as_bool) == Some(true)
}

fn parse_replacement(value: &Value) -> Option<Replacement> {
    Some(Replacement {
        old: string_member(value, "old_string")?,
        new: string_member(value, "new_string")?,
        all: bool_member(value, "replace_all"),
    })
}

fn parse_todo(value: &Value) -> Todo {
    Todo {
        content: string_member(value, "content").unwrap_or_default(),
        status: TodoStatus::from_name(&string_member(value, "status").unwrap_or_default()),
        active_form: string_member(value, "activeForm"),
        priority: string_member(value, "priority"),
        id: string_member(value, "id"),
    }
}

fn parse_question(value: &Value) -> UserQuestion {
    UserQuestion {
        question: string_member(value, "question").unwrap_or_default(),
        header: string_member(value, "header"),
        options: list_member(value, "options")
            .filter_map(|option| string_member(option, "label"))
            .collect(),
        multi_select: bool_member(value, "multiSelect"),
    }
}
