//! Exports: one transcript per unique path, complete, harmless and reproducible.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json as value};
use testkit::{TestHome, write_corpus};

use crate::truth::generate_corpus;
use crate::{run_json, run_ramus};

/// Exports everything and returns the summary.
#[track_caller]
fn run_export(claude: &Path, out: &Path, args: &[&str]) -> Value {
    let out = out.to_string_lossy();
    run_json(claude, &[&["export", "--out", &out], args].concat())
}

/// Reads all files of an export by their names.
fn exported_files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![dir.to_owned()];
    while let Some(at) = open.pop() {
        for entry in fs::read_dir(&at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.insert(path.strip_prefix(dir).unwrap().to_owned(), fs::read(&path).unwrap());
            }
        }
    }
    found
}

fn file_text(dir: &Path, name: &str) -> String {
    fs::read_to_string(dir.join(name)).unwrap()
}

const FORKED: &str = "
a        user       first question
b < a    assistant  first answer
c < b    user       second question
d < c    assistant  an abandoned answer
e < b    user       second question, edited
f < e    call:t1:Bash  ls
g < f    result:t1  Cargo.toml
h < g    assistant  the last answer
";

#[test]
fn one_transcript_for_each_unique_path() {
    for seed in [1, 2, 3] {
        let home = TestHome::new();
        let truth = write_corpus(&home, seed, 20);
        let out = home.path().join("out");
        let summary = run_export(&home.claude_dir(), &out, &["--format", "jsonl"]);
        assert_eq!(summary["schema"], "ramus.export/1");
        let written = summary["transcripts"].as_array().unwrap().len();
        assert_eq!(value!(written), value!(truth.unique_paths), "seed {seed}");
        let names = exported_files(&out);
        let transcripts =
            names.keys().filter(|name| name.to_string_lossy().contains("transcript_"));
        assert_eq!(transcripts.count(), written);
    }
}

#[test]
fn lines_of_a_generated_corpus_come_back() {
    for (megabytes, seed) in [(2, 21), (3, 22)] {
        let dir = tempfile::tempdir().unwrap();
        let Some(truth) = generate_corpus(dir.path(), megabytes, seed) else { return };
        let claude = dir.path().join("claude");
        let out = dir.path().join("out");
        let summary = run_export(&claude, &out, &["--format", "jsonl"]);
        let transcripts = summary["transcripts"].as_array().unwrap();
        assert_eq!(value!(transcripts.len()), truth["unique_paths"]);
        let mut sources = BTreeSet::new();
        for (name, bytes) in exported_files(&claude.join("projects")) {
            if name.extension().is_some_and(|ending| ending == "jsonl") {
                sources.extend(bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec));
            }
        }
        let mut exported = BTreeSet::new();
        for transcript in transcripts {
            let bytes = fs::read(out.join(transcript["file"].as_str().unwrap())).unwrap();
            assert!(bytes.ends_with(b"\n"));
            for line in bytes[..bytes.len() - 1].split(|byte| *byte == b'\n') {
                assert!(sources.contains(line), "{}", String::from_utf8_lossy(line));
                exported.insert(line.to_vec());
            }
        }
        // Of a session that another one repeats in part, not all paths are written.
        let mut left: BTreeMap<&str, u64> = BTreeMap::new();
        for path in transcripts {
            let paths = path["paths"].as_u64().unwrap();
            *left.entry(path["session"].as_str().unwrap()).or_insert(paths) -= 1;
        }
        for session in truth["session_list"].as_array().unwrap() {
            if left.get(session["id"].as_str().unwrap()) != Some(&0) {
                continue;
            }
            let source = fs::read(claude.join(session["file"].as_str().unwrap())).unwrap();
            for line in source.split(|byte| *byte == b'\n') {
                let Ok(record) = serde_json::from_slice::<Value>(line) else { continue };
                let said = matches!(record["type"].as_str(), Some("user" | "assistant"));
                if said && record["isSidechain"] != true {
                    assert!(exported.contains(line), "{}", record["uuid"]);
                }
            }
        }
    }
}

