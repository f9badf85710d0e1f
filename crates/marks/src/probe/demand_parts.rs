//! Demands of a mark, each with the measured figure.

use super::bus;
use super::margin::{DemandFacts, FigureMethod, lowest_at_best, mean_at_best, without_rig};
use super::random::{is_deciding, worth_a_queue};
use super::sequential::{LARGE, recording_units};
use super::tester::CapacityFamily;
use cardscope_model::mark_result::{
    MarkDemand, MarkOutcome, MarksMeasured, RandomRate, SequentialWrite, TestForm,
};
use cardscope_model::units::{KIB, MIB};
use cardscope_sd::mark::Mark;
use cardscope_statistics::sprt;

/// Relative distance from the demand within which sequential speeds, and random rates, may fall on either side next
/// time.
const CLOSE_SPEED: f64 = 0.05;
const CLOSE_RATE: f64 = 0.1;
/// Smallest gain of reads at queue depth 32 that shows a used queue (docs/reference/flash.md#queues).
const QUEUE_GAIN: f64 = 1.6;
/// Average and longest time of a round of small writes, in ms (docs/reference/sd.md#speed-classes).
const SMALL_AVERAGE_MS: f64 = 100.0;
const SMALL_LONGEST_MS: f64 = 750.0;
/// Confidence of a figure that is clearly on one side.
const CLEAR_CONFIDENCE: f64 = 0.95;
/// Confidence of a figure that may be on either side.
const EVEN_CONFIDENCE: f64 = 0.5;
/// Longest write and read of an E class, in ms (docs/reference/sd.md#sd-express-classes).
const EXPRESS_WRITE_MS: f64 = 250.0;
const EXPRESS_READ_MS: f64 = 100.0;
const NEEDS_ERASE: &str = "it writes 1.2 GB; use `check --erase`";
const NO_TIME_IN_ORDER: &str = "no time or write limit left for an allocation unit";
const NO_TIME_AT_RANDOM: &str = "no time or write limit left (it needs up to 30 s)";
/// Share of an I/O's allowed time above which the host is in the way.
const HOST_SHARE: f64 = 0.5;
/// Volume of sustained writing in the specification.
const SUSTAINED: u64 = 1024 * MIB;

pub(super) fn demand_parts(mark: Mark, facts: &DemandFacts<'_>) -> Vec<MarkDemand> {
    match mark.letter() {
        'A' => application_parts(mark, facts),
        'E' => express_parts(mark, facts),
        _ => class_parts(mark, facts),
    }
}

fn class_parts(mark: Mark, facts: &DemandFacts<'_>) -> Vec<MarkDemand> {
    let found = facts.found;
    let demand = mark.demand().write_mb_s;
    let io = recording_unit(mark, facts.family);
    let same = |w: &&SequentialWrite| w.io_bytes == u64::from(io);
    let writing = found.writing.iter().find(same).or(found.writing.first());
    let mut parts = vec![writing.map_or_else(
        || unmeasured_part("writing in order", demand, "MB/s", NO_TIME_IN_ORDER),
        |w| sequential_part(mark, facts, w),
    )];
    parts.extend(after_cache_part(mark, facts));
    parts.extend(small_write_parts(mark, facts));
    parts.extend(single_read_part(mark, facts));
    parts
}

fn recording_unit(mark: Mark, family: CapacityFamily) -> u32 {
    let (c4, c6) = recording_units(family);
    match (mark.letter(), mark.number()) {
        ('C', 2 | 4) => c4,
        ('C', 6) => c6,
        _ => LARGE,
    }
}

/// Worst range of sequential writing: 4 MiB for C and U, a speed unit for V.
fn sequential_part(mark: Mark, facts: &DemandFacts<'_>, w: &SequentialWrite) -> MarkDemand {
    let found = facts.found;
    let demand = mark.demand().write_mb_s;
    let video = mark.letter() == 'V' && !w.speed_units_mb_s.is_empty();
    let (speeds, range) = match video {
        true => (w.speed_units_mb_s.clone(), w.speed_unit_bytes),
        false => (w.units.iter().map(|unit| unit.worst_4mib_mb_s).collect(), w.au_bytes.min(4 * MIB)),
    };
    let worst = speeds.iter().copied().fold(f64::INFINITY, f64::min);
    let what = format!("writing {} KiB in order, worst {} MiB", w.io_bytes / KIB, mib_text(range));
    let mut part = at_least(what, demand, worst, "MB/s", CLOSE_SPEED);
    let of_unit = sprt::test_rate(&speeds, demand).null_probability();
    part.confidence = confidence_in(part.outcome, of_unit);
    let io = w.io_bytes as f64 / 1e6;
    let at_best = io * without_rig(lowest_at_best(&speeds, worst) / io, found.null_command_s);
    allow_in_order(part, at_best, mark, facts)
}

