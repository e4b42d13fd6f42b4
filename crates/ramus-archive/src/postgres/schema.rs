//! Makes the tables of a team's archive, and finds out whether they are there.

use tokio_postgres::Transaction;

use super::connection::Server;
use crate::storage::ArchiveError;

/// The form of the tables; a higher one is of a newer ramus.
const VERSION: i32 = 2;

/// The row with the version of the tables.
const VERSION_TABLE: &str = "CREATE SCHEMA IF NOT EXISTS ramus;
    CREATE TABLE IF NOT EXISTS ramus.schema_version (
        id integer PRIMARY KEY CHECK (id = 1), version integer NOT NULL);
    INSERT INTO ramus.schema_version (id, version) VALUES (1, 0) ON CONFLICT (id) DO NOTHING";

/// The roles of a team; people join by being granted one of them.
const ROLES: [&str; 2] = ["ramus_member", "ramus_reader"];

/// Creates missing tables. Every step can be repeated, also by several processes at once.
pub(super) fn create_tables(server: &Server, is_team: bool) -> Result<(), ArchiveError> {
    // Two processes that create the same thing at once: one of them fails and finds it there.
    let mut made = server.write(async |transaction| transaction.batch_execute(VERSION_TABLE).await);
    if made.is_err() {
        made = server.write(async |transaction| transaction.batch_execute(VERSION_TABLE).await);
    }
    made?;
    let found = server.write(async |transaction| {
        let found = lock_version(transaction).await?;
        if found < VERSION {
            transaction.batch_execute(include_str!("schema.sql")).await?;
            transaction.batch_execute(include_str!("schema2.sql")).await?;
            // Chunks are compressed already, and of a filter single bytes are read; a server that does not know this
            // setting works all the same.
            let external = "ALTER TABLE ramus.chunks ALTER COLUMN packed SET STORAGE EXTERNAL; \
                ALTER TABLE ramus.filters ALTER COLUMN bits SET STORAGE EXTERNAL";
            transaction.batch_execute("SAVEPOINT storage").await?;
            if transaction.batch_execute(external).await.is_err() {
                transaction.batch_execute("ROLLBACK TO SAVEPOINT storage").await?;
            }
            let swap = "UPDATE ramus.schema_version SET version = $1 WHERE id = 1 AND version = $2";
            transaction.execute(swap, &[&VERSION, &found]).await?;
        }
        Ok(found)
    })?;
    if found > VERSION {
        return Err(ArchiveError::Newer(server.name.clone()));
    }
    // New tables of a team must not be open, or closed, to everybody.
    if is_team || has_row_security(server)? { create_team(server) } else { Ok(()) }
}

fn has_row_security(server: &Server) -> Result<bool, ArchiveError> {
    server.read(async |client| {
        let query = "SELECT relrowsecurity FROM pg_class WHERE oid = 'ramus.files'::regclass";
        Ok(client.query_one(query, &[]).await?.get(0))
    })
}

/// Returns the version; others who make tables wait until this transaction ends.
async fn lock_version(transaction: &Transaction<'_>) -> Result<i32, tokio_postgres::Error> {
    let row = transaction
        .query_one("SELECT version FROM ramus.schema_version WHERE id = 1 FOR UPDATE", &[])
        .await?;
    Ok(row.get(0))
}

fn create_team(server: &Server) -> Result<(), ArchiveError> {
    server.write(async |transaction| {
        lock_version(transaction).await?;
        for role in ROLES {
            let known = transaction
                .query_opt("SELECT 1 FROM pg_roles WHERE rolname = $1", &[&role])
                .await?;
            if known.is_none() {
                transaction.batch_execute(&format!("CREATE ROLE {role} NOLOGIN")).await?;
            }
        }
        transaction.batch_execute(include_str!("team.sql")).await
    })
}

/// Makes sure that the tables are there and of a form that is known.
pub(super) fn require_tables(server: &Server) -> Result<(), ArchiveError> {
    let found = server.read(async |client| {
        let row =
            client.query_opt("SELECT version FROM ramus.schema_version WHERE id = 1", &[]).await?;
        Ok(row.map_or(0, |row| row.get::<_, i32>(0)))
    })?;
    match found {
        VERSION => Ok(()),
        0 => Err(ArchiveError::NotInitialized(server.name.clone())),
        newer if newer > VERSION => Err(ArchiveError::Newer(server.name.clone())),
        _ => Err(ArchiveError::Older(server.name.clone())),
    }
}
