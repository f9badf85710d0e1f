//! Verdict of a full pass, from its ledger of bad sectors and other evidence.
//!
//! The kinds are those of docs/reference/flash.md#fake-cards: an end beyond which all data is lost (limbo),
//! repeating addresses (wraparound), both (chain), scattered losses (damage), and a pool of blocks that is used up
//! (overcommitted).

use cardscope_model::verify::{READS_DIFFER_CONFIDENCE, Verdict, Verification};
use cardscope_probing::bad_ranges::gcd;
use cardscope_probing::bad_ranges::{BadKind, BadRanges, BadRun};

/// Evidence that ended the writing before the end of the card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WriteEnd {
    /// Later data replaced the first addresses.
    AddressesRepeat,
    /// Data beyond this address is lost.
    EndsAt(u64),
    RefusesWrites,
}

/// Evidence besides the ledger.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PassEvidence {
    pub(crate) card_bytes: u64,
    /// Bytes written from 0.
    pub(crate) written: u64,
    /// Bytes read back from 0.
    pub(crate) read_to: u64,
    pub(crate) write_end: Option<WriteEnd>,
    /// End of the highest write without an error.
    pub(crate) accepted_to: u64,
    /// Period of repeating addresses, from [`wrap`].
    pub(crate) wrap: Option<u64>,
    /// Sentinels beyond the written range, and how many are intact.
    pub(crate) sentinels: u64,
    pub(crate) sentinels_good: u64,
    /// True if only sentinels are intact after the first loss.
    pub(crate) islands_are_sentinels: bool,
    /// Number of such sentinels.
    pub(crate) islands: u64,
    /// True if earlier, nonconstant data of the card is unchanged.
    pub(crate) keeps_originals: bool,
    /// True if places that were good accept no more writes.
    pub(crate) refuses_rewrites: bool,
    /// True if writes became many times slower from some address on, even after a pause.
    pub(crate) crawls: bool,
    /// True if writes became slower, but the limits allowed no test after a pause.
    pub(crate) may_crawl: bool,
    /// Sectors that were wrong in one read and right in a later one.
    pub(crate) passing_sectors: u64,
    /// True if data lost in long writes is kept in single sectors, without any sign of a cache.
    pub(crate) kept_in_sectors: bool,
    /// Bit flips that a rewrite removed.
    pub(crate) healed: u64,
    /// True if nothing was written: an earlier pass wrote the data, which others may have replaced since.
    pub(crate) recheck: bool,
}

/// Least contiguous bytes for a distance, or half of the longest sequence if that is less. Lost blocks that show
/// data of others produce shorter ones by chance.
const MIN_SEQUENCE: u64 = 64 << 10;

const MARKER_BYTES: u64 = super::samples::SAMPLE_BYTES;

/// Inverse share of sentinels that may be lost while all earlier data counts as intact.
const SENTINELS_PER_MISS: u64 = 20;

/// Largest intact share after the first loss on a pooled card: data in the same unit as a sentinel.
const MAX_INTACT_SHARE: f64 = 0.1;

/// Least lost share of a range that counts as wholly lost.
const LOST_SHARE: f64 = 0.999;

