//! Properties that reads show on simulated cards, compared with the card's definition.

use cardscope_engine::event::Silent;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::io_driver::IoDriver;
use cardscope_engine::target::{Target, TargetRegion};
use cardscope_flash::probe::{MapOptions, MapPart, measure_map};
use cardscope_model::card_map::MeasuredMap;
use cardscope_model::card_map::property::{Property, PropertyStatus};
use cardscope_probing::context::ProbeLimits;
use cardscope_probing::write_scope::WriteScope;
use cardscope_simulator::{SimTarget, random};
use std::time::Duration;

fn options(bytes: u64, only: &[MapPart]) -> MapOptions {
    let region = TargetRegion { start: 0, len: bytes };
    MapOptions {
        limits: ProbeLimits { seed: 1, region, max_write: None, budget: None },
        card_addresses: true,
        writes: false,
        fat: false,
        max_cache_bytes: 0,
        claimed_unit: None,
        open_block_unit: None,
        flashbench_tables: false,
        only: only.to_vec(),
    }
}

/// Results of a map that only reads, with its cost.
struct ReadOnlyMap {
    measured: MeasuredMap,
    seconds: f64,
    written: u64,
}

fn map_reads_with(name: &str, change: impl Fn(&mut MapOptions), only: &[MapPart]) -> ReadOnlyMap {
    let mut target = SimTarget::open_named(name).unwrap_or_else(|e| panic!("{name}: {e}"));
    let mut options = options(target.info().bytes, only);
    change(&mut options);
    let mut card = IoDriver::new(&mut target, &InterruptFlag::default(), 1 << 20, 8).unwrap();
    let mut measured = MeasuredMap::default();
    measure_map(&mut card, WriteScope::new(None), &options, &mut Silent, &mut measured).unwrap();
    ReadOnlyMap { measured, seconds: card.seconds(), written: card.tally().written }
}

fn map_reads(name: &str, only: &[MapPart]) -> ReadOnlyMap {
    map_reads_with(name, |_| (), only)
}

/// Expected and measured units of a random card.
struct UnitCase {
    name: String,
    page: (Option<u64>, Property<u64>),
    unit: (Option<u64>, Property<u64>),
    seconds: f64,
}

impl UnitCase {
    fn from_seed(seed: u64) -> UnitCase {
        let card = random::random_card(seed);
        let name = format!("sim:{}", card.name);
        let reads = card.read.unwrap();
        // Reads of unwritten areas need no flash, so they cross no boundary.
        let silent = reads.unmapped_s.is_some()
            && card.state.start == cardscope_simulator::archetype::StartContent::Factory;
        let trace = |step: f64, bytes: u64| (step > 0.0 && !silent).then_some(bytes);
        let found = map_reads(&name, &[MapPart::Boundaries]);
        UnitCase {
            name,
            page: (trace(reads.page_step_s, card.flash.page_bytes), found.measured.page_bytes),
            unit: (trace(reads.au_step_s, card.flash.au_bytes), found.measured.erase_block_bytes),
            seconds: found.seconds,
        }
    }

    fn mistake(&self, what: &str, (truth, found): &(Option<u64>, Property<u64>)) -> Option<String> {
        let fits = match truth {
            Some(bytes) => found.value == Some(*bytes),
            None => found.status == PropertyStatus::None,
        };
        (!fits).then(|| {
            format!(
                "{} {what}: true is {truth:?}, found {:?} {:?} at {:.3} in {:.1} s; {:?} {:?}",
                self.name,
                found.status,
                found.value,
                found.confidence,
                self.seconds,
                found.reason,
                found.evidence.numbers
            )
        })
    }
}

