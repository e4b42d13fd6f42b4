//! What the command line answers with `--json`, and the same JSON where the page has it too.

use std::path::Path;

use serde_json::Value;

use super::{Answer, Question, Row, minute, short, text};

pub(super) struct Command<'a> {
    claude: &'a Path,
}

/// Returns the listed sessions.
pub(super) fn sessions(claude: &Path) -> Vec<Value> {
    rows(&crate::json(claude, &["sessions"])["sessions"])
}

/// Returns the conversations of a session.
pub(super) fn conversations(claude: &Path, session: &str) -> Vec<Value> {
    rows(&crate::json(claude, &["conversations", session])["conversations"])
}

fn rows(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

impl<'a> Command<'a> {
    pub(super) fn new(claude: &'a Path) -> Self {
        Self { claude }
    }

    pub(super) fn answer(&self, question: &Question) -> Answer {
        let json = |args: &[&str]| crate::json(self.claude, args);
        let planned = |args: &[&str]| {
            let plan = json(&[args, &["--dry-run"]].concat());
            let is_new = args[0] == "fork";
            one(plan_row(&plan, "operation", is_new))
        };
        let address = |session: &str, node: &str| format!("{session}:{node}");
        match question {
            Question::Sessions => {
                let mut answer = session_rows(&json(&["sessions"]));
                let ids = self.column(&["sessions"], "ID");
                answer.rows.iter_mut().zip(ids).for_each(|(row, id)| drop(row.insert("id", id)));
                answer
            }
            Question::Conversations { session, .. } => {
                let mut answer = conversation_rows(&json(&["conversations", session]));
                let table = &["conversations", &**session];
                let shown =
                    self.column(table, "ADDRESS").into_iter().zip(self.column(table, "TITLE"));
                for (row, (address, title)) in answer.rows.iter_mut().zip(shown) {
                    row.extend([("address", address), ("branch title", title)]);
                }
                answer
            }
            Question::Tree { session, .. } => tree_rows(&json(&["tree", session])),
            Question::Search(words) => {
                let found = crate::ramus(self.claude, &["find", words, "--json"]);
                hit_rows(&String::from_utf8_lossy(&found.stdout), true)
            }
            Question::Diff { session, sides: [a, b] } => {
                diff_row(&json(&["diff", &format!("{session}@{a}"), &format!("{session}@{b}")]))
            }
            Question::Files { session, node } => {
                file_rows(&json(&["files", &address(session, node)]))
            }
            Question::Usage => usage_rows(&json(&["usage"])),
            Question::Retention => {
                let check = json(&["check"]);
                let listed = crate::ramus(self.claude, &["sessions"]);
                let told = String::from_utf8_lossy(&listed.stderr).into_owned();
                let due =
                    told.lines().find(|line| line.contains("Claude Code")).unwrap_or_default();
                let retention = &check["retention"];
                one(Row::from([
                    ("days", text(retention, "days")),
                    ("from settings", text(retention, "from_settings")),
                    ("sessions", text(retention, "soon_sessions")),
                    ("due", due.split_whitespace().collect::<Vec<_>>().join(" ")),
                ]))
            }
            Question::Goto { session, node } => planned(&["goto", &address(session, node)]),
            Question::Fork { session, node } => planned(&["fork", &address(session, node)]),
            Question::Resume { session, node } => {
                one(resume_row(&crate::json(self.claude, &["resume", &address(session, node)])))
            }
            Question::Rename { session, title } => planned(&["rename", session, title]),
        }
    }

    /// Returns a column of a table that is printed: short ids and names of branches are not in the JSON.
    fn column(&self, args: &[&str], name: &str) -> Vec<String> {
        let told = crate::command(self.claude, args).env("COLUMNS", "9999").output().unwrap();
        let told = String::from_utf8(told.stdout).unwrap();
        let mut lines = told.lines();
        let head: Vec<char> = lines.next().unwrap().chars().collect();
        let name: Vec<char> = name.chars().collect();
        let at = head.windows(name.len()).position(|part| part == name).unwrap();
        let cell = |line: &str| {
            let rest: String = line.chars().skip(at).collect();
            rest.split("  ").next().unwrap_or_default().trim().to_owned()
        };
        lines.map(cell).collect()
    }
}

pub(super) fn one(row: Row) -> Answer {
    Answer { rows: vec![row], ordered: true }
}

pub(super) fn session_rows(json: &Value) -> Answer {
    let row = |row: &Value| {
        Row::from([
            ("whole id", text(row, "id")),
            ("title", text(row, "title")),
            ("messages", text(row, "messages")),
            ("branches", text(row, "conversations")),
            ("compactions", text(row, "compactions")),
            ("agents", text(row, "agents")),
            ("last active", minute(&text(row, "last_active"))),
            ("deleted after", text(row, "deleted_after")),
            ("resume leaf", text(row, "resume_leaf")),
        ])
    };
    Answer { rows: rows(&json["sessions"]).iter().map(row).collect(), ordered: true }
}

pub(super) fn conversation_rows(json: &Value) -> Answer {
    let row = |row: &Value| {
        Row::from([
            ("n", text(row, "n")),
            ("leaf", text(row, "leaf")),
            ("status", text(row, "status")),
            ("resumes", text(row, "resumes")),
            ("title", text(row, "title")),
            ("fork", text(row, "fork_kind")),
            ("fork point", text(row, "fork_point")),
            ("fork id", short(&text(row, "fork_point"))),
            ("messages", text(row, "messages")),
            ("last active", minute(&text(row, "last_active"))),
        ])
    };
    Answer { rows: rows(&json["conversations"]).iter().map(row).collect(), ordered: true }
}

pub(super) fn tree_rows(json: &Value) -> Answer {
    let row = |fork: &Value| {
        Row::from([
            ("node", text(fork, "node")),
            ("id", short(&text(fork, "node"))),
            ("kind", text(fork, "kind")),
            ("children", text(fork, "children")),
            ("ways", rows(&fork["children"]).len().to_string()),
            ("current", text(fork, "current")),
        ])
    };
    Answer { rows: rows(&json["forks"]).iter().map(row).collect(), ordered: false }
}

pub(super) fn hit_rows(lines: &str, ordered: bool) -> Answer {
    let hits = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let hits = hits.filter(|hit| hit["schema"] == "ramus.find/1");
    let row = |hit: Value| {
        let owner = text(&hit, "agent");
        let owner = if owner.is_empty() { text(&hit, "session") } else { owner };
        Row::from([
            ("session", text(&hit, "session")),
            ("owner", short(&owner)),
            ("uuid", text(&hit, "uuid")),
            ("status", text(&hit, "status")),
            ("conversation", text(&hit, "conversation")),
            ("title", text(&hit, "title")),
            ("role", text(&hit, "role")),
            ("kind", text(&hit, "kind")),
            ("time", minute(&text(&hit, "timestamp"))),
        ])
    };
    Answer { rows: hits.map(row).collect(), ordered }
}

pub(super) fn diff_row(json: &Value) -> Answer {
    let mut row = Row::new();
    let sides = [
        (
            "a",
            [
                "title a",
                "status a",
                "messages a",
                "prompts a",
                "answers a",
                "agents a",
                "files a",
                "tokens a",
            ],
        ),
        (
            "b",
            [
                "title b",
                "status b",
                "messages b",
                "prompts b",
                "answers b",
                "agents b",
                "files b",
                "tokens b",
            ],
        ),
    ];
    for (side, names) in sides {
        let spent = &json["usage"][side];
        let kinds = ["input", "output", "cache_read", "cache_write_5m", "cache_write_1h"];
        let tokens: u64 = kinds.iter().map(|kind| spent[*kind].as_u64().unwrap()).sum();
        let changed = rows(&json["files"]);
        let changed = changed.iter().filter(|file| file[side]["changed"] == true).count();
        let fields = ["title", "status", "messages", "prompts", "answers", "agents"];
        row.extend(names.iter().zip(fields).map(|(name, field)| (*name, text(&json[side], field))));
        row.insert(names[6], changed.to_string());
        row.insert(names[7], ramus_render::text::tokens(tokens));
    }
    let file = |file: &Value| {
        let lines = |side: &str| {
            [text(&file[side], "added"), text(&file[side], "removed"), text(&file[side], "known")]
                .join("/")
        };
        format!("{} {} {} {}", text(file, "path"), lines("a"), lines("b"), text(file, "differs"))
    };
    row.insert("files", rows(&json["files"]).iter().map(file).collect::<Vec<_>>().join("\n"));
    row.insert("common", text(&json["common"], "messages"));
    row.insert("tools", json["tools"].to_string());
    row.insert("commands", json["commands"].to_string());
    row.insert("usage", json["usage"].to_string());
    one(row)
}

pub(super) fn file_rows(json: &Value) -> Answer {
    let cwd = text(json, "cwd");
    let row = |file: &Value| {
        let path = text(file, "path");
        let below = path.strip_prefix(&cwd).and_then(|rest| rest.strip_prefix('/'));
        Row::from([
            ("path", below.unwrap_or(&path).to_owned()),
            ("state", text(file, "state")),
            ("source", text(file, "source")),
            ("size", text(file, "size")),
            ("backup", text(file, "backup")),
            ("doubt", text(file, "doubt")),
        ])
    };
    Answer { rows: rows(&json["files"]).iter().map(row).collect(), ordered: true }
}

pub(super) fn usage_rows(json: &Value) -> Answer {
    let cost = json["totals"]["cost_usd"].as_f64().unwrap_or_default();
    let sessions = rows(&json["by_session"]).len();
    one(Row::from([
        ("messages", text(&json["totals"], "messages")),
        ("sessions", sessions.to_string()),
        ("cost", format!("${cost:.2}")),
        ("totals", json["totals"].to_string()),
        ("by model", json["by_model"].to_string()),
        ("by session", json["by_session"].to_string()),
        ("by branch", json["by_branch"].to_string()),
        ("by line", json["by_line"].to_string()),
    ]))
}

/// What is planned; a new session's id is another one each time.
pub(super) fn plan_row(plan: &Value, what: &str, is_new: bool) -> Row {
    let mut row = Row::from([("what", text(plan, what)), ("bytes", text(plan, "appended_bytes"))]);
    if !is_new {
        row.insert("session", text(plan, "session"));
    }
    if what == "operation" {
        row.insert("resume leaf", text(plan, "resume_leaf"));
    }
    row
}

/// What resuming at a message takes.
pub(super) fn resume_row(plan: &Value) -> Row {
    Row::from([("first step", text(plan, "first_step")), ("command", text(plan, "command"))])
}
