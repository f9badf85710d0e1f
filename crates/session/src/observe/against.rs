//! An earlier watch, from a file of `--save` or from the archive.

use super::Request;
use crate::earlier;
use crate::error::Failure;
use cardscope_model::observe::ObserveReport;
use serde::Deserialize;

/// Reads an earlier watch by the name of its file or its session.
///
/// # Errors
/// If there is none, or it is no document of `observe`, or nothing was watched in it.
pub(super) fn load(name: &str, request: &Request) -> Result<ObserveReport, Failure> {
    let document = earlier::document(name, request.archive.as_deref(), "observe")?;
    let report =
        ObserveReport::deserialize(&document).map_err(|e| earlier::none(name, "observe", &e.to_string()))?;
    if report.body.samples.is_empty() {
        return Err(Failure::Refused(format!("{name} watched nothing, so there is nothing to compare with")));
    }
    Ok(report)
}
