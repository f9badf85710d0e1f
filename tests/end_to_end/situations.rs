//! Cards and readers from the field that look like fakes, each with verdict, exit status and message.

use crate::common::binary::Home;
use crate::common::text;
use serde_json::Value;

/// Document of a `verify` with this exit status.
#[track_caller]
fn verified(home: &Home, card: &str, more: &[&str], status: i32) -> Value {
    home.run(&[&["verify", card, "--json", "--seed", "5"], more].concat()).expect(status).json()
}

const SUSPECT: (&str, i32) = ("reader-suspect", 4);

/// Card, label, verdict with exit status, and words of the answer.
type Situation = (&'static str, &'static str, (&'static str, i32), &'static str);

const SITUATIONS: &[Situation] = &[
    // One sector too many.
    ("sim:evo-64g-u3?extra_sectors=1", "64GB", SUSPECT, "one sector too many"),
    // One bit dropped by csd.
    ("sim:evo-64g-u3?shown_bytes=29662117888", "", SUSPECT, "of the card's 64"),
    // High bits dropped.
    ("sim:evoplus-256g-a2?shown_bytes=15569256448", "", SUSPECT, "of the card's 256 GB"),
    // Known size.
    ("sim:usb-stick-tlc?announced_bytes=29504831488", "64GB", SUSPECT, "of the card's 63.9 GB"),
    // Too much shown.
    ("sim:evo-64g-u3?shown_bytes=2TiB", "64GB", SUSPECT, "of a card of 64"),
    // Addresses end.
    ("sim:evo-64g-u3?end_bytes=32GiB", "64GB", SUSPECT, "32 GiB. Try a newer reader."),
    // Addresses repeat.
    ("sim:evo-64g-u3?address_limit_bytes=32GiB", "64GB", SUSPECT, "32 GiB. Try a newer reader."),
    // Ends at 128 gib.
    ("sim:evoplus-256g-a2?shown_bytes=128GiB", "256GB", SUSPECT, "128 GiB. Try a newer reader."),
    // Writes are swallowed.
    (
        "sim:sandian-1tb-52g?announced_bytes=2TiB&fake=limbo&fake_bytes=128GB",
        "2TB",
        ("limbo", 1),
        "Return it.",
    ),
    // Reprinted.
    ("sim:samsung-32g-c10", "64GB", ("genuine", 1), "FAKE LABEL"),
    // Lost flash by label.
    (
        "sim:usb-stick-tlc?announced_bytes=31457280&clean_bytes=1MB",
        "64GB",
        ("dead", 1),
        "its controller lost the flash",
    ),
    // Lost flash by csd.
    ("sim:evo-64g-u3?shown_bytes=31MiB", "", ("dead", 1), "its controller lost the flash"),
    // Small.
    (
        "sim:usb-stick-tlc?announced_bytes=31457280&clean_bytes=1MB",
        "",
        ("genuine", 0),
        "no missing capacity found",
    ),
    // Fails beyond.
    ("sim:evo-64g-u3?end_bytes=40000000000", "64GB", ("damaged", 1), "everything beyond 40"),
    // Large ring.
    (
        "sim:sandian-1tb-52g?fake=limbo&fake_bytes=52GB&cache_bytes=1GiB&cache_kind=fifo",
        "1TB",
        ("genuine", 0),
        "no missing capacity found",
    ),
];

/// Error in the answer to a situation.
fn mistake(&(card, label, (verdict, status), said): &Situation) -> Option<String> {
    let label = if label.is_empty() { vec![] } else { vec!["--label", label] };
    let found = verified(&Home::new(), card, &label, status);
    let answer = text(&found, "/answer");
    let returned = said.contains("Return it") || said == "FAKE LABEL";
    let right = text(&found, "/verdict") == verdict
        && answer.contains(said)
        && answer.contains("Return it") == returned
        && found["data_kept"] == true;
    (!right).then(|| format!("{card}: {}, {answer:?}, kept {}", found["verdict"], found["data_kept"]))
}

#[test]
fn field_situations_get_their_verdicts() {
    let mistakes: Vec<String> = SITUATIONS.iter().filter_map(mistake).collect();
    assert!(mistakes.is_empty(), "{mistakes:#?}");
}

#[test]
fn card_that_shrank_suspects_the_reader() {
    let home = Home::new();
    // Its CSD is empty, as some readers show it.
    let card = &format!("sim:constant?announced_bytes=64021856256&csd={:032}", 0);
    let passed = verified(&home, card, &[], 0);
    assert_eq!(text(&passed, "/verdict"), "genuine");
    let cut = verified(&home, &format!("{card}&shown_bytes=29662117888"), &[], 4);
    assert_eq!(text(&cut, "/cause/known_from"), "earlier-test", "{cut:#}");
    assert_eq!(cut["stated"]["earlier_bytes"], 64_021_856_256u64);
}

#[test]
fn a_size_of_broken_controllers_is_a_hint() {
    let found = verified(&Home::new(), "sim:usb-stick-tlc?announced_bytes=31457280&clean_bytes=1MB", &[], 0);
    let claims: Vec<&str> =
        found["findings"].as_array().unwrap().iter().filter_map(|f| f["claim"].as_str()).collect();
    assert!(claims.contains(&"controller-size"), "{claims:?}");
}

#[test]
fn quick_test_states_what_it_excludes() {
    let home = Home::new();
    let page = home.run(&["verify", "sim:evo-64g-u3", "--seed", "5", "--color", "never"]).expect(0).stdout;
    // The terminal wraps the line.
    let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("bad blocks and caches up to 5"), "{page}");
}

#[test]
fn format_uses_the_real_size_after_verify() {
    let home = Home::new();
    let card = "sim:usb-stick-tlc?fake=limbo&fake_bytes=3GB";
    let found = verified(&home, card, &[], 1);
    let command = found["next"].as_array().unwrap().iter().filter_map(|next| next["command"].as_str());
    let command = command.into_iter().find(|command| command.contains("cardscope format")).unwrap();
    let real = command.rsplit(' ').next().unwrap();
    assert_eq!(real, found["usable_bytes"].as_u64().unwrap().to_string());
    let formatted = ["format", card, "--limit-to-real", "--real", real, "--yes-destroy", card, "--json"];
    let formatted = home.run(&formatted).expect(0).json();
    assert!(formatted["limited"]["real_bytes"].as_u64().unwrap() <= 3_000_000_000);
}