/// Share of units found where they show, share of `none` where they do not, mean seconds, and all mistakes.
fn count_right_units(seeds: &[u64]) -> (f64, f64, f64, Vec<String>) {
    let cases: Vec<UnitCase> = seeds.iter().map(|s| UnitCase::from_seed(*s)).collect();
    let mut wrong = Vec::new();
    let (mut traces, mut right, mut nothing, mut none) = (0, 0, 0, 0);
    for case in &cases {
        for (what, one) in [("page", &case.page), ("erase block", &case.unit)] {
            let mistake = case.mistake(what, one);
            let fits = u32::from(mistake.is_none());
            if one.0.is_some() {
                (traces, right) = (traces + 1, right + fits);
            } else {
                (nothing, none) = (nothing + 1, none + fits);
            }
            wrong.extend(mistake);
        }
    }
    let seconds: f64 = cases.iter().map(|c| c.seconds).sum::<f64>() / cases.len() as f64;
    wrong.iter().for_each(|line| println!("{line}"));
    println!("{right} of {traces} units right, {none} of {nothing} none; {seconds:.1} s a card");
    (f64::from(right) / f64::from(traces), f64::from(none) / f64::from(nothing.max(1)), seconds, wrong)
}

#[test]
fn units_of_random_cards_are_right_or_none() {
    let (right, none, _, wrong) = count_right_units(&(0..120).collect::<Vec<_>>());
    assert!(right >= 0.97 && none >= 0.95, "{right:.3} {none:.3}\n{}", wrong.join("\n"));
}

#[test]
fn units_of_fresh_random_cards_are_right_or_none() {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let first = now.as_secs() * 1000;
    let seeds: Vec<u64> = (first..first + 40).collect();
    println!("fresh cards: random-{first} to random-{}", first + 39);
    let (right, none, _, wrong) = count_right_units(&seeds);
    // With so few cards one more may be wrong; the fixed seeds verify the required shares.
    assert!(right >= 0.93 && none >= 0.75, "{right:.3} {none:.3}\n{}", wrong.join("\n"));
}

#[test]
fn reading_a_class_10_card_takes_under_40_s_without_writes() {
    let found = map_reads("sim:lexar-16g-c10?state=filled", &[]);
    assert!(found.seconds < 40.0 && found.written == 0, "{} s, {} bytes", found.seconds, found.written);
    let m = &found.measured;
    let units =
        (m.page_bytes.value, m.read_unit_bytes.value, m.erase_block_bytes.value, m.map_segment_bytes.value);
    assert_eq!(units, (Some(16 << 10), Some(4 << 10), Some(4 << 20), Some(1 << 30)));
    assert_eq!(
        (m.queue_depth_effective.status, m.plane_bytes.status),
        (PropertyStatus::None, PropertyStatus::None)
    );
    assert_eq!(m.unmapped_share.status, PropertyStatus::None);
    // docs/reference/reports.md#lexar-review: 20.4 MB/s sequential; random reads take 0.67 ms and the transfer.
    let fastest = m.curves.sequential_read.iter().map(|p| p.mb_s).fold(0.0, f64::max);
    assert!((fastest / 20.4 - 1.0).abs() < 0.05, "{fastest}");
    let small = m.curves.random_read.iter().find(|p| p.bytes == 4096).unwrap();
    assert!((small.p50_us / 871.0 - 1.0).abs() < 0.05, "{small:?}");
    let axis = m.axis.as_ref().unwrap();
    assert!(axis.cells.len() > 90 && axis.cells.iter().all(|c| c.read_mb_s.is_some_and(|s| s > 16.0)));
    assert!(m.findings.is_empty(), "{:?}", m.findings);
    for property in [&m.page_bytes, &m.erase_block_bytes, &m.map_segment_bytes, &m.read_unit_bytes] {
        let evidence = &property.evidence;
        assert!(!evidence.method.is_empty() && !evidence.numbers.is_empty() && evidence.plot.is_some());
        assert!(
            evidence.cost.seconds > 0.0 && evidence.cost.read_bytes > 0 && evidence.cost.written_bytes == 0
        );
    }
}

#[test]
fn unwritten_card_shows_no_units_and_has_a_finding() {
    let found = map_reads("sim:sdnand-0.5g", &[MapPart::Boundaries]).measured;
    assert_eq!((found.page_bytes.value, found.erase_block_bytes.value), (None, None));
    assert_eq!(found.unmapped_share.status, PropertyStatus::NotTested);
    let finding = found.findings.iter().find(|f| f.claim == "nothing-written").unwrap();
    assert!(finding.advice.as_ref().unwrap().contains("Fill the card"), "{finding:?}");
}

