//! What the client attaches to a prompt: queued prompts, hook output, files.

use super::block::{ContentBlock, blocks_from_json};
use super::fields::Fields;
use super::user::{PromptOrigin, paste_ids};
use serde_json::Value;

/// The body of an `attachment` record.
#[derive(Clone, Debug, PartialEq)]
pub enum AttachmentBody {
    /// Typed while the model was working: a person speaking (R16).
    QueuedCommand(QueuedCommand),
    Hook(HookAttachment),
    File(FileAttachment),
    Other {
        kind: String,
        value: Value,
    },
}

/// A prompt that waited.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueuedCommand {
    pub prompt: Vec<ContentBlock>,
    /// `prompt` or `task-notification`.
    pub command_mode: Option<String>,
    pub origin: Option<PromptOrigin>,
    pub image_paste_ids: Vec<u64>,
    pub source_uuid: Option<String>,
}

impl QueuedCommand {
    /// Whether a person wrote it, rather than a task that reports its state.
    pub fn is_human(&self) -> bool {
        match &self.origin {
            Some(origin) => origin.is_human(),
            None => self.command_mode.as_deref().is_none_or(|mode| mode == "prompt"),
        }
    }
}

/// What a hook did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookAttachment {
    pub kind: HookKind,
    /// Such as `PostToolUse:Edit`.
    pub name: String,
    /// Such as `PostToolUse`.
    pub event: String,
    pub tool_use_id: Option<String>,
    /// Its output for the model or the user.
    pub text: String,
    pub command: Option<String>,
    pub stdout: String,
    pub stderr: String,
    pub exit_code: Option<i64>,
    pub duration_ms: Option<u64>,
}

/// How a hook ended, or what it added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookKind {
    Success,
    NonBlockingError,
    /// It blocked the action.
    BlockingError,
    Cancelled,
    SystemMessage,
    AdditionalContext,
    Other(String),
}

/// A file or directory that the model was shown or informed about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileAttachment {
    pub kind: AttachedFileKind,
    pub path: String,
    /// The displayed path, usually relative.
    pub display_path: Option<String>,
    /// The part that was shown; `None` if it was only mentioned or is not text.
    pub text: Option<String>,
}

/// Why a file was attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttachedFileKind {
    /// Mentioned with `@`.
    File,
    /// Changed by someone else since the model read it.
    Edited,
    Directory,
    /// A `CLAUDE.md` or rule near a file that was read.
    NestedMemory,
    OpenedInIde,
    SelectedInIde,
    /// Known before a compaction.
    CompactReference,
    Plan,
    /// Mentioned with `@`, a PDF too large to show.
    PdfReference,
}

impl AttachmentBody {
    pub(super) fn from_fields(mut fields: Fields) -> Self {
        let mut attachment = fields.take_object("attachment").unwrap_or_default();
        let kind = attachment.take_string("type");
        if kind == "queued_command" {
            return Self::QueuedCommand(QueuedCommand {
                prompt: blocks_from_json(attachment.take_json("prompt")),
                command_mode: attachment.take_text("commandMode"),
                origin: PromptOrigin::from_fields(&mut attachment),
                image_paste_ids: paste_ids(&mut attachment),
                source_uuid: attachment.take_text("source_uuid"),
            });
        }
        if let Some(hook) = kind.strip_prefix("hook_") {
            return Self::Hook(HookAttachment::from_fields(HookKind::from_name(hook), attachment));
        }
        match AttachedFileKind::from_name(&kind) {
            Some(kind) => Self::File(FileAttachment::from_fields(kind, attachment)),
            None => Self::Other { kind, value: attachment.into_value() },
        }
    }
}

impl HookKind {
    fn from_name(kind: &str) -> Self {
        match kind {
            "success" => Self::Success,
            "non_blocking_error" => Self::NonBlockingError,
            "blocking_error" => Self::BlockingError,
            "cancelled" => Self::Cancelled,
            "system_message" => Self::SystemMessage,
            "additional_context" => Self::AdditionalContext,
            other => Self::Other(other.to_owned()),
        }
    }
}

impl HookAttachment {
    fn from_fields(kind: HookKind, mut fields: Fields) -> Self {
        let mut blocking = fields.take_object("blockingError").unwrap_or_default();
        let text = blocking
            .take_text("blockingError")
            .or_else(|| fields.take_text("blockingError"))
            .or_else(|| fields.take_text("content"))
            .unwrap_or_else(|| fields.take_texts("content").join("\n"));
        Self {
            kind,
            name: fields.take_string("hookName"),
            event: fields.take_string("hookEvent"),
            tool_use_id: fields.take_text("toolUseID"),
            text,
            command: fields.take_text("command").or_else(|| blocking.take_text("command")),
            stdout: fields.take_string("stdout"),
            stderr: fields.take_string("stderr"),
            exit_code: fields.integer("exitCode"),
            duration_ms: fields.number("durationMs"),
        }
    }
}

