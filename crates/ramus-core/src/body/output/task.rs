//! Plans, to-dos, tasks, questions and skills.

use crate::body::fields::Fields;
use crate::body::json::LazyJson;
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
    pub(crate) fn from_name(word: &str) -> Self {
        match word {
            "in_progress" => Self::InProgress,
            "completed" => Self::Completed,
            _ => Self::Pending,
        }
    }
}

impl Todo {
    pub(in crate::body) fn list_from_fields(fields: &mut Fields, key: &str) -> Vec<Self> {
        let todo = |mut todo: Fields| Self {
            content: todo.take_string("content"),
            status: TodoStatus::from_name(&todo.take_string("status")),
            active_form: todo.take_text("activeForm"),
            priority: todo.take_text("priority"),
            id: todo.take_text("id"),
        };
        fields.take_objects(key).map(todo).collect()
    }
}

/// One task of the shared list that replaced to-dos.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskItem {
    pub id: String,
    pub subject: String,
    pub status: Option<String>,
    pub owner: Option<String>,
    pub blocked_by: Vec<String>,
}

impl TaskItem {
    pub(super) fn from_fields(mut fields: Fields) -> Self {
        Self {
            id: fields.take_string("id"),
            subject: fields.take_string("subject"),
            status: fields.take_text("status"),
            owner: fields.take_text("owner"),
            blocked_by: fields.take_texts("blockedBy"),
        }
    }
}

/// A change to a [`TaskItem`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskUpdate {
    pub task_id: String,
    pub success: bool,
    pub updated_fields: Vec<String>,
    pub status_change: Option<StatusChange>,
}

/// The status of a [`TaskItem`] before and after.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatusChange {
    pub from: String,
    pub to: String,
}

impl TaskUpdate {
    pub(super) fn from_fields(mut fields: Fields) -> Self {
        let change = |mut change: Fields| StatusChange {
            from: change.take_string("from"),
            to: change.take_string("to"),
        };
        Self {
            task_id: fields.take_string("taskId"),
            success: fields.flag("success"),
            updated_fields: fields.take_texts("updatedFields"),
            status_change: fields.take_object("statusChange").map(change),
        }
    }
}

/// A plan that was shown to the person.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanOutput {
    /// `None` where the plan is only in its file.
    pub plan: Option<String>,
    pub is_agent: bool,
    pub file_path: Option<String>,
    pub was_edited: bool,
}

impl PlanOutput {
    pub(super) fn from_fields(mut fields: Fields) -> Self {
        Self {
            plan: fields.take_text("plan"),
            is_agent: fields.flag("isAgent"),
            file_path: fields.take_text("filePath"),
            was_edited: fields.flag("planWasEdited"),
        }
    }
}

/// Questions to the user, with the answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QuestionsOutput {
    pub questions: Vec<UserQuestion>,
    /// Question and answer, in the order of the record.
    pub answers: Vec<(String, String)>,
    pub annotations: Option<Value>,
}

/// One question with its possible answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserQuestion {
    pub question: String,
    pub header: Option<String>,
    pub options: Vec<String>,
    pub multi_select: bool,
}

impl QuestionsOutput {
    pub(super) fn from_fields(mut fields: Fields) -> Self {
        let question = |mut question: Fields| UserQuestion {
            question: question.take_string("question"),
            header: question.take_text("header"),
            options: question
                .take_objects("options")
                .map(|mut option| option.take_string("label"))
                .collect(),
            multi_select: question.flag("multiSelect"),
        };
        let answer = |(question, answer): (String, LazyJson<'_>)| match answer.as_text() {
            Some(text) => (question, text.into_owned()),
            None => (question, answer.into_value().to_string()),
        };
        Self {
            questions: fields.take_objects("questions").map(question).collect(),
            answers: fields.take_pairs("answers").map(answer).collect(),
            annotations: fields.take_value("annotations"),
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
    pub(super) fn from_fields(mut fields: Fields) -> Self {
        Self {
            command_name: fields.take_string("commandName"),
            success: fields.flag("success"),
            allowed_tools: fields.take_texts("allowedTools"),
            model: fields.take_text("model"),
        }
    }
}
