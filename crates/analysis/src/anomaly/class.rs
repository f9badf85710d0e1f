//! A read far below its class: single 4 KiB reads against what cards of the same class do in public logs, and against
//! what the same card does with a queue (the 13 MB/s of seed 000's SanDisk, the 1.58 MB/s of a U3 card on a Pi 4).

use super::table::{Table, digits};
use cardscope_model::finding::{Finding, Weight};
use cardscope_model::test_name::Op;

/// Published single 4 KiB reads of a class of cards, in MB/s.
struct Peers {
    /// The class in words.
    class: &'static str,
    /// Sequential reads from here up belong to it, in MB/s.
    from_mb_s: f64,
    /// Where the figures hold only while writes are at the fast level: written at least so fast, as a share of the
    /// reads in order.
    least_write_share: f64,
    /// Lowest, median and highest.
    low: f64,
    median: f64,
    high: f64,
    /// Cards and where they are published.
    source: &'static str,
}

/// Fastest class first; the first that fits counts.
static PEERS: [Peers; 4] = [
    Peers {
        class: "SD Express, data in the cache",
        from_mb_s: 300.0,
        least_write_share: 0.6,
        low: 33.0,
        median: 34.0,
        high: 38.0,
        source: "seven fast runs of two cards, microSD Express benchmarks of May 2025",
    },
    Peers {
        class: "SD Express, data behind the cache",
        from_mb_s: 300.0,
        least_write_share: 0.0,
        low: 10.0,
        median: 20.0,
        high: 30.0,
        source: "thirteen slow runs of two cards, microSD Express benchmarks of May 2025",
    },
    Peers {
        class: "UHS-I",
        from_mb_s: 30.0,
        least_write_share: 0.0,
        low: 6.57,
        median: 7.64,
        high: 10.8,
        source: "eight cards on a Raspberry Pi 4, July 2019, one of them (1.58) left out of the low end",
    },
    Peers {
        class: "High Speed",
        from_mb_s: 10.0,
        least_write_share: 0.0,
        low: 3.1,
        median: 5.3,
        high: 9.7,
        source: "p10, median and p90 of 46 flashbench runs of 29 cards, 2013 to 2015",
    },
];

/// A read below this share of the lowest of its class is far below.
const FAR: f64 = 0.5;
/// Reads with a queue that are so many times as fast show that the flash is not what is slow: seed 000's other cards
/// gain 13 to 23.
const LARGE_GAIN: f64 = 25.0;

pub(super) fn reads(table: &Table<'_>) -> Option<Finding> {
    let single = table.small(Op::Read, 1)?.median();
    let in_order = table.in_order(Op::Read)?.median();
    let share = table.in_order(Op::Write).map_or(0.0, |w| w.median() / in_order);
    let peers = PEERS.iter().find(|p| in_order >= p.from_mb_s && share >= p.least_write_share)?;
    if single >= FAR * peers.low || single <= 0.0 {
        return None;
    }
    let gain = table.small(Op::Read, 32).map(|row| row.median() / single);
    let confidence = if gain.is_some_and(|gain| gain > LARGE_GAIN) { 0.9 } else { 0.8 };
    let text = format!(
        "single 4 KiB reads reach {} MB/s, {:.0} % of the slowest card of its class ({} MB/s)",
        digits(single),
        100.0 * single / peers.low,
        digits(peers.low)
    );
    let finding = Finding::new("read-below-class", Weight::Hint, confidence, text)
        .because("RND4K Q1T1 read", format!("{} MB/s, {:.0} µs a read", digits(single), 4096.0 / single))
        .because(
            peers.class,
            format!("{} to {} MB/s, median {} ({})", digits(peers.low), digits(peers.high), digits(peers.median), peers.source),
        )
        .because("reading in order", format!("{} MB/s", digits(in_order)))
        .advise("Programs start and files open by such reads: measure once more on a card that was filled, and compare.");
    Some(match gain {
        Some(gain) => finding.because("with 32 at once", format!("{gain:.1} times as fast")),
        None => finding,
    })
}