impl AttachedFileKind {
    fn from_name(kind: &str) -> Option<Self> {
        Some(match kind {
            "file" => Self::File,
            "edited_text_file" => Self::Edited,
            "directory" => Self::Directory,
            "nested_memory" => Self::NestedMemory,
            "opened_file_in_ide" => Self::OpenedInIde,
            "selected_lines_in_ide" => Self::SelectedInIde,
            "compact_file_reference" => Self::CompactReference,
            "plan_file_reference" => Self::Plan,
            "pdf_reference" => Self::PdfReference,
            _ => return None,
        })
    }
}

impl FileAttachment {
    fn from_fields(kind: AttachedFileKind, mut fields: Fields) -> Self {
        let path = ["filename", "path", "filePath", "planFilePath"];
        let text = ["snippet", "content", "planContent"];
        Self {
            kind,
            path: path.into_iter().find_map(|key| fields.take_text(key)).unwrap_or_default(),
            display_path: fields.take_text("displayPath"),
            text: text
                .into_iter()
                .find_map(|key| fields.take_text(key))
                .or_else(|| nested_content(&mut fields)),
        }
    }
}

/// Takes the text out of a `content` that is an object, as files and memories have it.
fn nested_content(fields: &mut Fields) -> Option<String> {
    let mut content = fields.take_object("content")?;
    content.take_text("content").or_else(|| content.take_object("file")?.take_text("content"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check<T: std::fmt::Debug>(json: &str, get: impl Fn(AttachmentBody) -> T, expected: &str) {
        let json = format!(r#"{{"attachment":{json}}}"#);
        let body = AttachmentBody::from_fields(Fields::read(&json));
        assert_eq!(format!("{:?}", get(body)), expected);
    }

    fn queued(body: AttachmentBody) -> (Vec<ContentBlock>, bool) {
        let AttachmentBody::QueuedCommand(queued) = body else { panic!("{body:?}") };
        let is_human = queued.is_human();
        (queued.prompt, is_human)
    }

    fn hook(body: AttachmentBody) -> (HookKind, String, Option<String>) {
        let AttachmentBody::Hook(hook) = body else { panic!("{body:?}") };
        (hook.kind, hook.text, hook.command)
    }

    fn file(body: AttachmentBody) -> (AttachedFileKind, String, Option<String>) {
        let AttachmentBody::File(file) = body else { panic!("{body:?}") };
        (file.kind, file.path, file.text)
    }

    #[test]
    fn a_queued_prompt_is_a_person_speaking() {
        let json = r#"{"type":"queued_command","prompt":"hi","commandMode":"prompt"}"#;
        check(json, queued, r#"([Text("hi")], true)"#);
        let json = r#"{"type":"queued_command","prompt":[{"type":"text","text":"hi"}],"origin":{"kind":"human"}}"#;
        check(json, queued, r#"([Text("hi")], true)"#);
        let json = r#"{"type":"queued_command","prompt":"<task-notification>","commandMode":"task-notification"}"#;
        check(json, queued, r#"([Text("<task-notification>")], false)"#);
    }

    #[test]
    fn hooks_say_what_they_did() {
        let json = r#"{"type":"hook_blocking_error","blockingError":{"blockingError":"no","command":"c"}}"#;
        check(json, hook, r#"(BlockingError, "no", Some("c"))"#);
        let json = r#"{"type":"hook_additional_context","content":["a","b"]}"#;
        check(json, hook, r#"(AdditionalContext, "a\nb", None)"#);
        check(r#"{"type":"hook_new"}"#, hook, r#"(Other("new"), "", None)"#);
    }

    #[test]
    fn files_have_a_path_and_perhaps_a_text() {
        let json = r#"{"type":"edited_text_file","filename":"a","snippet":"1\tx"}"#;
        check(json, file, r#"(Edited, "a", Some("1\tx"))"#);
        let json =
            r#"{"type":"file","filename":"a","content":{"type":"text","file":{"content":"x"}}}"#;
        check(json, file, r#"(File, "a", Some("x"))"#);
        let json = r#"{"type":"nested_memory","path":"a","content":{"content":"x"}}"#;
        check(json, file, r#"(NestedMemory, "a", Some("x"))"#);
        check(r#"{"type":"plan_file_reference","planFilePath":"a"}"#, file, r#"(Plan, "a", None)"#);
    }

    #[test]
    fn the_rest_is_kept() {
        let kind = |body| match body {
            AttachmentBody::Other { kind, .. } => kind,
            _ => String::new(),
        };
        check(r#"{"type":"date_change"}"#, kind, r#""date_change""#);
        check("null", kind, r#""""#);
        check("[]", kind, r#""""#);
    }
}
