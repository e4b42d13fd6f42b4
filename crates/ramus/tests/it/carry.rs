//! `ramus pack` and `ramus unpack`: what goes along, what changes on the way, and what is refused.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use serde_json::Value;
use testkit::{Home, jsonl};

use crate::{command, json};

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
struct Scene {
    home: Home,
    work: PathBuf,
}

impl Scene {
    fn new() -> Self {
        Self::with(&jsonl(FORKED))
    }

    fn with(lines: &str) -> Self {
        let scene = Self::empty();
        let of_session = |lines: &str| {
            lines.replace("\"sessionId\":\"session\"", &format!("\"sessionId\":\"{ID}\""))
        };
        scene.home.write(&format!("{PROJECT}/{ID}.jsonl"), of_session(lines));
        let agent = format!("{PROJECT}/{ID}/subagents/agent-a1.jsonl");
        let words = jsonl("x user look\ny < x assistant found")
            .replace("\"isSidechain\":false", "\"isSidechain\":true,\"agentId\":\"a1\"");
        let words = of_session(&words);
        scene.home.write(&agent, words);
        scene.home.write(
            &format!("{PROJECT}/{ID}/subagents/agent-a1.meta.json"),
            r#"{"agentType":"general","toolUseId":"t1","worktreePath":"/home/dev/app/wt"}"#,
        );
        scene.home.write(&format!("{PROJECT}/{ID}/tool-results/t1.txt"), "a long output");
        let backups = scene.home.claude().join("file-history").join(ID);
        fs::create_dir_all(&backups).unwrap();
        fs::write(backups.join(BACKUP), "fn main() {}").unwrap();
        scene
    }

    fn empty() -> Self {
        let home = Home::new();
        let work = home.path().canonicalize().unwrap().join("new place");
        fs::create_dir(&work).unwrap();
        Self { home, work }
    }

    fn run(&self, args: &[&str]) -> Output {
        command(&self.home.claude(), args).current_dir(&self.work).output().unwrap()
    }

