//! `format --limit-to-real`: ends the partition of a fake before the range that loses data. The real capacity comes
//! from the user or from the last `verify` of this card; it is never guessed.

use super::FormatRequest;
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::format::SizeLimit;
use cardscope_model::units::DecimalSize;
use cardscope_model::verify::{SURE_CONFIDENCE, Verdict, VerifyReport};
use cardscope_sd::layout::{CardLayout, FileSystem, SECTOR, table};
use cardscope_session::archive_access::{newest_session_value, open_existing};
use cardscope_session::card_key::card_key;
use cardscope_session::error::{Failure, Result};
use cardscope_session::open_target::OpenTarget;
use serde::Deserialize as _;
use std::path::Path;

/// Name of the file system's Linux driver.
pub(super) fn linux_driver_name(file_system: FileSystem) -> &'static str {
    if file_system == FileSystem::Exfat { "exfat" } else { "vfat" }
}

/// Capacity to lay out where it is less than the card announces; None without `--limit-to-real`.
pub(super) fn requested_limit(request: &FormatRequest, opened: &OpenTarget) -> Result<Option<SizeLimit>> {
    if !request.limit_to_real {
        return Ok(None);
    }
    let announced_bytes = opened.target.info().bytes;
    let (real, source) = match request.real {
        Some(bytes) => (bytes, "--real".to_owned()),
        None => verified_capacity(request.common.archive.named_path(), opened)?,
    };
    if real > announced_bytes {
        let (real, announced) = (DecimalSize(real), DecimalSize(announced_bytes));
        let why = format!("--real {real} exceeds the {announced} that the card announces");
        return Err(Failure::refused(why));
    }
    // Rounded down, since the last boundary unit must be real as a whole.
    let boundary = table::find_row(real / SECTOR).boundary * SECTOR;
    let real_bytes = real - real % boundary;
    Ok(Some(SizeLimit { announced_bytes, real_bytes, source }))
}

fn verified_capacity(archive: Option<&Path>, opened: &OpenTarget) -> Result<(u64, String)> {
    let unknown = |why: &str| Failure::refused(format!("the real capacity of this card is unknown: {why}"));
    let no_key = "the reader shows no identity to find it by in the archive; give --real BYTES, as `cardscope verify` \
                  prints it";
    let no_verify = "the archive has no `verify` of it; run `cardscope verify` first, or give --real BYTES";
    let key = card_key(opened).ok_or_else(|| unknown(no_key))?;
    let report = last_verify(archive, &key)?.ok_or_else(|| unknown(no_verify))?;
    let session = report.header.session.clone().unwrap_or_default();
    capacity_from_report(&report).map(|bytes| (bytes, format!("verify {session}: {}", report.body.verdict)))
}

/// Real capacity according to a `verify`, refused where its verdict is unsure or is not about capacity.
fn capacity_from_report(report: &VerifyReport) -> Result<u64> {
    match (report.body.verdict, report.body.usable_bytes) {
        (Verdict::Genuine, _) => Err(Failure::refused(
            "the last verify found all of its capacity; format it without --limit-to-real",
        )),
        (verdict, Some(bytes)) if verdict.lacks_capacity() => {
            if report.body.confidence >= SURE_CONFIDENCE {
                return Ok(bytes);
            }
            let (sure, size) = (report.body.confidence * 100.0, DecimalSize(bytes));
            Err(Failure::refused(format!(
                "the last verify is only {sure:.0} % sure of {size}; run `cardscope verify --full`, or give --real \
                 BYTES"
            )))
        }
        (verdict @ (Verdict::Limbo | Verdict::Wraparound | Verdict::Chain), None) => {
            Err(Failure::refused(format!(
                "the last verify found {verdict}, but not the real capacity; run `cardscope verify --full`, \
                 or give --real BYTES"
            )))
        }
        (verdict, _) => Err(Failure::refused(format!(
            "the last verify found {verdict}: do not use this card; --real BYTES formats it anyway"
        ))),
    }
}

fn last_verify(archive: Option<&Path>, key: &str) -> Result<Option<VerifyReport>> {
    let Some(mut archive) = open_existing(archive)? else { return Ok(None) };
    newest_session_value(&mut archive, key, Some("verify"), |record| {
        let report = VerifyReport::deserialize(record.file.document?).ok()?;
        // An interrupted verify has no final verdict.
        Some(report).filter(|report| report.header.error.is_none())
    })
}

/// Finding about a bad verdict of an earlier `verify`, and whether `--limit-to-real` would help.
pub(super) fn earlier_verdict(archive: Option<&Path>, opened: &OpenTarget) -> Option<(Finding, bool)> {
    let report = last_verify(archive, &card_key(opened)?).ok()??;
    let body = report.body;
    if !body.verdict.is_bad() || body.confidence < SURE_CONFIDENCE {
        return None;
    }
    let usable = body.usable_bytes.filter(|_| body.verdict.lacks_capacity());
    let (said, advice) = match usable {
        Some(bytes) => {
            let (real, all) = (DecimalSize(bytes), DecimalSize(body.announced_bytes));
            let said = format!("`verify` found that it holds {real} of {all}.");
            (said, "Return it, or format it with --limit-to-real.")
        }
        None => (format!("`verify` found it {}.", body.verdict), "Do not keep data on it."),
    };
    let found = Finding::new("known-verdict", FindingWeight::Hint, body.confidence, said);
    Some((found.because_some("session", report.header.session).with_advice(advice), usable.is_some()))
}

pub(super) fn limit_finding(limited: &SizeLimit, layout: &CardLayout) -> Finding {
    let (end, all) = (layout.partition_end() * SECTOR, DecimalSize(limited.announced_bytes));
    let said = format!(
        "The partition ends at byte {end}, within the real capacity, but the card still announces {all}."
    );
    Finding::new("limited-to-real", FindingWeight::Note, 1.0, said)
        .because("announced_bytes", limited.announced_bytes)
        .because("real_bytes", limited.real_bytes)
        .because("source", &limited.source)
        .with_advice(
            "Mark the card, store nothing important on it, never repartition it, and check it with \
                 `cardscope verify DIR --files`.",
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::condition::Condition;
    use serde_json::json;

    fn capacity_for_verdict(verdict: &str, confidence: f64) -> Result<u64, String> {
        let report = json!({
            "target": "/dev/sdx", "method": "quick", "verdict": verdict, "announced_bytes": 133_000_000_512u64,
            "usable_bytes": 23_000_000_512u64, "good_bytes": null, "proven_bytes": 0, "bytes_written": 0,
            "bytes_restored": 0, "bytes_read": 0, "seconds": 1.0, "data_kept": true, "confidence": confidence,
            "condition": Condition::default(), "io_path": "io_uring", "seed": 1
        });
        capacity_from_report(&serde_json::from_value(report).unwrap()).map_err(|refusal| refusal.to_string())
    }

    #[test]
    fn limit_needs_a_capacity_verdict_that_is_sure() {
        assert_eq!(capacity_for_verdict("chain", 0.999), Ok(23_000_000_512));
        let refusal = capacity_for_verdict("wraparound", 0.8).unwrap_err();
        assert!(refusal.contains("80 % sure") && refusal.contains("--full"), "{refusal}");
        assert!(capacity_for_verdict("damaged", 0.999).unwrap_err().contains("do not use this card"));
    }
}
