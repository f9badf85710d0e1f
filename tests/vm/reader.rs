//! USB card reader with two slots. Its devices stay when cards change, so that name and number do not identify a card.

use super::card::Card;
use super::machine::{JOURNAL, Machine};
use crate::common::binary::Home;
use crate::common::{list, text, until};

#[test]
fn card_changed_in_a_reader_is_detected() {
    let home = Home::new();
    let mut machine = Machine::start(&home, "vm");
    let [first, second] = machine.plug_in_reader();
    let [card, neighbour] = ["card", "neighbour"].map(|name| Card::with_data(&home, name, 32));
    let other = Card::filled_with(&home, "other", 32, 0x5a);
    let before = [&card, &neighbour, &other].map(Card::content);
    for disk in [&first, &second] {
        let info = machine.cardscope(&format!("info {disk} --details")).expect(0).one_line();
        assert!(info.contains("slot is empty") && !info.contains("Layout"), "{info}");
        let refused = machine.cardscope(&format!("verify {disk}"));
        assert_eq!(refused.status.code(), Some(2), "{refused}");
        assert!(refused.stderr.contains("0 sectors"), "{refused}");
    }

    machine.insert_into_reader(0, &card);
    machine.insert_into_reader(1, &neighbour);
    for disk in [&first, &second] {
        machine.look_at(disk);
    }
    let listed = machine.cardscope("list --json").expect(0).json();
    for disk in [&first, &second] {
        let found = list(&listed, "/devices").iter().find(|device| device["path"] == disk.as_str());
        assert_eq!(found.and_then(|device| device["bytes"].as_u64()), Some(32 << 20), "{disk}: {listed:#}");
    }
    machine.cardscope(&format!("verify {first}")).expect(0);

    // The card is changed during a write, and an automounter opens the new one, which makes it the device's card.
    let written = machine.written_to(&first[5..]);
    let job = machine.begin(&format!("exec /program/cardscope verify {first}"));
    machine.wait_until_written_to(&job, &first[5..], written + (4 << 20));
    machine.take_from_reader(0);
    machine.insert_into_reader(0, &other);
    machine.look_at(&first);
    let outcome = machine.finish(job);
    assert_eq!(outcome.status.code(), Some(3), "{outcome}");
    assert!(outcome.stderr.contains("cardscope restore"), "{outcome}");
    assert!(other.content() == before[2], "the new card was written to\n{outcome}");
    let refused = machine.cardscope(&format!("restore {JOURNAL} {first}"));
    assert_ne!(refused.status.code(), Some(0), "{refused}");
    assert!(other.content() == before[2], "the new card was written to\n{refused}");

    machine.take_from_reader(0);
    machine.insert_into_reader(0, &card);
    machine.look_at(&first);
    machine.cardscope(&format!("restore {JOURNAL} {first}")).expect(0);
    machine.run("sync").expect(0);
    for (card, before) in [&card, &neighbour, &other].into_iter().zip(&before) {
        assert!(card.content() == *before);
    }
}

/// Full response of the server in the machine.
fn asked(machine: &mut Machine, method: &str, path: &str, body: &str) -> String {
    // The server drops clients that close their side, so the script waits for the answer or a closed port.
    let script = format!(
        "rm -f /tmp/asked; token=$(cat /root/.local/state/cardscope/server-token)\n\
         {{ printf '{method} {path} HTTP/1.1\\r\\nHost: 127.0.0.1:7373\\r\\nConnection: close\\r\\nCardscope-Token: %s\\r\\n\
         Content-Type: application/json\\r\\nContent-Length: {}\\r\\n\\r\\n%s' \"$token\" '{body}'\n\
         sleep 600 & echo $! >/tmp/asked; wait; }} | {{ nc 127.0.0.1 7373\n\
         until [ -s /tmp/asked ]; do sleep 1; done; kill $(cat /tmp/asked); }}",
        body.len()
    );
    machine.run(&script).stdout
}