#[test]
fn half_written_card_shows_its_unwritten_share_and_units() {
    let found = map_reads("sim:sdnand-0.5g?state=used&used_share=0.6", &[MapPart::Boundaries]).measured;
    let share = found.unmapped_share.value.unwrap();
    assert!((share - 0.4).abs() < 0.12, "{share}");
    assert_eq!(found.erase_block_bytes.value, Some(4 << 20));
    // Its 4 KiB page differs by 2 % at the two smallest levels only: it may be missed, but not reported wrongly.
    assert!(found.page_bytes.value.is_none_or(|page| page == 4 << 10), "{:?}", found.page_bytes);
}

#[test]
fn real_read_queues_differ_from_ineffective_ones() {
    let of = |name: &str| map_reads(name, &[MapPart::Queue]).measured.queue_depth_effective;
    // 0.36 ms and 4 KiB at the reader's 44 MB/s, with 0.12 ms between two ends.
    let depth = (0.36 + 4.096 / 44.0) / 0.12;
    let real = of("sim:a2-command-queue");
    assert!((real.value.unwrap() / depth - 1.0).abs() < 0.1, "{real:?}, true is {depth}");
    assert_eq!(of("sim:a2-label-only").status, PropertyStatus::None);
    assert_eq!(of("sim:samsung-32g-c10").status, PropertyStatus::None);
}

#[test]
fn planes_need_a_queue_and_several_planes_to_show() {
    let of = |name: &str| map_reads(name, &[MapPart::Planes]).measured.plane_bytes;
    let three = of("sim:ultra-64g-tlc24?queue.depth=4&flash.planes=3&state=filled");
    assert_eq!(
        (three.value, three.evidence.numbers.last().unwrap().value),
        (Some(16 << 10), 3.0),
        "{three:?}"
    );
    assert_eq!(of("sim:ultra-64g-tlc24?queue.depth=1&flash.planes=3").status, PropertyStatus::None);
    assert_eq!(of("sim:ultra-64g-tlc24?queue.depth=4&flash.planes=1").status, PropertyStatus::None);
}

#[test]
fn boundaries_are_not_tested_in_a_file() {
    let found = map_reads_with(
        "sim:lexar-16g-c10",
        |o| {
            o.card_addresses = false;
            o.writes = true;
            o.limits.region.len = 512 << 20;
        },
        &[MapPart::Boundaries, MapPart::Planes, MapPart::Axis, MapPart::ReadCurve],
    )
    .measured;
    for property in
        [&found.page_bytes, &found.erase_block_bytes, &found.map_segment_bytes, &found.plane_bytes]
    {
        assert_eq!(property.status, PropertyStatus::NotTested);
        assert!(property.reason.as_ref().unwrap().contains("file"), "{property:?}");
    }
    assert!(found.axis.is_none() && !found.curves.random_read.is_empty());
}

#[test]
fn reads_in_a_file_are_timed_only_after_writing_it() {
    let file = |writes: bool| {
        let change = |o: &mut MapOptions| {
            o.card_addresses = false;
            o.writes = writes;
            o.limits.region.len = 512 << 20;
        };
        map_reads_with("sim:sdnand-0.5g", change, &[MapPart::Queue, MapPart::ReadCurve])
    };
    let (read_only, written) = (file(false), file(true));
    let reason = read_only.measured.queue_depth_effective.reason.unwrap();
    assert!(reason.contains("unwritten file") && read_only.written == 0, "{reason}");
    assert!(read_only.measured.curves.random_read.is_empty());
    // The card answers in 0.23 ms where nothing was written, in 1.64 ms elsewhere.
    let small = written.measured.curves.random_read.iter().find(|p| p.bytes == 4096).unwrap().p50_us;
    assert!(small > 1000.0 && written.written >= 64 << 20, "{small}");
}

