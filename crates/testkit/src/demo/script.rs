//! Runs a session: each step adds the records that the client would have written.

use super::time;
use serde_json::{Map, Value, json};

use super::DemoFile;
use super::client::{Era, Project};
use super::dice::Dice;
use super::disk::{Disk, Files};
use super::message::Message;

/// A session while it is generated.
#[derive(Clone, Debug)]
pub(super) struct Script {
    pub(super) project: &'static Project,
    pub(super) session: String,
    /// The file's path relative to the Claude directory.
    pub(super) path: String,
    pub(super) lines: Vec<Value>,
    /// The parent of the next record.
    pub(super) head: Option<String>,
    pub(super) now: i64,
    pub(super) dice: Dice,
    pub(super) disk: Disk,
    /// For an agent: its id, and its depth.
    pub(super) agent: Option<String>,
    pub(super) depth: u32,
    pub(super) prompt: Prompt,
    pub(super) tokens: Tokens,
    /// The text of the last reply.
    pub(super) words: String,
    pub(super) calls: u64,
    /// Other files of the session: agents, spilled outputs.
    pub(super) others: Vec<DemoFile>,
    pub(super) typed: Vec<Typed>,
    pub(super) open: Option<Message>,
}

/// The current prompt.
#[derive(Clone, Debug, Default)]
pub(super) struct Prompt {
    pub(super) id: String,
    pub(super) uuid: String,
    pub(super) text: String,
    pub(super) millis: i64,
}

/// The tokens in the context: cached and new.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tokens {
    pub(super) cached: usize,
    pub(super) fresh: usize,
}

/// A prompt for the prompt history.
#[derive(Clone, Debug)]
pub(super) struct Typed {
    pub(super) text: String,
    pub(super) millis: i64,
    pub(super) project: &'static Project,
    pub(super) session: String,
}

/// A position to rewind to.
#[derive(Clone, Debug)]
pub(super) struct Mark {
    head: Option<String>,
    tokens: Tokens,
    files: Files,
}

impl Script {
    /// Starts a session at a time such as `2026-09-14T08:02:11.000Z`.
    pub(super) fn new(project: &'static Project, session: &str, start: &str) -> Self {
        let mut dice = Dice::new(session);
        Self {
            project,
            session: session.to_owned(),
            path: format!("{}/{session}.jsonl", project.dir()),
            lines: Vec::new(),
            head: None,
            now: time::millis(start),
            prompt: Prompt { id: dice.uuid(), ..Prompt::default() },
            dice,
            disk: Disk::new(project),
            agent: None,
            depth: 0,
            tokens: Tokens { cached: 0, fresh: 14_200 },
            words: String::new(),
            calls: 0,
            others: Vec::new(),
            typed: Vec::new(),
            open: None,
        }
    }

    pub(super) fn era(&self) -> Era {
        self.project.era
    }

    pub(super) fn typed(&self) -> &[Typed] {
        &self.typed
    }

    /// Lets time pass.
    pub(super) fn wait(&mut self, seconds: i64) {
        self.now += seconds * 1000 + self.dice.between(0, 1000);
    }

    pub(super) fn time(&self) -> String {
        time::spelled(self.now)
    }

    /// Adds a record that is not part of the tree.
    pub(super) fn note(&mut self, line: Value) {
        self.lines.push(line);
    }

    /// Adds a record to the tree, with the fields before and after its uuid.
    pub(super) fn node(&mut self, before: Value, after: Value) -> String {
        let uuid = self.dice.uuid();
        self.node_named(&uuid, before, after);
        uuid
    }

    /// Adds a record with the given uuid.
    pub(super) fn node_named(&mut self, uuid: &str, mut before: Value, after: Value) {
        let mut line = Map::new();
        line.insert("parentUuid".into(), json!(self.head));
        let logical = before.as_object_mut().and_then(|map| map.shift_remove("logicalParentUuid"));
        line.extend(logical.map(|logical| ("logicalParentUuid".to_owned(), logical)));
        line.insert("isSidechain".into(), json!(self.depth > 0));
        let is_user = before["type"] == "user";
        let name = ("uuid".to_owned(), json!(uuid));
        let time = ("timestamp".to_owned(), json!(self.time()));
        let stamp = if before["type"] == "system" { [time, name] } else { [name, time] };
        if self.era() == Era::Three {
            line.extend(is_user.then(|| ("promptId".to_owned(), json!(self.prompt.id))));
        } else {
            line.extend(self.context());
        }
        line.extend(self.agent.iter().map(|agent| ("agentId".to_owned(), json!(agent))));
        line.extend(fields(before));
        line.extend(stamp);
        line.extend(fields(after));
        if self.era() == Era::Three {
            line.extend(self.context());
        }
        self.head = Some(uuid.to_owned());
        self.lines.push(Value::Object(line));
    }

    /// The fields of every record about where it was written.
    fn context(&self) -> Map<String, Value> {
        let mut context = Map::new();
        context.insert("userType".into(), json!("external"));
        if self.era() == Era::Three {
            context.insert("entrypoint".into(), json!("cli"));
        }
        context.insert("cwd".into(), json!(self.project.cwd));
        context.insert("sessionId".into(), json!(self.session));
        context.insert("version".into(), json!(self.project.version));
        context.insert("gitBranch".into(), json!(self.project.branch));
        if self.era() == Era::Two && self.agent.is_none() {
            context.insert("slug".into(), json!("gentle-steeping-oolong"));
        }
        context
    }

    /// Returns the current position.
    pub(super) fn mark(&self) -> Mark {
        Mark { head: self.head.clone(), tokens: self.tokens, files: self.disk.files.clone() }
    }

    /// Rewinds to a position and restores the files. Nothing is written until the next prompt.
    pub(super) fn rewind_to(&mut self, mark: &Mark) {
        self.close(Some("end_turn"));
        self.head.clone_from(&mark.head);
        self.tokens = mark.tokens;
        self.disk.files.clone_from(&mark.files);
    }

    /// Starts a new root.
    pub(super) fn new_root(&mut self) {
        self.head = None;
        self.tokens = Tokens { cached: 0, fresh: 14_200 };
    }

    /// Returns the session's file with all its other files.
    pub(super) fn into_files(mut self) -> Vec<DemoFile> {
        let lines = self.lines.iter().map(|line| format!("{line}\n"));
        let bytes = lines.collect::<String>().into_bytes();
        self.others.push(DemoFile { path: self.path, bytes });
        if self.depth == 0 {
            self.others.extend(self.disk.backups(&self.session));
        }
        self.others
    }
}

fn fields(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
