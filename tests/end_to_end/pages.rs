//! Output in the book equals that of this program word by word: first steps, exercises and articles.

use crate::common::binary::CARDSCOPE;
use std::process::Command;

#[test]
fn book_pages_show_current_output() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/pages");
    let made = Command::new(script).args(["--check", CARDSCOPE]).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}
