//! Runs a session: each step adds the records that the client would have written.

use super::time;
use serde_json::{Map, Value, json};

use super::SampleFile;
use super::client::{ClientGeneration, DemoProject};
use super::name_generator::NameGenerator;
use super::project_disk::{FileContents, ProjectDisk};
use super::reply::OpenReply;

/// A session while it is generated.
#[derive(Clone, Debug)]
pub(super) struct SessionScript {
    pub(super) project: &'static DemoProject,
    pub(super) session: String,
    /// The file's path relative to the Claude directory.
    pub(super) path: String,
    pub(super) lines: Vec<Value>,
    /// The parent of the next record.
    pub(super) head: Option<String>,
    pub(super) now: i64,
    pub(super) names: NameGenerator,
    pub(super) disk: ProjectDisk,
    /// For an agent: its id, and its depth.
    pub(super) agent: Option<String>,
    pub(super) depth: u32,
    pub(super) prompt: CurrentPrompt,
    pub(super) tokens: ContextTokens,
    /// The text of the last reply.
    pub(super) words: String,
    pub(super) calls: u64,
    /// Other files of the session: agents, spilled outputs.
    pub(super) others: Vec<SampleFile>,
    pub(super) typed_prompts: Vec<TypedPrompt>,
    pub(super) open_reply: Option<OpenReply>,
}

/// The current prompt.
#[derive(Clone, Debug, Default)]
pub(super) struct CurrentPrompt {
    pub(super) id: String,
    pub(super) uuid: String,
    pub(super) text: String,
    pub(super) millis: i64,
}

/// The tokens in the context: cached and new.
#[derive(Clone, Copy, Debug)]
pub(super) struct ContextTokens {
    pub(super) cached: usize,
    pub(super) fresh: usize,
}

/// A prompt for the prompt history.
#[derive(Clone, Debug)]
pub(super) struct TypedPrompt {
    pub(super) text: String,
    pub(super) millis: i64,
    pub(super) project: &'static DemoProject,
    pub(super) session: String,
}

/// A position to rewind to.
#[derive(Clone, Debug)]
pub(super) struct ScriptMark {
    head: Option<String>,
    tokens: ContextTokens,
    files: FileContents,
}

impl SessionScript {
    /// Starts a session at a time such as `2026-09-14T08:02:11.000Z`.
    pub(super) fn new(project: &'static DemoProject, session: &str, start: &str) -> Self {
        let mut names = NameGenerator::new(session);
        Self {
            project,
            session: session.to_owned(),
            path: format!("{}/{session}.jsonl", project.projects_path()),
            lines: Vec::new(),
            head: None,
            now: time::parse_millis(start),
            prompt: CurrentPrompt { id: names.next_uuid(), ..CurrentPrompt::default() },
            names,
            disk: ProjectDisk::new(project),
            agent: None,
            depth: 0,
            tokens: ContextTokens { cached: 0, fresh: 14_200 },
            words: String::new(),
            calls: 0,
            others: Vec::new(),
            typed_prompts: Vec::new(),
            open_reply: None,
        }
    }

    pub(super) fn generation(&self) -> ClientGeneration {
        self.project.generation
    }

    pub(super) fn typed_prompts(&self) -> &[TypedPrompt] {
        &self.typed_prompts
    }

    /// Lets time pass.
    pub(super) fn pass_time(&mut self, seconds: i64) {
        self.now += seconds * 1000 + self.names.number_between(0, 1000);
    }

    pub(super) fn time_text(&self) -> String {
        time::format_time(self.now)
    }

    /// Adds a record that is not part of the tree.
    pub(super) fn add_metadata(&mut self, line: Value) {
        self.lines.push(line);
    }

    /// Adds a record to the tree, with the fields before and after its uuid.
    pub(super) fn add_node(&mut self, before: Value, after: Value) -> String {
        let uuid = self.names.next_uuid();
        self.add_node_named(&uuid, before, after);
        uuid
    }

    /// Adds a record with the given uuid.
    pub(super) fn add_node_named(&mut self, uuid: &str, mut before: Value, after: Value) {
        let mut line = Map::new();
        line.insert("parentUuid".into(), json!(self.head));
        let logical = before.as_object_mut().and_then(|map| map.shift_remove("logicalParentUuid"));
        line.extend(logical.map(|logical| ("logicalParentUuid".to_owned(), logical)));
        line.insert("isSidechain".into(), json!(self.depth > 0));
        let is_user = before["type"] == "user";
        let name = ("uuid".to_owned(), json!(uuid));
        let time = ("timestamp".to_owned(), json!(self.time_text()));
        let stamp = if before["type"] == "system" { [time, name] } else { [name, time] };
        if self.generation() == ClientGeneration::Three {
            line.extend(is_user.then(|| ("promptId".to_owned(), json!(self.prompt.id))));
        } else {
            line.extend(self.context_fields());
        }
        line.extend(self.agent.iter().map(|agent| ("agentId".to_owned(), json!(agent))));
        line.extend(object_fields(before));
        line.extend(stamp);
        line.extend(object_fields(after));
        if self.generation() == ClientGeneration::Three {
            line.extend(self.context_fields());
        }
        self.head = Some(uuid.to_owned());
        self.lines.push(Value::Object(line));
    }

    /// The fields of every record that describe where it was written.
    fn context_fields(&self) -> Map<String, Value> {
        let mut context = Map::new();
        context.insert("userType".into(), json!("external"));
        if self.generation() == ClientGeneration::Three {
            context.insert("entrypoint".into(), json!("cli"));
        }
        context.insert("cwd".into(), json!(self.project.cwd));
        context.insert("sessionId".into(), json!(self.session));
        context.insert("version".into(), json!(self.project.version));
        context.insert("gitBranch".into(), json!(self.project.branch));
        if self.generation() == ClientGeneration::Two && self.agent.is_none() {
            context.insert("slug".into(), json!("gentle-steeping-oolong"));
        }
        context
    }

    /// Returns the current position.
    pub(super) fn mark_position(&self) -> ScriptMark {
        ScriptMark { head: self.head.clone(), tokens: self.tokens, files: self.disk.files.clone() }
    }

    /// Rewinds to a position and restores the files. Nothing is written until the next prompt.
    pub(super) fn rewind_to(&mut self, mark: &ScriptMark) {
        self.close_reply(Some("end_turn"));
        self.head.clone_from(&mark.head);
        self.tokens = mark.tokens;
        self.disk.files.clone_from(&mark.files);
    }

    /// Starts a new root.
    pub(super) fn new_root(&mut self) {
        self.head = None;
        self.tokens = ContextTokens { cached: 0, fresh: 14_200 };
    }

    /// Returns the session's file with all its other files.
    pub(super) fn into_files(mut self) -> Vec<SampleFile> {
        let lines = self.lines.iter().map(|line| format!("{line}\n"));
        let bytes = lines.collect::<String>().into_bytes();
        self.others.push(SampleFile { path: self.path, bytes });
        if self.depth == 0 {
            self.others.extend(self.disk.backup_files(&self.session));
        }
        self.others
    }
}

fn object_fields(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
