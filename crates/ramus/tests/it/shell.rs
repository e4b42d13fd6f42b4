//! What makes ramus easy to type: aliases, help, suggestions, fields, settings, completions, the status line.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::json;
use testkit::TestHome;
use testkit::skip_test;

use crate::{ramus_command, run_json, run_ramus};

const FIRST: &str = "-home-dev-app/11111111-aaaa-4000-8000-000000000000.jsonl";
const SECOND: &str = "-home-dev-app/22222222-bbbb-4000-8000-000000000000.jsonl";

fn test_home() -> TestHome {
    let home = TestHome::new();
    home.write_session(
        FIRST,
        "a user @1 one\nb < a assistant @2 1\nc < b user @3 two\nd < b user @4 three\ne < d assistant @5 3\n- title Fix the Connection pool",
    );
    home.write_session(SECOND, "f user @20 six\ng < f assistant @21 6\n- title Paint it\tblue");
    home
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn run_with_input(claude: &Path, args: &[&str], input: &str) -> Output {
    let mut command = ramus_command(claude, args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn aliases_and_help_do_what_their_commands_do() {
    let home = test_home();
    let claude = home.claude_dir();
    for (alias, command) in [
        (&["ls"][..], &["sessions"][..]),
        (&["cat", "1111"], &["show", "1111"]),
        (&["grep", "three"], &["find", "three"]),
        (&["search", "three", "-n", "1"], &["find", "three", "--limit", "1"]),
        (&["help", "show"], &["show", "--help"]),
    ] {
        let (alias, command) = (run_ramus(&claude, alias), run_ramus(&claude, command));
        assert!(alias.status.success(), "{}", text(&alias.stderr));
        assert_eq!(text(&alias.stdout), text(&command.stdout));
    }
}

#[test]
fn a_mistyped_command_or_option_is_answered_with_the_nearest_one() {
    let home = test_home();
    for (args, expected) in [
        (&["sesions"][..], "sessions"),
        (&["show", "--thinkin"], "--thinking"),
        // These take names that begin with a hyphen, such as `-home-dev-app`.
        (&["sessions", "--limt"], "--limit"),
        (&["usage", "--sinc"], "--since"),
        (&["sessions", "--limt", "3"], "--limit"),
        (&["find", "x", "--contxt"], "--context"),
    ] {
        let output = run_ramus(&home.claude_dir(), args);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr.contains("similar") && stderr.contains(expected), "{args:?}: {stderr}");
    }
}

#[test]
fn chosen_fields_are_separated_by_tabs_in_a_pipe() {
    let home = test_home();
    let printed = |args: &[&str]| text(&run_ramus(&home.claude_dir(), args).stdout);
    assert_eq!(
        printed(&["sessions", "-o", "title,messages"]),
        "Paint it blue\t2\nFix the Connection pool\t5\n"
    );
    assert_eq!(
        printed(&["sessions", "-o", "id,branches", "--header", "-n", "1"]),
        "id\tbranches\n22222222-bbbb-4000-8000-000000000000\t1\n"
    );
    let costs = printed(&["sessions", "-o", "cost"]);
    assert!(costs.lines().all(|cost| cost.parse::<f64>().is_ok()), "{costs:?}");
    assert_eq!(printed(&["projects", "-o", "name,sessions"]), "-home-dev-app\t2\n");
    assert_eq!(printed(&["conversations", "1111", "-o", "n,status"]), "1\tabandoned\n2\tactive\n");
    let refused = run_ramus(&home.claude_dir(), &["sessions", "-o", "colour"]);
    let stderr = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr.contains("no field \"colour\"") && stderr.contains("git_branch"), "{stderr}");
    // Those that have to be asked for, and the short names.
    assert!(stderr.contains("cost, cost_usd,") && stderr.contains("active,"), "{stderr}");
}

#[test]
fn a_hyphen_reads_addresses_from_standard_input() {
    let home = test_home();
    let claude = home.claude_dir();
    let shown = run_with_input(&claude, &["show", "-", "--json"], "1111\tFix\n\n2222\n");
    let shown = text(&shown.stdout);
    let session = |line: &str| -> String {
        let answer: serde_json::Value = serde_json::from_str(line).unwrap();
        answer["session"].as_str().unwrap()[..8].to_owned()
    };
    let sessions: Vec<String> = shown.lines().map(session).collect();
    assert_eq!(sessions, ["11111111", "22222222"], "{shown}");
    let pack = home.path().join("both.tar.zst");
    let args = ["pack", "-", "--json", "-o", pack.to_str().unwrap()];
    let packed = run_with_input(&claude, &args, "1111\n2222\n");
    let packed: serde_json::Value = serde_json::from_slice(&packed.stdout).unwrap();
    assert_eq!(packed["sessions"].as_array().unwrap().len(), 2);
    let nothing = run_with_input(&claude, &["show", "-"], "\n");
    assert_eq!(nothing.status.code(), Some(1));
}

#[test]
fn a_hyphen_makes_several_sessions_the_scope_of_a_command() {
    let home = test_home();
    let third = "-home-dev-lib/33333333-cccc-4000-8000-000000000000.jsonl";
    home.write_session(third, "h user @30 seven six\ni < h assistant @31 7\n- title Drain it");
    let claude = home.claude_dir();
    // One from each project; the third session of the history is in none of the answers.
    let named = "2222\n33333333-cccc-4000-8000-000000000000\tDrain it\n2222\n";
    let answer = |args: &[&str]| -> serde_json::Value {
        let output = run_with_input(&claude, &[args, &["--json"]].concat(), named);
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error} for {args:?}: {}", text(&output.stderr)))
    };
    let stats = answer(&["stats", "-"]);
    assert_eq!((&stats["sessions"], &stats["scope"]["kind"]), (&json!(2), &json!("sessions")));
    assert_eq!(stats["scope"]["sessions"].as_array().unwrap().len(), 2);
    assert_eq!(answer(&["usage", "-"])["totals"]["messages"], 2);
    assert_eq!(answer(&["check", "-"])["files"], 2);
    assert_eq!(answer(&["conversations", "-"])["conversations"].as_array().unwrap().len(), 2);
    assert_eq!(answer(&["find", "six", "--in", "-", "--count"])["messages"], 2);
    let out = home.path().join("out");
    let exported = answer(&["export", "-", "--out", out.to_str().unwrap()]);
    let of = |row: &serde_json::Value| row["session"].as_str().unwrap()[..8].to_owned();
    let mut ids: Vec<String> = exported["transcripts"].as_array().unwrap().iter().map(of).collect();
    ids.sort();
    assert_eq!(ids, ["22222222", "33333333"]);
    let trees = run_with_input(&claude, &["tree", "-", "--json"], "1111\n3333\n");
    assert_eq!(text(&trees.stdout).lines().count(), 2);
    let pinned = run_with_input(&claude, &["pin", "-"], "1111\n3333\n");
    assert!(pinned.status.success(), "{}", text(&pinned.stderr));
    let pinned = run_json(&claude, &["sessions", "--pinned"]);
    assert_eq!(pinned["sessions"].as_array().unwrap().len(), 2);
    let part = run_with_input(&claude, &["stats", "-"], "1111@2\n");
    assert_eq!(part.status.code(), Some(2));
    assert!(text(&part.stderr).contains("part of a session"), "{}", text(&part.stderr));
    let moved = run_with_input(&claude, &["trash", "-", "--yes", "--force"], "2222\n3333\n");
    assert!(moved.status.success(), "{}", text(&moved.stderr));
    let left = run_json(&claude, &["sessions"]);
    assert_eq!(left["sessions"].as_array().unwrap().len(), 1);
}

