//! Layers of the workspace: crates and files import from lower layers only, questions never from each other, and files
//! without cycles, parent and child modules included. `LAYERS` is the definition, from which `docs/architecture.md` is
//! written.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod names;

use cargo_metadata::{DependencyKind, MetadataCommand};
use names::{Imports, Workspace};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Crates by layer, lowest first. A crate uses only crates of lower layers.
const LAYERS: &[(&str, &[&str])] = &[
    ("specifications, files by name", &["sd", "files"]),
    ("words, documents, recipes, jobs", &["model"]),
    ("I/O, statistics, the archive", &["engine", "statistics", "store"]),
    ("page tree, renderers, charts", &["page"]),
    ("real cards, simulated cards, data to be restored", &["device", "simulator", "journal"]),
    ("means shared by probes", &["probing"]),
    ("the frame that every verb runs in", &["session"]),
    (
        "one question each",
        &[
            "capacity",
            "bench",
            "flash",
            "endurance",
            "marks",
            "identity",
            "host",
            "format",
            "restore",
            "import",
        ],
    ),
    ("comparison, ranking, publication", &["compare"]),
    ("the archive as people see it", &["archive"]),
    ("the whole visit", &["check"]),
    ("the list of verbs", &["verbs"]),
    ("API, app", &["server"]),
    ("arguments, the terminal", &["cli"]),
];

/// Crates that a part of a question must not use.
const PARTS: &[(&str, &[&str])] = &[
    ("probe", &["page", "store", "device", "session", "files"]),
    ("judge", &["page", "store", "device", "session", "files", "engine", "probing"]),
    ("page", &["store", "device", "session", "files", "engine", "probing", "simulator"]),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn layer(name: &str) -> Option<usize> {
    LAYERS.iter().position(|(_, crates)| crates.contains(&name))
}

/// Dependencies of each crate by its manifest.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let metadata = MetadataCommand::new().no_deps().exec().expect("cargo metadata runs");
    let folder = |package: &cargo_metadata::Package| {
        let manifest = package.manifest_path.strip_prefix(root()).ok()?;
        Some(manifest.strip_prefix("crates").ok()?.parent()?.to_string())
    };
    let folders: BTreeMap<String, String> =
        metadata.packages.iter().filter_map(|p| Some((p.name.to_string(), folder(p)?))).collect();
    let in_layers = metadata.packages.iter().filter_map(|p| Some((folders.get(p.name.as_str())?, p)));
    in_layers
        .map(|(name, package)| {
            let normal = package.dependencies.iter().filter(|d| d.kind == DependencyKind::Normal);
            (name.clone(), normal.filter_map(|d| folders.get(&d.name).cloned()).collect())
        })
        .collect()
}

#[test]
fn crates_depend_on_lower_layers_only() {
    let found = dependencies();
    let listed: BTreeSet<&str> = LAYERS.iter().flat_map(|(_, crates)| *crates).copied().collect();
    assert_eq!(found.keys().map(String::as_str).collect::<BTreeSet<_>>(), listed);
    for (name, below) in &found {
        let upwards = below.iter().find(|below| layer(below) >= layer(name));
        assert_eq!(upwards, None, "{name} depends on a crate that is not in a lower layer");
    }
}

/// Imports of all files.
fn imports() -> Imports {
    let mut workspace = Workspace::default();
    for name in LAYERS.iter().flat_map(|(_, crates)| *crates) {
        let (crate_name, file) = match *name {
            "cli" => ("cardscope".to_owned(), "main.rs"),
            name => (format!("cardscope_{name}"), "lib.rs"),
        };
        let path = root().join("crates").join(name).join("src").join(file);
        workspace.add(&crate_name, &path, &|path| std::fs::read_to_string(path).ok());
    }
    workspace.imports()
}

/// Crate and top module of a file: `capacity` and `probe` of `crates/capacity/src/probe/files/pass.rs`.
fn place(file: &Path) -> Option<(String, String)> {
    let inside = file.strip_prefix(root().join("crates")).ok()?;
    let mut parts = inside.iter().map(|part| part.to_string_lossy().into_owned());
    let (name, _, module) = (parts.next()?, parts.next()?, parts.next()?);
    Some((name, module.trim_end_matches(".rs").to_owned()))
}

