//! Series with an obvious cause.

use super::*;
use cardscope_model::random::SeededRandom;

/// A minute of slices at 20 MB/s with 4 % of noise, modified by `change`.
fn minute(change: impl Fn(usize, &mut SeriesSlice)) -> Vec<SeriesSlice> {
    let mut random = SeededRandom::from_state(5);
    let mut at_bytes = 0;
    (0..240)
        .map(|i| {
            let mut slice = SeriesSlice {
                at_s: i as f64 * 0.25,
                seconds: 0.25,
                at_bytes,
                bytes: (5e6 * (0.04 * random.normal()).exp()) as u64,
                probe_s: Some(1e-3 * (0.02 * random.normal()).exp()),
                ping_s: Some(1e-4 * (0.03 * random.normal()).exp()),
                ..SeriesSlice::default()
            };
            change(i, &mut slice);
            at_bytes += slice.bytes;
            slice
        })
        .collect()
}

const WRITES: SeriesFacts = SeriesFacts { writes: true, tmt1_c: Some(81.0), at_once: 4 };

#[test]
fn cache_end_is_found_at_its_size() {
    let slices = minute(|i, s| s.bytes = if i < 100 { s.bytes } else { s.bytes * 2 / 5 });
    let found = find_causes(&slices, WRITES);
    assert_eq!(found.named_causes(), [SlowdownCause::CacheEnd]);
    let end = found.cache_ends[0];
    assert!((end.at_bytes as f64 - 500e6).abs() < 0.04 * 500e6, "{end:?}");
    assert!((end.after / end.before - 0.4).abs() < 0.02, "{end:?}");
}

#[test]
fn levels_begin_at_the_slice_of_the_step() {
    for step in 97..105 {
        let slices = minute(|i, s| s.bytes = if i < step { s.bytes } else { s.bytes * 2 / 5 });
        let found = find_causes(&slices, WRITES);
        let bounds: Vec<_> = found.levels.iter().map(|level| (level.from, level.to)).collect();
        assert_eq!(bounds, [(0, found.cache_ends[0].slice), (found.cache_ends[0].slice, slices.len())]);
        let [fast, slow] = [&found.levels[0], &found.levels[1]].map(|level| level.speed);
        assert!((slow / fast - 0.4).abs() < 0.02, "{bounds:?}");
    }
}

#[test]
fn tiny_cache_end_is_found() {
    for fast in [2, 4, 7, 10] {
        let slices = minute(|i, s| s.bytes = if i < fast { s.bytes } else { s.bytes * 2 / 5 });
        let found = find_causes(&slices, WRITES);
        assert_eq!(found.named_causes(), [SlowdownCause::CacheEnd], "{fast} slices");
        assert_eq!(found.cache_ends[0].slice, fast);
    }
    let lucky = minute(|i, s| s.bytes *= if i == 0 { 3 } else { 1 });
    assert_eq!(find_causes(&lucky, WRITES).named_causes(), []);
    // Reads are faster too while the flash is still idle: a card is not hot after two seconds.
    let idle = minute(|i, s| {
        if i < 2 {
            (s.bytes, s.probe_s) = (s.bytes * 5 / 2, Some(0.8e-3));
        }
    });
    assert_eq!(find_causes(&idle, WRITES).named_causes(), [SlowdownCause::CacheEnd]);
    // A drive may answer the first reads from its memory.
    assert_eq!(find_causes(&idle, SeriesFacts { writes: false, ..WRITES }).unexplained, []);
}

#[test]
fn slower_reads_are_no_cache_end() {
    let slices = minute(|i, s| s.bytes = if i < 100 { s.bytes } else { s.bytes * 2 / 5 });
    let found = find_causes(&slices, SeriesFacts { writes: false, ..WRITES });
    assert_eq!((found.named_causes(), found.unexplained.len()), (vec![], 1));
}

#[test]
fn counters_prove_throttling_despite_fast_small_reads() {
    // The ADATA of docs/reference/reports.md#microsd-express-benchmarks throttles by its duty: short reads fit into its
    // pauses.
    let slices = minute(|i, s| {
        s.celsius = Some(if i < 100 { 76.0 } else { 82.0 });
        s.throttles = Some(u32::from(i >= 101));
        s.long_read_s = (i % 4 == 0).then_some(if i < 100 { 0.011 } else { 0.0165 });
        if i >= 100 {
            s.bytes = s.bytes * 62 / 100;
        }
    });
    let found = find_causes(&slices, WRITES);
    assert_eq!(found.named_causes(), [SlowdownCause::Throttling]);
    let heat = found.heat[0].figures;
    assert!(heat.counted && heat.celsius == Some(82.0) && (heat.at_s - 25.0).abs() < 1.1, "{heat:?}");
    assert!((heat.speed_ratio - 0.62).abs() < 0.02 && (heat.read_ratio.unwrap() - 1.5).abs() < 0.02);
}