#[test]
fn settings_are_shown_with_their_origin_and_bad_ones_named_with_their_line() {
    let home = test_home();
    let config = home.path().join("config.toml");
    std::fs::write(&config, "# mine\npager = \"more\"\ntheem = 1\n").unwrap();
    let run = |args: &[&str]| {
        let mut command = ramus_command(&home.claude_dir(), args);
        command.env("RAMUS_CONFIG", &config).env("RAMUS_CLAUDE", "other").output().unwrap()
    };
    let answer: serde_json::Value =
        serde_json::from_slice(&run(&["config", "--json"]).stdout).unwrap();
    let of = |key: &str| {
        let rows = answer["settings"].as_array().unwrap();
        rows.iter().find(|row| row["key"] == key).unwrap().clone()
    };
    assert_eq!(
        of("pager"),
        json!({"key": "pager", "value": "more", "from": "file", "line": 2, "name": null})
    );
    assert_eq!(
        (&of("resume_program")["value"], &of("resume_program")["name"]),
        (&json!("other"), &json!("RAMUS_CLAUDE"))
    );
    assert_eq!(of("scope")["from"], "default");
    assert!(answer["unknown"][0].as_str().unwrap().contains("config.toml:3: unknown key `theem`"));
    assert_eq!(text(&run(&["config", "--path"]).stdout).trim(), config.to_str().unwrap());
    let warned = run(&["sessions"]);
    assert!(warned.status.success());
    assert!(text(&warned.stderr).contains("config.toml:3: unknown key `theem`"));
    std::fs::write(&config, "\nscope = 7\n").unwrap();
    let refused = run(&["sessions"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        text(&refused.stderr).contains("config.toml:2: `scope` must be"),
        "{}",
        text(&refused.stderr)
    );
    // Commands that help to fix them still run, and report the error.
    for args in [&["config", "--path"][..], &["config"], &["completions", "bash"]] {
        let done = run(args);
        assert!(done.status.success(), "{args:?}");
        assert!(text(&done.stderr).contains("config.toml:2"), "{}", text(&done.stderr));
    }
    // The status line must not fail, so it shows what it can.
    assert!(run(&["statusline"]).status.success());
}

#[test]
fn the_status_line_never_fails() {
    let home = test_home();
    let claude = home.claude_dir();
    let path = claude.join("projects").join(FIRST);
    let input =
        json!({"session_id": "x", "transcript_path": path, "cost": {"total_cost_usd": 9.0}});
    let output = run_with_input(&claude, &["statusline"], &input.to_string());
    let line = text(&output.stdout);
    assert!(output.status.success() && output.stderr.is_empty(), "{}", text(&output.stderr));
    assert!(line.starts_with("branch 2 of 2, 1 fork · "), "{line}");
    assert!(line.contains(" context · $"), "{line}");
    for input in
        ["", "{", "[]", "{\"transcript_path\": 3}", "{\"transcript_path\": \"/nowhere.jsonl\"}"]
    {
        let output = run_with_input(&claude, &["statusline", "--no-cache"], input);
        assert!(output.status.success() && output.stderr.is_empty(), "{input:?}");
    }
    let nowhere = run_with_input(Path::new("/nowhere"), &["statusline"], &input.to_string());
    assert!(nowhere.status.success() && nowhere.stderr.is_empty());
}

/// Asks as the registered function of bash does.
fn completed(home: &TestHome, words: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ramus"));
    command
        .env_clear()
        .env("HOME", home.path())
        .env("CLAUDE_CONFIG_DIR", home.claude_dir())
        .env("COMPLETE", "bash")
        .env("_CLAP_IFS", "\n")
        .env("_CLAP_COMPLETE_INDEX", (words.len() - 1).to_string())
        .env("_CLAP_COMPLETE_COMP_TYPE", "9")
        .arg("--")
        .args(words);
    text(&command.output().unwrap().stdout)
}

#[test]
fn a_shell_is_offered_ids_with_titles_and_projects() {
    let home = test_home();
    let sessions = completed(&home, &["ramus", "show", ""]);
    assert!(sessions.contains("11111111  (Fix the Connection pool)"), "{sessions}");
    assert!(sessions.contains("22222222  (Paint it blue)"), "{sessions}");
    assert!(!sessions.contains("--"), "options hide the sessions: {sessions}");
    assert!(completed(&home, &["ramus", "show", "--to"]).contains("--tools"));
    let options = completed(&home, &["ramus", "log", ""]);
    assert!(options.contains("--repair"), "{options}");
    assert_eq!(completed(&home, &["ramus", "show", "11"]), "11111111");
    assert_eq!(completed(&home, &["ramus", "goto", "POOL"]), "11111111");
    let scopes = completed(&home, &["ramus", "usage", "22"]);
    assert_eq!(scopes, "22222222");
    let commands = completed(&home, &["ramus", "sess"]);
    assert!(commands.contains("sessions"), "{commands}");
    let nothing = completed(&TestHome::new(), &["ramus", "show", "x"]);
    assert!(!nothing.contains("11111111"));
}

#[test]
fn a_shell_is_offered_operations_tags_and_fields() {
    let home = test_home();
    for args in [&["rename", "1111", "Blue paint", "--yes"][..], &["tag", "1111", "colour"]] {
        let output = run_ramus(&home.claude_dir(), args);
        assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
    }
    for words in [&["ramus", "undo", ""][..], &["ramus", "restore", "1111", "--at", "1"]] {
        assert!(completed(&home, words).starts_with('1'), "{words:?}: {}", completed(&home, words));
    }
    for words in [&["ramus", "tag", "2222", "co"][..], &["ramus", "sessions", "--tag", "c"]] {
        assert_eq!(completed(&home, words), "colour", "{words:?}");
    }
    assert_eq!(completed(&home, &["ramus", "sessions", "-o", "id,tit"]), "id,title");
    assert_eq!(completed(&home, &["ramus", "sessions", "-o", "cost_"]), "cost_usd");
    assert_eq!(
        completed(&home, &["ramus", "conversations", "-o", "fork_"]),
        "fork_kind\nfork_point"
    );
    assert_eq!(completed(&home, &["ramus", "projects", "-o", "sess"]), "sessions");
}

#[test]
fn two_words_of_one_title_show_the_session_once() {
    let home = test_home();
    let shown = run_ramus(&home.claude_dir(), &["show", "connection", "pool", "2222"]);
    let headings = text(&shown.stdout).lines().filter(|line| line.starts_with("── ")).count();
    assert_eq!(headings, 2, "{}", text(&shown.stdout));
}

/// Presses Tab in a real shell: runs the function that the printed lines register.
#[test]
fn real_bash_completes_session_ids() {
    if Command::new("bash").arg("--version").output().is_err() {
        return skip_test("there is no bash");
    }
    let home = test_home();
    let script = "source <(ramus completions bash)
        COMP_WORDS=(ramus show '') COMP_CWORD=2 COMP_TYPE=9
        function=$(complete -p ramus | sed 's/.*-F \\([^ ]*\\).*/\\1/')
        $function ramus '' show 2>/dev/null
        printf '%s\\n' \"${COMPREPLY[@]}\"";
    let programs = Path::new(env!("CARGO_BIN_EXE_ramus")).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("bash")
        .env_clear()
        .env("PATH", format!("{}:{path}", programs.display()))
        .env("HOME", home.path())
        .env("CLAUDE_CONFIG_DIR", home.claude_dir())
        .args(["--norc", "-c", script])
        .output()
        .unwrap();
    let offered = text(&output.stdout);
    assert!(
        offered.contains("11111111  (Fix the Connection pool)"),
        "{offered}\n{}",
        text(&output.stderr)
    );
}

/// fish asks as a person does, without a terminal.
#[test]
fn real_fish_completes_ids_with_titles_and_projects() {
    if Command::new("fish").arg("--version").output().is_err() {
        return skip_test("there is no fish");
    }
    let home = test_home();
    let programs = Path::new(env!("CARGO_BIN_EXE_ramus")).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let offered = |typed: &str| {
        let script = format!("ramus completions fish | source; complete -C '{typed}'");
        let output = Command::new("fish")
            .env_clear()
            .env("PATH", format!("{}:{path}", programs.display()))
            .env("HOME", home.path())
            .env("CLAUDE_CONFIG_DIR", home.claude_dir())
            .args(["--no-config", "-c", &script])
            .output()
            .unwrap();
        text(&output.stdout)
    };
    let sessions = offered("ramus show ");
    assert!(sessions.contains("11111111\tFix the Connection pool"), "{sessions}");
    assert!(offered("ramus goto 22").starts_with("22222222"));
    let projects = offered("ramus sessions app");
    assert!(projects.contains("/home/dev/app"), "{projects}");
}

#[test]
fn several_sessions_that_fit_are_listed_with_their_titles() {
    let home = test_home();
    home.write_session(
        "-home-dev-lib/22223333-cccc-4000-8000-000000000000.jsonl",
        "h user @30 seven\n- title Drain the pool",
    );
    let claude = home.claude_dir();
    for (typed, expected) in [
        ("2222", &["22222222", "Paint it", "22223333", "Drain the pool"][..]),
        ("2", &["22222222", "22223333"]),
        ("the pool", &["11111111", "Fix the Connection pool", "22223333", "Drain the pool"]),
    ] {
        let output = run_ramus(&claude, &["show", typed]);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{typed}: {stderr}");
        assert!(expected.iter().all(|word| stderr.contains(word)), "{typed}: {stderr}");
    }
    for typed in ["1", "fix POOL", "connection", "FIX THE CONNECTION POOL"] {
        let shown = run_json(&claude, &["show", typed]);
        assert_eq!(shown["session"], "11111111-aaaa-4000-8000-000000000000", "{typed}");
    }
}
