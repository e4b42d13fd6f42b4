use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;

use proptest::prelude::*;
use ramus_core::session::Session;
use testkit::TestHome;

use super::*;

const ONE: &str = "-home-dev-app/11111111-0000-4000-8000-000000000000.jsonl";
const TWO: &str = "-home-dev-app/22222222-0000-4000-8000-000000000000.jsonl";

/// Follows a place by looking at all of it whenever a test says so.
struct Look {
    known: FollowedFiles,
    home: TestHome,
}

impl Look {
    fn new(home: TestHome, start: FollowStart) -> Self {
        Self { known: FollowedFiles::new(vec![home.claude_dir()], start), home }
    }

    /// Looks at everything and writes down what changed.
    fn all(&mut self) -> Vec<String> {
        self.settle(&DirtyPaths::all_dirty())
    }

    /// Looks as if the system had told of these paths.
    fn at(&mut self, relative: &[&str]) -> Vec<String> {
        let projects = self.home.claude_dir().join("projects");
        let paths = relative.iter().map(|path| projects.join(path)).collect();
        self.settle(&DirtyPaths { all: false, paths })
    }

    fn settle(&mut self, dirty: &DirtyPaths) -> Vec<String> {
        let mut said = Vec::new();
        let projects = self.home.claude_dir().join("projects");
        let listens = self.known.process_dirty(dirty, &mut |change| {
            said.push(told(&change, &projects));
            true
        });
        assert!(listens);
        said
    }

    fn append(&self, relative: &str, bytes: &[u8]) {
        let path = self.home.claude_dir().join("projects").join(relative);
        append(&path, bytes);
    }
}

fn append(path: &Path, bytes: &[u8]) {
    let mut file = OpenOptions::new().append(true).create(true).open(path).unwrap();
    file.write_all(bytes).unwrap();
}

fn told(change: &FollowEvent, projects: &Path) -> String {
    let name = |file: &HistoryFile| short(&file.path, projects);
    match change {
        FollowEvent::Found { file, at } => format!("found {} at {at}", name(file)),
        FollowEvent::Grew { file, lines } => {
            let text = String::from_utf8_lossy(&lines.bytes).replace('\n', "/");
            format!("grew {} {} {text}", name(file), lines.at)
        }
        FollowEvent::Rewritten { file } => format!("rewritten {}", name(file)),
        FollowEvent::Moved { from, file } => {
            format!("moved {} {}", short(from, projects), name(file))
        }
        FollowEvent::Gone { file } => format!("gone {}", name(file)),
        FollowEvent::Ready => "ready".to_owned(),
        FollowEvent::Polling { .. } => "polling".to_owned(),
        FollowEvent::Problem(problem) => format!("problem {}", short(&problem.path, projects)),
    }
}

/// The digits that tell the files of a test apart.
fn short(path: &Path, projects: &Path) -> String {
    let path = path.strip_prefix(projects).unwrap().to_string_lossy();
    path.replace("-home-dev-", "").replace("-0000-4000-8000-000000000000", "")
}

#[test]
fn only_complete_lines_are_reported_and_each_once() {
    let home = TestHome::new();
    home.write_file(ONE, "a\nhal");
    let mut look = Look::new(home, FollowStart::End);
    assert_eq!(look.all(), ["found app/11111111.jsonl at 2"]);
    look.append(ONE, b"f");
    assert_eq!(look.all(), [""; 0]);
    look.append(ONE, b"\nb\nc");
    assert_eq!(look.all(), ["grew app/11111111.jsonl 2 half/b/"]);
    assert_eq!(look.all(), [""; 0]);
    assert_eq!(look.at(&[ONE]), [""; 0]);
    look.append(ONE, b"\n");
    assert_eq!(look.at(&[ONE, ONE]), ["grew app/11111111.jsonl 9 c/"]);
}

#[test]
fn existing_content_is_reported_in_pieces() {
    let home = TestHome::new();
    let line = |letter: &str, size: usize| format!("{}\n", letter.repeat(size));
    let text = [line("a", 300_000), line("b", 100), line("c", 700_000), line("d", 10)].concat();
    home.write_file(ONE, &text);
    let mut known = FollowedFiles::new(vec![home.claude_dir()], FollowStart::Beginning);
    let mut joined = Vec::new();
    known.process_dirty(&DirtyPaths::all_dirty(), &mut |change| {
        if let FollowEvent::Grew { lines, .. } = change {
            assert_eq!(lines.at, joined.len() as u64);
            assert!(lines.bytes.ends_with(b"\n"));
            joined.extend(lines.bytes);
        }
        true
    });
    assert_eq!(joined, text.as_bytes());
}

