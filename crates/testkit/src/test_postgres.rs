//! A PostgreSQL server for one test: its own data directory, reached by a socket in it, gone afterwards.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

use crate::skip_test;

/// A running server. The administrator is `postgres`; everybody may log in without a password.
#[derive(Debug)]
pub struct TestPostgres {
    dir: TempDir,
    programs: PathBuf,
    server: Child,
}

impl TestPostgres {
    /// Starts a server with an empty database `ramus`. `None`: PostgreSQL is not installed, and the test is skipped.
    ///
    /// # Panics
    ///
    /// If a server that is installed does not start.
    pub fn start() -> Option<Self> {
        let Some(programs) = installed_programs() else {
            skip_test("PostgreSQL is not installed");
            return None;
        };
        let dir = TempDir::new().unwrap();
        let data = dir.path().join("data");
        fs::create_dir(&data).unwrap();
        give_to_postgres(dir.path());
        give_to_postgres(&data);
        let made = as_postgres(&programs.join("initdb"))
            .args([
                "--no-sync",
                "--auth=trust",
                "--username=postgres",
                "--encoding=UTF8",
                "--pgdata",
            ])
            .arg(&data)
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let server = start_server(&programs, dir.path());
        let server = Self { dir, programs, server };
        server.wait_until_ready();
        server.query("postgres", "postgres", "CREATE DATABASE ramus");
        Some(server)
    }

    /// Returns the URL of the database for a user.
    pub fn url(&self, user: &str) -> String {
        let socket = self.dir.path().to_string_lossy().replace('/', "%2F");
        format!("postgres://{user}@{socket}/ramus")
    }

    /// Returns the directory with the server's socket.
    pub fn socket_dir(&self) -> &Path {
        self.dir.path()
    }

    /// Runs SQL with `psql` as a user; returns its output and whether it worked.
    pub fn psql(&self, user: &str, database: &str, sql: &str) -> Output {
        Command::new(self.programs.join("psql"))
            .args([
                "--no-psqlrc",
                "--quiet",
                "--tuples-only",
                "--no-align",
                "-v",
                "ON_ERROR_STOP=1",
            ])
            .args(["-h", &self.dir.path().to_string_lossy(), "-U", user, "-d", database, "-c", sql])
            .output()
            .unwrap()
    }

    /// Runs SQL that must work; returns its output.
    ///
    /// # Panics
    ///
    /// If it fails.
    #[track_caller]
    pub fn query(&self, user: &str, database: &str, sql: &str) -> String {
        let output = self.psql(user, database, sql);
        assert!(output.status.success(), "{sql}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Kills the server as a power cut would, and starts it again. The server ends with the thread that calls this.
    pub fn crash_and_restart(&mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
        // Its children end by themselves as soon as they notice.
        thread::sleep(Duration::from_millis(300));
        fs::remove_file(self.dir.path().join("data/postmaster.pid")).ok();
        self.server = start_server(&self.programs, self.dir.path());
        self.wait_until_ready();
    }

    fn wait_until_ready(&self) {
        for _ in 0..600 {
            if self.psql("postgres", "postgres", "SELECT 1").status.success() {
                return;
            }
            thread::sleep(Duration::from_millis(50));
        }
        let log = fs::read_to_string(self.dir.path().join("log")).unwrap_or_default();
        panic!("the server does not answer: {log}");
    }
}

impl Drop for TestPostgres {
    fn drop(&mut self) {
        self.server.kill().ok();
        self.server.wait().ok();
    }
}

fn start_server(programs: &Path, dir: &Path) -> Child {
    let log = fs::File::create(dir.join("log")).unwrap();
    as_postgres(&programs.join("postgres"))
        .args(["-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=100", "-k"])
        .arg(dir)
        .arg("-D")
        .arg(dir.join("data"))
        .stdin(Stdio::null())
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .spawn()
        .unwrap()
}

/// Debian keeps the programs of each version in a directory of their own. `RAMUS_TEST_POSTGRES` names that of another
/// version.
fn installed_programs() -> Option<PathBuf> {
    let named = std::env::var_os("RAMUS_TEST_POSTGRES").map(PathBuf::from);
    let debian = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut dirs: Vec<PathBuf> = debian.map(|entry| entry.path().join("bin")).collect();
    dirs.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = dirs.into_iter().rev().chain(std::env::split_paths(&path));
    let candidates: Vec<PathBuf> = named.map_or_else(|| found.collect(), |named| vec![named]);
    candidates
        .into_iter()
        .find(|dir| ["initdb", "postgres", "psql"].iter().all(|name| dir.join(name).is_file()))
}

/// The server refuses to run as root, so root becomes the user that the package made. It ends with the thread that
/// started it, also if the test is killed.
fn as_postgres(program: &Path) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "QUIT"]);
    if is_root() {
        command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]);
    }
    command.arg(program).current_dir("/");
    command
}

fn give_to_postgres(dir: &Path) {
    if is_root() {
        let given = Command::new("chown").arg("postgres:postgres").arg(dir).status();
        assert!(given.is_ok_and(|status| status.success()), "there is no user postgres");
    }
}

fn is_root() -> bool {
    let id: io::Result<Output> = Command::new("id").arg("-u").output();
    id.is_ok_and(|id| id.stdout.trim_ascii() == b"0")
}
