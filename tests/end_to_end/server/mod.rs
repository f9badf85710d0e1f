//! `cardscope serve`: the real server over plain sockets, so that requests can be forged.

mod archive;
mod auth;
mod bodies;
mod contract;
mod events;
mod names;
mod objects;
mod runs;
mod secrets;
mod unauthenticated;

use crate::common::binary::{CARDSCOPE, Home, Running};
use crate::common::machine::{LoopDevice, data, run_tool};
use crate::common::served::Served;
use crate::common::{PATIENCE, list, text, until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

/// Running server with its token. It ends with its tests when dropped.
struct Server {
    running: Option<Running>,
    address: SocketAddr,
    token: String,
    temp: PathBuf,
}

/// Response of a server.
#[derive(Debug)]
struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Server {
    /// Starts a server on a free port, with its own temporary folder.
    #[track_caller]
    fn start(home: &Home, options: &[&str]) -> Self {
        Self::start_as(home, options, |_| ())
    }

    /// Same, with a command that is changed first.
    #[track_caller]
    fn start_as(home: &Home, options: &[&str], change: impl FnOnce(&mut Command)) -> Self {
        let temp = home.path("temp");
        fs::create_dir_all(&temp).unwrap();
        let mut command = home.command(CARDSCOPE);
        // In its own process group, as on a terminal.
        command.args(["serve", "--port", "0", "--json"]).args(options).env("TMPDIR", &temp);
        command.current_dir(home.path("")).process_group(0);
        change(&mut command);
        let mut running = Running::of(command);
        let mut link = None;
        until("the address of the server", || {
            assert!(!running.is_over(), "{}", running.noted());
            link = serde_json::from_str::<Value>(&running.printed()).ok();
            link.is_some()
        });
        let link = link.unwrap();
        let (address, token) = text(&link, "/address").split_once("/#token=").unwrap();
        let address = address.strip_prefix("http://").unwrap().parse().unwrap();
        Server { running: Some(running), address, token: token.to_owned(), temp }
    }

    fn running(&self) -> &Running {
        self.running.as_ref().expect("it runs")
    }

    /// Printed address with the token.
    fn link(&self) -> String {
        format!("http://{}/#token={}", self.address, self.token)
    }

    fn pid(&self) -> Pid {
        Pid::from_raw(self.running().id().cast_signed()).unwrap()
    }

    /// Sends raw bytes and returns the response, even if not all of them were read.
    #[track_caller]
    fn send(&self, bytes: &[u8]) -> Answer {
        self.stream(|stream| {
            let _ = stream.write_all(bytes);
        })
    }

    /// Sends what `write` writes, and reads the response at the same time.
    #[track_caller]
    fn stream(&self, write: impl FnOnce(&mut TcpStream) + Send) -> Answer {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        let mut writing = stream.try_clone().unwrap();
        let mut said = Vec::new();
        std::thread::scope(|scope| {
            scope.spawn(move || write(&mut writing));
            // A closed connection still has the response that came first.
            let _ = stream.read_to_end(&mut said);
            let _ = stream.shutdown(std::net::Shutdown::Both);
        });
        Answer::of(&said)
    }

    /// Header of a request with the token.
    fn head(&self, method: &str, path: &str, more: &[(&str, &str)]) -> String {
        let mut head = format!("{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", self.address);
        let _ = write!(head, "Cardscope-Token: {}\r\n", self.token);
        more.iter().for_each(|(name, value)| {
            let _ = write!(head, "{name}: {value}\r\n");
        });
        head + "\r\n"
    }

    #[track_caller]
    fn get(&self, path: &str) -> Answer {
        self.send(self.head("GET", path, &[]).as_bytes())
    }

    /// Document at a path, which must exist.
    #[track_caller]
    fn document(&self, path: &str) -> Value {
        self.get(path).expect(200)
    }

    #[track_caller]
    fn delete(&self, path: &str) -> Answer {
        self.send(self.head("DELETE", path, &[]).as_bytes())
    }

    /// Sends a body with the content type of JSON.
    #[track_caller]
    fn say(&self, method: &str, path: &str, body: &[u8]) -> Answer {
        let length = body.len().to_string();
        let headers = [("Content-Type", "application/json"), ("Content-Length", &length)];
        self.send(&[self.head(method, path, &headers).as_bytes(), body].concat())
    }

    #[track_caller]
    fn post(&self, path: &str, document: &Value) -> Answer {
        self.say("POST", path, document.to_string().as_bytes())
    }

    /// Uploads a file and returns its name for an import.
    #[track_caller]
    fn upload(&self, name: &str, bytes: &[u8]) -> Value {
        let length = bytes.len().to_string();
        let path = format!("/api/uploads?name={}", escaped(name));
        let head = self.head("POST", &path, &[("Content-Length", &length)]);
        self.send(&[head.as_bytes(), bytes].concat()).expect(201)
    }

    /// Orders a test of the card that is in the device now; returns its id.
    #[track_caller]
    fn order(&self, order: &Value) -> String {
        text(&self.post("/api/tasks", &self.with_object(order)).expect(201), "/id").to_owned()
    }

    /// Order that names the card in the device now.
    #[track_caller]
    fn with_object(&self, order: &Value) -> Value {
        let mut order = order.clone();
        if let Some(device) = self.device(text(&order, "/target")) {
            order["object"] = device["object"].clone();
        }
        order
    }

    /// Device in the list, by path.
    #[track_caller]
    fn device(&self, path: &str) -> Option<Value> {
        let devices = self.document("/api/devices");
        list(&devices, "/devices").iter().find(|device| device["path"] == path).cloned()
    }

    #[track_caller]
    fn task(&self, id: &str) -> Value {
        self.document(&format!("/api/tasks/{id}"))
    }

    /// Cookie that a browser with the token gets, with attributes.
    #[track_caller]
    fn cookie(&self) -> String {
        let given = self.send(self.head("POST", "/api/session", &[("Content-Length", "0")]).as_bytes());
        given.expect(204);
        given.header("set-cookie").unwrap().to_owned()
    }

    /// Waits until a test has ended, and returns it.
    #[track_caller]
    fn ended(&self, id: &str) -> Value {
        let mut task = Value::Null;
        until("the end of a test", || {
            task = self.task(id);
            ["complete", "failed", "interrupted"].contains(&text(&task, "/state"))
        });
        task
    }

    #[track_caller]
    fn stop(&self, id: &str) -> Value {
        self.send(self.head("POST", &format!("/api/tasks/{id}/stop"), &[("Content-Length", "0")]).as_bytes())
            .expect(200)
    }

    /// Waits for the process of the running test, a child of the server.
    #[track_caller]
    fn child(&self) -> Pid {
        let mut found = Vec::new();
        until("the process of a test", || {
            found = children(self.pid());
            !found.is_empty()
        });
        found[0]
    }

    /// Files in the temporary folder, including folders of uploads.
    fn temporary(&self) -> Vec<PathBuf> {
        let folders = fs::read_dir(&self.temp).unwrap().map(|entry| entry.unwrap().path());
        folders.flat_map(|folder| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path())).collect()
    }

    /// Kills the server.
    fn kill(&mut self) {
        let running = self.running.take().expect("it runs");
        running.signal(Signal::KILL);
        running.finish();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let Some(mut running) = self.running.take() else { return };
        for child in children(Pid::from_raw(running.id().cast_signed()).unwrap()) {
            let _ = kill_process(child, Signal::CONT);
        }
        running.signal(Signal::INT);
        let asked = std::time::Instant::now();
        while !running.is_over() && asked.elapsed() < PATIENCE {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }
}

impl Answer {
    #[track_caller]
    fn of(said: &[u8]) -> Self {
        let end = said.windows(4).position(|four| four == b"\r\n\r\n");
        let end = end.unwrap_or_else(|| panic!("no answer: {:?}", String::from_utf8_lossy(said)));
        let head = std::str::from_utf8(&said[..end]).unwrap();
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let pair = |line: &str| {
            let (name, value) = line.split_once(':').unwrap();
            (name.to_ascii_lowercase(), value.trim().to_owned())
        };
        Answer { status, headers: lines.map(pair).collect(), body: said[end + 4..].to_vec() }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Asserts the status and returns the document, or null.
    #[track_caller]
    fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text());
        if self.body.is_empty() {
            return Value::Null;
        }
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.text()))
    }

    /// Asserts an error in the API's form and returns its message.
    #[track_caller]
    fn refused(&self, status: u16) -> String {
        self.problem(status, &["error"])
    }

    /// Asserts that the order waits for consent and returns its message.
    #[track_caller]
    fn needs_consent(&self) -> String {
        assert_eq!(self.expect(409)["needs_consent"], true);
        self.problem(409, &["error", "needs_consent"])
    }

    #[track_caller]
    fn problem(&self, status: u16, fields: &[&str]) -> String {
        let problem = self.expect(status);
        assert_eq!(self.header("content-type"), Some("application/json"));
        assert!(problem.as_object().unwrap().keys().eq(fields), "{problem}");
        let error = text(&problem, "/error").to_owned();
        assert!(!error.is_empty());
        error
    }
}