#[test]
fn truncated_and_replaced_files_are_reported_again() {
    let home = TestHome::new();
    let path = home.write_file(ONE, "one\ntwo\n");
    let mut look = Look::new(home, FollowStart::End);
    look.all();
    fs::write(&path, "new\n").unwrap();
    let expected = ["rewritten app/11111111.jsonl", "grew app/11111111.jsonl 0 new/"];
    assert_eq!(look.all(), expected);
    // Longer than before, but not what it was.
    fs::write(&path, "other\nlines\n").unwrap();
    let expected = ["rewritten app/11111111.jsonl", "grew app/11111111.jsonl 0 other/lines/"];
    assert_eq!(look.at(&[ONE]), expected);
    let beside = path.with_extension("tmp");
    fs::write(&beside, "a replacement\n").unwrap();
    fs::rename(&beside, &path).unwrap();
    let expected = ["rewritten app/11111111.jsonl", "grew app/11111111.jsonl 0 a replacement/"];
    assert_eq!(look.at(&[ONE]), expected);
}

#[test]
fn a_replacement_that_only_adds_lines_is_growth() {
    let home = TestHome::new();
    let path = home.write_file(ONE, "one\n");
    let mut look = Look::new(home, FollowStart::End);
    look.all();
    let beside = path.with_extension("tmp");
    fs::write(&beside, "one\ntwo\n").unwrap();
    fs::rename(&beside, &path).unwrap();
    assert_eq!(look.at(&[ONE]), ["grew app/11111111.jsonl 4 two/"]);
}

#[test]
fn a_moved_file_is_the_same_file() {
    let home = TestHome::new();
    let path = home.write_file(ONE, "one\n");
    let mut look = Look::new(home, FollowStart::End);
    look.all();
    fs::rename(&path, path.with_file_name("22222222-0000-4000-8000-000000000000.jsonl")).unwrap();
    look.append(TWO, b"two\n");
    let expected =
        ["moved app/11111111.jsonl app/22222222.jsonl", "grew app/22222222.jsonl 4 two/"];
    // The system may tell of the old place first, and alone.
    assert_eq!(look.at(&[ONE]), expected);
    assert_eq!(look.at(&[TWO]), [""; 0]);
}

#[test]
fn a_moved_file_may_be_seen_at_its_new_place_first() {
    let home = TestHome::new();
    let path = home.write_file(ONE, "one\n");
    let mut look = Look::new(home, FollowStart::End);
    look.all();
    let dir = path.parent().unwrap().with_file_name("new");
    fs::create_dir(&dir).unwrap();
    fs::rename(&path, dir.join(path.file_name().unwrap())).unwrap();
    assert_eq!(look.at(&["new"]), ["moved app/11111111.jsonl new/11111111.jsonl"]);
    assert_eq!(look.at(&[ONE]), [""; 0]);
}

#[test]
fn a_file_moved_over_another_one_takes_its_place() {
    let home = TestHome::new();
    let one = home.write_file(ONE, "one\n");
    let two = home.write_file(TWO, "two\n");
    let mut look = Look::new(home, FollowStart::End);
    look.all();
    fs::rename(&one, &two).unwrap();
    let expected = ["gone app/22222222.jsonl", "moved app/11111111.jsonl app/22222222.jsonl"];
    assert_eq!(look.all(), expected);
}

#[test]
fn a_file_copied_away_and_deleted_is_recognised_by_what_it_holds() {
    let home = TestHome::new();
    let one = home.write_file(ONE, "one\n");
    let mut look = Look::new(home, FollowStart::End);
    look.all();
    // A copy is another file while both are there …
    look.home.write_file("-home-dev-lib/11111111-0000-4000-8000-000000000000.jsonl", "one\n");
    let expected = ["found lib/11111111.jsonl at 0", "grew lib/11111111.jsonl 0 one/"];
    assert_eq!(look.all(), expected);
    // … and the same one when the first is gone before it is seen.
    look.home.write_file("-home-dev-web/11111111-0000-4000-8000-000000000000.jsonl", "one\ntwo\n");
    fs::remove_file(one).unwrap();
    let expected =
        ["moved app/11111111.jsonl web/11111111.jsonl", "grew web/11111111.jsonl 4 two/"];
    assert_eq!(look.all(), expected);
}

#[test]
fn a_new_file_is_not_the_old_one_because_it_got_its_number() {
    let home = TestHome::new();
    let path = home.write_file(ONE, "one\n");
    let mut look = Look::new(home, FollowStart::End);
    look.all();
    fs::remove_file(path).unwrap();
    look.home.write_file(TWO, "two\n");
    let expected = [
        "found app/22222222.jsonl at 0",
        "grew app/22222222.jsonl 0 two/",
        "gone app/11111111.jsonl",
    ];
    assert_eq!(look.all(), expected);
}

