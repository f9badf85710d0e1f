//! An earlier watch, from a file of `--save` or from the archive.

use super::Request;
use crate::archive::{self, Shown};
use crate::error::Failure;
use cardscope_model::observe::ObserveReport;
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;

/// Longest document that is read: a watch of a day at one sample a second is some 60 MB.
const MOST_BYTES: u64 = 256 << 20;

/// Reads an earlier watch by the name of its file or its session.
///
/// # Errors
/// If there is none, or it is no document of `observe`, or nothing was watched in it.
pub(super) fn load(name: &str, request: &Request) -> Result<ObserveReport, Failure> {
    let document = if Path::new(name).exists() { of_file(name)? } else { of_archive(name, request)? };
    let report = ObserveReport::deserialize(&document)
        .map_err(|e| Failure::Refused(format!("{name} is no document of `cardscope observe`: {e}")))?;
    if report.samples.is_empty() {
        return Err(Failure::Refused(format!("{name} watched nothing, so there is nothing to compare with")));
    }
    Ok(report)
}

fn of_file(name: &str) -> Result<Value, Failure> {
    let cannot = |reason: String| Failure::Refused(format!("{name} cannot be read: {reason}"));
    let about = std::fs::metadata(name).map_err(|e| cannot(e.to_string()))?;
    if !about.is_file() || about.len() > MOST_BYTES {
        return Err(cannot("it is no document of `cardscope observe`".to_owned()));
    }
    let text = std::fs::read(name).map_err(|e| cannot(e.to_string()))?;
    serde_json::from_slice(&text).map_err(|e| cannot(e.to_string()))
}

fn of_archive(name: &str, request: &Request) -> Result<Value, Failure> {
    let unknown = |e: Failure| {
        Failure::Refused(format!("--against {name}: there is no such file, and no such session ({e})"))
    };
    match archive::show(request.archive.as_deref(), name).map_err(unknown)? {
        Shown::Record { kind, document } if kind == "observe" => Ok(document),
        Shown::Record { kind, .. } => {
            Err(Failure::Refused(format!("session {name} is one of `{kind}`, not of `observe`")))
        }
        Shown::Bench(_) => {
            Err(Failure::Refused(format!("session {name} is one of `bench`, not of `observe`")))
        }
    }
}
