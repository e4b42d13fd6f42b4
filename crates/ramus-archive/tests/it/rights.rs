//! Row security, tried as an attacker would: with `psql`, as each role.

use testkit::{TestHome, TestPostgres};

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

/// Detours to the projects of others: by functions, copies, statistics, plans and other roles.
const DETOURS: [&str; 20] = [
    "CREATE FUNCTION pg_temp.leak(text) RETURNS boolean LANGUAGE plpgsql COST 0.0001 \
     AS $$ BEGIN RAISE NOTICE '%', $1; RETURN true; END $$; \
     SELECT count(*) FROM ramus.files WHERE pg_temp.leak(project)",
    "CREATE FUNCTION pg_temp.leak(text, text) RETURNS boolean LANGUAGE plpgsql COST 0.0001 \
     AS $$ BEGIN RAISE NOTICE '%', $1; RETURN true; END $$; \
     CREATE OPERATOR pg_temp.=== (LEFTARG = text, RIGHTARG = text, FUNCTION = pg_temp.leak); \
     SELECT count(*) FROM ramus.files WHERE project OPERATOR(pg_temp.===) ''",
    "CREATE FUNCTION pg_temp.same(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT true'; \
     CREATE OPERATOR pg_temp.= (LEFTARG = text, RIGHTARG = text, FUNCTION = pg_temp.same); \
     SET search_path = pg_temp, pg_catalog; SELECT project FROM ramus.files",
    "CREATE FUNCTION pg_temp.all() RETURNS SETOF text LANGUAGE sql SECURITY DEFINER \
     AS 'SELECT project FROM ramus.files'; SELECT pg_temp.all()",
    "SELECT project::integer FROM ramus.files",
    "CREATE TEMP VIEW v AS SELECT project FROM ramus.files; SELECT * FROM v",
    "CREATE TEMP TABLE t () INHERITS (ramus.files); SELECT project FROM t",
    "CREATE TEMP TABLE shares AS SELECT owner, project FROM ramus.files; \
     SET search_path = pg_temp, ramus; SELECT project FROM files",
    "PREPARE p AS SELECT project FROM ramus.files; EXECUTE p; SET ROLE ramus_member; EXECUTE p",
    "SET ROLE ramus_reader; SELECT project FROM ramus.files",
    "SET row_security = off; SELECT project FROM ramus.files",
    "COPY ramus.files (project) TO STDOUT",
    "COPY (SELECT project FROM ramus.files) TO STDOUT",
    "DECLARE c CURSOR FOR SELECT project FROM ramus.files; FETCH ALL c",
    "SELECT project FROM ramus.files TABLESAMPLE SYSTEM (100)",
    "SELECT project FROM ramus.files WHERE ctid IN ('(0,1)', '(0,2)', '(0,3)')",
    "SELECT query_to_xml('SELECT project FROM ramus.files', true, false, '')",
    "SELECT most_common_vals, histogram_bounds FROM pg_stats WHERE schemaname = 'ramus'",
    "SELECT stavalues1 FROM pg_statistic",
    "EXPLAIN (ANALYZE, VERBOSE) SELECT project FROM ramus.files",
];

#[test]
fn no_detour_leads_to_what_is_not_shared() {
    let Some(server) = team_server() else { return };
    let home = TestHome::new();
    for n in 0..20 {
        home.write_file(&format!("-secret{}/{n}.jsonl", n % 3), "{\"type\":\"user\"}\n");
    }
    home.write_file("-open/b.jsonl", "{\"type\":\"user\",\"n\":\"open\"}\n");
    let alice = connect(&server, "alice", "laptop");
    add(&alice, &home.claude_dir());
    alice.share_project("-open").unwrap();
    server.query("postgres", "ramus", "ANALYZE");
    server.query("postgres", "ramus", "CREATE ROLE dave LOGIN");
    let read = |user: &str, sql: &str| {
        let output = server.psql(user, "ramus", sql);
        format!("{output:?}")
    };
    assert!(read("postgres", "SELECT project FROM ramus.files").contains("secret"));
    for user in ["bob", "carol", "dave"] {
        for detour in DETOURS {
            let answer = read(user, detour);
            assert!(!answer.contains("secret"), "{user}: {detour}: {answer}");
        }
    }
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

/// Functions that fit the calls of ramus better than the server's own, which take any type. Each one notes who ran it.
const TRAPS: [&str; 7] = [
    "FUNCTION unnest(bytea[]) RETURNS SETOF bytea",
    "FUNCTION unnest(text[], bytea[]) RETURNS SETOF bytea",
    "FUNCTION format(text, text) RETURNS text",
    "FUNCTION format(text, text, text) RETURNS text",
    "FUNCTION format(text, text, text, bigint) RETURNS text",
    "FUNCTION concat(text, text, text) RETURNS text",
    "FUNCTION concat(text, unknown, text) RETURNS text",
];

/// Before PostgreSQL 15 everybody could create functions in `public`, and servers that were upgraded still allow it.
#[test]
fn functions_of_others_are_never_called() {
    let Some(server) = TestPostgres::start() else { return };
    for sql in [
        "GRANT CREATE ON SCHEMA public TO PUBLIC",
        "CREATE ROLE eve LOGIN",
        "CREATE TABLE public.called (who text)",
        "GRANT INSERT ON public.called TO PUBLIC",
    ] {
        server.query("postgres", "ramus", sql);
    }
    let made = TRAPS.iter().filter(|trap| {
        let body = "BEGIN INSERT INTO public.called VALUES (current_user); RETURN; END";
        let body = if trap.contains("SETOF") {
            body.to_owned()
        } else {
            body.replace("RETURN;", "RETURN '';")
        };
        let sql = format!(
            "CREATE {} LANGUAGE plpgsql AS '{}'",
            trap.replace("FUNCTION ", "FUNCTION public."),
            body.replace('\'', "''")
        );
        server.psql("eve", "ramus", &sql).status.success()
    });
    assert!(made.count() > 5);
    for _ in 0..2 {
        ramus_archive::Archive::initialize_server(&server.url("postgres"), true).unwrap();
    }
    server.query("postgres", "ramus", "CREATE ROLE alice LOGIN IN ROLE ramus_member");
    let home = TestHome::new();
    let alice = connect(&server, "alice", "laptop");
    for text in ["{\"type\":\"user\"}\n", "{\"type\":\"user\"}\n{}\n"] {
        home.write_file("-p/a.jsonl", text);
        add(&alice, &home.claude_dir());
    }
    alice.share_project("-p").unwrap();
    alice.totals().unwrap();
    assert!(alice.verify(&|_| {}).unwrap().damaged.is_empty());
    alice.forget(&alice.sessions(None).unwrap()[0]).unwrap();
    let called = "SELECT count(*) FROM public.called";
    assert_eq!(server.query("postgres", "ramus", called), "0");
}
