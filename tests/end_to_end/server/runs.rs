//! Ordered tests: one a device, stopped, confirmed, and recovered when a card, the server or its user disappears. The
//! card's data is unchanged after each of them.

use super::{Server, SlowCard, children, held_while_it_writes, until_it_writes, verify};
use crate::common::binary::Home;
use crate::common::machine::with_data;
use crate::common::maps::journals;
use crate::common::{list, text, until};
use rustix::process::{Signal, kill_process, kill_process_group, test_kill_process};
use serde_json::{Value, json};
use std::time::Duration;

#[test]
fn a_simulated_card_is_tested_to_its_page() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let id = server.order(&verify("sim:sandian-1tb-52g"));
    let task = server.ended(&id);
    assert_eq!((text(&task, "/state"), text(&task, "/tone")), ("complete", "bad"), "{task:#}");
    assert!(text(&task, "/answer").starts_with("FAKE"), "{task:#}");
    assert_eq!((&task["loses_data"], &task["error"]), (&json!(false), &Value::Null));
    assert!(!list(&task, "/plan").is_empty() && !list(&task, "/moments").is_empty());
    let session = server.document(&format!("/api/sessions/{}", text(&task, "/session")));
    assert_eq!((text(&session, "/kind"), &session["answer"]), ("verify", &task["answer"]));
    assert!(text(&session, "/html").contains("FAKE"));
    let shown = server.document("/api/sessions");
    assert_eq!(text(&shown, "/sessions/0/session"), text(&task, "/session"));
    server.delete(&format!("/api/tasks/{id}")).expect(204);
    server.delete(&format!("/api/tasks/{id}")).refused(404);
    server.document(&format!("/api/sessions/{}", text(&task, "/session")));
}

#[test]
fn a_second_test_on_a_device_waits_for_the_first() {
    let home = Home::new();
    let slow = SlowCard::new(&home);
    let (server, first, child) = held_while_it_writes(&home, &slow);
    let second = server.order(
        &json!({ "verb": "check", "target": slow.path(), "options": { "read_only": true, "budget_s": 20 } }),
    );
    assert_eq!(
        (text(&server.task(&second), "/state"), &server.task(&second)["started_at"]),
        ("queued", &Value::Null)
    );
    let devices = server.document("/api/devices");
    let device = list(&devices, "/devices").iter().find(|device| device["path"] == slow.path()).unwrap();
    assert_eq!(text(device, "/task"), first);
    assert_eq!(children(server.pid()), [child]);
    server.delete(&format!("/api/tasks/{second}")).refused(409);
    server.delete(&format!("/api/tasks/{first}")).refused(409);
    // Another target does not wait.
    let other = server.order(&verify("sim:constant"));
    assert_eq!(text(&server.ended(&other), "/state"), "complete");
    assert_eq!(text(&server.task(&second), "/state"), "queued");
    kill_process(child, Signal::CONT).unwrap();
    let (first, second) = (server.ended(&first), server.ended(&second));
    assert_eq!(text(&first, "/state"), "complete", "{first:#}");
    assert_eq!(text(&second, "/state"), "complete", "{second:#}");
    assert!(text(&second, "/started_at") >= text(&first, "/ended_at"), "{first:#} {second:#}");
    assert!(slow.content() == slow.before);
}

#[test]
fn stop_cancels_queued_tests_and_restores_running_ones() {
    let home = Home::new();
    let slow = SlowCard::new(&home);
    let (server, first, child) = held_while_it_writes(&home, &slow);
    let second = server.order(&verify(slow.path()));
    let stopped = server.stop(&second);
    assert_eq!((text(&stopped, "/state"), &stopped["started_at"]), ("interrupted", &Value::Null));
    assert_eq!(text(&server.stop(&first), "/state"), "stopping");
    kill_process(child, Signal::CONT).unwrap();
    let first = server.ended(&first);
    assert_eq!(text(&first, "/state"), "interrupted", "{first:#}");
    assert!(slow.content() == slow.before && journals(&home).is_empty());
    let session = server.document(&format!("/api/sessions/{}", text(&first, "/session")));
    assert_eq!(text(&session, "/kind"), "verify");
    // A finished test cannot be stopped.
    assert_eq!(text(&server.stop(text(&first, "/id")), "/state"), "interrupted");
    let send = |path: &str| server.send(server.head("POST", path, &[("Content-Length", "0")]).as_bytes());
    send("/api/tasks/none/stop").refused(404);
}

