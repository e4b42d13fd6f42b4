//! Determines by its keys which tool an output came from.

use super::{
    AgentOutput, BashOutput, EditOutput, GlobOutput, GrepOutput, MultiEditOutput,
    NotebookEditOutput, Plan, Questions, ReadOutput, ShellOutput, SkillOutput, Task, TaskUpdate,
    Todo, ToolOutput, ToolSearchOutput, WebFetchOutput, WebSearchOutput, WorkflowOutput,
    WriteOutput,
};
use crate::body::fields::Fields;

type Read = fn(Fields) -> ToolOutput;

/// The keys that identify a tool; more specific sets come first.
const SHAPES: &[(&[&str], Read)] = &[
    (&["shellId", "status"], |f| ToolOutput::Shell(ShellOutput::of(f))),
    (&["stdout", "stderr"], |f| ToolOutput::Bash(BashOutput::of(f))),
    (&["type", "file"], |f| ToolOutput::Read(ReadOutput::of(f))),
    (&["filePath", "edits"], |f| ToolOutput::MultiEdit(MultiEditOutput::of(f))),
    (&["filePath", "oldString", "newString"], |f| ToolOutput::Edit(EditOutput::of(f))),
    (&["filePath", "content", "type"], |f| ToolOutput::Write(WriteOutput::of(f))),
    (&["filePath", "content", "structuredPatch"], |f| ToolOutput::Write(WriteOutput::of(f))),
    (&["new_source", "edit_mode"], |f| ToolOutput::NotebookEdit(NotebookEditOutput::of(f))),
    (&["newTodos"], |mut f| ToolOutput::TodoWrite {
        old: Todo::list(&mut f, "oldTodos"),
        new: Todo::list(&mut f, "newTodos"),
    }),
    (&["mode", "numFiles"], |f| ToolOutput::Grep(GrepOutput::of(f))),
    (&["filenames", "numFiles"], |f| ToolOutput::Glob(GlobOutput::of(f))),
    (&["status", "runId"], |f| ToolOutput::Workflow(WorkflowOutput::of(f))),
    (&["totalToolUseCount"], agent),
    (&["status", "agentId"], agent),
    // 0.2 wrote the sub-agent's records into the result.
    (&["normalizedMessages", "totalToolCalls"], agent),
    (&["retrieval_status"], |mut f| ToolOutput::TaskOutput {
        retrieval_status: f.string("retrieval_status"),
        task: f.take("task").unwrap_or_default(),
    }),
    (&["message", "task_id"], |f| stop(f, "task_id")),
    (&["message", "shell_id"], |f| stop(f, "shell_id")),
    (&["url", "code"], |f| ToolOutput::WebFetch(WebFetchOutput::of(f))),
    (&["query", "results"], |f| ToolOutput::WebSearch(WebSearchOutput::of(f))),
    (&["query", "matches"], |f| ToolOutput::ToolSearch(ToolSearchOutput::of(f))),
    (&["plan", "isAgent"], |f| ToolOutput::ExitPlanMode(Plan::of(f))),
    (&["questions", "answers"], |f| ToolOutput::AskUserQuestion(Questions::of(f))),
    (&["commandName", "success"], |f| ToolOutput::Skill(SkillOutput::of(f))),
    (&["taskId", "updatedFields"], |f| ToolOutput::TaskUpdate(TaskUpdate::of(f))),
    (&["tasks"], |mut f| ToolOutput::TaskList(f.objects("tasks").map(Task::of).collect())),
    (&["success", "message"], |mut f| ToolOutput::SendMessage {
        success: f.flag("success"),
        message: f.string("message"),
        msg_id: f.text("msg_id"),
        routing: f.take("routing").unwrap_or_default(),
    }),
];

pub(super) fn output(mut fields: Fields) -> ToolOutput {
    if let Some((_, read)) = SHAPES.iter().find(|(keys, _)| fields.have(keys)) {
        return read(fields);
    }
    if fields.peek("task").is_some_and(|task| task.get("subject").is_some()) {
        return ToolOutput::TaskCreate(Task::of(fields.object("task").unwrap_or_default()));
    }
    ToolOutput::Other(fields.into_value())
}

fn agent(fields: Fields) -> ToolOutput {
    ToolOutput::Agent(Box::new(AgentOutput::of(fields)))
}

fn stop(mut fields: Fields, id: &str) -> ToolOutput {
    ToolOutput::TaskStop {
        task_id: fields.string(id),
        message: fields.text("message"),
        command: fields.text("command"),
    }
}
