//! Cost of writes by queue, size, span and address.

use super::common::{map_card, seeds, shown_unit, target};
use cardscope_flash::probe::MapPart;
use cardscope_model::card_map::property::PropertyStatus;
use cardscope_simulator::archetype::WriteTimes;
use cardscope_simulator::random;

#[test]
fn fake_write_queues_differ_from_real_ones() {
    for (name, low, high, fake) in [
        ("evoplus-32g-u1-fakeq", 0.0, 0.1, true),
        ("pro-64g-u3", 2.0, 5.0, false),
        ("lexar-16g-c10", 0.85, 1.2, false),
    ] {
        let name = format!("sim:{name}");
        let unit = shown_unit(&target(&name));
        let map = map_card(&name, 3, unit, &[MapPart::Queue], |_| {});
        let gain = map.found.write_queue_gain.value.unwrap();
        let said = map.found.findings.iter().any(|f| f.claim == "fake-queue");
        println!("{name}: {gain:.2} in {:.1} s", map.seconds);
        // A slice of a queue that halts the card takes minutes, so it is filled only once.
        assert!(map.seconds < 150.0, "{name}: {} s", map.seconds);
        assert!((low..high).contains(&gain) && said == fake, "{name}: {:#?}", map.found.write_queue_gain);
    }
}

#[test]
fn only_readers_that_split_writes_are_reported() {
    for (name, cuts) in
        [("usb-stick-tlc", true), ("wb6-hard3", true), ("lexar-16g-c10", false), ("evo-64g-u3", false)]
    {
        let name = format!("sim:{name}");
        let map = map_card(&name, 4, shown_unit(&target(&name)), &[MapPart::WriteCurve], |_| {});
        let said = map.found.findings.iter().find(|f| f.claim == "reader-splits");
        assert_eq!(said.is_some(), cuts, "{name}: {said:#?}");
        let curves = &map.found.curves;
        assert_eq!((curves.sequential_write.len(), curves.random_write.len()), (14, 14), "{name}");
        for point in curves.sequential_write.iter().chain(&curves.random_write) {
            assert!((point.mb_s * 1e6 / (point.iops * point.bytes as f64) - 1.0).abs() < 1e-9);
        }
    }
}

#[test]
fn random_write_spans_match_the_cards() {
    for (name, low, high) in [("lexar-16g-c10", 4 << 20, 20 << 20), ("pro-64g-u3", 16 << 20, 256 << 20)] {
        let name = format!("sim:{name}");
        let map = map_card(&name, 5, shown_unit(&target(&name)), &[MapPart::Span], |_| {});
        let span = map.found.random_write_span_bytes.value.unwrap_or(0);
        assert!((low..=high).contains(&span), "{name}: {:#?}", map.found.random_write_span_bytes);
    }
    let map = map_card("sim:ultra-64g-tlc24", 5, None, &[MapPart::Span], |_| {});
    assert_eq!(map.found.random_write_span_bytes.status, PropertyStatus::AtLeast);
}

/// Verdict of the finding `start-of-run` of a card that may be erased.
fn start_of_run(name: &str, seed: u64) -> Option<String> {
    let map = map_card(name, seed, shown_unit(&target(name)), &[MapPart::Fat], |o| o.fat = true);
    map.found.findings.into_iter().find(|f| f.claim == "start-of-run").map(|f| f.verdict)
}

#[test]
fn start_of_run_distinguishes_order_from_place() {
    for (name, verdict) in [
        ("lexar-16g-c10", Some("order, not of place.")),
        ("wb6-hard3", Some("place, not of order.")),
        ("pro-64g-u3", None),
    ] {
        let said = start_of_run(&format!("sim:{name}"), 6);
        println!("{name}: {said:?}");
        match verdict {
            Some(verdict) => assert!(said.as_ref().is_some_and(|s| s.contains(verdict)), "{name}: {said:?}"),
            None => assert_eq!(said, None, "{name}"),
        }
    }
}

#[test]
fn start_of_run_findings_match_random_cards() {
    let mut right = [0; 2];
    for seed in seeds(150, 50) {
        let name = format!("sim:{}{seed}", random::RANDOM_PREFIX);
        let (card, said) = (random::random_card(seed), start_of_run(&name, seed).unwrap_or_default());
        let by_order = said.contains("an effect of order");
        let by_place = said.contains("place") && !said.contains("not of place");
        let opens = matches!(&card.write, Some(WriteTimes::Hybrid(engine)) if engine.new_stream_s > 0.0);
        assert!(!by_order || opens, "{name}: {said}");
        assert!(!by_place || card.fat_region.is_some(), "{name}: {said}");
        right = [right[0] + u32::from(by_order), right[1] + u32::from(by_place)];
    }
    println!("by order {}, by place {}", right[0], right[1]);
    assert!(right.iter().all(|found| *found >= 15), "it is found at all: {right:?}");
}

#[test]
fn chosen_unit_is_used_for_open_blocks_and_tables() {
    let map = map_card("sim:lexar-16g-c10", 7, Some(4 << 20), &[MapPart::OpenBlocks], |o| {
        o.open_block_unit = Some(2 << 20);
        o.flashbench_tables = true;
    });
    assert_eq!(map.found.open_blocks.chosen_unit_bytes, Some(2 << 20));
    assert_eq!(map.found.open_blocks.linear.value, Some(5), "five of 4 MiB, whatever the unit asked for");
    let tables = map.found.tables.iter().filter(|table| table.kind.starts_with("open-au"));
    let sizes: Vec<_> = tables.map(|table| table.parameters["erasesize"]).collect();
    assert!(!sizes.is_empty() && sizes.iter().all(|size| *size == 2 << 20), "{sizes:?}");
    let open = map.found.tables.iter().find(|table| table.kind == "open-au-linear").unwrap();
    assert_eq!(open.rows.last().unwrap().0, 4096, "rows go down to 4 KiB");
}

#[test]
fn fat_region_is_measured_only_with_fat() {
    for (name, bytes) in [("wb6-hard3", Some(8 << 20)), ("lexar-16g-c10", None), ("wb3-full6", None)] {
        let name = format!("sim:{name}");
        let unit = shown_unit(&target(&name));
        let map = map_card(&name, 6, unit, &[MapPart::Fat], |o| o.fat = true);
        let found = &map.found.fat_region_bytes;
        assert_eq!(found.value, bytes, "{name}: {found:#?}");
        let map = map_card(&name, 6, unit, &[MapPart::Fat], |_| {});
        let said = map.found.fat_region_bytes.reason.unwrap();
        assert!(said.contains("--fat") && map.tally.written == 0, "{said}");
    }
}
