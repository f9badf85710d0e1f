//! NBD server (Network Block Device; the protocol's `proto.md`: fixed newstyle negotiation, simple replies). Pure code
//! without sockets parses the bytes of a client; a client that sends garbage gets an error or is cut off, without
//! effect on others. This file has the listener, which gives each client a thread. A Unix socket is removed at the end;
//! the socket of a dead server is replaced.

mod clients;
mod handshake;
#[cfg(test)]
mod hostile_tests;
mod request;
mod session;

use super::ServeError;
use super::served_card::ServedCard;
use cardscope_files::{FileError, FileIdentity, ResolvedFolder};
use clients::{NbdClient, NbdClients};
use handshake::NbdExport;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::FileType;
use std::ffi::OsString;
use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Longest wait for a client before the next check for the end.
const ACCEPT_TIMEOUT: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// Pause after a client could not be accepted.
const ACCEPT_RETRY: Duration = Duration::from_millis(50);

/// Time for negotiating and for waiting for a seat.
const NEGOTIATION_TIMEOUT: Duration = Duration::from_secs(10);

/// Bytes of a negotiation in both directions: the longest option that is skipped, and some.
const MAX_NEGOTIATION_BYTES: usize = 2 << 20;

enum ListenSocket {
    Tcp(TcpListener, SocketAddr),
    Unix(UnixSocketFile),
}

/// Listening server; dropping it closes the socket and cuts off the clients.
pub(super) struct NbdListener {
    shared: Arc<ListenerShared>,
    thread: Option<JoinHandle<()>>,
}

struct ListenerShared {
    socket: ListenSocket,
    cards: Vec<Arc<ServedCard>>,
    exports: Vec<NbdExport>,
    clients: Arc<NbdClients>,
    stop: AtomicBool,
}

impl NbdListener {
    pub(super) fn start(address: &NbdAddress, cards: &[Arc<ServedCard>]) -> Result<NbdListener, ServeError> {
        let socket = match address {
            NbdAddress::Tcp(text) => bind_tcp(text)?,
            NbdAddress::Unix(path) => ListenSocket::Unix(UnixSocketFile::bind(path)?),
        };
        let export = |card: &Arc<ServedCard>| NbdExport { name: card.name.clone(), bytes: card.live.bytes };
        let exports = cards.iter().map(export).collect();
        let stop = AtomicBool::new(false);
        let clients = Arc::new(NbdClients::new());
        let shared = Arc::new(ListenerShared { socket, cards: cards.to_vec(), exports, clients, stop });
        let mut listener = NbdListener { shared: Arc::clone(&shared), thread: None };
        let thread = std::thread::Builder::new().name("card-nbd".to_owned());
        let started = thread.spawn(move || shared.accept_clients());
        listener.thread = Some(started.map_err(|e| address_error(address, &e.to_string()))?);
        Ok(listener)
    }

    /// NBD URI of a card.
    pub(super) fn uri(&self, name: &str) -> String {
        match &self.shared.socket {
            ListenSocket::Tcp(_, address) => format!("nbd://{address}/{name}"),
            ListenSocket::Unix(local) => format!("nbd+unix:///{name}?socket={}", escape_path(&local.path)),
        }
    }

    /// Warning if users of other computers can connect.
    pub(super) fn warning(&self) -> Option<String> {
        match &self.shared.socket {
            ListenSocket::Tcp(_, address) if !address.ip().is_loopback() => Some(format!(
                "warning: NBD has no password: anybody who reaches {address} can read and write these cards"
            )),
            _ => None,
        }
    }
}

impl Drop for NbdListener {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        if let ListenSocket::Unix(local) = &self.shared.socket {
            local.remove();
        }
    }
}

/// Escapes a path for the query of a URI (RFC 3986, section 3.4).
fn escape_path(path: &Path) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    let byte = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    path.as_os_str().as_bytes().iter().map(|b| byte(*b)).collect()
}

fn bind_tcp(text: &str) -> Result<ListenSocket, ServeError> {
    let named =
        |error: io::Error| address_error(text, &format!("this machine does not have that address ({error})"));
    let addresses: Vec<_> = text.to_socket_addrs().map_err(named)?.collect();
    let listener = TcpListener::bind(addresses.as_slice()).map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => {
            address_error(text, "the port is in use; use another one, or 0 for any free one")
        }
        ErrorKind::PermissionDenied => address_error(text, "ports below 1024 need root; use a higher one"),
        _ => named(error),
    })?;
    let broken = |error: io::Error| address_error(text, &error.to_string());
    // A client may leave between poll and accept, which must not block then.
    listener.set_nonblocking(true).map_err(broken)?;
    let address = listener.local_addr().map_err(broken)?;
    Ok(ListenSocket::Tcp(listener, address))
}

