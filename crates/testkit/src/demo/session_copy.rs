//! Starts sessions with copies of another session's records.

use std::collections::HashSet;

use super::time;
use serde_json::{Value, json};

use super::client::ClientGeneration;
use super::name_generator::NameGenerator;
use super::session_script::{ContextTokens, SessionScript};

impl SessionScript {
    /// Starts a new session with a copy of the current path.
    ///
    /// 1.0 does this on resume, 2.0 with `--fork-session`, 2.1 with `/branch`. Each changes the
    /// copies differently.
    pub(super) fn copy_session(&self, session: &str, start: &str) -> Self {
        let mut copy = Self {
            session: session.to_owned(),
            path: format!("{}/{session}.jsonl", self.project.projects_path()),
            lines: Vec::new(),
            now: time::parse_millis(start),
            names: NameGenerator::new(session),
            // The prompt cache has expired by then.
            tokens: ContextTokens { cached: 0, fresh: self.tokens.cached + self.tokens.fresh },
            others: Vec::new(),
            typed_prompts: Vec::new(),
            ..self.clone()
        };
        let path = self.path_to_root();
        let names: HashSet<&str> =
            path.iter().filter_map(|at| self.lines[*at]["uuid"].as_str()).collect();
        for (at, line) in self.lines.iter().enumerate() {
            // Checkpoints belong to their prompt, results beside the path to their call.
            let owner = [
                &line["snapshot"]["messageId"],
                &line["snapshotMessageId"],
                &line["sourceToolAssistantUUID"],
            ]
            .iter()
            .find_map(|owner| owner.as_str());
            if path.contains(&at) || owner.is_some_and(|name| names.contains(name)) {
                copy.lines.push(self.copied_line(line, session));
            }
        }
        copy
    }

    /// Returns the lines on the path from the newest record to its root.
    fn path_to_root(&self) -> HashSet<usize> {
        let mut path = HashSet::new();
        let mut next = self.head.as_deref();
        for (at, line) in self.lines.iter().enumerate().rev() {
            if next.is_some() && line["uuid"].as_str() == next {
                path.insert(at);
                next = line["parentUuid"].as_str();
            }
        }
        path
    }

    fn copied_line(&self, line: &Value, session: &str) -> Value {
        let mut line = line.clone();
        let (Some(uuid), Some(fields)) =
            (line["uuid"].as_str().map(str::to_owned), line.as_object_mut())
        else {
            return line;
        };
        match self.generation() {
            ClientGeneration::One => {
                fields.shift_remove("toolUseResult");
            }
            // That version changed the session id of replies only.
            ClientGeneration::Two if fields["type"] == "user" => {}
            ClientGeneration::Two => fields["sessionId"] = json!(session),
            ClientGeneration::Three => {
                fields["sessionId"] = json!(session);
                let origin = json!({"sessionId": self.session, "messageUuid": uuid});
                fields.insert("forkedFrom".into(), origin);
            }
        }
        line
    }
}
