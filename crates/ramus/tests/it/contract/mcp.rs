//! The answers of the MCP tools, over stdio.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use super::command::{nothing_to_do, single_row};
use super::{AnswerRow, ContractAnswer, Question, table_cells};

pub(super) struct McpDriver {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl McpDriver {
    pub(super) fn start_server(claude: &Path) -> Self {
        let mut command = crate::ramus_command(claude, &["mcp", "--allow-write"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut mcp = Self { child, input, output: BufReader::new(output) };
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"}});
        mcp.send_message(
            &json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
        );
        mcp.read_message();
        mcp.send_message(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        mcp
    }

    pub(super) fn answer_question(&mut self, question: &Question) -> Option<ContractAnswer> {
        let all = 100_000;
        let told = match question {
            Question::Sessions => self.call_tool("list_sessions", &json!({"max_tokens": all})),
            Question::Conversations { session, .. } => {
                self.call_tool("list_conversations", &json!({"scope": session, "max_tokens": all}))
            }
            Question::Tree { session, .. } => {
                self.call_tool("tree", &json!({"session": session, "max_tokens": all}))
            }
            Question::Search(search) => {
                let mut wanted = json!({"query": search.words, "max_tokens": all});
                let filters =
                    [("role", search.role), ("branch", search.branch), ("until", search.until)];
                for (name, value) in filters {
                    if let Some(value) = value {
                        wanted[name] = json!(value);
                    }
                }
                self.call_tool("search", &wanted)
            }
            Question::Projects => self.call_tool("list_projects", &json!({"max_tokens": all})),
            Question::Diff { session, sides: [a, b] } => self.call_tool(
                "diff",
                &json!({"a": format!("{session}@{a}"), "b": format!("{session}@{b}"),
                    "stat": true, "max_tokens": all}),
            ),
            Question::Files(place) => self.call_tool(
                "files_at",
                &json!({"address": place.message_address(), "max_tokens": all}),
            ),
            Question::Usage => self.call_tool("usage", &json!({"max_tokens": all})),
            Question::Goto(place) => {
                self.call_tool("goto", &json!({"address": place.message_address()}))
            }
            Question::Fork(place) => {
                self.call_tool("fork", &json!({"address": place.message_address()}))
            }
            // There is no tool for it.
            Question::Retention
            | Question::Rename { .. }
            | Question::Trash { .. }
            | Question::RestoreFiles(_)
            | Question::Resume(_)
            | Question::Merge { .. }
            | Question::Export { .. } => return None,
        };
        let (text, is_error) = told;
        assert!(!is_error, "{question:?}: {text}");
        let is_row = |line: &&str| !is_mark(line) && !line.starts_with("Hint: ");
        let lines: Vec<&str> = text.lines().filter(is_row).collect();
        let rows = |row: fn(&str) -> AnswerRow| ContractAnswer {
            // Such a line has the number of further hits.
            rows: { lines.iter().skip(1) }
                .filter(|line| !line.starts_with('…'))
                .map(|line| row(line))
                .collect(),
            ordered: true,
        };
        Some(match question {
            Question::Sessions => rows(session_row),
            Question::Conversations { .. } => rows(conversation_row),
            Question::Tree { .. } => tree_rows(&lines),
            Question::Search(_) => rows(hit_row),
            Question::Projects => rows(project_row),
            Question::Diff { .. } => diff_row(&lines),
            Question::Files { .. } => file_rows(&lines),
            Question::Usage => usage_row(&lines),
            _ if text.starts_with("Nothing to do: it already resumes there") => {
                single_row(nothing_to_do())
            }
            _ => single_row(plan_row(&lines)),
        })
    }

    /// Calls a tool; returns its text and whether it is an error.
    pub(super) fn call_tool(&mut self, tool: &str, arguments: &Value) -> (String, bool) {
        let params = json!({"name": tool, "arguments": arguments});
        self.send_message(
            &json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}),
        );
        let answer = self.read_message();
        let text = answer["result"]["content"][0]["text"].as_str();
        let text = text.unwrap_or_else(|| panic!("{tool}: {answer}")).to_owned();
        (text, answer["result"]["isError"] == true)
    }

    fn send_message(&mut self, message: &Value) {
        writeln!(self.input, "{message}").unwrap();
        self.input.flush().unwrap();
    }

    fn read_message(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }
}

impl Drop for McpDriver {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether a line only marks where the history begins or ends.
fn is_mark(line: &str) -> bool {
    line.starts_with("[history ") || line.starts_with("[end of history ")
}

/// Splits `ID … “TITLE” — FACT, FACT, …` into what is before, within and behind the title.
fn split_titled(line: &str) -> [&str; 3] {
    let (before, rest) = line.split_once('“').unwrap_or_else(|| panic!("no title in {line:?}"));
    let (title, facts) = rest.rsplit_once("” — ").unwrap_or_else(|| panic!("no facts in {line:?}"));
    [before.trim(), title, facts]
}

fn title_text(title: &str) -> String {
    if title == "untitled" { String::new() } else { title.to_owned() }
}

/// Returns the number before a word in a list of facts.
fn count_before(facts: &str, word: &str) -> Option<String> {
    let fact = facts
        .split(", ")
        .find(|fact| fact.split(' ').nth(1).is_some_and(|it| it.trim_end_matches('s') == word))?;
    fact.split(' ').next().map(str::to_owned)
}

fn last_active(facts: &str) -> String {
    let fact = facts.split(", ").find_map(|fact| fact.strip_prefix("last "));
    fact.unwrap_or_else(|| panic!("no time in {facts:?}")).trim_end_matches('Z').to_owned()
}

fn session_row(line: &str) -> AnswerRow {
    let [id, title, facts] = split_titled(line);
    AnswerRow::from([
        ("id", id.to_owned()),
        ("title", title_text(title)),
        ("messages", count_before(facts, "message").unwrap()),
        ("branches", count_before(facts, "conversation").unwrap_or("1".to_owned())),
        ("compactions", count_before(facts, "compaction").unwrap_or("0".to_owned())),
        ("agents", count_before(facts, "agent").unwrap_or("0".to_owned())),
        ("last active", last_active(facts)),
    ])
}

fn conversation_row(line: &str) -> AnswerRow {
    let [before, title, facts] = split_titled(line);
    let (address, status) = before.split_once(' ').unwrap();
    let left = facts.split(", ").find_map(|fact| fact.strip_prefix("left at "));
    let left = left.and_then(|left| left.trim_end_matches(')').split_once(" ("));
    let (point, kind) = left.unwrap_or_default();
    AnswerRow::from([
        ("address", address.to_owned()),
        ("n", address.split_once('@').unwrap().1.to_owned()),
        ("status", status.split(',').next().unwrap().to_owned()),
        ("resumes", status.ends_with(", resumes here").to_string()),
        ("branch title", title_text(title)),
        ("fork", kind.to_owned()),
        ("fork id", point.split_once(':').map_or("", |(_, id)| id).to_owned()),
        ("messages", count_before(facts, "message").unwrap()),
        ("last active", last_active(facts)),
    ])
}

/// Returns the fork points of a drawn tree: `┬ KIND_WIDTH: N branches … ID`.
pub(super) fn tree_rows(lines: &[&str]) -> ContractAnswer {
    let row = |line: &&str| {
        let drawn = line.split_once('┬')?.1;
        let (kind, rest) = drawn.trim().split_once(": ")?;
        let kind = match kind {
            "edited prompt" => "edit",
            "interrupted reply" => "interrupt",
            kind => kind,
        };
        Some(AnswerRow::from([
            ("kind", kind.to_owned()),
            ("ways", rest.split(' ').next()?.to_owned()),
            ("id", line.split_whitespace().next_back()?.to_owned()),
        ]))
    };
    // The last line explains the signs.
    let lines = lines.iter().filter(|line| !line.contains("┬ fork"));
    ContractAnswer { rows: lines.filter_map(row).collect(), ordered: false }
}

/// Reads `OWNER:UUID STATUS ROLE DAY TIME_WIDTH: …`.
fn hit_row(line: &str) -> AnswerRow {
    let words: Vec<&str> = line.splitn(6, ' ').collect();
    let owner = words[0].split([':', '@']).next().unwrap();
    let status = if words[1] == "-" { "" } else { words[1] };
    let (time, snippet) = match words[3] {
        "unknown:" => (String::new(), words[4..].join(" ")),
        day => (format!("{day} {}", words[4].trim_end_matches("Z:")), words[5..].join(" ")),
    };
    AnswerRow::from([
        ("owner", super::shorten_id(owner.strip_prefix("agent-").unwrap_or(owner))),
        ("status", status.to_owned()),
        ("role", words[2].to_owned()),
        ("time", time),
        ("short address", words[0].to_owned()),
        ("snippet", snippet.split_whitespace().collect::<Vec<_>>().join(" ")),
    ])
}

/// Reads `PATH — N sessions, N conversations, last TIME_WIDTH`.
fn project_row(line: &str) -> AnswerRow {
    let (path, facts) = line.split_once(" — ").unwrap();
    AnswerRow::from([
        ("project", path.to_owned()),
        ("sessions", count_before(facts, "session").unwrap()),
        ("conversations", count_before(facts, "conversation").unwrap()),
        ("last active", last_active(facts)),
    ])
}

fn diff_row(lines: &[&str]) -> ContractAnswer {
    let mut row = AnswerRow::new();
    for (line, names) in lines.iter().zip([["status a", "title a"], ["status b", "title b"]]) {
        let cells = table_cells(line);
        row.insert(names[0], cells[2].to_owned());
        row.insert(names[1], cells.get(3).copied().unwrap_or_default().to_owned());
    }
    let common = lines[2].trim_start_matches("= ").trim();
    let common = common.split(' ').next().unwrap();
    row.insert("common", if common == "nothing" { "0" } else { common }.to_owned());
    let rows = [
        ("messages", ["messages a", "messages b"]),
        ("prompts", ["prompts a", "prompts b"]),
        ("replies", ["answers a", "answers b"]),
        ("agents", ["agents a", "agents b"]),
        ("files", ["files a", "files b"]),
        ("tokens", ["tokens a", "tokens b"]),
    ];
    for (label, names) in rows {
        let cells =
            lines.iter().map(|line| table_cells(line)).find(|cells| cells.first() == Some(&label));
        // How many lines were changed comes before how many files were.
        let cells = cells.unwrap_or_default();
        let values = cells.iter().skip(1).filter(|cell| !cell.starts_with('+'));
        let mut values = values.map(|value| if *value == "·" { "0" } else { value });
        row.extend(names.map(|name| (name, values.next().unwrap_or("0").to_owned())));
    }
    single_row(row)
}

pub(super) fn file_rows(lines: &[&str]) -> ContractAnswer {
    let table = lines.iter().skip_while(|line| !line.starts_with("FILE")).skip(1);
    let row = |line: &&str| {
        let cells = table_cells(line);
        let state = if cells[1] == "absent" { "absent" } else { cells[1] };
        let mut row = AnswerRow::from([("path", cells[0].to_owned()), ("state", state.to_owned())]);
        if cells[3] != "·" {
            row.insert("source", cells[3].to_owned());
        }
        row
    };
    ContractAnswer { rows: table.map(row).collect(), ordered: true }
}

fn usage_row(lines: &[&str]) -> ContractAnswer {
    let line = |label: &str| {
        let found =
            lines.iter().map(|line| table_cells(line)).find(|cells| cells.first() == Some(&label));
        found.unwrap_or_else(|| panic!("no {label} in {lines:#?}"))
    };
    let messages = line("messages");
    single_row(AnswerRow::from([
        ("messages", messages[1].replace(',', "")),
        ("sessions", messages[2].split(' ').nth(1).unwrap().to_owned()),
        // A `+` stands for models without a price.
        ("cost", line("cost")[1].trim_end_matches('+').to_owned()),
    ]))
}

fn plan_row(lines: &[&str]) -> AnswerRow {
    let rest = lines[0].strip_prefix("Planned: ").unwrap_or_else(|| panic!("{lines:?}"));
    let (what, rest) = rest.split_once(" in session ").unwrap();
    let leaf = lines.iter().find_map(|line| line.strip_prefix("resumes at: "));
    let mut row = AnswerRow::from([
        ("what", what.to_owned()),
        ("resume leaf", leaf.unwrap_or_default().to_owned()),
    ]);
    if what != "fork" {
        row.insert("session", rest.split(',').next().unwrap().to_owned());
    }
    row
}