#[test]
fn a_renamed_project_takes_all_its_files_along() {
    let home = TestHome::new();
    let agent = "-home-dev-app/11111111-0000-4000-8000-000000000000/subagents/agent-a1.jsonl";
    let path = home.write_file(ONE, "");
    home.write_file(agent, "a\n");
    let mut look = Look::new(home, FollowStart::End);
    look.all();
    let app = path.parent().unwrap();
    fs::rename(app, app.with_file_name("-home-dev-lib")).unwrap();
    let expected = [
        "moved app/11111111.jsonl lib/11111111.jsonl",
        "moved app/11111111/subagents/agent-a1.jsonl lib/11111111/subagents/agent-a1.jsonl",
    ];
    let mut said = look.at(&["-home-dev-app", "-home-dev-lib"]);
    said.sort();
    assert_eq!(said, expected);
}

#[test]
fn what_is_no_history_is_not_looked_at() {
    let home = TestHome::new();
    home.write_file(ONE, "one\n");
    let mut look = Look::new(home, FollowStart::End);
    look.all();
    look.home.write_file("-home-dev-app/notes.txt", "x\n");
    look.home
        .write_file("-home-dev-app/11111111-0000-4000-8000-000000000000/tool-results/t.jsonl", "x");
    let said = look.at(&[
        "-home-dev-app/notes.txt",
        "-home-dev-app/11111111-0000-4000-8000-000000000000/tool-results/t.jsonl",
        "-home-dev-app/11111111-0000-4000-8000-000000000000/tool-results",
        "elsewhere",
    ]);
    assert_eq!(said, [""; 0]);
}

#[cfg(unix)]
#[test]
fn an_unreadable_file_is_reported_once_and_the_rest_continues() {
    let home = TestHome::new();
    let path = home.claude_dir().join("projects/-home-dev-app");
    fs::create_dir_all(path.join("11111111-0000-4000-8000-000000000000.jsonl")).unwrap();
    home.write_file(TWO, "two\n");
    let mut look = Look::new(home, FollowStart::Beginning);
    let expected = [
        "problem app/11111111.jsonl",
        "found app/22222222.jsonl at 0",
        "grew app/22222222.jsonl 0 two/",
    ];
    assert_eq!(look.all(), expected);
    assert_eq!(look.all(), [""; 0]);
}

#[test]
fn lines_before_an_offset_are_whole() {
    let home = TestHome::new();
    let path = home.write_file(ONE, "one\ntwo\nthree\nfour");
    let before = |end, most| {
        let lines = lines_before(&path, end, most).unwrap();
        (lines.at, String::from_utf8(lines.bytes).unwrap())
    };
    assert_eq!(before(14, 7), (8, "three\n".to_owned()));
    assert_eq!(before(14, 2), (8, "three\n".to_owned()));
    assert_eq!(before(14, 11), (4, "two\nthree\n".to_owned()));
    assert_eq!(before(14, 99), (0, "one\ntwo\nthree\n".to_owned()));
    assert_eq!(before(0, 99), (0, String::new()));
    assert_eq!(first_lines(&path, 6).unwrap().bytes, b"one\n");
    assert_eq!(first_lines(&path, 99).unwrap().bytes, b"one\ntwo\nthree\n");
    assert_eq!(first_lines(&path, 2).unwrap().bytes, b"");
}

/// Where a reader is when a change reaches it.
fn have(lines: &FollowedLines, have: u64) -> Option<&str> {
    lines.bytes_after(have).map(|bytes| std::str::from_utf8(bytes).unwrap())
}

#[test]
fn a_reader_who_is_ahead_takes_only_what_is_new_to_it() {
    let lines = FollowedLines { at: 10, bytes: b"abc\n".to_vec() };
    assert_eq!(have(&lines, 10), Some("abc\n"));
    assert_eq!(have(&lines, 12), Some("c\n"));
    assert_eq!(have(&lines, 99), Some(""));
    assert_eq!(have(&lines, 9), None);
}

