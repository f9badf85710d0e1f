//! Connections over HTTP/1.1. Anybody on the computer can open one, so those that have not shown a secret yet are few, have to be
//! quick, and make room for newer ones, those of other users first: whoever holds the token gets in beside thousands of idle ones,
//! and file descriptors are left for the tests.

use crate::locked::lock;
use crate::peer::SocketOwners;
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

/// Connections without a token at a time; one is closed for a newer one.
const MOST_STRANGERS: usize = 64;

/// Time for the whole header of a request, from the opening of a connection or the end of the request before.
const HEADER_TIME: Duration = Duration::from_secs(10);

/// Pause after the system had no descriptor or memory for a connection.
const EXHAUSTED_PAUSE: Duration = Duration::from_millis(50);

/// Connections that have not shown a secret, in the order in which they are closed for newer ones, each with what closes it.
#[derive(Debug, Default)]
struct AnonymousConnections(Mutex<BTreeMap<CloseOrder, Arc<Notify>>>);

/// Programs of this user last, and of each kind the oldest first.
type CloseOrder = (bool, u64);

/// A connection, as each of its requests knows it.
#[derive(Debug, Clone)]
pub(crate) struct ClientConnection {
    rank: CloseOrder,
    is_admitted: Arc<AtomicBool>,
    strangers: Arc<AnonymousConnections>,
}

impl ClientConnection {
    /// Counts it no longer as a stranger's: it has shown a secret.
    pub(crate) fn admit(&self) {
        self.is_admitted.store(true, Ordering::Relaxed);
        self.strangers.forget(self.rank);
    }
}

impl AnonymousConnections {
    fn add(&self, rank: CloseOrder, close: &Arc<Notify>) {
        let mut all = lock(&self.0);
        all.insert(rank, Arc::clone(close));
        if all.len() > MOST_STRANGERS {
            all.pop_first().into_iter().for_each(|(_, first)| first.notify_one());
        }
    }

    fn forget(&self, rank: CloseOrder) {
        lock(&self.0).remove(&rank);
    }

    fn close_all(&self) {
        std::mem::take(&mut *lock(&self.0)).into_values().for_each(|connection| connection.notify_one());
    }
}

/// Connections that the kernel keeps until they are accepted; it takes fewer where `net.core.somaxconn` says so. Beyond them it
/// drops those of the owner, too, who comes again after a second.
const BACKLOG: u32 = 4096;

/// Listens on an address.
///
/// # Errors
/// As the system says.
pub(crate) fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // Those of a server before this one may still be closing.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Answers connections until it is dropped, which closes all of them.
pub(crate) async fn answer(listener: TcpListener, router: Router) {
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
                        strangers.close_all();
                        tokio::time::sleep(EXHAUSTED_PAUSE).await;
                    }
                },
            }
        };
        let strangers = Arc::clone(&strangers);
        let owner = stream.local_addr().ok().and_then(|local| owners.owner(peer, local));
        let rank = (owner.is_some_and(is_trusted), number);
        let connection = ClientConnection { rank, is_admitted: Arc::default(), strangers };
        connections.spawn(serve(stream, router.clone(), connection));
    }
}

async fn serve(stream: TcpStream, router: Router, connection: ClientConnection) {
    // Events are small, and somebody waits for them.
    let _ = stream.set_nodelay(true);
    let known = connection.clone();
    let service = service_fn(move |request: Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(known.clone());
        router.clone().call(request)
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIME)
        .serve_connection(TokioIo::new(stream), service);
    let mut served = pin!(served);
    // A request that is there already shows its token before it could be taken for a stranger's and closed.
    let first = poll_fn(|context| Poll::Ready(served.as_mut().poll(context))).await;
    if first.is_ready() {
        return;
    }
    let close = Arc::new(Notify::new());
    if !connection.is_admitted.load(Ordering::Relaxed) {
        connection.strangers.add(connection.rank, &close);
    }
    tokio::select! {
        // What went wrong is the client's.
        _ = served => {}
        () = close.notified() => {}
    }
    connection.strangers.forget(connection.rank);
}
