//! Long runs on simulated cards, whose files say what is to be found.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use cardscope_engine::interrupt::Interrupt;
use cardscope_engine::target::{Region, Target};
use cardscope_model::card_map::property::Status;
use cardscope_model::sustain::{EventKind, Limits, Measured, Pattern, Sample, Work};
use cardscope_probe::card::Card;
use cardscope_probe::saving::Saving;
use cardscope_probe::site;
use cardscope_probe::sustain::{BLOCK, DEPTH, Log, Options, sustain};
use cardscope_probe::trouble::Stop;
use cardscope_probe::watch::Nobody;
use cardscope_simulator::SimTarget;
use std::time::Duration;

struct Forgets(usize);

impl Log for Forgets {
    fn sample(&mut self, _: &Sample) -> Result<(), Stop> {
        self.0 += 1;
        Ok(())
    }
}

fn options(target: &SimTarget, work: Work, seconds: u64) -> Options {
    let bytes = target.info().bytes;
    let nvme = target.identity().nvme.as_ref();
    let kelvin = |k: Option<u16>| k.filter(|k| *k > 0).map(|k| f64::from(k) - 273.0);
    Options {
        limits: site::Limits {
            seed: 1,
            region: Region { start: 0, len: bytes },
            max_write: None,
            budget: None,
        },
        work,
        pattern: Pattern::Sequential,
        duration: Duration::from_secs(seconds),
        bytes: None,
        max_celsius: None,
        card_limits: Limits {
            tmt1_celsius: nvme.and_then(|n| kelvin(Some(n.tmt1_k))),
            tmt2_celsius: nvme.and_then(|n| kelvin(Some(n.tmt2_k))),
            ..Limits::default()
        },
        card_bytes: Some(bytes),
        prepare: false,
    }
}

fn run_with(target: &mut SimTarget, options: &Options) -> (Measured, Result<(), Stop>) {
    let mut card = Card::new(target, &Interrupt::default(), BLOCK, DEPTH).unwrap();
    let mut measured = Measured::default();
    let mut log = Forgets(0);
    let saving = Saving::new(None);
    let ended = sustain(&mut card, saving, options, &mut Nobody, &mut log, &mut measured);
    assert_eq!(log.0, measured.series.len(), "each sample was kept");
    (measured, ended)
}

fn run(name: &str, work: Work, seconds: u64) -> Measured {
    let mut target = SimTarget::named(name).unwrap();
    let options = options(&target, work, seconds);
    let (measured, ended) = run_with(&mut target, &options);
    ended.unwrap();
    measured
}

fn kinds(measured: &Measured) -> Vec<EventKind> {
    measured.events.iter().map(|e| e.kind).collect()
}

fn near(value: f64, truth: f64, share: f64) -> bool {
    (value / truth - 1.0).abs() <= share
}

#[test]
fn the_cache_of_the_pro_64_ends_after_its_600_mb_and_a_pause_gives_some_back() {
    let found = run("sim:pro-64g-u3", Work::Write, 180);
    let cache = found.cache_bytes.value.unwrap();
    assert!(near(cache as f64, 600e6, 0.1), "{cache}");
    // Its file: 45.6 MB/s and 0.3 ms a command after it.
    assert!(near(found.after_cache_mb_s.value.unwrap(), 45.0, 0.05), "{:?}", found.after_cache_mb_s);
    assert!(found.throttling.is_none() && found.interference.is_none(), "{:?}", kinds(&found));
    // Cleaned at 10 MB/s after a second of rest.
    let recovery = found.recovery.unwrap();
    assert!(!recovery.at_least && near(recovery.mb_s, 10.0, 0.4), "{recovery:?}");
}

#[test]
fn a_card_of_constant_speed_shows_nothing_and_says_how_far_it_was_looked() {
    // 50 MB/s and 8 GB: written alone more than 40 % of it go by, and no cache is larger; in turn with reads less.
    let cases =
        [(Work::Write, Status::None), (Work::Mixed, Status::AtLeast), (Work::Read, Status::NotTested)];
    for (work, status) in cases {
        let found = run("sim:constant", work, 120);
        let bad = [EventKind::CacheEnd, EventKind::Throttled, EventKind::StallsBegin, EventKind::Disturbed];
        assert!(!kinds(&found).iter().any(|k| bad.contains(k)), "{work:?}: {:?}", found.events);
        assert_eq!(found.cache_bytes.status, status, "{work:?}");
        assert!(found.steady_state.unwrap().reached);
    }
}

