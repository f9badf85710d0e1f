//! Listens for NBD clients and gives each a thread. A Unix socket is removed at the end; one that a dead server left
//! behind is replaced.

use super::super::ServeError;
use super::super::slot::Slot;
use super::address::{Address, Local, refused};
use super::guests::{Guest, Guests};
use super::handshake::Export;
use super::session;
use super::stream::{Limited, Stream};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often a wait for clients looks whether it should stop.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// How long it waits after a client could not be accepted.
const BREATH: Duration = Duration::from_millis(50);

/// How long a client may take to negotiate, and to wait for a seat.
const PATIENCE: Duration = Duration::from_secs(10);

/// Bytes that a negotiation may have, both ways together: the longest option that is skipped, and some.
const MOST_SAID: usize = 2 << 20;

enum Socket {
    Tcp(TcpListener, SocketAddr),
    Unix(Local),
}

/// A listening server; dropped, it is closed and its clients are cut off.
pub(in super::super) struct Listener {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    socket: Socket,
    cards: Vec<Arc<Slot>>,
    exports: Vec<Export>,
    guests: Arc<Guests>,
    stop: AtomicBool,
}

impl Listener {
    pub(in super::super) fn start(address: &Address, cards: &[Arc<Slot>]) -> Result<Listener, ServeError> {
        let socket = match address {
            Address::Tcp(text) => tcp(text)?,
            Address::Unix(path) => Socket::Unix(Local::bind(path)?),
        };
        let export = |card: &Arc<Slot>| Export { name: card.name.clone(), bytes: card.live.bytes };
        let exports = cards.iter().map(export).collect();
        let stop = AtomicBool::new(false);
        let guests = Arc::new(Guests::new());
        let shared = Arc::new(Shared { socket, cards: cards.to_vec(), exports, guests, stop });
        let mut listener = Listener { shared: Arc::clone(&shared), thread: None };
        let started = std::thread::Builder::new().name("card-nbd".to_owned()).spawn(move || shared.run());
        listener.thread = Some(started.map_err(|e| refused(address, &e.to_string()))?);
        Ok(listener)
    }

    /// Where a card is, as clients of NBD write it.
    pub(in super::super) fn uri(&self, name: &str) -> String {
        match &self.shared.socket {
            Socket::Tcp(_, address) => format!("nbd://{address}/{name}"),
            Socket::Unix(local) => format!("nbd+unix:///{name}?socket={}", escaped(&local.path)),
        }
    }

    /// A sentence where others than this machine's users can connect.
    pub(in super::super) fn warning(&self) -> Option<String> {
        match &self.shared.socket {
            Socket::Tcp(_, address) if !address.ip().is_loopback() => Some(format!(
                "warning: NBD asks for no password: whoever reaches {address} reads and writes these cards"
            )),
            _ => None,
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        if let Socket::Unix(local) = &self.shared.socket {
            local.remove();
        }
    }
}

/// A path as it may stand in the query of a URI (RFC 3986, section 3.4).
fn escaped(path: &Path) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    let byte = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    path.as_os_str().as_bytes().iter().map(|b| byte(*b)).collect()
}

fn tcp(text: &str) -> Result<Socket, ServeError> {
    let named = |error: io::Error| refused(text, &format!("this is no address of this machine ({error})"));
    let addresses: Vec<_> = text.to_socket_addrs().map_err(named)?.collect();
    let listener = TcpListener::bind(addresses.as_slice()).map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => {
            refused(text, "the port is in use; give another one, or 0 for any free one")
        }
        io::ErrorKind::PermissionDenied => refused(text, "ports below 1024 need root; give a higher one"),
        _ => named(error),
    })?;
    let broken = |error: io::Error| refused(text, &error.to_string());
    listener.set_nonblocking(true).map_err(broken)?;
    let address = listener.local_addr().map_err(broken)?;
    Ok(Socket::Tcp(listener, address))
}

impl Socket {
    fn fd(&self) -> BorrowedFd<'_> {
        match self {
            Socket::Tcp(listener, _) => listener.as_fd(),
            Socket::Unix(local) => local.listener.as_fd(),
        }
    }

    fn accept(&self) -> io::Result<Stream> {
        match self {
            Socket::Tcp(listener, _) => {
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(false)?;
                // Answers are sent at once, not gathered.
                stream.set_nodelay(true)?;
                Ok(OwnedFd::from(stream).into())
            }
            Socket::Unix(local) => {
                let (stream, _) = local.listener.accept()?;
                stream.set_nonblocking(false)?;
                Ok(stream)
            }
        }
    }
}

impl Shared {
    fn run(self: &Arc<Self>) {
        let mut clients: Vec<JoinHandle<()>> = Vec::new();
        while !self.stop.load(Ordering::Relaxed) {
            let _ = poll(&mut [PollFd::from_borrowed_fd(self.socket.fd(), PollFlags::IN)], Some(&LOOK));
            clients.retain(|client| !client.is_finished());
            match self.socket.accept() {
                Ok(stream) => clients.extend(self.welcome(stream)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // Too many open files, say: the client still waits, and asking again at once would only keep a core busy.
                Err(_) => std::thread::sleep(BREATH),
            }
        }
        self.guests.close();
        for client in clients {
            let _ = client.join();
        }
    }

    /// Gives a client a thread; one that cannot be had is a client turned away.
    fn welcome(self: &Arc<Self>, stream: Stream) -> Option<JoinHandle<()>> {
        let (handle, shared) = (stream.try_clone().ok()?, Arc::clone(self));
        let guest = self.guests.enter(move || drop(handle.shutdown(Shutdown::Both)));
        let theirs = Arc::clone(&guest);
        let serve = move || {
            // What went wrong on a connection concerns its client, who sees it end.
            let _ = shared.serve(stream, &theirs);
            shared.guests.leave(&theirs);
        };
        let thread = std::thread::Builder::new().name("card-client".to_owned()).spawn(serve);
        thread.inspect_err(|_| self.guests.leave(&guest)).ok()
    }

    fn serve(&self, mut stream: Stream, guest: &Arc<Guest>) -> session::Ended {
        let until = Instant::now() + PATIENCE;
        let chosen = session::negotiate(&mut Limited::new(&mut stream, until, MOST_SAID), &self.exports)?;
        let Some((export, aligned)) = chosen else { return Ok(()) };
        if !self.guests.seat(guest, until) {
            return Ok(());
        }
        let client = session::Client { guests: &self.guests, guest };
        session::transmit(stream.try_clone()?, stream, &self.cards[export], aligned, client)
    }
}
