//! Random cards within the ranges of real ones, each with its truth: measures how often a detector is right on cards
//! that it was not tuned for. A seed names one card. There are four families: old cards with blocks mapped whole, UHS-I
//! cards with a log, cards mapped by page, and SD Express cards with a pSLC cache and heat.
//!
//! Ranges and shares come from 58 public flashbench runs of 29 cards (docs/reference/flash.md#public-logs) and from
//! published speeds of UHS-I and SD Express cards; some are assumed.

mod registers;

use crate::archetype::schema::DEFAULT_SEED;
use crate::archetype::{
    Archetype, CacheKind, CardIdentity, CardTruth, CloseCopy, CostNoise, FakeCapacity, FakeKind, FatRegion,
    FlashUnits, GarbageCollection, HybridWrite, LogWrite, LostRead, NvmeDescription, PageWrite, PoolFull,
    PslcCache, QueueCost, ReadTimes, SmallLog, StartContent, StartState, ThermalNode, ThrottleKind, WhenFull,
    WriteTimes,
};
use cardscope_model::random::SeededRandom;
use registers::{CAPACITY_UNIT, registers_of_card};

/// Prefix of the name of a random card; its seed follows.
pub const RANDOM_PREFIX: &str = "random-";

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

pub fn random_card(seed: u64) -> Archetype {
    let mut draw = CardDraw::new(seed);
    let mut card = draw_card(&mut draw);
    card.name = format!("{RANDOM_PREFIX}{seed}");
    card.fake = draw_fake(&mut draw, card.announced_bytes);
    card.state = StartState {
        start: draw.one_of(&[(3, StartContent::Factory), (4, StartContent::Filled), (3, StartContent::Used)]),
        used_share: rounded(draw.between(0.2, 0.8)),
        ..StartState::default()
    };
    let honesty = if card.fake.kind == FakeKind::None { "" } else { "a fake, " };
    card.title = format!("{honesty}{}", family_title(&card));
    card.identity = draw_identity(&card, draw.below(u64::from(u32::MAX)) as u32);
    card.truth = CardTruth::from_parameters(&card, DEFAULT_SEED);
    card
}

/// Draws a false capacity; most cards have none.
fn draw_fake(draw: &mut CardDraw, announced: u64) -> FakeCapacity {
    let kind = draw.one_of(&[
        (70, FakeKind::None),
        (14, FakeKind::Limbo),
        (4, FakeKind::Wraparound),
        (4, FakeKind::Chain),
        (4, FakeKind::Damaged),
        (2, FakeKind::Overcommitted),
        (2, FakeKind::ReadOnly),
    ]);
    let ways = [(3, LostRead::Zeros), (2, LostRead::Ones), (1, LostRead::Stale), (1, LostRead::Error)];
    let lost = draw.one_of(&ways);
    // Real capacity: from a twentieth to two thirds, in units of 4 KiB.
    let real = (announced as f64 * draw.between(0.05, 0.66)) as u64 / 4096 * 4096;
    let fake = FakeCapacity { kind, ..FakeCapacity::default() };
    match kind {
        FakeKind::None | FakeKind::ReadOnly => fake,
        FakeKind::Damaged => FakeCapacity { damaged_share: draw.between(0.005, 0.3), lost, ..fake },
        FakeKind::Overcommitted => {
            let pool_full = draw.one_of(&[(2, PoolFull::Vanish), (1, PoolFull::Slow), (1, PoolFull::Dies)]);
            FakeCapacity { real_bytes: Some(real), pool_full, lost, ..fake }
        }
        FakeKind::Limbo => FakeCapacity {
            real_bytes: Some(real),
            cache_bytes: draw
                .one_of(&[(4, None), (2, Some(2)), (1, Some(128)), (1, Some(256))])
                .map(|mib: u64| mib * MIB),
            cache_kind: draw.one_of(&[(3, CacheKind::Direct), (1, CacheKind::Lru), (1, CacheKind::Fifo)]),
            cache_strict: draw.chance(0.7),
            cache_survives: draw.chance(0.5),
            lost,
            ..fake
        },
        FakeKind::Wraparound => {
            let wrap = if draw.chance(0.7) { 1 << real.ilog2() } else { real };
            FakeCapacity { wrap_bytes: Some(wrap), ..fake }
        }
        FakeKind::AddressLine => FakeCapacity { wrap_bytes: Some(1 << real.ilog2()), ..fake },
        FakeKind::Chain => {
            let wrap = real.next_power_of_two().min(announced / 4096 * 4096);
            FakeCapacity { real_bytes: Some(real), wrap_bytes: Some(wrap), lost, ..fake }
        }
    }
}

