//! Answers are the same with and without the cache, whatever happens to the files and to the cache.

use std::fs::{self, File, FileTimes};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use serde_json::Value;
use testkit::TestHome;

use crate::ramus_command;

/// After this many milliseconds a file can be recognised and cached.
const SETTLE_MS: u64 = 100;

/// Waits until all files can be recognised: only time can make them older.
fn wait_for_file_times() {
    std::thread::sleep(Duration::from_millis(SETTLE_MS + 20));
}

/// A Claude directory with a cache of its own.
struct CachedHistory {
    home: TestHome,
    cache: PathBuf,
    random: u64,
}

impl CachedHistory {
    fn new(seed: u64, sessions: usize) -> Self {
        let home = TestHome::new();
        testkit::write_corpus(&home, seed, sessions);
        let cache = home.path().join("cache");
        Self { home, cache, random: seed | 1 }
    }

    fn ramus_command(&self, args: &[&str]) -> Command {
        let mut command = ramus_command(&self.home.claude_dir(), args);
        command.env("RAMUS_CACHE_DIR", &self.cache);
        command.env("RAMUS_CACHE_SETTLE_MS", SETTLE_MS.to_string());
        command
    }

    fn run_answer(&self, args: &[&str]) -> (Option<i32>, String, String) {
        let output = self.ramus_command(args).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    }

    /// Asks everything with and without the cache.
    #[track_caller]
    fn check_same_answers(&self, when: &str) {
        let session = self
            .history_files()
            .into_iter()
            .find(|file| !file.to_string_lossy().contains("agent-"));
        let session = session.map(|file| file.to_string_lossy().into_owned()).unwrap_or_default();
        let all: [&[&str]; 18] = [
            &["projects", "--json"],
            &["sessions", "--all", "--json"],
            &["sessions"],
            &["sessions", "--active", "newest", "--json"],
            &["conversations", &session, "--json"],
            &["tree", &session],
            &["show", &session],
            &["stats", "--json"],
            &["stats", "--charts"],
            &["usage", "--json"],
            &["usage", "--by", "session"],
            &["usage", "--by", "conversation", "--json"],
            &["usage", "--by", "branch", "--since", "2020-01-01", "--json"],
            &["usage", "--model", "opus", "--json"],
            &["check", "--json"],
            &["find", "the", "--json"],
            &["find", "NEEDLE", "--json"],
            &["find", "--regex", "[a-z]+ing\\b", "--count"],
        ];
        for args in all {
            let plain = self.run_answer(&[args, &["--no-cache"]].concat());
            assert_eq!(self.run_answer(args), plain, "{when}: {args:?}");
        }
    }

    fn history_files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let mut open = vec![self.home.claude_dir().join("projects")];
        while let Some(dir) = open.pop() {
            for entry in fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    open.push(path);
                } else if path.extension().is_some_and(|extension| extension == "jsonl") {
                    files.push(path);
                }
            }
        }
        files.sort();
        files
    }

    fn random_below(&mut self, below: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random % below.max(1) as u64) as usize
    }

    /// Does something to each file.
    fn change_something(&mut self) {
        for (at, file) in self.history_files().into_iter().enumerate() {
            let bytes = fs::read(&file).unwrap();
            match self.random_below(10) {
                0 => append_bytes(&file, &record_line(at, self.random_below(1_000))),
                1 => append_bytes(&file, b"{\"type\":\"user\",\"uuid\":"),
                // The same size and the same date, but another word.
                2 => rewrite_file(&file, &bytes, b"the", b"eht"),
                3 => File::options()
                    .write(true)
                    .open(&file)
                    .unwrap()
                    .set_len(bytes.len() as u64 / 2)
                    .unwrap(),
                4 => {
                    let beside = file.with_extension("tmp");
                    fs::write(&beside, bytes.to_ascii_lowercase()).unwrap();
                    fs::rename(&beside, &file).unwrap();
                }
                5 => set_date(&file, SystemTime::now()),
                6 => set_date(&file, SystemTime::now() + Duration::from_secs(86_400)),
                7 => fs::remove_file(&file).unwrap(),
                8 => fs::write(
                    file.with_file_name(format!("{at:08}-0000-4000-8000-000000000000.jsonl")),
                    bytes,
                )
                .unwrap(),
                _ => {}
            }
        }
    }
}