#[test]
fn slow_reads_of_a_cool_card_are_no_heat() {
    let slices = minute(|i, s| {
        (s.celsius, s.throttles) = (Some(45.0), Some(0));
        if i >= 100 {
            s.bytes /= 2;
            s.probe_s = s.probe_s.map(|p| p * 3.0);
        }
    });
    assert_eq!(find_causes(&slices, WRITES).named_causes(), [SlowdownCause::CacheEnd]);
}

/// Writes past the cache at 236 MB/s that fall to 88 and recover as the card crosses its upper temperature limit.
fn between_two_limits(i: usize, s: &mut SeriesSlice) {
    let (speed, reads, throttles) = match i {
        0..40 => (2.7, 1.0, 0),
        40..80 => (1.25, 1.0, 0),
        _ if (i / 30).is_multiple_of(2) => (1.0, 1.42, i / 30),
        _ => (0.374, 3.33, i / 30),
    };
    s.bytes = (s.bytes as f64 * speed) as u64;
    s.probe_s = s.probe_s.map(|probe_s| probe_s * reads);
    s.long_read_s = i.is_multiple_of(4).then_some(0.01 * reads);
    (s.celsius, s.throttles) = (Some(if i < 80 { 70.0 } else { 84.0 }), Some(throttles as u32));
}

#[test]
fn oscillating_heat_is_no_cache_recovery() {
    let found = find_causes(&minute(between_two_limits), WRITES);
    assert_eq!(found.named_causes(), [SlowdownCause::Throttling, SlowdownCause::CacheEnd]);
    assert_eq!((found.cache_ends.len(), found.cache_ends[0].slice, &found.recoveries), (1, 40, &vec![]));
}

#[test]
fn range_between_two_steps_is_no_level() {
    let slices = minute(|i, s| {
        s.probe_s = s.probe_s.map(|probe_s| if i >= 100 { probe_s * 2.0 } else { probe_s });
        s.bytes = if i >= 108 { s.bytes / 2 } else { s.bytes };
    });
    let bounds: Vec<_> = find_causes(&slices, WRITES).levels.iter().map(|l| (l.from, l.to)).collect();
    assert_eq!(bounds, [(0, 108), (108, 240)]);
}

#[test]
fn counted_throttling_explains_slow_reads() {
    let slices = minute(|i, s| {
        s.throttles = Some(u32::from(i >= 101));
        s.bytes = if i < 100 { s.bytes } else { s.bytes * 62 / 100 };
    });
    let found = find_causes(&slices, SeriesFacts { writes: false, ..WRITES });
    assert_eq!((found.named_causes(), found.unexplained), (vec![SlowdownCause::Throttling], vec![]));
}

#[test]
fn recovery_needs_a_full_cache() {
    let faster = minute(|i, s| s.bytes = if i < 100 { s.bytes } else { s.bytes * 2 });
    let found = find_causes(&faster, WRITES);
    assert_eq!((found.cache_ends, found.recoveries), (vec![], vec![]));
}

#[test]
fn dominant_stalls_are_the_normal_speed() {
    // An old card that merges a block for nearly every small write.
    let slices = minute(|i, s| {
        (s.ios, s.interval_s, s.bytes) = (8, Some(0.002), s.bytes / 1000 * (2 + i as u64 % 2));
        (s.seconds, s.gaps) = (0.25, vec![CompletionGap { at_bytes: s.at_bytes, seconds: 0.24 }]);
    });
    let found = find_causes(&slices, WRITES);
    assert_eq!(found.named_causes(), [SlowdownCause::Stalls]);
    let [level] = &found.levels[..] else { panic!("{:?}", found.levels) };
    assert!((level.speed / 50e3 - 1.0).abs() < 0.3, "{level:?}");
}