/// Formats whole MiB, or one decimal.
fn mib_text(bytes: u64) -> String {
    let decimals = usize::from(!bytes.is_multiple_of(MIB));
    format!("{:.decimals$}", bytes as f64 / MIB as f64)
}

fn after_cache_part(mark: Mark, facts: &DemandFacts<'_>) -> Option<MarkDemand> {
    let speed = facts.found.after_cache_mb_s?;
    let what = "writing in order behind the card's cache".to_owned();
    let part = at_least(what, mark.demand().write_mb_s, speed, "MB/s", CLOSE_SPEED);
    Some(allow_in_order(part, lowest_at_best(&[speed], speed), mark, facts))
}

/// Rounds of small writes. They count only at the start of the card, where file systems write and many cards are
/// faster.
fn small_write_parts(mark: Mark, facts: &DemandFacts<'_>) -> Vec<MarkDemand> {
    let small = facts.found.small_writes.as_ref().filter(|small| small.at_start);
    let Some(small) = small else { return Vec::new() };
    let of = |what: &str, limit: f64, measured: f64, method: FigureMethod| {
        let what = format!("{what} of a file system's small writes");
        let mut part = at_most(what, limit, measured * 1e3, "ms");
        allow_for_method(&mut part, measured * 1e3, method, facts);
        part
    };
    let mut parts = vec![of("average", SMALL_AVERAGE_MS, small.worst_average_s, FigureMethod::SmallWrites)];
    if mark.letter() != 'U' {
        parts.push(of("longest round", SMALL_LONGEST_MS, small.longest_s, FigureMethod::Longest));
    }
    parts
}

/// Median of single 4 KiB reads. The longest would show background activity of the host.
fn single_read_part(mark: Mark, facts: &DemandFacts<'_>) -> Option<MarkDemand> {
    let (median, _) = facts.found.read_4k_s?;
    let limit = if facts.family == CapacityFamily::Extended || mark.letter() != 'C' { 20.0 } else { 12.0 };
    let mut part = at_most("single read of 4 KiB, median".to_owned(), limit, median * 1e3, "ms");
    let at_best = median - facts.found.null_command_s.unwrap_or_default();
    allow_for_method(&mut part, at_best * 1e3, FigureMethod::RandomRead, facts);
    Some(part)
}

fn application_parts(mark: Mark, facts: &DemandFacts<'_>) -> Vec<MarkDemand> {
    let demand = mark.demand();
    let reads = demand.random_read_iops.map(|least| random_part(mark, facts, false, least));
    let writes = demand.random_write_iops.map(|least| random_part(mark, facts, true, least));
    [sustained_part(mark, facts)].into_iter().chain(reads).chain(writes).collect()
}

fn sustained_part(mark: Mark, facts: &DemandFacts<'_>) -> MarkDemand {
    let found = facts.found;
    let demand = mark.demand().write_mb_s;
    let first = found.writing.first().map(|w| {
        let what = format!("sustained writing over {} MiB", w.bytes / MIB);
        (what, w.mb_s, w.units.iter().map(|unit| unit.mb_s).collect(), w.bytes)
    });
    let what = "sustained writing over 1 GiB of the full card";
    let full = found.full_card_mb_s.map(|mb_s| (what.to_owned(), mb_s, vec![mb_s], SUSTAINED));
    let Some((what, mb_s, units, bytes)) = full.or(first) else {
        return unmeasured_part("sustained writing", demand, "MB/s", NO_TIME_IN_ORDER);
    };
    let part = at_least(what, demand, mb_s, "MB/s", CLOSE_SPEED);
    let mut part = allow_in_order(part, mean_at_best(&units, mb_s), mark, facts);
    if part.because.is_none() && bytes < SUSTAINED {
        part.because = Some("the specification writes 1 GiB, as `check --erase` does".to_owned());
    }
    part
}

