//! An address for the server, until somebody stops it.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;

use crate::api::tell;
use crate::{Library, State, Token, app};

/// Where to listen.
#[derive(Clone, Debug)]
pub struct Listen {
    pub address: IpAddr,
    /// The port to begin with; the next free one is taken.
    pub port: u16,
    /// Names under which it may be asked besides its address.
    pub names: Vec<String>,
}

/// What is being listened to.
#[derive(Clone, Debug)]
pub struct Listening {
    pub address: SocketAddr,
    /// The address to open, with the token in it.
    pub url: String,
}

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("cannot listen on {address}")]
    Listen {
        address: SocketAddr,
        #[source]
        source: io::Error,
    },
    #[error("the server stopped")]
    Run(#[source] io::Error),
    #[error("the system gives no random numbers")]
    Random(#[from] getrandom::Error),
}

/// How many ports are tried.
const TRIES: u16 = 50;
/// How long open requests may take to end when the server is stopped.
const GRACE: Duration = Duration::from_secs(2);

/// Listens until Ctrl-C; `ready` hears where. `own` is ramus's own directory.
pub fn serve(
    library: Library,
    own: ramus_store::State,
    listen: &Listen,
    log: fn(&str),
    ready: impl FnOnce(&Listening),
) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(4)
        .enable_all()
        .build()
        .map_err(ServeError::Run)?;
    let result = runtime.block_on(run(library, own, listen, log, ready));
    runtime.shutdown_timeout(GRACE);
    result
}

async fn run(
    library: Library,
    own: ramus_store::State,
    listen: &Listen,
    log: fn(&str),
    ready: impl FnOnce(&Listening),
) -> Result<(), ServeError> {
    let listener = bind(listen).await?;
    let address = listener.local_addr().map_err(ServeError::Run)?;
    let token = Token::random()?;
    let url = format!("http://{address}/?token={}", token.word());
    let state = Arc::new(State::new(library, own, token, hosts(address, &listen.names), log));
    state.library.warm_up();
    // It ends with the process: nothing waits for a thread that only reads.
    let teller = state.clone();
    std::thread::Builder::new()
        .name("news".to_owned())
        .spawn(move || tell(&teller))
        .map_err(ServeError::Run)?;
    ready(&Listening { address, url });
    let server = axum::serve(listener, app(state)).with_graceful_shutdown(stopped());
    tokio::select! {
        ended = server => ended.map_err(ServeError::Run),
        // Pages that listen for news would keep the server for ever.
        () = async { stopped().await; tokio::time::sleep(GRACE).await } => Ok(()),
    }
}

async fn bind(listen: &Listen) -> Result<TcpListener, ServeError> {
    let last = listen.port.saturating_add(TRIES);
    for port in listen.port..=last {
        let address = SocketAddr::new(listen.address, port);
        match TcpListener::bind(address).await {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && port < last => {}
            result => return result.map_err(|source| ServeError::Listen { address, source }),
        }
    }
    let address = SocketAddr::new(listen.address, last);
    Err(ServeError::Listen { address, source: io::ErrorKind::AddrInUse.into() })
}

/// Returns what a browser may put into `Host`.
fn hosts(address: SocketAddr, names: &[String]) -> Vec<String> {
    let port = address.port();
    let mut hosts = vec![address.to_string()];
    if address.ip().is_loopback() {
        hosts.push(format!("localhost:{port}"));
    }
    hosts.extend(names.iter().map(|name| format!("{name}:{port}")));
    hosts
}

/// Returns when somebody wants the server to end.
async fn stopped() {
    let interrupt = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = interrupt => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    let _ = interrupt.await;
}
