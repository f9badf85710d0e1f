//! The crates depend on each other as the layers of the design say, and in no other way.

use cargo_metadata::{DependencyKind, MetadataCommand};
use std::collections::{BTreeMap, BTreeSet};

/// Who depends on whom: arrows point down only, and each stands in a manifest.
const ARROWS: &[(&str, &[&str])] = &[
    ("cardscope-sd", &[]),
    ("cardscope-files", &[]),
    ("cardscope-model", &["sd"]),
    ("cardscope-engine", &["files", "model", "sd"]),
    ("cardscope-analysis", &["model", "sd"]),
    ("cardscope-import", &["model", "sd"]),
    ("cardscope-store", &["files", "model"]),
    ("cardscope-device", &["engine", "files", "model", "sd"]),
    ("cardscope-journal", &["engine", "files", "model"]),
    ("cardscope-simulator", &["engine", "files", "model", "sd"]),
    ("cardscope-probe", &["analysis", "engine", "model", "sd"]),
    ("cardscope-report", &["model", "sd"]),
    (
        "cardscope-session",
        &[
            "analysis",
            "device",
            "engine",
            "files",
            "import",
            "journal",
            "model",
            "probe",
            "sd",
            "simulator",
            "store",
        ],
    ),
    ("cardscope-server", &["files", "model", "report", "session"]),
    ("cardscope", &["model", "report", "server", "session"]),
    ("cardscope-book", &[]),
    ("cardscope-test-devices", &[]),
];

fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let metadata = MetadataCommand::new().no_deps().exec().expect("cargo metadata runs");
    let ours = |name: &str| name == "cardscope" || name.starts_with("cardscope-");
    metadata
        .packages
        .iter()
        .map(|p| {
            let needed = p.dependencies.iter().filter(|d| d.kind == DependencyKind::Normal && ours(&d.name));
            (p.name.to_string(), needed.map(|d| d.name.trim_start_matches("cardscope-").to_owned()).collect())
        })
        .collect()
}

#[test]
fn every_crate_depends_on_the_layers_below_it_as_listed_and_on_no_others() {
    let listed: BTreeMap<String, BTreeSet<String>> = ARROWS
        .iter()
        .map(|(name, below)| ((*name).to_owned(), below.iter().map(|b| (*b).to_owned()).collect()))
        .collect();
    let found = dependencies();
    assert_eq!(listed.keys().collect::<Vec<_>>(), found.keys().collect::<Vec<_>>(), "the crates there are");
    for (name, below) in &found {
        assert_eq!(&listed[name], below, "what {name} depends on");
    }
    let place = |name: &str| ARROWS.iter().position(|(n, _)| n.trim_start_matches("cardscope-") == name);
    for (name, below) in ARROWS {
        let upwards = |b: &&&str| place(b) >= place(name.trim_start_matches("cardscope-"));
        assert_eq!(below.iter().find(upwards), None, "an arrow of {name} does not point down");
    }
}

#[test]
fn unsafe_code_lives_in_engine_and_device_only() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    for entry in std::fs::read_dir(root).expect("the crates are there").flatten() {
        let name = entry.file_name().into_string().expect("crate names are ASCII");
        let top = ["lib.rs", "main.rs"].map(|f| entry.path().join("src").join(f));
        let text: String = top.iter().filter_map(|p| std::fs::read_to_string(p).ok()).collect();
        let forbids = text.contains("#![forbid(unsafe_code)]");
        assert_eq!(forbids, !["engine", "device"].contains(&name.as_str()), "{name}");
    }
}
