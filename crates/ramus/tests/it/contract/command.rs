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

/// Whether a person or the model said the message at an address.
pub(super) fn is_said(claude: &Path, address: &str) -> bool {
    let plan = fork_plan(claude, address);
    let line = plan.lines().find(|line| line.contains(" up to ")).unwrap_or_default();
    line.contains("  assistant: ") || line.contains("  user: ")
}

/// Returns the plan of a fork as a person sees it.
fn fork_plan(claude: &Path, address: &str) -> String {
    let told = crate::ramus(claude, &["fork", address, "--dry-run"]);
    String::from_utf8_lossy(&told.stderr).into_owned()
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
            // Where the session resumes already nothing would be added.
            if plan["operation"] == "goto" && plan["appended_bytes"] == 0 {
                return one(nothing_to_do());
            }
            one(plan_row(&plan, "operation"))
        };
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
                let shown = self.column(table, "ADDRESS").into_iter();
                let left = self.column(table, "LEFT AT");
                let left = left.iter().map(|cell| cell.split_once(' ').map_or("", |(_, id)| id));
                for (row, (address, left)) in answer.rows.iter_mut().zip(shown.zip(left)) {
                    row.extend([("address", address), ("fork id", left.to_owned())]);
                }
                answer
            }
            Question::Tree { session, .. } => {
                let mut answer = tree_rows(&json(&["tree", session]));
                // Short ids are not in the JSON.
                let drawn = crate::ramus(self.claude, &["tree", session]).stdout;
                let drawn = String::from_utf8(drawn).unwrap();
                for found in super::mcp::tree_rows(&drawn.lines().collect::<Vec<_>>()).rows {
                    let mut rows = answer.rows.iter_mut();
                    let row = rows.find(|row| row["node"].starts_with(&found["id"])).unwrap();
                    row.insert("id", found["id"].clone());
                }
                answer
            }
            Question::Search(search) => {
                let mut args = vec!["find", search.words, "--json"];
                args.extend(search.role.iter().flat_map(|role| ["--role", role]));
                args.extend(search.branch.iter().flat_map(|branch| ["--branch", branch]));
                args.extend(search.until.iter().flat_map(|until| ["--until", until]));
                let found = crate::ramus(self.claude, &args);
                let found = String::from_utf8_lossy(&found.stdout);
                let mut answer = hit_rows(&found);
                for (row, line) in answer.rows.iter_mut().zip(found.lines()) {
                    let hit = serde_json::from_str::<Value>(line).unwrap();
                    row.insert("short address", text(&hit, "address"));
                }
                answer
            }
            Question::Projects => project_rows(&json(&["projects"])),
            Question::Diff { session, sides: [a, b] } => {
                diff_row(&json(&["diff", &format!("{session}@{a}"), &format!("{session}@{b}")]))
            }
            Question::Files(place) => file_rows(&json(&["files", &place.address()])),
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
            Question::Goto(place) => planned(&["goto", &place.address()]),
            Question::Fork(place) => {
                let mut answer = planned(&["fork", &place.address()]);
                if place.opened_by.is_some() {
                    let plan = fork_plan(self.claude, &place.address());
                    answer.rows[0].insert("up to", up_to(&plan));
                }
                answer
            }
            Question::Merge { session, sides: [a, b] } => {
                let sides = [format!("{session}@{a}"), format!("{session}@{b}")];
                let told = crate::ramus(
                    self.claude,
                    &["merge", &sides[0], &sides[1], "--dry-run", "--json"],
                );
                match serde_json::from_slice(&told.stdout) {
                    Ok(plan) => one(merge_row(&plan)),
                    Err(_) => {
                        let why = String::from_utf8_lossy(&told.stderr).into_owned();
                        let why = why.lines().next().unwrap_or_default();
                        let why = why.trim_start_matches("Error: cannot merge: ");
                        one(Row::from([("refused", why.to_owned())]))
                    }
                }
            }
            Question::Export { place, n } => {
                let address = format!("{}@{n}", place.session);
                let args = ["export", &address, "--format", "json", "--thinking"];
                let told = crate::ramus(self.claude, &args);
                one(export_row(&serde_json::from_slice(&told.stdout).unwrap(), true))
            }
            Question::Resume(place) => {
                one(resume_row(&crate::json(self.claude, &["resume", &place.address()])))
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
            ("branch title", text(row, "branch_title")),
            ("fork", text(row, "fork_kind")),
            ("fork point", text(row, "fork_point")),
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
            ("kind", text(fork, "kind")),
            ("children", text(fork, "children")),
            ("ways", rows(&fork["children"]).len().to_string()),
            ("current", text(fork, "current")),
        ])
    };
    Answer { rows: rows(&json["forks"]).iter().map(row).collect(), ordered: false }
}

