//! `ramus resume`: which command is started, where, and what is done first.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Output;

use testkit::TestHome;

use crate::{ramus_command, run_json};

const ID: &str = "11111111-0000-4000-8000-000000000001";
const TWO: &str = "
    a      user       v=2.1.325 tune the harp
    b < a  assistant  which harp
    c < b  user       the gold one
    d < c  assistant  tuned
    e < b  user       the small one
    f < e  assistant  tuned as well
";

/// A home with a project directory, a session in it, and a `claude` that tells how it was started.
struct ResumeScene {
    home: TestHome,
    work: PathBuf,
    session: PathBuf,
}

impl ResumeScene {
    fn new() -> Self {
        let home = TestHome::new();
        let work = ramus_store::real_path::real_path(home.path()).unwrap().join("my app");
        fs::create_dir(&work).unwrap();
        let encoded: String = work
            .to_string_lossy()
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .collect();
        let lines = testkit::jsonl(TWO).replace("/home/dev/app", &work.to_string_lossy());
        let session = home.write_file(&format!("{encoded}/{ID}.jsonl"), lines);
        let scene = Self { home, work, session };
        scene.write_program(
            "claude",
            "pwd; echo \"$CLAUDE_CONFIG_DIR\"; printf '%s\\n' \"$@\"; exit 7",
        );
        scene
    }

