//! The articles in `docs/articles/` are what their sources make of this program, figure by figure.

use crate::common::binary::CARDSCOPE;
use std::process::Command;

#[test]
fn every_article_is_what_its_source_gives_with_this_program() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/articles");
    let made = Command::new(script).args(["--check", CARDSCOPE]).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}
