//! Plans, to-dos, tasks, questions and skills.

use crate::body::fields::Fields;
use crate::body::json::Json;
use serde_json::Value;

/// One item of a to-do list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Todo {
    pub content: String,
    pub status: TodoStatus,
    pub active_form: Option<String>,
    pub priority: Option<String>,
    pub id: Option<String>,
}

/// The state of a to-do item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TodoStatus {
    /// Also every word that is not known.
    #[default]
    Pending,
    InProgress,
    Completed,
}

impl TodoStatus {
    pub(crate) fn of(word: &str) -> Self {
        match word {
            "in_progress" => Self::InProgress,
            "completed" => Self::Completed,
            _ => Self::Pending,
        }
    }
}

impl Todo {
    pub(in crate::body) fn list(fields: &mut Fields, key: &str) -> Vec<Self> {
        let todo = |mut todo: Fields| Self {
            content: todo.string("content"),
            status: TodoStatus::of(&todo.string("status")),
            active_form: todo.text("activeForm"),
            priority: todo.text("priority"),
            id: todo.text("id"),
        };
        fields.objects(key).map(todo).collect()
    }
}

/// One task of the shared list that replaced to-dos.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Task {
    pub id: String,
    pub subject: String,
    pub status: Option<String>,
    pub owner: Option<String>,
    pub blocked_by: Vec<String>,
}

impl Task {
    pub(super) fn of(mut fields: Fields) -> Self {
        Self {
            id: fields.string("id"),
            subject: fields.string("subject"),
            status: fields.text("status"),
            owner: fields.text("owner"),
            blocked_by: fields.texts("blockedBy"),
        }
    }
}

/// A change to a [`Task`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskUpdate {
    pub task_id: String,
    pub success: bool,
    pub updated_fields: Vec<String>,
    pub status_change: Option<StatusChange>,
}

/// The status of a [`Task`] before and after.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatusChange {
    pub from: String,
    pub to: String,
}

impl TaskUpdate {
    pub(super) fn of(mut fields: Fields) -> Self {
        let change = |mut change: Fields| StatusChange {
            from: change.string("from"),
            to: change.string("to"),
        };
        Self {
            task_id: fields.string("taskId"),
            success: fields.flag("success"),
            updated_fields: fields.texts("updatedFields"),
            status_change: fields.object("statusChange").map(change),
        }
    }
}

/// A plan that was shown to the person.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// `None` where the plan is only in its file.
    pub plan: Option<String>,
    pub is_agent: bool,
    pub file_path: Option<String>,
    pub was_edited: bool,
}

impl Plan {
    pub(super) fn of(mut fields: Fields) -> Self {
        Self {
            plan: fields.text("plan"),
            is_agent: fields.flag("isAgent"),
            file_path: fields.text("filePath"),
            was_edited: fields.flag("planWasEdited"),
        }
    }
}

/// Questions to the user, with the answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Questions {
    pub questions: Vec<Question>,
    /// Question and answer, in the order of the record.
    pub answers: Vec<(String, String)>,
    pub annotations: Option<Value>,
}

/// One question with its possible answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    pub question: String,
    pub header: Option<String>,
    pub options: Vec<String>,
    pub multi_select: bool,
}

impl Questions {
    pub(super) fn of(mut fields: Fields) -> Self {
        let question = |mut question: Fields| Question {
            question: question.string("question"),
            header: question.text("header"),
            options: question.objects("options").map(|mut option| option.string("label")).collect(),
            multi_select: question.flag("multiSelect"),
        };
        let answer = |(question, answer): (String, Json<'_>)| match answer.text() {
            Some(text) => (question, text.into_owned()),
            None => (question, answer.into_value().to_string()),
        };
        Self {
            questions: fields.objects("questions").map(question).collect(),
            answers: fields.pairs("answers").map(answer).collect(),
            annotations: fields.take("annotations"),
        }
    }
}

/// A skill or command that the model used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkillOutput {
    pub command_name: String,
    pub success: bool,
    pub allowed_tools: Vec<String>,
    pub model: Option<String>,
}

impl SkillOutput {
    pub(super) fn of(mut fields: Fields) -> Self {
        Self {
            command_name: fields.string("commandName"),
            success: fields.flag("success"),
            allowed_tools: fields.texts("allowedTools"),
            model: fields.text("model"),
        }
    }
}
