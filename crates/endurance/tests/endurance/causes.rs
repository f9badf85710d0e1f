//! Accuracy of the causes: 400 series of each kind, with parameters in the ranges of real cards
//! (docs/reference/flash.md#heat, docs/reference/flash.md#causes-of-a-slow-spell). `UPDATE_DOCS=1` updates the table in
//! `docs/accuracy.md`.

use cardscope_endurance::judge::series::{SeriesFacts, SeriesSlice, SlowdownCause, find_causes};
use cardscope_model::random::SeededRandom;
use cardscope_testkit::measured_tables::update_table;
use std::fmt::Write;

/// Series of each kind.
const SERIES: u64 = 400;

/// Seconds of a slice.
const SLICE_S: f64 = 0.25;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Plain,
    Cache,
    EarlyCache,
    ThrottleRamp,
    ThrottleDuty,
    Stalls,
    Interference,
    CacheThenThrottle,
    ThrottleThenCache,
}

const KINDS: [(Kind, &str, &[SlowdownCause]); 9] = [
    (Kind::Plain, "plain card", &[]),
    (Kind::Cache, "cache end", &[SlowdownCause::CacheEnd]),
    (Kind::EarlyCache, "cache end within 2.5 s", &[SlowdownCause::CacheEnd]),
    (Kind::ThrottleRamp, "throttling, a ramp", &[SlowdownCause::Throttling]),
    (Kind::ThrottleDuty, "throttling, on and off", &[SlowdownCause::Throttling]),
    (Kind::Stalls, "stalls", &[SlowdownCause::Stalls]),
    (Kind::Interference, "interference", &[SlowdownCause::Interference]),
    (
        Kind::CacheThenThrottle,
        "cache end, then throttling",
        &[SlowdownCause::Throttling, SlowdownCause::CacheEnd],
    ),
    (
        Kind::ThrottleThenCache,
        "throttling, then cache end",
        &[SlowdownCause::Throttling, SlowdownCause::CacheEnd],
    ),
];

/// Changes of a slice, as factors of the workload's time and of the other measurements.
#[derive(Clone, Copy)]
struct Effect {
    work: f64,
    reads: f64,
    ping: f64,
    hot: bool,
}

const NOTHING: Effect = Effect { work: 1.0, reads: 1.0, ping: 1.0, hot: false };

fn between(random: &mut SeededRandom, low: f64, high: f64) -> f64 {
    low + (high - low) * random.unit_interval()
}

fn log_between(random: &mut SeededRandom, low: f64, high: f64) -> f64 {
    (between(random, low.ln(), high.ln())).exp()
}

/// Random slice of the series at which an effect begins.
fn onset(random: &mut SeededRandom, count: usize) -> usize {
    (between(random, 0.15, 0.8) * count as f64) as usize
}

fn cache(random: &mut SeededRandom, effects: &mut [Effect], from: usize) {
    // SD Express 0.34 to 0.47, UHS-I and USB sticks 0.2 to 0.7; reads up to +15 % (different read mode).
    let (work, reads) = (1.0 / between(random, 0.25, 0.72), between(random, 1.0, 1.12));
    for effect in &mut effects[from..] {
        effect.work *= work;
        effect.reads *= reads;
    }
}

/// Light throttling takes reads to 0.60 … 0.75 and writes to 0.67 … 0.83 of their speed.
fn throttle(random: &mut SeededRandom, effects: &mut [Effect], from: usize, duty: bool) {
    let (work, reads) = (1.0 / between(random, 0.62, 0.83), 1.0 / between(random, 0.60, 0.75));
    let ramp = between(random, 4.0, 120.0);
    let (period, share) = (between(random, 60.0, 400.0), between(random, 0.4, 0.85));
    for (i, effect) in effects[from..].iter_mut().enumerate() {
        let depth = match duty {
            true => f64::from(u8::from((i as f64 / period).fract() < share)),
            false => (i as f64 / ramp).min(1.0),
        };
        effect.work *= work.powf(depth);
        effect.reads *= reads.powf(depth);
        effect.hot = depth > 0.5;
    }
}

fn stalls(random: &mut SeededRandom, effects: &mut [Effect]) {
    let (mean, periodic) = (between(random, 12.0, 60.0), random.unit_interval() < 0.5);
    let mut at = mean * random.unit_interval();
    while (at as usize) < effects.len() {
        let length = between(random, 0.15, 0.9) / SLICE_S;
        let mut left = length;
        for effect in &mut effects[at as usize..] {
            let taken = left.min(1.0);
            effect.work = 1.0 / (1.0 - 0.97 * taken).max(0.03);
            left -= taken;
            if left <= 0.0 {
                break;
            }
        }
        at += length + 3.0 + if periodic { mean } else { -mean * (1.0 - random.unit_interval()).ln() };
    }
}

fn interference(random: &mut SeededRandom, effects: &mut [Effect]) {
    let (every, lasts) = (between(random, 40.0, 160.0), between(random, 5.0, 25.0));
    let factor = 1.0 / (1.0 - between(random, 0.22, 0.7));
    let offset = between(random, 0.0, every);
    for (i, effect) in effects.iter_mut().enumerate() {
        if (i as f64 + offset) % every < lasts {
            *effect = Effect { work: factor, reads: factor, ping: factor, hot: false };
        }
    }
}