#[test]
fn second_stop_still_restores_the_data() {
    let home = Home::new();
    let slow = SlowCard::new(&home);
    let server = Server::start(&home, &["--all"]);
    let id = server.order(&verify(slow.path()));
    until_it_writes(&home);
    let frozen = slow.served.freeze();
    assert_eq!(text(&server.stop(&id), "/state"), "stopping");
    // A second signal after this time counts as intended.
    std::thread::sleep(Duration::from_millis(700));
    assert_eq!(text(&server.stop(&id), "/state"), "stopping");
    drop(frozen);
    assert_eq!(text(&server.ended(&id), "/state"), "interrupted");
    assert!(slow.content() == slow.before && journals(&home).is_empty());
}

#[test]
fn destructive_order_needs_the_device_name() {
    let home = Home::new();
    let card = with_data(16, &[]);
    let before = card.content();
    let server = Server::start(&home, &["--all"]);
    let full = |confirm: Value| json!({ "verb": "verify", "target": card.path, "options": { "full": true }, "confirm": confirm });
    let recipe = json!({ "recipe_text": "name = \"w\"\ntitle = \"t\"\nversion = 1\nsource = \"s\"\n[area]\nsize = \"1MiB\"\n[[test]]\ntest = \"SEQ1M Q1T1 write\"\npasses = 1\n" });
    for order in [
        full(Value::Null),
        full(json!("")),
        full(json!(card.name())),
        full(json!(format!("{}\n", card.path))),
        full(json!(format!("{}0", card.path))),
        full(json!("yes")),
        json!({ "verb": "verify", "target": card.path, "options": { "full": true } }),
        json!({ "verb": "verify", "target": card.path, "options": { "erase": true } }),
        json!({ "verb": "check", "target": card.path, "options": { "erase": true } }),
        json!({ "verb": "map", "target": card.path, "options": { "erase": true } }),
        json!({ "verb": "sustain", "target": card.path, "options": { "write": true } }),
        json!({ "verb": "bench", "target": card.path, "options": recipe }),
        json!({ "verb": "format", "target": card.path, "options": {} }),
        json!({ "verb": "endure", "target": card.path, "options": {} }),
    ] {
        let error = server.post("/api/tasks", &server.with_object(&order)).needs_consent();
        assert!(error.contains(&card.path) && error.contains("lost"), "{error}");
    }
    assert!(list(&server.document("/api/tasks"), "/tasks").is_empty());
    assert!(children(server.pid()).is_empty() && card.content() == before && server.temporary().is_empty());
    let task = server.ended(&server.order(&full(json!(card.path))));
    assert_eq!((text(&task, "/state"), &task["loses_data"]), ("complete", &json!(true)), "{task:#}");
    assert!(card.content() != before);
}

#[test]
fn loop_devices_are_listed_only_on_request() {
    let home = Home::new();
    let card = with_data(16, &[]);
    let server = Server::start(&home, &[]);
    server.post("/api/tasks", &verify(&card.path)).refused(422);
    let devices = server.document("/api/devices");
    assert!(list(&devices, "/devices").iter().all(|device| device["path"] != card.path));
}

#[test]
fn test_restores_data_after_its_server_was_killed() {
    let home = Home::new();
    let slow = SlowCard::new(&home);
    let (mut server, running, child) = held_while_it_writes(&home, &slow);
    let waiting = server.order(&verify(slow.path()));
    server.kill();
    kill_process(child, Signal::CONT).unwrap();
    until("the end of the test", || test_kill_process(child).is_err());
    assert!(slow.content() == slow.before && journals(&home).is_empty());
    let server = Server::start(&home, &["--all"]);
    let task = server.task(&running);
    assert_eq!((text(&task, "/state"), text(&task, "/target")), ("interrupted", slow.path()));
    assert!(text(&task, "/error").contains("the server ended while it ran"), "{task:#}");
    let session = server.document(&format!("/api/sessions/{}", text(&task, "/session")));
    assert_eq!(text(&session, "/kind"), "verify");
    assert!(!text(&session, "/html").is_empty() && !text(&session, "/answer").is_empty());
    let shown = server.document("/api/sessions");
    assert_eq!(text(&shown, "/sessions/0/state"), "interrupted", "{shown:#}");
    let task = server.task(&waiting);
    assert_eq!((text(&task, "/state"), &task["session"]), ("interrupted", &Value::Null));
    assert!(text(&task, "/error").contains("before it began"), "{task:#}");
    assert!(list(&server.document("/api/journals"), "/journals").is_empty());
    // The device is free again.
    assert_eq!(text(&server.ended(&server.order(&verify(slow.path()))), "/state"), "complete");
}

