//! An archive on a server: what may leave a machine, and what the team sees of it.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use testkit::{TestHome, TestPostgres};

use crate::ramus_command;

/// A person with a machine, a history and a login.
struct Person {
    home: TestHome,
    url: String,
    machine: &'static str,
}

impl Person {
    fn new(server: &TestPostgres, user: &str, machine: &'static str, id: &str) -> Self {
        let home = TestHome::new();
        let reply = r#"{"type":"assistant","uuid":"b","parentUuid":"a","sessionId":"SESSION","timestamp":"2026-05-01T10:00:00.000Z","requestId":"req_ID","message":{"id":"msg_ID","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"words of WHO"}],"usage":{"input_tokens":100,"output_tokens":50}}}"#;
        let prompt = r#"{"type":"user","uuid":"a","parentUuid":null,"sessionId":"SESSION","timestamp":"2026-05-01T09:59:00.000Z","message":{"role":"user","content":"mail WHO@example.com about ghp_16C7e42F292c6912E7710c838347Ae178B4a"}}"#;
        for (project, n) in [("-home-al-open", 1), ("-home-al-secret", 2)] {
            let session = format!("{id}{n}-0000-4000-8000-000000000000");
            let lines = format!("{prompt}\n{reply}\n").replace("SESSION", &session);
            let lines = lines.replace("ID", &format!("{id}{n}")).replace("WHO", user);
            home.write_file(&format!("{project}/{session}.jsonl"), lines);
        }
        Self { home, url: server.url(user), machine }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = ramus_command(&self.home.claude_dir(), args);
        command.env("RAMUS_ARCHIVE", &self.url).env("RAMUS_MACHINE", self.machine);
        command.env("RAMUS_STATE_DIR", self.home.path().join("state"));
        command.env("RAMUS_CACHE_DIR", self.home.path().join("cache"));
        command.env("XDG_CONFIG_HOME", self.home.path().join("config"));
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    #[track_caller]
    fn json(&self, args: &[&str]) -> Value {
        let output = self.run(&[args, &["--json"]].concat());
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
    }

    /// Writes the rules for what may leave this machine.
    fn allow(&self, rules: &str) {
        let dir = self.home.path().join("config/ramus");
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("archive.toml"), rules).unwrap();
    }
}