/// Draws flash and times of a card, without name, fake and identity.
fn draw_card(draw: &mut CardDraw) -> Archetype {
    let family = draw.one_of(&[
        (40, draw_hybrid as fn(&mut CardDraw) -> Archetype),
        (30, draw_log),
        (15, draw_page),
        (15, draw_express),
    ]);
    let mut card = family(draw);
    // Cards answer in 0.14 (SD NAND) to 0.3 of the usual time where nothing was written.
    if let Some(read) = card.read.as_mut().filter(|_| draw.chance(0.05)) {
        read.unmapped_s = Some(rounded(read.base_s * draw.between(0.14, 0.3)));
    }
    card
}

fn family_title(card: &Archetype) -> &'static str {
    match (&card.write, card.thermal.is_some()) {
        (Some(WriteTimes::Hybrid(_)), _) => "blocks mapped whole, a few of them open",
        (Some(WriteTimes::Log(_)), _) => "random writes in a log",
        (_, true) => "SD Express, mapped by page behind a pSLC cache",
        (_, false) => "mapped by page",
    }
}

/// Registers or NVMe identity that fit the card.
fn draw_identity(card: &Archetype, serial: u32) -> CardIdentity {
    if let Some(thermal) = &card.thermal {
        return CardIdentity { nvme: Some(nvme_identity(card, thermal, serial)), ..CardIdentity::default() };
    }
    CardIdentity { sd: Some(registers_of_card(card, serial)), ..CardIdentity::default() }
}

/// Draws a size near a nominal one, as makers choose it: 1.5 % below to 0.5 % above, in units of the CSD.
fn draw_capacity(draw: &mut CardDraw, nominal_gb: &[u64]) -> u64 {
    let nominal = nominal_gb[draw.below(nominal_gb.len() as u64) as usize] as f64 * 1e9;
    (nominal * draw.between(0.985, 1.005)) as u64 / CAPACITY_UNIT * CAPACITY_UNIT
}

/// Draws page in KiB, planes and unit in MiB; `odd` is the share of cards with three bits per cell, whose sizes are multiples of
/// three.
fn draw_flash(draw: &mut CardDraw, pages: &[(u32, u64)], units: &[(u32, u64)], odd: f64) -> FlashUnits {
    let threes: (&[_], &[_]) = (&[(2, 48), (1, 24), (2, 16)], &[(1, 6), (3, 12), (3, 24), (1, 48)]);
    let (pages, units) = if draw.chance(odd) { threes } else { (pages, units) };
    let (page, au) = (draw.one_of(pages), draw.one_of(units));
    let planes = if page % 3 == 0 { 3 } else { 1 };
    FlashUnits {
        page_bytes: page * KIB,
        planes,
        read_unit_bytes: 4 * KIB,
        au_bytes: au * MIB,
        map_segment_bytes: draw.chance(0.24).then(|| draw.one_of(&[(1, 1024), (1, 2048)]) * MIB),
    }
}

