//! The archive commands: add, list, verify, restore, forget, install.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use testkit::TestHome;

use crate::ramus_command;

/// A Claude directory with an archive of its own.
struct Kept {
    home: TestHome,
    /// The URL of a server. `None`: the archive is a file.
    server: Option<String>,
}

const SESSION: &str = "0a1b2c3d-0000-4000-8000-000000000001";

impl Kept {
    fn new() -> Self {
        let home = TestHome::new();
        home.write_session(
            &format!("-home-dev-app/{SESSION}.jsonl"),
            "a user hello\nb < a assistant hi\nc < a assistant hey",
        );
        home.write_session(
            &format!("-home-dev-app/{SESSION}/subagents/agent-a1.jsonl"),
            "x user find\n",
        );
        home.write_file(&format!("-home-dev-app/{SESSION}/tool-results/t.txt"), "a long output");
        let backup = home.claude_dir().join(format!("file-history/{SESSION}/0123456789abcdef@v1"));
        fs::create_dir_all(backup.parent().unwrap()).unwrap();
        fs::write(backup, "fn main() {}\n").unwrap();
        Self { home, server: None }
    }

    fn archive(&self) -> PathBuf {
        self.home.path().join("data/archive.db")
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = ramus_command(&self.home.claude_dir(), args);
        match &self.server {
            Some(url) => command.env("RAMUS_ARCHIVE", url),
            None => command.env("RAMUS_ARCHIVE", self.archive()),
        };
        command.env("RAMUS_STATE_DIR", self.home.path().join("state"));
        command.env("RAMUS_CACHE_SETTLE_MS", "50");
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    #[track_caller]
    fn json(&self, args: &[&str]) -> Value {
        let output = self.run(&[args, &["--json"]].concat());
        let stderr = String::from_utf8_lossy(&output.stderr);
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error} for {args:?}\n{stderr}"))
    }

    /// Returns every file of the Claude directory.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        files_below(&self.home.claude_dir())
    }

    /// Removes the session as the client's clean-up does.
    fn delete(&self) {
        let dir = self.home.claude_dir().join("projects/-home-dev-app");
        fs::remove_file(dir.join(format!("{SESSION}.jsonl"))).unwrap();
        fs::remove_dir_all(dir.join(SESSION)).unwrap();
        fs::remove_dir_all(self.home.claude_dir().join("file-history")).unwrap();
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn files_below(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![dir.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let relative = path.strip_prefix(dir).unwrap().to_owned();
                found.insert(relative, fs::read(path).unwrap());
            }
        }
    }
    found
}

#[test]
fn a_deleted_session_comes_back_whole_and_goes_again_with_undo() {
    let kept = Kept::new();
    let before = kept.files();
    let added = kept.json(&["archive", "add"]);
    assert_eq!((&added["new"], &added["skipped"]), (&4.into(), &0.into()));
    kept.delete();
    let list = kept.json(&["archive", "list", "--deleted"]);
    assert_eq!(list["sessions"][0]["id"], SESSION);
    assert_eq!(list["sessions"][0]["project"], "-home-dev-app");
    assert_eq!(list["sessions"][0]["title"], "hello");
    assert_eq!(list["sessions"][0]["files"], 4);
    assert!(
        text(&kept.run(&["archive", "list"]).stdout).lines().last().unwrap().ends_with("hello")
    );
    let refused = kept.run(&["archive", "restore", "0a1b"]);
    assert_eq!(refused.status.code(), Some(2), "nobody can be asked");
    assert!(kept.files().is_empty());
    let restored = kept.json(&["archive", "restore", "0a1b", "--yes"]);
    assert_eq!(restored["operation"], "restore");
    assert_eq!(kept.files(), before);
    assert_eq!(kept.run(&["archive", "restore", "0a1b", "--yes"]).status.code(), Some(1));
    let shown = kept.run(&["show", "0a1b"]);
    assert!(String::from_utf8_lossy(&shown.stdout).contains("hello"));
    assert!(kept.run(&["undo", "--yes"]).status.success());
    assert!(kept.files().is_empty());
}