/// Random I/O in the test area: for A2 also with the queue, if the host uses it.
fn random_part(mark: Mark, facts: &DemandFacts<'_>, write: bool, least: f64) -> MarkDemand {
    let found = facts.found;
    let what = if write { "random 4 KiB writes" } else { "random 4 KiB reads" };
    let queued = deciding_rate(found, write, true).filter(|_| mark.number() >= 2);
    let single = deciding_rate(found, write, false);
    let best = [queued, single].into_iter().flatten().max_by(|a, b| a.iops.total_cmp(&b.iops));
    let Some(rate) = best else { return unmeasured_part(what, least, "IOPS", NO_TIME_AT_RANDOM) };
    let depth = rate.depth;
    let what = format!("{what} over {} MiB, queue depth {depth}", rate.span_bytes / MIB);
    // The specification demands the mean of ten minutes, of which this is no sample.
    let specified = found.form == TestForm::Specification;
    let mut part = at_least(what, least, rate.iops, "IOPS", if specified { 0.0 } else { CLOSE_RATE });
    part.without_queue = single.filter(|_| depth > 1).map(|alone| alone.iops);
    let met = sprt::test_rate(&rate.slices_iops, least).null_probability();
    part.confidence = confidence_in(part.outcome, met);
    let why = queue_unused_reason(mark, found, queued.is_some());
    let hidden = || slow_host_reason(found, least).or_else(|| bus::hidden_reason(found, mark, 10.0));
    let why = why.or_else(|| not_testable(hidden()));
    let null = found.null_command_s.filter(|_| depth == 1);
    let mean = if specified { rate.iops } else { mean_at_best(&rate.slices_iops, rate.iops) };
    let at_best = without_rig(mean, null);
    let method = match write {
        true => FigureMethod::RandomWrite { preconditioned: rate.preconditioned },
        false => FigureMethod::RandomRead,
    };
    allow_for_method(&mut part, at_best, method, facts);
    withdraw_miss(&mut part, why);
    part.because = part.because.take().or_else(|| conditions_text(found, rate));
    part
}

/// Rate over the deciding area, with a queue (`deep`) or single.
fn deciding_rate(found: &MarksMeasured, write: bool, deep: bool) -> Option<&RandomRate> {
    found.random.iter().find(|r| r.write == write && (r.depth > 1) == deep && is_deciding(found, r))
}

/// Reason why A2 cannot be judged as missed: it is promised with the card's queue only.
fn queue_unused_reason(mark: Mark, found: &MarksMeasured, tried: bool) -> Option<Unjudged> {
    if mark.number() < 2 || tried && found.bus.queue == Some(true) {
        return None;
    }
    if found.bus.queue == Some(false) {
        let why = "this host does not use the card's command queue, which A2 needs";
        return not_testable(Some(why.to_owned()));
    }
    if !tried {
        let why = match worth_a_queue(found) {
            true => "no time left (`--budget`)",
            false => "the card does not claim A2 and does not reach A1",
        };
        return Some((MarkOutcome::NotTested, format!("not measured with the card's queue: {why}")));
    }
    let Some(gain) = queue_gain(found) else {
        let why = "it is unknown whether this host uses the card's command queue";
        return not_testable(Some(why.to_owned()));
    };
    let why = "A2 needs the card's command queue, which has no effect here: reads with a queue are";
    not_testable((gain < QUEUE_GAIN).then(|| format!("{why} {gain:.2} × as fast")))
}

/// Ratio of reads with a queue to reads without.
fn queue_gain(found: &MarksMeasured) -> Option<f64> {
    let of = |deep: bool| deciding_rate(found, false, deep).map(|rate| rate.iops);
    Some(of(true)? / of(false).filter(|iops| *iops > 0.0)?)
}

fn slow_host_reason(found: &MarksMeasured, least: f64) -> Option<String> {
    let null = found.null_command_s.filter(|null| *null > HOST_SHARE / least)?;
    let (takes, allows) = (null * 1e3, 1e3 / least);
    Some(format!("reader and host alone take {takes:.2} ms per I/O, and the mark allows {allows:.2} ms"))
}

fn conditions_text(found: &MarksMeasured, rate: &RandomRate) -> Option<String> {
    if found.form == TestForm::Specification {
        return None;
    }
    let area = match (rate.preconditioned, rate.write) {
        (true, _) => "an area just written sequentially",
        (false, true) => "the area as found",
        (false, false) => "the area as found, of which unwritten parts may be faster",
    };
    Some(format!("in {area}, on a card that was not filled to 75 % before"))
}