/// Draws read times; steps at page, unit and segment are shares of the base.
fn draw_read_times(draw: &mut CardDraw, base: (f64, f64), mb_s: (f64, f64)) -> ReadTimes {
    let base_s = draw.log_between(base.0, base.1);
    // 20 of 27 cards show their page to reads, 24 of 27 their unit.
    let page = if draw.chance(0.74) { draw.log_between(0.047, 0.32) } else { 0.0 };
    let unit = if draw.chance(0.89) { draw.log_between(0.078, 0.31) } else { 0.0 };
    ReadTimes {
        base_s,
        sequential_s: draw.chance(0.5).then(|| rounded(base_s * draw.between(0.1, 0.5))),
        ramp_bytes: 512 * KIB,
        page_step_s: rounded(base_s * page),
        au_step_s: rounded(base_s * unit),
        segment_step_s: draw.log_between(0.000_038, 0.000_072),
        mb_s: draw.log_between(mb_s.0, mb_s.1),
        ..ReadTimes::default()
    }
}

fn draw_noise(draw: &mut CardDraw) -> CostNoise {
    CostNoise {
        read_sigma: draw.log_between(0.027, 0.086),
        write_sigma: draw.log_between(0.03, 0.08),
        hiccup_p: draw.log_between(0.000_2, 0.01),
        hiccup_s: draw.log_between(0.002, 0.03),
    }
}

fn draw_hybrid(draw: &mut CardDraw) -> Archetype {
    let flash = draw_flash(draw, &[(15, 8), (70, 16), (15, 32)], &[(1, 1), (1, 2), (7, 4), (1, 8)], 0.15);
    let read = draw_read_times(draw, (0.000_42, 0.0013), (11.0, 45.0));
    // 14 of 28 cards show no limit up to 7; a limit is mostly 3.
    let linear = draw.one_of(&[(8, 3), (4, 4), (2, 5), (1, 6), (1, 1), (6, 12), (6, 16)]);
    let write = HybridWrite {
        // 5 of 11 cards copied the rest of a block, 3 all of it, 3 less.
        close: draw.one_of(&[(5, CloseCopy::Partial), (3, CloseCopy::Full), (3, CloseCopy::Written)]),
        open_linear: linear,
        open_random: if draw.chance(0.85) { linear } else { 1 },
        fixed_s: draw.log_between(0.0003, 0.0014),
        new_stream_s: draw.log_between(0.0004, 0.0007),
        sub_page_s: draw.log_between(0.0004, 0.003),
        sub_page_random_s: draw.log_between(0.0004, 0.02),
        mb_s: draw.log_between(4.1, 18.0),
        copy_mb_s: draw.log_between(4.7, 10.0),
        close_s: draw.log_between(0.003, 0.02),
        random_log_bytes: draw.one_of(&[(1, 4), (2, 16), (1, 64)]) * MIB,
        // 5 of 28 cards, all of one maker.
        small_log: draw.chance(0.18).then(|| draw_small_log(draw)),
        ..HybridWrite::default()
    };
    let announced_bytes = draw_capacity(draw, &[4, 8, 16, 32]);
    let (read, write) = (Some(read), Some(WriteTimes::Hybrid(write)));
    let noise = draw_noise(draw);
    let mut card = Archetype { announced_bytes, flash, read, write, noise, ..Archetype::default() };
    // 8 of 28 cards guard the first 8 or 12 MiB.
    card.fat_region = draw.chance(0.29).then(|| FatRegion {
        bytes: draw.one_of(&[(7, 8), (1, 12)]) * MIB,
        speed: rounded(draw.between(0.2, 0.7)),
        page_write_s: None,
    });
    card
}

fn draw_small_log(draw: &mut CardDraw) -> SmallLog {
    SmallLog {
        max_write_bytes: draw.one_of(&[(1, 4), (2, 8)]) * KIB,
        write_s: draw.log_between(0.0013, 0.005),
        mb_s: draw.log_between(1.5, 8.0),
        bytes: 4 * MIB,
        merge_s: draw.log_between(0.05, 0.3),
        takes_turns: false,
    }
}

