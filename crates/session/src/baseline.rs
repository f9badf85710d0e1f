//! Baseline of a run (`--against`): a document of an earlier run, from a file made with `--json` or from the archive.

use crate::error::{Failure, Result};
use crate::stored_document::{StoredDocument, load_by_id};
use cardscope_engine::cause::ErrorCause;
use cardscope_engine::input_file;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::Path;

/// Size limit: a day at one sample per second takes about 60 MB.
const MOST_BYTES: u64 = 256 << 20;

/// Loads a document of `verb` by the name of a file or session.
/// Refuses a name that matches nothing, and a document that is too long, unreadable or of another verb.
pub fn load_baseline<T: DeserializeOwned>(name: &str, archive: Option<&Path>, verb: &str) -> Result<T> {
    find_document(name, archive, verb).and_then(|document| Ok(T::deserialize(&document)?)).map_err(|why| {
        let words = format!(
            "--against {name}: not made by `{verb}` ({why}); give a session from `cardscope archive \
             list`, or a file made with `{verb} --json`"
        );
        Failure::refused_for(words, why)
    })
}

fn find_document(name: &str, archive: Option<&Path>, verb: &str) -> Result<Value, ErrorCause> {
    if Path::new(name).exists() {
        return read_file(name, MOST_BYTES);
    }
    let unknown = |e: Failure| ErrorCause::with_message(format!("no such file and no such session: {e}"), e);
    match load_by_id(archive, name).map_err(unknown)? {
        StoredDocument::Record { kind, document } if kind == verb => Ok(document),
        StoredDocument::Record { kind, .. } => Err(format!("it is a `{kind}` document").into()),
        StoredDocument::Bench(_) => Err("it is a `bench` document".into()),
        StoredDocument::Log(_) => Err("it is a log of another tool".into()),
    }
}

fn read_file(name: &str, most: u64) -> Result<Value, ErrorCause> {
    Ok(serde_json::from_slice(&input_file::read_bytes(Path::new(name), most)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn baseline_refuses_long_and_special_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        std::fs::write(&path, "[1, 2]").unwrap();
        let name = path.to_str().unwrap();
        assert_eq!(read_file(name, 6), Ok(serde_json::json!([1, 2])));
        assert!(read_file(name, 5).unwrap_err().to_string().contains("longer than the limit of 5"));
        assert!(read_file("/dev/zero", 6).unwrap_err().to_string().contains("not a plain file"));
        assert!(load_baseline::<Value>(folder.path().to_str().unwrap(), None, "sustain").is_err());
    }
}
