//! Builds the book in `docs/` into `target/book` with the libraries of mdBook, and checks every link in it. Run by
//! `scripts/book`, and as a test by `./check`.

#![forbid(unsafe_code)]

mod links;

use mdbook_driver::MDBook;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Builds the book anew, in a folder of its own, and says where it is.
fn built(root: &Path) -> Result<PathBuf, String> {
    let mut book = MDBook::load(root.join("docs")).map_err(|error| format!("{error:#}"))?;
    book.config.build.build_dir = "../target/book".into();
    book.build().map_err(|error| format!("{error:#}"))?;
    Ok(root.join("target/book"))
}

fn main() -> ExitCode {
    let root = root();
    let wrong = match built(&root) {
        Ok(book) => links::wrong(&root, &book),
        Err(error) => vec![error],
    };
    for line in &wrong {
        eprintln!("{line}");
    }
    let index = root.join("target/book/index.html");
    println!("{}", index.canonicalize().unwrap_or(index).display());
    if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_book_is_built_and_every_link_in_it_leads_somewhere() {
        let root = super::root();
        let book = super::built(&root).unwrap();
        let wrong = super::links::wrong(&root, &book);
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