fn draw_log(draw: &mut CardDraw) -> Archetype {
    let flash = draw_flash(draw, &[(1, 8), (6, 16), (2, 32)], &[(6, 4), (2, 8), (2, 16)], 0.25);
    let mut read = draw_read_times(draw, (0.000_38, 0.000_62), (40.0, 155.0));
    read.sequential_s = Some(rounded(read.base_s * draw.between(0.05, 0.3)));
    if draw.chance(0.2) {
        read.map_miss_s = rounded(read.base_s * draw.between(0.3, 1.0));
        read.map_cache_bytes = Some(draw.one_of(&[(1, 128), (1, 256), (1, 1024)]) * MIB);
    }
    let write = LogWrite {
        fixed_s: draw.log_between(0.0002, 0.0015),
        random_s: draw.log_between(0.0007, 0.0026),
        mb_s: draw.log_between(8.0, 90.0),
        log_bytes: draw.one_of(&[(1, 1), (1, 4), (2, 16), (2, 32), (4, 64), (2, 256)]) * MIB,
        merge_s: draw.log_between(0.075, 0.33),
    };
    let announced_bytes = draw_capacity(draw, &[16, 32, 64, 128, 256]);
    let (read, write) = (Some(read), Some(WriteTimes::Log(write)));
    let noise = draw_noise(draw);
    let mut card = Archetype { announced_bytes, flash, read, write, noise, ..Archetype::default() };
    // A queue that speeds up writes, a fake one, or none.
    let factor = draw.one_of(&[(60, 1.0), (25, 0.45), (15, 40.0)]);
    if factor != 1.0 {
        let factor = rounded(factor * draw.between(0.7, 1.3));
        card.queue.write_cost = vec![QueueCost { in_flight: 8, factor, cached: None }];
    }
    card
}

fn draw_page(draw: &mut CardDraw) -> Archetype {
    let flash = draw_flash(draw, &[(1, 16), (1, 32)], &[(1, 8), (2, 16), (1, 32)], 0.3);
    let au_bytes = flash.au_bytes;
    let mut read = draw_read_times(draw, (0.0003, 0.0009), (20.0, 160.0));
    let depth = draw.one_of(&[(3, 1), (1, 4), (2, 8), (1, 16)]);
    if depth > 1 {
        read.serial_s = rounded(read.base_s / draw.between(2.0, f64::from(depth)));
    }
    let write = PageWrite {
        base_s: draw.log_between(0.0003, 0.0017),
        ramp_bytes: 512 * KIB,
        mb_s: draw.log_between(19.0, 90.0),
        gc: draw.chance(0.4).then(|| draw_gc(draw, au_bytes)),
        ..PageWrite::default()
    };
    let announced_bytes = draw_capacity(draw, &[64, 128, 256, 512]);
    let (read, write) = (Some(read), Some(WriteTimes::Page(write)));
    let noise = draw_noise(draw);
    let mut card = Archetype { announced_bytes, flash, read, write, noise, ..Archetype::default() };
    card.queue.depth = depth;
    card
}

fn draw_express(draw: &mut CardDraw) -> Archetype {
    let mut flash = draw_flash(draw, &[(1, 16), (2, 32), (1, 64)], &[(1, 16), (2, 32), (1, 64)], 0.2);
    flash.planes = 1;
    let mut read = draw_read_times(draw, (0.000_19, 0.000_36), (768.0, 834.0));
    let cached_s = rounded(read.base_s * draw.between(0.3, 0.9));
    (read.page_step_s, read.au_step_s, read.segment_step_s) = (0.000_002, 0.000_004, 0.0);
    (read.large_s, read.sequential_s) = (Some(draw.log_between(0.0003, 0.0004)), None);
    read.serial_s = draw.log_between(0.000_009_5, 0.000_016);
    let mb_s = draw.log_between(217.0, 310.0);
    let write = PageWrite {
        base_s: draw.log_between(0.000_014, 0.000_024),
        large_s: Some(0.000_46),
        ramp_bytes: 512 * KIB,
        serial_s: draw.log_between(0.000_015, 0.000_02),
        mb_s,
        ..PageWrite::default()
    };
    let announced = draw_capacity(draw, &[128, 256, 512, 1000]);
    let (read, write) = (Some(read), Some(WriteTimes::Page(write)));
    let mut card = Archetype { announced_bytes: announced, flash, read, write, ..Archetype::default() };
    card.noise = CostNoise { read_sigma: 0.02, write_sigma: 0.02, hiccup_p: 0.001, hiccup_s: 0.000_03 };
    card.queue.depth = 32;
    let clean = (announced as f64 * draw.between(0.1, 0.34)) as u64 / MIB * MIB;
    card.cache = Some(draw_cache(draw, clean, cached_s));
    card.thermal = Some(draw_thermal(draw));
    card
}

