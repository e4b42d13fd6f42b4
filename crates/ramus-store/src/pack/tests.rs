//! Packs that ramus did not make.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use tar::{EntryType, Header};

use super::manifest::{Manifest, PackedFile, PackedSession};
use super::read::{OpenPack, PackError, hex};
use super::{FORMAT, MANIFEST};

const ID: &str = "11111111-0000-4000-8000-000000000001";
const FILE: &str = "projects/-p/11111111-0000-4000-8000-000000000001.jsonl";

/// An entry of an archive: its name, its kind and its bytes.
type Raw<'a> = (&'a str, EntryType, &'a [u8]);

fn file(name: &str, bytes: &[u8]) -> PackedFile {
    let (name, sha256) = (name.to_owned(), hex(&Sha256::digest(bytes)));
    PackedFile { name, bytes: bytes.len() as u64, sha256, mode: None }
}

fn manifest(files: Vec<PackedFile>) -> Manifest {
    let session = PackedSession {
        id: ID.to_owned(),
        title: "t".to_owned(),
        directory: None,
        session_dir: None,
        version: None,
        started: None,
        last_active: None,
        messages: 0,
        conversations: 0,
        agents: 0,
        files,
        annotations: Vec::new(),
    };
    Manifest { format: FORMAT.to_owned(), redacted: false, sessions: vec![session] }
}

fn header(name: &str, kind: EntryType, size: u64) -> Header {
    let mut header = Header::new_gnu();
    let bytes = name.as_bytes();
    // `set_path` refuses what these tests need.
    header.as_old_mut().name[..bytes.len()].copy_from_slice(bytes);
    header.set_entry_type(kind);
    header.set_size(size);
    header.set_mode(0o600);
    header.set_cksum();
    header
}

