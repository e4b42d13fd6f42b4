//! The archive on a PostgreSQL server.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use ramus_archive::{Archive, ArchiveError, ArchiveLocation, ArchiveTree, LazyArchive};
use ramus_store::overlay::ArchivedTree;
use ramus_store::real_path::real_path;
use testkit::{TestHome, TestPostgres};

use crate::bytes::{add, change_and_add, check_newest};

pub(crate) fn team_server() -> Option<TestPostgres> {
    let server = TestPostgres::start()?;
    Archive::initialize_server(&server.url("postgres"), true).unwrap();
    for person in ["alice", "bob"] {
        let sql = format!("CREATE ROLE {person} LOGIN IN ROLE ramus_member");
        server.query("postgres", "ramus", &sql);
    }
    server.query("postgres", "ramus", "CREATE ROLE carol LOGIN IN ROLE ramus_reader");
    Some(server)
}

pub(crate) fn connect(server: &TestPostgres, user: &str, machine: &str) -> Archive {
    Archive::connect(&server.url(user), machine).unwrap()
}

#[test]
fn no_archived_byte_is_lost_on_a_server() {
    let Some(server) = team_server() else { return };
    let home = TestHome::new();
    let archive = connect(&server, "alice", "laptop");
    change_and_add(&home, &archive, 0x5eed, 150);
    assert!(archive.verify(&|_| {}).unwrap().damaged.is_empty());
}

#[test]
fn what_is_there_is_not_sent_again() {
    let Some(server) = team_server() else { return };
    let home = TestHome::new();
    testkit::write_corpus(&home, 3, 12);
    home.write_file("-damaged/a.jsonl", [0, 255, 254, b'\n', b'{', 0xed, 0xa0, 0x80]);
    home.write_file("-damaged/b.jsonl", "");
    let archive = connect(&server, "alice", "laptop");
    let first = add(&archive, &home.claude_dir());
    assert_eq!((first.new, first.skipped), (first.files, 0));
    check_newest(&archive, &home.claude_dir());
    let again = add(&archive, &home.claude_dir());
    assert_eq!((again.unchanged, again.stored_bytes), (first.files, 0));
    // The same home on another machine: nothing is stored twice, and both have their files.
    let synced = add(&connect(&server, "alice", "desktop"), &home.claude_dir());
    assert_eq!((synced.new, synced.stored_bytes), (first.files, 0));
    let others = archive.other_sources().unwrap();
    assert_eq!(others.len(), 1);
    let (root, source) = &others[0];
    assert_eq!((&*source.owner, &*source.machine), ("alice", "desktop"));
    assert_eq!(archive.files(Some(root)).unwrap().len() as u64, first.files);
}

#[test]
fn a_file_that_is_named_twice_is_archived_once() {
    let Some(server) = team_server() else { return };
    let home = TestHome::new();
    home.write_file("-p/a.jsonl", "hello\n");
    let archive = connect(&server, "alice", "laptop");
    for content in ["hello\n", "hello\nagain\n"] {
        home.write_file("-p/a.jsonl", content);
        let place = ramus_store::claude_dir::ClaudeDirs::open(vec![home.claude_dir()]).unwrap();
        let projects = place.list_projects().projects;
        let (files, _) = ramus_store::owned::owned_files(&place.roots, &projects, true);
        let twice = [&files[..], &files[..]].concat();
        let now = ramus_core::time::Time::from_millis(1);
        archive.add(&twice, now, &|_| {}, &|problem| panic!("{problem}")).unwrap();
    }
    check_newest(&archive, &home.claude_dir());
    assert_eq!(server.query("postgres", "ramus", "SELECT count(*) FROM ramus.pieces"), "1");
}

#[test]
fn an_agent_that_names_no_possible_session_is_archived() {
    let Some(server) = team_server() else { return };
    let home = TestHome::new();
    let odd =
        "{\"type\":\"user\",\"sessionId\":\"a\\u0000b\",\"uuid\":\"u\",\"parentUuid\":null}\n";
    home.write_file("-p/agent-a1.jsonl", odd);
    let archive = connect(&server, "alice", "laptop");
    assert_eq!(add(&archive, &home.claude_dir()).new, 1);
    assert_eq!(archive.files(None).unwrap()[0].session, "");
    check_newest(&archive, &home.claude_dir());
}

