//! Interprets tool calls by the names and inputs of the client's own tools.

use serde_json::Value;

use super::Call;
use crate::body::{Question, Replacement, Todo, TodoStatus};

/// What a tool call does.
#[derive(Clone, Debug, PartialEq)]
pub enum Action<'a> {
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
        place: Option<&'a str>,
    },
    /// Finds files by name.
    Glob {
        pattern: &'a str,
        place: Option<&'a str>,
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
    Ask(Vec<Question>),
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
    Tell {
        to: &'a str,
        summary: Option<&'a str>,
        message: &'a str,
    },
    /// Another tool, or one with unexpected input.
    Other(Vec<(&'a str, &'a Value)>),
}

impl Call {
    /// Interprets the call.
    pub fn action(&self) -> Action<'_> {
        known(&self.name, &self.input).unwrap_or_else(|| {
            let pairs = self.input.as_object().into_iter().flatten();
            Action::Other(pairs.map(|(key, value)| (key.as_str(), value)).collect())
        })
    }
}

/// Tool names of the earliest builds are included.
fn known<'a>(name: &str, input: &'a Value) -> Option<Action<'a>> {
    let text = |key: &str| input.get(key).and_then(Value::as_str);
    let path = || text("file_path").or_else(|| text("notebook_path")).or_else(|| text("path"));
    Some(match name {
        "Bash" | "PowerShell" => Action::Run {
            command: text("command")?,
            description: text("description"),
            background: input.get("run_in_background").and_then(Value::as_bool) == Some(true),
        },
        "Read" | "View" | "ReadNotebook" | "NotebookRead" | "LS" => Action::Read { path: path()? },
        "Edit" => Action::Edit { path: path()?, replacements: vec![replacement(input)?] },
        "MultiEdit" => Action::Edit {
            path: path()?,
            replacements: list(input, "edits").filter_map(replacement).collect(),
        },
        "Write" | "Replace" => Action::Write { path: path()?, content: text("content")? },
        "NotebookEdit" => Action::Write { path: path()?, content: text("new_source")? },
        "Grep" | "GrepTool" | "SearchTool" => Action::Grep {
            pattern: text("pattern")?,
            place: text("path").or_else(|| text("glob")).or_else(|| text("include")),
        },
        "Glob" | "GlobTool" => Action::Glob { pattern: text("pattern")?, place: text("path") },
        "Task" | "Agent" | "dispatch_agent" => Action::Delegate {
            description: text("description").unwrap_or_default(),
            prompt: text("prompt")?,
            agent_type: text("subagent_type"),
        },
        "TodoWrite" => Action::Todos(list(input, "todos").map(todo).collect()),
        "WebFetch" => Action::Fetch { url: text("url")?, prompt: text("prompt") },
        "WebSearch" | "web_search" | "ToolSearch" => Action::Search { query: text("query")? },
        "AskUserQuestion" => Action::Ask(list(input, "questions").map(question).collect()),
        "ExitPlanMode" | "exit_plan_mode" => Action::Plan(text("plan")?),
        "Skill" | "SlashCommand" => {
            Action::Skill { name: text("skill").or_else(|| text("command"))?, args: text("args") }
        }
        "TaskCreate" => {
            Action::NewTask { subject: text("subject")?, description: text("description") }
        }
        "TaskUpdate" => Action::ChangeTask { id: text("taskId")?, status: text("status") },
        "SendMessage" => Action::Tell {
            to: text("to").or_else(|| text("recipient"))?,
            summary: text("summary"),
            message: text("message").or_else(|| text("content"))?,
        },
        _ => return None,
    })
}

fn list<'a>(input: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    input.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn string(value: &Value, key: &str) -> Option<String> {
    value.get(key)?.as_str().map(str::to_owned)
}

fn flag(value: &Value, key: &str) -> bool {
    value.get(key).and_then(Value::as_bool) == Some(true)
}

fn replacement(value: &Value) -> Option<Replacement> {
    Some(Replacement {
        old: string(value, "old_string")?,
        new: string(value, "new_string")?,
        all: flag(value, "replace_all"),
    })
}

fn todo(value: &Value) -> Todo {
    Todo {
        content: string(value, "content").unwrap_or_default(),
        status: TodoStatus::of(&string(value, "status").unwrap_or_default()),
        active_form: string(value, "activeForm"),
        priority: string(value, "priority"),
        id: string(value, "id"),
    }
}

fn question(value: &Value) -> Question {
    Question {
        question: string(value, "question").unwrap_or_default(),
        header: string(value, "header"),
        options: list(value, "options").filter_map(|option| string(option, "label")).collect(),
        multi_select: flag(value, "multiSelect"),
    }
}
