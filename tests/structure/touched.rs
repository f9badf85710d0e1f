//! `./check --quick` tests all packages that a change affects, also those that read files outside of packages.

#![allow(clippy::unwrap_used, reason = "what tests share fails by panicking, as they do")]

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Table `READERS` of `scripts/touched`: files, or folders with a slash, and the packages that read them.
fn readers() -> BTreeMap<String, String> {
    let script = std::fs::read_to_string(root().join("scripts/touched")).unwrap();
    let table = script.split("READERS = {\n").nth(1).and_then(|rest| rest.split("\n}").next()).unwrap();
    let row = |line: &str| {
        let (path, packages) = line.trim().split_once(": ").unwrap();
        (path.trim_matches('"').to_owned(), packages.to_owned())
    };
    table.lines().map(row).collect()
}

fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|e| e == "rs") {
            into.push(path);
        }
    }
}

/// Path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut plain, part| {
        match part {
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
        plain
    })
}

/// Files and folders outside of all crates that a source includes or that its tests read.
fn named_outside(file: &Path, krate: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(file).unwrap();
    let literals = text.split('"').filter(|literal| literal.contains("../") && !literal.contains('\n'));
    let bases = [krate, file.parent().unwrap()];
    let paths =
        literals.flat_map(|literal| bases.map(|base| plain(&base.join(literal.trim_start_matches('/')))));
    let folders = text.split("builtin_files!(").skip(1).filter_map(|rest| rest.split('"').nth(1));
    let built_in = folders.map(|folder| root().join(folder));
    let outside = |path: PathBuf| Some(path.strip_prefix(root()).ok()?.to_str()?.to_owned());
    let all = paths.chain(built_in).filter(|path| path.exists()).filter_map(outside);
    all.filter(|path| !path.is_empty() && !path.starts_with("crates")).collect()
}

#[test]
fn quick_check_lists_readers_of_files_outside_of_packages() {
    let readers = readers();
    let (mut seen, mut wrong) = (0, Vec::new());
    for krate in std::fs::read_dir(root().join("crates")).unwrap() {
        let krate = krate.unwrap().path();
        let name = krate.file_name().unwrap().to_str().unwrap();
        let package =
            if name == "cli" { "\"cardscope\"".to_owned() } else { format!("\"cardscope-{name}\"") };
        let mut files = Vec::new();
        sources(&krate, &mut files);
        for path in files.iter().flat_map(|file| named_outside(file, &krate)) {
            let listed = |key: &String| path.starts_with(key.trim_end_matches('/')) || key.starts_with(&path);
            seen += 1;
            if !readers.iter().any(|(key, packages)| listed(key) && packages.contains(&package)) {
                wrong.push(format!("{package} reads {path}"));
            }
        }
    }
    assert!(seen > 15, "{seen} paths are not all that the crates name");
    assert!(wrong.is_empty(), "READERS in scripts/touched lacks: {}", wrong.join(", "));
}

/// Modules and functions that `--quick` skips or selects exist in the test programs.
#[test]
fn quick_check_names_existing_tests() {
    let script = std::fs::read_to_string(root().join("scripts/run-tests")).unwrap();
    let mut files = Vec::new();
    ["crates", "tests/end_to_end"].iter().for_each(|folder| sources(&root().join(folder), &mut files));
    let code: String = files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    // The constants precede the first class.
    let constants = script.split("class Program").next().unwrap();
    let names: Vec<&str> =
        constants.split('"').skip(1).step_by(2).filter(|name| name.contains("::")).collect();
    assert!(names.len() > 12, "{names:?}");
    for name in names {
        let (modules, last) = name.rsplit_once("::").unwrap();
        let there = modules.split("::").all(|module| code.contains(&format!("mod {module};")));
        assert!(
            there && (last.is_empty() || code.contains(&format!("fn {last}"))),
            "there is no test {name}"
        );
    }
}
