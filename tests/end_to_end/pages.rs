//! Output in the book equals that of this program word by word: first steps, exercises and articles.

use crate::common::binary::CARDSCOPE;
use std::process::Command;

#[test]
fn every_page_in_which_the_program_speaks_is_what_its_source_gives() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/pages");
    let made = Command::new(script).args(["--check", CARDSCOPE]).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}