fn record_line(at: usize, n: usize) -> Vec<u8> {
    format!("{{\"parentUuid\":null,\"type\":\"user\",\"uuid\":\"new-{at}-{n}\",\"message\":{{\"role\":\"user\",\"content\":\"the NEEDLE {n}\"}},\"timestamp\":\"2026-02-03T04:05:06.{n:03}Z\"}}\n").into_bytes()
}

fn append_bytes(file: &Path, bytes: &[u8]) {
    use std::io::Write;
    File::options().append(true).open(file).unwrap().write_all(bytes).unwrap();
}

fn rewrite_file(file: &Path, bytes: &[u8], from: &[u8], to: &[u8]) {
    let modified = fs::metadata(file).unwrap().modified().unwrap();
    let mut bytes = bytes.to_vec();
    while let Some(at) = bytes.windows(from.len()).position(|window| window == from) {
        bytes[at..at + to.len()].copy_from_slice(to);
    }
    fs::write(file, bytes).unwrap();
    set_date(file, modified);
}

fn set_date(file: &Path, date: SystemTime) {
    let file = File::options().write(true).open(file).unwrap();
    file.set_times(FileTimes::new().set_modified(date)).unwrap();
}

#[test]
fn whatever_happens_to_the_files() {
    let mut kept = CachedHistory::new(11, 24);
    wait_for_file_times();
    for round in 0..3 {
        kept.check_same_answers(&format!("round {round}, before"));
        kept.run_answer(&["cache", "build"]);
        kept.check_same_answers(&format!("round {round}, known"));
        kept.change_something();
        kept.check_same_answers(&format!("round {round}, changed"));
        wait_for_file_times();
    }
}

#[test]
fn a_large_session_is_read_on_from_where_it_ended() {
    let kept = CachedHistory::new(3, 2);
    let file = kept.history_files().remove(0);
    let long = "the same again ".repeat(600);
    for n in 0..300 {
        let text = String::from_utf8(record_line(1, n)).unwrap();
        append_bytes(&file, text.replace("the NEEDLE", &format!("{long} NEEDLE")).as_bytes());
    }
    wait_for_file_times();
    kept.check_same_answers("large");
    kept.check_same_answers("large and known");
    append_bytes(&file, &record_line(2, 1));
    kept.check_same_answers("large and grown");
    let bytes = fs::read(&file).unwrap();
    rewrite_file(&file, &bytes, b"NEEDLE 77", b"needle 88");
    append_bytes(&file, &record_line(2, 2));
    kept.check_same_answers("large, changed in the middle and grown");
    append_bytes(&file, b"{\"type\":");
    kept.check_same_answers("large and torn");
}

#[test]
fn a_cache_of_another_place_or_time_does_not_count() {
    let mut kept = CachedHistory::new(5, 12);
    wait_for_file_times();
    kept.run_answer(&["cache", "build"]);
    let old = kept.home.path().join("old");
    let status = Command::new("cp")
        .args(["-a", kept.cache.to_str().unwrap(), old.to_str().unwrap()])
        .status();
    assert!(status.unwrap().success());
    kept.change_something();
    wait_for_file_times();
    kept.check_same_answers("changed");
    kept.cache = old;
    kept.check_same_answers("with the cache from before");
    let packs = cache_files(&kept.cache);
    assert!(!packs.is_empty());
    for (n, pack) in packs.iter().enumerate() {
        let mut bytes = fs::read(pack).unwrap();
        let at = bytes.len() * (n % 7) / 7;
        match n % 3 {
            0 => bytes.truncate(at),
            1 => bytes[at] ^= 1,
            _ => bytes.extend(b"more"),
        }
        fs::write(pack, bytes).unwrap();
    }
    kept.check_same_answers("with a damaged cache");
}