#[test]
fn names_and_headers_are_those_of_the_seed() {
    let home = TestHome::new();
    home.write_session("-home-dev-app/0123abcd.jsonl", FORKED);
    let out = home.path().join("out");
    run_export(&home.claude_dir(), &out, &[]);
    let names: Vec<String> =
        exported_files(&out).keys().map(|name| name.to_string_lossy().into_owned()).collect();
    assert_eq!(
        names,
        [
            ".ramus-export",
            "index.md",
            "transcript_0123abcd_path1_abandoned.md",
            "transcript_0123abcd_path2.md"
        ]
    );
    let abandoned = file_text(&out, "transcript_0123abcd_path1_abandoned.md");
    for line in [
        "# CLAUDE CODE SESSION TRANSCRIPT",
        "Session ID: 0123abcd",
        "Path: 1 of 2",
        "Status: ABANDONED",
        "Fork Point: b",
        "Fork Kind: edit",
        "Total Messages: 4",
        "an abandoned answer",
    ] {
        assert!(abandoned.contains(line), "{line}\n{abandoned}");
    }
    assert!(!abandoned.contains("Contains Compact"));
    assert!(!abandoned.contains("the last answer"));
    let active = file_text(&out, "transcript_0123abcd_path2.md");
    assert!(active.contains("Status: ACTIVE"), "{active}");
    assert!(active.contains("](transcript_0123abcd_path1_abandoned.md)"), "{active}");
    assert!(active.contains("<summary>⏺ <b>Bash</b> <code>ls</code>"), "{active}");
    let only = run_export(&home.claude_dir(), &home.path().join("active"), &["--paths", "active"]);
    assert_eq!(only["transcripts"].as_array().unwrap().len(), 1);
    let none = run_ramus(&home.claude_dir(), &["export", "--tools", "none", "0123abcd@2"]);
    let none = String::from_utf8(none.stdout).unwrap();
    assert!(none.contains("the last answer") && !none.contains("Bash"), "{none}");
}

#[test]
fn every_format_gives_the_same_bytes_twice() {
    let home = TestHome::new();
    home.write_session("-home-dev-app/0123abcd.jsonl", FORKED);
    home.write_session("-home-dev-web/4567abcd.jsonl", "x user hello\ny < x assistant hi");
    for format in ["md", "html", "json", "jsonl", "txt"] {
        let out = home.path().join(format);
        run_export(&home.claude_dir(), &out, &["--format", format]);
        let first = exported_files(&out);
        run_export(&home.claude_dir(), &out, &["--format", format]);
        assert_eq!(first, exported_files(&out), "{format}");
        assert!(first.keys().all(|name| !name.to_string_lossy().contains(".ramus-e8")));
        let machine = home.path().to_string_lossy().into_owned();
        for (name, bytes) in first {
            assert!(!String::from_utf8_lossy(&bytes).contains(&machine), "{}", name.display());
        }
    }
    let json = file_text(&home.path().join("json"), "app/transcript_0123abcd_path2.json");
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["schema"], "ramus.transcript/1");
    let kinds: Vec<&str> = json["turns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|turn| turn["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["prompt", "answer", "fork", "prompt", "answer", "answer"]);
}

/// What a transcript may hold to get out of its place.
const HOSTILE: [&str; 6] = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</details></section></main><h1>out</h1>",
    "[x](javascript:alert(1)) ![y](http://evil.example/p.png)",
    "\"><svg onload=alert(1)>",
    "<!-- and on",
];