pub(super) fn project_rows(json: &Value) -> Answer {
    let row = |row: &Value| {
        let path = text(row, "path");
        Row::from([
            ("project", if path.is_empty() { text(row, "name") } else { path }),
            ("sessions", text(row, "sessions")),
            ("conversations", text(row, "conversations")),
            ("agents", text(row, "agents")),
            ("bytes", text(row, "bytes")),
            ("last active", minute(&text(row, "last_active"))),
        ])
    };
    Answer { rows: rows(&json["projects"]).iter().map(row).collect(), ordered: true }
}

pub(super) fn hit_rows(lines: &str) -> Answer {
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
            ("snippet", text(&hit, "snippet")),
            ("match", text(&hit, "match")),
            ("copies", text(&hit, "places")),
        ])
    };
    Answer { rows: hits.map(row).collect(), ordered: true }
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

/// What all answer where a session resumes at a message already.
pub(super) fn nothing_to_do() -> Row {
    Row::from([("what", "nothing".to_owned())])
}

/// Finds how far a fork goes in a plan that is shown.
pub(super) fn up_to(plan: &str) -> String {
    let line = plan.lines().find(|line| line.contains(" up to "));
    let words = line.unwrap_or_else(|| panic!("no fork in {plan}")).split_whitespace();
    let words = words.filter(|word| !word.starts_with('│')).take(5);
    words.collect::<Vec<_>>().join(" ")
}

pub(super) fn merge_row(merged: &Value) -> Row {
    let count = |field: &str| rows(&merged[field]).len().to_string();
    Row::from([
        ("title", text(merged, "title")),
        ("messages", text(merged, "messages")),
        ("common", text(merged, "common")),
        ("exchanges", merged["exchanges"].to_string()),
        ("conflicts", count("conflicts")),
    ])
}

/// What a transcript says of itself; with links between files its turns are told otherwise.
pub(super) fn export_row(transcript: &Value, is_alone: bool) -> Row {
    let mut row = Row::from([
        ("session", text(transcript, "session")),
        ("title", text(transcript, "title")),
        ("project", text(transcript, "project")),
        ("path", text(transcript, "path")),
        ("paths", text(transcript, "paths")),
        ("status", text(transcript, "status")),
        ("resumes", text(transcript, "resumes")),
        ("fork point", text(transcript, "fork_point")),
        ("fork kind", text(transcript, "fork_kind")),
        ("messages", text(transcript, "messages")),
        ("compactions", text(transcript, "compactions")),
        ("records", text(transcript, "records")),
        ("started", text(transcript, "started")),
        ("ended", text(transcript, "ended")),
        ("continues", text(transcript, "continues")),
        ("turns", rows(&transcript["turns"]).len().to_string()),
    ]);
    if is_alone {
        row.insert("words", transcript["turns"].to_string());
    }
    row
}

/// What is planned; a new session's id is another one each time.
pub(super) fn plan_row(plan: &Value, what: &str) -> Row {
    let is_new = plan[what] == "fork";
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
