//! Files and folders that the documents name exist.

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// True if a path exists as written or as a module: `session/bench` is `crates/session/src/bench`, folder or file.
fn is_there(path: &str) -> bool {
    let written = root().join(path);
    let module = path
        .split_once('/')
        .map(|(krate, inside)| root().join("crates").join(krate).join("src").join(inside));
    let there = |at: PathBuf| at.exists() || at.with_extension("rs").exists();
    there(written) || module.is_some_and(there)
}

/// Paths in code spans of a text that begin with a folder of the project or with a crate.
fn named<'a>(text: &'a str, begin: &[String]) -> Vec<&'a str> {
    let like_one = |path: &str| path.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
    let of_ours = |path: &str| {
        begin.iter().any(|folder| path.split_once('/').is_some_and(|(first, _)| first == folder))
    };
    let quoted = text.split('`').skip(1).step_by(2);
    quoted.filter(|path| like_one(path) && of_ours(path) && !path.contains("NAME")).collect()
}

#[test]
fn documented_paths_exist() {
    let folders =
        |of: PathBuf| std::fs::read_dir(of).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    let begin: Vec<String> = folders(root()).chain(folders(root().join("crates"))).collect();
    let pages = |folder: &str| {
        let files = folders(root().join(folder)).filter(|file| file.ends_with(".md"));
        files.map(|file| format!("{folder}/{file}")).collect::<Vec<_>>()
    };
    let docs = ["docs", "docs/flash", "docs/articles", "docs/reference"].into_iter().flat_map(pages);
    let mut seen = 0;
    for document in docs.chain(["README.md", "tests/README.md"].map(str::to_owned)) {
        let text = std::fs::read_to_string(root().join(&document)).unwrap();
        for path in named(&text, &begin) {
            // Example of a verb that a newcomer adds.
            let example = path == "crates/cli/src/verbs/size.rs";
            assert!(example || is_there(path), "{document} names {path}, which is not there");
            seen += 1;
        }
    }
    assert!(seen > 60, "{seen} paths are not all that the documents name");
}
