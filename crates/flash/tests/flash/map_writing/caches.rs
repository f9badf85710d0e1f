//! Cache size and the speed after it.

use super::common::{map_card, seeds, shown_unit, target};
use cardscope_engine::target::Target;
use cardscope_flash::probe::MapPart;
use cardscope_model::card_map::property::PropertyStatus;
use cardscope_simulator::archetype::PoolFull;

#[test]
fn cache_sizes_of_built_in_cards_are_right() {
    for (name, bytes, after) in
        [("pro-64g-u3", 600e6, 45.6), ("usb-stick-tlc", 2e9, 12.2), ("adata-256g-express", 250e9, 300.0)]
    {
        let name = format!("sim:{name}");
        let map = map_card(&name, 7, shown_unit(&target(&name)), &[MapPart::Cache], |o| {
            o.max_cache_bytes = u64::MAX
        });
        let cache = &map.found.slc_cache_bytes;
        let said = cache.value.unwrap_or_else(|| panic!("{name}: {cache:#?}")) as f64;
        let level = map.found.after_cache_mb_s.value.unwrap();
        println!("{name}: {said:.3e} then {level:.1} MB/s, {:.0} s", map.seconds);
        assert!((said / bytes - 1.0).abs() < 0.1, "{name}: {said}");
        assert!((level / after - 1.0).abs() < 0.1, "{name}: {level}");
    }
    let map = map_card("sim:pro-64g-u3", 7, None, &[MapPart::Cache], |o| o.max_cache_bytes = 256 << 20);
    assert_eq!(map.found.slc_cache_bytes.status, PropertyStatus::AtLeast);
    // 2 MiB are small writes before the cache test.
    assert!(map.tally.written <= (256 << 20) + (2 << 20));
}

#[test]
fn cache_sizes_of_random_cards_are_within_a_tenth() {
    let (mut with, mut right, mut wrong) = (0, 0, Vec::new());
    let long = cardscope_testkit::is_long();
    let (most, fresh) = if long { (120, 30) } else { (60, 6) };
    for seed in seeds(most, fresh) {
        let name = format!("sim:random-{seed}");
        let card = target(&name);
        // Skipped in quick runs: a large card without a cache is written in full only to find none.
        if !long && card.truth().slc_cache_bytes.is_none() && card.info().bytes > 40_000_000_000 {
            continue;
        }
        // A fake that slows down for good when its blocks run out behaves like a card with a full cache; `verify`
        // detects it before a map.
        if card.spec().archetype.fake.pool_full == PoolFull::Slow {
            continue;
        }
        let truth = card.truth().slc_cache_bytes;
        let map =
            map_card(&name, seed, shown_unit(&card), &[MapPart::Cache], |o| o.max_cache_bytes = u64::MAX);
        let said = map.found.slc_cache_bytes.value;
        if map.gone {
            continue;
        }
        match truth {
            Some(truth) => {
                with += 1;
                let good = said.is_some_and(|s| (s as f64 / truth as f64 - 1.0).abs() < 0.1);
                right += u32::from(good);
                if !good {
                    println!(
                        "{name}: {said:?} of {truth}, {:?}, {:#?}",
                        card.spec().archetype.cache,
                        map.found.findings
                    );
                }
            }
            None if map.found.slc_cache_bytes.status != PropertyStatus::None => {
                wrong.push(format!(
                    "{name}: {said:?} {:?} {:?}",
                    map.found.slc_cache_bytes.evidence.numbers,
                    card.spec().archetype.title
                ));
            }
            None => {}
        }
    }
    println!("{right} of {with}; wrong where there is none: {wrong:#?}");
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(f64::from(right) >= 0.95 * f64::from(with), "{right} of {with}");
}

#[test]
fn failing_writes_are_no_proof_of_a_missing_cache() {
    let name = "sim:lexar-16g-c10?announced_bytes=1GiB&wear.endurance_cycles=0.4&wear.spare_blocks=0";
    let map = map_card(name, 7, Some(4 << 20), &[MapPart::Cache], |o| o.max_cache_bytes = u64::MAX);
    let cache = &map.found.slc_cache_bytes;
    assert_eq!(cache.status, PropertyStatus::AtLeast, "{cache:#?}");
    // The tally also counts failed writes, at least one chunk of 16 MiB.
    let written = cache.bound.unwrap();
    assert!(written > 150_000_000 && written + (16 << 20) < map.tally.written, "{written} {:?}", map.tally);
    assert!(map.found.after_cache_mb_s.reason.unwrap().contains("no more writes"));
}