/// Verdict with usable and good bytes, period and confidence.
pub(crate) fn judge_pass(ledger: &BadRanges, seen: &PassEvidence) -> Verification {
    if ledger.read == 0 {
        return judge_samples_only(seen);
    }
    let (first_bad, good, bad) = (ledger.first_bad(), ledger.total_good(), &ledger.bad);
    let lost = bad.lost + bad.failed;
    if let Some(period) = seen.wrap {
        return judge_wrap(ledger, period, seen);
    }
    let (usable, all) = (Some(first_bad.unwrap_or(seen.read_to)), Some(good));
    if good == 0 && seen.keeps_originals || seen.refuses_rewrites {
        return answer(Verdict::ReadOnly, Some(0), Some(0), 0.99);
    }
    // Without any good data from 0 on, intact sentinels are in a cache.
    if good == 0 && (seen.sentinels_good == 0 || seen.write_end == Some(WriteEnd::EndsAt(0))) {
        return answer(Verdict::Dead, Some(0), Some(0), 0.99);
    }
    if seen.recheck && bad.total() > 0 {
        // Good data that changed leaves no intact prefix; data of others may have been written by anyone, which is
        // no fault.
        return match bad.total() == bad.lost && (bad.foreign > 0 || is_wiped(ledger)) {
            true => answer(Verdict::Inconclusive, None, all, 0.5),
            false => answer(Verdict::Damaged, None, all, 0.99),
        };
    }
    if lost + bad.alias > 0 && is_overcommitted(ledger, seen) {
        let stays = good + seen.sentinels_good * super::samples::SAMPLE_BYTES;
        return answer(Verdict::Overcommitted, Some(stays), Some(stays), 0.99);
    }
    if lost + bad.alias > 0 && is_only_tail_lost(ledger, seen) {
        // A fake acknowledges the writes it loses; errors mean damage or an unsuitable reader.
        if first_bad.is_some_and(|first| seen.accepted_to <= first) {
            return Verification { fails_beyond: true, ..answer(Verdict::Damaged, usable, all, 0.99) };
        }
        // Losses in one kind of request only may be caused by the reader.
        let shown_once = seen.kept_in_sectors && seen.sentinels == 0;
        let confidence = if shown_once { ONE_KIND_CONFIDENCE } else { 0.99 };
        return answer(Verdict::Limbo.ending_at(usable), usable, all, confidence);
    }
    if bad.total() > 0 && seen.healed > 0 && lost + bad.alias == 0 {
        return answer(Verdict::Unstable, usable, all, READS_DIFFER_CONFIDENCE);
    }
    if bad.total() > 0 {
        return answer(Verdict::Damaged, usable, all, 0.99);
    }
    if seen.passing_sectors > 0 {
        return answer(Verdict::Unstable, usable, all, READS_DIFFER_CONFIDENCE);
    }
    if seen.crawls {
        return answer(Verdict::Overcommitted, usable, all, 0.8);
    }
    match seen.read_to >= seen.card_bytes && !seen.may_crawl {
        true => answer(Verdict::Genuine, usable, all, 0.999),
        false => answer(Verdict::Inconclusive, None, None, 0.5),
    }
}

/// True if the card was erased from its start: one constant range, and no file system in it.
fn is_wiped(ledger: &BadRanges) -> bool {
    matches!(ledger.runs(), [run] if run.start == 0 && run.end >= MIN_ERASED)
}

/// Confidence in a loss that only one kind of request shows, below the limit for an accusation.
const ONE_KIND_CONFIDENCE: f64 = 0.9;

/// Least bytes from 0 that an erasure covers.
const MIN_ERASED: u64 = 1 << 20;

/// Verdict of a pass that read nothing back as a whole, from its samples.
fn judge_samples_only(seen: &PassEvidence) -> Verification {
    let (verdict, usable, confidence) = match seen.write_end {
        Some(WriteEnd::AddressesRepeat) => (Verdict::Wraparound, None, 0.9),
        Some(WriteEnd::EndsAt(0)) => (Verdict::Dead, Some(0), 0.8),
        Some(WriteEnd::EndsAt(_)) => (Verdict::Limbo, None, 0.9),
        Some(WriteEnd::RefusesWrites) => (Verdict::ReadOnly, None, 0.8),
        None => (Verdict::Inconclusive, None, 0.0),
    };
    answer(verdict, usable, usable, confidence)
}

fn answer(verdict: Verdict, usable: Option<u64>, good: Option<u64>, confidence: f64) -> Verification {
    let (usable_bytes, good_bytes) = (usable, good);
    Verification { verdict, usable_bytes, good_bytes, confidence, ..Verification::default() }
}

/// Period of repeating addresses: all forward distances are multiples of it.
///
/// Lost blocks that show data of others are no repetition. On a wrapping card the first addresses are overwritten
/// first, and markers beyond the written range appear among good sectors. If too little was overwritten before the
/// markers, these decide.
pub(crate) fn wrap_period(ledger: &BadRanges, seen: &PassEvidence) -> Option<u64> {
    let PassEvidence { written, read_to, write_end: certain, .. } = *seen;
    let first = ledger.runs().iter().find(|run| run.bad == BadKind::Alias)?;
    let tail = lost_tail_start(ledger, read_to);
    let ahead = |run: &&BadRun| run.bad == BadKind::Alias && run.end < tail;
    let marked = ledger.highest_stamp_address() >= written && ledger.runs().iter().any(|run| ahead(&run));
    let by_markers = matches!(certain, Some(WriteEnd::EndsAt(_))) && ledger.good_bytes(0, tail) > tail / 2;
    let period = if marked && (first.start != 0 || by_markers) {
        // Lost blocks may show any marker, good ones only markers that share their place.
        let period = ledger.distances_before(tail, MARKER_BYTES).fold(0, gcd);
        if may_repeat(ledger, period, written) { period } else { 0 }
    } else if first.start == 0 {
        period_of_overwritten(ledger, read_to)
    } else {
        0
    };
    (period >= 512).then_some(period)
}