#[test]
fn an_earlier_generation_replaces_and_undo_brings_back() {
    let kept = Kept::new();
    let path = kept.home.claude_dir().join(format!("projects/-home-dev-app/{SESSION}.jsonl"));
    let first = fs::read(&path).unwrap();
    kept.json(&["archive", "add"]);
    fs::write(&path, testkit::jsonl("z user quite another one")).unwrap();
    let second = fs::read(&path).unwrap();
    assert_eq!(kept.json(&["archive", "add"])["rewritten"], 1);
    let list = kept.json(&["archive", "list", "0a1b"]);
    assert_eq!(list["sessions"][0]["generations"].as_array().unwrap().len(), 2);
    let args = ["archive", "restore", "0a1b", "--generation", "1", "--yes"];
    let refused = kept.run(&args);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--replace"));
    assert_eq!(fs::read(&path).unwrap(), second);
    kept.json(&[&args[..], &["--replace", "--force"]].concat());
    assert_eq!(fs::read(&path).unwrap(), first);
    assert!(kept.run(&["undo", "--yes", "--force"]).status.success());
    assert_eq!(fs::read(&path).unwrap(), second);
    assert_eq!(
        kept.run(&["archive", "restore", "0a1b", "--generation", "9"]).status.code(),
        Some(2)
    );
}

#[test]
fn status_counts_what_is_not_archived() {
    let kept = Kept::new();
    let before = kept.json(&["archive"]);
    assert_eq!((&before["exists"], &before["pending_files"]), (&false.into(), &4.into()));
    assert!(!kept.archive().exists(), "asking makes nothing");
    kept.json(&["archive", "add"]);
    let after = kept.json(&["archive", "status"]);
    assert_eq!((&after["pending_files"], &after["sessions"]), (&0.into(), &1.into()));
    assert_eq!(after["files"], 4);
    assert_eq!(kept.json(&["archive", "verify"])["generations"], 4);
}

#[test]
fn an_empty_answer_says_what_is_empty() {
    let kept = Kept::new();
    let messages = |args: &[&str]| {
        let output = kept.run(args);
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(text).unwrap())
    };
    kept.json(&["archive", "add"]);
    let (code, text) = messages(&["archive", "list", "--deleted"]);
    assert_eq!(
        (code, text.contains("the files of all archived sessions are still on disk")),
        (Some(1), true),
        "{text}"
    );
    fs::remove_dir_all(kept.home.claude_dir().join("projects")).unwrap();
    fs::remove_dir_all(kept.home.claude_dir().join("file-history")).unwrap();
    kept.json(&["archive", "forget", SESSION, "--yes"]);
    let (_, text) = messages(&["archive", "list", "--deleted"]);
    assert!(text.contains("no session is archived"), "{text}");
    fs::remove_file(kept.archive()).unwrap();
    let (_, text) = messages(&["archive", "status"]);
    assert!(text.contains("Nothing is archived yet"), "{text}");
    assert!(text.contains("no files to archive") && !text.contains("Every file"), "{text}");
}

#[test]
fn a_session_archived_right_after_its_last_line_is_not_pending() {
    let kept = Kept::new();
    let pending = || {
        let mut command = kept.command(&["archive", "status", "--json"]);
        // No date of these files is old enough to be trusted.
        command.env("RAMUS_CACHE_SETTLE_MS", "3600000");
        let answer: Value = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
        answer["pending_files"].as_u64().unwrap()
    };
    kept.json(&["archive", "add"]);
    assert_eq!(pending(), 0);
    let spilled =
        kept.home.claude_dir().join(format!("projects/-home-dev-app/{SESSION}/tool-results/t.txt"));
    fs::write(&spilled, "a loud output").unwrap();
    assert_eq!(pending(), 1, "as long as before, but other words");
    fs::write(&spilled, "a long output, and more").unwrap();
    assert_eq!(pending(), 1);
}

#[test]
fn check_lists_files_that_are_due_and_not_archived() {
    let kept = Kept::new();
    let path = kept.home.claude_dir().join(format!("projects/-home-dev-app/{SESSION}.jsonl"));
    let old = std::time::SystemTime::now() - Duration::from_secs(40 * 86_400);
    fs::File::options().write(true).open(&path).unwrap().set_modified(old).unwrap();
    std::thread::sleep(Duration::from_millis(80));
    let unarchived = || kept.json(&["check"])["retention"]["unarchived"].clone();
    assert_eq!(unarchived(), 1);
    let text = String::from_utf8(kept.run(&["check"]).stdout).unwrap();
    assert!(text.contains("1 of these files is not archived"), "{text}");
    kept.json(&["archive", "add"]);
    assert_eq!(unarchived(), 0);
}

#[test]
fn an_export_is_a_claude_directory() {
    let kept = Kept::new();
    kept.json(&["archive", "add"]);
    let out = kept.home.path().join("out");
    let exported = kept.json(&["archive", "export", "--out", &out.to_string_lossy()]);
    assert_eq!(exported["files"], 4);
    assert_eq!(files_below(&out), kept.files());
    let again = kept.run(&["archive", "export", "--out", &out.to_string_lossy()]);
    assert_eq!(again.status.code(), Some(2), "nothing is written into a directory with files");
}

