//! `verify` as text: the verdict first, then what it rests on, what it cost, and what to do.

use crate::chart::inside::{TERMINAL, addresses};
use crate::figure::speed;
use crate::files;
use crate::page::{Block, Fact, Page, fact, listed, moved, troubles};
use cardscope_model::units::{Capacity, grouped, mb_per_s};
use cardscope_model::verify::{Disproof, SectorFound, Verdict, VerifyReport};

/// Addresses that are listed; the others are counted.
const LISTED: usize = 8;

/// The report as people read it.
#[must_use]
pub fn text(report: &VerifyReport) -> String {
    let body = &report.body;
    let mut page = Page::new(&report.header.target, answer(report));
    page.add("", [Block::Facts(sizes(report))]);
    page.add("Addresses that disprove it", [listed(&body.disproofs, LISTED, disproof)]);
    if let Some(found) = &body.files {
        files::add(&mut page, found);
    }
    let map = body.map.as_ref().and_then(|map| addresses(map, &report.header.condition, TERMINAL));
    page.add("", map.map(|chart| Block::Chart(Box::new(chart))));
    page.add("Failed I/Os", [troubles(&body.moved.troubles)]);
    page.add("", cost(report).map(Block::Words));
    page.framed(&report.header)
}

fn answer(report: &VerifyReport) -> String {
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

fn sizes(report: &VerifyReport) -> Vec<Fact> {
    let body = &report.body;
    let size = |name: &str, value: Option<u64>| {
        fact(name, value.map_or("unknown".to_owned(), |bytes| Capacity(bytes).to_string()))
    };
    let mut facts = vec![
        size("announced", Some(body.announced_bytes)),
        size("usable capacity", body.usable_bytes),
        size("working (estimate)", body.good_bytes),
        size("verified capacity", Some(body.proven_bytes)),
    ];
    let wrap = if body.dead_address_line { "dead address line at" } else { "addresses repeat every" };
    let known = [(wrap, body.wrap_bytes), ("hidden by a cache up to", body.cache_bytes)];
    facts.extend(
        known.into_iter().filter(|(_, bytes)| bytes.is_some()).map(|(name, bytes)| size(name, bytes)),
    );
    facts
}

fn disproof(proof: &Disproof) -> String {
    let (address, found) = (grouped(proof.address), found(proof.found));
    format!("byte {address}: {} expected, {found} found ({} looks)", proof.expected, proof.seen)
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

fn cost(report: &VerifyReport) -> impl Iterator<Item = String> {
    let cost = &report.body.moved;
    let all = cost.bytes_written + cost.bytes_restored + cost.bytes_read;
    let share = report.body.share.as_ref().map(|share| {
        let bound = share.excluded_above * 100.0;
        let (bad, samples) = (share.bad, share.samples);
        format!(
            "{bad} of {samples} samples were bad: would detect ≥ {bound:.1} % bad blocks (95 % confidence)."
        )
    });
    let speed = format!("All I/O together: {} MB/s.", speed(mb_per_s(all, cost.seconds)));
    [Some(format!("{} {speed}", moved(cost))), share].into_iter().flatten()
}