#[test]
fn pulled_card_leaves_a_journal() {
    let home = Home::new();
    let mut slow = SlowCard::new(&home);
    let server = Server::start(&home, &["--all"]);
    let id = server.order(&verify(slow.path()));
    until_it_writes(&home);
    slow.served.kill();
    let task = server.ended(&id);
    assert_eq!(text(&task, "/state"), "failed", "{task:#}");
    assert!(text(&task, "/error").contains("no longer answers"), "{task:#}");
    let session = server.document(&format!("/api/sessions/{}", text(&task, "/session")));
    assert_eq!(text(&session, "/kind"), "verify");
    let waiting = server.document("/api/journals");
    let journal = &list(&waiting, "/journals")[0];
    assert_eq!((text(journal, "/state"), text(journal, "/target")), ("waits", slow.path()), "{journal:#}");
    assert!(text(journal, "/command").contains("cardscope restore"), "{journal:#}");
    server.document("/api/devices");
}

#[test]
fn ctrl_c_at_the_server_s_terminal_stops_its_tests_which_restore_the_data() {
    let home = Home::new();
    let slow = SlowCard::new(&home);
    let (mut server, _, child) = held_while_it_writes(&home, &slow);
    let waiting = server.order(&verify(slow.path()));
    let frozen = slow.served.freeze();
    kill_process(child, Signal::CONT).unwrap();
    // A terminal sends the signal to the whole process group.
    kill_process_group(server.pid(), Signal::INT).unwrap();
    server.running.as_mut().unwrap().wait_for("restore their cards' data");
    drop(frozen);
    let outcome = server.running.take().unwrap().finish().expect(0);
    assert!(test_kill_process(child).is_err(), "{outcome}");
    assert!(slow.content() == slow.before && journals(&home).is_empty(), "{outcome}");
    let server = Server::start(&home, &["--all"]);
    let shown = server.document("/api/sessions");
    assert_eq!((&shown["total"], text(&shown, "/sessions/0/state")), (&json!(1), "interrupted"), "{shown:#}");
    server.get(&format!("/api/tasks/{waiting}")).refused(404);
}

#[test]
fn options_that_the_program_refuses_end_the_test_with_its_reason() {
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let order = |options: Value| json!({ "verb": "check", "target": "sim:constant", "options": options });
    for options in [json!({ "budget_s": 0 }), json!({ "label": "\u{202e}\n<b>" })] {
        let task = server.ended(&server.order(&order(options)));
        assert!(["complete", "failed"].contains(&text(&task, "/state")), "{task:#}");
        if text(&task, "/state") == "failed" {
            let notes: String = list(&task, "/notes").iter().filter_map(Value::as_str).collect();
            assert!(!text(&task, "/error").is_empty() && !notes.is_empty(), "{task:#}");
        }
    }
    for options in [
        json!({ "label": "a\0b" }),
        json!({ "label": "x".repeat(5000) }),
        json!({ "archive": "/tmp/x" }),
        json!({ "backup": "/tmp/x" }),
        json!({ "budget_s": -1 }),
        json!({ "budget_s": 1.5 }),
    ] {
        server.post("/api/tasks", &order(options)).refused(422);
    }
}

#[test]
fn two_servers_of_one_user_leave_each_other_s_tests_alone() {
    let home = Home::new();
    let slow = SlowCard::new(&home);
    let (first, id, child) = held_while_it_writes(&home, &slow);
    let second = Server::start(&home, &["--all"]);
    assert!(list(&second.document("/api/tasks"), "/tasks").is_empty(), "it runs and was not interrupted");
    assert_ne!(second.token, first.token, "each start has its own");
    second.post("/api/tasks", &second.with_object(&verify(slow.path()))).refused(409);
    kill_process(child, Signal::CONT).unwrap();
    assert_eq!(text(&first.ended(&id), "/state"), "complete");
    assert!(slow.content() == slow.before);
}