#[test]
fn nothing_in_a_transcript_runs() {
    let home = TestHome::new();
    let mut lines = Vec::new();
    let mut parent = String::new();
    for (n, hostile) in HOSTILE.iter().enumerate() {
        lines.push(format!("p{n}{parent} user {hostile}"));
        lines.push(format!("a{n} < p{n} assistant {hostile}"));
        lines.push(format!("c{n} < a{n} call:t{n}:Bash {hostile}"));
        lines.push(format!("r{n} < c{n} result:t{n} {hostile}"));
        parent = format!(" < r{n}");
    }
    lines.push(format!("e{parent} user <b>title</b>"));
    lines.push("f < e assistant done".to_owned());
    home.write_session("-home-<b>-app/<img onerror=x>.jsonl", &lines.join("\n"));
    let out = home.path().join("out");
    let summary = run_export(&home.claude_dir(), &out, &["--format", "html", "--tools", "full"]);
    assert_eq!(summary["transcripts"][0]["file"], "transcript__img_onerror_x_.html");
    for name in ["transcript__img_onerror_x_.html", "index.html"] {
        let page = file_text(&out, name);
        for tag in ["<img", "<svg", "<b>title", "<!-- ", "<h1>out", "javascript:"] {
            assert!(
                !page.contains(&format!("href=\"{tag}"))
                    && (tag == "javascript:" || !page.contains(tag)),
                "{tag} in {name}"
            );
        }
        assert_eq!(page.matches("<script").count(), 1, "{name}");
        assert!(page.contains("default-src 'none'"));
        assert!(!page.contains("http://evil.example/p.png\">") || !page.contains("<img"));
    }
    let page = file_text(&out, "transcript__img_onerror_x_.html");
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert_eq!(page.matches("<main>").count(), page.matches("</main>").count());
    assert_eq!(page.matches("<section").count(), page.matches("</section>").count());
    assert_eq!(page.matches("<details").count(), page.matches("</details>").count());
    run_export(&home.claude_dir(), &home.path().join("md"), &["--tools", "full"]);
    let md = file_text(&home.path().join("md"), "transcript__img_onerror_x_.md");
    let outside = without_fences(&md);
    for tag in ["<script", "<img", "<svg", "</section", "<!--"] {
        assert!(!outside.contains(tag), "{tag} in\n{outside}");
    }
    assert_eq!(outside.matches("<details>").count(), outside.matches("</details>").count());
}

/// Returns Markdown without its fenced code, each fence closed by one as long.
#[track_caller]
fn without_fences(text: &str) -> String {
    let mut out = Vec::new();
    let mut open: Option<String> = None;
    for line in text.lines() {
        let bare = line.trim_start_matches("> ").trim_end();
        let ticks: String = bare.chars().take_while(|char| *char == '`').collect();
        match &open {
            Some(fence) if bare == *fence => open = None,
            Some(_) => {}
            None if ticks.len() >= 3 => open = Some(ticks),
            None => out.push(line),
        }
    }
    assert_eq!(open, None, "a fence stays open");
    out.join("\n")
}

/// Opens a page in a real browser; returns its DOM and the console output.
fn browse_page(dir: &Path, address: &str) -> Option<(String, String)> {
    let run = std::process::Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"])
        .args(["--disable-background-networking", "--disable-component-update"])
        .args(["--enable-logging=stderr", "--v=0", "--dump-dom"])
        .arg(format!("--user-data-dir={}", dir.join("profile").display()))
        .arg(address)
        .output();
    let Ok(output) = run else {
        testkit::skip_test("chromium is not installed");
        return None;
    };
    let console = String::from_utf8_lossy(&output.stderr);
    let console = console.lines().filter(|line| line.contains("CONSOLE"));
    let said = console.collect::<Vec<_>>().join("\n");
    Some((String::from_utf8_lossy(&output.stdout).into_owned(), said))
}

