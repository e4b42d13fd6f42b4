//! Writes sub-agents: inline, in flat files, or in the session's directory, depending on the client.

use serde_json::{Value, json};

use super::DemoFile;
use super::client::Era;
use super::dice::Dice;
use super::script::{Prompt, Script, Tokens};
use super::tool::Ran;

/// The task of an agent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Agent<'a> {
    pub(super) id: &'a str,
    pub(super) kind: &'a str,
    pub(super) task: &'a str,
    pub(super) prompt: &'a str,
}

impl Script {
    /// Starts an agent, runs `work` for it and returns its report.
    ///
    /// Newer clients run agents of the main line in the background: the call returns at once, and
    /// the report is passed to [`notified`](Self::notified) later.
    pub(super) fn agent(&mut self, agent: &Agent<'_>, work: impl FnOnce(&mut Self)) -> Finding {
        let id = self.dice.name("toolu_01", 22);
        let name = if self.era() == Era::Three { "Agent" } else { "Task" };
        let input =
            json!({"description": agent.task, "prompt": agent.prompt, "subagent_type": agent.kind});
        let call = self.call(&id, name, &input);
        self.close(Some("tool_use"));
        let mut worker = self.worker(agent);
        worker.prompt(agent.prompt);
        work(&mut worker);
        let finding = Finding {
            agent: agent.id.to_owned(),
            call: id.clone(),
            task: agent.task.to_owned(),
            text: worker.words.clone(),
            millis: worker.now,
        };
        let in_background = self.era() == Era::Three && self.depth == 0;
        let (content, result) = if in_background {
            self.launched(agent)
        } else {
            let took = worker.now - self.now;
            self.now = worker.now;
            (json!([{"type": "text", "text": finding.text}]), worker.completed(agent, took))
        };
        self.keep(worker, agent, &id);
        self.result(
            &call,
            &id,
            &Ran { name, input: Value::Null, content, result, is_error: false },
        );
        finding
    }

    fn worker(&self, agent: &Agent<'_>) -> Self {
        let flat = format!("{}/agent-{}.jsonl", self.project.dir(), agent.id);
        let nested =
            format!("{}/{}/subagents/agent-{}.jsonl", self.project.dir(), self.session, agent.id);
        Self {
            path: if self.era() == Era::Three { nested } else { flat },
            lines: Vec::new(),
            head: None,
            dice: Dice::new(agent.id),
            agent: (self.era() != Era::One).then(|| agent.id.to_owned()),
            depth: self.depth + 1,
            prompt: Prompt::default(),
            tokens: Tokens { cached: 0, fresh: 6_400 },
            calls: 0,
            others: Vec::new(),
            typed: Vec::new(),
            ..self.clone()
        }
    }

    /// Stores the agent's records where its client would have put them.
    fn keep(&mut self, mut worker: Self, agent: &Agent<'_>, call: &str) {
        if self.era() == Era::One {
            self.lines.append(&mut worker.lines);
            return;
        }
        if self.era() == Era::Three {
            let mut meta = json!({"agentType": agent.kind, "description": agent.task, "toolUseId": call, "spawnDepth": self.depth + 1});
            if let Some(parent) = &self.agent {
                meta["parentAgentId"] = json!(parent);
            }
            let path = worker.path.replace(".jsonl", ".meta.json");
            self.others.push(DemoFile { path, bytes: meta.to_string().into_bytes() });
        }
        self.others.extend(worker.into_files());
    }

    fn launched(&self, agent: &Agent<'_>) -> (Value, Value) {
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

    fn completed(&self, agent: &Agent<'_>, took: i64) -> Value {
        let content = json!([{"type": "text", "text": self.words}]);
        let tokens = self.tokens.cached + self.tokens.fresh;
        let usage = self.usage(self.tokens, self.words.len() / 4);
        if self.era() == Era::One {
            return json!({"content": content, "totalDurationMs": took, "totalTokens": tokens,
                "totalToolUseCount": self.calls, "usage": usage, "wasInterrupted": false});
        }
        json!({"status": "completed", "prompt": agent.prompt, "agentId": agent.id, "content": content,
            "totalDurationMs": took, "totalTokens": tokens, "totalToolUseCount": self.calls, "usage": usage})
    }

    /// Adds the notification that a background agent is done.
    pub(super) fn notified(&mut self, finding: &Finding) {
        self.now = self.now.max(finding.millis);
        let Finding { agent, call, task, text, .. } = finding;
        let text = format!(
            "<task-notification>\n<task-id>{agent}</task-id>\n<tool-use-id>{call}</tool-use-id>\n<status>completed</status>\n<summary>Agent \"{task}\" completed</summary>\n<result>{text}</result>\n</task-notification>"
        );
        self.queue("enqueue", Some(&text));
        self.wait(1);
        self.queue("dequeue", None);
        self.prompt.id = self.dice.uuid();
        self.tokens.fresh += text.len() / 4;
        let message = json!({"role": "user", "content": text});
        self.node(
            json!({"type": "user", "message": message}),
            json!({"permissionMode": "acceptEdits", "origin": {"kind": "task-notification"}, "promptSource": "system"}),
        );
    }
}

/// The report of an agent.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    agent: String,
    call: String,
    task: String,
    text: String,
    millis: i64,
}
