//! `ramus resume`: which command is started, where, and what is done first.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Output;

use testkit::Home;

use crate::{command, json};

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
struct Scene {
    home: Home,
    work: PathBuf,
    session: PathBuf,
}

impl Scene {
    fn new() -> Self {
        let home = Home::new();
        let work = home.path().canonicalize().unwrap().join("my app");
        fs::create_dir(&work).unwrap();
        let encoded: String = work
            .to_string_lossy()
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .collect();
        let lines = testkit::jsonl(TWO).replace("/home/dev/app", &work.to_string_lossy());
        let session = home.write(&format!("{encoded}/{ID}.jsonl"), lines);
        let scene = Self { home, work, session };
        scene.program("claude", "pwd; echo \"$CLAUDE_CONFIG_DIR\"; printf '%s\\n' \"$@\"; exit 7");
        scene
    }

    fn program(&self, name: &str, script: &str) -> PathBuf {
        let path = self.home.path().join("bin").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn run(&self, args: &[&str]) -> Output {
        self.run_in(&self.work, args)
    }

    fn run_in(&self, dir: &Path, args: &[&str]) -> Output {
        let mut ramus = command(&self.home.claude(), args);
        let path = format!("{}:/usr/bin:/bin", self.home.path().join("bin").display());
        ramus.env("PATH", path).current_dir(dir).output().unwrap()
    }

    /// Runs it and returns what the client told: its directory, its Claude directory, its arguments.
    #[track_caller]
    fn started(&self, args: &[&str]) -> Vec<String> {
        let output = self.run(args);
        assert_eq!(output.status.code(), Some(7), "the client's own exit code: {output:?}");
        stdout(&output).lines().map(str::to_owned).collect()
    }

    fn bytes(&self) -> Vec<u8> {
        fs::read(&self.session).unwrap()
    }
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_client_is_started_in_the_sessions_directory() {
    let scene = Scene::new();
    let before = scene.bytes();
    let work = scene.work.to_str().unwrap();
    assert_eq!(scene.started(&["resume", "1111"]), [work, "", "--resume", ID]);
    assert_eq!(scene.started(&["resume", "1111:f"]), [work, "", "--resume", ID]);
    let output = scene.run_in(Path::new("/"), &["resume", "1111@2", "--", "--model", "a b"]);
    let told: Vec<String> = stdout(&output).lines().map(str::to_owned).collect();
    assert_eq!(told, [work, "", "--resume", ID, "--model", "a b"]);
    assert_eq!(scene.bytes(), before, "nothing is written");
}

#[test]
fn without_an_address_it_is_the_newest_session_of_this_directory() {
    let scene = Scene::new();
    let other = "22222222-0000-4000-8000-000000000002";
    let newer = testkit::jsonl("a user @500 v=2.1.325 newer\nb < a assistant @501 yes");
    scene.home.write(&format!("-elsewhere/{other}.jsonl"), newer);
    assert_eq!(scene.started(&["resume"])[3], ID);
    let output = scene.run_in(scene.home.path(), &["resume"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("no history of the directory"), "{}", stderr(&output));
}

#[test]
fn another_message_needs_a_decision() {
    let scene = Scene::new();
    let before = scene.bytes();
    let output = scene.run(&["resume", "1111:d"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("`--goto` moves the resume point"), "{}", stderr(&output));
    assert_eq!(scene.bytes(), before);
    assert_eq!(scene.started(&["resume", "1111:d", "--goto"])[3], ID);
    assert!(scene.bytes().starts_with(&before) && scene.bytes().len() > before.len());
    assert_eq!(json(&scene.home.claude(), &["resume", "1111"])["leaf"], "d");
    // Now it is where Claude Code resumes.
    let after = scene.bytes();
    assert_eq!(scene.started(&["resume", "1111:d"])[3], ID);
    assert_eq!(scene.bytes(), after);
    let forked = scene.started(&["resume", "1111:f", "--fork"]);
    assert_ne!(forked[3], ID);
    assert_eq!(scene.bytes(), after);
    let copy = json(&scene.home.claude(), &["resume", &forked[3]]);
    assert_eq!((&copy["leaf"], &copy["first_step"]), (&"f".into(), &"nothing".into()));
}

#[test]
fn print_prints_one_command_and_starts_nothing() {
    let scene = Scene::new();
    let before = scene.bytes();
    let print = |args: &[&str]| {
        let output = scene.run(&[&["resume", "--print"], args].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        stdout(&output).trim_end().to_owned()
    };
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
    assert_eq!(scene.bytes(), before);
    let answer = json(&scene.home.claude(), &["resume", "1111:d"]);
    assert_eq!(answer["schema"], "ramus.resume/1");
    assert_eq!(answer["first_step"], "goto-or-fork");
    assert_eq!(answer["directory"], scene.work.to_str().unwrap());
    assert_eq!(answer["args"], serde_json::json!(["--resume", ID]));
}

#[test]
fn a_directory_that_is_gone_is_named_before_anything_is_written() {
    let scene = Scene::new();
    let before = scene.bytes();
    fs::remove_dir(&scene.work).unwrap();
    for args in [&["resume", "1111"][..], &["resume", "1111:d", "--goto"]] {
        let output = scene.run_in(Path::new("/"), args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let told = stderr(&output);
        assert!(told.contains("my app does not exist") && told.contains("--cd DIR"), "{told}");
    }
    assert_eq!(scene.bytes(), before);
    let output = scene.run_in(Path::new("/"), &["resume", "1111", "--cd", "/"]);
    assert!(stdout(&output).starts_with("/\n"), "{output:?}");
    // A fork goes to the project of that directory.
    let new = scene.home.path().canonicalize().unwrap().join("new");
    fs::create_dir(&new).unwrap();
    let dir = new.to_str().unwrap();
    let output = scene.run_in(Path::new("/"), &["resume", "1111:d", "--fork", "--cd", dir]);
    let told = stdout(&output);
    assert!(told.starts_with(&format!("{dir}\n")), "{output:?}");
    let answer = json(&scene.home.claude(), &["resume", told.lines().last().unwrap()]);
    assert_eq!((&answer["directory"], &answer["leaf"]), (&dir.into(), &"d".into()));
}

#[test]
fn a_program_of_another_name_or_place_is_started() {
    let scene = Scene::new();
    let path = scene.program("my-claude", "echo mine \"$@\"");
    let bin = scene.home.path().join("bin");
    for named in [path.to_str().unwrap(), "bin/my-claude", "my-claude"] {
        let mut ramus = command(&scene.home.claude(), &["resume", "1111"]);
        ramus.env("PATH", format!("{}:/usr/bin:/bin", bin.display())).env("RAMUS_CLAUDE", named);
        let output = ramus.current_dir(scene.home.path()).output().unwrap();
        assert_eq!(stdout(&output), format!("mine --resume {ID}\n"), "{named}: {output:?}");
    }
    let mut ramus = command(&scene.home.claude(), &["resume", "1111"]);
    let output = ramus.env("RAMUS_CLAUDE", "no-such-claude").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("cannot start no-such-claude"), "{}", stderr(&output));
}

#[test]
fn the_client_is_told_of_a_claude_directory_that_is_not_its_own() {
    let scene = Scene::new();
    let other = scene.home.path().canonicalize().unwrap().join("other");
    fs::rename(scene.home.claude(), &other).unwrap();
    let mut ramus = command(Path::new("other"), &["resume", "1111"]);
    let path = format!("{}:/usr/bin:/bin", scene.home.path().join("bin").display());
    ramus.env("PATH", path).env("HOME", scene.home.path()).current_dir(scene.home.path());
    let output = ramus.output().unwrap();
    assert_eq!(stdout(&output).lines().nth(1), other.to_str(), "{output:?}");
    let answer = json(&other, &["resume", "1111:d"]);
    let line = format!("ramus --claude-dir {} resume {ID}:d", other.display());
    assert_eq!(answer["command"], line);
}

#[test]
fn a_file_outside_of_the_claude_directories_cannot_be_resumed() {
    let scene = Scene::new();
    let lone = scene.home.path().join("lone.jsonl");
    fs::copy(&scene.session, &lone).unwrap();
    let output = scene.run(&["resume", lone.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("not in a Claude directory"), "{}", stderr(&output));
}

#[test]
fn the_screens_give_the_terminal_to_the_client_and_take_it_again() {
    let scene = Scene::new();
    let longer = testkit::jsonl(&format!("{TWO}    g < f  user  said in between\n"));
    let last =
        longer.lines().last().unwrap().replace("/home/dev/app", scene.work.to_str().unwrap());
    let more = scene.home.path().join("more");
    fs::write(&more, format!("{last}\n")).unwrap();
    let claude = scene.program(
        "claude",
        &format!(
            "echo client \"$1\" \"$2\"; read words; echo \"$words\" > heard; cat {} >> {}",
            more.display(),
            format_args!("\"{}\"", scene.session.display()),
        ),
    );
    let Some(terminal) = crate::terminal::start(&format!(
        "RAMUS_CLAUDE={} ramus --claude-dir {}; echo left $?",
        claude.display(),
        scene.home.claude().display()
    )) else {
        return;
    };
    terminal.wait("1 session");
    terminal.keys(&["C-o"]);
    terminal.wait(&format!("client --resume {ID}"));
    assert_eq!(terminal.ask("#{alternate_on}"), "0");
    terminal.type_in("every letter comes through");
    terminal.keys(&["Enter"]);
    terminal.wait("back from Claude Code");
    assert_eq!(terminal.ask("#{alternate_on}"), "1");
    let heard = fs::read_to_string(scene.work.join("heard")).unwrap();
    assert_eq!(heard, "every letter comes through\n");
    // The keys are the screens' again, and they show what came.
    terminal.keys(&["Enter"]);
    terminal.wait("said in between");
    // An earlier message is asked about on the plain terminal.
    terminal.keys(&["Home", "r"]);
    terminal.wait("Which one? [1-2]");
    terminal.keys(&["Enter"]);
    terminal.wait("Press Enter to return");
    terminal.keys(&["Enter"]);
    terminal.wait("back from Claude Code");
    terminal.keys(&["q", "Escape"]);
    terminal.wait("left 0");
}