    fn write_program(&self, name: &str, script: &str) -> PathBuf {
        let path = self.home.path().join("bin").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn run_ramus(&self, args: &[&str]) -> Output {
        self.run_in(&self.work, args)
    }

    fn run_in(&self, dir: &Path, args: &[&str]) -> Output {
        let mut ramus = ramus_command(&self.home.claude_dir(), args);
        let path = format!("{}:/usr/bin:/bin", self.home.path().join("bin").display());
        ramus.env("PATH", path).current_dir(dir).output().unwrap()
    }

    /// Runs it and returns the report of the client: its directory, its Claude directory, its arguments.
    #[track_caller]
    fn started_with(&self, args: &[&str]) -> Vec<String> {
        let output = self.run_ramus(args);
        assert_eq!(output.status.code(), Some(7), "the client's own exit code: {output:?}");
        stdout_text(&output).lines().map(str::to_owned).collect()
    }

    fn session_bytes(&self) -> Vec<u8> {
        fs::read(&self.session).unwrap()
    }
}

fn stdout_text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr_text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_client_is_started_in_the_sessions_directory() {
    let scene = ResumeScene::new();
    let before = scene.session_bytes();
    let work = scene.work.to_str().unwrap();
    assert_eq!(scene.started_with(&["resume", "1111"]), [work, "", "--resume", ID]);
    assert_eq!(scene.started_with(&["resume", "1111:f"]), [work, "", "--resume", ID]);
    let output = scene.run_in(Path::new("/"), &["resume", "1111@2", "--", "--model", "a b"]);
    let told: Vec<String> = stdout_text(&output).lines().map(str::to_owned).collect();
    assert_eq!(told, [work, "", "--resume", ID, "--model", "a b"]);
    assert_eq!(scene.session_bytes(), before, "nothing is written");
}

#[test]
fn without_an_address_it_is_the_newest_session_of_this_directory() {
    let scene = ResumeScene::new();
    let other = "22222222-0000-4000-8000-000000000002";
    let newer = testkit::jsonl("a user @500 v=2.1.325 newer\nb < a assistant @501 yes");
    scene.home.write_file(&format!("-elsewhere/{other}.jsonl"), newer);
    assert_eq!(scene.started_with(&["resume"])[3], ID);
    let output = scene.run_in(scene.home.path(), &["resume"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr_text(&output).contains("no history"), "{}", stderr_text(&output));
}

#[test]
fn another_message_needs_a_decision() {
    let scene = ResumeScene::new();
    let before = scene.session_bytes();
    let output = scene.run_ramus(&["resume", "1111:d"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr_text(&output).contains("use --goto to move the resume point"),
        "{}",
        stderr_text(&output)
    );
    assert_eq!(scene.session_bytes(), before);
    assert_eq!(scene.started_with(&["resume", "1111:d", "--goto"])[3], ID);
    assert!(
        scene.session_bytes().starts_with(&before) && scene.session_bytes().len() > before.len()
    );
    assert_eq!(run_json(&scene.home.claude_dir(), &["resume", "1111"])["leaf"], "d");
    // Now it is where Claude Code resumes.
    let after = scene.session_bytes();
    assert_eq!(scene.started_with(&["resume", "1111:d"])[3], ID);
    assert_eq!(scene.session_bytes(), after);
    let forked = scene.started_with(&["resume", "1111:f", "--fork"]);
    assert_ne!(forked[3], ID);
    assert_eq!(scene.session_bytes(), after);
    let copy = run_json(&scene.home.claude_dir(), &["resume", &forked[3]]);
    assert_eq!((&copy["leaf"], &copy["first_step"]), (&"f".into(), &"nothing".into()));
}

#[test]
fn print_prints_one_command_and_starts_nothing() {
    let scene = ResumeScene::new();
    let before = scene.session_bytes();
    let print = |args: &[&str]| {
        let output = scene.run_ramus(&[&["resume", "--print"], args].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr_text(&output));
        stdout_text(&output).trim_end().to_owned()
    };
    // stderr describes what the command does first.
    for (args, expected) in [
        (&["1111"][..], ""),
        (&["1111:d"], "It first asks whether"),
        (&["1111:d", "--goto"], "It first moves the resume point"),
        (&["1111:d", "--fork"], "It first makes a new session"),
        (&["1111", "--fork"], "It first makes a new session"),
    ] {
        let stderr = stderr_text(&scene.run_ramus(&[&["resume", "--print"], args].concat()));
        assert!(stderr.starts_with(expected), "{args:?}: {stderr}");
        assert_eq!(stderr.is_empty(), expected.is_empty(), "{args:?}: {stderr}");
    }
    let work = scene.work.display();
    assert_eq!(print(&["1111"]), format!("cd '{work}' && claude --resume {ID}"));
    assert_eq!(
        print(&["1111", "--", "-p", "go on"]),
        format!("cd '{work}' && claude --resume {ID} -p 'go on'")
    );
    assert_eq!(print(&["1111:d"]), format!("ramus resume {ID}:d"));
    assert_eq!(
        print(&["1111:d", "--fork", "--", "-p"]),
        format!("ramus resume {ID}:d --fork -- -p")
    );
    // What is printed does what the same command without `--print` would have done.
    let other = ramus_store::real_path::real_path(scene.home.path()).unwrap().join("it's here");
    fs::create_dir(&other).unwrap();
    let other = other.to_str().unwrap();
    let quoted = format!("'{}'", other.replace('\'', "'\\''"));
    assert_eq!(print(&["1111", "--cd", other]), format!("cd {quoted} && claude --resume {ID}"));
    assert_eq!(
        print(&["1111:d", "--goto", "--force", "--cd", other, "--", "-p"]),
        format!("ramus resume {ID}:d --goto --cd {quoted} --force -- -p")
    );
    assert_eq!(scene.session_bytes(), before);
    fs::remove_dir(&scene.work).unwrap();
    let gone = scene.run_in(scene.home.path(), &["resume", "1111", "--print"]);
    assert!(stderr_text(&gone).contains("does not exist"), "{}", stderr_text(&gone));
    fs::create_dir(&scene.work).unwrap();
    let answer = run_json(&scene.home.claude_dir(), &["resume", "1111:d"]);
    assert_eq!(answer["schema"], "ramus.resume/1");
    assert_eq!(answer["first_step"], "goto-or-fork");
    assert_eq!(answer["directory"], scene.work.to_str().unwrap());
    assert_eq!(answer["args"], serde_json::json!(["--resume", ID]));
}

#[test]
fn a_directory_that_is_gone_is_named_before_anything_is_written() {
    let scene = ResumeScene::new();
    let before = scene.session_bytes();
    fs::remove_dir(&scene.work).unwrap();
    for args in [&["resume", "1111"][..], &["resume", "1111:d", "--goto"]] {
        let output = scene.run_in(Path::new("/"), args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let told = stderr_text(&output);
        assert!(told.contains("my app does not exist") && told.contains("--cd DIR"), "{told}");
    }
    assert_eq!(scene.session_bytes(), before);
    let output = scene.run_in(Path::new("/"), &["resume", "1111", "--cd", "/"]);
    assert!(stdout_text(&output).starts_with("/\n"), "{output:?}");
    // A fork goes to the project of that directory.
    let new = ramus_store::real_path::real_path(scene.home.path()).unwrap().join("new");
    fs::create_dir(&new).unwrap();
    let dir = new.to_str().unwrap();
    let output = scene.run_in(Path::new("/"), &["resume", "1111:d", "--fork", "--cd", dir]);
    let told = stdout_text(&output);
    assert!(told.starts_with(&format!("{dir}\n")), "{output:?}");
    let answer = run_json(&scene.home.claude_dir(), &["resume", told.lines().last().unwrap()]);
    assert_eq!((&answer["directory"], &answer["leaf"]), (&dir.into(), &"d".into()));
}

#[test]
fn a_program_of_another_name_or_place_is_started() {
    let scene = ResumeScene::new();
    let path = scene.write_program("my-claude", "echo mine \"$@\"");
    let bin = scene.home.path().join("bin");
    for named in [path.to_str().unwrap(), "bin/my-claude", "my-claude"] {
        let mut ramus = ramus_command(&scene.home.claude_dir(), &["resume", "1111"]);
        ramus.env("PATH", format!("{}:/usr/bin:/bin", bin.display())).env("RAMUS_CLAUDE", named);
        let output = ramus.current_dir(scene.home.path()).output().unwrap();
        assert_eq!(stdout_text(&output), format!("mine --resume {ID}\n"), "{named}: {output:?}");
    }
    let mut ramus = ramus_command(&scene.home.claude_dir(), &["resume", "1111"]);
    let output = ramus.env("RAMUS_CLAUDE", "no-such-claude").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr_text(&output).contains("cannot start no-such-claude"),
        "{}",
        stderr_text(&output)
    );
}

#[test]
fn the_client_gets_a_claude_directory_that_is_not_its_default() {
    let scene = ResumeScene::new();
    let other = ramus_store::real_path::real_path(scene.home.path()).unwrap().join("other");
    fs::rename(scene.home.claude_dir(), &other).unwrap();
    let mut ramus = ramus_command(Path::new("other"), &["resume", "1111"]);
    let path = format!("{}:/usr/bin:/bin", scene.home.path().join("bin").display());
    ramus.env("PATH", path).env("HOME", scene.home.path()).current_dir(scene.home.path());
    let output = ramus.output().unwrap();
    assert_eq!(stdout_text(&output).lines().nth(1), other.to_str(), "{output:?}");
    let answer = run_json(&other, &["resume", "1111:d"]);
    let line = format!("ramus --claude-dir {} resume {ID}:d", other.display());
    assert_eq!(answer["command"], line);
}

#[test]
fn a_file_outside_of_the_claude_directories_cannot_be_resumed() {
    let scene = ResumeScene::new();
    let lone = scene.home.path().join("lone.jsonl");
    fs::copy(&scene.session, &lone).unwrap();
    let output = scene.run_ramus(&["resume", lone.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr_text(&output).contains("not in a Claude directory"), "{}", stderr_text(&output));
}

#[test]
fn the_screens_give_the_terminal_to_the_client_and_take_it_again() {
    let scene = ResumeScene::new();
    let longer = testkit::jsonl(&format!("{TWO}    g < f  user  said in between\n"));
    let last =
        longer.lines().last().unwrap().replace("/home/dev/app", scene.work.to_str().unwrap());
    let more = scene.home.path().join("more");
    fs::write(&more, format!("{last}\n")).unwrap();
    let claude = scene.write_program(
        "claude",
        &format!(
            "echo client \"$1\" \"$2\"; read words; echo \"$words\" > heard; cat {} >> {}",
            more.display(),
            format_args!("\"{}\"", scene.session.display()),
        ),
    );
    let Some(terminal) = crate::terminal::start_terminal(&format!(
        "RAMUS_CLAUDE={} ramus --claude-dir {}; echo left $?",
        claude.display(),
        scene.home.claude_dir().display()
    )) else {
        return;
    };
    terminal.wait_for_text("1 session");
    terminal.press_keys(&["C-o"]);
    terminal.wait_for_text(&format!("client --resume {ID}"));
    assert_eq!(terminal.query_tmux("#{alternate_on}"), "0");
    terminal.type_text("every letter comes through");
    terminal.press_keys(&["Enter"]);
    terminal.wait_for_text("back from Claude Code");
    assert_eq!(terminal.query_tmux("#{alternate_on}"), "1");
    let heard = fs::read_to_string(scene.work.join("heard")).unwrap();
    assert_eq!(heard, "every letter comes through\n");
    // The screens read keys again, and show the new messages.
    terminal.press_keys(&["Enter"]);
    terminal.wait_for_text("said in between");
    // An earlier message is asked about first.
    terminal.wait_for_text("b branches");
    terminal.press_keys(&["Home", "r"]);
    terminal.wait_for_text("Claude Code resumes this session at another message");
    terminal.press_keys(&["n"]);
    terminal.wait_for_text("b branches");
    let before = fs::read(&scene.session).unwrap();
    terminal.press_keys(&["r"]);
    terminal.wait_for_text("f  fork and resume");
    terminal.press_keys(&["f"]);
    // The new session is resumed, and this one is unchanged.
    terminal.wait_for_screen(|screen| {
        screen.lines().any(|line| line.contains("client --resume ") && !line.contains(ID))
    });
    terminal.press_keys(&["Enter"]);
    terminal.wait_for_text("back from Claude Code");
    assert!(fs::read(&scene.session).unwrap().starts_with(&before));
    terminal.press_keys(&["q", "Escape"]);
    terminal.wait_for_text("left 0");
}
