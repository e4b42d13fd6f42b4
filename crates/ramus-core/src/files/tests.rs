use std::collections::BTreeMap;
use std::fmt::Write;

use insta::assert_snapshot;
use serde_json::{Value, json};

use super::*;
use crate::body::RecordBody;
use crate::compare::PathPart;
use crate::history::History;
use crate::ids::RecordUuid;
use crate::resume::ResumeRule;
use crate::session::{NodeId, Session};

/// A session in short form, with what tools left in some of its records, and backups.
struct Fixture {
    jsonl: String,
    history: History,
    backups: BTreeMap<String, Vec<u8>>,
}

impl BackupReader for BTreeMap<String, Vec<u8>> {
    fn backup_size(&mut self, backup: &BackupRef) -> Option<u64> {
        self.get(&backup.name).map(|bytes| bytes.len() as u64)
    }

    fn read_backup(&mut self, backup: &BackupRef) -> Option<Vec<u8>> {
        self.get(&backup.name).cloned()
    }
}

impl Fixture {
    fn new(short: &str, outputs: &[(&str, Value)], backups: &[(&str, &[u8])]) -> Self {
        let mut jsonl = String::new();
        for line in testkit::jsonl(short).lines() {
            let mut record: Value = serde_json::from_str(line).unwrap();
            if let Some((_, output)) = outputs.iter().find(|(name, _)| record["uuid"] == *name) {
                record["toolUseResult"] = output.clone();
            }
            writeln!(jsonl, "{record}").unwrap();
        }
        let mut session = Session::default();
        session.push(jsonl.as_bytes());
        let backups = backups.iter().map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec()));
        Self {
            jsonl,
            history: History::new(session, ResumeRule::Client),
            backups: backups.collect(),
        }
    }

    fn body(&self, node: NodeId) -> Option<RecordBody> {
        let span = self.history.session.record(node).span;
        RecordBody::parse(&self.jsonl.as_bytes()[span.offset as usize..span.end_offset() as usize])
            .ok()
    }

    fn files(&self, name: &str) -> Vec<FileState> {
        let node = self.history.node_by_uuid(RecordUuid::new(name.as_bytes())).unwrap();
        let path = match self.history.conversation_of(node) {
            Some(conversation) => self.history.conversation_path(conversation),
            None => self.history.path_to(node).unwrap(),
        };
        let stretch = PathPart { history: &self.history, path: &path };
        let moment = path_point_of(&self.history, &path, node).unwrap();
        let mut backups = self.backups.clone();
        files_at(&[stretch], moment, &mut |_, node| self.body(node), &mut backups)
    }

    /// Draws the files as of some messages.
    #[track_caller]
    fn check(&self, names: &[&str]) -> String {
        let mut drawing = String::new();
        for name in names {
            writeln!(drawing, "{name}:").unwrap();
            for file in self.files(name) {
                let path = file.path.strip_prefix("/home/dev/app/").unwrap_or(&file.path);
                let held = match &file.content {
                    FileContent::Backup(backup) => {
                        format!("{} {:?}", backup.name, text(&self.backups[&backup.name]))
                    }
                    FileContent::Bytes(bytes) => format!("{:?}", text(bytes)),
                    FileContent::Absent => "absent".into(),
                    FileContent::Unknown => "?".into(),
                };
                let doubt = match &file.doubt {
                    Some(Doubt::CommandsRan(n)) => format!(" ({n} ran)"),
                    Some(doubt) => format!(" ({})", doubt.as_str()),
                    None => String::new(),
                };
                let read = if file.only_read { " only read" } else { "" };
                writeln!(drawing, "  {path}: {held} by {}{doubt}{read}", file.source.as_str())
                    .unwrap();
            }
        }
        drawing
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn edit(path: &str, original: Option<&str>, old: &str, new: &str) -> Value {
    json!({"filePath": format!("/home/dev/app/{path}"), "oldString": old, "newString": new,
        "originalFile": original, "structuredPatch": [], "userModified": false, "replaceAll": false})
}

fn write(path: &str, kind: &str, content: &str) -> Value {
    json!({"type": kind, "filePath": format!("/home/dev/app/{path}"), "content": content, "structuredPatch": []})
}

fn read(path: &str, content: &str) -> Value {
    let lines = content.lines().count();
    json!({"type": "text", "file": {"filePath": format!("/home/dev/app/{path}"), "content": content,
        "numLines": lines, "startLine": 1, "totalLines": lines}})
}

const CHECKED: &str = r"
-        snapshot:p1
p1       user           first
a1 < p1  call:t1:Edit   #m1 a
-        delta:p1:a1    a=aa@v1
r1 < a1  result:t1      ok
a2 < r1  call:t2:Write  #m2 n
-        delta:p1:a2    n=null@v1
r2 < a2  result:t2      ok
e1 < r2  assistant      #m3 done
-        snapshot:p2    a=aa@v2 n=nn@v2
p2 < e1  user           second
a3 < p2  call:t3:Edit   #m4 a
r3 < a3  result:t3      ok
e2 < r3  assistant      #m5 done
p3 < e2  user           third
-        snapshot:p3    a=aa@v3 n=nn@v2
a4 < p3  call:t4:Write  #m6 ../x
-        delta:p3:a4    ../x=xx@v1
r4 < a4  result:t4      ok
e3 < r4  assistant      #m7 done
";

fn checked() -> Fixture {
    let outputs = [
        ("r1", edit("a", Some("one\n"), "one", "1")),
        ("r2", write("n", "create", "new\n")),
        ("r3", edit("a", Some("1\n"), "1", "uno")),
        ("r4", write("../x", "update", "ex\n")),
    ];
    let backups: [(&str, &[u8]); 5] = [
        ("aa@v1", b"one\n"),
        ("aa@v2", b"1\n"),
        ("aa@v3", b"uno\n"),
        ("nn@v2", b"new\n"),
        ("xx@v1", b"old ex\n"),
    ];
    Fixture::new(CHECKED, &outputs, &backups)
}

#[test]
fn before_a_prompt_is_what_the_client_restores() {
    assert_snapshot!(checked().check(&["p1", "p2", "p3"]), @r#"
    p1:
      a: aa@v1 "one\n" by snapshot
      n: absent by snapshot
      /home/dev/x: xx@v1 "old ex\n" by first
    p2:
      a: aa@v2 "1\n" by snapshot
      n: nn@v2 "new\n" by snapshot
      /home/dev/x: xx@v1 "old ex\n" by first
    p3:
      a: aa@v3 "uno\n" by snapshot
      n: nn@v2 "new\n" by snapshot
      /home/dev/x: xx@v1 "old ex\n" by snapshot
    "#);
}

#[test]
fn after_a_message_its_changes_are_done() {
    assert_snapshot!(checked().check(&["a1", "r1", "e1", "a3", "e3"]), @r#"
    a1:
      a: "1\n" by edit
      n: absent by snapshot
      /home/dev/x: xx@v1 "old ex\n" by first
    r1:
      a: "1\n" by edit
      n: absent by snapshot
      /home/dev/x: xx@v1 "old ex\n" by first
    e1:
      a: "1\n" by edit
      n: "new\n" by write
      /home/dev/x: xx@v1 "old ex\n" by first
    a3:
      a: "uno\n" by edit
      n: nn@v2 "new\n" by snapshot
      /home/dev/x: xx@v1 "old ex\n" by first
    e3:
      a: aa@v3 "uno\n" by snapshot
      n: nn@v2 "new\n" by snapshot
      /home/dev/x: "ex\n" by write
    "#);
}

#[test]
fn a_checkpoint_made_too_late_is_seen() {
    let short = r"
-        snapshot:p1
p1       user           first
a1 < p1  call:t1:Edit   #m1 a
-        snapshot:p1:a1 a=aa@v1
r1 < a1  result:t1      ok
a2 < r1  call:t2:Write  #m2 n
-        snapshot:p1:a2 a=aa@v1 n=nn@v1
r2 < a2  result:t2      ok
p2 < r2  user           second
-        snapshot:p2    a=aa@v1 n=nn@v1
";
    let outputs =
        [("r1", edit("a", Some("one\ntwo\n"), "one", "1")), ("r2", write("n", "create", "new\n"))];
    let fixture = Fixture::new(short, &outputs, &[("aa@v1", b"1\r\ntwo\r\n"), ("nn@v1", b"new\n")]);
    assert_snapshot!(fixture.check(&["p1", "r1", "p2"]), @r#"
    p1:
      a: "one\r\ntwo\r\n" by original (late-backup)
      n: absent by original (late-backup)
    r1:
      a: "1\r\ntwo\r\n" by edit
      n: absent by original (late-backup)
    p2:
      a: aa@v1 "1\r\ntwo\r\n" by snapshot
      n: nn@v1 "new\n" by snapshot
    "#);
}

#[test]
fn what_commands_did_shows_at_the_next_prompt() {
    let short = r"
p1       user           first
-        snapshot:p1    a=aa@v1 b=bb@v1 c=cc@v1
a1 < p1  call:t1:Bash   #m1 make
r1 < a1  result:t1      ok
a2 < r1  call:t2:Bash   #m2 make more
r2 < a2  result:t2      ok
e1 < r2  assistant      #m3 made
p2 < e1  user           second
-        snapshot:p2    a=aa@v2 b=bb@v1 c=null@v2
a3 < p2  call:t3:Bash   #m4 make most
r3 < a3  result:t3      ok
e2 < r3  assistant      #m5 made
";
    let backups: [(&str, &[u8]); 4] =
        [("aa@v1", b"1"), ("aa@v2", b"2"), ("bb@v1", b"b"), ("cc@v1", b"c")];
    let fixture = Fixture::new(short, &[], &backups);
    assert_snapshot!(fixture.check(&["r1", "e1", "e2"]), @r#"
    r1:
      a: aa@v1 "1" by snapshot (1 ran)
      b: bb@v1 "b" by snapshot (1 ran)
      c: cc@v1 "c" by snapshot (1 ran)
    e1:
      a: aa@v2 "2" by next (2 ran)
      b: bb@v1 "b" by snapshot
      c: absent by next (2 ran)
    e2:
      a: aa@v2 "2" by snapshot (1 ran)
      b: bb@v1 "b" by snapshot (1 ran)
      c: absent by snapshot (1 ran)
    "#);
}

#[test]
fn a_checkpoint_after_a_rewind_does_not_apply_to_the_first_branch() {
    let short = r"
p1       user           first
-        snapshot:p1    a=aa@v1
a1 < p1  call:t1:Bash   #m1 make
r1 < a1  result:t1      ok
e1 < r1  assistant      #m2 made
p2 < e1  user           second
-        snapshot:p2    a=aa@v2
e2 < p2  assistant      #m3 well
p3 < e1  user           other second
-        snapshot:p3    a=aa@v3
e3 < p3  assistant      #m4 well
";
    let backups: [(&str, &[u8]); 3] = [("aa@v1", b"1"), ("aa@v2", b"2"), ("aa@v3", b"3")];
    let fixture = Fixture::new(short, &[], &backups);
    assert_snapshot!(fixture.check(&["e1", "p2", "p3"]), @r#"
    e1:
      a: aa@v1 "1" by snapshot (1 ran)
    p2:
      a: aa@v2 "2" by snapshot
    p3:
      a: aa@v3 "3" by snapshot
    "#);
}

#[test]
fn files_of_other_branches_go_back_to_their_beginning() {
    let short = r"
p1       user           first
-        snapshot:p1
e1 < p1  assistant      #m1 well
p2 < e1  user           one way
-        snapshot:p2
a2 < p2  call:t2:Write  #m2 n
-        delta:p2:a2    n=null@v1
r2 < a2  result:t2      ok
p3 < e1  user           other way
-        snapshot:p3    n=nn@v2
a3 < p3  call:t3:Edit   #m3 b
-        delta:p3:a3    b=bb@v1
r3 < a3  result:t3      ok
";
    let outputs =
        [("r2", write("n", "create", "new\n")), ("r3", edit("b", Some("b\n"), "b", "bee"))];
    let fixture = Fixture::new(short, &outputs, &[("nn@v2", b"new\n"), ("bb@v1", b"b\n")]);
    assert_snapshot!(fixture.check(&["p1", "r2", "r3"]), @r#"
    p1:
      b: bb@v1 "b\n" by first
      n: absent by first
    r2:
      b: bb@v1 "b\n" by first
      n: "new\n" by write
    r3:
      b: "bee\n" by edit
      n: nn@v2 "new\n" by snapshot
    "#);
}

#[test]
fn without_checkpoints_tools_tell() {
    let short = r"
p1       user           first
a1 < p1  call:t1:Read   #m1 a
r1 < a1  result:t1      ok
a2 < r1  call:t2:Edit   #m2 a
r2 < a2  result:t2      ok
p2 < r2  user           second
a3 < p2  call:t3:Bash   #m3 make
r3 < a3  result:t3      ok
a4 < r3  call:t4:Edit   #m4 late
r4 < a4  result:t4      ok
a5 < r4  call:t5:Edit   #m5 blind
r5 < a5  result:t5      ok
a6 < r5  call:t6:Read   #m6 other
r6 < a6  result:t6      ok
";
    let outputs = [
        ("r1", read("a", "one\n")),
        ("r2", edit("a", None, "one", "1")),
        ("r4", edit("late", Some("l\n"), "l", "L")),
        ("r5", edit("blind", None, "l", "L")),
        ("r6", read("other", "o\n")),
    ];
    let fixture = Fixture::new(short, &outputs, &[]);
    assert_snapshot!(fixture.check(&["p1", "r1", "p2", "r3", "r6"]), @r#"
    p1:
      a: "one\n" by read
      blind: ? by nothing (unseen)
      late: "l\n" by original (1 ran)
      other: "o\n" by read (1 ran) only read
    r1:
      a: "one\n" by read
      blind: ? by nothing (unseen)
      late: "l\n" by original (1 ran)
      other: "o\n" by read (1 ran) only read
    p2:
      a: "1\n" by edit
      blind: ? by nothing (unseen)
      late: "l\n" by original (1 ran)
      other: "o\n" by read (1 ran) only read
    r3:
      a: "1\n" by edit (1 ran)
      blind: ? by nothing (unseen)
      late: "l\n" by original
      other: "o\n" by read only read
    r6:
      a: "1\n" by edit (1 ran)
      blind: ? by nothing (unseen)
      late: "L\n" by edit
      other: "o\n" by read only read
    "#);
}

#[test]
fn a_lost_backup_is_replaced_by_what_tools_tell() {
    let mut fixture = checked();
    fixture.backups.remove("aa@v2");
    fixture.backups.remove("xx@v1");
    assert_snapshot!(fixture.check(&["p1", "p2", "a3", "p3"]), @r#"
    p1:
      a: aa@v1 "one\n" by snapshot
      n: absent by snapshot
      /home/dev/x: ? by nothing (backup-gone)
    p2:
      a: "1\n" by edit (backup-gone)
      n: nn@v2 "new\n" by snapshot
      /home/dev/x: ? by nothing (backup-gone)
    a3:
      a: "uno\n" by edit
      n: nn@v2 "new\n" by snapshot
      /home/dev/x: ? by nothing (backup-gone)
    p3:
      a: aa@v3 "uno\n" by snapshot
      n: nn@v2 "new\n" by snapshot
      /home/dev/x: ? by nothing (backup-gone)
    "#);
    fixture.backups.clear();
    assert_snapshot!(fixture.check(&["p1", "p2", "e3"]), @r#"
    p1:
      a: "one\n" by original
      n: absent by snapshot
      /home/dev/x: ? by nothing (backup-gone)
    p2:
      a: "1\n" by edit (backup-gone)
      n: "new\n" by write (backup-gone)
      /home/dev/x: ? by nothing (backup-gone)
    e3:
      a: "uno\n" by edit (backup-gone)
      n: "new\n" by write (backup-gone)
      /home/dev/x: "ex\n" by write
    "#);
}

#[test]
fn a_lost_version_is_not_the_one_before() {
    let short = r"
p1       user         first
-        snapshot:p1  a=aa@v1 n=null@v1
e1 < p1  assistant    well
p2 < e1  user         second
-        snapshot:p2  a=aa@v2 n=nn@v2
e2 < p2  assistant    #m2 well
";
    let fixture = Fixture::new(short, &[], &[("aa@v1", b"1")]);
    assert_snapshot!(fixture.check(&["e1", "p2", "e2"]), @r#"
    e1:
      a: aa@v1 "1" by snapshot
      n: absent by snapshot
    p2:
      a: ? by nothing (backup-gone)
      n: ? by nothing (backup-gone)
    e2:
      a: ? by nothing (backup-gone)
      n: ? by nothing (backup-gone)
    "#);
}

#[test]
fn an_outside_change_is_unknown_until_the_file_is_read() {
    let short = r"
p1       user                         first
-        snapshot:p1                  a=aa@v1
a1 < p1  call:t1:Edit                 #m1 a
r1 < a1  result:t1                    ok
o1 < r1  attachment:edited_text_file
a2 < o1  assistant                    #m2 hm
a3 < a2  call:t3:Read                 #m3 a
r3 < a3  result:t3                    ok
";
    let mut jsonl = String::new();
    for line in testkit::jsonl(short).lines() {
        let mut record: Value = serde_json::from_str(line).unwrap();
        if record["uuid"] == "o1" {
            record["attachment"] = json!({"type": "edited_text_file", "filename": "/home/dev/app/a", "snippet": "1\tx"});
        }
        if record["uuid"] == "r1" {
            record["toolUseResult"] = edit("a", Some("one\n"), "one", "1");
        }
        if record["uuid"] == "r3" {
            record["toolUseResult"] = read("a", "linted\n");
        }
        writeln!(jsonl, "{record}").unwrap();
    }
    let mut session = Session::default();
    session.push(jsonl.as_bytes());
    let history = History::new(session, ResumeRule::Client);
    let backups = BTreeMap::from([("aa@v1".to_owned(), b"one\n".to_vec())]);
    let fixture = Fixture { jsonl, history, backups };
    assert_snapshot!(fixture.check(&["r1", "o1", "r3"]), @r#"
    r1:
      a: "1\n" by edit
    o1:
      a: "linted\n" by read
    r3:
      a: "linted\n" by read
    "#);
}

#[test]
fn edits_keep_the_line_ends_of_the_backup() {
    let mut fixture = checked();
    fixture.backups.insert("aa@v2".into(), b"1\r\n".to_vec());
    assert_snapshot!(fixture.check(&["a3"]), @r#"
    a3:
      a: "uno\r\n" by edit
      n: nn@v2 "new\n" by snapshot
      /home/dev/x: xx@v1 "old ex\n" by first
    "#);
}

#[test]
fn odd_checkpoints_say_nothing() {
    let short = r"
p1       user       first
e1 < p1  assistant  well
";
    let mut jsonl = testkit::jsonl(short);
    for backup in [
        json!({"a": 7}),
        json!({"a": {"backupFileName": {"x": 1}, "version": 1}}),
        json!({"a": {"backupFileName": null, "version": "x"}}),
        json!({"": {"backupFileName": "../../../etc/passwd", "version": 1}}),
        json!([1, 2]),
    ] {
        let record = json!({"type": "file-history-snapshot", "messageId": "p1",
            "snapshot": {"messageId": "p1", "trackedFileBackups": backup}});
        writeln!(jsonl, "{record}").unwrap();
    }
    jsonl.push_str("{\"type\":\"file-history-delta\"}\n{\"type\":\"file-history-snapshot\"}\n");
    let mut session = Session::default();
    session.push(jsonl.as_bytes());
    let history = History::new(session, ResumeRule::Client);
    let fixture = Fixture { jsonl, history, backups: BTreeMap::new() };
    assert_snapshot!(fixture.check(&["p1", "e1"]), @r"
    p1:
      /home/dev/app: ? by nothing (backup-gone)
    e1:
      /home/dev/app: ? by nothing (backup-gone)
    ");
}
