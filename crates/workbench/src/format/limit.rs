//! `--limit-to-real`: a fake gets a partition that ends before what it loses. How much it really has comes from the
//! user or from the last `verify` of this card in the archive; it is never guessed.

use super::Request;
use crate::card_key::card_key;
use crate::error::Failure;
use crate::opening::Opened;
use cardscope_model::finding::{Finding, Weight};
use cardscope_model::format::Limited;
use cardscope_model::layout::{Layout, SECTOR, table};
use cardscope_model::units::Capacity;
use cardscope_model::verify::{Verdict, VerifyReport};
use cardscope_store::Archive;
use std::path::Path;

/// A size that is less sure than this is not laid out: behind it data would be lost.
const SURE: f64 = 0.95;

/// What is to be laid out, where that is less than the card announces.
pub(super) fn limit(request: &Request, opened: &Opened) -> Result<Option<Limited>, Failure> {
    if !request.limit_to_real {
        return Ok(None);
    }
    let announced_bytes = opened.target.info().bytes;
    let (real, source) = match request.real {
        Some(bytes) => (bytes, "--real".to_owned()),
        None => verified(request.archive.as_deref(), opened)?,
    };
    if real > announced_bytes {
        return Err(Failure::Refused(format!(
            "{} of real capacity are more than the {} that the card announces",
            Capacity(real),
            Capacity(announced_bytes)
        )));
    }
    // Down to the boundary, so that the last unit is not half there.
    let boundary = table::row(real / SECTOR).boundary * SECTOR;
    let real_bytes = real - real % boundary;
    Ok(Some(Limited { announced_bytes, real_bytes, source }))
}

fn unknown(why: &str) -> Failure {
    Failure::Refused(format!(
        "how much this card really has is not known: {why}; run `cardscope verify` on it first, or say --real BYTES"
    ))
}

/// The trusted prefix that the last verify of this card found.
fn verified(archive: Option<&Path>, opened: &Opened) -> Result<(u64, String), Failure> {
    let key = card_key(opened)
        .ok_or_else(|| unknown("it says nothing of itself by which the archive could know it"))?;
    trusted(&last_verify(archive, &key)?.ok_or_else(|| unknown("the archive has no verify of it"))?)
}

fn trusted(report: &VerifyReport) -> Result<(u64, String), Failure> {
    let session = report.session.clone().unwrap_or_default();
    match (report.verdict, report.usable_bytes) {
        (Verdict::Genuine, _) => Err(Failure::Refused(
            "the last verify found all of its capacity real: format it without --limit-to-real".to_owned(),
        )),
        (verdict, Some(_)) if verdict.lacks_capacity() && report.confidence < SURE => {
            Err(unknown(&format!("the last verify is {:.0} % sure of its answer", report.confidence * 100.0)))
        }
        (verdict, Some(bytes)) if verdict.lacks_capacity() => {
            Ok((bytes, format!("verify {session}: {}", report.verdict)))
        }
        (verdict, _) => Err(Failure::Refused(format!(
            "the last verify says {verdict}: no size makes such a card trustworthy, do not use it; --real BYTES would lay it out all the same"
        ))),
    }
}

fn last_verify(archive: Option<&Path>, key: &str) -> Result<Option<VerifyReport>, Failure> {
    let path = archive.map_or_else(Archive::default_path, |p| Ok(p.to_owned())).map_err(Failure::io)?;
    if !path.exists() {
        return Ok(None);
    }
    let mut archive = Archive::open(path).map_err(Failure::io)?;
    for summary in archive.records().map_err(Failure::io)?.iter().rev().filter(|s| s.kind == "verify") {
        let record = archive.record(summary.id).map_err(Failure::io)?;
        let ours = record.start.piece.as_ref().is_some_and(|piece| piece.identity_hash == key);
        let report = record.document.and_then(|d| serde_json::from_value::<VerifyReport>(d).ok());
        // A verify that was broken off has not come to a verdict.
        if let Some(report) = report.filter(|report| ours && report.error.is_none()) {
            return Ok(Some(report));
        }
    }
    Ok(None)
}

/// What was changed, and what was not.
pub(super) fn told(limited: &Limited, layout: &Layout) -> Finding {
    let said = format!(
        "the partition ends at byte {}, before what the card loses; the card still announces {}, so any tool that \
         writes past the partition or partitions it anew loses data again",
        layout.partition_end() * SECTOR,
        Capacity(limited.announced_bytes)
    );
    Finding::new("limited-to-real", Weight::Note, 1.0, said)
        .because("announced_bytes", limited.announced_bytes)
        .because("real_bytes", limited.real_bytes)
        .because("source", &limited.source)
        .advise("mark the card, use it for nothing that matters, and check it with `cardscope verify DIR --files`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verify(verdict: &str, confidence: f64) -> VerifyReport {
        serde_json::from_value(serde_json::json!({
            "target": "/dev/sdz", "method": "quick", "verdict": verdict, "confidence": confidence,
            "announced_bytes": 64_000_000_000_u64, "usable_bytes": 8_000_000_000_u64, "good_bytes": null,
            "proven_bytes": 0, "bytes_written": 0, "bytes_restored": 0, "bytes_read": 0, "seconds": 1.0,
            "data_kept": true, "condition": {}, "io_path": "io_uring", "seed": 1
        }))
        .unwrap()
    }

    #[test]
    fn a_size_is_laid_out_only_where_the_verify_was_sure_of_it() {
        assert_eq!(trusted(&verify("limbo", 0.95)).unwrap().0, 8_000_000_000);
        let refusal = trusted(&verify("wraparound", 0.8)).unwrap_err().to_string();
        assert!(refusal.contains("80 % sure") && refusal.contains("--real"), "{refusal}");
        assert!(trusted(&verify("damaged", 0.99)).is_err());
    }
}
