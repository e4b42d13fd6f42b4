//! `ramus pack` and `ramus unpack`: what is included, changed and refused.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use serde_json::Value;
use testkit::{TestHome, jsonl};

use crate::{ramus_command, run_json};

const ID: &str = "11111111-0000-4000-8000-000000000001";
const PROJECT: &str = "-home-dev-app";
const BACKUP: &str = "0123456789abcdef@v1";

const FORKED: &str = "
    a      user       v=2.1.325 tune the harp in /home/dev/app
    -      snapshot:a src/a.rs=0123456789abcdef@v1
    b < a  call:t1:Task  look at /home/dev/app
    c < b  result:t1     found
    d < c  user       the gold one
    e < d  assistant  tuned
    f < c  user       the small one
    g < f  assistant  tuned as well
";

/// A home with one session that has everything a session can have.
struct PackScene {
    home: TestHome,
    work: PathBuf,
}

impl PackScene {
    fn new() -> Self {
        Self::with_lines(&jsonl(FORKED))
    }

    fn with_lines(lines: &str) -> Self {
        let scene = Self::without_history();
        let of_session = |lines: &str| {
            lines.replace("\"sessionId\":\"session\"", &format!("\"sessionId\":\"{ID}\""))
        };
        scene.home.write_file(&format!("{PROJECT}/{ID}.jsonl"), of_session(lines));
        let agent = format!("{PROJECT}/{ID}/subagents/agent-a1.jsonl");
        let words = jsonl("x user look\ny < x assistant found")
            .replace("\"isSidechain\":false", "\"isSidechain\":true,\"agentId\":\"a1\"");
        let words = of_session(&words);
        scene.home.write_file(&agent, words);
        scene.home.write_file(
            &format!("{PROJECT}/{ID}/subagents/agent-a1.meta.json"),
            r#"{"agentType":"general","toolUseId":"t1","worktreePath":"/home/dev/app/wt"}"#,
        );
        scene.home.write_file(&format!("{PROJECT}/{ID}/tool-results/t1.txt"), "a long output");
        let backups = scene.home.claude_dir().join("file-history").join(ID);
        fs::create_dir_all(&backups).unwrap();
        fs::write(backups.join(BACKUP), "fn main() {}").unwrap();
        scene
    }

    fn without_history() -> Self {
        let home = TestHome::new();
        let work = ramus_store::real_path::real_path(home.path()).unwrap().join("new place");
        fs::create_dir(&work).unwrap();
        Self { home, work }
    }

    fn run_ramus(&self, args: &[&str]) -> Output {
        ramus_command(&self.home.claude_dir(), args).current_dir(&self.work).output().unwrap()
    }

    #[track_caller]
    fn pack_bytes(&self, args: &[&str]) -> Vec<u8> {
        let output = self.run_ramus(&[&["pack", "-o", "-"], args].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr_text(&output));
        output.stdout
    }

    /// Packs the session into a file that lies in the working directory.
    fn pack_file(&self, args: &[&str]) -> PathBuf {
        let path = self.work.join("pack.tar.zst");
        fs::write(&path, self.pack_bytes(args)).unwrap();
        path
    }

