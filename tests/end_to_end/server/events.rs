//! Event stream: ordered, resumable, and never blocking.

use super::{Server, verify};
use crate::common::binary::Home;
use crate::common::{PATIENCE, text};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

/// Received event.
#[derive(Debug, Clone, PartialEq)]
struct Event {
    id: Option<u64>,
    name: String,
    data: Value,
}

/// Client of the stream.
struct Listener(BufReader<TcpStream>);

impl Listener {
    /// Listens from now on, or from an event on. Uses HTTP/1.0, which does not chunk the body.
    #[track_caller]
    fn new(server: &Server, last: Option<&str>) -> Self {
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut head = server.head("GET", "/api/events", &[]).replace("HTTP/1.1", "HTTP/1.0");
        if let Some(last) = last {
            head = head.replace("\r\n\r\n", &format!("\r\nLast-Event-ID: {last}\r\n\r\n"));
        }
        stream.write_all(head.as_bytes()).unwrap();
        let mut stream = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(stream.read_line(&mut head).unwrap() > 0, "{head}");
        }
        assert!(head.contains("200 OK") && head.contains("text/event-stream"), "{head}");
        Listener(stream)
    }

    /// Next event; `None` at the end of the stream.
    fn next(&mut self) -> Option<Event> {
        let mut event = Event { id: None, name: String::new(), data: Value::Null };
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line).expect("events come") == 0 {
                return None;
            }
            let line = line.trim_end();
            match line.split_once(": ") {
                Some(("id", id)) => event.id = Some(id.parse().unwrap()),
                Some(("event", name)) => event.name = name.to_owned(),
                Some(("data", data)) => event.data = serde_json::from_str(data).unwrap(),
                _ if line.is_empty() && !event.name.is_empty() => return Some(event),
                _ => {}
            }
        }
    }

    /// All events up to the first that matches.
    #[track_caller]
    fn until(&mut self, meant: impl Fn(&Event) -> bool) -> Vec<Event> {
        let mut all = Vec::new();
        while !all.last().is_some_and(&meant) {
            all.push(self.next().expect("the stream goes on"));
        }
        all
    }
}

fn is_end_of(id: &str) -> impl Fn(&Event) -> bool {
    let id = id.to_owned();
    move |event| event.name == "task" && event.data["id"] == id.as_str() && event.data["state"] == "complete"
}

#[test]
fn events_are_ordered_and_resumable() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let mut listener = Listener::new(&server, None);
    let id = server.order(&verify("sim:sandian-1tb-52g"));
    let events = listener.until(is_end_of(&id));
    for (number, event) in (1..).zip(&events) {
        assert_eq!(event.id, Some(number), "{event:?}");
    }
    let named = |name: &str| events.iter().filter(|event| event.name == name).collect::<Vec<_>>();
    let states: Vec<&str> = named("task").iter().map(|event| text(&event.data, "/state")).collect();
    assert_eq!((states[0], states.last()), ("queued", Some(&"complete")));
    assert!(named("moment").iter().all(|event| text(&event.data, "/task") == id));
    assert!(!named("moment").is_empty() && !named("archive").is_empty(), "{events:#?}");
    let stored = named("task").iter().filter(|event| event.data["session"].is_string()).count();
    assert!(stored > 0 && named("task").iter().all(|event| event.data.get("moments").is_none()));
    // A client that resumes gets the missed events first.
    let third = events[2].id.unwrap().to_string();
    let mut again = Listener::new(&server, Some(&third));
    assert_eq!(again.until(is_end_of(&id)), events[3..]);
    server.stop(&id);
    for (number, event) in (events.len() as u64 + 1..).zip(again.until(|event| event.name == "task")) {
        assert_eq!(event.id, Some(number), "nothing twice: {event:?}");
    }
}

#[test]
fn resuming_too_late_reports_a_gap() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let id = server.order(&verify("sim:constant"));
    server.ended(&id);
    let mut newest = None;
    // Each of these reports the task again.
    (0..1100).for_each(|_| drop(server.stop(&id)));
    for last in ["1", "0", "18446744073709551614", "18446744073709551615"] {
        let mut listener = Listener::new(&server, Some(last));
        let gap = listener.next().unwrap();
        assert_eq!((gap.name.as_str(), &gap.data), ("gap", &json!({})), "{last}");
        server.stop(&id);
        // Other tests may attach devices, which is reported, too.
        let heard = listener.until(|event| event.name == "task");
        for (number, event) in (gap.id.unwrap() + 1..).zip(&heard) {
            assert_eq!(event.id, Some(number), "{event:?}");
        }
        newest = heard.last().and_then(|event| event.id);
    }
    // An invalid id resumes nothing.
    for last in ["", "x", "-1", "1e3", "99999999999999999999999"] {
        let mut listener = Listener::new(&server, Some(last));
        server.stop(&id);
        let heard = listener.until(|event| event.name == "task");
        assert!(heard.iter().all(|event| event.name != "gap" && event.id > newest), "{last}: {heard:?}");
        newest = heard.last().and_then(|event| event.id);
    }
}

#[test]
fn slow_listener_blocks_nothing_and_gets_a_gap() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    // A long name makes long events.
    let target = format!("sim:constant?seed={}1", "0".repeat(3000));
    let id = server.order(&verify(&target));
    server.ended(&id);
    let mut asleep = Listener::new(&server, None);
    let mut awake = Listener::new(&server, None);
    let counting =
        std::thread::spawn(move || awake.until(|event| event.data["target"] == "sim:constant").len());
    (0..4000).for_each(|_| drop(server.stop(&id)));
    let other = server.order(&verify("sim:constant"));
    assert_eq!(text(&server.ended(&other), "/state"), "complete");
    assert!(counting.join().unwrap() >= 4000, "who reads hears all");
    let heard = asleep.until(is_end_of(&other));
    let gap = heard.iter().position(|event| event.name == "gap").expect("there is a gap");
    assert!(gap > 0 && heard.len() < 4000, "{gap} of {}", heard.len());
    let numbers: Vec<u64> = heard.iter().filter_map(|event| event.id).collect();
    assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]));
}

#[test]
fn hundred_listeners_get_the_same_events() {
    let home = Home::new();
    let mut server = Server::start(&home, &[]);
    let mut listeners: Vec<Listener> = (0..100).map(|_| Listener::new(&server, None)).collect();
    let id = server.order(&verify("sim:constant"));
    // Clients that connected earlier may have got events of devices from other tests.
    let heard = |listener: &mut Listener| {
        let events = listener.until(is_end_of(&id));
        let order = events.iter().position(|event| event.data["id"] == id.as_str());
        events[order.expect("the order is an event")..].to_vec()
    };
    let first = heard(&mut listeners[0]);
    for listener in &mut listeners[1..] {
        assert_eq!(heard(listener), first);
    }
    listeners.truncate(50);
    server.get("/api/tasks").expect(200);
    server.running().signal(Signal::INT);
    server.running.take().unwrap().finish().expect(0);
    for listener in &mut listeners {
        while listener.next().is_some() {}
    }
}
