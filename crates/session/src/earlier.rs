//! A document of an earlier run that a new one is held against (`--against`): a file made with `--json`, or a session of
//! the archive.

use crate::archive::{Shown, show};
use crate::error::Failure;
use cardscope_engine::input;
use serde_json::Value;
use std::path::Path;

/// Longest document that is read: a day at one sample a second is some 60 MB.
const MOST_BYTES: u64 = 256 << 20;

/// Loads the document of a `verb` by the name of its file or its session.
///
/// # Errors
/// If there is none of that name, it is too long, or of another verb.
pub(crate) fn document(name: &str, archive: Option<&Path>, verb: &str) -> Result<Value, Failure> {
    if Path::new(name).exists() {
        return of_file(name, MOST_BYTES).map_err(|why| none(name, verb, &why));
    }
    let unknown = |e: Failure| none(name, verb, &format!("there is no such file, and no such session: {e}"));
    match show(archive, name).map_err(unknown)? {
        Shown::Record { kind, document } if kind == verb => Ok(document),
        Shown::Record { kind, .. } => Err(none(name, verb, &format!("it is one of `{kind}`"))),
        Shown::Bench(_) => Err(none(name, verb, "it is one of `bench`")),
        Shown::Log(_) => Err(none(name, verb, "it is a log of another tool")),
    }
}

/// What `--against` was given is no document of the verb.
pub(crate) fn none(name: &str, verb: &str, why: &str) -> Failure {
    Failure::Refused(format!(
        "--against {name} is no document of `{verb}` ({why}); give a session of `archive list`, or a file made with `{verb} --json`"
    ))
}

fn of_file(name: &str, most: u64) -> Result<Value, String> {
    let text = input::bytes(Path::new(name), most).map_err(|e| e.to_string())?;
    serde_json::from_slice(&text).map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_a_length_and_only_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        std::fs::write(&path, "[1, 2]").unwrap();
        let name = path.to_str().unwrap();
        assert_eq!(of_file(name, 6), Ok(serde_json::json!([1, 2])));
        assert!(of_file(name, 5).unwrap_err().contains("longer than 5"));
        assert!(of_file("/dev/zero", 6).unwrap_err().contains("not a plain file"));
        assert!(document(folder.path().to_str().unwrap(), None, "sustain").is_err());
    }
}