#[test]
fn time_budget_is_kept_and_named_as_reason() {
    let budget = |seconds| move |o: &mut MapOptions| o.limits.budget = Some(Duration::from_secs(seconds));
    for seconds in [0, 1, 5, 15] {
        let found = map_reads_with("sim:lexar-16g-c10?state=filled", budget(seconds), &[]);
        assert!(found.seconds < seconds as f64 + 2.0, "{} of {seconds} s", found.seconds);
        let queue = &found.measured.queue_depth_effective;
        let reported = queue.reason.as_ref().is_some_and(|r| r.contains("no time left"));
        assert!(queue.status != PropertyStatus::NotTested || reported, "{queue:?}");
    }
}

#[test]
fn small_card_has_no_erase_block_and_a_reason() {
    let found = map_reads("sim:lexar-16g-c10?announced_bytes=8MiB", &[]).measured;
    assert!(found.erase_block_bytes.reason.as_ref().unwrap().contains("too few"));
    assert!(!found.curves.sequential_read.is_empty());
}

#[test]
fn flashbench_tables_match_the_published_review() {
    let tables = map_reads_with(
        "sim:lexar-16g-c10?announced_bytes=16GiB&state=filled",
        |o| o.flashbench_tables = true,
        &[MapPart::Cache],
    )
    .measured
    .tables;
    let align = tables.iter().find(|t| t.kind == "align").unwrap();
    let on = |unit: u64| align.rows.iter().find(|r| r.0 == unit).unwrap().1[1] / 1e6;
    // A power of two as capacity, so that positions after the wrap lie on boundaries again. The review's reading
    // (a), docs/reference/reports.md#lexar-review: 1.42 ms at 4 MiB, 0.80 at 2 MiB, 0.75 at 8 KiB. Ours are minima
    // of 8 reads, not of 32.
    for (unit, ms) in [(4 << 20, 1.42), (2 << 20, 0.80), (8 << 10, 0.75)] {
        assert!((on(unit) / ms - 1.0).abs() < 0.15, "{unit}: {} and not {ms}", on(unit));
    }
    let scatter = tables.iter().find(|t| t.kind == "scatter").unwrap();
    assert_eq!(scatter.rows.len(), 512);
}

#[test]
fn slow_bus_shortens_the_read_curve_with_a_finding() {
    let budget = |o: &mut MapOptions| o.limits.budget = Some(Duration::from_secs(12));
    let found = map_reads_with("sim:lexar-16g-c10?bus_mb_s=1", budget, &[MapPart::ReadCurve]);
    // A read in progress is completed: 4 MiB take 4 s.
    assert!(found.seconds < 12.0 + 5.0, "{} s", found.seconds);
    let curves = &found.measured.curves;
    let points = curves.sequential_read.len() + curves.random_read.len();
    let said = found.measured.findings.iter().find(|f| f.claim == "read-curve-cut").unwrap();
    assert_eq!(said.evidence[0].1, format!("{} of 28", 28 - points));
    assert!(said.verdict.contains("no time left"), "{said:?}");
    for point in curves.sequential_read.iter().chain(&curves.random_read) {
        assert!(point.ios >= 5, "{point:?}");
    }
}

#[test]
fn failing_reads_end_the_queue_test() {
    let name = "sim:a2-command-queue?faults.read_error_p=0.9&faults.vanish_after_ios=400";
    let depth = map_reads(name, &[MapPart::Queue]).measured.queue_depth_effective;
    assert!(depth.reason.as_ref().unwrap().contains("too few reads"), "{depth:?}");
}

#[test]
fn slow_card_is_not_judged_by_few_reads() {
    let found = map_reads("sim:lexar-16g-c10?noise.hiccup_p=1&noise.hiccup_s=1", &[]).measured;
    for reason in [&found.unmapped_share.reason, &found.read_unit_bytes.reason, &found.plane_bytes.reason] {
        let said = reason.as_ref().unwrap();
        assert!(said.contains("too slowly: ") && said.contains(" of "), "{said}");
    }
}

#[test]
fn failed_positions_are_not_counted_as_read() {
    let found = map_reads("sim:sdnand-0.5g?faults.read_error_p=0.1", &[MapPart::Boundaries]).measured;
    let finding = found.findings.iter().find(|f| f.claim == "nothing-written").unwrap();
    let (what, places) = &finding.evidence[0];
    let places: u32 = places.parse().unwrap();
    assert!(what == "places read" && (64..128).contains(&places), "{places}");
}
