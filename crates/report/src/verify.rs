//! `verify` as text: the verdict first, then what it rests on, what it cost, and what to do.

use crate::figure::{duration, speed};
use crate::{bench, files, map};
use cardscope_model::units::{Capacity, grouped, mb_per_s};
use cardscope_model::verify::{Disproof, SectorFound, Trouble, Verdict, VerifyReport};
use std::fmt::Write;

/// So many addresses and failed I/Os are listed; the others are counted.
const LISTED: usize = 8;

/// The report as people read it.
#[must_use]
pub fn text(report: &VerifyReport) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{}: {}\n", report.header.target, headline(report));
    sizes(&mut out, report);
    disproofs(&mut out, &report.body.disproofs);
    if let Some(found) = &report.body.files {
        let _ = write!(out, "\n{}", files::files_section(found));
    }
    if let Some(found) = &report.body.map {
        let _ = write!(out, "\n{}", map::text(found));
    }
    troubles(&mut out, &report.body.moved.troubles);
    cost(&mut out, report);
    if !report.header.findings.is_empty() {
        let _ = write!(out, "\n{}", bench::findings(&report.header.findings));
    }
    for caveat in &report.header.caveats {
        let _ = writeln!(out, "Note: {caveat}.");
    }
    out
}

fn headline(report: &VerifyReport) -> String {
    let sure = format!("confidence {:.1} %", report.body.confidence * 100.0);
    match report.body.verdict {
        Verdict::Genuine => format!("genuine, as far as was looked ({sure})"),
        Verdict::Inconclusive => "inconclusive: too little could be looked at".to_owned(),
        Verdict::ReaderSuspect => {
            format!("reader-suspect: ask a second reader before the card is accused ({sure})")
        }
        bad => format!("{} ({sure})", bad.word().to_uppercase()),
    }
}

fn sizes(out: &mut String, report: &VerifyReport) {
    let mut line = |name: &str, value: Option<u64>| {
        let value = value.map_or("unknown".to_owned(), |bytes| Capacity(bytes).to_string());
        let _ = writeln!(out, "  {name:<24}{value}");
    };
    line("announced", Some(report.body.announced_bytes));
    line("usable from the start", report.body.usable_bytes);
    line("good in all, about", report.body.good_bytes);
    line("proven at one time", Some(report.body.proven_bytes));
    if report.body.wrap_bytes.is_some() {
        let name =
            if report.body.dead_address_line { "dead address line at" } else { "addresses repeat every" };
        line(name, report.body.wrap_bytes);
    }
    if report.body.cache_bytes.is_some() {
        line("hidden by a cache up to", report.body.cache_bytes);
    }
}

fn disproofs(out: &mut String, disproofs: &[Disproof]) {
    if disproofs.is_empty() {
        return;
    }
    let _ = writeln!(out, "\nAddresses that disprove it:");
    for proof in disproofs.iter().take(LISTED) {
        let found = found(proof.found);
        let (address, seen) = (grouped(proof.address), proof.seen);
        let _ = writeln!(out, "  byte {address}: {} expected, {found} found ({seen} looks)", proof.expected);
    }
    more(out, disproofs.len());
}

fn more(out: &mut String, count: usize) {
    if count > LISTED {
        let _ = writeln!(out, "  … and {} more in the JSON document", count - LISTED);
    }
}

/// What stood in a sector, in words.
fn found(found: SectorFound) -> String {
    match found {
        SectorFound::Expected => "the same".to_owned(),
        SectorFound::Flipped { bits } => format!("the same with {bits} bits wrong"),
        SectorFound::Elsewhere { address } => format!("what was written to byte {}", grouped(address)),
        SectorFound::Stale { generation } => format!("what write {generation} put there"),
        SectorFound::Foreign { address, .. } => format!("another run's stamp of byte {}", grouped(address)),
        SectorFound::Constant { byte } => format!("0x{byte:02x} throughout"),
        SectorFound::Other => "something older".to_owned(),
        SectorFound::Error => "an error".to_owned(),
    }
}

fn troubles(out: &mut String, troubles: &[Trouble]) {
    if troubles.is_empty() {
        return;
    }
    let _ = writeln!(out, "\nFailed I/Os:");
    for trouble in troubles.iter().take(LISTED) {
        let Trouble { operation, offset, len, errno, reason, recovered } = trouble;
        let again = if *recovered { "the second try succeeded" } else { "twice" };
        let offset = grouped(*offset);
        let _ = writeln!(out, "  {operation} of {len} bytes at {offset}: {reason} (errno {errno}), {again}");
    }
    more(out, troubles.len());
}

fn cost(out: &mut String, report: &VerifyReport) {
    let moved =
        report.body.moved.bytes_written + report.body.moved.bytes_restored + report.body.moved.bytes_read;
    let restored = match report.body.moved.bytes_restored {
        0 => String::new(),
        bytes => format!(", {} put back", megabytes(bytes)),
    };
    let kept = if report.body.moved.data_kept { "is as it was" } else { "is not what it was before" };
    let _ = writeln!(
        out,
        "\n{} written{restored}, {} read in {} ({} in all); what was on it {kept}.",
        megabytes(report.body.moved.bytes_written),
        megabytes(report.body.moved.bytes_read),
        duration(report.body.moved.seconds),
        format_args!("{} MB/s", speed(mb_per_s(moved, report.body.moved.seconds))),
    );
    if let Some(share) = &report.body.share {
        let bound = share.excluded_above * 100.0;
        let _ = writeln!(
            out,
            "{} of {} places were bad: a bad share above {bound:.1} % would have been seen with 95 %.",
            share.bad, share.samples
        );
    }
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}
