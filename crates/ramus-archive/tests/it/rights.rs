//! Row security, tried as an attacker would: with `psql`, as each role.

use testkit::TestHome;

use crate::bytes::add;
use crate::postgres::{connect, team_server};

/// Statements that must fail or change nothing, whoever of the others runs them.
const ATTEMPTS: [&str; 38] = [
    "DELETE FROM ramus.files WHERE owner = 'alice'",
    "DELETE FROM ramus.generations WHERE owner = 'alice'",
    "DELETE FROM ramus.pieces WHERE owner = 'alice'",
    "DELETE FROM ramus.chunks WHERE owner = 'alice'",
    "DELETE FROM ramus.machines WHERE owner = 'alice'",
    "DELETE FROM ramus.shares WHERE owner = 'alice'",
    "UPDATE ramus.files SET session = 'x' WHERE owner = 'alice'",
    "UPDATE ramus.files SET owner = 'bob' WHERE owner = 'alice'",
    "UPDATE ramus.files SET project = 'open' WHERE owner = 'alice'",
    "UPDATE ramus.generations SET hash = 'x' WHERE owner = 'alice'",
    "UPDATE ramus.pieces SET place = 9 WHERE owner = 'alice'",
    "UPDATE ramus.chunks SET packed = 'x' WHERE owner = 'alice'",
    "UPDATE ramus.machines SET changes = 0 WHERE owner = 'alice'",
    "INSERT INTO ramus.shares VALUES ('alice', '-secret')",
    "INSERT INTO ramus.machines VALUES ('alice', 'stolen', 0)",
    "INSERT INTO ramus.chunks VALUES ('alice', 'h', 1, 'p')",
    "INSERT INTO ramus.files SELECT 'alice', 'f', 'm', 'r', 'p', 'q', 's', 'session', NULL, 1, 'h'",
    "INSERT INTO ramus.shares VALUES ('alice', '-secret') ON CONFLICT (owner, project) DO UPDATE SET project = 'x'",
    "UPDATE ramus.schema_version SET version = 7",
    "DELETE FROM ramus.schema_version",
    "TRUNCATE ramus.chunks CASCADE",
    "DROP TABLE ramus.chunks",
    "DROP POLICY own ON ramus.files",
    "ALTER TABLE ramus.files DISABLE ROW LEVEL SECURITY",
    "CREATE POLICY open ON ramus.files USING (true)",
    "GRANT ramus_member TO carol",
    "SET ROLE alice",
    "SET SESSION AUTHORIZATION alice",
    "CREATE FUNCTION ramus.steal() RETURNS integer LANGUAGE sql AS 'SELECT 1'",
    "CREATE TABLE ramus.copy AS SELECT * FROM ramus.chunks",
    "DELETE FROM ramus.derived WHERE owner = 'alice'",
    "DELETE FROM ramus.filters WHERE owner = 'alice'",
    "UPDATE ramus.derived SET value = 'x' WHERE owner = 'alice'",
    "UPDATE ramus.filters SET bits = 'xxxxxxxx', octets = 8 WHERE owner = 'alice'",
    "INSERT INTO ramus.derived SELECT 'alice', file, 'x', version, hash, value FROM ramus.derived",
    "INSERT INTO ramus.filters SELECT 'alice', file, version, 99, hash, 1, 1, octets, '{}', bits FROM ramus.filters",
    "UPDATE ramus.generations SET redacted = false WHERE owner = 'alice'",
    "TRUNCATE ramus.derived, ramus.filters",
];

#[test]
fn nobody_changes_or_reads_what_is_not_theirs() {
    let Some(server) = team_server() else { return };
    let home = TestHome::new();
    home.write_file("-secret/a.jsonl", "{\"type\":\"user\",\"n\":\"secret\"}\n");
    home.write_file("-open/b.jsonl", "{\"type\":\"user\",\"n\":\"open\"}\n");
    let alice = connect(&server, "alice", "laptop");
    add(&alice, &home.claude_dir());
    alice.share_project("-open").unwrap();
    let tables = [
        "machines",
        "shares",
        "files",
        "generations",
        "pieces",
        "chunks",
        "derived",
        "filters",
        "schema_version",
    ];
    let state = || {
        let rows = tables.map(|table| {
            let sql =
                format!("SELECT string_agg(t::text, ';' ORDER BY t::text) FROM ramus.{table} t");
            server.query("postgres", "ramus", &sql)
        });
        let policies = "SELECT string_agg(p::text, ';' ORDER BY p::text) FROM pg_policies p";
        let roles = "SELECT string_agg(m::text, ';' ORDER BY m::text) FROM pg_auth_members m";
        (
            rows,
            server.query("postgres", "ramus", policies),
            server.query("postgres", "ramus", roles),
        )
    };
    let before = state();
    for user in ["bob", "carol"] {
        for attempt in ATTEMPTS {
            server.psql(user, "ramus", attempt);
            assert!(state() == before, "{user}: {attempt}");
        }
        // What is shared can be read, and nothing else: not even that it exists.
        let count = |table: &str| {
            server.query(
                user,
                "ramus",
                &format!("SELECT count(*) FROM ramus.{table} WHERE owner = 'alice'"),
            )
        };
        let counts = ["files", "generations", "pieces", "chunks"].map(count);
        assert_eq!(counts, ["1", "1", "1", "1"], "{user}");
        let secret =
            "SELECT count(*) FROM ramus.derived WHERE file NOT IN (SELECT file FROM ramus.files)";
        assert_eq!(server.query(user, "ramus", secret), "0", "{user}");
        let projects = "SELECT string_agg(project, ',') FROM ramus.files";
        assert_eq!(server.query(user, "ramus", projects), "-open", "{user}");
    }
    alice.unshare_project("-open").unwrap();
    assert_eq!(server.query("bob", "ramus", "SELECT count(*) FROM ramus.files"), "0");
    assert_eq!(server.query("bob", "ramus", "SELECT count(*) FROM ramus.chunks"), "0");
    assert_eq!(server.query("bob", "ramus", "SELECT count(*) FROM ramus.derived"), "0");
    assert_eq!(server.query("bob", "ramus", "SELECT count(*) FROM ramus.filters"), "0");
}

#[test]
fn a_reader_writes_nothing() {
    let Some(server) = team_server() else { return };
    for attempt in [
        "INSERT INTO ramus.machines VALUES ('carol', 'm', 0)",
        "INSERT INTO ramus.chunks VALUES ('carol', 'h', 1, 'p')",
        "INSERT INTO ramus.shares VALUES ('carol', 'p')",
    ] {
        assert!(!server.psql("carol", "ramus", attempt).status.success(), "{attempt}");
    }
}
