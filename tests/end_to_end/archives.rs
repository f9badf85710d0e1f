//! `archive`: editing, merging and removing cards, and lossless export and import.

use crate::common::binary::Home;
use crate::common::logs::{CONSTANT, archive, taken_in, titles, told, write};
use crate::common::machine::names_in;
use crate::common::{list, text};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Card with another identity than `CONSTANT`.
const EXPRESS: &str = "sim:lexar-1tb-express";

/// Measures a simulated card in virtual time.
#[track_caller]
fn measured(home: &Home, card: &str, runs: &str) -> String {
    let arguments =
        ["bench", card, "--only", "SEQ1M Q8T1 read", "--runs", runs, "--seed", "3", "--json", "-q"];
    let document = home.run(&arguments).expect(0).json();
    text(&document, "/session").to_owned()
}

fn sessions(home: &Home) -> Vec<String> {
    let document = told(home, &["list"]);
    list(&document, "/sessions").iter().map(|s| text(s, "/session").to_owned()).collect()
}

const PNG: [u8; 8] = [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a];

#[test]
fn card_details_can_be_set_shown_and_removed() {
    let home = Home::new();
    taken_in(&home, "swift.log", &[700, 690], &[]);
    let photo = write(&home, "box.png", PNG);
    let facts =
        ["--set", "brand=Acme", "--set", "name=Swift Pro", "--set", "capacity=64GB", "--set", "note=blue"];
    let bought =
        ["--event", "bought", "--date", "2024-03-12", "--price", "12,99 EUR", "--about", "with adapter"];
    let beside = ["--source", "receipt", "--marks", "U3,A2", "--attach", &photo];
    told(&home, &[&["edit", "swift"], &facts[..], &bought, &beside].concat());
    told(&home, &["edit", "Acme Swift", "--event", "failed", "--date", "2025-01", "--about", "read-only"]);
    let card = told(&home, &["show", "Acme Swift Pro 64GB"]);
    assert_eq!(card["title"], "Acme Swift Pro 64GB");
    assert_eq!((&card["facts"]["marks"], &card["facts"]["note"]), (&json!(["U3", "A2"]), &json!("blue")));
    assert_eq!(
        card["events"],
        json!([
            {"date": "2024-03-12", "kind": "bought", "price": {"amount": 12.99, "currency": "EUR"},
             "note": "with adapter", "source": "receipt"},
            {"date": "2025-01", "kind": "failed", "note": "read-only"},
        ])
    );
    let attached = &list(&card, "/attachments")[0];
    assert_eq!((text(attached, "/name"), text(attached, "/media_type")), ("box.png", "image/png"));
    let said = archive(&home, &["show", "Acme Swift"]).expect(0).stdout;
    for word in [
        "U3 A2",
        "blue",
        "2024-03-12",
        "bought, 12.99 EUR, with adapter (source: receipt)",
        "box.png",
        "2 runs",
    ] {
        assert!(said.contains(word), "{word} in {said}");
    }
    let card = told(&home, &["edit", "Acme Swift", "--set", "note=", "--marks", "V30"]);
    assert_eq!((card["facts"].get("note"), &card["facts"]["marks"]), (None, &json!(["V30"])));
}

#[test]
fn partly_invalid_edit_changes_nothing() {
    let home = Home::new();
    taken_in(&home, "swift.log", &[700], &["--card", "Swift"]);
    let before = told(&home, &["show", "Swift"]);
    for wrong in [
        &["--set", "colour=red"][..],
        &["--set", "brand"],
        &["--event", "bought", "--date", "2024-13"],
        &["--event", "bought", "--price", "free"],
        &["--event", "sold"],
        &["--price", "3EUR"],
        &["--attach", "/nowhere/box.png"],
        &["--attach", "/dev/zero"],
    ] {
        archive(&home, &[&["edit", "Swift", "--set", "note=blue"], wrong].concat()).expect(2);
    }
    archive(&home, &["edit", "Elephant", "--set", "note=grey"]).expect(2).says(&["no card \"Elephant\""]);
    assert_eq!(told(&home, &["show", "Swift"]), before);
}

