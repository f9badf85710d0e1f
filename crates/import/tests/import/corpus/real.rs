//! Real logs, whole and truncated.

use crate::data::{data, files_below};
use cardscope_import::readers::{invariants, read_logs};

#[test]
fn real_logs_keep_the_invariants() {
    let Some(folder) = data() else { return };
    let mut known = 0;
    for path in files_below(&folder) {
        let bytes = std::fs::read(&path).expect("it was listed");
        invariants::check_recognised(&bytes);
        for part in 1..4 {
            invariants::check_recognised(&bytes[..bytes.len() * part / 4]);
        }
        let Ok(logs) = read_logs(&bytes) else { continue };
        known += 1;
        // The format's own check must accept what its reader accepts.
        invariants::check_format(&logs[0].format, &bytes);
    }
    assert!(known > 50, "{known} of the files are logs");
}