    #[track_caller]
    fn unpack_json(&self, pack: &Path, args: &[&str]) -> Value {
        let args = [&["unpack", pack.to_str().unwrap(), "--yes", "--json"], args].concat();
        let output = self.run_ramus(&args);
        assert_eq!(output.status.code(), Some(0), "{}", stderr_text(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Lists every file of the Claude directory with its bytes.
    fn all_files(&self) -> Vec<(String, Vec<u8>)> {
        fn walk(root: &Path, dir: &Path, files: &mut Vec<(String, Vec<u8>)>) {
            for entry in fs::read_dir(dir).unwrap().flatten() {
                let path = entry.path();
                match path.is_dir() {
                    true => walk(root, &path, files),
                    false => {
                        let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
                        files.push((name, fs::read(&path).unwrap()));
                    }
                }
            }
        }
        let mut files = Vec::new();
        walk(&self.home.claude_dir(), &self.home.claude_dir(), &mut files);
        files.sort();
        files
    }
}

fn stderr_text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn stdout_text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn encoded_path(path: &Path) -> String {
    let path = path.to_string_lossy().into_owned();
    path.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

#[test]
fn the_same_sessions_give_the_same_bytes() {
    let scene = PackScene::new();
    let first = scene.pack_bytes(&["1111"]);
    let session = scene.home.claude_dir().join(format!("projects/{PROJECT}/{ID}.jsonl"));
    let late = std::time::SystemTime::now() + std::time::Duration::from_secs(99);
    fs::File::options().append(true).open(session).unwrap().set_modified(late).unwrap();
    assert_eq!(scene.pack_bytes(&["1111"]), first);
    let path = scene.pack_bytes(&["1111:e", "--path"]);
    assert_ne!(path, first);
    assert_eq!(scene.pack_bytes(&["1111:e", "--path"]), path);
}

#[test]
fn everything_goes_along_and_only_paths_change() {
    let (here, there) = (PackScene::new(), PackScene::without_history());
    let pack = here.pack_file(&["1111"]);
    let answer = there.unpack_json(&pack, &[]);
    assert_eq!((&answer["session"], &answer["resume_leaf"]), (&ID.into(), &"g".into()));
    let project = encoded_path(&there.work);
    let new = there.work.to_str().unwrap();
    let expected: Vec<(String, String)> = here
        .all_files()
        .into_iter()
        .map(|(name, bytes)| {
            let text = String::from_utf8(bytes).unwrap();
            let text =
                text.replace("\"cwd\":\"/home/dev/app\"", &format!("\"cwd\":\"{new}\"")).replace(
                    "\"worktreePath\":\"/home/dev/app/wt\"",
                    &format!("\"worktreePath\":\"{new}/wt\""),
                );
            (name.replace(PROJECT, &project), text)
        })
        .collect();
    let placed: Vec<(String, String)> = there
        .all_files()
        .into_iter()
        .map(|(name, bytes)| (name, String::from_utf8(bytes).unwrap()))
        .collect();
    assert_eq!(placed, expected);
    assert!(placed.iter().any(|(_, text)| text.contains("tune the harp in /home/dev/app")));
    // It is one operation like any other.
    assert_eq!(there.run_ramus(&["undo", "--yes"]).status.code(), Some(0));
    assert_eq!(there.all_files(), []);
    assert!(!there.home.claude_dir().join("projects").join(&project).exists());
}

#[test]
fn an_id_that_exists_already_becomes_another_one() {
    let scene = PackScene::new();
    let before = scene.all_files();
    let pack = scene.pack_file(&["1111"]);
    let answer = scene.unpack_json(&pack, &[]);
    let id = answer["session"].as_str().unwrap();
    assert_ne!(id, ID);
    assert_eq!(answer["sessions"][0]["packed_id"], ID);
    let after = scene.all_files();
    assert!(before.iter().all(|file| after.contains(file)), "what was there stays");
    let new: Vec<&(String, Vec<u8>)> = after.iter().filter(|file| !before.contains(file)).collect();
    assert_eq!(new.len(), before.len());
    for (name, bytes) in new {
        assert!(name.contains(id), "{name}");
        let text = String::from_utf8_lossy(bytes);
        assert!(!text.contains(&format!("\"sessionId\":\"{ID}\"")), "{name}: {text}");
    }
    // Files can be put back in the copy, too.
    let files = run_json(&scene.home.claude_dir(), &["files", id]);
    assert_eq!(files["files"].as_array().map(Vec::len), Some(1), "{files}");
}

#[test]
fn one_conversation_leaves_the_other_branches_behind() {
    let scene = PackScene::new();
    assert!(
        stderr_text(&scene.run_ramus(&["pack", "1111@1", "-o", "x"]))
            .contains("use --path to pack")
    );
    let pack = scene.pack_file(&["1111:e", "--path"]);
    let list = run_json(&scene.home.claude_dir(), &["unpack", pack.to_str().unwrap(), "--list"]);
    let names: Vec<&str> = list["sessions"][0]["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["name"].as_str().unwrap())
        .collect();
    assert!(names.iter().any(|name| name.ends_with("agent-a1.jsonl")), "{names:?}");
    assert!(names.iter().any(|name| name.ends_with(BACKUP)), "{names:?}");
    assert!(!names.iter().any(|name| name.ends_with("t1.txt")), "no record names it: {names:?}");
    let there = PackScene::without_history();
    let answer = there.unpack_json(&pack, &[]);
    assert_eq!(answer["resume_leaf"], "e");
    let text =
        stdout_text(&there.run_ramus(&["show", answer["session"].as_str().unwrap(), "--raw"]));
    assert!(text.contains("the gold one") && !text.contains("the small one"), "{text}");
}

#[test]
fn a_pack_is_read_without_unpacking_it() {
    let scene = PackScene::new();
    let pack = scene.pack_file(&["1111"]);
    let file = pack.to_str().unwrap();
    let there = PackScene::without_history();
    for (args, inside) in [
        (&["show", ""][..], &["show", ID][..]),
        (&["show", "@1", "--json"], &["show", "1111@1", "--json"]),
        (&["show", ":e"], &["show", "1111:e"]),
        (&["show", "#1111@1"], &["show", "1111@1"]),
        (&["tree", ""], &["tree", ID]),
        (&["export", "@1"], &["export", "1111@1"]),
    ] {
        let address = format!("{file}{}", args[1]);
        let read = there.run_ramus(&[&[args[0], &address], &args[2..]].concat());
        let direct = scene.run_ramus(inside);
        assert_eq!(read.status.code(), Some(0), "{args:?}: {}", stderr_text(&read));
        assert_eq!(stdout_text(&read), stdout_text(&direct), "{args:?}");
    }
    assert_eq!(there.all_files(), [], "nothing changed");
}

#[test]
fn several_sessions_go_into_one_pack() {
    let scene = PackScene::new();
    let other = "22222222-0000-4000-8000-000000000002";
    scene.home.write_session(&format!("-other/{other}.jsonl"), "a user hello\nb < a assistant hi");
    let pack = scene.pack_file(&["1111", "2222"]);
    let output = scene.run_ramus(&["show", pack.to_str().unwrap()]);
    assert!(stderr_text(&output).contains("FILE#SESSION"), "{}", stderr_text(&output));
    assert!(
        stdout_text(&scene.run_ramus(&["show", &format!("{}#2222", pack.display())]))
            .contains("hello")
    );
    let there = PackScene::without_history();
    let answer = there.unpack_json(&pack, &[]);
    assert_eq!(answer["sessions"].as_array().map(Vec::len), Some(2));
    let sessions = run_json(&there.home.claude_dir(), &["sessions"]);
    assert_eq!(sessions["sessions"].as_array().map(Vec::len), Some(2));
    assert_eq!(scene.run_ramus(&["pack", "1111", "1111", "-o", "-"]).status.code(), Some(2));
}

#[test]
fn sessions_of_two_projects_keep_agents_of_one_name() {
    let scene = PackScene::new();
    let other = "22222222-0000-4000-8000-000000000002";
    for (project, id, word) in [(PROJECT, ID, "first"), ("-other", other, "second")] {
        let name = |lines: &str| {
            lines.replace("\"sessionId\":\"session\"", &format!("\"sessionId\":\"{id}\""))
        };
        let lines = name(&jsonl("a user hello\nb < a assistant hi"));
        scene.home.write_file(&format!("{project}/{id}.jsonl"), lines);
        let words = name(&jsonl(&format!("x user look\ny < x assistant {word}")))
            .replace("\"isSidechain\":false", "\"isSidechain\":true,\"agentId\":\"0a1b2c3d\"");
        scene.home.write_file(&format!("{project}/agent-0a1b2c3d.jsonl"), words);
    }
    let pack = scene.pack_file(&["1111", "2222"]);
    let there = PackScene::without_history();
    there.unpack_json(&pack, &[]);
    let files = there.all_files();
    for word in ["first", "second"] {
        let has = |(name, bytes): &&(String, Vec<u8>)| {
            name.ends_with("agent-0a1b2c3d.jsonl") && String::from_utf8_lossy(bytes).contains(word)
        };
        assert_eq!(files.iter().filter(has).count(), 1, "{word}: {files:?}");
    }
}

#[test]
fn a_new_machine_needs_no_claude_directory() {
    let scene = PackScene::new();
    let pack = scene.pack_file(&["1111"]);
    let there = PackScene::without_history();
    fs::remove_dir_all(there.home.claude_dir()).unwrap();
    let mut unpack = ramus_command(&there.home.claude_dir(), &["unpack", "-", "--yes"]);
    unpack.current_dir(&there.work).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = unpack.spawn().unwrap();
    child.stdin.take().unwrap().write_all(&fs::read(pack).unwrap()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(stdout_text(&output), format!("claude --resume {ID}\n"));
    assert_eq!(there.all_files().len(), 5);
}

#[test]
fn secrets_stay_behind() {
    let secret = "ghp_abcdefghijklmnopqrstuvwxyzABCDEFGHIJ";
    let lines = jsonl(FORKED).replace("the gold one", &format!("my token is {secret}"));
    let scene = PackScene::with_lines(&lines);
    let backups = scene.home.claude_dir().join("file-history").join(ID);
    fs::write(backups.join("fedcba9876543210@v1"), [0xff, 0xfe, 0x00]).unwrap();
    fs::write(backups.join(BACKUP), format!("token = \"{secret}\"")).unwrap();
    let pack = scene.pack_file(&["1111", "--redact"]);
    let there = PackScene::without_history();
    there.unpack_json(&pack, &[]);
    let files = there.all_files();
    assert_eq!(files.len(), 5, "what is not text was left out");
    for (name, bytes) in files {
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("ghp_abc") && !text.contains("/home/dev"), "{name}: {text}");
    }
    let list = stdout_text(&there.run_ramus(&["unpack", pack.to_str().unwrap(), "--list"]));
    assert!(!list.contains("home-dev") && !list.contains("/home/dev"), "{list}");
}

#[test]
fn nothing_is_written_over_and_nothing_without_asking() {
    let scene = PackScene::new();
    let file = scene.work.join("x.tar.zst");
    fs::write(&file, "mine").unwrap();
    assert_eq!(scene.run_ramus(&["pack", "1111", "-o", "x.tar.zst"]).status.code(), Some(2));
    assert_eq!(fs::read(&file).unwrap(), b"mine");
    assert_eq!(
        scene.run_ramus(&["pack", "1111", "-o", "x.tar.zst", "--force"]).status.code(),
        Some(0)
    );
    let there = PackScene::without_history();
    for args in [&["--dry-run"][..], &[]] {
        there.run_ramus(&[&["unpack", file.to_str().unwrap()], args].concat());
        assert_eq!(there.all_files(), [], "{args:?}");
    }
}

#[test]
fn other_paths_are_mapped_as_requested() {
    let scene = PackScene::with_lines(&jsonl(FORKED).replacen("/home/dev/app", "/data/set", 4));
    let pack = scene.pack_file(&["1111"]);
    let there = PackScene::without_history();
    let answer = there.unpack_json(&pack, &["--map", "/data=/srv"]);
    let text = fs::read_to_string(answer["file"].as_str().unwrap()).unwrap();
    assert!(text.contains("\"cwd\":\"/srv/set\"") && text.contains("harp in /data/set"), "{text}");
    assert!(text.contains(&format!("\"cwd\":\"{}\"", there.work.display())), "{text}");
    let output = there.run_ramus(&["unpack", pack.to_str().unwrap(), "--map", "nonsense"]);
    assert!(stderr_text(&output).contains("expected OLD=NEW"));
}

#[cfg(unix)]
#[test]
fn what_a_pack_cannot_contain_is_named() {
    let scene = PackScene::new();
    let complete = scene.pack_bytes(&["1111"]);
    let outputs = format!("{PROJECT}/{ID}/tool-results");
    scene.home.write_file(&format!("{outputs}/12:30.txt"), "odd");
    let deep = (1..=8).map(|n| n.to_string()).collect::<Vec<_>>().join("/");
    scene.home.write_file(&format!("{outputs}/{deep}/deep.txt"), "deep");
    let output = scene.run_ramus(&["pack", "1111", "-o", "odd"]);
    let said = stderr_text(&output);
    let is_said = |name: &str, why: &str| {
        { said.lines() }.any(|line| line.contains(&format!("{name} {why} and was left out")))
    };
    assert!(is_said("tool-results/12:30.txt", "has a name that not every system allows"), "{said}");
    assert!(is_said(&deep, "is below too many directories"), "{said}");
    assert_eq!(fs::read(scene.work.join("odd")).unwrap(), complete);
}

#[test]
fn what_is_no_pack_or_only_half_of_one_is_refused() {
    let scene = PackScene::new();
    let bytes = fs::read(scene.pack_file(&["1111"])).unwrap();
    let there = PackScene::without_history();
    let mut bad: Vec<Vec<u8>> = vec![Vec::new(), b"hello".to_vec(), bytes[..4].to_vec()];
    bad.extend((1..20).map(|n| bytes[..bytes.len() * n / 20].to_vec()));
    bad.push(bytes[..bytes.len() - 1].to_vec());
    bad.push([&bytes[..], b"more"].concat());
    let file = there.work.join("bad");
    for bytes in bad {
        fs::write(&file, bytes).unwrap();
        let output = there.run_ramus(&["unpack", "bad", "--yes"]);
        assert_eq!(output.status.code(), Some(2), "{}", stderr_text(&output));
        assert!(stderr_text(&output).lines().count() <= 2, "{}", stderr_text(&output));
        assert_eq!(there.all_files(), []);
    }
    fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
    let output = there.run_ramus(&["unpack", "bad", "--yes"]);
    assert!(stderr_text(&output).contains("bad: the file ends in the middle"), "{output:?}");
}

#[test]
fn a_changed_byte_never_changes_what_is_unpacked() {
    let scene = PackScene::new();
    let pack = scene.pack_file(&["1111"]);
    let bytes = fs::read(&pack).unwrap();
    let there = PackScene::without_history();
    there.unpack_json(&pack, &[]);
    let whole = there.all_files();
    let undo = || assert_eq!(there.run_ramus(&["undo", "--yes"]).status.code(), Some(0));
    undo();
    let file = there.work.join("changed");
    for at in (0..bytes.len()).step_by(31) {
        let mut changed = bytes.clone();
        changed[at] ^= 0x10;
        fs::write(&file, &changed).unwrap();
        let output = there.run_ramus(&["unpack", "changed", "--yes"]);
        // Some bits only affect how to decompress, and other values give the same bytes.
        if output.status.success() {
            assert_eq!(there.all_files(), whole, "byte {at}");
            undo();
        }
        assert_eq!(there.all_files(), [], "byte {at}");
    }
}
