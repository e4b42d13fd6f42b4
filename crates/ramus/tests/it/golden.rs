//! Golden files of the JSON output and the help.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use crate::{run_json, run_ramus};

/// Writes the demo and returns the directory it lies in.
fn write_demo() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let made = Command::new(env!("CARGO_BIN_EXE_ramus"))
        .arg("demo")
        .arg(dir.path().join("demo"))
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    dir
}

/// Holds the answer to a command, with what differs from run to run taken out.
#[track_caller]
fn check_golden(name: &str, args: &[&str]) {
    let dir = write_demo();
    let mut answer = run_json(&dir.path().join("demo"), args);
    if let Some(retention) = answer.get_mut("retention") {
        *retention = Value::Null;
    }
    for session in answer.get_mut("sessions").and_then(Value::as_array_mut).into_iter().flatten() {
        assert!(session["deleted_after"].take().is_string());
    }
    let text = serde_json::to_string_pretty(&answer)
        .unwrap()
        .replace(&*dir.path().to_string_lossy(), "[dir]");
    insta::assert_snapshot!(name, text);
}

#[test]
fn projects() {
    check_golden("projects", &["projects"]);
}

#[test]
fn sessions() {
    check_golden("sessions", &["sessions", "--all"]);
}

#[test]
fn conversations() {
    check_golden("conversations", &["conversations", "7ea9"]);
}

#[test]
fn show() {
    check_golden("show", &["show", "10ad"]);
}

#[test]
fn files() {
    check_golden("files", &["files", "7ea9"]);
    check_golden("files_diff", &["files", "7ea9@1", "--diff", "7ea9"]);
}

#[test]
fn usage() {
    check_golden("usage", &["usage", "--utc", "--by", "branch"]);
}

#[test]
fn tree() {
    check_golden("tree", &["tree", "7ea9"]);
}

#[test]
fn stats() {
    check_golden("stats", &["stats"]);
}

#[test]
fn check() {
    check_golden("check", &["check"]);
}