impl ListenSocket {
    fn fd(&self) -> BorrowedFd<'_> {
        match self {
            ListenSocket::Tcp(listener, _) => listener.as_fd(),
            ListenSocket::Unix(local) => local.listener.as_fd(),
        }
    }

    fn accept(&self) -> io::Result<ClientStream> {
        let stream = match self {
            ListenSocket::Tcp(listener, _) => {
                let (stream, _) = listener.accept()?;
                // Small answers must not wait for more data (Nagle).
                stream.set_nodelay(true)?;
                OwnedFd::from(stream).into()
            }
            ListenSocket::Unix(local) => local.listener.accept()?.0,
        };
        stream.set_nonblocking(false)?;
        Ok(stream)
    }
}

impl ListenerShared {
    fn accept_clients(self: &Arc<Self>) {
        let mut threads: Vec<JoinHandle<()>> = Vec::new();
        while !self.stop.load(Ordering::Relaxed) {
            let waiting = PollFd::from_borrowed_fd(self.socket.fd(), PollFlags::IN);
            let _ = poll(&mut [waiting], Some(&ACCEPT_TIMEOUT));
            threads.retain(|thread| !thread.is_finished());
            match self.socket.accept() {
                Ok(stream) => threads.extend(self.start_client(stream)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                // With too many open files, for example, the client still waits: trying again at once would only load a
                // core.
                Err(_) => std::thread::sleep(ACCEPT_RETRY),
            }
        }
        self.clients.disconnect_all();
        for thread in threads {
            let _ = thread.join();
        }
    }

    /// Gives a client a thread; turns the client away if there is none.
    fn start_client(self: &Arc<Self>, stream: ClientStream) -> Option<JoinHandle<()>> {
        let (handle, shared) = (stream.try_clone().ok()?, Arc::clone(self));
        let client = self.clients.register_client(move || drop(handle.shutdown(Shutdown::Both)));
        let theirs = Arc::clone(&client);
        let serve = move || {
            // An error on a connection concerns its client only, which sees the connection end.
            let _ = shared.serve_client(stream, &theirs);
            shared.clients.remove_client(&theirs);
        };
        let thread = std::thread::Builder::new().name("card-client".to_owned()).spawn(serve);
        thread.inspect_err(|_| self.clients.remove_client(&client)).ok()
    }

    fn serve_client(&self, mut stream: ClientStream, client: &Arc<NbdClient>) -> io::Result<()> {
        let until = Instant::now() + NEGOTIATION_TIMEOUT;
        let mut limited = LimitedReader { stream: &mut stream, until, left: MAX_NEGOTIATION_BYTES };
        let chosen = session::negotiate(&mut limited, &self.exports)?;
        drop(limited);
        let Some((export, aligned)) = chosen else { return Ok(()) };
        if !self.clients.wait_for_seat(client, until) {
            return Ok(());
        }
        let session = session::SessionClient { clients: &self.clients, client };
        session::execute_requests(stream.try_clone()?, stream, &self.cards[export], aligned, session)
    }
}

/// Connection of either kind: after accepting, a TCP socket is read, written and shut down by the same calls as a Unix
/// socket.
type ClientStream = UnixStream;

/// Connection with a deadline and a limit of bytes for both directions together, so that a client cannot prolong a
/// negotiation by sending a byte now and then.
struct LimitedReader<'a> {
    stream: &'a mut ClientStream,
    until: Instant,
    left: usize,
}

impl LimitedReader<'_> {
    /// Calls `act` with the number of bytes that may be moved.
    fn transfer<F>(&mut self, len: usize, act: F) -> io::Result<usize>
    where
        F: FnOnce(&mut ClientStream, usize) -> io::Result<usize>,
    {
        let time = self.until.saturating_duration_since(Instant::now());
        if time.is_zero() || (self.left == 0 && len > 0) {
            return Err(ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(time))?;
        self.stream.set_write_timeout(Some(time))?;
        let moved = act(self.stream, len.min(self.left))?;
        self.left -= moved;
        Ok(moved)
    }
}

impl Drop for LimitedReader<'_> {
    fn drop(&mut self) {
        // If this fails, the connection ends too early, which its client sees.
        let _ = self.stream.set_read_timeout(None).and_then(|()| self.stream.set_write_timeout(None));
    }
}

impl Read for LimitedReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.transfer(buffer.len(), |stream, len| stream.read(&mut buffer[..len]))
    }
}

impl Write for LimitedReader<'_> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.transfer(data.len(), |stream, len| stream.write(&data[..len]))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Address for NBD clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NbdAddress {
    /// Host and port; port 0 lets the kernel choose.
    Tcp(String),
    Unix(PathBuf),
}

impl FromStr for NbdAddress {
    type Err = ServeError;

