//! Corpus of small logs in `fuzz/corpus`, with a folder for each format: each file is recognised and read, and no accident
//! (truncated, mixed up, in another encoding, read by another reader) does any harm.
//!
//! The files were made for this project in the layouts of the tools; fuzzing starts from them. A file whose name begins
//! with `damaged` need not have results. The invariants are in `cardscope_import::readers::invariants`.

use cardscope_import::readers::{LogFormat, LogText, formats, invariants};
use std::path::{Path, PathBuf};

mod joined;
mod mutations;
mod reading;
mod real;
mod variants;

/// A file of the corpus.
struct Example {
    format: &'static LogFormat,
    name: String,
    bytes: Vec<u8>,
}

impl Example {
    fn is_damaged(&self) -> bool {
        self.name.starts_with("damaged")
    }

    /// Path below the corpus, for messages.
    fn place(&self) -> String {
        format!("{}/{}", self.format.name, self.name)
    }
}

/// All files, in a fixed order.
fn corpus() -> Vec<Example> {
    let examples = formats().iter().flat_map(|format| {
        let folder = fuzz().join("corpus").join(format.name);
        names(&folder).into_iter().map(move |name| {
            let bytes = std::fs::read(folder.join(&name)).expect("it was listed");
            Example { format, name, bytes }
        })
    });
    examples.collect()
}

/// The folder of the fuzz targets.
fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

/// Names in a folder, sorted, without hidden ones.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let names =
        entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name in UTF-8"));
    let mut names: Vec<String> = names.filter(|name| !name.starts_with('.')).collect();
    names.sort();
    names
}

/// Passes bytes to the reader of a format and to those that recognise them; panics if an invariant is broken.
fn check(format: &LogFormat, bytes: &[u8]) {
    invariants::check_text(format, &LogText::decode(bytes));
    invariants::check_recognised(bytes);
}
