//! What goes wrong on a server: conflicts pass, and everything else is said in one sentence.

use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use ramus_archive::{Archive, ArchiveError};
use ramus_core::time::Time;
use ramus_store::claude_dir::ClaudeDirs;
use ramus_store::owned::owned_files;
use testkit::{TestHome, TestPostgres};

use crate::bytes::{Dice, add, check_newest};
use crate::postgres::{connect, team_server};

/// Lets every insertion of chunks fail with a state, from the call `from` on until the call `until`.
fn fail_with(server: &TestPostgres, state: &str, calls: &str) {
    let sql = format!(
        "CREATE SEQUENCE IF NOT EXISTS public.calls; GRANT ALL ON public.calls TO PUBLIC; \
         CREATE OR REPLACE FUNCTION public.fail() RETURNS trigger LANGUAGE plpgsql AS \
         $$ BEGIN IF nextval('public.calls') {calls} THEN RAISE EXCEPTION 'it failed' USING ERRCODE = '{state}'; \
         END IF; RETURN NULL; END $$; \
         CREATE OR REPLACE TRIGGER fail BEFORE INSERT ON ramus.chunks EXECUTE FUNCTION public.fail(); \
         ALTER SEQUENCE public.calls RESTART"
    );
    server.query("postgres", "ramus", &sql);
}

fn try_add(archive: &Archive, home: &TestHome) -> Result<u64, ArchiveError> {
    let place = ClaudeDirs::open(vec![home.claude_dir()]).unwrap();
    let (files, _) = owned_files(&place.roots, &place.list_projects().projects, true);
    archive.add(&files, Time::from_millis(1), &|_| {}, &|_| {}).map(|report| report.new)
}

#[test]
fn conflicts_and_lost_connections_are_tried_again() {
    let Some(server) = team_server() else { return };
    let alice = connect(&server, "alice", "laptop");
    for (n, state) in ["40001", "40P01", "08006", "57P01", "53300"].into_iter().enumerate() {
        let home = TestHome::new();
        home.write_file("-p/a.jsonl", format!("hello {n}\n"));
        fail_with(&server, state, "<= 3");
        assert_eq!(add(&alice, &home.claude_dir()).new, 1, "{state}");
        check_newest(&alice, &home.claude_dir());
    }
}

#[test]
fn what_does_not_pass_is_said_in_one_sentence() {
    let Some(server) = team_server() else { return };
    let home = TestHome::new();
    home.write_file("-p/a.jsonl", "hello\n");
    let alice = connect(&server, "alice", "laptop");
    for (state, words) in [
        ("53100", "no space left"),
        ("25006", "read-only"),
        ("42501", "you lack the right"),
        ("22000", "it failed (22000)"),
    ] {
        fail_with(&server, state, "> 0");
        let error = try_add(&alice, &home).unwrap_err().to_string();
        assert!(error.contains(words) && error.lines().count() == 1, "{error}");
        assert_eq!(server.query("postgres", "ramus", "SELECT count(*) FROM ramus.files"), "0");
    }
    fail_with(&server, "53100", "< 0");
    assert_eq!(try_add(&alice, &home).unwrap(), 1);
}

/// Connects a port of this machine to the socket of a server, and cuts connections at random.
struct CuttingProxy {
    port: u16,
    cuts: AtomicU64,
    is_over: AtomicBool,
}

impl CuttingProxy {
    fn serve(&self, listener: &TcpListener, socket: &str, seed: u64) {
        let mut dice = Dice(seed);
        for stream in listener.incoming() {
            if self.is_over.load(Ordering::Relaxed) {
                return;
            }
            let (Ok(client), Ok(server)) = (stream, UnixStream::connect(socket)) else { continue };
            // Most connections live long enough for something to get through.
            let limit = 20_000 + dice.below(6_000_000) as u64;
            let (client_back, server_back) =
                (client.try_clone().unwrap(), server.try_clone().unwrap());
            thread::spawn(move || drop(std::io::copy(&mut &server_back, &mut &client_back)));
            self.cuts.fetch_add(1, Ordering::Relaxed);
            thread::spawn(move || {
                use std::io::Read;
                drop(std::io::copy(&mut (&client).take(limit), &mut &server));
                drop(client.shutdown(std::net::Shutdown::Both));
                drop(server.shutdown(std::net::Shutdown::Both));
            });
        }
    }
}

#[test]
fn connections_that_are_cut_lose_nothing_and_store_nothing_twice() {
    let Some(server) = team_server() else { return };
    let home = TestHome::new();
    testkit::write_corpus(&home, 17, 12);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let proxy = CuttingProxy { port, cuts: AtomicU64::new(0), is_over: AtomicBool::new(false) };
    let socket = format!("{}/.s.PGSQL.5432", server.socket_dir().display());
    thread::scope(|scope| {
        scope.spawn(|| proxy.serve(&listener, &socket, 0xc0ffee));
        let url = format!("postgres://alice@127.0.0.1:{}/ramus?sslmode=disable", proxy.port);
        for machine in ["laptop", "desk"] {
            let archive = Archive::connect(&url, machine).unwrap();
            // A push that gives up is started again, as a hook would.
            let pushed = (0..50).any(|_| {
                let is_done = try_add(&archive, &home).is_ok();
                thread::sleep(Duration::from_millis(if is_done { 0 } else { 50 }));
                is_done
            });
            assert!(pushed, "{machine} is stuck");
        }
        proxy.is_over.store(true, Ordering::Relaxed);
        drop(TcpStream::connect(("127.0.0.1", proxy.port)));
    });
    assert!(proxy.cuts.load(Ordering::Relaxed) > 2);
    for machine in ["laptop", "desk"] {
        check_newest(&connect(&server, "alice", machine), &home.claude_dir());
    }
    let unused = "SELECT count(*) FROM ramus.chunks c WHERE NOT EXISTS \
        (SELECT 1 FROM ramus.pieces p WHERE p.owner = c.owner AND p.hash = c.hash)";
    assert_eq!(server.query("postgres", "ramus", unused), "0");
}