#[test]
fn merged_cards_keep_all_their_data() {
    let home = Home::new();
    let photo = write(&home, "box.png", PNG);
    taken_in(&home, "swift.log", &[700, 690], &["--brand", "Acme", "--card", "Swift"]);
    told(&home, &["edit", "Swift", "--event", "bought", "--date", "2024", "--attach", &photo]);
    taken_in(&home, "swft.log", &[650], &["--brand", "Acme", "--card", "Swft"]);
    told(&home, &["edit", "Swft", "--event", "failed", "--date", "2025", "--marks", "U3"]);
    let bench = measured(&home, CONSTANT, "2");
    let mapped = home.run(&["map", CONSTANT, "--only", "read-curve", "--json", "-q"]).expect(0).json();
    let all: BTreeSet<String> = sessions(&home).into_iter().collect();
    assert!(all.len() == 4 && all.contains(&bench) && all.contains(text(&mapped, "/session")));

    told(&home, &["merge", "Swft", "Swift"]);
    let card = told(&home, &["merge", "CONST", "Swift"]);
    assert_eq!(titles(&home), ["Acme Swift 8GB"], "what the registers say of its size is known now");
    assert_eq!((&card["runs"], &card["sessions"], &card["specimens"]), (&json!(5), &json!(4), &json!(1)));
    let theirs: BTreeSet<String> =
        list(&card, "/sessions_and_records").iter().map(|s| s.as_str().unwrap().to_owned()).collect();
    assert_eq!(theirs, all);
    let events: Vec<&str> = list(&card, "/events").iter().map(|e| text(e, "/kind")).collect();
    assert_eq!((events, list(&card, "/attachments").len()), (vec!["bought", "failed"], 1));
    let compared = home.run(&["compare", "--own", "--pool", "--json"]).expect(0).json();
    assert_eq!(compared["entries"][0]["runs"], 5, "{compared:#}");

    // Later imports under the old names go to the merged card.
    taken_in(&home, "later.log", &[640], &["--brand", "ACME", "--card", "swft"]);
    measured(&home, CONSTANT, "1");
    assert_eq!((titles(&home).len(), &told(&home, &["show", "Swift"])["runs"]), (1, &json!(7)));

    archive(&home, &["merge", "Swift", "swift"]).expect(2).says(&["both names match"]);
    archive(&home, &["merge", "Swft", "Swift"]).expect(2).says(&["no card \"Swft\""]);
}

#[test]
fn cards_of_two_generations_stay_separate() {
    let home = Home::new();
    measured(&home, CONSTANT, "1");
    measured(&home, EXPRESS, "2");
    let cards = told(&home, &["cards"]);
    let ids: Vec<&str> = list(&cards, "/cards").iter().map(|card| text(card, "/id")).collect();
    assert_eq!(ids.len(), 2);
    let label = ["--set", "brand=Acme", "--set", "name=Ultra", "--set", "capacity=64GB"];
    for id in &ids {
        told(&home, &[&["edit", id], &label[..]].concat());
    }
    assert_eq!(titles(&home), ["Acme Ultra 64GB"; 2]);
    archive(&home, &["edit", "Ultra", "--set", "note=x"]).expect(2).says(&["matches"]);
    // The label alone does not identify either card.
    taken_in(&home, "label.log", &[500], &["--brand", "Acme", "--card", "Ultra", "--capacity", "64GB"]);
    assert_eq!(titles(&home), ["Acme Ultra 64GB"; 3]);
    // Each unit is recognized.
    measured(&home, CONSTANT, "3");
    let runs = |id: &str| told(&home, &["show", id])["runs"].clone();
    let of: Vec<Value> = ids.iter().map(|id| runs(id)).collect();
    assert!(of == [4, 2] || of == [2, 4], "{of:?}");
    let compared = home.run(&["compare", ids[0], ids[1], "--json"]).expect(0).json();
    assert_eq!(list(&compared, "/entries").len(), 2);
}