#[test]
fn a_browser_shows_everything_and_runs_nothing() {
    let home = TestHome::new();
    home.write_session("-home-dev-app/0123abcd.jsonl", FORKED);
    let hostile = "</title><script>console.log(1)</script><img src=x onerror=console.log(2)>";
    home.write_session(
        "-home-dev-web/4567abcd.jsonl",
        &format!("x user {hostile}\ny < x assistant {hostile} and words"),
    );
    let out = home.path().join("out");
    run_export(&home.claude_dir(), &out, &["--format", "html"]);
    for (name, bytes) in exported_files(&out) {
        if name.extension().is_none_or(|ending| ending != "html") {
            continue;
        }
        let address = format!("file://{}", out.join(&name).display());
        let Some((shown, console)) = browse_page(home.path(), &address) else { return };
        assert_eq!(console, "", "{}", name.display());
        assert_eq!(shown.matches("<script").count(), 1, "{}", name.display());
        let page = String::from_utf8(bytes).unwrap();
        for href in page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            let beside = out.join(&name).parent().unwrap().join(href);
            assert!(href.starts_with('#') || beside.is_file(), "{href} in {}", name.display());
        }
    }
    let search = format!("file://{}#q=first%20question", out.join("index.html").display());
    let Some((shown, _)) = browse_page(home.path(), &search) else { return };
    assert_eq!(shown.matches("<div class=\"session\">").count(), 1, "{shown}");
    assert_eq!(shown.matches("<div class=\"session\" hidden=\"\">").count(), 1, "{shown}");
}

#[test]
fn fences_inside_fences_stay_inside() {
    let home = TestHome::new();
    let record = |uuid: &str, parent: Value, kind: &str, text: &str| {
        let message = value!({"role": kind, "content": [{"type": "text", "text": text}]});
        value!({"parentUuid": parent, "isSidechain": false, "type": kind, "message": message,
            "uuid": uuid, "timestamp": format!("2026-01-01T00:00:0{}.000Z", uuid.len()), "sessionId": "s"})
        .to_string()
    };
    let lines = [
        record("a", Value::Null, "user", "look:\n````\n```\ncode"),
        record("bb", value!("a"), "assistant", "# Big\n```rust\nfn main() {}\n"),
        record("ccc", value!("bb"), "user", "## You · fake\n</details>\nend"),
        record("dddd", value!("ccc"), "assistant", "fine"),
    ];
    home.write_file("-home-dev-app/5555abcd.jsonl", lines.join("\n") + "\n");
    let output = run_ramus(&home.claude_dir(), &["export", "5555abcd"]);
    let md = String::from_utf8(output.stdout).unwrap();
    let outside = without_fences(&md);
    let heads: Vec<&str> = outside.lines().filter(|line| line.starts_with("## ")).collect();
    assert_eq!(heads.len(), 4, "{md}");
    assert!(outside.contains("### Big"), "{md}");
    assert!(!outside.contains("</details>"), "{md}");
}

#[test]
fn a_foreign_directory_is_refused() {
    let home = TestHome::new();
    home.write_session("-home-dev-app/0123abcd.jsonl", FORKED);
    let out = home.path().join("mine");
    fs::create_dir(&out).unwrap();
    fs::write(out.join("letter.txt"), "dear").unwrap();
    let dir = out.to_string_lossy().into_owned();
    let refused = run_ramus(&home.claude_dir(), &["export", "--out", &dir]);
    assert_eq!(refused.status.code(), Some(2));
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("not from a ramus export") && said.contains("--force"), "{said}");
    assert_eq!(exported_files(&out).len(), 1);
    let forced = run_ramus(&home.claude_dir(), &["export", "--out", &dir, "--force"]);
    assert!(forced.status.success());
    assert_eq!(fs::read(out.join("letter.txt")).unwrap(), b"dear");
    let file = out.join("letter.txt").to_string_lossy().into_owned();
    let no_dir = run_ramus(&home.claude_dir(), &["export", "--out", &file]);
    assert_eq!(no_dir.status.code(), Some(2));
}

const CALLING: &str = "
a        user           find the leak
b < a    call:t1:Task   look around
c < b    result:t1:a1   found it
d < c    assistant      it is fixed
";