#[test]
fn parts_of_a_question_respect_their_limits() {
    let (mut seen, mut wrong) = (0, Vec::new());
    for (file, below) in imports() {
        let Some((name, part)) = place(&file) else { continue };
        let Some((_, banned)) = PARTS.iter().find(|(kind, _)| *kind == part) else { continue };
        if layer(&name) <= layer("session") {
            continue;
        }
        seen += below.len();
        for (other, item) in below {
            if place(&other).is_some_and(|(other, _)| banned.contains(&other.as_str())) {
                wrong.push(format!("{} uses {item} of {}", file.display(), other.display()));
            }
        }
    }
    assert!(seen > 500, "{seen} imports are not all");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// An import cycle with the imported names; `None` if there is none.
fn circle(imports: &Imports) -> Option<Vec<(PathBuf, String)>> {
    let mut done = BTreeSet::new();
    imports.keys().find_map(|file| walk(file, imports, &mut Vec::new(), &mut done))
}

fn walk(
    file: &Path,
    imports: &Imports,
    way: &mut Vec<(PathBuf, String)>,
    done: &mut BTreeSet<PathBuf>,
) -> Option<Vec<(PathBuf, String)>> {
    if let Some(begin) = way.iter().position(|(before, _)| before == file) {
        return Some(way[begin..].to_vec());
    }
    if done.contains(file) {
        return None;
    }
    for (next, name) in imports.get(file).into_iter().flatten() {
        way.push((file.to_owned(), name.clone()));
        if let Some(found) = walk(next, imports, way, done) {
            return Some(found);
        }
        way.pop();
    }
    done.insert(file.to_owned());
    None
}

#[test]
fn files_have_no_import_cycles() {
    let mut imports = imports();
    let seen: usize = imports.values().map(BTreeMap::len).sum();
    let mut found = Vec::new();
    // One import of each cycle is removed, so that all cycles are listed in one run.
    while let Some(way) = circle(&imports) {
        let steps = way.iter().map(|(file, name)| format!("{} uses {name}", file.display()));
        found.push(steps.collect::<Vec<_>>().join("; "));
        let next = way.get(1).unwrap_or(&way[0]).0.clone();
        imports.get_mut(&way[0].0).unwrap().remove(&next);
    }
    assert!(seen > 3000, "{seen} imports are not all");
    assert!(found.is_empty(), "{} circles:\n{}", found.len(), found.join("\n"));
}

#[test]
fn unsafe_code_is_in_engine_and_device_only() {
    for name in LAYERS.iter().flat_map(|(_, crates)| *crates) {
        let source = root().join("crates").join(name).join("src");
        let text = ["lib.rs", "main.rs"].iter().find_map(|f| std::fs::read_to_string(source.join(f)).ok());
        let forbids = text.unwrap().contains("#![forbid(unsafe_code)]");
        assert_eq!(forbids, !["engine", "device"].contains(name), "{name}");
    }
}

/// Table of the layers in `docs/architecture.md`; `UPDATE_DOCS=1` rewrites it.
#[test]
fn architecture_table_matches_the_manifests() {
    let found = dependencies();
    let mut table = String::from("| layer | crates | use |\n| --- | --- | --- |\n");
    for (title, crates) in LAYERS.iter().rev() {
        let all: BTreeSet<&String> = crates.iter().flat_map(|name| &found[*name]).collect();
        let quoted = |names: Vec<&str>| names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(" ");
        let below = quoted(all.into_iter().map(String::as_str).collect());
        table.push_str(&format!("| {title} | {} | {below} |\n", quoted(crates.to_vec())));
    }
    cardscope_testkit::measured_tables::compare("architecture", "layers", &table);
}

/// Cycle in a made-up crate, given as files with their texts.
fn circle_in(files: &[(&str, &str)]) -> Option<Vec<PathBuf>> {
    let read = |path: &Path| {
        files.iter().find(|(name, _)| path == Path::new(name)).map(|(_, text)| (*text).to_owned())
    };
    let mut workspace = Workspace::default();
    workspace.add("made_up", Path::new("lib.rs"), &read);
    let found = circle(&workspace.imports())?;
    Some(found.into_iter().map(|(file, _)| file).collect())
}

#[test]
fn cycles_are_found_through_every_kind_of_import() {
    let a = "use crate::b::B; pub struct A(B);";
    for b in [
        "pub struct B; fn f(_: crate::a::A) {}",
        "made! { pub struct B { of: u8 } } fn f(_: crate::a::A) {}",
        "use super::a; pub struct B; fn f(_: a::A) {}",
        "use crate::A; pub struct B; fn f(_: A) {}",
        "use crate::*; pub struct B; fn f(_: A) {}",
        "pub struct B; fn f() { drop(vec![crate::a::A]) }",
        "use crate::a::A as Other; pub struct B; fn f(_: Other) {}",
    ] {
        let found = circle_in(&[("lib.rs", "mod a; mod b; pub use a::A;"), ("a.rs", a), ("b.rs", b)]);
        assert_eq!(found, Some(vec!["a.rs".into(), "b.rs".into()]), "{b}");
    }
    let parent = circle_in(&[("lib.rs", "mod a; struct P; use a::A;"), ("a.rs", "pub struct A(super::P);")]);
    assert_eq!(parent, Some(vec!["a.rs".into(), "lib.rs".into()]));
    let three = [
        ("lib.rs", "mod a; mod b; mod c { pub mod d; }"),
        ("a.rs", "use crate::b::B; pub struct A;"),
        ("b.rs", "use crate::c::d::D; pub struct B;"),
        ("c/d.rs", "use crate::a::A; pub struct D;"),
    ];
    assert_eq!(circle_in(&three).map(|found| found.len()), Some(3));
}

#[test]
fn reexports_tests_and_links_make_no_cycle() {
    let facade = [("lib.rs", "mod a; mod b; pub use a::A; pub use b::B;"), ("a.rs", "pub struct A;")];
    assert_eq!(circle_in(&[facade[0], facade[1], ("b.rs", "use crate::A; pub struct B(A);")]), None);
    let tests = "pub struct A; #[cfg(test)] mod tests { use crate::b::B; }";
    let uses_a = ("b.rs", "use crate::a::A; pub struct B;");
    assert_eq!(circle_in(&[facade[0], ("a.rs", tests), uses_a]), None);
    let doc = "/// See [`crate::b::B`].\npub struct A;";
    assert_eq!(circle_in(&[facade[0], ("a.rs", doc), uses_a]), None);
}
