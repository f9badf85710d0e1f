//! Accuracy of the causes in long runs on simulated cards, in virtual time. `UPDATE_DOCS=1` updates the table in
//! `docs/accuracy.md`.

use cardscope_endurance::probe::sustain::{
    QUEUE_DEPTH, SEQUENTIAL_BLOCK, SampleRecorder, SustainOptions, run_sustain,
};
use cardscope_engine::event::Silent;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::io_driver::{IoDriver, ProbeStop};
use cardscope_engine::target::{Target, TargetRegion};
use cardscope_model::random::SeededRandom;
use cardscope_model::sustain::{
    EventKind, MeasuredRun, SustainSample, TemperatureLimits, WorkloadKind, WorkloadPattern,
};
use cardscope_probing::context;
use cardscope_probing::write_scope::WriteScope;
use cardscope_simulator::SimTarget;
use cardscope_testkit::measured_tables::update_table;
use std::fmt::Write;
use std::time::Duration;

/// Cards of each kind. CARDSCOPE_LONG tests ten times as many.
const CARDS: u64 = 12;

struct Forgets;

impl SampleRecorder for Forgets {
    fn sample(&mut self, _: &SustainSample) -> Result<(), ProbeStop> {
        Ok(())
    }
}

/// Card, workload and expected causes.
struct Case {
    name: String,
    work: WorkloadKind,
    pattern: WorkloadPattern,
    seconds: u64,
    region: Option<u64>,
    expected: Vec<&'static str>,
    /// Causes that are correct as well.
    or: Option<&'static str>,
    cache_bytes: Option<f64>,
}

impl Case {
    fn new(name: String, work: WorkloadKind, seconds: u64, expected: &[&'static str]) -> Self {
        let expected = expected.to_vec();
        Case {
            name,
            work,
            pattern: WorkloadPattern::Sequential,
            seconds,
            region: None,
            expected,
            or: None,
            cache_bytes: None,
        }
    }
}

fn run(case: &Case, seed: u64) -> MeasuredRun {
    let mut target = SimTarget::open_named(&case.name).unwrap();
    let bytes = target.info().bytes;
    let nvme = target.spec().archetype.identity.nvme.as_ref();
    let celsius = |kelvin: u16| (kelvin > 0).then(|| f64::from(kelvin) - 273.0);
    let options = SustainOptions {
        limits: context::ProbeLimits {
            seed,
            region: TargetRegion { start: 0, len: case.region.unwrap_or(bytes) },
            max_write: None,
            budget: None,
        },
        work: case.work,
        pattern: case.pattern,
        duration: Duration::from_secs(case.seconds),
        bytes: None,
        max_celsius: None,
        card_limits: TemperatureLimits {
            tmt1_celsius: nvme.and_then(|n| celsius(n.tmt1_k)),
            ..TemperatureLimits::default()
        },
        card_bytes: Some(bytes),
        is_test_file: false,
    };
    let mut card =
        IoDriver::new(&mut target, &InterruptFlag::default(), SEQUENTIAL_BLOCK, QUEUE_DEPTH).unwrap();
    let mut measured = MeasuredRun::default();
    run_sustain(&mut card, WriteScope::new(None), &options, &mut Silent, &mut Forgets, &mut measured)
        .unwrap();
    measured
}

fn named(measured: &MeasuredRun) -> Vec<&'static str> {
    [
        (measured.cache_bytes.value.is_some(), "cache end"),
        (measured.throttling.is_some(), "throttling"),
        (measured.stalls.is_some(), "stalls"),
        (measured.interference.is_some(), "interference"),
    ]
    .into_iter()
    .filter_map(|(there, what)| there.then_some(what))
    .collect()
}

/// Plain cards: constant speed, and cheap cards of the published reports without cache or heat in sequential writes.
const PLAIN: [&str; 6] = [
    "constant",
    "lexar-16g-c10",
    "evo-64g-u3",
    "sandisk-extreme-16g-u3",
    "proplus-128g-a2",
    "ultra-64g-tlc24",
];