#[test]
fn the_lexar_express_throttles_without_a_fan_and_not_with_one() {
    let cooled = run("sim:lexar-1tb-express?cooling=active", Work::Read, 1800);
    assert!(cooled.throttling.is_none() && cooled.max_celsius.unwrap() < 60.0, "{:?}", cooled.events);
    let hot = run("sim:lexar-1tb-express?cooling=passive", Work::Read, 1800);
    let heat = hot.throttling.unwrap();
    // TMT1 is 81 °C; reads fall to 0.72.
    assert!((heat.at_celsius.unwrap() - 81.0).abs() <= 2.0, "{heat:?}");
    assert!(heat.t1_transitions.unwrap() > 0 && heat.confidence > 0.9);
    let slowest = heat.steps.iter().map(|s| s.speed_ratio).fold(1.0, f64::min);
    assert!((0.68..0.80).contains(&slowest), "{slowest}");
}

#[test]
fn both_may_hold_at_once_on_the_adata_without_a_fan() {
    let found = run("sim:adata-256g-express?cooling=passive", Work::Write, 7200);
    let cache = found.cache_bytes.value.unwrap() as f64;
    assert!(near(cache, 250e9, 0.1), "{cache}");
    assert!(found.throttling.is_some(), "{:?}", found.events);
}

#[test]
fn the_sandisk_express_falls_to_a_third_after_a_third_of_its_capacity() {
    let found = run("sim:sandisk-256g-express", Work::Write, 600);
    assert!(near(found.cache_bytes.value.unwrap() as f64, 85e9, 0.1), "{:?}", found.cache_bytes);
    assert!(found.throttling.is_none());
}

#[test]
fn somebody_else_on_the_bus_is_no_fault_of_the_card() {
    let found =
        run("sim:lexar-16g-c10?disturb_every_s=20&disturb_for_s=4&disturb_share=0.5", Work::Write, 200);
    let other = found.interference.clone().unwrap();
    assert!((other.ping_ratio - 2.0).abs() < 0.3, "{other:?}");
    assert!(found.cache_bytes.status == Status::AtLeast && found.throttling.is_none(), "{:?}", found.events);
}

#[test]
fn random_writes_stall_where_a_log_is_cleared() {
    let mut target = SimTarget::named("sim:samsung-32g-c10").unwrap();
    let mut options = options(&target, Work::Write, 300);
    options.pattern = Pattern::Random;
    options.limits.region.len = 1 << 30;
    let (found, ended) = run_with(&mut target, &options);
    ended.unwrap();
    let stalls = found.stalls.unwrap_or_else(|| panic!("{:?}", found.levels));
    // One merge takes 0.4 s.
    assert!(stalls.longest_s >= 0.35, "{stalls:?}");
}

#[test]
fn a_card_that_vanishes_leaves_what_was_measured() {
    let mut target = SimTarget::named("sim:pro-64g-u3?faults.vanish_after_s=20").unwrap();
    let options = options(&target, Work::Write, 120);
    let (found, ended) = run_with(&mut target, &options);
    assert!(matches!(ended, Err(Stop::Target(_))), "{ended:?}");
    assert!(found.series.len() >= 15 && found.cache_bytes.value.is_some(), "{:?}", found.events);
}

#[test]
fn heat_ends_the_run_where_the_user_says_so() {
    let mut target = SimTarget::named("sim:lexar-1tb-express?cooling=passive").unwrap();
    let mut options = options(&target, Work::Read, 3600);
    options.max_celsius = Some(70.0);
    let (found, ended) = run_with(&mut target, &options);
    ended.unwrap();
    assert_eq!((found.ended_by.as_str(), kinds(&found).contains(&EventKind::TooHot)), ("--max-temp", true));
    assert!((69.0..=72.0).contains(&found.max_celsius.unwrap()));
}
