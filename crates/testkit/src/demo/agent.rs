//! Writes sub-agents: inline, in flat files, or in the session's directory, depending on the client.

use serde_json::{Value, json};

use super::SampleFile;
use super::client::ClientGeneration;
use super::name_generator::NameGenerator;
use super::session_script::{ContextTokens, CurrentPrompt, SessionScript};
use super::tool_step::ToolRun;

/// The task of an agent.
#[derive(Clone, Copy, Debug)]
pub(super) struct AgentTask<'a> {
    pub(super) id: &'a str,
    pub(super) kind: &'a str,
    pub(super) task: &'a str,
    pub(super) prompt: &'a str,
}

impl SessionScript {
    /// Starts an agent, runs `work` for it and returns its report.
    ///
    /// Newer clients run agents of the main line in the background: the call returns at once, and
    /// the report is passed to [`add_notification`](Self::add_notification) later.
    pub(super) fn run_agent(
        &mut self,
        agent: &AgentTask<'_>,
        work: impl FnOnce(&mut Self),
    ) -> AgentReport {
        let id = self.names.next_name("toolu_01", 22);
        let name = if self.generation() == ClientGeneration::Three { "Agent" } else { "Task" };
        let input =
            json!({"description": agent.task, "prompt": agent.prompt, "subagent_type": agent.kind});
        let call = self.add_call(&id, name, &input);
        self.close_reply(Some("tool_use"));
        let mut worker = self.agent_script(agent);
        worker.add_prompt(agent.prompt);
        work(&mut worker);
        let finding = AgentReport {
            agent: agent.id.to_owned(),
            call: id.clone(),
            task: agent.task.to_owned(),
            text: worker.words.clone(),
            millis: worker.now,
        };
        let in_background = self.generation() == ClientGeneration::Three && self.depth == 0;
        let (content, result) = if in_background {
            self.launched_result(agent)
        } else {
            let took = worker.now - self.now;
            self.now = worker.now;
            (json!([{"type": "text", "text": finding.text}]), worker.completed_result(agent, took))
        };
        self.store_agent(worker, agent, &id);
        self.add_result(
            &call,
            &id,
            &ToolRun { name, input: Value::Null, content, result, is_error: false },
        );
        finding
    }

    fn agent_script(&self, agent: &AgentTask<'_>) -> Self {
        let flat = format!("{}/agent-{}.jsonl", self.project.projects_path(), agent.id);
        let nested = format!(
            "{}/{}/subagents/agent-{}.jsonl",
            self.project.projects_path(),
            self.session,
            agent.id
        );
        Self {
            path: if self.generation() == ClientGeneration::Three { nested } else { flat },
            lines: Vec::new(),
            head: None,
            names: NameGenerator::new(agent.id),
            agent: (self.generation() != ClientGeneration::One).then(|| agent.id.to_owned()),
            depth: self.depth + 1,
            prompt: CurrentPrompt::default(),
            tokens: ContextTokens { cached: 0, fresh: 6_400 },
            calls: 0,
            others: Vec::new(),
            typed_prompts: Vec::new(),
            ..self.clone()
        }
    }

    /// Stores the agent's records where its client would have put them.
    fn store_agent(&mut self, mut worker: Self, agent: &AgentTask<'_>, call: &str) {
        if self.generation() == ClientGeneration::One {
            self.lines.append(&mut worker.lines);
            return;
        }
        if self.generation() == ClientGeneration::Three {
            let mut meta = json!({"agentType": agent.kind, "description": agent.task, "toolUseId": call, "spawnDepth": self.depth + 1});
            if let Some(parent) = &self.agent {
                meta["parentAgentId"] = json!(parent);
            }
            let path = worker.path.replace(".jsonl", ".meta.json");
            self.others.push(SampleFile { path, bytes: meta.to_string().into_bytes() });
        }
        self.others.extend(worker.into_files());
    }

    fn launched_result(&self, agent: &AgentTask<'_>) -> (Value, Value) {
        let output = format!(
            "/tmp/claude-1000/{}/{}/tasks/{}.output",
            self.project.cwd.replace('/', "-"),
            self.session,
            agent.id
        );
        let text = format!(
            "Async agent launched successfully.\nagentId: {} (internal ID - do not mention to user.)\nThe agent is working in the background. You will be notified automatically when it completes.",
            agent.id
        );
        let result = json!({"isAsync": true, "status": "async_launched", "agentId": agent.id, "description": agent.task,
            "prompt": agent.prompt, "outputFile": output, "canReadOutputFile": true});
        (json!([{"type": "text", "text": text}]), result)
    }

    fn completed_result(&self, agent: &AgentTask<'_>, took: i64) -> Value {
        let content = json!([{"type": "text", "text": self.words}]);
        let tokens = self.tokens.cached + self.tokens.fresh;
        let usage = self.usage_value(self.tokens, self.words.len() / 4);
        if self.generation() == ClientGeneration::One {
            return json!({"content": content, "totalDurationMs": took, "totalTokens": tokens,
                "totalToolUseCount": self.calls, "usage": usage, "wasInterrupted": false});
        }
        json!({"status": "completed", "prompt": agent.prompt, "agentId": agent.id, "content": content,
            "totalDurationMs": took, "totalTokens": tokens, "totalToolUseCount": self.calls, "usage": usage})
    }

    /// Adds the notification that a background agent is done.
    pub(super) fn add_notification(&mut self, finding: &AgentReport) {
        self.now = self.now.max(finding.millis);
        let AgentReport { agent, call, task, text, .. } = finding;
        let text = format!(
            "<task-notification>\n<task-id>{agent}</task-id>\n<tool-use-id>{call}</tool-use-id>\n<status>completed</status>\n<summary>Agent \"{task}\" completed</summary>\n<result>{text}</result>\n</task-notification>"
        );
        self.queue("enqueue", Some(&text));
        self.pass_time(1);
        self.queue("dequeue", None);
        self.prompt.id = self.names.next_uuid();
        self.tokens.fresh += text.len() / 4;
        let message = json!({"role": "user", "content": text});
        self.add_node(
            json!({"type": "user", "message": message}),
            json!({"permissionMode": "acceptEdits", "origin": {"kind": "task-notification"}, "promptSource": "system"}),
        );
    }
}

/// The report of an agent.
#[derive(Clone, Debug)]
pub(super) struct AgentReport {
    agent: String,
    call: String,
    task: String,
    text: String,
    millis: i64,
}
