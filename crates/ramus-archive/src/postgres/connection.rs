//! Connections to a server: made when needed, made again when they broke, and errors in plain words.

use std::error::Error as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, IsolationLevel, NoTls, Transaction};

use super::address::{ServerAddress, TlsMode};
use super::tls::tls_connector;
use crate::storage::ArchiveError;

/// How often to retry what another process, or a lost connection, can interrupt.
const ATTEMPTS: u32 = 16;
/// How long to wait before the second attempt; each later one waits twice as long, up to [`LONGEST_WAIT`].
/// Together they last longer than a server needs to restart.
const FIRST_WAIT: Duration = Duration::from_millis(50);
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// How long connecting may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);
/// Asks for the version, and leaves only the server's own functions: where everybody may create some in `public`, one
/// that fits a call better than the server's own would run with the rights of whoever calls it. Compiling statements
/// takes longer than they do; a server that cannot do it does not know the setting.
const FIRST_QUERY: &str = "SELECT pg_catalog.current_setting('server_version_num'), \
    pg_catalog.set_config('search_path', 'pg_catalog', false), \
    CASE WHEN pg_catalog.current_setting('jit', true) IS NOT NULL \
    THEN pg_catalog.set_config('jit', 'off', false) END";
/// The oldest server that is supported.
const OLDEST_SERVER: i32 = 120_000;

/// The connections of one process to one server.
pub(super) struct Server {
    pub(super) name: String,
    address: ServerAddress,
    /// `None` only while it is being dropped.
    runtime: Option<Runtime>,
    /// Queries of several threads share it.
    reader: Mutex<Option<Arc<Client>>>,
    /// Transactions, one at a time.
    writer: tokio::sync::Mutex<Option<Client>>,
    /// Whether the server answered before. If not, it is not waited for.
    was_reached: AtomicBool,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Server").field(&self.name).finish()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Waiting for its threads is not allowed where another runtime is at work.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Why a query failed.
#[derive(Debug)]
pub(super) enum QueryError {
    Server(tokio_postgres::Error),
    /// What is wrong, in words that need no explanation.
    Setup(String),
}

impl From<tokio_postgres::Error> for QueryError {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Server(error)
    }
}

impl Server {
    pub(super) fn new(address: ServerAddress) -> Result<Self, ArchiveError> {
        let name = address.name.clone();
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(|error| ArchiveError::Engine {
            archive: name.clone(),
            source: Box::new(error),
        })?;
        Ok(Self {
            name,
            address,
            runtime: Some(runtime),
            reader: Mutex::default(),
            writer: tokio::sync::Mutex::default(),
            was_reached: AtomicBool::new(false),
        })
    }

    /// Runs queries that change nothing. They are repeated if the connection broke.
    pub(super) fn read<T: Send>(
        &self,
        run: impl AsyncFn(&Client) -> Result<T, tokio_postgres::Error> + Sync,
    ) -> Result<T, ArchiveError> {
        self.wait(async || {
            let attempt = async || Ok(run(&*self.reading_client().await?).await?);
            self.retry(attempt).await
        })
    }

