//! Long runs on simulated cards, compared with the parameters of the card.

use cardscope_endurance::probe::sustain::{
    QUEUE_DEPTH, SEQUENTIAL_BLOCK, SampleRecorder, SustainOptions, run_sustain,
};
use cardscope_engine::content::IoContent;
use cardscope_engine::event::Silent;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::io_driver::{IoDriver, ProbeStop, split_extents};
use cardscope_engine::target::{Target, TargetRegion};
use cardscope_model::card_map::property::PropertyStatus;
use cardscope_model::sustain::{
    EventKind, MeasuredRun, RunPhase, SustainSample, TemperatureLimits, WorkloadKind, WorkloadPattern,
};
use cardscope_probing::context;
use cardscope_probing::write_scope::WriteScope;
use cardscope_simulator::SimTarget;
use std::time::{Duration, Instant};

struct DiscardSamples(usize);

impl SampleRecorder for DiscardSamples {
    fn sample(&mut self, _: &SustainSample) -> Result<(), ProbeStop> {
        self.0 += 1;
        Ok(())
    }
}

fn options(target: &SimTarget, work: WorkloadKind, seconds: u64) -> SustainOptions {
    let bytes = target.info().bytes;
    let nvme = target.spec().archetype.identity.nvme.as_ref();
    let kelvin = |k: Option<u16>| k.filter(|k| *k > 0).map(|k| f64::from(k) - 273.0);
    SustainOptions {
        limits: context::ProbeLimits {
            seed: 1,
            region: TargetRegion { start: 0, len: bytes },
            max_write: None,
            budget: None,
        },
        work,
        pattern: WorkloadPattern::Sequential,
        duration: Duration::from_secs(seconds),
        bytes: None,
        max_celsius: None,
        card_limits: TemperatureLimits {
            tmt1_celsius: nvme.and_then(|n| kelvin(Some(n.tmt1_k))),
            tmt2_celsius: nvme.and_then(|n| kelvin(Some(n.tmt2_k))),
            ..TemperatureLimits::default()
        },
        card_bytes: Some(bytes),
        is_test_file: false,
    }
}

fn run_with(target: &mut SimTarget, options: &SustainOptions) -> (MeasuredRun, Result<(), ProbeStop>) {
    let mut card = IoDriver::new(target, &InterruptFlag::default(), SEQUENTIAL_BLOCK, QUEUE_DEPTH).unwrap();
    let mut measured = MeasuredRun::default();
    let mut log = DiscardSamples(0);
    let scope = WriteScope::new(None);
    let ended = run_sustain(&mut card, scope, options, &mut Silent, &mut log, &mut measured);
    assert_eq!(log.0, measured.series.len(), "each sample was kept");
    (measured, ended)
}

fn run(name: &str, work: WorkloadKind, seconds: u64) -> MeasuredRun {
    let mut target = SimTarget::open_named(name).unwrap();
    let options = options(&target, work, seconds);
    let (measured, ended) = run_with(&mut target, &options);
    ended.unwrap();
    measured
}

fn kinds(measured: &MeasuredRun) -> Vec<EventKind> {
    measured.events.iter().map(|e| e.kind).collect()
}

fn near(value: f64, truth: f64, share: f64) -> bool {
    (value / truth - 1.0).abs() <= share
}

#[test]
fn pro_64_cache_end_and_recovery_are_found() {
    let found = run("sim:pro-64g-u3", WorkloadKind::Write, 180);
    let cache = found.cache_bytes.value.unwrap();
    assert!(near(cache as f64, 600e6, 0.1), "{cache}");
    // The card file has 45.6 MB/s and 0.3 ms per command after the cache.
    assert!(near(found.after_cache_mb_s.value.unwrap(), 45.0, 0.05), "{:?}", found.after_cache_mb_s);
    assert!(found.throttling.is_none() && found.interference.is_none(), "{:?}", kinds(&found));
    // The cache is cleaned at 10 MB/s after a second of rest.
    let recovery = found.recovery.unwrap();
    assert!(!recovery.at_least && near(recovery.mb_s, 10.0, 0.4), "{recovery:?}");
}

