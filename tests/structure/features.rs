//! The program enables all library features that it needs. Cargo unifies the features of all packages in a build, so
//! builds of tests hide a feature that only a test enables; the program's own build does not.

use cargo_metadata::{DependencyKind, MetadataCommand};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// Features of libraries that only tests enable.
const OF_TESTS: &[(&str, &[&str])] = &[("serde_json", &["unbounded_depth"]), ("uuid", &["v4"])];

/// Enabled features of each package in a build.
fn features(of: &[&str]) -> BTreeMap<String, BTreeSet<String>> {
    let mut command = Command::new("cargo");
    command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let output =
        command.args(["tree", "--locked", "--prefix", "none", "--format", "{p} {f}"]).args(of).output();
    let output = output.expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut features: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in String::from_utf8(output.stdout).expect("names are text").lines() {
        let Some((name, rest)) = line.split_once(" v") else { continue };
        let list = rest.split(' ').skip(1).find(|word| !word.starts_with('('));
        features
            .entry(name.to_owned())
            .or_default()
            .extend(list.into_iter().flat_map(|list| list.split(',')).map(str::to_owned));
    }
    features
}

/// External libraries that the workspace's crates name.
fn named() -> BTreeSet<String> {
    let metadata = MetadataCommand::new().no_deps().exec().expect("cargo metadata runs");
    let wanted = metadata.packages.iter().flat_map(|package| &package.dependencies);
    wanted.filter(|d| d.kind == DependencyKind::Normal && d.path.is_none()).map(|d| d.name.clone()).collect()
}

#[test]
fn tests_enable_no_feature_that_the_program_lacks() {
    let program = features(&["--no-default-features", "--package", "cardscope", "--edges", "normal,build"]);
    let tests = features(&["--workspace", "--edges", "normal,build,dev"]);
    let more: BTreeMap<&str, BTreeSet<&str>> = named()
        .iter()
        .filter_map(|name| {
            let (name, own) = program.get_key_value(name)?;
            let more: BTreeSet<&str> = tests[name].difference(own).map(String::as_str).collect();
            (!more.is_empty()).then_some((name.as_str(), more))
        })
        .collect();
    let listed = OF_TESTS.iter().map(|(name, more)| (*name, more.iter().copied().collect())).collect();
    assert_eq!(more, listed, "a feature that our code needs belongs into its manifest");
}

/// Neither releases nor `./try` contain the slot into which tests put failing cards.
#[test]
fn program_has_no_fault_injection() {
    let session = |arguments: &[&str]| features(arguments).remove("cardscope-session").unwrap();
    for without in [&[][..], &["--no-default-features"]] {
        let program = session(&[without, &["--package", "cardscope", "--edges", "normal,build"]].concat());
        assert!(!program.contains("fault-injection"), "{program:?}");
    }
    let tests = session(&["--workspace", "--edges", "normal,build,dev"]);
    assert!(tests.contains("fault-injection"), "tests of verbs need it: {tests:?}");
}
