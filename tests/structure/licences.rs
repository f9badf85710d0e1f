//! All dependencies come from crates.io under a licence that `deny.toml` allows. cargo-deny checks the same and more
//! for a release; this test needs no tool.

use cargo_metadata::{Metadata, MetadataCommand, Package};
use std::collections::BTreeSet;
use std::path::Path;

/// Licences and exceptions that `deny.toml` allows.
struct Allowed {
    everywhere: BTreeSet<String>,
    exceptions: Vec<(String, BTreeSet<String>)>,
}

fn allowed() -> Allowed {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deny.toml");
    let text = std::fs::read_to_string(path).expect("deny.toml can be read");
    let document: toml::Table = text.parse().expect("deny.toml is TOML");
    let list = |value: &toml::Value| value.as_array().cloned().expect("a list");
    let word = |value: &toml::Value| value.as_str().map(str::to_owned).expect("a word");
    let words = |value: &toml::Value| list(value).iter().map(word).collect::<BTreeSet<String>>();
    let licenses = &document["licenses"];
    let exception = |one: &toml::Value| (word(&one["crate"]), words(&one["allow"]));
    Allowed {
        everywhere: words(&licenses["allow"]),
        exceptions: list(&licenses["exceptions"]).iter().map(exception).collect(),
    }
}

impl Allowed {
    fn allows(&self, krate: &str, expression: &str) -> bool {
        let exceptions = self.exceptions.iter().filter(|(name, _)| name == krate);
        let more: BTreeSet<&String> = exceptions.flat_map(|(_, licences)| licences).collect();
        satisfied(expression, &|licence| {
            self.everywhere.contains(licence) || more.contains(&licence.to_owned())
        })
    }
}

/// True if an SPDX expression is satisfied. Some crates still write a slash for OR.
fn satisfied(expression: &str, allows: &dyn Fn(&str) -> bool) -> bool {
    let parsed = spdx::Expression::parse_mode(expression, spdx::ParseMode::LAX);
    parsed.is_ok_and(|parsed| parsed.evaluate(|licence| allows(&licence.to_string())))
}

/// Metadata of all crates that a release or a test needs.
fn metadata() -> Metadata {
    let platforms = ["x86_64-unknown-linux-gnu", "x86_64-unknown-linux-musl", "aarch64-unknown-linux-musl"];
    let filter =
        platforms.iter().flat_map(|platform| ["--filter-platform".to_owned(), (*platform).to_owned()]);
    let options: Vec<String> =
        ["--locked", "--all-features"].map(str::to_owned).into_iter().chain(filter).collect();
    MetadataCommand::new().other_options(options).exec().expect("cargo metadata runs")
}

#[test]
fn dependencies_have_allowed_licences() {
    let (metadata, allowed) = (metadata(), allowed());
    let strangers: Vec<&Package> =
        metadata.packages.iter().filter(|package| package.source.is_some()).collect();
    assert!(strangers.len() > 250, "{} crates are not all that are used", strangers.len());
    let mut wrong = Vec::new();
    for package in &strangers {
        let expression = package.license.as_deref().unwrap_or("none");
        if !allowed.allows(&package.name, expression) {
            wrong.push(format!("{} {}: licence {expression}", package.name, package.version));
        }
        if !package.source.as_ref().is_some_and(|source| source.is_crates_io()) {
            wrong.push(format!("{} {}: not from crates.io", package.name, package.version));
        }
    }
    let of_no_use = |(name, _): &&(String, _)| !strangers.iter().any(|package| package.name.as_str() == name);
    let stale = allowed.exceptions.iter().filter(of_no_use);
    wrong.extend(stale.map(|(name, _)| format!("deny.toml: nothing uses {name}")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn spdx_expressions_are_evaluated() {
    let allows = |licence: &str| ["MIT", "Zlib"].contains(&licence);
    for (expression, expected) in [
        ("MIT", true),
        ("GPL-3.0-only", false),
        ("GPL-3.0-only OR MIT", true),
        ("GPL-3.0-only/MIT", true),
        ("MIT AND GPL-3.0-only", false),
        ("MIT AND Zlib OR GPL-3.0-only", true),
        ("(MIT OR GPL-3.0-only) AND Zlib", true),
        ("MIT AND (GPL-2.0-only OR GPL-3.0-only)", false),
        ("MIT WITH Some-exception", false),
    ] {
        assert_eq!(satisfied(expression, &allows), expected, "{expression}");
    }
}
