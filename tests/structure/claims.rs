//! `docs/findings.md`, on which scripts rely, lists exactly the claims that the program makes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Code that precedes a claim in the sources.
const MAKERS: [&str; 8] = [
    "Finding::new(",
    "crc_mismatch(",
    "blank(",
    "note(",
    "hint(",
    "CLAIM: &str = ",
    "let claim = ",
    "claim: ",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn sources(folder: &Path, into: &mut String) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            sources(&path, into)?;
        } else if path.extension().is_some_and(|e| e == "rs") && !made_up(&path) {
            let text = std::fs::read_to_string(&path)?;
            // Claims in unit tests are not made by the program.
            into.push_str(text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default());
        }
    }
    Ok(())
}

/// True for files that only tests use.
fn made_up(path: &Path) -> bool {
    let path = path.to_string_lossy();
    path.ends_with("tests.rs") || path.contains("/tests/")
}

/// Text between quotes, if it looks like a claim.
fn claim(text: &str) -> Option<&str> {
    let claim = text.trim_start().strip_prefix('"')?.split('"').next()?;
    let like_one = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (!claim.is_empty() && claim.chars().all(like_one)).then_some(claim)
}

#[test]
fn finding_claims_are_documented() {
    let mut code = String::new();
    for krate in std::fs::read_dir(root().join("crates")).unwrap() {
        sources(&krate.unwrap().path().join("src"), &mut code).unwrap();
    }
    let page = std::fs::read_to_string(root().join("docs/findings.md")).unwrap();
    let rows = page.lines().filter(|line| line.starts_with("| `")).filter_map(|line| line.split('|').nth(1));
    let listed: BTreeSet<&str> = rows.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
    assert!(listed.len() > 90, "{listed:?}");
    let made: BTreeSet<&str> =
        MAKERS.iter().flat_map(|maker| code.split(maker).skip(1)).filter_map(claim).collect();
    let missing: Vec<&&str> = made.difference(&listed).collect();
    assert!(missing.is_empty(), "docs/findings.md lacks {missing:?}");
    let unknown: Vec<&&str> = listed.iter().filter(|claim| !code.contains(&format!("\"{claim}\""))).collect();
    assert!(unknown.is_empty(), "docs/findings.md lists {unknown:?}, which no finding claims");
}