#[test]
fn agents_come_along_and_calls_point_to_them() {
    let home = TestHome::new();
    home.write_session("-p/11111111-aaaa.jsonl", CALLING);
    home.write_session(
        "-p/11111111-aaaa/subagents/agent-a1.jsonl",
        "x side-user @2 look around\ny < x side-assistant @3 a leak, here",
    );
    home.write_session("-p/11111111-aaaa/subagents/agent-w.jsonl", "w side-user @2 Warmup");
    let claude = home.claude_dir();
    for (format, link) in [("md", "(agents/agent_a1.md)"), ("html", "\"agents/agent_a1.html\"")] {
        let out = home.path().join(format);
        let summary = run_export(&claude, &out, &["--format", format]);
        assert_eq!(summary["transcripts"].as_array().unwrap().len(), 1);
        assert_eq!(summary["agents"].as_array().unwrap().len(), 1);
        let transcript = file_text(&out, &format!("transcript_11111111-aaaa.{format}"));
        assert!(transcript.contains(link), "{transcript}");
        assert!(file_text(&out, &format!("agents/agent_a1.{format}")).contains("a leak, here"));
        assert!(file_text(&out, &format!("index.{format}")).contains("agents/agent_a1"));
    }
    let out = home.path().join("json");
    run_export(&claude, &out, &["--format", "json"]);
    let transcript: Value =
        serde_json::from_str(&file_text(&out, "transcript_11111111-aaaa.json")).unwrap();
    assert_eq!(transcript["turns"][1]["parts"][0]["agent_file"], "agents/agent_a1.json");
    let out = home.path().join("none");
    run_export(&claude, &out, &["--agents", "none"]);
    assert!(!out.join("agents").exists());
    assert!(!file_text(&out, "transcript_11111111-aaaa.md").contains("agent_a1"));
}

/// Two branches, each of which calls an agent in the same file, as old clients wrote them.
const INLINE: &str = "
a        user            find the leak
b < a    call:t1:Task    look around
x        side-user       look around
y < x    side-assistant  a leak, here
c < b    result:t1       found it
e < a    call:t2:Task    look elsewhere
z        side-user       look elsewhere
v < z    side-assistant  nothing there
w        side-user       Warmup
f < e    result:t2       found nothing
g < f    assistant       it is fixed
";

#[test]
fn agents_inside_a_sessions_file_have_transcripts_too() {
    let home = TestHome::new();
    home.write_session("-p/11111111-aaaa.jsonl", INLINE);
    // A resumed copy contains the same agents.
    home.write_session("-p/22222222-bbbb.jsonl", &format!("{INLINE}h < g user @60 thanks"));
    let names = |summary: &Value| -> Vec<String> {
        let agents = summary["agents"].as_array().unwrap().iter();
        agents.map(|agent| agent["file"].as_str().unwrap().to_owned()).collect()
    };
    for format in ["md", "html", "json", "jsonl", "txt"] {
        let out = home.path().join(format);
        let summary = run_export(&home.claude_dir(), &out, &["--format", format]);
        assert_eq!(summary["transcripts"].as_array().unwrap().len(), 2, "{format}");
        let expected = ["x", "z"].map(|id| format!("agents/agent_{id}.{format}"));
        assert_eq!(names(&summary), expected);
        assert_eq!(summary["agents"][0]["session"], "x");
        let agent = file_text(&out, &expected[0]);
        assert!(agent.contains("look around") && agent.contains("a leak, here"), "{agent}");
        assert!(!agent.contains("nothing there") && !agent.contains("it is fixed"), "{agent}");
    }
    let md = home.path().join("md");
    let head = file_text(&md, "agents/agent_x.md");
    for row in
        ["Session ID: x  ", "Path: 1 of 1  ", "Agent Of: 11111111-aaaa  ", "Title: look around  "]
    {
        assert!(head.lines().any(|line| line == row), "{row}\n{head}");
    }
    assert!(file_text(&md, "index.md").contains("agents/agent_z.md"));
    let main = file_text(&md, "transcript_22222222-bbbb_path2.md");
    assert!(main.contains("[Agent transcript](agents/agent_z.md)"), "{main}");
    // Of one conversation only what it calls comes along.
    let one = home.path().join("one");
    let summary = run_export(&home.claude_dir(), &one, &["1111@1", "--format", "json"]);
    assert_eq!(names(&summary), ["agents/agent_x.json"]);
    let main = summary["transcripts"][0]["file"].as_str().unwrap();
    let main: Value = serde_json::from_str(&file_text(&one, main)).unwrap();
    let turns = main["turns"].as_array().unwrap().iter();
    let calls: Vec<&Value> = turns.filter_map(|turn| turn["parts"][0].get("agent_file")).collect();
    assert_eq!(calls, ["agents/agent_x.json"]);
}

