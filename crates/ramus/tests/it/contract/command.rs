//! The answers of the command line with `--json`, and of the web app where its JSON is the same.

use std::path::Path;

use ramus_render::text::source_name;
use serde_json::Value;

use super::{
    AnswerRow, ContractAnswer, EXPORT_FORMATS, Question, field_text, refusal_text, shorten_id,
    to_minute,
};

pub(super) struct CommandLine<'a> {
    claude: &'a Path,
}

/// Returns the listed sessions.
pub(super) fn list_sessions(claude: &Path) -> Vec<Value> {
    answer_rows(&crate::run_json(claude, &["sessions"])["sessions"])
}

/// Returns the conversations of a session.
pub(super) fn list_conversations(claude: &Path, session: &str) -> Vec<Value> {
    answer_rows(&crate::run_json(claude, &["conversations", session])["conversations"])
}

/// Whether a person or the model said the message at an address.
pub(super) fn is_said(claude: &Path, address: &str) -> bool {
    let plan = fork_plan(claude, address);
    let line = plan.lines().find(|line| line.contains(" up to ")).unwrap_or_default();
    line.contains("  assistant: ") || line.contains("  user: ")
}

/// Returns the plan of a fork as a person sees it.
fn fork_plan(claude: &Path, address: &str) -> String {
    let told = crate::run_ramus(claude, &["fork", address, "--dry-run"]);
    String::from_utf8_lossy(&told.stderr).into_owned()
}