/// Period of a card whose first addresses were overwritten by later ones. Lost blocks that show data of others do
/// so block by block, repeating addresses in long sequences, and hardly anything of the overwritten range is good;
/// 0 otherwise.
fn period_of_overwritten(ledger: &BadRanges, read_to: u64) -> u64 {
    let period = ledger.contiguous_distances(MIN_SEQUENCE).fold(0, gcd);
    let overwritten = read_to.saturating_sub(period);
    if ledger.good_bytes(0, overwritten) <= overwritten / 2 { period } else { 0 }
}

/// True if addresses can repeat with this period although the first address is intact: then no sequential write
/// shares its place. A cache with a slot per address shows lost blocks data from its own size further on, which is
/// no repetition.
fn may_repeat(ledger: &BadRanges, period: u64, written: u64) -> bool {
    period >= written || ledger.first_bad() == Some(0)
}

/// Start of the lost end of the card, from which on much is bad, whatever a cache still holds.
fn lost_tail_start(ledger: &BadRanges, read_to: u64) -> u64 {
    let mut bad = 0;
    let mut tail = read_to;
    for run in ledger.runs().iter().rev() {
        bad += run.end - run.start;
        // Ranges that markers overwrote are no part of the end, even if much is lost after them.
        if run.bad != BadKind::Alias && bad as f64 >= 0.4 * (read_to - run.start) as f64 {
            tail = run.start;
        }
    }
    // A lost block that shows a marker looks like an overwritten one; adjoining the end, it belongs to it.
    for run in ledger.runs().iter().rev().filter(|run| run.bad == BadKind::Alias) {
        if run.end == tail {
            tail = run.start;
        }
    }
    tail
}

fn judge_wrap(ledger: &BadRanges, period: u64, seen: &PassEvidence) -> Verification {
    // Of all addresses that share a place only the last written one is good, so places are counted once.
    let lost = |run: &&BadRun| run.bad != BadKind::Alias;
    let is_within = |run: &BadRun| run.start / period == (run.end - 1) / period;
    let place = |run: &BadRun| if is_within(run) { run.start % period } else { 0 };
    let first = ledger.runs().iter().filter(lost).map(place).min();
    let usable = first.unwrap_or(period).min(period);
    let chained = ledger.runs().iter().filter(lost).any(|run| {
        // Lost from some place to the start of the next period, or to the end of the written range.
        run.bad != BadKind::Flipped && (run.end % period == 0 || run.end >= seen.read_to)
    });
    // Counts each place once, in the last written period. A place works if it shows any stamp of this pass; markers
    // were written later, and only working places show them.
    let from = seen.read_to.saturating_sub(period);
    let last = ledger.runs().iter().filter(lost).map(|run| run.end.saturating_sub(run.start.max(from)));
    let good = seen.read_to - from - last.sum::<u64>();
    let verdict = if chained { Verdict::Chain } else { Verdict::Wraparound.ending_at(Some(period)) };
    Verification { wrap_bytes: Some(period), ..answer(verdict, Some(usable), Some(good), 0.99) }
}

/// True if the data written first is intact at any address, and later data is lost.
fn is_overcommitted(ledger: &BadRanges, seen: &PassEvidence) -> bool {
    let Some(first) = ledger.first_lost() else { return false };
    // A single missing sentinel may have lost a bit.
    let most = seen.sentinels * (SENTINELS_PER_MISS - 1);
    let beyond = seen.sentinels > 0 && seen.sentinels_good * SENTINELS_PER_MISS >= most;
    let good = ledger.good_bytes(first, seen.read_to);
    let ended = seen.islands_are_sentinels || good as f64 <= MAX_INTACT_SHARE * (seen.read_to - first) as f64;
    ended && (beyond || seen.islands >= 2 && seen.islands_are_sentinels)
}