fn cache_files(cache: &Path) -> Vec<PathBuf> {
    let versions = fs::read_dir(cache).unwrap().map(|entry| entry.unwrap().path());
    let ours = versions.filter(|path| path.is_dir() && !path.join("mine.txt").exists());
    let files = ours.flat_map(|dir| fs::read_dir(dir).unwrap());
    // Bits of gram filters are trusted, so they are linked only once they are on the disk.
    files
        .map(|file| file.unwrap().path())
        .filter(|file| file.extension().is_some_and(|it| it != "sketches"))
        .collect()
}

#[test]
fn killed_at_any_moment_and_two_at_once() {
    let kept = CachedHistory::new(7, 20);
    wait_for_file_times();
    let expected = kept.run_answer(&["sessions", "--json", "--no-cache"]).1;
    let start = |args: &[&str]| {
        kept.ramus_command(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    for round in 0..240u64 {
        if round % 6 == 0 {
            fs::remove_dir_all(&kept.cache).ok();
        }
        let mut first = start(&["cache", "build"]);
        let mut second = start(&["usage", "--json"]);
        std::thread::sleep(Duration::from_micros(round * 131 % 16_000));
        first.kill().unwrap();
        if round % 2 == 0 {
            second.kill().unwrap();
        }
        first.wait().unwrap();
        second.wait().unwrap();
        if round % 12 == 0 {
            assert_eq!(kept.run_answer(&["sessions", "--json"]).1, expected, "round {round}");
        }
    }
    kept.check_same_answers("after all of it");
}

#[test]
fn the_cache_is_private_and_contains_no_messages() {
    use std::os::unix::fs::PermissionsExt;
    let kept = CachedHistory::new(9, 8);
    let file = kept.history_files().remove(0);
    append_bytes(&file, b"{\"parentUuid\":null,\"type\":\"assistant\",\"uuid\":\"secret\",\"message\":{\"id\":\"m\",\"content\":[{\"type\":\"text\",\"text\":\"quetzalcoatl\"}]},\"timestamp\":\"2026-02-03T04:05:06.007Z\"}\n");
    wait_for_file_times();
    kept.run_answer(&["cache", "build"]);
    kept.run_answer(&["usage"]);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&kept.cache), 0o700);
    let mut held = 0;
    for version in fs::read_dir(&kept.cache).unwrap().map(|entry| entry.unwrap().path()) {
        for file in fs::read_dir(&version).into_iter().flatten().map(|entry| entry.unwrap().path())
        {
            let bytes = fs::read(&file).unwrap();
            held += bytes.len();
            assert_eq!(mode(&file), 0o600, "{}", file.display());
            assert!(!bytes.windows(12).any(|window| window == b"quetzalcoatl"));
        }
    }
    let status: Value = serde_json::from_str(&kept.run_answer(&["cache", "--json"]).1).unwrap();
    assert_eq!(status["schema"], "ramus.cache/1");
    assert_eq!(status["bytes"], held);
    let text = kept.run_answer(&["cache", "clear"]).1;
    assert!(text.starts_with("0 B in 0 files in "), "{text}");
    assert!(cache_files(&kept.cache).is_empty());
}

#[test]
fn what_is_gone_is_forgotten() {
    let kept = CachedHistory::new(6, 6);
    wait_for_file_times();
    kept.run_answer(&["cache", "build"]);
    kept.run_answer(&["usage"]);
    let projects = kept.home.claude_dir().join("projects");
    assert!(!cache_files(&kept.cache).is_empty());
    fs::remove_dir_all(&projects).unwrap();
    fs::create_dir(&projects).unwrap();
    fs::write(cache_files(&kept.cache)[0].with_extension("table.new"), "half").unwrap();
    let text = kept.run_answer(&["cache", "build"]).1;
    assert!(text.starts_with("0 B in 0 files in "), "{text}");
}

