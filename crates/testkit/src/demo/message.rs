//! Writes replies: blocks, tool calls and their results.

use super::time;
use serde_json::{Value, json};

use super::client::Era;
use super::script::{Script, Tokens};
use super::tool::{Ran, Tool};

/// A reply that is being written, one record per block.
#[derive(Clone, Debug)]
pub(super) struct Message {
    id: String,
    request: String,
    seen: Tokens,
    output: usize,
    lines: Vec<usize>,
}

impl Script {
    /// Adds a block to the open reply, or to a new one.
    pub(super) fn block(&mut self, block: &Value, mut after: Value) -> String {
        self.wait(2);
        let mut message = self.open.take().unwrap_or_else(|| {
            let seen = self.tokens;
            self.tokens = Tokens { cached: seen.cached + seen.fresh, fresh: 0 };
            let id = self.dice.name("msg_01", 22);
            Message { id, request: self.dice.name("req_011C", 20), seen, output: 0, lines: vec![] }
        });
        message.output += block.to_string().len() / 4 + 12;
        message.lines.push(self.lines.len());
        let body = self.message_body(&message, block);
        if self.era() == Era::Three && self.depth == 0 {
            after["effort"] = json!("high");
        }
        let before = json!({"message": body, "requestId": message.request, "type": "assistant"});
        self.open = Some(message);
        self.node(before, after)
    }

    fn message_body(&self, message: &Message, block: &Value) -> Value {
        let model = if self.depth == 0 { self.project.model } else { self.project.agent_model };
        let mut body = match self.era() {
            Era::One => {
                json!({"id": message.id, "type": "message", "role": "assistant", "model": model})
            }
            _ => json!({"model": model, "id": message.id, "type": "message", "role": "assistant"}),
        };
        body["content"] = json!([block]);
        body["stop_reason"] = Value::Null;
        body["stop_sequence"] = Value::Null;
        if self.era() == Era::Three {
            body["stop_details"] = Value::Null;
        }
        body["usage"] = self.usage(message.seen, message.output);
        body
    }

    pub(super) fn usage(&self, seen: Tokens, output: usize) -> Value {
        let Tokens { cached, fresh } = seen;
        if self.era() != Era::Three {
            return json!({"input_tokens": 4, "cache_creation_input_tokens": fresh, "cache_read_input_tokens": cached,
                "cache_creation": {"ephemeral_5m_input_tokens": fresh, "ephemeral_1h_input_tokens": 0},
                "output_tokens": output, "service_tier": "standard"});
        }
        json!({"input_tokens": 2, "cache_creation_input_tokens": fresh, "cache_read_input_tokens": cached,
            "output_tokens": output, "output_tokens_details": {"thinking_tokens": output / 9}, "service_tier": "standard",
            "cache_creation": {"ephemeral_1h_input_tokens": fresh, "ephemeral_5m_input_tokens": 0}, "speed": "standard"})
    }

    /// Ends the open reply. Newer clients then add the stop reason and the final usage.
    pub(super) fn close(&mut self, stop_reason: Option<&str>) -> Option<String> {
        let message = self.open.take()?;
        self.tokens.fresh += message.output;
        if self.era() == Era::Three {
            let usage = self.usage(message.seen, message.output);
            for line in message.lines {
                self.lines[line]["message"]["stop_reason"] = json!(stop_reason);
                self.lines[line]["message"]["usage"] = usage.clone();
            }
        }
        Some(message.id)
    }

    /// Calls tools in parallel, and adds their results.
    pub(super) fn tools(&mut self, tools: &[Tool<'_>]) {
        let mut calls = Vec::new();
        for tool in tools {
            let id = self.dice.name("toolu_01", 22);
            let time = self.time();
            let backup =
                tool.changes().and_then(|path| Some((path, self.disk.track(path, &time)?)));
            let ran = tool.run(&mut self.disk);
            let uuid = self.call(&id, ran.name, &ran.input);
            if let Some((path, backup)) = backup {
                self.first_backup(&uuid, path, &backup);
            }
            calls.push((uuid, id, ran));
        }
        self.close(Some("tool_use"));
        for (uuid, id, ran) in calls {
            if self.era() == Era::Three {
                // Each result is a child of its own call.
                self.head = Some(uuid.clone());
            }
            self.result(&uuid, &id, &ran);
        }
    }

    /// Adds a tool call.
    pub(super) fn call(&mut self, id: &str, name: &str, input: &Value) -> String {
        self.calls += 1;
        let mut block = json!({"type": "tool_use", "id": id, "name": name, "input": input});
        if self.era() == Era::Three {
            block["caller"] = json!({"type": "direct"});
        }
        self.block(&block, json!({}))
    }

    /// Adds the result of a tool call.
    pub(super) fn result(&mut self, call: &str, id: &str, ran: &Ran) {
        self.wait(1);
        self.tokens.fresh += ran.content.to_string().len() / 4;
        let block = if ran.is_error {
            json!({"type": "tool_result", "content": ran.content, "is_error": true, "tool_use_id": id})
        } else if ran.name == "Bash" {
            json!({"tool_use_id": id, "type": "tool_result", "content": ran.content, "is_error": false})
        } else {
            json!({"tool_use_id": id, "type": "tool_result", "content": ran.content})
        };
        let mut after = json!({"toolUseResult": ran.result});
        if self.era() == Era::Three {
            after["sourceToolAssistantUUID"] = json!(call);
        }
        self.node(json!({"type": "user", "message": {"role": "user", "content": [block]}}), after);
    }

    /// Adds the backup record of a file that is changed for the first time.
    fn first_backup(&mut self, call: &str, path: &str, backup: &Value) {
        let (time, prompt) = (self.time(), &self.prompt);
        let line = match self.era() {
            Era::Three => {
                json!({"type": "file-history-delta", "messageId": call, "snapshotMessageId": prompt.uuid,
                "trackingPath": path, "backup": backup, "timestamp": time})
            }
            _ => json!({"type": "file-history-snapshot", "messageId": call,
                "snapshot": {"messageId": prompt.uuid, "trackedFileBackups": self.disk.all_newest(),
                    "timestamp": time::spelled(prompt.millis)},
                "isSnapshotUpdate": true}),
        };
        self.note(line);
    }
}