#[test]
fn a_deleted_claude_directory_is_read_from_the_archive() {
    let kept = Kept::new();
    kept.json(&["archive", "add"]);
    fs::remove_dir_all(kept.home.claude_dir()).unwrap();
    let sessions = kept.json(&["sessions"]);
    assert_eq!(sessions["sessions"][0]["archived"], true);
    assert!(text(&kept.run(&["show", SESSION]).stdout).contains("hello"));
    let without = kept.run(&["sessions", "--no-archive"]);
    assert!(text(&without.stderr).contains("no Claude directory"), "{without:?}");
    assert!(!kept.home.claude_dir().exists(), "reading makes nothing");
}

#[test]
fn an_archive_of_another_home_says_so() {
    let kept = Kept::new();
    kept.json(&["archive", "add"]);
    let root = ramus_store::real_path::real_path(&kept.home.claude_dir()).unwrap();
    let new = kept.home.path().join("new-home");
    fs::rename(&root, &new).unwrap();
    let run_in = |claude: &Path, args: &[&str]| {
        let mut command = ramus_command(claude, args);
        command.env("RAMUS_ARCHIVE", kept.archive()).output().unwrap()
    };
    let out = kept.home.path().join("out").display().to_string();
    for args in [&["archive", "list"][..], &["archive", "export", "--out", &out]] {
        let output = run_in(&new, args);
        let hint =
            format!("--claude-dir {}", ramus_app::change::shell_quoted(root.to_str().unwrap()));
        assert!(text(&output.stderr).contains(&hint), "{output:?}");
    }
    let named = run_in(&root, &["archive", "list"]);
    assert_eq!(named.status.code(), Some(0), "{named:?}");
}

/// Archives a session with a tool output `a.txt`, and damages that in the archive. Returns all files, too.
fn with_damaged_output() -> (Kept, BTreeMap<PathBuf, Vec<u8>>) {
    let kept = Kept::new();
    // Noise is stored as it is, cut into pages.
    let mut state = 7_u64;
    let mut noise = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    let noise: Vec<u8> = (0..200_000).map(|_| noise()).collect();
    kept.home.write_file(&format!("-home-dev-app/{SESSION}/tool-results/a.txt"), &noise);
    let files = kept.files();
    kept.json(&["archive", "add"]);
    let mut bytes = fs::read(kept.archive()).unwrap();
    let at = bytes.windows(64).position(|window| window == &noise[100_000..100_064]);
    bytes[at.expect("because noise does not compress")] ^= 1;
    fs::write(kept.archive(), bytes).unwrap();
    (kept, files)
}

