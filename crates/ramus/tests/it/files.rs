//! `ramus files`: points, sources, and what must never happen.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;
use std::process::Output;

use serde_json::{Value, json as value};
use testkit::TestHome;

use crate::{run_json, run_ramus};

const ID: &str = "aaaa1111-0000-4000-8000-000000000000";

const SESSION: &str = r"
p1       user           make a kettle
-        snapshot:p1
a1 < p1  call:t1:Edit   #m1 kettle.txt
-        delta:p1:a1    kettle.txt=aaaaaaaaaaaaaaaa@v1
r1 < a1  result:t1      ok
a2 < r1  call:t2:Write  #m2 lid.txt
-        delta:p1:a2    lid.txt=null@v1
r2 < a2  result:t2      ok
e1 < r2  assistant      #m3 done
p2 < e1  user           make it red
-        snapshot:p2    kettle.txt=aaaaaaaaaaaaaaaa@v2 lid.txt=bbbbbbbbbbbbbbbb@v2 ../shelf.bin=cccccccccccccccc@v1 src/lid.txt=dddddddddddddddd@v1
e2 < p2  assistant      #m4 red
";

/// A home with one session, its backups, and what the tools left in it.
struct Kitchen {
    home: TestHome,
}

impl Kitchen {
    fn new() -> Self {
        let kitchen = Self { home: TestHome::new() };
        let outputs = [
            (
                "r1",
                value!({"filePath": "/home/dev/app/kettle.txt", "oldString": "cold", "newString": "hot",
                    "originalFile": "cold\n", "structuredPatch": [], "userModified": false, "replaceAll": false}),
            ),
            (
                "r2",
                value!({"type": "create", "filePath": "/home/dev/app/lid.txt", "content": "lid\n", "structuredPatch": []}),
            ),
        ];
        kitchen.write_session(SESSION, &outputs);
        kitchen.write_backup("aaaaaaaaaaaaaaaa@v1", b"cold\n");
        kitchen.write_backup("aaaaaaaaaaaaaaaa@v2", b"hot\n\tred\n");
        kitchen.write_backup("bbbbbbbbbbbbbbbb@v2", b"lid\n");
        kitchen.write_backup("cccccccccccccccc@v1", b"\xff\x00\x1b[31m");
        kitchen.write_backup("dddddddddddddddd@v1", b"other lid\n");
        kitchen
    }

    fn write_session(&self, short: &str, outputs: &[(&str, Value)]) {
        let mut jsonl = String::new();
        for line in testkit::jsonl(short).lines() {
            let mut record: Value = serde_json::from_str(line).unwrap();
            if let Some((_, output)) = outputs.iter().find(|(name, _)| record["uuid"] == *name) {
                record["toolUseResult"] = output.clone();
            }
            writeln!(jsonl, "{record}").unwrap();
        }
        self.home.write_file(&format!("-home-dev-app/{ID}.jsonl"), jsonl);
    }

    fn backup_dir(&self) -> PathBuf {
        self.home.claude_dir().join("file-history").join(ID)
    }

    fn write_backup(&self, name: &str, bytes: &[u8]) {
        fs::create_dir_all(self.backup_dir()).unwrap();
        fs::write(self.backup_dir().join(name), bytes).unwrap();
    }

    fn run_ramus(&self, args: &[&str]) -> Output {
        run_ramus(&self.home.claude_dir(), &[&["files"], args].concat())
    }

    /// Runs `ramus files` and returns its output and messages.
    #[track_caller]
    fn run_and_check(&self, args: &[&str], code: i32) -> (String, String) {
        let output = self.run_ramus(args);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(code), "{stdout}{stderr}");
        (stdout, stderr)
    }
}