#[test]
fn the_demo_fills_an_empty_directory_and_never_writes_over_anything() {
    let home = tempfile::tempdir().unwrap();
    let run_demo = |dir: &str| {
        let dir = home.path().join(dir);
        Command::new(env!("CARGO_BIN_EXE_ramus")).arg("demo").arg(dir).output().unwrap()
    };
    let hint = |output: Output| {
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    fs::create_dir_all(home.path().join("empty")).unwrap();
    assert_eq!(run_demo("empty").status.code(), Some(0));
    assert!(home.path().join("empty/projects").is_dir());
    assert!(hint(run_demo("empty")).contains("empty sessions`"));

    fs::create_dir_all(home.path().join("other/mine")).unwrap();
    assert!(hint(run_demo("other")).contains("choose another directory"));
    assert!(!home.path().join("other/projects").exists());
}

#[test]
fn reading_changes_nothing() {
    let dir = write_demo();
    let claude = dir.path().join("demo");
    let state = || {
        let mut files = Vec::new();
        let mut open = vec![claude.clone()];
        while let Some(path) = open.pop() {
            let meta = fs::metadata(&path).unwrap();
            files.push((path.clone(), meta.len(), meta.modified().unwrap()));
            if meta.is_dir() {
                open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            }
        }
        files.sort();
        files
    };
    let before = state();
    for args in [
        &["projects"][..],
        &["sessions"],
        &["conversations"],
        &["show", "7ea9", "--full"],
        &["tree", "7ea9"],
        &["stats"],
        &["check"],
    ] {
        assert_eq!(run_ramus(&claude, args).status.code(), Some(0), "{args:?}");
    }
    assert_eq!(state(), before);
}

#[test]
fn find() {
    let dir = write_demo();
    // One object a line, as hits are found.
    let output = run_ramus(&dir.path().join("demo"), &["find", "Dockerfile", "--json"]);
    let lines = String::from_utf8(output.stdout).unwrap();
    let answers = lines.lines().map(|line| {
        let answer: Value = serde_json::from_str(line).unwrap();
        serde_json::to_string_pretty(&answer).unwrap() + "\n"
    });
    let text = answers.collect::<String>().replace(&*dir.path().to_string_lossy(), "[dir]");
    insta::assert_snapshot!("find", text);
}

#[test]
fn diff() {
    check_golden("diff", &["diff", "7ea9@1", "7ea9@2"]);
}

/// Takes out of an answer what differs from run to run: new ids, the present, the scratch directory.
fn redact_paths(text: &str, home: &Path, known: &str) -> String {
    let text = text.replace(&*home.to_string_lossy(), "[dir]");
    let mut out = String::new();
    let mut ids: Vec<&str> = Vec::new();
    let mut rest = &*text;
    while let Some(char) = rest.chars().next() {
        let id = rest.get(..36).filter(|id| is_uuid(id) && *id != known);
        let time = rest.get(..24).filter(|time| is_time(time) && !time.starts_with("2026-01-01T"));
        let hash = rest.get(..18).filter(|hash| is_hash(hash));
        let length = if let Some(hash) = hash {
            out += "-[hash]";
            hash.len() - 1
        } else if let Some(id) = id {
            let n = ids.iter().position(|held| *held == id).unwrap_or(ids.len());
            if n == ids.len() {
                ids.push(id);
            }
            write!(out, "[id {}]", n + 1).unwrap();
            id.len()
        } else if let Some(time) = time {
            out += "[time]";
            time.len()
        } else {
            out.push(char);
            char.len_utf8()
        };
        rest = &rest[length..];
    }
    // People read the beginning of an id.
    for (n, id) in (1..).zip(&ids) {
        out = out.replace(&id[..8], &format!("[short {n}]"));
    }
    out
}

fn is_uuid(text: &str) -> bool {
    let is_dash = |at: usize| [8, 13, 18, 23].contains(&at);
    text.bytes().enumerate().all(|(at, byte)| match is_dash(at) {
        true => byte == b'-',
        false => byte.is_ascii_hexdigit(),
    })
}

/// Whether this is `-`, the hash of a path in 16 digits, and `-`.
fn is_hash(text: &str) -> bool {
    text.bytes().enumerate().all(|(at, byte)| match at {
        0 | 17 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    })
}

fn is_time(text: &str) -> bool {
    text.bytes().zip("0000-00-00T00:00:00.000Z".bytes()).all(|(byte, form)| match form {
        b'0' => byte.is_ascii_digit(),
        _ => byte == form,
    })
}

/// The JSON of commands that write, one after the other, and the log afterwards.
#[test]
fn writing_commands() {
    const ID: &str = "11111111-0000-4000-8000-000000000001";
    let home = testkit::TestHome::new();
    home.write_session(
        &format!("-home-dev-app/{ID}.jsonl"),
        "
        a      user       v=2.1.325 tune the harp
        b < a  assistant  which harp
        c < b  user       the gold one
        d < c  assistant  tuned
        e < b  user       the small one
        f < e  assistant  tuned as well
        ",
    );
    let mut text = String::new();
    for args in [
        &["goto", "1111:d", "--dry-run"][..],
        &["goto", "1111:d", "--yes"],
        &["goto", "1111:d", "--yes"],
        &["fork", "1111:b", "--yes"],
        &["merge", "1111@1", "1111@2", "--yes"],
        &["rename", "1111", "Two harps", "--yes"],
        &["undo", "--yes"],
        &["restore", "1111", "--yes"],
        &["trash", "1111", "--yes"],
        &["log"],
    ] {
        let answer = run_json(&home.claude_dir(), args);
        let answer = serde_json::to_string_pretty(&answer).unwrap();
        writeln!(text, "$ ramus {} --json\n{answer}\n", args.join(" ")).unwrap();
    }
    insta::assert_snapshot!("written", redact_paths(&text, home.path(), ID));
}

#[test]
fn the_whole_reference() {
    let mut text = String::new();
    for (command, help) in help_texts() {
        text = format!("{text}$ {command} --help\n{help}\n");
    }
    insta::assert_snapshot!("help", text);
}

/// Returns the help of every command, each found in the help of the one above it, so that none can be missing.
pub(crate) fn help_texts() -> Vec<(String, String)> {
    let mut texts = Vec::new();
    let mut open: Vec<Vec<String>> = vec![vec!["ramus".to_owned()]];
    while let Some(command) = open.pop() {
        let output = Command::new(env!("CARGO_BIN_EXE_ramus"))
            .env("COLUMNS", "100")
            .args(&command[1..])
            .arg("--help")
            .output()
            .unwrap();
        assert!(output.status.success(), "{command:?}");
        let help = String::from_utf8(output.stdout).unwrap();
        let mut below = list_subcommands(&help, command.len() == 1);
        below.reverse();
        open.extend(below.into_iter().map(|name| [&command[..], &[name]].concat()));
        texts.push((command.join(" "), help));
    }
    texts
}

/// Returns the subcommands that a help text lists: below `Commands:`, or in the groups of `ramus --help`.
fn list_subcommands(help: &str, grouped: bool) -> Vec<String> {
    let heading = if grouped { "Most used:" } else { "Commands:" };
    let lines = help.lines().skip_while(|line| *line != heading);
    let names = lines.take_while(|line| !line.starts_with("Options")).filter_map(|line| {
        let name = line.strip_prefix("  ")?.split(' ').next()?;
        (!name.is_empty()).then(|| name.to_owned())
    });
    names.collect()
}

#[test]
fn completions_and_manual_pages_are_made() {
    let dir = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = run_ramus(dir.path(), &["completions", shell]);
        assert!(String::from_utf8(output.stdout).unwrap().contains("COMPLETE"), "{shell}");
    }
    let pages = dir.path().join("pages");
    assert_eq!(
        run_ramus(dir.path(), &["man", "--out", pages.to_str().unwrap()]).status.code(),
        Some(0)
    );
    let mut referred = 0;
    for page in fs::read_dir(&pages).unwrap() {
        let text = fs::read_to_string(page.unwrap().path()).unwrap().replace("\\-", "-");
        for name in text.lines().filter_map(|line| line.strip_suffix("(1)")) {
            assert!(pages.join(format!("{name}.1")).exists(), "there is no page {name}");
            referred += 1;
        }
    }
    assert!(pages.join("ramus-archive-add.1").exists() && referred > 40, "{referred}");
    assert!(String::from_utf8(run_ramus(dir.path(), &["man"]).stdout).unwrap().starts_with(".ie"));
}