#[test]
fn session_removal_needs_confirmation_and_allows_reimport() {
    let home = Home::new();
    let document = taken_in(&home, "a.log", &[700, 690], &["--card", "Zebra"]).json();
    let session = text(&document, "/files/0/sessions/0").to_owned();
    let other = measured(&home, CONSTANT, "1");
    let before = fs::read(home.archive()).unwrap();
    archive(&home, &["remove", &session]).expect(2).says(&["--yes-remove"]);
    archive(&home, &["remove", &session, "--yes-remove", &other]).expect(2).says(&["nothing was removed"]);
    assert!(fs::read(home.archive()).unwrap() == before, "a refusal changes nothing");

    archive(&home, &["remove", &session, "--yes-remove", &session]).expect(0);
    assert_eq!(sessions(&home), [other.as_str()]);
    archive(&home, &["remove", &session, "--yes-remove", &session]).expect(2).says(&["no session"]);
    archive(&home, &["show", &session]).expect(2).says(&["no session"]);
    home.run(&["compare", "Zebra", "--own"]).expect(2);
    assert_eq!(taken_in(&home, "a.log", &[700, 690], &["--card", "Zebra"]).json()["totals"]["new"], 1);
    assert_eq!(told(&home, &["show", "Zebra"])["runs"], 2);
}

/// Output of everything that reads an archive.
fn everything_told(home: &Home) -> Vec<Value> {
    let asked: [&[&str]; 6] = [
        &["compare", "--own", "--json"],
        &["compare", "--own", "--pool", "--json"],
        &["rank", "--own", "--test", "SEQ1G Q1T1 read", "--json"],
        &["rank", "--own", "--for", "game-load", "--json"],
        &["archive", "cards", "--json"],
        &["archive", "list", "--json"],
    ];
    let mut told: Vec<Value> = asked.iter().map(|arguments| home.run(arguments).expect(0).json()).collect();
    for id in list(&told[4], "/cards").iter().map(|card| text(card, "/id").to_owned()).collect::<Vec<_>>() {
        told.push(self::told(home, &["show", &id]));
    }
    for session in sessions(home) {
        told.push(self::told(home, &["show", &session]));
    }
    told
}

/// Contents of the files in a folder, by name.
fn contents(folder: &Path) -> Vec<(String, String)> {
    names_in(folder)
        .into_iter()
        .map(|name| (name.clone(), fs::read_to_string(folder.join(name)).unwrap()))
        .collect()
}

/// Archive with an item of every kind.
fn filled() -> Home {
    let home = Home::new();
    taken_in(
        &home,
        "swift.log",
        &[700, 690, 705],
        &["--brand", "Acme", "--card", "Swift", "--condition", "cooling=active"],
    );
    taken_in(
        &home,
        "swift2.log",
        &[600, 610],
        &["--brand", "Acme", "--card", "Swift", "--condition", "cooling=passive"],
    );
    taken_in(&home, "unnamed.log", &[500], &[]);
    let photo = write(&home, "box.png", PNG);
    let bought =
        ["--event", "bought", "--date", "2024", "--price", "20EUR", "--marks", "U3", "--attach", &photo];
    told(&home, &[&["edit", "Swift"], &bought[..]].concat());
    measured(&home, CONSTANT, "2");
    home.run(&["map", CONSTANT, "--only", "read-curve", "--json", "-q"]).expect(0);
    home
}

#[test]
fn export_and_import_are_lossless() {
    let home = filled();
    let out = home.path("out");
    let files = told(&home, &["export", "-o", out.to_str().unwrap()]);
    assert_eq!(list(&files, "/files").len(), sessions(&home).len());
    assert_eq!(names_in(&out).len(), sessions(&home).len());

    let other = Home::new();
    let taken = told(&other, &["import", out.to_str().unwrap()]);
    assert!(
        list(&taken, "/files").iter().all(|f| f["known"] == false && f["session"].is_string()),
        "{taken:#}"
    );
    let (theirs, ours) = (everything_told(&other), everything_told(&home));
    for (theirs, ours) in theirs.iter().zip(&ours) {
        assert_eq!(theirs, ours);
    }
    assert_eq!(theirs.len(), ours.len());

    let taken = told(&other, &["import", out.to_str().unwrap()]);
    assert!(list(&taken, "/files").iter().all(|f| f["known"] == true), "{taken:#}");
    let document = taken_in(
        &other,
        "swift.log",
        &[700, 690, 705],
        &["--brand", "Acme", "--card", "Swift", "--condition", "cooling=active"],
    )
    .json();
    assert_eq!(document["totals"]["known"], 1, "the log that the file came from is known, too: {document:#}");
    assert_eq!(everything_told(&other), ours, "what comes twice adds nothing");

    let again = other.path("again");
    told(&other, &["export", "-o", again.to_str().unwrap()]);
    assert_eq!(contents(&again), contents(&out), "the same bytes");
}

