//! Every source file belongs to a module. A file without one is not compiled, and its tests never run.

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

/// True if a file above declares the module: that of its folder, one further up if the folder's module has no file, or
/// any program directly in `tests`.
fn is_declared(path: &Path, root: &Path) -> bool {
    let name = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let module = if name(path) == "mod" { path.parent().map(name) } else { Some(name(path)) };
    let (Some(module), Some(own)) = (module, path.parent()) else { return false };
    let declares = |file: PathBuf| {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        file != path && text.lines().any(|line| line.trim_end().ends_with(&format!("mod {module};")))
    };
    let programs = || std::fs::read_dir(root).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut above = own.ancestors().take_while(|folder| folder.starts_with(root));
    above.any(|folder| {
        let inside = ["mod.rs", "lib.rs", "main.rs"].map(|file| folder.join(file));
        inside.into_iter().chain([folder.with_extension("rs")]).any(declares)
    }) || root.ends_with("tests") && programs().filter(|p| p.is_file()).any(declares)
}

/// Files that a module includes by path: helpers shared by tests of several crates.
fn named_by_path(files: &[PathBuf]) -> Vec<PathBuf> {
    let named = |file: &PathBuf| {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let paths =
            text.lines().filter_map(|line| line.trim().strip_prefix("#[path = \"")?.strip_suffix("\"]"));
        let beside = |path: &str| file.parent()?.join(path).canonicalize().ok();
        paths.filter_map(beside).collect::<Vec<_>>()
    };
    files.iter().flat_map(named).collect()
}

/// True for programs: `.rs` files directly in a crate's `tests`, and `main.rs` in a folder there.
fn is_root(path: &Path, folder: &Path) -> bool {
    let of_a_crate = folder.parent().and_then(Path::file_name).is_some_and(|above| above != "..");
    ["lib.rs", "main.rs"].iter().any(|root| path.ends_with(root))
        || of_a_crate && folder.ends_with("tests") && path.parent() == Some(folder)
}

#[test]
fn every_source_file_is_in_a_module() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let crates = std::fs::read_dir(root.join("crates")).unwrap().map(|krate| krate.unwrap().path());
    let folders = crates.flat_map(|krate| ["src", "tests"].map(|folder| krate.join(folder)));
    let folders: Vec<PathBuf> = folders.filter(|f| f.is_dir()).chain([root.join("tests")]).collect();
    let mut files = Vec::new();
    folders.iter().for_each(|folder| sources(folder, &mut files).unwrap());
    let by_path = named_by_path(&files);
    for folder in folders {
        let inside = files.iter().filter(|path| path.starts_with(&folder));
        let lonely: Vec<_> = inside
            .filter(|path| !is_root(path, &folder) && !is_declared(path, &folder))
            .filter(|path| !path.canonicalize().is_ok_and(|path| by_path.contains(&path)))
            .collect();
        assert!(lonely.is_empty(), "no module declares {lonely:?}");
    }
}
