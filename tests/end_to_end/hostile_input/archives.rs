//! Damaged archives, and session files with impossible dates.

use super::{CARD, ended};
use crate::common::binary::{Home, Outcome};
use crate::common::list;
use crate::common::logs::{taken_in, write};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Reproducible pseudo-random numbers.
struct Draw(u64);

impl Draw {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most as u64) as usize
    }
}

/// Small archive in its own folder.
fn archive(home: &Home) -> PathBuf {
    let place = home.path("kept/archive.sqlite");
    for (name, first) in [("a.log", 700), ("b.log", 650)] {
        taken_in(home, name, &[first, first + 1], &["--archive", place.to_str().unwrap()]);
    }
    place
}

/// Runs everything that reads an archive.
fn read_all(home: &Home, place: &str) -> Vec<Outcome> {
    let out = home.path("out");
    let _ = fs::remove_dir_all(&out);
    [
        &["archive", "list"] as &[&str],
        &["archive", "show", "a"],
        &["archive", "export", "-o", out.to_str().unwrap()],
        &["compare", "a", "b"],
        &["rank", "--for", "game-load"],
    ]
    .map(|verb| ended(home.run(&[verb, &["--archive", place]].concat())))
    .into()
}

#[test]
fn non_utf8_schema_is_a_damaged_archive() {
    let home = Home::new();
    let place = archive(&home);
    let whole = fs::read(&place).unwrap();
    for (name, is) in [
        ("TEXT", "T\u{ff}XT"),
        ("started_at", "st\u{ff}rted_at"),
        ("CREATE TABLE card", "CREATE TABLE c\u{ff}rd"),
    ] {
        let bytes: Vec<u8> = is.chars().map(|c| c as u8).collect();
        let mut broken = whole.clone();
        let places: Vec<usize> =
            (0..whole.len() - name.len()).filter(|at| whole[*at..].starts_with(name.as_bytes())).collect();
        assert!(!places.is_empty(), "{name} stands in the schema");
        places.into_iter().for_each(|at| broken[at..at + bytes.len()].copy_from_slice(&bytes));
        fs::write(&place, broken).unwrap();
        for outcome in read_all(&home, place.to_str().unwrap()) {
            outcome.expect(3).says(&["is damaged", place.to_str().unwrap(), "restore a copy"]);
        }
    }
}

#[test]
fn corrupted_archives_never_panic() {
    let home = Home::new();
    let place = archive(&home);
    let whole = fs::read(&place).unwrap();
    let (began, mut draw) = (Instant::now(), Draw(0x9e37_79b9_7f4a_7c15));
    let rounds = (0..40).take_while(|_| began.elapsed() < Duration::from_secs(40));
    let mut refused = 0;
    for round in rounds {
        let mut broken = whole.clone();
        for _ in 0..=draw.below(60) {
            // Half of the changes hit the schema and page headers, where most depends on each byte.
            let at = if round % 2 == 0 { draw.below(whole.len()) } else { 100 + draw.below(16_000) };
            broken[at] = draw.below(256) as u8;
        }
        for name in ["archive.sqlite-wal", "archive.sqlite-shm"] {
            let _ = fs::remove_file(place.with_file_name(name));
        }
        fs::write(&place, broken).unwrap();
        let outcomes = read_all(&home, place.to_str().unwrap());
        refused += usize::from(outcomes.iter().any(|outcome| outcome.status.code() == Some(3)));
    }
    assert!(refused > 0, "none of the archives was damaged enough");
}

#[test]
fn impossible_dates_are_refused_by_import() {
    let home = Home::new();
    taken_in(&home, "a.log", &[700], &[]);
    let recipe = home.recipe("size = \"4MiB\"", "[[test]]\ntest = \"SEQ1M Q1T1 read\"\npasses = 1\n");
    home.run(&["bench", CARD, "--recipe", &recipe]).expect(0);
    home.run(&["verify", CARD]).expect(0);
    let folder = home.path("sessions");
    home.run(&["archive", "export", "-o", folder.to_str().unwrap()]).expect(0);
    let files: Vec<PathBuf> = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()).collect();
    let other = home.path("other/archive.sqlite");
    let other = other.to_str().unwrap();
    let mut fields = 0;
    for file in &files {
        let whole: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
        for pointer in [
            "/started_at",
            "/measured_at",
            "/updated_at",
            "/ended_at",
            "/log/date",
            "/source/imported_at",
            "/runs/0/started_at",
            "/runs/0/ended_at",
            "/events/0/event/date",
        ] {
            let mut changed = whole.clone();
            if pointer == "/events/0/event/date" {
                changed["events"] = json!([{ "specimen": null, "event": { "date": "x", "kind": "bought" } }]);
            }
            for wrong in [
                "2026-02-30T10:00:00Z",
                "2026-13-01",
                "2026-01-01T25:00:00Z",
                "2016-12-31T23:59:60Z",
                "9999-01-01",
            ] {
                let Some(field) = changed.pointer_mut(pointer) else { continue };
                *field = json!(wrong);
                fields += 1;
                let wrong_file = write(&home, "wrong.json", changed.to_string());
                let outcome = home.run(&["archive", "import", &wrong_file, "--archive", other]).expect(1);
                let said = outcome.one_line();
                assert!(said.contains(wrong) && said.contains("wrong.json"), "{pointer} {wrong}: {outcome}");
                assert!(said.contains("export it again"), "{outcome}");
            }
        }
    }
    assert!(fields >= 60, "{fields}");
    let stored = home.run(&["archive", "list", "--json", "--archive", other]).expect(0).json();
    assert!(list(&stored, "/sessions").is_empty(), "{stored:#}");
    let whole: Vec<&str> = files.iter().map(|file| file.to_str().unwrap()).collect();
    home.run(&[&["archive", "import", "--archive", other], &whole[..]].concat()).expect(0);
    for date in ["2026-02-30", "2026-13", "9999-01-01", "0000"] {
        home.run(&["archive", "edit", "a", "--event", "bought", "--date", date]).expect(2).says(&[date]);
    }
}