#[test]
fn what_an_earlier_export_wrote_goes_when_it_does_not_belong() {
    let home = TestHome::new();
    home.write_session("-p/11111111-aaaa.jsonl", FORKED);
    home.write_session("-p/22222222-bbbb.jsonl", "z user hello\ny < z assistant hi");
    let out = home.path().join("out");
    run_export(&home.claude_dir(), &out, &[]);
    fs::write(out.join("mine.txt"), "mine").unwrap();
    // A name that leads out of the directory is none of ours.
    fs::write(home.path().join("precious"), "precious").unwrap();
    let marker = file_text(&out, ".ramus-export");
    fs::write(out.join(".ramus-export"), format!("{marker}../precious\n")).unwrap();
    run_export(&home.claude_dir(), &out, &["2222"]);
    let left: Vec<PathBuf> = exported_files(&out).into_keys().collect();
    let expected = [".ramus-export", "index.md", "mine.txt", "transcript_22222222-bbbb.md"];
    assert_eq!(left, expected.map(PathBuf::from));
    assert!(home.path().join("precious").exists());
}

#[test]
fn several_paths_need_a_directory_and_one_does_not() {
    let home = TestHome::new();
    home.write_session("-home-dev-app/0123abcd.jsonl", FORKED);
    let several = run_ramus(&home.claude_dir(), &["export"]);
    assert_eq!(several.status.code(), Some(2));
    assert!(String::from_utf8(several.stderr).unwrap().contains("--out"));
    let one = run_ramus(&home.claude_dir(), &["export", "0123abcd@1", "--format", "txt"]);
    let one = String::from_utf8(one.stdout).unwrap();
    assert!(one.starts_with("CLAUDE CODE SESSION TRANSCRIPT\n\nSession ID: 0123abcd\n"), "{one}");
    assert!(one.contains("an abandoned answer"));
    let nothing = run_ramus(&home.claude_dir(), &["export", "--since", "2030-01-01"]);
    assert_eq!(nothing.status.code(), Some(1));
    let nonsense = run_ramus(&home.claude_dir(), &["export", "--since", "soon"]);
    assert_eq!(nonsense.status.code(), Some(2));
}

#[test]
fn secrets_are_taken_out_of_every_format() {
    let home = TestHome::new();
    let key = format!("ghp_{}", "a1B2".repeat(9));
    let prompt = format!("use {key} as ann@example.org in /home/ann/work");
    home.write_session(
        "-home-ann-work/0123abcd.jsonl",
        &format!(
            "a user {prompt}\nb < a assistant with {key}\nc < a user again {key}\nd < c assistant #m {key}\n\
             e < d call:t1:Bash #m ls\nf < e result:t1 src\ng < f assistant #m and {key}"
        ),
    );
    for format in ["md", "html", "json", "jsonl", "txt"] {
        let out = home.path().join(format);
        let summary = run_export(&home.claude_dir(), &out, &["--format", format, "--redact"]);
        // Once for each record, though one is on two paths and the reply of three records is read in parts.
        assert_eq!(summary["redactions"]["github-pat"], 5, "{format} {summary}");
        assert!(summary["redactions"]["email-address"].as_u64().unwrap() >= 1);
        for (name, bytes) in exported_files(&out) {
            let page = String::from_utf8(bytes).unwrap();
            for secret in [key.as_str(), "ann@example.org", "/home/ann"] {
                assert!(!page.contains(secret), "{secret} in {}", name.display());
            }
        }
    }
    let plain = run_export(&home.claude_dir(), &home.path().join("plain"), &[]);
    assert_eq!(plain["redactions"], Value::Null);
}