#[test]
fn forgetting_removes_every_row_of_a_session() {
    let Some(server) = team_server() else { return };
    let home = TestHome::new();
    let archive = connect(&server, "alice", "laptop");
    for session in ["a", "b"] {
        home.write_file(&format!("-p/{session}.jsonl"), "the same\n".repeat(100));
        home.write_file(&format!("-p/{session}/tool-results/x.txt"), format!("only {session}"));
    }
    add(&archive, &home.claude_dir());
    let sessions = archive.sessions(None).unwrap();
    let forgotten = archive.forget(&sessions[0]).unwrap();
    assert_eq!((forgotten.files, forgotten.generations), (2, 2));
    let counts = "SELECT (SELECT count(*) FROM ramus.files), (SELECT count(*) FROM ramus.generations), \
        (SELECT count(*) FROM ramus.pieces), (SELECT count(*) FROM ramus.chunks)";
    assert_eq!(server.query("postgres", "ramus", counts), "2|2|2|2");
    assert!(archive.verify(&|_| {}).unwrap().damaged.is_empty());
}

#[test]
fn many_machines_push_while_the_server_is_killed() {
    let Some(mut server) = team_server() else { return };
    let home = TestHome::new();
    testkit::write_corpus(&home, 11, 30);
    let urls: Vec<String> = ["alice", "bob"].map(|user| server.url(user)).to_vec();
    // Five machines for each of two people, and every machine pushes twice at once.
    let archives: Vec<Archive> = (0..20)
        .map(|n| Archive::connect(&urls[n % 2], &format!("machine{}", n / 4)).unwrap())
        .collect();
    thread::scope(|scope| {
        let pushes: Vec<_> = archives
            .iter()
            .map(|archive| scope.spawn(|| add(archive, &home.claude_dir())))
            .collect();
        for _ in 0..3 {
            thread::sleep(Duration::from_millis(400));
            server.crash_and_restart();
        }
        let results: Vec<_> = pushes.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        assert!(results.iter().all(Result::is_ok), "a push did not get through");
    });
    for (n, url) in urls.iter().enumerate() {
        for machine in 0..5 {
            let archive = Archive::connect(url, &format!("machine{machine}")).unwrap();
            let root = real_path(&home.claude_dir()).unwrap();
            assert!(!archive.files(Some(&root)).unwrap().is_empty(), "{n} {machine}");
            check_newest(&archive, &home.claude_dir());
        }
    }
    let twice = "SELECT count(*) FROM (SELECT owner, machine, root, path FROM ramus.files \
        GROUP BY 1, 2, 3, 4 HAVING count(*) > 1) s";
    assert_eq!(server.query("postgres", "ramus", twice), "0");
}

#[test]
fn a_program_that_runs_for_hours_sees_what_others_add() {
    let Some(server) = team_server() else { return };
    let home = TestHome::new();
    let location =
        ArchiveLocation::Server { url: server.url("alice"), machine: "laptop".to_owned() };
    let place = Arc::new(LazyArchive::new(location));
    let tree = ArchiveTree::new(place, real_path(&home.claude_dir()).unwrap());
    let count = || ArchivedTree::files(&tree).unwrap().len();
    assert_eq!(count(), 0);
    home.write_file("-p/a.jsonl", "hello\n");
    add(&connect(&server, "alice", "laptop"), &home.claude_dir());
    assert_eq!(count(), 1);
}

#[test]
fn numbers_that_no_file_has_disturb_nobody() {
    let Some(server) = team_server() else { return };
    let home = TestHome::new();
    for session in ["a", "b", "c"] {
        home.write_file(&format!("-p/{session}.jsonl"), "hello\n");
    }
    let alice = connect(&server, "alice", "laptop");
    add(&alice, &home.claude_dir());
    alice.share_project("-p").unwrap();
    for (seconds, nanos, bytes) in
        [("-1", "-1", "-1"), ("9223372036854775807", "2147483647", "9223372036854775807")]
    {
        let sql = format!(
            "UPDATE ramus.generations SET modified_seconds = {seconds}, created_seconds = {seconds}, \
             modified_nanos = {nanos}, created_nanos = {nanos}, bytes = {bytes}, added = {seconds}, mode = -1"
        );
        server.query("alice", "ramus", &sql);
        let bob = Arc::new(LazyArchive::new(ArchiveLocation::Server {
            url: server.url("bob"),
            machine: "desk".to_owned(),
        }));
        let (root, _) = bob.open_existing().unwrap().unwrap().other_sources().unwrap().remove(0);
        let tree = ArchiveTree::new(bob, root);
        let files = ArchivedTree::files(&tree).unwrap();
        assert_eq!(files.len(), 3);
        assert_eq!(files.values().map(|file| file.bytes).sum::<u64>(), 0);
        assert!(files.values().all(|file| file.modified.elapsed().is_ok()));
    }
}