/// True if everything from one address on is lost, and nothing else.
fn is_only_tail_lost(ledger: &BadRanges, seen: &PassEvidence) -> bool {
    // A cache may hold a few sentinels beyond the end; more of them contradict an end.
    if seen.sentinels_good * 10 > seen.sentinels {
        return false;
    }
    let gone = |run: &&BadRun| run.bad != BadKind::Flipped;
    let Some(first) = ledger.runs().iter().find(gone) else { return false };
    let bytes: u64 = ledger.runs().iter().filter(gone).map(|run| run.end - run.start).sum();
    let tail = seen.read_to - first.start;
    bytes as f64 >= LOST_SHARE * tail as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::verify::SURE_CONFIDENCE;
    use cardscope_model::verify::SectorFound;
    use cardscope_probing::bad_ranges::SectorRun as Found;

    const MIB: u64 = 1 << 20;

    fn ledger(read: u64, bad: &[(u64, u64, SectorFound)]) -> BadRanges {
        let mut ledger = BadRanges::default();
        ledger.read = read;
        bad.iter().for_each(|(start, end, found)| {
            ledger.add_run(&Found { start: *start, end: *end, result: *found })
        });
        ledger
    }

    fn seen(bytes: u64) -> PassEvidence {
        PassEvidence {
            card_bytes: bytes,
            written: bytes,
            read_to: bytes,
            accepted_to: bytes,
            ..PassEvidence::default()
        }
    }

    fn judge_all(ledger: &BadRanges, seen: PassEvidence) -> Verification {
        judge_pass(ledger, &PassEvidence { wrap: wrap_period(ledger, &seen), ..seen })
    }

    const ZERO: SectorFound = SectorFound::Constant { byte: 0 };

    #[test]
    fn lost_end_is_limbo_and_hole_is_damage() {
        let tail = judge_pass(&ledger(64 * MIB, &[(10 * MIB, 64 * MIB, ZERO)]), &seen(64 * MIB));
        assert_eq!((tail.verdict, tail.usable_bytes), (Verdict::Limbo, Some(10 * MIB)));
        let hole = judge_pass(&ledger(64 * MIB, &[(10 * MIB, 11 * MIB, ZERO)]), &seen(64 * MIB));
        assert_eq!((hole.verdict, hole.good_bytes), (Verdict::Damaged, Some(63 * MIB)));
    }

    #[test]
    fn end_at_a_reader_limit_accuses_the_reader() {
        let (all, end) = (1 << 38, 1 << 37);
        let judged = judge_pass(&ledger(all, &[(end, all, ZERO)]), &seen(all));
        assert_eq!((judged.verdict, judged.usable_bytes), (Verdict::ReaderSuspect, Some(end)));
    }

    #[test]
    fn wrap_period_is_the_common_divisor_of_distances() {
        // 100 MiB with a wrap at 30 MiB + 512 bytes: the last write to each place is good.
        let wrap = 30 * MIB + 512;
        let elsewhere = |from: u64, k: u64| SectorFound::Elsewhere { address: from + k * wrap };
        let last = 100 * MIB - 3 * wrap;
        let mut bad = vec![(0, last, elsewhere(0, 3)), (last, wrap, elsewhere(last, 2))];
        bad.push((wrap, wrap + last, elsewhere(wrap, 2)));
        bad.push((wrap + last, 2 * wrap, elsewhere(wrap + last, 1)));
        bad.push((2 * wrap, 2 * wrap + last, elsewhere(2 * wrap, 1)));
        let judged = judge_all(&ledger(100 * MIB, &bad), seen(100 * MIB));
        assert_eq!((judged.verdict, judged.wrap_bytes), (Verdict::Wraparound, Some(wrap)));
        assert_eq!((judged.usable_bytes, judged.good_bytes), (Some(wrap), Some(wrap)));
    }

    #[test]
    fn lost_blocks_with_foreign_data_are_no_wrap() {
        // Beyond 10 MiB each block shows the content of its cache slot: data of a later address.
        let elsewhere = SectorFound::Elsewhere { address: 60 * MIB };
        let judged = judge_all(&ledger(64 * MIB, &[(10 * MIB, 64 * MIB, elsewhere)]), seen(64 * MIB));
        // A wrap of 50 MiB would look the same after its first 10 MiB, but these are intact.
        assert_eq!((judged.verdict, judged.usable_bytes), (Verdict::Limbo, Some(10 * MIB)));
    }

    #[test]
    fn direct_mapped_cache_is_no_wrap() {
        // Written to 40 MiB, with markers beyond; from 10 MiB on each block shows a marker some cache sizes further
        // on.
        let slot = |n: u64| (n * MIB, (n + 1) * MIB, SectorFound::Elsewhere { address: 60 * MIB });
        let bad: Vec<_> = (10..39).map(slot).collect();
        let ended = PassEvidence { written: 40 * MIB, read_to: 40 * MIB, ..seen(64 * MIB) };
        let judged = judge_all(&ledger(40 * MIB, &bad), ended);
        assert_eq!((judged.wrap_bytes, judged.usable_bytes), (None, Some(10 * MIB)));
        // The same on a card that repeats: the first address shows data written at 40 MiB.
        let marker = (4096, 8192, SectorFound::Elsewhere { address: 40 * MIB + 4096 });
        let judged = judge_all(&ledger(40 * MIB, &[marker, (30 * MIB, 40 * MIB, ZERO)]), ended);
        assert_eq!((judged.verdict, judged.wrap_bytes), (Verdict::Chain, Some(40 * MIB)));
    }

    #[test]
    fn errors_beyond_an_end_are_damage() {
        let errors = ledger(64 * MIB, &[(10 * MIB, 64 * MIB, SectorFound::Error)]);
        let judged = judge_pass(&errors, &PassEvidence { accepted_to: 10 * MIB, ..seen(64 * MIB) });
        assert_eq!((judged.verdict, judged.fails_beyond), (Verdict::Damaged, true));
        assert_eq!(judged.usable_bytes, Some(10 * MIB));
        let judged = judge_pass(&errors, &PassEvidence { accepted_to: 10 * MIB + 512, ..seen(64 * MIB) });
        assert_eq!((judged.verdict, judged.fails_beyond), (Verdict::Limbo, false), "one write was swallowed");
    }

    #[test]
    fn losses_in_long_requests_only_stay_below_accusation() {
        let lost = ledger(64 * MIB, &[(10 * MIB, 64 * MIB, ZERO)]);
        let of = |sentinels| {
            judge_pass(&lost, &PassEvidence { kept_in_sectors: true, sentinels, ..seen(64 * MIB) })
        };
        assert_eq!(of(0).verdict, Verdict::Limbo);
        assert!(of(0).confidence < SURE_CONFIDENCE);
        assert!(of(8).confidence >= SURE_CONFIDENCE, "short requests were lost as well");
    }

    #[test]
    fn losses_since_an_earlier_pass_have_no_usable_bytes() {
        let recheck = PassEvidence { recheck: true, ..seen(64 * MIB) };
        let of = |bad: &[(u64, u64, SectorFound)]| {
            let judged = judge_pass(&ledger(64 * MIB, bad), &recheck);
            (judged.verdict, judged.usable_bytes)
        };
        for found in [ZERO, SectorFound::Flipped { bits: 1 }, SectorFound::Error] {
            for start in [0, 5 * MIB] {
                assert_eq!(of(&[(start, start + 4096, found)]), (Verdict::Damaged, None), "{found:?}");
            }
        }
        // Data of a file system, or an erased start.
        let other = SectorFound::Other;
        assert_eq!(of(&[(0, 4096, other), (MIB, 2 * MIB, ZERO)]), (Verdict::Inconclusive, None));
        assert_eq!(of(&[(0, 8 * MIB, ZERO)]), (Verdict::Inconclusive, None));
        let sevens = SectorFound::Constant { byte: 7 };
        assert_eq!(of(&[(5 * MIB, 6 * MIB, sevens)]), (Verdict::Inconclusive, None));
    }

    #[test]
    fn hole_before_the_limit_is_not_overcommitted() {
        let limited = |good| PassEvidence {
            written: 32 * MIB,
            read_to: 32 * MIB,
            sentinels: 32,
            sentinels_good: good,
            ..seen(64 * MIB)
        };
        let hole = ledger(32 * MIB, &[(5 * MIB, 6 * MIB, ZERO)]);
        assert_eq!(judge_pass(&hole, &limited(32)).verdict, Verdict::Damaged);
        let end = ledger(32 * MIB, &[(25 * MIB, 32 * MIB, ZERO)]);
        assert_eq!(judge_pass(&end, &limited(32)).verdict, Verdict::Overcommitted);
        assert_eq!(judge_pass(&end, &limited(20)).verdict, Verdict::Damaged);
        assert_eq!(judge_pass(&end, &limited(0)).verdict, Verdict::Limbo);
    }

    #[test]
    fn unread_bytes_leave_the_verdict_inconclusive() {
        let half = PassEvidence { read_to: 32 * MIB, ..seen(64 * MIB) };
        let judged = judge_pass(&ledger(32 * MIB, &[]), &half);
        assert_eq!((judged.verdict, judged.usable_bytes), (Verdict::Inconclusive, None));
    }
}