#[test]
fn a_restore_names_what_is_damaged_and_brings_back_the_rest() {
    let (kept, mut files) = with_damaged_output();
    kept.delete();
    let plan = kept.run(&["archive", "restore", "0a1b", "--dry-run"]);
    let lines: Vec<String> = text(&plan.stdout).lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), 4, "the session, and three directories: {lines:?}");
    assert!(lines[0].contains(&format!("{SESSION}.jsonl: 3 lines")), "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("1 file in") && line.contains("tool-results")));
    assert!(kept.files().is_empty());
    let output = kept.run(&["archive", "restore", "0a1b", "--yes"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = text(&output.stderr);
    assert!(said.contains("a.txt") && said.contains("1 damaged file is left out"), "{said}");
    files.retain(|path, _| !path.ends_with("a.txt"));
    assert_eq!(kept.files(), files);
    let again = kept.run(&["archive", "restore", "0a1b", "--yes"]);
    assert_eq!(again.status.code(), Some(2), "{again:?}");
    assert!(text(&again.stderr).contains("a.txt"), "{again:?}");
}

#[test]
fn an_export_leaves_out_what_is_damaged() {
    let (kept, files) = with_damaged_output();
    let out = kept.home.path().join("out");
    let output = kept.run(&["archive", "export", "--out", &out.to_string_lossy()]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(text(&output.stderr).contains("a.txt"), "{output:?}");
    let mut exported = files_below(&out);
    exported.retain(|path, bytes| files.get(path) == Some(bytes));
    assert_eq!(exported.len(), files.len() - 1);
    assert_eq!(files_below(&out).len(), exported.len(), "and nothing of the damaged one");
}

#[test]
fn forgetting_asks_first() {
    let kept = Kept::new();
    kept.json(&["archive", "add"]);
    assert_eq!(kept.run(&["archive", "forget", "0a1b"]).status.code(), Some(2));
    assert_eq!(kept.json(&["archive", "forget", "0a1b", "--yes"])["files"], 4);
    assert_eq!(kept.run(&["archive", "list"]).status.code(), Some(1));
    assert_eq!(kept.json(&["archive", "status"])["files"], 0);
}

#[test]
fn the_hook_is_shown_then_added_then_taken_out() {
    let kept = Kept::new();
    let path = kept.home.claude_dir().join("settings.json");
    let settings = "{\n    \"model\": \"opus\",\n    \"hooks\": { \"Stop\": [] }\n}\n";
    fs::write(&path, settings).unwrap();
    let shown = kept.run(&["archive", "install"]);
    assert!(String::from_utf8_lossy(&shown.stderr).contains("archive add --quiet --background"));
    assert_eq!(fs::read_to_string(&path).unwrap(), settings);
    assert_eq!(kept.json(&["archive", "install", "--yes"])["installed"], true);
    let added = fs::read_to_string(&path).unwrap();
    assert!(added.starts_with("{\n    \"model\": \"opus\","), "{added}");
    assert_eq!(kept.json(&["archive", "status"])["hook"], true);
    assert_eq!(kept.json(&["archive", "install", "--yes"])["changed"], false);
    assert_eq!(kept.json(&["archive", "uninstall", "--yes"])["installed"], false);
    assert_eq!(fs::read_to_string(&path).unwrap(), settings);
    assert!(kept.run(&["undo", "--yes"]).status.success());
    assert_eq!(fs::read_to_string(&path).unwrap(), added);
    fs::write(&path, "{ half").unwrap();
    assert_eq!(kept.run(&["archive", "install", "--yes"]).status.code(), Some(2));
    assert_eq!(fs::read_to_string(&path).unwrap(), "{ half");
}

/// The timer comes with files of its own and goes with exactly these.
#[cfg(target_os = "linux")]
#[test]
fn a_timer_is_shown_then_installed_then_removed() {
    use std::os::unix::fs::PermissionsExt;
    let kept = Kept::new();
    let (bin, config) = (kept.home.path().join("bin"), kept.home.path().join("config"));
    let run = |args: &[&str]| {
        let mut command = kept.command(args);
        command.env("PATH", &bin).env("XDG_CONFIG_HOME", &config);
        command.output().unwrap()
    };
    // Without systemd there is a line for cron.
    let cron = run(&["archive", "install", "--timer", "--yes"]);
    let line = text(&cron.stdout);
    assert!(
        line.starts_with("@hourly RAMUS_ARCHIVE=") && line.ends_with("archive add --quiet\n"),
        "{line}"
    );
    fs::create_dir(&bin).unwrap();
    let systemctl = bin.join("systemctl");
    let script = |code: u8| {
        let log = kept.home.path().join("log");
        fs::write(
            &systemctl,
            format!(
                "#!/bin/sh\necho \"$@\" >> {}\nwants={}/systemd/user/timers.target.wants\n\
                 [ {code} = 0 ] || {{ /bin/mkdir -p $wants; /bin/ln -sf ../ramus-archive.timer $wants/; }}\n\
                 exit {code}\n",
                log.display(),
                config.display()
            ),
        )
        .unwrap();
        fs::set_permissions(&systemctl, fs::Permissions::from_mode(0o755)).unwrap();
    };
    script(0);
    let shown = run(&["archive", "install", "--timer"]);
    assert!(text(&shown.stderr).contains("OnCalendar=hourly"), "{shown:?}");
    assert!(!config.exists(), "a plan writes nothing");
    script(1);
    assert_eq!(run(&["archive", "install", "--timer", "--yes"]).status.code(), Some(2));
    assert!(files_below(&config).is_empty(), "what cannot be started is not left behind");
    let link = config.join("systemd/user/timers.target.wants/ramus-archive.timer");
    assert!(!link.is_symlink(), "nor is what starting made");
    script(0);
    fs::create_dir_all(config.join("systemd/user")).unwrap();
    fs::write(config.join("systemd/user/mine.timer"), "mine").unwrap();
    let before = files_below(&config);
    assert!(run(&["archive", "install", "--timer", "--yes"]).status.success());
    assert_eq!(files_below(&config).len(), 3);
    let status = run(&["archive", "status", "--json"]);
    let status: Value = serde_json::from_slice(&status.stdout).unwrap();
    assert_eq!((&status["timer"], &status["hook"]), (&true.into(), &false.into()));
    // What the timer runs does archive.
    let service = fs::read_to_string(config.join("systemd/user/ramus-archive.service")).unwrap();
    let start = service.lines().find_map(|line| line.strip_prefix("ExecStart=")).unwrap();
    let mut ran = Command::new("/bin/sh");
    ran.args(["-c", start]).env_clear().env("RAMUS_ARCHIVE", kept.archive());
    assert!(ran.env("HOME", kept.home.path()).status().unwrap().success());
    assert_eq!(kept.json(&["archive", "status"])["files"], 4);
    assert!(run(&["archive", "uninstall", "--timer", "--yes"]).status.success());
    assert_eq!(files_below(&config), before);
    let log = fs::read_to_string(kept.home.path().join("log")).unwrap();
    assert!(
        log.ends_with(
            "--user enable --now ramus-archive.timer\n--user disable --now ramus-archive.timer\n"
        ),
        "{log}"
    );
}

#[test]
fn the_status_line_asks_no_server() {
    let kept = Kept::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let input = kept.home.path().join("input.json");
    let file = kept.home.claude_dir().join(format!("projects/-home-dev-app/{SESSION}.jsonl"));
    fs::write(&input, serde_json::json!({"transcript_path": file}).to_string()).unwrap();
    let mut command = kept.command(&["statusline"]);
    command.env("RAMUS_ARCHIVE", format!("postgres://a@127.0.0.1:{port}/r?connect_timeout=1"));
    let output = command.stdin(fs::File::open(&input).unwrap()).output().unwrap();
    assert!(text(&output.stdout).contains("branch"), "{output:?}");
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "it connected");
}

#[test]
fn hook_and_timer_use_the_archive_that_was_named() {
    let kept = Kept::new();
    let mut command = kept.command(&["archive", "install", "--archive", "my archive.db"]);
    command.current_dir(kept.home.path());
    let shown = text(&command.output().unwrap().stderr);
    let archive = kept.home.path().join("my archive.db");
    let expected = format!("--archive '{}' archive add --quiet --background", archive.display());
    assert!(shown.contains(&expected) && shown.contains("--claude-dir"), "{shown}");
    let mut command = kept.command(&["archive", "install", "--timer"]);
    // Without a directory of programs there is a line for cron.
    command.env("PATH", "").env("RAMUS_ARCHIVE", "own.db").current_dir(kept.home.path());
    let shown = command.output().unwrap();
    let shown = format!("{}{}", text(&shown.stdout), text(&shown.stderr));
    assert!(shown.contains(&kept.home.path().join("own.db").display().to_string()), "{shown}");
    let url = "postgres://eve:hunter2@db.invalid/ramus";
    let refused = kept.run(&["archive", "install", "--yes", "--archive", url]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(!text(&refused.stderr).contains("hunter2"), "{refused:?}");
    assert!(!kept.home.claude_dir().join("settings.json").exists());
}

#[test]
fn what_cannot_work_in_the_background_is_refused() {
    let kept = Kept::new();
    let refused = kept.run(&["archive", "add", "-", "--background"]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
}

#[test]
fn a_deleted_session_is_no_longer_new_or_changed() {
    let kept = Kept::new();
    kept.json(&["archive", "add"]);
    kept.delete();
    assert_eq!(kept.json(&["archive", "status"])["pending_files"], 0);
    let added = kept.json(&["archive", "add"]);
    assert_eq!((&added["files"], &added["skipped"]), (&0.into(), &0.into()));
    let packed = kept.run(&["pack", "0a1b", "-o", "-"]);
    assert!(text(&packed.stderr).contains("ramus archive restore"), "{packed:?}");
    assert!(kept.run(&["archive", "restore", "0a1b", "--yes"]).status.success());
    let log = text(&kept.run(&["log"]).stdout);
    assert!(log.contains("from the archive"), "{log}");
    let line = log.lines().find(|line| line.contains("from the archive")).unwrap();
    assert_eq!(line.matches("0a1b").count(), 1, "{log}");
}

#[test]
fn a_session_from_another_machine_is_only_read() {
    let Some(server) = testkit::TestPostgres::start() else { return };
    ramus_archive::Archive::initialize_server(&server.url("postgres"), false).unwrap();
    let (kept, other) = (Kept::new(), Kept::new());
    let run = |from: &Kept, machine: &str, args: &[&str]| {
        let mut command = from.command(args);
        command.env("RAMUS_ARCHIVE", server.url("postgres")).env("RAMUS_MACHINE", machine);
        command.output().unwrap()
    };
    let added = run(&kept, "laptop", &["archive", "add", "--yes"]);
    assert!(added.status.success(), "{added:?}");
    other.delete();
    let shown = run(&other, "desk", &["show", "0a1b", "--everyone"]);
    assert!(text(&shown.stdout).contains("hello"), "{shown:?}");
    assert!(!text(&shown.stderr).contains("archive restore"), "{shown:?}");
    for args in
        [&["fork", "0a1b", "--everyone", "--yes"][..], &["pack", "0a1b", "--everyone", "-o", "-"]]
    {
        let refused = run(&other, "desk", args);
        assert_eq!(refused.status.code(), Some(2), "{refused:?}");
        let said = text(&refused.stderr);
        assert!(said.contains("only be read here") && !said.contains("restore"), "{said}");
    }
}

#[test]
fn a_password_is_neither_written_down_nor_shown() {
    let kept = Kept::new();
    let url = "postgres://eve:hunter2@db.invalid/ramus?sslmode=verify-full";
    for args in
        [&["archive", "install", "--timer"][..], &["archive", "install", "--timer", "--yes"]]
    {
        let mut command = kept.command(args);
        command.env("RAMUS_ARCHIVE", url).env("HOME", kept.home.path());
        let output = command.output().unwrap();
        let said = format!("{}{}", text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("~/.pgpass") && !said.contains("hunter2"), "{said}");
    }
    assert!(!kept.home.path().join(".config").exists());
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_is_archived() {
    let kept = Kept::new();
    fs::create_dir_all(kept.home.claude_dir().join("projects/-p/dir.jsonl")).unwrap();
    let output = kept.run(&["archive", "add", "--json"]);
    let added: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(added["new"], 4);
    fs::write(kept.archive(), "no archive").unwrap();
    let refused = kept.run(&["archive", "add"]);
    assert_eq!(refused.status.code(), Some(2));
    let message = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(message.contains("is not a ramus archive"), "{message}");
    assert_eq!(fs::read(kept.archive()).unwrap(), b"no archive");
}

/// An `add` that is killed at any moment leaves a valid archive, and the next one continues.
#[test]
fn killed_at_random_moments_nothing_is_lost_or_half() {
    let kept = Kept::new();
    for n in 0..40 {
        let text: String = (0..3_000).map(|line| format!("{{\"n\":{}}}\n", line * n)).collect();
        kept.home.write_file(&format!("-p/{n:08x}-0000-4000-8000-000000000000.jsonl"), text);
    }
    for millis in [1, 3, 6, 10, 15, 20, 30, 45, 60, 80, 100, 120] {
        let mut add = kept.command(&["archive", "add"]);
        let mut child = add.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(millis));
        child.kill().unwrap();
        child.wait().unwrap();
        let verified = kept.run(&["archive", "verify", "--json"]);
        // It may have been killed before there was an archive.
        assert!(matches!(verified.status.code(), Some(0 | 1)), "{verified:?}");
    }
    assert_eq!(kept.json(&["archive", "add"])["skipped"], 0);
    let out = kept.home.path().join("out");
    kept.json(&["archive", "export", "--out", &out.to_string_lossy()]);
    assert_eq!(files_below(&out), kept.files());
}

/// Several at once give one archive, with everything in it once.
#[test]
fn several_at_once_do_not_disturb_each_other() {
    let kept = Kept::new();
    for n in 0..30 {
        let text = format!("{{\"n\":{n}}}\n").repeat(500);
        kept.home.write_file(&format!("-p/{n:08x}-0000-4000-8000-000000000000.jsonl"), text);
    }
    let children: Vec<_> = (0..4)
        .map(|_| kept.command(&["archive", "add"]).stdout(Stdio::null()).spawn().unwrap())
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let status = kept.json(&["archive", "status"]);
    assert_eq!((&status["files"], &status["generations"]), (&34.into(), &34.into()));
    let out = kept.home.path().join("out");
    kept.json(&["archive", "export", "--out", &out.to_string_lossy()]);
    assert_eq!(files_below(&out), kept.files());
}

/// A full disk leaves a valid archive; with free space, the next `add` continues.
#[cfg(unix)]
#[test]
fn a_full_disk_loses_nothing_that_is_archived() {
    let kept = Kept::new();
    kept.json(&["archive", "add"]);
    let mut random = 1_u64;
    let mut noise = || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        format!("{random:x}\n")
    };
    for n in 0..20 {
        let text: String = (0..20_000).map(|_| noise()).collect();
        kept.home.write_file(&format!("-p/{n:08x}-0000-4000-8000-000000000000.jsonl"), text);
    }
    let program = env!("CARGO_BIN_EXE_ramus");
    // The limit is in blocks of 512 bytes, for each file that is written.
    for blocks in [300, 2_000, 5_000] {
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
        let mut limited = Command::new("sh");
        limited.args(["-c", &script, "sh", program, "--claude-dir"]).arg(kept.home.claude_dir());
        limited.args(["archive", "add"]).env("RAMUS_ARCHIVE", kept.archive());
        let output = limited.env("HOME", kept.home.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let verified = kept.run(&["archive", "verify", "--json"]);
        assert!(verified.status.success(), "{verified:?}");
    }
    assert_eq!(kept.json(&["archive", "add"])["skipped"], 0);
    let out = kept.home.path().join("out");
    kept.json(&["archive", "export", "--out", &out.to_string_lossy()]);
    assert_eq!(files_below(&out), kept.files());
}

/// What is asked of a history and must not depend on where it is read from.
fn questions(session: &str) -> Vec<Vec<String>> {
    let at = |n: u32| format!("{session}@{n}");
    let all: [&[&str]; 22] = [
        &["projects", "--json"],
        &["projects"],
        &["sessions", "--all", "--json"],
        &["sessions"],
        &["conversations", "--json"],
        &["conversations", session, "--explain"],
        &["tree", session],
        &["tree", session, "--json"],
        &["show", session, "--tools", "--thinking", "--usage"],
        &["show", session, "--json"],
        &["show", &at(2), "--full"],
        &["find", "the", "--json"],
        &["find", "pool", "-B", "1"],
        &["find", "--regex", "[a-z]+ing\\b", "--count"],
        &["diff", &at(1), &at(2)],
        &["diff", &at(1), &at(2), "--json"],
        &["files", session, "--json"],
        &["files", &at(2), "--diff", session],
        &["usage", "--json"],
        &["usage", "--by", "session"],
        &["stats", "--json"],
        &["stats", "--charts"],
    ];
    all.iter().map(|args| args.iter().map(|&arg| arg.to_owned()).collect()).collect()
}

/// Removes the marks of archived sessions.
fn without_marks(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let line =
            line.replace("archived  ", "").replace("\"archived\":true", "\"archived\":false");
        // When a file is deleted is nothing to say of one that is gone.
        let mut rest = &*line;
        let mut clean = String::new();
        while let Some((before, after)) = rest.split_once("\"deleted_after\":") {
            clean += before;
            clean += "\"deleted_after\":";
            let end = after.find([',', '}']).unwrap_or(after.len());
            rest = &after[end..];
        }
        lines.push(clean + rest);
    }
    lines.join("\n")
}

fn varied_history() -> TestHome {
    let home = TestHome::new();
    testkit::write_corpus(&home, 11, 12);
    let demo = home.path().join("demo");
    let written =
        ramus_command(&home.claude_dir(), &["demo", &demo.to_string_lossy()]).output().unwrap();
    assert!(written.status.success(), "{written:?}");
    copy_all(&demo, &home.claude_dir());
    home
}

#[test]
fn a_history_on_a_server_answers_as_its_files_did() {
    let Some(server) = testkit::TestPostgres::start() else { return };
    ramus_archive::Archive::initialize_server(&server.url("postgres"), true).unwrap();
    let kept = Kept { home: varied_history(), server: Some(server.url("postgres")) };
    check_answers(&kept, &questions("7ea9"));
    let output = kept.run(&["find", "qztéapot", "--sort", "best"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("Other accents and spellings were not searched for"), "{said}");
}

#[test]
fn an_archived_history_answers_as_its_files_did() {
    let kept = Kept { home: varied_history(), server: None };
    check_answers(&kept, &questions("7ea9"));
    let sessions = kept.json(&["sessions"]);
    assert!(sessions["sessions"].as_array().unwrap().iter().all(|one| one["archived"] == true));
    let without = kept.run(&["sessions", "--no-archive"]);
    assert_eq!(without.status.code(), Some(1), "{without:?}");
}

#[test]
fn archived_samples_answer_as_their_files_did() {
    let Some(samples) = testkit::shared_material("samples") else { return };
    let home = TestHome::new();
    copy_all(&samples.join("projects"), &home.claude_dir().join("projects"));
    let kept = Kept { home, server: None };
    let sessions = kept.json(&["sessions", "--all"]);
    let ids = sessions["sessions"].as_array().unwrap().iter();
    let mut asked = Vec::new();
    for (n, id) in ids.map(|one| one["id"].as_str().unwrap()).enumerate() {
        // The lists are the same for every session, and not every session has two conversations.
        let all = questions(id).into_iter();
        asked.extend(all.filter(|question| n == 0 || **question == ["show", id, "--json"]));
    }
    check_answers(&kept, &asked);
}

/// Asks over files, and again when only the archive is left.
fn check_answers(kept: &Kept, questions: &[Vec<String>]) {
    let ask = |args: &[String], cache: bool| {
        let mut args: Vec<&str> = args.iter().map(String::as_str).collect();
        args.extend((!cache).then_some("--no-cache"));
        let mut command = kept.command(&args);
        // The mark takes room that narrow titles would lose.
        command.env("COLUMNS", "3000").env("RAMUS_CACHE_DIR", kept.home.path().join("cache"));
        let output = command.output().unwrap();
        (output.status.code(), without_marks(&String::from_utf8(output.stdout).unwrap()))
    };
    let export = |name: &str| {
        let dir = kept.home.path().join(name);
        for format in ["md", "html", "json", "jsonl", "txt"] {
            let out = dir.join(format).to_string_lossy().into_owned();
            let output = kept.run(&["export", "--all", "--out", &out, "--format", format]);
            assert!(output.status.success(), "{output:?}");
        }
        files_below(&dir)
    };
    let before: Vec<_> = questions.iter().map(|question| ask(question, false)).collect();
    let answered = before.iter().filter(|(code, _)| *code == Some(0)).count();
    assert!(answered * 3 > before.len() * 2, "{answered} of {}", before.len());
    let exported = export("before");
    assert!(exported.len() > 20);
    kept.json(&["archive", "add", "--yes"]);
    for dir in ["projects", "file-history"] {
        let dir = kept.home.claude_dir().join(dir);
        if dir.exists() {
            fs::remove_dir_all(dir).unwrap();
        }
    }
    fs::create_dir(kept.home.claude_dir().join("projects")).unwrap();
    for cache in [false, true] {
        for (question, before) in questions.iter().zip(&before) {
            let after = ask(question, cache);
            assert_eq!(after.0, before.0, "{question:?}");
            similar_text(&after.1, &before.1, question);
        }
    }
    let again = export("after");
    assert!(again.keys().eq(exported.keys()), "{:?}", again.keys());
    for (path, bytes) in again {
        assert!(bytes == exported[&path], "{}", path.display());
    }
}

#[track_caller]
fn similar_text(after: &str, before: &str, question: &[String]) {
    for (n, (after, before)) in after.lines().zip(before.lines()).enumerate() {
        assert_eq!(after, before, "{question:?} line {n}");
    }
    assert_eq!(after.lines().count(), before.lines().count(), "{question:?}");
}

fn copy_all(from: &Path, to: &Path) {
    for (relative, bytes) in files_below(from) {
        let path = to.join(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

#[test]
fn the_file_on_disk_wins_and_what_is_archived_is_not_written_to() {
    let kept = Kept::new();
    kept.json(&["archive", "add"]);
    let archived = || {
        let sessions = kept.json(&["sessions"]);
        let rows = sessions["sessions"].as_array().unwrap().iter();
        rows.map(|row| row["archived"].as_bool().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(archived(), [false]);
    // Moved to another project: it is there, only elsewhere.
    let projects = kept.home.claude_dir().join("projects");
    fs::rename(projects.join("-home-dev-app"), projects.join("-home-dev-other")).unwrap();
    assert_eq!(archived(), [false]);
    fs::rename(projects.join("-home-dev-other"), projects.join("-home-dev-app")).unwrap();
    kept.delete();
    assert_eq!(archived(), [true]);
    for args in
        [&["rename", "0a1b", "x"][..], &["fork", "0a1b"], &["goto", "0a1b@1"], &["trash", "0a1b"]]
    {
        let refused = kept.run(&[args, &["--yes"]].concat());
        let message = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(2), "{args:?} {message}");
        assert!(message.contains("ramus archive restore"), "{args:?} {message}");
    }
    assert!(kept.files().is_empty());
    kept.json(&["archive", "restore", "0a1b", "--yes"]);
    assert_eq!(archived(), [false]);
    // A session in the trash is not shown again because of its archived copy.
    assert!(kept.run(&["trash", "0a1b", "--yes", "--force"]).status.success());
    assert_eq!(kept.run(&["sessions"]).status.code(), Some(1));
}