fn plain(random: &mut SeededRandom, seed: u64) -> Case {
    let name = format!("sim:{}?seed={seed}", PLAIN[random.below_usize(PLAIN.len())]);
    let work = [WorkloadKind::Write, WorkloadKind::Read, WorkloadKind::Mixed][random.below_usize(3)];
    Case::new(name, work, 60 + random.below_usize(240) as u64, &[])
}

/// Cards with a cache of any size, 1.6 to 3.6 times as fast as without.
fn cache(random: &mut SeededRandom, seed: u64) -> Case {
    let (card, after, least, most) = [
        ("pro-64g-u3", 20.0 + 30.0 * random.unit_interval(), 0.4, 4.0),
        ("usb-stick-tlc", 12.0 + 12.0 * random.unit_interval(), 0.5, 4.0),
        ("sandisk-256g-express", 150.0 + 80.0 * random.unit_interval(), 5.0, 60.0),
    ][random.below_usize(3)];
    let before = after * (1.6 + 2.0 * random.unit_interval());
    let bytes = ((least + (most - least) * random.unit_interval()) * 1e9) as u64 / 4096 * 4096;
    let name = format!(
        "sim:{card}?seed={seed}&cache.clean_bytes={bytes}&cache.reopen_bytes={bytes}&cache.write_mb_s={before:.1}&write.mb_s={after:.1}"
    );
    let seconds = (bytes as f64 / 1e6 / before * 2.0) as u64 + 120;
    Case { cache_bytes: Some(bytes as f64), ..Case::new(name, WorkloadKind::Write, seconds, &["cache end"]) }
}

fn heat(random: &mut SeededRandom, seed: u64) -> Case {
    let card = ["lexar-1tb-express", "adata-256g-express"][random.below_usize(2)];
    let (ambient, capacity) = (20 + random.below_usize(12), 3.0 + 5.0 * random.unit_interval());
    let name = format!(
        "sim:{card}?seed={seed}&cooling=passive&thermal.ambient_c={ambient}&thermal.capacity_j_per_k={capacity:.1}"
    );
    Case::new(name, WorkloadKind::Read, 1800, &["throttling"])
}

fn both(random: &mut SeededRandom, seed: u64) -> Case {
    let clean = 20_000_000_000 + random.below_usize(60_000_000_000) as u64;
    let name = format!(
        "sim:lexar-1tb-express?seed={seed}&cooling=passive&cache.clean_bytes={clean}&cache.reopen_bytes={clean}&thermal.ambient_c=30"
    );
    let cache_bytes = Some(clean as f64);
    Case { cache_bytes, ..Case::new(name, WorkloadKind::Write, 2400, &["cache end", "throttling"]) }
}

/// Hot enough to oscillate between the temperature limits TMT1 and TMT2 for most of the run.
fn two_limits(random: &mut SeededRandom, seed: u64) -> Case {
    let (ambient, heavy) = (28 + random.below_usize(10), 0.25 + 0.25 * random.unit_interval());
    let (kelvin, capacity) = (0.5 + 2.0 * random.unit_interval(), 3.0 + 3.0 * random.unit_interval());
    let name = format!(
        "sim:lexar-1tb-express?seed={seed}&cooling=passive&thermal.ambient_c={ambient}&thermal.heavy={heavy:.2}&thermal.hysteresis_k={kelvin:.1}&thermal.capacity_j_per_k={capacity:.1}"
    );
    let (work, expected) = match random.below_usize(2) {
        0 => (WorkloadKind::Read, &["throttling"][..]),
        _ => (WorkloadKind::Write, &["cache end", "throttling"][..]),
    };
    Case::new(name, work, 2400, expected)
}