#[test]
fn initially_full_cache_is_reported() {
    let mut target = SimTarget::open_named("sim:pro-64g-u3").unwrap();
    let mut card =
        IoDriver::new(&mut target, &InterruptFlag::default(), SEQUENTIAL_BLOCK, QUEUE_DEPTH).unwrap();
    card.write(split_extents(0, 900 << 20, SEQUENTIAL_BLOCK), IoContent::Noise, |_, _, io_error| {
        assert!(io_error.is_none())
    })
    .unwrap();
    drop(card);
    let options = options(&target, WorkloadKind::Write, 180);
    let (found, ended) = run_with(&mut target, &options);
    ended.unwrap();
    assert_eq!(found.cache_bytes.status, PropertyStatus::NotTested, "{:?}", found.cache_bytes);
    assert!(found.cache_bytes.reason.unwrap().contains("full at the start"));
    assert!(near(found.after_cache_mb_s.value.unwrap(), 45.0, 0.05), "{:?}", found.after_cache_mb_s);
}

#[test]
fn constant_card_reports_the_tested_cache_bound() {
    // 50 MB/s and 8 GB: writes alone cover more than 40 % of it, and no cache is larger; mixed with reads they cover less.
    let cases = [
        (WorkloadKind::Write, PropertyStatus::None),
        (WorkloadKind::Mixed, PropertyStatus::AtLeast),
        (WorkloadKind::Read, PropertyStatus::NotTested),
    ];
    for (work, status) in cases {
        let found = run("sim:constant", work, 120);
        let bad = [EventKind::CacheEnd, EventKind::Throttled, EventKind::StallsBegin, EventKind::Disturbed];
        assert!(!kinds(&found).iter().any(|k| bad.contains(k)), "{work:?}: {:?}", found.events);
        assert_eq!(found.cache_bytes.status, status, "{work:?}");
        assert!(found.steady_state.unwrap().reached);
    }
}

#[test]
fn lexar_throttles_without_a_fan_only() {
    let cooled = run("sim:lexar-1tb-express?cooling=active", WorkloadKind::Read, 1800);
    assert!(cooled.throttling.is_none() && cooled.max_celsius.unwrap() < 60.0, "{:?}", cooled.events);
    let hot = run("sim:lexar-1tb-express?cooling=passive", WorkloadKind::Read, 1800);
    let heat = hot.throttling.unwrap();
    // TMT1 is 81 °C; reads fall to 0.72.
    assert!((heat.at_celsius.unwrap() - 81.0).abs() <= 2.0, "{heat:?}");
    assert!(heat.t1_transitions.unwrap() > 0 && heat.confidence > 0.9);
    let slowest = heat.steps.iter().map(|s| s.speed_ratio).fold(1.0, f64::min);
    assert!((0.68..0.80).contains(&slowest), "{slowest}");
}

#[test]
fn adata_without_fan_has_heat_and_cache_end() {
    let found = run("sim:adata-256g-express?cooling=passive", WorkloadKind::Write, 7200);
    let cache = found.cache_bytes.value.unwrap() as f64;
    assert!(near(cache, 250e9, 0.1), "{cache}");
    assert!(found.throttling.is_some(), "{:?}", found.events);
}

#[test]
fn sandisk_cache_ends_after_a_third() {
    let found = run("sim:sandisk-256g-express", WorkloadKind::Write, 600);
    assert!(near(found.cache_bytes.value.unwrap() as f64, 85e9, 0.1), "{:?}", found.cache_bytes);
    assert!(found.throttling.is_none());
}

#[test]
fn bus_load_is_reported_as_interference() {
    let found = run(
        "sim:lexar-16g-c10?disturb_every_s=20&disturb_for_s=4&disturb_share=0.5",
        WorkloadKind::Write,
        200,
    );
    let other = found.interference.unwrap();
    assert!((other.ping_ratio - 2.0).abs() < 0.3, "{other:?}");
    assert!(
        found.cache_bytes.status == PropertyStatus::AtLeast && found.throttling.is_none(),
        "{:?}",
        found.events
    );
}

#[test]
fn log_merges_are_reported_as_stalls() {
    let mut target = SimTarget::open_named("sim:samsung-32g-c10").unwrap();
    let mut options = options(&target, WorkloadKind::Write, 300);
    options.pattern = WorkloadPattern::Random;
    options.limits.region.len = 1 << 30;
    let (found, ended) = run_with(&mut target, &options);
    ended.unwrap();
    let stalls = found.stalls.unwrap_or_else(|| panic!("{:?}", found.levels));
    // One merge takes 0.4 s.
    assert!(stalls.longest_s >= 0.35, "{stalls:?}");
}