#[test]
fn a_chunk_of_somebody_else_is_not_taken_for_the_owners() {
    let Some(server) = team_server() else { return };
    let home = TestHome::new();
    home.write_file("-p/a.jsonl", "hello\n");
    let alice = connect(&server, "alice", "laptop");
    add(&alice, &home.claude_dir());
    alice.share_project("-p").unwrap();
    let poison = "INSERT INTO ramus.chunks SELECT 'bob', hash, bytes, 'garbage' FROM ramus.chunks";
    server.query("bob", "ramus", poison);
    let bob = connect(&server, "bob", "desk");
    let (root, _) = bob.other_sources().unwrap().remove(0);
    let file = bob.files(Some(&root)).unwrap().remove(0);
    assert_eq!(bob.content(&file, None).unwrap().read_all().unwrap(), b"hello\n");
}

#[test]
fn the_version_changes_with_every_share() {
    let Some(server) = team_server() else { return };
    let home = TestHome::new();
    home.write_file("-p/a.jsonl", "hello\n");
    home.write_file("-q/b.jsonl", "hello\n");
    let alice = connect(&server, "alice", "laptop");
    add(&alice, &home.claude_dir());
    alice.share_project("-p").unwrap();
    let location = ArchiveLocation::Server { url: server.url("bob"), machine: "desk".to_owned() };
    let place = Arc::new(LazyArchive::new(location));
    let (root, _) = place.open_existing().unwrap().unwrap().other_sources().unwrap().remove(0);
    let tree = ArchiveTree::new(place, root);
    let names = || {
        let files = ArchivedTree::files(&tree).unwrap();
        files.keys().map(|path| path.display().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names(), ["projects/-p/a.jsonl"]);
    alice.share_project("-q").unwrap();
    alice.unshare_project("-p").unwrap();
    assert_eq!(names(), ["projects/-q/b.jsonl"]);
}

#[test]
fn errors_name_the_server_and_never_the_password() {
    let Some(server) = TestPostgres::start() else { return };
    let with_password = server.url("postgres").replace("postgres@", "postgres:hunter2@");
    let error = |url: &str| Archive::connect(url, "laptop").unwrap_err().to_string();
    let text = error(&with_password);
    assert!(text.contains("contains no archive yet") && !text.contains("hunter2"), "{text}");
    Archive::initialize_server(&with_password, false).unwrap();
    Archive::initialize_server(&with_password, false).unwrap();
    assert!(Archive::connect(&with_password, "laptop").is_ok());
    server.query("postgres", "ramus", "UPDATE ramus.schema_version SET version = 99");
    assert!(error(&with_password).contains("newer ramus"), "{}", error(&with_password));
    assert!(matches!(
        Archive::initialize_server(&with_password, false),
        Err(ArchiveError::Newer(_))
    ));
    server.query("postgres", "ramus", "UPDATE ramus.schema_version SET version = 1");
    server.query("postgres", "ramus", "CREATE ROLE dave LOGIN");
    let text = error(&server.url("dave"));
    assert!(text.contains("lack the right"), "{text}");
    let text = error(&server.url("nobody"));
    assert!(text.contains("does not exist"), "{text}");
    let text = error("postgres://eve:hunter2@127.0.0.1:1/ramus?connect_timeout=2");
    assert!(text.contains("cannot reach the server") && !text.contains("hunter2"), "{text}");
}

#[test]
fn a_server_that_says_nothing_is_given_up() {
    // It takes connections, and nobody ever answers.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    for mode in ["disable", "require"] {
        let url = format!("postgres://eve@127.0.0.1:{port}/ramus?connect_timeout=1&sslmode={mode}");
        let error = Archive::connect(&url, "laptop").unwrap_err().to_string();
        assert!(error.contains("did not answer within 1 second"), "{error}");
    }
}

#[test]
fn a_server_that_is_read_only_says_so() {
    let Some(server) = team_server() else { return };
    let home = TestHome::new();
    home.write_file("-p/a.jsonl", "hello\n");
    server.query("postgres", "ramus", "ALTER ROLE alice SET default_transaction_read_only = on");
    let archive = connect(&server, "alice", "laptop");
    let place = ramus_store::claude_dir::ClaudeDirs::open(vec![home.claude_dir()]).unwrap();
    let (files, _) =
        ramus_store::owned::owned_files(&place.roots, &place.list_projects().projects, true);
    let now = ramus_core::time::Time::from_millis(1);
    let error = archive.add(&files, now, &|_| {}, &|_| {}).unwrap_err().to_string();
    assert!(error.contains("read-only"), "{error}");
    assert_eq!(archive.files(None).unwrap(), Vec::new());
}