fn said(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

fn team() -> Option<TestPostgres> {
    let server = TestPostgres::start()?;
    ramus_archive::Archive::initialize_server(&server.url("postgres"), true).unwrap();
    for person in ["alice", "bob"] {
        server.query(
            "postgres",
            "ramus",
            &format!("CREATE ROLE {person} LOGIN IN ROLE ramus_member"),
        );
    }
    Some(server)
}

fn projects_sent(server: &TestPostgres) -> String {
    server.query("postgres", "ramus", "SELECT string_agg(DISTINCT project, ',') FROM ramus.files")
}

#[test]
fn the_first_push_says_what_would_be_sent() {
    let Some(server) = team() else { return };
    let alice = Person::new(&server, "alice", "laptop", "0a1b2c3");
    let refused = alice.run(&["archive", "add"]);
    let text = said(&refused);
    assert_eq!(refused.status.code(), Some(2), "{text}");
    assert!(text.contains("2 sessions with 2 files"), "{text}");
    assert!(text.contains("-home-al-secret: 1 session,"), "{text}");
    assert!(text.contains("`--redact` removes"), "{text}");
    assert_eq!(projects_sent(&server), "");
    alice.allow("exclude = ['*-secret']\nredact = true\n");
    let text = said(&alice.run(&["archive", "add"]));
    assert!(text.contains("1 session with 1 file"), "{text}");
    assert!(text.contains("1 file held back by archive.toml"), "{text}");
    assert!(text.contains("removed before sending") && !text.contains("-secret:"), "{text}");
}

#[test]
fn only_what_the_rules_allow_leaves_the_machine() {
    let Some(server) = team() else { return };
    let alice = Person::new(&server, "alice", "laptop", "0a1b2c3");
    for (rules, problem) in [
        ("exlude = ['*-secret']", "unknown key `exlude`"),
        ("owner = 'bob'", "sent as bob, but the login is alice"),
        ("redact = ", "line 1"),
    ] {
        alice.allow(rules);
        let refused = alice.run(&["archive", "add", "--yes"]);
        let text = said(&refused);
        assert_eq!(refused.status.code(), Some(2), "{text}");
        assert!(text.contains("nothing was sent") && text.contains(problem), "{text}");
        assert_eq!(projects_sent(&server), "");
    }
    alice.allow("include = ['/home/al/*']\nexclude = ['/home/al/secret']\nowner = 'alice'\n");
    let added = alice.json(&["archive", "add", "--yes"]);
    assert_eq!((&added["new"], &added["skipped"]), (&1.into(), &0.into()));
    assert_eq!(projects_sent(&server), "-home-al-open");
    assert_eq!(alice.json(&["archive", "status"])["pending_files"], 0);
}

#[test]
fn what_was_redacted_says_so_wherever_it_is_read() {
    let Some(server) = team() else { return };
    let alice = Person::new(&server, "alice", "laptop", "0a1b2c3");
    let added = alice.json(&["archive", "add", "--yes", "--redact"]);
    assert_eq!((&added["new"], &added["left_out"]), (&2.into(), &0.into()));
    let again = alice.json(&["archive", "add", "--redact"]);
    assert_eq!((&again["unchanged"], &again["stored_bytes"]), (&2.into(), &0.into()));
    let list = alice.json(&["archive", "list", "0a1b2c31"]);
    assert_eq!(list["sessions"][0]["generations"][0]["redacted"], true);
    assert!(said(&alice.run(&["archive", "list", "0a1b2c31"])).contains("redacted"));
    fs::remove_dir_all(alice.home.claude_dir().join("projects/-home-al-open")).unwrap();
    let shown = said(&alice.run(&["show", "0a1b2c31"]));
    assert!(!shown.contains("ghp_16C7") && !shown.contains("alice@example"), "{shown}");
    let plan = said(&alice.run(&["archive", "restore", "0a1b2c31", "--dry-run"]));
    assert!(plan.contains("not the original bytes"), "{plan}");
    let file = Person { home: TestHome::new(), url: String::new(), machine: "laptop" };
    let mut command = file.command(&["archive", "add", "--redact"]);
    let refused = command.env("RAMUS_ARCHIVE", file.home.path().join("a.db")).output().unwrap();
    assert!(said(&refused).contains("for an archive on a server"), "{refused:?}");
}

#[test]
fn lists_searches_and_sums_cover_the_team() {
    let Some(server) = team() else { return };
    let people = [
        Person::new(&server, "alice", "laptop", "0a1b2c3"),
        Person::new(&server, "bob", "desk", "1a1b2c3"),
    ];
    for person in &people {
        person.json(&["archive", "add", "--yes"]);
        person.run(&["archive", "share", "al-open"]);
    }
    let [alice, bob] = &people;
    let ids = |answer: &Value| {
        let ids = answer["sessions"].as_array().unwrap().iter().map(|one| one["id"].to_string());
        let mut ids: Vec<String> = ids.map(|id| id[1..9].to_owned()).collect();
        ids.sort();
        ids.join(" ")
    };
    assert_eq!(ids(&bob.json(&["sessions"])), "1a1b2c31 1a1b2c32");
    assert_eq!(ids(&bob.json(&["sessions", "--everyone"])), "0a1b2c31 1a1b2c31 1a1b2c32");
    assert_eq!(ids(&bob.json(&["sessions", "--owner", "alice"])), "0a1b2c31");
    assert_eq!(ids(&alice.json(&["sessions", "--machine", "desk"])), "1a1b2c31");
    // Nothing of the content is needed for any of these.
    let chunks = server.query("postgres", "ramus", "SELECT count(*) FROM ramus.chunks");
    assert_ne!(chunks, "0");
    server.query("postgres", "ramus", "UPDATE ramus.chunks SET packed = 'x' WHERE owner = 'alice'");
    let by_owner = bob.json(&["usage", "--by", "owner", "--everyone"]);
    let rows = by_owner["by_source"].as_array().unwrap();
    let row = |owner: &str| rows.iter().find(|row| row["owner"] == owner).unwrap()["input"].clone();
    assert_eq!((row("alice"), row("bob")), (100.into(), 200.into()));
    let by_machine = said(&bob.run(&["usage", "--by", "machine", "--everyone", "--csv"]));
    assert!(
        by_machine.starts_with("owner,machine,") && by_machine.contains("alice,laptop,"),
        "{by_machine}"
    );
    let none = bob.run(&["find", "nowhere-at-all", "--everyone"]);
    assert!(!said(&none).contains("damaged"), "{none:?}");
    server.query("postgres", "ramus", "DELETE FROM ramus.derived");
    let found = bob.run(&["find", "words", "--everyone", "--count"]);
    assert!(said(&found).contains("damaged"), "without filters the content is read: {found:?}");
}

#[test]
fn a_file_archive_belongs_to_one_person() {
    let home = TestHome::new();
    home.write_session("-p/0a1b2c3d.jsonl", "a user hello\nb < a assistant hi");
    let mut command = ramus_command(&home.claude_dir(), &["usage", "--by", "owner"]);
    command.env("RAMUS_ARCHIVE", Path::new("/nonexistent/archive.db"));
    let output = command.output().unwrap();
    assert_ne!(output.status.code(), Some(0), "{output:?}");
}

#[test]
fn a_project_is_shared_by_the_name_of_its_directory_and_unshared_without_it() {
    let Some(server) = team() else { return };
    let alice = Person::new(&server, "alice", "laptop", "0a1b2c3");
    alice.json(&["archive", "add", "--yes"]);
    let shared = alice.json(&["archive", "share", "-home-al-open"]);
    assert_eq!((&shared["project"], &shared["changed"]), (&"-home-al-open".into(), &true.into()));
    // Another machine of hers has no file of it.
    let url = alice.url.clone();
    let desk = Person { home: TestHome::new(), url, machine: "desk" };
    let unshared = desk.json(&["archive", "unshare", "-home-al-open"]);
    assert_eq!((&unshared["shared"], &unshared["changed"]), (&false.into(), &true.into()));
    assert_eq!(desk.run(&["archive", "unshare", "-home-al-open"]).status.code(), Some(2));
}

#[test]
fn a_person_without_a_history_reads_that_of_the_team() {
    let Some(server) = team() else { return };
    let alice = Person::new(&server, "alice", "laptop", "0a1b2c3");
    alice.json(&["archive", "add", "--yes"]);
    alice.run(&["archive", "share", "al-open"]);
    let home = TestHome::new();
    fs::remove_dir_all(home.claude_dir()).unwrap();
    let bob = Person { home, url: server.url("bob"), machine: "desk" };
    assert_eq!(bob.run(&["sessions"]).status.code(), Some(2));
    let listed = bob.json(&["sessions", "--everyone"]);
    assert_eq!(listed["sessions"].as_array().map(Vec::len), Some(1), "{listed}");
    assert!(said(&bob.run(&["find", "words", "--everyone"])).contains("words of alice"));

    let mut command = bob.command(&["serve", "--port", "0", "--everyone"]);
    let mut page = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut address = String::new();
    BufReader::new(page.stdout.take().unwrap()).read_line(&mut address).unwrap();
    let (host, code) = address.trim().strip_prefix("http://").unwrap().split_once("/?").unwrap();
    let code = code.split_once('=').unwrap().1;
    let entered = ask_page(host, "POST /api/enter", "", &format!("{{\"code\":\"{code}\"}}"));
    let token = entered["token"].as_str().unwrap_or_else(|| panic!("{entered}"));
    let sessions = ask_page(host, "GET /api/sessions", token, "");
    page.kill().unwrap();
    page.wait().unwrap();
    assert!(sessions.to_string().contains("0a1b2c31-0000"), "{sessions}");
}

/// Sends a request to the web app and returns its answer.
fn ask_page(host: &str, request: &str, token: &str, body: &str) -> Value {
    let mut stream = TcpStream::connect(host).unwrap();
    let head = format!(
        "{request} HTTP/1.0\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let body = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{answer:?}")).1;
    serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"))
}
