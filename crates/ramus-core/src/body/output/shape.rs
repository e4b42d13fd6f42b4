//! Determines by its keys which tool an output came from.

use super::{
    AgentOutput, BashOutput, EditOutput, GlobOutput, GrepOutput, MultiEditOutput,
    NotebookEditOutput, PlanOutput, QuestionsOutput, ReadOutput, ShellOutput, SkillOutput,
    TaskItem, TaskUpdate, Todo, ToolOutput, ToolSearchOutput, WebFetchOutput, WebSearchOutput,
    WorkflowOutput, WriteOutput,
};
use crate::body::fields::Fields;

type OutputReader = fn(Fields) -> ToolOutput;

/// The keys that identify a tool; more specific sets come first.
const SHAPES: &[(&[&str], OutputReader)] = &[
    (&["shellId", "status"], |f| ToolOutput::Shell(ShellOutput::from_fields(f))),
    (&["stdout", "stderr"], |f| ToolOutput::Bash(BashOutput::from_fields(f))),
    (&["type", "file"], |f| ToolOutput::Read(ReadOutput::from_fields(f))),
    (&["filePath", "edits"], |f| ToolOutput::MultiEdit(MultiEditOutput::from_fields(f))),
    (&["filePath", "oldString", "newString"], |f| ToolOutput::Edit(EditOutput::from_fields(f))),
    (&["filePath", "content", "type"], |f| ToolOutput::Write(WriteOutput::from_fields(f))),
    (&["filePath", "content", "structuredPatch"], |f| {
        ToolOutput::Write(WriteOutput::from_fields(f))
    }),
    (&["new_source", "edit_mode"], |f| {
        ToolOutput::NotebookEdit(NotebookEditOutput::from_fields(f))
    }),
    (&["newTodos"], |mut f| ToolOutput::TodoWrite {
        old: Todo::list_from_fields(&mut f, "oldTodos"),
        new: Todo::list_from_fields(&mut f, "newTodos"),
    }),
    (&["mode", "numFiles"], |f| ToolOutput::Grep(GrepOutput::from_fields(f))),
    (&["filenames", "numFiles"], |f| ToolOutput::Glob(GlobOutput::from_fields(f))),
    (&["status", "runId"], |f| ToolOutput::Workflow(WorkflowOutput::from_fields(f))),
    (&["totalToolUseCount"], agent_output),
    (&["status", "agentId"], agent_output),
    // 0.2 wrote the sub-agent's records into the result.
    (&["normalizedMessages", "totalToolCalls"], agent_output),
    (&["retrieval_status"], |mut f| ToolOutput::TaskOutput {
        retrieval_status: f.take_string("retrieval_status"),
        task: f.take_value("task").unwrap_or_default(),
    }),
    (&["message", "task_id"], |f| task_stop(f, "task_id")),
    (&["message", "shell_id"], |f| task_stop(f, "shell_id")),
    (&["url", "code"], |f| ToolOutput::WebFetch(WebFetchOutput::from_fields(f))),
    (&["query", "results"], |f| ToolOutput::WebSearch(WebSearchOutput::from_fields(f))),
    (&["query", "matches"], |f| ToolOutput::ToolSearch(ToolSearchOutput::from_fields(f))),
    (&["plan", "isAgent"], |f| ToolOutput::ExitPlanMode(PlanOutput::from_fields(f))),
    (&["questions", "answers"], |f| ToolOutput::AskUserQuestion(QuestionsOutput::from_fields(f))),
    (&["commandName", "success"], |f| ToolOutput::Skill(SkillOutput::from_fields(f))),
    (&["taskId", "updatedFields"], |f| ToolOutput::TaskUpdate(TaskUpdate::from_fields(f))),
    (&["tasks"], |mut f| {
        ToolOutput::TaskList(f.take_objects("tasks").map(TaskItem::from_fields).collect())
    }),
    (&["success", "message"], |mut f| ToolOutput::SendMessage {
        success: f.flag("success"),
        message: f.take_string("message"),
        msg_id: f.take_text("msg_id"),
        routing: f.take_value("routing").unwrap_or_default(),
    }),
];

pub(super) fn output_from_fields(mut fields: Fields) -> ToolOutput {
    if let Some((_, read)) = SHAPES.iter().find(|(keys, _)| fields.has_keys(keys)) {
        return read(fields);
    }
    if fields.peek_value("task").is_some_and(|task| task.get("subject").is_some()) {
        return ToolOutput::TaskCreate(TaskItem::from_fields(
            fields.take_object("task").unwrap_or_default(),
        ));
    }
    ToolOutput::Other(fields.into_value())
}

fn agent_output(fields: Fields) -> ToolOutput {
    ToolOutput::Agent(Box::new(AgentOutput::from_fields(fields)))
}

fn task_stop(mut fields: Fields, id: &str) -> ToolOutput {
    ToolOutput::TaskStop {
        task_id: fields.take_string(id),
        message: fields.take_text("message"),
        command: fields.take_text("command"),
    }
}
