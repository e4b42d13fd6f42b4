//! Runs the server on an address until it is stopped.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ramus_app::Workspace;
use ramus_store::WriteError;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::api::forward_changes;
use crate::connections::accept_connections;
use crate::work_queues::WORKER_THREADS;
use crate::{AccessToken, ServerState, app_router};

/// Where to listen.
#[derive(Clone, Debug)]
pub struct ListenOptions {
    pub address: IpAddr,
    /// The port to begin with; the next free one is taken.
    pub port: u16,
    /// Host names that it accepts in addition to its address.
    pub names: Vec<String>,
    /// Write the file that leads a browser here.
    pub open: bool,
    /// Keep the token for the next start, so that open tabs continue to work.
    pub keep_token: bool,
}

/// What is being listened to.
#[derive(Clone, Debug)]
pub struct ListenAddress {
    pub address: SocketAddr,
    /// The address to open, with a code in it that lets one browser in.
    pub url: String,
    /// A file that leads a browser to an address of its own: what is on a command line, everybody on the
    /// machine can read. It goes when it was used, or after a minute.
    pub page: Option<PathBuf>,
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
    #[error("no random numbers available")]
    Random(#[from] getrandom::Error),
    #[error("cannot store the token")]
    Keep(#[from] WriteError),
}

/// How many ports are tried.
const PORTS_TRIED: u16 = 50;
/// How long open requests may take to end when the server is stopped.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);
/// How long a browser may take to open the redirect file, and how often to check.
const BROWSER_TIMEOUT: Duration = Duration::from_secs(60);
const BROWSER_POLL: Duration = Duration::from_millis(500);
/// Where the token is kept, if it is.
const TOKEN_FILE: &str = "serve-token";

/// Listens until Ctrl-C; `ready` gets the address.
pub fn serve_history(
    workspace: Workspace,
    listen: &ListenOptions,
    log: fn(&str),
    ready: impl FnOnce(&ListenAddress),
) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(WORKER_THREADS)
        .enable_all()
        .build()
        .map_err(ServeError::Run)?;
    let result = runtime.block_on(run(workspace, listen, log, ready));
    runtime.shutdown_timeout(SHUTDOWN_TIMEOUT);
    result
}

async fn run(
    workspace: Workspace,
    listen: &ListenOptions,
    log: fn(&str),
    ready: impl FnOnce(&ListenAddress),
) -> Result<(), ServeError> {
    let listener = bind_port(listen).await?;
    let address = listener.local_addr().map_err(ServeError::Run)?;
    let token = if listen.keep_token {
        saved_token(workspace.state_dir())?
    } else {
        AccessToken::new_random()?
    };
    let hosts = allowed_hosts(address, &listen.names);
    let state = Arc::new(ServerState::new(workspace, token, hosts, log));
    let warming = state.clone();
    tokio::task::spawn_blocking(move || warming.workspace.warm_up());
    // It ends with the process: nothing waits for a thread that only reads.
    let follower = state.clone();
    std::thread::Builder::new()
        .name("news".to_owned())
        .spawn(move || forward_changes(&follower))
        .map_err(ServeError::Run)?;
    let page = if listen.open { Some(RedirectFile::write_file(&state)?) } else { None };
    let path = page.as_ref().and_then(|page| page.path.clone());
    ready(&ListenAddress { address, url: state.new_address()?, page: path });
    let (stop, stopping) = watch::channel(false);
    let served = accept_connections(listener, app_router(state), stopping);
    tokio::select! {
        () = served => {}
        // Pages that listen for news would keep the server for ever.
        () = async {
            wait_for_stop().await;
            stop.send_replace(true);
            tokio::time::sleep(SHUTDOWN_TIMEOUT).await;
        } => {}
    }
    Ok(())
}

/// Returns the token of the last start, or draws one and keeps it.
fn saved_token(own: &ramus_store::StateDir) -> Result<AccessToken, ServeError> {
    if let Some(token) = own.read_private(TOKEN_FILE).as_deref().and_then(AccessToken::parse_token)
    {
        return Ok(token);
    }
    let token = AccessToken::new_random()?;
    own.write_private(TOKEN_FILE, format!("{}\n", token.as_str()).as_bytes())?;
    Ok(token)
}

/// A file that is there until the server ends, or it was used.
struct RedirectFile {
    state: Arc<ServerState>,
    name: String,
    path: Option<PathBuf>,
}

impl RedirectFile {
    /// Writes the file; where that fails, there is still the address that is printed.
    fn write_file(state: &Arc<ServerState>) -> Result<Self, ServeError> {
        let code = state.codes.issue_code("", Some(BROWSER_TIMEOUT))?;
        let html = format!(
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>ramus</title>\
            <meta http-equiv=\"refresh\" content=\"0;url={}\"></html>",
            state.address_with(&code)
        );
        let name = format!("open-{}.html", std::process::id());
        let path = state.workspace.state_dir().write_private(&name, html.as_bytes()).ok();
        let (watched, used) = (state.clone(), name.clone());
        tokio::spawn(async move {
            while watched.codes.is_open(&code) {
                tokio::time::sleep(BROWSER_POLL).await;
            }
            let _ = watched.workspace.state_dir().remove_private(&used);
        });
        Ok(Self { state: state.clone(), name, path })
    }
}

impl Drop for RedirectFile {
    fn drop(&mut self) {
        let _ = self.state.workspace.state_dir().remove_private(&self.name);
    }
}

async fn bind_port(listen: &ListenOptions) -> Result<TcpListener, ServeError> {
    let last = listen.port.saturating_add(PORTS_TRIED);
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
fn allowed_hosts(address: SocketAddr, names: &[String]) -> Vec<String> {
    let port = address.port();
    let mut hosts = vec![address.to_string()];
    if address.ip().is_loopback() {
        hosts.push(format!("localhost:{port}"));
    }
    hosts.extend(names.iter().map(|name| format!("{name}:{port}")));
    hosts
}

/// Returns when the server is asked to stop.
async fn wait_for_stop() {
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
