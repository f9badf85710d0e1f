//! Real logs in `$CARDSCOPE_DATA` (default: `../shared/data` next to the workspace), if they exist.

use std::path::{Path, PathBuf};

/// Folder of the real logs. Without it a test prints this and passes.
pub(crate) fn data() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("CARDSCOPE_DATA").map_or_else(beside, PathBuf::from);
    if !folder.is_dir() {
        println!("no real logs in {}: nothing was tested", folder.display());
        return None;
    }
    Some(folder)
}

/// Every file below a folder, sorted.
pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let entries = entries.map(|entry| entry.expect("an entry").path());
    let mut all: Vec<PathBuf> =
        entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect();
    all.sort();
    all
}
