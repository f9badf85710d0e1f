//! `cardscope top` in a terminal of 80×24 with a real server: it shows and stops a test, and restores the terminal
//! however it ends.

use crate::common::binary::{CARDSCOPE, Home, Running};
use crate::common::machine::LoopDevice;
use crate::common::{list, until};
use crate::progress::slow_card;
use crate::screens::{Terminal, plain};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

/// Running server.
struct Server {
    running: Running,
    port: u16,
    token: String,
}

impl Server {
    fn start(home: &Home, port: u16) -> Self {
        let running = home.start(&["serve", "--port", &port.to_string(), "--json", "--all"]);
        until("the server's address", || running.printed().trim_end().ends_with('}'));
        let printed: Value = serde_json::from_str(&running.printed()).unwrap();
        let address = printed["address"].as_str().unwrap();
        let (url, token) = address.split_once("/#token=").unwrap();
        let port = url.rsplit_once(':').unwrap().1.parse().unwrap();
        Server { running, port, token: token.to_owned() }
    }

    /// Orders a test and returns its id.
    #[track_caller]
    fn order(&self, order: &Value) -> String {
        let mut order = order.clone();
        let devices = self.ask("GET", "devices", "");
        let target = order["target"].clone();
        if let Some(device) = list(&devices, "/devices").iter().find(|device| device["path"] == target) {
            order["object"] = device["object"].clone();
        }
        let answer = self.ask("POST", "tasks", &order.to_string());
        answer["id"].as_str().unwrap_or_else(|| panic!("{answer:#}")).to_owned()
    }

    fn task(&self, id: &str) -> Value {
        self.ask("GET", &format!("tasks/{id}"), "")
    }