/// True if a cache event has no change of speed, or is a recovery, which cannot occur during continuous writes.
fn is_false_cache_event(measured: &MeasuredRun) -> bool {
    measured.events.iter().any(|event| match event.kind {
        EventKind::CacheEnd => event.evidence[0].1 == event.evidence[1].1,
        kind => kind == EventKind::CacheRecovered,
    })
}

fn bursts(random: &mut SeededRandom, seed: u64) -> Case {
    let card = PLAIN[random.below_usize(PLAIN.len())];
    let (every, share) = (12 + random.below_usize(30), 0.3 + 0.35 * random.unit_interval());
    let lasts = 2 + random.below_usize(every / 3);
    let name = format!(
        "sim:{card}?seed={seed}&disturb_every_s={every}&disturb_for_s={lasts}&disturb_share={share:.2}"
    );
    Case::new(name, [WorkloadKind::Write, WorkloadKind::Read][random.below_usize(2)], 240, &["interference"])
}

/// Logs that are cleared unit by unit, 0.1 to 0.5 s each.
fn merges(random: &mut SeededRandom, seed: u64) -> Case {
    let card = ["samsung-32g-c10", "sony-32g-u3", "toshiba-16g-c10"][random.below_usize(3)];
    let name = format!("sim:{card}?seed={seed}");
    // A log of 1 MiB is full within seconds. Then a merge of 0.17 s, shorter than a slice, comes with every fourth or every
    // single write, so the end of the fast log is a correct answer too.
    let or = (card == "toshiba-16g-c10").then_some("cache end");
    Case {
        or,
        pattern: WorkloadPattern::Random,
        region: Some((256 + random.below_usize(768) as u64) << 20),
        ..Case::new(name, WorkloadKind::Write, 240, &["stalls"])
    }
}

type Draw = fn(&mut SeededRandom, u64) -> Case;

const KINDS: [(&str, Draw); 7] = [
    ("plain cards", plain),
    ("a cache", cache),
    ("no fan", heat),
    ("a cache and no fan", both),
    ("two limits of heat", two_limits),
    ("somebody else on the bus", bursts),
    ("random writes over a log", merges),
];

#[test]
fn sustain_names_the_simulated_causes() {
    let count = if cardscope_testkit::is_long() { 10 * CARDS } else { CARDS };
    let mut table = String::from(
        "| cards with | cards | named right | cache within 10 % |\n| --- | ---: | ---: | ---: |\n",
    );
    let mut bad = Vec::new();
    for (number, (what, draw)) in KINDS.iter().enumerate() {
        let (mut right, mut sized, mut caches) = (0, 0, 0);
        for seed in 0..count {
            let case = draw(&mut SeededRandom::from_state(seed * 100 + number as u64), seed + 1);
            let found = run(&case, seed);
            let reported = named(&found);
            let ok = (reported == case.expected || case.or.is_some_and(|or| reported == [or]))
                && !is_false_cache_event(&found);
            right += u64::from(ok);
            if !ok {
                println!("{}: {:?}, expected {:?}: {:?}", case.name, reported, case.expected, found.events);
            }
            if let Some(truth) = case.cache_bytes {
                caches += 1;
                let near = found.cache_bytes.value.is_some_and(|v| (v as f64 / truth - 1.0).abs() <= 0.1);
                sized += u64::from(near);
                if !near {
                    println!("{}: {:?} of {truth}", case.name, found.cache_bytes.value);
                }
            }
        }
        let percent = |n: u64, of: u64| format!("{:.1} %", n as f64 * 100.0 / of as f64);
        let cache = if caches > 0 { percent(sized, caches) } else { String::new() };
        let _ = writeln!(table, "| {what} | {count} | {} | {cache} |", percent(right, count));
        // With a dozen cards one miss is 8 %.
        let most_wrong = if number == 0 { count / 100 } else { (count / 20).max(1) };
        if count - right > most_wrong || caches - sized > (count / 20).max(1) {
            bad.push(*what);
        }
    }
    update_table("accuracy", "causes: cards", &table);
    assert!(bad.is_empty(), "{bad:?}\n{table}");
}