    /// Text with a slash, or without a colon and a number at its end, is a path.
    fn from_str(text: &str) -> Result<Self, ServeError> {
        let port = text.rsplit_once(':').map(|(host, port)| (host, port.parse::<u16>()));
        let wrong = match port {
            _ if text.is_empty() => "write host:port, or the path of a socket",
            None => return Ok(NbdAddress::Unix(PathBuf::from(text))),
            _ if text.contains('/') => return Ok(NbdAddress::Unix(PathBuf::from(text))),
            Some(("", _)) => "a host is missing; write 127.0.0.1:10809, or 0.0.0.0:10809 for any",
            Some((_, Ok(_))) => return Ok(NbdAddress::Tcp(text.to_owned())),
            Some((_, Err(_))) => "the port must be a number up to 65535",
        };
        Err(address_error(text, wrong))
    }
}

impl fmt::Display for NbdAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NbdAddress::Tcp(text) => f.write_str(text),
            NbdAddress::Unix(path) => write!(f, "{}", path.display()),
        }
    }
}

fn address_error(address: impl ToString, reason: &str) -> ServeError {
    ServeError::Address(address.to_string(), reason.to_owned())
}

struct UnixSocketFile {
    listener: UnixListener,
    /// Absolute path, for messages.
    path: PathBuf,
    folder: ResolvedFolder,
    name: OsString,
    identity: FileIdentity,
}

impl UnixSocketFile {
    fn bind(path: &Path) -> Result<UnixSocketFile, ServeError> {
        let wrong = |reason: &str| address_error(path.display(), reason);
        let broken = |error: FileError| match error.is_absent() {
            true => wrong("its directory does not exist; create it first"),
            false => wrong(&error.to_string()),
        };
        let (folder, name) = ResolvedFolder::parent_of(path).map_err(broken)?;
        // A path by descriptor also fits if the whole path is too long for a socket address.
        let at = folder.proc_path().join(&name);
        if let Some(there) = folder.stat(&name).map_err(broken)? {
            if FileType::from_raw_mode(there.st_mode) != FileType::Socket {
                return Err(wrong("a file with that name exists and is not a socket; give another path"));
            }
            match UnixStream::connect(&at) {
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
                Err(error) => return Err(wrong(&error.to_string())),
                Ok(_) => return Err(wrong("another server answers there; give another path")),
            }
            folder.remove(&name, FileIdentity::from(&there)).map_err(broken)?;
        }
        let listener = UnixListener::bind(&at).map_err(|e| broken(e.into()))?;
        listener.set_nonblocking(true).map_err(|e| broken(e.into()))?;
        let gone = || wrong("the socket was removed immediately");
        let made = folder.stat(&name).map_err(broken)?.ok_or_else(gone)?;
        let path = folder.path().join(&name);
        Ok(UnixSocketFile { listener, path, folder, name, identity: FileIdentity::from(&made) })
    }

    /// Removes the socket, unless others have replaced it.
    fn remove(&self) {
        let _ = self.folder.remove(&self.name, self.identity);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn trickling_client_hits_the_deadline() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let trickle = std::thread::spawn(move || {
            while theirs.write_all(&[0]).is_ok() {
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let mut stream = ours;
        let until = Instant::now() + Duration::from_millis(300);
        assert!(
            LimitedReader { stream: &mut stream, until, left: 1 << 20 }.read_exact(&mut [0; 4096]).is_err()
        );
        assert!(Instant::now() >= until);
        drop(stream);
        trickle.join().unwrap();
    }

    #[test]
    fn unread_and_endless_transfers_are_limited() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let mut stream = ours;
        let soon = || Instant::now() + Duration::from_millis(100);
        assert!(
            LimitedReader { stream: &mut stream, until: soon(), left: 1 << 30 }
                .write_all(&vec![0; 16 << 20])
                .is_err()
        );
        theirs.write_all(&[0; 100]).unwrap();
        let mut few =
            LimitedReader { stream: &mut stream, until: Instant::now() + Duration::from_secs(60), left: 50 };
        assert!(few.read_exact(&mut [0; 50]).is_ok() && few.read_exact(&mut [0; 1]).is_err());
    }

    #[test]
    fn address_is_parsed_as_port_or_path() {
        let address = |text: &str| text.parse::<NbdAddress>().map_err(|e| e.to_string());
        assert_eq!(address("127.0.0.1:10809"), Ok(NbdAddress::Tcp("127.0.0.1:10809".to_owned())));
        assert_eq!(address("[::1]:0"), Ok(NbdAddress::Tcp("[::1]:0".to_owned())));
        assert_eq!(address("/run/card:1"), Ok(NbdAddress::Unix("/run/card:1".into())));
        assert_eq!(address("card.sock"), Ok(NbdAddress::Unix("card.sock".into())));
        for (bad, word) in [("", "host:port"), (":10809", "host is missing"), ("host:99999", "port")] {
            assert!(address(bad).is_err_and(|e| e.contains(word)), "{bad}");
        }
    }
}