    /// Runs a transaction. It is repeated as a whole if it conflicts with another one or the connection is lost.
    /// After a lost commit it is unknown whether it took effect, so `run` must detect existing rows.
    pub(super) fn write<T: Send>(
        &self,
        run: impl AsyncFn(&Transaction<'_>) -> Result<T, tokio_postgres::Error> + Sync,
    ) -> Result<T, ArchiveError> {
        self.wait(async || {
            let attempt = async || {
                // One transaction at a time: a second connection would only wait for the first one's rows.
                let mut writer = self.writer.lock().await;
                let mut client = match writer.take().filter(|client| !client.is_closed()) {
                    Some(client) => client,
                    None => self.connect().await?,
                };
                let transaction = client
                    .build_transaction()
                    .isolation_level(IsolationLevel::ReadCommitted)
                    .start()
                    .await?;
                let done = run(&transaction).await?;
                transaction.commit().await?;
                *writer = Some(client);
                Ok(done)
            };
            self.retry(attempt).await
        })
    }

    /// Waits on a thread of its own, because the caller's may belong to another runtime.
    fn wait<T: Send>(
        &self,
        run: impl AsyncFnOnce() -> Result<T, QueryError> + Send,
    ) -> Result<T, ArchiveError> {
        let runtime = self.runtime.as_ref().expect("it is only taken when this is dropped");
        let waited = thread::scope(|scope| scope.spawn(|| runtime.block_on(run())).join());
        let answer = waited.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        answer.map_err(|error| self.describe_error(error))
    }

    async fn reading_client(&self) -> Result<Arc<Client>, QueryError> {
        let open = self.reader.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(client) = open.filter(|client| !client.is_closed()) {
            return Ok(client);
        }
        let client = Arc::new(self.connect().await?);
        *self.reader.lock().unwrap_or_else(PoisonError::into_inner) = Some(client.clone());
        Ok(client)
    }

    /// Connects and logs in. A server that accepts the connection but does not answer is an error too.
    async fn connect(&self) -> Result<Client, QueryError> {
        let config = &self.address.config;
        let each = config.get_connect_timeout().copied().unwrap_or(CONNECT_TIMEOUT);
        let hosts = config.get_hosts().len().max(1) as u32;
        let connected = tokio::time::timeout(each.saturating_mul(hosts), self.log_in(each)).await;
        connected.unwrap_or_else(|_| {
            let seconds = each.as_secs();
            Err(QueryError::Setup(format!("the server did not answer within {seconds} seconds")))
        })
    }

    async fn log_in(&self, timeout: Duration) -> Result<Client, QueryError> {
        let mut config = self.address.config.clone();
        config.connect_timeout(timeout);
        let client = if self.address.tls == TlsMode::Disabled {
            let (client, connection) = config.connect(NoTls).await?;
            tokio::spawn(connection);
            client
        } else {
            let tls = tls_connector(&self.address).map_err(QueryError::Setup)?;
            let (client, connection) = config.connect(tls).await?;
            tokio::spawn(connection);
            client
        };
        let version: String = client.query_one(FIRST_QUERY, &[]).await?.get(0);
        if version.parse().is_ok_and(|version: i32| version < OLDEST_SERVER) {
            return Err(QueryError::Setup("the server is older than PostgreSQL 12".to_owned()));
        }
        self.was_reached.store(true, Ordering::Relaxed);
        Ok(client)
    }

    /// Tries again while the reason for a failure can pass.
    async fn retry<T>(
        &self,
        attempt: impl AsyncFn() -> Result<T, QueryError>,
    ) -> Result<T, QueryError> {
        let mut wait = FIRST_WAIT;
        for _ in 1..ATTEMPTS {
            match attempt().await {
                Err(QueryError::Server(error))
                    if self.was_reached.load(Ordering::Relaxed) && can_pass(&error) =>
                {
                    tokio::time::sleep(wait).await;
                }
                answer => return answer,
            }
            wait = LONGEST_WAIT.min(wait * 2);
        }
        attempt().await
    }

    fn describe_error(&self, error: QueryError) -> ArchiveError {
        let archive = self.name.clone();
        let error = match error {
            QueryError::Setup(what) => return ArchiveError::Server { archive, what },
            QueryError::Server(error) => error,
        };
        let Some(state) = error.code() else {
            let reason = error.source().map_or_else(|| error.to_string(), ToString::to_string);
            return ArchiveError::Server {
                archive,
                what: format!("cannot reach the server: {reason}"),
            };
        };
        let message =
            error.as_db_error().map(|error| error.message().to_owned()).unwrap_or_default();
        let what = match *state {
            SqlState::DISK_FULL => return ArchiveError::Full(archive),
            SqlState::READ_ONLY_SQL_TRANSACTION => {
                "the server is read-only at the moment".to_owned()
            }
            SqlState::INSUFFICIENT_PRIVILEGE => format!("you lack the right to do this: {message}"),
            SqlState::INVALID_PASSWORD | SqlState::INVALID_AUTHORIZATION_SPECIFICATION => {
                format!("the server refused the login: {message}")
            }
            SqlState::INVALID_CATALOG_NAME => message,
            SqlState::UNDEFINED_TABLE | SqlState::INVALID_SCHEMA_NAME => {
                return ArchiveError::NotInitialized(archive);
            }
            _ => format!("{message} ({})", state.code()),
        };
        ArchiveError::Server { archive, what }
    }
}

/// Whether trying again can help: conflicts with other transactions, broken connections, a server that restarts.
fn can_pass(error: &tokio_postgres::Error) -> bool {
    let Some(state) = error.code() else {
        let io = error.source().and_then(|source| source.downcast_ref::<std::io::Error>());
        return error.is_closed()
            || io.is_some_and(|io| {
                use std::io::ErrorKind::{
                    BrokenPipe, ConnectionAborted, ConnectionRefused, ConnectionReset, NotFound,
                    UnexpectedEof,
                };
                matches!(
                    io.kind(),
                    BrokenPipe
                        | ConnectionAborted
                        | ConnectionRefused
                        | ConnectionReset
                        | NotFound
                        | UnexpectedEof
                )
            });
    };
    matches!(
        *state,
        SqlState::T_R_SERIALIZATION_FAILURE
            | SqlState::T_R_DEADLOCK_DETECTED
            | SqlState::FOREIGN_KEY_VIOLATION
            | SqlState::ADMIN_SHUTDOWN
            | SqlState::CRASH_SHUTDOWN
            | SqlState::CANNOT_CONNECT_NOW
            | SqlState::TOO_MANY_CONNECTIONS
    ) || state.code().starts_with("08")
}