fn effects(kind: Kind, random: &mut SeededRandom) -> Vec<Effect> {
    let mut all = vec![NOTHING; between(random, 240.0, 2400.0) as usize];
    let count = all.len();
    match kind {
        Kind::Plain => {}
        Kind::Cache => {
            let from = onset(random, count);
            cache(random, &mut all, from);
        }
        Kind::EarlyCache => {
            let from = between(random, 2.0, 11.0) as usize;
            cache(random, &mut all, from);
        }
        Kind::ThrottleRamp | Kind::ThrottleDuty => {
            let from = onset(random, count);
            throttle(random, &mut all, from, kind == Kind::ThrottleDuty);
        }
        Kind::Stalls => stalls(random, &mut all),
        Kind::Interference => interference(random, &mut all),
        Kind::CacheThenThrottle | Kind::ThrottleThenCache => {
            let (first, second) = (count / 4, count / 4 + onset(random, count / 2).max(40));
            let cache_first = kind == Kind::CacheThenThrottle;
            cache(random, &mut all, if cache_first { first } else { second });
            throttle(random, &mut all, if cache_first { second } else { first }, false);
        }
    }
    all
}

fn series(kind: Kind, seed: u64) -> (Vec<SeriesSlice>, SeriesFacts) {
    let random = &mut SeededRandom::from_state(seed);
    let effects = effects(kind, random);
    let speed = log_between(random, 4e6, 800e6);
    let (probe, ping) = (log_between(random, 1e-4, 1.5e-3), log_between(random, 5e-5, 3e-4));
    let (sigma, sigma_probe) = (between(random, 0.01, 0.07), between(random, 0.01, 0.04));
    let drift = between(random, -0.04, 0.04);
    let (sensor, counts) = (random.unit_interval() < 0.5, random.unit_interval() < 0.5);
    let long_reads = random.unit_interval() < 0.7;
    let (mut at_bytes, mut throttles, mut was_hot, mut celsius) = (0, 3, false, 45.0f64);
    let count = effects.len() as f64;
    let mut slices = Vec::new();
    for (i, effect) in effects.iter().enumerate() {
        let mut noise = |sigma: f64| (sigma * random.normal()).exp();
        let slow = drift * i as f64 / count + 1.0;
        let bytes = (speed * SLICE_S * noise(sigma) * slow / effect.work) as u64;
        let goal = if effects[i..].iter().take(200).any(|e| e.hot) { 82.0 } else { 60.0 };
        celsius += (goal - celsius) * 0.02;
        throttles += u32::from(effect.hot && !was_hot);
        was_hot = effect.hot;
        let probe_s = probe * noise(sigma_probe) * effect.reads;
        let long = probe * 20.0 * noise(sigma_probe) * effect.reads;
        let mut ping_s = ping * noise(0.03) * effect.ping;
        // The host itself is late now and then.
        if random.unit_interval() < 0.01 {
            ping_s *= 3.0;
        }
        let hiccup = if random.unit_interval() < 0.005 { 0.75 } else { 1.0 };
        let bytes = (bytes as f64 * hiccup) as u64;
        slices.push(SeriesSlice {
            at_s: i as f64 * SLICE_S,
            seconds: SLICE_S,
            at_bytes,
            bytes,
            probe_s: Some(probe_s),
            long_read_s: (long_reads && i % 4 == 0).then_some(long),
            ping_s: Some(ping_s),
            celsius: sensor.then(|| celsius.round()),
            throttles: counts.then_some(throttles),
            ..SeriesSlice::default()
        });
        at_bytes += bytes;
    }
    (slices, SeriesFacts { writes: true, tmt1_c: sensor.then_some(81.0), at_once: 4 })
}

struct Row {
    right: u64,
    without: [u64; 5],
}

fn judge(kind: Kind, expected: &[SlowdownCause], verbose: bool) -> Row {
    let mut row = Row { right: 0, without: [0; 5] };
    for seed in 0..SERIES {
        let (slices, known) = series(kind, 1000 + seed);
        let named = find_causes(&slices, known).named_causes();
        row.right += u64::from(named == expected);
        if named != expected && verbose {
            eprintln!("{kind:?} {seed}: {named:?}");
        }
        let all = [
            SlowdownCause::CacheEnd,
            SlowdownCause::Throttling,
            SlowdownCause::Stalls,
            SlowdownCause::Interference,
        ];
        for (count, cause) in row.without.iter_mut().zip(all) {
            *count += u64::from(named.contains(&cause));
        }
        row.without[4] += u64::from(named.is_empty());
    }
    row
}

#[test]
fn causes_are_right_in_95_percent_of_series() {
    let verbose = std::env::var_os("CARDSCOPE_VERBOSE").is_some();
    let mut table = String::from(
        "| series of | named right | cache end | throttling | stalls | interference | nothing |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    let mut wrong = Vec::new();
    for (kind, name, expected) in KINDS {
        let row = judge(kind, expected, verbose);
        let percent = |n: u64| format!("{:.1} %", n as f64 * 100.0 / SERIES as f64);
        let cells = row.without.map(percent).join(" | ");
        let _ = writeln!(table, "| {name} | {} | {cells} |", percent(row.right));
        let least = if kind == Kind::Plain { 0.99 } else { 0.95 };
        if (row.right as f64) < least * SERIES as f64 {
            wrong.push(name);
        }
    }
    update_table("accuracy", "causes: series", &table);
    assert!(wrong.is_empty(), "{wrong:?} below what is demanded\n{table}");
}