/// Draws garbage collection; spare flash is from 7 % (2^30 sold as 10^9) to a quarter.
fn draw_gc(draw: &mut CardDraw, unit_bytes: u64) -> GarbageCollection {
    GarbageCollection {
        spare_share: draw.log_between(0.07, 0.25),
        unit_bytes,
        copy_mb_s: draw.log_between(20.0, 150.0),
        erase_s: draw.log_between(0.003, 0.0045),
    }
}

fn draw_cache(draw: &mut CardDraw, clean_bytes: u64, read_base_s: f64) -> PslcCache {
    PslcCache {
        clean_bytes,
        bits: draw.chance(0.5).then_some(3),
        alpha: 1.0,
        when_full: if draw.chance(0.3) { WhenFull::Fold } else { WhenFull::Direct },
        reopen_bytes: clean_bytes / 2,
        clean_mb_s: draw.log_between(40.0, 180.0),
        idle_s: 0.05,
        rest_s: 60.0,
        pool_rest_s: 300.0,
        write_mb_s: draw.log_between(610.0, 680.0),
        write_base_s: Some(0.000_018),
        write_large_s: Some(0.000_34),
        write_serial_s: Some(draw.log_between(0.000_007, 0.000_008)),
        read_base_s: Some(read_base_s),
        read_serial_s: Some(draw.log_between(0.000_008_4, 0.000_009_4)),
        ..PslcCache::default()
    }
}

fn draw_thermal(draw: &mut CardDraw) -> ThermalNode {
    let tmt1_c = draw.one_of(&[(2, 81.0), (1, 85.0)]);
    ThermalNode {
        sensor: true,
        ambient_c: draw.between(17.0, 25.0).round(),
        passive_k_per_w: draw.between(35.0, 60.0).round(),
        active_k_per_w: draw.between(15.0, 25.0).round(),
        capacity_j_per_k: draw.log_between(4.0, 20.0),
        idle_w: 0.05,
        busy_w: rounded(draw.between(0.6, 0.95)),
        read_w: rounded(draw.between(0.2, 0.42)),
        write_w: rounded(draw.between(0.2, 0.4)),
        tmt1_c,
        tmt2_c: tmt1_c + 4.0,
        hysteresis_k: 2.0,
        throttle: if draw.chance(0.5) { ThrottleKind::Clock } else { ThrottleKind::Duty },
        light_read: rounded(draw.between(0.6, 0.75)),
        light_write: rounded(draw.between(0.67, 0.83)),
        throttled_busy: 1.0,
        heavy: 0.3,
    }
}

/// NVMe identity of no maker: vendor 0xFFFF is not assigned.
fn nvme_identity(card: &Archetype, thermal: &ThermalNode, serial: u32) -> NvmeDescription {
    let kelvin = |celsius: f64| (celsius + 273.0) as u16;
    NvmeDescription {
        vid: 0xffff,
        ssvid: 0xffff,
        sn: format!("{serial:08X}"),
        mn: "RANDOM EXPRESS".to_owned(),
        fr: "1.0".to_owned(),
        wctemp_k: kelvin(thermal.tmt1_c + 2.0),
        cctemp_k: kelvin(thermal.tmt2_c),
        tmpth_k: kelvin(thermal.tmt1_c + 2.0),
        tmt1_k: kelvin(thermal.tmt1_c),
        tmt2_k: kelvin(thermal.tmt2_c),
        mntmt_k: kelvin(30.0),
        mxtmt_k: kelvin(thermal.tmt2_c),
        hmpre: 16384,
        hmmin: 16384,
        tnvmcap: card.announced_bytes,
        mdts: 7,
        spare_threshold: 10,
        pcie_gt_s: 8.0,
        pcie_lanes: 1,
        ..NvmeDescription::default()
    }
}

