//! Limits the number of connections and how long they may be idle.
//!
//! Connections without the token share a few slots, and the oldest loses its slot to
//! the next. So thousands of silent connections cannot lock out a reader.

use std::collections::BTreeMap;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio::time::{Sleep, sleep};
use tower::ServiceExt as _;

/// How long a request may take to be sent, and how long a connection may wait for the next one.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(20);
/// How long a reader may stall.
const STALL_TIMEOUT: Duration = Duration::from_secs(30);
/// How many connections may wait that have not shown the token, and how many there may be in all. Both
/// leave room below the usual limit of 1024 open files.
const MAX_UNTRUSTED: usize = 128;
const MAX_CONNECTIONS: usize = 512;
/// How long a connection may at least wait before another one takes its slot: many readers may come at once, and
/// their first requests are still on the way.
const GRACE: Duration = Duration::from_secs(2);
/// No request line with its headers needs more.
const MAX_HEADER_BYTES: usize = 64 * 1024;
/// How long to wait when the system has no file left for a connection.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(50);

/// Accepts connections until `stop`, then lets open ones finish.
pub(crate) async fn accept_connections(
    listener: TcpListener,
    app: Router,
    mut stop: watch::Receiver<bool>,
) {
    let (peers, stopping) = (Arc::new(Peers::default()), stop.clone());
    let mut tasks = JoinSet::new();
    loop {
        tokio::select! {
            taken = listener.accept() => match taken {
                Ok((stream, _)) => {
                    if let Some(peer) = peers.admit_peer(Instant::now()) {
                        tasks.spawn(serve_connection(stream, app.clone(), peer, peers.clone(), stopping.clone()));
                    }
                }
                Err(_) => sleep(ACCEPT_RETRY_DELAY).await,
            },
            Some(_) = tasks.join_next() => {}
            _ = stop.wait_for(|stop| *stop) => break,
        }
    }
    drop(listener);
    while tasks.join_next().await.is_some() {}
}

/// Answers one connection until it ends.
async fn serve_connection(
    stream: TcpStream,
    app: Router,
    peer: Arc<Peer>,
    peers: Arc<Peers>,
    mut stop: watch::Receiver<bool>,
) {
    // News are small and should be sent at once.
    let _ = stream.set_nodelay(true);
    let known = peer.clone();
    let service = hyper::service::service_fn(move |request: Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(known.clone());
        app.clone().oneshot(request)
    });
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(REQUEST_TIMEOUT)
        .max_buf_size(MAX_HEADER_BYTES);
    let connection = builder.serve_connection(TokioIo::new(StallGuard::new(stream)), service);
    let mut connection = std::pin::pin!(connection);
    let mut stopping = false;
    loop {
        tokio::select! {
            _ = connection.as_mut() => break,
            () = peer.evicted.notified() => break,
            _ = stop.wait_for(|stop| *stop), if !stopping => {
                stopping = true;
                connection.as_mut().graceful_shutdown();
            }
        }
    }
    peers.release_peer(&peer);
}

/// The peer of a connection.
#[derive(Debug)]
pub(crate) struct Peer {
    number: u64,
    since: Instant,
    is_trusted: AtomicBool,
    evicted: Notify,
}

impl Peer {
    /// Notes that this one has shown the token.
    pub(crate) fn mark_trusted(&self) {
        self.is_trusted.store(true, Ordering::Relaxed);
    }
}

/// All connections, in order of arrival.
#[derive(Debug, Default)]
struct Peers {
    inside: Mutex<(u64, BTreeMap<u64, Arc<Peer>>)>,
}

impl Peers {
    /// Admits one more connection at `now`. `None` if too many are busy.
    fn admit_peer(&self, now: Instant) -> Option<Arc<Peer>> {
        let mut inside = self.lock_peers();
        let (next, peers) = &mut *inside;
        let mut unknown = peers.values().filter(|peer| !peer.is_trusted.load(Ordering::Relaxed));
        let oldest = unknown.next().cloned();
        let has_waited = |peer: &Arc<Peer>| now.saturating_duration_since(peer.since) >= GRACE;
        let too_many =
            unknown.count() + 1 >= MAX_UNTRUSTED && oldest.as_ref().is_some_and(has_waited);
        if peers.len() >= MAX_CONNECTIONS || too_many {
            let oldest = oldest?;
            peers.remove(&oldest.number);
            oldest.evicted.notify_one();
        }
        let peer = Arc::new(Peer {
            number: *next,
            since: now,
            is_trusted: AtomicBool::new(false),
            evicted: Notify::new(),
        });
        *next += 1;
        peers.insert(peer.number, peer.clone());
        Some(peer)
    }

    fn release_peer(&self, peer: &Peer) {
        self.lock_peers().1.remove(&peer.number);
    }

    fn lock_peers(&self) -> MutexGuard<'_, (u64, BTreeMap<u64, Arc<Peer>>)> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection that is closed if the other end reads nothing for a while.
struct StallGuard {
    stream: TcpStream,
    /// Runs while something waits to be taken.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl StallGuard {
    fn new(stream: TcpStream) -> Self {
        Self { stream, stalled: None }
    }

    fn watch_write<T>(
        &mut self,
        context: &mut Context<'_>,
        write: impl FnOnce(Pin<&mut TcpStream>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        let written = write(Pin::new(&mut self.stream), context);
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let timer = self.stalled.get_or_insert_with(|| Box::pin(sleep(STALL_TIMEOUT)));
        ready!(timer.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for StallGuard {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for StallGuard {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.watch_write(context, |stream, context| stream.poll_write(context, bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.watch_write(context, |stream, context| stream.poll_write_vectored(context, slices))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.watch_write(context, AsyncWrite::poll_flush)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.watch_write(context, AsyncWrite::poll_shutdown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_without_a_token_are_replaced_first() {
        let peers = Peers::default();
        let begun = Instant::now();
        let reader = peers.admit_peer(begun).unwrap();
        reader.mark_trusted();
        let silent: Vec<_> = (0..MAX_UNTRUSTED).map(|_| peers.admit_peer(begun).unwrap()).collect();
        for n in 0..10 * MAX_UNTRUSTED {
            peers.admit_peer(begun + GRACE + GRACE * u32::try_from(n).unwrap()).unwrap();
        }
        assert_eq!(peers.lock_peers().1.len(), MAX_UNTRUSTED + 1);
        assert!(peers.lock_peers().1.contains_key(&reader.number), "who reads is not sent away");
        assert!(!peers.lock_peers().1.contains_key(&silent[0].number), "the oldest goes first");
    }

    #[test]
    fn readers_who_come_at_once_do_not_send_each_other_away() {
        let peers = Peers::default();
        let begun = Instant::now();
        let many: Vec<_> = (0..MAX_CONNECTIONS).map(|_| peers.admit_peer(begun).unwrap()).collect();
        assert!(many.iter().all(|one| peers.lock_peers().1.contains_key(&one.number)));
        // More than there is room for: the oldest goes, whether it has waited or not.
        peers.admit_peer(begun).unwrap();
        assert_eq!(peers.lock_peers().1.len(), MAX_CONNECTIONS);
        assert!(!peers.lock_peers().1.contains_key(&many[0].number));
    }

    #[test]
    fn there_is_an_end_to_those_who_are_trusted_too() {
        let peers = Peers::default();
        let now = Instant::now();
        for _ in 0..MAX_CONNECTIONS {
            peers.admit_peer(now).unwrap().mark_trusted();
        }
        assert!(peers.admit_peer(now).is_none());
    }
}
