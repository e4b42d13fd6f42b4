//! `ramus mcp`, tested with the official client of the protocol.

use std::fs;
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

fn tests_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/mcp")
}

/// Puts the client into a virtual environment of its own; `None` where that cannot be had.
fn find_python() -> Option<PathBuf> {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mcp-client");
    let python = dir.join("bin/python");
    let ready = |python: &Path| {
        Command::new(python)
            .args(["-c", "import mcp"])
            .output()
            .is_ok_and(|out| out.status.success())
    };
    if ready(&python) {
        return Some(python);
    }
    let made = Command::new("python3").args(["-m", "venv"]).arg(&dir).output();
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"];
    let filled =
        Command::new(&python).args(install).arg(tests_dir().join("requirements.txt")).output();
    if made.is_ok() && filled.is_ok() && ready(&python) {
        return Some(python);
    }
    testkit::skip_test("the MCP client cannot be installed with python3 and pip");
    None
}

#[test]
fn the_official_client_gets_along_with_the_server() {
    let Some(python) = find_python() else { return };
    let dir = tempfile::tempdir().unwrap();
    let demo = dir.path().join("demo");
    let ramus = env!("CARGO_BIN_EXE_ramus");
    assert!(Command::new(ramus).arg("demo").arg(&demo).output().unwrap().status.success());
    let spoken = Command::new(python)
        .arg(tests_dir().join("conformance.py"))
        .args([Path::new(ramus), &demo])
        .output()
        .unwrap();
    let told = [spoken.stdout, spoken.stderr].concat();
    assert!(spoken.status.success(), "{}", String::from_utf8_lossy(&told));
}

#[test]
fn a_client_that_hangs_up_at_once_is_no_error() {
    let home = testkit::TestHome::new();
    let output = crate::run_ramus(&home.claude_dir(), &["mcp"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A server that may write, and the connection to it.
struct McpClient {
    server: Child,
    answers: Lines<BufReader<ChildStdout>>,
}

impl McpClient {
    fn new(claude: &Path) -> Self {
        let mut server = crate::ramus_command(claude, &["mcp", "--allow-write"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let answers = BufReader::new(server.stdout.take().unwrap()).lines();
        let mut agent = Self { server, answers };
        let client = json!({"name": "test", "version": "1"});
        let hello =
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
        agent.send_message(
            &json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}),
        );
        agent.answers.next().unwrap().unwrap();
        agent.send_message(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        agent
    }

    fn send_message(&self, message: &Value) {
        writeln!(self.server.stdin.as_ref().unwrap(), "{message}").unwrap();
    }

    /// Calls a tool; returns its text, and whether it is an error.
    fn call_tool(&mut self, tool: &str, arguments: &Value) -> (String, bool) {
        let call = json!({"name": tool, "arguments": arguments});
        self.send_message(
            &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}),
        );
        let answer = self.answers.next().unwrap().unwrap();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
        (text.to_owned(), result["isError"] == true)
    }

    /// Makes a plan; returns its description and its name.
    fn plan_change(&mut self, tool: &str, address: &str) -> (String, String) {
        let (told, is_refused) = self.call_tool(tool, &json!({"address": address}));
        assert!(!is_refused, "{told}");
        let (_, name) = told.split_once("with plan ").unwrap();
        let name = name.split(' ').next().unwrap().to_owned();
        (told, name)
    }
}

impl Drop for McpClient {
    fn drop(&mut self) {
        drop(self.server.stdin.take());
        let _ = self.server.wait();
    }
}

const ID: &str = "11111111-0000-4000-8000-000000000001";

const TWO: &str = "
    a      user       v=2.1.325 tune the harp
    b < a  assistant  which harp
    c < b  user       the gold one
    d < c  assistant  tuned
    e < b  user       the small one
    f < e  assistant  tuned as well
";

#[test]
fn confirm_makes_the_very_session_that_was_planned() {
    let home = testkit::TestHome::new();
    let path = home.write_session(&format!("-home-dev-app/{ID}.jsonl"), TWO);
    let mut agent = McpClient::new(&home.claude_dir());
    let (told, plan) = agent.plan_change("fork", "1111:d");
    let planned = told.lines().next().unwrap().strip_prefix("Planned: ").unwrap();
    let (_, file) = planned.split_once(", file ").unwrap();
    assert!(!Path::new(file).exists(), "nothing is written yet");
    let (told, is_refused) = agent.call_tool("confirm", &json!({"plan": plan}));
    assert!(!is_refused, "{told}");
    assert_eq!(told.lines().next().unwrap(), format!("Done: {planned}"));
    assert!(Path::new(file).exists());
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 2);
}

#[test]
fn confirm_refuses_when_the_session_went_on_since_the_plan() {
    let home = testkit::TestHome::new();
    let path = home.write_session(&format!("-home-dev-app/{ID}.jsonl"), TWO);
    let mut agent = McpClient::new(&home.claude_dir());
    let (_, plan) = agent.plan_change("goto", "1111:d");
    let longer = fs::read_to_string(&path).unwrap()
        + &testkit::jsonl(&format!("{TWO}    g < f  user  thanks"))
            .lines()
            .last()
            .map(|line| format!("{line}\n"))
            .unwrap();
    fs::write(&path, &longer).unwrap();
    let (told, is_refused) = agent.call_tool("confirm", &json!({"plan": plan}));
    assert!(is_refused, "{told}");
    assert_eq!(
        told,
        "the session changed after the plan was made\nHint: call `goto` or `fork` again to make a new plan"
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), longer);
    let (told, is_refused) = agent.call_tool("confirm", &json!({"plan": plan}));
    assert!(is_refused && told.contains("no plan"), "{told}");
    let (_, plan) = agent.plan_change("goto", "1111:d");
    let (told, is_refused) = agent.call_tool("confirm", &json!({"plan": plan}));
    assert!(!is_refused && told.contains("resumes at: d"), "{told}");
    assert!(fs::read_to_string(&path).unwrap().starts_with(&longer));
    let (told, is_refused) = agent.call_tool("goto", &json!({"address": "1111:d"}));
    assert!(!is_refused && told.starts_with("Nothing to do"), "{told}");
}

#[test]
fn a_search_says_what_it_does_not_list_and_how_to_get_it() {
    let home = testkit::TestHome::new();
    let turns = "a user harp\nb < a user harp\nc < b user harp\nd < c user harp\ne < d user harp";
    home.write_session(&format!("-home-dev-app/{ID}.jsonl"), turns);
    let mut agent = McpClient::new(&home.claude_dir());
    let (told, _) = agent.call_tool("search", &json!({"query": "harp"}));
    assert!(told.contains("5 found, 3 of them listed, best first"), "{told}");
    assert!(told.contains("… 2 more in 11111111 (`scope` 11111111 lists them)"), "{told}");
    let (told, _) = agent.call_tool("search", &json!({"query": "harp", "scope": "11111111"}));
    assert!(told.contains("5 found, best first") && !told.contains("more in"), "{told}");
    let (told, _) = agent.call_tool("search", &json!({"query": "lute samovar"}));
    assert!(told.contains("Try fewer words") && !told.contains("--fuzzy"), "{told}");
}
