//! A file that no module declares is not compiled, and its tests never run: there is none.

use std::path::{Path, PathBuf};

fn sources(folder: &Path, into: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        match path.is_dir() {
            true => sources(&path, into)?,
            false => into.extend(path.extension().is_some_and(|e| e == "rs").then_some(path)),
        }
    }
    Ok(())
}

/// Whether a file above declares the module: the one of its folder, or, where that is a module without a file, one of
/// a folder further up.
fn is_declared(path: &Path, root: &Path) -> bool {
    let name = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let module = if name(path) == "mod" { path.parent().map(name) } else { Some(name(path)) };
    let (Some(module), Some(own)) = (module, path.parent()) else { return false };
    let declares = |file: PathBuf| {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        file != path && text.lines().any(|line| line.trim_end().ends_with(&format!("mod {module};")))
    };
    own.ancestors().take_while(|folder| folder.starts_with(root)).any(|folder| {
        let inside = ["mod.rs", "lib.rs", "main.rs"].map(|file| folder.join(file));
        inside.into_iter().chain([folder.with_extension("rs")]).any(declares)
    })
}

#[test]
fn every_file_is_declared_by_a_module() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let crates =
        std::fs::read_dir(root.join("crates")).unwrap().map(|krate| krate.unwrap().path().join("src"));
    for root in crates.chain([root.join("tests")]) {
        let mut files = Vec::new();
        sources(&root, &mut files).unwrap();
        let roots = ["lib.rs", "main.rs"];
        files.retain(|path| !roots.iter().any(|root| path.ends_with(root)) && !is_declared(path, &root));
        assert!(files.is_empty(), "no module declares {files:?}");
    }
}
