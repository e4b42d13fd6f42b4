//! Writes replies: blocks, tool calls and their results.

use super::time;
use serde_json::{Value, json};

use super::client::ClientGeneration;
use super::session_script::{ContextTokens, SessionScript};
use super::tool_step::{ToolRun, ToolStep};

/// A reply that is being written, one record per block.
#[derive(Clone, Debug)]
pub(super) struct OpenReply {
    id: String,
    request: String,
    context: ContextTokens,
    output: usize,
    lines: Vec<usize>,
}

impl SessionScript {
    /// Adds a block to the open reply, or to a new one.
    pub(super) fn add_block(&mut self, block: &Value, mut after: Value) -> String {
        self.pass_time(2);
        let mut message = self.open_reply.take().unwrap_or_else(|| {
            let seen = self.tokens;
            self.tokens = ContextTokens { cached: seen.cached + seen.fresh, fresh: 0 };
            let id = self.names.next_name("msg_01", 22);
            OpenReply {
                id,
                request: self.names.next_name("req_011C", 20),
                context: seen,
                output: 0,
                lines: vec![],
            }
        });
        message.output += block.to_string().len() / 4 + 12;
        message.lines.push(self.lines.len());
        let body = self.message_body(&message, block);
        if self.generation() == ClientGeneration::Three && self.depth == 0 {
            after["effort"] = json!("high");
        }
        let before = json!({"message": body, "requestId": message.request, "type": "assistant"});
        self.open_reply = Some(message);
        self.add_node(before, after)
    }

    fn message_body(&self, message: &OpenReply, block: &Value) -> Value {
        let model = if self.depth == 0 { self.project.model } else { self.project.agent_model };
        let mut body = match self.generation() {
            ClientGeneration::One => {
                json!({"id": message.id, "type": "message", "role": "assistant", "model": model})
            }
            _ => json!({"model": model, "id": message.id, "type": "message", "role": "assistant"}),
        };
        body["content"] = json!([block]);
        body["stop_reason"] = Value::Null;
        body["stop_sequence"] = Value::Null;
        if self.generation() == ClientGeneration::Three {
            body["stop_details"] = Value::Null;
        }
        body["usage"] = self.usage_value(message.context, message.output);
        body
    }

    pub(super) fn usage_value(&self, seen: ContextTokens, output: usize) -> Value {
        let ContextTokens { cached, fresh } = seen;
        if self.generation() != ClientGeneration::Three {
            return json!({"input_tokens": 4, "cache_creation_input_tokens": fresh, "cache_read_input_tokens": cached,
                "cache_creation": {"ephemeral_5m_input_tokens": fresh, "ephemeral_1h_input_tokens": 0},
                "output_tokens": output, "service_tier": "standard"});
        }
        json!({"input_tokens": 2, "cache_creation_input_tokens": fresh, "cache_read_input_tokens": cached,
            "output_tokens": output, "output_tokens_details": {"thinking_tokens": output / 9}, "service_tier": "standard",
            "cache_creation": {"ephemeral_1h_input_tokens": fresh, "ephemeral_5m_input_tokens": 0}, "speed": "standard"})
    }

    /// Ends the open reply. Newer clients then add the stop reason and the final usage.
    pub(super) fn close_reply(&mut self, stop_reason: Option<&str>) -> Option<String> {
        let message = self.open_reply.take()?;
        self.tokens.fresh += message.output;
        if self.generation() == ClientGeneration::Three {
            let usage = self.usage_value(message.context, message.output);
            for line in message.lines {
                self.lines[line]["message"]["stop_reason"] = json!(stop_reason);
                self.lines[line]["message"]["usage"] = usage.clone();
            }
        }
        Some(message.id)
    }

    /// Calls tools in parallel, and adds their results.
    pub(super) fn run_tools(&mut self, tools: &[ToolStep<'_>]) {
        let mut calls = Vec::new();
        for tool in tools {
            let id = self.names.next_name("toolu_01", 22);
            let time = self.time_text();
            let backup = tool
                .changed_file()
                .and_then(|path| Some((path, self.disk.track_file(path, &time)?)));
            let ran = tool.run_tool(&mut self.disk);
            let uuid = self.add_call(&id, ran.name, &ran.input);
            if let Some((path, backup)) = backup {
                self.add_first_backup(&uuid, path, &backup);
            }
            calls.push((uuid, id, ran));
        }
        self.close_reply(Some("tool_use"));
        for (uuid, id, ran) in calls {
            if self.generation() == ClientGeneration::Three {
                // Each result is a child of its own call.
                self.head = Some(uuid.clone());
            }
            self.add_result(&uuid, &id, &ran);
        }
    }

    /// Adds a tool call.
    pub(super) fn add_call(&mut self, id: &str, name: &str, input: &Value) -> String {
        self.calls += 1;
        let mut block = json!({"type": "tool_use", "id": id, "name": name, "input": input});
        if self.generation() == ClientGeneration::Three {
            block["caller"] = json!({"type": "direct"});
        }
        self.add_block(&block, json!({}))
    }

    /// Adds the result of a tool call.
    pub(super) fn add_result(&mut self, call: &str, id: &str, ran: &ToolRun) {
        self.pass_time(1);
        self.tokens.fresh += ran.content.to_string().len() / 4;
        let block = if ran.is_error {
            json!({"type": "tool_result", "content": ran.content, "is_error": true, "tool_use_id": id})
        } else if ran.name == "Bash" {
            json!({"tool_use_id": id, "type": "tool_result", "content": ran.content, "is_error": false})
        } else {
            json!({"tool_use_id": id, "type": "tool_result", "content": ran.content})
        };
        let mut after = json!({"toolUseResult": ran.result});
        if self.generation() == ClientGeneration::Three {
            after["sourceToolAssistantUUID"] = json!(call);
        }
        self.add_node(
            json!({"type": "user", "message": {"role": "user", "content": [block]}}),
            after,
        );
    }

    /// Adds the backup record of a file that is changed for the first time.
    fn add_first_backup(&mut self, call: &str, path: &str, backup: &Value) {
        let (time, prompt) = (self.time_text(), &self.prompt);
        let line = match self.generation() {
            ClientGeneration::Three => {
                json!({"type": "file-history-delta", "messageId": call, "snapshotMessageId": prompt.uuid,
                "trackingPath": path, "backup": backup, "timestamp": time})
            }
            _ => json!({"type": "file-history-snapshot", "messageId": call,
                "snapshot": {"messageId": prompt.uuid, "trackedFileBackups": self.disk.newest_backups(),
                    "timestamp": time::format_time(prompt.millis)},
                "isSnapshotUpdate": true}),
        };
        self.add_metadata(line);
    }
}