fn archive(entries: &[Raw<'_>]) -> Vec<u8> {
    let mut tar = Vec::new();
    for (name, kind, bytes) in entries {
        tar.extend_from_slice(header(name, *kind, bytes.len() as u64).as_bytes());
        tar.extend_from_slice(bytes);
        tar.resize(tar.len().next_multiple_of(512), 0);
    }
    tar.resize(tar.len() + 1024, 0);
    tar
}

/// Writes a pack to a scratch directory and reads it; nothing may be left of it there.
fn read(manifest: &Manifest, entries: &[Raw<'_>]) -> Result<(), PackError> {
    let listed = serde_json::to_vec(manifest).unwrap();
    let mut all = vec![(MANIFEST, EntryType::Regular, &*listed)];
    all.extend_from_slice(entries);
    read_bytes(&zstd::encode_all(&*archive(&all), 1).unwrap())
}

fn read_bytes(bytes: &[u8]) -> Result<(), PackError> {
    let home = testkit::TestHome::new();
    let (path, temporary) = (home.path().join("pack"), home.path().join("tmp"));
    fs::write(&path, bytes).unwrap();
    fs::create_dir(&temporary).unwrap();
    let pack = OpenPack::read(&path, &temporary);
    let result = pack.map(|pack| assert!(pack.root().join(FILE).is_file()));
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0, "the directory is gone");
    result
}

#[track_caller]
fn is_refused(result: Result<(), PackError>, words: &str) {
    let error = result.unwrap_err().to_string();
    assert!(error.contains(words), "{error:?} does not say {words:?}");
}

const REGULAR: EntryType = EntryType::Regular;

#[test]
fn a_pack_of_one_file_is_read() {
    read(&manifest(vec![file(FILE, b"{}\n")]), &[(FILE, REGULAR, b"{}\n")]).unwrap();
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    let long = format!("projects/-p/{ID}/{}", "a/".repeat(3_000));
    for name in [
        "/etc/passwd",
        "../x",
        "projects/-p/../../x",
        "projects/-p/./x",
        "projects//x",
        "projects/-q/agent-a.jsonl",
        "projects/-p/other.jsonl",
        "projects/-p/22222222-0000-4000-8000-000000000001/tool-results/x",
        "file-history/../../x",
        "file-history/other/x@v1",
        "settings.json",
        "projects/-p/agent-a\\..\\x.jsonl",
        "projects/-p/agent-\u{1b}[2J.jsonl",
        "C:/x",
        "",
        &long,
    ] {
        let listed = manifest(vec![file(FILE, b""), file(name, b"")]);
        is_refused(read(&listed, &[(FILE, REGULAR, b"")]), "is refused");
        // It must not help to leave it out of the manifest.
        if name.len() < 100 {
            let listed = manifest(vec![file(FILE, b"")]);
            let entries = [(FILE, REGULAR, &b""[..]), (name, REGULAR, b"")];
            is_refused(read(&listed, &entries), "is refused");
        }
    }
}

#[test]
fn a_file_is_not_the_directory_of_another_one() {
    let outer = format!("projects/-p/{ID}/tool-results/x");
    let inner = format!("{outer}/y");
    let listed = manifest(vec![file(FILE, b""), file(&inner, b""), file(&outer, b"")]);
    let entries = [(FILE, REGULAR, &b""[..]), (&*inner, REGULAR, b""), (&*outer, REGULAR, b"")];
    is_refused(read(&listed, &entries), "is inside of another file");
}

#[test]
fn ids_and_first_files_must_fit_each_other() {
    for name in ["projects/-p/other.jsonl", "projects/../x.jsonl", "projects/-p", FILE] {
        let mut listed = manifest(vec![file(name, b"")]);
        if name == FILE {
            listed.sessions[0].id = "../../x".to_owned();
        }
        is_refused(read(&listed, &[(name, REGULAR, b"")]), "is refused");
    }
    is_refused(read(&manifest(Vec::new()), &[]), "is refused");
    let none = Manifest { sessions: Vec::new(), ..manifest(Vec::new()) };
    is_refused(read(&none, &[]), "no session");
}

#[test]
fn links_devices_and_directories_are_refused() {
    for kind in [
        EntryType::Symlink,
        EntryType::Link,
        EntryType::Char,
        EntryType::Block,
        EntryType::Fifo,
        EntryType::Directory,
        EntryType::Continuous,
        EntryType::GNUSparse,
        EntryType::GNULongLink,
        EntryType::XHeader,
        EntryType::XGlobalHeader,
    ] {
        is_refused(read(&manifest(vec![file(FILE, b"")]), &[(FILE, kind, b"")]), "is refused");
    }
}

#[test]
fn a_name_that_is_there_twice_is_refused() {
    let twice = manifest(vec![file(FILE, b""), file(FILE, b"")]);
    is_refused(read(&twice, &[(FILE, REGULAR, b""), (FILE, REGULAR, b"")]), "twice");
    let once = manifest(vec![file(FILE, b"")]);
    is_refused(read(&once, &[(FILE, REGULAR, b""), (FILE, REGULAR, b"")]), "not in its manifest");
    let mut same = manifest(vec![file(FILE, b"")]);
    same.sessions.push(same.sessions[0].clone());
    is_refused(read(&same, &[(FILE, REGULAR, b"")]), "is refused");
}

#[test]
fn sizes_and_hashes_are_compared() {
    let listed = manifest(vec![file(FILE, b"{}\n")]);
    is_refused(read(&listed, &[(FILE, REGULAR, b"{}\n{}\n")]), "differs from the manifest");
    is_refused(read(&listed, &[(FILE, REGULAR, b"[]\n")]), "the hash of");
    is_refused(read(&listed, &[]), "missing");
    let other = Manifest { format: "ramus.pack/9".to_owned(), ..listed };
    is_refused(read(&other, &[(FILE, REGULAR, b"{}\n")]), "ramus.pack/9");
}

#[test]
fn what_would_fill_the_disk_is_refused_before_it_does() {
    let mut large = file(FILE, b"");
    large.bytes = u64::MAX;
    is_refused(read(&manifest(vec![large.clone(), large]), &[]), "twice");
    let mut huge = file(FILE, b"");
    huge.bytes = 1 << 40;
    is_refused(read(&manifest(vec![huge]), &[]), "not plausible");
    // A manifest without an end, and a name without one.
    for (name, kind) in [(MANIFEST, REGULAR), ("././@LongLink", EntryType::GNULongName)] {
        let tar = header(name, kind, 1 << 36);
        is_refused(read_bytes(&zstd::encode_all(&tar.as_bytes()[..], 1).unwrap()), "too l");
    }
}

#[test]
fn an_archive_with_a_changed_byte_is_refused_or_read_as_it_was() {
    let listed = serde_json::to_vec(&manifest(vec![file(FILE, b"{}\n")])).unwrap();
    let tar = archive(&[(MANIFEST, REGULAR, &listed), (FILE, REGULAR, b"{}\n")]);
    for at in (0..tar.len()).step_by(11) {
        let mut changed = tar.clone();
        changed[at] ^= 0x01;
        // Whatever is read has the hash of what was written.
        let _ = read_bytes(&zstd::encode_all(&*changed, 1).unwrap());
    }
}

/// A pack of one file, uncompressed.
fn small_tar() -> Vec<u8> {
    let listed = serde_json::to_vec(&manifest(vec![file(FILE, b"{}\n")])).unwrap();
    archive(&[(MANIFEST, REGULAR, &listed), (FILE, REGULAR, b"{}\n")])
}

#[test]
fn a_pack_that_was_cut_off_anywhere_is_refused() {
    let packed = zstd::encode_all(&*small_tar(), 1).unwrap();
    read_bytes(&packed).unwrap();
    for end in 0..packed.len() {
        let error = read_bytes(&packed[..end]).unwrap_err().to_string();
        assert!(
            error.ends_with("/pack: the file ends in the middle")
                || error.contains("not a ramus pack"),
            "{end}: {error}"
        );
    }
    let tar = small_tar();
    // Without the blocks of nothing at its end an archive is whole, too.
    for end in (0..tar.len() - 1024).step_by(97) {
        let error = read_bytes(&zstd::encode_all(&tar[..end], 1).unwrap()).unwrap_err();
        // Between two entries nothing is cut.
        let is_said = match end % 512 {
            0 => {
                matches!(error, PackError::NoPack(_) | PackError::Damaged(_) | PackError::CutOff(_))
            }
            _ => matches!(error, PackError::CutOff(_)),
        };
        assert!(is_said, "{end}: {error}");
    }
}

#[test]
fn nothing_may_follow_a_pack() {
    let packed = zstd::encode_all(&*small_tar(), 1).unwrap();
    for rest in [&b"x"[..], b"more bytes than a header has", &[0; 600]] {
        is_refused(read_bytes(&[&packed, rest].concat()), "damaged");
    }
    let second = zstd::encode_all(&b"hidden"[..], 1).unwrap();
    is_refused(read_bytes(&[&packed[..], &second].concat()), "after the last file");
    let endless = zstd::encode_all(&*vec![0; 3 * 1024 * 1024], 1).unwrap();
    is_refused(read_bytes(&[&packed[..], &endless].concat()), "after the last file");
}

#[test]
fn a_pack_that_asks_for_much_memory_is_refused() {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(30).unwrap();
    encoder.write_all(&small_tar()).unwrap();
    is_refused(read_bytes(&encoder.finish().unwrap()), "too much memory");
}

#[test]
fn names_that_are_no_text_are_refused() {
    let listed = serde_json::to_vec(&manifest(vec![
        file(FILE, b""),
        file("projects/-p/agent-\u{fffd}.jsonl", b""),
    ]));
    let mut tar = archive(&[(MANIFEST, REGULAR, &listed.unwrap()), (FILE, REGULAR, b"")]);
    tar.truncate(tar.len() - 1024);
    let mut raw = header("projects/-p/agent-", REGULAR, 0);
    raw.as_old_mut().name[18] = 0xff;
    raw.as_old_mut().name[19..25].copy_from_slice(b".jsonl");
    raw.set_cksum();
    tar.extend_from_slice(raw.as_bytes());
    tar.resize(tar.len() + 1024, 0);
    is_refused(read_bytes(&zstd::encode_all(&*tar, 1).unwrap()), "is not text");
}

#[test]
fn sizes_that_no_file_has_are_refused_before_they_are_read() {
    let listed = serde_json::to_vec(&manifest(vec![file(FILE, b"")])).unwrap();
    for (kind, size) in [
        (REGULAR, u64::MAX),
        (REGULAR, 1 << 62),
        (EntryType::XHeader, 1 << 40),
        (EntryType::XGlobalHeader, u64::MAX),
        (EntryType::GNUSparse, 1 << 50),
        (EntryType::GNULongName, 1 << 50),
    ] {
        let mut tar = archive(&[(MANIFEST, REGULAR, &listed)]);
        tar.truncate(tar.len() - 1024);
        tar.extend_from_slice(header(FILE, kind, size).as_bytes());
        read_bytes(&zstd::encode_all(&*tar, 1).unwrap()).unwrap_err();
    }
    // A sparse file says that it is larger than what is stored of it.
    let mut sparse = header(FILE, EntryType::GNUSparse, 512);
    sparse.as_gnu_mut().unwrap().set_real_size(1 << 50);
    sparse.set_cksum();
    let mut tar = archive(&[(MANIFEST, REGULAR, &listed)]);
    tar.truncate(tar.len() - 1024);
    tar.extend_from_slice(sparse.as_bytes());
    tar.resize(tar.len() + 1536, 0);
    is_refused(read_bytes(&zstd::encode_all(&*tar, 1).unwrap()), "not a regular file");
}

#[test]
fn a_manifest_that_lies_is_refused() {
    let good = serde_json::to_value(manifest(vec![file(FILE, b"{}\n")])).unwrap();
    let refused = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut lie = good.clone();
        change(&mut lie);
        let listed = serde_json::to_vec(&lie).unwrap();
        let tar = archive(&[(MANIFEST, REGULAR, &listed), (FILE, REGULAR, b"{}\n")]);
        read_bytes(&zstd::encode_all(&*tar, 1).unwrap()).unwrap_err();
    };
    refused(&|lie| lie["sessions"][0]["files"][0]["bytes"] = 4.into());
    refused(&|lie| lie["sessions"][0]["files"][0]["bytes"] = (-1).into());
    refused(&|lie| lie["sessions"][0]["files"][0]["sha256"] = "".into());
    refused(&|lie| lie["sessions"][0]["files"][0]["sha256"] = "0".repeat(64).into());
    refused(&|lie| lie["sessions"][0]["id"] = "22222222-0000-4000-8000-000000000002".into());
    refused(&|lie| lie["sessions"] = serde_json::json!({}));
    refused(&|lie| lie["format"] = serde_json::Value::Null);
    let nested = "[".repeat(200_000);
    let tar = archive(&[(MANIFEST, REGULAR, nested.as_bytes())]);
    read_bytes(&zstd::encode_all(&*tar, 1).unwrap()).unwrap_err();
}