proptest! {
    #[test]
    fn any_cut_of_writes_gives_the_same_records(
        rows in prop::collection::vec(0..9u8, 1..20),
        cuts in prop::collection::vec((1usize..300, any::<bool>()), 1..40),
    ) {
        let short: Vec<String> = rows.iter().enumerate().map(|(at, row)| format!("n{at} < n{row} user words {row}")).collect();
        let text = testkit::jsonl(&short.join("\n"));
        let home = TestHome::new();
        let path = home.write_file(ONE, "");
        let mut known = FollowedFiles::new(vec![home.claude_dir()], FollowStart::End);
        let mut session = Session::default();
        let mut rest = text.as_bytes();
        let mut look = |session: &mut Session| known.process_dirty(&DirtyPaths::all_dirty(), &mut |change| {
            if let FollowEvent::Grew { lines, .. } = change {
                assert_eq!(lines.at, session.facts().bytes, "because no line is lost or doubled");
                session.push(&lines.bytes);
            }
            true
        });
        look(&mut session);
        for (size, looks) in cuts.iter().cycle() {
            let (piece, after) = rest.split_at(rest.len().min(*size));
            append(&path, piece);
            if *looks {
                look(&mut session);
                prop_assert!(session.torn_line_defect().is_none());
            }
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
        look(&mut session);
        let mut whole = Session::default();
        whole.push(text.as_bytes());
        prop_assert_eq!(format!("{:?}", session.records()), format!("{:?}", whole.records()));
    }
}

/// Both ways of following, live: changes come through the channel, nobody sleeps.
const WAYS: [WatchMode; 2] = [WatchMode::Events, WatchMode::Poll(Duration::from_millis(1))];

/// Long enough that only a lost change can exceed it.
const LONG: Duration = Duration::from_secs(60);

/// Waits for the change that a test names, and returns what was told up to it.
#[track_caller]
fn until(changes: &FollowEvents, home: &TestHome, wanted: &str) -> Vec<String> {
    let projects = home.claude_dir().join("projects");
    let mut said = Vec::new();
    while said.last().is_none_or(|last| last != wanted) {
        match changes.recv_timeout(LONG) {
            Ok(change) => said.push(told(&change, &projects)),
            Err(_) => panic!("no `{wanted}` after {said:?}"),
        }
    }
    said
}

#[test]
fn every_kind_of_change_is_reported_live() {
    for how in WAYS {
        let home = TestHome::new();
        let one = home.write_file(ONE, "one\n");
        let config = FollowConfig { mode: how, ..FollowConfig::default() };
        let changes = follow_files(vec![home.claude_dir()], &config).unwrap();
        assert_eq!(until(&changes, &home, "ready"), ["found app/11111111.jsonl at 4", "ready"]);
        append(&one, b"tw");
        append(&one, b"o\n");
        assert_eq!(until(&changes, &home, "grew app/11111111.jsonl 4 two/").len(), 1);
        // An agent's file in directories that are made for it.
        let agent = "-home-dev-app/11111111-0000-4000-8000-000000000000/subagents/agent-a1.jsonl";
        home.write_file(agent, "a\n");
        until(&changes, &home, "grew app/11111111/subagents/agent-a1.jsonl 0 a/");
        // A new project.
        let lib =
            home.write_file("-home-dev-lib/22222222-0000-4000-8000-000000000000.jsonl", "l\n");
        until(&changes, &home, "grew lib/22222222.jsonl 0 l/");
        append(&lib, b"m\n");
        until(&changes, &home, "grew lib/22222222.jsonl 2 m/");
        File::options().write(true).open(&one).unwrap().set_len(0).unwrap();
        until(&changes, &home, "rewritten app/11111111.jsonl");
        append(&one, b"three\n");
        until(&changes, &home, "grew app/11111111.jsonl 0 three/");
        fs::rename(&one, lib.with_file_name("33333333-0000-4000-8000-000000000000.jsonl")).unwrap();
        until(&changes, &home, "moved app/11111111.jsonl lib/33333333.jsonl");
        fs::remove_file(&lib).unwrap();
        until(&changes, &home, "gone lib/22222222.jsonl");
    }
}

#[test]
fn a_place_that_does_not_exist_yet_appears_by_itself() {
    for how in WAYS {
        let home = TestHome::new();
        fs::remove_dir_all(home.claude_dir()).unwrap();
        let config = FollowConfig { mode: how, ..FollowConfig::default() };
        let changes = follow_files(vec![home.claude_dir()], &config).unwrap();
        assert_eq!(until(&changes, &home, "ready"), ["ready"]);
        let one = home.write_file(ONE, "one\n");
        until(&changes, &home, "grew app/11111111.jsonl 0 one/");
        append(&one, b"two\n");
        until(&changes, &home, "grew app/11111111.jsonl 4 two/");
        // And again, after all of it was deleted.
        fs::remove_dir_all(home.claude_dir()).unwrap();
        until(&changes, &home, "gone app/11111111.jsonl");
        home.write_file(TWO, "two\n");
        until(&changes, &home, "grew app/22222222.jsonl 0 two/");
    }
}

#[test]
fn following_ends_when_the_receiver_is_dropped() {
    for how in WAYS {
        let home = TestHome::new();
        for number in 0..200 {
            home.write_file(
                &format!("-home-dev-app/{number:08}-0000-4000-8000-000000000000.jsonl"),
                "x\n",
            );
        }
        let config = FollowConfig { mode: how, start: FollowStart::Beginning };
        // Dropping joins the thread: once while it waits to be heard, once while it waits for news.
        let changes = follow_files(vec![home.claude_dir()], &config).unwrap();
        assert!(changes.recv().is_some());
        drop(changes);
        let changes = follow_files(vec![home.claude_dir()], &config).unwrap();
        until(&changes, &home, "ready");
        drop(changes);
    }
}

#[test]
fn writers_who_never_pause_lose_nothing() {
    const FILES: usize = 4;
    const LINES: usize = 500;
    for how in WAYS {
        let home = TestHome::new();
        let config = FollowConfig { mode: how, start: FollowStart::Beginning };
        let changes = follow_files(vec![home.claude_dir()], &config).unwrap();
        let paths: Vec<PathBuf> = (0..FILES)
            .map(|file| home.write_file(&format!("-home-dev-app/{file:08}.jsonl"), ""))
            .collect();
        let writer = thread::spawn(move || {
            for line in 0..LINES {
                for path in &paths {
                    let text = format!("{line}\n");
                    let (first, second) = text.split_at(line % text.len());
                    append(path, first.as_bytes());
                    append(path, second.as_bytes());
                }
            }
        });
        let expected: String = (0..LINES).map(|line| format!("{line}\n")).collect();
        let mut heard = std::collections::BTreeMap::<String, Vec<u8>>::new();
        while heard.len() < FILES || heard.values().any(|bytes| bytes.len() < expected.len()) {
            match changes.recv_timeout(LONG).expect("because lines are still missing") {
                FollowEvent::Grew { file, lines } => {
                    let bytes = heard.entry(file.id).or_default();
                    assert_eq!(lines.at, bytes.len() as u64);
                    bytes.extend(lines.bytes);
                }
                FollowEvent::Rewritten { file } => panic!("{} was only appended to", file.relative),
                _ => {}
            }
        }
        writer.join().unwrap();
        assert!(heard.values().all(|bytes| bytes == expected.as_bytes()));
    }
}

#[test]
fn a_file_moved_and_created_again_is_reported_once() {
    let home = TestHome::new();
    let path = home.write_file(ONE, "a\nb\n");
    let mut look = Look::new(home, FollowStart::End);
    look.all();
    let other = path.with_file_name("22222222-0000-4000-8000-000000000000.jsonl");
    fs::rename(&path, &other).unwrap();
    append(&path, b"new\n");
    append(&other, b"c\n");
    assert_eq!(
        look.all(),
        [
            "moved app/11111111.jsonl app/22222222.jsonl",
            "grew app/22222222.jsonl 4 c/",
            "found app/11111111.jsonl at 0",
            "grew app/11111111.jsonl 0 new/",
        ]
    );
}

#[test]
fn so_it_is_when_the_new_file_is_seen_first() {
    let home = TestHome::new();
    let path = home.write_file(ONE, "a\nb\n");
    let mut look = Look::new(home, FollowStart::End);
    look.all();
    fs::rename(&path, path.with_file_name("22222222-0000-4000-8000-000000000000.jsonl")).unwrap();
    append(&path, b"new\n");
    assert_eq!(look.at(&[ONE]), ["rewritten app/11111111.jsonl", "grew app/11111111.jsonl 0 new/"]);
    look.append(TWO, b"c\n");
    assert_eq!(look.at(&[TWO]), ["found app/22222222.jsonl at 4", "grew app/22222222.jsonl 4 c/"]);
}

#[test]
fn swapped_files_are_reported_once() {
    let home = TestHome::new();
    let one = home.write_file(ONE, "a\nb\n");
    let two = home.write_file(TWO, "x\ny\nz\n");
    let mut look = Look::new(home, FollowStart::End);
    look.all();
    let aside = one.with_file_name("aside");
    fs::rename(&one, &aside).unwrap();
    fs::rename(&two, &one).unwrap();
    fs::rename(&aside, &two).unwrap();
    append(&one, b"1\n");
    append(&two, b"2\n");
    let said = look.all();
    let grew: Vec<&String> = said.iter().filter(|said| said.starts_with("grew")).collect();
    assert_eq!(grew, ["grew app/11111111.jsonl 6 1/", "grew app/22222222.jsonl 4 2/"], "{said:?}");
}
