//! HTTP/1.1 connections, protected against exhaustion by other users of the computer. Connections without a valid token
//! are few and short-lived, and are closed for newer ones, other users' first. The token's holder gets in next to
//! thousands of idle ones, and file descriptors remain for the tests.

use crate::peer::SocketOwners;
use crate::poison;
use axum::Router;
use axum::body::Body;
use axum::http::Request;
use cardscope_files::is_trusted;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tower_service::Service;

/// Limit of simultaneous connections without a token; beyond it one is closed.
const MAX_ANONYMOUS: usize = 64;

/// Limit for receiving all headers of a request, counted from the connection or from the previous request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);

/// Pause after `accept` failed for lack of a descriptor or memory.
const EXHAUSTED_PAUSE: Duration = Duration::from_millis(50);

/// Connections without a token in closing order, each with its close signal.
#[derive(Debug, Default)]
struct AnonymousConnections(Mutex<BTreeMap<CloseOrder, Arc<Notify>>>);

/// Closing order: connections of other users before this user's, older before newer.
type CloseOrder = (bool, u64);

/// Connection as an extension of each of its requests.
#[derive(Debug, Clone)]
pub(crate) struct ClientConnection {
    rank: CloseOrder,
    is_admitted: Arc<AtomicBool>,
    anonymous: Arc<AnonymousConnections>,
}

impl ClientConnection {
    /// Exempts the connection from closing: it has sent a valid secret.
    pub(crate) fn mark_admitted(&self) {
        self.is_admitted.store(true, Ordering::Relaxed);
        self.anonymous.remove(self.rank);
    }
}

impl AnonymousConnections {
    fn add(&self, rank: CloseOrder, close: &Arc<Notify>) {
        let mut all = poison::lock(&self.0);
        all.insert(rank, Arc::clone(close));
        if all.len() > MAX_ANONYMOUS {
            all.pop_first().into_iter().for_each(|(_, first)| first.notify_one());
        }
    }

    fn remove(&self, rank: CloseOrder) {
        poison::lock(&self.0).remove(&rank);
    }

    fn close_all(&self) {
        let all = std::mem::take(&mut *poison::lock(&self.0));
        all.values().for_each(|connection| connection.notify_one());
    }
}

/// Backlog of connections not yet accepted, capped by the kernel's `net.core.somaxconn`. Beyond it the kernel drops the
/// owner's connections too, which retry after a second.
const BACKLOG: u32 = 4096;

/// Binds and listens on an address.
pub(crate) fn bind_listener(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // Connections of a previous server may still be closing.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Answers connections; dropping the future closes all of them.
pub(crate) async fn accept_connections(listener: TcpListener, router: Router) {
    let strangers = Arc::new(AnonymousConnections::default());
    let owners = SocketOwners::new();
    let mut connections = JoinSet::new();
    for number in 0.. {
        let (stream, peer) = loop {
            tokio::select! {
                Some(_) = connections.join_next() => {}
                accepted = listener.accept() => match accepted {
                    Ok((stream, peer)) => break (stream, peer),
                    Err(_) => {
                        // Closing anonymous connections frees descriptors.
                        strangers.close_all();
                        tokio::time::sleep(EXHAUSTED_PAUSE).await;
                    }
                },
            }
        };
        let strangers = Arc::clone(&strangers);
        let owner = stream.local_addr().ok().and_then(|local| owners.owner_uid(peer, local));
        let rank = (owner.is_some_and(is_trusted), number);
        let connection = ClientConnection { rank, is_admitted: Arc::default(), anonymous: strangers };
        connections.spawn(serve_connection(stream, router.clone(), connection));
    }
}

async fn serve_connection(stream: TcpStream, router: Router, connection: ClientConnection) {
    // Events are small and must arrive without delay.
    let _ = stream.set_nodelay(true);
    let known = connection.clone();
    let service = service_fn(move |request: Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(known.clone());
        router.clone().call(request)
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .serve_connection(TokioIo::new(stream), service);
    let mut served = pin!(served);
    // A request that has already arrived shows its token first, before the connection could be closed as anonymous.
    let first = poll_fn(|context| Poll::Ready(served.as_mut().poll(context))).await;
    if first.is_ready() {
        return;
    }
    let close = Arc::new(Notify::new());
    if !connection.is_admitted.load(Ordering::Relaxed) {
        connection.anonymous.add(connection.rank, &close);
    }
    tokio::select! {
        // Errors of the protocol are the client's.
        _ = served => {}
        () = close.notified() => {}
    }
    connection.anonymous.remove(connection.rank);
}
