use super::*;
use proptest::prelude::*;

/// Second of a system with these shares of a busy device, waiting tasks and busy processors.
fn second(at: usize, utilisation: f64, io_some: f64, cpu_busy: f64) -> ObserveSample {
    ObserveSample {
        uptime_seconds: 10.0 + at as f64 + 1.0,
        seconds: 1.0,
        reads: (400.0 * utilisation) as u64,
        read_bytes: (400.0 * utilisation) as u64 * 4096,
        wait_ms: Some(2.5),
        utilisation,
        queue: utilisation * 4.0,
        io_some: Some(io_some),
        io_full: Some(io_some / 2.0),
        memory_some: Some(0.0),
        cpu_busy: Some(cpu_busy),
        cpu_idle: Some(1.0 - cpu_busy),
        iowait: Some((1.0 - cpu_busy) * io_some),
        swap_bytes: Some(0),
        ..ObserveSample::default()
    }
}

/// Start that is busy for so many seconds and idle for a minute after.
fn start(busy: usize, then: impl Fn(usize) -> ObserveSample) -> Vec<ObserveSample> {
    (0..busy).map(&then).chain((busy..busy + 60).map(|at| second(at, 0.03, 0.01, 0.05))).collect()
}

fn waits_for_card(at: usize) -> ObserveSample {
    second(at, 1.0, 0.95, 0.15)
}

fn summary(samples: &[ObserveSample]) -> ObserveSummary {
    summarize_watch(samples, 10.0).unwrap()
}

#[test]
fn card_bottleneck_has_its_end_time() {
    let summary = summary(&start(590, waits_for_card));
    assert_eq!(summary.bottleneck, SystemBottleneck::Card);
    assert_eq!(summary.settled.status, SettledStatus::Measured);
    // Busy from 10 s to 600 s after boot. Averaging over five seconds blurs the end.
    assert!((summary.settled.seconds() - 600.0).abs() <= SMOOTH_SECONDS, "{:?}", summary.settled);
    assert!((summary.io_some_seconds.unwrap() - 590.0 * 0.95 - 0.6).abs() < 1e-6);
    assert_eq!(summary.small_share, Some(1.0));
}

#[test]
fn other_bottlenecks_are_not_attributed_to_the_card() {
    let cpu = start(60, |at| second(at, 0.3, 0.15, 0.97));
    assert_eq!(summary(&cpu).bottleneck, SystemBottleneck::Cpu);
    let memory = start(60, |at| ObserveSample {
        memory_some: Some(0.6),
        swap_bytes: Some(20_000_000),
        ..second(at, 1.0, 0.9, 0.2)
    });
    assert_eq!(summary(&memory).bottleneck, SystemBottleneck::Memory);
    let elsewhere = start(60, |at| second(at, 0.02, 0.9, 0.1));
    assert_eq!(summary(&elsewhere).bottleneck, SystemBottleneck::Elsewhere);
    let half = start(60, |at| second(at, 0.5, 0.5, 0.5));
    assert_eq!(summary(&half).bottleneck, SystemBottleneck::Mixed);
}

#[test]
fn idle_system_is_idle_from_the_first_sample() {
    let calm = summary(&start(0, waits_for_card));
    assert_eq!(calm.bottleneck, SystemBottleneck::Nothing);
    assert_eq!((calm.settled.status, calm.settled.bound_seconds), (SettledStatus::AtMost, Some(10.0)));
}

#[test]
fn system_that_never_idles_has_a_lower_bound() {
    let busy: Vec<ObserveSample> = (0..100).map(waits_for_card).collect();
    let settled = summary(&busy).settled;
    assert_eq!((settled.status, settled.bound_seconds), (SettledStatus::AtLeast, Some(110.0)));
}

#[test]
fn one_busy_second_does_not_end_idle_time() {
    let mut samples = start(20, waits_for_card);
    samples[40] = second(40, 0.4, 0.4, 0.1);
    assert!((summary(&samples).settled.seconds() - 30.0).abs() <= SMOOTH_SECONDS);
    let mut paused = start(60, waits_for_card);
    (20..35).for_each(|at| paused[at] = second(at, 0.0, 0.0, 0.05));
    assert!(
        (summary(&paused).settled.seconds() - 70.0).abs() <= SMOOTH_SECONDS,
        "fifteen calm seconds are a pause"
    );
}

#[test]
fn without_psi_blocked_tasks_count_with_less_confidence() {
    let samples = start(60, |at| ObserveSample {
        io_some: None,
        io_full: None,
        memory_some: None,
        blocked: Some(3),
        ..waits_for_card(at)
    });
    let samples: Vec<ObserveSample> =
        samples.into_iter().map(|s| ObserveSample { io_some: None, ..s }).collect();
    let summary = summary(&samples);
    assert_eq!((summary.bottleneck, summary.io_some_seconds), (SystemBottleneck::Card, None));
    assert!(bottleneck_finding(&samples, &summary).confidence < 0.9);
    assert!((summary.settled.seconds() - 70.0).abs() <= SMOOTH_SECONDS);
}