#[test]
fn removed_card_keeps_the_results() {
    let mut target = SimTarget::open_named("sim:pro-64g-u3?faults.vanish_after_s=20").unwrap();
    let options = options(&target, WorkloadKind::Write, 120);
    let (found, ended) = run_with(&mut target, &options);
    assert!(matches!(ended, Err(ProbeStop::Target(_))), "{ended:?}");
    assert!(found.series.len() >= 15 && found.cache_bytes.value.is_some(), "{:?}", found.events);
}

#[test]
fn max_temp_ends_the_run() {
    let mut target = SimTarget::open_named("sim:lexar-1tb-express?cooling=passive").unwrap();
    let mut options = options(&target, WorkloadKind::Read, 3600);
    options.max_celsius = Some(70.0);
    let (found, ended) = run_with(&mut target, &options);
    ended.unwrap();
    assert_eq!((found.ended_by.as_str(), kinds(&found).contains(&EventKind::TooHot)), ("--max-temp", true));
    assert!((69.0..=72.0).contains(&found.max_celsius.unwrap()));
}

/// Runs a card, and checks that the run ends in time by the clocks of the card and of the host.
fn ends_by_itself(
    name: &str,
    work: WorkloadKind,
    pattern: WorkloadPattern,
    seconds: u64,
    at_most_s: f64,
) -> MeasuredRun {
    let mut target = SimTarget::open_named(name).unwrap();
    let options = SustainOptions { pattern, ..options(&target, work, seconds) };
    let began = Instant::now();
    let (found, ended) = run_with(&mut target, &options);
    ended.unwrap();
    assert!(began.elapsed().as_secs() < 30, "{name}: {:?}", began.elapsed());
    let took = target.now() as f64 / 1e9;
    assert!(took < at_most_s, "{name}: {took} s");
    found
}

#[test]
fn refused_io_ends_the_run() {
    let (writes, reads) = (EventKind::NoMoreWrites, EventKind::NoMoreReads);
    let cases = [
        ("faults.write_error_p=1", WorkloadKind::Write, writes, "the card accepts no more writes"),
        ("faults.write_error_p=1", WorkloadKind::Mixed, writes, "the card accepts no more writes"),
        ("faults.read_error_p=1", WorkloadKind::Read, reads, "the card answers no more reads"),
        ("faults.read_error_p=1", WorkloadKind::Mixed, reads, "the card answers no more reads"),
    ];
    for (fault, work, kind, why) in cases {
        for pattern in [WorkloadPattern::Sequential, WorkloadPattern::Random] {
            let name = format!("sim:constant?announced_bytes=1GiB&{fault}");
            let found = ends_by_itself(&name, work, pattern, 60, 20.0);
            assert_eq!(found.ended_by, why, "{name} {work:?}");
            assert!(kinds(&found).contains(&kind), "{name} {work:?}: {:?}", found.events);
            // Nothing was written, so no cache was filled.
            assert_ne!(found.cache_bytes.status, PropertyStatus::Measured);
        }
    }
}

#[test]
fn failing_writes_are_no_cache_end() {
    let name = "sim:constant?faults.write_error_p=1&faults.begin_after_bytes=1GiB";
    let found = ends_by_itself(name, WorkloadKind::Write, WorkloadPattern::Sequential, 300, 60.0);
    // 1 GiB at 50 MB/s, then no more.
    assert!(kinds(&found).contains(&EventKind::NoMoreWrites), "{:?}", found.events);
    assert!(!kinds(&found).contains(&EventKind::CacheEnd), "{:?}", found.events);
    assert_eq!(found.cache_bytes.status, PropertyStatus::AtLeast);
    let bound = found.cache_bytes.bound.unwrap();
    assert!(bound <= 1 << 30 && bound > 9 << 26, "{bound}");
}

#[test]
fn failing_reads_do_not_stop_writes() {
    let name = "sim:constant?announced_bytes=1GiB&faults.read_error_p=1";
    let found = ends_by_itself(name, WorkloadKind::Write, WorkloadPattern::Sequential, 20, 40.0);
    assert!(found.series.last().unwrap().bytes_written > 500_000_000, "{:?}", found.series.last());
}