fn express_parts(mark: Mark, facts: &DemandFacts<'_>) -> Vec<MarkDemand> {
    let found = facts.found;
    let demand = mark.demand();
    let mut parts = Vec::new();
    let write = (true, Some(demand.write_mb_s), EXPRESS_WRITE_MS);
    for (write, least, longest) in [write, (false, demand.read_mb_s, EXPRESS_READ_MS)] {
        let (Some(least), what) = (least, if write { "writing" } else { "reading" }) else { continue };
        let Some(stream) = found.streams.iter().find(|s| s.write == write) else {
            let erases = write && found.form == TestForm::Short;
            let why = if erases { NEEDS_ERASE } else { "it was not measured" };
            parts.push(unmeasured_part(&format!("{what}, worst 600 MB"), least, "MB/s", why));
            continue;
        };
        let title = format!("{what} with a full queue, worst 600 MB of {}", stream.bytes / 1_000_000);
        let part = at_least(title, least, stream.worst_mb_s, "MB/s", CLOSE_SPEED);
        let at_best = lowest_at_best(&[stream.worst_mb_s], stream.worst_mb_s);
        parts.push(allow_in_order(part, at_best, mark, facts));
        let title = format!("longest time between two completions of {what}");
        let mut part = at_most(title, longest, stream.longest_s * 1e3, "ms");
        allow_for_method(&mut part, stream.longest_s * 1e3, FigureMethod::Longest, facts);
        parts.push(part);
    }
    parts.extend(after_cache_part(mark, facts));
    parts
}

fn at_least(what: String, demanded: f64, measured: f64, unit: &str, close: f64) -> MarkDemand {
    measured_part(what, demanded, measured, unit, measured / demanded - 1.0, close)
}

fn at_most(what: String, demanded: f64, measured: f64, unit: &str) -> MarkDemand {
    measured_part(what, demanded, measured, unit, 1.0 - measured / demanded, CLOSE_RATE)
}

fn measured_part(what: String, needed: f64, got: f64, unit: &str, margin: f64, close: f64) -> MarkDemand {
    let outcome = if margin >= 0.0 { MarkOutcome::Met } else { MarkOutcome::Missed };
    let borderline = margin.abs() < close;
    MarkDemand {
        what,
        demanded: needed,
        measured: Some(got),
        unit: unit.to_owned(),
        outcome,
        margin: Some(margin),
        borderline,
        confidence: if borderline { 0.7 } else { CLEAR_CONFIDENCE },
        ..MarkDemand::default()
    }
}

fn unmeasured_part(what: &str, demanded: f64, unit: &str, because: &str) -> MarkDemand {
    MarkDemand {
        what: what.to_owned(),
        demanded,
        unit: unit.to_owned(),
        because: Some(because.to_owned()),
        ..MarkDemand::default()
    }
}

/// Turns a miss into borderline if the measurement or its method may explain it. `at_best` is the bound by the
/// measurement alone.
fn allow_for_method(part: &mut MarkDemand, at_best: f64, method: FigureMethod, facts: &DemandFacts<'_>) {
    if part.outcome != MarkOutcome::Missed {
        return;
    }
    let (cost, why) = method.tolerated_cost(facts);
    let (at_best, enough) = match part.unit.as_str() {
        "ms" => (at_best / (1.0 + cost), at_best / (1.0 + cost) <= part.demanded),
        _ => (at_best * (1.0 + cost), at_best * (1.0 + cost) >= part.demanded),
    };
    part.at_best = Some(at_best).filter(|at_best| at_best.is_finite());
    if enough {
        part.outcome = MarkOutcome::Borderline;
        part.borderline = true;
        part.confidence = EVEN_CONFIDENCE;
        part.because = Some(why);
    }
}

/// Judges a miss of sequential I/O by its method and by the bus.
fn allow_in_order(mut part: MarkDemand, at_best: f64, mark: Mark, facts: &DemandFacts<'_>) -> MarkDemand {
    allow_for_method(&mut part, at_best, FigureMethod::InOrder, facts);
    let why = bus::hidden_reason(facts.found, mark, part.demanded);
    withdraw_miss(&mut part, not_testable(why));
    part
}

/// Outcome and reason of a demand that could not be judged.
type Unjudged = (MarkOutcome, String);

fn not_testable(why: Option<String>) -> Option<Unjudged> {
    why.map(|why| (MarkOutcome::NotTestable, why))
}

/// Withdraws a miss that has another reason than the card.
fn withdraw_miss(part: &mut MarkDemand, why: Option<Unjudged>) {
    if let (MarkOutcome::Missed | MarkOutcome::Borderline, Some((outcome, why))) = (part.outcome, why) {
        part.outcome = outcome;
        part.because = Some(why);
    }
}