#[test]
fn what_else_lies_in_its_directory_is_let_be() {
    let kept = CachedHistory::new(4, 4);
    let mine = ["notes", "1-notes", "2026-11"].map(|name| kept.cache.join(name).join("mine.txt"));
    let old = kept.cache.join("0-0123456789abcdef/old.digests0");
    for file in mine.iter().chain([&old]) {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, "mine").unwrap();
    }
    wait_for_file_times();
    kept.run_answer(&["cache", "build"]);
    assert!(!cache_files(&kept.cache).is_empty());
    assert!(!old.exists(), "because another version wrote it");
    kept.run_answer(&["cache", "clear"]);
    assert!(mine.iter().all(|file| fs::read_to_string(file).is_ok_and(|text| text == "mine")));
}

#[test]
fn build_fills_every_level_or_reports_why_not() {
    let kept = CachedHistory::new(5, 4);
    wait_for_file_times();
    assert_eq!(kept.run_answer(&["cache", "build"]).0, Some(0));
    let packs = cache_files(&kept.cache);
    let levels: Vec<&str> = packs.iter().filter_map(|pack| pack.extension()?.to_str()).collect();
    for level in ["digests0", "accounts0", "activities0"] {
        assert!(levels.contains(&level), "{level} of {levels:?}");
    }
    fs::remove_dir_all(&kept.cache).unwrap();
    fs::write(&kept.cache, "a file in its place").unwrap();
    let (code, _, stderr) = kept.run_answer(&["cache", "build"]);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("cannot write") && stderr.contains("cache"), "{stderr}");
    assert_eq!(kept.run_answer(&["sessions"]).0, Some(0));
}

/// Zeroes some bytes of every gram filter, from a position on.
fn zero_sketches(cache: &Path, from: u64) -> usize {
    use std::io::{Seek, SeekFrom, Write};
    let mut zeroed = 0;
    let mut open = vec![cache.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "sketches") {
                let length = fs::metadata(&path).unwrap().len();
                let mut file = File::options().write(true).open(&path).unwrap();
                file.seek(SeekFrom::Start(from)).unwrap();
                file.write_all(&vec![0; length.saturating_sub(from + 2_000) as usize]).unwrap();
                zeroed += 1;
            }
        }
    }
    zeroed
}

#[test]
fn bits_of_a_sketch_that_were_lost_hide_nothing() {
    let kept = CachedHistory::new(21, 12);
    let file = kept.history_files().remove(0);
    for n in 0..200 {
        append_bytes(&file, &record_line(7, n));
    }
    wait_for_file_times();
    kept.run_answer(&["cache", "build"]);
    kept.check_same_answers("built");
    assert!(zero_sketches(&kept.cache, 400) > 0);
    kept.check_same_answers("zeroed");
    // One more file, so that gram filters are written again and the old ones copied.
    fs::write(file.with_file_name("99999999-0000-4000-8000-000000000000.jsonl"), record_line(8, 1))
        .unwrap();
    wait_for_file_times();
    kept.run_answer(&["cache", "build"]);
    kept.check_same_answers("built again");
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_are_no_text_are_not_mixed_up() {
    use std::os::unix::ffi::OsStrExt;
    let kept = CachedHistory::new(22, 1);
    let dir = kept.history_files().remove(0).parent().unwrap().to_owned();
    let files = [(&b"one-\xff.jsonl"[..], 1), ("one-\u{fffd}.jsonl".as_bytes(), 2)];
    let files = files.map(|(name, n)| (dir.join(std::ffi::OsStr::from_bytes(name)), n));
    for (file, n) in &files {
        let text = String::from_utf8(record_line(*n, *n)).unwrap();
        fs::write(file, text.repeat(*n)).unwrap();
    }
    wait_for_file_times();
    kept.check_same_answers("new");
    kept.run_answer(&["cache", "build"]);
    kept.check_same_answers("known");
    kept.check_same_answers("known still");
    // Cached files come before files that are read again; lists still have a single order.
    for (file, n) in &files {
        let text = String::from_utf8(record_line(*n, *n)).unwrap();
        fs::write(file, text.repeat(n + 1)).unwrap();
        kept.check_same_answers("one of them changed");
        wait_for_file_times();
        kept.run_answer(&["cache", "build"]);
    }
}