#[test]
fn long_stalls_end_the_run_in_time() {
    // Each merge takes two minutes.
    let name = "sim:samsung-32g-c10?write.merge_s=120";
    let found = ends_by_itself(name, WorkloadKind::Write, WorkloadPattern::Random, 60, 3600.0);
    let event = found.events.iter().find(|e| e.kind == EventKind::NoAnswer);
    let event = event.unwrap_or_else(|| panic!("{:?}", found.events));
    let minutes: f64 = event.evidence[0].1.trim_end_matches(" min").parse().unwrap();
    // The part of the merge before the request of the host does not count.
    assert!(minutes >= 1.6, "{event:?}");
}

#[test]
fn bytes_limits_the_workload() {
    for (work, pattern) in [
        (WorkloadKind::Write, WorkloadPattern::Sequential),
        (WorkloadKind::Write, WorkloadPattern::Random),
        (WorkloadKind::Mixed, WorkloadPattern::Sequential),
    ] {
        let mut target = SimTarget::open_named("sim:lexar-1tb-express").unwrap();
        let mut options = SustainOptions { pattern, ..options(&target, work, 600) };
        options.bytes = Some(100 << 20);
        let (found, ended) = run_with(&mut target, &options);
        ended.unwrap();
        let last = found.series.last().unwrap();
        let moved = if work == WorkloadKind::Mixed {
            last.bytes_written + last.bytes_read
        } else {
            last.bytes_written
        };
        assert!(moved <= 100 << 20 && moved > 90 << 20, "{work:?} {pattern:?}: {moved}");
        assert_eq!(found.ended_by, "--bytes");
        assert!(found.series.iter().all(|s| s.phase == RunPhase::Main), "nothing follows");
    }
    let mut target = SimTarget::open_named("sim:lexar-1tb-express").unwrap();
    let mut options = options(&target, WorkloadKind::Read, 600);
    options.bytes = Some(1 << 30);
    let (found, _) = run_with(&mut target, &options);
    let read = found.series.last().unwrap().bytes_read;
    assert!(read <= 1 << 30 && read > 9 << 26, "{read}");
}

#[test]
fn interrupted_pause_has_no_experiment() {
    // The card warms during writes, and reaches the limit in the pause by an external thermometer.
    struct Warms(f64);
    impl SampleRecorder for Warms {
        fn sample(&mut self, sample: &SustainSample) -> Result<(), ProbeStop> {
            self.0 = if sample.phase == RunPhase::Pause { 99.0 } else { 20.0 };
            Ok(())
        }

        fn external_temperatures(&mut self) -> Vec<cardscope_model::sustain::PlacedTemperature> {
            vec![cardscope_model::sustain::PlacedTemperature {
                place: "card surface".into(),
                celsius: self.0,
            }]
        }
    }
    let mut target = SimTarget::open_named("sim:pro-64g-u3").unwrap();
    let mut options = options(&target, WorkloadKind::Write, 180);
    options.max_celsius = Some(90.0);
    let mut card =
        IoDriver::new(&mut target, &InterruptFlag::default(), SEQUENTIAL_BLOCK, QUEUE_DEPTH).unwrap();
    let (mut measured, mut log) = (MeasuredRun::default(), Warms(20.0));
    run_sustain(&mut card, WriteScope::new(None), &options, &mut Silent, &mut log, &mut measured).unwrap();
    assert_eq!(measured.ended_by, "--max-temp");
    assert!(!kinds(&measured).contains(&EventKind::Experiment), "{:?}", measured.events);
    assert!(
        measured.left_out.iter().any(|why| why.contains("the run ended first")),
        "{:?}",
        measured.left_out
    );
}

#[test]
fn reported_queue_depth_is_the_one_used() {
    let depth = |mb_s: &str| {
        run(&format!("sim:constant?mb_s={mb_s}&command_s=0.0001"), WorkloadKind::Read, 20).queue_depth
    };
    assert_eq!(depth("100"), QUEUE_DEPTH);
    // A MiB takes 0.1 s, so four in flight take longer than a slice.
    assert_eq!(depth("10"), 2);
}
