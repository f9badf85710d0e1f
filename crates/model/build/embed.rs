//! Embeds the data files of a folder next to `crates/` into the program; a new file needs no line of Rust.
//!
//! The build script of the simulator compiles this file, too, because a crate for it would cost more build time.

use std::fs;
use std::io;
use std::path::Path;

/// Writes `FOLDER.rs` into the output folder: a slice with name and text of each file, which `builtin_files!`
/// includes.
///
/// Files are sorted by name, so that every computer builds the same program. Names and subfolders in a file `order`,
/// one per line, come first in that order.
pub(crate) fn embed_folder(root: &Path, into: &Path, folder: &str, extension: &str) -> io::Result<()> {
    let path = root.join(folder);
    println!("cargo::rerun-if-changed={}", path.display());
    let mut names = Vec::new();
    collect_names(&path, "", extension, &mut names)?;
    let order = fs::read_to_string(path.join("order")).or_else(|e| match e.kind() {
        io::ErrorKind::NotFound => Ok(String::new()),
        _ => Err(e),
    })?;
    let first: Vec<&str> = order.lines().collect();
    let is_at = |name: &str, place: &str| {
        name.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    if let Some(missing) = first.iter().find(|place| !names.iter().any(|name| is_at(name, place))) {
        return Err(io::Error::other(format!("{folder}/order lists {missing:?}, which is not there")));
    }
    names.sort_by_cached_key(|name| {
        let place = first.iter().position(|place| is_at(name, place));
        (place.unwrap_or(first.len()), name.clone())
    });
    let row = |name: &String| {
        let file = format!("/../../{folder}/{name}.{extension}");
        format!("    ({name:?}, include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {file:?}))),\n")
    };
    let rows: String = names.iter().map(row).collect();
    fs::write(into.join(format!("{folder}.rs")), format!("&[\n{rows}]\n"))
}

/// Collects the files below a folder, as relative paths without the extension.
fn collect_names(folder: &Path, prefix: &str, extension: &str, names: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let Some(name) = path.file_stem().and_then(|name| name.to_str()) else { continue };
        // Editors keep copies of open files under hidden names with the same ending.
        if name.starts_with('.') {
            continue;
        }
        let name = format!("{prefix}{name}");
        if path.is_dir() {
            collect_names(&path, &format!("{name}/"), extension, names)?;
        } else if path.extension().is_some_and(|e| e == extension) {
            names.push(name);
        }
    }
    Ok(())
}
