//! Maps of simulated cards in virtual time.

use cardscope_engine::content::IoContent;
use cardscope_engine::event::Silent;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::io_driver::{IoDriver, IoTally, ProbeStop, ReadAnswer, split_extents};
use cardscope_engine::target::{Target, TargetError, TargetRegion};
use cardscope_flash::probe::{MapOptions, MapPart, measure_map};
use cardscope_model::card_map::MeasuredMap;
use cardscope_model::card_map::property::Property;
use cardscope_probing::context::ProbeLimits;
use cardscope_probing::write_scope::WriteScope;
use cardscope_simulator::SimTarget;

/// Results and cost of a map.
pub(crate) struct MapOutcome {
    pub(crate) found: MeasuredMap,
    pub(crate) tally: IoTally,
    pub(crate) seconds: f64,
    /// True if the card vanished during the map.
    pub(crate) gone: bool,
}

pub(crate) fn options(target: &SimTarget, seed: u64, only: &[MapPart]) -> MapOptions {
    let region = TargetRegion { start: 0, len: target.info().bytes };
    MapOptions {
        limits: ProbeLimits { seed, region, max_write: None, budget: None },
        card_addresses: true,
        writes: true,
        fat: false,
        max_cache_bytes: 1 << 30,
        claimed_unit: None,
        open_block_unit: None,
        flashbench_tables: false,
        only: only.to_vec(),
    }
}

pub(crate) fn target(name: &str) -> SimTarget {
    SimTarget::open_named(name).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Maps a card that may be erased. `unit` is the erase block that reads would have found.
pub(crate) fn map_card(
    name: &str,
    seed: u64,
    unit: Option<u64>,
    only: &[MapPart],
    change: impl Fn(&mut MapOptions),
) -> MapOutcome {
    let mut target = target(name);
    let mut options = options(&target, seed, only);
    change(&mut options);
    let mut found = MeasuredMap::default();
    if let Some(unit) = unit {
        found.erase_block_bytes = Property::measured(unit, 0.99, Default::default());
    }
    let mut card = IoDriver::new(&mut target, &InterruptFlag::default(), 4096, 1).unwrap();
    let began = card.seconds();
    let ended = measure_map(&mut card, WriteScope::new(None), &options, &mut Silent, &mut found);
    // Some fakes vanish during the test, which is no error of the map.
    assert!(matches!(ended, Ok(()) | Err(ProbeStop::Target(TargetError::Gone { .. }))), "{name}: {ended:?}");
    let gone = ended.is_err();
    let (tally, seconds) = (card.tally(), card.seconds() - began);
    MapOutcome { found, tally, seconds, gone }
}

/// Erase block, if reads across it are measurably slower.
pub(crate) fn shown_unit(target: &SimTarget) -> Option<u64> {
    let read = target.spec().archetype.read?;
    (read.au_step_s > 0.05 * read.base_s).then(|| target.truth().erase_block_bytes).flatten()
}

/// Seeds of random cards: `fixed` equal ones in each run, then `fresh` ones from the clock.
pub(crate) fn seeds(fixed: u64, fresh: u64) -> impl Iterator<Item = u64> {
    let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    println!("fresh seeds from {clock} on");
    (0..fixed).chain((0..fresh).map(move |i| clock * 1000 + i))
}

/// Checksum of each MiB of a card.
pub(crate) fn checksum_card(target: &mut SimTarget) -> Vec<u64> {
    let all = target.info().bytes;
    let mut sums = vec![0u64; all.div_ceil(1 << 20) as usize];
    let mut card = IoDriver::new(target, &InterruptFlag::default(), 1 << 20, 1).unwrap();
    card.read(split_extents(0, all, 1 << 20), IoContent::Buffer, |extent, _, answer| {
        if let ReadAnswer::Differs { bytes, .. } = answer {
            let words = bytes.as_chunks::<8>().0.iter();
            sums[(extent.offset >> 20) as usize] =
                words.fold(0u64, |s, w| s.rotate_left(5) ^ u64::from_le_bytes(*w));
        }
        Ok(())
    })
    .unwrap();
    sums
}
