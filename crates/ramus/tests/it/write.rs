//! Commands that write: output, refusals, and what a crash leaves.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use testkit::{TestHome, jsonl};

use crate::{ramus_command, run_json, run_ramus};

const ID: &str = "11111111-0000-4000-8000-000000000001";
const PROJECT: &str = "-home-dev-app";

const TWO: &str = "
    a      user       v=2.1.325 tune the harp
    b < a  assistant  which harp
    c < b  user       the gold one
    d < c  assistant  tuned
    e < b  user       the small one
    f < e  assistant  tuned as well
";

fn write_scene(short: &str) -> (TestHome, PathBuf) {
    let home = TestHome::new();
    let path = home.write_session(&format!("{PROJECT}/{ID}.jsonl"), short);
    (home, path)
}

fn stderr_text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn stdout_text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn resume_leaf(claude: &Path, session: &str) -> String {
    let answer = run_json(claude, &["sessions"]);
    let sessions = answer["sessions"].as_array().unwrap();
    let found = sessions.iter().find(|found| found["id"] == session).unwrap();
    found["resume_leaf"].as_str().unwrap().to_owned()
}

#[test]
fn goto_moves_the_resume_point_and_undo_moves_it_back() {
    let (home, path) = write_scene(TWO);
    let before = fs::read(&path).unwrap();
    assert_eq!(resume_leaf(&home.claude_dir(), ID), "f");
    let output = run_ramus(&home.claude_dir(), &["goto", "1111:d", "--yes"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr_text(&output));
    assert_eq!(stdout_text(&output), format!("claude --resume {ID}\n"));
    assert_eq!(resume_leaf(&home.claude_dir(), ID), "d");
    let inside = || {
        let told = stdout_text(&run_ramus(&home.claude_dir(), &["conversations", "1111"]));
        told.lines().find(|line| line.contains("before the end")).map(str::to_owned)
    };
    assert_eq!(inside(), None);
    assert_eq!(run_ramus(&home.claude_dir(), &["goto", "1111:b", "--yes"]).status.code(), Some(0));
    assert_eq!(
        inside().unwrap(),
        "◉  11111111:b  is where Claude Code resumes, before the end of @2"
    );
    assert_eq!(run_ramus(&home.claude_dir(), &["undo", "--yes"]).status.code(), Some(0));
    assert!(fs::read(&path).unwrap().starts_with(&before));
    let output = run_ramus(&home.claude_dir(), &["undo", "--yes"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr_text(&output));
    assert_eq!(fs::read(&path).unwrap(), before);
    let output = run_ramus(&home.claude_dir(), &["undo", "--yes"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr_text(&output).contains("nothing to undo"));
}

#[test]
fn where_it_resumes_already_nothing_is_written_unless_that_does_not_last() {
    let (home, path) = write_scene(TWO);
    let before = fs::read(&path).unwrap();
    let answer = run_json(&home.claude_dir(), &["goto", "1111:f", "--yes"]);
    assert_eq!((&answer["op"], fs::read(&path).unwrap()), (&Value::Null, before));
    // A client of that age goes back to a date in the future each time.
    let late = jsonl(TWO)
        .replace("2.1.325", "2.0.74")
        .replace("2026-01-01T00:00:05", "2057-01-01T00:00:05");
    fs::write(&path, late).unwrap();
    let before = fs::read(&path).unwrap();
    assert_eq!(resume_leaf(&home.claude_dir(), ID), "f");
    let answer = run_json(&home.claude_dir(), &["goto", "1111:f", "--yes"]);
    assert_ne!(answer["session"], ID, "it is a fork");
    assert_eq!(fs::read(&path).unwrap(), before);
}

/// A conversation that continues after a compaction.
const COMPACTED: &str = "
    a      user       v=2.1.50 first
    b < a  assistant  #m1 one
    c < b  boundary
    d < c  compacted  in short
    e < d  user       second
    f < e  assistant  #m2 two
    g < f  user       third
    h < g  assistant  #m3 three
";

#[test]
fn a_plan_counts_messages_that_are_not_resumed() {
    let (home, _) = write_scene(COMPACTED);
    for command in ["goto", "fork"] {
        let answer = run_json(&home.claude_dir(), &[command, "1111:f", "--dry-run"]);
        assert_eq!(answer["left_out"], 2, "{command}");
        let talk = stderr_text(&run_ramus(&home.claude_dir(), &[command, "1111:f", "--dry-run"]));
        let words = "2 messages before it are not loaded when Claude Code resumes";
        assert!(talk.contains(words), "{command}: {talk}");
        let answer = run_json(&home.claude_dir(), &[command, "1111:b", "--dry-run"]);
        assert_eq!(answer["left_out"], 0, "{command}");
    }
}

#[test]
fn what_the_client_would_send_begins_at_the_compaction() {
    let (home, _) = write_scene(COMPACTED);
    let roles_and_texts = |address: &str| -> Vec<String> {
        let answer = run_json(&home.claude_dir(), &["show", "--as-client", address]);
        assert_eq!(answer["schema"], "ramus.show.client/1");
        let messages = answer["messages"].as_array().unwrap().iter();
        let text = |content: &serde_json::Value| {
            content.as_str().or(content[0]["text"].as_str()).unwrap_or_default().to_owned()
        };
        messages.map(|one| format!("{} {}", one["role"], text(&one["content"]))).collect()
    };
    let sent = ["in short", "second", "two", "third", "three"];
    assert_eq!(roles_and_texts("1111").len(), 4);
    assert!(
        roles_and_texts("1111").iter().zip([0, 2, 3, 4]).all(|(said, at)| said.contains(sent[at]))
    );
    assert_eq!(roles_and_texts("1111:b"), ["\"user\" first", "\"assistant\" one"]);
    let text = stdout_text(&run_ramus(&home.claude_dir(), &["show", "--as-client", "1111:b"]));
    assert_eq!(text, "user\n  first\n\nassistant\n  one\n\n");
}

#[test]
fn branch_is_goto_by_session_and_uuid() {
    let (home, _) = write_scene(TWO);
    let answer = run_json(&home.claude_dir(), &["branch", "1111", "c", "--yes"]);
    assert_eq!(answer["schema"], "ramus.goto/1");
    assert_eq!(answer["resume_leaf"], "c");
    assert_eq!(answer["op"], 1);
    assert_eq!(answer["resume_command"], format!("claude --resume {ID}"));
    assert!(Path::new(answer["backup"].as_str().unwrap()).is_file());
    assert_eq!(resume_leaf(&home.claude_dir(), ID), "c");
}

#[test]
fn nothing_is_written_without_a_yes() {
    let (home, path) = write_scene(TWO);
    let before = fs::read(&path).unwrap();
    for command in [
        &["goto", "1111:d"][..],
        &["fork", "1111:d"],
        &["rename", "1111", "Harps"],
        &["trash", "1111"],
    ] {
        let output = run_ramus(&home.claude_dir(), command);
        assert_eq!(output.status.code(), Some(2), "{command:?}");
        assert!(stderr_text(&output).contains("--yes"), "{command:?}");
        assert_eq!(stdout_text(&output), "");
    }
    assert_eq!(fs::read(&path).unwrap(), before);
    assert!(!home.path().join(".local").exists());
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn a_dry_run_prints_the_bytes_and_writes_none() {
    let (home, path) = write_scene(TWO);
    let before = fs::read(&path).unwrap();
    let output = run_ramus(&home.claude_dir(), &["goto", "1111:d", "--dry-run"]);
    assert_eq!(output.status.code(), Some(0));
    let lines: Vec<Value> =
        stdout_text(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["parentUuid"], "d");
    assert_eq!(lines[2]["explicit"], true);
    let output = run_ramus(&home.claude_dir(), &["fork", "1111:d", "--dry-run"]);
    assert_eq!(stdout_text(&output).lines().count(), 6, "four records, a title, a pointer");
    assert_eq!(fs::read(&path).unwrap(), before);
    assert!(!home.path().join(".local").exists());
}

#[test]
fn a_fork_is_a_separate_session() {
    let (home, path) = write_scene(TWO);
    let before = fs::read(&path).unwrap();
    let answer = run_json(&home.claude_dir(), &["fork", "1111:d", "--title", "Gold", "--yes"]);
    let new = answer["session"].as_str().unwrap().to_owned();
    assert_eq!(resume_leaf(&home.claude_dir(), &new), "d");
    assert_eq!(fs::read(&path).unwrap(), before);
    let text = fs::read_to_string(answer["file"].as_str().unwrap()).unwrap();
    let records: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(records[..4].iter().all(|record| record["sessionId"] == new));
    assert_eq!(records[3]["forkedFrom"]["sessionId"], ID);
    assert_eq!(records[3]["forkedFrom"]["messageUuid"], "d");
    assert_eq!(records[4]["customTitle"], "Gold");
}

#[test]
fn a_fork_goes_into_another_project() {
    let (home, _) = write_scene(TWO);
    let other = home.path().join("other");
    fs::create_dir(&other).unwrap();
    let other = ramus_store::real_path::real_path(&other).unwrap();
    let other = other.to_string_lossy();
    let answer = run_json(&home.claude_dir(), &["fork", "1111", "--into", &other, "--yes"]);
    let file = PathBuf::from(answer["file"].as_str().unwrap());
    let name = file.parent().unwrap().file_name().unwrap().to_string_lossy().into_owned();
    assert!(name.ends_with("-other"), "{name}");
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(text.matches(&format!(r#""cwd":"{other}""#)).count(), 4);
    let output = run_ramus(&home.claude_dir(), &["fork", "1111", "--into", "nowhere", "--yes"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr_text(&output).contains("nowhere"));
}

#[test]
fn an_agents_conversation_becomes_a_main_one() {
    let (home, _) =
        write_scene("a user v=2.1.325 go\nb < a call:t1:Task look\nc < b result:t1:a1b2c3 seen");
    home.write_session(
        &format!("{PROJECT}/{ID}/subagents/agent-a1b2c3.jsonl"),
        "x side-user v=2.1.325 look\ny < x side-assistant v=2.1.325 seen",
    );
    let answer = run_json(&home.claude_dir(), &["fork", "agent-a1b2c3", "--yes"]);
    let new = answer["session"].as_str().unwrap().to_owned();
    assert_eq!(resume_leaf(&home.claude_dir(), &new), "y");
    // Going to an agent's message cannot be done in its session; the fork is offered instead.
    let output = run_ramus(&home.claude_dir(), &["goto", "agent-a1b2c3:y", "--yes"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr_text(&output));
    assert!(stderr_text(&output).contains("sub-agent"), "{}", stderr_text(&output));
}

#[test]
fn words_find_the_message() {
    let (home, _) = write_scene(TWO);
    let answer = run_json(&home.claude_dir(), &["goto", "1111", "gold", "--yes"]);
    assert_eq!(answer["resume_leaf"], "c");
    let output = run_ramus(&home.claude_dir(), &["goto", "1111", "tuned", "--yes"]);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr_text(&output);
    assert!(said.contains("2 messages match"), "{said}");
    assert!(said.contains("the small one"), "ancestors are shown: {said}");
    let output = run_ramus(&home.claude_dir(), &["goto", "1111", "violin", "--yes"]);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_title_is_added_as_the_client_adds_it() {
    let (home, path) = write_scene(TWO);
    let before = fs::read_to_string(&path).unwrap();
    run_json(&home.claude_dir(), &["rename", "1111", "Harps", "--yes"]);
    let after = fs::read_to_string(&path).unwrap();
    let line = format!(r#"{{"type":"custom-title","customTitle":"Harps","sessionId":"{ID}"}}"#);
    assert_eq!(after, format!("{before}{line}\n"));
    let output = run_ramus(&home.claude_dir(), &["rename", "1111", "  ", "--yes"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn trash_takes_all_and_undo_brings_all_back() {
    let (home, path) = write_scene(TWO);
    home.write_file(&format!("{PROJECT}/{ID}/tool-results/x.txt"), "long");
    let answer = run_json(&home.claude_dir(), &["trash", "1111", "--yes"]);
    assert_eq!(answer["operation"], "trash");
    assert!(!path.exists());
    assert!(!path.with_extension("").exists());
    let log = run_json(&home.claude_dir(), &["log"]);
    assert_eq!(log["operations"][0]["operation"], "trash");
    run_json(&home.claude_dir(), &["undo", "1", "--yes"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), jsonl(TWO));
    assert!(path.with_extension("").join("tool-results/x.txt").exists());
}

#[test]
fn the_log_is_read_and_undone_without_any_session() {
    let (home, path) = write_scene(TWO);
    let before = fs::read(&path).unwrap();
    run_json(&home.claude_dir(), &["trash", "1111", "--yes"]);
    fs::remove_dir_all(home.claude_dir().join("projects")).unwrap();
    let log = run_json(&home.claude_dir(), &["log"]);
    assert_eq!(log["operations"][0]["operation"], "trash");
    let output = run_ramus(&home.claude_dir(), &["undo", "--yes"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr_text(&output));
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn restore_brings_back_what_was_trashed() {
    let (home, path) = write_scene(TWO);
    let before = fs::read(&path).unwrap();
    run_json(&home.claude_dir(), &["trash", "1111", "--yes"]);
    assert!(!path.exists());
    let output = run_ramus(&home.claude_dir(), &["restore", "1111", "--at", "9"]);
    assert!(
        stderr_text(&output).contains("use `ramus undo 1` to restore it"),
        "{}",
        stderr_text(&output)
    );
    let answer = run_json(&home.claude_dir(), &["restore", "1111", "--yes"]);
    assert_eq!(answer["undoes"], 1);
    assert_eq!(fs::read(&path).unwrap(), before);
    let output = run_ramus(&home.claude_dir(), &["restore", "1111", "--yes"]);
    assert_eq!(output.status.code(), Some(2), "it is not in the trash any more");
    assert!(
        stderr_text(&output).contains("`ramus log` lists operations"),
        "{}",
        stderr_text(&output)
    );
}

#[test]
fn what_went_on_since_can_be_forked_or_restored() {
    let (home, path) = write_scene(TWO);
    run_json(&home.claude_dir(), &["goto", "1111:d", "--yes"]);
    let mut text = fs::read_to_string(&path).unwrap();
    text.push_str("{\"type\":\"mode\",\"mode\":\"plan\"}\n");
    fs::write(&path, &text).unwrap();
    let output = run_ramus(&home.claude_dir(), &["undo", "--yes"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr_text(&output).contains("ramus undo 1 --fork"), "{}", stderr_text(&output));
    let answer = run_json(&home.claude_dir(), &["undo", "1", "--fork", "--yes"]);
    assert_eq!(answer["resume_leaf"], "f");
    run_json(&home.claude_dir(), &["restore", "1111", "--at", "1", "--yes"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), jsonl(TWO));
    // What was there before is a version, too.
    let log = run_json(&home.claude_dir(), &["log"]);
    let op = log["operations"][0]["op"].to_string();
    run_json(&home.claude_dir(), &["restore", "1111", "--at", &op, "--yes"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn targets_that_a_client_cannot_reach_are_forked_with_a_reason() {
    let pinned = jsonl(&TWO.replace("v=2.1.325", "v=2.0.74"))
        .replace("2026-01-01T00:00:03", "2999-01-01T00:00:03");
    let home = TestHome::new();
    let path = home.write_file(&format!("{PROJECT}/{ID}.jsonl"), &pinned);
    let output = run_ramus(&home.claude_dir(), &["goto", "1111:f"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr_text(&output).contains("dated in the future"), "{}", stderr_text(&output));
    let answer = run_json(&home.claude_dir(), &["goto", "1111:f", "--yes"]);
    let new = answer["session"].as_str().unwrap();
    assert_ne!(new, ID);
    assert_eq!(resume_leaf(&home.claude_dir(), new), "f");
    assert_eq!(fs::read_to_string(&path).unwrap(), pinned);
}

#[test]
fn a_full_disk_leaves_everything_as_it_was() {
    let (home, path) = write_scene(TWO);
    // More than a block, so that the limit is reached while adding to it.
    let mut text = jsonl(TWO);
    text.push_str(&"\n".repeat(8192 - text.len() - 20));
    fs::write(&path, &text).unwrap();
    for command in ["goto 1111:d", "rename 1111 Harps", "fork 1111:d"] {
        let script = format!(
            "trap '' XFSZ; ulimit -f 8; exec {} --claude-dir {} {command} --yes",
            env!("CARGO_BIN_EXE_ramus"),
            home.claude_dir().display()
        );
        let output = Command::new("bash")
            .args(["-c", &script])
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", home.path())
            .output()
            .unwrap();
        if command.starts_with("fork") {
            continue;
        }
        assert_eq!(output.status.code(), Some(2), "{command}: {}", stderr_text(&output));
        assert!(stderr_text(&output).contains("cannot write"), "{}", stderr_text(&output));
        assert_eq!(fs::read_to_string(&path).unwrap(), text, "{command}");
    }
    assert!(
        run_json(&home.claude_dir(), &["log"])["operations"]
            .as_array()
            .unwrap()
            .iter()
            .all(|op| { op["operation"] == "fork" || op["done"] == false })
    );
}

/// Runs a script where it may mount file systems; `None`: this machine does not let us.
fn with_mounts(home: &TestHome, script: &str) -> Option<Output> {
    let run = |script: &str| {
        Command::new("unshare")
            .args(["--mount", "bash", "-ec", script])
            .env("HOME", home.path())
            .env("RAMUS", env!("CARGO_BIN_EXE_ramus"))
            .env("CLAUDE", home.claude_dir())
            .output()
    };
    let may = run("mount -t tmpfs tmpfs \"$CLAUDE/projects\"");
    if !may.is_ok_and(|output| output.status.success()) {
        testkit::skip_test("file systems cannot be mounted here");
        return None;
    }
    Some(run(script).unwrap())
}

#[test]
fn a_full_or_read_only_file_system_leaves_everything_as_it_was() {
    let (home, path) = write_scene(TWO);
    let session = format!("projects/{PROJECT}/{ID}.jsonl");
    let script = format!(
        r#"
        cp "$CLAUDE/{session}" "$HOME/copy"
        mount -t tmpfs -o size=32k tmpfs "$CLAUDE/projects"
        mkdir "$CLAUDE/projects/{PROJECT}"
        cp "$HOME/copy" "$CLAUDE/{session}"
        printf '%2000s\n' >> "$CLAUDE/{session}"
        # Whole pages, so that the session cannot grow into what is left of its last one.
        truncate -s 8192 "$CLAUDE/{session}"
        cp "$CLAUDE/{session}" "$HOME/copy"
        cat /dev/zero > "$CLAUDE/projects/filler" 2>/dev/null || true
        for command in "goto 1111:d" "rename 1111 Harps" "fork 1111:d"; do
            "$RAMUS" --claude-dir "$CLAUDE" $command --yes 2>> "$HOME/said" && exit 1
            cmp "$HOME/copy" "$CLAUDE/{session}"
            ls -A "$CLAUDE/projects/{PROJECT}" >> "$HOME/left"
        done
        mount -o remount,ro "$CLAUDE/projects"
        for command in "goto 1111:d" "fork 1111:d" "trash 1111"; do
            "$RAMUS" --claude-dir "$CLAUDE" $command --yes 2>> "$HOME/said" && exit 1
            cmp "$HOME/copy" "$CLAUDE/{session}"
        done
        "#
    );
    let Some(output) = with_mounts(&home, &script) else { return };
    let said = fs::read_to_string(home.path().join("said")).unwrap_or_default();
    assert!(output.status.success(), "{}\n{said}", stderr_text(&output));
    assert_eq!(said.matches("cannot write").count(), 6, "{said}");
    assert!(said.contains("No space left") && said.contains("Read-only"), "{said}");
    let left = fs::read_to_string(home.path().join("left")).unwrap();
    assert_eq!(left, format!("{ID}.jsonl\n").repeat(3));
    assert_eq!(fs::read_to_string(&path).unwrap(), jsonl(TWO));
}

#[test]
fn a_killed_process_leaves_old_bytes_or_complete_new_ones() {
    let (home, path) = write_scene(TWO);
    let run = || {
        Command::new(env!("CARGO_BIN_EXE_ramus"))
            .env_clear()
            .env("HOME", home.path())
            .args(["--claude-dir", &home.claude_dir().to_string_lossy()])
            .args(["goto", "1111:d", "--yes", "--force"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    };
    let mut moved = 0;
    for round in 0..200u64 {
        let before = fs::read_to_string(&path).unwrap();
        let mut child = run();
        // Spread over the time it takes; a different moment each round.
        std::thread::sleep(Duration::from_micros(round * 7919 % 24_000));
        let _ = child.kill();
        child.wait().unwrap();
        let log = run_json(&home.claude_dir(), &["log"]);
        let done = log["operations"].as_array().unwrap().first().map(|last| last["done"] == true);
        let after = fs::read_to_string(&path).unwrap();
        if after != before {
            moved += 1;
            assert_eq!(done, Some(true), "round {round}");
            let added = after.strip_prefix(&before).unwrap();
            assert_eq!(added.lines().count(), 3, "round {round}");
            fs::write(&path, &before).unwrap();
        }
        let left = fs::read_dir(path.parent().unwrap()).unwrap().count();
        assert_eq!(left, 1, "round {round}: nothing else lies about");
    }
    // Both kinds of rounds must have been there, else this shows nothing.
    assert!(moved > 0 && moved < 200, "{moved}");
}

#[test]
fn a_completed_write_is_a_success_whatever_else_cannot_be_read() {
    let (home, path) = write_scene(TWO);
    // A directory in the place of a session cannot be read, not even by root.
    fs::create_dir_all(home.claude_dir().join("projects/-home-dev-other/x.jsonl")).unwrap();
    let output = run_ramus(&home.claude_dir(), &["rename", "1111", "Harps", "--yes"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr_text(&output));
    assert!(stderr_text(&output).contains("Warning: "), "{}", stderr_text(&output));
    assert!(fs::read_to_string(&path).unwrap().contains("Harps"));
    assert_eq!(run_ramus(&home.claude_dir(), &["sessions"]).status.code(), Some(2));
}

#[test]
fn a_fork_without_an_agent_that_cannot_be_read_is_refused() {
    let (home, path) =
        write_scene("a user v=2.1.325 go\nb < a call:t1:Task look\nc < b result:t1:a1b2c3 seen");
    let agents = path.with_extension("").join("subagents");
    fs::create_dir_all(agents.join("agent-a1b2c3.jsonl")).unwrap();
    let output = run_ramus(&home.claude_dir(), &["fork", "1111:c", "--yes"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr_text(&output));
    assert!(stderr_text(&output).contains("agent-a1b2c3.jsonl"), "{}", stderr_text(&output));
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 2, "nothing new");
}

#[cfg(unix)]
#[test]
fn who_does_not_own_a_session_cannot_undo_in_it() {
    use std::os::unix::fs::PermissionsExt;
    let (home, path) = write_scene(TWO);
    run_json(&home.claude_dir(), &["goto", "1111:d", "--yes"]);
    let text = fs::read(&path).unwrap();
    // Another user may write to everything, and owns nothing.
    let open = |path: &Path| {
        let mode = if path.is_dir() { 0o777 } else { 0o666 };
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    let mut dirs = vec![home.path().to_owned()];
    while let Some(dir) = dirs.pop() {
        open(&dir);
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { dirs.push(path) } else { open(&path) }
        }
    }
    let output = Command::new("setpriv")
        .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
        .arg(env!("CARGO_BIN_EXE_ramus"))
        .args(["--no-cache", "--claude-dir", &home.claude_dir().to_string_lossy(), "undo", "--yes"])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home.path())
        .output();
    let said = output.as_ref().map(stderr_text).unwrap_or_default();
    if output.is_err() || said.contains("setpriv:") {
        testkit::skip_test("ramus cannot be run as another user here");
        return;
    }
    assert_eq!(output.unwrap().status.code(), Some(2), "{said}");
    assert!(said.contains("belongs to another user"), "{said}");
    assert_eq!(fs::read(&path).unwrap(), text);
    assert_eq!(run_json(&home.claude_dir(), &["log"])["operations"].as_array().unwrap().len(), 1);
}

#[test]
fn trash_beside_another_file_system_comes_back_exactly() {
    let (home, _) = write_scene(TWO);
    home.write_file(&format!("{PROJECT}/{ID}/tool-results/x.txt"), "long");
    let script = format!(
        r#"
        mkdir -p "$HOME/.local/state"
        mount -t tmpfs tmpfs "$HOME/.local/state"
        chmod 750 "$CLAUDE/projects/{PROJECT}/{ID}/tool-results"
        touch -d 2020-02-02 "$CLAUDE/projects/{PROJECT}/{ID}/tool-results" "$CLAUDE/projects/{PROJECT}/{ID}" "$CLAUDE/projects/{PROJECT}/{ID}.jsonl"
        list() {{ find "$CLAUDE/projects/{PROJECT}" -mindepth 1 -not -path '*/.ramus-trash*' -printf '%p %m %T@ %s
' | sort; }}
        list > "$HOME/before"
        "$RAMUS" --no-cache --claude-dir "$CLAUDE" trash 1111 --yes
        test ! -e "$CLAUDE/projects/{PROJECT}/{ID}.jsonl"
        test ! -e "$CLAUDE/projects/{PROJECT}/{ID}"
        "$RAMUS" --no-cache --claude-dir "$CLAUDE" undo --yes
        list > "$HOME/after"
        cmp "$HOME/before" "$HOME/after"
        "$RAMUS" --no-cache --claude-dir "$CLAUDE" goto 1111:d --yes
        "$RAMUS" --no-cache --claude-dir "$CLAUDE" undo --yes
        list > "$HOME/after"
        cmp "$HOME/before" "$HOME/after"
        "#
    );
    let Some(output) = with_mounts(&home, &script) else { return };
    assert!(output.status.success(), "{}{}", stdout_text(&output), stderr_text(&output));
}

#[test]
fn an_unfinished_operation_is_reported_and_given_up() {
    let (home, path) = write_scene(TWO);
    home.write_file(&format!("{PROJECT}/{ID}/tool-results/x.txt"), "long");
    run_json(&home.claude_dir(), &["trash", "1111", "--yes"]);
    let trash = home.path().join(".local/state/ramus/trash/1");
    fs::rename(trash.join(format!("2-{ID}")), path.with_extension("")).unwrap();
    // As if it had been killed after the first move, and the place were taken by something else since.
    let journal = home.path().join(".local/state/ramus/journal.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    let begun = text.lines().next().unwrap();
    let begun = begun.replace(
        &format!(r#""from":"{}""#, path.display()),
        &format!(r#""from":"{}/x""#, journal.display()),
    );
    fs::write(&journal, format!("{begun}\n")).unwrap();
    let output = run_ramus(&home.claude_dir(), &["log"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr_text(&output));
    assert!(stdout_text(&output).contains("unfinished"), "{}", stdout_text(&output));
    assert!(stderr_text(&output).contains("ramus log --repair"), "{}", stderr_text(&output));
    home.write_session(&format!("{PROJECT}/22222222-0000-4000-8000-000000000002.jsonl"), TWO);
    let output = run_ramus(&home.claude_dir(), &["rename", "2222", "Harps", "--yes"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr_text(&output));
    let output = run_ramus(&home.claude_dir(), &["log", "--repair"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr_text(&output));
    assert!(stdout_text(&output).contains("given up"), "{}", stdout_text(&output));
    assert!(!stderr_text(&run_ramus(&home.claude_dir(), &["log"])).contains("repair"));
}

#[cfg(target_os = "linux")]
#[test]
fn an_operation_whose_answer_cannot_be_printed_is_done_all_the_same() {
    for format in [&["--yes"][..], &["--yes", "--json"]] {
        let (home, _) = write_scene(TWO);
        let args = [&["fork", "1111:d"], format].concat();
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = ramus_command(&home.claude_dir(), &args).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr_text(&output));
        let said = stderr_text(&output);
        assert!(said.contains("operation 1 is done, but the result cannot be printed"), "{said}");
        assert_eq!(run_json(&home.claude_dir(), &["log"])["operations"][0]["done"], true);
    }
}
