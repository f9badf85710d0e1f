//! Connections of other users: they cannot lock out the owner or use up the descriptors of tests.

use super::Server;
use crate::common::binary::{Home, Running};
use crate::common::{PATIENCE, until};
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Most connections without authentication.
const MOST: usize = 64;

/// Time limit for a complete request header.
const HEADER: Duration = Duration::from_secs(10);

fn descriptors(server: &Server) -> usize {
    fs::read_dir(format!("/proc/{}/fd", server.running().id())).unwrap().count()
}

fn connect(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// True for a connection that the server has closed.
fn is_closed(stream: &mut TcpStream) -> bool {
    stream.set_nonblocking(true).unwrap();
    let read = stream.read(&mut [0]);
    stream.set_nonblocking(false).unwrap();
    match read {
        Ok(read) => read == 0,
        Err(error) => error.kind() != ErrorKind::WouldBlock,
    }
}

#[test]
fn idle_connections_do_not_lock_out_the_owner() {
    // In five processes, because each may open only some thousand files.
    const OPEN: &str = "import os, resource, socket, sys
limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
all(os.fork() for _ in range(4))
held = []
for number in range(4000):
    one = socket.create_connection(('127.0.0.1', int(sys.argv[1])))
    try:
        one.send(b'GET / HT')
    except OSError:
        pass
    held.append(one)
print('open', flush=True)
sys.stdin.read()";
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let before = descriptors(&server);
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/python3", "-c", OPEN]);
    command.arg(server.address.port().to_string());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut other = Running::of(command);
    let (mut asked, began) = (0, Instant::now());
    while other.printed().matches("open").count() < 5 {
        // Also while they connect.
        server.get("/api/tasks").expect(200);
        asked += 1;
        assert!(!other.is_over(), "{}", other.noted());
        // The kernel drops connections that a busy machine accepts too slowly, and they retry after a second.
        assert!(began.elapsed() < 4 * PATIENCE, "{}", other.printed());
    }
    assert!(asked > 1);
    for _ in 0..20 {
        let began = Instant::now();
        server.get("/api/tasks").expect(200);
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    }
    let now = descriptors(&server);
    assert!(now <= before + MOST + 16, "{before} descriptors before and {now} beside 20 000 connections");
}

#[test]
fn oldest_unauthenticated_connection_is_closed() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let mut owner = connect(&server);
    let head = server.head("GET", "/api/events", &[]).replace("Connection: close\r\n", "");
    owner.write_all(head.as_bytes()).unwrap();
    assert!(owner.read(&mut [0; 512]).unwrap() > 0);
    let mut strangers: Vec<TcpStream> = (0..MOST + 20).map(|_| connect(&server)).collect();
    until("the first ones to be closed", || strangers[..20].iter_mut().all(is_closed));
    assert!(!strangers[20..].iter_mut().any(is_closed), "the newest ones are kept");
    assert!(!is_closed(&mut owner), "the owner's is not one of them");
    // A new connection evicts the oldest, and counts as the owner's from its first request on.
    server.get("/api/tasks").expect(200);
}

#[test]
fn slow_headers_time_out() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let token = server.head("GET", "/api/tasks", &[]);
    let begun = ["", "GET /", "GET / HTTP/1.1\r\nHost: x\r\n", &token[..token.len() - 2]];
    let mut streams = begun.map(|begun| {
        let mut stream = connect(&server);
        stream.write_all(begun.as_bytes()).unwrap();
        stream
    });
    let began = Instant::now();
    until("all of them to be closed", || {
        // A byte now and then is no complete header either.
        if began.elapsed() < HEADER / 2 {
            let _ = streams[2].write_all(b"X-More: 1\r\n");
        }
        std::thread::sleep(Duration::from_millis(200));
        streams.iter_mut().all(is_closed)
    });
    assert!(began.elapsed() > HEADER / 2, "{:?}", began.elapsed());
    assert!(began.elapsed() < HEADER * 2, "{:?}", began.elapsed());
}