#[test]
fn bottleneck_finding_lists_its_evidence() {
    let samples = start(90, waits_for_card);
    let finding = bottleneck_finding(&samples, &summary(&samples));
    let evidence = |what: &str| finding.evidence.iter().find(|(name, _)| name == what).unwrap().1.clone();
    assert_eq!(evidence("busy seconds"), "90 of 150");
    assert_eq!(evidence("device busy in them"), "100 %");
    assert_eq!(evidence("tasks waiting for I/O"), "95 %");
    assert_eq!(evidence("processors idle"), "85 %");
}

#[test]
fn idle_system_has_zero_busy_seconds() {
    let samples: Vec<ObserveSample> = (0..4).map(|at| second(at, 0.0, 0.0, 0.05)).collect();
    let evidence = bottleneck_finding(&samples, &summary(&samples)).evidence;
    assert!(evidence.contains(&("busy seconds".to_owned(), "0 of 4".to_owned())), "{evidence:?}");
}

#[test]
fn short_load_has_low_confidence_and_is_not_idle() {
    let samples: Vec<ObserveSample> = (0..2).map(|at| second(at, 0.0, 0.0, 1.0)).collect();
    let of_all = summary(&samples);
    assert_eq!((of_all.bottleneck, of_all.settled.status), (SystemBottleneck::Cpu, SettledStatus::AtLeast));
    assert!(bottleneck_finding(&samples, &of_all).confidence <= 0.6, "two seconds are few");
    // Two of ten seconds do not tell a cause, and the system was not idle either.
    let few: Vec<ObserveSample> =
        samples.into_iter().chain((2..10).map(|at| second(at, 0.0, 0.0, 0.05))).collect();
    let of_few = summary(&few);
    assert_eq!((of_few.bottleneck, of_few.loaded_seconds), (SystemBottleneck::Nothing, 2.0));
    assert!(!bottleneck_finding(&few, &of_few).verdict.contains("idle"));
}

#[test]
fn busy_processors_delay_idle_time() {
    let settled = summary(&start(60, |at| second(at, 0.0, 0.0, 1.0))).settled;
    assert!((settled.seconds() - 70.0).abs() <= SMOOTH_SECONDS, "{settled:?}");
}

#[test]
fn busy_device_without_waiting_tasks_is_no_bottleneck() {
    let scrubbed = start(60, |at| second(at, 1.0, 0.02, 0.1));
    assert_eq!(summary(&scrubbed).bottleneck, SystemBottleneck::Nothing);
}

fn side(samples: &[ObserveSample]) -> WatchSide<'_> {
    WatchSide { samples, began: 10.0 }
}

#[test]
fn comparison_finds_the_faster_start() {
    let (old, new) = (start(590, waits_for_card), start(20, waits_for_card));
    let (compared, findings) = compare_watches("old", side(&old), side(&new)).unwrap();
    assert_eq!(findings[0].claim, "start-faster");
    assert!(compared.since_boot);
    let calm = &compared.figures[0];
    assert!(calm.before.unwrap() > 590.0 && calm.now.unwrap() < 36.0, "{calm:?}");
    let (_, back) = compare_watches("new", side(&new), side(&old)).unwrap();
    assert_eq!(back[0].claim, "start-slower");
}

#[test]
fn similar_starts_compare_as_alike() {
    let (one, two) = (start(100, waits_for_card), start(103, waits_for_card));
    assert_eq!(compare_watches("one", side(&one), side(&two)).unwrap().1[0].claim, "start-alike");
}

#[test]
fn comparison_reports_different_work() {
    let busy = start(100, waits_for_card);
    let other: Vec<ObserveSample> =
        busy.iter().map(|s| ObserveSample { read_bytes: s.read_bytes * 5, ..s.clone() }).collect();
    let (_, findings) = compare_watches("busy", side(&busy), side(&other)).unwrap();
    assert_eq!(findings[1].claim, "starts-did-other-work");
}

#[test]
fn late_watches_are_compared_from_their_own_start() {
    let early = start(50, waits_for_card);
    let late: Vec<ObserveSample> = start(50, waits_for_card)
        .into_iter()
        .map(|s| ObserveSample { uptime_seconds: s.uptime_seconds + 9000.0, ..s })
        .collect();
    let late = WatchSide { samples: &late, began: 9010.0 };
    let (compared, findings) = compare_watches("early", side(&early), late).unwrap();
    assert!(!compared.since_boot);
    assert_eq!(findings[0].claim, "start-alike");
    assert_eq!(compared.figures[0].before, compared.figures[0].now);
}

#[test]
fn no_samples_give_no_summary_and_no_comparison() {
    assert_eq!(summarize_watch(&[], 0.0), None);
    assert!(compare_watches("nothing", side(&[]), side(&start(1, waits_for_card))).is_none());
}

proptest! {
    #[test]
    fn summary_figures_stay_in_bounds(
        figures in proptest::collection::vec((0.0..1.0f64, 0.0..1.0f64, 0.0..1.0f64), 1..200)
    ) {
        let samples: Vec<ObserveSample> =
            figures.iter().enumerate().map(|(at, (u, io, cpu))| second(at, *u, *io, *cpu)).collect();
        let summary = summary(&samples);
        prop_assert!(summary.utilisation <= 1.0 && summary.loaded_seconds <= summary.seconds);
        prop_assert!(summary.io_some_seconds.unwrap() <= summary.seconds);
        let end = 10.0 + samples.len() as f64;
        prop_assert!((10.0..=end).contains(&summary.settled.seconds()));
        let _ = bottleneck_finding(&samples, &summary);
    }
}
