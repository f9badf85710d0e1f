//! Builds the book in `docs/` into `target/book` with the libraries of mdBook, and checks its links. Run by
//! `scripts/book`.

#![forbid(unsafe_code)]

use cardscope_book::{dead_in, wrong_in};
use mdbook_driver::MDBook;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Builds the book in an empty folder and returns its path.
fn built(root: &Path) -> Result<PathBuf, String> {
    let mut book = MDBook::load(root.join("docs")).map_err(|error| format!("{error:#}"))?;
    book.config.build.build_dir = "../target/book".into();
    book.build().map_err(|error| format!("{error:#}"))?;
    Ok(root.join("target/book"))
}

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let wrong = match built(&root) {
        Ok(book) => [wrong_in(&root), dead_in(&book)].concat(),
        Err(error) => vec![error],
    };
    for line in &wrong {
        eprintln!("{line}");
    }
    let index = root.join("target/book/index.html");
    println!("{}", index.canonicalize().unwrap_or(index).display());
    if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