/// The same project has the same name wherever it is listed.
#[test]
fn a_project_has_one_name_everywhere() {
    let home = testkit::TestHome::new();
    let short = "a user Which needle?\nb < a assistant This one.";
    home.write_session("-home-dev-app/11111111-0000-4000-8000-000000000001.jsonl", short);
    for args in
        [&["projects"][..], &["sessions"], &["find", "needle"], &["usage", "--by", "project"]]
    {
        let output = crate::ramus_command(&home.claude_dir(), args)
            .env("HOME", "/home/dev")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("~/app") && !text.contains("-home-dev"), "{args:?}\n{text}");
    }
}

#[test]
fn commands_that_print_a_text_take_json_too() {
    let home = testkit::TestHome::new();
    for args in [&["guide"][..], &["completions", "bash"], &["man"]] {
        let answer = crate::run_json(&home.claude_dir(), args);
        let plain = crate::run_ramus(&home.claude_dir(), args).stdout;
        assert_eq!(answer["text"].as_str().unwrap().as_bytes(), plain, "{args:?}");
        assert_eq!(answer["schema"], format!("ramus.{}/1", args[0]));
    }
    let dir = home.claude_dir().join("sample").display().to_string();
    let answer = crate::run_json(&home.claude_dir(), &["demo", &dir]);
    assert_eq!(answer["directory"], *dir);
    assert!(answer["files"].as_u64().unwrap() > 7, "{answer}");
}