fn answer_rows(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

impl<'a> CommandLine<'a> {
    pub(super) fn new(claude: &'a Path) -> Self {
        Self { claude }
    }

    pub(super) fn answer_question(&self, question: &Question) -> ContractAnswer {
        let json = |args: &[&str]| crate::run_json(self.claude, args);
        let planned = |args: &[&str]| {
            let plan = json(&[args, &["--dry-run"]].concat());
            // Where the session resumes already nothing would be added.
            if plan["operation"] == "goto" && plan["appended_bytes"] == 0 {
                return single_row(nothing_to_do());
            }
            single_row(plan_row(&plan, "operation"))
        };
        match question {
            Question::Sessions => {
                let mut answer = session_rows(&json(&["sessions"]));
                let ids = self.table_column(&["sessions"], "ID");
                answer.rows.iter_mut().zip(ids).for_each(|(row, id)| drop(row.insert("id", id)));
                answer
            }
            Question::Conversations { session, .. } => {
                let mut answer = conversation_rows(&json(&["conversations", session]));
                let table = &["conversations", &**session];
                let shown = self.table_column(table, "ADDRESS").into_iter();
                let left = self.table_column(table, "LEFT AT");
                let left = left.iter().map(|cell| cell.split_once(' ').map_or("", |(_, id)| id));
                for (row, (address, left)) in answer.rows.iter_mut().zip(shown.zip(left)) {
                    row.extend([("address", address), ("fork id", left.to_owned())]);
                }
                answer
            }
            Question::Tree { session, .. } => {
                let mut answer = tree_rows(&json(&["tree", session]));
                // Short ids are not in the JSON.
                let drawn = crate::run_ramus(self.claude, &["tree", session]).stdout;
                let drawn = String::from_utf8(drawn).unwrap();
                for found in super::mcp::tree_rows(&drawn.lines().collect::<Vec<_>>()).rows {
                    let mut rows = answer.rows.iter_mut();
                    let row = rows.find(|row| row["node"].starts_with(&found["id"])).unwrap();
                    row.insert("id", found["id"].clone());
                }
                answer
            }
            Question::Search(search) => {
                let mut args = vec!["find", search.words, "--json", "--sort", "best"];
                args.extend(search.role.iter().flat_map(|role| ["--role", role]));
                args.extend(search.branch.iter().flat_map(|branch| ["--branch", branch]));
                args.extend(search.until.iter().flat_map(|until| ["--until", until]));
                let found = crate::run_ramus(self.claude, &args);
                let found = String::from_utf8_lossy(&found.stdout);
                let mut answer = hit_rows(&found);
                for (row, line) in answer.rows.iter_mut().zip(found.lines()) {
                    let hit = serde_json::from_str::<Value>(line).unwrap();
                    row.insert("short address", field_text(&hit, "address"));
                }
                answer
            }
            Question::Projects => project_rows(&json(&["projects"])),
            Question::Diff { session, sides: [a, b] } => {
                diff_row(&json(&["diff", &format!("{session}@{a}"), &format!("{session}@{b}")]))
            }
            Question::Files(place) => file_rows(&json(&["files", &place.message_address()])),
            Question::Usage => usage_rows(&json(&["usage"])),
            Question::Retention => {
                let check = json(&["check"]);
                let listed = crate::run_ramus(self.claude, &["sessions"]);
                let told = String::from_utf8_lossy(&listed.stderr).into_owned();
                let due =
                    told.lines().find(|line| line.contains("Claude Code")).unwrap_or_default();
                let retention = &check["retention"];
                single_row(AnswerRow::from([
                    ("days", field_text(retention, "days")),
                    ("from settings", field_text(retention, "from_settings")),
                    ("sessions", field_text(retention, "soon_sessions")),
                    ("unarchived", field_text(retention, "unarchived")),
                    ("due", due.split_whitespace().collect::<Vec<_>>().join(" ")),
                ]))
            }
            Question::Goto(place) => planned(&["goto", &place.message_address()]),
            Question::Fork(place) => {
                let mut answer = planned(&["fork", &place.message_address()]);
                if place.opened_by.is_some() {
                    let plan = fork_plan(self.claude, &place.message_address());
                    answer.rows[0].insert("up to", up_to(&plan));
                }
                answer
            }
            Question::Merge { session, sides: [a, b] } => {
                let sides = [format!("{session}@{a}"), format!("{session}@{b}")];
                let told = crate::run_ramus(
                    self.claude,
                    &["merge", &sides[0], &sides[1], "--dry-run", "--json"],
                );
                match serde_json::from_slice(&told.stdout) {
                    Ok(plan) => single_row(merge_row(&plan)),
                    Err(_) => {
                        let why = String::from_utf8_lossy(&told.stderr).into_owned();
                        let why = why.lines().next().unwrap_or_default();
                        let why = why.trim_start_matches("Error: cannot merge: ");
                        single_row(AnswerRow::from([("refused", why.to_owned())]))
                    }
                }
            }
            Question::Export { place, n } => {
                let address = format!("{}@{n}", place.session);
                let args = ["export", &address, "--format", "json", "--thinking"];
                let told = crate::run_ramus(self.claude, &args);
                let mut row = export_row(&serde_json::from_slice(&told.stdout).unwrap(), true);
                for (name, format) in EXPORT_FORMATS {
                    let args = ["export", &address, "--format", format, "--thinking"];
                    let told = crate::run_ramus(self.claude, &args);
                    row.insert(name, String::from_utf8(told.stdout).unwrap());
                }
                single_row(row)
            }
            Question::Resume(place) => single_row(resume_row(&crate::run_json(
                self.claude,
                &["resume", &place.message_address()],
            ))),
            Question::Rename { session, title } => planned(&["rename", session, title]),
            Question::Trash { session } => planned(&["trash", session]),
            Question::RestoreFiles(place) => {
                let args = ["files", &place.message_address(), "--restore", "--dry-run", "--json"];
                let told = crate::run_ramus(self.claude, &args);
                single_row(match serde_json::from_slice::<Value>(&told.stdout) {
                    Ok(plan) if told.status.success() => {
                        AnswerRow::from([("what", field_text(&plan, "operation"))])
                    }
                    _ => {
                        let why = refusal_text(&String::from_utf8_lossy(&told.stderr));
                        AnswerRow::from([("refused", why)])
                    }
                })
            }
        }
    }

    /// Returns a column of a table that is printed: short ids and names of branches are not in the JSON.
    fn table_column(&self, args: &[&str], name: &str) -> Vec<String> {
        let told = crate::ramus_command(self.claude, args).env("COLUMNS", "9999").output().unwrap();
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

pub(super) fn single_row(row: AnswerRow) -> ContractAnswer {
    ContractAnswer { rows: vec![row], ordered: true }
}

pub(super) fn session_rows(json: &Value) -> ContractAnswer {
    let row = |row: &Value| {
        AnswerRow::from([
            ("whole id", field_text(row, "id")),
            ("title", field_text(row, "title")),
            ("messages", field_text(row, "messages")),
            ("branches", field_text(row, "conversations")),
            ("compactions", field_text(row, "compactions")),
            ("agents", field_text(row, "agents")),
            ("last active", to_minute(&field_text(row, "last_active"))),
            ("deleted after", field_text(row, "deleted_after")),
            ("resume leaf", field_text(row, "resume_leaf")),
            ("origin", field_text(&row["origins"][0], "kind")),
        ])
    };
    ContractAnswer { rows: answer_rows(&json["sessions"]).iter().map(row).collect(), ordered: true }
}

pub(super) fn conversation_rows(json: &Value) -> ContractAnswer {
    let row = |row: &Value| {
        AnswerRow::from([
            ("n", field_text(row, "n")),
            ("leaf", field_text(row, "leaf")),
            ("status", field_text(row, "status")),
            ("resumes", field_text(row, "resumes")),
            ("title", field_text(row, "title")),
            ("branch title", field_text(row, "branch_title")),
            ("fork", field_text(row, "fork_kind")),
            ("fork point", field_text(row, "fork_point")),
            ("messages", field_text(row, "messages")),
            ("last active", to_minute(&field_text(row, "last_active"))),
        ])
    };
    ContractAnswer {
        rows: answer_rows(&json["conversations"]).iter().map(row).collect(),
        ordered: true,
    }
}

pub(super) fn tree_rows(json: &Value) -> ContractAnswer {
    let row = |fork: &Value| {
        AnswerRow::from([
            ("node", field_text(fork, "node")),
            ("kind", field_text(fork, "kind")),
            ("children", field_text(fork, "children")),
            ("ways", answer_rows(&fork["children"]).len().to_string()),
            ("current", field_text(fork, "current")),
        ])
    };
    ContractAnswer { rows: answer_rows(&json["forks"]).iter().map(row).collect(), ordered: false }
}

pub(super) fn project_rows(json: &Value) -> ContractAnswer {
    let row = |row: &Value| {
        let path = field_text(row, "path");
        AnswerRow::from([
            ("project", if path.is_empty() { field_text(row, "name") } else { path }),
            ("sessions", field_text(row, "sessions")),
            ("conversations", field_text(row, "conversations")),
            ("agents", field_text(row, "agents")),
            ("bytes", field_text(row, "bytes")),
            ("last active", to_minute(&field_text(row, "last_active"))),
        ])
    };
    ContractAnswer { rows: answer_rows(&json["projects"]).iter().map(row).collect(), ordered: true }
}

pub(super) fn hit_rows(lines: &str) -> ContractAnswer {
    let hits = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let hits = hits.filter(|hit| hit["schema"] == "ramus.find/1");
    let row = |hit: Value| {
        let owner = field_text(&hit, "agent");
        let owner = if owner.is_empty() { field_text(&hit, "session") } else { owner };
        AnswerRow::from([
            ("session", field_text(&hit, "session")),
            ("owner", shorten_id(&owner)),
            ("uuid", field_text(&hit, "uuid")),
            ("status", field_text(&hit, "status")),
            ("conversation", field_text(&hit, "conversation")),
            ("title", field_text(&hit, "title")),
            ("role", field_text(&hit, "role")),
            ("kind", field_text(&hit, "kind")),
            ("time", to_minute(&field_text(&hit, "timestamp"))),
            ("snippet", field_text(&hit, "snippet")),
            ("match", field_text(&hit, "match")),
            ("copies", field_text(&hit, "places")),
        ])
    };
    ContractAnswer { rows: hits.map(row).collect(), ordered: true }
}

pub(super) fn diff_row(json: &Value) -> ContractAnswer {
    let mut row = AnswerRow::new();
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
        let changed = answer_rows(&json["files"]);
        let changed = changed.iter().filter(|file| file[side]["changed"] == true).count();
        let fields = ["title", "status", "messages", "prompts", "answers", "agents"];
        row.extend(
            names.iter().zip(fields).map(|(name, field)| (*name, field_text(&json[side], field))),
        );
        row.insert(names[6], changed.to_string());
        row.insert(names[7], ramus_render::text::format_tokens(tokens));
        let [leaf_name, path_name] =
            if side == "a" { ["leaf a", "path a"] } else { ["leaf b", "path b"] };
        let fields = ["session", "address", "started", "ended"];
        row.insert(leaf_name, field_text(&json[side], "leaf"));
        row.insert(path_name, fields.map(|field| field_text(&json[side], field)).join(" "));
    }
    let file = |file: &Value| {
        let lines = |side: &str| {
            [
                field_text(&file[side], "added"),
                field_text(&file[side], "removed"),
                field_text(&file[side], "known"),
            ]
            .join("/")
        };
        format!(
            "{} {} {} {}",
            field_text(file, "path"),
            lines("a"),
            lines("b"),
            field_text(file, "differs")
        )
    };
    row.insert(
        "files",
        answer_rows(&json["files"]).iter().map(file).collect::<Vec<_>>().join("\n"),
    );
    row.insert("common", field_text(&json["common"], "messages"));
    row.insert("last common", field_text(&json["common"], "node"));
    row.insert("tools", json["tools"].to_string());
    row.insert("commands", json["commands"].to_string());
    row.insert("usage", json["usage"].to_string());
    single_row(row)
}

pub(super) fn file_rows(json: &Value) -> ContractAnswer {
    let cwd = field_text(json, "cwd");
    let row = |file: &Value| {
        let path = field_text(file, "path");
        let below = path.strip_prefix(&cwd).and_then(|rest| rest.strip_prefix('/'));
        AnswerRow::from([
            ("path", below.unwrap_or(&path).to_owned()),
            ("state", field_text(file, "state")),
            // What is drawn for the stable word.
            ("source", source_name(&field_text(file, "source")).to_owned()),
            ("size", field_text(file, "size")),
            ("backup", field_text(file, "backup")),
            ("doubt", field_text(file, "doubt")),
        ])
    };
    ContractAnswer { rows: answer_rows(&json["files"]).iter().map(row).collect(), ordered: true }
}

pub(super) fn usage_rows(json: &Value) -> ContractAnswer {
    let cost = json["totals"]["cost_usd"].as_f64().unwrap_or_default();
    let sessions = answer_rows(&json["by_session"]).len();
    single_row(AnswerRow::from([
        ("messages", field_text(&json["totals"], "messages")),
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
pub(super) fn nothing_to_do() -> AnswerRow {
    AnswerRow::from([("what", "nothing".to_owned())])
}

/// Finds how far a fork goes in a plan that is shown.
pub(super) fn up_to(plan: &str) -> String {
    let line = plan.lines().find(|line| line.contains(" up to "));
    let words = line.unwrap_or_else(|| panic!("no fork in {plan}")).split_whitespace();
    let words = words.filter(|word| !word.starts_with('│')).take(5);
    words.collect::<Vec<_>>().join(" ")
}

pub(super) fn merge_row(merged: &Value) -> AnswerRow {
    let count = |field: &str| answer_rows(&merged[field]).len().to_string();
    AnswerRow::from([
        ("title", field_text(merged, "title")),
        ("messages", field_text(merged, "messages")),
        ("common", field_text(merged, "common")),
        ("exchanges", merged["exchanges"].to_string()),
        ("conflicts", count("conflicts")),
    ])
}

/// The facts of a transcript about itself; with links between files its turns differ.
pub(super) fn export_row(transcript: &Value, is_alone: bool) -> AnswerRow {
    let mut row = AnswerRow::from([
        ("session", field_text(transcript, "session")),
        ("title", field_text(transcript, "title")),
        ("project", field_text(transcript, "project")),
        ("path", field_text(transcript, "path")),
        ("paths", field_text(transcript, "paths")),
        ("status", field_text(transcript, "status")),
        ("resumes", field_text(transcript, "resumes")),
        ("fork point", field_text(transcript, "fork_point")),
        ("fork kind", field_text(transcript, "fork_kind")),
        ("messages", field_text(transcript, "messages")),
        ("compactions", field_text(transcript, "compactions")),
        ("records", field_text(transcript, "records")),
        ("started", field_text(transcript, "started")),
        ("ended", field_text(transcript, "ended")),
        ("continues", field_text(transcript, "continues")),
        ("turns", answer_rows(&transcript["turns"]).len().to_string()),
    ]);
    if is_alone {
        row.insert("words", transcript["turns"].to_string());
    }
    row
}

/// What is planned; a new session's id is another one each time.
pub(super) fn plan_row(plan: &Value, what: &str) -> AnswerRow {
    let is_new = plan[what] == "fork";
    let mut row = AnswerRow::from([
        ("what", field_text(plan, what)),
        ("bytes", field_text(plan, "appended_bytes")),
    ]);
    if !is_new {
        row.insert("session", field_text(plan, "session"));
    }
    if what == "operation" {
        row.insert("resume leaf", field_text(plan, "resume_leaf"));
    }
    row
}

/// What resuming at a message takes.
pub(super) fn resume_row(plan: &Value) -> AnswerRow {
    AnswerRow::from([
        ("first step", field_text(plan, "first_step")),
        ("command", field_text(plan, "command")),
    ])
}