/// Text as a part of a path, with every special byte escaped.
fn escaped(text: &str) -> String {
    text.bytes().fold(String::new(), |mut out, byte| {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' => out.push(byte.into()),
            other => {
                let _ = write!(out, "%{other:02X}");
            }
        }
        out
    })
}

/// Running child processes.
fn children(of: Pid) -> Vec<Pid> {
    let of = of.as_raw_nonzero().to_string();
    let processes =
        fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let is_child = |id: &String| {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        let mut fields = stat.rsplit(") ").next().unwrap_or_default().split(' ');
        fields.next().is_some_and(|state| state != "Z") && fields.next() == Some(&of)
    };
    processes.filter(is_child).filter_map(|id| Pid::from_raw(id.parse().ok()?)).collect()
}

/// Slow card with data as a loop device.
struct SlowCard {
    card: LoopDevice,
    before: Vec<u8>,
    served: Served,
}

/// Card slow enough to be interrupted: 4 ms a command.
const SLOW: &str = "constant?command_s=0.004&mb_s=100&announced_bytes=64MiB";

impl SlowCard {
    #[track_caller]
    fn new(home: &Home) -> Self {
        let served = Served::start(home, SLOW, &[]);
        let before = data(16 << 20);
        let card = LoopDevice::over_file(served.card(), &["--direct-io=on"]);
        fs::write(&card.path, &before).unwrap();
        let mut slow = SlowCard { card, before, served };
        slow.before = slow.content();
        slow
    }

    /// Content of the card, without any cache.
    fn content(&self) -> Vec<u8> {
        run_tool("blockdev", &["--flushbufs", &self.card.path]);
        fs::read(&self.card.path).unwrap()
    }

    fn path(&self) -> &str {
        &self.card.path
    }
}

/// Waits until a test has saved data that it is about to overwrite.
#[track_caller]
fn until_it_writes(home: &Home) {
    until("the journal", || {
        crate::common::maps::journals(home)
            .iter()
            .any(|file| file.metadata().is_ok_and(|m| m.len() > 1 << 16))
    });
}

fn verify(target: &str) -> Value {
    json!({ "verb": "verify", "target": target, "options": {} })
}

/// Frozen test that has begun to write: server, id and process.
fn held_while_it_writes(home: &Home, slow: &SlowCard) -> (Server, String, Pid) {
    let server = Server::start(home, &["--all"]);
    let id = server.order(&verify(slow.path()));
    until_it_writes(home);
    let child = server.child();
    kill_process(child, Signal::STOP).unwrap();
    (server, id, child)
}