#[test]
fn long_names_are_written_and_read() {
    let home = testkit::TestHome::new();
    let name = format!("projects/-p/{ID}/tool-results/{}.txt", "x".repeat(200));
    let lines = home.write_file(&format!("-p/{ID}.jsonl"), testkit::jsonl("a user hello"));
    let source = |name: &str, path: &Path| super::PackSource {
        name: name.to_owned(),
        content: crate::plan::NewContent::Copy(path.to_owned()),
        mode: None,
    };
    let mut plan = super::PackPlan::new(super::PackOptions::default());
    let session = manifest(Vec::new()).sessions.remove(0);
    plan.add(session, vec![source(FILE, &lines), source(&name, &lines)]).unwrap();
    let path: PathBuf = home.path().join("pack");
    plan.write_file(&path).unwrap();
    let pack = OpenPack::read(&path, home.path()).unwrap();
    assert_eq!(fs::read(pack.root().join(&name)).unwrap(), fs::read(&lines).unwrap());
}

#[test]
fn a_file_that_changes_while_it_is_packed_is_noticed() {
    let home = testkit::TestHome::new();
    let path = home.write_file(&format!("-p/{ID}.jsonl"), "one\n");
    let source = super::PackSource {
        name: FILE.to_owned(),
        content: crate::plan::NewContent::Copy(path.clone()),
        mode: None,
    };
    let mut plan = super::PackPlan::new(super::PackOptions::default());
    plan.add(manifest(Vec::new()).sessions.remove(0), vec![source]).unwrap();
    for changed in ["two\n", "one\nmore\n", ""] {
        fs::write(&path, changed).unwrap();
        let out = home.path().join("pack");
        assert!(plan.write_file(&out).is_err(), "{changed:?}");
        assert!(!out.exists());
    }
}

#[test]
fn what_a_killed_process_left_is_removed() {
    let home = testkit::TestHome::new();
    let (path, temporary) = (home.path().join("pack"), home.path().join("tmp"));
    let left = temporary.join("ramus-pack-4294967295-x");
    let ours = temporary.join(format!("ramus-pack-{}-x", std::process::id()));
    for dir in [&left, &ours] {
        fs::create_dir_all(dir).unwrap();
    }
    let listed = serde_json::to_vec(&manifest(vec![file(FILE, b"")])).unwrap();
    let tar = archive(&[(MANIFEST, REGULAR, &listed), (FILE, REGULAR, b"")]);
    let mut packed = fs::File::create(&path).unwrap();
    packed.write_all(&zstd::encode_all(&*tar, 1).unwrap()).unwrap();
    OpenPack::read(&path, &temporary).unwrap();
    assert!(!left.exists() && ours.exists());
}