#[test]
fn regular_stalls_have_a_period_and_poisson_interval() {
    let slices = minute(|i, s| {
        s.ios = 20;
        // One stall per 64 MiB at 5 MB a slice: every 13.4 slices.
        let (before, after) = (s.at_bytes >> 26, (s.at_bytes + s.bytes) >> 26);
        if after > before && i > 0 {
            s.gaps.push(CompletionGap { at_bytes: after << 26, seconds: 0.4 });
            s.seconds += 0.4;
        }
    });
    let found = find_causes(&slices, WRITES);
    assert_eq!(found.named_causes(), [SlowdownCause::Stalls]);
    let stalls = found.stalls.figures;
    let period = stalls.period.unwrap();
    assert!((period.bytes as f64 / 64.0 / 1048576.0 - 1.0).abs() < 0.01, "{period:?}");
    // 1000 / 67.1 = 14.9 per GB.
    assert!((stalls.per_gb - 14.9).abs() < 0.8, "{}", stalls.per_gb);
    assert!(stalls.per_gb_ci95[0] < 14.9 && stalls.per_gb_ci95[1] > 14.9);
    assert!((stalls.median_s - 0.4).abs() < 1e-9 && (stalls.longest_s - 0.4).abs() < 1e-9);
}

#[test]
fn long_stall_is_one_stall() {
    let slices = minute(|i, s| {
        s.ios = 20;
        if [60, 110, 170].contains(&i) {
            s.gaps.push(CompletionGap { at_bytes: s.at_bytes, seconds: 120.0 });
            s.seconds = 120.0;
        }
    });
    let found = find_causes(&slices, WRITES);
    assert_eq!(found.named_causes(), [SlowdownCause::Stalls]);
    assert_eq!((found.stalls.stalls.len(), found.stalls.figures.longest_s), (3, 120.0));
    assert!(found.cache_ends.is_empty());
}

#[test]
fn other_load_is_found_by_the_ping() {
    let slices = minute(|i, s| {
        if i % 60 >= 48 {
            s.bytes /= 2;
            s.probe_s = s.probe_s.map(|p| p * 2.0);
            s.ping_s = s.ping_s.map(|p| p * 2.0);
        }
    });
    let found = find_causes(&slices, WRITES);
    assert_eq!(found.named_causes(), [SlowdownCause::Interference]);
    let other = found.interference.unwrap().figures;
    assert_eq!(other.bursts, 4);
    assert!((other.ping_ratio - 2.0).abs() < 0.1 && (other.speed_ratio - 0.5).abs() < 0.05, "{other:?}");
}

#[test]
fn too_few_slices_have_no_causes() {
    for few in 0..8 {
        let slices = minute(|_, _| {}).into_iter().take(few).collect::<Vec<_>>();
        assert_eq!(find_causes(&slices, WRITES).named_causes(), []);
    }
}

proptest::proptest! {
    #[test]
    fn any_series_is_judged_without_panic(
        values in proptest::collection::vec((0u64..1 << 40, 0.0..500.0f64, 0.0..1.0f64, proptest::bool::ANY), 0..80)
    ) {
        let slices: Vec<SeriesSlice> = values.iter().enumerate().map(|(i, (bytes, seconds, probe, known))| SeriesSlice {
            at_s: i as f64,
            seconds: *seconds,
            bytes: *bytes,
            ios: (*bytes % 5) as u32,
            probe_s: known.then_some(*probe),
            ping_s: known.then_some(*probe),
            long_read_s: (!known).then_some(*probe),
            celsius: known.then_some(80.0),
            throttles: known.then_some(i as u32),
            ..SeriesSlice::default()
        }).collect();
        let _ = find_causes(&slices, WRITES);
        let _ = steady_state(&slices, 5.0);
    }
}

/// Card of 4 MB/s past its cache, behind a reader that returns all four I/Os in flight together. That is its speed and no
/// stall, and the end of its cache must be found.
#[test]
fn waits_for_the_whole_queue_are_no_stalls() {
    let slices = minute(|i, s| {
        if i < 20 {
            (s.ios, s.interval_s) = (20, Some(0.0125));
            return;
        }
        (s.bytes, s.ios, s.interval_s) = (s.bytes / 5, 4, Some(0.0001));
        s.gaps = vec![CompletionGap { at_bytes: s.at_bytes, seconds: 0.24 }];
    });
    let found = find_causes(&slices, WRITES);
    assert_eq!(found.named_causes(), [SlowdownCause::CacheEnd]);
    assert!((found.levels.last().unwrap().speed / 4e6 - 1.0).abs() < 0.05, "{:?}", found.levels);
}
