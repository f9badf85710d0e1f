//! Consent is bound to the card, not to the path of its device.

use super::{Server, SlowCard, held_while_it_writes};
use crate::common::binary::Home;
use crate::common::machine::{data, image, with_data};
use crate::common::{list, text};
use rustix::process::{Signal, kill_process};
use serde_json::{Value, json};
use std::fs;

/// Order of each verb on a device, with consent where data is lost.
fn orders(device: &str) -> Vec<Value> {
    let order = |verb: &str, options: Value| json!({ "verb": verb, "target": device, "options": options, "confirm": device });
    vec![
        order("check", json!({ "read_only": true })),
        order("verify", json!({})),
        order("verify", json!({ "full": true })),
        order("bench", json!({ "recipe": "quick" })),
        order("map", json!({ "erase": true })),
        order("sustain", json!({ "write": true })),
        order("endure", json!({})),
        order("format", json!({})),
    ]
}

#[test]
fn order_for_another_card_is_refused() {
    let home = Home::new();
    let card = with_data(16, &[]).with_high_number();
    let before = card.content();
    let other = image(&home.path(""), 16);
    fs::write(&other, data(16 << 20)).unwrap();
    let server = Server::start(&home, &["--all"]);
    let object = server.device(&card.path).unwrap()["object"].as_str().unwrap().to_owned();
    assert!(object.contains("diskseq=") && object.contains("bytes=16777216"), "{object}");
    let refused = |mut order: Value, object: Value, word: &str| {
        order["object"] = object;
        let error = server.post("/api/tasks", &order).refused(409);
        assert!(error.contains(&card.path) && error.contains(word), "{order}: {error}");
    };
    for order in orders(&card.path) {
        refused(order, Value::Null, "which card");
    }
    for order in orders(&card.path).into_iter().take(2) {
        for stale in [format!("{object}0"), object.replace("bytes=16777216", "bytes=16777217"), String::new()]
        {
            refused(order.clone(), json!(stale), "another card");
        }
    }
    let unmount = format!("/api/devices/{}/unmount", card.name());
    let bare = server.send(server.head("POST", &unmount, &[("Content-Length", "0")]).as_bytes());
    assert!(bare.refused(409).contains("which card"));
    server.post(&unmount, &json!({})).refused(409);
    assert!(server.post(&unmount, &json!({ "object": "7:0" })).refused(409).contains("another card"));
    // Another card of the same size in the same device.
    card.swap_image(other.to_str().unwrap());
    for order in orders(&card.path) {
        refused(order, json!(object), "another card");
    }
    assert!(server.post(&unmount, &json!({ "object": object })).refused(409).contains("another card"));
    assert!(list(&server.document("/api/tasks"), "/tasks").is_empty());
    assert!(fs::read(&other).unwrap() == data(16 << 20));
    card.swap_image(card.image.to_str().unwrap());
    assert!(card.content() == before);
}

#[test]
fn queued_order_ends_when_its_card_is_gone() {
    let home = Home::new();
    let mut slow = SlowCard::new(&home);
    let (server, first, child) = held_while_it_writes(&home, &slow);
    let waiting: Vec<String> = orders(slow.path()).iter().map(|order| server.order(order)).collect();
    // The kernel releases the file as soon as the first test does.
    slow.card.detach_now();
    kill_process(child, Signal::CONT).unwrap();
    server.ended(&first);
    for id in waiting {
        let task = server.ended(&id);
        assert_eq!((text(&task, "/state"), &task["started_at"]), ("failed", &Value::Null), "{task:#}");
        assert!(text(&task, "/error").contains("holds another card than when it was listed"), "{task:#}");
    }
    let served = fs::read(slow.served.card()).unwrap();
    assert!(served == slow.before);
}

#[test]
fn terminal_test_is_bound_to_the_listed_card() {
    let home = Home::new();
    let mut card = with_data(16, &[]).with_high_number();
    let other = image(&home.path(""), 16);
    let object = || {
        let listed = home.run(&["list", "--all", "--json"]).expect(0).json();
        let of_card = list(&listed, "/devices").iter().find(|device| device["path"] == card.path.as_str());
        text(of_card.unwrap(), "/object").to_owned()
    };
    let listed = object();
    let of_other = fs::read(&other).unwrap();
    home.run(&["verify", &card.path, "--object", &listed, "--quiet"]).expect(0);
    card.swap_image(other.to_str().unwrap());
    assert_ne!(object(), listed);
    let agreed = format!("--yes-destroy={}", card.path);
    for words in [
        "verify",
        "verify --full",
        "bench --recipe quick",
        "map",
        "map --erase",
        "sustain --write --erase --duration 1s",
        "sustain --read --duration 1s",
        "check",
        "endure --rounds 1",
        "format",
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let command = [&words[..], &[&card.path, "--object", &listed, &agreed]].concat();
        home.run(&command).expect(2).says(&["another card", "nothing was written"]);
    }
    assert!(fs::read(&other).unwrap() == of_other, "the other card was written to");
    let file = other.to_str().unwrap();
    card.detach_now();
    for target in [file, home.path("").to_str().unwrap(), "sim:constant"] {
        home.run(&["bench", target, "--recipe", "quick", "--object", &listed])
            .expect(2)
            .says(&["--object", "is not one"]);
    }
}
