//! Turns the short form of a session into the lines that the client would write.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

/// The second at which short-form sessions begin: 2026-01-01T00:00:00Z.
pub const START_SECOND: i64 = 1_767_225_600;

/// Turns a short-form session into JSONL.
///
/// # Panics
///
/// If a line is not valid short form. Fixtures are part of the test.
pub fn jsonl(short: &str) -> String {
    let mut out = String::new();
    let rows = short.lines().map(str::trim).filter(|row| !row.is_empty() && !row.starts_with("//"));
    for (index, row) in rows.enumerate() {
        let row = ShortRow::parse(row, index);
        out.push_str(
            &serde_json::to_string(&row.to_record()).expect("because a value always serializes"),
        );
        out.push('\n');
    }
    out
}

struct ShortRow<'a> {
    name: &'a str,
    parent: Option<&'a str>,
    kind: Vec<&'a str>,
    message: Option<&'a str>,
    seconds: Option<i64>,
    version: Option<&'a str>,
    text: String,
    index: usize,
}

impl<'a> ShortRow<'a> {
    fn parse(row: &'a str, index: usize) -> Self {
        let mut words = row.split_whitespace().peekable();
        let name = words.next().expect("because blank rows are left out");
        let parent = words.next_if_eq(&"<").and_then(|_| words.next());
        let kind =
            words.next().unwrap_or_else(|| panic!("no kind in `{row}`")).split(':').collect();
        let mut parsed = Self {
            name,
            parent,
            kind,
            message: None,
            seconds: Some(index as i64),
            version: None,
            text: String::new(),
            index,
        };
        while let Some(word) =
            words.next_if(|word| word.starts_with(['#', '@']) || word.starts_with("v="))
        {
            match word.split_at(1) {
                ("#", id) => parsed.message = Some(id),
                ("@", "none") => parsed.seconds = None,
                ("@", "now") => {
                    parsed.seconds = Some(Timestamp::now().as_second() - START_SECOND);
                }
                ("@", seconds) => {
                    parsed.seconds = Some(seconds.parse().expect("because `@` takes seconds"));
                }
                _ => parsed.version = Some(&word[2..]),
            }
        }
        parsed.text = words.collect::<Vec<_>>().join(" ").replace("\\n", "\n");
        parsed
    }

    fn kind_argument(&self, index: usize) -> Option<&str> {
        self.kind.get(index).copied()
    }

    fn to_record(&self) -> Value {
        match self.kind[0] {
            "user" => self.user_record(&self.prompt_content()),
            "side-user" => as_sidechain(self.user_record(&json!(self.text))),
            "assistant" => self.assistant_record(&json!([{"type": "text", "text": self.text}])),
            "side-assistant" => as_sidechain(self.assistant_record(&json!([{"type": "text", "text": self.text}]))),
            "thinking" => {
                self.assistant_record(&json!([{"type": "thinking", "thinking": self.text, "signature": "c2lnbmF0dXJl"}]))
            }
            "call" => {
                let name = self.kind_argument(2).unwrap_or("Bash");
                let input = match name {
                    "Bash" => json!({"command": self.text, "description": "runs it"}),
                    "Task" | "Agent" => json!({"description": "a task", "prompt": self.text, "subagent_type": "general-purpose"}),
                    _ => json!({"file_path": self.text}),
                };
                self.assistant_record(&json!([{"type": "tool_use", "id": self.kind_argument(1), "name": name, "input": input}]))
            }
            "result" => {
                let mut record =
                    self.user_record(&json!([{"tool_use_id": self.kind_argument(1), "type": "tool_result", "content": self.text}]));
                record["toolUseResult"] = json!({"stdout": self.text, "stderr": "", "interrupted": false, "isImage": false});
                if let Some(agent) = self.kind_argument(2) {
                    record["toolUseResult"] = json!({"status": "completed", "agentId": agent, "prompt": ""});
                }
                record
            }
            "meta" => with_field(self.user_record(&json!(self.text)), "isMeta", json!(true)),
            "command" => self.user_record(&json!(format!(
                "<command-name>/{0}</command-name>\n<command-message>{0}</command-message>\n<command-args></command-args>",
                self.text
            ))),
            "bash" => self.user_record(&json!(format!("<bash-input>{}</bash-input>", self.text))),
            "bash-stdout" => self.user_record(&json!(format!("<bash-stdout>{}</bash-stdout><bash-stderr></bash-stderr>", self.text))),
            "stdout" => self.user_record(&json!(format!("<local-command-stdout>{}</local-command-stdout>", self.text))),
            "interrupt" => self.user_record(&json!([{"type": "text", "text": "[Request interrupted by user]"}])),
            "notification" => self.user_record(&json!(format!("<task-notification>{}</task-notification>", self.text))),
            "error" => {
                let mut record = self.assistant_record(&json!([{"type": "text", "text": self.text}]));
                record["message"]["model"] = json!("<synthetic>");
                with_field(record, "isApiErrorMessage", json!(true))
            }
            "system" => self.tree_record("system", json!({"subtype": self.kind_argument(1).unwrap_or("informational"), "content": self.text})),
            "boundary" => {
                let mut record = self.tree_record(
                    "system",
                    json!({"subtype": "compact_boundary", "content": "Conversation compacted",
                           "compactMetadata": {"trigger": "manual", "preTokens": 1000}}),
                );
                record["logicalParentUuid"] = record["parentUuid"].take();
                if let (Some(kept), Some(anchor)) = (self.kind_argument(1), self.kind_argument(2)) {
                    record["compactMetadata"]["preservedSegment"] =
                        json!({"headUuid": kept, "anchorUuid": anchor, "tailUuid": kept});
                }
                record
            }
            "compacted" => {
                let record = with_field(self.user_record(&json!(self.text)), "isCompactSummary", json!(true));
                with_field(record, "isVisibleInTranscriptOnly", json!(true))
            }
            "progress" => self.tree_record("progress", json!({"data": {"type": "hook_progress"}, "toolUseID": "t"})),
            "attachment" => self.tree_record("attachment", json!({"attachment": {"type": self.kind_argument(1).unwrap_or("hook_success")}})),
            "queued" => self.tree_record(
                "attachment",
                json!({"attachment": {"type": "queued_command", "prompt": self.text, "commandMode": "prompt"}}),
            ),
            "summary" => json!({"type": "summary", "summary": self.text, "leafUuid": self.kind_argument(1)}),
            "title" => json!({"type": "custom-title", "customTitle": self.text}),
            "ai-title" => json!({"type": "ai-title", "aiTitle": self.text}),
            "last-prompt" => {
                let mut record = json!({"type": "last-prompt", "lastPrompt": self.text});
                match self.kind_argument(1) {
                    None => {}
                    Some("null") => record["leafUuid"] = Value::Null,
                    Some(leaf) => record["leafUuid"] = json!(leaf),
                }
                if self.kind_argument(2) == Some("explicit") {
                    record["explicit"] = json!(true);
                }
                record
            }
            "snapshot" => {
                let prompt = self.kind_argument(1).unwrap_or(self.name);
                json!({"type": "file-history-snapshot", "messageId": self.kind_argument(2).unwrap_or(prompt),
                    "snapshot": {"messageId": prompt, "trackedFileBackups": self.parse_backups()},
                    "isSnapshotUpdate": self.kind_argument(2).is_some()})
            }
            "delta" => {
                let (path, backup) = self.parse_backups().into_iter().next().expect("because a delta is one file");
                json!({"type": "file-history-delta", "messageId": self.kind_argument(2), "snapshotMessageId": self.kind_argument(1),
                    "trackingPath": path, "backup": backup})
            }
            // Any other word is an unknown record type. With a name it is a node.
            kind if self.name == "-" => json!({"type": kind, "text": self.text}),
            kind => self.tree_record(kind, json!({"text": self.text})),
        }
    }