/// Document after the header of a response.
fn document(answer: &str) -> serde_json::Value {
    let (_, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {answer}"));
    serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"))
}

#[test]
fn queued_order_does_not_erase_a_swapped_card() {
    let home = Home::new();
    let mut machine = Machine::start(&home, "vm");
    let [disk, _] = machine.plug_in_reader();
    let card = Card::with_data(&home, "card", 32);
    let other = Card::filled_with(&home, "other", 32, 0x5a);
    let before = other.content();
    machine.insert_into_reader(0, &card);
    machine.look_at(&disk);
    let server = machine.begin("exec /program/cardscope serve --json");
    until("the server", || asked(&mut machine, "GET", "/api/host", "").contains("200 OK"));
    let order = |verb: &str, options: &str, object: &str| {
        format!(
            "{{\"verb\":\"{verb}\",\"target\":\"{disk}\",\"options\":{options},\"confirm\":\"{disk}\",\"object\":\"{object}\"}}"
        )
    };
    let listed = document(&asked(&mut machine, "GET", "/api/devices", ""));
    let found = list(&listed, "/devices").iter().find(|device| device["path"] == disk.as_str());
    let object = found.unwrap_or_else(|| panic!("{listed:#}"))["object"].as_str().unwrap().to_owned();

    // One test runs, and an erase of the same card waits for it.
    let written = machine.written_to(&disk[5..]);
    let first = document(&asked(&mut machine, "POST", "/api/tasks", &order("verify", "{}", &object)));
    let waiting = document(&asked(&mut machine, "POST", "/api/tasks", &order("format", "{}", &object)));
    machine.wait_until_written_to(&server, &disk[5..], written + (1 << 20));
    machine.take_from_reader(0);
    machine.insert_into_reader(0, &other);
    let mut tasks = Vec::new();
    until("the end of both", || {
        let all = document(&asked(&mut machine, "GET", "/api/tasks", ""));
        tasks = list(&all, "/tasks").clone();
        tasks.iter().all(|task| ["complete", "failed", "interrupted"].contains(&text(task, "/state")))
    });
    let of = |task: &serde_json::Value| tasks.iter().find(|one| one["id"] == task["id"]).unwrap().clone();
    assert_ne!(text(&of(&first), "/state"), "complete", "the card was taken out too late to matter");
    let refused = of(&waiting);
    assert_eq!(text(&refused, "/state"), "failed", "{refused:#}");
    let why = text(&refused, "/error");
    assert!(why.contains(&disk) && (why.contains("another card") || why.contains("swapped")), "{refused:#}");
    assert!(other.content() == before, "the other card was written to");

    // Orders and unmounts for the previous card are refused at once, also on a terminal.
    machine.look_at(&disk);
    for (verb, options) in [("format", "{}"), ("verify", "{\"full\":true}"), ("verify", "{}")] {
        let answer = asked(&mut machine, "POST", "/api/tasks", &order(verb, options, &object));
        assert!(answer.starts_with("HTTP/1.1 409") && answer.contains("another card"), "{answer}");
    }
    let unmount = format!("/api/devices/{}/unmount", &disk[5..]);
    let answer = asked(&mut machine, "POST", &unmount, &format!("{{\"object\":\"{object}\"}}"));
    assert!(answer.starts_with("HTTP/1.1 409"), "{answer}");
    let typed =
        machine.cardscope(&format!("format {disk} --yes-destroy {disk} --object '{object}'")).expect(2);
    assert!(typed.stderr.contains("another card"), "{typed}");
    // The program itself is the first to open the device after the swap.
    machine.take_from_reader(0);
    machine.insert_into_reader(0, &card);
    let listed = machine.cardscope("list --json").expect(0).json();
    let found = list(&listed, "/devices").iter().find(|device| device["path"] == disk.as_str());
    let object = text(found.unwrap(), "/object").to_owned();
    machine.take_from_reader(0);
    machine.insert_into_reader(0, &other);
    let typed =
        machine.cardscope(&format!("format {disk} --yes-destroy {disk} --object '{object}'")).expect(2);
    assert!(typed.stderr.contains("card"), "{typed}");
    assert!(other.content() == before, "the other card was written to");
}
