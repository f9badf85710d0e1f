//! An archive and documents of an early version (fixtures/first_archive) still open unchanged.

use crate::common::binary::Home;
use crate::common::{list, text};
use cardscope_model::check::CheckReport;
use cardscope_model::format::FormatReport;
use cardscope_model::observe::ObserveReport;
use cardscope_model::result::BenchReport;
use cardscope_model::sustain::SustainReport;
use cardscope_model::units::round_measured;
use cardscope_model::verify::VerifyReport;
use cardscope_model::{card_map::MapReport, endure::EndureReport};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/first_archive").join(name)
}

fn document(name: &str) -> Value {
    serde_json::from_slice(&std::fs::read(fixture(name)).unwrap()).unwrap()
}

/// Asserts that `new` has everything in `old`. It may have more.
#[track_caller]
fn holds(new: &Value, old: &Value, path: &str) {
    match (new, old) {
        (Value::Object(new), Value::Object(old)) => {
            for (key, value) in old {
                let path = format!("{path}/{key}");
                holds(new.get(key).unwrap_or_else(|| panic!("{path} is gone")), value, &path);
            }
        }
        (Value::Array(new), Value::Array(old)) if new.len() == old.len() => {
            for (i, (new, old)) in new.iter().zip(old).enumerate() {
                holds(new, old, &format!("{path}/{i}"));
            }
        }
        // Caveats of a watch used to be plain sentences.
        (Value::Object(new), Value::String(_)) => assert_eq!(new.get("text"), Some(old), "{path}"),
        (new, Value::Number(old)) if old.is_f64() => {
            assert_eq!(new.as_f64().map(round_measured), old.as_f64().map(round_measured), "{path}");
        }
        (new, old) => assert_eq!(new, old, "{path}"),
    }
}

#[track_caller]
fn comes_back<T: Serialize + DeserializeOwned>(name: &str) {
    let old = document(&format!("documents/{name}.json"));
    let read: T = serde_json::from_value(old.clone()).unwrap_or_else(|e| panic!("{name}: {e}"));
    holds(&serde_json::to_value(read).unwrap(), &old, name);
}

#[test]
fn first_documents_round_trip() {
    comes_back::<BenchReport>("bench");
    for method in ["quick", "fake", "full", "files"] {
        comes_back::<VerifyReport>(&format!("verify-{method}"));
    }
    comes_back::<MapReport>("map");
    comes_back::<SustainReport>("sustain");
    comes_back::<EndureReport>("endure");
    comes_back::<CheckReport>("check");
    comes_back::<FormatReport>("format");
    comes_back::<ObserveReport>("observe");
}

#[test]
fn first_archive_sessions_are_unchanged() {
    let home = Home::new();
    std::fs::create_dir_all(home.archive().parent().unwrap()).unwrap();
    std::fs::copy(fixture("archive.sqlite"), home.archive()).unwrap();
    let listed = home.run(&["archive", "list", "--json"]).expect(0).json();
    holds(&listed, &document("list.json"), "list");
    let shown = document("shown.json");
    for session in list(&listed, "/sessions") {
        let id = text(session, "/session");
        let now = home.run(&["archive", "show", id, "--json"]).expect(0).json();
        holds(&now, &shown[id], id);
        let page = home.run(&["archive", "show", id]).expect(0);
        assert!(!page.stdout.is_empty(), "{id}");
    }
}

#[test]
fn first_archive_runs_are_comparable() {
    let home = Home::new();
    std::fs::create_dir_all(home.archive().parent().unwrap()).unwrap();
    std::fs::copy(fixture("archive.sqlite"), home.archive()).unwrap();
    let compared = home.run(&["compare", "NAND0", "Test 64G", "--json"]).expect(0).json();
    assert!(list(&compared, "/entries").len() >= 2, "{compared:#}");
    let ranked = home.run(&["rank", "--for", "pi-boot", "--json"]).expect(0).json();
    assert!(!list(&ranked, "/places").is_empty(), "{ranked:#}");
    let page = home.path("page.html");
    home.run(&["report", "NAND0", "-o", page.to_str().unwrap()]).expect(0);
    let earlier = fixture("documents/sustain.json");
    let against =
        ["--duration", "10s", "--seed", "1", "--json", "-q", "--against", earlier.to_str().unwrap()];
    let arguments: Vec<&str> = ["sustain", "sim:sdnand-0.5g"].into_iter().chain(against).collect();
    let again = home.run(&arguments).expect(0).json();
    assert!(again["against"].is_object(), "{again:#}");
}