/// Confidence in an outcome, from the probability that the demand is met.
fn confidence_in(outcome: MarkOutcome, met: f64) -> f64 {
    let right = if outcome == MarkOutcome::Missed { 1.0 - met } else { met };
    right.clamp(0.5, 0.99)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::options::TEST_AREA;
    use cardscope_model::mark_result::{ClaimedBy, MarkClaim, PartlyUsed, SmallWrites};

    fn rate(write: bool, depth: u32, iops: f64) -> RandomRate {
        RandomRate {
            write,
            depth,
            iops,
            span_bytes: TEST_AREA,
            slices_iops: vec![iops; 8],
            ..RandomRate::default()
        }
    }

    /// Card over PCIe, whose queue is always used, claimed to be A2.
    fn claimed_a2(random: Vec<RandomRate>) -> MarksMeasured {
        let mut found = MarksMeasured { random, ..MarksMeasured::default() };
        found.claims.push(MarkClaim { mark: "A2".parse().unwrap(), by: ClaimedBy::Label });
        found.bus.mode = Some("PCIe 3.0 x1".to_owned());
        found.bus.pcie = true;
        found.bus.queue = Some(true);
        found
    }

    fn all(mark: &str, found: &MarksMeasured) -> Vec<MarkDemand> {
        let facts = DemandFacts { found, family: CapacityFamily::High, in_file: false };
        demand_parts(mark.parse().unwrap(), &facts)
    }

    fn rates(found: &MarksMeasured) -> (MarkDemand, MarkDemand) {
        let parts = all("A2", found);
        (parts[1].clone(), parts[2].clone())
    }

    #[test]
    fn a2_needs_a_queue_measurement_to_be_missed() {
        let alone = vec![rate(false, 1, 2100.0), rate(true, 1, 700.0)];
        let (read, write) = rates(&claimed_a2(alone.clone()));
        for part in [read, write] {
            assert_eq!(part.outcome, MarkOutcome::NotTested, "{part:?}");
            let why = part.because.unwrap();
            assert_eq!(why, "not measured with the card's queue: no time left (`--budget`)");
        }
        // The test ended between reads and writes, so only the reads are judged.
        let (read, write) = rates(&claimed_a2([alone.clone(), vec![rate(false, 32, 3000.0)]].concat()));
        assert_eq!((read.outcome, write.outcome), (MarkOutcome::Missed, MarkOutcome::NotTested));
        assert_eq!(read.without_queue, Some(2100.0));
        let tried = [alone, vec![rate(false, 32, 3000.0), rate(true, 32, 900.0)]].concat();
        assert_eq!(rates(&claimed_a2(tried)).1.outcome, MarkOutcome::Missed);
    }

    #[test]
    fn a2_is_met_without_queue_if_rates_suffice() {
        let (read, write) = rates(&claimed_a2(vec![rate(false, 1, 5000.0), rate(true, 1, 2500.0)]));
        assert_eq!((read.outcome, write.outcome), (MarkOutcome::Met, MarkOutcome::Met));
    }

    #[test]
    fn a2_is_not_testable_if_queue_use_is_unknown() {
        let mut found = claimed_a2(vec![rate(false, 32, 3000.0), rate(true, 32, 900.0)]);
        (found.bus.pcie, found.bus.queue) = (false, None);
        assert_eq!(rates(&found).1.outcome, MarkOutcome::NotTestable);
    }

    #[test]
    fn small_writes_count_only_at_the_start() {
        let small = |at_start| SmallWrites { rounds: 8, worst_average_s: 0.5, longest_s: 2.0, at_start };
        let of = |at_start| {
            let found = MarksMeasured { small_writes: Some(small(at_start)), ..MarksMeasured::default() };
            all("C10", &found).into_iter().filter(|p| p.what.contains("small writes")).collect::<Vec<_>>()
        };
        assert_eq!(of(false), []);
        let at_start = of(true);
        assert_eq!(at_start.len(), 2);
        assert!(at_start.iter().all(|p| p.margin.unwrap() < 0.0));
        assert_eq!(at_start[0].outcome, MarkOutcome::Missed, "the average of eight rounds");
        assert_eq!(at_start[1].outcome, MarkOutcome::Borderline, "one slow I/O");
    }

    #[test]
    fn move_speed_is_no_demand() {
        let partly = PartlyUsed { used_share: 0.5, move_mb_s: Some(0.6), ..PartlyUsed::default() };
        let found = MarksMeasured { partly_used: Some(partly), ..MarksMeasured::default() };
        assert_eq!(all("C4", &found), all("C4", &MarksMeasured::default()));
    }
}
