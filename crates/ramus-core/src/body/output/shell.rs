//! Output of shells. Exit codes of foreground commands are not recorded.

use crate::body::fields::Fields;
use serde_json::Value;

/// The output of a command that ran in the foreground, or was sent to the background.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BashOutput {
    pub stdout: String,
    pub stderr: String,
    pub interrupted: bool,
    /// `stdout` is an image as a data URL.
    pub is_image: bool,
    pub no_output_expected: bool,
    /// What the exit code means, as text, if it does not mean failure.
    pub return_code_interpretation: Option<String>,
    pub background_task_id: Option<String>,
    pub backgrounded_by_user: bool,
    pub timed_out_after_ms: Option<u64>,
    pub dangerously_disable_sandbox: bool,
    pub git_operation: Option<Value>,
    /// What the command changed in files the client watches.
    pub edit_diff: Option<Value>,
}

impl BashOutput {
    pub(super) fn from_fields(mut fields: Fields) -> Self {
        Self {
            stdout: fields.take_string("stdout"),
            stderr: fields.take_string("stderr"),
            interrupted: fields.flag("interrupted"),
            is_image: fields.flag("isImage"),
            no_output_expected: fields.flag("noOutputExpected"),
            return_code_interpretation: fields.take_text("returnCodeInterpretation"),
            background_task_id: fields.take_text("backgroundTaskId"),
            backgrounded_by_user: fields.flag("backgroundedByUser"),
            timed_out_after_ms: fields.number("timedOutAfterMs"),
            dangerously_disable_sandbox: fields.flag("dangerouslyDisableSandbox"),
            git_operation: fields.take_value("gitOperation"),
            edit_diff: fields.take_value("bashEditDiff"),
        }
    }
}

/// The output of a background shell at the time it was queried.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellOutput {
    pub shell_id: String,
    pub command: Option<String>,
    pub status: String,
    /// `None` while it runs.
    pub exit_code: Option<i64>,
    pub stdout: String,
    pub stderr: String,
}

impl ShellOutput {
    pub(super) fn from_fields(mut fields: Fields) -> Self {
        Self {
            shell_id: fields.take_string("shellId"),
            command: fields.take_text("command"),
            status: fields.take_string("status"),
            exit_code: fields.integer("exitCode"),
            stdout: fields.take_string("stdout"),
            stderr: fields.take_string("stderr"),
        }
    }
}