    #[track_caller]
    fn pack(&self, args: &[&str]) -> Vec<u8> {
        let output = self.run(&[&["pack", "-o", "-"], args].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        output.stdout
    }

    /// Packs the session into a file that lies in the working directory.
    fn packed(&self, args: &[&str]) -> PathBuf {
        let path = self.work.join("pack.tar.zst");
        fs::write(&path, self.pack(args)).unwrap();
        path
    }

    #[track_caller]
    fn unpack(&self, pack: &Path, args: &[&str]) -> Value {
        let args = [&["unpack", pack.to_str().unwrap(), "--yes", "--json"], args].concat();
        let output = self.run(&args);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Lists every file of the Claude directory with its bytes.
    fn files(&self) -> Vec<(String, Vec<u8>)> {
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
        walk(&self.home.claude(), &self.home.claude(), &mut files);
        files.sort();
        files
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn encoded(path: &Path) -> String {
    let path = path.to_string_lossy().into_owned();
    path.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

#[test]
fn the_same_sessions_give_the_same_bytes() {
    let scene = Scene::new();
    let first = scene.pack(&["1111"]);
    let session = scene.home.claude().join(format!("projects/{PROJECT}/{ID}.jsonl"));
    let late = std::time::SystemTime::now() + std::time::Duration::from_secs(99);
    fs::File::options().append(true).open(session).unwrap().set_modified(late).unwrap();
    assert_eq!(scene.pack(&["1111"]), first);
    let path = scene.pack(&["1111:e", "--path"]);
    assert_ne!(path, first);
    assert_eq!(scene.pack(&["1111:e", "--path"]), path);
}

#[test]
fn everything_goes_along_and_only_paths_change() {
    let (here, there) = (Scene::new(), Scene::empty());
    let pack = here.packed(&["1111"]);
    let answer = there.unpack(&pack, &[]);
    assert_eq!((&answer["session"], &answer["resume_leaf"]), (&ID.into(), &"g".into()));
    let project = encoded(&there.work);
    let new = there.work.to_str().unwrap();
    let expected: Vec<(String, String)> = here
        .files()
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
        .files()
        .into_iter()
        .map(|(name, bytes)| (name, String::from_utf8(bytes).unwrap()))
        .collect();
    assert_eq!(placed, expected);
    assert!(placed.iter().any(|(_, text)| text.contains("tune the harp in /home/dev/app")));
    // It is one operation like any other.
    assert_eq!(there.run(&["undo", "--yes"]).status.code(), Some(0));
    assert_eq!(there.files(), []);
    assert!(!there.home.claude().join("projects").join(&project).exists());
}

#[test]
fn an_id_that_exists_already_becomes_another_one() {
    let scene = Scene::new();
    let before = scene.files();
    let pack = scene.packed(&["1111"]);
    let answer = scene.unpack(&pack, &[]);
    let id = answer["session"].as_str().unwrap();
    assert_ne!(id, ID);
    assert_eq!(answer["sessions"][0]["packed_id"], ID);
    let after = scene.files();
    assert!(before.iter().all(|file| after.contains(file)), "what was there stays");
    let new: Vec<&(String, Vec<u8>)> = after.iter().filter(|file| !before.contains(file)).collect();
    assert_eq!(new.len(), before.len());
    for (name, bytes) in new {
        assert!(name.contains(id), "{name}");
        let text = String::from_utf8_lossy(bytes);
        assert!(!text.contains(&format!("\"sessionId\":\"{ID}\"")), "{name}: {text}");
    }
    // Files can be put back in the copy, too.
    let files = json(&scene.home.claude(), &["files", id]);
    assert_eq!(files["files"].as_array().map(Vec::len), Some(1), "{files}");
}

#[test]
fn one_conversation_leaves_the_other_branches_behind() {
    let scene = Scene::new();
    assert!(stderr(&scene.run(&["pack", "1111@1", "-o", "x"])).contains("`--path` packs"));
    let pack = scene.packed(&["1111:e", "--path"]);
    let list = json(&scene.home.claude(), &["unpack", pack.to_str().unwrap(), "--list"]);
    let names: Vec<&str> = list["sessions"][0]["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["name"].as_str().unwrap())
        .collect();
    assert!(names.iter().any(|name| name.ends_with("agent-a1.jsonl")), "{names:?}");
    assert!(names.iter().any(|name| name.ends_with(BACKUP)), "{names:?}");
    assert!(!names.iter().any(|name| name.ends_with("t1.txt")), "no record names it: {names:?}");
    let there = Scene::empty();
    let answer = there.unpack(&pack, &[]);
    assert_eq!(answer["resume_leaf"], "e");
    let text = stdout(&there.run(&["show", answer["session"].as_str().unwrap(), "--raw"]));
    assert!(text.contains("the gold one") && !text.contains("the small one"), "{text}");
}

#[test]
fn a_pack_is_read_without_unpacking_it() {
    let scene = Scene::new();
    let pack = scene.packed(&["1111"]);
    let file = pack.to_str().unwrap();
    let there = Scene::empty();
    for (args, inside) in [
        (&["show", ""][..], &["show", ID][..]),
        (&["show", "@1", "--json"], &["show", "1111@1", "--json"]),
        (&["show", ":e"], &["show", "1111:e"]),
        (&["show", "#1111@1"], &["show", "1111@1"]),
        (&["tree", ""], &["tree", ID]),
        (&["export", "@1"], &["export", "1111@1"]),
    ] {
        let address = format!("{file}{}", args[1]);
        let read = there.run(&[&[args[0], &address], &args[2..]].concat());
        let direct = scene.run(inside);
        assert_eq!(read.status.code(), Some(0), "{args:?}: {}", stderr(&read));
        assert_eq!(stdout(&read), stdout(&direct), "{args:?}");
    }
    assert_eq!(there.files(), [], "nothing was written");
}

#[test]
fn several_sessions_go_into_one_pack() {
    let scene = Scene::new();
    let other = "22222222-0000-4000-8000-000000000002";
    scene.home.session(&format!("-other/{other}.jsonl"), "a user hello\nb < a assistant hi");
    let pack = scene.packed(&["1111", "2222"]);
    let output = scene.run(&["show", pack.to_str().unwrap()]);
    assert!(stderr(&output).contains("FILE#SESSION"), "{}", stderr(&output));
    assert!(stdout(&scene.run(&["show", &format!("{}#2222", pack.display())])).contains("hello"));
    let there = Scene::empty();
    let answer = there.unpack(&pack, &[]);
    assert_eq!(answer["sessions"].as_array().map(Vec::len), Some(2));
    let sessions = json(&there.home.claude(), &["sessions"]);
    assert_eq!(sessions["sessions"].as_array().map(Vec::len), Some(2));
    assert_eq!(scene.run(&["pack", "1111", "1111", "-o", "-"]).status.code(), Some(2));
}

#[test]
fn a_new_machine_needs_no_claude_directory() {
    let scene = Scene::new();
    let pack = scene.packed(&["1111"]);
    let there = Scene::empty();
    fs::remove_dir_all(there.home.claude()).unwrap();
    let mut unpack = command(&there.home.claude(), &["unpack", "-", "--yes"]);
    unpack.current_dir(&there.work).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = unpack.spawn().unwrap();
    child.stdin.take().unwrap().write_all(&fs::read(pack).unwrap()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(stdout(&output), format!("claude --resume {ID}\n"));
    assert_eq!(there.files().len(), 5);
}

#[test]
fn secrets_stay_behind() {
    let secret = "ghp_abcdefghijklmnopqrstuvwxyzABCDEFGHIJ";
    let lines = jsonl(FORKED).replace("the gold one", &format!("my token is {secret}"));
    let scene = Scene::with(&lines);
    let backups = scene.home.claude().join("file-history").join(ID);
    fs::write(backups.join("fedcba9876543210@v1"), [0xff, 0xfe, 0x00]).unwrap();
    fs::write(backups.join(BACKUP), format!("token = \"{secret}\"")).unwrap();
    let pack = scene.packed(&["1111", "--redact"]);
    let there = Scene::empty();
    there.unpack(&pack, &[]);
    let files = there.files();
    assert_eq!(files.len(), 5, "what is not text was left out");
    for (name, bytes) in files {
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("ghp_abc") && !text.contains("/home/dev"), "{name}: {text}");
    }
    let list = stdout(&there.run(&["unpack", pack.to_str().unwrap(), "--list"]));
    assert!(!list.contains("home-dev") && !list.contains("/home/dev"), "{list}");
}

#[test]
fn nothing_is_written_over_and_nothing_without_asking() {
    let scene = Scene::new();
    let file = scene.work.join("x.tar.zst");
    fs::write(&file, "mine").unwrap();
    assert_eq!(scene.run(&["pack", "1111", "-o", "x.tar.zst"]).status.code(), Some(2));
    assert_eq!(fs::read(&file).unwrap(), b"mine");
    assert_eq!(scene.run(&["pack", "1111", "-o", "x.tar.zst", "--force"]).status.code(), Some(0));
    let there = Scene::empty();
    for args in [&["--dry-run"][..], &[]] {
        there.run(&[&["unpack", file.to_str().unwrap()], args].concat());
        assert_eq!(there.files(), [], "{args:?}");
    }
}

#[test]
fn other_paths_are_mapped_as_told() {
    let scene = Scene::with(&jsonl(FORKED).replacen("/home/dev/app", "/data/set", 4));
    let pack = scene.packed(&["1111"]);
    let there = Scene::empty();
    let answer = there.unpack(&pack, &["--map", "/data=/srv"]);
    let text = fs::read_to_string(answer["file"].as_str().unwrap()).unwrap();
    assert!(text.contains("\"cwd\":\"/srv/set\"") && text.contains("harp in /data/set"), "{text}");
    assert!(text.contains(&format!("\"cwd\":\"{}\"", there.work.display())), "{text}");
    let output = there.run(&["unpack", pack.to_str().unwrap(), "--map", "nonsense"]);
    assert!(stderr(&output).contains("expected OLD=NEW"));
}

#[test]
fn what_is_no_pack_or_only_half_of_one_is_refused() {
    let scene = Scene::new();
    let bytes = fs::read(scene.packed(&["1111"])).unwrap();
    let there = Scene::empty();
    let mut bad: Vec<Vec<u8>> = vec![Vec::new(), b"hello".to_vec(), bytes[..4].to_vec()];
    bad.extend((1..20).map(|n| bytes[..bytes.len() * n / 20].to_vec()));
    bad.push(bytes[..bytes.len() - 1].to_vec());
    bad.push([&bytes[..], b"more"].concat());
    let file = there.work.join("bad");
    for bytes in bad {
        fs::write(&file, &bytes).unwrap();
        let output = there.run(&["unpack", "bad", "--yes"]);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).lines().count() <= 2, "{}", stderr(&output));
        assert_eq!(there.files(), []);
    }
}

#[test]
fn a_changed_byte_never_changes_what_is_unpacked() {
    let scene = Scene::new();
    let pack = scene.packed(&["1111"]);
    let bytes = fs::read(&pack).unwrap();
    let there = Scene::empty();
    there.unpack(&pack, &[]);
    let whole = there.files();
    let undo = || assert_eq!(there.run(&["undo", "--yes"]).status.code(), Some(0));
    undo();
    let file = there.work.join("changed");
    for at in (0..bytes.len()).step_by(31) {
        let mut changed = bytes.clone();
        changed[at] ^= 0x10;
        fs::write(&file, &changed).unwrap();
        let output = there.run(&["unpack", "changed", "--yes"]);
        // Some bits only tell how to decompress, and another way leads to the same bytes.
        if output.status.success() {
            assert_eq!(there.files(), whole, "byte {at}");
            undo();
        }
        assert_eq!(there.files(), [], "byte {at}");
    }
}