    /// The content of a prompt: text (`user`), a list of blocks (`user:list`), with an image
    /// (`user:picture`), or only an image (`user:only-picture`).
    fn prompt_content(&self) -> Value {
        let text = json!({"type": "text", "text": self.text});
        let picture = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}});
        match self.kind_argument(1) {
            None => json!(self.text),
            Some("list") => json!([text]),
            Some("picture") => json!([text, picture]),
            Some("only-picture") => json!([picture]),
            Some(other) => panic!("no kind of prompt is called `{other}`"),
        }
    }

    /// Reads `path=backup@vN` and `path=null@vN`.
    fn parse_backups(&self) -> Map<String, Value> {
        let backup = |word: &str| {
            let (path, name) = word.split_once('=').expect("because a backup is `path=name@vN`");
            let version: u64 = name
                .rsplit_once("@v")
                .and_then(|(_, version)| version.parse().ok())
                .expect("because a backup ends in its version");
            let name = if name.starts_with("null@") { Value::Null } else { json!(name) };
            (path.to_owned(), json!({"backupFileName": name, "version": version}))
        };
        self.text.split_whitespace().map(backup).collect()
    }

    fn user_record(&self, content: &Value) -> Value {
        self.tree_record("user", json!({"message": {"role": "user", "content": content}}))
    }

    fn assistant_record(&self, content: &Value) -> Value {
        let id = self.message.unwrap_or(self.name);
        self.tree_record(
            "assistant",
            json!({
                "message": {"id": format!("msg_{id}"), "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
                    "content": content, "stop_reason": null, "stop_sequence": null,
                    "usage": {"input_tokens": 10, "output_tokens": 5}},
                "requestId": format!("req_{id}"),
            }),
        )
    }

    fn tree_record(&self, kind: &str, fields: Value) -> Value {
        let mut record = Map::new();
        record.insert("parentUuid".into(), json!(self.parent));
        record.insert("isSidechain".into(), json!(false));
        record.insert("cwd".into(), json!("/home/dev/app"));
        record.insert("sessionId".into(), json!("session"));
        record.insert("version".into(), json!(self.version.unwrap_or("2.0.74")));
        record.insert("type".into(), json!(kind));
        if let Value::Object(fields) = fields {
            record.extend(fields);
        }
        record.insert("uuid".into(), json!(self.name));
        if let Some(seconds) = self.seconds {
            record.insert("timestamp".into(), json!(timestamp(seconds)));
        }
        debug_assert!(self.index < 86_400, "because times are made within one day");
        Value::Object(record)
    }
}

fn as_sidechain(record: Value) -> Value {
    with_field(record, "isSidechain", json!(true))
}

fn with_field(mut record: Value, key: &str, value: Value) -> Value {
    record[key] = value;
    record
}

/// Writes a second after the start as the client writes times.
fn timestamp(seconds: i64) -> String {
    let time = Timestamp::from_second(START_SECOND + seconds);
    format!("{:.3}", time.expect("because fixtures are of this century"))
}