#[test]
fn a_prompt_means_before_and_an_answer_after() {
    let kitchen = Kitchen::new();
    insta::assert_snapshot!(kitchen.run_and_check(&["aaaa:p1"], 0).0, @r"
    Before p1  01 Jan 00:00  make a kettle

    FILE                 STATE   SIZE  SOURCE        VERSION  NOTE
    kettle.txt           file     5 B  checkpoint         v1
    lid.txt              absent     ·  checkpoint
    src/lid.txt          file    10 B  first backup       v1
    /home/dev/shelf.bin  file     7 B  first backup       v1
    ");
    insta::assert_snapshot!(kitchen.run_and_check(&["aaaa:r1"], 0).0, @r"
    After r1  01 Jan 00:00

    FILE                 STATE   SIZE  SOURCE        VERSION  NOTE
    kettle.txt           file     4 B  edited
    lid.txt              absent     ·  checkpoint
    src/lid.txt          file    10 B  first backup       v1
    /home/dev/shelf.bin  file     7 B  first backup       v1
    ");
    insta::assert_snapshot!(kitchen.run_and_check(&["aaaa"], 0).0, @r"
    After e2  01 Jan 00:00

    FILE                 STATE  SIZE  SOURCE      VERSION  NOTE
    kettle.txt           file    9 B  checkpoint       v2
    lid.txt              file    4 B  checkpoint       v2
    src/lid.txt          file   10 B  checkpoint       v1
    /home/dev/shelf.bin  file    7 B  checkpoint       v1
    ");
}

#[test]
fn scripts_get_every_source() {
    let kitchen = Kitchen::new();
    let answer = run_json(&kitchen.home.claude_dir(), &["files", "aaaa:e1"]);
    assert_eq!(answer["schema"], "ramus.files/1");
    assert_eq!(
        [&answer["moment"], &answer["node"], &answer["cwd"]],
        ["after", "e1", "/home/dev/app"]
    );
    let row = |file: &Value| {
        format!(
            "{} {} {} {} {}",
            file["path"], file["state"], file["size"], file["source"], file["version"]
        )
    };
    let rows: Vec<String> = answer["files"].as_array().unwrap().iter().map(row).collect();
    insta::assert_snapshot!(rows.join("\n"), @r#"
    "/home/dev/app/kettle.txt" "file" 4 "edit" null
    "/home/dev/app/lid.txt" "file" 4 "write" null
    "/home/dev/app/src/lid.txt" "file" 10 "first" 1
    "/home/dev/shelf.bin" "file" 7 "first" 1
    "#);
    let one = run_json(&kitchen.home.claude_dir(), &["files", "aaaa:e1", "kettle.txt"]);
    assert_eq!(one["files"][0]["content"], "hot\n");
}

#[test]
fn one_file_is_printed_byte_for_byte() {
    let kitchen = Kitchen::new();
    assert_eq!(kitchen.run_ramus(&["aaaa:p2", "kettle.txt"]).stdout, b"hot\n\tred\n");
    assert_eq!(kitchen.run_ramus(&["aaaa:p2", "/home/dev/app/kettle.txt"]).stdout, b"hot\n\tred\n");
    assert_eq!(kitchen.run_ramus(&["aaaa:p2", "shelf.bin"]).stdout, b"\xff\x00\x1b[31m");
    assert_eq!(kitchen.run_ramus(&["aaaa:p2", "../shelf.bin"]).stdout, b"\xff\x00\x1b[31m");
    // The one in the project's directory outweighs others that end alike.
    assert_eq!(kitchen.run_ramus(&["aaaa:p2", "lid.txt"]).stdout, b"lid\n");
    let (_, stderr) = kitchen.run_and_check(&["aaaa:p2", "txt"], 1);
    assert!(stderr.contains("no file matches \"txt\""), "{stderr}");
    let (_, stderr) = kitchen.run_and_check(&["aaaa:p1", "lid.txt"], 1);
    assert!(stderr.contains("lid.txt did not exist"), "{stderr}");
}

#[test]
fn two_moments_are_compared() {
    let kitchen = Kitchen::new();
    insta::assert_snapshot!(kitchen.run_and_check(&["aaaa:p1", "--diff", "aaaa:p2"], 0).0, @r"
    --- a/kettle.txt
    +++ b/kettle.txt
    @@ -1 +1,2 @@
    -cold
    +hot
    +	red
    --- /dev/null
    +++ b/lid.txt
    @@ -0,0 +1 @@
    +lid
    ");
    insta::assert_snapshot!(kitchen.run_and_check(&["aaaa:p1", "--diff", "aaaa:p2", "--stat"], 0).0, @r"
    FILE        ADDED  REMOVED  NOTE
    kettle.txt     +2       −1
    lid.txt        +1       −0  new
    ");
    let (stdout, stderr) = kitchen.run_and_check(&["aaaa:p2", "--diff", "aaaa:p2"], 0);
    assert_eq!((&*stdout, &*stderr), ("", "No differences.\n"));
    let answer = run_json(
        &kitchen.home.claude_dir(),
        &["files", "aaaa:p1", "kettle.txt", "--diff", "aaaa:p2"],
    );
    let file = &answer["files"][0];
    assert_eq!(answer["files"].as_array().unwrap().len(), 1);
    assert_eq!(
        [&file["differs"], &file["added"], &file["removed"]],
        [&value!(true), &value!(2), &value!(1)]
    );
}

#[test]
fn the_tree_is_written_out_and_stays_inside() {
    let kitchen = Kitchen::new();
    let dir = kitchen.home.path().join("out");
    let into = dir.to_string_lossy().into_owned();
    let (_, stderr) = kitchen.run_and_check(&["aaaa:p2", "--into", &into], 0);
    assert!(stderr.contains("4 files written"), "{stderr}");
    assert_eq!(fs::read(dir.join("src/lid.txt")).unwrap(), b"other lid\n");
    assert_eq!(fs::read(dir.join("__outside__/home/dev/shelf.bin")).unwrap(), b"\xff\x00\x1b[31m");
    let (_, stderr) = kitchen.run_and_check(&["aaaa:p2", "--into", &into], 2);
    assert!(stderr.contains("is not empty") && stderr.contains("--force"), "{stderr}");
    kitchen.run_and_check(&["aaaa:p1", "--into", &into, "--force"], 0);
    assert_eq!(fs::read(dir.join("kettle.txt")).unwrap(), b"cold\n");
}

#[test]
fn a_transcript_cannot_make_us_open_another_file() {
    let kitchen = Kitchen::new();
    let secret = kitchen.home.path().join("secret@v1");
    fs::write(&secret, "secret").unwrap();
    fs::write(kitchen.home.claude_dir().join("secret@v1"), "secret").unwrap();
    kitchen.write_backup("0000000000000000@v1", b"fine\n");
    #[cfg(unix)]
    std::os::unix::fs::symlink(&secret, kitchen.backup_dir().join("eeeeeeeeeeeeeeee@v1")).unwrap();
    let long = "x".repeat(300);
    let names = [
        "../../secret@v1",
        &secret.to_string_lossy(),
        "../secret@v1",
        "eeeeeeeeeeeeeeee@v1",
        "..@v1",
        &format!("{long}@v1"),
        "0000000000000000@v1",
    ];
    let tracked: Vec<String> =
        names.iter().enumerate().map(|(n, name)| format!("f{n}={name}")).collect();
    let short =
        format!("p1  user  hello\n-  snapshot:p1  {}\ne1 < p1  assistant  hi", tracked.join(" "));
    kitchen.write_session(&short, &[]);
    let answer = run_json(&kitchen.home.claude_dir(), &["files", "aaaa:p1"]);
    for (n, file) in answer["files"].as_array().unwrap().iter().enumerate() {
        let expected =
            if n == 6 { ("file", Value::Null) } else { ("unknown", value!("backup-gone")) };
        assert_eq!((file["state"].as_str().unwrap(), file["doubt"].clone()), expected, "{file}");
    }
    let (_, stderr) = kitchen.run_and_check(&["aaaa:p1", "f0"], 1);
    assert!(stderr.contains("the backup no longer exists"), "{stderr}");
    let dir = kitchen.home.path().join("out");
    let (_, stderr) = kitchen.run_and_check(&["aaaa:p1", "--into", &dir.to_string_lossy()], 0);
    assert!(stderr.contains("1 file written") && stderr.contains("Skipped: "), "{stderr}");
}

#[test]
fn odd_keys_stay_in_the_tree() {
    let kitchen = Kitchen::new();
    let keys = ["../../../../../../etc/passwd", "/etc/shadow", "a/../../b", "./c", "__outside__/d"];
    let tracked: Vec<String> =
        keys.iter().map(|key| format!("{key}=aaaaaaaaaaaaaaaa@v1")).collect();
    let short =
        format!("p1  user  hello\n-  snapshot:p1  {}\ne1 < p1  assistant  hi", tracked.join(" "));
    kitchen.write_session(&short, &[]);
    let dir = kitchen.home.path().join("out");
    kitchen.run_and_check(&["aaaa:p1", "--into", &dir.to_string_lossy()], 0);
    for place in [
        "__outside__/etc/passwd",
        "__outside__/etc/shadow",
        "__outside__/home/dev/b",
        "c",
        "__outside__/home/dev/app/__outside__/d",
    ] {
        assert_eq!(fs::read(dir.join(place)).unwrap(), b"cold\n", "{place}");
    }
}

#[test]
fn lost_content_is_reported() {
    let kitchen = Kitchen::new();
    fs::remove_dir_all(kitchen.backup_dir()).unwrap();
    insta::assert_snapshot!(kitchen.run_and_check(&["aaaa:p2"], 0).0, @r"
    Before p2  01 Jan 00:00  make it red

    FILE                 STATE    SIZE  SOURCE   VERSION  NOTE
    kettle.txt           file      4 B  edited            the backup no longer exists
    lid.txt              file      4 B  written           the backup no longer exists
    src/lid.txt          unknown     ·  ·                 the backup no longer exists
    /home/dev/shelf.bin  unknown     ·  ·                 the backup no longer exists
    ");
    fs::create_dir_all(kitchen.backup_dir()).unwrap();
    // A directory, and a truncated backup: ramus gives the bytes that exist.
    fs::create_dir(kitchen.backup_dir().join("aaaaaaaaaaaaaaaa@v2")).unwrap();
    kitchen.write_backup("bbbbbbbbbbbbbbbb@v2", b"");
    let answer = run_json(&kitchen.home.claude_dir(), &["files", "aaaa:p2"]);
    let sizes: Vec<&Value> =
        answer["files"].as_array().unwrap().iter().map(|file| &file["size"]).collect();
    assert_eq!(sizes, [&value!(4), &value!(0), &Value::Null, &Value::Null]);
}

#[test]
fn a_session_without_files_is_reported() {
    let kitchen = Kitchen::new();
    kitchen.write_session("p1  user  hello\ne1 < p1  assistant  hi", &[]);
    let (_, stderr) = kitchen.run_and_check(&["aaaa"], 1);
    assert!(stderr.contains("no files were changed or backed up"), "{stderr}");
    kitchen.write_session("-  title  nothing said", &[]);
    kitchen.run_and_check(&["aaaa"], 1);
}

/// A session that ran in a directory of its own, whose files can be put back.
struct Workshop {
    kitchen: Kitchen,
    cwd: PathBuf,
}

impl Workshop {
    fn new() -> Self {
        let kitchen = Kitchen::new();
        let cwd = kitchen.home.path().join("app");
        fs::create_dir_all(cwd.join("src")).unwrap();
        let path = kitchen.home.claude_dir().join(format!("projects/-home-dev-app/{ID}.jsonl"));
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace("/home/dev/app", &cwd.to_string_lossy())).unwrap();
        fs::write(cwd.join("kettle.txt"), "by hand\n").unwrap();
        fs::write(cwd.join("lid.txt"), "lid\n").unwrap();
        fs::write(kitchen.home.path().join("shelf.bin"), "shelf").unwrap();
        Self { kitchen, cwd }
    }

    fn file_bytes(&self, name: &str) -> Option<Vec<u8>> {
        fs::read(self.cwd.join(name)).ok()
    }
}

#[test]
fn files_are_restored_and_the_restore_is_undone() {
    let workshop = Workshop::new();
    let restore = ["aaaa:p1", "--restore"];
    let (_, stderr) = workshop.kitchen.run_and_check(&[&restore[..], &["--dry-run"]].concat(), 0);
    for line in [
        "replace kettle.txt  +1 −1",
        "-by hand",
        "+cold",
        "delete  lid.txt  +0 −1",
        "create  src/lid.txt  +1 −0",
    ] {
        assert!(stderr.lines().any(|found| found.trim_end() == line), "{line}\n{stderr}");
    }
    assert!(stderr.contains("shelf.bin  outside of the project"), "{stderr}");
    assert_eq!(workshop.file_bytes("kettle.txt").unwrap(), b"by hand\n");
    let (_, stderr) = workshop.kitchen.run_and_check(&restore, 2);
    assert!(stderr.contains("no terminal to confirm on"), "{stderr}");

    let (_, stderr) = workshop.kitchen.run_and_check(&[&restore[..], &["--yes"]].concat(), 0);
    assert!(stderr.contains("Done as operation 1"), "{stderr}");
    assert_eq!(workshop.file_bytes("kettle.txt").unwrap(), b"cold\n");
    assert_eq!(workshop.file_bytes("lid.txt"), None);
    assert_eq!(workshop.file_bytes("src/lid.txt").unwrap(), b"other lid\n");
    assert_eq!(fs::read(workshop.kitchen.home.path().join("shelf.bin")).unwrap(), b"shelf");
    let (_, stderr) = workshop.kitchen.run_and_check(&[&restore[..], &["--yes"]].concat(), 0);
    assert!(stderr.contains("Nothing to restore"), "{stderr}");

    let undone = run_ramus(&workshop.kitchen.home.claude_dir(), &["undo", "--yes"]);
    assert!(undone.status.success(), "{}", String::from_utf8_lossy(&undone.stderr));
    assert_eq!(workshop.file_bytes("kettle.txt").unwrap(), b"by hand\n");
    assert_eq!(workshop.file_bytes("lid.txt").unwrap(), b"lid\n");
    assert_eq!(workshop.file_bytes("src/lid.txt"), None);
}

#[test]
fn a_session_without_a_directory_says_so_when_files_are_restored() {
    let kitchen = Kitchen::new();
    let path = kitchen.home.claude_dir().join(format!("projects/-home-dev-app/{ID}.jsonl"));
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace(r#""cwd":"#, r#""elsewhere":"#)).unwrap();
    let (_, stderr) = kitchen.run_and_check(&["aaaa:p1", "--restore", "--yes"], 2);
    assert!(stderr.contains("the session does not name its working directory"), "{stderr}");
    assert!(stderr.contains("use --into DIR"), "{stderr}");
}

#[cfg(unix)]
#[test]
fn backups_that_cannot_be_looked_at_stop_the_restoring() {
    let workshop = Workshop::new();
    let backups = workshop.kitchen.home.claude_dir().join("file-history");
    fs::rename(&backups, backups.with_extension("away")).unwrap();
    // A link to itself leads nowhere, which is not the same as nothing.
    std::os::unix::fs::symlink(&backups, &backups).unwrap();
    let (_, stderr) = workshop.kitchen.run_and_check(&["aaaa:p1", "--restore", "--yes"], 2);
    assert!(stderr.contains("file-history"), "{stderr}");
    assert_eq!(workshop.file_bytes("kettle.txt").unwrap(), b"by hand\n");
    assert_eq!(workshop.file_bytes("lid.txt").unwrap(), b"lid\n");
}

#[test]
fn links_and_foreign_places_are_left_alone() {
    let workshop = Workshop::new();
    let elsewhere = workshop.kitchen.home.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("lid.txt"), "mine\n").unwrap();
    #[cfg(unix)]
    {
        fs::remove_dir(workshop.cwd.join("src")).unwrap();
        std::os::unix::fs::symlink(&elsewhere, workshop.cwd.join("src")).unwrap();
        let (_, stderr) = workshop.kitchen.run_and_check(&["aaaa:p2", "--restore", "--yes"], 0);
        assert!(stderr.contains("leave   src/lid.txt  it is a symbolic link"), "{stderr}");
        assert_eq!(fs::read(elsewhere.join("lid.txt")).unwrap(), b"mine\n");
    }
    workshop.kitchen.run_and_check(&["aaaa:p2", "shelf.bin", "--restore", "--outside", "--yes"], 0);
    let shelf = workshop.kitchen.home.path().join("shelf.bin");
    assert_eq!(fs::read(shelf).unwrap(), b"\xff\x00\x1b[31m");
    fs::rename(&workshop.cwd, workshop.kitchen.home.path().join("moved")).unwrap();
    let (_, stderr) = workshop.kitchen.run_and_check(&["aaaa:p2", "--restore", "--yes"], 2);
    assert!(stderr.contains("does not exist here"), "{stderr}");
}

#[test]
fn branches_are_compared_by_their_backups() {
    let kitchen = Kitchen::new();
    let short = r"
p1       user           make a kettle
-        snapshot:p1
a1 < p1  call:t1:Write  #m1 kettle.txt
-        delta:p1:a1    kettle.txt=null@v1
r1 < a1  result:t1      ok
a2 < r1  call:t2:Bash   #m2 paint it
r2 < a2  result:t2      ok
p2 < r2  user           well
-        snapshot:p2    kettle.txt=aaaaaaaaaaaaaaaa@v2
e2 < p2  assistant      #m4 thanks
p3 < p1  user           no kettle
e3 < p3  assistant      #m5 none
";
    let path = "/home/dev/app/kettle.txt";
    let output =
        value!({"type": "create", "filePath": path, "content": "hot\n", "structuredPatch": []});
    kitchen.write_session(short, &[("r1", output)]);
    let answer = run_json(&kitchen.home.claude_dir(), &["diff", "aaaa:e2", "aaaa:e3"]);
    let file = &answer["files"][0];
    assert_eq!(file["path"], path);
    assert_eq!(file["a"]["content"], "hot\n\tred\n", "as the command left it");
    assert_eq!([&file["b"]["known"], &file["b"]["content"]], [&value!(true), &Value::Null]);
}
