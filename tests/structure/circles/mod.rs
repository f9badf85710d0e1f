//! No two files of a crate take names from each other, directly or over others, parents and children included: what both
//! need lies in a file below both.

mod names;

use names::{Arrows, Crate};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A way from a file back to itself, with the names that are taken on it; `None` where there is none.
fn circle(arrows: &Arrows) -> Option<Vec<(PathBuf, String)>> {
    let mut done = BTreeSet::new();
    arrows.keys().find_map(|file| walk(file, arrows, &mut Vec::new(), &mut done))
}

fn walk(
    file: &Path,
    arrows: &Arrows,
    way: &mut Vec<(PathBuf, String)>,
    done: &mut BTreeSet<PathBuf>,
) -> Option<Vec<(PathBuf, String)>> {
    if let Some(begin) = way.iter().position(|(before, _)| before == file) {
        return Some(way[begin..].to_vec());
    }
    if done.contains(file) {
        return None;
    }
    for (next, name) in arrows.get(file).into_iter().flatten() {
        way.push((file.to_owned(), name.clone()));
        if let Some(found) = walk(next, arrows, way, done) {
            return Some(found);
        }
        way.pop();
    }
    done.insert(file.to_owned());
    None
}

#[test]
fn no_files_take_names_from_each_other() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (mut seen, mut found) = (0, Vec::new());
    for krate in std::fs::read_dir(&crates).unwrap() {
        for root in ["lib.rs", "main.rs"] {
            let root = krate.as_ref().unwrap().path().join("src").join(root);
            let mut arrows = Crate::read(&root, &|path| std::fs::read_to_string(path).ok()).arrows();
            seen += arrows.values().map(BTreeMap::len).sum::<usize>();
            // One arrow of each circle is taken out, so that all are listed at once.
            while let Some(way) = circle(&arrows) {
                let told: Vec<String> = way
                    .iter()
                    .map(|(file, name)| {
                        format!("{} takes {name}", file.strip_prefix(&crates).unwrap().display())
                    })
                    .collect();
                found.push(told.join("; "));
                let next = way.get(1).unwrap_or(&way[0]).0.clone();
                arrows.get_mut(&way[0].0).unwrap().remove(&next);
            }
        }
    }
    assert!(seen > 1000, "{seen} arrows are not all that there are");
    assert!(found.is_empty(), "{} circles:\n{}", found.len(), found.join("\n"));
}

/// The files of the circle in a crate that is made up, given as files with their texts.
fn of(files: &[(&str, &str)]) -> Option<Vec<PathBuf>> {
    let read = |path: &Path| {
        files.iter().find(|(name, _)| path == Path::new(name)).map(|(_, text)| (*text).to_owned())
    };
    let found = circle(&Crate::read(Path::new("lib.rs"), &read).arrows())?;
    Some(found.into_iter().map(|(file, _)| file).collect())
}

#[test]
fn a_circle_is_found_through_whatever_leads_round() {
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
        let found = of(&[("lib.rs", "mod a; mod b; pub use a::A;"), ("a.rs", a), ("b.rs", b)]);
        assert_eq!(found, Some(vec!["a.rs".into(), "b.rs".into()]), "{b}");
    }
    let parent = of(&[("lib.rs", "mod a; struct P; use a::A;"), ("a.rs", "pub struct A(super::P);")]);
    assert_eq!(parent, Some(vec!["a.rs".into(), "lib.rs".into()]));
    let three = [
        ("lib.rs", "mod a; mod b; mod c { pub mod d; }"),
        ("a.rs", "use crate::b::B; pub struct A;"),
        ("b.rs", "use crate::c::d::D; pub struct B;"),
        ("c/d.rs", "use crate::a::A; pub struct D;"),
    ];
    assert_eq!(of(&three).map(|found| found.len()), Some(3));
}

#[test]
fn what_only_passes_names_on_or_tests_is_in_no_circle() {
    let facade = [("lib.rs", "mod a; mod b; pub use a::A; pub use b::B;"), ("a.rs", "pub struct A;")];
    assert_eq!(of(&[facade[0], facade[1], ("b.rs", "use crate::A; pub struct B(A);")]), None);
    let tests = "pub struct A; #[cfg(test)] mod tests { use crate::b::B; }";
    assert_eq!(of(&[facade[0], ("a.rs", tests), ("b.rs", "use crate::a::A; pub struct B;")]), None);
    let doc = "/// See [`crate::b::B`].\npub struct A;";
    assert_eq!(of(&[facade[0], ("a.rs", doc), ("b.rs", "use crate::a::A; pub struct B;")]), None);
}