#[derive(Debug)]
struct CardDraw(SeededRandom);

impl CardDraw {
    fn new(seed: u64) -> Self {
        CardDraw(SeededRandom::from_state(seed))
    }

    fn chance(&mut self, p: f64) -> bool {
        self.0.above_zero() <= p
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.0.above_zero()
    }

    /// Number between two values, evenly in the logarithm, for parameters that spread over orders of magnitude.
    fn log_between(&mut self, low: f64, high: f64) -> f64 {
        rounded(libm::exp(self.between(libm::log(low), libm::log(high))))
    }

    /// Draws one of the values by weight.
    fn one_of<T: Copy>(&mut self, weighted: &[(u32, T)]) -> T {
        let all: u32 = weighted.iter().map(|(weight, _)| weight).sum();
        let drawn = (self.0.above_zero() * f64::from(all)).ceil() as u32;
        let mut sum = 0;
        let reaches = |(weight, _): &&(u32, T)| {
            sum += weight;
            drawn <= sum
        };
        weighted.iter().find(reaches).unwrap_or(&weighted[weighted.len() - 1]).1
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.0.next_u64() % limit.max(1)
    }
}

/// Rounded to three digits: a card's file stays readable, and no property is more precise.
fn rounded(value: f64) -> f64 {
    if value == 0.0 {
        return 0.0;
    }
    let scale = 10f64.powi(2 - libm::log10(value.abs()).floor() as i32);
    (value * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SimTarget, target_spec};
    use std::collections::BTreeSet;

    #[test]
    fn seed_gives_same_valid_card() {
        for seed in 0..500 {
            let first = random_card(seed);
            assert_eq!(first, random_card(seed), "{seed}");
            first.check().unwrap_or_else(|e| panic!("{seed}: {e}"));
            assert_eq!(first.truth, CardTruth::from_parameters(&first, DEFAULT_SEED), "{seed}");
        }
    }

    #[test]
    fn random_cards_round_trip_as_toml() {
        for seed in 0..100 {
            let card = random_card(seed);
            let file = card.to_toml();
            assert_eq!(
                Archetype::from_toml("x", &file).unwrap_or_else(|e| panic!("{e}\n{file}")),
                card,
                "{file}"
            );
        }
    }

    #[test]
    fn shares_of_families_units_and_fakes_are_met() {
        let cards: Vec<_> = (0..1000).map(random_card).collect();
        let share = |is: &dyn Fn(&Archetype) -> bool| cards.iter().filter(|c| is(c)).count() as f64 / 1000.0;
        let families: BTreeSet<_> = cards.iter().map(family_title).collect();
        assert_eq!(families.len(), 4, "{families:?}");
        let odd = share(&|c| !c.flash.au_bytes.is_power_of_two());
        assert!((0.1..0.4).contains(&odd), "3 · 2^k units: {odd}");
        let fakes = share(&|c| c.fake.kind != FakeKind::None);
        assert!((0.15..0.35).contains(&fakes), "{fakes}");
        let step = share(&|c| c.read.is_some_and(|r| r.au_step_s > 0.0));
        assert!((0.8..0.97).contains(&step), "24 of 27 cards show their unit to reads: {step}");
    }

    #[test]
    fn random_card_opens_by_name_with_overrides() {
        let spec = target_spec::parse("sim:random-7?noise.read_sigma=0").unwrap();
        assert_eq!(spec.archetype.name, "random-7");
        assert_eq!(spec.archetype.noise.read_sigma, 0.0);
        assert_eq!(SimTarget::open(spec).unwrap().truth().usable_bytes, random_card(7).truth.usable_bytes);
        let error = target_spec::parse("sim:random-x").unwrap_err().to_string();
        assert!(error.contains("random-7"), "{error}");
    }
}
