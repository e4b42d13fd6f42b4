//! Bytes in are bytes out, whatever happens to the files and between two runs.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ramus_archive::add::AddReport;
use ramus_archive::{Archive, ArchiveLocation, ArchiveTree, FileKey, LazyArchive};
use ramus_core::time::Time;
use ramus_store::claude_dir::ClaudeDirs;
use ramus_store::overlay::ArchivedTree;
use ramus_store::owned::owned_files;
use ramus_store::real_path::real_path;
use testkit::TestHome;

pub(crate) fn add(archive: &Archive, claude: &Path) -> AddReport {
    let place = ClaudeDirs::open(vec![claude.to_owned()]).unwrap();
    let (files, problems) = owned_files(&place.roots, &place.list_projects().projects, true);
    assert!(problems.is_empty(), "{problems:?}");
    let on_problem = |problem: &ramus_store::PathError| panic!("{problem}");
    archive.add(&files, Time::from_millis(1), &|_| {}, &on_problem).unwrap()
}

fn archive(home: &TestHome) -> Archive {
    Archive::open(&home.path().join("data/archive.db")).unwrap()
}

/// Returns every regular file below a directory, by its path.
pub(crate) fn files_below(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![dir.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.insert(path.clone(), fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// Checks that the newest generation of every file is what lies on the disk.
pub(crate) fn check_newest(archive: &Archive, claude: &Path) {
    let claude = real_path(claude).unwrap();
    let mut on_disk = files_below(&claude.join("projects"));
    for file in archive.files(Some(&claude)).unwrap() {
        let content = archive.content(&file, None).unwrap().read_all().unwrap();
        if let Some(bytes) = on_disk.remove(&file.key.full_path()) {
            assert!(content == bytes, "{}", file.key.path.display());
        }
    }
    assert!(on_disk.is_empty(), "{:?}", on_disk.keys());
    let report = archive.verify(&|_| {}).unwrap();
    assert!(report.damaged.is_empty(), "{:?}", report.damaged);
}

#[test]
fn samples_and_generated_histories_come_back_byte_for_byte() {
    let home = TestHome::new();
    testkit::write_corpus(&home, 7, 40);
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ramus-core/tests/fixtures");
    for (n, bytes) in files_below(&samples).into_values().enumerate() {
        home.write_file(&format!("-samples/{n:08x}-0000-4000-8000-000000000000.jsonl"), bytes);
    }
    home.write_file("-damaged/a.jsonl", [0, 255, 254, b'\n', b'{', 0xed, 0xa0, 0x80]);
    home.write_file("-damaged/b.jsonl", "");
    home.write_file("-damaged/c.jsonl", "{\"type\":\"user\"".repeat(1_000_000));
    home.write_file("-damaged/c/tool-results/out.txt", vec![7; 9_000_000]);
    let archive = archive(&home);
    let first = add(&archive, &home.claude_dir());
    assert_eq!((first.new, first.skipped), (first.files, 0));
    check_newest(&archive, &home.claude_dir());
    let again = add(&archive, &home.claude_dir());
    assert_eq!((again.unchanged, again.added_bytes), (first.files, 0));
}

/// A small fixed source of chance.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % n.max(1) as u64) as usize
    }

    fn bytes(&mut self) -> Vec<u8> {
        let length = match self.below(20) {
            0 => self.below(5_000_000),
            1..5 => self.below(300_000),
            _ => self.below(3_000),
        };
        let (base, salt) = (self.below(200) as u8, self.below(1_000_000));
        (0..length).map(|n| base.wrapping_add(((n * 7 + n / (salt + 1)) % 50) as u8)).collect()
    }
}

/// What the archive must hold: for each file the contents that it had when it was archived.
pub(crate) type Expected = BTreeMap<PathBuf, Vec<Vec<u8>>>;

/// Notes what archiving a content means: a new generation, unless the last one is its beginning.
pub(crate) fn expect(expected: &mut Expected, path: PathBuf, bytes: Vec<u8>) {
    let generations = expected.entry(path).or_default();
    match generations.last_mut() {
        Some(last) if bytes.starts_with(last) => *last = bytes,
        _ => generations.push(bytes),
    }
}

pub(crate) fn change_something(dice: &mut Dice, dir: &Path) {
    let name = |n: usize| dir.join(format!("{n:08x}-0000-4000-8000-000000000000.jsonl"));
    let path = name(dice.below(6));
    let old = fs::read(&path).unwrap_or_default();
    match dice.below(7) {
        0 | 1 => fs::write(&path, [old, dice.bytes()].concat()).unwrap(),
        2 => fs::write(&path, dice.bytes()).unwrap(),
        3 => fs::write(&path, &old[..dice.below(old.len() + 1)]).unwrap(),
        4 if path.exists() => fs::rename(&path, name(dice.below(6))).unwrap(),
        5 if path.exists() => fs::remove_file(&path).unwrap(),
        _ => {
            // One byte in the middle, same length.
            let mut bytes = old;
            if let Some(at) = bytes.len().checked_sub(1).map(|last| dice.below(last + 1)) {
                bytes[at] ^= 1;
                fs::write(&path, bytes).unwrap();
            }
        }
    }
}

#[test]
fn no_archived_byte_is_lost_in_a_thousand_changes() {
    let home = TestHome::new();
    change_and_add(&home, &archive(&home), 0x9e37_79b9, 1_000);
}

/// Changes files and archives them in random order; every archived generation must stay as it was.
pub(crate) fn change_and_add(home: &TestHome, archive: &Archive, seed: u64, steps: usize) {
    let dir = home.claude_dir().join("projects/-p");
    fs::create_dir_all(&dir).unwrap();
    let root = real_path(&home.claude_dir()).unwrap();
    let (mut dice, mut expected) = (Dice(seed), Expected::new());
    for step in 0..steps {
        if dice.below(3) > 0 {
            change_something(&mut dice, &dir);
            continue;
        }
        add(archive, &home.claude_dir());
        for (path, bytes) in files_below(&real_path(&dir).unwrap()) {
            expect(&mut expected, path, bytes);
        }
        if step % 50 == 0 {
            check_generations(archive, &root, &expected);
        }
    }
    check_generations(archive, &root, &expected);
    assert!(expected.values().map(Vec::len).sum::<usize>() > steps / 20, "{expected:?}");
    assert!(archive.verify(&|_| {}).unwrap().damaged.is_empty());
}

#[track_caller]
pub(crate) fn check_generations(archive: &Archive, root: &Path, expected: &Expected) {
    let files = archive.files(Some(root)).unwrap();
    assert_eq!(files.len(), expected.len());
    for file in files {
        let FileKey { path, .. } = &file.key;
        let wanted = &expected[&file.key.full_path()];
        let generations = archive.generations(&file.key).unwrap();
        assert_eq!(generations.len(), wanted.len(), "{}", path.display());
        for (generation, wanted) in generations.iter().zip(wanted) {
            let content = archive.content(&file, Some(generation.number)).unwrap();
            let number = generation.number;
            assert!(content.read_all().unwrap() == *wanted, "{} {number}", path.display());
        }
    }
}

#[test]
fn a_file_that_grows_line_by_line_stays_few_chunks_and_one_generation() {
    let home = TestHome::new();
    let archive = archive(&home);
    let (mut text, long) = (String::new(), "x".repeat(2_000));
    for n in 0..200 {
        writeln!(text, "{{\"type\":\"user\",\"n\":{n},\"text\":\"{long}\"}}").unwrap();
        home.write_file("-p/s.jsonl", &text);
        let report = add(&archive, &home.claude_dir());
        assert_eq!(report.grown + report.new, 1);
    }
    check_newest(&archive, &home.claude_dir());
    let totals = archive.totals().unwrap();
    assert_eq!((totals.files, totals.generations), (1, 1));
    assert!(totals.chunks < 5, "{totals:?}");
}

#[test]
fn the_same_content_elsewhere_is_stored_once() {
    let home = TestHome::new();
    let archive = archive(&home);
    home.write_file("-p/a.jsonl", "hello\n".repeat(10_000));
    let first = add(&archive, &home.claude_dir());
    home.write_file("-q/b.jsonl", "hello\n".repeat(10_000));
    let second = add(&archive, &home.claude_dir());
    assert!(first.stored_bytes > 0);
    assert_eq!((second.new, second.stored_bytes), (1, 0));
    check_newest(&archive, &home.claude_dir());
}

#[test]
fn forgetting_a_session_leaves_all_others() {
    let home = TestHome::new();
    let archive = archive(&home);
    for session in ["a", "b"] {
        home.write_file(&format!("-p/{session}.jsonl"), "the same\n".repeat(100));
        home.write_file(&format!("-p/{session}/tool-results/x.txt"), format!("only {session}"));
    }
    add(&archive, &home.claude_dir());
    let sessions = archive.sessions(None).unwrap();
    let forgotten = archive.forget(&sessions[0]).unwrap();
    assert_eq!((forgotten.files, forgotten.generations), (2, 2));
    let left = archive.sessions(None).unwrap();
    assert_eq!(left.iter().map(|session| &*session.id).collect::<Vec<_>>(), ["b"]);
    let report = archive.verify(&|_| {}).unwrap();
    assert_eq!((report.files, report.damaged.len()), (2, 0));
    let bytes = fs::read(Path::new(archive.name())).unwrap();
    let is_there = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(is_there("only b") && !is_there("only a"));
}

#[test]
fn damage_is_found_and_never_handed_out() {
    let home = TestHome::new();
    let archive = archive(&home);
    let mut dice = Dice(1);
    let noise: Vec<u8> = (0..200_000).map(|_| dice.below(256) as u8).collect();
    home.write_file("-p/a.jsonl", &noise);
    home.write_file("-p/b.jsonl", "intact\n");
    add(&archive, &home.claude_dir());
    let path = Path::new(archive.name()).to_owned();
    let mut bytes = fs::read(&path).unwrap();
    // Noise is stored as it is, cut into pages.
    let at = bytes.windows(64).position(|window| window == &noise[100_000..100_064]);
    bytes[at.expect("because noise does not compress")] ^= 1;
    fs::write(&path, bytes).unwrap();
    let archive = Archive::open(&path).unwrap();
    let report = archive.verify(&|_| {}).unwrap();
    assert_eq!(report.damaged.len(), 1, "{:?}", report.damaged);
    assert!(report.damaged[0].path.ends_with("a.jsonl"));
    for file in archive.files(None).unwrap() {
        let read = archive.content(&file, None).unwrap().read_all();
        assert_eq!(read.is_err(), file.key.path.ends_with("a.jsonl"));
    }
}

#[test]
fn a_part_of_a_file_is_never_handed_out_as_the_whole() {
    for damage in [
        "DELETE FROM piece WHERE place = 1",
        "DELETE FROM piece",
        "INSERT INTO piece SELECT generation, place + 2, chunk FROM piece",
        "UPDATE generation SET bytes = bytes - 1",
    ] {
        let home = TestHome::new();
        home.write_file("-p/a.jsonl", vec![b'x'; 5_000_000]);
        let path = home.path().join("data/archive.db");
        add(&archive(&home), &home.claude_dir());
        rusqlite::Connection::open(&path).unwrap().execute(damage, []).unwrap();
        let archive = Archive::open(&path).unwrap();
        let file = &archive.files(None).unwrap()[0];
        assert!(archive.content(file, None).unwrap().read_all().is_err(), "{damage}");
        assert_eq!(archive.verify(&|_| {}).unwrap().damaged.len(), 1, "{damage}");
    }
}

#[test]
fn reading_an_archive_writes_nothing() {
    let home = TestHome::new();
    home.write_file("-p/a.jsonl", "hello\n");
    add(&archive(&home), &home.claude_dir());
    let path = home.path().join("data/archive.db");
    let state = || (fs::read(&path).unwrap(), path.metadata().unwrap().modified().unwrap());
    let before = state();
    let opened = Archive::open_existing(&path).unwrap().unwrap();
    assert_eq!(opened.files(None).unwrap().len(), 1);
    assert_eq!(state(), before);
}

#[test]
fn the_version_tells_of_changes_by_anybody() {
    let home = TestHome::new();
    let path = home.path().join("data/archive.db");
    let place = Arc::new(LazyArchive::new(ArchiveLocation::File(path)));
    let tree = ArchiveTree::new(place.clone(), real_path(&home.claude_dir()).unwrap());
    let count = || ArchivedTree::files(&tree).unwrap().len();
    assert_eq!((count(), place.open_existing().unwrap().is_none()), (0, true));
    home.write_file("-p/a.jsonl", "hello\n");
    add(&archive(&home), &home.claude_dir());
    assert_eq!(count(), 1, "another one made it meanwhile");
    home.write_file("-p/b.jsonl", "hello\n");
    add(place.open_or_create().unwrap(), &home.claude_dir());
    assert_eq!(count(), 2, "this one added to it");
    home.write_file("-p/c.jsonl", "hello\n");
    add(&archive(&home), &home.claude_dir());
    assert_eq!(count(), 3, "another one added to it");
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_read_an_archive() {
    use std::os::unix::fs::PermissionsExt;
    let home = TestHome::new();
    let archive = archive(&home);
    home.write_file("-p/a.jsonl", "hello\n");
    add(&archive, &home.claude_dir());
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(Path::new(archive.name())), 0o600);
    assert_eq!(mode(Path::new(archive.name()).parent().unwrap()), 0o700);
    fs::set_permissions(Path::new(archive.name()), fs::Permissions::from_mode(0o644)).unwrap();
    let path = Path::new(archive.name()).to_owned();
    drop(archive);
    Archive::open(&path).unwrap();
    assert_eq!(mode(&path), 0o600);
}

#[test]
fn what_is_no_archive_is_left_alone() {
    let home = TestHome::new();
    let path = home.path().join("notes.txt");
    fs::write(&path, "this is no database, but a text of some length\n".repeat(100)).unwrap();
    let before = fs::read(&path).unwrap();
    assert!(Archive::open(&path).is_err());
    assert_eq!(fs::read(&path).unwrap(), before);
    assert!(Archive::open_existing(&home.path().join("none")).unwrap().is_none());
    assert!(!home.path().join("none").exists());
}

#[test]
fn forgetting_gives_the_space_back() {
    let home = TestHome::new();
    let mut dice = Dice(7);
    let noise: Vec<u8> = (0..2_000_000).map(|_| dice.below(256) as u8).collect();
    home.write_file("-p/a.jsonl", noise);
    let archive = archive(&home);
    add(&archive, &home.claude_dir());
    let size = || home.path().join("data/archive.db").metadata().unwrap().len();
    let before = size();
    archive.forget(&archive.sessions(None).unwrap()[0]).unwrap();
    assert!(size() < before / 4, "{before} bytes became {}", size());
}
