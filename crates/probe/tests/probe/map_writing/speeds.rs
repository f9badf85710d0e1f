//! What writes cost: queue, size, span, the start of the card.

use super::common::{mapped, shown_unit, target};
use cardscope_model::card_map::property::Status;
use cardscope_probe::map::Part;

#[test]
fn a_fake_queue_is_told_from_one_that_helps() {
    for (name, low, high, fake) in [
        ("evoplus-32g-u1-fakeq", 0.0, 0.1, true),
        ("pro-64g-u3", 2.0, 5.0, false),
        ("lexar-16g-c10", 0.85, 1.2, false),
    ] {
        let name = format!("sim:{name}");
        let unit = shown_unit(&target(&name));
        let map = mapped(&name, 3, unit, &[Part::Queue], |_| {});
        let gain = map.found.write_queue_gain.value.unwrap();
        let said = map.found.findings.iter().any(|f| f.claim == "fake-queue");
        println!("{name}: {gain:.2} in {:.1} s", map.seconds);
        // A slice of a queue that halts the card takes minutes: it is filled once.
        assert!(map.seconds < 150.0, "{name}: {} s", map.seconds);
        assert!((low..high).contains(&gain) && said == fake, "{name}: {:#?}", map.found.write_queue_gain);
    }
}

#[test]
fn a_reader_that_cuts_at_120_kib_is_named_and_no_other() {
    for (name, cuts) in
        [("usb-stick-tlc", true), ("wb6-hard3", true), ("lexar-16g-c10", false), ("evo-64g-u3", false)]
    {
        let name = format!("sim:{name}");
        let map = mapped(&name, 4, shown_unit(&target(&name)), &[Part::WriteCurve], |_| {});
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
fn the_span_of_random_writes_is_that_of_the_card() {
    for (name, low, high) in [("lexar-16g-c10", 4 << 20, 20 << 20), ("pro-64g-u3", 16 << 20, 256 << 20)] {
        let name = format!("sim:{name}");
        let map = mapped(&name, 5, shown_unit(&target(&name)), &[Part::Span], |_| {});
        let span = map.found.random_write_span_bytes.value.unwrap_or(0);
        assert!((low..=high).contains(&span), "{name}: {:#?}", map.found.random_write_span_bytes);
    }
    let map = mapped("sim:ultra-64g-tlc24", 5, None, &[Part::Span], |_| {});
    assert_eq!(map.found.random_write_span_bytes.status, Status::AtLeast);
}

#[test]
fn the_region_at_the_start_is_found_where_it_is_and_only_when_asked_for() {
    for (name, bytes) in [("wb6-hard3", Some(8 << 20)), ("lexar-16g-c10", None), ("wb3-full6", None)] {
        let name = format!("sim:{name}");
        let unit = shown_unit(&target(&name));
        let map = mapped(&name, 6, unit, &[Part::Fat], |o| o.fat = true);
        let found = &map.found.fat_region_bytes;
        assert_eq!(found.value, bytes, "{name}: {found:#?}");
        let map = mapped(&name, 6, unit, &[Part::Fat], |_| {});
        let said = map.found.fat_region_bytes.reason.unwrap();
        assert!(said.contains("--fat") && map.tally.written == 0, "{said}");
    }
}