    fn ask(&self, method: &str, path: &str, body: &str) -> Value {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let (port, token, length) = (self.port, &self.token, body.len());
        write!(
            stream,
            "{method} /api/{path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCardscope-Token: {token}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        serde_json::from_str(body).unwrap_or_else(|e| panic!("{e}: {answer}"))
    }
}

/// `top` in a terminal. Afterwards the shell prints the state of the terminal.
fn top(home: &Home, name: &str, options: &str) -> Terminal {
    let pid = home.path(&format!("{name}.pid"));
    let line = format!(
        "sh -c 'echo $$ > {}; exec \"{CARDSCOPE}\" top {options}'; echo \"[status $?]\"; stty -a | grep -e icanon -e opost -e icrnl",
        pid.display()
    );
    Terminal::sized(home, name, (80, 24), &line)
}

/// Screen that matches, with the last row selected, which is the simulated card: devices of this computer and of other
/// tests are listed above it.
#[track_caller]
fn last_row(terminal: &Terminal, so: impl Fn(&str) -> bool) -> String {
    terminal.once(|shown| {
        terminal.press("End");
        so(shown)
    })
}

fn pid(home: &Home, name: &str) -> Pid {
    let text = std::fs::read_to_string(home.path(&format!("{name}.pid"))).unwrap();
    Pid::from_raw(text.trim().parse().unwrap()).unwrap()
}

/// Asserts that the terminal is restored: previous screen, cursor, echo and line editing.
#[track_caller]
fn is_given_back(terminal: &Terminal, status: i32) {
    let shown = plain(&terminal.ended().0);
    assert!(shown.contains(&format!("[status {status}]")), "{shown}");
    assert_eq!(terminal.is("#{alternate_on} #{cursor_flag} #{mouse_any_flag}"), "0 1 0");
    let words: Vec<&str> = shown.split_whitespace().collect();
    for mode in ["icanon", "echo", "isig", "icrnl", "opost"] {
        assert!(words.contains(&mode), "{mode} is off\n{shown}");
    }
    assert!(!shown.contains("cardscope top ·"), "{shown}");
}

#[test]
fn top_shows_and_stops_a_test() {
    let home = Home::new();
    let served = slow_card(&home);
    let card = LoopDevice::over_file(served.card(), &[]);
    let server = Server::start(&home, 0);
    let order = json!({"verb": "sustain", "options": {"minutes": 5}, "target": card.path});
    let id = server.order(&order);
    let terminal = top(&home, "stopped", &format!("--port {}", server.port));
    let name = card.name();
    let runs = |shown: &str| {
        let shown = plain(shown);
        let line =
            shown.lines().find(|line| line.trim_start_matches(['>', ' ']).split(' ').next() == Some(name));
        let moves =
            line.is_some_and(|line| line.contains("sustain") && line.contains('%') && line.contains("ms"));
        moves && shown.contains("connected") && shown.contains("speed ") && shown.contains('█')
    };
    // Results of earlier tests are requested and shown before the first event.
    let shown = plain(&terminal.once(|shown| runs(shown) && plain(shown).contains("newest event")));
    assert!(shown.lines().count() <= 24 && shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    // Smaller, too small, and the original size.
    terminal.resize(60, 15);
    terminal
        .once(|shown| shown.contains("sustain") && !shown.contains("latency") && shown.contains("q quit"));
    terminal.resize(50, 10);
    terminal.once(|shown| shown.contains("needs") && shown.contains("60×15"));
    terminal.resize(80, 24);
    terminal.once(runs);
    terminal.press("Enter");
    terminal.once(|shown| shown.contains("Stages") && shown.contains("Esc back"));
    terminal.press("Escape");
    terminal.once(runs);
    terminal.press("s");
    terminal.once(|shown| plain(shown).contains(&format!("Stop sustain of {}?", card.path)));
    terminal.press("n");
    terminal.once(|shown| shown.contains("q quit"));
    assert_eq!(server.task(&id)["state"], "running", "no is no");
    terminal.press("s");
    terminal.once(|shown| shown.contains("y/n"));
    terminal.press("y");
    terminal.once(|shown| plain(shown).contains("stopped: "));
    assert_eq!(server.task(&id)["state"], "interrupted");
    terminal.press("q");
    is_given_back(&terminal, 0);
}

#[test]
fn top_shows_a_fake_verdict() {
    let home = Home::new();
    let server = Server::start(&home, 0);
    let terminal =
        top(&home, "fake", &format!("--url http://127.0.0.1:{}/#token={}", server.port, server.token));
    terminal.once(|shown| shown.contains("connected"));
    server.order(&json!({"verb": "check", "target": "sim:sandian-1tb-52g"}));
    let shown = last_row(&terminal, |shown| {
        plain(shown).contains("✗ FAKE") && plain(shown).contains("bad: FAKE: holds 52")
    });
    assert!(
        shown.contains("38;5;1m")
            || shown.contains("\u{1b}[31m")
            || shown.contains("\u{1b}[1;31m")
            || shown.contains(";31"),
        "red: {shown:?}"
    );
    terminal.press("Enter");
    terminal.once(|shown| plain(shown).contains("Findings"));
    terminal.press("C-c");
    is_given_back(&terminal, 0);
}

#[test]
fn top_follows_a_restarting_server() {
    let home = Home::new();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let terminal = top(&home, "waits", &format!("--port {port} --color never"));
    let shown = terminal.once(|shown| shown.contains("cardscope serve"));
    assert!(
        shown.contains(&format!("No server at 127.0.0.1:{port}")) && shown.contains("no server"),
        "{shown}"
    );
    let server = Server::start(&home, port);
    terminal.once(|shown| shown.contains("· connected"));
    let shown = terminal.shows();
    // 39 and 49 are the terminal's default colours.
    let coloured = (0..8).any(|colour| {
        [30, 40, 90, 100].iter().any(|base| shown.contains(&format!("\u{1b}[{}m", base + colour)))
    });
    assert!(!coloured && !shown.contains("[38;"), "no colours: {shown:?}");
    drop(server.running);
    terminal.once(|shown| shown.contains("disconnected"));
    let server = Server::start(&home, port);
    terminal.once(|shown| shown.contains("· connected"));
    server.order(&json!({"verb": "check", "target": "sim:sandisk-extremepro-32g-a1"}));
    last_row(&terminal, |shown| shown.contains("PASSED"));
    kill_process(pid(&home, "waits"), Signal::TERM).unwrap();
    is_given_back(&terminal, 130);
}

#[test]
fn top_without_terminal_offers_json() {
    let home = Home::new();
    home.run(&["top"]).expect(2).says(&["draws on a terminal", "--json"]);
    home.run(&["top", "--url", "https://127.0.0.1:7373"]).expect(2).says(&["--url", "http://127.0.0.1:7373"]);
    home.run(&["top", "--url", "http://192.0.2.1:7373"]).expect(2).says(&["CARDSCOPE_TOKEN"]);
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let alone =
        home.run(&["top", "--json", "--all", "--port", &port]).expect(0).says(&["no server answers"]).json();
    assert!(alone["server"].is_null() && alone["devices"].is_array(), "{alone:#}");
    let url = format!("http://127.0.0.1:{port}");
    home.run(&["top", "--json", "--url", &url]).expect(3).says(&["no server answers"]);
    let server = Server::start(&home, 0);
    let id = server.order(&json!({"verb": "verify", "target": "sim:sandian-1tb-52g"}));
    until("the task to complete", || server.task(&id)["state"] == "complete");
    let port = server.port.to_string();
    let seen = home.run(&["top", "--json", "--port", &port]).expect(0).json();
    assert_eq!(seen["tasks"][0]["id"], id.as_str());
    assert!(seen["answer"].as_str().unwrap().ends_with("0 tests under way."), "{seen:#}");
    let url = format!("http://127.0.0.1:{port}");
    let wrong = home.run(&["top", "--json", "--url", &url, "--token", "wrong"]).expect(3);
    wrong.says(&["the token is missing or wrong"]);
}
