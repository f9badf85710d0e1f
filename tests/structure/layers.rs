//! The crates depend on each other as the layers of the design say, and in no other way.

use cargo_metadata::{DependencyKind, MetadataCommand};
use std::collections::BTreeMap;

/// Who may depend on whom: arrows point down only. Crates of later layers are listed already, so that adding one
/// means adding code, not loosening the rule.
const ALLOWED: &[(&str, &[&str])] = &[
    ("cardscope-files", &[]),
    ("cardscope-sd", &[]),
    ("cardscope-model", &["sd"]),
    ("cardscope-engine", &["model", "files", "sd"]),
    ("cardscope-analysis", &["model", "sd"]),
    ("cardscope-import", &["model", "sd"]),
    ("cardscope-store", &["model", "files"]),
    ("cardscope-device", &["engine", "model", "files", "sd"]),
    ("cardscope-simulator", &["engine", "model", "files", "sd"]),
    ("cardscope-probe", &["engine", "analysis", "model", "sd"]),
    ("cardscope-report", &["analysis", "model", "sd"]),
    (
        "cardscope-workbench",
        &[
            "device",
            "simulator",
            "probe",
            "report",
            "store",
            "import",
            "engine",
            "analysis",
            "model",
            "sd",
            "files",
        ],
    ),
    ("cardscope-server", &["workbench", "report", "model"]),
    ("cardscope", &["server", "workbench", "report", "model"]),
];

fn dependencies() -> BTreeMap<String, Vec<String>> {
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
fn every_crate_depends_only_on_the_layers_below_it() {
    for (name, needed) in dependencies() {
        let allowed = ALLOWED.iter().find(|(n, _)| *n == name).map(|(_, a)| *a);
        let allowed = allowed.unwrap_or_else(|| panic!("{name} has no place in the layers"));
        for dependency in needed {
            assert!(allowed.contains(&dependency.as_str()), "{name} must not depend on {dependency}");
        }
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
