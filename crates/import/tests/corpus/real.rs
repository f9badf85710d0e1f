//! The real logs, where they are: `$CARDSCOPE_DATA` (default: `../shared/data` beside the workspace).

use cardscope_import::{invariants, read};
use std::path::{Path, PathBuf};

/// Every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut all: Vec<PathBuf> =
        entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect();
    all.sort();
    all
}

#[test]
fn every_real_log_keeps_the_invariants_whole_and_cut() {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("CARDSCOPE_DATA").map_or(beside, PathBuf::from);
    if !folder.is_dir() {
        println!("no real logs in {}: nothing was tested", folder.display());
        return;
    }
    let mut known = 0;
    for path in files(&folder) {
        let bytes = std::fs::read(&path).expect("it was listed");
        invariants::check_any(&bytes);
        for part in 1..4 {
            invariants::check_any(&bytes[..bytes.len() * part / 4]);
        }
        let Ok(logs) = read(&bytes) else { continue };
        known += 1;
        // What one importer takes, its own check must bear too.
        invariants::check(&logs[0].format, &bytes);
    }
    assert!(known > 50, "{known} of the files are logs");
}