#[test]
fn secrets_are_taken_out_of_titles_names_and_headers() {
    let home = TestHome::new();
    let key = format!("ghp_{}", "a1B2".repeat(9));
    let dir = home.claude_dir().join("projects").join(format!("-work-{key}"));
    fs::create_dir_all(&dir).unwrap();
    let record = |uuid: &str, parent: Value, text: &str| {
        serde_json::json!({"parentUuid": parent, "type": "user", "uuid": uuid, "cwd": format!("/work/{key}"),
            "gitBranch": format!("fix/{key}"), "version": "2.1.0", "sessionId": "s", "timestamp": "2026-01-01T10:00:00.000Z",
            "message": {"role": "user", "content": text}})
    };
    let lines = [
        record("a", Value::Null, "PGPASSWORD=hunter22 psql").to_string(),
        record("b", "a".into(), r#"{"user":"x","password":"hunter22"}"#).to_string(),
        record("c", "b".into(), "curl -u me:hunter22 https://x.dev").to_string(),
        serde_json::json!({"type": "custom-title", "customTitle": format!("about {key} and password=hunter22"), "sessionId": "s"}).to_string(),
    ];
    fs::write(dir.join(format!("session-{key}.jsonl")), lines.join("\n")).unwrap();
    for format in ["md", "html", "json", "jsonl", "txt"] {
        let out = home.path().join(format);
        let summary = run_export(&home.claude_dir(), &out, &["--format", format, "--redact"]);
        assert!(!summary.to_string().contains(&key), "{summary}");
        for (name, bytes) in exported_files(&out) {
            let page = String::from_utf8(bytes).unwrap();
            for secret in [key.as_str(), "hunter22"] {
                assert!(!page.contains(secret), "{secret} in {}", name.display());
                assert!(!name.to_string_lossy().contains(secret), "{}", name.display());
            }
        }
    }
}

#[test]
fn a_page_has_an_outline_filters_tokens_and_outcomes() {
    let home = TestHome::new();
    let hostile = "x\" onload=\"alert(1)";
    let time = |n: usize| format!("2026-01-01T00:00:{n:02}.000Z");
    let user = |uuid: &str, parent: Value, n: usize, content: Value| {
        value!({"parentUuid": parent, "type": "user", "uuid": uuid, "sessionId": "s", "timestamp": time(n),
            "message": {"role": "user", "content": content}})
    };
    let assistant = |uuid: &str, parent: &str, n: usize, content: Value| {
        value!({"parentUuid": parent, "type": "assistant", "uuid": uuid, "sessionId": "s", "timestamp": time(n),
            "message": {"role": "assistant", "id": format!("m-{uuid}"), "model": "claude-opus-5", "content": content,
                "usage": {"input_tokens": 10, "output_tokens": 1234, "cache_read_input_tokens": 45_000}}})
    };
    let said = |text: &str| value!([{"type": "text", "text": text}]);
    let run = value!([{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": format!("make {}", "x".repeat(300))}}]);
    let result = value!([{"type": "tool_result", "tool_use_id": "t1", "content": "one\ntwo\n<b>three</b>\nall done"}]);
    let mut answered = user("r", value!("c"), 3, result);
    answered["toolUseResult"] = value!({"stdout": "one\ntwo\n<b>three</b>\nall done", "stderr": "", "interrupted": false, "isImage": false});
    let lines = [
        user(hostile, Value::Null, 0, value!("<i>first</i> prompt")),
        assistant(
            "b",
            hostile,
            1,
            said("```rust\nfn main() { /* <hi> */ }\n```\n```\"><script>\n<script>\n```"),
        ),
        user("p2", value!("b"), 2, value!("second prompt")),
        assistant("c", "p2", 3, run),
        answered,
        assistant("d", "r", 4, said("done")),
        user("p3", value!("b"), 9, value!("edited prompt")),
        assistant("e", "p3", 10, said("other")),
    ];
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    home.write_file("-home-dev-app/6666abcd.jsonl", lines.join("\n") + "\n");
    let out = home.path().join("out");
    run_export(&home.claude_dir(), &out, &["--format", "html"]);
    let page = file_text(&out, "transcript_6666abcd_path1_abandoned.html");
    let outline = &page[page.find("<nav id=\"outline\"").unwrap()..];
    assert!(outline.contains("&lt;i&gt;first&lt;/i&gt; prompt</a>"), "{outline}");
    assert!(outline.contains("<a href=\"#p2\">second prompt</a>"), "{outline}");
    assert!(outline.contains("2 prompts, 1 fork"), "{outline}");
    // Every link of the outline leads somewhere.
    for href in outline.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
        assert!(page.contains(&format!("id=\"{href}\"")), "{href}");
    }
    for kind in ["prompts", "replies", "tools", "thinking"] {
        assert!(page.contains(&format!("id=\"show-{kind}\"")), "{kind}");
    }
    assert!(page.contains("<span class=\"k\">fn</span>"), "{page}");
    assert!(page.contains("1.2k out · 45k in"), "{page}");
    assert!(
        page.contains(
            "✓ 4 lines</span><span class=\"tail\">two\n&lt;b&gt;three&lt;/b&gt;\nall done</span>"
        ),
        "{page}"
    );
    assert!(!page.contains(" onload=\"alert") && page.matches("<script").count() == 1, "{page}");
    let index = file_text(&out, "index.html");
    assert!(index.contains("2 conversations of 1 session in 1 project"), "{index}");
}

/// A list of all siblings in each of them would take the square of their number.
#[test]
fn many_siblings_take_space_in_proportion() {
    let written = |siblings: usize| {
        let home = TestHome::new();
        let way = |n| format!("u{n} < b user way {n}\nv{n} < u{n} assistant done");
        let ways: Vec<String> = (0..siblings).map(way).collect();
        let short = format!("a user go\nb < a assistant yes\n{}", ways.join("\n"));
        home.write_session("-home-dev-app/11111111-0000-4000-8000-000000000000.jsonl", &short);
        let out = home.path().join("out");
        run_export(&home.claude_dir(), &out, &["--format", "md"]);
        exported_files(&out).values().map(Vec::len).sum::<usize>()
    };
    let (some, many) = (written(200), written(800));
    assert!(many < some * 5, "{some} {many}");
}

#[test]
fn a_session_that_cannot_be_read_for_a_moment_keeps_its_transcript() {
    let home = testkit::TestHome::new();
    let first = "aaaa1111-0000-4000-8000-000000000000";
    let second = "bbbb1111-0000-4000-8000-000000000000";
    for id in [first, second] {
        home.write_session(&format!("-app/{id}.jsonl"), "a user hello\nb < a assistant hi");
    }
    // Different names, so that both are written.
    let path =
        home.write_session(&format!("-app/{second}.jsonl"), "c user other\nd < c assistant yes");
    let out = home.path().join("out");
    let args = ["export", "--out", &out.to_string_lossy()];
    assert_eq!(crate::run_ramus(&home.claude_dir(), &args).status.code(), Some(0));
    let before = exported_files(&out);
    let text = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    // A killed export leaves incomplete files.
    std::fs::create_dir(out.join(".ramus-partial-2147483646-x")).unwrap();
    std::fs::write(out.join(".ramus-partial-2147483646-x/part"), "half").unwrap();
    assert_eq!(crate::run_ramus(&home.claude_dir(), &args).status.code(), Some(2));
    let kept: Vec<_> = exported_files(&out).into_keys().collect();
    assert_eq!(kept, before.keys().cloned().collect::<Vec<_>>());
    std::fs::remove_dir(&path).unwrap();
    std::fs::write(&path, text).unwrap();
    assert_eq!(crate::run_ramus(&home.claude_dir(), &args).status.code(), Some(0));
    assert_eq!(exported_files(&out), before);
    // One that is gone for good is removed as before.
    std::fs::remove_file(&path).unwrap();
    assert_eq!(crate::run_ramus(&home.claude_dir(), &args).status.code(), Some(0));
    assert!(exported_files(&out).len() < before.len());
}