#[test]
fn import_skips_other_files_and_export_replaces_nothing() {
    let home = filled();
    let out = home.path("out");
    told(&home, &["export", "Swift", "-o", out.to_str().unwrap()]);
    let names = names_in(&out);
    assert_eq!(names.len(), 2, "one session for each cooling");
    // Exporting the same again succeeds, but another file of that name is not replaced.
    told(&home, &["export", "Swift", "-o", out.to_str().unwrap()]);
    fs::write(out.join(&names[0]), "mine").unwrap();
    archive(&home, &["export", "Swift", "-o", out.to_str().unwrap()]).expect(2).says(&["with other content"]);
    assert_eq!(fs::read_to_string(out.join(&names[0])).unwrap(), "mine");

    let good = fs::read_to_string(out.join(&names[1])).unwrap();
    fs::write(out.join("cut.json"), &good[..good.len() / 2]).unwrap();
    fs::write(out.join("newer.json"), good.replacen("\"version\": 1", "\"version\": 99", 1)).unwrap();
    fs::write(out.join("odd.json"), [0xff, 0xfe, 0, 1]).unwrap();
    let other = Home::new();
    let taken = archive(&other, &["import", out.to_str().unwrap(), "--json"]).expect(1).json();
    let of = |name: &str| {
        list(&taken, "/files")
            .iter()
            .find(|f| text(f, "/file").ends_with(name))
            .unwrap_or_else(|| panic!("{name}"))
    };
    for name in ["cut.json", "newer.json", "odd.json", names[0].as_str()] {
        assert!(of(name)["error"].is_string() && of(name).get("session").is_none(), "{taken:#}");
    }
    assert!(text(of("newer.json"), "/error").contains("newer"), "{taken:#}");
    assert_eq!(sessions(&other).len(), 1);
}

#[test]
fn id_prefixes_name_sessions_and_cards() {
    let home = Home::new();
    let document = home.run(&["verify", CONSTANT, "--budget", "30s", "--json", "-q"]).expect(0).json();
    let (session, measured) = (text(&document, "/session").to_owned(), measured(&home, CONSTANT, "1"));
    let shared = session.bytes().zip(measured.bytes()).take_while(|(a, b)| a == b).count();
    let (short, both) = (&session[..=shared], &session[..shared]);
    assert_eq!(text(&told(&home, &["show", short]), "/session"), session);
    archive(&home, &["show", both]).expect(2).says(&[&session[28..], &measured[28..], "give more of the id"]);
    let cards = told(&home, &["cards"]);
    let [card] = &list(&cards, "/cards")[..] else { panic!("{cards:#}") };
    let id = &text(card, "/id")[..3];
    let shown = told(&home, &["show", id]);
    assert_eq!(shown["id"], card["id"]);
    home.run(&["compare", id, "--own"]).expect(0);

    // The document of a verify is listed as a session, so it counts as one.
    assert_eq!((&card["sessions"], &shown["sessions"]), (&json!(2), &json!(2)));
    assert_eq!(list(&shown, "/sessions_and_records").len(), 2);
    assert!(archive(&home, &["show", id]).expect(0).one_line().contains("1 run in 2 sessions of 1 unit"));

    let page = home.path("out");
    let exported =
        archive(&home, &["export", short, "-o", page.to_str().unwrap(), "--json"]).expect(0).json();
    assert_eq!(text(&exported, "/files/0/session"), session);
    let removed = archive(&home, &["remove", short, "--yes-remove", short, "--json"]).expect(0).json();
    assert_eq!(text(&removed, "/removed"), session);
    assert_eq!(sessions(&home), [measured]);
}

#[test]
fn session_list_shows_results() {
    let home = Home::new();
    home.run(&["bench", CONSTANT, "--only", "SEQ1M Q8T1 read", "-q"]).expect(0);
    let shown = told(&home, &["list"]);
    let session = &list(&shown, "/sessions")[0];
    assert!(
        text(session, "/result").starts_with("Reads ") && text(session, "/result").contains("MB/s"),
        "{session}"
    );
}
